"""Rank tables among the sources: `hccl.json` of any version, told as one fact about the job.

Lines mean nothing there, the file is one JSON value:

    {"version": "1.0", "server_list": [{"server_id": "10.0.0.1", "device": [{"device_id": "0", "device_ip": "192.168.1.8", "rank_id": "0"}]}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.read.source import Source
from doctor.scan.harvest import RANK_TABLE, Hit, Place
from parsers import foreign_json

LARGEST = 16 << 20


def rank_table(source: Source) -> tuple[Hit, ...]:
    """The fact that a source is a rank table; nothing when it is none."""
    if not source.name.endswith(".json") or source.once or (source.size or 0) > LARGEST:
        return ()
    try:
        with source.open() as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST or b'"rank_id"' not in data:
            return ()
        written = compact(foreign_json.read(data))
    except (OSError, ValueError):
        return ()
    if not written:
        return ()
    hints = source.hints
    place = Place(source.name, 1, 1, None, None, None, "text", hints.node, None, None, None, None, "rank table")
    return (Hit(RANK_TABLE, place, (("table", written),)),)


def compact(value: Any) -> str:
    """`server=device/address/rank,...;...`, the same for equal tables however they are laid out; "" for anything else."""
    servers: dict[str, set[tuple[int, str, int]]] = {}
    for server, device, address, rank in _devices(value):
        if server and not set(";=,/") & set(server + address) and device.isdigit() and rank.isdigit():
            servers.setdefault(server, set()).add((int(device), address, int(rank)))
    return ";".join(
        f"{server}=" + ",".join(f"{device}/{address}/{rank}" for device, address, rank in sorted(rows))
        for server, rows in sorted(servers.items())
    )


def _devices(value: Any) -> Iterator[tuple[str, str, str, str]]:
    """Server, device, address and rank of every device, in the layouts of versions 1.0 to 1.2 and of the one before."""
    if not isinstance(value, dict):
        return
    for server in _dicts(value.get("server_list")):
        for device in _dicts(server.get("device")):
            yield (
                _text(server, "server_id"),
                _text(device, "device_id"),
                _text(device, "device_ip"),
                _text(device, "rank_id"),
            )
    for group in _dicts(value.get("group_list")):
        for instance in _dicts(group.get("instance_list")):
            for device in _dicts(instance.get("devices")):
                yield (
                    _text(instance, "server_id"),
                    _text(device, "device_id"),
                    _text(device, "device_ip"),
                    _text(instance, "rank_id"),
                )


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key, "")
    return str(value) if isinstance(value, (str, int)) else ""
