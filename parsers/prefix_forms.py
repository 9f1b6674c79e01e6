"""The forms of prefixes that launchers, containers and tools put before a line; `prefix` applies them.

Each form is anchored, bounded, and takes one blank at most after itself, so that the indentation of what follows (a
frame, a caret) stays. Group names say what a form tells: level or letter, module, date and clock and fraction, pid,
rank, worker.
"""

from __future__ import annotations

import re

from parsers.lazy import lazy

STREAM = "std(?:err|out)"  # of a program whose output its own logger writes
LEVEL = "DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|NOTICE|SUCCESS|SEVERE|EXCEPTION"
CLOCK = r"(?P<clock>\d\d:\d\d:\d\d)(?:[.,:](?P<fraction>\d{1,9}))?"
DATE = r"(?P<date>\d{4}[-/]\d\d[-/]\d\d)"
ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
PLACE = r"[\w./<>+-]{1,160}?"


def _form(pattern: str) -> re.Pattern[str]:
    return lazy(pattern, re.ASCII)


# (Worker_TP2 pid=1456), (VllmWorker rank=3 pid=50935), (RayWorkerWrapper pid=7, ip=10.0.0.1), (pid=1234)
WORKER = _form(
    r"\((?P<worker>[A-Za-z_][\w.:/-]{0,80})?(?P<more>(?: [\w.=:/-]{1,40}){0,4}?) ?\bpid=(?P<pid>\d{1,19})"
    r"(?:, ip=[\w.:-]{1,45})?(?:, [^()\n]{0,80})?\)(?:0m)? ?"
)
# What is left of Ray's colours when a page ate the escape and the bracket: 36m(RayWorkerWrapper pid=7)0m
COLOUR = _form(r"\d{1,2}m(?=\((?:\w[\w.:-]{0,60} ){1,3}?pid=\d)")
RAY_SYSTEM = _form(
    r"\((?P<worker>raylet|autoscaler|gcs_server|dashboard|scheduler)(?:, ip=[\w.:-]{1,45}| \+[\w. ]{1,12})?\) ?"
)
# [rank3]: and, where a web page took the brackets for a link, rank3:
RANK = _form(r"\[[Rr][Aa][Nn][Kk][ _]?(?P<rank>\d{1,6})\] ?: ?")
RANK_BLANK = _form(r"\[rank(?P<rank>\d{1,6})\] (?=[ \t]*(?:Traceback \(|File \"|[A-Za-z_.]{1,80}(?:Error|Exception|Interrupt)\b|\[))")  # of a wrapper of a cluster's own
RANK_BARE = _form(r"rank(?P<rank>\d{1,6}): ")
# torchrun writes role and local rank: [default0]:
TORCHRUN = _form(r"\[(?P<worker>[A-Za-z_][A-Za-z_-]{0,30}\d{1,6})\]: ?")
MPI = _form(r"\[\d{1,6},(?P<rank>\d{1,6})\](?:<std(?:out|err|diag)>)?: ?")
# srun --label writes "3: ", pdsh and DeepSpeed "worker-1: ". That is a prefix only before what looks like a log: else
# it may be an item of a list.
_LOGLIKE = (
    r"(?=[\[(]|\s*(?:Trace[Bb]ack \(|File \"|[\^~]{2}|Solution|Possible Cause)|(?:ERROR|WARN|INFO|DEBUG|CRITICAL)"
    r"|\d{4}-\d\d-\d\d|E[A-Z0-9]\d{4}[:\[ ]|[\w.]{1,80}(?:Error|Exception)\b)"
)
SRUN = _form(rf"(?P<rank>\d{{1,4}}): {_LOGLIKE}")
HOST = _form(
    r"(?P<worker>[a-z][a-z0-9.]{0,40}(?:-[a-z0-9.]{1,40}){1,6}|(?:node|worker|host|master|slave|npu)\d{1,5}"
    rf"|(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?<=\d): {_LOGLIKE}"
)
# A clock without its day (training platforms), and the number that cat -n or a web page put before a line.
CLOCK_ONLY = _form(rf"\d\d:\d\d:\d\d[.,]\d{{1,9}} {_LOGLIKE}")
LISTING = _form(rf"\d{{1,7}}\t{_LOGLIKE}")
KUBECTL = _form(r"\[(?:pod|job|deployment|statefulset)/(?P<worker>[\w.-]{1,120})(?:/[\w.-]{1,80})?\] ")
SERVER = _form(r"\[[A-Za-z][\w -]{2,24}\] (?=\((?:\w[\w.:-]{0,60} ){1,3}?pid=\d)")
# vllm-omni names the stage whose process wrote the line: [Stage-0] ERROR 06-12 ...
STAGE = _form(r"\[(?P<worker>Stage-\d{1,4})\] (?=\S)")
# pytest names the test that failed before the exception: FAILED tests/test_a.py::Net::test_b[x] - ValueError: ...
PYTEST = _form(r"(?:FAILED|ERROR) [^\s:]{1,300}\.py(?:::[^\n]{1,300}?)? - (?=[A-Za-z_.]{1,80}(?:Error|Exception|Interrupt)\b)")
# Times of the container runtime are dropped: they are UTC, the line's own are local.
CRI = _form(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:(?:stdout|stderr) [FP] |(?=\S))")
# What systemd keeps of a service: Aug 11 11:45:58 node-7 serve.sh[2040671]: and 2026-05-01T10:00:00+0800 node-7 serve.sh[71]:
SERVICE = _form(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) "
    r"[\w.-]{1,80} [\w./@-]{1,60}\[\d{1,19}\]: (?=\S| {2})"
)
MONTHS = frozenset("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())  # noqa: SIM905
BUILDKIT = _form(r"#\d{1,4} \d{1,6}\.\d{1,6} ")
# On a terminal docker build repeats what the failed step printed, with the seconds alone, in four digits: 0.998, 61.88, 195.4.
BUILT = _form(rf"(?:\d\.\d{{3}}|\d\d\.\d\d|\d{{3,5}}\.\d) (?:{_LOGLIKE}|(?= {{4,8}}[A-Za-z_~^@]))")
COMPOSE = _form(r"(?P<worker>[a-z0-9][a-z0-9_.-]{0,80}?) {0,40}\| (?!\s{0,20}\d{1,19} \|)")
BOM = _form("\ufeff{1,8}")
QUOTE = _form(r"(?:> ){1,4}(?=\s*\S)")
GREP = _form(
    r"(?:[\w.+~@%=-]{0,80}/){0,24}(?:(?:plog|device)-(?P<pid>\d{1,19})_\d{1,20}[\w.]{0,24}?\.log(?:\.gz)?"
    r"|[\w.+~@%=-]{1,100}?\.(?:log|txt|out|err))"
    r"(?::\d{1,9}[:-](?=\D)|-\d{1,9}-(?=\D)|[:-](?=\[|\(|Traceback| {2}))"
)
NUMBERED = _form(r"\d{1,9}[:-](?=\[(?:ERROR|WARNING|INFO|EVENT|DEBUG|TRACE)\] ?[A-Z0-9_]{1,32}\()")
PROGRESS = _form(r"[^\r\n]{0,200}?\d{1,3}%\|[^\r]{0,1900}\r+(?=\s*\S)")

# ERROR 03-25 06:14:02 [core.py:880] and the older ERROR 04-18 08:22:17 engine.py:400]
VLLM = _form(
    rf"(?P<level>{LEVEL}) +(?:{DATE} |\d\d-\d\d )\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})? "
    rf"\[?(?P<module>{PLACE}):\d{{1,7}}\](?: |$)"
)
# E1204 14:46:07.912003 60570 file.cpp:201]
GLOG = _form(
    r"(?P<letter>[IWEFCD])\d{3,4} \d\d:\d\d:\d\d(?:\.\d{1,9})? {1,8}\d{1,19} "
    rf"(?P<module>{PLACE}):\d{{1,7}}\](?: |$)"
)
# E20250928 20:14:33.261201 710583 file.cpp:201] of newer releases, which name the year
GLOG_YEAR = _form(
    r"(?P<letter>[IWEFCD])(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))? {1,8}(?P<pid>\d{1,19}) "
    rf"(?P<module>{PLACE}):\d{{1,7}}\](?: |$)"
)
# [F  4/24 17:22:10.685 ...nnadapter/src/runtime/device.cc:529 Find] of Paddle Lite, which writes a number for its verbose lines
PADDLE_LITE = _form(
    r"\[(?:(?P<letter>[IWEF])|\d{1,2}) {1,2}\d{1,2}/ ?\d{1,2} {1,2}[\d ]\d:[\d ]\d:[\d ]\d\.[\d ]{3} "
    rf"(?P<module>{PLACE}):\d{{1,7}} [\w()~<>:]{{1,80}}\] ?"
)
# W NPUStream.cpp:409] where the bracket was lost
TORCH_CUT = _form(r"(?P<letter>[IWEF]) (?P<module>\w[\w./-]{1,100}\.(?:cpp|cc|ts|h)):\d{1,7}\] ")
# [2025-07-14 10:05:17,351 E 2105 14423] logging.cc:460: (Ray's C++ side)
RAY_CPP = _form(
    rf"\[{DATE} {CLOCK} (?P<letter>[DIWEFC]) (?P<pid>\d{{1,19}}) \d{{1,19}}\] "
    rf"(?:\([\w ]{{1,40}}\) )?(?P<module>{PLACE}):\d{{1,7}}: ?"
)
# [W515 09:40:12.302912713 compiler_depend.ts:57] and the older [W compiler_depend.ts:51]
TORCH = _form(
    r"\[(?P<letter>[IWEFCD])(?:\d{3,4} \d\d:\d\d:\d\d(?:\.\d{1,9})?)? ?(?:\d{1,19} )?"
    rf"(?P<module>{PLACE}):\d{{1,7}}\](?: |$)"
)
# 0.01.557.839 I srv    main: (llama.cpp)
LLAMA = _form(r"\d{1,6}\.\d\d\.\d{3}\.\d{3} (?P<letter>[IWED]) ")
# [2026-07-01 09:33:11 TP3]; the bracketed fields that follow it are read by `prefix`
BRACKET_TIME = _form(rf"\[{DATE}[ T]{CLOCK}{ZONE}(?P<worker>(?: [A-Z][A-Za-z]{{0,7}}\d{{1,5}}){{1,6}})?\] ?")
# 2026-01-02 03:04:05,123 - name - INFO - , ... | ERROR    | mod:func:12 - , ... ERROR mod
PLAIN_TIME = _form(
    rf"{DATE}[ T]{CLOCK}{ZONE}[ \t]{{1,2}}(?:[|-] {{0,2}})?(?:\[?\d{{1,19}}\]? (?:- )?)?"
    r"(?:(?P<name>[A-Za-z_][\w.:/-]{0,120}) (?:[|-] )?)??"
    rf"\[?\b(?P<level>{LEVEL})\b\]?(?![\w(]| ?[A-Z0-9_]{{1,32}}\(\d| \d{{4}}-\d\d-\d\d-\d\d:\d\d:\d\d \(PID:)"
    rf"(?: {{0,8}}\| (?P<module>[^|\n]{{1,160}}?) - | {{0,8}}\| (?:{STREAM} \| )?| - (?:(?P<file>{PLACE}\.py):\d{{1,7}} - )?"
    rf"| (?P<ray>{PLACE}):\d{{1,7}} -- | ?: | {{1,8}}|(?=\[)|$)"
)
# 10:22:55 | ERROR    | engine:start:61 - , 10:22:55.201 - ERROR - : the same without its day
CLOCK_TIME = _form(
    rf"\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})? {{1,2}}(?:[|-] {{0,2}})?(?P<level>{LEVEL})\b(?![\w(])"
    rf"(?: {{0,8}}\| (?P<module>[^|\n]{{1,160}}?) - | {{0,8}}\| (?:{STREAM} \| )?| - |: | {{1,8}}(?=\S))"
)
# 05/22 09:09:31 - mmengine - INFO -   and 10/09/2024 10:06:02 - INFO - name -
SLASH_TIME = _form(
    r"(?P<month>\d\d)/(?P<day>\d\d)(?:/(?P<year>\d{4}))? (?P<clock>\d\d:\d\d:\d\d) - "
    rf"(?:(?P<name>[\w.]{{1,120}}) - )??(?P<level>{LEVEL}) - ?"
)
# - name - CRITICAL - : a line of Python's usual logger whose time was not copied along
DASHED = _form(rf"- (?P<name>[A-Za-z_][\w.]{{0,120}}) - (?P<level>{LEVEL}) - (?=\S)")
BARE_TIME = _form(rf"{DATE}[ T-]{CLOCK}{ZONE}(?:: | - | \| | )(?=\S| {{2,12}}\S)")
# [INFO|trainer.py:2369] 2025-01-01 10:10:10,123 >>
TRAINER = _form(
    rf"\[(?P<level>{LEVEL})\|(?:(?P<module>{PLACE})(?::\d{{1,7}})?|\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)\]"
    rf"(?: (?:{DATE} {CLOCK}|[\w.]{{1,120}}:\d{{1,7}}))? >> "
)
# [WARNING] ME(55321:281472938123312,MainProcess):2026-01-01-00:00:00.123.456 [file.py:190]
MINDSPORE_PY = _form(
    rf"\[(?P<level>{LEVEL})\] ?ME\((?P<pid>\d{{1,19}}):\d{{1,19}},[^)\n]{{0,80}}\):{DATE}-"
    r"(?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<milli>\d{3})\.(?P<micro>\d{3}))? ?"
    r"(?:\[(?P<module>[^\[\]\n]{1,200}?):\d{1,7}\](?: |$))?"
)

# A level without a time is read but stays: tools' own messages begin so ("ERROR: pip's ...").
LEVEL_ONLY = _form(
    rf"(?:\[(?P<bracket>{LEVEL})(?::[\w.-]{{1,60}})?\]|(?P<level>{LEVEL}|Error|Warning):"
    rf"|(?P<word>{LEVEL}) [\w./-]{{1,80}}:\d)"
    r"(?=\s|[a-zA-Z_.\d]{1,60}:|\d|$|(?<=\])[A-Z][a-z])"
)
# [Driver] [2024-08-20 15:03:40] [ERROR]The user ..., [Toolbox][20230106-18:12:46][user: root] [/dev/pts/2] [ERROR] ...: installers (.run). The line stays as it is.
INSTALLER = _form(
    r"\[[A-Za-z][\w-]{1,24}\] ?\[(?P<year>\d{4})-?(?P<month>\d\d)-?(?P<day>\d\d)[ -](?P<clock>\d\d:\d\d:\d\d)\]"
    rf"(?: ?\[[^\[\]\n]{{1,40}}\]){{0,2}}? ?\[(?P<level>{LEVEL})\]"
)
# Loggers that name their fields: level=error, {"level":"error", ...}. The line stays as it is.
NAMED_LEVEL = _form(r'(?<![^\s{,])(?:level=|"(?:level|severity)": ?")(?P<level>(?i:debug|info|warn|warning|error|fatal|critical|panic))\b')
# What somebody says before the exception that he quotes: the title of an issue with its tags, or the Chinese word for it.
TOLD = lazy(
    r"(?:(?:\[(?:[Bb]ug|BUG|[Uu]sage|[Qq]uestion|[Hh]elp|[Ii]ssue|NPU|npu|CANN|[Aa]scend|910\w{1,3}|310\w{1,2}|A[23])(?:\]\[|\])[:：]? {0,2}){1,4}(?:[^\n]{1,100}? )??"
    r"|[^\n:：]{0,60}?报错(?:了|信息|内容|日志|如下|为|是){0,2} ?[:：,，]? ?)"
    r"(?=(?:[A-Za-z_]\w{0,60}\.){0,6}[A-Za-z_]\w{0,80}?(?:Error|Exception): \S)"
)
# One bracketed field after a bracketed time, and what may end them all.
FIELD = _form(r" {0,2}\[(?P<field>[^\[\]\n]{1,160})\]")
NAMED = _form(rf"[\w.-]{{1,120}}: (?=\[(?:{LEVEL})\])")
FIELD_PLACE = _form(r"(?P<module>[\w./<>+-]{1,150}?\.\w{1,4})[:-]\d{1,7}(?:[:-][\w<>.]{1,80})?\Z")
FIELD_RANK = _form(r"[Rr]ank (?P<rank>\d{1,6})\Z")
FIELD_NAME = _form(r"[A-Za-z_][\w.:/ -]{0,60}\Z")
FIELDS_END = _form(r" ?: | - | {1,2}(?=\S)|(?=\S)|\s*$")
# "[ERROR] RUNTIME(" and "[ERROR] 2026-" are heads of lines in themselves, not fields.
OWN_HEAD = _form(r" ?(?:[A-Z0-9_]{1,32}\(|\d{4}-\d\d-\d\d)")

PLOG_START = _form(r"\[ ?(?:[A-Z]{3,10}|\d{1,3}) ?\] ?(?!ME\(\d+:)[A-Z0-9_]{1,32}(?:\(|:\d{4}-)")

ROUND = (WORKER, RAY_SYSTEM)
SQUARE = (RANK, RANK_BLANK, TORCH, PADDLE_LITE, BRACKET_TIME, RAY_CPP, TRAINER, MINDSPORE_PY, TORCHRUN, MPI, KUBECTL, SERVER, STAGE)
DIGIT = (PLAIN_TIME, SERVICE, CRI, BARE_TIME, SLASH_TIME, NUMBERED, SRUN, LLAMA, COLOUR, HOST, CLOCK_TIME, CLOCK_ONLY, LISTING, BUILT)
LEVEL_LETTERS = frozenset("DIWEFCTNS")

_ESCAPE = lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_]|[()][A-Z0-9])")
_VISIBLE = lazy(r"(?:\^\[|\\x1b|\\u001b|\\033|#033|␛)\[[\d;?]{0,12}[A-Za-z]")
_ESCAPED_HINTS = ("\\x1b[", "\\u001b[", "\\033[")
_BARE = lazy(r"\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m")
_BARE_HINTS = ("[36m(", "[32m(", "[33m(", "[35m(", "[31m(")


def unescape(raw: str) -> str:
    """The line without colours: real escapes, visible ones (less, rsyslog, JSON), and those that lost the ESC byte.

    Text whose remains form new escapes again and again is left as it is: better untouched than unstable.
    """
    text = raw
    for _ in range(4):
        before = text
        if "\x1b" in text:
            text = _ESCAPE.sub("", text).replace("\x1b", "")
        if "^[[" in text or "#033[" in text or "␛[" in text or ("\\" in text and any(hint in text for hint in _ESCAPED_HINTS)):
            text = _VISIBLE.sub("", text)
        if "[0m" in text or ("m(" in text and any(hint in text for hint in _BARE_HINTS)):
            text = _BARE.sub("", text)
        if text == before:
            return text
    return raw
