"""Words that a command leaves to its reader, POD, MODEL_PATH, IMAGE, put in where the logs tell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from parsers.lazy import lazy

# The word, the fact that it stands for, and what a command must hold for the word to mean that.
WORDS: Mapping[str, tuple[str, str]] = {
    "POD": ("pod", "kubectl "),
    "NODE": ("kube_node", "kubectl "),
    "NAMESPACE": ("namespace", "kubectl "),
    "CONTAINER": ("container", "kubectl "),
    "IMAGE": ("image", "docker "),
    "MODEL": ("model", ""),
    "MODEL_PATH": ("model", ""),
    "MODEL_DIR": ("model", ""),
}
_WORD = lazy(r"(?<![\w$\-.{\[|\\%:@'\"])(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")(?![\w=(.:\]}'\"])")
_OF_A_POD = lazy(r"\bkubectl (?=(?:describe pod|logs|get pod|exec|delete pod|get events)\b)(?![^;|&]* (?:-n|-A|--namespace|--all-namespaces)\b)")


def filled(run: str, known: Mapping[str, str], quote: Callable[[str, str], str]) -> str:
    """The command with what is known put in; `quote` gets a value and what stands before it."""

    def one(match: re.Match[str]) -> str:
        fact, needed = WORDS[match[0]]
        value = known.get(fact)
        return match[0] if value is None or needed not in run else quote(value, run[: match.start()])

    made = _WORD.sub(one, run)
    space = known.get("namespace")
    if space and space != "default" and (made != run or known.get("pod", run) in run):
        made = _OF_A_POD.sub(lambda m: f"{m[0]}-n {quote(space, '')} ", made)
    return made
