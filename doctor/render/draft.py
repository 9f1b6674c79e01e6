"""An issue for maintainers, as Markdown: what they ask for first, in the order in which they read. Short enough for any tracker."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from doctor.answer.versions import Seen
from doctor.base.words import word
from doctor.render import parts
from doctor.render.markdown import escape, fence

Json = dict[str, Any]
MAX_TEXT = 60_000  # trackers take 65 536 characters
LIMITS = (
    (8, 1500),
    (4, 600),
    (2, 300),
    (1, 160),
)  # places of evidence, characters of each: fewer when the text is too long
WANTED = ("NPU", "driver", "CANN", "torch_npu", "torch", "Python")
MAX_PARTS = 12
COLLECT = "npu-smi info\ncat /usr/local/Ascend/ascend-toolkit/latest/*/ascend_toolkit_install.info\npip list 2>/dev/null | grep -iE 'torch|npu|vllm|mindspore|transformers'\npython -V; cat /etc/os-release"

_WORDS = {
    "checked": ("Written by npu-doctor {version} from {files} log files. Read it before you send it.", "由 npu-doctor {version} 根据 {files} 个日志文件生成，发送前请先通读一遍。"),
    "redacted": ("Names in angle brackets are pseudonyms ({counts}): the same name is always the same thing.", "尖括号中的名字是化名（{counts}）：同一化名始终指同一对象。"),
    "plain": ("Nothing was made anonymous: addresses, names and tokens of the logs stand as they are.", "未做脱敏：日志中的地址、名字、令牌均为原文。"),
    "environment": ("Environment", "环境"),
    "not-seen": ("not in the logs, please add: {names}", "日志中没有，请补充：{names}"),
    "symptoms": ("Symptoms", "现象"),
    "no-symptoms": ("Nothing else was printed because of it.", "没有由它引起的其他报错。"),
    "stopped": ("{n} processes seen, world size {world}; {waiting} of them waited for others", "看到 {n} 个进程，world size {world}；其中 {waiting} 个在等待其他进程"),
    "root": ("Root cause, as far as the logs tell", "根因（以日志能证明的为限）"),
    "none": ("No known fault was recognised. These error lines are not explained:", "没有匹配到已知故障。以下错误行无法解释："),
    "clean": ("No fault was found in these logs.", "这些日志中未发现故障。"),
    "confidence": ("confidence", "可信度"),
    "further": ("Found as well, and not explained by it:", "另外还有，且不由它引起："),
    "evidence": ("Evidence", "证据"),
    "tried": ("What was tried", "已尝试的方法"),
    "tick": ("Tick what you did, and write what happened then.", "勾选已做过的，并写明结果。"),
    "other": ("something else:", "其他："),
    "repro": ("Reproduction", "复现"),
    "script": ("A script with a single operator, made from these logs; attach repro.py when it shows the fault:", "由这些日志生成的单算子脚本；若能复现，请附上 repro.py："),
    "by-hand": ("The shortest command that shows it:", "能复现的最短命令："),
    "missing": ("Still missing", "还缺这些证据"),
    "unread": ("Not read", "未读取"),
    "times": ("{n} times", "{n} 次"),
}  # fmt: skip


class Options(NamedTuple):
    """What the caller knows besides the report."""

    finding: int | None = None  # number of the finding that the issue is about; None: the first root
    redacted: bool = True


DEFAULT = Options()


def render(report: Json, seen: Sequence[Seen], lang: str, options: Options = DEFAULT) -> str:
    """The draft; of a report that is too long for a tracker, less evidence."""
    text = ""
    for places, width in LIMITS:
        text = "\n".join(_lines(report, seen, lang, options, places, width)) + "\n"
        if len(text) <= MAX_TEXT:
            break
    return text


def subject(report: Json, number: int | None) -> Json | None:
    """The finding that the issue is about."""
    if number is not None:
        found: Json = report["findings"][number - 1]
        return found
    roots = parts.roots(report)
    loud = [f for f in roots if f["severity"] != "info"]
    return loud[0] if loud else None


def _say(name: str, lang: str, **values: object) -> str:
    return _WORDS[name][lang == "zh"].format(**values)


def _prose(text: str) -> str:
    """Markdown that shows the text and calls nobody: a name behind an @ would get a message."""
    return escape(text).replace("@", "@\u200b")


def _lines(report: Json, seen: Sequence[Seen], lang: str, options: Options, places: int, width: int) -> Iterator[str]:
    about = subject(report, options.finding)
    title = f"{about['id']} {about['title'][lang]}" if about else _untitled(report, lang)
    stack = "".join(f" {s.name} {s.values[0][0]}" for s in seen if s.name in ("NPU", "CANN"))
    yield f"# {_prose(title)}{_prose(f' ({stack.strip()})' if stack else '')}"
    yield ""
    yield f"> {_prose(_say('checked', lang, version=report['tool']['version'], files=report['stats']['files']))}"
    if options.redacted:
        counts = ", ".join(f"{n} {kind}" for kind, n in report.get("redacted", {}).get("values", {}).items()) or "0"
        yield f"> {_prose(_say('redacted', lang, counts=counts))}"
    else:
        yield f"> {_say('plain', lang)}"
    yield from _environment(seen, lang)
    yield from _symptoms(report, about, lang)
    yield from _cause(report, about, lang, places)
    yield from _evidence(report, about, lang, places, width)
    yield from _unexplained(report, about, lang, places, width)
    yield from _tried(about, lang, width)
    yield from _repro(about, lang)
    yield from _rest(report, lang)


def _untitled(report: Json, lang: str) -> str:
    """Nothing is known: the shape of the first error is what others will search for."""
    return report["unexplained"][0]["template"][:120] if report["unexplained"] else _say("clean", lang)


def _environment(seen: Sequence[Seen], lang: str) -> Iterator[str]:
    yield from ("", f"## {_say('environment', lang)}", "")
    for one in seen:
        values = ", ".join(version for version, _ in one.values)
        yield f"- {one.name}: {_prose(values)}  ({_prose(one.values[0][1])})"
    absent = [name for name in WANTED if name not in {s.name for s in seen}]
    if absent:
        yield f"- {_say('not-seen', lang, names=', '.join(absent))}"
        yield from fence(COLLECT, "sh")


def _symptoms(report: Json, about: Json | None, lang: str) -> Iterator[str]:
    yield from ("", f"## {_say('symptoms', lang)}", "")
    told = False
    if job := report.get("job"):
        waiting = sum(r["state"] in ("waiting", "gave-up") for r in job["ranks"])
        yield f"- {_say('stopped', lang, n=job['processes'], world=job['world_size'] or '?', waiting=waiting)}"
        told = True
    by_id = {f["id"]: f for f in report["findings"]}
    for code in (about["explains"] if about else [])[:MAX_PARTS]:
        other = by_id[code]
        yield f"- {code} {_prose(other['title'][lang])} ({_say('times', lang, n=other['count'])})"
        told = True
    if not told:
        yield f"- {_say('no-symptoms', lang)}"


def _cause(report: Json, about: Json | None, lang: str, places: int) -> Iterator[str]:
    yield from ("", f"## {_say('root', lang)}", "")
    if about is None:
        yield _say("none" if report["unexplained"] else "clean", lang)
        for cluster in report["unexplained"][: 2 * places]:
            codes = [f"{c['code']} = {c['name'] or ''} {c['meaning'][lang]}" for c in cluster["codes"] if c["meaning"]][
                :3
            ]
            yield f"- x{cluster['count']} {_prose(cluster['template'])}" + "".join(f"; {_prose(c)}" for c in codes)
        return
    yield f"**{about['id']} {_prose(about['title'][lang])}** · {word(about['severity'], lang)} · {_say('confidence', lang)} {about['confidence']:.0%}"
    where = ", ".join(f"{word(k, lang)} {v}" for k, v in about["scope"].items() if v is not None)
    yield ""
    if where:
        yield f"- {word('where', lang)}: {_prose(where)}" + (f", {about['first_seen']}" if about["first_seen"] else "")
    yield f"- {word('why', lang)}: {_prose(about['why'][lang])}"
    yield f"- {word('cause', lang)}: {_prose(about['cause'][lang])}"
    for one in about["references"][:3]:
        yield f"- {word('refs', lang)}: {_prose(one['title'])}" + (f" <{one['url']}>" if one["url"] else "")
    others = [f for f in report["findings"] if f["role"] == "root" and f is not about and f["severity"] != "info"]
    if others:
        yield from ("", _say("further", lang))
        yield from (
            f"- {f['id']} {_prose(f['title'][lang])} ({_say('times', lang, n=f['count'])})" for f in others[:MAX_PARTS]
        )


def _evidence(report: Json, about: Json | None, lang: str, places: int, width: int) -> Iterator[str]:
    found = about["evidence"] if about else [c["evidence"] for c in report["unexplained"]]
    if not found:
        return
    yield from ("", f"## {_say('evidence', lang)}")
    for one in found[:places]:
        yield ""
        yield f"{_prose(one['path'])}:{one['line']}"
        yield from fence(one["text"][:width] + (" ..." if len(one["text"]) > width else ""))
    if about and about["explains"]:
        by_id = {f["id"]: f for f in report["findings"]}
        for code in about["explains"][: max(1, places // 2)]:
            one = by_id[code]["evidence"][0]
            yield from ("", f"{code} {_prose(one['path'])}:{one['line']}")
            yield from fence(one["text"][:width])


def _unexplained(report: Json, about: Json | None, lang: str, places: int, width: int) -> Iterator[str]:
    """Beside a root there may be errors that nobody knows: a maintainer may."""
    if about is None or not report["unexplained"]:
        return
    yield from ("", f"{word('unexplained', lang)}: {sum(c['count'] for c in report['unexplained'])}")
    for cluster in report["unexplained"][: max(1, places // 2)]:
        one = cluster["evidence"]
        yield from ("", f"x{cluster['count']} {_prose(one['path'])}:{one['line']}")
        yield from fence(one["text"][:width])


def _tried(about: Json | None, lang: str, width: int) -> Iterator[str]:
    yield from ("", f"## {_say('tried', lang)}", "", _say("tick", lang), "")
    for fix in about["fixes"] if about else ():
        yield f"- [ ] {word(fix['goal'], lang)}: {_prose(fix['title'][lang])}"
        rows = [f"export {e['name']}={e['value']}" for e in fix["env"]] + [c["run"] for c in fix["commands"]]
        for row in fence("\n".join(rows)[: 2 * width], "sh") if rows else ():
            yield from (f"  {line}" for line in row.split("\n"))
    yield f"- [ ] {_say('other', lang)}"


def _repro(about: Json | None, lang: str) -> Iterator[str]:
    yield from ("", f"## {_say('repro', lang)}", "")
    if about and about["repro"]:
        log = about["evidence"][0]["path"] if about["evidence"] else "<"
        source = f" --from {shlex.quote(log)}" if not log.startswith("<") and "!" not in log else ""
        yield _say("script", lang)
        yield from fence(f"npu-doctor repro {about['id']}{source} -o repro.py && python repro.py", "sh")
    else:
        yield _say("by-hand", lang)
        yield from fence("", "sh")


def _rest(report: Json, lang: str) -> Iterator[str]:
    if report["missing_evidence"]:
        yield from ("", f"## {_say('missing', lang)}", "")
        for one in report["missing_evidence"]:
            yield f"- {_prose(one['what'][lang])}"
            yield from (f"  {row}" for row in fence(one["how"][lang], "sh"))
    if report["skipped"]:
        yield from ("", f"## {_say('unread', lang)}", "")
        yield from (f"- {_prose(s['path'])}: {_prose(s['reason'])}" for s in report["skipped"][:MAX_PARTS])
        if len(report["skipped"]) > MAX_PARTS:
            yield f"- ... {len(report['skipped']) - MAX_PARTS} {word('more', lang)}"
    yield from ("", f"<sub>npu-doctor {report['tool']['version']}, knowledge {report['knowledge']['digest']}</sub>")
