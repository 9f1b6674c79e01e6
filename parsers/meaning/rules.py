"""A check that was not met: an assertion, a refused configuration, an unknown option.

    AssertionError: hidden_size must be divisible by tp_size
    ValueError: Invalid value for --dtype: fp12
    ValueError: chunked prefill is not supported with MLA
    train.py: error: unrecognized arguments: --foo
    AssertionError
        (a bare one: the source line tells the rule)

>>> from parsers.meaning.said import Said
>>> row = read(Said("num_heads (40) must be divisible by tp_size (16)", "AssertionError", "vllm"))[0]
>>> [row.get(name) for name in ("how", "rule", "subject", "where")]
['requirement', 'num_heads (40) must be divisible by tp_size (16)', 'num_heads (40)', 'vllm']
>>> row = read(Said("npu_frob: h0 must be [B,Hv,K,V]; h0=[7, 1, 128] chunk=1", "RuntimeError"))[0]
>>> [row.get(name) for name in ("operator", "tensor", "layout", "has", "wants")]
['npu_frob', 'h0', '[B,Hv,K,V]', '3', '4']
>>> row = read(Said("", "AssertionError", "megatron", code="assert args.seq_length % 2 == 0"))[0]
>>> row.get("how"), row.get("rule")
('assertion', 'args.seq_length % 2 == 0')
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.demands import VERB, demand
from parsers.meaning.said import ASSERTION, Reading, Said, reading
from parsers.meaning.shapes import thing

_PREFIX = lazy(r"^(?:[\w./-]{1,80}: )?(?:\[[A-Z]{4,8}\] ?)?(?:[EW][0-9A-Z]\d{4})?(?:\[PID: ?\d{1,12}\] ?)?(?:\d{4}-\d\d-\d\d[-T ][\d:.]{8,16} ?)?(?:\(PID[^)\n]{0,60}\) ?)?(?:\w{0,40}\(?[EW][0-9A-Z]\d{4}\)?: ?)?(?:\[PID: ?\d{1,12}\] ?)?(?:\d{4}-\d\d-\d\d[-T ][\d:.]{8,16} ?)?(?:(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z]\w{0,60}(?:Error|Exception): )?(?:error: )?(?:\[[^\]\n]{1,80}\] ?){0,3}")
_OPTION = lazy(r"(?:(?:unrecogni[sz]ed arguments?|unknown (?:option|argument|key|parameter)s?|no such option|invalid choice)s?:? (?P<given>[^\n(]{1,120}))", 2)
_INVALID = lazy(r"(?:[Ii]nvalid (?:value|argument|setting|config(?:uration)?)s?(?: (?:of|for) (?P<subject>[\w.`'\"\[\]-]{1,80}))?(?:[:=,] ?| is )(?P<given>[^\n\[]{1,120}))")
_RANGE = (
    lazy(r"[Vv]alue \[?(?P<given>[^\]\s]{1,80})\]? (?:for|of) (?:the )?(?:parameter|attribute|argument) \[?(?P<subject>[\w.-]{1,80})\]? is invalid\.\s{0,3}(?:Expected value|The value must be|Reason|Valid range)[: ]{1,3}(?P<allowed>[^\n]{1,160}?)\.?\s*$"),
    lazy(r"(?P<subject>[A-Za-z_][\w.-]{0,80}) is invalid, (?:the )?current value (?:is|:) ?(?P<given>[^\s,;]{1,80})[,;] ?(?:and )?(?:the )?(?:valid|expected|supported) (?:range|values?) (?:is|are|:) ?(?P<allowed>[^\n]{1,160}?)\.?\s*$"),
)  # fmt: skip
_TOGETHER = lazy(r"(?:(?P<subject>[^\n.;]{2,140}?) (?:(?:is|are) )?(?:currently |presently |so far )?(?:not (?:yet |currently )?(?:supported|compatible|allowed)|incompatible|unsupported|mutually exclusive)(?: (?:with|when|for|in|by|together with|while|if) (?P<given>[^\n.;]{1,120}))?)")
# Who says so as an exception speaks of a choice that was made; a line of a log may only tell what a chip lacks.
_REFUSES = lazy(r"(?:^|: )(?P<subject>[^\n.;:]{2,100}?) (?:does|do|did) ?(?:not|n't) (?:yet |currently )?support (?P<given>[^\n.;:]{2,120})")
_RAISED = lazy(r"(?:\w+\.){0,6}\w{1,60}(?:Error|Exception): ")
_CANNOT = lazy(r"(?:(?P<subject>[^\n.;]{2,140}?) (?:cannot|can't|can not) be (?:used|enabled|set|combined|applied)(?: (?:with|when|together with|for|in|and) (?P<given>[^\n.;]{1,120}))?)")
_EXPECTED = lazy(r"(?:[Ee]xpected (?P<allowed>[^\n;]{1,120}?),? (?:but )?(?:got|found|received|given)\b:? ?(?P<given>[^\n;]{1,100}))")
_WHILE = lazy(r"^(?:Error|Failed|Exception) (?:while )?[a-z]{3,20}ing(?: [^\s:]{1,60}){0,6}: (?=\S)")  # what was being done; what it says stands behind
_SUBJECT = lazy(r"(?:^For '[\w.]{1,80}', the (?:argument|parameter|value of) '|^(?:[Ii]nvalid|[Uu]nsupported|[Ww]rong) (?:parameter|argument|value) |,? (?:which|that|it)$)")
# A tensor by its axes, and what came: of how many each is, decides.
_LAYOUT = lazy(r"(?:(?P<operator>[a-z]\w{2,80}): )?\b(?P<tensor>[A-Za-z_]\w{0,40})(?:'s shape)? (?:must|should) be (?P<layout>\[[A-Za-z]\w{0,30}(?:, ?[\w*+/-]{1,30}){1,7}\])[;,.]? (?:but got |got )?(?:(?P=tensor) ?= ?)?(?P<shape>\[\d{1,9}(?:, ?\d{1,9}){0,7}\])")
_ASSERT = lazy(r"\s*assert\b ?\(?(?P<rule>.{1,160}?)(?:, f?['\"].*|,\s*\(?\s*)?$")


# What the interpreter says of types that do not go together: no rule that anybody made.
_OF_PYTHON = lazy(r"^(?:'[^'\s]{1,3}' not supported between instances|unsupported operand type|'\w{1,40}' object does not support item|bad operand type|can only concatenate|unsupported format string)")


def read(said: Said) -> tuple[Reading, ...]:
    """Which rule was not met, and where."""
    text = _WHILE.sub("", _PREFIX.sub("", said.text[:1500].strip().partition("\n")[0]))
    if _OF_PYTHON.match(text) is not None:
        return ()
    asserted = said.type.endswith(ASSERTION) or said.text.startswith(ASSERTION)
    for form in _RANGE:
        if (found := form.search(text)) is not None:
            return (_row(said, "range", found[0], found["subject"], found["given"], found["allowed"]),)
    for how, form in (
        ("option", _OPTION), ("value", _INVALID), ("requirement", _EXPECTED), ("combination", _TOGETHER), ("combination", _CANNOT),
    ):  # fmt: skip
        if (found := form.search(text)) is not None:
            told = found.groupdict()
            return (_row(said, how, text, told.get("subject") or "", told.get("given") or ""),)
    if (said.type or _RAISED.match(said.text) is not None) and (found := _REFUSES.search(text)) is not None:
        return (_row(said, "combination", text, found["given"], found["subject"]),)
    if (asked := demand(text, VERB)) is not None:
        return (_row(said, "requirement", text, asked.subject, asked.given),)
    if not asserted:
        return ()
    code = _ASSERT.match(said.code)
    rule = text if text and not text.startswith(ASSERTION) else code["rule"] if code else ""
    return (_row(said, "assertion", rule, "", ""),) if rule else ()


def _row(said: Said, how: str, rule: str, subject: str, given: str, allowed: str = "") -> Reading:
    where = said.raised_in or said.user_file
    by = "library" if said.raised_in else "user" if said.user_file else "unknown"
    shaped = _LAYOUT.search(said.line) if " be [" in rule else None
    cells = {}
    if shaped is not None and (has := shaped["shape"].count(",") + 1) != (wants := shaped["layout"].count(",") + 1):
        cells = {"operator": shaped["operator"] or "", "tensor": shaped["tensor"], "layout": shaped["layout"], "has": str(has), "wants": str(wants)}
    return reading("rule", **cells, how=how, rule=rule.rstrip(". "), subject=thing(_SUBJECT.sub("", subject)).rstrip("'"), given=given.strip(" .'\""), allowed=allowed, where=where, by=by, file=said.user_file)
