"""Python packages from the metadata that installers write: nothing is imported, no Python is started."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from doctor.env.facts import Fact
from doctor.env.looking import Look, fields
from doctor.env.releases import holds
from doctor.env.tree import FILE, FOLDER, Tree

# What decides whether a job starts; everything else in an environment is left alone.
NAMES = (
    "torch", "torch-npu", "torchvision", "torchaudio", "torchair", "vllm", "vllm-ascend", "sglang", "lmdeploy", "mindspore", "mindie-llm",
    "mindie-turbo", "transformers", "tokenizers", "accelerate", "peft", "trl", "deepspeed", "verl", "ms-swift", "llamafactory", "mindspeed",
    "mindspeed-llm", "megatron-core", "triton", "triton-ascend", "numpy", "protobuf", "ray", "te", "hccl", "auto-tune", "decorator", "attrs",
    "sympy", "scipy", "psutil", "cffi", "pyyaml", "cloudpickle", "absl-py", "onnx", "onnxruntime", "onnxruntime-cann", "tensorflow",
    "npu-bridge", "paddlepaddle", "paddle-custom-npu", "bitsandbytes", "modelscope", "datasets", "safetensors", "huggingface-hub", "xgrammar",
    "mooncake-transfer-engine", "torchcodec", "diffusers", "timm", "compressed-tensors", "setuptools",
)  # fmt: skip
# Who says in its own metadata what it needs, and is right about it on an NPU. vllm is not: its pins are those of CUDA.
_ASKERS = ("torch-npu", "vllm-ascend", "torchvision", "torchaudio", "transformers", "accelerate", "mindspore", "triton-ascend", "peft", "trl", "tokenizers")
_DIST = re.compile(r"^(?P<name>[A-Za-z0-9][\w.]*?)-(?P<version>\d[^-]*)(?:-py3?\.?\d*)?\.(?:dist|egg)-info$")
_NEEDS = re.compile(r"^Requires-Dist:\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?$", re.MULTILINE)
_COMPILER = ("attrs", "decorator", "numpy", "psutil", "scipy")  # what the operator compiler of CANN imports
_OURS = {"setuptools", "attrs"}  # too common to be told when nothing else of Ascend is there
MAX_ENVIRONMENTS = 200


def canonical(name: str) -> str:
    """One spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def gather(look: Look) -> Iterator[Fact]:
    """The packages of the environment in use."""
    prefix, how = environment(look)
    if not prefix:
        yield Fact("python.state", "absent")
        return
    yield Fact("python.prefix", prefix, prefix)
    yield Fact("python.chosen_by", how, prefix)
    yield from _version(look.tree, prefix)
    found = _packages(look.tree, prefix)
    for name, several in found.items():
        fact = name.replace("-", "_").replace(".", "_")
        path, version = several[-1][1], several[-1][0]
        yield Fact(f"python.{fact}", version, path)
        if len({v for v, _ in several}) > 1:
            yield Fact("python.twice", f"{name} {' and '.join(v for v, _ in several)}", path)
        if name in ("torch", "torch-npu", "vllm", "vllm-ascend", "mindspore") and not _code(look.tree, path, fact):
            yield Fact("python.without_code", name, path)
    if framework := [name for name in ("torch-npu", "mindspore", "npu-bridge", "paddle-custom-npu") if name in found]:
        yield Fact("python.for_npu", "yes", found[framework[0]][-1][1])
    if framework or "ASCEND_HOME_PATH" in look.variables or "ASCEND_OPP_PATH" in look.variables:
        lacking = [name for name in _COMPILER if name not in found]
        yield Fact("python.compiler_lacks", ", ".join(lacking) or "none", prefix)
    if any(name not in _OURS for name in found):
        yield Fact("python.twice", "none")
        yield Fact("python.without_code", "none")
        yield from _unmet(look.tree, found)


def environment(look: Look) -> tuple[str, str]:
    """The prefix of the Python in use, and what says so."""
    tree = look.tree
    if look.python:
        return _prefix_of(tree, look.python), "--python"
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        value = look.variables.get(name, "")
        if value.startswith("/") and sites(tree, value):
            return value, name
    for folder in look.variables.get("PATH", "").split(":")[:100]:
        for program in ("python", "python3"):
            if folder.startswith("/") and tree.kind(f"{folder}/{program}") == FILE:
                prefix = _prefix_of(tree, f"{folder}/{program}")
                if sites(tree, prefix):
                    return prefix, f"{folder}/{program}"
    if tree.live:
        return sys.prefix, "this Python"
    found = [p for p in _environments(look) if sites(tree, p)]
    rich = [p for p in found if {"torch-npu", "mindspore", "vllm-ascend"} & _packages(tree, p).keys()]
    chosen = next(iter(rich or found), "")
    return chosen, ("the only one" if len(found) == 1 else "the first with a framework") if chosen else ""


def _prefix_of(tree: Tree, path: str) -> str:
    """The prefix of an environment that is named by its folder or by its interpreter."""
    if tree.kind(path) == FOLDER:
        return path.rstrip("/") or "/"
    here = path.rpartition("/")[0].rpartition("/")[0] or "/"
    if tree.text(f"{here}/pyvenv.cfg") is not None:
        return here
    real = tree.resolve(path) or path
    return real.rpartition("/")[0].rpartition("/")[0] or "/"


def _environments(look: Look) -> Iterator[str]:
    """Where environments usually stand, for a tree that says nothing of variables."""
    tree = look.tree
    fixed = ["/usr/local", "/opt/conda", "/opt/venv", "/usr"]
    fixed += [f"/usr/local/{name}" for name in tree.names("/usr/local") if name.startswith("python")]
    for base in (*look.homes, "/opt", "/usr/local"):
        for name in ("miniconda3", "anaconda3", "miniforge3", "conda"):
            fixed += [f"{base}/{name}", *(f"{base}/{name}/envs/{env}" for env in tree.names(f"{base}/{name}/envs"))]
        fixed += [f"{base}/{name}" for name in ("venv", ".venv", "env")]
    yield from fixed[:MAX_ENVIRONMENTS]


def sites(tree: Tree, prefix: str) -> list[str]:
    """The folders of packages of a prefix, the most local first."""
    found = []
    for lib in ("lib", "lib64", "local/lib"):
        for name in tree.names(f"{prefix.rstrip('/')}/{lib}"):
            if name.startswith("python3"):
                found += [f"{prefix.rstrip('/')}/{lib}/{name}/{kind}" for kind in ("site-packages", "dist-packages")]
    real: dict[str, str] = {}
    for place in found:
        if tree.kind(place) == FOLDER:
            real.setdefault(tree.resolve(place), place)
    return list(real.values())


def _version(tree: Tree, prefix: str) -> Iterator[Fact]:
    text = tree.text(f"{prefix}/pyvenv.cfg")
    if text is not None:
        known = fields(text)
        for name in ("version", "version_info"):
            if name in known:
                value, line, row = known[name]
                yield Fact("python.version", re.sub(r"\.(?:final|candidate).*", "", value), f"{prefix}/pyvenv.cfg", line, row)
    for site in sites(tree, prefix):
        if found := re.search(r"/python(3\.\d+)/", site):
            yield Fact("python.version", found[1], site)


def _packages(tree: Tree, prefix: str) -> dict[str, list[tuple[str, str]]]:
    """Versions and places of the packages that matter; more than one of a name is an accident."""
    found: dict[str, list[tuple[str, str]]] = {}
    for site in sites(tree, prefix):
        for entry in tree.names(site):
            match = _DIST.match(entry)
            if match is None:
                continue
            name = canonical(match["name"])
            if name in NAMES:
                found.setdefault(name, []).append((match["version"], f"{site}/{entry}"))
    return {name: found[name] for name in NAMES if name in found}


def _code(tree: Tree, info: str, folder: str) -> bool:
    """Does the package's folder stand beside its metadata? An editable one stands elsewhere, and says so."""
    site = info.rpartition("/")[0]
    if tree.kind(f"{site}/{folder}") == FOLDER:
        return True
    return any(n.startswith(("__editable__", f"{folder}.egg-link", "easy-install.pth")) and folder in n.lower().replace("-", "_") for n in tree.names(site)) or (
        tree.text(f"{info}/direct_url.json") is not None or tree.kind(f"{info}/METADATA") != FILE
    )


def _unmet(tree: Tree, found: dict[str, list[tuple[str, str]]]) -> Iterator[Fact]:
    """What a package's own metadata asks for, and is not so."""
    unmet, looked = [], False
    for asker in _ASKERS:
        if asker not in found:
            continue
        version, info = found[asker][-1]
        text = tree.text(f"{info}/METADATA") if tree.kind(f"{info}/METADATA") == FILE else None
        if text is None:
            continue
        looked = True
        for name, spec, marker in _NEEDS.findall(text.partition("\n\n")[0]):
            other = found.get(canonical(name))
            if other is None or not spec.strip() or marker.strip():
                continue
            if not holds(spec, other[-1][0]):
                needed = f"{asker} {version} needs {canonical(name)}{spec.replace(' ', '')}, there is {other[-1][0]}"
                unmet.append((needed, f"{info}/METADATA"))
    if unmet:
        yield Fact("python.unmet", "; ".join(text for text, _ in unmet[:6]), unmet[0][1], 1, unmet[0][0])
    elif looked:
        yield Fact("python.unmet", "none")
