"""The JSON Schema of a knowledge entry, for editors. Made from the same words as the loader; a test keeps them together."""

from __future__ import annotations

from typing import Any

from kb import model, raised
from kb.build import kinds
from kb.load import ENTRY_KEYS, EVIDENCE_KEYS
from parsers.raised import PATTERNS, WORDS

Json = dict[str, Any]
_STRING: Json = {"type": ["string", "number", "boolean"]}
_NUMBER: Json = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\d+(\.\d+)?$"}]}
_TEXT: Json = {
    "type": "object",
    "required": ["en", "zh"],
    "properties": {"en": _STRING, "zh": _STRING},
    "additionalProperties": False,
}
_MAP: Json = {"type": "object", "additionalProperties": _STRING}


def _closed(properties: Json, required: tuple[str, ...] = ()) -> Json:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _word(words: tuple[str, ...]) -> Json:
    return {"enum": list(words)}


def _raised() -> Json:
    """What may be asked of an exception."""
    names: Json = {"anyOf": [_STRING, _list(_STRING)]}
    words = {key: {"anyOf": [_word(closed), _list(_word(closed))]} if (closed := raised.CLOSED.get(key)) else names for key in WORDS}
    return {**_closed({**words, **dict.fromkeys(PATTERNS, _STRING)}), "anyOf": [{"required": [key]} for key in raised.TELLING]}


def entry_schema() -> Json:
    """The schema that an editor completes an entry with."""
    condition: Json = {"$ref": "#/$defs/condition"}
    leaf_filter: Json = {
        "anyOf": [_STRING, _list(_word(model.LINE_KINDS)), {"type": "object", "propertyNames": _word(model.LINE_KINDS)}]
    }
    words = tuple(kinds())
    scope = _word(model.SCOPES)
    target = {"entry": _STRING, "kind": _word(words)}
    edge = _closed({**target, "scope": scope})
    by_trait = _closed({"trait": _word(model.TRAITS), "scope": scope}, ("trait",))
    command = _closed({"run": _STRING, "changes": {"anyOf": [_STRING, _TEXT]}, "why": _TEXT}, ("run",))
    env = _closed({"name": _STRING, "value": _STRING, "scope": _STRING, "undo": _STRING, "caution": _TEXT}, ("name",))
    values = {"anyOf": [_STRING, _list(_STRING)]}
    when = _closed({**dict.fromkeys(model.SITUATION_FACTS, values), "said": {"type": "object", "additionalProperties": values}})
    fix = _closed(
        {
            "goal": _word(model.GOALS), "risk": _word(model.RISKS), "when": when, "title": _TEXT, "steps": _list(_TEXT), "env": _list(env),
            "commands": _list(command), "code": _closed({"lang": _STRING, "before": _STRING, "after": _STRING}, ("after",)),
        },
        ("goal", "title"),
    )  # fmt: skip
    variant = _closed({"when": when, "title": _TEXT, "cause": _TEXT, "fixes": _list(fix), "role": _word(("cause", "ambiguous")), "confidence": _word(model.CONFIDENCES)}, ("when",))
    sample = _closed({"name": _STRING, "path": _STRING, "text": _STRING, "expect": _MAP}, ("name", "text"))
    evidence = _closed(
        {
            "in": leaf_filter, "same": _word(model.SAMES), "within_s": _NUMBER,
            **{k: _list(condition) for k in ("all", "any", "not", "also")},
        }
    )  # fmt: skip
    leaf = _closed(
        {
            "text": _STRING, "regex": _STRING, "code": _STRING, "exit": _STRING, "in": leaf_filter, "lines": _NUMBER,
            "fields": _closed({"table": _word(model.TABLES), "where": _MAP}, ("table", "where")),
            "raised": _raised(),
        }
    )  # fmt: skip
    group = _closed({k: _list(condition) for k in ("all", "any", "not")})
    properties: Json = {
        "code": {"type": "string", "pattern": "^[A-Z]{3}\\d{3}$"}, "status": _word(model.STATUSES), "severity": _word(model.SEVERITIES),
        "role": _word(model.ROLES), "kind": _word(words), "component": _STRING, "confidence": _word(model.CONFIDENCES), "applies_to": _MAP,
        "title": _TEXT, "cause": _TEXT, "evidence": evidence, "symptom_of": _list({"anyOf": [edge, by_trait]}),
        "general": _word(("true", "false")), "refines": {"anyOf": [_STRING, _list(_STRING)]}, "caused_by": _list(_closed(target)), "fixes": _list(fix), "variants": _list(variant),
        "repro": {"anyOf": [_closed({"template": _STRING, "with": _MAP}, ("template",)), _closed({"none": _word(model.NO_SCRIPT)}, ("none",))]},
        "references": _list(_closed({"kind": _STRING, "title": _STRING, "url": _STRING}, ("title",))),
        "samples": _closed({"match": _list(sample), "no_match": _list(sample)}),
    }  # fmt: skip
    assert set(properties) == set(ENTRY_KEYS)
    assert set(evidence["properties"]) == set(EVIDENCE_KEYS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "npu-doctor knowledge entry",
        **_closed(properties, ("code", "severity", "kind", "title", "cause", "evidence")),
        "$defs": {"condition": {"anyOf": [leaf, group]}},
    }
