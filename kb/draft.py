"""A line of a log to the draft of an entry: the leaf around its rare words, captures, a sample and a near counter-example."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from kb import fragments
from parsers.named import NamedTuple

LEAST = 8  # letters of fixed text that an own leaf is looked for by
MOST_FIXED, MOST_CAPTURES = 90, 3
TO_WRITE = "TO WRITE"  # stands where only a person can write; the linter asks for it

_VARIABLE = re.compile(
    r"0[xX][0-9a-fA-F]+|'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|(?<![\w.])/[\w./+-]{2,200}|(?<![\w.])[\d.]*\d(?:[:-]\d+)*(?!\w)|\b(?=\w*\d)[0-9a-f-]{8,}\b"
)
_FORMS = ((r"0[xX]", r"0[xX][0-9a-fA-F]{1,16}"), ("'", r"'[^']{1,200}'"), ('"', r'"[^"]{1,200}"'), ("/", r"/\S{1,200}"), (r"\d+$", r"\d+"))
# What a line says when all is well: the nearest thing that is no fault.
_WELL = (
    (r"\bfailed\b", "succeeded"), (r"\bfailure\b", "success"), (r"\bfail\b", "succeed"), (r"\bcannot\b", "can"), (r"\bcan't\b", "can"),
    (r"\bunable to\b", "able to"), (r"\bnot found\b", "found"), (r"\binvalid\b", "valid"), (r"\bunsupported\b", "supported"),
    (r"\bnot supported\b", "supported"), (r"\bmissing\b", "present"), (r"\brefused\b", "accepted"), (r"\b(?:timed out|timeout)\b", "in time"),
    (r"\babnormal\b", "normal"), (r"\berror\b", "no error"),
)  # fmt: skip
_CLEAN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


_HEAD = re.compile(r"^\[[A-Z]{2,9}\] ?\w{1,20}\([^)]{0,80}\): ?\S{10,40} (?:\[[^\]]{1,200}\] ?)?(?:\[?\d{1,10}\]? ?)?")


def message(text: str) -> str:
    """What a line says, without the head of CANN's logs: time, process and place differ in every line."""
    return _HEAD.sub("", _CLEAN.sub("", text), count=1).strip()


class Leaf(NamedTuple):
    """What to look for: a literal, or a pattern with what it captures of the line."""

    form: str  # text | regex
    pattern: str
    captures: tuple[tuple[str, str], ...]


class Like(NamedTuple):
    """What the nearest known entry says of itself: a guess that a person looks at."""

    code: str
    kind: str
    component: str


def leaf(message: str) -> Leaf | None:
    """The rarest fixed words of a message with the values beside them; None when nothing in it is rare."""
    parts = _parts(message)
    fixed = [number for number, (variable, text) in enumerate(parts) if not variable and _letters(text) >= LEAST and _rare(text)]
    if not fixed:
        return None
    middle = max(fixed, key=lambda number: (min(_letters(parts[number][1]), 40), -number))
    begin, end = _around(parts, middle)
    chosen = parts[begin:end]
    if not any(variable for variable, _ in chosen):
        return Leaf("text", chosen[0][1].strip(), ())
    return _with_captures(chosen)


def _parts(message: str) -> list[tuple[bool, str]]:
    """The message in fixed texts and values, in turn."""
    found: list[tuple[bool, str]] = []
    at = 0
    for match in _VARIABLE.finditer(message):
        if match.start() > at:
            found.append((False, message[at : match.start()]))
        found.append((True, match[0]))
        at = match.end()
    return [*found, (False, message[at:])] if at < len(message) else found


def _letters(text: str) -> int:
    return sum(c.isalpha() for c in text)


def _rare(text: str) -> bool:
    pieces = [text[at : at + fragments.LENGTH] for at in range(max(1, len(text) - fragments.LENGTH + 1))]
    return min(map(fragments.count, pieces)) <= fragments.COMMON


def _around(parts: Sequence[tuple[bool, str]], middle: int) -> tuple[int, int]:
    """The parts beside the rare one, as long as the pattern stays short; a fixed text stands at both ends."""
    begin, end = middle, middle + 1
    length, values = len(parts[middle][1]), 0
    for step in (1, -1):
        while values < MOST_CAPTURES:
            value, beyond = (end, end + 1) if step == 1 else (begin - 1, begin - 2)
            if not 0 <= value < len(parts) or not parts[value][0]:
                break
            last = not 0 <= beyond < len(parts)
            if not last and length + len(parts[beyond][1]) > MOST_FIXED:
                break
            values, length = values + 1, length + (0 if last else len(parts[beyond][1]))
            begin, end = (begin, end + (1 if last else 2)) if step == 1 else (begin - (1 if last else 2), end)
    return begin, end


def _with_captures(parts: Sequence[tuple[bool, str]]) -> Leaf:
    pattern = ""
    captures: list[tuple[str, str]] = []
    for number, (variable, text) in enumerate(parts):
        if not variable:
            shown = text.lstrip() if number == 0 else text.rstrip() if number == len(parts) - 1 else text
            pattern += re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", shown)
            continue
        name = _name(parts[number - 1][1] if number else "", [n for n, _ in captures])
        form = next((form for begin, form in _FORMS if re.match(begin, text)), r"\S{1,100}")
        if text[0] in "'\"":
            pattern += f"{text[0]}(?P<{name}>{form[1:-1]}){text[0]}"
            captures.append((name, text[1:-1]))
        else:
            pattern += f"(?P<{name}>{form})"
            captures.append((name, text))
    return Leaf("regex", pattern, tuple(captures))


def _name(before: str, taken: Collection[str]) -> str:
    """A capture is called after the word before it."""
    words = re.findall(r"[A-Za-z_]{3,24}", before)
    name = words[-1].lower().strip("_") if words else "value"
    return next(one for one in (name, *(f"{name}{n}" for n in range(2, 99))) if one not in taken and one)


def near(found: Leaf, line: str) -> str:
    """The line as it would be if all were well, else with a word of the leaf changed: what must not match."""
    pattern = re.compile(re.escape(found.pattern) if found.form == "text" else found.pattern)
    for bad, well in _WELL:
        changed = re.sub(bad, well, line, flags=re.IGNORECASE)
        if changed != line and not pattern.search(changed):
            return changed
    match = pattern.search(line)
    words = sorted(re.findall(r"[A-Za-z]{4,}", match[0] if match else line), key=len)
    return line.replace(words[-1], "other", 1) if words else f"other {line[:40]}"


def free_code(taken: Collection[str]) -> str:
    """The first code of users' own that nobody has."""
    free = (f"USR{number:03}" for number in range(1, 1000))
    return next(code for code in free if code not in taken)


def slug(message: str) -> str:
    words = re.findall(r"[a-z]{3,16}", _VARIABLE.sub(" ", message).lower())
    return "-".join(words[:5]) or "unnamed"


def quoted(text: str) -> str:
    """A scalar that every YAML reader takes for this text: what must not stand in YAML is left out."""
    return json.dumps(_CLEAN.sub("", text), ensure_ascii=False)


def single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def entry(code: str, line: str, found: Leaf, like: Like | None, refines: Sequence[str], path: str) -> str:
    """The file of a draft: all that a line tells is in it, and what only a person knows is marked."""
    value = quoted(found.pattern) if found.form == "text" else single(found.pattern)
    expect = ", ".join(f"{name}: {quoted(value)}" for name, value in found.captures)
    guessed = f"  # as {like.code}, which is nearest: look whether it fits" if like is not None else "  # look whether it fits"
    rows = [
        f"code: {code}",
        "status: draft",
        "severity: error",
        "role: cause",
        f"kind: {like.kind if like is not None else 'user-code'}{guessed}",
        f"component: {like.component if like is not None else ''}".rstrip(),
        "confidence: medium",
        f'title: {{en: "{TO_WRITE}: what failed", zh: "{TO_WRITE}：什么失败了"}}',
        f'cause: {{en: "{TO_WRITE}: what happened, what the line proves, what it only suggests.", zh: "{TO_WRITE}：发生了什么，日志能证明什么，仅能推测什么。"}}',
        "evidence:",
        "  any:",
        f"    - {{{found.form}: {value}}}",
        *([f"refines: [{', '.join(refines)}]"] if refines else []),
        "fixes:",
        "  - goal: locate",
        "    risk: low",
        f'    title: {{en: "{TO_WRITE}: how to look closer", zh: "{TO_WRITE}：如何进一步确认"}}',
        "    commands:",
        f'      - {{run: "npu-smi info", changes: nothing, why: {{en: "{TO_WRITE}: what to look for", zh: "{TO_WRITE}：看什么"}}}}',
        "references:",
        f'  - {{kind: log, title: "{TO_WRITE}: where this is told (an issue, a page of a manual)"}}',
        "samples:",
        "  match:",
        "    - name: seen",
        *([f"      path: {quoted(path)}"] if path else []),
        *([f"      expect: {{{expect}}}"] if expect else []),
        f"      text: {quoted(line)}",
        "  no_match:",
        "    - name: near",
        f"      text: {quoted(near(found, line))}",
    ]
    return "\n".join(rows) + "\n"
