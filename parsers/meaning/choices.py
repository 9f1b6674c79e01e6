"""A value that software does not know, and those that it does.

    ValueError: fsdp2 is not a valid FSDPOption, please select one of ['full_shard', 'shard_grad_op']
    ValueError: 'plugh' is not a valid AttentionBackend
    KeyError: "Unknown kernel 'npu' for op='plugh', variant='full'. Available: ['liger_kernel', 'eager']"
    run.py: error: argument --dtype: invalid choice: 'fp12' (choose from 'fp16', 'bf16')
    ValueError: The batch size (8 x 1) must be divisible by the number of generations per prompt (6). Given it, the valid values for the number of generations are: [2, 4, 8].

>>> from parsers.meaning.said import Said
>>> row = read(Said("fsdp2 is not a valid FSDPOption, please select one of ['full_shard', 'offload']", "ValueError", "transformers"))[0]
>>> [row.get(name) for name in ("how", "given", "subject", "allowed", "where")]
['choice', 'fsdp2', 'FSDPOption', 'full_shard, offload', 'transformers']
"""

from __future__ import annotations

import re

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, distribution, reading

_VALUE = r"['\"`]?(?P<given>[\w./+:-]{1,80})['\"`]?"
_LIST = r"(?P<allowed>[\[({]\s{0,3}['\"\w<][^\])}\n]{0,400}[\])}]?|['\"`][\w./+-]{1,60}['\"`](?:(?:, ?(?:or |and )?| or | and )['\"`][\w./+-]{1,60}['\"`]){0,40}|[\w.-]{1,40}(?:, ?(?:or |and )?[\w.-]{1,40}){1,30})"
_OFFERS = r"(?:[Pp]lease )?(?:(?:[Ss]elect|[Cc]hoose|[Pp]ick|[Ee]xpected|[Mm]ust be|[Ss]hould be|[Uu]se|[Oo]nly supports?)(?: from)?(?: (?:one|any))?(?: of| from)?|(?:[Oo]nly )?(?:[Aa]vailable|[Ss]upported|[Vv]alid|[Aa]llowed|[Pp]ossible|[Kk]nown|[Rr]egistered|[Aa]ccepted)(?: [a-z_]{2,20}){0,3}(?: are| is)?|[Cc]hoices(?: are)?|[Oo]ptions(?: are)?)(?: the following)?(?: [a-z]{1,12})?:? ?"
_FORMS = (
    # an enumeration of Python, with or without what its author adds
    lazy(_VALUE + r" is not a valid (?P<subject>[A-Za-z_][\w.-]{1,60})(?:[,.;:] ?" + _OFFERS + _LIST + r")?"),
    lazy(r"(?:argument )?(?P<subject>-{0,2}[\w/-]{1,60}): invalid choice: ['\"]?(?P<given>[\w./+:-]{1,80})['\"]?,? \(choose from " + r"(?P<allowed>[^)\n]{1,400})"),
    lazy(r"(?:[Uu]nknown|[Uu]nsupported|[Ii]nvalid|[Uu]nrecogni[sz]ed|[Uu]nexpected) (?P<subject>[A-Za-z_`][\w .`-]{1,50}?)(?: (?:type|name|value|option))?(?: ?[:=] ?| (?:is |of )?(?=['\"`]))" + _VALUE + r"(?: for [a-z]\w{0,20}=[^.\n]{1,80})?[,.;:]? ?\(?" + _OFFERS + _LIST),
    lazy(r"(?P<subject>[A-Za-z_-][\w.-]{1,60})(?: must be| should be| has to be|: expected)(?: one)? (?:of|in) (?![\[(] ?-?[\d.]{1,9}, ?(?:-?[\d.]{1,9}|inf)[\])])" + _LIST + r",? ?(?:but )?(?:got|found|received|given|not|is):? " + _VALUE),
    # a rule about a number that ends with the numbers which keep it
    lazy(r"\bby the (?P<subject>[a-z][a-z ]{2,60}?)(?: per [a-z]{1,20})? \((?P<given>\d{1,9})\)\. [^.\n]{0,80}\bvalid values for [a-z ]{1,60} are: (?P<allowed>\[[^\]\n]{1,200}\])"),
    # a device that is refused without a list of those that are not: ctranslate2, and what builds on it
    lazy(r"(?:[Uu]nsupported|[Uu]nknown|[Ii]nvalid|[Uu]nrecogni[sz]ed) (?P<subject>device(?: type| string)?)(?: ?[:=] ?| )['\"]?(?P<given>npu(?::\d{1,3})?)\b['\"]?(?P<allowed>(?!))?"),
    # the devices that are known, and not which one was given
    lazy(r"(?:[Vv]alid|[Ss]upported|[Aa]llowed|[Aa]vailable) (?P<subject>device)s?(?![^\n]{0,300}['\"]npu)(?: (?:types?|strings?|names?))?(?: (?:is|are|must be))?(?: one of)?:? \[?(?P<allowed>['\"](?:cpu|cuda)(?::\d)?['\"](?:(?:, ?(?:or )?| or )['\"][\w:.-]{1,20}['\"]){1,12})(?P<given>(?!))?"),
    lazy(_VALUE + r" is not (?:a )?(?:supported|available|recogni[sz]ed|known|registered)(?: (?:as )?(?:a |an )?(?P<subject>(?!(?:for|by|in|on|with) )[A-Za-z][\w -]{1,40}?))?[,.;:] ?" + _OFFERS + _LIST),
)  # fmt: skip
# What pydantic says: the field, then what it takes and what it got.
_LITERAL = lazy(r"(?:(?P<subject>[A-Za-z_][\w.]{0,80})\s{1,6})?Input should be (?P<allowed>['\"][^\[\n]{1,400}?) \[type=(?:literal_error|enum), input_value=['\"]?(?P<given>[^,'\"\n]{1,80})")
_CHECKERS = frozenset({"pydantic", "pydantic_core"})
_QUOTES = lazy(r"['\"`<>\[\](){}]")


def read(said: Said) -> tuple[Reading, ...]:
    """Which value was given for what, and which ones are known; nothing where no other value is told and no class of values is named."""
    text = said.text[:1500]
    if (found := _LITERAL.search(text)) is not None:
        return (_row(said, found),)
    line = text.partition("\n")[0]
    return next(((_row(said, found),) for form in _FORMS if (found := form.search(line)) is not None), ())


def _row(said: Said, found: re.Match[str]) -> Reading:
    allowed = " ".join(_QUOTES.sub("", found["allowed"] or "").replace(" or ", ", ").replace(" and ", ", ").split()).strip(" ,")
    checked = said.raised_in in _CHECKERS and bool(said.caller)  # whose setting it is: of who asked for the check
    owner = said.raised_in if not checked else said.caller if said.caller != "user" else ""
    where = owner or said.user_file
    by = "library" if owner else "user" if said.user_file else "unknown"
    return reading(
        "rule", how="choice" if found["given"] else "devices", rule=found[0], subject=(found["subject"] or "").strip(" `"), given=(found["given"] or "").rstrip(".:"), allowed=allowed,
        where=where, by=by, caller=said.caller if said.caller != "user" else "",
        where_pip=distribution(owner) if owner else "", caller_pip=distribution(said.caller) if said.caller not in ("", "user") else "", file=said.user_file,
    )  # fmt: skip
