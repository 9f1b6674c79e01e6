"""What to do with the job: it rests on the vendor's levels, the kind of the fault, and on attempts that failed alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests_support import fits_schema

from doctor.answer.report import report
from doctor.base.words import word
from doctor.commands import schema
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.render import html, markdown, text
from doctor.render.layout import Style
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

OOM = "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.00 GiB total capacity; 60.00 GiB already allocated)\n"
SMI = "\tNPU ID                         : {npu}\n\tHealth Status                  : Alarm\n\tError Code                     : {code}\n\tError Information              : {what}\n"


def made(log: str, scanner: Scanner, knowledge: Knowledge) -> dict[str, Any]:
    return report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)


def _code(level: str, knowledge: Knowledge) -> str:
    """A fault code of the table that has a level."""
    return next(row["code"] for row in knowledge.all_codes() if row["family"] == "hardware" and row.get("severity") == level and row["code"].startswith("0x8"))


@pytest.mark.parametrize(
    ("log", "action", "status"),
    [
        (OOM, "fix-and-retry", "proven"),
        ("[ERROR] HCCL(4,python):2026-01-02-03:04:05.006.007 [a.cc:1] [4]EI0002: The wait execution of the Notify register times out\n", "retry", "suggested"),
        (OOM * 1 + "INFO torch.distributed.elastic: [default] Worker group FAILED. 3/3 attempts left; will restart worker group\n" + OOM, "fix-and-retry", "proven"),
    ],
    ids=["a-cause", "symptoms-only", "two-attempts"],
)
def test_the_kind_of_fault_decides_where_no_code_does(log: str, action: str, status: str, scanner: Scanner, knowledge: Knowledge) -> None:
    found = made(log, scanner, knowledge)["decision"]
    assert (found["action"], found["status"], found["target"]) == (action, status, None)


def test_nothing_is_decided_where_nothing_went_wrong(scanner: Scanner, knowledge: Knowledge) -> None:
    assert made("INFO step 1 loss 2.0\n", scanner, knowledge)["decision"] is None


@pytest.mark.parametrize("level", ["isolate", "reset", "restart-job", "ignore"])
def test_a_finding_that_rests_on_a_code_says_what_the_scheduler_would_do(level: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """In the report, and in every face."""
    code = _code(level, knowledge)
    found = made(SMI.format(npu=5, code=code[2:], what="a fault"), scanner, knowledge)
    told = [one for f in found["findings"] for one in f["scheduler"]]
    assert {one["level"] for one in told} == {level}
    assert {one["level"] for one in found["decision"]["scheduler"]} == {level}
    for lang in ("en", "zh"):
        said = word(f"scheduler:{level}", lang, code=code)
        drawn = [text.render(found, lang, Style(400), True), html.render(found, lang)]
        assert all(said in one.replace("&#x27;", "'") for one in drawn)
        assert said.replace("_", "") in markdown.render(found, lang).replace("\\", "")


def test_no_card_is_taken_out_that_is_not_proven(scanner: Scanner, knowledge: Knowledge) -> None:
    """Whatever the log: who says isolate names a card, and the log proves it."""
    code = _code("isolate", knowledge)[2:]
    logs = [SMI.format(npu=5, code=code, what="x"), f"event id = 0x{code}\n", f"device 3 reports {code}\n" + OOM, f"The HBM has a multi-bit ECC error {code}\n"]
    for log in logs:
        found = made(log, scanner, knowledge)["decision"]
        if found is not None and found["action"] == "isolate":
            assert found["status"] == "proven"
            assert found["target"]["device"] is not None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_face_tells_the_decision(lang: str, scanner: Scanner, knowledge: Knowledge) -> None:
    found = made(OOM, scanner, knowledge)
    said = word("decision:fix-and-retry", lang)
    assert said in text.render(found, lang, Style(200))
    assert said in html.render(found, lang)
    assert said in markdown.render(found, lang)


def test_the_report_fits_its_schema(scanner: Scanner, knowledge: Knowledge, capsys: pytest.CaptureFixture[str]) -> None:
    schema.main(["report"])
    contract = json.loads(capsys.readouterr().out)
    fits_schema(made(SMI.format(npu=5, code="80E01801", what="HBM multi-bit ECC"), scanner, knowledge), contract)


DOWN = "[ascend] [dms] event raised (Node Type=0x83; Sensor Type=0xc3; event_state=8) Event id=0x81078603"


@pytest.mark.parametrize(
    ("later", "seconds", "level"),
    [("0x8c1f860b", 20, "isolate"), ("0x8c1f8608", 59, "isolate"), ("0x8c1f8609", 5, "sub-health"), ("0x8c1f860b", 90, "ignore"), ("0x8c1f860b", -20, "ignore"), ("0x8c17a005", 5, "ignore")],
)
def test_a_link_that_goes_down_before_a_call_fails_is_taken_out(later: str, seconds: int, level: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """The cluster manager pairs codes: alone, a link that went down is only kept on record."""
    log = (
        f"[ERROR] KERNEL(1700,sklogd):2026-10-31-16:41:{0:02}.406.087 [klogd.c:242][583733.716915] event_id=0x81078603\n"
        if seconds >= 0
        else ""
    )
    minute, second = divmod(abs(seconds), 60)
    log += f"[ERROR] KERNEL(1700,sklogd):2026-10-31-16:4{1 + minute}:{second if seconds >= 0 else 0:02}.406.087 [klogd.c:242][583753.716915] event_id={later}\n"
    if seconds < 0:
        log += f"[ERROR] KERNEL(1700,sklogd):2026-10-31-16:41:{-seconds:02}.406.087 [klogd.c:242][583733.716915] event_id=0x81078603\n"
    found = made(log, scanner, knowledge)
    strongest = next(one for f in found["findings"] for one in f["scheduler"] if one["code"] == "0x81078603")
    assert strongest["level"] == level
    assert ("within a minute" in strongest["text"]["en"]) is (level != "ignore")


@pytest.mark.parametrize(("later", "level"), [(20, "isolate"), (75, "ignore"), (None, "ignore")])
def test_a_port_to_the_l2_switch_that_goes_down_before_a_retry_fails_takes_the_node_out(later: int | None, level: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """The other half of the cluster manager's pairs: the code of the link is one of a switch chip, which belongs to a node and to no card."""
    log = (
        "[WARN]     2026/10/31 16:41:00.643290 17      deviceswitch/ascend_switch.go:190    switch subscribe got fault:deviceswitch.SwitchFaultEvent"
        '{EventType:0x8520003, FaultID:0xffffffff, AssembledFaultCode:"[0x08520003,na,L2,na]", PeerPortDevice:0x2, PeerPortId:0x3, SwitchChipId:0x1,'
        " SwitchPortId:0x9, Severity:0x1, Assertion:0x1, EventSerialNum:7}\n"
    )
    if later is not None:
        minute, second = divmod(later, 60)
        log += f"[ERROR] KERNEL(1700,sklogd):2026-10-31-16:4{1 + minute}:{second:02}.406.087 [klogd.c:242][583753.716915] event_id=0x8c1f860b\n"
    found = made(log, scanner, knowledge)
    told = next(one for f in found["findings"] for one in f["scheduler"] if one["code"] == "[0x08520003,na,L2,na]")
    assert told["level"] == level
    assert ("node" in told["text"]["en"]) is (level == "isolate") or "switch chip" in told["text"]["en"]
    if level == "isolate":
        assert found["decision"]["action"] == "stop"
        assert "whole node" in found["decision"]["why"]["en"]


def test_the_level_that_the_device_plugin_names_goes_before_that_of_the_table(scanner: Scanner, knowledge: Knowledge) -> None:
    code = "8C084E00"  # the table resets the card at it
    event = f"kube-system   8s   Warning   Occur   pod/ascend-device-plugin-x   device fault, nodeName:node33, assertion:Occur, cardID:2, deviceID:0, faultCodes:{code}, faultLevelName:RestartBusiness, alarmRaisedTime:2026-01-21 05:36:53\n"
    asked = "$ npu-smi info -t health -i 2\n" + SMI.format(npu=2, code=code, what="NA")
    found = made(event + asked, scanner, knowledge)
    root = found["findings"][0]
    assert (root["id"], root["action"]["class"], found["decision"]["action"]) == ("CTR821", "retry", "retry")
    assert [f["role"] for f in found["findings"]][1:] == ["symptom"] * (len(found["findings"]) - 1)
