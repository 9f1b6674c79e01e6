"""A machine (or its tree) to facts to a verdict; several machines to differences."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """`from doctor import env` is a function for those who use the library, and this package has its name: so it can be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return import_module("doctor.api").env(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
