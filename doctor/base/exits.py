"""Exit codes: part of the interface, never renumbered."""

CLEAN = 0  # read, and nothing at or above the threshold
FINDINGS = 1  # findings at or above the threshold
USAGE = 2  # the call was wrong
INCONCLUSIVE = 3  # errors nobody recognised, or nothing that could be read: never disguised as success
INTERNAL = 4  # broken knowledge, or a fault of this program
INTERRUPTED = 130
