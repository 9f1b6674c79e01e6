"""A pasted shell session: what somebody typed, what it printed, and how it ended. Their own checks are evidence.

    [root@h ~]# ascend-dmi --bw -t d2d
    Failed to initialize the device.
    [root@h ~]# echo $?
    18

Of two runs of one command on two devices it is told what the one gave and the other did not; of two of which one failed,
which variable decides; of several runs of one command, which failure was overcome before the last; and what somebody asked
between the lines, in a comment. A row tells one outcome that speaks of a fault or decides between causes; what is as it should
be gives none.

>>> text = ["[root@h ~]# ascend-dmi --bw", "Failed to initialize the device.", "[root@h ~]# echo $?", "18"]
>>> [(row.get("check"), row.get("program"), row.get("value"), row.line) for row in rows(text, 1)]
[('exit', 'ascend-dmi', '18', 2)]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from parsers import compared
from parsers.lazy import lazy
from parsers.line import PROMPT
from parsers.named import NamedTuple
from parsers.parsed import Row

TABLE = "session"
MAX_ROWS = 200
MAX_OUTPUT = 400  # lines of one command
MAX_TEXT = 300
SHORT = 8  # lines: what says that it failed, and little else

_ABSENT = lazy(r"^(?:\S{0,60}: )?(?:line \d{1,6}: )?(?:[\w.-]{1,20}: )?(?:cannot (?:access|open|stat) )?['‘\"]?(?P<what>/[^'’\"\n:]{2,200})['’\"]?: No such file or directory")
_OF_NPU = lazy(r"(?i)ascend|davinci|hccn|/cann|npu|\bopp\b|\bcann")
_FULL = lazy(r"^\S{1,100} +\S{1,12} +\S{1,12} +\S{1,12} +100% +(?P<what>/\S{0,200})$")
_FAILED = lazy(r"^(?:(?:ERROR|Error|error): |[Cc]annot |[Cc]an't |(?:[\w.+-]{1,40}: )?(?:(?:ERROR|FATAL|error): |[Ff]ailed to |[Uu]nable to |error processing )|Job for \S{1,80} failed |mount(?:\.\w{1,8})?: \S|[Oo]pen /\S{1,200} failed\b|Error parameters of )")
_WENT_WELL = lazy(r"^(?:Successfully (?!uninstalled)\S|Complete!$)")  # pip complains of other packages and then installs; yum ends so
_STATUS_ASKED = ("echo $?", 'echo "$?"')
_STATUS = lazy(r"^\d{1,3}$")
_NAMED = lazy(r"^echo \"?\[?\"?\$\{?(?P<what>[A-Z_][A-Z0-9_]{2,60})\}?\"?\]?\"?$")
_LIMIT = lazy(r"^(?P<what>DefaultTasksMax|TasksMax|kernel\.pid_max|kernel\.threads-max|vm\.max_map_count|fs\.file-max|max user processes|open files)\b[^=:\d]{0,40}[=: ] ?(?P<value>\d{1,20})$")
_FIND = lazy(r"^(?:sudo )?(?:find \S{1,120} (?:-\w{1,10} \w )?-i?name ['\"]?(?P<name>[\w*.+-]{2,80})['\"]?|(?:locate|which|whereis) (?P<what>[\w.+-]{2,80})$)")
_ROW = lazy(r"^\| *\d{1,3} +\S")
_PADDLE_PROMPT = lazy(r"λ \S{1,80} \S{1,200} (?:\{[^}\n]{1,60}\} )?")  # of PaddlePaddle's images
_DEVICE = lazy(r"(?<![\w-])(?P<kind>cpu|npu|gpu|cuda|Ascend|CPU|NPU|GPU)(?::\d{1,3})?(?![\w./-])")
_NOTHING = r"\[\]|\{\}|''|\"\"|None|null|nan|NaN"
_VALUE = lazy(rf"['\"]?(?P<key>[A-Za-z_]\w{{1,60}})['\"]?(?:: ?| ?= ?)(?P<value>(?P<nothing>{_NOTHING})(?![\w.'\"])|\S)")
_ASKED = lazy(
    r"#{1,3} ?(?P<said>(?:.{0,200}(?:为什么|为何|为啥|怎么回事|什么原因|\b[Ww]hy (?:is|are|was|were|do|does|did|has|have|can|could|would|not)\b)"
    r".{0,200}[?？](?:\s{0,3}[(（].{0,200}[)）])?|.{0,200}(?:结果为空|没有任何输出|怎么回事).{0,200}))\s*$"
)
_SET = lazy(r"(?P<name>[A-Z_][A-Z0-9_]{2,60})=(?P<value>\S{0,120})")
_BROKE = lazy(r"Traceback \(most recent call last\)|terminate called|core dumped|Segmentation fault|error code is \d|\bEZ9999\b|(?:^|: )(?:\w{1,40}\.){0,6}\w{0,60}(?:Error|Exception): ")
# These show more or change the order in time: what differs between two runs besides them decides.
_ONLY_TELL = frozenset({"ASCEND_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING", "ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_GLOBAL_EVENT_ENABLE", "ASCEND_PROCESS_LOG_PATH", "TORCHDYNAMO_VERBOSE", "TORCH_LOGS", "VLLM_LOGGING_LEVEL", "PYTHONUNBUFFERED"})  # fmt: skip
_CHANGES = frozenset({"vi", "vim", "nano", "sed", "git", "pip", "pip3", "cp", "mv", "patch", "apt", "yum", "conda", "source", "."})  # more than one variable
# Status 1 of these says that nothing was found or that there is a difference, and what they print is the text of others.
_LOOKS = frozenset({"grep", "egrep", "zgrep", "diff", "cmp", "test", "[", "which", "pgrep", "cat", "tail", "head", "less", "more", "dmesg", "journalctl", "vi", "vim", "kubectl", "docker", "history", "sed", "awk", "npu-doctor", "sort", "zcat"})  # fmt: skip

_ASKS = frozenset({"curl", "python", "python3", "vllm", "ollama", "xinference", "llama-cli", "evalscope"})  # programs that print what a model answers
_OF_MODEL = lazy(r"(?i)vllm|sglang|mindie|lmdeploy|ollama|llama|xinference|/v1/|generated text|transformers|qwen|deepseek")
_LOOP = lazy(r"^(?:for|while|seq)\b.{0,300}(?:curl|python3?) ")
_WORDS = lazy(r"(?<!\S)(?P<what>[A-Za-z]{2,20}|[\u4e00-\u9fff]{1,6})(?: (?P=what)){5,}(?![^\s.,，。])")
_CHARACTERS = lazy(r"(?P<what>[\u4e00-\u9fff]|[!！]|G|\\n)(?P=what){9,}")
_SCRIPTS = tuple(map(lazy, (r"[A-Za-z]{3}", r"[\u3040-\u30ff\u4e00-\u9fff]", r"[\u0400-\u04ff]", r"[\u0590-\u05ff]", r"[\u0600-\u06ff]", r"[\u0900-\u0d7f]", r"[\u0e00-\u0eff]", r"[\uac00-\ud7af]")))  # Latin, Chinese and Japanese, Cyrillic, Hebrew, Arabic, of India, Thai, Korean
_PHRASES = lazy(r"(?<!\S)(?P<what>(?=[^\n]{0,12}[A-Za-z]{3})[A-Za-z,.']{1,16}(?: [A-Za-z,.']{1,16}){2,4})(?: (?P=what)){3,}(?![^\s.,])")
_ANSWER = lazy(r"[\"'](?:content|text|reasoning_content|output)[\"']: ?[\"'](?P<said>(?:[^\"\\]|\\.){40,600})")
MARKS = 0.35  # of what a model wrote: more of it than that is no language
_REPEATED_AS_USUAL = frozenset({"True", "False", "None", "OK", "ok", "nan", "NaN", "inf", "pass", "哈", "啊", "呵", "嗯", "啦", "嘿"})
_OF_LOG = lazy(r"^(?:\[?\d{4}-\d\d-\d\d|\((?:APIServer|Worker|Engine)|(?:INFO|WARNING|ERROR|DEBUG)\b|[IWEF]\d{4,8} |(?:llama|llm|ggml|common|sampler|system|clip)_?\w*[: ]|(?:main|build|generate): |\t|[\W\d]*$)")
MANY = 4  # scripts that nobody mixes in one line
WORDY = 20  # characters of an answer that says something
MAX_SCANNED = 400
MAX_ANSWERS = 40  # lines of one command


class Step(NamedTuple):
    """One command of a session with what it printed; `line` is that of the prompt."""

    command: str
    line: int
    output: tuple[str, ...]

    @property
    def program(self) -> str:
        """What was run, without what stands before it."""
        words = [w for w in self.command.split() if "=" not in w.partition("/")[0] and w not in ("sudo", "nohup", "time")]
        return words[0].rsplit("/", 1)[-1][:60] if words else ""

    @property
    def said(self) -> tuple[str, int]:
        """The last line that says something, and where it stands."""
        told = [(text.strip(), self.line + 1 + n) for n, text in enumerate(self.output) if text.strip()]
        return told[-1] if told else ("", self.line)


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """What the steps of a session tell; nothing for text without prompts."""
    steps = _steps(lines, first_line)
    found: list[Row] = []
    for number, step in enumerate(steps):
        before = steps[number - 1] if number else None
        for read in _READERS:
            found += read(step, before)
        if found and step.command in _STATUS_ASKED and found[-1].get("check") == "exit":
            found = [row for row in found if row.get("check") != "failed" or row.line != found[-1].line]
        if len(found) >= MAX_ROWS:
            break
    found += [*_last(steps, found), *_compared(steps), *_decided(steps), *_overcome(steps), *_garbled(steps, lines), *_asked(lines, first_line)]
    return tuple(found[:MAX_ROWS])


def _steps(lines: Sequence[str], first_line: int) -> list[Step]:
    steps: list[Step] = []
    command, at, output = "", 0, list[str]()
    for number, raw in enumerate(lines):
        found = PROMPT.match(raw[:600]) if "$" in raw or "#" in raw else _PADDLE_PROMPT.match(raw[:600]) if raw.startswith("λ ") else None
        if found is not None and not found[0].startswith(">>>"):
            if command:
                steps.append(Step(command, at, tuple(output)))
            command, at, output = raw[found.end() : found.end() + 600].strip(), first_line + number, []
        elif command and len(output) < MAX_OUTPUT:
            output.append(raw[:600].rstrip())
    if command:
        steps.append(Step(command, at, tuple(output)))
    return steps


def _row(check: str, step: Step, line: int, what: str = "", value: str = "", said: str = "") -> Row:
    cells = (("check", check), ("program", step.program), ("command", step.command[:MAX_TEXT]), ("what", what), ("value", value), ("said", said[:MAX_TEXT]))
    return Row(TABLE, line, cells)


def _exit(step: Step, before: Step | None) -> Iterator[Row]:
    """`echo $?` prints how the command before it ended."""
    if before is None or step.command not in _STATUS_ASKED or before.program in _LOOKS or "|" in before.command:
        return
    status = step.output[0].strip() if step.output else ""
    if _STATUS.match(status) and int(status):
        text, line = before.said
        yield _row("exit", before, line, "", status, text)


def _absent(step: Step, _before: Step | None) -> Iterator[Row]:
    """A path of the Ascend software that is not there."""
    for number, text in enumerate(step.output):
        if "No such file" in text and (found := _ABSENT.match(text)) and _OF_NPU.search(found["what"]):
            yield _row("absent", step, step.line + 1 + number, found["what"], "", text)


def _full(step: Step, _before: Step | None) -> Iterator[Row]:
    for number, text in enumerate(step.output):
        if "100%" in text and (found := _FULL.match(text)) and not found["what"].startswith(("/snap", "/proc", "/sys", "/mnt/cdrom")):
            yield _row("full", step, step.line + 1 + number, found["what"], "100", text)


def _failed(step: Step, _before: Step | None) -> Iterator[Row]:
    """A command that says little more than that it failed."""
    if _OF_NPU.search(step.command) or any(map(_OF_NPU.search, step.output)):
        yield from _said(step)


def _said(step: Step) -> Iterator[Row]:
    if step.program in _LOOKS or len(step.output) > SHORT or any("Traceback" in text for text in step.output):
        return
    for number, text in enumerate(step.output):
        if _FAILED.match(text.strip()):
            if any(_WENT_WELL.match(later.strip()) for later in step.output[number + 1 :]):
                return
            yield _row("failed", step, step.line + 1 + number, "", "", text.strip())
            return


def _last(steps: Sequence[Step], told: Sequence[Row]) -> Iterator[Row]:
    """The command with which a session about NPUs ends, if it failed: nothing after it went well, whatever it is about itself."""
    step = next((step for step in reversed(steps) if any(map(str.strip, step.output))), None)
    if step is None or not any(_OF_NPU.search(one.command) or any(map(_OF_NPU.search, one.output)) for one in steps):
        return
    yield from (row for row in _said(step) if row.line not in {other.line for other in told})


def _empty(step: Step, _before: Step | None) -> Iterator[Row]:
    """A variable that was printed and is empty."""
    found = _NAMED.match(step.command)
    if found is not None and not "".join(step.output).strip(" []"):
        yield _row("empty", step, step.line, found["what"])


def _limit(step: Step, _before: Step | None) -> Iterator[Row]:
    for number, text in enumerate(step.output):
        if found := _LIMIT.match(text.strip()):
            yield _row("limit", step, step.line + 1 + number, found["what"], found["value"], text)
    if step.command in ("ulimit -u", "ulimit -n", "ulimit -l") and step.output and step.output[0].strip().isdecimal():
        yield _row("limit", step, step.line + 1, step.command, step.output[0].strip(), step.output[0])


def _found(step: Step, _before: Step | None) -> Iterator[Row]:
    """Where something lies that was looked for."""
    if found := _FIND.match(step.command):
        for number, text in enumerate(step.output):
            if text.startswith("/") and " " not in text.strip():
                yield _row("found", step, step.line + 1 + number, found["name"] or found["what"], text.strip()[:MAX_TEXT])
                return


def _no_device(step: Step, _before: Step | None) -> Iterator[Row]:
    """A table of npu-smi without a card."""
    if not step.command.strip().startswith(("npu-smi info", "sudo npu-smi info")) or step.command.split()[-1] != "info":
        return
    head = next((n for n, text in enumerate(step.output) if "| NPU " in text and "Health" in text), None)
    if head is not None and not any(_ROW.match(text) for text in step.output[head:]):
        yield _row("no-device", step, step.line + 1 + head, "", "", step.output[head].strip())


def _compared(steps: Sequence[Step]) -> Iterator[Row]:
    """Of one command that was run on an NPU and elsewhere: the values that came out empty on the NPU alone."""
    elsewhere: dict[str, tuple[str, frozenset[str]]] = {}
    on_npu: list[tuple[str, Step]] = []
    for step in steps:
        devices = [found["kind"].lower() for found in _DEVICE.finditer(step.command)]
        if len(devices) == 1:
            same = _DEVICE.sub("DEVICE", step.command)
            if devices[0] in ("npu", "ascend"):
                on_npu.append((same, step))
            else:
                elsewhere[same] = (devices[0], frozenset(key for key, there, _ in _values(step) if there))
    for same, step in on_npu:
        device, full = elsewhere.get(same, ("", frozenset[str]()))
        values = _values(step)
        given = {key for key, there, _ in values if there}
        empty = {key: line for key, there, line in values if not there and key in full and key not in given}
        if empty:
            line = next(iter(empty.values()))
            yield _row("differs", step, line, ", ".join(list(empty)[:4]), device, step.output[line - step.line - 1].strip())


def _decided(steps: Sequence[Step]) -> Iterator[Row]:
    """Of one command that failed with some variables and ran without them, or the reverse: which they are."""
    kept: dict[str, str] = {}
    runs: dict[str, list[tuple[dict[str, str], bool, Step]]] = {}
    for step in steps:
        words = step.command.split()
        here: dict[str, str] = {}
        if words[:1] == ["export"]:
            kept.update((found["name"], found["value"]) for word in words[1:] if (found := _SET.fullmatch(word)))
            continue
        if words[:1] == ["unset"]:
            kept = {name: value for name, value in kept.items() if name not in words}
            continue
        while words and (found := _SET.fullmatch(words[0])):
            here[found["name"]] = found["value"]
            del words[0]
        if words and step.program not in _LOOKS and any(map(str.strip, step.output)):
            runs.setdefault(" ".join(words), []).append(({**kept, **here}, any(map(_BROKE.search, step.output)), step))
    for same in runs.values():
        failed, ran = [run for run in same if run[1]], [run for run in same if not run[1]]
        if not failed or not ran or any(bad[0] == good[0] for bad in failed for good in ran):
            continue  # what fails now and then is decided by something else
        differ = [(sorted(n for n in {*bad[0], *good[0]} - _ONLY_TELL if bad[0].get(n) != good[0].get(n)), bad, good) for bad in failed for good in ran]
        names, bad, good = min(differ, key=lambda one: len(one[0]))
        between = slice(*sorted((steps.index(bad[2]), steps.index(good[2]))))
        if len(names) == 1 and not any(step.program in _CHANGES or " -m pip " in step.command for step in steps[between]):
            name, *_ = names
            how = "missing" if name not in bad[0] else "other" if name in good[0] else "set"
            yield _row("decides", bad[2], bad[2].line, name, how, f"{name}={(good if how == 'missing' else bad)[0][name]}")


def _overcome(steps: Sequence[Step]) -> Iterator[Row]:
    """A run that failed before something was changed, and whose failure the next run of the same command met no more.

    Whoever took an option away instead has gone round the failure, and did not mend it.
    """
    runs: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for number, step in enumerate(steps):
        if called := _called(step):
            runs.setdefault(called[0], []).append((number, called[1]))
    for same in runs.values():
        for (number, options), (later, more) in itertools.pairwise(same):
            broke, left = _broke(steps[number]), _broke(steps[later])
            changed = any(step.program not in _LOOKS or step.program in _CHANGES for step in steps[number + 1 : later])
            changed = changed or any(text.startswith("# ") for text in steps[number].output)  # somebody says what he did
            if broke and changed and options <= more and broke.isdisjoint(left) and _shown(steps[later]):
                end = steps[number + 1].line - 1
                yield _row("overcome", steps[number], steps[number].line, str(end), str(steps[later].line), steps[number].command)


def _shown(step: Step) -> bool:
    """Does what it printed stand here, and not in a file, or only what was looked for in it?"""
    return _ELSEWHERE.search(step.command) is None and any(map(str.strip, step.output))


_ELSEWHERE = lazy(r"(?<![0-9&|])&?>>? ?(?!&|/dev/null)\S|\| ?(?:[ef]?grep|wc|head|less|more)\b|&\s*(?:#|$)|2>&?/dev/null\s*(?:#|$)")
_SEPARATES = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "2>&1", "<"})
_SCRIPT = lazy(r"[\w./~-]{1,200}\.(?:py|sh|yaml|yml|json|toml)$")
_SAYS_WHY = lazy(r"(?:^|[\]:] )(?:\w{1,40}\.){0,6}\w{0,60}(?:Error|Exception|Interrupt): .{3}|error code is \d|\bE[A-Z0-9]\d{4}: |: command not found|core dumped|Segmentation fault|terminate called|^(?:Error|ERROR|error): .{3}")
_NUMBER = lazy(r"0x[0-9a-f]+|\d+")


def _called(step: Step) -> tuple[str, frozenset[str]] | None:
    """What a command runs, and with which options; None for what only looks or changes something else."""
    words = step.command.partition(" # ")[0].split()
    while words and (_SET.fullmatch(words[0]) or words[0] in ("sudo", "nohup", "time")):
        del words[0]
    end = next((n for n, word in enumerate(words) if word in _SEPARATES or word.endswith(";")), len(words))
    words = [word.rstrip(";") for word in words[: end + (end < len(words) and words[end].endswith(";") and len(words[end]) > 1)]]
    if not words or step.program in _LOOKS - {"docker", "kubectl"} or step.program in _CHANGES - {"source", "."}:
        return None
    options = frozenset(word.partition("=")[0] for word in words if word.startswith("--"))
    script = next((word for word in words if _SCRIPT.match(word)), "")
    if not script and "-c" in words:
        return " ".join(words), frozenset()
    plain = [word for word in words[1:] if not word.startswith("-")]
    return f"{words[0]} {script or ' '.join(plain[:2])}", options


def _broke(step: Step) -> frozenset[str]:
    """The lines that say why it failed, without what differs from run to run."""
    return frozenset(_NUMBER.sub("0", found) for text in step.output if _SAYS_WHY.search(text) and (found := text.strip()[:200]))


def _values(step: Step) -> list[tuple[str, bool, int]]:
    """The names that stand with a value in an output: is there anything in it, and in which line."""
    return [
        (found["key"], found["nothing"] is None, step.line + 1 + number)
        for number, text in enumerate(step.output)
        for found in _VALUE.finditer(text)
    ]


def _asked(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """What somebody asks in a comment between the lines."""
    for number, text in enumerate(lines):
        prompt = PROMPT.match(text[:600]) if " # " in text[:600] else None  # typed where a command would stand
        text = text[prompt.end() :] if prompt is not None else text
        if text.startswith("#") and (found := _ASKED.match(text[:600])):
            said = found["said"].strip()
            yield Row(TABLE, first_line + number, (("check", "asked"), ("program", ""), ("command", ""), ("what", ""), ("value", ""), ("said", said[:MAX_TEXT])))


def _garbled(steps: Sequence[Step], lines: Sequence[str]) -> Iterator[Row]:
    """A model's answer that is one word again and again, and whether the same question was answered well before."""
    well: set[str] = set()
    asked = any(map(_OF_MODEL.search, lines)) and not compared.elsewhere(lines)
    for step in steps if asked else ():
        command = step.command.partition("  #")[0].partition(" # ")[0].strip()
        if " -c " in step.command or (step.program not in _ASKS and not _LOOP.match(step.command)):
            continue
        answers = [(number, text) for number, text in enumerate(step.output) if text.strip() and not _OF_LOG.match(text)][:MAX_ANSWERS]
        for number, text in answers:
            if again := repeated(text) or ("several scripts" if mixed(text, MANY) or (mixed(text) and any(mixed(other) for n, other in answers if n != number)) else ""):
                before = command in well or any(len(other.strip()) > WORDY and not repeated(other) for n, other in answers if n < number)
                yield _row("garbled", step, step.line + 1 + number, again, "later" if before else "first", text.strip())
                break
        else:
            if any(len(text.strip()) > WORDY for _, text in answers):
                well.add(command)


def repeated(text: str) -> str:
    """The word, or the character, that an answer repeats without an end; "" for text as people write it.

    >>> repeated("the report of of is is the the the the the the the the")
    'the'
    >>> repeated("根据合同是的的的的的的的的的的的"), repeated("True True True True True True True True True"), repeated("=" * 60)
    ('的', '', '')
    >>> repeated("h and the English and the English and the English and the English and the English"), repeated('{"text": ",.,. and,.,,,,,,.,0 and,, and,,,)),.,, a,;,,,.,,;;,,,,, and,, to,,,,,,,,,.,,,"}')
    ('and the English', 'marks alone')
    """
    text = answer["said"] if (answer := _ANSWER.search(text[: 4 * MAX_SCANNED])) is not None else text
    for form in (_WORDS, _CHARACTERS, _PHRASES):
        if (found := form.search(text[:MAX_SCANNED])) is not None and not _REPEATED_AS_USUAL.issuperset(found["what"].split()):
            return found["what"]
    marks = sum(map(text.count, ",.;:)(，。；")) if answer is not None else 0
    return "marks alone" if marks > MARKS * len(text) else ""


def mixed(text: str, least: int = 3) -> bool:
    """Are there letters of three scripts and more in one answer? Of two answers this says that tokens were drawn at random, and so do `MANY` in one.

    >>> mixed("挡极 vorandelier กระจาย obligations"), mixed("東京タワー is in Tokyo")
    (True, False)
    """
    return sum(form.search(text) is not None for form in _SCRIPTS) >= least


_READERS: tuple[Callable[[Step, Step | None], Iterator[Row]], ...] = (_exit, _absent, _full, _failed, _empty, _limit, _found, _no_device)
