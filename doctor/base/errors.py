"""What can go wrong by the user's hand.

UsageError          the call was wrong: exit 2
kb.KnowledgeError   the knowledge is broken: exit 4
"""

from __future__ import annotations

from doctor.base import exits


class UsageError(Exception):
    """A call that cannot be carried out: what is wrong, and what to do instead."""

    def __init__(self, what: str, help_: str = "", code: int = exits.USAGE) -> None:
        super().__init__(what)
        self.what, self.help, self.code = what, help_, code

    def __str__(self) -> str:
        return self.told("en")

    def told(self, language: str) -> str:
        """The message in a language."""
        from doctor.base.words.told import told

        what, help_ = told(self.what, language), told(self.help, language)
        return f"npu-doctor: {what}" + (f"\n = {'建议' if language == 'zh' else 'help'}: {help_}" if help_ else "")
