"""Do the weights, gradients and optimizer states of a full fine-tuning alone fill the cards? From the model's name, how they are divided, and what a card holds.

Adam in mixed precision keeps 16 bytes of a parameter: 2 of the weight, 2 of its gradient, 12 of the optimizer. Where a size, a division or a card is not told, nothing is worked out.
"""

from __future__ import annotations

from doctor.answer.own_command import own
from doctor.base.words import both
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.findings.weights import card_gib, parameters
from kb.model import CodeFix, Command, Fix, Text

MOST = 0.8  # of a card: a step needs the rest
WEIGHTS, GRADIENTS, OPTIMIZER = 2.0, 2.0, 12.0  # bytes of a parameter
_DIVIDES_OTHERWISE = frozenset({"megatron", "mindspeed", "verl"})
OFFLOAD = "zero3_offload"


def each(billions: float, stage: int, world: int, offload: bool = False) -> float:
    """GiB on each card, by the stage of ZeRO; of what is offloaded, weights and gradients stay.

    >>> [round(each(7.6, stage, 8)) for stage in (0, 2, 3)], round(each(7.6, 3, 8, offload=True))
    ([113, 27, 14], 4)
    """
    bytes_of_one = WEIGHTS / (world if stage == 3 else 1) + GRADIENTS / (world if stage >= 2 else 1) + (0 if offload else OPTIMIZER / (world if stage >= 1 else 1))
    return billions * 1e9 * bytes_of_one / 2.0**30


def for_states(finding: Finding, situation: Situation) -> Fix | None:
    """A fix that begins with the sum; None where there is room, or something of the sum is not told."""
    told = situation.facts.get("option", ())
    if "full-on" not in told or "offload-on" in told:
        return None
    frameworks = situation.facts.get("framework", ())
    names = situation.facts.get("loaded", ())
    billions = parameters(names[0]) if len({name.rstrip("/") for name in names}) == 1 else None
    card = card_gib(situation.facts, finding.instances[0].captures)
    stage = 3 if "zero3-on" in told else 2 if "zero2-on" in told else 1 if "deepspeed" in frameworks or "fsdp2" in told else 0
    world = situation.world_size(1) or 1
    if billions is None or card is None or stage == 1 or (stage and world == 1) or not _DIVIDES_OTHERWISE.isdisjoint(frameworks):
        return None
    need = each(billions, stage, world)
    if need <= MOST * card:
        return None
    sums = {"billions": f"{billions:g}", "each": f"{need:.0f}", "card": f"{card:.0f}", "stage": str(stage), "world": str(world), "host": f"{billions * OPTIMIZER:.0f}"}
    rest, way = next(
        ((left, way) for left, way in ((each(billions, 3, world), "zero3"), (each(billions, 3, world, offload=True), OFFLOAD)) if left <= MOST * card and (stage < 3 or way != "zero3") and world > 1),
        (0.0, ""),
    )
    title = Text(**both(f"states-{way or 'lora'}", **sums, then=f"{rest:.0f}"))
    made_for = (("option", ("full-on",)),)
    if not way:
        return Fix("resolve", "low", title, (Text(**both("states-less")),), (), (), None, made_for)
    if "llamafactory" in frameworks:
        file = "ds_z3_offload_config.json" if way == OFFLOAD else "ds_z3_config.json"
        return Fix("resolve", "low", title, (), (), (), CodeFix("yaml", "", f"deepspeed: examples/deepspeed/{file}\n"), made_for)
    if theirs := own(f"swift sft --model MODEL --deepspeed {way}", situation.started, finding.instances[0].paths):
        return Fix("resolve", "low", title, (), (), (Command(theirs.run, Text(**both("states-slower")), theirs.note),), None, made_for)
    return Fix("resolve", "low", title, (Text(**both("states-any", way=way)),), (), (), None, made_for)
