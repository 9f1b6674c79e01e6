"""No pasted command reaches further than the log says: into folders, and to cards that a fault names."""

from __future__ import annotations

import pytest

from doctor.answer.reach import anchored, other_cards
from doctor.answer.report import report
from doctor.findings.situation import Situation
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

HEAD = "| npu-smi 25.2.0      Version: 25.2.0   |\n"
CARD = "| {n}     910B3               | {health:13} | 93.2        38                0    / 0             |\n| 0                         | 0000:C{n}:00.0  | 0           0    / 0          3392 / 65536        |\n"


@pytest.mark.parametrize(
    ("run", "value", "kept"),
    [
        ("M=$(dirname {file|FILE}); chmod -R g-w $M", "config.json", False),
        ("M=$(dirname {file|FILE}); chmod -R g-w $M", "./config.json", False),
        ("M=$(dirname {file|FILE}); chmod -R g-w $M", "/config.json", False),
        ("M=$(dirname {file|FILE}); chmod -R g-w $M", "/data/a/../../config.json", False),
        ("M=$(dirname {file|FILE}); chmod -R g-w $M", "/data/model/config.json", True),
        ("chown -R 1000:1000 {file|FILE}", "weights", False),
        ("chown -R 1000:1000 {file|FILE}", "/data", False),
        ("chown -R 1000:1000 {file|FILE}", "/data/weights", True),
        ("rm -f {file|FILE}/*/lock", "/", False),
        ("rm -f {file|FILE}/*/lock", "/root/.cache/torch_extensions", True),
        ("chmod u+x {file|FILE}", "run.sh", True),
        ("python3 -m pip install {file|FILE}", "torch-npu", True),
    ],
)
def test_a_folder_is_changed_only_where_the_log_names_it(run: str, value: str, kept: bool) -> None:
    assert ("file" in anchored(run, {"file": value})) is kept


@pytest.mark.parametrize(
    ("seats", "one", "every", "left"),
    [
        (("0 0 0", "1 1 0", "2 2 0"), {"npu": "2"}, {}, "0,1"),
        (("0 0 0", "1 1 0", "2 2 0"), {"npu": "2"}, {"npu": ("0", "2")}, "1"),
        (("0 2 0", "1 2 1", "2 5 0", "3 5 1"), {"npu": "5"}, {}, "0,1"),
        (("0 0 0", "1 1 0"), {"device": "1"}, {}, "0"),
        (("0 0 0",), {"npu": "0"}, {}, None),
        (("0 0 0", "1 1 0"), {"npu": "6"}, {}, None),
        ((), {"npu": "2"}, {}, None),
    ],
)
def test_the_cards_that_are_left(seats: tuple[str, ...], one: dict[str, str], every: dict[str, tuple[str, ...]], left: str | None) -> None:
    assert other_cards(Situation({"seats": seats}), one, every).get("other_cards") == left


@pytest.mark.parametrize("bad", [0, 2])
def test_a_list_without_a_card_does_not_hold_it(bad: int, scanner: Scanner, knowledge: Knowledge) -> None:
    log = HEAD + "".join(CARD.format(n=n, health="Alarm" if n == bad else "OK") for n in range(3))
    fixes = report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)["findings"][0]["fixes"]
    assert [e["value"] for f in fixes for e in f["env"]] == [",".join(str(n) for n in range(3) if n != bad)]


def test_half_a_row_of_npu_smi_gives_no_name_where_a_number_is_asked_for(scanner: Scanner, knowledge: Knowledge) -> None:
    """The first of two rows tells what the chip is called, the second one which it is on its card."""
    log = CARD.format(n=3, health="Alarm").splitlines()[0] + "\n"
    fixes = report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)["findings"][0]["fixes"]
    runs = [command["run"] for fix in fixes for command in fix["commands"] if " -c " in command["run"]]
    assert runs == ["npu-smi set -t reset -i 3 -c 0"]
