"""The verdict about a job that does not move: who holds it up, and how that is said."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulate import recorder_dumps as made
from simulate.recorder_dumps import dump, entry

from doctor.base.errors import UsageError
from doctor.cli import main
from doctor.hang import collectives
from doctor.hang.conclude import conclude
from doctor.hang.verdict import Kind, Verdict, ranks_told
from doctor.live import spy
from doctor.read.dumps import FLIGHT, STACKS
from doctor.scan.harvest import Dump
from parsers import flight
from parsers.pickles import load
from parsers.stacks import Frame, Stacks, Thread, written

WORLD = range(4)
ALL = {"0": WORLD}


def of_calls(per_rank: Mapping[int, Sequence[Any]], groups: Mapping[str, Sequence[int]] = ALL, world: int | None = None) -> Verdict:
    dumps = {rank: flight.flight(load(pickle.dumps(dump(entries, groups), 2)), rank) for rank, entries in per_rank.items()}
    return collectives.decide(dumps, world)


def done(last: int, first: int = 1) -> list[Any]:
    return [entry(number) for number in range(first, last + 1)]


def waits(number: int, op: str = "all_reduce", **more: Any) -> Any:
    return entry(number, op, state="started", **more)


@given(st.integers(2, 9), st.data())
@settings(deadline=None, max_examples=40)
def test_the_rank_that_does_not_arrive(world: int, data: st.DataObject) -> None:
    """Whoever it is, however many there are, and wherever the ring of each rank begins."""
    culprit = data.draw(st.integers(0, world - 1))
    begins = [data.draw(st.integers(1, 11)) for _ in range(world)]
    calls = {r: [*done(11, begins[r]), *([] if r == culprit else [waits(12)])] for r in range(world)}
    verdict = of_calls(calls, {"0": range(world)})
    assert (verdict.kind, verdict.ranks, set(verdict.waiting)) == (Kind.AWAY, (culprit,), set(range(world)) - {culprit})


@pytest.mark.parametrize(
    ("odd", "word"),
    [(waits(5, "broadcast"), "hang.parted-op"), (waits(5, sizes=((7,),)), "hang.parted-size"), (waits(5, dtype="Float"), "hang.parted-dtype")],
)
def test_a_call_that_is_not_alike(odd: Any, word: str) -> None:
    """Another operation, another shape, another type."""
    verdict = of_calls({r: [*done(4), odd if r == 2 else waits(5)] for r in WORLD})
    assert (verdict.kind, verdict.ranks, verdict.reasons[0].word) == (Kind.MISMATCH, (2,), word)


def test_shapes_that_may_differ_are_no_mismatch() -> None:
    """All-to-all and scatter have inputs of their own on every rank."""
    for op in ("all_to_all", "scatter", "gather", "all_to_all_single"):
        verdict = of_calls({r: [*done(4), waits(5, op, sizes=((r + 1,),))] for r in WORLD})
        assert verdict.kind is Kind.TRANSPORT, op


def test_who_waits_for_a_waiting_rank_is_not_blamed() -> None:
    """Rank 1 is missing in the large group because it waits in a small one for rank 0, which waits nowhere."""
    groups = {"0": WORLD, "tp": (0, 1)}
    small = waits(3, group="tp", desc="tp")
    verdict = of_calls({0: done(4), 1: [*done(4), small], 2: [*done(4), waits(5)], 3: [*done(4), waits(5)]}, groups)
    assert (verdict.kind, verdict.ranks) == (Kind.AWAY, (0,))


def test_a_circle_of_groups() -> None:
    """Each waits where the other one is not."""
    groups = {"a": (0, 1), "b": (0, 1)}
    verdict = of_calls({0: [waits(2, group="a", desc="a")], 1: [waits(2, group="b", desc="b")]}, groups)
    assert (verdict.kind, verdict.ranks) == (Kind.CIRCLE, (0, 1))


def test_a_receive_without_a_send() -> None:
    """The peer is named; one that sends is no culprit, and then it is the way between them."""
    groups = {"0": (0, 1)}
    receiving = waits(1, "recv 1<-0", p2p=True)
    assert (of_calls({0: done(3), 1: [*done(3), receiving]}, groups).ranks) == (0,)
    both = of_calls({0: [*done(3), waits(1, "send 0->1", p2p=True)], 1: [*done(3), receiving]}, groups)
    assert (both.kind, both.ranks) == (Kind.TRANSPORT, ())


@pytest.mark.parametrize("world", [2, 5])
def test_a_receive_whose_peer_has_gone_on(world: int) -> None:
    """The rank that talks to one other alone is named, by its calls and by its stack, however few the others are; the peer is told."""
    calls = {rank: [*done(3), waits(4)] for rank in range(world) if rank != 1}
    verdict = of_calls({**calls, 1: [*done(3), waits(1, "recv 1<-0", p2p=True)]}, {"0": range(world)})
    assert (verdict.kind, verdict.ranks, verdict.call) == (Kind.MISMATCH, (1,), "all_reduce no. 4 of group 0 (default_pg)")
    assert dict(verdict.reasons[0].values)["peer"] == "0"
    receive = Frame("recv", "/opt/torch/distributed/distributed_c10d.py", 2300)
    told = conclude([*waiting(*(rank for rank in range(world) if rank != 1)), process(1, receive, STEP)])
    assert (told.kind, told.ranks) == (Kind.MISMATCH, (1,))


def test_groups_of_one_name_on_different_ranks_are_different_groups() -> None:
    """Each half counts its own calls."""
    halves = {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}
    dumps = {
        rank: flight.flight(load(pickle.dumps(dump([entry(1, group="tp"), *([waits(2, group="tp")] if rank == 3 else [])], {"tp": halves[rank]}), 2)), rank)
        for rank in WORLD
    }
    assert collectives.decide(dumps).ranks == (2,)


def test_all_are_there() -> None:
    """Then it is the way between them; or a device that has not begun; a rank without a dump is told as that."""
    assert of_calls({r: [*done(4), waits(5)] for r in WORLD}).kind is Kind.TRANSPORT
    late = of_calls({r: [*done(4), entry(5, state="scheduled" if r == 1 else "started")] for r in WORLD})
    assert (late.kind, late.ranks) == (Kind.DEVICE, (1,))
    gone = of_calls({r: [*done(4), waits(5)] for r in (0, 1, 3)})
    assert (gone.kind, gone.ranks) == (Kind.DEAD, (2,))
    assert of_calls({r: done(4) for r in WORLD}).kind is Kind.NONE


# --- stacks

REDUCE = Frame("all_reduce", "/opt/torch/distributed/distributed_c10d.py", 2806)
STEP = Frame("step", "/job/train.py", 41)


def process(rank: int, *own: Frame, state: str = "S", moved: bool | None = False, active: bool = False) -> Dump:
    threads = (Thread("MainThread", own, active),) if own else ()
    return Dump(STACKS, f"{rank}.txt", None, rank, 100 + rank, written(Stacks(100 + rank, rank, "train.py", threads, "py-spy", state=state, moved=moved)))


def waiting(*ranks: int) -> list[Dump]:
    return [process(rank, REDUCE, STEP) for rank in ranks]


@pytest.mark.parametrize(
    ("stack", "kind"),
    [
        ((Frame("augment", "/job/data.py", 9), STEP), Kind.STUCK),
        ((Frame("wait", "/lib/python3.11/threading.py", 320), Frame("get", "/lib/python3.11/queue.py", 171), STEP), Kind.LOCK),
        ((Frame("_try_get_data", "/opt/torch/utils/data/dataloader.py", 1133), STEP), Kind.INPUT),
        ((Frame("synchronize", "/opt/torch_npu/npu/utils.py", 62), STEP), Kind.DEVICE),
        ((Frame("compile_fx", "/opt/torch/_inductor/compile_fx.py", 900), STEP), Kind.COMPILE),
        ((Frame("_save", "/opt/torch/serialization.py", 900), Frame("save_checkpoint", "/job/train.py", 77)), Kind.CHECKPOINT),
        ((Frame("forward", "/job/model.py", 12), Frame("evaluate", "/job/train.py", 99)), Kind.EVALUATION),
    ],
)
def test_what_the_outlier_does_names_the_kind(stack: tuple[Frame, ...], kind: Kind) -> None:
    """The others wait in a call; who compiles, saves or evaluates is no hang."""
    verdict = conclude([*waiting(0, 1, 3), process(2, *stack)])
    assert (verdict.kind, verdict.ranks, verdict.hung) == (kind, (2,), kind not in (Kind.COMPILE, Kind.CHECKPOINT, Kind.EVALUATION))


def test_processes_that_are_gone_or_stopped() -> None:
    """The state of a process weighs more than any stack; a rank without a process is missing where the world is known."""
    assert (conclude([*waiting(0, 1), process(2, state="T")]).kind, conclude([*waiting(0, 1), process(2, state="gone")]).kind) == (Kind.STOPPED, Kind.DEAD)
    missing = conclude(waiting(0, 1, 3), world=4)
    assert (missing.kind, missing.ranks) == (Kind.DEAD, (2,))


def test_a_job_whose_calls_move_is_no_hang() -> None:
    """All stand in a call at any moment; some came out of it between two looks."""
    assert conclude([*waiting(0, 1), process(2, REDUCE, STEP, moved=True)]).kind is Kind.NONE


def test_dumps_of_different_moments_are_no_hang() -> None:
    """A rank that ended a later call of all proves that the earlier one ended; live ranks that go on weigh more than dumps."""
    calls = {0: [*done(4), waits(5)], 1: [*done(8), waits(9)]}
    told = of_calls(calls, {"0": (0, 1)})
    assert (told.kind, told.reasons[0].word) == (Kind.NONE, "hang.other-moments")
    stands = {0: [*done(4), waits(5)], 1: [*done(5), waits(6)]}
    assert of_calls(stands, {"0": (0, 1)}).kind is Kind.TRANSPORT
    dumps = [Dump(FLIGHT, f"{r}", None, r, None, flight.written(flight.flight(load(pickle.dumps(dump(stands[r], {"0": (0, 1)}), 2)), r))) for r in stands]
    assert conclude([*dumps, process(0, REDUCE, STEP, moved=True), process(1, REDUCE, STEP)]).kind is Kind.NONE


def test_other_calls_and_other_lines() -> None:
    """Without dumps, the fewer ones are named."""
    broadcast = Frame("broadcast", "/opt/torch/distributed/distributed_c10d.py", 2700)
    assert conclude([*waiting(0, 1, 3), process(2, broadcast, STEP)]).ranks == (2,)
    assert conclude([*waiting(0, 1, 3), process(2, REDUCE, Frame("last", "/job/train.py", 90))]).ranks == (2,)


def test_dumps_and_stacks_together() -> None:
    """The dumps say who is missing, the stack what it does."""
    dumps = [
        Dump(FLIGHT, f"hccl_trace_rank_{rank}", None, rank, None, flight.written(flight.flight(load(pickle.dumps(value, 2)), rank)))
        for rank, value in made.away(4, 2).items()
    ]
    verdict = conclude([*dumps, *waiting(0, 1, 3), process(2, Frame("augment", "/job/data.py", 9), STEP)])
    assert (verdict.kind, verdict.ranks, verdict.line) == (Kind.STUCK, (2,), "/job/data.py:9 augment")
    assert verdict.call == "all_reduce no. 12 of group 0 (default_pg)"


def test_one_look_at_one_process_tells_nothing() -> None:
    """No guess is made."""
    assert conclude([process(0, STEP, moved=None)]).kind is Kind.UNKNOWN
    assert conclude([]).kind is Kind.UNKNOWN


def test_ranks_are_told_as_stretches() -> None:
    """However many there are."""
    assert (ranks_told((3, 1, 2, 7)), ranks_told(tuple(range(0, 100, 2)))[-5:]) == ("1-3, 7", ", ...")


# --- the command


def test_the_command_in_both_languages_and_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 for a hang."""
    made.write(tmp_path, made.away(4, 2))
    assert main(["hang", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "HANG: rank 2 did not come" in told
    assert "\n\n\n" not in told
    assert "TORCH_HCCL_TRACE_BUFFER_SIZE" in told
    assert main(["hang", str(tmp_path), "--lang", "zh"]) == 1
    assert "卡住：" in capsys.readouterr().out.replace(": ", "：", 1)
    assert main(["hang", str(tmp_path), "-f", "json"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert (read["answer"], read["kind"], read["ranks"], read["waiting"]) == ("hang", "away", [2], [0, 1, 3])


def test_what_cannot_be_told_is_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log without dumps, and a dump that is none: said plainly, with what to bring."""
    (tmp_path / "train.log").write_text("step 1\nstep 2\n")
    (tmp_path / "hccl_trace_rank_0").write_bytes(b"cposix\nsystem\n(S'id'\ntR.")
    assert main(["hang", str(tmp_path)]) == 3
    told = capsys.readouterr().out
    assert "CANNOT BE TOLD" in told
    assert "\n\n\n" not in told
    assert "posix.system" in told


def test_a_job_that_moves_is_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is called that."""
    made.write(tmp_path, {rank: dump(done(4), ALL) for rank in WORLD})
    assert main(["hang", str(tmp_path)]) == 0
    assert "NO HANG" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--pid", "x"], ["--pid", "a=1"], ["--world", "0"], ["--between", "99"]])
def test_wrong_calls(wrong: list[str], tmp_path: Path) -> None:
    """Each is told as such."""
    with pytest.raises(UsageError):
        main(["hang", str(tmp_path), *wrong])


RANK = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from torch.distributed.distributed_c10d import all_reduce
def away():
    time.sleep(60)
print("up", flush=True)
away() if os.environ["RANK"] == "1" else all_reduce()
"""


@pytest.fixture
def job(tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Three processes that say that they are ranks of a job, one of which does not come to the call of the others."""
    module = tmp_path / "torch" / "distributed"
    module.mkdir(parents=True)
    (module / "distributed_c10d.py").write_text("import time\ndef all_reduce():\n    time.sleep(60)\n")
    (tmp_path / "train.py").write_text(RANK)
    variables = {"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(40000 + os.getpid() % 20000)}
    started = [
        subprocess.Popen([sys.executable, str(tmp_path / "train.py"), str(tmp_path)], env={**os.environ, **variables, "RANK": str(rank)}, stdout=subprocess.PIPE)
        for rank in range(3)
    ]
    for one in started:
        assert one.stdout is not None
        one.stdout.readline()
    yield started
    for one in started:
        one.kill()
        one.wait()


@pytest.mark.skipif(spy.program() is None, reason="py-spy is not installed")
def test_live_processes(job: list[subprocess.Popen[bytes]], capsys: pytest.CaptureFixture[str]) -> None:
    """The stacks of real processes; then one is stopped, then one is gone."""
    pids = [part for one in job for part in ("--pid", str(one.pid))]
    code = main(["hang", *pids, "-f", "json", "--between", "0.2"])
    read = json.loads(capsys.readouterr().out)
    if any("permission" in row["reason"] for row in read["skipped"]):
        pytest.skip("py-spy may not look at processes here")
    assert (code, read["kind"], read["ranks"]) == (1, "stuck", [1])
    assert read["line"].endswith("away")
    job[2].send_signal(signal.SIGSTOP)
    assert main(["hang", *pids, "-f", "json", "--between", "0.2"]) == 1
    assert json.loads(capsys.readouterr().out)["kind"] == "stopped"
    job[2].kill()
    job[2].wait()
    assert main(["hang", *pids, "-f", "json", "--between", "0.2"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert (read["kind"], read["ranks"]) == ("dead", [2])
