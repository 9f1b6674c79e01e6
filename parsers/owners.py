"""To whom the code of a file belongs, as far as its path tells.

>>> owner("/usr/lib/python3/dist-packages/vllm/run.py"), owner("/usr/lib/python3.11/json/decoder.py"), owner("/home/u/train.py")
('vllm', 'python', '')

What runs from its sources lies in a checkout: a folder of the project's name that holds the package.

>>> owner("/vllm-workspace/vllm-omni/vllm_omni/engine/core.py"), owner("/home/u/Megatron-LM/megatron/training/training.py")
('vllm_omni', 'megatron')
>>> owner("/root/openrlhf-new/OpenRLHF/openrlhf/models/ring.py")
'openrlhf'

A path from the folder of a checkout on, as pytest prints it.

>>> owner("src/liger_kernel/transformers/fused_linear_jsd.py"), owner("src/utils/data.py")
('liger_kernel', '')

A folder that is called after another program, where others keep their adapters to it, is not that program.

>>> owner("/w/unified-cache-management/ucm/integration/vllm/ucm_connector.py"), owner("/home/u/serve/backends/vllm/run.py")
('ucm', '')

Ray lays the folder that a job brings beneath its own session: from there on the path is the job's.

>>> owner("/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_0a1b/verl/utils/device.py")
'verl'
>>> owner("/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_0a1b/my/job.py")
''
"""

from __future__ import annotations

from parsers.lazy import lazy

LONGEST = 2048
PYTHON = "python"

_INSTALLED = lazy(r".*[/\\](?:site|dist)-packages[/\\](?P<package>[A-Za-z_]\w{0,80})(?P<file>\.py$)?")
_STANDARD = lazy(r"<frozen |.*[/\\]python3?\.?\d{0,2}[/\\][^/\\]{1,80}(?:[/\\]|$)")
_SHIPPED = lazy(r".*[/\\]_ray_pkg_[0-9a-f]{1,64}(?=[/\\])")
# Of what is often run from its sources, the folders that hold the package.
_FROM_SOURCE = lazy(
    r".*?[/\\](?P<package>torch_npu|torch|torchvision|vllm_ascend|vllm|sglang|mindspore|mindformers|mindie_llm|atb_llm|mindspeed"
    r"|mindspeed_llm|megatron|deepspeed|transformers|accelerate|peft|llamafactory|verl|ray|lmdeploy|xtuner|swift|ucm)[/\\]"
)
_SOURCES = lazy(r"src/(?P<package>[A-Za-z_]\w{3,60})/")
_ADAPTERS = lazy(r"[/\\](?:integrations?|adapters?|connectors?|backends?|patch(?:es)?|plugins?)$")
# A folder, and in it (or in its `src`) one that may be the package of that project.
_CHECKOUT = lazy(r"[/\\](?=(?P<project>[A-Za-z][\w.-]{3,60})[/\\](?:src[/\\])?(?P<package>[A-Za-z_]\w{2,60})[/\\])")
_ANYBODYS = frozenset(("train", "test", "tests", "core", "code", "model", "models", "utils", "tools", "scripts", "examples", "home", "project", "projects", "python", "workspace"))
"""Names of folders that name no project."""


def owner(path: str) -> str:
    """The package that the code of a file belongs to: "" for the user's own, "python" for the standard library."""
    file = path[:LONGEST]
    if (shipped := _SHIPPED.match(file)) is not None:
        file = file[shipped.end() :]
    if (found := _INSTALLED.match(file)) is not None:
        return found["package"]
    if (found := _SOURCES.match(file)) is not None and found["package"] not in _ANYBODYS:
        return found["package"]
    if project := _of_checkout(file):
        return project
    if (found := _FROM_SOURCE.match(file)) is not None and _ADAPTERS.search(file[: found.start("package") - 1]) is None:
        return found["package"]
    return PYTHON if _STANDARD.match(file) else ""


def plain(name: str) -> str:
    """A name as whoever writes it means it: small letters, nothing between them."""
    return "".join(filter(str.isalnum, name.lower()))


def _of_checkout(file: str) -> str:
    """The package of the first checkout in a path; one in a folder of its own name is within that folder."""
    package = ""
    for found in _CHECKOUT.finditer(file):
        if package and found["project"] != package:
            break
        if _holds(found["project"], found["package"]):
            package = found["package"]
        elif package:
            break
    return package


def _holds(project: str, package: str) -> bool:
    """Is the package what the project is called after: `vllm_omni` in `vllm-omni`, `megatron` in `Megatron-LM`?"""
    inner, outer = plain(package), plain(project)
    return package.lower() not in _ANYBODYS and len(inner) > 3 and (outer.startswith(inner) or outer.endswith(inner))
