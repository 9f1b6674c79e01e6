"""Is what a fix asks for there already, or can it not work here? Neither is advice: a release that the logs show as
installed, a library that is too old for the model that is loaded, a package for another processor.

Which release a fix asks for, its own words say: a title ("CANN 8.5 or later"), or the requirements of its command
(`pip install 'transformers>=4.56'`). Most fixes ask for none, and some for one that the logs do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.findings.release import shut_out, within
from doctor.findings.situation import FOREIGN, Situation
from kb.model import Fix
from kb.pairings import MODELS
from kb.placeholders import fill
from parsers.lazy import lazy

_OF_AN_NPU = lazy(r"(?:ASCEND|HCCL|ACL|ACLNN|PYTORCH_NPU|TORCH_NPU|VLLM_ASCEND|MS|TASK_QUEUE|COMBINED)_")
_OF_ASCEND = lazy(r"(?i)\b(?:vllm[-_]ascend|torch[-_]npu|sgl[-_]kernel[-_]npu|CANN)\b")
_NAME = r"(?P<name>CANN|HDK|[Dd]river|[A-Za-z][\w-]{2,30})"
_FLOOR = lazy(_NAME + r" (?:toolkit )?v?(?P<v>\d+\.\d[\w.]{0,20})(?= or (?:later|newer|higher|above)\b| and (?:later|newer)\b)")
_WITH = lazy(_NAME + r" v?(?P<v>\d+\.\d[\w.]{0,20}) with " + _NAME.replace("name", "other") + r" v?\d+\.\d[\w.]{0,20} or (?:later|newer)\b")
_ALTERNATIVE = lazy(r"(?i)\b(?:or|else|unless) (?!later|newer|higher|above)|\b(?:below|before|back|older|and later:|and newer:)")
_PRODUCT = lazy(r"\b(?:CANN|HDK|[Dd]river|[Ff]irmware|NNAL|MindIE|MindSpore|torch_npu|torch-npu|vllm-ascend|vLLM|transformers)\b")
_PIP = lazy(r"\bpip3? install\b(?P<what>[^;&|]{1,400})")
_PULL = lazy(r"(?:docker|podman|nerdctl) pull (?P<image>\S{1,200})$")
_OF_CONTAINERS = lazy(r"(?:docker|podman|nerdctl) (?:run|stop|exec|restart|update)\b|kubectl\b")
_REQUIREMENT = lazy(r"(?<![\w./-])['\"]?(?P<name>[A-Za-z][\w-]{1,60})(?:\[[\w,-]{1,60}\])?(?P<bounds>(?:(?:==|>=|<=|<|>)\d[\w.]{0,20},?){1,3})(?![\w*$])")
_CPUS = ("aarch64", "x86_64")
_GENERATION = lazy(r"(?<=soc_version=)Ascend(?:910B|910C|910_93|310P|310B|A[123])(?![\w-])")  # none of these is the name of a chip that ATC knows
_OF_CPU = lazy(r"(?<=[-/])(?:aarch64|x86_64)(?=-linux|\.run\b|/devlib\b)")
_OF_KV_CACHE = lazy(r"vllm serve (?:MODEL|MODEL_PATH) --gpu-memory-utilization 0\.\d+\s*$")  # the share that is left to it, and nothing else
_IMPORT = lazy(r"(?:import torch(?:_npu)?|from torch_npu\.contrib import transfer_to_npu)\b")
_FIRST = lazy(r"(?i)\b(?:first|before|earlier|above)\b")
_SAID_SET = frozenset({"worded", "tp_said"})  # facts
_SAME = {"hdk": "driver", "torch-npu": "torch_npu", "vllm-ascend": "vllm_ascend"}


def met(fix: Fix, situation: Situation) -> bool | None:
    """All that it asks for is there; None: a part is, of the rest nothing is known; False: it asks for nothing, or for something else."""
    if _pulled(fix, situation) or _translated(fix, situation) or (without_graphs(situation) and _only_graphs_off(fix)) or (not _SAID_SET.isdisjoint(situation.facts) and _in_their_words(fix, situation)):
        return True
    answers = [_there(name, bounds, situation) for name, bounds in _asked(fix)]
    if not answers or False in answers or True not in answers:
        return False
    return None if None in answers else True


def _in_their_words(fix: Fix, situation: Situation) -> bool:
    """Is all of it what the reader says that he starts the program with?"""
    from doctor.answer.worded import is_set  # few people say

    return bool(fix.commands) and all(is_set(command.run, situation) for command in fix.commands)


def _only_graphs_off(fix: Fix) -> bool:
    """Is all of it to leave the graphs out, in the words of whichever software it is?"""
    return bool(fix.steps) and not (fix.commands or fix.env or fix.code) and all(step.en.startswith("{graphs_off") for step in fix.steps)


def _translated(fix: Fix, situation: Situation) -> bool:
    """Is all of it to import what translates a CUDA script, which printed that it does? Where it has to stand first, that is another matter."""
    if "transfer-to-npu" not in situation.facts.get("seen", ()) or fix.code is None or fix.commands or fix.env or _FIRST.search(fix.title.en):
        return False
    rows = [row for row in fix.code.after.splitlines() if row.strip() and not row.lstrip().startswith("#")]
    return any("transfer_to_npu" in row for row in rows) and all(map(_IMPORT.match, rows))


def _pulled(fix: Fix, situation: Situation) -> bool:
    """Does it fetch the very image that the logs show as started? Registries differ, the name and its tag tell."""
    wanted = [found["image"] for command in fix.commands if (found := _PULL.match(command.run)) is not None]
    if not wanted:
        return False
    names = situation.names()
    docker = [one.words[one.target] for one in situation.started if one.kind == "docker" and one.target is not None]
    here = {image.rpartition("/")[2] for image in (*docker, *situation.facts.get("image", ())) if ":" in image}
    return any(fill(image, names, {}).rpartition("/")[2] in here for image in wanted)


def refuted(fix: Fix, situation: Situation) -> bool:
    """Does it install a release that does not know the model which the logs show as loaded, start a container for who uses none, take memory from a KV cache that there was not, or set what no software of this machine reads?"""
    if fix.goal == "locate":
        return False
    if situation.first("machine") in FOREIGN and fix.env and not fix.commands and all(_OF_AN_NPU.match(variable.name) for variable in fix.env):
        return True
    if situation.facts.get("place") == ("host",) and fix.commands and all(_OF_CONTAINERS.match(command.run) for command in fix.commands):
        return True
    if "before-kv-cache" in situation.facts.get("seen", ()) and _leaves_less_to_kv_cache(fix):
        return True
    models = situation.facts.get("model", ())
    if not models:
        return False
    from doctor.findings.newcomers import names_of  # few logs tell a model

    named = {name for model in models for name in names_of({"model": model})}
    known_from = [row.versions for row in situation.published if row.table == MODELS and named.intersection(row.versions["models"])]
    return any(shut_out(bounds, least) for name, bounds in _asked(fix) for row in known_from for least in row.get(name.lower(), ()))


def of_an_npu(fix: Fix, situation: Situation) -> bool:
    """Does it install or update software of NPUs on a machine that has none?"""
    if fix.goal == "locate" or situation.first("machine") not in FOREIGN:
        return False
    return _OF_ASCEND.search(fix.title.en) is not None or any(_OF_ASCEND.search(command.run) for command in fix.commands)


def _leaves_less_to_kv_cache(fix: Fix) -> bool:
    """Is all of it a smaller share of memory for vLLM, which its KV cache would have had to give?"""
    runs = [*(command.run for command in fix.commands), *([fix.code.after] if fix.code else [])]
    return bool(runs) and not fix.env and all(_OF_KV_CACHE.match(run) for run in runs)


def for_this_place(fix: Fix, situation: Situation) -> Fix:
    """On a bare host, of a fix for both, what is for a host; on a machine without an NPU nothing that is set for one."""
    if situation.first("machine") in FOREIGN and fix.env:
        others = tuple(variable for variable in fix.env if not _OF_AN_NPU.match(variable.name))
        fix = fix._replace(env=others) if others or fix.commands else fix  # where nothing is left, all of it is refuted
    if situation.facts.get("place") != ("host",) or fix.goal == "locate":
        return fix
    rest = tuple(command for command in fix.commands if not _OF_CONTAINERS.match(command.run))
    return fix._replace(commands=rest) if rest else fix


def without_graphs(situation: Situation) -> bool:
    """Does every engine of the logs say that it was started without graphs?"""
    told = situation.facts.get("option", ())
    return "graphs-off" in told and "graphs-on" not in told


def of_this_machine(command: str, situation: Situation) -> str:
    """A command with the processor that the logs tell, where it is written for another one, and no generation in the place of a chip.

    >>> of_this_machine("atc --soc_version=Ascend910B --output=m", Situation()), of_this_machine("atc --soc_version=Ascend910B4", Situation())
    ('atc --soc_version=AscendCHIP --output=m', 'atc --soc_version=Ascend910B4')
    """
    if "soc_version" in command:
        command = _GENERATION.sub("AscendCHIP", command)
    told = situation.facts.get("cpu", ())
    if len(told) != 1 or told[0] not in _CPUS or told[0] in command:
        return command
    return _OF_CPU.sub(told[0], command)


def _asked(fix: Fix) -> Iterator[tuple[str, str]]:
    """The software that a fix asks for, with the bounds of its version."""
    if fix.goal == "locate":
        return
    title = fix.title.en
    if _ALTERNATIVE.search(title) is None:
        floors = {found["name"]: f">={found['v']}" for form in (_FLOOR, _WITH) for found in form.finditer(title)}
        yield from floors.items()
        others = {name for name in _PRODUCT.findall(title) if name not in floors} if floors else ()
        yield from ((name, "") for name in others if name != "HDK" or "driver" not in floors)
    for command in fix.commands:
        for install in _PIP.finditer(command.run):
            for found in _REQUIREMENT.finditer(install["what"]):
                yield found["name"], found["bounds"].replace(",", " ")


def _there(name: str, bounds: str, situation: Situation) -> bool | None:
    """Do all versions of it that the logs tell keep the bounds? None: they tell none, or no bound is told."""
    if not bounds:
        return None
    fact = name.lower()
    fact = _SAME.get(fact, fact.replace("-", "_"))
    told = [v for v in situation.facts.get(fact, ()) or (situation.packages.get(fact, ""),) if v[:1].isdigit()]
    return all(within(version, bounds) for version in told) if told else None
