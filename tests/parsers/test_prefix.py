"""Which prefixes come off, and what they say about the line."""

from __future__ import annotations

from itertools import permutations

import pytest

from parsers.prefix import peel

PLOG = "[ERROR] RUNTIME(41,python):2026-03-02-10:21:44.118.305 [a.cc:7]41 F:text"
CASES = {
    # worker names
    "(VllmWorkerProcess pid=402) boom": {"worker": "VllmWorkerProcess", "pid": 402},
    "(VllmWorker rank=3 pid=50935) boom": {"worker": "VllmWorker", "pid": 50935, "rank": 3},
    "(VllmWorker TP0 pid=838) boom": {"worker": "VllmWorker TP0", "pid": 838, "rank": None},
    "(Worker_DP0_TP6_EP6 pid=363) boom": {"worker": "Worker_DP0_TP6_EP6", "rank": None},
    "(Worker pid=17148) (Worker_DP0_TP6_EP6 pid=17149) boom": {"worker": "Worker_DP0_TP6_EP6", "pid": 17149},
    "(EngineCore_DP0 pid=702) ERROR 11-07 06:32:37 [core.py:671] boom": {"level": "error", "module": "core.py", "time": None},
    "(vLLMHttpServer pid=1) (Worker_TP3 pid=2) boom": {"worker": "Worker_TP3", "pid": 2},
    "[RAW SERVER] (APIServer pid=9) boom": {"worker": "APIServer", "pid": 9},
    "[Stage-1] ERROR 06-12 03:20:10 [omni_stage.py:1400] boom": {"worker": "Stage-1", "level": "error"},
    "(RayWorkerWrapper pid=7, ip=10.0.0.1) boom": {"worker": "RayWorkerWrapper", "pid": 7},
    "(pid=7) boom": {"worker": None, "pid": 7},
    "(raylet, ip=10.0.0.1) boom": {"worker": "raylet"},
    "(autoscaler +1m20s) boom": {"worker": "autoscaler"},
    # ranks
    "[rank3]: boom": {"rank": 3},
    "[rank12]:boom": {"rank": 12},
    "rank3: boom": {"rank": 3},
    "[1,3]<stderr>:boom": {"rank": 3},
    "2: [rank2]: boom": {"rank": 2},
    "[default5]:boom": {"rank": None, "worker": "default5"},
    # colours
    "\x1b[36m(WorkerDict pid=12)\x1b[0m boom": {"pid": 12},
    "^[[36m(WorkerDict pid=12)^[[0m boom": {"pid": 12},
    "\\u001b[36m(WorkerDict pid=12)\\u001b[0m boom": {"pid": 12},
    "[36m(WorkerDict pid=12)[0m boom": {"pid": 12},
    "36m(EngineCore_DP0 pid=820)(RayWorkerWrapper pid=12)0m boom": {"pid": 12, "worker": "RayWorkerWrapper"},
    "(WorkerDict pid=12) boom [repeated 6x across cluster]": {"pid": 12},
    # containers and tools
    "vllm-1  | boom": {"worker": "vllm-1"},
    "#15 0.114 boom": {},
    "2025-03-02T10:21:44.118305Z stdout F boom": {"time": None},
    "2025-03-02T10:21:44.118305123Z boom": {"time": None},
    "[pod/trainer-0/main] boom": {"worker": "trainer-0"},
    "plog-1234_20250101000000000.log:123:boom": {"pid": 1234},
    "logs/rank_3/train.log-99-boom": {},
    "> boom": {},
    "\ufeff[rank1]: boom": {"rank": 1},
    " 10%|█         | 1/10 [00:01<00:09]\r 20%|██        | 2/10 [00:02<00:08]\rboom": {},
    # loggers
    "[F  4/24 17:22:10.685 ...nnadapter/src/runtime/device.cc:529 Find] boom": {"level": "fatal", "module": "...nnadapter/src/runtime/device.cc", "time": None},
    "[5 12/ 1  9: 7: 0. 61 /home/x/Paddle-Lite/lite/core/op_lite.cc:75 operator()] boom": {"level": None},
    "ERROR 04-18 08:22:17 engine.py:400] boom": {"level": "error", "module": "engine.py"},
    "INFO 2025-01-01 10:10:10 [core.py:1] boom": {"level": "info"},
    "2026-01-02 03:04:05,123 - INFO - boom": {"level": "info", "time": "2026-01-02T03:04:05.123000"},
    "2026-01-02 03:04:05,123 - 77 - tool - WARNING - boom": {"level": "warning", "module": "tool"},
    "2026-01-02 03:04:05 | ERROR | stderr | boom": {"level": "error"},
    "03:04:05 | INFO | stdout | boom": {"level": "info"},
    "2026-01-02 03:04:05.123 | ERROR    | mod.sub:func:12 - boom": {"level": "error", "module": "mod.sub:func:12"},
    "2026-01-02 03:04:05,123\tINFO worker.py:1888 -- boom": {"level": "info", "module": "worker.py"},
    "10/09/2024 10:06:02 - CRITICAL - boom": {"level": "fatal", "time": "2024-10-09T10:06:02.000000"},
    "- tool.cmd.start - CRITICAL - boom": {"level": "fatal", "module": "tool.cmd.start", "time": None},
    "05/22 09:09:31 - mmengine - INFO - boom": {"level": "info", "time": None, "module": "mmengine"},
    "[2026-07-01 09:33:11 DP0 TP3] boom": {"worker": "DP0 TP3", "time": "2026-07-01T09:33:11.000000"},
    "E1204 14:46:07.912003 60570 file.cpp:201] boom": {"level": "error", "module": "file.cpp"},
    "E20260106 06:43:02.966156  5793 file.cpp:820] boom": {"level": "error"},
    "[rank0]:[W515 09:40:12.302912713 compiler_depend.ts:57] boom": {"level": "warning", "rank": 0},
    "[W compiler_depend.ts:51] boom": {"level": "warning", "module": "compiler_depend.ts"},
    "[2025-11-18 09:32:54.669] [34] [2814] [llm] [WARN] [param_checker.cpp:98]  boom": {
        "level": "warning", "pid": 34, "module": "param_checker.cpp", "time": "2025-11-18T09:32:54.669000",
    },
    "[2025-03-14 08:22:10,331] [41] [28] [llmmodels] [INFO] [run_pa.py-118] : boom": {"module": "run_pa.py"},
    "[2025-01-08 11:15:56.123456][error][12345][12346][operation.cpp:273] boom": {"level": "error", "pid": 12345},
    "[2025-01-01 10:00:00,123][accelerate.utils][INFO] - boom": {"level": "info"},
    "[2024-05-23 10:20:33,104] [INFO] [logging.py:96:log_dist] [Rank 2] boom": {"rank": 2, "level": "info"},
    "[2024-05-23 10:20:33,104] torch.distributed.elastic: [ERROR] boom": {"level": "error"},
    "[WARNING] ME(55:281,MainProcess):2025-01-01-00:00:00.123.456 [mindspore/a.py:190] boom": {
        "level": "warning", "pid": 55, "time": "2025-01-01T00:00:00.123456",
    },
    "[INFO|trainer.py:2369] 2025-01-01 10:10:10,123 >> boom": {"level": "info", "module": "trainer.py"},
    "W NPUStream.cpp:409] boom": {"level": "warning", "module": "NPUStream.cpp"},
    "(IntegratedWorker pid=2105, ip=172.16.6.47) [2025-07-14 10:05:17,351 E 2106 14423] logging.cc:460: boom": {
        "level": "error", "pid": 2106, "worker": "IntegratedWorker",
    },
    "2025-04-02T00:52:03+00:00 - gpustack.worker - INFO - boom": {"level": "info", "module": "gpustack.worker"},
    "[2025-06-12 08:08:24.544+00:00] [12646] [12648] [server] [ERROR] [endpoint.cpp:45] : boom": {"module": "endpoint.cpp"},
    "2.25.616.469 E boom": {"level": "error"},
}  # fmt: skip
KEPT = (
    "boom",
    "[ERROR] RUNTIME(41,python):2026-03-02-10:21:44.118.305 [a.cc:7]41 F:text",
    "[ERROR] 2025-04-29-18:46:11 (PID:1066924, Device:1, RankID:-1) ERR00100 PTA call acl api failed",
    "[Error]: The vector core execution is abnormal.",
    "[PID: 379] 2026-05-01-10:59:07.429.194 Device_Absent/Abnormal(EL0001): absent",
    "[Rank 1] Watchdog caught collective operation timeout",
    "[ASSERT] [CANN_VERSION : 8.1.RC1] Assertion failed",
    "| 0     910B3               | OK            | 96.8        47                0     / 0             |",
    "10.0.0.1(0) | 10.0.0.2(1) | server | time out",
    "        x = f(y)",
    "  ^^^^",
    "ERROR: pip's dependency resolver does not take this into account",
    "INFO:     Started server process [961]",
    "step10: loss 3",
    "model.layers.0: (attention)",
    "torch-npu: [notice] a new release",
    "worker-1: ready",
    "1: the first of many reasons",
    "2: eth0: <BROADCAST,MULTICAST,UP> mtu 1500",
    "12:30 is lunch",
    "12:30:00.123 was lunch",
    "12\tplates",
    "FAILED tests/test_net.py - what a pity",
    "dest | status",
    "(base) text in parentheses",
    "(see pid=3 below, maybe",
    "#15 is the number",
    "1.006 ms a step",
    "12.31    45.20    0.11",
    "/var/log/x.log: Permission denied",
)


@pytest.mark.parametrize("raw", CASES, ids=range(len(CASES)))
def test_a_prefix_comes_off_and_is_understood(raw: str) -> None:
    peeled = peel(raw)
    assert peeled.text == "boom"
    assert {name: getattr(peeled, name) for name in CASES[raw]} == CASES[raw]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_not_a_prefix_stays(text: str) -> None:
    assert peel(text).text == text


@pytest.mark.parametrize("host", ["worker-1", "gpu-node-12", "node7", "10.0.0.5"])
@pytest.mark.parametrize(
    "text", ["EH9999: Inner Error!", "        TraceBack (most recent call last):", "[Error]: x", PLOG]
)
def test_the_host_that_pdsh_names(host: str, text: str) -> None:
    assert (peel(f"{host}: {text}").text, peel(f"{host}: {text}").worker) == (text, host)


@pytest.mark.parametrize("prefix", ["18:23:59.474 ", "18:23:59,474 ", "  1146\t", "0.998 ", "61.88 ", "1195.4 "])
@pytest.mark.parametrize("text", ["RuntimeError: x should be 2D", '  File "a.py", line 3, in f', "EH9999: Inner Error!", PLOG])
def test_a_clock_or_a_number_alone(prefix: str, text: str) -> None:
    """What training platforms, listings and docker build put before a line: only before what looks like a log."""
    assert peel(prefix + text).text == text


@pytest.mark.parametrize("raw", CASES, ids=range(len(CASES)))
def test_a_plog_line_keeps_its_head_behind_any_prefix(raw: str) -> None:
    if not raw.endswith("boom"):
        pytest.skip("the prefix is behind the text")
    assert peel(raw.removesuffix("boom") + PLOG).text == PLOG


@pytest.mark.parametrize(
    "order",
    list(permutations(["vllm-1  | ", "[rank3]: ", "(Worker_TP2 pid=7) ", "ERROR 03-25 06:14:02 [core.py:880] "])),
)
def test_prefixes_nest_in_any_order(order: tuple[str, ...]) -> None:
    peeled = peel("".join(order) + '  File "a.py", line 3, in f')
    assert peeled.text == '  File "a.py", line 3, in f'
    assert (peeled.rank, peeled.pid, peeled.level) == (3, 7, "error")


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        ("INFO:     Started", "info"), ("ERROR: failed", "error"), ("CRITICAL:root:dead", "fatal"), ("[WARNING] careful", "warning"),
        ("[INFO:swift] model_kwargs", "info"), ("Error: no such device", "error"), ("[2025-01-08 11:15:56] ERROR: x", "error"),
        ("[2025-01-08 11:15:56] INFO server_args.py:12: x", "info"), ("INFORMATION: none", None), ("an ERROR: inside", None),
    ],
)  # fmt: skip
def test_a_level_without_a_time_is_read_but_stays(raw: str, level: str | None) -> None:
    assert peel(raw).level == level
    assert raw.endswith(peel(raw).text)


def test_a_bar_that_comes_into_reach_when_a_prefix_is_gone() -> None:
    """Further from the line's beginning than a bar may stand, and nearer once the prefix before it is peeled: peeled as well."""
    peeled = peel("[2026-03-02 10:20:00,104] [INFO] " + "~" * 190 + " 10%|##\rto npu")
    assert peeled.text == "to npu"
    assert peel(peeled.text).text == peeled.text


@pytest.mark.parametrize(
    ("raw", "text", "rank"),
    [
        ("[rank3] Traceback (most recent call last):", "Traceback (most recent call last):", 3),
        ('[rank3]   File "/a.py", line 9, in <module>', '  File "/a.py", line 9, in <module>', 3),
        ("[rank3] ModuleNotFoundError: No module named 'a'", "ModuleNotFoundError: No module named 'a'", 3),
        ("[Rank 3] Watchdog caught collective operation timeout", "[Rank 3] Watchdog caught collective operation timeout", None),
    ],
)
def test_a_rank_without_a_colon_is_a_prefix_of_an_exception_alone(raw: str, text: str, rank: int | None) -> None:
    """Messages begin so as well."""
    assert (peel(raw).text, peel(raw).rank) == (text, rank)


@pytest.mark.parametrize("said", ["[Bug] [NPU] Retract decode ", "[Bug]: ", "[Usage][Ascend]：", "启动服务时报错：", "910C上运行报错", "报错信息如下: "])
def test_what_somebody_says_before_the_exception_that_he_quotes(said: str) -> None:
    assert peel(f"{said}torch.OutOfMemoryError: x").text == "torch.OutOfMemoryError: x"


@pytest.mark.parametrize(
    "raw", ["load failed: ValueError: x", "[Server] ValueError: x", "[Bug] no Error here", "报错: 见下", "ERROR: 报错 ValueError: x", "[Bug] ValueErrors: x", "[Bug] ValueError:"]
)
def test_what_a_program_says_before_an_exception_stays(raw: str) -> None:
    assert peel(raw).text == raw


@pytest.mark.parametrize("test", ["FAILED tests/test_net.py::Net::test_b[x - y] - ", "ERROR tests/test_net.py - ", "[rank3]: FAILED test_a.py::test_b - "])
def test_the_test_that_pytest_names_is_a_prefix_of_its_exception(test: str) -> None:
    assert peel(f"{test}ValueError: boom").text == "ValueError: boom"


@pytest.mark.parametrize(
    "line",
    [
        "[Driver] [2026-08-20 15:03:40] [ERROR]The user and group are not same",
        "[Runtime] [20260820-15:03:40] [ERROR]: ERR_NO:0x0091;ERR_DES:usergroup=root not right!",
        "[ops_custom] [2026-08-20 15:03:40] [ERROR] create /opp/vendors failed",
        "[Toolbox][20260820-15:03:40][user: root] [/dev/pts/2] [ERROR] run failed on file /root",
    ],
)
def test_what_an_installer_says_keeps_its_head_and_tells_level_and_time(line: str) -> None:
    peeled = peel(line)
    assert (peeled.text, peeled.level, peeled.time) == (line, "error", "2026-08-20T15:03:40.000000")
    assert peel(line.replace("[ERROR]", "[INFO]")).level == "info"


def test_a_level_in_brackets_may_touch_its_sentence() -> None:
    assert peel("[ERROR]Dkms install failed, details in : /var/log/x").level == "error"
    assert peel("[ERROR]x").level is None
