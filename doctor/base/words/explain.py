"""What fields of codes, variables and cards are called."""

from __future__ import annotations

WORDS = {
    "named": ("'{what}' is no code or entry; {id} is about it", "'{what}' 不是错误码或条目；{id} 与它有关"),
    "unknown": ("nothing is known about '{what}'", "没有关于 '{what}' 的内容"),
    "near": ("help: near it are", "建议：相近的有"),
    "elsewhere": ("help: npu-doctor kb search WORDS looks for words of the message that it stands in", "建议：用 npu-doctor kb search 关键词 搜索它所在报错中的词语"),
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
