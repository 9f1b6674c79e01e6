"""Facts of neighbouring files and lines: how many processes and NPUs there are, who shares one, who holds what was wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor import report
from doctor.findings.devices import Seat, sharing, started_with
from doctor.findings.holders import engines, idle, of_memory, of_port, seats
from doctor.findings.rank_sets import absent, described
from doctor.findings.situation import Situation
from doctor.findings.started import Started, read

INVALID = """\
[rank5]: RuntimeError: Initialize:torch_npu/csrc/core/npu/sys_ctrl/npu_sys_ctrl.cpp:217 NPU function error: c10_npu::SetDevice(device_id_), error code is 107001
[rank5]: [ERROR] 2025-06-11-10:20:01 (PID:5121, Device:5, RankID:5) ERR00100 PTA call acl api failed
[rank5]: [Error]: Invalid device ID.
"""
EJ0001 = "EJ0001: [PID: 88211] 2025-05-11-13:11:05.221.100 Failed to initialize the HCCP process. Reason: Maybe the last training process is running.\n"
SEATS = "".join(f"[ERROR] 2025-05-11-13:11:05 (PID:8821{n}, Device:0, RankID:{n}) ERR02200 DIST call hccl api failed.\n" for n in range(3))
OCCUPIED = "ValueError: Free memory on device (9.12/60.97 GiB) on startup is less than desired GPU memory utilization (0.9, 54.87 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n"
TABLE = """\
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 31877         | python3.11               | 52841                   |
"""
SS = """\
[root@npu-node-3 ~]# ss -lntp
LISTEN   0        2048             0.0.0.0:8000           0.0.0.0:*      users:(("python3.11",pid=20417,fd=34))
LISTEN   0        128              0.0.0.0:22             0.0.0.0:*      users:(("sshd",pid=1201,fd=3))
"""


def command(text: str) -> Started:
    made = read(text)
    assert made is not None
    return made


def first(folder: Path, **files: str) -> dict[str, Any]:
    """The first finding about some files."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    found: dict[str, Any] = report(folder)["findings"][0]
    return found


def runs(finding: dict[str, Any]) -> list[str]:
    return [c["run"] for fix in finding["fixes"] for c in fix["commands"]]


@pytest.mark.parametrize(
    ("text", "visible", "cards", "wanted"),
    [
        ("torchrun --nproc_per_node=8 a.py", "0,1,2,3", "too-few", "0,1,2,3,4,5,6,7"),
        ("vllm serve /m/a --tensor-parallel-size 2", "4", "too-few", "4,5"),
        ("vllm serve /m/a --tensor-parallel-size 2", "7", "too-few", "6,7"),
        ("vllm serve /m/a", "4", "enough", None),
    ],
)
def test_processes_are_compared_with_visible_npus(text: str, visible: str, cards: str, wanted: str | None) -> None:
    facts = started_with([command(text)], [visible])
    assert facts["cards"] == (cards,)
    assert facts.get("visible_wanted") == (None if wanted is None else (wanted,))


def test_devices_of_a_container_count() -> None:
    started = [command("docker run --device /dev/davinci2 --device=/dev/davinci3:/dev/davinci3 --device /dev/davinci_manager img:1 bash"), command("vllm serve /m/a -tp 4")]
    assert started_with(started, [])["cards"] == ("too-few",)


POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: vllm
      command:
        - sh
        - -c
        - "bash /code/prepare.sh;
           python3 -m vllm.entrypoints.openai.api_server --port 8080 --model /m/a --tensor-parallel-size 2"
      resources:
        limits:
          huawei.com/Ascend910: "1"
          memory: 64Gi
        requests:
          huawei.com/Ascend910: "1"
"""


def test_a_pod_has_as_many_npus_as_its_manifest_asks_for(tmp_path: Path) -> None:
    """And an engine starts its processes in the pod, wherever else a Ray cluster has NPUs: the manifest is told as the place where that is mended."""
    started = [command("vllm serve /m/a -tp 2")]
    assert started_with(started, [], asked=["1", "1"])["cards"] == ("too-few",)
    assert started_with(started, [], asked=["2"])["cards"] == ("enough",)
    assert "cards" not in started_with(started, [], asked=["1", "2"])  # of which pod it runs in, nothing is known
    found = first(tmp_path, run_log=INVALID, pod_yaml=POD)
    assert found["title"]["en"].startswith("More processes (2) than visible NPUs (1)")
    assert "huawei.com/Ascend910: 2" in found["fixes"][0]["code"]["after"]
    spread = first(tmp_path, run_log=INVALID, pod_yaml=POD.replace("kind: Pod", "kind: LeaderWorkerSet"))
    assert [run for run in runs(spread) if run.endswith("--tensor-parallel-size 2 --distributed-executor-backend ray")] == runs(spread)[:1]


def test_what_cann_says_a_process_may_open_counts_where_no_list_is_told(tmp_path: Path) -> None:
    """Two NPUs and eight processes: the message of the third one tells how many there are."""
    assert started_with([command("torchrun --nproc_per_node=8 a.py")], [], usable=["2"])["cards"] == ("too-few",)
    assert "cards" not in started_with([command("torchrun --nproc_per_node=8 a.py")], [], usable=["2", "8"])
    assert started_with([command("torchrun --nproc_per_node=4 a.py")], ["0,1,2,3"], usable=["2"])["cards"] == ("enough",)
    found = first(tmp_path, run_log="torchrun --nproc_per_node 8 a.py\n[Error]: Invalid device ID.\nEE1001: Set device failed, invalid device, set device=2, valid device range is [0, 2)\n")
    assert found["fixes"][found["first_fix"]]["commands"][0]["run"] == "torchrun --nproc_per_node 2 a.py"


def test_ids_of_the_host_are_none_of_the_container(tmp_path: Path) -> None:
    """Inside, the one card that was given to it is 0, whatever its number is outside."""
    given = "docker run --device /dev/davinci3 --device /dev/davinci_manager img:1 bash"
    assert started_with([command(given), command("vllm serve /m/a")], ["3"])["cards"] == ("outside",)
    assert started_with([command(given), command("vllm serve /m/a")], ["0"])["cards"] == ("enough",)
    found = first(tmp_path, run_log=f"{given}\nexport ASCEND_RT_VISIBLE_DEVICES=3\nvllm serve /m/a\nRuntimeError: SetDevice, error code is 107001\n[Error]: Invalid device ID.\n")
    assert found["fixes"][found["first_fix"]]["env"][0]["value"] == "0"


def test_what_the_runtime_of_the_container_hands_out_counts() -> None:
    started = [command("docker run -e ASCEND_VISIBLE_DEVICES=4 img:1 bash"), command("vllm serve /m/a -tp 2")]
    assert started_with(started, [])["cards"] == ("too-few",)


def test_nothing_is_concluded_of_two_values() -> None:
    """A script may know two jobs, a log two lists."""
    assert "cards" not in started_with([command("torchrun --nproc_per_node=8 a.py"), command("torchrun --nproc_per_node=2 b.py")], ["0"])
    assert "cards" not in started_with([command("torchrun --nproc_per_node=8 a.py")], ["0", "1,2"])


def test_the_start_command_and_the_variable_name_the_cause(tmp_path: Path) -> None:
    """Eight processes on four visible NPUs: the title counts both, the fixes are theirs."""
    found = first(tmp_path, train_log=INVALID, run_sh="export ASCEND_RT_VISIBLE_DEVICES=0,1,2,3\ntorchrun --nproc_per_node=8 train.py\n")
    assert found["title"]["en"] == "More processes (8) than visible NPUs (4): ASCEND_RT_VISIBLE_DEVICES=0,1,2,3"
    assert found["title"]["zh"] == "进程数（8）多于可见 NPU 数（4）：ASCEND_RT_VISIBLE_DEVICES=0,1,2,3"
    assert found["fixes"][0]["env"][0]["value"] == "0,1,2,3,4,5,6,7"
    assert runs(found) == ["torchrun --nproc_per_node=4 train.py"]


def test_the_launcher_of_the_log_is_the_launcher_of_the_fix(tmp_path: Path) -> None:
    found = first(tmp_path, train_log="$ export ASCEND_RT_VISIBLE_DEVICES=0,1\n$ msrun --worker_num=4 --local_worker_num=4 --join=True net.py\n" + INVALID)
    assert runs(found) == ["msrun --worker_num=2 --local_worker_num=2 --join=True net.py"]


def test_where_enough_are_visible_the_program_is_asked(tmp_path: Path) -> None:
    found = first(tmp_path, train_log=INVALID, run_sh="export ASCEND_RT_VISIBLE_DEVICES=0,1\ntorchrun --nproc_per_node=2 train.py\n")
    assert found["cause"]["en"].startswith("As many NPUs are visible as processes were started (2: ASCEND_RT_VISIBLE_DEVICES=0,1)")


def test_without_a_start_command_the_entry_says_what_the_line_proves(tmp_path: Path) -> None:
    assert "sees fewer NPUs" in first(tmp_path, train_log=INVALID)["title"]["en"]


def test_ranks_that_share_a_card_are_named(tmp_path: Path) -> None:
    found = first(tmp_path, train_log=EJ0001 + SEATS)
    assert found["title"]["en"] == "Ranks 0, 1, 2 start on one NPU (0): each rank needs a card of its own"


def test_first_ranks_of_two_nodes_share_nothing() -> None:
    assert sharing([Seat("a.log", 0, 0), Seat("a.log", 8, 0), Seat("a.log", 1, 1)]) == {}
    assert sharing([Seat("a.log", 0, -1), Seat("a.log", 1, -1)]) == {}


def test_workers_of_ray_call_their_only_npu_zero(tmp_path: Path) -> None:
    found = first(tmp_path, train_log=EJ0001 + SEATS + "(WorkerDict pid=88212) RuntimeError: x\n")
    assert found["title"]["en"] == "Rank 1 finds device 0 in use: by another rank, or a leftover (EJ0001)"


def test_the_process_that_holds_the_npu_is_named(tmp_path: Path) -> None:
    found = first(tmp_path, serve_log=OCCUPIED, smi_txt=TABLE)
    assert "npu-smi shows process 31877 (python3.11, 52841 MB, NPU 0)." in found["cause"]["en"]
    assert found["fixes"][found["first_fix"]]["title"]["en"] == "Look at the process that holds the NPU (pid 31877), then stop it"
    assert "kill 31877" in runs(found)


def card(npu: int, busy: int, used: int) -> str:
    return f"| {npu}     910B2               | OK            | 90.0        36                0    / 0             | | 0                         | 0000:01:00.0  | {busy}           0    / 0          {used} / 65536         |"


@pytest.mark.parametrize(
    ("cards", "processes", "told"),
    [
        ([(0, 81, 60000), (1, 78, 60000), (2, 0, 3386), (3, 0, 3386)], 2, ("instead", "2,3")),
        ([(0, 0, 60000), (1, 0, 3386)], 1, ("enough", "1")),
        ([(0, 81, 60000), (1, 0, 3386)], 2, None),
        ([(0, 0, 3386), (0, 0, 3386)], 1, None),
    ],
)
def test_cards_on_which_nothing_runs_are_told(cards: list[tuple[int, int, int]], processes: int, told: tuple[str, str] | None) -> None:
    """As many as are needed; none of a board with two chips a card, whose numbers are others."""
    found = idle([card(*one) for one in cards], (command(f"torchrun --nproc_per_node={processes} a.py"),))
    assert (found and (found["idle"][0], found["idle_npus"][0])) == (told or {})


@pytest.mark.parametrize(("chip", "visible", "known"), [("910B4", (), True), ("910_9362", (), False), ("910B4", ("4,5",), False), ("310P", (), False)])
def test_a_device_is_a_card_of_npu_smi_where_cards_have_one_chip(chip: str, visible: tuple[str, ...], known: bool) -> None:
    facts = {"chip": (chip,), **({"visible": visible} if visible else {})}
    assert Situation(facts).card("3") == ({"npu_id": "3", "chip_id": "0"} if known else {})


def test_a_process_of_the_job_itself_holds_nothing_up() -> None:
    row = "| 0       0                 | 31877         | python3.11               | 52841 "
    assert of_memory([row], "", frozenset({31877})) == {}
    assert of_memory([row], "3", frozenset()) == {}
    assert "holder_pid" not in of_memory([row, row.replace("| 0 ", "| 1 ").replace("31877", "31900")], "", frozenset())


def test_who_shares_an_npu_with_the_job_is_named() -> None:
    """However little it holds; who is on other NPUs shares none."""
    row = "| 0       0                 | 31877         | python3.11               | 52841 "
    beside, elsewhere = row.replace("31877", "77").replace("52841", "188"), row.replace("31877", "78").replace("| 0 ", "| 1 ")
    assert of_memory([row, beside, elsewhere], "", frozenset({31877}))["sharers"] == ("77 (python3.11, NPU 0)",)
    assert "sharers" not in of_memory([row, elsewhere], "", frozenset({31877}))


@pytest.mark.parametrize(
    ("visible", "there", "cards"),
    [("0,1,3,4", "0134", "slots"), ("4,5", "4567", "slots"), ("0,1,2,3", "0134", "enough"), ("2,3", "0134", "enough"), ("0,1,3,4", "", "enough"), ("6,7", "0123", "enough")],
)
def test_ids_of_a_table_with_gaps_are_no_places(visible: str, there: str, cards: str) -> None:
    """The list of visible NPUs counts the cards that are there from 0, whatever npu-smi calls them."""
    processes = len(visible.split(","))
    assert started_with([command(f"vllm serve /m/a --tensor-parallel-size {processes}")], [visible], there)["cards"] == (cards,)


def test_the_other_container_is_named(tmp_path: Path) -> None:
    """The one that `docker ps` shows beside the reader's own; of several nobody knows which."""
    used = "$ docker run --name mine --device /dev/davinci0 mine:1 bash\nroot@npu:/# npu-smi info\ndcmi model initialized failed, because the device is used. ret is -8020\n"
    head = "$ docker ps\nCONTAINER ID   IMAGE        COMMAND   CREATED       STATUS       PORTS     NAMES\n"
    rows = [f'{number}a1b2c3d4e5f   {name}:2.1   "bash"    9 days ago    Up 9 days              {name}\n' for number, name in enumerate(("mine", "theirs", "another"))]
    assert "docker stop theirs" in runs(first(tmp_path, shell_txt=used + head + rows[0] + rows[1]))
    assert "docker stop CONTAINER_NAME" in runs(first(tmp_path, shell_txt=used + head + "".join(rows)))


def test_processes_of_one_program_hold_the_npus_together() -> None:
    """What is left of a job holds all its cards; processes of several programs are not all to go."""
    row = "| 0       0                 | 31877         | python3.11               | 52841 "
    other = row.replace("| 0 ", "| 1 ").replace("31877", "31901")
    assert (found := of_memory([other, row], "", frozenset()))["held"] == ("npus",)
    assert found["holder_pids"] == ("31877 31901",)
    assert "held" not in of_memory([row, other.replace("python3.11", "llama-server")], "", frozenset())


def test_the_program_on_the_port_is_named(tmp_path: Path) -> None:
    found = first(tmp_path, serve_log="OSError: [Errno 98] Address already in use\n", ss_txt=SS, run_sh="vllm serve /m/a --port 8000\n")
    assert found["title"]["en"] == "The server's port 8000 is in use by python3.11, pid 20417"
    assert "vllm serve /m/a --port 8011" in runs(found)


@pytest.mark.parametrize(
    "row",
    [
        'LISTEN 0 2048 0.0.0.0:8000 0.0.0.0:* users:(("python3",pid=77,fd=3))',
        "tcp   0   0 0.0.0.0:8000   0.0.0.0:*   LISTEN   77/python3",
        "python3 77 root 34u IPv4 123456 0t0 TCP *:8000 (LISTEN)",
    ],
)
def test_listeners_are_read_as_tools_print_them(row: str) -> None:
    assert of_port([row], [command("vllm serve /m/a --port 8000")])["listener_pid"] == ("77",)
    assert "listener_pid" not in of_port([row], [command("vllm serve /m/a --port 80")])


@pytest.mark.parametrize(
    ("ranks", "size", "rule"),
    [([1, 3, 5, 7], 8, "odd"), ([0, 2, 4, 6], 8, "even"), (list(range(8, 16)), 32, "nodes"), ([1, 2, 3], 4, "all-but-one"), ([3, 11, 19], 32, "place"), ([0, 5, 6], 8, None), ([1, 2], 8, None)],
)
def test_what_ranks_have_in_common(ranks: list[int], size: int, rule: str | None) -> None:
    found = described(ranks, size)
    assert (found.rule if found else None) == rule


def test_missing_ranks_are_told_as_what_they_are(tmp_path: Path) -> None:
    """A list of numbers hides that one device of each pair is missing."""
    found = first(tmp_path, train_log="[ERROR] HCCL(5100,python):2025-08-07-08:20:41.300.100 [topoinfo_exchange_server.cc:200] [5100]Failed to connect agent[1,3,5,7,]\n[ERROR] HCCL(5100,python):2025-08-07-08:20:41.300.200 [topoinfo_exchange_server.cc:201] [5100]need connect rankNum is [8]\n")
    assert found["title"]["en"].endswith("(every odd rank: the second of each pair)")
    assert found["title"]["zh"].endswith("（所有奇数 rank：每对中的第二个）")


@pytest.mark.parametrize(
    ("came", "counted", "missing"),
    [
        (["[00],[02];", "[04],[06];"], 4, (1, 3, 5, 7)),
        (["[00],[01],[02],[03];"], None, (4, 5, 6, 7)),
        (["[00],[02];"], 4, ()),  # a part of the list is not there
        ([], 0, ()),
    ],
)
def test_who_is_not_on_the_list_of_those_who_came(came: list[str], counted: int | None, missing: tuple[int, ...]) -> None:
    """The ranks that a whole list lacks; nothing of a list of which lines are gone."""
    assert absent(came, 8, counted) == missing


def test_ranks_that_never_came_are_named(tmp_path: Path) -> None:
    """The root rank lists who came: the title says who did not, and what they have in common."""
    log = (
        "[ERROR] HCCL(9,t):2025-11-21-01:20:01.624.966 [topoinfo_exchange_server.cc:314] [9][RanktableDetect]topo exchange server get socket timeout! timeout[120 s]\n"
        "[ERROR] HCCL(9,t):2025-11-21-01:20:01.625.103 [topoinfo_exchange_server.cc:501] [9][DisplayConnectionedRank]total connected num is [4],line num is [1]\n"
        "[ERROR] HCCL(9,t):2025-11-21-01:20:01.625.112 [topoinfo_exchange_server.cc:503] [9][DisplayConnectionedRank]need connect rankNum is [8]\n"
        "[ERROR] HCCL(9,t):2025-11-21-01:20:01.625.145 [topoinfo_exchange_server.cc:517] [9][DisplayConnectionedRank]connected rankinfo[LINE 0]: [0000],[0001],[0002],[0003];\n"
    )
    assert "rank 4-7 never connected to the root (the whole of node 1" in first(tmp_path, log=log)["title"]["en"]


FIRST = "ASCEND_RT_VISIBLE_DEVICES=0 vllm serve /m/a --port 8001 --gpu-memory-utilization 0.5"
SECOND = "ASCEND_RT_VISIBLE_DEVICES={card} vllm serve /m/b --port {port} --gpu-memory-utilization 0.3"


def test_two_engines_on_one_card_share_it() -> None:
    """Other cards, or the same port once more, are no second engine beside the first."""
    assert engines([command(FIRST), command(SECOND.format(card=0, port=8002))]) == {"held": ("engine",), "both_shares": ("0.8",)}
    assert engines([command(FIRST), command(SECOND.format(card=1, port=8002))]) == {}
    assert engines([command(FIRST), command(SECOND.format(card=0, port=8001))]) == {}


def test_the_share_of_the_second_engine_counts_the_first(tmp_path: Path) -> None:
    """What is advised is the sum of both shares, not smaller weights."""
    log = f"$ {FIRST} &\n$ {SECOND.format(card=0, port=8002)}\nValueError: No available memory for the cache blocks.\n"
    serves = [run for run in runs(first(tmp_path, serve_log=log)) if "vllm serve" in run]
    assert serves[0].endswith("--gpu-memory-utilization 0.8")


def test_the_image_of_a_script_tells_versions_that_the_log_leaves_out(tmp_path: Path) -> None:
    """What the log tells itself comes before it."""
    script = "IMAGE=quay.io/ascend/vllm-ascend:v0.13.0rc1\ndocker run --rm $IMAGE bash\n"
    (tmp_path / "run.sh").write_text(script)
    for said, version in (("", "0.13.0rc1"), ("vllm-ascend 0.11.0\n", "0.11.0")):
        (tmp_path / "serve.log").write_text(f"{said}ValueError: No available memory for the cache blocks.\n")
        assert report(str(tmp_path))["situation"]["facts"]["vllm_ascend"] == [version]


PRIVILEGED = "docker run -it --privileged=true --device=/dev/davinci6 --device /dev/davinci7:/dev/davinci7 -v /a:/a reg/a:1 bash\n"
FULL = "RuntimeError: NPU out of memory. Tried to allocate 18.00 MiB (NPU 0; 60.97 GiB total capacity; 1.70 GiB already allocated; 1.70 GiB current active; 20.04 MiB free; 1.82 GiB reserved in total by PyTorch)\n"


@pytest.mark.parametrize(
    ("run", "given"),
    [
        (PRIVILEGED, "6,7"),
        ("docker run --privileged -e ASCEND_VISIBLE_DEVICES=3,2 reg/a:1", "2,3"),
        (PRIVILEGED.replace("=true", "=false"), None),
        (PRIVILEGED.replace("davinci6", "davinci0"), None),  # what begins with 0 begins with its own
        (PRIVILEGED.replace("-it", "-e ASCEND_RT_VISIBLE_DEVICES=6"), None),
        ("docker run --privileged reg/a:1", None),
    ],
)
def test_privileged_makes_devices_void(run: str, given: str | None) -> None:
    told = started_with([command(run.strip())], ())
    assert (told.get("cards") == ("privileged",), told.get("given")) == (given is not None, given and (given,))


def test_a_privileged_container_sits_on_the_first_card(tmp_path: Path) -> None:
    found = first(tmp_path, run_sh=PRIVILEGED, a_log=FULL)
    assert "--privileged" in found["title"]["en"]
    assert any(e["value"] == "6,7" for fix in found["fixes"] for e in fix["env"])
    elsewhere = first(tmp_path, run_sh=PRIVILEGED, a_log=FULL.replace("NPU 0;", "NPU 6;"))
    assert "--privileged" not in elsewhere["title"]["en"]


def test_the_given_cards_come_before_other_idle_ones() -> None:
    rows = [f"| {n}     910B2               | OK            | 90.0        36                0    / 0             | | 0                         | 0000:0{n}:00.0  | 0           0    / 0          {3386 if n != 1 else 60000} / 65536         |" for n in range(8)]
    assert idle(rows, [command(PRIVILEGED.strip())])["idle_npus"] == ("6,7",)
    assert idle(rows, [command(PRIVILEGED.replace("davinci6", "davinci1").strip())])["idle_npus"] == ("0",)


SLOT = "| 8       310P3                 | OK              | NA           49                0     / 0             |\n| 0       0                     | 0000:81:00.0    | 3            2251 / 21527                            |\n"
ASKS = """\
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/plugh/smi.py", line 21, in read
    text = subprocess.check_output("npu-smi info -t usages -i 0 -c 0", shell=True)
  File "/usr/lib/python3.10/subprocess.py", line 421, in check_output
    return run(*popenargs, stdout=PIPE, timeout=timeout, check=True,
subprocess.CalledProcessError: Command 'npu-smi info -t usages -i 0 -c 0' returned non-zero exit status 255.
"""


def test_a_card_is_called_what_its_table_calls_it() -> None:
    known = Situation({"chip": ("310P3",), **seats([SLOT])})
    assert known.card("0") == {"npu_id": "8", "chip_id": "0"}
    assert known.card("1") == {}
    assert seats([SLOT, SLOT.replace("| 8 ", "| 2 ")]) == {}  # of two hosts


@pytest.mark.parametrize(("npu", "sure"), [("8", True), ("0", False)])
def test_a_card_that_the_table_lacks_is_not_asked_about(tmp_path: Path, npu: str, sure: bool) -> None:
    found = first(tmp_path, a_log=ASKS, smi_txt="$ npu-smi info\n| npu-smi 25.2.0      Version: 25.2.0      |\n" + SLOT.replace("| 8 ", f"| {npu} "))
    assert ("only 8 is here" in found["title"]["en"]) == sure


def test_mindie_is_told_the_cards_that_it_sees(tmp_path: Path) -> None:
    log = "2025-11-10 16:41:19,047 [ERROR] model.py:39 - [Model] >>> Exception:Initialize\n  File \"/usr/lib/python3.11/site-packages/mindie_llm/text_generator/generator.py\", line 66, in __init__\n"
    log += "EE1001: [PID: 4603] 2025-11-10-16:41:19.431.327 The argument is invalid.Reason: Set device failed, invalid device, set device=3, valid device range is [0, 3)\n[Error]: Invalid device ID.\n"
    (tmp_path / "a.log").write_text(log, encoding="utf-8")
    codes = [fix["code"]["after"] for fix in report(tmp_path)["findings"][0]["fixes"] if "code" in fix]
    assert codes[:1] == ['"npuDeviceIds" : [[0,1,2]],\n"worldSize" : 3']
