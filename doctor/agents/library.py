"""What the server offers beside its tools: the knowledge and the last reports as resources, and the usual questions as prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from doctor.agents.desk import Desk
from doctor.agents.reach import RefusedError
from doctor.agents.tools import MAX_ANSWER
from doctor.base.words import word
from doctor.explanation import look_up, text
from doctor.render import brief
from doctor.render.layout import Style
from parsers.named import NamedTuple

Json = dict[str, Any]
SCHEME = "npu-doctor://"
LONGEST_URI = 300
KINDS = {"entry": "entry", "code": "codes", "variable": "variable"}  # of an address, and where a look-up keeps them
PAGE = 50


class Item(NamedTuple):
    """A resource: its address, its title, what kind of text it is."""

    uri: str
    title: str
    form: str = "text/plain"


TEMPLATES = (
    Item(f"{SCHEME}entry/{{code}}", "an entry of the knowledge, such as RTS001"),
    Item(f"{SCHEME}code/{{code}}", "an error code, such as 507018"),
    Item(f"{SCHEME}variable/{{name}}", "an environment variable"),
    Item(f"{SCHEME}report/{{report}}/{{finding}}", "a finding of a report", "application/json"),
)


def items(desk: Desk) -> Iterator[Item]:
    """The last reports, the newest first, then every entry."""
    for held in reversed(desk.reports()):
        yield Item(f"{SCHEME}report/{held.id}", held.made["situation"]["line"][desk.lang] or held.made["verdict"])
    for one in desk.known.catalog():
        yield Item(f"{SCHEME}entry/{one.code}", one.title.pick(desk.lang))


def page(desk: Desk, cursor: str | None) -> tuple[list[Item], str | None]:
    """Some of them, and where to go on."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 7):
        raise RefusedError("this is no cursor of ours")
    first = int(cursor or 0)
    found = list(items(desk))
    return found[first : first + PAGE], str(first + PAGE) if len(found) > first + PAGE else None


def read(desk: Desk, uri: str) -> tuple[str, str]:
    """The text of a resource, and what kind of text it is."""
    if not uri.startswith(SCHEME) or len(uri) > LONGEST_URI:
        raise RefusedError("there is no such resource", ", ".join(one.uri for one in TEMPLATES))
    kind, *names = (unquote(part) for part in uri.removeprefix(SCHEME).split("/"))
    if kind == "report" and len(names) == 1:
        return brief.render(desk.held(names[0]).made, desk.lang, MAX_ANSWER), "text/plain"
    if kind == "report" and len(names) == 2:
        finding = next((f for f in desk.held(names[0]).made["findings"] if f["id"] == names[1]), None)
        if finding is not None:
            return json.dumps(finding, ensure_ascii=False, indent=1), "application/json"
    if kind in KINDS and len(names) == 1:
        found = look_up(names[0], desk.known)
        if found[KINDS[kind]]:
            only = {name: value if name == KINDS[kind] else [] if isinstance(value, list) else None for name, value in found.items()}
            return text(only, desk.known, desk.lang, Style(width=100)), "text/plain"
    raise RefusedError("there is no such resource", ", ".join(one.uri for one in TEMPLATES))


class Question(NamedTuple):
    """A prompt: its name and what has to be filled in."""

    name: str
    wants: tuple[str, ...]


QUESTIONS = (Question("why", ("paths",)), Question("explain", ("code",)), Question("compare", ("good", "bad")), Question("machine", ()))


def ask(desk: Desk, name: str, given: Mapping[str, str] | None) -> str:
    """The text of a prompt."""
    one = next((q for q in QUESTIONS if q.name == name), None)
    if one is None:
        raise RefusedError(f"there is no prompt '{name[:60]}'", f"prompts: {', '.join(q.name for q in QUESTIONS)}")
    values = {key: str((given or {}).get(key, ""))[:1000] for key in one.wants}
    if absent := [key for key, value in values.items() if not value.strip()]:
        raise RefusedError(f"the argument '{absent[0]}' is missing")
    return word(f"agents.prompt-text:{name}", desk.lang, **values)
