"""What findings that follow from a root tell of it: the card whose lines stand beside a line that names none."""

from __future__ import annotations

from unittest import mock

import pytest

from doctor.answer import advice
from doctor.answer.beside import beside
from doctor.api import diagnose, report

ECC = """\
[EVENT] KERNEL(1105,sklogd):2026-05-01-10:11:12.020.114 [fault_manager] event_id: [0x80E01809] node:HBM sensor:multi bit ecc assertion:occur
[ERROR] RUNTIME(339,python3):2026-05-01-10:11:12.118.401 [device_error_proc.cc:1415]339 ProcessStarsCoreErrorInfo:The extend info: errcode:(0x800000, 0, 0) errorStr: The MPU address access is invalid or an ECC error occurs. fixp_error0 info: 0x3000000
[ 2454.830697] {6}[Hardware Error]:   error_type: 3, multi-bit ECC
"""
TOLD = "[EVENT] DMP(1731,dmp_daemon):2026-05-01-10:11:12.{at}.870 [dms_event_distribute.c:212] event_id=0x80e01809, severity=2, devid={device}\n"


def looks(text: str) -> str:
    """All commands of the first root."""
    root = report(text)["findings"][0]
    return "\n".join(c["run"] for fix in root["fixes"] for c in fix["commands"])


def test_the_card_is_told_by_what_follows() -> None:
    """The line that names the fault names no card; the event that follows does."""
    assert "npu-smi info -t health -i NPU_ID" in looks(ECC)
    assert "npu-smi info -t health -i 6" in looks(ECC + TOLD.format(at="021", device=6))


def test_two_cards_are_none() -> None:
    """Where what follows does not agree, nothing is taken."""
    found = diagnose(ECC + TOLD.format(at="021", device=6) + TOLD.format(at="022", device=3))
    assert [beside(r, found).get("device") for r in found.roots] == [None]


@pytest.mark.parametrize("title", ["Persisting: repair", "Still no link: change the cable", "Otherwise stop the other", "Not back after that: ask for help"])
def test_what_is_for_later_is_not_the_first_fix(title: str) -> None:
    """A fix for the case that another one did not help is tried after that one."""
    found = diagnose(ECC)
    entry = found.roots[0].finding.entry
    later, now = (fix._replace(when=()) for fix in [f for f in entry.fixes if f.goal != "locate"][:2])
    told = advice.Advised((later._replace(title=later.title._replace(en=title), goal="resolve"), now._replace(goal="mitigate")), 2)
    assert advice.start(told, entry).fix == 1


def test_what_a_root_explains_is_gone_through_once() -> None:
    """Of ten thousand findings beneath a root, each is not looked for among all of them."""

    class Codes(tuple[str, ...]):
        asked = 0

        def __contains__(self, code: object) -> bool:
            Codes.asked += 1
            return super().__contains__(code)

    below = [mock.Mock(rule="same-lines-read-first", finding=mock.Mock(instances=(), entry=mock.Mock(code=f"USR{n:03}"))) for n in range(50)]
    root = mock.Mock(explains=Codes(b.finding.entry.code for b in below), finding=mock.Mock(instances=()))
    assert beside(root, mock.Mock(related=(root, *below))) == {}
    assert Codes.asked < 2
