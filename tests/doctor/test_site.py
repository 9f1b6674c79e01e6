"""The knowledge as static pages: every link leads to a page, nothing is loaded from elsewhere, and a real browser searches them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

import pytest
from browser import Browser, browser, program

from doctor import cli
from doctor.base import addresses
from doctor.base.errors import UsageError
from doctor.commands import kb_site
from kb.build import build
from kb.invisible import STEERING
from kb.knowledge import Knowledge
from kb.layers import Layer
from kb.pack import Pack

MOST_BYTES = 30_000_000


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    assert cli.main(["kb", "site", "-o", str(folder)]) == 0
    return folder


def test_every_entry_code_and_variable_has_a_page_in_both_languages(pages: Path, knowledge: Knowledge) -> None:
    """At most 30 MB of them."""
    for lang in ("en", "zh"):
        for code in (*knowledge.codes_of_entries, *(c.code for c in knowledge.checks())):
            assert (pages / lang / f"{code}.html").is_file()
        assert len(list((pages / lang / "code").rglob("*.html"))) == knowledge.count_codes()
        assert len(list((pages / lang / "variable").iterdir())) == len(knowledge.variables())
        assert len(list((pages / lang / "card").iterdir())) == len(knowledge.cards())
    assert sum(path.stat().st_size for path in pages.rglob("*") if path.is_file()) <= MOST_BYTES


class Links(HTMLParser):
    """What a page loads, what it leads to, and whether its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)
        if tag == "a":
            self.leads.append(given["href"] or "")
        elif given.get("src") or (tag == "link"):
            self.loads.append(given.get("src") or given["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _all_links(pages: Path) -> Iterator[tuple[Path, Links]]:
    for path in pages.rglob("*.html"):
        links = Links()
        links.feed(path.read_text(encoding="utf-8"))
        assert links.open == [], path
        yield path, links


@pytest.mark.slow
def test_every_link_leads_somewhere(pages: Path) -> None:
    """Between pages by relative addresses; out of them only to references."""
    there = {str(path) for path in pages.rglob("*") if path.is_file()}
    for path, links in _all_links(pages):
        inner = [link for link in links.leads if not link.startswith(("https://", "http://"))]
        for link in (*inner, *links.loads):
            assert os.path.normpath(path.parent / link) in there, (path, link)


def test_addresses_are_for_ever() -> None:
    """What reports and people link to must not move."""
    assert addresses.path_of("entry", "RTS001") == "RTS001.html"
    assert addresses.path_of("code", "acl/507018") == "code/acl/507018.html"
    assert addresses.path_of("variable", "HCCL_CONNECT_TIMEOUT") == "variable/HCCL_CONNECT_TIMEOUT.html"
    assert addresses.path_of("code", "x/a b/../c") == "code/x/a_20_b_2f_.._2f_c.html"
    assert addresses.path_of("code", "x/../c") == "code/x/_2f_c.html"


def test_the_same_knowledge_makes_the_same_pages(pages: Path, knowledge: Knowledge) -> None:
    for path, text in islice(kb_site.files_of(knowledge), 300):
        assert (pages / path).read_text(encoding="utf-8") == text


class _Markup(HTMLParser):
    """What of a page a browser would act on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.acts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        scripts = [value for name, value in attrs if tag == "script" and name == "src" and value not in ("index.js", "../search.js")]
        links = [value for name, value in attrs if re.match(r"\s*(?:javascript|data|vbscript):", value or "", re.IGNORECASE)]
        self.acts += [name for name, _ in attrs if name.startswith("on")] + [str(found) for found in (*scripts, *links)]
        self.acts += [tag] if tag in ("img", "iframe", "object", "embed", "base", "form", "svg") else []


SAID = '</script></title><script>alert(1)</script><img src=x onerror=alert(1)>"` '
LONG = "../" * 60


def test_hostile_knowledge_becomes_plain_pages(tmp_path: Path) -> None:
    """Markup in texts, characters that steer in patterns, and names that no file system takes."""
    both = {"en": SAID, "zh": SAID}
    for name, rows in {
        "usr001_x": {
            "code": "USR001", "severity": "error", "kind": "user-code", "component": SAID, "title": both, "cause": both, "references": [{"title": SAID}],
            "evidence": {"any": [{"text": "swordfish \x1b]0;owned\x07\x9b\u202e failed"}]},
            "fixes": [{"goal": "resolve", "title": both, "steps": [both], "commands": [{"run": SAID, "why": both}], "code": {"lang": SAID, "after": SAID}}],
        },
        "codes/c": {"family": LONG, "title": both, "codes": [{"code": SAID + LONG, "name": SAID, "meaning": both, "ref": SAID, "related": [SAID]}]},
        "cards/c": [{"code": SAID, "title": both, "text": both, "keywords": [SAID], "references": [{"title": SAID, "url": "https://x/"}]}],
        "envvars": [{"name": SAID, "purpose": both, "values": [SAID]}],
    }.items():  # fmt: skip
        (tmp_path / f"{name}.yaml").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(json.dumps(rows))
    data, problems = build(Layer("mine", tmp_path))
    assert problems == []
    made = dict(kb_site.files_of(Knowledge((Pack(data),))))
    assert len([path for path in made if path.endswith(".html")]) == 11
    for path, text in made.items():
        assert all(len(name) < 250 and name.strip(".") for name in path.split("/"))
        assert STEERING.search(text.replace("\n", "")) is None
        assert _Markup(text if path.endswith(".html") else "").acts == []


def test_a_folder_of_other_things_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="holds other things"):
        cli.main(["kb", "site", "-o", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_index_has_a_row_for_each_page(pages: Path) -> None:
    """Scripts of others read the JSON; the page loads the same as a script, which works from a file system."""
    rows = json.loads((pages / "zh/index.json").read_text(encoding="utf-8"))
    assert {row[2] for row in rows} == {str(p.relative_to(pages / "zh")) for p in (pages / "zh").rglob("*.html")} - {"index.html"}
    assert all(re.search("[\u4e00-\u9fff]", row[3]) for row in rows if row[1] == "entry")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if program() is None:
        pytest.skip("there is no chromium on this machine: the pages were not driven in a browser")
    with browser(tmp_path_factory.mktemp("browser")) as one:
        yield one


def _found(page: Browser) -> list[str]:
    told = page.value("[...document.querySelectorAll('#found .code')].map(e => e.textContent).join(' ')")
    return str(told).split()


@pytest.mark.parametrize(
    ("lang", "typed", "first"),
    [
        ("en", "507018", "507018"),
        ("en", "EI0006", "EI0006"),
        ("en", "RTS001", "RTS001"),
        ("en", "HCCL_CONNECT_TIMEOUT", "HCCL_CONNECT_TIMEOUT"),
        ("zh", "RTS001", "RTS001"),
        ("en", "ret=507018", "507018"),
        ("en", "0x7bc8a", "507018"),
    ],
)
def test_a_search_typed_into_a_real_browser(lang: str, typed: str, first: str, pages: Path, chromium: Browser) -> None:
    """From the file system, without a server: key strokes, what is found, Enter opens it."""
    chromium.open(pages / lang / "index.html")
    chromium.value("document.getElementById('search').focus()")
    chromium.type(typed)
    assert _found(chromium)[0] == first
    chromium.press("Enter", 13)
    chromium._loaded()
    assert chromium.value("document.querySelector('h1 .code').textContent") == first


def test_a_search_in_chinese(pages: Path, chromium: Browser) -> None:
    chromium.open(pages / "zh/index.html", hash_="#q=%E8%B6%85%E6%97%B6")
    assert len(_found(chromium)) > 20
    chromium.press("Escape", 27)


def test_nothing_is_found_for_nonsense(pages: Path, chromium: Browser) -> None:
    chromium.open(pages / "en/index.html", hash_="#q=zorkmidplover")
    assert _found(chromium) == []
    assert chromium.value("document.getElementById('told').textContent") == "0"


@pytest.mark.parametrize("width", [360, 1100])
@pytest.mark.parametrize("path", ["en/index.html", "en/RTS001.html", "zh/RTS001.html", "zh/code/acl/507018.html", "zh/variable/HCCL_CONNECT_TIMEOUT.html", "en/CHK505.html"])
def test_nothing_stands_beside_a_narrow_screen(path: str, width: int, pages: Path, chromium: Browser) -> None:
    """A phone does not scroll sideways."""
    chromium.open(pages / path, width)
    assert chromium.value("document.documentElement.scrollWidth") <= width


def test_a_page_on_paper(pages: Path, chromium: Browser) -> None:
    """It prints as a document of a few sheets."""
    chromium.open(pages / "en/RTS001.html")
    paper = chromium.paper()
    assert paper.startswith(b"%PDF")
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type/Page\n") + paper.count(b"/Type /Page ") <= 8


def test_reports_lead_to_the_readers_own_site(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """NPU_DOCTOR_SITE names it: an address, or a folder that has the page; without one, and where the page is missing, nothing is linked; what is redacted for others leads nowhere."""
    pages = {lang: tmp_path / lang / "RTS001.html" for lang in ("en", "zh")}
    assert [addresses.page("entry", "RTS001", "zh", {addresses.VARIABLE: told}) for told in ("", " ", str(tmp_path), "https://", "ftp://kb")] == [""] * 5
    for page in pages.values():
        page.parent.mkdir()
        page.touch()
    for told in (str(tmp_path), f"{tmp_path}/", f"file://{tmp_path}"):
        assert addresses.page("entry", "RTS001", "zh", {addresses.VARIABLE: told}) == pages["zh"].as_uri()

    def said(*args: str, lang: str = "en", site_: str = str(tmp_path)) -> str:
        out: str = run(*args, "--lang", lang, NPU_DOCTOR_SITE=site_).stdout.decode()
        return out

    assert "https://kb.example.org/npu/zh/RTS001.html" in said("explain", "RTS001", lang="zh", site_="https://kb.example.org/npu/")
    assert "npu-doctor RTS001" not in said("explain", "RTS001", site_="")
    assert [form for form in ("md", "html") if pages["en"].as_uri() not in said("demo", "-f", form)] == []
    told = json.loads(said("demo", "-f", "json"))["findings"]
    assert [f.get("page") for f in told if f["id"] == "RTS001"] == [{lang: page.as_uri() for lang, page in pages.items()}]
    assert "RTS001.html" not in said("demo", "-f", "json", "--redact")
