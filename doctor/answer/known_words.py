"""Words that a command leaves to its reader, POD, MODEL_PATH, IMAGE, VERSION, put in where the logs tell them, or what they tell leads to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from doctor.answer.own_command import another
from doctor.findings.release import release
from kb.pairings import plain
from parsers.lazy import lazy
from parsers.meaning.said import distribution

# The word, the fact that it stands for, and what a command must hold for the word to mean that.
WORDS: Mapping[str, tuple[str, str]] = {
    "POD": ("pod", "kubectl "),
    "NODE": ("kube_node", "kubectl "),
    "NAMESPACE": ("namespace", "kubectl "),
    "CONTAINER": ("container", "kubectl "),
    "CONTAINER_NAME": ("other_container", "docker stop "),
    "IMAGE": ("image", "docker "),
    "NPU_ID": ("npu_id", "npu-smi "),
    "CHIP_ID": ("chip_id", "npu-smi "),
    "MODEL": ("model", ""),
    "MODEL_PATH": ("model", ""),
    "MODEL_DIR": ("model", ""),
}
_WORD = lazy(r"(?<![\w$\-.{\[|\\%:@'\"])(?P<word>" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")(?P<form>(?:-[A-Z0-9]+)+)?(?![\w=(.:\]}'\"-])")
_OF_A_POD = lazy(r"\bkubectl (?=(?:describe pod|logs|get pod|exec|delete pod|get events)\b)(?![^;|&]* (?:-n|-A|--namespace|--all-namespaces)\b)")
_INSTALLED = lazy(r"(?<![\w.])/usr/local/Ascend(?=/(?:ascend-toolkit|nnal|nnae)/)")  # where CANN lies unless its installer was told otherwise

# VERSION or X.Y.Z in the name of a package: what is published with the versions that the logs tell.
_OPEN = r"(?:VERSION|X\.Y\.Z)(?![a-zA-Z\d]|\.\w)"
_VERSIONS: tuple[tuple[str, str], ...] = (
    (r"\bAscend-cann-toolkit_", "cann_update"),
    (r"\bAscend-cann-nnal_", "cann_wanted"),
    (r"--no-deps torch[-_]npu==", "torch_npu_next"),
    (r"--no-deps vllm[-_]ascend==", "vllm_ascend_next"),
    (r"\bquay\.io/ascend/vllm-ascend:v", "vllm_ascend_for_vllm"),
)
# Two packages, of which one alone would make it worse.
_PAIRS = (("torch", "cann_torch", "torch[-_]npu", "cann_torch_npu"), ("vllm", "vllm", "vllm[-_]ascend", "vllm_ascend_for_vllm"))
_RELEASE = lazy(r"[\w.-]{1,40}")

# What a release is called, and where it lies, changes from one to the next.
_KERNELS = lazy(r"\bAscend-cann-kernels-(?P<chip>[\w.]+?)_(?P<version>\d+\.\d[\w.]*?)(?=_linux)")
_FIRST_OPS = release("8.5")
_OLD_A3 = "Atlas-A3-cann-kernels"
_IMPORTED = lazy(r"(?<=install -U )[A-Za-z]\w{1,60}(?=\s|$)")  # perhaps as Python calls it, not pip
_MINDSPORE = lazy(r"(?:python3? -m )?pip3? install (?P<options>(?:-[\w-]+ )*)(?P<quote>['\"]?)mindspore==(?P<version>2\.\d+(?:\.\d+)*(?:-?rc\d+)?)(?P=quote)(?=\s*(?:$|[;&|]))")
_FIRST_ON_PYPI, _WITHOUT_M = release("2.7"), release("2.3")
_TAG = "$(python3 -c 'import sys; print(\"cp%d%d\" % sys.version_info[:2])')"
_WHEEL = "python3 -m pip install {options}https://ms-release.obs.cn-north-4.myhuaweicloud.com/$V/MindSpore/unified/$(uname -m)/mindspore-$V-$P-{abi}-linux_$(uname -m).whl"


def versions(run: str, known: Mapping[str, str]) -> str:
    """The command with the versions that are published with those which the logs tell."""
    known = {name: release for name, value in known.items() if _RELEASE.fullmatch(release := value.removeprefix("v").partition("+")[0])}
    forms = [*_VERSIONS, (r"\bAscend-cann-kernels-[\w.]+_", "cann_update" if "Ascend-cann-toolkit_" in run else "cann")]
    for one, its, other, with_it in _PAIRS:
        if with_it not in known and known.get("vllm", "").partition("rc")[0] == known.get("vllm_ascend", "-").partition("rc")[0]:
            with_it = with_it.replace("vllm_ascend_for_vllm", "vllm_ascend")  # they fit already
        if its in known and with_it in known:
            forms += [(rf"(?<![\w-]){one}==", its), (rf"(?<![\w-]){other}==", with_it)]
    for begin, name in forms:
        if name in known:
            run = re.sub(f"({begin}){_OPEN}", lambda m, name=name: m[1] + known[name], run)  # type: ignore[misc]
    return run


def of_software(run: str, known: Mapping[str, str]) -> str:
    """Installers of the CANN that is there, where the software on it needs a later one, as those of that one.

    Operators are of their toolkit's release, so that one comes first. Of what is only checked, or lies elsewhere, nothing changes.

    >>> of_software("bash Ascend-cann-kernels-910b_8.0.RC1_linux*.run --install", {"cann": "8.0.RC1", "cann_later": "8.2.RC1"})
    'bash Ascend-cann-toolkit_8.2.RC1_linux-$(uname -m).run --install && bash Ascend-cann-kernels-910b_8.2.RC1_linux*.run --install'
    """
    have, later = (plain(known.get(name, "")) for name in ("cann", "cann_later"))
    if not _RELEASE.fullmatch(have) or not _RELEASE.fullmatch(later) or "--install" not in run:
        return run
    made = re.sub(rf"(\bAscend-cann-(?:toolkit|kernels-[\w.]+?)_){re.escape(have)}(?=_linux)", rf"\g<1>{later}", run)
    if made == run or "Ascend-cann-toolkit_" in made:
        return made
    return _INSTALLS.sub(lambda found: f"bash Ascend-cann-toolkit_{later}_linux-$(uname -m).run --install && {found[0]}", made, count=1)


_INSTALLS = lazy(r"(?:bash |\./)(?=Ascend-cann-kernels-)")


def as_released(run: str) -> str:
    """The command with packages called as they are in the very release, and taken from where it lies.

    >>> as_released("bash Ascend-cann-kernels-910b_8.5.0_linux*.run --install")
    'bash Ascend-cann-910b-ops_8.5.0_linux*.run --install'
    >>> as_released("bash Ascend-cann-kernels-A3_8.3.RC1_linux*.run --install")
    'bash Atlas-A3-cann-kernels_8.3.RC1_linux*.run --install'
    """
    return _MINDSPORE.sub(_wheel, _KERNELS.sub(_package, _IMPORTED.sub(lambda found: distribution(found[0]), run)))


def _package(found: re.Match[str]) -> str:
    chip, version = found["chip"], found["version"]
    if release(version) >= _FIRST_OPS:
        return f"Ascend-cann-{chip}-ops_{version}"
    return f"{_OLD_A3}_{version}" if chip == "A3" else found[0]


def _wheel(found: re.Match[str]) -> str:
    """MindSpore before 2.7 is not on PyPI; its wheels are named after the Python that runs, 3.7 with an `m` behind."""
    version = found["version"].replace("-", "")
    if release(version) >= _FIRST_ON_PYPI:
        return found[0]
    abi = "${P/cp37/cp37m}" if release(version) < _WITHOUT_M else "$P"
    return f"V={version} && P={_TAG} && {_WHEEL.format(options=found['options'], abi=abi)}"


def filled(run: str, known: Mapping[str, str], quote: Callable[[str, str], str]) -> str:
    """The command with what is known put in; `quote` gets a value and what stands before it."""

    def one(match: re.Match[str]) -> str:
        fact, needed = WORDS[match["word"]]
        value = known.get(fact)
        if value is None or needed not in run or (run[match.end() :].startswith("/") and value[:1] not in "/.~$"):
            return match[0]  # the name of weights in a hub is no folder
        return quote(another(value, match[0]) if match["form"] else value, run[: match.start()])

    space = known.get("namespace")
    made = _WORD.sub(one, run.replace(" -n NAMESPACE", "") if space == "default" else run)
    if folder := known.get("ascend_home"):
        made = _INSTALLED.sub(lambda m: quote(folder, made[: m.start()]), made)
    if space and space != "default" and (made != run or known.get("pod", run) in run):
        made = _OF_A_POD.sub(lambda m: f"{m[0]}-n {quote(space, '')} ", made)
    return made
