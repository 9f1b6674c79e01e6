"""How a page looks: light and dark as the reader's system is, from a phone's width to a wide window, on paper as well."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ground: #eef0f3; --sheet: #fff; --code: #f1f4f8; --rule: #d5dbe3; --text: #1b222d; --dim: #525d6d;
  --accent: #07627a; --red: #b3202b; --amber: #7d5200; --blue: #1b57b0; --green: #1a6a2d; --mark: #ffd75e; --on-mark: #1b222d; }
@media (prefers-color-scheme: dark) { :root { --ground: #0e1116; --sheet: #161b23; --code: #1e2530; --rule: #313a48; --text: #dde3ec; --dim: #98a3b5;
  --accent: #56c7d8; --red: #ff8078; --amber: #e8b84a; --blue: #8fb8ff; --green: #7fd88f; --mark: #e8b84a; --on-mark: #14171c; } }
* { box-sizing: border-box; }
body { font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; color: var(--text);
  background: var(--ground); max-width: 58rem; margin: 0 auto; padding: 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: .85rem; color: var(--dim); margin: 0 .25rem .6rem; }
header b { color: var(--accent); }
section { background: var(--sheet); border: 1px solid var(--rule); border-radius: 10px; padding: 1rem 1.25rem; margin: 0 0 1rem; }
section.fatal, section.error { border-left: 5px solid var(--red); } section.warning { border-left: 5px solid var(--amber); }
section.info { border-left: 5px solid var(--blue); } section.clean { border-left: 5px solid var(--green); }
h1, h2 { line-height: 1.3; margin: .15rem 0 .5rem; font-size: 1.3rem; } h2 { font-size: 1.08rem; }
h3 { font-size: .95rem; margin: 1rem 0 .25rem; color: var(--accent); } p { margin: .3rem 0; }
.tag { font-weight: 700; } .fatal .tag, .error .tag { color: var(--red); } .warning .tag { color: var(--amber); } .info .tag { color: var(--blue); }
.clean .tag { color: var(--green); } .code { font: 700 .95em ui-monospace, Menlo, Consolas, monospace; color: var(--accent); } .dim { color: var(--dim); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .4rem 0; } dt { color: var(--accent); font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .7rem; margin: .3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
pre.paste { user-select: all; border-left: 4px solid var(--green); } pre.undo { user-select: all; }
mark { background: var(--mark); color: var(--on-mark); border-radius: 2px; padding: 0 .1em; }
.fix { margin: .9rem 0 0; } .fix h3 { color: var(--green); margin-top: 0; font-size: 1rem; }
details { margin: .5rem 0 0; } summary { cursor: pointer; color: var(--accent); font-weight: 600; } details > :not(summary) { margin-left: .2rem; }
ul { margin: .3rem 0; padding-left: 1.2rem; } a { color: var(--accent); overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: .4rem 0; display: block; overflow-x: auto; } td, th { border-bottom: 1px solid var(--rule); padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
.scroll { overflow-x: auto; } svg text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: var(--text); }
.seat text { text-anchor: middle; font-weight: 700; } .seat rect { fill: var(--code); stroke: var(--rule); }
.seat.failed rect { fill: var(--red); stroke: none; } .seat.failed text { fill: var(--sheet); }
.seat.waits text { fill: var(--amber); } .seat.silent rect { stroke: var(--red); stroke-dasharray: 3 2; } .seat.absent rect { stroke-dasharray: 2 3; }
.legend { font-size: .85rem; color: var(--dim); } .key { margin-right: 1rem; } .key.failed b { color: var(--red); } .key.waits b { color: var(--amber); }
.lanes p { margin: .5rem 0 .1rem; font-size: .9rem; } .lanes svg { width: 100%; height: 14px; display: block; } .lanes .axis { display: flex; justify-content: space-between; color: var(--dim); }
.rest { fill: var(--code); } .life { fill: var(--dim); } .end { fill: var(--green); } .end.failed, .end.silent { fill: var(--red); } .end.waits { fill: var(--amber); }
@media (max-width: 36rem) { body { padding: .5rem; } section { padding: .7rem .8rem; border-radius: 8px; } h1 { font-size: 1.12rem; } dl { grid-template-columns: 1fr; gap: 0; } dt { margin-top: .25rem; font-size: .8rem; } }
@media print { body { background: none; max-width: none; } section { break-inside: avoid; } }
"""
