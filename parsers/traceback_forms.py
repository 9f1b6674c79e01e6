"""The lines that tell of a failure, each by itself; `traceback` puts them together.

All look at a line whose prefixes are gone. Each form is bounded: a line costs at most a small multiple of its front.

>>> EXCEPTION.match("torch.OutOfMemoryError: NPU out of memory")["type"]
'torch.OutOfMemoryError'
"""

from __future__ import annotations

from parsers.lazy import lazy

_MARGIN = r"\s*(?:[|+] {0,4}){0,8}"  # that exception groups draw
_DOTTED = r"(?:[A-Za-z_]\w{0,60}\.){0,12}"

EXCEPTION = lazy(
    rf"{_MARGIN}(?P<type>{_DOTTED}"
    r"(?:[A-Za-z_]\w{0,80}?(?:Error|Exception|ExceptionGroup|Interrupt|Failure|Fault|Exit|Expired)"
    r"|Exception(?:Group)?|Stop(?:Async)?Iteration)(?:\([A-Za-z_.]{1,80}\))?)(?: ?:(?=\s|$) ?(?P<message>[^\n]*)|\s*$)"
)
"""An exception whose name says that it is one, with the beginning of its message."""

UNNAMED = lazy(
    rf"\s*(?P<type>{_DOTTED}[A-Z_]\w{{0,80}}|(?:[A-Za-z_]\w{{0,60}}\.){{1,12}}[a-z]\w{{0,80}})(?:: (?P<message>[^\n]*)|:?\s*$)"
)
"""One whose name does not say so (`_queue.Empty`): known only by its place, right below the frames."""

_RARER = r"Trace/breakpoint trap|\*\*\* stack smashing detected|(?:段错误|已放弃|总线错误|非法指令|浮点数例外) ?[（(](?:核心已转储|吐核)"  # rarer signals, and how a shell that speaks Chinese says them
DEATH = lazy(
    r"(?:(?P<terminate>terminate called)(?: after throwing an instance of '(?P<type>[^']{1,200})')?"
    r"|(?P<fatal>Fatal Python error)(?:: (?P<why>[^\n]{0,400}))?"
    r"|(?:[^\s:]{1,200}: line \d{1,7}: +\d{1,8} )?(?P<signal>Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|" + _RARER + r")"
    r"|\S{1,300}: (?P<linker>symbol lookup error|relocation error|error while loading)\b[^:\n]{0,40}(?:: (?P<missing>[^\n]*))?)"
)
"""How a process ends without an exception of Python."""

PART = lazy(
    r'\s*(?:[|+] {1,4})?File "[^"\n]{1,600}", line \d{1,8}|\s+(?:\| +)?[~^]+\s*$'
    r"|\s*\S{1,300}: (?:symbol lookup error|relocation error|error while loading shared libraries)\b"
    r"|\s*(?:[|+] {1,4})?(?:(?:\S.{0,200}?)?Traceback \(most recent call last\):?\s*$|\+-\+-{8,} \d|terminate called |what\(\): "
    r"|Fatal Python error: "
    r"|Segmentation fault|Aborted(?: \(core dumped\)|$)|Bus error|Illegal instruction|Floating point exception|" + _RARER + r"|!{3,} Segfault encountered !{3,}|frame #\d+: |\*{3} (?:Aborted at|SIG|Process received)|@ {1,20}0x[0-9a-f]+"
    r"|(?:Current thread|Thread) 0x[0-9a-f]+|During handling of the above exception"
    r"|The above exception was the direct cause|\[Previous line repeated \d+ more|Exception raised from \S"
    r"|Extension modules: |\[\S{1,80}:\d+\] (?:\*\*\*|\[ ?\d+\]) )"
)
"""What nothing but a traceback or a crash prints, whatever stands around it."""

OF_TORCH_NPU = lazy(r"\s*\[ERROR\] \d{4}-\d\d-\d\d-[\d:.]{8,16} \(PID:")
"""What torch_npu prints beside an exception: no message of one that has none."""
IGNORED = lazy(r"\s*Exception ignored (?:in|while)\b")
"""What the interpreter prints above an exception that it drops, of a destructor for one: the program went on."""
HEADER = lazy(r"[^\n]{0,400}?Traceback \(most recent call last\):?\s*$")
CAUSE = lazy(r"\s*The above exception was the direct cause of")
CONTEXT = lazy(r"\s*During handling of the above exception")
MEMBER = lazy(r"(?P<indent>\s{0,80})\+(?P<first>-\+)?-{4,40} ?(?:\d{1,6}|\.{3}) ?-{4,40}\s*$")
GROUP_END = lazy(r"\s*\+-{8,}\s*$")
MARGIN = lazy(r"(?P<indent>\s{0,80})[|+](?: |$)")
FRAME = lazy(r'(?P<indent>\s*)File "(?P<file>[^"\n]{1,600})", line (?P<line>\d{1,9})(?:,? in (?P<function>[^\n]{1,200}))?')
BUILT_FRAME = lazy(r"(?P<indent>\s*)#(?: \d{1,4})? In file (?P<file>[^:\n]{1,600}):(?P<line>\d{1,9})(?:, \d{1,5}~\d{1,5})?(?P<function>)\s*$")
"""A place in the source of a network that MindSpore was building."""
NATIVE_FRAME = lazy(
    r"\s*frame #\d{1,6}: (?P<function>.{1,400}?)(?: \+ 0x[0-9a-f]{1,16})?(?: \((?:0x[0-9a-f]{1,16} )?in (?P<file>[^)\n]{1,300})\))?\s*$"
)
WHAT = lazy(r"\s*what\(\): +(?P<message>[^\n]*)")
DUMP = lazy(
    r"\s*(?:Exception raised from |(?:Current thread|Thread) 0x|Extension modules: |Python runtime state: |<no Python frame>)"
)
"""What stands between the frames that a dying process prints."""
CARETS = lazy(r"\s*[~^][~^\s]*$")
REPEATED = lazy(r"\s*\[Previous line repeated \d{1,9} more times?\]")
