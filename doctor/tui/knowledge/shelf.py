"""What the knowledge browser lists: the tree with its counts, and the rows that a search and facets leave. No terminal."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

from doctor.base.words import named, word
from doctor.lookup.backlinks import Backlinks
from doctor.lookup.search import Index
from doctor.render.document import Target
from doctor.tui.knowledge.cards import card
from doctor.tui.shell.doc import Doc
from kb.knowledge import Brief, Knowledge
from kb.model import SEVERITIES, Text
from parsers.named import NamedTuple

MAX_FOUND = 200


class Facets(NamedTuple):
    """What is asked for. `node` is a node of the tree: "", a domain, "domain/kind", "codes/family", "variables/component"."""

    node: str = ""
    severity: str = ""
    component: str = ""
    text: str = ""


class Node(NamedTuple):
    """A node of the tree."""

    key: str
    label: str
    size: int
    depth: int
    parent: bool


class Item(NamedTuple):
    """A row of the list."""

    target: Target
    severity: str
    title: Text
    group: str


class Shelf:
    """All that can be browsed. The list of entries is there at once; the rest is read by `warm`, or when asked for."""

    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.briefs: dict[str, Brief] = {b.code: b for b in known.catalog()}
        self.entries = tuple(
            Item(Target("entry", b.code), b.severity, b.title, f"{b.domain}/{b.kind}") for b in self.briefs.values()
        )
        self._totals: dict[str, int] = {}
        self._index: Index | None = None
        self._backlinks: Backlinks | None = None

    @property
    def ready(self) -> bool:
        """Whether it can be searched."""
        return self._index is not None and self._backlinks is not None

    def warm(self) -> None:
        """Reads everything that takes longer than a key press may; for a thread."""
        index = Index(self.known)
        index.search("507018 zzzz")  # the first search imports what searching needs
        self._index = index
        self._backlinks = Backlinks(self.known)
        _ = self.codes, self.variables, self.cards

    @cached_property
    def codes(self) -> tuple[Item, ...]:
        rows = sorted(self._code_rows, key=lambda r: (str(r.get("family", "")), str(r["code"])))
        return tuple(
            Item(Target("code", f"{r['code']}@{r.get('family', '')}"), "", _text(r["meaning"], str(r.get("name") or "")), f"codes/{r.get('family', '')}")
            for r in rows
        )  # fmt: skip

    @cached_property
    def _code_rows(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.known.all_codes())

    @cached_property
    def _families(self) -> dict[str, Text]:
        return {str(r.get("family", "")): _text(r.get("family_title")) for r in self._code_rows}

    @cached_property
    def variables(self) -> tuple[Item, ...]:
        rows = ((name, self.known.variable(name) or {}) for name in sorted(self.known.variables()))
        return tuple(
            Item(Target("variable", name), "", _text(row.get("purpose")), f"variables/{row.get('component', '')}")
            for name, row in rows
        )

    @cached_property
    def cards(self) -> tuple[Item, ...]:
        rows = ((code, self.known.card(code) or {}) for code in sorted(self.known.cards()))
        return tuple(Item(Target("card", code), "", _text(row.get("title")), "cards/") for code, row in rows)

    def components(self, node: str = "") -> list[str]:
        """Components by how many entries they have."""
        count = Counter(self.briefs[i.target.id].component for i in self.entries if _within(i, node))
        return [name for name, _ in count.most_common()]

    def severities(self) -> list[str]:
        return [s for s in SEVERITIES if any(i.severity == s for i in self.entries)]

    def tree(self, lang: str, opened: frozenset[str] = frozenset()) -> list[Node]:
        """The nodes that are seen when those in `opened` are unfolded."""
        nodes = [Node("", word("all", lang), len(self.entries), 0, False)]
        groups = Counter(i.group.partition("/")[0] for i in self.entries)
        for name in sorted(groups):
            nodes.append(Node(name, named("domain", name, lang), groups[name], 0, True))
            if name in opened:
                kinds = Counter(i.group.partition("/")[2] for i in self.entries if _within(i, name))
                nodes += [
                    Node(f"{name}/{k}", self.known.kind_title(k).pick(lang), n, 1, False)
                    for k, n in sorted(kinds.items(), key=lambda p: (-p[1], p[0]))
                ]
        sizes = (
            ("codes", self.known.count_codes()),
            ("variables", len(self.known.variables())),
            ("cards", len(self.known.cards())),
        )
        for name, size in sizes:
            if not size:
                continue
            nodes.append(Node(name, word(f"tree-{name}", lang), size, 0, name != "cards"))
            if name in opened and name != "cards":
                count = Counter(i.group.partition("/")[2] for i in (self.codes if name == "codes" else self.variables))
                nodes += [
                    Node(f"{name}/{g}", self._label(name, g, lang), n, 1, False) for g, n in sorted(count.items())
                ]
        return nodes

    def _label(self, name: str, group: str, lang: str) -> str:
        title = self._families.get(group) if name == "codes" else None
        return (title.pick(lang) if title else "") or group or "-"

    def items(self, facets: Facets) -> list[Item]:
        """The rows, the best first when a text is typed."""
        if facets.text.strip():
            return self._found(facets)
        top = facets.node.partition("/")[0]
        pool = getattr(self, top) if top in ("codes", "variables", "cards") else self.entries
        return [i for i in pool if _within(i, facets.node) and self._fits(i, facets)]

    def _found(self, facets: Facets) -> list[Item]:
        found: list[Item] = []
        seen: set[Target] = set()
        for one in self._index.search(facets.text, MAX_FOUND) if self._index else ():
            target = Target(one.kind, one.id)
            if target in seen:
                continue
            seen.add(target)
            brief = self.briefs.get(one.id) if one.kind == "entry" else None
            group = (
                f"{brief.domain}/{brief.kind}"
                if brief
                else {"code": "codes/", "variable": "variables/"}.get(one.kind, "cards/")
            )
            item = Item(target, brief.severity if brief else "", one.title, group)
            if self._fits(item, facets) and (not facets.node or _within(item, facets.node) or group.endswith("/")):
                found.append(item)
        return found

    def _fits(self, item: Item, facets: Facets) -> bool:
        if item.target.kind != "entry":
            return not (facets.severity or facets.component)
        brief = self.briefs[item.target.id]
        return facets.severity in ("", brief.severity) and facets.component in ("", brief.component)

    def total(self, facets: Facets) -> int:
        """How many there are without search and facets."""
        if facets.node not in self._totals:
            self._totals[facets.node] = len(self.items(Facets(facets.node)))
        return self._totals[facets.node]

    def card(self, target: Target, lang: str) -> Doc:
        """The card of it; until all is read, without what names it elsewhere."""
        return card(self.known, target, lang, self._backlinks)

    def title(self, item: Item, lang: str) -> str:
        return item.title.pick(lang)


def next_choice(present: str, choices: list[str]) -> str:
    """The choice after the present one; after the last comes none."""
    wheel = ["", *choices]
    return wheel[(wheel.index(present) + 1) % len(wheel)] if present in wheel else ""


class ShelfKeeper:
    """An application that keeps what can be browsed, for all its screens."""

    shelf: Shelf | None = None


def _within(item: Item, node: str) -> bool:
    return not node or item.group == node or item.group.startswith(node + "/")


def _text(value: object, name: str = "") -> Text:
    if isinstance(value, dict):
        lead = f"{name}: " if name else ""
        return Text(f"{lead}{value.get('en', '')}", f"{lead}{value.get('zh', '')}")
    return Text(name, name)
