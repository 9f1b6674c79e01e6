"""Custom fault entities and masking rules of MindCluster's ascend-fd, as entries. What has no place here is told, never dropped in silence.

An entity is `{"41001": {"attribute.cause_zh": ..., "source_file": ..., "regex.in": ..., "rule": [{"dst_code": ...}]}}`; all keywords
of a list stand in one line in this order, and of lists in a list one suffices. A masking rule is a list of keywords.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from kb.anchors import MIN_ANCHOR
from kb.draft import free_code, quoted, single, slug
from parsers.named import NamedTuple

Json = dict[str, Any]
GAP = ".{0,400}?"
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KNOWN = frozenset(
    f"attribute.{name}" for name in (
        "class", "component", "module", "cause_zh", "cause_en", "description_zh", "description_en", "suggestion_zh", "suggestion_en", "error_case", "fixed_case")
) | {"rule", "source_file", "regex.in"}  # fmt: skip
_KINDS = {"hardware": "hardware-fault", "network": "link-fault"}
_HEADS = {"plog": "[ERROR] APP(1,python):2026-01-01-00:00:00.000.001 [a.cc:1] ", "kernel": "[    1.000000] "}
_LINES = (("plog", "plog"), ("dmesg", "kernel"), ("os", "kernel"))


class Left(NamedTuple):
    """What could not be mapped: of which entity, what, and why."""

    code: str
    what: str
    why: str


class Imported(NamedTuple):
    """Files by name, and what they leave out."""

    files: dict[str, str]
    left: tuple[Left, ...]


def read(data: bytes) -> Json | str:
    """The file's object; a text says why it is none."""
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except (ValueError, RecursionError) as error:
        return f"it is no JSON: {error}"[:200]
    return found if isinstance(found, dict) else "it is no object of fault codes"


def entries(found: Json, taken: Collection[str]) -> Imported:
    """An entry for each entity and each masking rule that has words to look for."""
    used = set(taken)
    left: list[Left] = []
    codes: dict[str, str] = {}
    for name, entity in found.items():
        if name == "blacklist":
            continue
        if not isinstance(entity, dict):
            left.append(Left(name, "the entity", "it is no object"))
        elif why := _unusable(entity.get("regex.in")):
            left.append(Left(name, "the entity", why))
        else:
            codes[name] = free_code(used)
            used.add(codes[name])
    causes: dict[str, list[str]] = {}
    for name in codes:
        for target in _targets(found[name], name, codes, left):
            causes.setdefault(target, []).append(codes[name])
    files = {}
    for name, code in codes.items():
        files[f"{code.lower()}_{_slug(found[name], name)}.yaml"] = _entity(name, code, found[name], causes.get(name, []), left)
    rules: Any = found.get("blacklist")
    for number, rule in enumerate(rules if isinstance(rules, list) else ()):
        if not isinstance(rule, list) or any(isinstance(word, list) for word in rule):
            left.append(Left(f"blacklist {number}", "the rule", "a rule is a list of keywords"))
            continue
        if why := _unusable(rule):
            left.append(Left(f"blacklist {number}", "the rule", why))
            continue
        code = free_code(used)
        used.add(code)
        files[f"{code.lower()}_masked-{slug(' '.join(rule))}.yaml"] = _masked(code, rule)
    return Imported(files, tuple(left))


def _ways(words: Any) -> list[list[Any]]:
    """The lists of keywords, of which one suffices."""
    if isinstance(words, str):
        return [[words]]
    if not isinstance(words, list):
        return []
    return [way for way in words if isinstance(way, list)] if any(isinstance(w, list) for w in words) else [words]


def _unusable(words: Any) -> str:
    """Why nothing can be looked for; empty when it can."""
    ways = _ways(words)
    if not ways:
        return "regex.in holds no keywords"
    for way in ways:
        if not way or not all(isinstance(word, str) and word.strip() and "\n" not in word for word in way):
            return "regex.in holds something that is no keyword"
        if max(map(len, way)) < MIN_ANCHOR:
            return f"its keywords are shorter than {MIN_ANCHOR} characters: they stand in any log"
    return ""


def _targets(entity: Json, name: str, codes: Mapping[str, str], left: list[Left]) -> list[str]:
    """What this fault leads to, as far as the file holds it."""
    rules = entity.get("rule") or []
    found = []
    for rule in rules if isinstance(rules, list) else []:
        target = str(rule.get("dst_code", "")) if isinstance(rule, dict) else ""
        if target in codes and target != name:
            found.append(target)
        else:
            left.append(Left(name, f"rule dst_code {target or '?'}", "that fault is not in this file"))
        if isinstance(rule, dict) and rule.get("expression"):
            left.append(Left(name, "rule expression", "there is no such condition between entries"))
    return found


def _text(entity: Json, what: str, lang: str) -> str:
    value = entity.get(f"attribute.{what}_{lang}", "")
    text = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    return "" if text.strip("- \n") == "" else text.strip()


def _slug(entity: Json, name: str) -> str:
    return slug(_text(entity, "cause", "en") or f"ascend fd {name}")


def _pair(entity: Json, what: str, name: str, left: list[Left], other: tuple[str, str]) -> str:
    en, zh = _text(entity, what, "en"), _text(entity, what, "zh")
    if not en or _HAN.search(en):
        left.append(Left(name, f"attribute.{what}_en", "there is no English text"))
    if not _HAN.search(zh):
        left.append(Left(name, f"attribute.{what}_zh", "there is no Chinese text"))
    en = en if en and not _HAN.search(en) else other[0]
    return f"{{en: {quoted(_plain(en))}, zh: {quoted(_plain(zh if _HAN.search(zh) else other[1]))}}}"


def _plain(text: str) -> str:
    """Braces would be slots."""
    return text.replace("{", "{{").replace("}", "}}")


def _leaves(ways: list[list[str]]) -> list[str]:
    rows = []
    for way in ways:
        if len(way) == 1:
            rows.append(f"    - {{text: {quoted(way[0])}}}")
        else:
            pattern = GAP.join(re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", word) for word in way)
            rows.append(f"    - {{regex: {single(pattern)}}}")
    return rows


def _entity(name: str, code: str, entity: Json, causes: list[str], left: list[Left]) -> str:
    ways = _ways(entity["regex.in"])
    kind = _KINDS.get(str(entity.get("attribute.class", "")).lower(), "service-config")
    hard = kind == "hardware-fault"
    source = str(entity.get("source_file", "")).lower()
    lines = next((line for word, line in _LINES if re.search(rf"(?:^|[^a-z]){word}", source)), "")
    if source and not lines and "train" not in source:
        left.append(Left(name, f"source_file {entity['source_file']}", "every file is read for it"))
    left += (Left(name, key, "there is no such key") for key in entity if key not in _KNOWN)
    steps = [(_text(entity, "suggestion", "en"), _text(entity, "suggestion", "zh"))]
    fixed = entity.get("attribute.fixed_case")
    rows = [
        f"code: {code}", "status: stable", f"severity: {'error' if hard else 'warning'}", "role: cause", f"kind: {kind}",
        f"component: {quoted(str(entity.get('attribute.component', '')))}", "confidence: medium",
        "title: " + _pair(entity, "cause", name, left, (f"Fault {name} of ascend-fd", f"ascend-fd 故障 {name}")),
        "cause: " + _pair(entity, "description", name, left, (f"An entity of ascend-fd describes it as fault {name}.", f"ascend-fd 自定义故障实体 {name}。")),
        "evidence:", *([f"  in: {lines}"] if lines else []), "  any:", *_leaves(ways),
        *([f"symptom_of: [{', '.join(f'{{entry: {cause}}}' for cause in causes)}]"] if causes else []),
        "fixes:", "  - goal: resolve", "    risk: low", '    title: {en: "What ascend-fd suggests", zh: "ascend-fd 的建议"}',
        "    steps:", *(f"      - {{en: {quoted(_plain(en or 'The entity has no English text: see the Chinese one.'))}, zh: {quoted(_plain(zh or '该实体没有中文建议。'))}}}" for en, zh in steps),
        *(["    commands:", '      - {run: "npu-smi info", changes: nothing}'] if hard else []),
        *(["    code: {lang: python, before: " + quoted(_joined(entity.get("attribute.error_case"))) + ", after: " + quoted(_joined(fixed)) + "}"] if fixed else []),
        "references:", f"  - {{kind: source, title: {quoted(f'custom fault entity {name} of ascend-fd')}}}", "samples:", "  match:",
    ]  # fmt: skip
    head = _HEADS.get(lines, "")
    for number, way in enumerate(ways, 1):
        rows += [f"    - name: keywords-{number}", f"      text: {quoted(head + ' ... '.join(way))}"]
    if len(ways[0]) > 1:
        rows += ["  no_match:", "    - name: other-order", f"      text: {quoted(head + ' ... '.join(reversed(ways[0])))}"]
    return "\n".join(rows) + "\n"


def _joined(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _masked(code: str, words: list[str]) -> str:
    shown = _plain(" ... ".join(words))[:70]
    rows = [
        f"code: {code}", "status: stable", "severity: info", "role: noise", "kind: noise", "confidence: high",
        f"title: {{en: {quoted(f'Masked: {shown}')}, zh: {quoted(f'已屏蔽：{shown}')}}}",
        'cause: {en: "A masking rule of ascend-fd calls this line harmless.", zh: "ascend-fd 的屏蔽规则认为该行无害。"}',
        "evidence:", "  any:", *_leaves([words]), "references:", '  - {kind: source, title: "masking rule of ascend-fd"}',
        "samples:", "  match:", "    - name: keywords", f"      text: {quoted(' ... '.join(words))}",
    ]  # fmt: skip
    return "\n".join(rows) + "\n"
