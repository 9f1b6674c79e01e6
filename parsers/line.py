"""One raw line to a `Line`: prefixes peeled, head read, kind named.

>>> line = read_line("[ERROR] RUNTIME(41207,python3.10):2026-03-02-10:21:44.118.305 [a.cc:1617]41388 Func:text")
>>> line.kind, line.level, line.module, line.pid, line.source, line.time
('plog', 'error', 'RUNTIME', 41207, 'a.cc:1617', '2026-03-02T10:21:44.118305')
>>> read_line("(Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [core.py:880] EZ9999: Inner Error!").kind
'message'
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.parsed import Line
from parsers.plog import head
from parsers.prefix import Peeled, bare, peel
from parsers.quotations import unquoted
from parsers.traceback_forms import EXCEPTION, PART

STRUCTURE = 2048
"""Characters at the front of a line that are looked at: structure stands there, whatever follows is payload."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_STAMP = lazy(
    r"(?:\[PID: ?(?P<pid>\d{1,19})\]|(?:^|: )[EW][0-9A-Z]\d{4}:(?= \d{4}-))"
    r"(?: (?P<date>\d{4}-\d\d-\d\d)-(?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<ms>\d{3}))?(?:\.(?P<us>\d{3}))?)?"
)
_CODE = lazy(
    r"(?:(?:\S{1,200}\.(?:cpp|cc|c|h):\d{1,6}: )?(?:Warning|detail|CANN error): ?)?"
    r"(?:[EW][0-9A-Z]\d{4}(?:: |:$|:(?=\[)|\[PID|(?: {2,}| \()\S)|\[PID: ?\d+\])"
)
_TORCH_ERROR = lazy(
    r"\[(?P<level>[A-Z]{4,8})\] ?(?P<date>\d{4}-\d\d-\d\d)-(?P<clock>\d\d:\d\d:\d\d)(?:\.\d{3}\.\d{3})? ?"
    r"\(PID: ?(?P<pid>\d{1,19}), ?Device: ?(?P<device>-?\d{1,6}), ?RankID: ?(?P<rank>-?\d{1,6})\)"
)
_MINDCLUSTER = lazy(r"\[[A-Z]{4,8}\] {1,8}(?P<date>\d{4}/\d\d/\d\d) (?P<clock>\d\d:\d\d:\d\d)\.(?P<us>\d{6}) ")
# What stands in a line that says when it was written, by which process or rank, or that reads otherwise than it is written.
_SAYS_WHOSE = lazy(
    rb"\d[-/]\d\d[-/]\d|\d\d:\d\d:\d\d \d{4}|[Pp][Ii][Dd]|[Rr][Aa][Nn][Kk]|\[\d{1,6},\d{1,6}\]|\[\d{1,19}\]: |(?:plog|device)-\d|\d: "
    rb"|\x1b|\\|#033|\^\[|\[[\d;]{1,9}m|m\(|\0|[^\x00-\x7f]"
)
_BLOCK = lazy(
    r"\s*(?:(?:Possible Cause|Solution|Error Message is) ?:|TraceBack \(most recent call last\)"
    r"|Rectify the fault based on the error|The function call stack:|- Ascend (?:Error|Warning) Message|\[Error\]: )"
)
_FUNC = lazy(r"\[FUNC: ?[^\]]{0,200}\] ?\[FILE: ?[^\]]{0,300}\] ?\[LINE: ?\d{1,7}\](?:\[THREAD: ?\d{1,19}\])?\s*$")
_DMESG = lazy(r"\s{0,16}(?:<\d{1,3}>)?\[ {0,8}\d{1,9}\.\d{6}\](?:\[ ?[TC]?\d{1,7}\])? ")
_DMESG_DATE = lazy(
    r"\s{0,16}\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) "
    r"(?P<clock>\d\d:\d\d:\d\d) (?P<year>\d{4})\] "
)
_SYSLOG = lazy(
    r"\s{0,16}(?P<month>[A-Z][a-z]{2}) {1,2}\d{1,2} \d\d:\d\d:\d\d [\w.-]{1,80} "
    r"(?P<by>[\w./@:() -]{1,60}?)(?:\[(?P<pid>\d{1,19})\])?: "
)
_JOURNAL = lazy(
    r"\s{0,16}(?P<date>\d{4}-\d\d-\d\d)T(?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?(?:Z|[+-]\d\d:?\d\d) "
    r"[\w.-]{1,80} (?:(?P<kernel>kernel)|(?P<by>[\w./@-]{1,60})\[(?P<pid>\d{1,19})\]): "
)
# Services of the system itself: what they try and report is no job's output.
_DAEMONS = frozenset(
    "systemd systemd-logind systemd-resolved systemd-timesyncd systemd-udevd systemd-networkd sshd sudo su CRON cron crond dbus-daemon NetworkManager udisksd polkitd"  # noqa: SIM905
    " rsyslogd chronyd ntpd auditd snapd avahi-daemon ModemManager gdm3 gdm-session-worker gnome-shell irqbalance multipathd smartd accounts-daemon firewalld dnsmasq"
    " dockerd containerd kubelet agetty login anacron packagekitd fwupd tuned lldpd wpa_supplicant thermald upowerd rtkit-daemon colord postfix master qmgr pickup".split()
)
_KERNEL_FIRST = frozenset("[<ADFJMNOS0123456789 \t")
PROMPT = lazy(
    r"\s{0,8}(?:\([\w. -]{1,40}\) ?)?"
    r"(?:\[?(?:[A-Za-z_][\w.-]{0,40}|I have no name!)@[\w.-]{1,80}[: ][^\n#$%>]{0,200}?\]?[#$%](?: |$)"
    r"|\[[a-z_][\w.-]{0,40} [^\]\n]{1,100}\][#$] ?|(?:bash|sh)-\d\.\d{1,2}[#$] |\$ (?=\S)|>>> (?=[A-Za-z_@]))"
)


def read_line(raw: str) -> Line:
    """The line's text, kind and identity. Work is bounded by `STRUCTURE`, whatever the length of the line."""
    return _read(raw, 1)


def may_say_whose(raw: bytes) -> bool:
    """Could `read_line` find a time, a process or a rank in a line? Asked of the many that have none of them."""
    return _SAYS_WHOSE.search(raw) is not None


def _read(raw: str, depth: int) -> Line:
    if raw[:1] == "[" and (plain := _plain_plog(raw)) is not None:
        return plain
    if raw[:1] in _KERNEL_FIRST and (early := _kernel(raw.rstrip("\r\n"), depth)) is not None:
        return early
    peeled = peel(raw)
    text = unquoted(peeled.text)
    front = text if len(text) <= STRUCTURE else text[:STRUCTURE]
    if front[:1] in _KERNEL_FIRST and (late := _kernel(text, 0)) is not None:
        return late
    headed = _plog(peeled, front) or _torch_error(peeled, front)
    if headed is not None:
        return headed
    kind = _kind(peeled, front, text)
    pid, time = peeled.pid, peeled.time
    if ("[PID" in front or kind == "message") and (stamp := _STAMP.search(front)) is not None:
        pid = int(stamp["pid"]) if stamp["pid"] else pid
        if stamp["date"]:
            time = f"{stamp['date']}T{stamp['clock']}.{stamp['ms'] or '000'}{stamp['us'] or '000'}"
    elif time is None and front[:1] == "[" and (found := _MINDCLUSTER.match(front)) is not None:
        time = f"{found['date'].replace('/', '-')}T{found['clock']}.{found['us']}"
    return Line(
        kind,
        text,
        level=peeled.level,
        module=peeled.module,
        time=time,
        pid=pid,
        rank=peeled.rank,
        worker=peeled.worker,
    )


def _plain_plog(raw: str) -> Line | None:
    """A plog line as the library writes it, with nothing in front and nothing inside that needs peeling: most lines."""
    text = raw.rstrip("\r\n")
    if not bare(text):
        return None
    found = head(text if len(text) <= STRUCTURE else text[:STRUCTURE])
    if found is None:
        return None
    return Line(
        "plog",
        text,
        level=found.level,
        module=found.module,
        time=found.time,
        pid=found.pid,
        rank=found.rank,
        source=found.source,
    )


def _plog(peeled: Peeled, front: str) -> Line | None:
    at = len(front) - len(front.lstrip(" \t"))
    if front[at : at + 1] != "[":
        # Processes that share a terminal write into each other's lines: it may stand behind a stranger's half line.
        at = _buried_head(front)
        if at < 0:
            return None
    found = head(front, at)
    if found is None:
        return None
    return Line(
        "plog",
        peeled.text,
        level=found.level,
        module=found.module,
        time=found.time,
        pid=found.pid if found.pid is not None else peeled.pid,
        rank=found.rank if found.rank is not None else peeled.rank,
        worker=peeled.worker,
        source=found.source,
    )


def _buried_head(front: str) -> int:
    time = front.find("):20")
    if time < 0:
        return -1
    return max(front.rfind(f"[{level}]", 0, time) for level in ("ERROR", "WARNING", "INFO", "EVENT"))


def _torch_error(peeled: Peeled, front: str) -> Line | None:
    if "(PID" not in front:
        return None
    found = _TORCH_ERROR.search(front)
    if found is None:
        return None
    rank, device = int(found["rank"]), int(found["device"])
    return Line(
        "message",
        peeled.text,
        level=found["level"].lower() if found["level"] in ("ERROR", "WARNING", "INFO") else peeled.level,
        module=peeled.module,
        time=f"{found['date']}T{found['clock']}.000000",
        pid=int(found["pid"]),
        rank=rank if rank >= 0 else peeled.rank,
        worker=peeled.worker,
        device=device if device >= 0 else None,
    )


def _kind(peeled: Peeled, front: str, text: str) -> str:
    if _CODE.match(front) or _BLOCK.match(front) or ("[LINE:" in text[-60:] and _FUNC.search(text[-600:])):
        return "message"
    if EXCEPTION.match(front) or PART.match(front):
        return "traceback"
    if PROMPT.match(front):
        return "shell"
    return "launcher" if peeled.launcher else "text"


def _kernel(raw: str, depth: int) -> Line | None:
    """A line of the kernel, of syslog or the journal; `depth`: how often a journal's prefix may still come off."""
    front = raw[:STRUCTURE]
    pid = time = None
    if _DMESG.match(front) is None:
        if (found := _DMESG_DATE.match(front)) is not None:
            if found["month"] not in _MONTHS:
                return None
            month = _MONTHS.index(found["month"]) + 1
            time = f"{found['year']}-{month:02}-{int(found['day']):02}T{found['clock']}.000000"
        elif (found := _JOURNAL.match(front)) is not None:
            time = f"{found['date']}T{found['clock']}.{(found['fraction'] or '')[:6]:0<6}"
        elif (found := _SYSLOG.match(front)) is None or found["month"] not in _MONTHS:
            return None
        said = found.groupdict()
        if depth and said.get("by") not in (None, "kernel"):
            # A service whose output the journal keeps: what it wrote counts, the journal is just one more prefix.
            inner = _read(raw[found.end() :], depth - 1)
            if inner.kind not in ("text", "shell") or (inner.kind == "text" and said["pid"] and said["by"].rpartition("/")[2] not in _DAEMONS):
                return inner._replace(time=inner.time or time)  # ranks may share the pipe of one service: its pid is not theirs
        pid = said.get("pid")
    return Line("kernel", raw, module="kernel", time=time, pid=int(pid) if pid else None)
