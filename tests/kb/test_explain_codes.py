"""`explain` answers for every code that is known to be printed anywhere in the stack, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doctor.explanation import look_up, text
from doctor.render.layout import Style
from kb import spelling
from kb.code_forms import of_code
from kb.knowledge import Knowledge, load

CODES = (Path(__file__).parent.parent / "data" / "known-codes.txt").read_text().split("\n")[:-1]


def test_every_code_is_explained(knowledge: Knowledge) -> None:
    """Meaning and first action stand in English and Chinese for each."""
    silent = []
    for code in CODES:
        rows = knowledge.decode(code)
        if not rows or not all(rows[0][k].get(lang) for k in ("meaning", "action") for lang in ("en", "zh")):
            silent.append(code)
    assert silent == []
    assert len(CODES) > 2900


def test_explanation_reads_in_both_languages(knowledge: Knowledge) -> None:
    """What is printed differs by language and names the code."""
    for code in CODES[::50]:
        found = look_up(code, knowledge)
        en, zh = (text(found, knowledge, lang, Style()) for lang in ("en", "zh"))
        assert found["codes"][0]["code"] in en
        assert en != zh


@pytest.mark.parametrize(
    ("written", "family", "code"),
    [
        ("0x3", "ts-retcode", "0x3"),
        ("7", "hccl", "7"),
        ("0x31", "ts-retcode", "0x31"),
        ("cqeStatus=0x3", "sdma-cqe", "cqeStatus=0x3"),
        ("hcclRet -> 9", "hccl", "9"),
        ("errNo[0x0000000005000007]", "hccl", "7"),
        ("aclError:507018", "acl", "507018"),
        ("ACL_ERROR_RT_AICPU_EXCEPTION", "acl", "507018"),
        ("HCCL_E_TIMEOUT", "hccl", "9"),
        ("80E01801", "hardware", "0x80E01801"),
        ("020000002", "hardware", "0x020000002"),
        ("110001024", "hardware", "0x110001024"),
        ("8020", "dcmi", "-8020"),
    ],
)
def test_the_likeliest_meaning_comes_first(written: str, family: str, code: str, knowledge: Knowledge) -> None:
    """A number without a word beside it means what people most often meet it as."""
    first = knowledge.decode(written)[0]
    assert (first["family"], first["code"]) == (family, code)


@pytest.mark.parametrize(
    "line",
    [
        "failed, aclError:507018",
        "acl err: 507018",
        "err=507018",
        "errCode[507018]",
        "hcclRet -> 507018",
        '{"error":"stream failed","code":507018}',
        "task error, stream_id=3, retCode=507018",
        "MxOmModelDesc.cpp:855] [507018][Error code unknown] Failed to model infer execute",
    ],
)
def test_a_bare_number_is_a_code_beside_a_word_for_errors(line: str) -> None:
    assert re.search(of_code("507018")[0], line)


@pytest.mark.parametrize(
    "line",
    [
        "step 507018 of 600000",
        "terrace 507018",
        "berry: 507018",
        "error: took 1507018 us",
        "Error: no tilingKey[507018]",
        '{"status":200,"body_bytes_sent":507018,"request_time":0.05}',
        '{"level": "error", "msg": "slow", "size": 507018}',
        'GET /errors.html HTTP/1.1" 404 507018 "-" "curl"',
        "status=200 bytes=507018",
        "Error in kernel, stream_id=1, task_id=507018",
    ],
)
def test_a_number_alone_is_no_code(line: str) -> None:
    assert not re.search(of_code("507018")[0], line)


def test_codes_are_found_in_text() -> None:
    line = "call failed, aclError:507018; Error Code : 80E01801; ErrorNo: 4294967295(failed); EI0006: x; error code is 107002."
    assert spelling.in_text(line) == ("507018", "80E01801", "4294967295", "EI0006", "107002")


def test_entries_that_mention_a_word_are_found_without_reading_the_others(knowledge: Knowledge) -> None:
    """As in the whole catalogue, whatever the word begins with and however a pack keeps it."""
    told = {brief.code: brief.words.split() for brief in knowledge.catalog()}
    words = sorted({word for each in told.values() for word in each if len(word) > 3})[::1500]
    fresh = load()
    assert len(words) > 12
    for word in (*words, "507018", "EI0006", "no such word"):
        assert [brief.code for brief in fresh.mentioning([word])] == [code for code, each in told.items() if word in each]
