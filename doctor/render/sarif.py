"""The report for code scanning services and editors (SARIF 2.1.0): root causes and unrecognised errors at their log lines."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from doctor.render import fingerprint, plain
from doctor.render.fixes import fixes
from doctor.render.parts import roots

Json = dict[str, Any]
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "npuDoctor/v1"
UNKNOWN = "UNKNOWN"  # the rule of errors that no entry claims
_LEVELS = {"fatal": "error", "error": "error", "warning": "warning", "info": "note"}


def render(report: Json, lang: str) -> str:
    causes = roots(report)
    rules = [_rule(f, lang) for f in causes]
    if report["unexplained"]:
        rules.append({"id": UNKNOWN, "shortDescription": {"text": "An error that no entry of the knowledge claims"}})
    notes = [
        {"level": "warning", "message": {"text": f"{s['path']}: {s['reason']}"}, "descriptor": {"id": "not-read"}}
        for s in report["skipped"]
    ]
    driver = {"name": report["tool"]["name"], "version": report["tool"]["version"], "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": [
            *(_result(f, number, lang) for number, f in enumerate(causes)),
            *(_unknown(c, len(causes)) for c in report["unexplained"]),
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=1) + "\n"


def _rule(finding: Json, lang: str) -> Json:
    rule = {
        "id": finding["id"],
        "name": finding["slug"],
        "shortDescription": {"text": finding["title"][lang]},
        "fullDescription": {"text": finding["cause"][lang]},
        "defaultConfiguration": {"level": _LEVELS[finding["severity"]]},
    }
    page = next((r["url"] for r in finding["references"] if r["url"].startswith("https://")), "")
    return {**rule, "helpUri": page} if page else rule


def _result(finding: Json, number: int, lang: str) -> Json:
    steps = "".join(f"\n{row}" for row in plain.fixes(fixes(finding["fixes"], lang), lang))
    places = [_place(one) for one in finding["evidence"]]
    return {
        "ruleId": finding["id"],
        "ruleIndex": number,
        "level": _LEVELS[finding["severity"]],
        "message": {"text": f"{finding['title'][lang]}\n{finding['cause'][lang]}{steps}"},
        "locations": places[:1],
        "relatedLocations": places[1:],
        "occurrenceCount": max(1, finding["count"]),
        "partialFingerprints": {FINGERPRINT: fingerprint.of_finding(finding["id"])},
        "properties": {
            "confidence": finding["confidence"],
            "why": finding["why"][lang],
            "explains": finding["explains"],
            **{k: v for k, v in finding["scope"].items() if v is not None},
        },
    }


def _unknown(cluster: Json, number: int) -> Json:
    return {
        "ruleId": UNKNOWN,
        "ruleIndex": number,
        "level": "warning",
        "message": {"text": cluster["evidence"]["text"] or UNKNOWN},
        "locations": [_place(cluster["evidence"])],
        "occurrenceCount": max(1, cluster["count"]),
        "partialFingerprints": {FINGERPRINT: fingerprint.of_error(cluster["template"])},
    }


def _place(one: Json) -> Json:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri(one["path"])},
            "region": {
                "startLine": max(1, one["line"]),
                "endLine": max(1, one["line"], one["end_line"]),
                "snippet": {"text": one["text"]},
            },
        }
    }


def uri(path: str) -> str:
    """A path as a reference: what is absolute becomes a file address, what is special to addresses is escaped."""
    return ("file://" if path.startswith("/") else "") + quote(path, errors="surrogatepass")
