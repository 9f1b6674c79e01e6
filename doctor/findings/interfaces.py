"""Which interface of a host joins the nodes: read of `ip addr` and `ifconfig`, by the address that the job names as its master.

    inet 10.33.4.12/24 brd 10.33.4.255 scope global enp67s0f5
    enp67s0f5        UP             10.33.4.12/24 fe80::1/64
    enp67s0f5: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500 inet 10.33.4.12  netmask 255.255.255.0

>>> chosen(("name[lo] ip[127.0.0.1]", "name[enp61s0f0] ip[172.30.4.22]", "name[enp61s0f3] ip[192.168.90.22]"), ("172.30.4.21",))["interface"]
('enp61s0f0',)
>>> chosen(("inet 172.17.0.1/16 brd 172.17.255.255 scope global docker0", "inet 10.33.4.12/24 scope global dynamic enp67s0f5"), ())
{'interface': ('enp67s0f5',), 'interface_ip': ('10.33.4.12',)}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface
from typing import TYPE_CHECKING

from parsers.lazy import lazy
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from doctor.findings.started import Started

_ADDRESS = lazy(r"(?P<ip>\d{1,3}(?:\.\d{1,3}){3})(?:/(?P<bits>\d{1,2})|\s+netmask\s+(?P<mask>\d{1,3}(?:\.\d{1,3}){3})|\])")
_NAME = lazy(r"(?:.*scope global (?:[a-z]+ ){0,3}(?P<last>[\w.@-]{1,20})$|name ?\[(?P<listed>[\w.@-]{1,20})\]|(?P<first>[\w.@-]{1,20})(?::| ))")
# What programs of containers and of virtual machines make: other hosts cannot reach it. NPUs' own addresses stand in no such list.
_MADE = lazy(r"(?:lo|docker|br-|virbr|veth|cni|flannel|cali|tunl|kube|dummy|nerdctl|podman|vnet|tap|tun|weave|cilium)")

_TWO = 2
USUAL = 24  # bits of a network, where only the address is told
MASTERS = frozenset({"MASTER_ADDR", "MASTER_IP", "MS_SCHED_HOST"})  # an address of the network that joins the nodes
_OPTIONS = ("master-addr", "master-ip", "dist-init-addr", "data-parallel-address")


class _Interface(NamedTuple):
    name: str
    address: IPv4Interface


def between(told: Iterable[str], named: Iterable[str], started: Iterable[Started]) -> Mapping[str, tuple[str, ...]]:
    """By which interface the nodes of a job reach each other, as its lists, its variables (`named`: values of `MASTERS`) and commands tell it."""
    told = tuple(told)
    masters = (*named, *(value.partition(":")[0] for one in started for name in _OPTIONS if (value := one.option(name))))
    return chosen(told, masters) or _of_two(told, masters)


def _of_two(told: Iterable[str], masters: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Two names in the network of a master: nodes that call theirs differently."""
    there = [ip for one in masters if (ip := _ip(one)) is not None]
    near = dict.fromkeys(made for row in told if (made := _read(row)) is not None and any(ip in made.address.network for ip in there))
    return {"interfaces": tuple(f"{one.name} {one.address.ip}" for one in near)} if len({one.name for one in near}) == _TWO else {}


def chosen(told: Iterable[str], masters: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The one in whose network a master's address lies, else the only real one; its own address where all lists agree on it."""
    real = tuple(dict.fromkeys(made for row in told if (made := _read(row)) is not None))
    there = [ip for one in masters if (ip := _ip(one)) is not None]
    near = [one for one in real if any(ip in one.address.network for ip in there)]
    names = {one.name for one in near or real}
    if len(names) != 1 or (there and not near):
        return {}
    own = {str(one.address.ip) for one in near or real}
    return {"interface": (names.pop(),), **({"interface_ip": (own.pop(),)} if len(own) == 1 else {})}


def other_than(missing: str, told: Sequence[str]) -> dict[str, str]:
    """Where two nodes call theirs differently: the one of the node that does not know the name of the other's.

    >>> other_than("enp1s0", ("enp1s0 10.0.0.1", "enp67s0f0np0 10.0.0.2")), other_than("eth0", ("enp1s0 10.0.0.1", "enp2s0 10.0.0.2"))
    ({'interface': 'enp67s0f0np0', 'interface_ip': '10.0.0.2'}, {})
    """
    left = [one.split() for one in told if one.split()[0] != missing]
    return {"interface": left[0][0], "interface_ip": left[0][1]} if len(left) == 1 < len(told) else {}


def _read(row: str) -> _Interface | None:
    """One real interface of a row; nothing of loopback, bridges and what else only this host reaches."""
    name, address = _NAME.match(row), _ADDRESS.search(row)
    if name is None or address is None:
        return None
    called = (name["last"] or name["listed"] or name["first"]).partition("@")[0]
    try:
        made = IPv4Interface(f"{address['ip']}/{address['bits'] or address['mask'] or USUAL}")
    except ValueError:
        return None
    return None if _MADE.match(called) or made.ip.is_loopback or made.ip.is_link_local else _Interface(called, made)


def _ip(text: str) -> IPv4Address | None:
    try:
        return IPv4Address(text.strip("'\""))
    except ValueError:
        return None
