"""More was asked for than there is: "needs X, has Y".

    ValueError: req: 0 out of memory, need block:35 is more than free block 10
    AssertionError: local_world_size (2) must be less than or equal to the number of visible devices (0).
    This model's maximum context length is 4096 tokens. However, you requested 5000 tokens
    OSError: [Errno 98] Address already in use
    OSError: [Errno 24] Too many open files

>>> from parsers.meaning.said import Said
>>> row = read(Said("req: 0 out of memory, need block:35 is more than free block 10", "ValueError"))[0]
>>> [row.get(name) for name in ("resource", "needs", "has")]
['block', '35', '10']
>>> row = read(Said("Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 34009 tokens"))[0]
>>> [row.get(name) for name in ("kind", "needs", "has")]
['length', '34009 tokens', '32768 tokens']
>>> row = read(Said("Free memory on device (8.0/64.0 GiB) on startup is less than desired GPU memory utilization (0.9, 57.6 GiB)."))[0]
>>> [row.get(name) for name in ("kind", "needs", "has")]
['memory', '57.6 GiB', '8.0 GiB']
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading
from parsers.meaning.shapes import thing

_N = r"(?P<{0}>\d[\d.,]{{0,18}}) ?(?P<{1}>[KMGT]i?B\b|bytes\b|MB\b|tokens?\b|dims?\b|GB\b)?"
_RESOURCE = r"(?P<resource>[A-Za-z_][\w/ .-]{0,60}?)"
_FORMS = (
    # needs first
    lazy(r"[Ff]ree memory on device \S{0,30} ?\((?P<has>[\d.]{1,12})/[\d.]{1,12} (?P<unit>GiB)\).{0,60}?is less than .{0,80}?, (?P<needs>[\d.]{1,12}) (?P<resource>)"),
    lazy(rf"needs? (?P<resource>[A-Za-z_]\w{{0,30}}) ?[:=]? ?{_N.format('needs', 'unit')},? (?:is|are) (?:more|greater|larger) than (?:\w{{1,20}} ){{0,3}}?(?:\w{{1,30}} ?[:=]? ?){_N.format('has', 'unit2')}"),
    lazy(r"(?P<resource>[A-Za-z_][\w. -]{0,60}?) ?\((?P<needs>\d{1,18})\) (?:must|should) (?:be|not be) (?:less|smaller|no more|greater|larger|more) than (?:or equal to )?.{0,80}?\((?P<has>\d{1,18})\)"),
    lazy(rf"maximum (?P<resource>context length|[\w ]{{1,40}}?) (?:is|of|:) {_N.format('has', 'unit')}.{{0,60}}?(?:requested|got|but) {_N.format('needs', 'unit2')}"),
    lazy(rf"maximum (?P<resource>context length) of {_N.format('has', 'unit')}\. You requested a total of {_N.format('needs', 'unit2')}"),
    lazy(rf"{_RESOURCE} ?\((?:length |size )?{_N.format('needs', 'unit')}\) (?:is (?:longer|larger|greater|more|bigger) than|exceeds?) .{{0,80}}?(?:length|size|limit|maximum|of|is|than) (?:of )?\(?{_N.format('has', 'unit2')}\)?"),
    lazy(rf"{_RESOURCE} ?\((?P<has>\d{{1,18}})\) (?:is|are) (?:smaller|less|lower) than .{{0,80}}?\((?P<needs>\d{{1,18}})\)"),
    lazy(rf"(?:[Rr]equires?|[Rr]equired|[Nn]eeds?|[Aa]sked for|[Rr]equested?|[Ee]xpect(?:ed|s)?):? (?:at least )?{_N.format('needs', 'unit')} ?(?P<resource>[A-Za-z][\w /-]{{0,40}}?)?,? ?(?:but|and|while|, |\()[^\d\n]{{0,60}}{_N.format('has', 'unit2')}(?= (?:[\w ]{{1,30}} )?(?:is|are|available|free|found|left|visible)|[.)]?$)"),
    lazy(rf"{_RESOURCE} {_N.format('needs', 'unit')},? (?:which )?(?:exceeds?|is (?:more|larger|greater|bigger) than|exceeded) (?:the )?(?:\w{{1,20}} ){{0,5}}?{_N.format('has', 'unit2')}"),
    lazy(rf"(?:[Ii]nsufficient|[Nn]ot enough) (?P<resource>[A-Za-z][\w -]{{0,40}}?)(?: \w{{1,12}})?[:,.] (?:\w{{1,20}} ?[:=]? ?){{0,3}}?{_N.format('needs', 'unit')}[^\d]{{1,60}}{_N.format('has', 'unit2')}"),
)  # fmt: skip
_BUSY = lazy(r"(?:[Aa]ddress already in use|port (?P<port>\d{2,5}) (?:is )?already in use)")
_PORT = lazy(r"(?:[Pp]ort:? ?|[\w.*\]]:)(?P<port>\d{2,5})\b|\('[^']{0,60}', (?P<tuple>\d{2,5})\)")
_ERRNO = (
    ("No space left on device", "disk space"),
    ("Too many open files", "open files"),
    ("Cannot allocate memory", "host memory"),
    ("Resource temporarily unavailable", "processes or threads"),
)  # fmt: skip
_PLACE = lazy(r"(?:left on device|open files|allocate memory): '(?P<where>[^'\n]{1,160})'")

_KINDS = (
    ("memory", ("memory", "hbm", "gib", "mib", "kib", " gb", " mb", "bytes")), ("blocks", ("block",)),
    ("length", ("length", "token", "prompt", "seq", "model_len", "batched_tokens")), ("devices", ("device", "npu", "gpu", "card", "world", "rank")),
    ("streams", ("stream", "event", "notify")), ("dims", ("dim",)), ("processes", ("process", "thread")), ("size", ()),
)  # fmt: skip


def read(said: Said) -> tuple[Reading, ...]:
    """What was too little, and how much there is."""
    text = said.line
    for words, resource in _ERRNO:
        if words in text:
            where = _PLACE.search(text)
            kind = "disk" if resource == "disk space" else "host"
            return (reading("limit", kind=kind, resource=resource, where=where["where"] if where else ""),)
    if _BUSY.search(text) is not None:
        port = _PORT.search(text)
        return (reading("limit", kind="port", resource="port", needs=(port["port"] or port["tuple"]) if port else ""),)
    for form in _FORMS:
        if (found := form.search(text)) is not None:
            told = found.groupdict()
            unit, other = told.get("unit") or told.get("unit2") or "", told.get("unit2") or told.get("unit") or ""
            resource = _clean(told["resource"] or "")
            kind = kind_of(f"{resource} {unit}" if resource or unit else "memory")
            if not unit and not other and _fits(told["needs"], told["has"]):
                continue  # two numbers that stand side by side for another reason
            needs, has = f"{told['needs'].rstrip('.,')} {unit}", f"{told['has'].rstrip('.,')} {other}"
            return (reading("limit", kind=kind, resource=resource or kind, needs=needs, has=has),)
    return ()


def _fits(needs: str, has: str) -> bool:
    """Is less asked for than there is?"""
    a, b = needs.rstrip(".,"), has.rstrip(".,")
    return a.isdecimal() and b.isdecimal() and int(a) < int(b)


def kind_of(words: str) -> str:
    """Of what kind a resource is: memory | blocks | length | devices | streams | dims | processes | size."""
    lower = words.lower().replace("input", "")  # the middle of an input is no NPU
    return next((kind for kind, signs in _KINDS if any(sign in lower for sign in signs)), "size")


def _clean(resource: str) -> str:
    words = thing(resource.strip(" ,.:-")).split()
    return thing(" ".join(words[-4:]))
