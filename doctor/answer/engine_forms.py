"""Options of an engine in the words of what starts it: launch arguments of Xinference, backend parameters of GPUStack, arguments of LLM(...) in Python, those of a trainer.

The knowledge writes them as `vllm serve`, and the reader's own command may be known; who starts an engine otherwise gets what changes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from doctor.answer import rollout_forms
from doctor.answer.orchestrated import owner
from doctor.answer.own_command import served
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings import python_call
from doctor.findings.situation import Situation
from doctor.findings.started import Option, Started, blank, is_flag, read
from kb.model import CodeFix, Command, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

_SERVES = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:vllm serve|sglang serve|python3? -m (?:vllm|sglang)\.\w)")
_WITHOUT = lazy(r"\s{1,40}# without (--\w[\w-]*\*?(?:, --\w[\w-]*\*?)*)")
_REMARK = lazy(r"\s{1,40}(?:#\s.*|(?:\d?>|\||;|&&).*)$", re.DOTALL)
_OF_THE_MODEL = frozenset({"model", "model-path", "served-model-name", "host", "port"})
_ENGINES = {"vllm": "vLLM", "sglang": "SGLang"}
_OPTION = lazy(r"--(enforce-eager|max-model-len|max-num-seqs|max-num-batched-tokens|gpu-memory-utilization|(?:tensor|pipeline)-parallel-size|dtype|quantization|trust-remote-code|(?:compilation|additional|speculative)-config|block-size|enable-(?:prefix-caching|chunked-prefill|expert-parallel)|limit-mm-per-prompt|hf-overrides|kv-cache-dtype|load-format)(?![\w-])")
_OWN = ("your command", "the arguments that ", "the engine of ", "keep the other options of your command")  # how a reader's command is told


def told(fix: Fix, situation: Situation, paths: Iterable[str] = ()) -> Fix:
    """The fix with what it changes of an engine as the reader's way to start it has it; itself where that is a command."""
    way = _way(situation)
    if way is None:
        return fix
    fix = _of_code(fix if way != "llm" else _in_words(fix))
    runs = [command for command in fix.commands if _SERVES.match(command.run)]
    if not runs:
        return fix
    theirs = served(situation.started, paths)
    commands: list[Command] = []
    steps: list[Text] = []
    code: list[str] = []
    for command in fix.commands:
        asked = _asked(command.run, theirs) if command in runs else None
        if asked is None or not asked:
            commands.append(command)
        elif way == "xinference":
            commands.append(_launched(command, asked, situation))
        elif way == "gpustack":
            steps += [*_phrase("form-gpustack", asked), *_left(command)]
            code += [_parameter(option) for option in asked.options]
        elif way in ("verl", "rollout"):
            steps += [*_phrase(f"form-{way}", asked._replace(gone=tuple(rollout_forms.called(asked.kind, one) for one in asked.gone))), *_left(command)]
            code += rollout_forms.lines(asked.kind, asked.options)
        else:
            call = _call(asked)
            if call is None and not asked.gone:
                commands.append(command)
                continue
            python = asked._replace(gone=tuple(one.removeprefix("--").replace("-", "_") for one in asked.gone))
            steps += [*_phrase("form-llm", python), *map(_argument, _left(command))]
            code += [] if call is None else [call]
    if fix.code is not None and code:
        steps += [Text(line, line) for line in code]
        code = []
    made = fix.code if not code else CodeFix("python" if way == "llm" else "text", "", "\n".join(dict.fromkeys(code)))
    return fix._replace(steps=(*fix.steps, *dict.fromkeys(steps)), commands=tuple(commands), code=made)


class _Asked(NamedTuple):
    """What a command changes of an engine."""

    kind: str
    options: tuple[Option, ...]
    gone: tuple[str, ...]
    env: tuple[tuple[str, str], ...]

    def __bool__(self) -> bool:
        return bool(self.options or self.gone or self.env)


def _way(situation: Situation) -> str | None:
    by = owner(situation)
    if by in ("gpustack", "xinference"):
        return by
    if trainer := rollout_forms.way(situation):
        return trainer
    seen = situation.facts.get("seen", ())
    kinds = {one.kind for one in situation.started if one.typed}
    if by is not None or "api-server" in seen or not kinds.isdisjoint(("vllm", "sglang")):
        return None
    known = [situation.frameworks[name] for name in situation.facts.get("framework", ()) if name in situation.frameworks]
    if any(one.name != "vllm" and not one.beneath for one in known):  # which makes the call itself
        return None
    return "llm" if "llm" in kinds or "llm-class" in seen else None


def _asked(run: str, theirs: Started | None) -> _Asked | None:
    """What differs from the reader's own engine where it is known; else all that stands there."""
    without = _WITHOUT.search(run)
    advised = read(f"{_REMARK.sub('', run)} $") or read(_REMARK.sub("", run))
    if advised is None:
        return None
    gone = tuple(without[1].split(", ")) if without else ()
    model = advised.model
    before: set[tuple[str, tuple[str, ...]]] = set()
    if theirs is not None and theirs.kind == advised.kind and model == theirs.model and model and not blank(model):
        before = {(o.name, o.values) for o in theirs.options}
        kept = {o.name for o in advised.options}
        gone += tuple("--" + o.name for o in theirs.options if o.name not in kept and f"no-{o.name}" not in kept and o.name.removeprefix("no-") not in kept)
    options = tuple(o for o in advised.options if (o.name, o.values) not in before and o.name not in _OF_THE_MODEL)
    env = tuple(one for one in advised.env if theirs is None or one not in theirs.env)
    return _Asked(advised.kind, options, tuple(dict.fromkeys(gone)), env)


def _phrase(name: str, asked: _Asked) -> list[Text]:
    """Where the options belong, and what goes."""
    env = " ".join(f"{key}={value}" for key, value in asked.env)
    said = [Text(**both(name))] if asked.options else []
    said += [Text(**both("form-less", gone=clean(", ".join(asked.gone))))] if asked.gone else []
    return said + ([Text(**both("form-variables", env=clean(env)))] if env else [])


def _left(command: Command) -> list[Text]:
    """What a command was told with, but for whose it is."""
    why = command.why
    if why is not None and why.en.startswith(_OWN):
        en, zh = why.en.partition(". ")[2], why.zh.partition("。")[2]
        why = Text(en, zh) if en and zh else None
    return [text for text in (command.changes, why) if text is not None]


def _parameter(option: Option) -> str:
    """As GPUStack takes it: one a line."""
    return clean(f"--{option.name}={' '.join(option.values)}" if option.values else f"--{option.name}")


def _launched(command: Command, asked: _Asked, situation: Situation) -> Command:
    """A launch of Xinference with them: whatever it does not know is handed to the engine, and each has a value."""
    given = {one.words: one for one in situation.started if one.kind == "xinference"}
    launch = next(iter(given.values())) if len(given) == 1 else None
    if launch is None:
        launch = Started("xinference", (), ("xinference", "launch", "--model-name", "MODEL_NAME", "--model-engine", _ENGINES[asked.kind]), 2)
    for option in asked.options:
        off = option.name.startswith("no-") and not option.values
        name = option.name.removeprefix("no-") if off else option.name
        value = "False" if off else " ".join(option.values) or "True"
        mine = next((o for o in launch.options if o.name == name), None)
        launch = launch.with_option(name, (value,)) if mine is not None else launch.added("--" + name.replace("-", "_"), (value,))
    for gone in asked.gone:
        begin = gone.removeprefix("--")
        for mine in launch.options:
            if mine.name == begin or (begin.endswith("*") and mine.name.startswith(begin[:-1])):
                launch = launch.without(mine.name)
    why = Text(**both("form-xinference"))
    further = _phrase("form-xinference", asked._replace(options=(), gone=() if given else asked.gone))
    for one in (*further, *_left(command._replace(changes=None))):
        why = why.then(one)
    return command._replace(run=clean(launch.shell()), why=why)


def _call(asked: _Asked) -> str | None:
    """Arguments of the reader's own call; None where a call has no such ones."""
    written = python_call.written(tuple((o.name, o.values) for o in asked.options))[len(python_call.BEGIN) : -1]
    return f"llm = LLM(model=MODEL, {written})  # beside your other arguments" if written else None


def _in_words(fix: Fix) -> Fix:
    """Prose that names options of a service, with the names that they have in Python."""
    return fix._replace(title=_argument(fix.title), steps=tuple(map(_argument, fix.steps)))


def _argument(text: Text) -> Text:
    """
    >>> _argument(Text("start with --enforce-eager, or lower --max-model-len; pip --no-deps", "")).en
    'start with enforce_eager=True, or lower max_model_len; pip --no-deps'
    """

    def named(found: re.Match[str]) -> str:
        return found[1].replace("-", "_") + ("=True" if is_flag(found[1], "vllm") else "")

    return Text(_OPTION.sub(named, text.en), _OPTION.sub(named, text.zh))


def _of_code(fix: Fix) -> Fix:
    """A line for a shell that starts a service, as the command that it is."""
    if fix.code is None or fix.code.lang not in ("bash", "shell") or fix.commands:
        return fix
    rows = [row for row in fix.code.after.replace("\\\n", " ").splitlines() if row.strip()]
    remarks = [row.lstrip("# ") for row in rows if row.startswith("#")]
    serves = [row for row in rows if _SERVES.match(row)]
    if not serves or len(serves) + len(remarks) != len(rows):
        return fix
    return fix._replace(code=None, commands=tuple(Command(re.sub(r"\s+", " ", row), None, None) for row in serves))
