"""The NPUs: what `npu-smi info` says of them, what the PCI bus has, which device nodes stand there, and who may open them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from doctor.base import notation
from doctor.env.facts import Fact
from doctor.env.looking import Look
from doctor.env.outputs import ABSENT, Output
from doctor.findings.chips import family
from parsers import npu_smi

# PCI device numbers of the vendor 19e5.
PCI = {"d801": "A1", "d802": "A2", "d803": "A3", "d500": "310P", "d100": "310", "d105": "310B"}
_NODE = re.compile(r"(?:v?davinci)(\d{1,5})$")
MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")
MAX_CHIPS = 256
_ERROR = re.compile(r"(?i)(dcmi \w+ initialized? failed.{0,60}|cannot open shared object file.{0,60}|ret(?:urn)?(?: code)? is -?\d+|[\w ]{0,30}not (?:be )?complete\w* installed.{0,40}|There is no NPU.{0,30})")
_LS = re.compile(r"^[cb](?P<mode>[rwx-]{9})\S?\s+\d+\s+(?P<user>\S+)\s+(?P<group>\S+)\s+.*?(?:/dev/)?(?P<name>v?davinci\w*)$", re.MULTILINE)


def gather(look: Look) -> Iterator[Fact]:
    said = look.outputs.ask(("npu-smi", "info"))
    if (look.tree.live and said.path) or said.state != ABSENT or said.text:  # away from the machine: nobody recorded it, which says nothing
        yield from npus(said)
    yield from _bus(look)
    yield from _nodes(look)


def npus(said: Output) -> Iterator[Fact]:
    """The facts of an `npu-smi info`, whatever it printed."""
    rows = [r for r in npu_smi.rows(said.text.splitlines(), 1) if said.text]
    chips = [r for r in rows if r.table == "npu-smi.chip"][:MAX_CHIPS]
    state = said.state if said.state != "ok" or chips else "failed"
    yield Fact("npu_smi.state", state, said.path or "npu-smi info", 1, _first(said.text))
    if not chips:
        if said.text.strip():
            found = _ERROR.search(said.text)
            yield Fact("npu_smi.said", found[0].strip() if found else _first(said.text), said.path)
            if code := re.search(r"-80\d\d\b", said.text):
                yield Fact("npu_smi.code", code[0], said.path, 1, _first(said.text))
        return
    lines = said.text.splitlines()

    def fact(name: str, value: str, number: int) -> Fact:
        return Fact(name, value, said.path, number, lines[number - 1].strip() if 0 < number <= len(lines) else "")

    for row in rows:
        if row.table == "npu-smi.summary":
            yield fact("npu_smi.version", row.get("version") or "", row.line)
            yield fact("chips.missing", row.get("missing_npus") or "none", row.line)
    names = sorted({(c.get("name") or "").removeprefix("Ascend") for c in chips})
    yield fact("chips.name", ", ".join(names), chips[0].line)
    yield fact("chips.family", _family(names, said.text), chips[0].line)
    yield Fact("chips.count", str(len(chips)), said.path)
    for number, chip in enumerate(chips):
        device = chip.get("device") or str(number)
        yield fact(f"chip.{device}.health", chip.get("health") or "unknown", chip.line)
        yield fact(f"chip.{device}.npu", chip.get("npu") or "", chip.line)
        for name in ("temp", "hbm_percent", "has_process"):
            if value := chip.get(name):
                yield fact(f"chip.{device}.{name}", value, chip.line)


def _family(names: list[str], text: str) -> str:
    """The generation. `Ascend910` beside a column Phy-ID is an A3: only its boards have two dies and print no letter."""
    first = names[0]
    if first in ("910", "Ascend910") and "Phy-ID" in text:
        return "A3"
    return family(first)


def _first(text: str) -> str:
    return next((row.strip() for row in text.splitlines() if row.strip()), "")[:300]


def _bus(look: Look) -> Iterator[Fact]:
    """Cards that the PCI bus has, driver or none."""
    tree, base = look.tree, "/sys/bus/pci/devices"
    names = tree.names(base)
    found = []
    for name in names:
        vendor = (tree.text(f"{base}/{name}/vendor") or "").strip().lower()
        if vendor == "0x19e5":
            device = (tree.text(f"{base}/{name}/device") or "").strip().lower().removeprefix("0x")
            if device in PCI:
                found.append((name, device))
    if names:
        yield Fact("pci.npus", str(len(found)), base, 1, ", ".join(n for n, _ in found[:8]))
    if found:
        yield Fact("pci.family", PCI[found[0][1]], f"{base}/{found[0][0]}/device", 1, f"0x{found[0][1]}")


def _nodes(look: Look) -> Iterator[Fact]:
    """Device nodes, and whether this user may open them."""
    tree = look.tree
    present = tree.names("/dev")
    listing = look.outputs.ask(("ls", "-l", "/dev")) if not tree.live else Output(ABSENT)
    if not present and not listing.known:
        return
    rows = {m["name"]: m for m in _LS.finditer(listing.text)}
    if listing.known:
        present = tuple(sorted({*present, *rows, *(w for row in listing.text.splitlines() for w in row.split()[-1:] if w in MANAGERS)}))
    cards = sorted(int(m[1]) for name in present if (m := _NODE.match(name)))
    yield Fact("device.cards", notation.spans(cards) if cards else "none", "/dev")
    yield Fact("device.count", str(len(cards)), "/dev")
    for name in MANAGERS:
        there = name in present or (name == "davinci_manager" and "davinci_manager_docker" in present)
        yield Fact(f"device.{name}", "present" if there else "absent", f"/dev/{name}")
    yield Fact("device.svm0", "present" if "svm0" in present else "absent", "/dev/svm0")
    if cards and tree.live:
        first = f"/dev/{next(n for n in present if _NODE.match(n))}"
        yield Fact("device.access", "yes" if os.access(first, os.R_OK | os.W_OK) else "no", first)
    elif rows:
        row = next(iter(rows.values()))
        yield Fact("device.access", _allowed(look, row["mode"], row["user"], row["group"]), listing.path, 1, row[0])
        yield Fact("device.group", row["group"], listing.path, 1, row[0])


def _allowed(look: Look, mode: str, user: str, group: str) -> str:
    """May whoever `id` speaks of open a node of that mode?"""
    said = look.outputs.ask(("id",)).text
    who = re.search(r"uid=\d+\(([^)]+)\)", said)
    groups = re.findall(r"\d+\(([^)]+)\)", said.partition("groups=")[2])
    if who is None:
        return "not known"
    if who[1] == "root" or mode[6:8] == "rw":
        return "yes"
    if who[1] == user:
        return "yes" if mode[:2] == "rw" else "no"
    return "yes" if group in groups and mode[3:5] == "rw" else "no"
