"""What is not there: a file, a shared library, a Python package, a command, a device.

    ImportError: libascend_hal.so: cannot open shared object file: No such file or directory
    ModuleNotFoundError: No module named 'decorator'
    FileNotFoundError: [Errno 2] No such file or directory: '/data/model/config.json'
    bash: npu-smi: command not found
    open /dev/davinci_manager: no such file or directory

>>> from parsers.meaning.said import Said
>>> row = read(Said("libc_sec.so: cannot open shared object file: No such file or directory", "ImportError", "torch_npu"))[0]
>>> [row.get(name) for name in ("what", "name", "wanted_by", "of")]
['library', 'libc_sec.so', 'torch_npu', 'CANN']
>>> read(Said("Error checking IPC: toolkit info file does not exist: /opt/cann/toolkit.info"))[0].get("name")
'/opt/cann/toolkit.info'
>>> [read(Said(f"{path} does not exist"))[0].get("name") for path in ("./data/a.idx", "data/a.idx", "/data/a.idx")]
['./data/a.idx', 'data/a.idx', '/data/a.idx']
>>> [read(Said(text))[0].get("name") for text in ("config.json not found: ./plugh/config.json", "The local path does not exist, dataset_id: `/data/a.jsonl`. exists: False")]
['./plugh/config.json', '/data/a.jsonl']
>>> read(Said("No such device (os error 19)", "OSError", "safetensors", code="with safe_open(filename) as f:"))
()
>>> [read(Said(text))[0].get("name") for text in ("Command 'make' not found. please check", "Failed to find C++ compiler")]
['make', 'g++']
>>> row = read(Said("No module named 'decorator'", "ModuleNotFoundError", "te"))[0]
>>> [row.get(name) for name in ("what", "name", "wanted_by", "pip")]
['package', 'decorator', 'te', 'decorator']
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.libraries import owner
from parsers.meaning.said import Reading, Said, distribution, reading
from parsers.meaning.shapes import file

_LIBRARY = lazy(r"(?P<name>lib[\w.+-]{1,120}?\.so[\w.]{0,20}|[\w.+-]{1,120}\.so[\w.]{0,20}): cannot open shared object file")
_LINKER = lazy(r"cannot find -l(?P<name>\w{1,80})")
_BY = lazy(r"(?:^|\s)(?P<by>[^\s:]{1,200}): error while loading shared libraries: ")
_PACKAGE = lazy(r"No module named ['\"]?(?P<name>\w{1,100})['\"]?(?![\w.])")
_COMMAND = lazy(r"(?:(?P<by>[\w./-]{1,80}): )?(?:line \d{1,7}: )?(?P<name>[\w./+-]{1,120}): (?:command )?not found\s*$")
_QUOTED_COMMAND = lazy(r"[Cc]ommand ['\"`](?P<name>[\w.+-]{1,60})['\"`] (?:was |is |could )?not (?:be )?found")
_COMPILER = lazy(r"(?:[Ff]ailed to|[Cc](?:ould|an) ?not|[Uu]nable to) find (?:an? |the |any )?(?:suitable |working )?(?P<name>C\+\+|C|[Cc]\+\+) compiler\b")
_HEADER = lazy(r"fatal error: ['\"]?(?P<name>[\w./+-]{1,160}\.(?:h|hpp|hh|cuh))['\"]?(?:: No such file|' file not found| file not found)")
_FILE = (
    lazy(r"(?:\b[\w-]{1,60}\.(?:json|ya?ml|bin|model|txt)|(?:[Ff]ile|[Pp]ath|[Dd]irectory|[Ff]older|[Cc]onfig|[Mm]odel|[Ww]eights?|[Cc]heckpoint)s?) (?:(?:does|do|is|was)(?: not|n't) (?:exist|found)|not (?:exist|found)|(?:can|could) ?not be found|missing|is missing)(?:, [a-z_]{2,30}(?=: ))?(?: at| in)?:? ?[\[('\"`]{0,2}(?P<name>[./~][\w./+~-]{2,200})"),
    lazy(r"[Nn]o such file or directory:? ?\(?['\"](?P<name>[^'\"\n]{1,200})['\"]"),
    lazy(r"(?:open|stat|access|read|load|mkdir|cat|ls: cannot access|cannot access|cannot stat|cannot open|can't open file|failed to open)\w{0,3} ['\"]?(?P<name>[./~][^'\"\s:,]{1,200}|[\w./-]{1,160}\.\w{1,8})['\"]?[:,]? .{0,40}?[Nn]o such (?:file|device)"),
    lazy(r"(?:[Ff]ile|[Pp]ath|[Dd]irectory|[Ff]older|[Cc]onfig|[Mm]odel|[Ww]eights?)(?!\.\w)(?: path| file| dir\w{0,6})?:? ?[\[('\"]{0,2}(?P<name>[./~]?[\w./+~-]{2,200}?)[\])'\"]{0,2} (?:(?:does|do|is|was)(?: not|n't) (?:exist|found)|not (?:exist|found)|(?:can|could) ?not be found)"),
    lazy(r"(?:[Cc]ould not|[Cc]annot|[Cc]an't|[Cc]an not|[Uu]nable to) (?:find|open|locate)(?: the| any)?(?: file| path| directory| config| library)? ['\"]?(?P<name>[./~][\w./+~-]{2,200}|[\w.+-]{1,100}\.(?:json|so[\w.]{0,12}|yaml|txt|bin|safetensors|model|info|cfg|om|py|conf|sh))"),
    lazy(r"(?P<name>(?:~|\.{1,2}|(?<![\w./:-])[\w-][\w.-]{0,60})?/[\w./+~-]{2,200}):? (?:does not exist|doesn't exist|not exist|not found|[Nn]o such file or directory)"),
)  # fmt: skip
_DEVICE = lazy(r"[Nn]o such device(?: or address)?(?::? ['\"]?(?P<name>[\w./-]{1,100}))?|(?P<node>/dev/(?:davinci|hisi|devmm)\w{0,20})")
# What Rust prints comes of safetensors, tokenizers and their kin, which map files and open no device.
_MAPPED = lazy(r"No such device \(os error 19\)")
_MAPS = lazy(r"\bmmap\b|\bmemmap\(|\bsafe_open\(")
_INSTALLED = lazy(r"(?:^|\s)(?:[Pp]ackage )?['\"`]?(?P<name>[A-Za-z][\w-]{1,60})['\"`]? (?:package )?is not installed")


def read(said: Said) -> tuple[Reading, ...]:
    """What is missing, and who wants it."""
    text = said.line
    for form in (_library, _package, _header, _device, _command, _file):
        row = form(text, said)
        if row is not None:
            return (row,)
    return ()


def _library(text: str, said: Said) -> Reading | None:
    found = _LIBRARY.search(text)
    if found is not None:
        by = _BY.search(text)
        wanted = said.raised_in or (by["by"].rpartition("/")[2] if by else "")
        return reading("missing", what="library", name=found["name"], wanted_by=wanted, of=owner(found["name"]))
    if (found := _LINKER.search(text)) is not None:
        return reading("missing", what="library", name=f"lib{found['name']}.so", wanted_by="the linker", of="unknown")
    return None


def _package(text: str, said: Said) -> Reading | None:
    found = _PACKAGE.search(text) or _INSTALLED.search(text)
    if found is None:
        return None
    by = said.raised_in or ("user" if said.user_file else "")
    return reading("missing", what="package", name=found["name"], wanted_by=by, pip=distribution(found["name"]), file=said.user_file)


def _header(text: str, _: Said) -> Reading | None:
    found = _HEADER.search(text)
    return reading("missing", what="header", name=found["name"], wanted_by="the compiler") if found else None


def _device(text: str, said: Said) -> Reading | None:
    found = _DEVICE.search(text)
    if found is None or _MAPPED.search(text) or (_MAPS.search(said.code) and not found["name"]):  # the file system's answer to mmap
        return None
    return reading("missing", what="device", name=found["name"] or found["node"] or "", wanted_by=said.raised_in)


def _command(text: str, _: Said) -> Reading | None:
    if (told := _QUOTED_COMMAND.search(text)) is not None:
        return reading("missing", what="command", name=told["name"], wanted_by="")
    if (told := _COMPILER.search(text)) is not None:
        return reading("missing", what="command", name="g++" if "+" in told["name"] else "gcc", wanted_by="")
    found = _COMMAND.search(text)
    if found is None or found["name"].isdigit() or "command not found" not in text:
        return None
    return reading("missing", what="command", name=found["name"], wanted_by=found["by"] or "")


def _file(text: str, said: Said) -> Reading | None:
    for form in _FILE:
        if (found := form.search(text)) is not None and (name := file(found["name"], quoted=text[found.start("name") - 1] in "'\"`")):
            return reading("missing", what="file", name=name, wanted_by=said.raised_in, file=said.user_file)
    return None
