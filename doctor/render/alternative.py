"""How the title of a fix that names an alternative reads behind a label that says so already.

>>> behind_or("Or take a later image"), behind_or("或使用更新的镜像"), behind_or("Orion first"), behind_or("或者关闭图模式")
('Take a later image', '使用更新的镜像', 'Orion first', '关闭图模式')
"""

from __future__ import annotations

from parsers.lazy import lazy

_OR = lazy(r"(?:Or,? |或(?:者)?，?(?!许))(?=\S)")
_WORD = lazy(r"[a-z]{1,20}(?=[ ,:])")
_NAMES = frozenset({"vllm", "sglang", "verl", "pip", "msrun", "mpirun", "torchrun", "torch", "triton", "transformers", "trl", "peft", "swift", "msmodelslim", "conda", "atc"})  # are written small everywhere


def behind_or(title: str) -> str:
    """The title without its own "or"."""
    if (found := _OR.match(title)) is None:
        return title
    rest = title[found.end() :]
    first = _WORD.match(rest)
    return rest if first is None or first[0] in _NAMES else rest[0].upper() + rest[1:]
