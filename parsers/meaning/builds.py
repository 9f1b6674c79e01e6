"""Why sources do not become a program: what compilers, linkers and CMake say first, before make says that it failed.

    kvmdt.c:62: error: "MIN" redefined [-Werror]
    /usr/bin/ld: warning: libascend_hal.so, needed by /usr/local/Ascend/acllib/lib64/libruntime.so, not found (try using -rpath)
    libruntime.so: undefined reference to `drvStreamIdAlloc'
    CMake 3.18 or higher is required.  You are running version 3.16.3
    c++: fatal error: Killed signal terminated program cc1plus
    /opt/lib64/libascendcl.so: file not recognized: file in wrong format

>>> from parsers.meaning.said import Said
>>> row = read(Said('/var/lib/dkms/davinci_ascend/1.0/build/kvmdt.c:62: error: "MIN" redefined [-Werror]'))[0]
>>> [row.get(name) for name in ("how", "side", "what", "file")]
['interface', 'kernel', '"MIN" redefined', 'kvmdt.c:62']
>>> row = read(Said('/var/lib/dkms/davinci_ascend/1.0/build/vascend_drv/kvmdt.c:62: 错误："MIN"重定义 [-Werror]'))[0]
>>> [row.get(name) for name in ("how", "side", "what", "file")]
['interface', 'kernel', '"MIN"重定义', 'kvmdt.c:62']
>>> row = read(Said("/usr/bin/ld: warning: libascend_hal.so, needed by /opt/lib64/libruntime.so, not found (try using -rpath or -rpath-link)"))[0]
>>> [row.get(name) for name in ("how", "what", "by", "of")]
['library', 'libascend_hal.so', 'libruntime.so', 'driver']
>>> row = read(Said("/work/demo/main.cpp:89: undefined reference to `cv::imread(std::string const&, int)'"))[0]
>>> [row.get(name) for name in ("how", "what", "by")]
['symbol', 'cv::imread(std::string const&, int)', 'main.cpp']
>>> row = read(Said("main.cpp:(.text+0x1c)：对‘plughInit’未定义的引用"))[0]
>>> [row.get(name) for name in ("how", "what", "by")]
['symbol', 'plughInit', 'main.cpp']
>>> row = read(Said("/opt/acllib/lib64/libascendcl.so: error adding symbols: file in wrong format"))[0]
>>> [row.get(name) for name in ("how", "what", "path", "of")]
['processor', 'libascendcl.so', '/opt/acllib/lib64/libascendcl.so', 'CANN']
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.libraries import owner
from parsers.meaning.said import Reading, Said, reading

_COMPILER = lazy(r"(?P<path>[^\s:'\"]{1,300}):(?P<line>\d{1,7})(?::\d{1,5})?: (?:(?:fatal )?error: |(?:致命)?错误[：:] ?)(?P<what>[^\n]{3,300}?)(?: \[-W[\w=+-]{1,60}\])?\s*$")
_KILLED = lazy(r"fatal error: Killed signal terminated program|internal compiler error: Killed")
_NEEDED = lazy(r"(?:^|[\s:])(?P<what>[\w.+-]{1,120}\.so[\w.]{0,20}), needed by (?P<by>[^\s,]{1,300}), not found")
_UNDEFINED = lazy(r"(?P<by>[^\s:]{1,300})(?::\d{1,7})?: undefined reference to [`'\"](?P<what>[^`'\"\n]{1,300})['\"`]")
_UNDEFINED_ZH = lazy(r"(?P<by>[^\s:：]{1,300})(?:[:：](?:\d{1,7}|\([^)\n]{1,60}\)))?[:：] ?对[‘'`](?P<what>[^’'\n]{1,300})[’']未定义的引用")
_OTHER_PROCESSOR = (  # GNU ld in English and Chinese, gold and lld
    lazy(r"(?P<path>/[^\s:]{1,300}\.(?:so[\w.]{0,20}|a|o))(?:\([^)\s]{1,80}\))?: (?:error adding symbols: |file not recognized: |无法添加符号: |不可识别的文件: )?(?:[Ff]ile in wrong format|文件格式错误)"),
    lazy(r"(?P<path>/[^\s:]{1,300}\.(?:so[\w.]{0,20}|a|o)) is incompatible with (?:elf|aarch64|x86)"),
    lazy(r"(?P<path>/[^\s:]{1,300}\.(?:so[\w.]{0,20}|a|o))(?:\([^)\s]{1,80}\))?: Relocations in generic ELF \(EM: \d{1,4}\)"),
)
_TOO_OLD = lazy(r"(?P<tool>[A-Z]\w{1,20}) (?P<needs>\d[\d.]{0,15}) or higher is required\.\s{1,3}You are running version (?P<has>\d[\d.]{0,15})")

# What stands where sources meet headers of another release, in the words of gcc and clang.
_INTERFACE = (
    "redefined", "redefinition of", "conflicting types", "implicit declaration", "has no member named", "no member named",
    "too few arguments to function", "too many arguments to function", "incompatible pointer type", "incompatible type",
    "unknown type name", "was not declared in this scope", "undeclared", "is not a member of", "no matching function",
    "cannot convert", "does not name a type", "use of undeclared identifier",
    "重定义", "隐式声明", "没有名为", "类型冲突", "实参太少", "实参太多", "不兼容的指针类型", "未知的类型名", "未声明",  # gcc in Chinese
)  # fmt: skip
_KERNEL = ("/dkms/", "include/linux", "/driver/kernel/", "/kernels/", "/usr/src/")


def read(said: Said) -> tuple[Reading, ...]:
    """What the first tool that failed said."""
    text = said.line
    if _KILLED.search(text) is not None:
        return (reading("limit", kind="host", resource="host memory for the compiler"),)
    if (found := _NEEDED.search(text)) is not None:
        by = found["by"].rpartition("/")[2]
        return (reading("build", how="library", what=found["what"], by=by, of=owner(found["what"])),)
    if (found := _UNDEFINED.search(text) or _UNDEFINED_ZH.search(text)) is not None:
        by = found["by"].rpartition("/")[2]
        return (reading("build", how="symbol", what=found["what"], by=by, of=owner(by)),)
    if (found := next((m for form in _OTHER_PROCESSOR if (m := form.search(text)) is not None), None)) is not None:
        path = found["path"]
        what = path.rpartition("/")[2]
        return (reading("build", how="processor", what=what, path=path, of=owner(what)),)
    if (found := _TOO_OLD.search(text)) is not None:
        return (reading("build", how="tool", what=found["tool"], needs=found["needs"], has=found["has"]),)
    found = _COMPILER.search(text)
    if found is None:
        return ()
    what = found["what"].strip()
    how = "interface" if any(w in what for w in _INTERFACE) else "source"
    side = "kernel" if any(sign in found["path"] for sign in _KERNEL) else "unknown"  # whose headers it is compiled against
    return (reading("build", how=how, what=what, file=f"{found['path'].rpartition('/')[2]}:{found['line']}", side=side),)
