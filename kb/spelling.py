"""The spellings of error codes: from what a log or a person writes to the key under which a table holds the code."""

from __future__ import annotations

import re

from parsers.lazy import lazy

MAX_SPELLING = 80  # characters of what is taken for a code; longer ones are prose
_AROUND = " \t\r\n\f\v[]()<>'\".,;:"
_LETTERED = lazy(r"^(?:[A-Z]{1,4}\d{2,6}[A-Z]?|ERR\d{5})$")


def key(code: str) -> str:
    """The one key of a code: upper-case letters, decimal without plus or zeros, hexadecimal in lower case without zeros."""
    code = code.strip(_AROUND)
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", code):
        return "0x" + (code[2:].lstrip("0").lower() or "0")
    if re.fullmatch(r"[-+]?[0-9]{1,40}", code):  # what is longer is no code, and slow to convert
        return str(int(code))
    return code.upper() if _LETTERED.match(code.upper()) else code


def candidates(written: str) -> tuple[str, ...]:
    """Every key that a spelling may mean, the likeliest first: `retCode=0x28`, `drvRetCode=17`, `80E01801`, `507018`."""
    text = written.strip()[:MAX_SPELLING]
    found: list[str] = []
    if m := re.fullmatch(r"([A-Za-z_ ]*?)\s*(?:[=:\[( ]|->)\s*(-?(?:0[xX])?[0-9a-fA-F]+)\s*[\])]?", text):
        found += [f"{m[1].strip().lower()}:{key(m[2])}", key(m[2])]
    found.append(key(text))
    plain = key(text)
    if re.fullmatch(r"-?[0-9]{1,40}", plain):
        number = int(plain)
        found.append(hex(number & 0xFFFFFFFF) if number < 0 else hex(number))
    elif re.fullmatch(r"0x[0-9a-f]{1,32}", plain):
        number = int(plain, 16)
        found.append(str(number))
        if number > 0x7FFFFFFF and number <= 0xFFFFFFFF:
            found.append(str(number - 0x1_0000_0000))
    if re.fullmatch(r"[0-9a-fA-F]{5,9}", text) and not plain.startswith("0x"):
        found.append("0x" + (text.lstrip("0").lower() or "0"))
    if re.fullmatch(r"[89]\d{3}", text):
        found.append(f"-{text}")  # a return code of npu-smi, whose sign got lost
    for hccl in [k for k in found if re.fullmatch(r"0x5[0-9a-f]{6}", k)]:
        found.append(str(int(hccl, 16) & 0xFFFF))  # errNo[0x0000000005000007]: a module, then the result
    return tuple(dict.fromkeys(found))


# Whose numbers people meet bare, the likeliest first; what is only ever printed behind a word of its own comes last.
_BARE = ("acl", "aclnn", "hccl", "ts-retcode", "driver", "rts", "ge", "dcmi", "tsd")


def likelihood(written: str, code: str, family: str) -> int:
    """The place of a row of a code table among those that a number without a word beside it may mean."""
    bare = re.fullmatch(r"\s*(?:errNo\s*[\[=:]?\s*)?(-?(?:0[xX])?[0-9a-fA-F]+)\s*\]?\s*", written)
    if bare is None:
        return 0
    if not re.fullmatch(r"-?(?:0[xX])?[0-9a-fA-F]+", code):
        return 2 * len(_BARE) + 2
    other = key(code).startswith("0x") != key(bare[1]).startswith("0x")
    return (_BARE.index(family) if family in _BARE else len(_BARE)) + (len(_BARE) + 1) * other


# Codes as they stand in running text; used to decode what no entry explains.
IN_TEXT = lazy(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?P<cann>(?:E[A-Z]|E[1-9])\d{4}|ERR\d{5}|MIE[0-9A-Z]{8})(?![A-Za-z0-9_])"
    r"|(?:(?:[Ee]rror ?[Cc]ode|err_code|retCode|ret[ _]?code|rtCode|ErrCode|errCode|drvRetCode)(?: is)?|aclError|[Aa]cl [Ee]rr(?:or)?"
    r"|runtime result|ret|result|errNo|[Ee]rrorNo|error no|hcclRet)"
    r"\s*(?:is|=|->|:|\[)?\s*[\[(]?(?P<number>0[xX][0-9a-fA-F]{2,16}|[0-9A-F]{8,9}(?![0-9A-Za-z])|-?\d{3,10})(?!\w|\.\d)"
    r")"
)


def in_text(text: str) -> tuple[str, ...]:
    """The codes that stand in a line, as written, without repeats."""
    return tuple(dict.fromkeys(m["cann"] or m["number"] for m in IN_TEXT.finditer(text[:4000])))
