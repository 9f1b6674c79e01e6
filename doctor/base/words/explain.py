"""What fields of codes, variables and cards are called."""

from __future__ import annotations

WORDS = {
    "meaning": ("meaning", "含义"),
    "causes": ("likely causes", "可能原因"),
    "action": ("first action", "首先"),
    "ref": ("source", "来源"),
    "related": ("related codes", "相关错误码"),
    "values": ("values", "取值"),
    "range": ("range", "范围"),
    "default": ("default", "默认值"),
    "since": ("since", "起始版本"),
    "deprecated": ("deprecated", "已废弃"),
    "component": ("component", "组件"),
    "bits": ("bits set", "置位"),
    "severity": ("handling level", "处理级别"),
    "purpose": ("purpose", "作用"),
    "type": ("type", "类型"),
}  # fmt: skip
