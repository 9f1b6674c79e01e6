"""Which release of a library is the first to know the model that a failure names.

The class of a model, its type in config.json and its module are one name, written in three ways: `Qwen3VLForConditionalGeneration`,
`qwen3_vl`, `transformers.models.qwen3_vl.modeling_qwen3_vl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from doctor.findings.release import release
from kb.pairings import MODELS, Pairing
from parsers.lazy import lazy

NAMES = frozenset({"transformers_since", "transformers_range", "vllm_since", "image_since", "image_vllm"})
_TELL = ("model", "arch", "name")  # what leaves call it
_NAME = lazy(r"[A-Za-z][\w.-]{2,120}")
_MODULE = lazy(r"(?:vllm|vllm_ascend|transformers)\.(?:model_executor\.)?models\.(\w+)")
# What stands behind the model in the name of a class, or of a part of its settings.
_PART = lazy(
    r"(?:For[A-Z]\w*|(?:Text|Vision|Audio|Talker|Thinker|Image|Video)?(?:Config|Model|LMHeadModel|Processor|ImageProcessor|VideoProcessor|FeatureExtractor|Tokenizer(?:Fast)?"
    r"|Attention|DecoderLayer|MLP|RMSNorm|RotaryEmbedding|PreTrainedModel|SparseMoeBlock|GatedDeltaNet|VisionBlock|VisionPatchEmbed)\w*)$"
)
_LETTERS = lazy(r"[^a-z0-9]")
_FORMS = lazy(r"(?:moe|text|vision|audio|talker|thinker|model)+$")  # of a model that came with it
_MAJOR = "5"


def since(captures: Mapping[str, str], versions: Mapping[str, str], rows: Sequence[Pairing]) -> dict[str, str]:
    """The first releases that know a captured model; nothing of software that is as new, or newer, and does not know it all the same."""
    keys = tuple(names_of(captures))
    told: dict[str, str] = {}
    for software in ("transformers", "vllm") if keys else ():
        known = next((row.versions[software][0] for key in keys for row in rows if row.table == MODELS and software in row.versions and key in row.versions["models"]), "")
        if known and not (software in versions and release(versions[software]) >= release(known)):
            told[f"{software}_since"] = known
    if first := told.get("transformers_since"):
        told["transformers_range"] = f">={first}" + ("" if release(first) >= release(_MAJOR) else f",<{_MAJOR}")
    return told | _image(told.get("vllm_since", ""), rows)


def _image(vllm: str, rows: Sequence[Pairing]) -> dict[str, str]:
    """The first vllm-ascend for such a vLLM, a finished release where there is one."""
    pairs = [(row.versions["vllm_ascend"][0], row.versions["vllm"][0]) for row in rows if row.table == "vllm_ascend"] if vllm else []
    fitting = sorted((pair for pair in pairs if release(pair[1]) >= release(vllm)), key=lambda pair: (not pair[0].replace(".", "").isdecimal(), release(pair[0])))
    return {"image_since": fitting[0][0], "image_vllm": fitting[0][1]} if fitting else {}


def names_of(captures: Mapping[str, str]) -> Iterator[str]:
    """As the table writes them.

    >>> list(names_of({"arch": "'Qwen3VLMoeForConditionalGeneration'"})), list(names_of({"model": "glm4_moe"}))
    (['qwen3vlmoe', 'qwen3vl'], ['glm4moe', 'glm4'])
    """
    for name in _TELL:
        found = _NAME.search(captures.get(name, ""))
        if found is None:
            continue
        module = _MODULE.match(found[0])
        key = _LETTERS.sub("", (module[1] if module else _PART.sub("", found[0])).lower())
        yield key
        if (whole := _FORMS.sub("", key)) != key:
            yield whole
