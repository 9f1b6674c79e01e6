"""The sentence in which a message says itself what to do, where it names no option that could be set for the reader.

    No columns match. Please check the dataset. You may need to set `remove_unused_columns=False` in `TrainingArguments`.

A log is text of others: nothing of such a sentence is run, and one that sends away (to an address, a tracker) or destroys is not taken.

>>> said("Cannot pad. Please select a token to use as `pad_token`.")
'Select a token to use as `pad_token`'
>>> said("Bad plugh. Please check the plugh. You may need to set `frob_nodes=2` first.")
'You may need to set `frob_nodes=2` first'
>>> said("It was saved whole. Please use `load_whole` instead.")
'Use `load_whole` instead'
>>> said("Plugh is full, please delete the folder /data."), said("A bug. Please report it with frob_nodes."), said("frob_nodes is 2")
('', '', '')
"""

from __future__ import annotations

from parsers.lazy import lazy

_LONGEST = 2000
_MOST = 200
_ENDS = lazy(r"(?<=[.!?)])\s{1,3}(?=[A-Z`'\"])")
_ASKS = lazy(
    r"(?:(?:^|[,;:] (?:so |and )?)(?:[Pp]lease (?:try (?:to |again )?(?!again))?|(?=(?:[Cc]onsider|[Tt]ry|[Ee]ither|[Uu]se|[Ss]et|[Ii]ncrease|[Dd]ecrease|[Rr]educe|[Mm]ake sure|[Yy]ou (?:should|may|must|need|have|can))\b)(?![Tt]ry again))|\b[Pp]lease )"
    rf"(?P<what>[A-Za-z][^\n]{{7,{_MOST}}}?)[.!]?$"
)
_NAMES = lazy(r"[`'\"]\w|\w_\w|--\w|\w=\w|[a-z]\(\)|\d")
_WEAK = lazy(r"(?i)(?:check|verify|ensure|make sure|inspect|look|wait|try|provide|specify|note|be|you|confirm|review)\b")  # says nothing without a name
_AWAY = lazy(r"(?i)https?:|\b(?:report|issue|contact|support|forum|refer|visit|documentation|docs|guide|logs?|traceback|stack ?trace|see|tutorial|install|upgrade|update)\b")
_DESTROYS = lazy(r"(?i)\b(?:rm|delete|erase|wipe|format|kill|reboot|reset|sudo|curl|wget|chmod|unset|overwrite)\b|\bremov\w{1,6}\b.{0,40}\b(?:director|folder|file|cache|path)")


def said(message: str) -> str:
    """What a message asks for, as one clause; the one that names a thing before one that does not."""
    asked = [what for part in _ENDS.split(message[:_LONGEST]) if (found := _ASKS.search(part.strip())) is not None and not _AWAY.search(what := found["what"].strip()) and not _DESTROYS.search(what)]
    best = next((what for what in asked if _NAMES.search(what)), next((what for what in asked if not _WEAK.match(what)), ""))
    return best if _NAMES.search(best.partition(" ")[0]) else best[:1].upper() + best[1:]
