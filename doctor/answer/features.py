"""Which of the reader's own settings a failure of a serving engine belongs to: the feature whose files and names the traceback went through.

    File ".../vllm_ascend/ascend_config.py", line 121, in __init__
        logger.info_once("...", self.layer_sharding)

with `--additional-config '{"layer_sharding": [...]}'` in the command: leave that out. What makes the deployment what it is
(parallel sizes, roles, quantisation, the model) is no feature that anybody could leave out.

>>> from doctor.findings.started import read
>>> command = read("vllm serve /models/plugh --additional-config '{\\"frob_sharding\\": [1]}' --numa-bind")
>>> [one.name for one in given((command,), ())]
['frob_sharding', '--numa-bind']
>>> through("ascend_config __init__ frob_sharding logger numa_bind", given((command,), ())).name
'frob_sharding'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from doctor.answer.met import without_graphs
from doctor.answer.own_command import has_all, own, without_option
from doctor.answer.variables import placed
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation, Variable
from doctor.findings.started import Started
from kb.model import SAID, Command, EnvFix, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

_OF_ENGINES = frozenset({"vllm", "meaning", "not_npu", "serving"})  # domains of entries that are told of engines
_COMPILED = "operator-compile"  # in the very call that wants the kernel
_SETTINGS = "additional-config"
_SHORTEST = 4  # letters of a name by which it is told
_ON = frozenset({"1", "true", "True", "TRUE", "on"})
_SWITCH = lazy(r"VLLM_(?:ASCEND_)?(?:ENABLE_|USE_)?(?P<name>[A-Z][A-Z0-9_]{3,40})$")
_NAME = lazy(r"[A-Za-z]\w{5,60}")
_REFUSES = lazy(r"(?i)\b(?:(?:not|only|un)[ -]?support|support only|requires?\b|incompatib|not compatible|cannot|can't|could not|must\b|conflict|disable|not allowed|mutually exclusive|only be enabled|unknown)")
# Flags that say how a service is reached or what it may do, and those by which it is what it is.
_NO_FEATURE = frozenset({"trust-remote-code", "enforce-eager", "headless", "enable-auto-tool-choice", "disable-log-stats", "disable-log-requests", "enable-expert-parallel", "skip-tokenizer-init", "data-parallel-external-lb", "data-parallel-hybrid-lb", "enable-log-requests", "disable-uvicorn-access-log", "enable-metrics", "enable-dp-attention", "enable-ep-moe", "enable-multimodal", "omni"})
_USUAL = frozenset({"enable_prefix_caching", "enable_chunked_prefill"})
# Features that have other names in the code than in a command; those of options with a value are only told so.
_CALLED = {
    "speculative-algorithm": ("specdecode", "speculativealgorithm", "eagle", "nextn", "mtp", "draftmodel", "draftworker", "ngram"),
    "enable-hierarchical-cache": ("hicache", "hiradix", "memorypoolhost", "poolhost"),
    "speculative-config": ("specdecode", "proposer", "eagle", "mtp", "dspark", "dflash", "drafter", "draftmodel", "ngram", "rejectionsampl"),
    "enable-lora": ("lora",),
    "load-format": ("netloader", "rfork", "runai"),
    "prefill-context-parallel-size": ("contextparallel", "pcp"),
    "decode-context-parallel-size": ("contextparallel", "dcp"),
    "enable-sleep-mode": ("camem",),
    "ray-workers-use-nsight": ("nsight", "nsys"),
    "language-model-only": ("inputsembeds", "multimodal", "mminputs"),
    "async-scheduling": ("asyncscheduler", "asyncrecompute"),
    "flashcomm": ("sequenceparallel", "sequencecolumn", "sequencerow", "allgatherandmaybeunpad", "maybepadandreduce"),
}  # fmt: skip
_TELLING = frozenset({"--ray-workers-use-nsight"})  # of these a message itself is enough: nobody else would say such words
# What a message calls them; `words` of a setting are names in code.
_SPOKEN = {
    "--pipeline-parallel-size": ("pipelineparallel",), "--speculative-config": ("speculativedecod", "specdecod"), "--enable-lora": ("lora",),
    "--prefill-context-parallel-size": ("contextparallel", "pcp"), "--decode-context-parallel-size": ("contextparallel", "dcp"),
    "--async-scheduling": ("asyncschedul", "asynchronousschedul"), "--enable-sleep-mode": ("sleepmode",),
    "--speculative-algorithm": ("speculativedecod", "specdecod"), "--pp-size": ("pipelineparallel",),
    "--enable-hierarchical-cache": ("hierarchicalcach", "hicache"),
}  # fmt: skip
# How a feature is switched on that code is told by, where no command is shown.
_NAMED = {
    "specdecode": "--speculative-config", "proposer": "--speculative-config", "rejectionsampl": "--speculative-config",
    "punica": "--enable-lora", "loraops": "--enable-lora", "eplb": "EPLB (eplb_config, DYNAMIC_EPLB)", "flashcomm": "flashcomm (enable_flashcomm, VLLM_ASCEND_ENABLE_FLASHCOMM1)",
    "xlite": "xlite_graph_config", "torchair": "torchair_graph_config", "netloader": "--load-format netloader", "weightprefetch": "weight_prefetch_config",
    "cpubinding": "enable_cpu_binding", "recomputescheduler": "recompute_scheduler_enable",
}  # fmt: skip
# Code that captures graphs; and the model itself, which is run while they are captured and may fail on its own.
_CAPTURES = ("aclgraph", "cudagraph", "npugraph", "capturemodel", "capturegraph", "graphcapture")
_MODEL = ("forward", "dummyrun", "executemodel", "profilerun", "loadmodel")
_EAGER = {"vllm": ("vllm serve MODEL --enforce-eager", "--enforce-eager"), "sglang": ("python3 -m sglang.launch_server --model-path MODEL --disable-cuda-graph", "--disable-cuda-graph")}
_VALUED = frozenset({"speculative-config", "speculative-algorithm", "load-format", "prefill-context-parallel-size", "decode-context-parallel-size"})
_ENGINES = ("vllm", "sglang")  # whose commands are read


class Setting(NamedTuple):
    """One that can be left out: an option, a key of the settings in JSON, or a variable."""

    name: str  # as it is written
    kind: str  # option | key | variable
    words: tuple[str, ...]  # by which names in code are its own


def feature(finding: Finding, way: str, situation: Situation, known: Sequence[Fix]) -> Fix | None:
    """How to start without what a message refuses by its name, or whose code failed; None where neither is told, or the `known` fixes do something."""
    entry = finding.entry
    mine = given(situation.started, situation.variables)
    if entry.domain not in _OF_ENGINES:
        if entry.kind != _COMPILED or any(fix.goal == "resolve" and _does(fix) for fix in known):
            return None
        off = through(way, mine)
        return _fix(off, "feature-out", finding, situation) if off is not None else None
    if not any(fix.goal != "locate" and _does(fix) for fix in known):
        for hit in finding.instances[0].hits:
            if (found := refused(hit.place.text, mine)) is not None:
                return _fix(found, "feature-refused", finding, situation)
    if not (entry.general or entry.role == "ambiguous") or entry.confidence == "high":
        return None
    if situation.facts.get("worded"):
        from doctor.answer.worded import trigger  # few people say what they start with

        if (named := trigger(finding, situation, known)) is not None:
            return named
    found = through(way, mine) or next((one for hit in finding.instances[0].hits for one in mine if one.name in _TELLING and through(hit.place.text, (one,))), None)
    if found is None and not any(one.kind in (*_ENGINES, "llm") for one in situation.started):
        found = next((Setting(written, "named", ()) for name in way.split() for word, written in _NAMED.items() if word in _plain(name)), None)
    return _fix(found, "feature-out", finding, situation) if found is not None else _eager(way, finding, situation, known)


def _does(fix: Fix) -> bool:
    """Does it change anything that is named?"""
    return bool(fix.env or fix.code or any(command.changes for command in fix.commands))


def refused(message: str, settings: Sequence[Setting]) -> Setting | None:
    """The setting that a message names where it refuses something.

    >>> mine = (Setting("enable_frob", "key", ("frob",)), Setting("--xyzzy-bind", "option", ("xyzzybind",)))
    >>> refused("enable_frob is only supported for plugh", mine).name, refused("xyzzy_bind is on", mine)
    ('enable_frob', None)
    """
    if _REFUSES.search(message) is None:
        return None
    said = set(_NAME.findall(message.replace("-", "_")))
    named = next((one for one in settings if one.name.lstrip("-").replace("-", "_").rpartition(".")[2] in said), None)
    spoken = _plain(message)
    return named or next((one for one in settings for phrase in _SPOKEN.get(one.name, ()) if phrase in spoken), None)


def given(started: Sequence[Started], variables: Sequence[Variable]) -> tuple[Setting, ...]:
    """What the reader switched on, each once."""
    return tuple({one.name: one for one in (*(s for command in started if command.kind in _ENGINES for s in _of(command)), *_switches(variables))}.values())


def through(way: str, settings: Sequence[Setting]) -> Setting | None:
    """The setting whose own code stands nearest to the exception."""
    for name in way.split():
        spoken = _plain(name)
        for one in settings:
            if any(word in spoken for word in one.words):
                return one
    return None


def through_graphs(way: str) -> bool:
    """Did code that only captures graphs fail, and not the model that it runs once for them?

    >>> through_graphs("worker plugh_runner initialize_aclgraph_capture builder"), through_graphs("attention forward _dummy_run capture_model")
    (True, False)
    """
    for name in way.split():
        spoken = _plain(name)
        if any(word in spoken for word in _MODEL):
            return False
        if any(word in spoken for word in _CAPTURES):
            return True
    return False


def _eager(way: str, finding: Finding, situation: Situation, known: Sequence[Fix]) -> Fix | None:
    """How to start without graphs, where their capture failed: nobody switched them on, so no command names them."""
    engine = next((name for name in _ENGINES if name in situation.facts.get("framework", ())), None)
    if engine is None or not through_graphs(way) or without_graphs(situation):
        return None
    run, option = _EAGER[engine]
    if any(option in command.run for fix in known for command in fix.commands):
        return None
    paths = finding.instances[0].paths
    if has_all(run, situation.started, paths):
        return None
    theirs = own(run, situation.started, paths)
    command = Command(run, Text(**both("own-slower")), None) if theirs is None else Command(theirs.run, Text(**both("own-slower")), theirs.note)
    return Fix("mitigate", "low", Text(**both("feature-graphs", what=option)), (), (), (command,), None, ((f"{SAID}way", ("~ .",)),))


def _of(command: Started) -> Iterator[Setting]:
    for option in command.options:
        if option.name == _SETTINGS:
            for key, value in _read(option.value).items():
                if value not in (False, None, 0, "", {}) and key not in _USUAL and not (isinstance(value, dict) and value.get("enabled") is False):
                    yield Setting(key, "key", _words(key))
                for inner in value if isinstance(value, dict) else ():
                    yield Setting(f"{key}.{inner}", "key", ())
        elif option.name in ("pipeline-parallel-size", "pp-size") and option.value != "1":
            yield Setting("--" + option.name, "option", ())
        elif option.name in _VALUED or (not option.values and not option.name.startswith(("no-", "disable-", "skip-")) and option.name not in _NO_FEATURE and option.name.replace("-", "_") not in _USUAL):
            yield Setting("--" + option.name, "option", _words(option.name))
    yield from _switches(Variable(name, value, "") for name, value in command.env)


def _switches(variables: Iterable[Variable]) -> Iterator[Setting]:
    for one in variables:
        if one.value.strip("'\"") in _ON and (found := _SWITCH.match(one.name)) is not None:
            yield Setting(one.name, "variable", _words(found["name"]))


def _words(name: str) -> tuple[str, ...]:
    """By which names in code a setting is told: its own, and what the code calls it."""
    plain = _plain(name.removeprefix("enable_").removeprefix("enable-").removesuffix("_config"))
    own = (plain,) if len(plain) >= _SHORTEST and name not in _VALUED else ()
    return own + tuple(word for known, called in _CALLED.items() if _plain(known) in (_plain(name), plain) for word in called)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum()).rstrip("0123456789")


def _read(value: str) -> dict[str, object]:
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _fix(found: Setting, how: str, finding: Finding, situation: Situation) -> Fix | None:
    title, made = Text(**both(how, what=clean(found.name))), ((f"{SAID}way", ("~ .",)),)
    if found.kind == "variable":
        return placed(Fix("resolve", "low", title, (), (EnvFix(found.name, "0", "process", f"unset {found.name}", None),), (), None, made), situation)
    changed = None if found.kind == "named" else without_option(situation.started, finding.instances[0].paths, found.name.removeprefix("--") if found.kind == "option" else _SETTINGS, None if found.kind == "option" else found.name)
    if changed is None:
        return Fix("resolve", "low", title, (Text(**both("feature-where")),), (), (), None, made)
    return Fix("resolve", "low", title, (), (), (Command(changed.run, Text(**both("asked-restart")), changed.note),), None, made)


