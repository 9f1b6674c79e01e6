"""The knowledge as static pages: a document becomes a page, a link an address; nothing is loaded from anywhere, a file system is enough.

Addresses are for ever: `LANG/CODE.html` of entries and checks, `LANG/code/FAMILY/CODE.html`, `LANG/variable/NAME.html`, `LANG/card/CODE.html`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby

from doctor.base.words import word
from doctor.render.document import (
    Block,
    Bullet,
    Code,
    Command,
    Document,
    Fix,
    Link,
    Listed,
    Pair,
    Pattern,
    Prose,
    Reference,
    Relation,
    Section,
    Target,
)
from doctor.render.html import command, fix, listed, preformatted, reference
from doctor.render.html_style import STYLE
from parsers.named import NamedTuple

SITE_STYLE = """
body { max-width: 62rem; } h1 { overflow-wrap: anywhere; } #found a, .browse li a { text-decoration: none; } header a { text-decoration: none; } nav { margin-left: auto; } #search { width: 100%; font: inherit; padding: .5rem .7rem; border: 1px solid var(--rule);
  border-radius: 8px; background: var(--sheet); color: var(--text); margin: 0 0 .6rem; } #search:focus { outline: 3px solid var(--accent); } #found { list-style: none; padding: 0; }
#found li { padding: .25rem 0; border-bottom: 1px solid var(--rule); } body.searching .browse { display: none; } body:not(.searching) .results { display: none; }
li .code { display: inline-block; min-width: 5.2rem; } .browse ul { list-style: none; padding-left: .2rem; } .pattern { margin: .15rem 0; }
@media print { header nav, #search, .noprint { display: none; } details > *, details { display: block; } a { color: inherit; text-decoration: none; } a[href^="http"]::after { content: " <" attr(href) ">"; font-size: .85em; } pre { white-space: pre-wrap; } }
"""


class Page(NamedTuple):
    """A page: what it is about, where it stands, and what a search finds it by."""

    target: Target
    path: str  # beneath the folder of the language
    document: Document
    severity: str = ""
    words: str = ""


def style() -> str:
    return STYLE.strip() + SITE_STYLE


def page(one: Page, lang: str, known: Mapping[str, str]) -> str:
    """A page whole. `known` holds the addresses of all pages, by kind and id: `variable HCCL_CONNECT_TIMEOUT`."""
    up = "../" * one.path.count("/")
    document = one.document
    head = f"{document.code} {document.title}".strip()
    body = [f'<section class="{escape(one.severity)}">', f'<p class="tag">{escape(" · ".join(filter(None, document.facts)))}</p>' if any(document.facts) else ""]
    body.append(f'<h1><span class="code">{escape(document.code)}</span> {escape(document.title)}</h1>')
    for section in document.sections:
        body += _section(section, lang, lambda target: f"{up}{known[key]}" if (key := f"{target.kind} {target.id}") in known else None)
    body.append("</section>")
    return _frame(head, "\n".join(filter(None, body)), lang, up, one.path)


def front(groups: Iterable[tuple[str, Iterable[tuple[str, str, str]]]], lang: str, counts: str) -> str:
    """The page with the search: below it everything by groups; rows are code, address, title."""
    body = [
        f'<input id="search" type="search" autocomplete="off" autofocus placeholder="{escape(word("kb.site-search", lang))}" aria-label="{escape(word("kb.site-search", lang))}">',
        '<section class="results"><p class="dim" id="told" aria-live="polite"></p><ol id="found"></ol></section>',
        f'<div class="browse"><p class="dim">{escape(counts)}</p>',
    ]
    for title, rows in groups:
        items = [f'<li><a href="{escape(path)}"><span class="code">{escape(code)}</span> {escape(told)}</a></li>' for code, path, told in rows]
        body.append(f"<details><summary>{escape(title)} ({len(items)})</summary><ul>{''.join(items)}</ul></details>")
    body.append('</div>\n<script src="index.js"></script><script src="../search.js"></script>')
    return _frame(word("kb.site-title", lang), "\n".join(body), lang, "", "index.html")


def entrance() -> str:
    """The page above both languages."""
    links = "".join(f'<p><a href="{lang}/index.html" lang="{tag}">{escape(word("kb.site-title", lang))}</a></p>' for lang, tag in (("en", "en"), ("zh", "zh-CN")))
    return f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>npu-doctor</title><link rel="stylesheet" href="style.css"></head>\n<body><header><b>npu-doctor</b></header><main><section>{links}</section></main></body>\n</html>\n'


def _frame(title: str, body: str, lang: str, up: str, path: str) -> str:
    other, tag = ("en", "zh-CN") if lang == "zh" else ("zh", "en")
    called = "English" if other == "en" else "中文"
    return (
        f'<!doctype html>\n<html lang="{tag}">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self' file:; script-src 'self' file:\">"
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{up}../style.css"></head>\n'
        f'<body><header><a href="{up}index.html"><b>npu-doctor</b></a><span>{escape(word("kb.site-title", lang))}</span>'
        f'<nav><a href="{up}../{other}/{escape(path)}" hreflang="{other}">{called}</a></nav></header>\n<main>\n{body}\n</main></body>\n</html>\n'
    )


def _section(section: Section, lang: str, address: object) -> Iterator[str]:
    if section.label and section.name != "fix" and not any(isinstance(block, Relation) for block in section.blocks):
        yield f"<h3>{escape(section.label)}</h3>"
    for kind, several in groupby(section.blocks, type):
        blocks = tuple(several)
        if kind is Pair:
            yield "<dl>" + "".join(f"<dt>{escape(b.label)}</dt><dd>{escape(b.text)}</dd>" for b in blocks if isinstance(b, Pair)) + "</dl>"
        elif kind is Bullet:
            yield from listed(b.text for b in blocks if isinstance(b, Bullet))
        elif kind is Link:
            yield "<ul>" + "".join(_link(b, address) for b in blocks if isinstance(b, Link)) + "</ul>"
        elif kind is Reference:
            yield "<ul>" + "".join(reference(b) for b in blocks if isinstance(b, Reference)) + "</ul>"
        else:
            for block in blocks:
                yield from _block(block, lang, address)


def _block(block: Block, lang: str, address: object) -> Iterator[str]:
    if isinstance(block, Prose):
        yield from (f"<h3>{escape(block.label)}</h3>",) if block.label else ()
        yield from (f"<p>{escape(part)}</p>" for part in block.text.split("\n\n") if part.strip())
    elif isinstance(block, Listed):
        yield f"<h3>{escape(block.label)}</h3>"
        yield from listed(block.texts)
    elif isinstance(block, Pattern):
        yield preformatted(block.text, "pattern")
    elif isinstance(block, Fix):
        yield from fix(block, lang)
    elif isinstance(block, Command):
        yield from command(block, lang)
    elif isinstance(block, Code):
        yield preformatted(block.text, "" if block.old else "paste")
    elif isinstance(block, Relation):
        yield f"<h3>{escape(block.label)}</h3>"
        if not block.links:
            yield from listed(block.said)
        else:
            yield "<ul>" + "".join(_link(link, address) for link in block.links) + (f"<li class=dim>+{block.more}</li>" if block.more else "") + "</ul>"


def _link(link: Link, address: object) -> str:
    assert callable(address)
    to = address(link.target)
    told = f'<span class="code">{escape(link.target.id)}</span> {escape(link.text)}'
    return f'<li><a href="{escape(to)}">{told}</a></li>' if to else f"<li>{told}</li>"
