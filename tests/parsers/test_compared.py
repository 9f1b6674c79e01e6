"""What people note of a setting that they tried with and without."""

from __future__ import annotations

import pytest

from parsers import compared


def told(text: str) -> list[tuple[str | None, str | None]]:
    return [(row.get("what"), row.get("value")) for row in compared.rows(text.split("\n"), 1) if row.get("check") == "compared"]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("关闭 --enable-prefix-caching 后（其余参数完全相同），输出恢复正常", ("--enable-prefix-caching", "prefix-cache")),
        ("关闭MTP后输出正常，开启MTP就乱码", ("MTP", "speculation")),
        ("# with --enforce-eager the output is correct, graph mode gives garbled text", ("graph mode", "graphs")),
        ("# 输出乱码，加上 --enforce-eager 后输出正常", ("--enforce-eager", "graphs")),
        ("# it hangs; disabling async scheduling the answers are fine", ("async scheduling", "async")),
        ("PLUGH_FAST_PATH=1  61.1 大量乱码\nPLUGH_FAST_PATH=0  86.9 无乱码", ("PLUGH_FAST_PATH", "variable")),
        ("wrong answers; without --plugh-mode the output is fine", ("--plugh-mode", "option")),
        ("Accuracy: 0.415\n# without --speculative-algorithm NEXTN: Accuracy 0.945, everything else the same", ("--speculative-algorithm", "speculation")),
        ("gsm8k, MTP on: 61.2\ngsm8k, MTP off: 86.1", ("MTP", "speculation")),
        ("PLUGH_FAST_PATH=1: gsm8k 12.3\nPLUGH_FAST_PATH=0: gsm8k 93.4", ("PLUGH_FAST_PATH", "variable")),
        ("# 开 --async-scheduling 输出重复，关掉就正常", ("--async-scheduling", "async")),
        ("# 打开投机解码后会卡死，关闭投机解码就没问题", ("投机解码", "speculation")),
        ("# works fine after removing PLUGH_FAST_PATH=1, with it the answers are nonsense", ("PLUGH_FAST_PATH", "variable")),
        ("# enforce_eager: true 时音频混乱；enforce_eager: false 时音频正常", ("enforce_eager", "eager")),
        ("# 去掉 --enable-prefix-caching 还是乱码，去掉 --speculative-config 就正常了", ("--speculative-config", "speculation")),
    ],
)
def test_the_setting_that_decides_is_told(text: str, row: tuple[str, str]) -> None:
    assert told(text) == [row]


@pytest.mark.parametrize(
    "text",
    [
        "# --enable-prefix-caching 输出正常",
        "# without --enable-prefix-caching it is still garbled",
        "# 关闭 prefix caching 后输出正常\n# 打开 prefix caching 后输出正常",
        "INFO 关闭 prefix caching 后输出正常",
        '{"content": "without --plugh-mode the output is fine"}',
        "在线服务输出正常，关闭 --enable-prefix-caching 后速度慢",
        "all answers are fine",
        "rocm-smi\n# garbled; without PLUGH_FAST_PATH=1 the output is fine",
        "MTP on: gsm8k 93.1\nMTP off: gsm8k 93.4",
        "Accuracy 0.9 at MTP 1\nAccuracy 0.4 at MTP 3",
        "# 关闭 prefix caching 后吞吐 1820，开启后 3010，输出均正常",
        "# without --plugh-mode the output is fine",
    ],
    ids=["on", "cleared", "either-way", "log", "answer", "only-slower", "no-setting", "another-vendor", "as-good", "other-numbers", "both", "nothing-wrong"],
)
def test_what_decides_nothing_gives_no_row(text: str) -> None:
    """Of a log line and of what a model writes nothing is taken, and a setting that changes nothing is cleared."""
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("npu 0\n# on an RTX 4090, same script: 5.26", "elsewhere"),
        ("npu 0\n# transformers 官方示例同样的输入：0.99", "elsewhere"),
        ("# on an RTX 4090, same script: 5.26", None),
        ("npu 0\n# the same again", None),
        ("# decoding is very slow", "slow"),
        ("python3 -m sglang.launch_server --disable-cuda-graph\n# it is slow", "slow"),
        ("WARNING decoding is very slow", None),
    ],
)
def test_other_notes_are_told_by_what_they_say(text: str, check: str | None) -> None:
    """Another machine counts in text of an NPU alone; a log line is no note."""
    assert [row.get("check") for row in compared.rows(text.split("\n"), 1)] == ([check] if check else [])
