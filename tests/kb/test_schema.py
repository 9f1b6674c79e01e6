"""The JSON Schema that editors use agrees with the strict loader."""

from __future__ import annotations

import jsonschema
import pytest

from kb import yamldoc
from kb.layers import HERE, Layer
from kb.schema import entry_schema

VALIDATOR = jsonschema.Draft202012Validator(entry_schema())
FILES = Layer("built-in", HERE).files("entries")


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(entry_schema())


def test_every_entry_fits() -> None:
    """What the loader takes, the schema takes."""
    faults = []
    for path in FILES:
        doc = yamldoc.parse(str(path), path.read_bytes())
        assert isinstance(doc, yamldoc.Document), doc
        faults += [f"{path.name}: {e.json_path}: {e.message[:120]}" for e in VALIDATOR.iter_errors(doc.value)]
    assert faults == []


@pytest.mark.parametrize(
    "change",
    [
        {"severty": "error"},
        {"severity": "eror"},
        {"kind": "nonsense"},
        {"evidence": {"some": []}},
        {"code": "X1"},
        {"fixes": [{"gaol": "x"}]},
    ],
)
def test_faults_are_marked(change: dict[str, object]) -> None:
    """What the loader refuses, an editor marks."""
    doc = yamldoc.parse("x", FILES[0].read_bytes())
    assert isinstance(doc, yamldoc.Document)
    assert list(VALIDATOR.iter_errors(doc.value)) == []
    assert list(VALIDATOR.iter_errors({**doc.value, **change}))
