"""What Kubernetes says of pods: events, and the containers of `kubectl describe pod` or `kubectl get pods`.

    Events:
      Type     Reason     Age                   From      Message
      ----     ------     ----                  ----      -------
      Warning  Unhealthy  62s (x9 over 3m10s)   kubelet   Liveness probe failed: connection refused

    LAST SEEN   TYPE      REASON      OBJECT       MESSAGE
    5m12s       Warning   Evicted     pod/work-3   The node was low on resource: memory.

Events stand in boxes of columns without rules, of which the last one holds anything, or in the JSON of `-o json`.

>>> told = rows(__doc__.splitlines(), 1)
>>> [(r.table, r.get("reason"), r.get("object"), r.get("count"), r.line) for r in told]
[('kube.event', 'Unhealthy', '', '9', 6), ('kube.event', 'Evicted', 'work-3', '1', 9)]
>>> [r.get("message") for r in rows(["  Warning  FailedMount  5s  kubelet, node-1  no such volume"], 1)]  # copied alone
['no such volume']
>>> [(r.get("pod"), r.get("reason")) for r in rows(["plugin-x8w2c   0/1   CrashLoopBackOff   6 (2m ago)   9m", "plugin-7c9dd   1/1   Running   0   9m"], 1)]  # of `| grep plugin`
[('plugin-x8w2c', 'CrashLoopBackOff')]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from parsers.lazy import lazy
from parsers.parsed import Row

EVENT, CONTAINER = "kube.event", "kube.container"
MAX_ROWS = 400
MAX_TEXT = 600
SHORT = 80  # characters of a message in a title
MAX_JSON = 1 << 20

_DESCRIBED = lazy(r"^\s{0,8}Type {2,12}Reason {2,}(?:Age|FirstSeen) {2,}From {2,}(?:SubObjectPath {2,})?Message\s*$")
_EVENT = lazy(r"^\s{1,8}(?P<type>Normal|Warning) {2,}(?P<reason>[A-Za-z]{3,60}) {2,}(?P<age>\S.*?) {2,}(?P<from>\S.*?) {2,}(?P<message>\S.*)$")
# One that was copied alone, without its head: then it must have an age, and a reason in two words or more.
_ALONE = lazy(
    r"^\s{0,8}(?P<type>Normal|Warning) {1,8}(?P<reason>[A-Z][a-z]{2,20}(?:[A-Z][A-Za-z]{1,20}){1,3}) {1,8}"
    r"(?P<age>(?:\d{1,4}[smhdy]){1,3}(?: \(x\d{1,7} over (?:\d{1,4}[smhdy]){1,3}\))?|<unknown>|<invalid>) {1,8}(?P<from>[a-z][\w.-]{2,60}(?:, [\w.-]{1,80})?) {1,8}(?P<message>\S.*)$"
)
_HEAD = lazy(r"^\s{0,8}(?:NAMESPACE +)?LAST SEEN +(?:COUNT +)?TYPE +REASON +OBJECT +.*MESSAGE\b")
_LISTED = lazy(r"(?:^|\s)(?P<type>Normal|Warning) +(?P<reason>[A-Za-z]{3,60}) +(?P<kind>[a-z]{2,40})/(?P<object>[\w.-]{1,253}) +(?P<message>\S.*)$")
_TIMES = lazy(r"\(x(\d{1,7}) over ")
_FIELD = lazy(r"^(?P<indent> *)(?P<name>[A-Z][A-Za-z ]{1,24}):(?: +(?P<value>\S.*))?$")
_LIMIT = lazy(r"^ +(?P<name>[a-z][\w./-]{2,60}): +(?P<value>\S{1,40})$")
_PODS = lazy(r"^(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS +AGE")
_POD = lazy(r"^(?:(?P<namespace>[\w.-]{1,63}) +)?(?P<pod>[\w.-]{1,253}) +(?P<ready>\d{1,3}/\d{1,3}) +(?P<state>[A-Za-z:]{3,60}) +(?P<restarts>\d{1,6})(?: \(\S+ ago\))? +\S")
# One of a list whose head `grep` has taken away: then the state is one of a pod that cannot run, and the age ends the line or a wide one follows.
_HEADLESS = lazy(
    r"^(?:(?P<namespace>[a-z0-9-]{1,63}) +)?(?P<pod>[a-z0-9][a-z0-9.-]{2,252}) +(?P<ready>\d{1,3}/\d{1,3}) +(?P<state>CrashLoopBackOff|ImagePullBackOff|ErrImagePull|CreateContainerConfigError|"
    r"CreateContainerError|RunContainerError|UnexpectedAdmissionError|OOMKilled|Init:CrashLoopBackOff) +(?P<restarts>\d{1,6})(?: \((?:\d{1,4}[smhdy]){1,3} ago\))? +(?:\d{1,4}[smhdy]){1,3}(?: |$)"
)
_CELLS = ("pod", "namespace", "node", "container", "image", "state", "reason", "last", "exit", "restarts", "npus", "memory")


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """One row an event and one a container."""
    found = [*_described(lines, first_line), *_listed(lines, first_line), *_containers(lines, first_line), *_pods(lines, first_line)]
    if any('"involvedObject"' in line for line in lines):
        found += _of_json(lines, first_line)
    return tuple(found[:MAX_ROWS])


def _event(line: int, kind: str, name: str, namespace: str, told: dict[str, str], count: str) -> Row:
    message = told["message"].strip()[:MAX_TEXT].rstrip(". ")
    cells = (
        ("type", told["type"]), ("reason", told["reason"]), ("kind", kind), ("object", name), ("namespace", namespace),
        ("count", count), ("message", message), ("said", message if len(message) <= SHORT else f"{message[:SHORT].rsplit(None, 1)[0]} ..."),
    )  # fmt: skip
    return Row(EVENT, line, cells)


def _described(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """The events of `kubectl describe`, of the object whose name stands above."""
    name, namespace, within = "", "", False
    for number, raw in enumerate(lines):
        text = raw.rstrip()
        if text.startswith(("Name:", "Namespace:")):
            key, _, value = text.partition(":")
            name, namespace = (value.strip(), "") if key == "Name" else (name, value.strip())
        elif _DESCRIBED.match(text):
            within = True
        elif within and (found := _EVENT.match(text)):
            times = _TIMES.search(found["age"])
            yield _event(first_line + number, "pod", name, namespace, found.groupdict(""), times[1] if times else "1")
        elif (alone := _ALONE.match(text)) is not None:
            times = _TIMES.search(alone["age"])
            yield _event(first_line + number, "pod", name, namespace, alone.groupdict(""), times[1] if times else "1")
        elif within and text.strip() and not text.lstrip().startswith("---"):
            within = False


def _listed(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """The lines of `kubectl get events`, wide or not."""
    within, spaced = False, False
    places: tuple[int, ...] = ()
    for number, raw in enumerate(lines):
        text = raw.rstrip()
        if _HEAD.match(text):
            within, spaced = True, text.lstrip().startswith("NAMESPACE")
            places = tuple(text.index(head) for head in ("MESSAGE", "FIRST SEEN", "COUNT", "NAME ") if head in text)
        elif within and (found := _LISTED.search(text)):
            told = found.groupdict("")
            if len(places) > 1 and len(text) > places[0] and text[places[0] - 1] == " ":  # wide: other columns stand between
                told["message"] = text[places[0] : min((p for p in places if p > places[0]), default=len(text))]
            namespace = text.split(None, 1)[0] if spaced else ""
            yield _event(first_line + number, found["kind"], found["object"], namespace, told, "1")
        elif within and not text.strip():
            within = False


def _of_json(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """The events of `-o json`; where each stands is told by its message."""
    text = "\n".join(lines)
    begin = text.find("{")
    if begin < 0 or len(text) > MAX_JSON:
        return
    try:
        told = json.JSONDecoder().raw_decode(text[begin:])[0]
    except (ValueError, RecursionError):
        return
    items = told.get("items", [told]) if isinstance(told, dict) else []
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or not isinstance(of := item.get("involvedObject") or item.get("regarding"), dict):
            continue
        cells = {key: str(item.get(key) or "") for key in ("type", "reason", "message")}
        if not cells["message"]:
            cells["message"] = str(item.get("note") or "")
        if not cells["reason"]:
            continue
        written = json.dumps(cells["message"], ensure_ascii=False)[1:60].rstrip('"')
        line = next((n for n, raw in enumerate(lines) if written in raw), 0)
        count = item.get("count")
        yield _event(first_line + line, str(of.get("kind") or "").lower(), str(of.get("name") or ""), str(of.get("namespace") or ""), cells, str(count) if isinstance(count, int) else "1")


def _containers(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """The containers of `kubectl describe pod`: each ends with the next one, or with what is less indented."""
    pod: dict[str, str] = {}
    made: dict[str, str] = {}
    within, section, at = False, "", 0
    for number, raw in enumerate(lines):
        text = raw.rstrip()
        found = _FIELD.match(text) or (within and _LIMIT.match(text)) or None
        indent = len(text) - len(text.lstrip())
        if text and indent == 0:
            if made:
                yield _container(first_line + at, pod, made)
            made, within = {}, text in ("Containers:", "Init Containers:")
            if found and found["name"] in ("Name", "Namespace", "Node"):
                pod = {**({} if found["name"] == "Name" else pod), found["name"].lower(): (found["value"] or "").partition("/")[0]}
            continue
        if not within or not text:
            continue
        if indent == 2 and text.endswith(":"):
            if made:
                yield _container(first_line + at, pod, made)
            made, section, at = {"container": text.strip(" :")}, "", number
        elif made and found:
            name, value = found["name"], found["value"] or ""
            section = name if indent == 4 else section
            key = _KEYS.get((section, name)) or ("npus" if section == "Limits" and name.startswith("huawei.com/") else "")
            if key and value:
                made.setdefault(key, value)
                at = number if key in ("reason", "last") else at
    if made:
        yield _container(first_line + at, pod, made)


_KEYS = {
    ("Image", "Image"): "image", ("State", "State"): "state", ("State", "Reason"): "reason", ("Last State", "Reason"): "last",
    ("Last State", "Exit Code"): "exit", ("State", "Exit Code"): "exit", ("Restart Count", "Restart Count"): "restarts", ("Limits", "memory"): "memory",
}  # fmt: skip


def _container(line: int, pod: dict[str, str], made: dict[str, str]) -> Row:
    told = {"pod": pod.get("name", ""), "namespace": pod.get("namespace", ""), "node": pod.get("node", ""), **made}
    return Row(CONTAINER, line, tuple((cell, told.get(cell, "")[:MAX_TEXT]) for cell in _CELLS))


def _pods(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """The lines of `kubectl get pods`: what state a pod is in, and how often it began again."""
    within, spaced = False, False
    for number, raw in enumerate(lines):
        if _PODS.match(raw):
            within, spaced = True, raw.startswith("NAMESPACE")
        elif found := _POD.match(raw) if within else _HEADLESS.match(raw):
            made = {"reason": found["state"], "restarts": found["restarts"]}
            pod = {"name": found["pod"], "namespace": (found["namespace"] or "") if spaced or not within else ""}
            yield _container(first_line + number, pod, made)
        elif not raw.strip():
            within = False
