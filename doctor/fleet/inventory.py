"""Ansible inventories, INI and YAML: hosts, groups of groups, ranges, and the variables that tell how a host is reached.

Nothing is run: dynamic inventories are programs, and passwords that a file holds are not read.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from doctor.base.errors import UsageError
from doctor.fleet.targets import Target, text_of, unique
from parsers.named import NamedTuple

WHAT = "an inventory"
MAX_RANGE = 100_000
_USED = {"ansible_host": "host", "ansible_ssh_host": "host", "ansible_user": "user", "ansible_ssh_user": "user", "ansible_port": "port", "ansible_ssh_port": "port", "ansible_ssh_private_key_file": "key", "ansible_private_key_file": "key"}  # fmt: skip


class Inventory(NamedTuple):
    """Hosts and groups with what is said of each."""

    hosts: Mapping[str, Mapping[str, str]]
    groups: Mapping[str, frozenset[str]]  # hosts that stand in a group itself
    children: Mapping[str, frozenset[str]]
    variables: Mapping[str, Mapping[str, str]]  # of groups

    def members(self, group: str) -> frozenset[str]:
        """The hosts of a group and of the groups in it, however they go round."""
        if group == "all":
            return frozenset(self.hosts)
        seen: set[str] = set()
        waiting = [group]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += self.children.get(one, ())
        return frozenset(host for one in seen for host in self.groups.get(one, ()))

    def reached(self) -> dict[str, dict[str, str]]:
        """How each host is reached: what is said of it weighs more than what is said of its groups, of the larger ones least."""
        found: dict[str, dict[str, str]] = {host: {} for host in self.hosts}
        sized = sorted(((self.members(name), name) for name in self.variables), key=lambda row: (-len(row[0]), row[1]))
        for members, name in sized:
            for host in members:
                found[host].update(_used(self.variables[name]))
        for host, said in self.hosts.items():
            found[host].update(_used(said))
        return found


def _used(said: Mapping[str, str]) -> dict[str, str]:
    return {_USED[name]: value for name, value in said.items() if name in _USED}


def of_inventory(path: str, words: Iterable[str]) -> tuple[Target, ...]:
    """The targets of an inventory: all of them, or those that patterns name (group, host, web*, a:b, !c)."""
    text = text_of(path, WHAT)
    made = of_yaml(text, path) if path.lower().endswith((".yaml", ".yml", ".json")) else of_ini(text, path)
    if not made.hosts:
        raise UsageError(f"there is no host in {path}", "an inventory of Ansible, INI or YAML; one that is a program is not run")
    chosen = _chosen(made, [p for word in words for p in re.split(r"[,:](?![^\[]*\])", word) if p], path)
    reached = made.reached()
    return unique(_target(host, reached[host], path) for host in chosen)


def _chosen(made: Inventory, patterns: list[str], path: str) -> list[str]:
    wanted: set[str] = set() if any(not p.startswith(("!", "&")) for p in patterns) else set(made.hosts)
    names = ["all", *made.hosts, *made.groups, *made.children]
    for pattern in patterns:
        plain = pattern.lstrip("!&")
        fitting = fnmatch.filter(names, plain)
        if not fitting:
            raise UsageError(f"'{plain}' is no host and no group of {path}", f"groups: {', '.join(sorted({*made.groups, *made.children, 'all'}))}")
        hosts = {host for name in fitting for host in ((name,) if name in made.hosts else made.members(name))}
        wanted = wanted - hosts if pattern.startswith("!") else wanted & hosts if pattern.startswith("&") else wanted | hosts
    return [host for host in made.hosts if host in wanted]


def _target(host: str, said: Mapping[str, str], path: str) -> Target:
    port = said.get("port", "")
    if port and not (port.isdigit() and 0 < int(port) < 65536):
        raise UsageError(f"{path}: the port of {host} is no number: {port}")
    return Target(host, said.get("host", ""), said.get("user", ""), int(port) if port else None, said.get("key", ""))


# --- INI

_RANGE = re.compile(r"\[([0-9]+|[a-z]|[A-Z]):([0-9]+|[a-z]|[A-Z])(?::(\d+))?\]")


def of_ini(text: str, path: str) -> Inventory:
    hosts: dict[str, dict[str, str]] = {}
    groups: dict[str, set[str]] = {}
    children: dict[str, set[str]] = {}
    variables: dict[str, dict[str, str]] = {}
    section, kind = "ungrouped", "hosts"
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if head := re.fullmatch(r"\[([^\[\]:]+)(?::(vars|children|hosts))?\]\s*(?:[#;].*)?", line):
            section, kind = head[1].strip(), head[2] or "hosts"
            groups.setdefault(section, set())
        elif kind == "vars":
            name, _, value = line.partition("=")
            variables.setdefault(section, {})[name.strip()] = value.strip().strip("'\"")
        elif kind == "children":
            children.setdefault(section, set()).add(line.split()[0])
        else:
            try:
                first, *more = shlex.split(line, comments=True)
            except ValueError as error:
                raise UsageError(f"{path}:{number} is no line of an inventory: {error}", "HOST ansible_host=ADDRESS ansible_user=NAME") from None
            said = dict(word.partition("=")[::2] for word in more)
            if first.count(":") == 1 and first.partition(":")[2].isdigit():
                first, _, said["ansible_port"] = first.partition(":")
            for host in expanded(first, path, number):
                hosts.setdefault(host, {}).update(said)
                groups[section] = {*groups.get(section, ()), host}
    return Inventory(hosts, _frozen(groups), _frozen(children), variables)


def expanded(name: str, path: str = "", number: int = 0) -> Iterator[str]:
    """`node[01:50]` and `db-[a:f]`, as Ansible counts them: the last one as well."""
    found = _RANGE.search(name)
    if found is None:
        yield name
        return
    begin, end, step = found[1], found[2], int(found[3] or 1)
    if begin.isdigit() != end.isdigit() or step < 1 or (begin.isdigit() and int(end) - int(begin) > MAX_RANGE):
        raise UsageError(f"{path}:{number}: {found[0]} is no range", "node[01:50], node[a:f], node[0:30:2]")
    if begin.isdigit():
        values = [f"{n:0{len(begin)}}" for n in range(int(begin), int(end) + 1, step)]
    else:
        values = [chr(n) for n in range(ord(begin), ord(end) + 1, step)]
    for value in values:
        yield from expanded(name[: found.start()] + value + name[found.end() :], path, number)


# --- YAML


def of_yaml(text: str, path: str) -> Inventory:
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads values with a tag of their own (`!vault`) as nothing."""

    Loader.add_multi_constructor("!", lambda _loader, _suffix, _node: None)
    try:
        made = yaml.load(text, Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"{path} is no YAML: {str(error).splitlines()[0]}", "check it with: ansible-inventory -i FILE --list") from None
    found = _Found({}, {}, {}, {})
    for name, group in _dict(made).items():
        _group(str(name), group, found, 0)
    return Inventory(found.hosts, _frozen(found.groups), _frozen(found.children), found.variables)


class _Found(NamedTuple):
    hosts: dict[str, dict[str, str]]
    groups: dict[str, set[str]]
    children: dict[str, set[str]]
    variables: dict[str, dict[str, str]]


def _group(name: str, value: Any, found: _Found, depth: int) -> None:
    if depth > 20:
        raise UsageError(f"the groups of the inventory stand deeper than 20 in each other at '{name}'")
    group = _dict(value)
    found.groups.setdefault(name, set())
    found.variables.setdefault(name, {}).update(_plain(group.get("vars")))
    for written, said in _dict(group.get("hosts")).items():
        for host in expanded(str(written)):
            found.hosts.setdefault(host, {}).update(_plain(said))
            found.groups[name].add(host)
    for child, inner in _dict(group.get("children")).items():
        found.children.setdefault(name, set()).add(str(child))
        _group(str(child), inner, found, depth + 1)


def _dict(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in _dict(value).items() if isinstance(v, (str, int)) and not isinstance(v, bool)}


def _frozen(groups: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(members) for name, members in groups.items()}
