"""Checks the arguments of a call against the schema that its tool shows. Whoever calls may send anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.agents.reach import RefusedError

Json = dict[str, Any]
LONGEST_TEXT = 400


def text(about: str, longest: int = LONGEST_TEXT) -> Json:
    return {"type": "string", "maxLength": longest, "description": about}


def number(about: str, low: int, high: int, usual: int) -> Json:
    return {"type": "integer", "minimum": low, "maximum": high, "default": usual, "description": about}


def texts(about: str, most: int, longest: int) -> Json:
    return {"type": "array", "items": {"type": "string", "maxLength": longest}, "minItems": 1, "maxItems": most, "description": about}


def schema(required: tuple[str, ...] = (), **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def checked(given: Mapping[str, Any] | None, wanted: Json) -> Json:
    """The arguments with the usual values of those that were left out."""
    known = wanted["properties"]
    for name in given or {}:
        if name not in known:
            raise RefusedError(f"there is no argument '{str(name)[:60]}'", f"arguments: {', '.join(known) or 'none'}")
    made: Json = {name: rule.get("default") for name, rule in known.items()}
    for name, value in (given or {}).items():
        if value is not None:
            made[name] = _fitting(name, value, known[name])
    for name in wanted["required"]:
        if made[name] is None:
            raise RefusedError(f"the argument '{name}' is missing", known[name]["description"])
    return made


def _fitting(name: str, value: Any, rule: Json) -> Any:
    if rule["type"] == "string":
        return _text(name, value, rule)
    if rule["type"] == "integer":
        if type(value) is not int or not rule["minimum"] <= value <= rule["maximum"]:
            raise RefusedError(f"'{name}' is no number from {rule['minimum']} to {rule['maximum']}")
        return value
    if not isinstance(value, list) or not rule["minItems"] <= len(value) <= rule["maxItems"]:
        raise RefusedError(f"'{name}' is no list of {rule['minItems']} to {rule['maxItems']} texts")
    return [_text(name, one, rule["items"]) for one in value]


def _text(name: str, value: Any, rule: Json) -> str:
    if not isinstance(value, str) or len(value) > rule["maxLength"]:
        raise RefusedError(f"'{name}' is no text of at most {rule['maxLength']} characters")
    return value
