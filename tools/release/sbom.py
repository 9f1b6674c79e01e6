"""What a release consists of, as CycloneDX 1.5: every package with its version, licence and hashes."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterable, Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from release import wheels


def document(own: Path, others: Iterable[Path], artefacts: Sequence[Path], epoch: int) -> str:
    """The same text for the same files: its serial number is made of their hashes."""
    mine = _component(wheels.read(own), [own], "application")
    packages: dict[tuple[str, str], list[Path]] = {}
    for path in others:
        wheel = wheels.read(path)
        packages.setdefault((wheel.name.lower(), wheel.version), []).append(path)
    components = [_component(wheels.read(paths[0]), sorted(paths), "library") for _, paths in sorted(packages.items())]
    files = [{"type": "file", "name": path.name, "hashes": [_hash(path)]} for path in sorted(artefacts)]
    mine["bom-ref"] = "npu-doctor"
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "component": mine},
        "components": components + files,
        "dependencies": [{"ref": "npu-doctor", "dependsOn": [c["bom-ref"] for c in components]}],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return json.dumps({"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "serialNumber": f"urn:uuid:{serial}", **body}, indent=1) + "\n"


def _component(wheel: wheels.Wheel, paths: Sequence[Path], kind: str) -> dict[str, Any]:
    head = HeaderParser().parsestr(wheel.metadata)
    purl = f"pkg:pypi/{wheel.name.lower().replace('_', '-')}@{wheel.version}"
    made: dict[str, Any] = {"type": kind, "bom-ref": purl, "name": wheel.name, "version": wheel.version, "purl": purl}
    if head["License-Expression"]:
        made["licenses"] = [{"expression": head["License-Expression"]}]
    elif said := _licence(head):
        made["licenses"] = [{"license": {"name": said}}]
    made["properties"] = [{"name": f"npu-doctor:wheel:{path.name}", "value": _hash(path)["content"]} for path in sorted(set(paths), key=lambda p: p.name)]
    return made


def _licence(head: Any) -> str:
    classified = [row.rpartition(" :: ")[2] for row in head.get_all("Classifier") or () if row.startswith("License ::")]
    said = str(head["License"] or "").strip()
    return said if said and "\n" not in said and len(said) < 80 else "; ".join(classified)


def _hash(path: Path) -> dict[str, str]:
    return {"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}
