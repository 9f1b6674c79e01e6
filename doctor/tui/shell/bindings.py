"""The table of keys as Textual's bindings."""

from __future__ import annotations

from textual.binding import Binding

from doctor.tui.shell.keys import KEYS


def bindings(*names: str) -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    """Bindings with id and tooltip."""
    made: list[Binding | tuple[str, str] | tuple[str, str, str]] = []
    for name in names:
        key = KEYS[name]
        if name == "follow":
            made += [Binding(k, f"follow({k})", key.short[0], show=False, tooltip=key.tip[0], id=f"follow-{k}") for k in key.keys.split(",")]
        else:
            made.append(Binding(key.keys, key.action, key.short[0], show=False, tooltip=key.tip[0], id=name))
    return made
