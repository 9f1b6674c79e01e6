"""What makes room where the weights of a model alone fill the cards that it was given: among more cards, or in fewer bytes. Sums are told, no cache is made smaller in vain."""

from __future__ import annotations

from doctor.answer.own_command import own, served
from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.findings.weights import Weights, weights
from kb.model import Command, Fix, Text, When

_DIVIDED = {
    "vllm": "vllm serve MODEL --tensor-parallel-size {n}",
    "llm": "vllm serve MODEL --tensor-parallel-size {n}",
    "sglang": "python3 -m sglang.launch_server --model-path MODEL --tp-size {n}",
    "lmdeploy": "lmdeploy serve api_server MODEL --tp {n}",
}
# How a trainer is told among how many cards the engine within it divides the weights.
_OF_TRAINER = {"swift": "weights-swift", "verl": "weights-verl"}
_STAGES = ("pipeline-parallel-size", "pp-size")


def for_weights(finding: Finding, situation: Situation) -> Fix | None:
    """A fix that begins with the sum; None where the weights leave room, or something of the sum is not told."""
    instance = finding.instances[0]
    service = served(situation.started, instance.paths)
    told = weights(service, situation.facts, instance.captures)
    if service is None or told is None or not told.full or service.kind not in _DIVIDED:
        return None
    sums = {"billions": f"{told.billions:g}", "width": f"{told.width:g}", "ways": str(told.ways), "each": f"{told.each(told.ways):.0f}", "card": f"{told.card:.0f}"}
    enough = told.enough(told.ways)
    if enough is None:
        return _in_fewer_bytes(service.kind, told, sums)
    if not service.typed and situation.first("activity") == "training":
        return _within_a_trainer(situation, enough, told, sums)
    stages = next((int(value) for name in _STAGES if (value := service.option(name)) is not None), 1)
    theirs = own(_DIVIDED[service.kind].format(n=enough // stages), situation.started, instance.paths) if enough % stages == 0 else None
    if theirs is None:
        return None
    title = Text(**both("weights-divide", **sums, enough=str(enough), then=f"{told.each(enough):.0f}"))
    command = Command(theirs.run, Text(**both("weights-more-cards", enough=str(enough))), theirs.note.then(Text(**both("weights-or-fewer"))))
    return Fix("resolve", "low", title, (), (), (command,), None, _made_for(service.kind))


def _within_a_trainer(situation: Situation, enough: int, told: Weights, sums: dict[str, str]) -> Fix | None:
    """Nobody started this engine by a command: the trainer makes it, and passes its own option on."""
    trainer = next((name for name in _OF_TRAINER if name in situation.facts.get("framework", ())), None)
    if trainer is None:
        return None
    title = Text(**both("weights-divide", **sums, enough=str(enough), then=f"{told.each(enough):.0f}"))
    step = Text(**both(_OF_TRAINER[trainer], enough=str(enough)))
    return Fix("resolve", "low", title, (step,), (), (), None, (("framework", (trainer,)),))


def _made_for(kind: str) -> When:
    """The service of this log is what the fix is made for."""
    return (("launcher", (kind,)),)


def _in_fewer_bytes(kind: str, told: Weights, sums: dict[str, str]) -> Fix:
    """No node has so many cards, or this one has not: the same model, quantised, or a smaller one."""
    fewer = told._replace(width=told.width / 2)
    least = fewer.enough(told.ways)
    key = "weights-quantise" if least is not None and told.width > 1 else "weights-smaller"
    title = Text(**both(key, **sums, enough=str(least), then=f"{fewer.each(least or 1):.0f}"))
    steps = (Text(**both("weights-quantise-how")),) if key == "weights-quantise" else ()
    return Fix("resolve", "low", title, steps, (), (), None, _made_for(kind))

