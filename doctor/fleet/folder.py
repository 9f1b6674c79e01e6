"""What a run keeps: its targets and options, how it went with each, and the answers, one file a node. A later run goes on from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doctor.base import output
from doctor.base.errors import UsageError
from doctor.fleet.outcome import STATES, Outcome
from doctor.fleet.targets import Target
from parsers.named import NamedTuple

KEEP_RUNS = 8
FORMAT = 1
LAST = "last"


class Run(NamedTuple):
    """A run as it is kept. `label`: what a target is called in files and reports."""

    folder: Path
    what: str  # scan, env, smi
    suffix: str
    targets: tuple[Target, ...]
    labels: Mapping[str, str]
    call: Mapping[str, Any]  # the options, as they are needed to ask again

    @property
    def nodes(self) -> Path:
        return self.folder / "nodes"

    def file(self, target: Target) -> Path:
        return self.nodes / (plain(self.labels[target.name]) + self.suffix)

    def files(self) -> list[str]:
        """The answers, as a shell would list them."""
        return sorted(str(path) for path in self.nodes.glob(f"*{self.suffix}"))

    def keep(self, target: Target, outcome: Outcome, answer: bytes) -> None:
        """Notes how it went, and puts the answer in its place."""
        if answer:
            output.put(self.file(target), answer, private=True)
        row = {"name": target.name, "state": outcome.state, "reason": outcome.reason, "seconds": round(outcome.seconds, 2), "received": outcome.received, "sent": outcome.sent}
        with open(self.folder / "outcomes.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def outcomes(self) -> dict[str, Outcome]:
        """How it went with each target the last time it was asked."""
        found: dict[str, Outcome] = {}
        try:
            text = (self.folder / "outcomes.jsonl").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return {}
        for line in text.split("\n"):
            try:
                row = json.loads(line)
                state = row["state"]
                if state in STATES:
                    found[str(row["name"])] = Outcome(state, str(row["reason"]), b"", float(row["seconds"]), int(row["received"]), int(row["sent"]))
            except (ValueError, KeyError, TypeError):
                continue  # half a line: the run was killed while it wrote
        return found


def plain(label: str) -> str:
    """A label as the name of a file."""
    made = re.sub(r"[^A-Za-z0-9._-]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "surrogateescape")), label)
    return (f"%2E{made[1:]}" if made.startswith(".") else made)[:200]


def begin(into: str, what: str, suffix: str, targets: Sequence[Target], labels: Mapping[str, str], call: Mapping[str, Any]) -> Run:
    """A new run in a folder of its own."""
    folder = Path(into) if into else _place() / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}")
    if into and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"the folder {into} is not empty", "name a new one; --resume goes on with an earlier run")
    run = Run(folder, what, suffix, tuple(targets), labels, call)
    if len({run.file(target) for target in targets}) < len(targets):
        raise UsageError("two targets have names that make the same file", "ask them in two runs")
    try:
        run.nodes.mkdir(parents=True, mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)
        told = {"format": FORMAT, "what": what, "suffix": suffix, "targets": [list(t) for t in targets], "labels": dict(labels), "call": dict(call)}
        output.put(folder / "run.json", json.dumps(told, indent=1).encode(), private=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}", "name a folder of yours with --into DIR") from None
    if not into:
        _tidy(folder.parent)
    return run


def resume(named: str, what: str) -> Run:
    """An earlier run; `last`: the latest of those that were put in no folder of the user's own."""
    folder = _latest(what) if named == LAST else Path(named)
    if folder is None:
        raise UsageError("there is no earlier run to go on with", "npu-doctor fleet scan TARGETS")
    try:
        read = json.loads((folder / "run.json").read_bytes())
        if read["format"] != FORMAT:
            raise ValueError
        targets = tuple(Target(n, h, u, p, k, tuple(r)) for n, h, u, p, k, r in read["targets"])
        run = Run(folder, read["what"], read["suffix"], targets, dict(read["labels"]), dict(read["call"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{folder} is no folder of a run", "give the folder that npu-doctor fleet named, or --into DIR made") from None
    if run.what != what:
        raise UsageError(f"{folder} holds a run of fleet {run.what}", f"npu-doctor fleet {run.what} --resume {folder}")
    return run


def _place() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.environ.get("HOME") or "/tmp", ".local", "state")  # noqa: S108 - a private folder is made in it
    return Path(base) / "npu-doctor" / "fleet"


def _latest(what: str) -> Path | None:
    for folder in sorted(_place().glob("*"), key=lambda path: path.name, reverse=True):
        try:
            if json.loads((folder / "run.json").read_bytes()).get("what") == what:
                return folder
        except (OSError, ValueError, AttributeError):
            continue
    return None


def _tidy(place: Path) -> None:
    """Of the runs that nobody named a folder for, the newest are kept."""
    for folder in sorted(place.glob("*"), key=lambda path: path.name)[:-KEEP_RUNS]:
        shutil.rmtree(folder, ignore_errors=True)
