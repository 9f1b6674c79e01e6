"""Puts a script together: a template, values for its slots, and the part of the frame that the template uses.

The values are the only text that a log has any part in, and they are written by `repr` after `validate` let them pass.
The result is parsed before it is handed out: the slots must read back as exactly the values that were put in.
"""

from __future__ import annotations

import ast
import pprint
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import kb
from doctor.repro.call import Request, Script, Value
from doctor.repro.template_summaries import ABOUT
from doctor.repro.validate import SlotError, slot
from doctor.version import __version__

BEGIN, END = "# >>> slots", "# <<< slots"
FRAMES = ("_tensors", "_frame")  # in the order in which one uses the other
WIDTH = 112
_HOLE = "\0"

# What older entries and people may call a template.
ALIASES = {
    "operator": "single_op", "plain": "single_op", "backward": "op_backward", "module": "module_context", "stack": "mixed_stack",
    "mixed_dtype_stack": "mixed_stack", "sweep": "dtype_sweep", "dynamic": "dynamic_shape", "memory": "memory_pressure",
    "oom": "memory_pressure", "hccl": "hccl_collective", "collective": "hccl_collective", "exchange_device": "device_switch",
    "set_device": "set_device_order", "bisect": "stream_bisect", "sync": "stream_bisect", "context": "stream_bisect",
    "overflow": "overflow_detection", "dump": "op_dump", "inplace": "inplace_out", "out": "inplace_out", "graph": "graph_capture", "capture": "graph_capture", "torchair": "graph_compile",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Template:
    """A template's parts: its words, its slots with their defaults, and its code."""

    name: str
    doc: str
    tree: ast.Module
    source: str
    slots: tuple[ast.AnnAssign, ...]

    @property
    def slot_names(self) -> tuple[str, ...]:
        return tuple(_target(s) for s in self.slots)


@dataclass(frozen=True, slots=True)
class _Part:
    """One top-level statement of the frame with the comment above it, the names it binds and the names it uses."""

    text: str
    binds: frozenset[str]
    uses: frozenset[str]
    always: bool


def folder() -> Path:
    return Path(kb.__file__).parent / "repro"


def templates() -> tuple[str, ...]:
    """The names of all templates."""
    return tuple(ABOUT)


def template_name(name: str) -> str:
    """The template of a name or an alias; SlotError with the nearest ones when there is none."""
    bare = name.strip().lower().replace("-", "_")
    bare = ALIASES.get(bare, bare)
    if bare not in templates():
        raise SlotError(f"there is no template {name[:60]!r}: {', '.join(templates())}")
    return bare


@lru_cache(maxsize=32)
def template(name: str) -> Template:
    source = (folder() / f"{template_name(name)}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    first = source[: source.index(BEGIN)].count("\n") + 1
    last = source[: source.index(END)].count("\n") + 1
    slots = tuple(node for node in tree.body if isinstance(node, ast.AnnAssign) and first < node.lineno < last)
    return Template(template_name(name), ast.get_docstring(tree, clean=False) or "", tree, source, slots)


def script(request: Request) -> Script:
    """The finished script; SlotError when a value may not stand in one."""
    one = template(request.template)
    values = dict(request.slots)
    lang = request.lang
    guessed = [note.pick(lang) for note in request.guessed]
    notes: list[Value] = [note.pick(lang) for note in request.notes]
    notes += [("猜测：" if lang == "zh" else "guessed: ") + text for text in guessed]
    values.setdefault("NOTES", notes)
    if request.expect:
        values.setdefault("EXPECT", request.expect)
    if unknown := set(values) - set(one.slot_names):
        raise SlotError(f"template {one.name} has no slot {', '.join(sorted(unknown))}")
    checked = {name: slot(name, value) for name, value in values.items()}
    block = "\n".join(_slot_lines(one, node, checked, request.guessed_slots, lang) for node in one.slots)
    _read_back(block, one, checked)
    before, after = _program(one.name, lang)
    return Script(before + block + after, f"repro_{one.name}.py", request.guessed)


def _slot_lines(
    one: Template, node: ast.AnnAssign, values: dict[str, object], guessed: frozenset[str], lang: str
) -> str:
    name = _target(node)
    lines = one.source.split("\n")
    if name not in values:
        return "\n".join(lines[node.lineno - 1 : node.end_lineno])
    written = pprint.pformat(values[name], width=WIDTH - len(name) - 20, sort_dicts=False)
    note = ""
    if name in guessed:
        note = "# 部分取值是猜测的，见 NOTES\n" if lang == "zh" else "# GUESSED at least in part: see NOTES\n"
    return f"{note}{name}: {ast.unparse(node.annotation)} = {written}"


@lru_cache(maxsize=64)
def _program(name: str, lang: str) -> tuple[str, str]:
    """What stands before and after the values: it depends on the template alone."""
    one = template(name)
    code = [n for n in one.tree.body if n not in one.slots and not _is_frame_import(n)]
    imports = [n for n in code if isinstance(n, (ast.Import, ast.ImportFrom))]
    rest = [n for n in code if n not in imports and not _is_docstring(n)]
    used = frozenset().union(*(_used(n) for n in rest))
    parts, frame_imports = _frame()
    wanted = _closure(parts, used)
    chosen = [part for part in parts if part.always or part.binds & wanted]
    needed = used.union(*(part.uses for part in chosen))
    body = "\n\n\n".join(_segments(one.source, rest, one.slots[-1].end_lineno or 0))
    marks = (
        (f"{BEGIN}：修改这里即可改变运行内容", END)
        if lang == "zh"
        else (f"{BEGIN}: change these to change what is run", END)
    )
    pieces = [
        "#!/usr/bin/env python3",
        f'"""{one.doc}"""',
        "",
        *_header(one.name, lang),
        "",
        *_imports([*imports, *frame_imports], needed),
        "",
        marks[0],
        _HOLE,
        marks[1],
        "",
        *(part.text for part in chosen),
        "",
        "",
        body,
    ]
    before, _, after = "\n".join(pieces).partition(_HOLE)
    return before, after.rstrip() + "\n"


def _header(name: str, lang: str) -> tuple[str, ...]:
    if lang == "zh":
        return (
            f"# {ABOUT[name].zh}",
            f"# 由 npu-doctor {__version__} 生成，只需要 torch（有 torch_npu 时使用 NPU）。",
            "# 运行：python3 <本文件> --device npu:0 ；对照：--device cpu 。所有选项：--help",
            "# 退出码：0 一致，1 不一致，2 报错已复现，3 环境不可用，4 其他报错，5 调用本身有误，6 无法比较",
        )
    return (
        f"# Written by npu-doctor {__version__}. Needs torch alone, and torch_npu to run on an NPU.",
        "# Run it with --device npu:0, and with --device cpu to compare; --help tells the rest.",
        "# Exit code: 0 same, 1 mismatch, 2 error reproduced, 3 not usable here, 4 another error, 5 malformed call, 6 not comparable.",
    )


@lru_cache(maxsize=1)
def _frame() -> tuple[tuple[_Part, ...], tuple[ast.Import | ast.ImportFrom, ...]]:
    parts: list[_Part] = []
    imports: list[ast.Import | ast.ImportFrom] = []
    for name in FRAMES:
        source = (folder() / f"{name}.py").read_text(encoding="utf-8")
        lines = source.split("\n")
        end = 0
        for node in ast.parse(source).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if not _is_frame_import(node):
                    imports.append(node)
            elif not _is_docstring(node):
                gap = "\n\n" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ""
                text = gap + "\n".join(lines[end : node.end_lineno]).strip("\n")
                parts.append(_Part(text, frozenset(_bound(node)), _used(node), isinstance(node, ast.Try)))
            end = node.end_lineno or end
    return tuple(parts), tuple(imports)


def _closure(parts: tuple[_Part, ...], used: frozenset[str]) -> frozenset[str]:
    """Every name that is needed, through the parts that bind it."""
    wanted = set(used)
    for part in parts:
        if part.always:
            wanted |= part.uses
    size = -1
    while size != len(wanted):
        size = len(wanted)
        for part in parts:
            if part.binds & wanted:
                wanted |= part.uses
    return frozenset(wanted)


def _segments(source: str, nodes: list[ast.stmt], after: int) -> list[str]:
    lines = source.split("\n")
    found = []
    end = after + 1  # past the closing mark
    for node in nodes:
        found.append("\n".join(lines[end : node.end_lineno]).strip("\n"))
        end = node.end_lineno or end
    return found


def _imports(nodes: list[ast.Import | ast.ImportFrom], needed: frozenset[str]) -> list[str]:
    plain: set[str] = set()
    members: dict[str, set[str]] = {}
    for node in nodes:
        for alias in node.names:
            name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            if isinstance(node, ast.ImportFrom):
                if node.module == "__future__" or (alias.asname or alias.name) in needed:
                    members.setdefault(node.module or "", set()).add(name)
            elif (alias.asname or alias.name.partition(".")[0]) in needed:
                plain.add(name)
    future = members.pop("__future__", set())
    made = [f"from __future__ import {', '.join(sorted(future))}", ""] if future else []
    made += [f"import {name}" for name in sorted(plain)]
    made += [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(members.items())]
    return made


def _is_frame_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition("kb.repro.")[2] in FRAMES


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _target(node: ast.AnnAssign) -> str:
    return node.target.id if isinstance(node.target, ast.Name) else ""


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _used(node: ast.stmt) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _read_back(block: str, one: Template, values: dict[str, object]) -> None:
    """The proof that nothing but values was put in: what stands between the template's own lines is its slots in their order, and says the values."""
    body = ast.parse(block).body
    slots = [node for node in body if isinstance(node, ast.AnnAssign) and node.value is not None]
    found = {_target(node): ast.literal_eval(node.value) for node in slots if node.value is not None and _target(node) in values}
    if tuple(map(_target, slots)) != one.slot_names or len(slots) != len(body) or found != values:
        raise AssertionError("the script does not read back as its values")
