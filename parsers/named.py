"""`NamedTuple` as that of `typing`, made several times as fast: there are a hundred and thirty of them at a start.

Annotations are texts here (`from __future__ import annotations`). That of `typing` compiles each of them, so that a reader finds what
it means; nobody reads these but a checker of types, who sees that of `typing`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    _GIVEN = ("__module__", "__qualname__", "__annotations__", "__annotate_func__", "__classcell__", "__firstlineno__", "__static_attributes__")

    class _Made(type):
        """What a class says becomes a named tuple, with its methods."""

        def __new__(cls, name: str, bases: tuple[type, ...], said: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, said)
            fields = said.get("__annotations__", {})
            made = namedtuple(name, fields, defaults=[said[field] for field in fields if field in said], module=said["__module__"])
            for key in said.keys() - fields.keys() - set(_GIVEN):
                setattr(made, key, said[key])
            made.__annotations__, made.__qualname__ = fields, said["__qualname__"]
            return made

    class NamedTuple(metaclass=_Made):
        """Base of a class whose annotations are the fields of a tuple."""
