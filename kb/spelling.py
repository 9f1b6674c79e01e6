"""The spellings of error codes: from what a log or a person writes to the key under which a table holds the code."""

from __future__ import annotations

import re

_LETTERED = re.compile(r"^(?:[A-Z]{1,4}\d{2,6}[A-Z]?|ERR\d{5})$")


def key(code: str) -> str:
    """The one key of a code: upper-case letters, decimal without plus or zeros, hexadecimal in lower case without zeros."""
    code = code.strip().strip("[]()<>'\".,;:")
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", code):
        return "0x" + (code[2:].lstrip("0").lower() or "0")
    if re.fullmatch(r"[-+]?\d+", code):
        return str(int(code))
    return code.upper() if _LETTERED.match(code.upper()) else code


def candidates(written: str) -> tuple[str, ...]:
    """Every key that a spelling may mean, the likeliest first: `retCode=0x28`, `drvRetCode=17`, `80E01801`, `507018`."""
    text = written.strip()
    found: list[str] = []
    if m := re.fullmatch(r"([A-Za-z_ ]*?)\s*[=:\[( ]\s*(-?(?:0[xX])?[0-9a-fA-F]+)\s*[\])]?", text):
        found += [f"{m[1].strip().lower()}:{key(m[2])}", key(m[2])]
    found.append(key(text))
    plain = key(text)
    if re.fullmatch(r"-?\d+", plain):
        number = int(plain)
        found.append(hex(number & 0xFFFFFFFF) if number < 0 else hex(number))
    elif plain.startswith("0x"):
        number = int(plain, 16)
        found.append(str(number))
        if number > 0x7FFFFFFF and number <= 0xFFFFFFFF:
            found.append(str(number - 0x1_0000_0000))
    if re.fullmatch(r"[0-9a-fA-F]{5,8}", text) and not plain.startswith("0x"):
        found.append("0x" + (text.lstrip("0").lower() or "0"))
    return tuple(dict.fromkeys(found))


# Codes as they stand in running text; used to decode what no entry explains.
IN_TEXT = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?P<cann>(?:E[A-Z]|E[1-9])\d{4}|ERR\d{5}|MIE[0-9A-Z]{8})(?![A-Za-z0-9_])"
    r"|(?:error ?code(?: is)?|errorcode|retCode|ret[ _]?code|rtCode|ErrCode|errCode|runtime result|ret|result|drvRetCode|errNo|error no)"
    r"\s*(?:is|=|:|\[)?\s*[\[(]?(?P<number>0[xX][0-9a-fA-F]{2,16}|-?\d{3,10})(?![\w.])"
    r")"
)


def in_text(text: str) -> tuple[str, ...]:
    """The codes that stand in a line, as written, without repeats."""
    return tuple(dict.fromkeys(m["cann"] or m["number"] for m in IN_TEXT.finditer(text[:4000])))
