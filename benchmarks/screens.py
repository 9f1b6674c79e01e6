"""First screens that leave something open: `python -m benchmarks.screens [DIR...] [--show CASE]`.

Scans every case beneath the folders (a folder with `input.txt`, or with a folder `input`) and lists, for each first root, what a reader
who pastes from the first screen would stumble over:

slot     a default of the knowledge stands where the log might tell a value: `{name|default}`
fill     a word in capitals that the reader has to put in
look     nothing that can be pasted from the screen mends anything, although a fix of the entry has such a thing
prose    the fix is told and nothing can be pasted
dots     what is to be pasted has three dots in it
cut      the part of the line that decided does not stand on the screen whole
further  there is a second root
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from doctor.answer.report import report
from doctor.api import diagnose
from doctor.render import compact
from doctor.render.call import Call
from doctor.render.harmless import to_fill_in
from doctor.render.layout import Style
from kb.knowledge import Knowledge, load
from kb.model import CodeFix, Entry, Fix
from kb.placeholders import names, told

HERE = Path(__file__).resolve().parent
ROOTS = (HERE / "incidents", HERE.parent / "tests" / "data" / "incidents")
WIDTH = 100
_CODE_FILL = re.compile(r"(?<![\w$\-./{\[|\\%:@'\"#])(?:MODEL(?:_PATH|_DIR|_NAME)?|IMAGE|VERSION|NPU_ID|[A-Z]+_(?:PATH|DIR|ID|IP|NAME|PORT|FILE|SHAPE))\b(?![=(\w])")


class Case(NamedTuple):
    """Where the logs of an incident are, and what it is called."""

    name: str
    logs: tuple[Path, ...]
    decoy: bool


class Flaw(NamedTuple):
    kind: str
    what: str


def cases(folders: tuple[Path, ...]) -> Iterator[Case]:
    """Every incident beneath the folders, in order."""
    for folder in folders:
        for place in sorted({found.parent for found in folder.rglob("input*")}):
            logs = tuple(sorted(place.glob("input*")))
            if not any((above / "input").is_dir() for above in place.parents if above != folder):
                yield Case(str(place.relative_to(folder.parent)), logs, _is_decoy(place))


def _is_decoy(place: Path) -> bool:
    label = place / "label.json"
    return "decoy" in place.name or (label.is_file() and bool(json.loads(label.read_text(encoding="utf-8")).get("decoy")))


def flaws(made: dict[str, Any], screen: str, knowledge: Knowledge) -> Iterator[Flaw]:
    """What is left open of the first root."""
    roots = [f for f in made["findings"] if f["role"] == "root" and f["severity"] != "info"]
    if not roots or made["decisive"] is not None:
        return
    first = roots[0]
    fixes = first["fixes"]
    shown = fixes[first["first_fix"]] if first["first_fix"] is not None else None
    yield from (Flaw("further", f["id"]) for f in roots[1:])
    entry = knowledge.entry(first["id"])
    yield from (Flaw("slot", slot) for slot in _defaults(entry, screen))
    if shown is None:
        yield Flaw("prose", "no fix")
        return
    runs = [e["value"] for e in shown["env"]] + [c["run"] for c in shown["commands"]]
    code = (shown.get("code") or {}).get("after", "")
    for run in runs:
        yield from (Flaw("fill", word) for word in to_fill_in(run))
        if "..." in run:
            yield Flaw("dots", run)
    yield from (Flaw("fill", word) for word in dict.fromkeys(_CODE_FILL.findall(code)))
    if re.search(r"(?m)^(?!\s*#).*(?<!\w)\.\.\.(?!\w)", code):
        yield Flaw("dots", code.split("\n")[0])
    flat = "".join(screen.split())
    able = [fix for fix in fixes if fix["goal"] != "locate" and _mends(fix)]
    if not any("".join(row.split()) in flat for fix in able for row in _pasted(fix)):
        yield Flaw("look" if able else "prose", ", ".join(fix["title"]["en"] for fix in able[:2]) or shown["title"]["en"])
    for one in first["evidence"]:
        if f"{one['path']}:{one['line']}" in flat and (matched := one["matched"].split("\n")[0]) and "".join(matched.split()) not in flat:
            yield Flaw("cut", matched[:160])


def _pasted(fix: dict[str, Any]) -> Iterator[str]:
    yield from (e["value"] for e in fix["env"])
    yield from (c["run"] for c in fix["commands"] if c["changes"])
    yield from (fix.get("code") or {}).get("after", "").split("\n")[:1]


def _mends(fix: dict[str, Any]) -> bool:
    return bool(fix["env"] or fix.get("code") or any(c["changes"] for c in fix["commands"]))


def _defaults(entry: Entry, screen: str) -> Iterator[str]:
    """Slots whose default stands on the screen, with what is around it in the knowledge."""
    flat = " ".join(screen.split())
    for text in _texts(entry):
        for name, default in names(text):
            if default and told(default):
                at = text.find(f"{{{name}|{default}}}")
                before = re.split(r"[{}]", text[:at])[-1][-12:]
                after = re.split(r"[{}\n]", text[at + len(name) + len(default) + 3 :])[0][:12]
                if at >= 0 and " ".join(f"{before}{default}{after}".split()) in flat:
                    yield f"{name}|{default}"


def _texts(entry: Entry) -> Iterator[str]:
    yield entry.title.en
    yield entry.cause.en
    for one in (entry, *entry.variants):
        for text in (one.title, one.cause):
            if text is not None:
                yield text.en
        for fix in one.fixes:
            yield from _of_fix(fix)


def _of_fix(fix: Fix) -> Iterator[str]:
    yield fix.title.en
    yield from (step.en for step in fix.steps)
    yield from (e.value for e in fix.env)
    for command in fix.commands:
        yield command.run
        yield from (text.en for text in (command.why, command.changes) if text is not None)
    code: CodeFix | None = fix.code
    if code is not None:
        yield code.after


def main() -> None:
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folders", nargs="*", type=Path, default=ROOTS)
    asked.add_argument("--show", action="append", default=[], help="print the screens of cases whose name has this in it")
    asked.add_argument("--kind", action="append", default=[], help="only this kind of flaw")
    args = asked.parse_args()
    knowledge, times, seen = load(), Counter[str](), 0
    for case in cases(tuple(args.folders)):
        if case.decoy:
            continue
        seen += 1
        made = report(diagnose([str(p) for p in case.logs], knowledge=knowledge), knowledge)
        screen = compact.render(made, "en", Style(width=WIDTH), Call(("LOGS",)))
        found = list(dict.fromkeys(flaws(made, screen, knowledge)))
        times.update({flaw.kind for flaw in found})
        first = next((f["id"] for f in made["findings"] if f["role"] == "root"), "-")
        for kind, what in found:
            if not args.kind or kind in args.kind:
                print(f"{kind:8}{first:8}{case.name:60} {' '.join(what.split())}")
        if any(part in case.name for part in args.show):
            print(screen)
    print(f"{seen} incidents; " + ", ".join(f"{kind}: {n}" for kind, n in times.most_common()))


if __name__ == "__main__":
    main()
