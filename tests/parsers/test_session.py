"""What the steps of a pasted session tell."""

from __future__ import annotations

import pytest

from parsers import session


def told(text: str) -> list[tuple[str | None, ...]]:
    return [(row.get("check"), row.get("what"), row.get("value"), row.get("program")) for row in session.rows(text.split("\n"), 1)]


@pytest.mark.parametrize(
    "text",
    [
        "[r@h ~]# npu-tool\nall is well\n[r@h ~]# echo $?\n0",
        "[r@h ~]# grep -c ERROR a.log\n0\n[r@h ~]# echo $?\n1",
        "[r@h ~]# npu-tool | head -3\nFine.\n[r@h ~]# echo $?\n141",
        "[r@h ~]# ls /home/x\nls: cannot access '/home/x': No such file or directory",
        "[r@h ~]# cat /root/ascend/log/a.log\nERROR: npu is lost",
        "[r@h ~]# npu-smi info | head -6\n| NPU   Name    | Health  |",
        "[r@h ~]# echo $ASCEND_OPP_PATH\n/usr/local/Ascend/opp",
        "# a comment about ascend\nError: none",
        "[r@h ~]# python run_npu.py\n[ERROR] DEVICE(384,ffff,python):2025-10-20-09:54:58.317.312 [a.cc:1] F] Get soc name failed.",
    ],
)
def test_what_is_as_it_should_be_gives_no_row(text: str) -> None:
    assert told(text) == []


def test_a_status_is_that_of_the_command_before() -> None:
    text = "u@h:~$ sudo ./npu-tool -a\nFailed to open the npu\nu@h:~$ echo $?\n3"
    assert told(text) == [("exit", "", "3", "npu-tool")]


def test_a_value_that_is_empty_on_the_npu_alone_is_told() -> None:
    """Two runs of one command are compared, whatever the prompt looks like."""
    text = "λ a1b2 /work {main} infer --device cpu\n{'boxes': [[1, 2]], 'texts': ['x'], 'notes': []}\nλ a1b2 /work {main} infer --device npu:0\n{'boxes': [], 'texts': [], 'notes': []}"
    assert told(text) == [("differs", "boxes, texts", "cpu", "infer")]


@pytest.mark.parametrize(
    "text",
    [
        "u@h:~$ infer --device cpu\n{'boxes': []}\nu@h:~$ infer --device npu\n{'boxes': [[1, 2]]}",
        "u@h:~$ infer --device cpu --last\n{'boxes': [[1, 2]]}\nu@h:~$ infer --device npu\n{'boxes': []}",
        "u@h:~$ infer --device npu:0\n{'boxes': [[1, 2]]}\nu@h:~$ infer --device npu:1\n{'boxes': []}",
        "u@h:~$ infer --device cpu\n{'boxes': [[1, 2]]}\nu@h:~$ infer --device npu\n{'boxes': []}\n{'boxes': [[1, 2]]}",
    ],
    ids=["empty-elsewhere", "another-command", "npu-alone", "not-always-empty"],
)
def test_other_pairs_of_runs_tell_nothing(text: str) -> None:
    """Only the same command, full elsewhere and always empty on the NPU, is odd."""
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# 每张卡还剩一半显存，为什么放不下？", "每张卡还剩一半显存，为什么放不下？"),
        ("## why is it slower on the second node? (both idle)", "why is it slower on the second node? (both idle)"),
        ("# NPU 上结果为空", "NPU 上结果为空"),
        ("# why this is so", None),
        ("why is the sky blue?", None),
        ('{"prompt": "天为什么是蓝的？"}', None),
        ("# kubectl get pods", None),
    ],
)
def test_a_question_counts_in_a_comment_alone(text: str, said: str | None) -> None:
    """What a model is asked is no question of whoever pasted the log."""
    rows = session.rows([text], 1)
    assert [row.get("said") for row in rows] == ([said] if said else [])


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("$ PLUGH=1 python3 a.py\nSegmentation fault (core dumped)\n$ python3 a.py\ndone", ("decides", "PLUGH", "set", "python3")),
        ("u@h:~$ python3 a.py\nTraceback (most recent call last):\nu@h:~$ export PLUGH=1\nu@h:~$ python3 a.py\ndone", ("decides", "PLUGH", "missing", "python3")),
        ("$ PLUGH=2 bash a.sh\nRuntimeError: no\n$ PLUGH=4 bash a.sh\ndone", ("decides", "PLUGH", "other", "bash")),
        ("$ PLUGH=1 ASCEND_LAUNCH_BLOCKING=1 python3 a.py\nx: error code is 507035\n$ python3 a.py\ndone", ("decides", "PLUGH", "set", "python3")),
    ],
    ids=["before-the-command", "exported", "another-value", "besides-what-only-tells"],
)
def test_two_runs_that_differ_by_one_variable_tell_it(text: str, row: tuple[str, ...]) -> None:
    assert told(text) == [row]


@pytest.mark.parametrize(
    "text",
    [
        "$ PLUGH=1 python3 a.py\nRuntimeError: no\n$ python3 b.py\ndone",
        "$ PLUGH=1 python3 a.py\nRuntimeError: no\n$ PLUGH=1 python3 a.py\ndone\n$ python3 a.py\ndone",
        "$ A_PLUGH=1 B_PLUGH=1 python3 a.py\nRuntimeError: no\n$ python3 a.py\ndone",
        "$ ASCEND_LAUNCH_BLOCKING=1 python3 a.py\nRuntimeError: no\n$ python3 a.py\ndone",
        "$ PLUGH=1 python3 a.py\nRuntimeError: no\n$ python3 a.py",
        "$ PLUGH=1 python3 a.py\nRuntimeError: no\n$ vim a.py\n$ python3 a.py\ndone",
    ],
    ids=["another-command", "now-and-then", "two-differ", "only-the-order-in-time", "nothing-printed", "changed-in-between"],
)
def test_runs_that_prove_no_variable_tell_nothing(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    "said",
    [
        "error: Failed to start domain 'vm-3'",
        "insmod: ERROR: could not insert module a.ko: Invalid module format",
        "dpkg: error processing package b (--configure):",
        "Job for docker.service failed because the control process exited with error code.",
        "failed to start daemon: Error initializing network controller",
        "unable to configure the Docker daemon with file /etc/docker/daemon.json: invalid character",
        "mount.nfs: Connection timed out",
        "Open /etc/hccn.conf failed.",
    ],
)
def test_the_command_that_a_session_about_npus_ends_with_has_failed(said: str) -> None:
    """It says so itself, and nothing after it went well."""
    session_of = f"[r@h ~]# npu-smi info -l\nTotal Count : 8\n[r@h ~]# tool --start\n{said}\n[r@h ~]#"
    assert told(session_of) == [("failed", "", "", "tool")]
    assert told(f"{session_of} tool --again\nstarted\n[r@h ~]#") == ([("failed", "", "", "tool")] if "hccn" in said else [])
    assert told(session_of.replace("npu-smi", "lspci")) == ([("failed", "", "", "tool")] if "hccn" in said else [])


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("$ vllm serve m\n$ python ask.py\nA sentence that says something.\n$ python ask.py\nplugh the the the the the the", ("garbled", "the", "later", "python")),
        ("$ vllm serve m\n$ python ask.py  # first\nA sentence that says something.\n$ python ask.py  # again\n是的的的的的的的的的的的", ("garbled", "的", "later", "python")),
        ("$ curl http://h/v1/completions -d @q.json\n{\"text\": \"GGGGGGGGGGGGGGGGGGGG\"}", ("garbled", "G", "first", "curl")),
    ],
)
def test_an_answer_of_one_word_is_told(text: str, row: tuple[str, ...]) -> None:
    assert told(text) == [row]


@pytest.mark.parametrize(
    "text",
    [
        "$ python ask.py\nthe the the the the the",
        "$ vllm serve m\n$ python -c 'print(3)'\nthe the the the the the",
        "$ vllm serve m\n$ python ask.py\nTrue True True True True True True True",
        "$ cat a.txt\nthe the the the the the the",
        "$ vllm serve m\n$ python ask.py\n2026-01-01 10:00:00 the the the the the the",
        "$ vllm serve m\n$ python ask.py\n哈哈哈哈哈哈哈哈哈哈哈哈",
        "$ vllm serve m\n$ python ask.py\n----------------------------------------",
        "$ vllm serve m\n$ python ask.py\ntensor([1, 1, 1, 1, 1, 1, 1, 1, 1, 1])",
    ],
    ids=["no-model", "typed-code", "values", "a-file", "a-log", "laughter", "a-rule", "numbers"],
)
def test_what_is_repeated_as_usual_is_no_answer(text: str) -> None:
    assert told(text) == []
