"""A command of the knowledge, said in the words of whoever reads it: their own command, with what the advice changes in it.

`vllm serve MODEL --max-model-len 8192` becomes the command that stands in `run.sh`, with that length.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from doctor.answer import option_lists
from doctor.answer.option_json import difference, for_none, joined, without_key
from doctor.answer.own_atc import converted
from doctor.base.notation import clean
from doctor.base.words import both, word
from doctor.findings import python_call
from doctor.findings.started import KINDS, Option, Started, is_flag, read
from kb.model import Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

# What the knowledge writes where the reader's own model, image or script stands.
_THEIRS = frozenset({"MODEL", "MODEL_PATH", "MODEL_DIR", "IMAGE", "SCRIPT"})
MOST = 3  # changes that are named
_TAIL = lazy(r"\s(?:\d?>|\||;|&&)")
_WITHOUT = lazy(r"\s{1,40}# without ((?:--\w[\w-]*\*?|-v /[\w./-]+)(?:, (?:--\w[\w-]*\*?|-v /[\w./-]+))*)(?:, )?$")  # how the knowledge says that an option goes, a group of them (`--frob-*`), or a mount of docker
_OPTIONS = lazy(r"--[a-z][\w-]*(?:=\w+)?")
_BEGIN = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:vllm serve|python3? -m (?:vllm|sglang|torch)|sglang (?:serve|generate)|lmdeploy serve|torchrun|docker run|xllm|atc|swift (?:sft|rlhf))\b")
_SEVERAL = frozenset({"volume", "device", "env", "group-add", "cap-add", "security-opt", "ulimit"})  # of docker: each adds something
_SETTINGS, _GRAPHS = "additional-config", "torchair_graph_config"  # of vllm-ascend: JSON, and the key of it that compiles graphs
# Options that mean nothing, or are refused, without another one.
_BESIDE = {"load-format": ("model-loader-extra-config",), "enable-lora": ("lora-modules", "max-loras", "max-lora-rank", "max-cpu-loras"), "numa-bind": ("numa-bind-nodes", "numa-bind-cpus"), "speculative-algorithm": ("speculative-*",), "enable-hierarchical-cache": ("hicache-*",)}
_SHORT = {"volume": "-v", "env": "-e"}  # as people type them
_OTHER_CARD = "/dev/davinciN"  # of an advice: one in place of those that the container has
_CHOSEN = "ASCEND_VISIBLE_DEVICES="
_DEVICE = lazy(r"/dev/davinci\d+$")
_CARDS = lazy(r"\d{1,3}(?:-\d{1,3})?(?:,\d{1,3}(?:-\d{1,3})?){0,31}$")  # 1,2,3 or 0-3
_NAMED_CARDS = lazy(r"Ascend\w{1,12}-\d")  # as device plugins write them
MOST_CARDS = 32
# Examples of a smaller need: the reader's own value may be smaller already.
_LENGTHS = frozenset({"max-model-len", "max-num-seqs", "max-num-batched-tokens", "context-length", "chunked-prefill-size", "max-running-requests"})
_SHARES = frozenset({"gpu-memory-utilization", "mem-fraction-static"})
# How names of weights end that are quantised.
_FORM = lazy(r"(?i)(?:[-_](?:awq|gptq|fp8|int[48]|w\d{1,2}a\d{1,2}|bnb|[48]bit|marlin|dynamic|block))+$")
_OF_WEIGHTS = frozenset({"model", "model-path", "model-name-or-path"})
_RAISED = 0.9  # a share from which on an example is meant to give more


class Own(NamedTuple):
    """A command as the reader would type it, and what was changed of theirs."""

    run: str
    note: Text


def own(run: str, started: Sequence[Started], paths: Iterable[str] = (), less: bool = False, whole: bool = False) -> Own | None:
    """The reader's own command with the options of an advised one; None where theirs is not known, or has them all and is not wanted as a `whole`.

    `less`: the advice is to take less of something, and its numbers are examples.
    """
    made = _changed(run, started, paths, less)
    if made is None or (made.changed == made.theirs and made.theirs.kind != "atc" and not (whole and made.asks)):  # after a change of the model the same conversion is run again
        return None
    told = note(made.theirs, made.changed)
    if made.changed.settings is not None and made.changed != made.theirs:
        file = clean(posixpath.basename(made.changed.settings))
        told = Text(*(word("own-before-file", lang, told=said, file=file) for lang, said in (("en", told.en), ("zh", told.zh))))
    return Own(clean(made.changed.shell() + (made.tail if "|" in made.tail else "")), told)


def has_all(run: str, started: Sequence[Started], paths: Iterable[str] = (), less: bool = False) -> bool:
    """Does the reader's own command give already what an advised one asks for, which is something?"""
    made = _changed(run, started, paths, less)
    return made is not None and made.changed == made.theirs and made.asks


class _Changed(NamedTuple):
    """The reader's command, and what becomes of it."""

    theirs: Started
    changed: Started
    tail: str
    asks: bool  # for an option or a variable by its value


def _changed(run: str, started: Sequence[Started], paths: Iterable[str], less: bool) -> _Changed | None:
    if not started or not _BEGIN.match(run):
        return None
    without = _WITHOUT.search(run)
    run = run[: without.start()] if without else run
    cut = _TAIL.search(run)
    begin, tail = (run[: cut.start()], run[cut.start() :]) if cut else (run, "")
    advised = read(begin) or _template(begin)
    if advised is None:
        return None
    advised = advised._replace(words=tuple(word for word in advised.words if word != "..."))  # the rest of theirs
    theirs = _one(started, advised.kind, frozenset(paths))
    if advised.kind == "vllm" and (theirs is None or not theirs.typed):
        theirs = _one(started, "llm", frozenset(paths)) or theirs
    gone = without[1].split(", ") if without else ()
    if theirs is not None and theirs.kind == "atc":
        if (made := converted(theirs, advised, gone)) is None:
            return None
        changed = made
    elif theirs is not None:
        lacking = _without(theirs, gone)  # what is advised may lie within a mount that goes
        changed = _docker(lacking, advised) if theirs.kind == "docker" else _launched(lacking, advised, less)
    elif advised.kind == "torchrun" and (launched := _as_theirs(started, advised, frozenset(paths))):
        theirs, changed = launched
    else:
        return None
    for name, value in advised.env:
        changed = changed.with_env(name, value)
    changed = _without(changed, gone)
    asks = theirs.kind != "atc" and (bool(advised.env) or without is not None or any(option.value not in _THEIRS for option in advised.options))
    return _Changed(theirs, changed, tail, asks)


def with_phrase(phrase: str, started: Sequence[Started], paths: Iterable[str] = ()) -> Own | None:
    """The reader's own service with the option by which a framework is told something: `start with --eager-mode`."""
    options, paths = _OPTIONS.findall(phrase), frozenset(paths)
    for kind in ("xllm", "lmdeploy"):
        if options and _one(started, kind, paths) is not None:
            return own(" ".join([*KINDS[kind].begins[0], *(["MODEL"] if kind == "lmdeploy" else []), *options]), started, paths)
    return None


def _without(command: Started, gone: Iterable[str]) -> Started:
    """The command without options, or without the mounts of a folder (`-v /folder`) that is on both sides."""
    for name in gone:
        _, _, folder = name.partition(" ")
        if not folder:
            first = name.removeprefix("--")
            for one in (first, f"{first}.*", *(_BESIDE.get(first, ()) if command.option(first) is not None else ())):
                begin = one.rstrip("*")
                group = [o.name for o in command.options if o.name.startswith(begin)] if begin != one else [one]
                for member in dict.fromkeys(group):
                    command = command.without(member)
            continue
        for option in reversed([o for o in command.options if o.name == "volume" and o.value.rstrip("/").split(":")[0].rstrip("/") == folder]):
            command = command._replace(words=(*command.words[: option.at], *command.words[option.end :]))
    return command


def with_asked(started: Sequence[Started], options: Iterable[tuple[str, str]], paths: Iterable[str] = ()) -> Own | None:
    """The reader's own service with options that a message asks for; a value that it does not tell is a word to fill in."""
    theirs = next((one for kind in ("vllm", "sglang", "lmdeploy") if (one := _one(started, kind, frozenset(paths))) is not None), None)
    if theirs is None:
        return None
    changed = theirs
    for written, value in options:
        name = written.lstrip("-").replace("_", "-")
        if changed.option(name) is None or value:
            changed = changed.with_option(name, (value,) if value else () if is_flag(name, theirs.kind) else ("VALUE",))
    return None if changed == theirs else Own(clean(changed.shell()), note(theirs, changed))


def served(started: Sequence[Started], paths: Iterable[str] = ()) -> Started | None:
    """The reader's own service, where one is shown."""
    return next((one for kind in ("vllm", "llm", "sglang", "lmdeploy") if (one := _one(started, kind, frozenset(paths))) is not None), None)


def value_of(started: Sequence[Started], name: str, paths: Iterable[str] = ()) -> str:
    """What the reader's own service was given for an option; empty where that is not shown."""
    theirs = _one(started, "vllm", frozenset(paths))
    return (theirs.option(name) or "") if theirs is not None else ""


def without_option(started: Sequence[Started], paths: Iterable[str], name: str, key: str | None = None) -> Own | None:
    """The reader's own service without an option, or without one key of its settings in JSON."""
    theirs = _one(started, "vllm", frozenset(paths)) or _one(started, "sglang", frozenset(paths))
    if theirs is None or (given := theirs.option(name)) is None:
        return None
    rest = without_key(given, key) if key is not None else "{}"
    changed = _without(theirs, (name,)) if key is None else theirs.without(name) if rest == "{}" else theirs.with_option(name, (rest,))
    path = clean(posixpath.basename(theirs.path))
    told = Text(**both("own-command-less", path=path, gone=clean(key))) if key is not None and path else note(theirs, changed)
    return None if changed == theirs else Own(clean(changed.shell()), told)


def _template(text: str) -> Started | None:
    """A command with words to fill in: what the knowledge writes, and nobody types."""
    return read(f"{text} $")


def _one(started: Sequence[Started], kind: str, paths: frozenset[str]) -> Started | None:
    """The command that is meant: the only one of its kind, what a person typed before what arguments or an engine tell, of the finding's own file first."""
    found = [one for one in started if one.kind == kind]
    for some in ([s for s in found if s.typed and s.path in paths], [s for s in found if s.typed], [s for s in found if not s.partial], found):
        distinct = {(s.env, s.words): s for s in some}
        if len(distinct) == 1 or (distinct and kind == "atc"):  # who converts tries one after the other: the newest
            return next(reversed(distinct.values()))
        if distinct:
            loaded = {s.model for s in found if not s.typed and s.model}  # by the engine that speaks in the logs
            meant = [s for s in distinct.values() if s.model in loaded]
            return meant[0] if len(meant) == 1 else None
    return None


def _as_theirs(started: Sequence[Started], advised: Started, paths: frozenset[str]) -> tuple[Started, Started] | None:
    """A number of processes, advised in the words of torchrun, in those of the launcher that they use."""
    count = advised.option("nproc-per-node") or ""
    kinds = {one.kind for one in started if one.processes is not None}
    theirs = _one(started, next(iter(kinds)), paths) if len(kinds) == 1 and count.isdecimal() and len(advised.options) == 1 else None
    changed = theirs.with_processes(int(count)) if theirs is not None else None
    return None if theirs is None or changed is None else (theirs, changed)


def _launched(theirs: Started, advised: Started, less: bool) -> Started:
    changed = theirs
    target = advised.words[advised.target] if advised.target is not None else ""
    if theirs.kind == "vllm" and target and target not in _THEIRS and theirs.target is not None and target.startswith("MODEL"):
        words = list(theirs.words)
        words[theirs.target] = another(theirs.words[theirs.target], target)  # another model is meant than theirs
        changed = theirs._replace(words=tuple(words))
    elif theirs.kind in ("llm", "vllm") and target not in _THEIRS and target.startswith("MODEL") and theirs.option("model"):
        changed = theirs.with_option("model", (another(theirs.option("model") or "", target),))
    split = KINDS[theirs.kind].processes
    fewer = not any(o.name in split and o.value != "1" for o in advised.options)
    for asked in advised.options:
        option, changed = option_lists.advised(asked, changed, less)
        if option.value.startswith("/path/to/") and theirs.option(option.name):
            continue  # they know the place
        if option.value in _THEIRS or (fewer and option.name in split and option.value == "1" and ((theirs.processes or 0) > 1 or theirs.option(option.name) not in (None, "1"))):
            continue  # what needs several cards does not start on one
        if less and option.name in split and _more(theirs.option(option.name), option.value):
            continue  # an example of more cards than one: they have as many
        opposite = option.name.removeprefix("no-") if option.name.startswith("no-") else f"no-{option.name}"
        if not option.values and changed.option(opposite) is not None:
            changed = changed.without(opposite)
        given = theirs.option(option.name)
        values: Sequence[str] = option.values
        if given and option.name in _OF_WEIGHTS and option.value.startswith("MODEL-"):
            values = (another(given, option.value),)
        elif given and len(values) == 1:
            values = (joined(given, _smaller(option.name, given, option.value) if less else option.value),)
        elif len(values) == 1:
            values = (for_none(option.value),)
        if values == ("{}",):  # nothing is left of theirs, or nothing was there
            changed = changed.without(option.name)
            continue
        if given is None or tuple(values) != next(o.values for o in theirs.options if o.name == option.name):
            changed = changed.with_option(option.name, values, option.glued)
        if option.name == "dtype" and given not in (None, "auto", *values):
            for other in theirs.options:  # a cache or a state that was given the same type
                if other.name.endswith("-dtype") and other.value == given:
                    changed = changed.with_option(other.name, values)
    graphs = changed.option(_SETTINGS)
    if graphs and changed.option("enforce-eager") is not None and (plain := without_key(graphs, _GRAPHS)) != graphs:  # vLLM refuses both at once
        changed = changed.with_option(_SETTINGS, (plain,)) if plain != "{}" else changed.without(_SETTINGS)
    return changed


def _more(given: str | None, example: str) -> bool:
    return given is not None and given.isdecimal() and example.isdecimal() and int(given) >= int(example)


def another(model: str, wanted: str) -> str:
    """The name of another form of the reader's model, `MODEL-W8A8`: theirs, without the form that it says it has; theirs where it is of that form."""
    form = wanted.removeprefix("MODEL")
    if form.lower() in model.rstrip("/").rsplit("/", 1)[-1].lower():
        return model
    return _FORM.sub("", model.rstrip("/")) + form if form.startswith("-") else wanted


def _smaller(name: str, given: str, example: str) -> str:
    """What is less than the reader has: the example, or where that would be more, a part of theirs."""
    try:
        have, told = float(given), float(example)
    except ValueError:
        return example
    if name in _LENGTHS and have <= 0:
        return given  # off, or the framework's own choice: no number to halve
    if name in _LENGTHS and have <= told:
        return str(max(1, int(have) // 2))
    if name in _SHARES and have <= told < _RAISED:
        return f"{max(0.1, have - 0.1):.2f}".rstrip("0")
    return given if name in _SHARES and told >= _RAISED and have >= told else example


def _docker(theirs: Started, advised: Started) -> Started:
    """What the container lacks of what is advised; the devices that it has stay."""
    changed = theirs
    told = theirs.options
    privileged = theirs.option("privileged") is not None
    has_cards = privileged or any(o.name == "device" and _DEVICE.search(o.value.partition(":")[0]) for o in told)
    for option in advised.options:
        if option.name == "device" and option.value == _OTHER_CARD:
            changed = _on_other_card(changed)
            continue
        if not option.values:
            if option.name == "privileged" and not privileged:
                changed = changed.added("--privileged", ())
            continue
        if option.name == "device" and (privileged or (has_cards and _DEVICE.search(option.value))):
            continue
        if option.name == "device" and _DEVICE.search(option.value) and (cards := _asked_for(theirs)):
            for card in cards:  # those that they asked a runtime for, not the one of the example
                changed = changed.added("--device", (f"/dev/davinci{card}",))
            continue
        if option.name in _SEVERAL:
            if option.name == "env" and (wrong := _no_list(told, option.value)) is not None:
                words = list(changed.words)
                words[wrong.end - 1] = words[wrong.end - 1].replace(wrong.value, option.value)
                changed = changed._replace(words=tuple(words))
                continue
            if not any(o.name == option.name and _covers(option.name, o.value, option.value) for o in told):
                changed = changed.added(_SHORT.get(option.name, f"--{option.name}"), (option.value,))
        elif theirs.option(option.name) != option.value:
            changed = changed.with_option(option.name, option.values)
    return changed


def _no_list(told: Sequence[Option], advised: str) -> Option | None:
    """The cards as the reader asks for them, in words that no list of cards has (`all`, `7-4`): the advised list takes their place."""
    given = next((o for o in told if o.name == "env" and o.value.startswith(_CHOSEN)), None)
    if given is None or not advised.startswith(_CHOSEN) or given.value == advised:
        return None
    value = given.value.removeprefix(_CHOSEN).strip("'\"")
    ranges = [tuple(map(int, part.split("-"))) for part in value.split(",")] if _CARDS.match(value) else []
    listed = bool(ranges) and all(ends[0] <= ends[-1] for ends in ranges)
    return None if listed or _NAMED_CARDS.match(value) or value == "void" or "$" in value else given


def _asked_for(theirs: Started) -> tuple[int, ...]:
    """The cards that ASCEND_VISIBLE_DEVICES names, `1,2` or `0-3`, which the runtime of Ascend alone would bring."""
    told = [o.value.removeprefix(_CHOSEN).strip("'\"") for o in theirs.options if o.name == "env" and o.value.startswith(_CHOSEN)]
    if len(told) != 1 or _CARDS.match(told[0]) is None:
        return ()
    ends = [tuple(map(int, part.split("-"))) for part in told[0].split(",")]
    cards = tuple(dict.fromkeys(card for end in ends for card in range(end[0], end[-1] + 1)))
    return cards if len(cards) <= MOST_CARDS else ()


def _on_other_card(command: Started) -> Started:
    """The same container with another card in place of its own, whoever gives it the cards."""
    words = list(command.words)
    cards = [o for o in command.options if o.name == "device" and _DEVICE.search(o.value.partition(":")[0])]
    chosen = [o for o in command.options if o.name == "env" and o.value.startswith(_CHOSEN)]
    for option in reversed(cards):
        del words[option.at : option.end]
    if cards or not chosen:
        return command._replace(words=tuple(words)).added("--device", (_OTHER_CARD,))
    for option in chosen:
        words[option.end - 1] = words[option.end - 1].replace(option.value, f"{_CHOSEN}N")
    return command._replace(words=tuple(words))


def _covers(name: str, given: str, wanted: str) -> bool:
    """Does the container have what an advised option gives: the device, the variable, the folder or one above it?"""
    if name == "volume":
        inside = (given.split(":")[1:2] or [given])[0].rstrip("/")
        asked = (wanted.split(":")[1:2] or [wanted])[0].rstrip("/")
        return asked == inside or asked.startswith(inside + "/")
    if name in ("device", "env", "ulimit"):
        sign = ":" if name == "device" else "="
        return given.partition(sign)[0] == wanted.partition(sign)[0]
    return given == wanted


def note(theirs: Started, changed: Started) -> Text:
    """Whose command it is, and what is new in it."""
    before, was = {(o.name, o.values) for o in theirs.options}, {o.name: " ".join(o.values) for o in theirs.options}
    new = [_told(changed, o, was.get(o.name, "") if o.name not in _SEVERAL else "") for o in changed.options if (o.name, o.values) not in before]
    new += [(f"{name}={value}", dict(theirs.env).get(name, "")) for name, value in changed.env if (name, value) not in theirs.env]
    if theirs.kind == "vllm" and theirs.target is not None and (model := changed.model) != theirs.model and model:
        new.insert(0, (model, ""))
    told = [(clean(text), clean(old)) for text, old in new[:MOST]]
    how, path = "own-command" if theirs.typed else "own-engine" if theirs.partial else "own-arguments", clean(posixpath.basename(theirs.path))
    if changed == theirs:
        return Text(**both("own-again", path=path)) if path else Text(**both("own-again-typed"))
    kept = {o.name for o in changed.options}
    after = {(o.name, o.values) for o in changed.options}
    lost = [o for o in theirs.options if (o.name in _SEVERAL and (o.name, o.values) not in after) or (o.name not in kept and f"no-{o.name}" not in kept and o.name.removeprefix("no-") not in kept)]
    gone = ", ".join(dict.fromkeys(clean(" ".join(theirs.words[o.at : o.end]) if o.name in _SEVERAL else theirs.words[o.at].partition("=")[0]) for o in lost))
    if not told:
        return Text(**(both("own-command-less", path=path, gone=gone) if path else both("own-typed-less", gone=gone)))
    further = {lang: word("own-further", lang, n=len(new) - MOST) if len(new) > MOST else "" for lang in ("en", "zh")}
    less = {lang: word("own-gone", lang, gone=gone) if gone and theirs.kind == "vllm" else "" for lang in ("en", "zh")}
    shown = {lang: ", ".join(word("own-was", lang, new=text, old=old) if old else text for text, old in told) + further[lang] + less[lang] for lang in ("en", "zh")}
    return Text(*(word(how if path else "own-typed", lang, path=path, new=shown[lang]) for lang in ("en", "zh")))


def _told(changed: Started, option: Option, was: str) -> tuple[str, str]:
    """An option as it is written now, and its value before; of settings in JSON only those that differ."""
    written = " ".join(changed.words[option.at : option.end])
    if changed.kind == "llm":
        return python_call.written(((option.name, option.values),))[len(python_call.BEGIN) : -1], was
    old, new = difference(was, option.value)
    if new == "{}":  # keys are gone, and nothing is new
        return written, was
    return (f"{changed.words[option.at].partition('=')[0]} {new}", old) if new != option.value else (written, was)
