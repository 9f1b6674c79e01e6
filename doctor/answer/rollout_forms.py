"""Options of an engine that a trainer starts for its rollout, in verl's words: nobody types `vllm serve` there.

>>> lines("vllm", (Option("enforce-eager", 0, 1, ()), Option("compilation-config", 0, 2, ('{"cudagraph_mode": "PIECEWISE"}',))))
['actor_rollout_ref.rollout.enforce_eager=True', '+actor_rollout_ref.rollout.engine_kwargs.vllm.compilation_config.cudagraph_mode=PIECEWISE']
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from doctor.base import shell
from doctor.base.notation import clean
from doctor.findings.situation import Situation
from doctor.findings.started import Option

_ROLLOUT = "actor_rollout_ref.rollout."
_OWN = frozenset({"enforce_eager", "gpu_memory_utilization", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "dtype", "load_format", "enable_chunked_prefill", "enable_prefix_caching", "free_cache_engine"})
_CALLED = {"tensor_parallel_size": "tensor_model_parallel_size", "tp_size": "tensor_model_parallel_size", "mem_fraction_static": "gpu_memory_utilization", "context_length": "max_model_len", "disable_cuda_graph": "enforce_eager", "max_running_requests": "max_num_seqs"}


def way(situation: Situation) -> str | None:
    """Does a trainer start the engine: verl, or one that is not named? None where nothing tells so, or somebody typed a command for it."""
    if any(one.typed and one.kind in ("vllm", "sglang") for one in situation.started):
        return None
    if "verl" in situation.facts.get("framework", ()):
        return "verl"
    return "rollout" if "rl-rollout" in situation.facts.get("seen", ()) else None


def lines(kind: str, options: Iterable[Option]) -> list[str]:
    """One argument of verl a line."""
    return [line for option in options for line in _of(kind, option)]


def called(kind: str, written: str) -> str:
    """What an option is called there: `--max-num-seqs`."""
    name = written.lstrip("-").replace("-", "_")
    name = _CALLED.get(name, name)
    return f"{_ROLLOUT}{name}" if name in _OWN or name in _CALLED.values() else f"{_ROLLOUT}engine_kwargs.{kind}.{name}"


def _of(kind: str, option: Option) -> Iterator[str]:
    off = option.name.startswith("no-") and not option.values
    name = called(kind, option.name.removeprefix("no-") if off else option.name)
    new = "+" if ".engine_kwargs." in name else ""  # Hydra wants it for a key that no file of settings has
    value = "False" if off else " ".join(option.values) or "True"
    for key, inner in _flat(value):
        yield clean(f"{new}{name}{key}={shell.word(inner)}")


def _flat(value: str) -> Iterator[tuple[str, str]]:
    """Settings in JSON, key by key."""
    try:
        read = json.loads(value) if value.startswith("{") else None
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict) or not read:
        yield "", value
        return
    for key, inner in read.items():
        if isinstance(inner, dict) and inner:
            yield from ((f".{key}{more}", last) for more, last in _flat(json.dumps(inner)))
        else:
            yield f".{key}", str(inner) if isinstance(inner, (str, bool)) else json.dumps(inner)
