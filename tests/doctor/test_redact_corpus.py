"""Planted secrets: in whatever words a log wraps them, none is in any answer that is redacted, and the answer is otherwise the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from doctor.answer.redact import Redactor, redactor
from doctor.answer.redact_form import Forms
from doctor.answer.report import report
from doctor.commands import reporting
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from kb.knowledge import Knowledge
from kb.model import Entry
from tests.planted import answers, args, groups, leaked, leaks, log_with, plants

GROUPS = tuple(groups())


def test_the_corpus_is_large() -> None:
    """At least 400 secrets of at least 150 kinds, no two the same."""
    planted = plants()
    assert len({s for p in planted for s in p.secrets}) >= 400
    assert len({p.kind for p in planted}) >= 150


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_none_leaves(number: int, bench: Bench) -> None:
    """In a line that an entry claims, in one that none claims, in the same line cut up, alone, and in the name of the file."""
    text, path = log_with(GROUPS[number])
    diagnosis = conclude([bench._scanner.scan(discover.given_text(text, path))], bench.knowledge)
    assert diagnosis.roots[0].finding.entry.code == "ENV001"
    for form, told in answers(diagnosis, bench.knowledge, text, path).items():
        assert "ENV001" in told or form == "copied lines"
        found = leaks(told)
        assert [(p.kind, found(p.secrets)) for p in GROUPS[number] if found(p.secrets)] == [], form


def test_none_leaves_a_single_line(knowledge: Knowledge) -> None:
    """A line that stands alone, as it is copied from a screen: nothing else tells what its names are."""
    nothing = conclude([], knowledge)
    told = {plant: redactor(nothing, knowledge).text(plant.line) for plant in plants()}
    assert [(p.kind, leaked(p.secrets, text)) for p, text in told.items() if leaked(p.secrets, text)] == []


def test_what_is_asked_first_loses_nothing(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns are only tried on texts that hold a word of theirs: on every sample of the knowledge and every planted secret, as if all were tried."""
    texts = [plant.line for plant in plants()]
    texts += [t.upper() for t in texts] + [t.swapcase() for t in texts] + [t.replace("s", "\u017f").replace("K", "\u212a") for t in texts]
    texts += [row for e in entries for sample in (*e.match, *e.no_match) for row in sample.text.splitlines()][::9]
    assert len(texts) > 3000
    quick = [Redactor().text(text) for text in texts]
    monkeypatch.setattr(Forms, "possible", lambda self, _: list(range(len(self.all))))
    thorough = [Redactor().text(text) for text in texts]
    assert [(a, b) for a, b in zip(quick, thorough, strict=True) if a != b] == []


def test_the_corpus_would_leak(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Without redaction every one of them stands in the answer: the corpus proves something."""
    for group in GROUPS:
        text, path = log_with(group)
        made = args(format="json")
        made.redact = False
        reporting.emit(made, conclude([bench._scanner.scan(discover.given_text(text, path))], bench.knowledge), bench.knowledge)
        told = capsys.readouterr().out
        json.loads(told)
        found = leaks(told)
        assert [p.kind for p in group if len(found(p.secrets)) < len(p.secrets)] == []


# The same things stay apart and stay the same

NODE = """\
[INFO] HCCL({pid},python):2026-02-03-04:05:01.001.001 [hccl_communicator_attrs.cc:346] [{pid}][LocalRank Key Info]userRank[{rank}] hostIp[{own}] devicePhyId[0] server[{own}] deviceIp[{port}] superPodId[0]
[ERROR] HCCL({pid},python):2026-02-03-04:05:0{rank}.007.008 [a.cc:1] [{pid}]connect {peer} failed on node_name={host}
ImportError: libhccl.so: cannot open shared object file: No such file or directory (/home/{user}/lib, asked by {host})
"""


def node(folder: Path, rank: int) -> Path:
    """One node's logs: its own address, and that of the other one."""
    own, peer = ("10.31.0.5", "10.31.0.6")[:: 1 if rank == 0 else -1]
    plog = folder / "plog" / f"plog-{700 + rank}_20260203040501.log"
    plog.parent.mkdir(parents=True)
    told = {"pid": 700 + rank, "rank": rank, "own": own, "peer": peer, "port": f"192.168.9.{rank}", "host": f"box-{rank}7x", "user": "zhangwei"}
    plog.write_text(NODE.format(**told))
    return folder


def test_one_thing_has_one_name_over_files(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """The address that one node calls its own is the one that the other cannot reach; two addresses have two names."""
    for rank in (0, 1):
        node(tmp_path / f"n{rank}", rank)
    kept = tmp_path / "names.json"
    done = run("scan", str(tmp_path), "-f", "jsonl", "--redact", "--redact-map", str(kept))
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    facts = rows[1]["facts"]
    own = {dict(map(tuple, f[2]))["server"] for f in facts}
    tried = {m for row in rows if row["type"] == "unexplained" for m in re.findall(r"connect (<ip-[\w-]+>)", row["evidence"]["text"])}
    tried |= {m for f in rows[1]["clusters"] for m in re.findall(r"connect (<ip-[\w-]+>)", json.dumps(f))}
    assert len(own) == 2
    assert tried
    assert tried <= own
    names = json.loads(kept.read_text())
    assert sorted(v for told in own for v in names[told]) == ["10.31.0.5", "10.31.0.6"]
    assert len(names) == len({v for values in names.values() for v in values})
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "10.31" not in done.stdout.decode() + done.stderr.decode()


def shape(told: dict[str, Any]) -> Any:
    """What a diagnosis says, names apart."""
    job = told.get("job", {})
    return (
        told["verdict"],
        [(f["id"], f["role"], f["count"], f["explains"], f["explained_by"], f["scope"]["rank"], f["scope"]["device"], f["first_seen"]) for f in told["findings"]],
        [(c["count"], c["level"], c["module"], c["codes"]) for c in told["unexplained"]],
        job.get("world_size"), job.get("missing_ranks"),
        [(r["verdict"], r["codes"], r["waiters"], r["seconds_before_first_timeout"]) for r in job.get("roots", ())],
        sorted((r["rank"] if r["rank"] is not None else -1, r["pid"] or 0, r["state"]) for r in job.get("ranks", ())),
        sorted((w["kind"], w["waiters"], w["first"] or "") for w in job.get("waits", ())),
        [(e["time"], e["what"]) for e in job.get("timeline", ())],
    )


@pytest.mark.parametrize("fault", ["oom", "aicore", "killed", "stuck", "slow", "port", "mismatch", "link"])
@pytest.mark.parametrize("key", ["", "one secret for all nodes"])
def test_the_diagnosis_is_the_same(fault: str, key: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a redacted harvest, read back and concluded anew, everything but the names is as it was: ranks, roots, waits, times."""
    from doctor.scan.harvest import from_json
    from tests.simulate.jobs import simulate

    monkeypatch.setenv("NPU_DOCTOR_REDACT_KEY", key)
    job = simulate(31, 16, fault)
    plain = conclude([bench._scanner.scan(discover.given_text(t, n)) for n, t in job.files.items()], bench.knowledge)
    using = redactor(plain, bench.knowledge, tagged=True)
    made, harvest = using.report([report(plain, bench.knowledge), plain.harvest.json()])
    again = report(conclude([from_json(json.loads(json.dumps(harvest)))], bench.knowledge), bench.knowledge)
    first = report(plain, bench.knowledge)
    assert shape(made) == shape(first)
    assert shape(again) == shape(first)
    addresses = set(re.findall(r"\b10\.\d+\.\d+\.\d+\b", json.dumps(first)))
    assert not [a for a in addresses if a in json.dumps(again)]


def test_nodes_that_share_a_key_can_be_merged(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """With one secret the names agree between nodes; without, nothing is mixed up, and merge says what it cannot tell."""
    plain, keyed, apart = [], [], []
    for rank in (0, 1):
        folder = node(tmp_path / f"n{rank}", rank)
        for kept, env, more in ((plain, {}, ()), (keyed, {"NPU_DOCTOR_REDACT_KEY": "s3"}, ("--redact",)), (apart, {}, ("--redact",))):
            kept.append(str(tmp_path / f"{len(kept)}{len(more)}{len(env)}.jsonl"))
            run("scan", str(folder), "-f", "jsonl", "-o", kept[-1], *more, **env)
    told = {name: run("merge", *files, "-f", "json") for name, files in (("plain", plain), ("keyed", keyed), ("apart", apart))}
    reports = {name: json.loads(done.stdout) for name, done in told.items()}
    assert shape(reports["keyed"]) == shape(reports["plain"])
    nodes = {name: {r["node"] for r in made["job"]["ranks"]} for name, made in reports.items()}
    assert len(nodes["plain"]) == len(nodes["keyed"]) == len(nodes["apart"]) == 2
    assert b"NPU_DOCTOR_REDACT_KEY" in told["apart"].stderr
    assert b"NPU_DOCTOR_REDACT_KEY" not in told["keyed"].stderr + told["plain"].stderr
    assert "10.31.0" not in str(reports["keyed"]) + str(reports["apart"])


# What is no secret stays readable


def test_the_programs_own_texts_stay(bench: Bench) -> None:
    """Titles, causes and fixes of every entry come out as they were written: an example address there is nobody's."""
    from doctor.findings.evaluate import Finding
    from doctor.judge.relate import Related

    entries = [e for code in bench.knowledge.codes_of_entries if (e := bench.knowledge.entry(code)) is not None]
    related = tuple(Related(Finding(e, (), 1, True), "root", (), None) for e in entries)
    using = redactor(Diagnosis("findings", related, (), (), conclude([], bench.knowledge).harvest), bench.knowledge)
    for entry in entries:
        told = [entry.title.json(), entry.cause.json(), *(t for f in entry.fixes for t in [f.title.json(), *(c.run for c in f.commands)])]
        assert using.report(told) == told, entry.code


@pytest.mark.parametrize(
    "text",
    [
        "max_num_batched_tokens=8192, max_tokens: 2048, tokenizer='Qwen2', token_ids=[1, 2, 3], eos_token='<|im_end|>'",
        "PWD=/usr/local/Ascend OLDPWD=/tmp",
        "password: ***",
        "File \"/usr/lib/python3.10/threading.py\", line 3, in threading.local",
        "sklearn.cluster and torch.nn.functional and c10::Error at ace::fed",
        "image vllm-ascend@sha256:0123456789ab pulled from quay.io/ascend",
        "Device 3, chip 0000:C1:00.0, 12:03:04:05 elapsed, serial number is 4",
        "node-3 and worker-0 wait for master_addr=localhost",
        "https://github.com/vllm-project/vllm-ascend/issues/1 https://www.hiascend.com/document",
    ],
)
def test_words_that_only_look_like_it(text: str, knowledge: Knowledge) -> None:
    """Options about tokens of text, modules with dots, image digests, PCI addresses and public sites identify nobody."""
    using = redactor(conclude([], knowledge), knowledge)
    assert using.text(text) == text


def test_an_account_called_like_a_word(knowledge: Knowledge) -> None:
    """Somebody called `data` or `train` is hidden in a path, and the word stays a word."""
    using = redactor(conclude([], knowledge), knowledge)
    told = using.text("/home/train/x: python train.py reads data")
    assert re.fullmatch(r"/home/<user-\d>/x: python train.py reads data", told)


def test_many_names_are_quick_enough(knowledge: Knowledge) -> None:
    """Ten thousand machines: each name is found in one pass over a text, however many there are."""
    using = Redactor()
    using._learning = True
    for n in range(10_000):
        using.text(f"hostname: rack{n // 100}-blade{n % 100}x")
    using._learning = False
    told = using.text(" ".join(f"rack{n // 100}-blade{n % 100}x failed;" for n in range(0, 10_000, 7)))
    assert "blade" not in told
    assert told.count("<host-") == len(range(0, 10_000, 7))
