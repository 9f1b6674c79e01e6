"""How error codes and exit statuses stand in logs: a pattern and anchors for each."""

from __future__ import annotations

import re

from kb.model import LINE_KINDS, Filter

# A library that warns of a code, or tells it for information, goes on: in its log a code counts where it reports an error.
LINES = tuple(Filter(kind, (), ("error", "critical", "event") if kind == "plog" else ()) for kind in LINE_KINDS)

# The scanner asks the bytes of a line for one of these in reach before it tries the pattern: ASCII only, no more than that.
CODE_WORD = r"(?:[Cc]ode|CODE|[Rr]et|RET|[Rr]esult|[Ss]tatus|[Ee]rr|ERR|[Ff]ail|FAIL|[Rr]eason|[Rr][Cc]|RC)"

# What makes the number behind it a code, whatever else the line says: `errorCode is 507018`, `ret[507018]`, `errno: 507018`.
# Each is a word of its own or of a name: neither sea(rc)h nor (ret)ry, unicode or opCode, nor the code of a town.
_NAMES = (
    r"(?:(?:(?<![A-Za-z])(?<![Zz]ip )(?<!ostal )|(?<=[a-z])(?=C)(?<!op)(?<!zip)(?<!ostal)"
    r"|(?<=[Ee]rr)|(?<=[Ee]rror)|(?<=[Rr]et)|(?<=result))[Cc]ode"
    r"|(?<![A-Z])(?:ERR|RET)?CODE|(?<![A-Za-z])(?:acl|ACL|Acl|hccl|Hccl|rt)?[Ee]rr(?:or)?[-_ ]?[Nn](?:o|um|umber)"
    r"|(?<![A-Za-z])(?:[Rr]et(?:[Vv]al)?|RET|[Rr][Cc]|RC|(?:acl|ACL|Acl)? ?[Ee]rr)|(?<=[a-z])Ret|(?<=_)RET"
    r"|[Rr]untime result|(?<![A-Za-z])[Rr]eturn(?:ed)? value|CANN failure|(?<![A-Z])ERROR_[A-Z_]{1,60})(?![A-Za-z])"
)
# What may stand between a name and its number: signs, and words like `is`. No digits, so that no other field comes between.
_LINK = r"(?:[^\w\n,;%/]{0,4}|[ \t]{0,40}[:=] ?)(?:(?:is|was|of|with|value|number|from \w{1,40})\b[^\w\n,;%/]{1,4}){0,2}"
# Failures, results and states come with numbers of all kinds: these words want the number at once, or a sign between.
_HINTS = (
    r"(?:(?:(?<![A-Za-z])[Ee]rror|(?<=[a-z])Error|(?<![A-Za-z])(?:[Ff]ail(?:ed|ure)?|FAILED)|(?<![A-Za-z])[Rr]eturn(?:ed|s)?"
    r"|(?<![A-Za-z])(?:[Rr]esult|[Ss]tatus|[Rr]eason)|(?<=[a-z])(?:Result|Status))(?![A-Za-z])(?:,? (?=\d)|{sign})"
    r"|(?<![A-Za-z])ERROR\]?{sign})"
).replace("{sign}", r"[^\w\n,;%/]{0,3}(?:[:=\[(]|\bwith\b|\bis\b)[^\w\n,;%/]{0,4}")
# A number with a unit is an amount.
_UNIT = (
    r"(?! ?(?:[mun]?s|secs?|seconds?|minutes?|hours?|[kKMGT]?i?[bB]|bytes?|times|tokens?|steps?|rows?|items?|samples?|requests?"
    r"|documents?|docs|files?|records?|entries|lines?|pages?|iterations?|batches|blocks?|words|vectors|users|images|keys|messages)\b)"
)
BARE = "(?:" + _NAMES + _LINK  # how the pattern of every bare number begins

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
        number = rf"(?<![\w.-])(?<!Key\[){re.escape(code)}{NUMBER_END}{_UNIT}"
        # A round number is an amount as well: only a name makes it a code, or brackets of its own after `Error:`.
        hinted = rf"|{_HINTS}" if not code.endswith("000") else r"|Error: \["
        # "[507011][Error code unknown]": so MindX SDK writes what acl returned
        return rf"{BARE}{hinted}){number}|\[{code}\]\[[Ee]rror", (code,)
    return rf"(?<![A-Za-z0-9_]){re.escape(code)}{LETTERED_END}", (code,)


# A signal that is sent, handled or set up ends nothing here; daemons that are asked to stop say so and stop: all is well.
_NOT_SENT = r"(?<![Ss]ending )(?<![Ss]ent )(?<![Ss]end )(?<!for )(?<!and )(?<!or )(?<!gnore )(?<!trap )(?<!, )"
_NO_ORDER = r"(?!; terminating| handler| \(SIG[A-Z]+\) received from|\) received from| from PID 1\b| indicating| to (?:remaining|all|main|process))"


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
        rf"(?<!Success)(?<!Prevent)(?<!Force)[eE]xit ?[sS]tatus\s*[:=]?\s*(?:{'|'.join(map(re.escape, forms))})(?!\w)",
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
        # What is looked for stands first: looking back from every letter of a line is what would cost.
        options.append(rf"(?=[sS]ignal){_NOT_SENT}(?<![A-Za-z])[sS]ignal[: ]+{number}(?!\w){_NO_ORDER}")
        anchors += [f"ignal {number}", f"ignal: {number}"]
        if number in names:
            # Ray lists what could have ended a worker, in one sentence whatever it was: that names no signal.
            guess = "(?! by OOM killer due to)(?! or other unexpected)"
            options.append(rf"(?={names[number]}){_NOT_SENT}(?:(?<=Signals\.)|(?<![A-Za-z_.=/])){names[number]}(?![A-Za-z_=/]){_NO_ORDER}{guess}")
            anchors.append(names[number])
    return "|".join(options), tuple(anchors)
