"""What is known to come out differently, and why that is right or not worth a rule."""

from __future__ import annotations

_OWNER = "lines that do not say whose they are belong to the process that wrote last before them, here a healthy one"

DIFFERENT: dict[tuple[str, str], str] = {
    ("order-general-beneath-missing-binary-llamacpp", "behind-healthy-lines"): _OWNER,
    ("seed-help-acl-execute-queue-off-b", "behind-healthy-lines"): _OWNER,
}
