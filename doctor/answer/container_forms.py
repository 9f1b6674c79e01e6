"""What a container is to be given, in the words of whoever starts it: options of docker as a part of a pod's template, or of a Compose file.

The knowledge writes such advice as `docker run`; where the logs are of a pod or of Compose, nobody types that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from doctor.answer.orchestrated import owner
from doctor.base.words import both
from doctor.findings.chips import family
from doctor.findings.situation import Situation
from doctor.findings.started import Option, Started, read
from kb.model import CodeFix, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

_RUN = lazy(r"^(?:docker|podman|nerdctl) run\b")
_OF_POD = lazy(r"\b(?:emptyDir|volumeMounts|securityContext|containers|runtimeClassName|hostPath)\b")  # words of a pod's template
_SHM = "/dev/shm"  # noqa: S108
_CARD = lazy(r"/dev/davinci\d+$")
_NODES = ("/dev/davinci", "/dev/devmm_svm", "/dev/hisi_hdc")
# Of a terminal, and of what docker does with its containers.
_OF_DOCKER = frozenset({"i", "t", "d", "it", "ti", "itd", "dit", "id", "td", "rm", "name", "init", "interactive", "tty", "detach", "entrypoint", "workdir"})
RESOURCES = {"310P": "huawei.com/Ascend310P", "310": "huawei.com/Ascend310"}
_SIZE = lazy(r"(\d+)([kmgtKMGT])b?$")
_ULIMIT = lazy(r"(\w+)=(-?\d+)(?::(-?\d+))?")
_WORD = lazy(r"[A-Za-z/][\w./@+-]*(?::[\w./@+-]+)*|\d+[KMGT]i")
MOST = 80

Yaml = dict[str, object]


def told(fix: Fix, situation: Situation) -> Fix:
    """The fix with its docker options as the reader's own way to start containers has them; itself where a word for one is missing."""
    by = owner(situation)
    form = _FORMS.get(by or "")
    if form is None or any(one.kind == "docker" for one in situation.started):
        return fix
    commands = [c for c in fix.commands if _RUN.match(c.run)]
    if commands and fix.code is not None and fix.code.lang == "yaml" and _OF_POD.search(fix.code.after):  # it is written for docker and for pods
        if by == "pod":
            return fix._replace(commands=tuple(c for c in fix.commands if c not in commands))
        fix = fix._replace(code=None)
    text = commands[0].run if commands else fix.code.after.splitlines()[0] if fix.code is not None and _RUN.match(fix.code.after) else ""
    if not text or (fix.code is not None) == bool(commands):
        return fix
    run = read(f"{text} $")
    made = form(_wanted(run, situation)) if run is not None else ""
    if not made:
        return fix
    kept = tuple(c for c in fix.commands if c not in commands)
    steps = (Text(**both(f"form-{by}")), *fix.steps)
    return fix._replace(steps=steps, commands=kept, code=CodeFix("yaml", "", f"# {_FILE[by or '']}\n{made}"))


def of_others(fix: Fix, situation: Situation) -> bool:
    """Is it nothing but a `docker run` for options that a pod has no word for, and no docker is seen?"""
    if fix.goal == "locate" or owner(situation) != "pod" or any(one.kind == "docker" for one in situation.started):
        return False
    runs = [fix.code.after.splitlines()[0]] if fix.code is not None and fix.code.after else [c.run for c in fix.commands]
    return bool(runs) and (fix.code is None or not fix.commands) and not fix.env and all(map(_RUN.match, runs)) and told(fix, situation) is fix


class _Wanted(NamedTuple):
    """What a container gets, apart from its image."""

    cards: int
    resource: str
    options: tuple[Option, ...]


def _wanted(run: Started, situation: Situation) -> _Wanted:
    options = tuple(o for o in run.options if o.name not in _OF_DOCKER)
    cards = sum(o.name == "device" and _CARD.match(o.value.partition(":")[0]) is not None for o in options)
    asked = situation.first("npu_asked") or ""
    chip = family(situation.first("chip") or "")
    return _Wanted(int(asked) if asked.isdecimal() and cards else cards, RESOURCES.get(chip, "huawei.com/Ascend910"), options)


def _as_pod(wanted: _Wanted) -> str:
    """A part of a pod's template; empty where Kubernetes has no word for one of the options."""
    spec: Yaml = {}
    container: Yaml = {}
    volumes: list[object] = []
    if wanted.cards:
        _put(container, ("resources", "limits", wanted.resource), str(wanted.cards))
    for option in wanted.options:
        if option.name == "device" and option.value.startswith(_NODES):
            continue  # the device plug-in mounts them
        if option.name in ("shm-size", "volume"):
            mount, volume = _volume(option, len(volumes))
            if not volume:
                return ""
            container["volumeMounts"] = [*_list(container, "volumeMounts"), mount]
            volumes.append(volume)
        elif option.name == "env" and "=" in option.value:
            name, _, value = option.value.partition("=")
            container["env"] = [*_list(container, "env"), {"name": name, "value": value}]
        elif at := _OF_SPEC.get((option.name, option.value)):
            spec[at] = True
        elif set_ := _setting(option):
            _put(spec if set_[0][0] == "pod" else container, set_[0][1:], set_[1])
        else:
            return ""
    made = {**spec, **({"containers": [container]} if container else {}), **({"volumes": volumes} if volumes else {})}
    return "\n".join(_rows({"spec": made})) if made else ""


_OF_SPEC: Mapping[tuple[str, str], str] = {("net", "host"): "hostNetwork", ("network", "host"): "hostNetwork", ("ipc", "host"): "hostIPC", ("pid", "host"): "hostPID"}


def _setting(option: Option) -> tuple[tuple[str, ...], object] | None:
    """Where a pod's template sets what an option of docker does, and to what."""
    name, value = option.name, option.value
    context = ("container", "securityContext")
    if name in ("m", "memory"):
        return ("container", "resources", "limits", "memory"), _size(value)
    if name == "privileged":
        return (*context, "privileged"), True
    if name == "cap-add":
        return (*context, "capabilities", "add"), [value]
    if name == "security-opt" and value == "seccomp=unconfined":
        return (*context, "seccompProfile", "type"), "Unconfined"
    if name == "user" and value.partition(":")[0].isdecimal():
        return (*context, "runAsUser"), int(value.partition(":")[0])
    if name == "group-add" and value.isdecimal():
        return ("pod", "securityContext", "supplementalGroups"), [int(value)]
    return (("pod", "hostname"), value) if name == "hostname" else None


def _volume(option: Option, number: int) -> tuple[Yaml, Yaml]:
    """A mount, and the volume that is mounted there; nothing where it is a volume of docker's own."""
    if option.name == "shm-size":
        return {"name": "dshm", "mountPath": _SHM}, {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": _size(option.value)}}
    host, _, rest = option.value.partition(":")
    inside, _, how = rest.partition(":")
    if not host.startswith("/") or not inside.startswith("/") or how not in ("", "ro", "rw"):
        return {}, {}
    name = f"host{number}"
    return {"name": name, "mountPath": inside, **({"readOnly": True} if how == "ro" else {})}, {"name": name, "hostPath": {"path": host}}


_SERVICE: Mapping[str, str] = {
    "device": "devices", "volume": "volumes", "env": "environment", "cap-add": "cap_add", "group-add": "group_add", "security-opt": "security_opt",
    "shm-size": "shm_size", "memory": "mem_limit", "m": "mem_limit", "network": "network_mode", "net": "network_mode", "ipc": "ipc", "pid": "pid",
    "user": "user", "hostname": "hostname", "runtime": "runtime", "pids-limit": "pids_limit",
}  # fmt: skip
_LISTS = frozenset({"devices", "volumes", "environment", "cap_add", "group_add", "security_opt"})


def _as_service(wanted: _Wanted) -> str:
    """A part of a service in a Compose file; empty where it has no word for one of the options."""
    service: Yaml = {}
    for option in wanted.options:
        key, value = _SERVICE.get(option.name), option.value
        if option.name == "privileged":
            service["privileged"] = True
        elif option.name == "ulimit" and (found := _ULIMIT.fullmatch(value)):
            _put(service, ("ulimits", found[1]), {"soft": int(found[2]), "hard": int(found[3] or found[2])})
        elif key is None:
            return ""
        elif key in _LISTS:
            service[key] = [*_list(service, key), f"{value}:{value}" if option.name == "device" and ":" not in value else value]
        else:
            service[key] = value
    return "\n".join(_rows(service))


_FILE = {"pod": "the pod's template", "compose": "the service in the Compose file"}
_FORMS: Mapping[str, Callable[[_Wanted], str]] = {"pod": _as_pod, "compose": _as_service}


def _put(tree: Yaml, path: Sequence[str], value: object) -> None:
    for key in path[:-1]:
        below = tree.setdefault(key, {})
        assert isinstance(below, dict)
        tree = below
    kept = tree.get(path[-1])
    tree[path[-1]] = [*kept, *value] if isinstance(kept, list) and isinstance(value, list) else value


def _list(tree: Yaml, key: str) -> list[object]:
    kept = tree.get(key, [])
    return kept if isinstance(kept, list) else []


def _rows(tree: Yaml) -> Iterator[str]:
    """YAML as people write it: what is short in one line."""
    for key, value in tree.items():
        if isinstance(value, dict):
            short = _flow(value)
            yield from [f"{key}: {short}"] if len(short) <= MOST and key != "spec" else [f"{key}:", *(f"  {row}" for row in _rows(value))]
        elif isinstance(value, list) and (key == "containers" or len(_flow(value)) > MOST):
            yield f"{key}:"
            for one in value:
                first, *further = _rows(one) if key == "containers" and isinstance(one, dict) else [_flow(one)]
                yield f"- {first}"
                yield from (f"  {row}" for row in further)
        else:
            yield f"{key}: {_flow(value)}"


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else _plain(str(value))


def _size(value: str) -> str:
    """`64g` as Kubernetes writes it."""
    found = _SIZE.match(value)
    return f"{found[1]}{found[2].upper()}i" if found else value


def _plain(value: str) -> str:
    """A word of YAML, in quotes where it would be read as something else."""
    if _WORD.fullmatch(value) and value.lower() not in ("true", "false", "yes", "no", "on", "off", "null"):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
