"""The code tables and the variables: what a reader relies on holds for every row, in both languages."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.spelling import key

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KB = Path(__file__).resolve().parents[2] / "kb"
FILES = sorted((KB / "codes").glob("*.yaml"))
TABLE_KEYS = {"family", "title", "forms", "codes"}
CODE_KEYS = {"code", "name", "meaning", "action", "ref", "confidence"}
MAY_HAVE = {"causes", "forms", "related", "family", "severity", "component", "word", "bit", "followed_by"}
CONFIDENCE = {"documented", "name-derived", "inferred"}
VARIABLE_KEYS = {
    "name", "component", "type", "values", "range", "default", "purpose", "caution", "undo",
    "since", "deprecated", "replaced_by", "ref", "confidence",
}  # fmt: skip
CHINESE = re.compile("[\u4e00-\u9fff]")
EMPTY_PHRASE = re.compile(
    r"^(see (the )?plog|check (it|the log)|fix|read (the )?(reason|cause|printed text)|n/?a|unknown)\.?$", re.IGNORECASE
)


@cache
def load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)


def families(path: Path) -> list[str]:
    """The families of a table: one, or several that say at each row which one it belongs to."""
    family = load(path)["family"]
    return [family] if isinstance(family, str) else list(family)


def rows() -> list[tuple[str, dict[str, Any]]]:
    """Every row with the family that it belongs to."""
    return [(row.get("family", families(path)[0]), row) for path in FILES for row in load(path)["codes"]]


def language_faults(where: str, text: Any) -> list[str]:
    """A text stands in both languages, each in its own, and says something."""
    if not isinstance(text, dict) or set(text) != {"en", "zh"} or not all(isinstance(t, str) for t in text.values()):
        return [f"{where}: needs the texts en and zh"]
    faults = []
    if CHINESE.search(text["en"]) or len(text["en"].strip()) < 3:
        faults.append(f"{where}: en is not an English text: {text['en']!r}")
    if not CHINESE.search(text["zh"]):
        faults.append(f"{where}: zh is not a Chinese text: {text['zh']!r}")
    faults += [f"{where}: surrounding blanks in {lang}" for lang in text if text[lang] != text[lang].strip()]
    return faults


def code_faults(where: str, row: dict[str, Any]) -> list[str]:
    faults = [f"{where}: unknown key {field!r}" for field in set(row) - CODE_KEYS - MAY_HAVE]
    faults += [f"{where}: no {field}" for field in CODE_KEYS - set(row)]
    faults += [
        f"{where}: {field} is not a filled string"
        for field in ("code", "name", "ref")
        if not (isinstance(row.get(field), str) and row[field])
    ]
    faults += language_faults(f"{where} meaning", row.get("meaning"))
    faults += language_faults(f"{where} action", row.get("action"))
    for cause in row.get("causes", ()):
        faults += language_faults(f"{where} cause", cause)
    if row.get("confidence") not in CONFIDENCE:
        faults.append(f"{where}: confidence {row.get('confidence')!r}")
    if isinstance(row.get("action"), dict) and EMPTY_PHRASE.match(str(row["action"].get("en", "")).strip()):
        faults.append(f"{where}: the action says nothing: {row['action']['en']!r}")
    for field in ("forms", "related"):
        listed = row.get(field, [])
        if not isinstance(listed, list) or not all(isinstance(item, str) and item for item in listed):
            faults.append(f"{where}: {field} is not a list of strings")
        elif len(set(listed)) != len(listed):
            faults.append(f"{where}: repeats in {field}")
    return faults


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_table_is_well_formed(path: Path) -> None:
    """A table has a family, a title in both languages and rows that hold to the schema."""
    table = load(path)
    assert set(table) <= TABLE_KEYS
    faults = [f"family {family!r}" for family in families(path) if not re.fullmatch(r"[a-z0-9_-]+", family)]
    faults += language_faults("title", table["title"])
    for row in table["codes"]:
        faults += code_faults(f"{path.name} {row.get('code')}", row)
        if len(families(path)) > 1 and row.get("family") not in families(path):
            faults.append(f"{path.name} {row.get('code')}: says not which family of the table it belongs to")
    assert faults == []
    assert table["codes"]


def test_codes_are_unique_within_a_family() -> None:
    """One family may be spread over files, but a code stands in it once."""
    seen = Counter((family, key(row["code"])) for family, row in rows())
    assert [code for code, times in seen.items() if times > 1] == []


def test_related_codes_exist() -> None:
    """A code points only at codes that a reader can look up here."""
    spelled = {key(row["code"]) for _, row in rows()}
    loose = [
        (family, row["code"], code)
        for family, row in rows()
        for code in row.get("related", ())
        if key(code) not in spelled
    ]
    assert loose == []


def test_actions_name_known_variables_and_destroy_nothing() -> None:
    """A variable that an action sets or reads is explained in the table; no action kills or deletes blindly."""
    known = {row["name"] for row in load(KB / "envvars.yaml")}
    faults = []
    for family, row in rows():
        for text in row["action"].values():
            named = {a or b for a, b in re.findall(r"\$\{?([A-Z][A-Z0-9_]{3,})|\b([A-Z][A-Z0-9_]{3,})=", text)}
            faults += [f"{family} {row['code']}: unknown variable {name}" for name in sorted(named - known)]
            if re.search(r"\b(pkill|killall)\b|kill -9|rm -rf", text):
                faults.append(f"{family} {row['code']}: destructive: {text}")
    assert faults == []


@pytest.mark.parametrize(
    ("code", "family", "words"),
    [
        ("507018", "acl", ("AI CPU",)),
        ("207001", "acl", ("HBM",)),
        ("107002", "acl", ("context",)),
        ("EI0006", "cann-ei", ("peer",)),
        ("EJ0001", "cann-ei", ("HCCP",)),
        ("E19999", "cann-e1", ("TraceBack",)),
        ("EZ9999", "cann-ez", ("container",)),
        ("161002", "aclnn", ("parameter",)),
        ("ERR00100", "torch_npu", ("acl",)),
        ("EE1023", "cann-ee", ("stream",)),
        ("EL0004", "cann-el", ("memory",)),
        ("E40020", "cann-e4", ("Python",)),
    ],
)
def test_codes_people_meet_are_explained(code: str, family: str, words: tuple[str, ...]) -> None:
    """The codes seen most are in the table where they belong and say what they mean."""
    found = [(got, row) for got, row in rows() if row["code"] == code]
    assert family in [got for got, _ in found]
    text = next(row["meaning"]["en"] + row["action"]["en"] for got, row in found if got == family)
    assert [word for word in words if word.lower() not in text.lower()] == []


def variable_faults(row: dict[str, Any]) -> list[str]:
    name = row.get("name", "?")
    faults = [f"{name}: unknown key {field!r}" for field in set(row) - VARIABLE_KEYS]
    faults += [
        f"{name}: no {field}" for field in ("name", "component", "type", "purpose", "undo", "ref") if not row.get(field)
    ]
    faults += language_faults(f"{name} purpose", row.get("purpose"))
    if "caution" in row:
        faults += language_faults(f"{name} caution", row["caution"])
    if row.get("type") not in {"bool", "int", "enum", "path", "string", "float", "list"}:
        faults.append(f"{name}: type {row.get('type')!r}")
    if row.get("type") in {"bool", "enum"} and not row.get("values"):
        faults.append(f"{name}: {row['type']} without values")
    if row.get("undo") != f"unset {name}":
        faults.append(f"{name}: undo {row.get('undo')!r}")
    faults += [f"{name}: value {v!r} is not a string" for v in row.get("values", ()) if not isinstance(v, str)]
    default = row.get("default")
    if row.get("type") in {"bool", "enum"} and default is not None and default not in row["values"]:
        faults.append(f"{name}: default {default!r} is no legal value")
    if "range" in row:
        bounds = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", row["range"])
        if not bounds or int(bounds[1]) >= int(bounds[2]):
            faults.append(f"{name}: range {row['range']!r}")
        elif (
            default is not None
            and re.fullmatch(r"-?\d+(\.\d+)?", default)
            and not int(bounds[1]) <= float(default) <= int(bounds[2])
        ):
            faults.append(f"{name}: default {default} is outside of {row['range']}")
    return faults


def test_variables_are_well_formed() -> None:
    """A variable says what it does, which values are legal and how to take it back."""
    table = load(KB / "envvars.yaml")
    names = [row["name"] for row in table]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert [fault for row in table for fault in variable_faults(row)] == []
    assert [row["name"] for row in table if row.get("replaced_by", names[0]) not in names] == []
