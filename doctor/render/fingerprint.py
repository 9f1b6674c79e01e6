"""What tells a fault that is new from one that was there in the last run: the same whatever the job, the node, the file and the line."""

from __future__ import annotations

from hashlib import blake2b


def of_finding(code: str) -> str:
    """Of a finding its entry alone: paths, ranks and times of a run are its own.

    >>> of_finding("RTS001") == of_finding("RTS001") != of_finding("RTS002")
    True
    """
    return _digest(f"finding/{code}")


def of_error(template: str) -> str:
    """Of an error that nobody knows its shape, without numbers and names."""
    return _digest(f"error/{template}")


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
