"""The network of the NPUs: `/etc/hccn.conf`, and when it is asked for what `hccn_tool` says of every card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from doctor.env.facts import Fact
from doctor.env.looking import Look, pairs
from doctor.env.outputs import ABSENT, Output, in_parallel

CONF = "/etc/hccn.conf"
ROOT_INFO = "/etc/hccl_rootinfo.json"
TOOL = "hccn_tool"
MOST_CARDS = 16  # of a server, where no device nodes tell how many it has
_KEY = re.compile(r"(address|netmask|gateway|netdetect|mtu)_(\d{1,3})$")
ASKED = ("link", "ip", "gateway", "net_health", "tls")
_SAID = {
    "link": re.compile(r"link status:\s*(\w+)"),
    "ip": re.compile(r"ipaddr:\s*([\d.]+)"),
    "gateway": re.compile(r"default gateway:\s*([\d.]+)"),
    "net_health": re.compile(r"net health status:\s*(.+?)\s*$", re.MULTILINE),
    "tls": re.compile(r"tls switch\[(\d)\]"),
}


def gather(look: Look) -> Iterator[Fact]:
    text = look.tree.text(CONF)
    if text is not None:
        yield from _conf(text)
    elif look.tree.names("/etc"):
        yield Fact("network.conf", "absent", CONF)
    table = look.tree.text(ROOT_INFO)
    if table is not None and (found := re.search(r'"version"\s*:\s*"?([\d.]+)', table)):
        yield Fact("network.rootinfo", found[1], ROOT_INFO, table.count("\n", 0, found.start()) + 1, found[0])
    if look.network or not look.tree.live:
        yield from _cards(look)


def _conf(text: str) -> Iterator[Fact]:
    """Addresses card by card; the same one twice is a mistake that no tool names."""
    found: dict[str, list[str]] = {}
    for number, name, value, row in pairs(text):
        if match := _KEY.match(name):
            yield Fact(f"network.{match[2]}.{match[1]}", value, CONF, number, row.strip())
            found.setdefault(match[1], []).append(value)
    addresses = found.get("address", [])
    twice = [a for a, n in Counter(addresses).items() if n > 1]
    yield Fact("network.conf", "present" if addresses else "empty", CONF)
    if addresses:
        yield Fact("network.addresses", str(len(addresses)), CONF)
        yield Fact("network.same_address", ", ".join(twice) or "none", CONF)
        if len(found.get("netmask", ())) == len(addresses):
            masks = set(found["netmask"])
            yield Fact("network.netmasks", "one" if len(masks) == 1 else ", ".join(sorted(masks)), CONF)


def _cards(look: Look) -> Iterator[Fact]:
    """Link, address, gateway, health and TLS of every card."""
    nodes = [n.removeprefix("davinci") for n in look.tree.names("/dev") if re.fullmatch(r"davinci\d+", n)] if look.tree.live else []
    cards = sorted(nodes, key=int) or [str(n) for n in range(MOST_CARDS)]
    asked = [(card, what) for card in cards for what in ASKED]
    answers = in_parallel(look.outputs.ask, [(TOOL, "-i", card, f"-{what}", "-g") for card, what in asked])
    said = [a for a in answers if a.state != ABSENT]
    if look.network or said:
        yield Fact("network.tool", said[0].state if said else ABSENT, TOOL)
    told: dict[str, list[str]] = {}
    for (card, what), answer in zip(asked, answers, strict=True):
        value = _read(what, answer)
        if value:
            told.setdefault(what, []).append(value)
            row = next((r.strip() for r in answer.text.splitlines() if value in r), "")
            yield Fact(f"network.{card}.{what}", value, answer.path, 1, row)
    if switches := set(told.get("tls", ())):
        yield Fact("network.tls", "mixed" if len(switches) > 1 else switches.pop())


def _read(what: str, answer: Output) -> str:
    found = _SAID[what].search(answer.text) if answer.known else None
    return found[1] if found is not None else ""
