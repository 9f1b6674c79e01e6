"""How error codes and exit statuses stand in logs: a pattern and anchors for each."""

from __future__ import annotations

import re

# ASCII only: the scanner tries a pattern on the bytes of a line as long as it is.
CODE_WORD = (
    r"(?:[Cc]ode|CODE|ret|Ret|RET|result|Result|status|Status|rrno|rror|ERROR|fail|Fail|reason|rc"
    r"|(?<![A-Za-z])(?:acl|ACL|Acl)? ?[Ee]rr(?![A-Za-z]))"
)

# What may stand between the word and the number: nothing that begins another field, of JSON or of `name=value` pairs that
# count and measure, and no request of an access log.
_MEASURES = ("bytes", "size", "len", "length", "time", "duration", "ms", "us", "port", "pid", "seq", "addr", "count", "num", "id")
BETWEEN = rf"(?:[^\n,=H]|,(?!\s?\")|H(?!TTP/)|(?<!{')(?<!'.join(_MEASURES)})=){{0,48}}?"

# How the pattern of a bare number and of a lettered code end: neither is part of a longer word.
NUMBER_END, LETTERED_END = r"(?![\w]|\.\d)", "(?![A-Za-z0-9_])"


def of_code(code: str) -> tuple[str, tuple[str, ...]]:
    """A pattern and anchors for a code, as software prints it: lettered ones stand alone, bare numbers need a word beside."""
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", code):
        digits = code[2:].lstrip("0") or "0"
        cased = "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in digits)
        return rf"(?<![0-9a-fA-Fx])(?:0[xX])?0*{cased}(?![0-9a-fA-F])", tuple(
            dict.fromkeys((digits.lower(), digits.upper()))
        )
    if re.fullmatch(r"-?\d+", code):
        beside = rf"{CODE_WORD}{BETWEEN}(?<![\w.-])(?<!Key\[){re.escape(code)}{NUMBER_END}"
        if len(code) >= 6:  # "[507011][Error code unknown]": so MindX SDK writes what acl returned
            beside += rf"|\[{code}\]\["
        return beside, (code,)
    return rf"(?<![A-Za-z0-9_]){re.escape(code)}{LETTERED_END}", (code,)


def of_exit(status: int) -> tuple[str, tuple[str, ...]]:
    """A pattern and anchors for a process's exit status as launchers print it; 128+n and -n mean the same signal."""
    number = status - 128 if status > 128 else -status if status < 0 else 0
    names = {
        1: "SIGHUP",
        2: "SIGINT",
        4: "SIGILL",
        6: "SIGABRT",
        7: "SIGBUS",
        8: "SIGFPE",
        9: "SIGKILL",
        11: "SIGSEGV",
        15: "SIGTERM",
    }
    forms = [str(status)] if status >= 0 else []
    if number:
        forms = [str(128 + number), f"-{number}"]
    options = [
        rf"[eE]xit ?[cC]ode\s*[:=]?\s*(?:{'|'.join(map(re.escape, forms))})(?!\w)",
        rf"[eE]xit ?[sS]tatus\s*[:=]?\s*(?:{'|'.join(map(re.escape, forms))})(?!\w)",
    ]
    anchors = [
        "exitcode",
        "exitCode",
        "exit code",
        "exit Code",
        "Exit code",
        "Exit Code",
        "exitstatus",
        "exit status",
        "ExitStatus",
        "Exit Status",
        "Exit status",
        "exitStatus",
    ]
    if number:
        options.append(rf"(?<![A-Za-z])[sS]ignal[: ]+{number}(?!\w)")
        anchors += [f"ignal {number}", f"ignal: {number}"]
        if number in names:
            # Ray lists what could have ended a worker, in one sentence whatever it was: that names no signal.
            guess = "(?! by OOM killer due to)(?! or other unexpected)"
            options.append(rf"(?<![A-Z]){names[number]}(?![A-Z]){guess}")
            anchors.append(names[number])
    return "|".join(options), tuple(anchors)
