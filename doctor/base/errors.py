"""What can go wrong by the user's hand.

UsageError          the call was wrong: exit 2
kb.KnowledgeError   the knowledge is broken: exit 4
"""

from __future__ import annotations


class UsageError(Exception):
    """A call that cannot be carried out: what is wrong, and what to do instead."""

    def __init__(self, what: str, help_: str = "") -> None:
        super().__init__(what)
        self.what, self.help = what, help_

    def __str__(self) -> str:
        return f"npu-doctor: {self.what}" + (f"\n = help: {self.help}" if self.help else "")
