"""Pods of a job as `kubectl get pods -o json` tells them: which still run, and what is left of those that are gone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doctor.base.errors import UsageError
from parsers import foreign_json
from parsers.named import NamedTuple

# By which label the pods of a job are found: volcano's, the training operator's, MPI operator's and plain Kubernetes' jobs.
OF_JOB = ("volcano.sh/job-name", "training.kubeflow.org/job-name", "batch.kubernetes.io/job-name", "job-name")


class Pod(NamedTuple):
    """One pod: it runs, or only what it printed is left; `restarted`: an earlier container has printed something, too."""

    name: str
    runs: bool
    restarted: bool
    why: str  # it does not run


def pods(said: str) -> tuple[Pod, ...]:
    try:
        listed = foreign_json.read(said)
        rows = listed.get("items", [listed])  # one that is asked for by name comes alone
        return tuple(_pod(row) for row in rows)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError("kubectl did not list pods as JSON", "try it: kubectl get pods -o json") from None


def _pod(row: Mapping[str, Any]) -> Pod:
    status = row.get("status", {})
    states = list(_states(status))
    runs = status.get("phase") == "Running" and any("running" in now for now, _ in states)
    restarted = any("terminated" in before for _, before in states)
    return Pod(str(row["metadata"]["name"]), runs, restarted, "" if runs else _why(status, [now for now, _ in states]))


def _states(status: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for one in status.get("containerStatuses") or ():
        yield one.get("state") or {}, one.get("lastState") or {}


def _why(status: Mapping[str, Any], states: list[Mapping[str, Any]]) -> str:
    for state in states:
        for kind in ("terminated", "waiting"):
            if (told := state.get(kind)) and told.get("reason"):
                code = told.get("exitCode")
                return f"{told['reason']}" + (f", exit code {code}" if code is not None else "")
    return str(status.get("reason") or status.get("phase") or "it does not run")
