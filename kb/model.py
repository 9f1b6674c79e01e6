"""The shape of the knowledge, as the rest of the program sees it.

Everything is a NamedTuple: thousands of signals are made at start-up, and a tuple is built ten times as fast as a
frozen dataclass. `None` means "the entry does not say".
"""

from __future__ import annotations

from typing import Literal, Union, get_args

from parsers.named import NamedTuple

SEVERITIES = ("fatal", "error", "warning", "info")
ROLES = ("cause", "ambiguous", "symptom", "wrapper", "noise")
STATUSES = ("draft", "stable", "deprecated")
CONFIDENCES = ("high", "medium", "low")
SAMES = ("source", "process", "rank", "device", "node", "job")
SCOPES = ("process", "device", "rank", "node", "job")
GOALS = ("locate", "mitigate", "resolve")
RISKS = ("low", "medium", "high")
LINE_KINDS = ("plog", "message", "traceback", "launcher", "kernel", "shell", "text")
TABLES = (
    "npu-smi.chip", "npu-smi.process", "npu-smi.summary", "key-value", "ps", "kube.event", "kube.container", "session", "job", "hang", "memory", "serving", "stack",
    "meaning.memory", "meaning.import", "meaning.refusal", "meaning.limit", "meaning.missing", "meaning.permission", "meaning.timeout",
    "meaning.unsupported", "meaning.rule", "meaning.failure", "meaning.build", "meaning.figures",
)  # fmt: skip
# Why no script can show a fault; `doctor/base/words/repro.py` has the sentences.
NO_SCRIPT = ("other-framework", "own-kernel", "conversion", "follows", "whole-program", "installation", "media")
# Leaves that ask rows, of tables or of exceptions: no literal announces them.
ROW_FORMS = ("fields", "raised")
RAISED = "raised"  # the table of exceptions, as `parsers/raised.py` reads them
# A fact's signals are called "fact:comm-entry/0": no entry has such a code.
FACT_PREFIX = "fact:"
# What tells the situation: "situation:cann=/3.0", "situation:activity=training/7.1" (the fact, its value when it is a constant).
SITUATION = "situation:"
# What texts and advice may depend on: facts of the situation. Of the others a version is asked for by its bounds: ">=8.0 <8.2".
SITUATION_FACTS = (
    "chip", "stack", "framework", "activity", "program", "machine",
    "cann", "driver", "torch_npu", "torch", "python", "vllm_ascend", "vllm", "mindspore", "transformers", "deepspeed", "opset", "progress", "seen",
    "launcher", "cards", "numbering", "ranks", "processes", "held", "npus", "kubernetes", "cpu", "model", "lacking", "ray_npus", "ray_gpus", "ray_use", "option", "variable", "idle", "mended", "place", "pair", "driver_pair", "cann_pair", "image_pair", "npu", "split", "shm", "worked", "listed",
)  # fmt: skip
# Not of the situation: what a leaf of the entry itself captured. "said.allowed" asks for the capture {allowed}.
SAID = "said."
UNSAID = "unsaid"  # of such a capture: that no leaf has it


# What kinds of faults have in common, as far as it decides what explains what. `kinds.yaml` tells which kind has which.
Trait = Literal[
    "ends_job",  # a job ends of it, be it an NPU's fault or not: it explains what the job printed while dying
    "downstream",  # printed because a peer is gone: no beginning while another process has a fault of its own
    "shared",  # several processes show it together: which of them is the odd one, the waits tell
    "raises",  # the program that meets it raises an exception of its own
    "of_program",  # an exception of the calling program: below a failed call it only follows from that
    "stopped",  # somebody stopped the program: what breaks from then on only follows
    "foreign",  # such a machine, and of a vendor whose messages this tool does not know: a guess at them helps nobody
    "elsewhere",  # the log is of a machine without an NPU: whatever looks like a fault of one is none
    "finished",  # what was started came to its end: doubts that are told on the way were no fault
    "before_device",  # keeps a program from reaching the device at all
    "device_works",  # weights lie on the device, or its processes joined: whatever keeps a program from that did not happen
    "overcome",  # the lines of a failed run that a later one of the same command did not repeat: what they tell is past
    "came_up",  # the service is ready, or a step was trained: what would have kept it from that did not happen
    "restarts",  # a launcher starts the workers again: another attempt begins
    "mended_in_code",  # the calling program has to change
    "mended_by_reset",  # the card has to be reset
    "mended_by_hardware",  # a card, a cable, a switch has to be looked at, and replaced if it fails
    "mended_upstream",  # those who maintain the software have to mend it
    "installed",  # it lies in what is installed or in the kind of the chip: no state of a card brings it about
    "recorded",  # machines keep records of it that outlive the job: what has another date, or none, may be of another time
]
TRAITS: tuple[Trait, ...] = get_args(Trait)


class Text(NamedTuple):
    """One text in the two languages of the product."""

    en: str
    zh: str

    def pick(self, lang: str) -> str:
        return self.zh if lang == "zh" else self.en

    def json(self) -> dict[str, str]:
        return {"en": self.en, "zh": self.zh}

    def then(self, other: Text | None) -> Text:
        """Both, as sentences one behind the other."""
        return self if other is None else Text(f"{self.en}. {other.en}", f"{self.zh}。{other.zh}")


NOTHING = Text("", "")
# What frameworks are told in words of their own: slots of texts, see `frameworks.yaml`.
PHRASES = ("graphs_off", "less_memory", "update")


class Framework(NamedTuple):
    """Software that a log may be of; "" where nothing is said of it."""

    name: str
    title: str
    stack: str  # what its calls to CANN come from
    does: str  # an activity
    program: str
    beneath: bool  # stands in the logs of many others
    phrases: tuple[tuple[str, Text], ...]


class Kind(NamedTuple):
    """A kind of fault: what it is called, and what it has in common with others."""

    title: Text
    traits: tuple[Trait, ...]


class Filter(NamedTuple):
    """One kind of line that a leaf accepts; empty parts accept anything."""

    kind: str
    modules: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Signal(NamedTuple):
    """One leaf of an entry, ready to be looked for: at least one of `anchors` stands in every text it can match."""

    id: str  # "HCL003/2": the entry's code and the leaf's number
    form: str  # text | regex | code | exit | fields | raised | situation
    pattern: str  # a regex; for form "text" the literal itself
    anchors: tuple[str, ...]
    lines: int  # how many further lines the pattern may run over
    filters: tuple[Filter, ...]
    table: str  # whose rows are asked, for a form of ROW_FORMS
    where: tuple[tuple[str, str], ...]
    trusted: bool  # built-in knowledge: compiled with `re`; else `regex` with a time limit
    fragments: tuple[str, ...] = ()  # one for each anchor: a short piece of it that is rare in ordinary logs; of a situation: what stands in its matches
    claims: bool = True  # False beneath `not`: what rules an entry out explains no line
    options: tuple[tuple[str, ...], ...] = ()  # of a regex that was just read: every set of anchors that it can be looked for by, until one is chosen

    @property
    def entry(self) -> str:
        return self.id.partition("/")[0]


# A condition is a leaf's number, or a group: ("all" | "any" | "not", members).
Condition = Union[int, tuple[str, tuple["Condition", ...]]]


class Edge(NamedTuple):
    """A relation, kept at the effect: the target is an entry or every entry of a kind. One by trait is an edge for each kind."""

    entry: str
    kind: str
    scope: str


class EnvFix(NamedTuple):
    name: str
    value: str
    scope: str
    undo: str
    caution: Text | None


class Command(NamedTuple):
    run: str
    changes: Text | None  # None: changes nothing
    why: Text | None


class CodeFix(NamedTuple):
    lang: str
    before: str
    after: str


# Facts, each with the values it may have: all of them must hold, of each fact one value.
When = tuple[tuple[str, tuple[str, ...]], ...]


class Fix(NamedTuple):
    goal: str
    risk: str
    title: Text
    steps: tuple[Text, ...]
    env: tuple[EnvFix, ...]
    commands: tuple[Command, ...]
    code: CodeFix | None
    when: When = ()


class Variant(NamedTuple):
    """What an entry says instead where a fact decides between its causes; None and () leave what the entry says."""

    when: When
    title: Text | None
    cause: Text | None
    fixes: tuple[Fix, ...]
    role: str = ""  # where the fact turns what mostly follows into a cause
    confidence: str = ""


class Reference(NamedTuple):
    kind: str
    title: str
    url: str


class Sample(NamedTuple):
    """A text that an entry must match, or must not. Kept for tests; never shipped in the compiled form."""

    name: str
    text: str
    path: str
    expect: tuple[tuple[str, str], ...]


class Entry(NamedTuple):
    """One fault: how it shows, what it means, what to do."""

    code: str
    slug: str
    domain: str
    status: str
    severity: str
    role: str
    kind: str
    traits: tuple[Trait, ...]  # of its kind
    component: str
    confidence: str
    applies_to: tuple[tuple[str, str], ...]
    title: Text
    cause: Text
    condition: tuple[Condition, ...]  # every member must hold
    also: tuple[Condition, ...]  # leaves that never decide
    same: str
    within_s: float | None
    signals: tuple[Signal, ...]
    symptom_of: tuple[Edge, ...]
    refines: tuple[str, ...]
    general: bool  # it says what kind of thing failed, not what: a line nearer to the origin tells more
    caused_by: tuple[Edge, ...]
    fixes: tuple[Fix, ...]
    variants: tuple[Variant, ...]
    repro: tuple[str, tuple[tuple[str, str], ...]] | None
    references: tuple[Reference, ...]
    layer: str
    path: str
    match: tuple[Sample, ...] = ()
    no_match: tuple[Sample, ...] = ()
    no_repro: str = ""  # why no script can show it, a word of NO_SCRIPT

    @property
    def every_fix(self) -> tuple[Fix, ...]:
        """Those of the entry and those of its variants."""
        return (*self.fixes, *(fix for variant in self.variants for fix in variant.fixes))
