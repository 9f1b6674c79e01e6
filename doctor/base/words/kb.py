"""What is told of knowledge that somebody writes, passes on, or has not looked at yet."""

from __future__ import annotations

WORDS = {
    "unknown": (
        "the knowledge in {folder} is not used: nobody has trusted it yet. Look at it, then: npu-doctor kb trust {folder}",
        "未使用 {folder} 中的知识：尚未信任该目录。先查看内容，再执行：npu-doctor kb trust {folder}",
    ),
    "changed": (
        "the knowledge in {folder} is not used: it has changed since it was trusted. Look at it, then: npu-doctor kb trust {folder}",
        "未使用 {folder} 中的知识：自信任以来内容已变化。先查看内容，再执行：npu-doctor kb trust {folder}",
    ),
    "trusts": ("trusted, until it changes: {folder} ({entries} entries)", "已信任（内容变化后需重新确认）：{folder}（{entries} 个条目）"),
    "replaces": ("it replaces built-in entries: {codes}", "它会替代内置条目：{codes}"),
    "fetches": ("{code}: a command of it fetches something and executes it unseen: {run}", "{code}：其命令会下载内容并直接执行：{run}"),
    "forgotten": ("no longer trusted: {folder}", "已不再信任：{folder}"),
    "drafted": ("{path}: a draft of {code}; write what is marked, then: npu-doctor kb check {path}", "{path}：{code} 的草稿；补写标记处，然后执行：npu-doctor kb check {path}"),
    "known-already": ("{codes} speaks of this line already: the draft refines it", "{codes} 已能解释这一行：草稿标注为其更精确的形式"),
    "no-line": ("{path} has no line {line}: it has {lines}", "{path} 没有第 {line} 行：共 {lines} 行"),
    "not-rare": ("nothing in line {line} is rare enough to be looked for: {text}", "第 {line} 行没有足够少见的文字可供匹配：{text}"),
    "not-rare-help": ("choose the line that only this fault prints: often the first error, not the last", "请选择只有该故障才会打印的那一行：通常是第一条报错，而不是最后一条"),
    "imported": ("{files} written to {folder}; {left} not mapped", "已写入 {files} 个文件到 {folder}；{left} 项未能映射"),
    "left": ("not mapped: {code}: {what}: {why}", "未映射：{code}：{what}：{why}"),
    "packed": ("{path}: {entries} entries, {size}", "{path}：{entries} 个条目，{size}"),
    "added": ("{entries} entries added to {folder}; they are used from now on", "已向 {folder} 添加 {entries} 个条目，立即生效"),
    "added-apart": ("{entries} entries added to {folder}; use them with: npu-doctor --kb {folder}", "已向 {folder} 添加 {entries} 个条目；使用方式：npu-doctor --kb {folder}"),
    "site-title": ("What is known of Ascend NPU failures", "昇腾 NPU 故障知识库"),
    "site-search": ("code, words of a message, variable", "错误码、报错文字、环境变量"),
    "site-counts": ("{entries} entries, {codes} codes, {variables} variables; knowledge {version}", "{entries} 个条目，{codes} 个错误码，{variables} 个环境变量；知识库 {version}"),
    "site-checks": ("checks of machines", "机器检查"),
    "site-codes": ("codes", "错误码"),
    "site-variables": ("environment variables", "环境变量"),
    "site-cards": ("reference cards", "参考卡片"),
    "site-written": ("{path}: {files} files, {size}", "{path}：{files} 个文件，{size}"),
    "edition": ("knowledge {version} is used from now on ({path}); back to what was before: npu-doctor kb remove {version}", "知识库 {version} 立即生效（{path}）；恢复之前的版本：npu-doctor kb remove {version}"),
    "edition-apart": ("knowledge {version} is kept ({path}), and used by installations: this is a checkout, which uses its own files", "知识库 {version} 已保存（{path}），供已安装的程序使用；当前是源码检出，使用自己的文件"),
    "removed": ("{files} removed; the knowledge in use is {version}", "已移除 {files} 个文件；当前使用的知识库是 {version}"),
    "refused": ("refused, nothing was added: {why}", "已拒绝，未添加任何内容：{why}"),
    "checked": (
        "{files} files, {unreadable} unreadable, {bad} with problems; {examples} counter-examples, {near} more made of samples, {mutants} mutations tried",
        "{files} 个文件，{unreadable} 个无法读取，{bad} 个有问题；{examples} 个反例，另由样例生成 {near} 个，尝试了 {mutants} 次变异",
    ),
}
