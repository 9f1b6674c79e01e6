"""Every key in one table: bindings, hints, help and the keymap file all read it, so none of them can be wrong alone."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from parsers.named import NamedTuple


class Key(NamedTuple):
    """One action: its keys, what it calls, a word and a sentence in both languages."""

    keys: str
    action: str
    short: tuple[str, str]
    tip: tuple[str, str]


KEYS: Mapping[str, Key] = {
    "open": Key("enter", "open", ("open", "打开"), ("Open what is selected, or fold and unfold it", "打开所选内容，或展开、折叠")),
    "fold": Key("space,right,l", "fold", ("fold", "折叠"), ("Fold or unfold", "折叠或展开")),
    "down": Key("down,j", "down", ("down", "下"), ("One line down", "下移一行")),
    "up": Key("up,k", "up", ("up", "上"), ("One line up", "上移一行")),
    "page-down": Key("pagedown,ctrl+f", "page_down", ("page down", "下页"), ("One page down", "下翻一页")),
    "page-up": Key("pageup,ctrl+b", "page_up", ("page up", "上页"), ("One page up", "上翻一页")),
    "first": Key("home,g", "first", ("first", "开头"), ("To the first line", "到第一行")),
    "last": Key("end,G", "last", ("last", "末尾"), ("To the last line", "到最后一行")),
    "left": Key("left,h", "left", ("left", "左"), ("Scroll to the left", "向左滚动")),
    "right": Key("right,l", "right", ("right", "右"), ("Scroll to the right", "向右滚动")),
    "back": Key("escape", "back", ("back", "返回"), ("Back, or clear the search, or stop what is running", "返回、清除搜索或停止当前工作")),
    "search": Key("slash", "search", ("search", "搜索"), ("Search", "搜索")),
    "accept": Key("enter", "submit", ("to the hits", "到结果"), ("Leave the search box and keep what was found", "离开搜索框并保留结果")),
    "severity": Key("s", "severity", ("severity", "级别"), ("Only entries of the next severity", "按级别筛选（循环）")),
    "component": Key("m", "component", ("component", "组件"), ("Only entries of the next component", "按组件筛选（循环）")),
    "domains": Key("d", "domains", ("domains", "分类"), ("To the tree of domains", "转到分类树")),
    "follow": Key("1,2,3,4,5,6,7,8,9", "follow", ("follow", "跟进"), ("Follow the link of that number", "跟进对应编号的链接")),
    "previous": Key("backspace,b", "previous", ("previous", "上一张"), ("Back to the card before", "回到上一张卡片")),
    "copy-fix": Key("y", "copy_fix", ("copy fix", "复制修复"), ("Copy the fix; again: the next fix", "复制修复命令；再按复制下一个")),
    "copy-card": Key("Y", "copy_card", ("copy card", "复制卡片"), ("Copy the whole card as Markdown", "以 Markdown 复制整张卡片")),
    "repro": Key("r", "repro", ("repro", "复现"), ("Show and save the repro script", "查看并保存复现脚本")),
    "export": Key("x", "export", ("export", "导出"), ("Export the report to a file", "把报告导出到文件")),
    "redact": Key("P", "redact", ("redact", "脱敏"), ("Redact what is exported and copied for others, or leave it as it is", "导出和复制给他人的内容是否脱敏")),
    "command-line": Key("c", "command_line", ("command", "命令行"), ("Show the command line that gives the same", "显示等价的命令行")),
    "editor": Key("e", "editor", ("editor", "编辑器"), ("Open the file in $EDITOR or $PAGER at the line", "用 $EDITOR 或 $PAGER 打开该行")),
    "pipe": Key("vertical_line", "pipe", ("to shell", "送往 shell"), ("Pipe the lines that are shown, from this one on, to a shell command", "把显示的行从此行起送给 shell 命令")),
    "evidence": Key("v", "evidence", ("evidence", "证据"), ("See the evidence in the log", "在日志中查看证据")),
    "rescan": Key("f5,R", "rescan", ("rescan", "重扫"), ("Read the logs again", "重新读取日志")),
    "job": Key("t", "job", ("job", "作业"), ("Ranks and timeline of the job", "作业的 rank 与时间线")),
    "pace": Key("S", "pace", ("pace", "节奏"), ("Slow ranks, and where the pace changes", "慢 rank 与速度变化")),
    "zoom-in": Key("plus,equals_sign", "zoom_in", ("zoom", "放大"), ("Half the time, around the end of the selected row", "时间放大一倍，以所选行的结束时刻为中心")),
    "zoom-out": Key("minus", "zoom_out", ("out", "缩小"), ("Twice the time", "时间缩小一倍")),
    "earlier": Key("less_than_sign,comma", "earlier", ("earlier", "更早"), ("Earlier on the line of time", "时间线左移")),
    "later": Key("greater_than_sign,full_stop", "later", ("later", "更晚"), ("Later on the line of time", "时间线右移")),
    "whole": Key("0", "whole", ("all time", "全部时间"), ("The whole time of the job", "显示作业的全部时间")),
    "next-hit": Key("n", "next_hit", ("next hit", "下一处"), ("To the next hit", "下一处命中")),
    "previous-hit": Key("N", "previous_hit", ("previous hit", "上一处"), ("To the hit before", "上一处命中")),
    "filter": Key("f", "filter", ("filter", "过滤"), ("Show only lines of a level, module, pid or rank", "只显示某级别、模块、pid 或 rank 的行")),
    "wrap": Key("w", "wrap", ("wrap", "折行"), ("Wrap long lines", "长行折行")),
    "tail": Key("F", "tail", ("follow end", "跟随"), ("Follow the end of the log", "跟随日志结尾")),
    "save": Key("s", "save", ("save", "保存"), ("Save it to a file", "保存到文件")),
    "copy": Key("y", "copy", ("copy", "复制"), ("Copy it", "复制")),
    "maximise": Key("z", "maximise", ("zoom", "放大"), ("One pane alone, and back", "单独显示一个窗格，再按还原")),
    "paste": Key("p", "paste", ("paste", "粘贴"), ("Paste or type an error and see the diagnosis", "粘贴或输入报错并查看诊断")),
    "open-path": Key("o", "open_path", ("open logs", "打开日志"), ("Diagnose a log file, a folder or an archive", "诊断日志文件、目录或压缩包")),
    "knowledge": Key("K", "knowledge", ("knowledge", "知识库"), ("To the knowledge", "到知识库")),
    "environment": Key("E", "environment", ("machine", "环境"), ("Is this machine fit: versions, chips, container, variables", "检查本机环境：版本、芯片、容器、变量")),
    "language": Key("L", "language", ("中/EN", "中/EN"), ("Switch between English and Chinese", "切换中英文")),
    "theme": Key("T", "theme", ("theme", "主题"), ("The next colour theme", "切换配色主题")),
    "palette": Key("colon", "command_palette", ("commands", "命令"), ("Find a command by its name", "按名称查找命令")),
    "help": Key("question_mark,f1", "help", ("help", "帮助"), ("All keys of this screen", "本屏幕的全部按键")),
    "quit": Key("q,Q", "quit", ("quit", "退出"), ("Quit", "退出")),
}  # fmt: skip

NAMES = {
    "question_mark": "?", "plus": "+", "minus": "-", "less_than_sign": "<", "greater_than_sign": ">", "slash": "/", "vertical_line": "|", "colon": ":", "escape": "Esc", "enter": "Enter", "space": "Space", "down": "↓", "up": "↑",
    "left": "←", "right": "→", "pagedown": "PgDn", "pageup": "PgUp", "home": "Home", "end": "End", "backspace": "Bksp",
}  # fmt: skip


def shown_key(keys: str) -> str:
    """A key as a reader knows it: the first of several."""
    names = keys.split(",")
    if names[0] == "1" and len(names) == 9:
        return "1-9"
    name = names[0].strip()
    return NAMES.get(name, name.upper() if len(name) > 1 and name[0] == "f" and name[1:].isdigit() else name)


def keymap_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path(os.environ.get("HOME", "~")).expanduser() / ".config")
    return Path(base) / "npu-doctor" / "keys.conf"


def read_keymap(text: str) -> tuple[dict[str, str], list[str]]:
    """`action = key, key` a line, `#` remarks. What cannot be used is told, and the other lines hold."""
    chosen: dict[str, str] = {}
    faults: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        name, equals, keys = (part.strip() for part in line.partition("="))
        wanted = ",".join(k.strip() for k in keys.split(",") if k.strip())
        if not equals or not wanted:
            faults.append(f"line {number}: write  action = key, key")
        elif name not in KEYS:
            near = difflib.get_close_matches(name, KEYS, n=1)
            faults.append(
                f"line {number}: there is no action '{name}'" + (f", did you mean '{near[0]}'?" if near else "")
            )
        else:
            chosen[name] = wanted
    return chosen, faults


def load_keymap(path: Path) -> tuple[dict[str, str], list[str]]:
    try:
        return read_keymap(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        return {}, [error.strerror or str(error)]


def hints(names: Iterable[str], chosen: Mapping[str, str], lang: str) -> list[tuple[str, str]]:
    """Key and word for a line of hints."""
    zh = lang == "zh"
    return [(shown_key(chosen.get(n, KEYS[n].keys)), KEYS[n].short[zh]) for n in names]
