"""What a face draws: one neutral document, put together once. Every text in it is in the reader's language.

A part of a fix that is new is put into these blocks by `compose`, and every face shows it: faces know no fields of a fix,
only what can be pasted and the notes that stand with it.
"""

from __future__ import annotations

from parsers.named import NamedTuple


class Target(NamedTuple):
    """Where a link leads: an entry, a code, a variable, a card, a finding; or a place in a log."""

    kind: str  # entry | code | variable | card | finding | place
    id: str


class Prose(NamedTuple):
    """Sentences; the label is for faces that write all in labelled lines."""

    text: str
    label: str = ""


class Pair(NamedTuple):
    """A fact with its name."""

    label: str
    text: str


class Bullet(NamedTuple):
    text: str


class Listed(NamedTuple):
    """Several short texts of one kind."""

    label: str
    texts: tuple[str, ...]


class Pattern(NamedTuple):
    """What is looked for in lines, as its author wrote it."""

    text: str


class Evidence(NamedTuple):
    """A place in a log and its text."""

    path: str
    line: int
    text: str
    time: str
    matched: str = ""  # the part of the text by which it was found


class Decoded(NamedTuple):
    """A code as it was written, and what it means."""

    code: str
    name: str
    meaning: str

    @property
    def told(self) -> str:
        return f"{self.code} = {' '.join(part for part in (self.name, self.meaning) if part)}"


class Command(NamedTuple):
    """What can be pasted, and what to know before: why, what it changes, what to mind. `undo`: takes back the one before."""

    run: str
    notes: tuple[str, ...] = ()
    undo: bool = False
    looks: bool = False  # it changes nothing


class Code(NamedTuple):
    text: str
    lang: str
    note: str = ""
    old: bool = False  # how it was: nothing to paste


FixPart = Bullet | Command | Code


class Fix(NamedTuple):
    """One way out: its parts in the order in which to follow them."""

    goal: str
    title: str
    notes: tuple[str, ...]
    parts: tuple[FixPart, ...]

    aside: str = ""  # goal and risk in words, however low

    @property
    def pasted(self) -> tuple[FixPart, ...]:
        """What of it mends as it stands, when it is pasted: what only looks, and sentences, do not."""
        return tuple(p for p in self.parts if (isinstance(p, Command) and not p.looks and not p.undo) or (isinstance(p, Code) and not p.old))

    @property
    def headline(self) -> str:
        """Its title, and what to know before it is tried."""
        return f"{self.title} ({'; '.join(self.notes)})" if self.notes else self.title


class Link(NamedTuple):
    """Something else that can be looked up; with how often it was seen, how near it is, the rule that led there."""

    target: Target
    text: str
    aside: str = ""
    rule: str = ""


class Relation(NamedTuple):
    """What stands in one relation to an entry: as the entry says it (entries, kinds), and all that it comes to."""

    label: str
    said: tuple[str, ...]
    links: tuple[Link, ...]
    more: int  # links that are left out


class Reference(NamedTuple):
    title: str
    url: str


Block = (
    Prose | Pair | Bullet | Listed | Pattern | Evidence | Decoded | Command | Code | Fix | Link | Relation | Reference
)


class Section(NamedTuple):
    """Blocks of one purpose; `name` is for faces that leave some out or treat them in their own way."""

    name: str
    label: str
    blocks: tuple[Block, ...]
    aside: str = ""  # what is said of all of them


class Seat(NamedTuple):
    """A rank in the grid of a job."""

    name: str  # "rank 3"; empty where a node has nobody at this place
    mark: str  # failed | waits | silent | absent | fine; empty where nobody is
    said: str  # the same in words: "rank 3 waited for rank 28"


class GridRow(NamedTuple):
    """A node, or several whose ranks ended alike; the seats stand beneath the columns of the grid."""

    nodes: tuple[str, ...]
    seats: tuple[Seat, ...]


class Grid(NamedTuple):
    """Nodes by ranks, with a mark for each: the picture of a job. `legend` tells the marks that occur."""

    columns: int
    rows: tuple[GridRow, ...]
    legend: tuple[tuple[str, str], ...]  # mark, and what it is called


class Group(NamedTuple):
    """Processes of a job that did the same: one row, however many they are."""

    processes: int
    state: str  # "waiting for rank 28"
    ranks: str  # "0-27, 29-62"
    mark: str
    said: str  # "62 ranks waited for rank 28"


class Lane(NamedTuple):
    """A group on the line of time, in seconds since the beginning of the job, clocks set right as far as they are known."""

    said: str
    mark: str
    begin: float
    end: float


class Event(NamedTuple):
    """Something that happened, by the clock of its node and how far that is ahead."""

    time: str
    node: str
    ahead: float
    text: str
    at: float  # seconds since the beginning of the job
    mark: str  # failed | waits


class Job(NamedTuple):
    """Many processes: where it began in sentences, who ended how, who has no log, what happened when."""

    head: str
    told: tuple[str, ...]  # sentences, the most telling first
    groups: tuple[Group, ...]
    missing: Group | None
    clocks: str
    events: tuple[Event, ...]
    grid: Grid
    lanes: tuple[Lane, ...]
    seconds: float  # how long the line of time is


class Document(NamedTuple):
    """A finding, an unexplained error, an entry, a code, a variable, a card."""

    code: str
    title: str
    facts: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    def section(self, name: str) -> Section:
        """The section of that name; an empty one when there is none."""
        return next((s for s in self.sections if s.name == name), Section(name, "", ()))

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return tuple(b for s in self.sections for b in s.blocks if isinstance(b, Fix))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(b for b in self.section("evidence").blocks if isinstance(b, Evidence))


def pasted(fix: Fix) -> str:
    """What of a fix can be pasted: variables and commands, else its code."""
    rows = [p.run for p in fix.parts if isinstance(p, Command) and not p.undo]
    return "\n".join(rows or [p.text for p in fix.parts if isinstance(p, Code) and not p.old])
