"""The table of keys as Textual's bindings."""

from __future__ import annotations

from textual.binding import Binding

from doctor.tui.shell.keys import KEYS


def bindings(*names: str, prefix: str = "") -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    """Bindings with id and tooltip; `prefix` sends the action elsewhere ("app.")."""
    made: list[Binding | tuple[str, str] | tuple[str, str, str]] = []
    for name in names:
        key = KEYS[name]
        if name == "follow":
            made += [
                Binding(k, f"{prefix}follow({k})", key.short[0], show=False, tooltip=key.tip[0], id=f"follow-{k}")
                for k in key.keys.split(",")
            ]
            continue
        made.append(Binding(key.keys, prefix + key.action, key.short[0], show=False, tooltip=key.tip[0], id=name))
    return made
