"""Which commands there are; nothing is imported for it."""

from __future__ import annotations

GLOBAL = ("--lang", "--kb", "--color")  # options of all commands that take a value
# name -> module. The order is the order of the help.
COMMANDS: dict[str, str] = {
    "scan": "doctor.commands.scan",
    "merge": "doctor.commands.merge",
    "fleet": "doctor.commands.fleet",
    "diff": "doctor.commands.diff",
    "report": "doctor.commands.report",
    "explain": "doctor.commands.explain",
    "repro": "doctor.commands.repro",
    "brief": "doctor.commands.brief",
    "issue": "doctor.commands.issue",
    "bundle": "doctor.commands.bundle",
    "run": "doctor.commands.run",
    "env": "doctor.commands.env",
    "kb": "doctor.commands.kb",
    "memory": "doctor.commands.memory",
    "ops": "doctor.commands.ops",
    "pace": "doctor.commands.pace",
    "hang": "doctor.commands.hang",
    "precision": "doctor.commands.precision",
    "browse": "doctor.commands.browse",
    "watch": "doctor.commands.watch",
    "mcp": "doctor.commands.mcp",
    "skill": "doctor.commands.skill",
    "demo": "doctor.commands.demo",
    "schema": "doctor.commands.schema",
    "completion": "doctor.commands.completion",
    "version": "doctor.commands.version",
}  # fmt: skip
