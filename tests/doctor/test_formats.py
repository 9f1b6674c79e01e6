"""The forms that other programs read: they take what we write, and what a log says stays text in them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree as ET

import pytest
from tests_support import EVIL, hostile_log

from doctor.render.sarif import uri

SEVERAL = ("a.html", "a.sarif", "a.xml", "a.md", "a.json", "a.jsonl", "a.txt")


class Page(HTMLParser):
    """The elements of a page with what they hold; void ones have no end."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_html_is_whole_and_loads_nothing(lang: str, run) -> None:  # type: ignore[no-untyped-def]
    page = Page(run("demo", "-f", "html", "--lang", lang).stdout.decode())
    assert page.open == []
    assert {t for t, _ in page.tags}.isdisjoint({"script", "link", "img", "iframe", "object", "form"})
    assert not [a for _, attributes in page.tags for a in attributes if a.startswith("on") or a in ("src", "style")]
    links = [a["href"] for t, a in page.tags if t == "a"]
    assert links
    assert all(urlparse(link or "").scheme in ("http", "https") for link in links)
    text = "".join(page.text)
    assert "RTS001" in text
    assert "fault kernel_name=GatherV2" in text
    assert "export ASCEND_LAUNCH_BLOCKING=1" in text
    assert "unset ASCEND_LAUNCH_BLOCKING" in text


def test_nothing_of_a_log_becomes_markup(run) -> None:  # type: ignore[no-untyped-def]
    page = Page(run("scan", "-", "-f", "html", "--all", stdin=hostile_log(), PYTHONUTF8="1").stdout.decode())
    assert page.open == []
    assert {t for t, _ in page.tags}.isdisjoint({"script", "img"})
    assert "<script>alert(1)</script>" in "".join(page.text)


def test_sarif_points_at_lines_of_logs(run) -> None:  # type: ignore[no-untyped-def]
    told = json.loads(run("demo", "-f", "sarif", "--lang", "en").stdout)
    assert told["version"] == "2.1.0"
    (made,) = told["runs"]
    rules = made["tool"]["driver"]["rules"]
    first = made["results"][0]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "RTS001"
    assert {r["level"] for r in made["results"]} <= {"error", "warning", "note"}
    place = first["locations"][0]["physicalLocation"]
    line = Path(unquote(place["artifactLocation"]["uri"])).read_text(encoding="utf-8").splitlines()[place["region"]["startLine"] - 1]
    assert line == place["region"]["snippet"]["text"]


@pytest.mark.parametrize(("path", "told"), [("a b/#1?.log", "a%20b/%231%3F.log"), ("/日志/x", "file:///%E6%97%A5%E5%BF%97/x"), ("x.tar!y%2f", "x.tar%21y%252f")])
def test_paths_are_references(path: str, told: str) -> None:
    assert uri(path) == told


def test_sarif_tells_what_nobody_knows_and_what_was_not_read(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    unheard = b"[ERROR] HCCL(7,py):2026-01-02-03:04:05.006.007 [a.cc:1]7 unheard of\n"
    (made,) = json.loads(run("scan", "-", str(tmp_path / "gone"), "-f", "sarif", stdin=unheard).stdout)["runs"]
    assert [r["ruleId"] for r in made["results"]] == ["UNKNOWN"]
    assert "gone" in made["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize(
    ("log", "failures", "errors"),
    [
        (b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n", 1, 0),
        (b"[ERROR] HCCL(7,py):2026-01-02-03:04:05.006.007 [a.cc:1]7 unheard of\n", 0, 1),
        (b"[INFO] HCCL(7,py):2026-01-02-03:04:05.006.007 [a.cc:1]7 all is well\n", 0, 0),
        (hostile_log(), None, None),
    ],
)
def test_junit_is_xml_with_a_case_for_each_cause(log: bytes, failures: int | None, errors: int | None, run) -> None:  # type: ignore[no-untyped-def]
    root = ET.fromstring(run("scan", "-", "-f", "junit", stdin=log, PYTHONUTF8="1").stdout)
    cases = root.findall("testsuite/testcase")
    assert int(root.attrib["tests"]) == len(cases) > 0
    assert len([c for c in cases if c.find("failure") is not None]) == int(root.attrib["failures"])
    assert failures is None or (int(root.attrib["failures"]), int(root.attrib["errors"])) == (failures, errors)


def test_a_workflow_command_is_one_line_and_holds_no_other(run) -> None:  # type: ignore[no-untyped-def]
    evil = "\n".join(f"ImportError: lib{e}.so: cannot open shared object file ::error::{e}" for e in EVIL)
    told = run("scan", "-", "-f", "github", "--all", stdin=evil.encode("utf-8", "surrogateescape"), PYTHONUTF8="1").stdout.decode()
    rows = told.splitlines()
    assert rows
    for row in rows:
        head, _, _ = row.removeprefix("::").partition("::")
        name, _, properties = head.partition(" ")
        assert row.startswith("::")
        assert name in ("error", "warning", "notice")
        assert [p.partition("=")[0] for p in properties.split(",")] == ["file", "line", "title"]


def test_one_diagnosis_in_several_forms(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("demo", "--lang", "en", *(word for name in SEVERAL for word in ("-o", str(tmp_path / name))))
    assert done.returncode == 1
    assert done.stdout == b""
    begins = {name: (tmp_path / name).read_text(encoding="utf-8")[:80] for name in SEVERAL}
    for name, begin in zip(SEVERAL, ("<!doctype html>", '{\n "$schema"', "<?xml", "# npu-doctor", '{\n "schema_version"', "{", "ERROR"), strict=True):
        assert begins[name].startswith(begin), name
