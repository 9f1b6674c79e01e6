"""What somebody was not allowed to do.

    PermissionError: [Errno 13] Permission denied: '/root/ascend/log'
    open /dev/davinci_manager failed: Permission denied
    mount: /mnt: Operation not permitted
    The owner of the file /usr/local/x.json does not match the current user

>>> from parsers.meaning.said import Said
>>> row = read(Said("[Errno 13] Permission denied: '/root/ascend/log'", "PermissionError", "torch_npu"))[0]
>>> [row.get(name) for name in ("what", "name", "who")]
['file', '/root/ascend/log', 'torch_npu']
>>> read(Said("open /dev/davinci_manager failed: Permission denied"))[0].get("what")
'device'
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading

_DENIED = lazy(r"[Pp]ermission denied|[Oo]peration not permitted|(?:is )?not write?able|EACCES|EPERM|[Nn]o permission|[Rr]ead-only file system|[Pp]ermission is (?:not allowed|invalid|too|incorrect|wrong)|[Oo]wner of .{1,200}? (?:is|does|should|must)")
_PATH = lazy(r"(?P<name>(?<![\w.])[/~][\w./+~@%-]{2,200}|(?<=(?<!\w)')[^'\n]{2,200}(?=')|(?<=\[)[/~][^\]\n]{2,200}(?=\]))")
_USER = lazy(r"\b(?:user|uid|by)[ :=]{1,2}\(?['\"]?(?P<who>[\w-]{1,40})")


def read(said: Said) -> tuple[Reading, ...]:
    """What was refused to whom."""
    text = said.line
    denied = _DENIED.search(text)
    if denied is None:
        return ()
    after = _PATH.search(text, denied.start())
    path = after or _PATH.search(text)
    name = path["name"].rstrip(".:,") if path else ""
    user = _USER.search(text)
    what = "device" if name.startswith("/dev/") else "file" if name else "operation"
    if "ead-only file" in denied[0]:
        what = "read-only"
    return (reading("permission", what=what, name=name, who=user["who"] if user else said.raised_in, file=said.user_file),)
