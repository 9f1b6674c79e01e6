"""What the knowledge says outside a diagnosis, and which commands it dares to give."""

from __future__ import annotations

import re

import pytest

from kb import lint, placeholders, plain
from kb.knowledge import Knowledge
from kb.model import Command, Entry, Fix, Text
from kb.placeholders import closed, fill, unbound


@pytest.fixture(scope="module")
def context(knowledge: Knowledge) -> lint.Context:
    return lint.Context(knowledge)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("npu-smi info -t health -i {device|NPU_ID} -c 0", "npu-smi info -t health -i NPU_ID -c 0"),
        ("npu-smi info -i {device}", "npu-smi info -i NPU_ID"),
        ("grep {tensor} {path|LOGDIR}", "grep TENSOR LOGDIR"),
        ("ATC refuses the model: {what}", "ATC refuses the model"),
        ("转换被拒绝：{what}", "转换被拒绝"),
        ("sizes do not fit ({sizes})", "sizes do not fit"),
        ("Node {node} gets {what}: again", "Node NODE gets WHAT: again"),
        ("MASTER_PORT {port|} is in use ({by|})", "MASTER_PORT is in use"),
        ("for i in {0..7}; do echo ${HOME}; done", "for i in {0..7}; do echo ${HOME}; done"),
    ],
)
def test_a_text_without_a_log_has_no_slots(written: str, shown: str) -> None:
    """Defaults, words in capitals to fill in, and nothing introduced that does not follow."""
    assert unbound(written) == shown


def test_none_is_no_value() -> None:
    """Verdicts say `-` for none: the text says it in words where it has some."""
    assert fill("Others: {peers|none}.", {"peers": "-"}, {}) == "Others: none."
    assert fill("Others: {peers|none}.", {"peers": "rank 3"}, {}) == "Others: rank 3."
    assert fill("It says {what}.[[ {more}.]] End", {"what": "no.", "more": "yes"}, {}) == "It says no. yes. End"


def _with(entries: list[Entry], run: str, risk: str) -> Entry:
    fix = Fix("resolve", risk, Text("T", "标题"), (), (), (Command(run, Text("x", "某"), None),), None)
    return entries[0]._replace(fixes=(fix,))


@pytest.mark.parametrize(
    "run",
    [
        "npu-smi set -t reset -i NPU_ID -c CHIP_ID", "bash Ascend-hdk-910b-npu-driver_25.2_linux.run --full", "reboot",
        "./Ascend-cann-toolkit_8.5_linux.run --install", "pip uninstall -y triton", "kill PID", "kubectl delete pod X", "rm -rf build",
    ],
)  # fmt: skip
def test_what_ends_work_is_never_of_low_risk(run: str, context: lint.Context, entries: list[Entry]) -> None:
    assert list(lint.risk_is_told(_with(entries, run, "low"), context))
    assert list(lint.risk_is_told(_with(entries, run, "medium"), context)) == []


@pytest.mark.parametrize(
    ("run", "refused"),
    [
        ("npu-smi set -t reset -i 0 -c 0", True),
        ("npu-smi set -t reset -i {device|0} -c 0", True),
        ("hccn_tool -i 0 -ip -s address A netmask N", True),
        ("npu-smi set -t reset -i NPU_ID -c CHIP_ID", False),
        ("npu-smi set -t reset -i {npu|NPU_ID} -c {chip|CHIP_ID}", False),
        ("for i in {0..7}; do hccn_tool -i $i -tls -s enable 0; done", False),
    ],
)
def test_no_card_is_changed_that_no_log_named(run: str, refused: bool, context: lint.Context, entries: list[Entry]) -> None:
    """Card 0 for want of a better is somebody else's."""
    assert bool(list(lint.names_its_card(_with(entries, run, "high"), context))) is refused


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("A link of {npu|NPU} is down: {what}", False),
        ("A link ( ) is down", True),
        ("A link is down : see the log", True),
        ("The method item() waits", False),
        ("Take <model path> from the card", True),
    ],
)
def test_a_text_with_a_hole_is_refused(title: str, fault: bool, context: lint.Context, entries: list[Entry]) -> None:
    entry = entries[0]._replace(title=Text(title, "标题"), fixes=())
    assert bool(list(lint.reads_without_a_log(entry, context))) is fault


def test_a_chip_is_no_device(knowledge: Knowledge, context: lint.Context, entries: list[Entry]) -> None:
    """On boards with two dies a chip, chipId 4, dieId 1 is device 9: the log's own device_id counts."""
    signal = entries[0].signals[0]._replace(pattern=r"device\(chipId:(?P<device>\d+), dieId:\d+\)")
    assert list(lint.device_is_no_chip(entries[0]._replace(signals=(signal,)), context))
    assert [s.id for s in knowledge.signals() if "chipId:(?P<device>" in s.pattern] == []


def test_the_catalogue_shows_no_slots(knowledge: Knowledge) -> None:
    """`kb list`, searches and the catalogue have no log to fill a title from."""
    assert [b.code for b in knowledge.catalog() if "{" in b.title.en + b.title.zh] == []


@pytest.mark.parametrize(
    ("text", "captures", "shown"),
    [
        ("it failed[[ on device {device}]].", {"device": "3"}, "it failed on device 3."),
        ("it failed[[ on device {device}]].", {}, "it failed."),
        ("it waited[[ ({seconds} s)]]", {"seconds": "?"}, "it waited"),
        ("waited for {who|a peer}", {"who": "Wait"}, "waited for a peer"),
        ("[[ -f a ]] && ls {name|x}", {}, "[[ -f a ]] && ls x"),
    ],
)
def test_what_is_said_only_when_its_slots_are_filled(text: str, captures: dict[str, str], shown: str) -> None:
    assert placeholders.fill(text, captures, {}) == shown
    assert "[[ on" not in placeholders.unbound(text)


_STRAY = re.compile(r"[\u4e00-\u9fff] +[\u4e00-\u9fff]|[，。：；、（）！？] +\S|\S +[，。：；、（）！？]")


def test_chinese_has_no_blanks_around_what_is_filled_in(entries: list[Entry]) -> None:
    """A slot stands between blanks for what is Latin; a Chinese default needs none, and a folded line leaves none."""
    assert closed("算子 该算子 执行 失败， 见 plog （末尾） 的 aclnnAdd 行") == "算子该算子执行失败，见 plog（末尾）的 aclnnAdd 行"
    stray = {}
    for entry in map(plain.entry, entries):
        texts = [entry.title.zh, entry.cause.zh, *(fix.title.zh for fix in entry.every_fix), *(step.zh for fix in entry.every_fix for step in fix.steps)]
        if found := [text for text in texts if _STRAY.search(text)]:
            stray[entry.code] = found[0]
    assert stray == {}


def test_code_is_shown_as_it_is_written(entries: list[Entry]) -> None:
    """Nothing is filled into code: doubled braces would be pasted as such. Templates of Go and Jinja have theirs."""
    doubled = [e.code for e in entries for fix in e.every_fix if fix.code and re.search(r"\$\w*\{\{|\{\{ ?\w+:", fix.code.before + fix.code.after)]
    assert doubled == []


def test_templates_of_docker_keep_their_braces(knowledge: Knowledge) -> None:
    """`{{.ID}}` of Go has to be written with four braces; with two it is shown as `{.ID}`, which docker prints as it is."""
    runs = [command.run for b in knowledge.catalog() if (entry := knowledge.entry(b.code)) is not None for fix in entry.fixes for command in fix.commands if "docker" in command.run]
    assert [run for run in runs if re.search(r"(?<!\{)\{\.[A-Z]", fill(run, {}, {}))] == []


def test_an_update_without_its_dependencies_ends_at_a_release(entries: list[Entry]) -> None:
    """`pip install --no-deps 'x>=3.2'` takes the newest, which others of the same environment need not fit."""
    runs = [command.run for entry in entries for fix in entry.every_fix for command in fix.commands]
    found = [run for run in runs for line in re.split(r"&&|;|\|", run) if "--no-deps" in line and re.search(r"'[\w.\[\]-]+>=?[\d.]+'", line)]
    assert found == []
