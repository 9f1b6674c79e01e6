"""Which finding explains another: one table of rules, the strongest first.

The first rule of the table that holds for two findings decides: it explains the first one by the second, or it keeps the
two apart. Where several findings explain one, the strongest rule wins; by the same rule, the one that is read first.

A new rule is a function and its place in the table. The end of its docstring names what goes wrong without it: in an
incident of `tests/data/incidents`, in a sample of an entry, or in a job of `tests/simulate` (fault and seed, of 16 ranks).
A test switches every rule off and looks; what nothing needs is no rule.
"""

from __future__ import annotations

from doctor.findings.evaluate import Finding
from doctor.judge.nature import (
    COMES_UP,
    SURER,
    ends_job,
    got_over,
    guesses,
    is_doubt,
    is_error,
    is_vague,
    may_be_root,
    names_a_fault,
    tells,
    was_survived,
)
from doctor.judge.nearness import long_before, not_later, raised_below, well_after
from doctor.judge.rules_of_words import (
    code_explains_no_words,
    guess_at_a_known_line,
    knows_the_guessed_line,
    read_from_words,
    vague_words_explain_no_symptom,
    words_beside_a_code,
)
from doctor.judge.scene import EXPLAINS, KEEPS_APART, Rule, Scene

# What harmless lines are worth


def only_in_harmless_lines(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """A wide pattern may hit the very line that another entry knows as harmless: then it is harmless too.

    Without it: incident memory-fragmented-training: PTA016 is a root.
    """
    return scene.harmless.get(effect.entry.code) == cause.entry.code


def finished_all_the_same(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Doubts are no fault of a program that came to its end, whatever it warned of on the way or printed while leaving.

    Without it: incident decoy-run-check-ok-with-version-warnings: VER021 is a root.
    """
    return "finished" in cause.entry.traits and scene.places.near(effect, cause) and (is_doubt(effect) or got_over(effect, cause))


def came_up_all_the_same(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What was only warned of, and would have kept a program from starting, did not.

    Without it: sample NOI920/after-a-retry: NOT006 is a root.
    """
    return not COMES_UP.isdisjoint(cause.entry.traits) and was_survived(effect, cause) and not scene.attempts.later(cause.hits, effect.hits)


def harmless_lines_explain_nothing(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What is harmless is no cause, and needs none.

    Without it: incident decoy-ctrl-c: NOI003 is put beneath NOT008.
    """
    return "noise" in (effect.entry.role, cause.entry.role) or cause.entry.code in scene.harmless


def started_again(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What a launcher started again failed on its own: a later attempt explains no fault of an earlier one.

    Without it: incident order-restart-seconds-after-error-cqe: HCL055 is read first.
    """
    return may_be_root(effect.entry) and scene.attempts.later(cause.hits, effect.hits)


# What entries say about each other


def said_more_precisely(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """The cause `refines` the effect: both say the same, and whoever knows more stays.

    Without it: incident host-too-many-open-files: CTR012 is read first.
    """
    return effect.entry.code in cause.entry.refines and scene.places.near(effect, cause)


def symptom_of_entry(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """The effect's entry names the cause's in `symptom_of`, and both can be of one scope.

    Without it: incident hccl-dispatch-561000-is-a-link: OPR003 is read first.
    """
    return any(
        edge.entry == cause.entry.code and scene.places.share(edge.scope, effect, cause)
        for edge in effect.entry.symptom_of
    )


def symptom_of_kind(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """The effect's entry names the kind of the cause, or a trait of it. Another symptom of that kind is no cause yet.

    Without it: incident mineru-kernel-exception-said-torch-npu-missing: ENV940 is a root.
    """
    return may_be_root(cause.entry) and _by_kind(effect, cause, scene) and not raised_below(effect, cause)


def general_beneath_precise(effect: Finding, cause: Finding, _: Scene) -> bool:
    """The effect `refines` the cause: the general form never explains the precise one.

    Without it: sample HCL113/plog: RTS883 is read first.
    """
    return cause.entry.code in effect.entry.refines


_NPU_SOFTWARE = frozenset({"torch_npu", "hccl", "npu_smi", "driver", "mindie"})  # domains whose entries speak of Ascend's own software


def without_an_npu_alone(effect: Finding, cause: Finding, _: Scene) -> bool:
    """That a log is of a machine without an NPU follows from nothing, and explains no remark and no user's error.

    What software of another vendor raised is no user's error to judge here, though.
    Without it: sample MEM022/cuda: NOT033 is put beneath NOT050.
    """
    if "elsewhere" in effect.entry.traits or "elsewhere" not in cause.entry.traits:
        return "elsewhere" in effect.entry.traits
    of_npus = "raises" in effect.entry.traits and "ends_job" not in effect.entry.traits  # a warning of what NPUs lack
    of_npus = of_npus or (effect.entry.domain in _NPU_SOFTWARE and effect.entry.severity == "warning")  # what it advises is for an NPU
    return not (is_error(effect.entry) or of_npus) and not ("foreign" in cause.entry.traits and guesses(effect.entry))


def general_beneath_what_failed(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What is only known in general (a code that stands for many faults) yields to an entry that knows what failed.

    Without it: incident order-general-beneath-missing-binary-llamacpp: TRN022 is a root.
    """
    return (
        effect.entry.general
        and not cause.entry.general
        and not is_vague(cause.entry)
        and may_be_root(cause.entry)
        and ends_job(cause.entry)
        and scene.places.near(effect, cause)
        and not well_after(cause, effect)
    )


def same_lines_better_known(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Two that rest on the same lines are one failure: who is surer of it tells it. Users' own entries are theirs to judge.

    Without it: sample OPR002/code: MNG081 is a root.
    """
    return (
        _one_failure(effect, cause, scene)
        and is_error(cause.entry)
        and SURER[cause.entry.confidence] > SURER[effect.entry.confidence]
    )


def same_lines_read_first(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Of two that are as sure, the one that is read first tells it: one line is never two roots.

    Without it: incident driver-pcie-aer-card-drop: DRV006 is a root.
    """
    as_grave = is_error(cause.entry) or not is_error(effect.entry)
    return _one_failure(effect, cause, scene) and as_grave and cause.entry.confidence == effect.entry.confidence


def _one_failure(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Do both tell what happened in the lines of the first?"""
    return (
        may_be_root(effect.entry)
        and may_be_root(cause.entry)
        and effect.entry.domain != "job"
        and effect.entry.layer == cause.entry.layer
        and not (cause.entry.general and names_a_fault(effect.entry))
        and scene.places.rests_on(effect, cause)
    )


# What is printed because something else failed


def cause_in_its_stream(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What only wraps or follows a failure belongs to the real cause of its own stream before any other.

    Without it: incident host-conntrack-table-full: DST020 is put beneath NOT033.
    """
    return (
        cause.entry.role == "cause"
        and _follows(effect, cause)
        and ends_job(cause.entry)
        and scene.places.near(effect, cause)
    )


def cause_or_neighbour(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Then to a cause elsewhere in the job, or to whatever says more in its own stream.

    Without it: simulated job aicore/11: RTS042 is put beneath RTS002.
    """
    return _follows(effect, cause) and (cause.entry.role == "cause" or scene.places.near(effect, cause))


def anything_that_says_more(effect: Finding, cause: Finding, _: Scene) -> bool:
    """Then to whatever else says more, wherever it stands.

    Without it: simulated job aicore/11: HCL085 is a root.
    """
    return _follows(effect, cause)


def after_the_stop(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Somebody stopped the program: what breaks from then on in the same stream only follows from its end.

    Without it: incident order-decoy-interrupt-then-context-gone: RTS019 is read first.
    """
    stands = effect.first.kind == "table"  # the state of a machine, which nobody's Ctrl-C brings about
    return (
        "stopped" in cause.entry.traits
        and not stands
        and scene.places.near(effect, cause)
        and not_later(cause, effect)
    )


def symptom_nearer_to_the_origin(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Of two symptoms the one whose entry names the other's kind folds beneath it, while no cause is known.

    Without it: sample PTA604/form-2: RTS029 is a root.
    """
    return (
        effect.entry.role == cause.entry.role == "symptom"
        and effect.entry.kind != cause.entry.kind
        and _by_kind(effect, cause, scene)
        and not symptom_of_entry(cause, effect, scene)
    )


# What order, nearness and the job only suggest


def two_roots_of_the_job(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Chains of waiting end at both: two faults, however near they stand to each other.

    Without it: simulated job oom/21/hidden: JOB001 is read first.
    """
    order = scene.story.order
    a, b = order.get(effect.entry.code), order.get(cause.entry.code)
    return a is not None and b is not None and a != b


def machine_without_an_npu(_: Finding, cause: Finding, __: Scene) -> bool:
    """The log is of a machine that has no NPU: whatever looks like a fault of one is none.

    Without it: incident order-decoy-gpu-machine-old-transformers: VER022 is read first.
    """
    return "elsewhere" in cause.entry.traits


def ambiguous_after_a_cause(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What may be a cause yields to what is one and stands earlier in the same stream.

    Without it: incident npu-smi-over-temperature: SMI002 is a root.
    """
    return (
        effect.entry.role == "ambiguous"
        and cause.entry.role == "cause"
        and ends_job(cause.entry)
        and scene.places.near(effect, cause)
        and not_later(cause, effect)
    )


def shape_of_a_job(effect: Finding, cause: Finding, _: Scene) -> bool:
    """What only the shape of a job suggests yields to what a line says; a mere suggestion even to an ambiguous line.

    Without it: incident hccl-init-virbr-on-third-node: JOB010 is read first.
    """
    return (
        effect.entry.domain == "job"
        and cause.entry.domain != "job"
        and ends_job(cause.entry)
        and (cause.entry.role == "cause" or (cause.entry.role == "ambiguous" and effect.entry.confidence == "low"))
    )


def long_before_the_root(effect: Finding, cause: Finding, _: Scene) -> bool:
    """An attempt that was restarted failed on its own, even if no line tells of the restart.

    Without it: incident order-restart-untold-after-error-cqe: HCL055 is read first.
    """
    return long_before(effect, cause)


def downstream_of_the_root(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """What is printed because a peer is gone follows from the root of a job, wherever it stands.

    Without it: simulated job node-down/12: HCL004 is a root.
    """
    return (
        cause.entry.code in scene.story.order
        and effect.entry.role == "ambiguous"
        and "downstream" in effect.entry.traits
    )


RULES: tuple[Rule, ...] = (
    Rule(only_in_harmless_lines, EXPLAINS),
    Rule(finished_all_the_same, EXPLAINS),
    Rule(came_up_all_the_same, EXPLAINS),
    Rule(harmless_lines_explain_nothing, KEEPS_APART),
    Rule(started_again, KEEPS_APART),
    Rule(said_more_precisely, EXPLAINS),
    Rule(symptom_of_entry, EXPLAINS),
    Rule(symptom_of_kind, EXPLAINS),
    Rule(general_beneath_precise, KEEPS_APART),
    Rule(without_an_npu_alone, KEEPS_APART),
    Rule(general_beneath_what_failed, EXPLAINS),
    Rule(words_beside_a_code, EXPLAINS),
    Rule(code_explains_no_words, KEEPS_APART),
    Rule(guess_at_a_known_line, EXPLAINS),
    Rule(knows_the_guessed_line, KEEPS_APART),
    Rule(same_lines_better_known, EXPLAINS),
    Rule(read_from_words, EXPLAINS),
    Rule(vague_words_explain_no_symptom, KEEPS_APART),
    Rule(cause_in_its_stream, EXPLAINS),
    Rule(cause_or_neighbour, EXPLAINS),
    Rule(anything_that_says_more, EXPLAINS),
    Rule(after_the_stop, EXPLAINS),
    Rule(symptom_nearer_to_the_origin, EXPLAINS),
    Rule(two_roots_of_the_job, KEEPS_APART),
    Rule(machine_without_an_npu, EXPLAINS),
    Rule(ambiguous_after_a_cause, EXPLAINS),
    Rule(shape_of_a_job, EXPLAINS),
    Rule(long_before_the_root, KEEPS_APART),
    Rule(same_lines_read_first, EXPLAINS),
    Rule(downstream_of_the_root, EXPLAINS),
)


def _by_kind(effect: Finding, cause: Finding, scene: Scene) -> bool:
    return any(
        edge.kind and edge.kind == cause.entry.kind and scene.places.share(edge.scope, effect, cause)
        for edge in effect.entry.symptom_of
    )


def _follows(effect: Finding, cause: Finding) -> bool:
    """A wrapper follows from anything that says more than that all goes on, a symptom from what may be a cause and ends a job."""
    if effect.entry.role == "wrapper":
        return tells(cause.entry) and cause.entry.severity != "info"
    may_follow = effect.entry.role == "symptom" and may_be_root(cause.entry) and ends_job(cause.entry)
    return may_follow and not raised_below(effect, cause)
