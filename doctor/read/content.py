"""What the first bytes of a file tell about it."""

from __future__ import annotations

import re

from parsers.lazy import lazy

HEAD = 4096
LONGEST_BESIDE = 1 << 17  # bytes of source code or settings that may add to what logs tell
WHOLE = 1 << 16  # up to this size a text is looked at as a whole when its beginning looks like source code
SOURCE_CODE = "source code, no log: what it would print has not happened (name the file itself, or --all-files, to have it read)"
SETTINGS = "a build file, translation or configuration, no log (name the file itself, or --all-files, to have it read)"

STARTS = "a script or a build file, no log: only what it starts was read, no message (name the file itself, or --all-files, to have it read)"

# Beginnings of files that hold no log text.
_BINARY = (
    b"\x7fELF",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF",
    b"\x93NUMPY",
    b"SQLite format 3",
    b"\xca\xfe\xba\xbe",
)
_UNREAD_ARCHIVES = {b"7z\xbc\xaf": "7z", b"Rar!": "rar", b"\x04\x22\x4d\x18": "lz4", b"\x1f\x9d": "compress (.Z)"}
_COMPRESSED = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}
ENDINGS = {"gz": ".gz", "bz2": ".bz2", "xz": ".xz", "zst": ".zst"}

ZIP = b"PK\x03\x04"  # with which a zip begins, and each of its members


def archive(head: bytes) -> str:
    """What kind of archive begins so. By content, not by name: a rotated log may be called anything."""
    if head.startswith(ZIP):
        return "zip"
    for magic, kind in _COMPRESSED.items():
        if head.startswith(magic):
            return kind
    return "tar" if head[257:262] == b"ustar" else ""


_MARKS = {b"\xff\xfe\0\0": "utf-32-le", b"\0\0\xfe\xff": "utf-32-be", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def encoding(head: bytes) -> str:
    """The encoding of a text in two or four bytes a character, by its mark or by where its NULs stand; empty for all others."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    if b"\0" not in head:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if min(len(head), 4096) < 16 or max(even, odd) * 4 < len(head) // 2 or min(even, odd) * 20 > max(even, odd):
        return ""
    name = "utf-16-le" if odd > even else "utf-16-be"
    text = head[: len(head) & ~1].decode(name, "replace")
    return name if _printable(text.encode("utf-8", "replace")) and "\n" in text else ""


def cr_only(head: bytes) -> bool:
    """Do lines end with carriage returns alone? Progress bars are written so as well: each is meant to hide the one before."""
    if b"\r" not in head or b"\n" in head:
        return False
    return head.count(b"%|") * 2 <= head.count(b"\r")


def not_text(head: bytes) -> str:
    """Why a beginning cannot be a log's; empty when it can. NULs are fine where text stands between them: crashes leave them."""
    for magic, kind in _UNREAD_ARCHIVES.items():
        if head.startswith(magic):
            return f"{kind} compression is not read: unpack it first (read are gz, bz2, xz, zst, tar, tgz, zip)"
    if head.startswith(_BINARY):
        return "a binary file"
    if encoding(head):
        return ""
    text = head.replace(b"\0", b"")
    if not text:
        return "nothing but NUL bytes" if head else ""
    if not _printable(text):
        return "a binary file"
    if len(text) < len(head) and (_every_other(head, text) or not _padded(head, text)):
        return "a binary file (or UTF-16 text without its mark: convert it with iconv -f UTF-16LE -t UTF-8)"
    return ""


def _every_other(head: bytes, text: bytes) -> bool:
    """NULs in odd places only, or in even ones only, and no UTF-8 between them: two bytes make a character."""
    if head[0::2].count(0) and head[1::2].count(0):
        return False
    try:
        text[:-3].decode("utf-8")
    except UnicodeDecodeError as fault:
        return fault.start < len(text) - 6
    return False


def _printable(text: bytes) -> bool:
    """Few control characters: a log has colours, form feeds and now and then a torn byte."""
    odd = len(text) - len(text.translate(None, _CONTROL))
    return odd * 10 <= len(text)


_CONTROL = bytes((*range(1, 7), *range(14, 27), *range(28, 32)))


def _padded(head: bytes, text: bytes) -> bool:
    """NULs of a torn or emptied log stand in runs between stretches of text; numbers of a binary file have them everywhere."""
    stretches = len(re.findall(rb"[^\0]+", head))
    return len(text) >= 12 * stretches or any(word in text for word in (b"ERROR", b"INFO", b"[WARN", b"Traceback"))


DOCUMENTATION = "documentation, it may quote messages that were never printed: name the file itself to have it read"
_DOCUMENTATION = lazy(r"\.(?:md|rst|html?)$", re.IGNORECASE)
_OF_AN_INCIDENT = lazy(r"(?:^|/)(?:notes?|issue|bug|question|problem|incident|symptoms?|问题|现象|记录|复现|描述)(?![A-Za-z])[^/]{0,40}\.md$", re.IGNORECASE)
_CODE_NAME = lazy(r"\.(?:pyi?|pyx|c|cc|cpp|cxx|h|hh|hpp|cu|cuh|java|kt|scala|go|rs|js|mjs|jsx|ts|tsx|cmake|sh|bash|zsh|lua|rb|pl|pm|swift|cs|asm|S)$")
# Files that tell a program what to do. Nothing in them was printed by one, so no line of theirs is asked whether it was.
_SETTINGS_NAME = lazy(
    r"(?:^|/)(?:(?:GNU)?[Mm]akefile(?:\.[\w-]+)?|CMakeLists\.txt|Dockerfile(?:\.[\w-]+)?|Jenkinsfile|Kconfig|configure(?:\.ac|\.in)?"
    r"|[^/]+\.(?:mk|mak|am|m4|po|pot|proto|ipynb|gradle|bazel|bzl|ninja|j2|tmpl|css|svg|patch|diff))$"
)
_JSON_NAME = lazy(r"\.(?:json|jsonc|geojson)$", re.IGNORECASE)
# What only a program that ran prints, at the beginning of a line: one such line, and a text is no mere source code.
_PRINTED = lazy(
    rb"^(?:\W{0,4}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|Traceback \(most|[\w.]*(?:Error|Exception|Warning): "
    rb"|\S+@\S+[#$] |E\w?\d{4,5}[:(]|\+-{8}|#\d+ |\S*\d\d:\d\d:\d\d|(?:ascendhal|package)_version=| {2}File \"|\[)",
    re.MULTILINE,
)
_CODE_LINE = lazy(
    rb"[;{},(\[:\\]\s*$|^\s*(?:[})\]@*]|#(?!\d)|//|/\*|\"\"\"|(?:async |await )?(?:def|class|import|from|return|if|elif|else|for|while|with|try"
    rb"|except|raise|assert|struct|enum|namespace|using|static|const|void|int|template|public|private|function|export|echo|fi|done|esac"
    rb"|local|set)\b|[\w.\[\]\"']+ ?[-+*|/]?= ?\S|[\w.>-]+\([^)]*\))"
)
_MIN_CODE_LINES = 8
_SHEBANG = lazy(rb"#! ?/\S*\b(?:sh|bash|dash|zsh|ksh|make|perl|ruby|node|python[\d.]*|env )")
_OF_THE_JOB = (b'"rank_id"', b'"server_list"', b'"group_list"', b'"involvedObject"', b'"kind": "Event"', b'"kind":"Event"')  # JSON: rank tables, events


def printed(text: bytes) -> bool:
    """Is there a line that only a program prints?"""
    return _PRINTED.search(text) is not None


def source_code(name: str, text: bytes, whole: bool) -> bool:
    """Is it the text of a program? Messages stand in it as literals; nothing has happened.

    Told by the name, else by the whole text: every line but a few looks like code and none like output of a program.
    """
    if json_records(text) or printed(text):
        return False
    return _CODE_NAME.search(name) is not None or _SHEBANG.match(text) is not None or (whole and _all_code(text))


def settings(name: str, text: bytes) -> bool:
    """Is it a file that tells programs what to do? By its name; JSON by its form as well, for logs are called so, too."""
    if _JSON_NAME.search(name):
        begin = text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        return begin in (b"{", b"[") and not json_records(text) and not any(word in text for word in _OF_THE_JOB)
    return _SETTINGS_NAME.search(name) is not None


def json_records(text: bytes) -> bool:
    """Does it begin like a JSON log: with a record that holds a message, or with two records in two lines?"""
    from parsers.jsonline import unwrap

    first, _, rest = text.lstrip(b"\xef\xbb\xbf \t\r\n\0").partition(b"\n")
    if first[:1] != b"{" and b'{"' not in first[:200]:
        return False
    if unwrap(first) is not None:
        return True
    second = rest.partition(b"\n")[0].strip()
    return first.startswith(b"{") and first.rstrip().endswith(b"}") and second.startswith(b"{") and len(second) > 2


def no_log(name: str, text: bytes, whole: bool) -> str:
    """Why something is not read as a log; empty when it is."""
    if why := not_text(text):
        return why
    if settings(name, text):
        return SETTINGS
    return SOURCE_CODE if source_code(name, text, whole) else ""


_STARTS = lazy(
    rb"\b(?:vllm serve|vllm\.entrypoints|sglang\.launch_server|sglang (?:serve|generate)|torchrun|torch\.distributed\.(?:run|launch)|msrun|mpirun|accelerate launch"
    rb"|deepspeed --|llamafactory-cli|swift (?:sft|pt|rlhf|infer|deploy)|docker run|podman run|nerdctl run)\b|\bASCEND_(?:RT_)?VISIBLE_DEVICES\s?="
    rb"|\bbench(?:mark)?_serving\b|\bvllm bench\b|[\"']vllm[\"'], ?[\"']serve[\"']|\batc +(?:\\\\\r?\n\s{0,20})?--\w"
    rb"|\b(?:megatron (?:sft|pt|rlhf|export)|swift (?:rollout|export|sample|app)|verl\.trainer\.\w{2,30}|(?:pre|post)train_\w{1,20}\.py|preprocess_data\.py)\b"
    rb"|\bexport (?:ASCEND|HCCL|PYTORCH_NPU|VLLM_ASCEND|TASK_QUEUE|RAY)_\w{1,60}=|(?m:^)(?:model_name_or_path: |FROM [\w.-]{1,80}/)"
    rb"|\"zero_optimization\"\s?:|\bLLM\(|\bset_default_device\(|\bos\.environ\[[\"'](?:ASCEND|HCCL|PYTORCH_NPU|VLLM_ASCEND|TASK_QUEUE)_"
    rb"|\bDataLoader\([^\n]{0,200}batch_sampler=|@(?:triton|tilelang|tl)\.jit\b|\b__global__ [^\n]{0,20}__(?:aicore|vector|cube|mix)__"  # who wrote the kernel
)


def may_add(why: str, head: bytes) -> bool:
    """May a file that is no log, for that reason, hold a setting or a line of code that a failure beside it came of? A report of this tool quotes logs."""
    return why in (SOURCE_CODE, SETTINGS) and b'"npu-doctor"' not in head


def tells_starts(why: str, text: bytes) -> bool:
    """Does a file that is no log, for that reason, say how somebody started what the logs are of?"""
    return why in (SOURCE_CODE, SETTINGS) and _STARTS.search(text) is not None


def documentation(name: str) -> bool:
    """Do files of this name explain messages rather than hold them? Only asked of what nobody named.

    What somebody wrote about this very incident is no documentation.

    >>> documentation("docs/faq.md"), documentation("logs/README.md"), documentation("case/notes.md"), documentation("case/问题描述.md"), documentation("issues_faq.md")
    (True, True, False, False, True)
    """
    return _DOCUMENTATION.search(name) is not None and _OF_AN_INCIDENT.search(name) is None


def _all_code(text: bytes) -> bool:
    lines = [line for line in text.split(b"\n") if line.strip()]
    return len(lines) >= _MIN_CODE_LINES and sum(map(bool, map(_CODE_LINE.search, lines))) * 10 >= len(lines) * 9
