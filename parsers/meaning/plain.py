"""A failure told in plain words, without a level: "it failed", and perhaps a code.

    acl init failed, error code: -8255
    Invalid device ID.
    rtSetDevice failed with result 1
    system exception code [0x68020002]: ModuleName [DRIVER],ExceptionReason[DEVICE_HBL_EXCEPTION], TimeStamp [20200227191842]

>>> from parsers.meaning.said import Said
>>> [(r.get("what"), r.get("code")) for r in read(Said("dcmi_init failed, error code: -8255"))]
[('dcmi_init', '-8255')]
>>> read(Said("OpenHandle failed, ret = 0x80060101"))[0].get("code")
'0x80060101'
>>> row = read(Said("system exception code [0x68020002]: ModuleName [DRIVER],ExceptionReason[DEVICE_HBL_EXCEPTION]"))[0]
>>> row.get("module"), row.get("reason"), row.get("code")
('DRIVER', 'DEVICE_HBL_EXCEPTION', '0x68020002')
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading
from parsers.meaning.shapes import thing

_BLACK_BOX = lazy(r"exception code ?\[(?P<code>0x[0-9a-fA-F]{1,16})\].{0,40}?ModuleName ?\[(?P<module>\w{1,40})\].{0,20}?ExceptionReason ?\[(?P<reason>\w{1,80})\]")
_CODE = r"[,.;| ]{0,4}(?:with |and |the )?(?:\(?(?:[Ee]rror ?(?:code|[Nn]umber)|err ?code|errno|error|ret(?:urn)?(?: ?code| ?value)?|result|status|rc|code|acl ?[Ee]rror))(?: is| was)? ?[:=]? ?\(?(?P<code>0x[0-9a-fA-F]{1,16}|-?\d{1,10})"
_FAILED = lazy(r"(?P<what>[A-Za-z_][^\n,;:]{1,100}?)(?:\([^)\n]{0,80}\))? (?:is |was |has |call )?(?:failed|failure|FAILED)" + _CODE)
_FAILED_TO = lazy(r"[Ff]ailed to (?P<what>[^\n,;:]{2,100}?)" + _CODE)
_BARE = lazy(r"(?:^|[\]:] )(?P<what>[Ii]nvalid device ?(?:ID|id)?(?: ?[:=]? ?(?P<code>-?\d{1,6}))?)[.!]?\s*$")


def read(said: Said) -> tuple[Reading, ...]:
    """What failed, and with which code."""
    text = said.line
    if (found := _BLACK_BOX.search(text)) is not None:
        return (reading("failure", kind="black-box", what=found["reason"], code=found["code"], module=found["module"], reason=found["reason"]),)
    if (found := _BARE.search(text)) is not None:
        return (reading("failure", kind="device", what=found["what"], code=found["code"] or ""),)
    found = _FAILED.search(text) or _FAILED_TO.search(text)
    what = thing(found["what"].rpartition("]")[2].strip().removeprefix("call ")) if found else ""
    return (reading("failure", kind="code", what=what, code=found["code"]),) if found and what else ()
