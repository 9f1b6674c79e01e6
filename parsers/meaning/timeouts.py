"""Somebody waited in vain: for what, how long, and what sets that time.

    torch.distributed.DistNetworkError: The client socket has timed out after 600s while trying to connect to (node-1, 29500).
    TimeoutError: Timed out waiting for the engine core to start, increase VLLM_ENGINE_READY_TIMEOUT_S
    requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=10)
    wait for kernel foo timeout, time: 120000 ms

>>> from parsers.meaning.said import Said
>>> row = read(Said("The client socket has timed out after 600s while trying to connect to (node-1, 29500).", "DistNetworkError", "torch"))[0]
>>> [row.get(name) for name in ("waited_for", "seconds", "who")]
['connect to (node-1, 29500)', '600', 'torch']
>>> row = read(Said("Timed out after 30000 ms waiting for the engine, increase VLLM_ENGINE_READY_TIMEOUT_S"))[0]
>>> row.get("set_by"), row.get("seconds"), row.get("setting")
('VLLM_ENGINE_READY_TIMEOUT_S', '30', 'variable')
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading
from parsers.meaning.shapes import thing, whole_words

_IS = lazy(
    r"[Tt]imed[ -]?out|[Tt]ime[- ]?out(?: (?:error|expired|occurr|exceeded|after|waiting|when|while|of|in|\()|[!.,:]|\s*$)|\b\w{1,60} (?:wait )?time ?out\b|DEADLINE_EXCEEDED|[Dd]eadline exceeded|超时"
)
_LONG = lazy(r"(?P<n>\d[\d.]{0,14}) ?(?P<unit>milliseconds|microseconds|seconds?|minutes?|min|ms|us|sec|s|m|h)\b|(?:Timeout|timeout|time)\(?(?P<unit2>ms|s)\)? ?[=:] ?(?P<n2>\d[\d.]{0,14})|(?:read |connect )?timeout ?[=:]? ?\(?(?P<n3>\d[\d.]{0,14})")
_FOR = lazy(
    r"\b(?:wait(?:ing|ed|s)?(?: for)?|while trying to|trying to|when|while|connection to|connecting to|connect to)(?: the)? (?P<what>(?:\([^)\n]{0,60}\)|\.(?=\S)|[^\n.;,()]){3,100}?)(?=,| (?:timed|time ?out|failed|within|after|for \d)|\. |\.$|;|$)"
)
_HEAD = lazy(r"(?P<what>[A-Za-z_][\w .()/-]{2,60}?) (?:has |was |is )?(?:timed out|time ?out)\b")
_HOST = lazy(r"host='(?P<what>[^'\n]{1,100})'")
_VARIABLE = lazy(r"\b(?P<name>(?=[A-Z0-9_]{0,60}(?:TIMEOUT|TIME_OUT|EXEC_TIME|INTERVAL|_WAIT))[A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{2,60})\b")
_OPTION = lazy(r"(?P<name>--[\w-]{0,40}timeout[\w-]{0,30})|\b(?P<key>[a-z][a-z_]{0,40}timeout[a-z_]{0,20})\b(?= ?[=(:'\"`]|[`'\"])|`(?P<quoted>\w{0,40}timeout\w{0,20})`")

_NOTHING = ("timeout", "time out", "in ", "of ", "there ", "the ", "a ", "is ", "error", "execution of ", "canceling statement")  # the last: a database obeys its limit


def read(said: Said) -> tuple[Reading, ...]:
    """Who waited for what, and by what that is set."""
    text = said.line
    if _IS.search(text) is None and "Timeout" not in said.type:
        return ()
    what = _HOST.search(text) or _FOR.search(text) or _HEAD.search(text)
    variable, option = _VARIABLE.search(text), _OPTION.search(text)
    name = variable["name"] if variable else next((v for v in option.groups() if v), "") if option else ""
    waited_for = _clean(what["what"]) if what and whole_words(text, *what.span("what")) else ""
    if len(waited_for) < 4 or waited_for.lower().startswith(_NOTHING):
        waited_for = ""
    seconds = _seconds(text)
    if not (waited_for or seconds or name):
        return ()
    return (
        reading(
            "timeout", waited_for=waited_for, seconds=seconds, set_by=name,
            setting="variable" if variable else "option" if name else "unknown", who=said.raised_in, file=said.user_file,
        ),
    )  # fmt: skip


def _clean(what: str) -> str:
    return thing(what.strip(" ,:'\""))


def _seconds(text: str) -> str:
    """The first duration, in seconds."""
    found = _LONG.search(text)
    if found is None:
        return ""
    digits, unit = found["n"] or found["n2"] or found["n3"], found["unit"] or found["unit2"] or "s"
    try:
        value = float(digits.rstrip("."))
    except ValueError:
        return ""
    factor = 1e-6 if unit.startswith(("us", "micro")) else 1e-3 if unit.startswith(("ms", "milli")) else 60.0 if unit.startswith("m") else 3600.0 if unit == "h" else 1.0
    return f"{value * factor:g}" if value * factor < 1e6 else f"{value * factor:.0f}"
