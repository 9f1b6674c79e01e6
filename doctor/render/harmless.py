"""Which commands only look. What is not known to change nothing counts as changing something: a list of what is allowed, none of what is not."""

from __future__ import annotations

import re

_PROGRAMS = """
    [ awk basename c++filt cat cd column cut date df diff dirname dpkg-query du echo egrep false fgrep file free getconf getenforce getent grep groups
    head hostname id iostat ipcs last ldd less ls lsattr lsblk lscpu lsmod lsof lspci md5sum namei nm nproc nslookup numactl nvidia-smi paste pgrep
    ping printenv printf ps pwd quota readelf readlink realpath sacct seq sha256sum sleep sort ss stat strings systemd-detect-virt tail test tr true
    type uname uniq uptime vmstat wc which whoami
"""
_LOOKS = frozenset(_PROGRAMS.split())
# Programs that look with some of their words and change with others.
_WITH = {
    "apt-file": r"(?:search|list)\b", "conda": r"(?:list|info|env list)\b", "crictl": r"(?:ps|images|inspect|logs|info)\b",
    "curl": r"-sSI \S+$", "env": r"$",
    "docker": r"(?:ps|inspect|images|logs|info|version|stats --no-stream)\b", "dpkg": r"-[lLsS]\b", "dnf": r"(?:provides|list|info)\b",
    "dmesg": r"(?!.*(?:-[a-zA-Z]*[cCDEn]\b|--clear|--read-clear))", "find": r"(?!.*-(?:delete|exec|ok|fprint|fls))", "fuser": r"(?!.*(?:-k|--kill|-[a-z]*k\b))",
    "git": r"(?:log|ls-files|status|describe|remote -v|rev-parse|show|diff|branch -a)\b", "hccn_tool": r"(?=.* -g\b)(?!.* -s\b)",
    "ip": r"(?:-\S+ )*(?:a|addr|address|route|link|rule|neigh)(?: show\b.*| get\b.*)?$", "journalctl": r"(?!.*--(?:vacuum|rotate|flush))",
    "kubectl": r"(?:-n \S+ )?(?:get|describe|logs|top|version)\b", "ipmitool": r"(?:sel e?list|sdr)\b", "ldconfig": r"-p\b", "lfs": r"quota\b", "mokutil": r"--(?:sb-state|list-enrolled)$", "nc": r"-v?zv? ", "mount": r"(?:-l)?$",
    "npu-doctor": r"(?:explain|scan|ops|env|kb (?:search|show|list))\b(?!.* (?:-o|--output|--redact-map|--fix-script)\b)", "npu-smi": r"info\b", "py-spy": r"dump\b", "pip": r"(?:list|show|check|freeze|config list|index versions|debug)\b", "ray": r"(?:status|memory|list)\b",
    "rpm": r"-q", "sed": r"(?:-n|-E|-nE|-r|-nr)? ?Q$|-n ", "sysctl": r"(?:-[an]+ ?)?(?:[\w.]+ ?)*$", "systemctl": r"(?:status|is-active|show|list-units|cat)\b",
    "timedatectl": r"$", "top": r"-b", "ulimit": r"-\w+$|$", "chronyc": r"(?:tracking|sources)\b", "smartctl": r"-[aHi]",
}  # fmt: skip
_SAME = {"pip3": "pip", "python": "python3", "zcat": "cat", "zgrep": "grep"}
_WORDS_BETWEEN = frozenset({"do", "done", "then", "else", "fi", "if", "while", "time", "!", "{", "}"})
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_REDIRECT = re.compile(r"\d?>>?\|?\s*(?!/dev/null|&\d)\S")
_BETWEEN = re.compile(r"&&|\|\||[;|\n]")
_ACTS = re.compile(r"\b(?:remove|unlink|rmtree|rmdir|system|popen|subprocess|Popen|rename|replace|write|mkdir|makedirs|chmod|chown|kill|exec|eval|open|set_device|reset)\s*\(")


def looks_only(run: str) -> bool:
    """Does a piece of shell change nothing? Said of what is known alone: else it counts as a change."""
    inner = [a or b for text in (run,) for a, b in _INNER.findall(text)]
    bare = _INNER.sub("Q", run)
    if "$(" in bare or "`" in bare or not all(looks_only(one) for one in inner):
        return False
    quoted = _QUOTED.findall(bare)
    if _ACTS.search(" ".join(quoted)):
        return False
    open_text = _QUOTED.sub("Q", bare)
    if "'" in open_text or '"' in open_text or _REDIRECT.search(open_text) or "<(" in open_text or re.search(r"&(?![&\d])", open_text.replace("&&", "")):
        return False
    return all(_one(part.split()) for part in _BETWEEN.split(open_text))


def _one(words: list[str]) -> bool:
    """One simple command, its quoted words replaced by a letter."""
    words = [word for word in words if not re.match(r"\d?[<>]", word)]
    while words and (words[0] in _WORDS_BETWEEN or re.match(r"[A-Za-z_]\w*=", words[0])):
        words = words[1:]
    if not words or words[0] == "for":
        return True
    name, rest = _SAME.get(words[0], words[0]), words[1:]
    if name == "timeout" and len(rest) > 1:
        return _one(rest[1:]) or rest[1:3] == ["bash", "-c"]
    if name == "xargs":
        while rest and rest[0].startswith("-"):
            rest = rest[1:]
        return bool(rest) and _one(rest)
    if rest in (["--version"], ["--help"], ["-V"]) and "/" not in name:
        return True
    if name == "python3":
        return rest[:1] == ["-c"] or rest[:2] == ["-m", "json.tool"] or (rest[:2] == ["-m", "pip"] and _one(["pip", *rest[2:]]))
    if name in _LOOKS:
        return True
    return name in _WITH and re.match(_WITH[name], " ".join(rest)) is not None


_SETTING = re.compile(r"(?:export|unset|source|\.|ulimit|cd)\b")


def sets_only(run: str) -> bool:
    """Does it only change the shell that it runs in: variables, limits, the folder? With looks beside."""
    bare = _QUOTED.sub("Q", _INNER.sub("Q", run))
    if not all(looks_only(a or b) for a, b in _INNER.findall(run)) or "$(" in bare or "`" in bare or _REDIRECT.search(bare):
        return False
    parts = [part.strip() for part in _BETWEEN.split(bare)]
    return any(map(_SETTING.match, parts)) and all(_SETTING.match(part) or _one(part.split()) for part in parts) and not _ACTS.search(run)


_PLACEHOLDER = re.compile(
    r"<[A-Za-z_][\w .-]*>|/path/[\w/.-]*|\bX\.Y(?:\.Z)?\b"
    r"|(?<![\w$\-./{=\[|\\%:@])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b(?![=(\w}\]])"
    r"|(?<==)(?:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*|[A-Z]+)\b(?![=(\w}\]:])"
)
_NAMES = re.compile(r"\b(?:unset|export|printenv|echo|declare -p)(?: +[A-Z][A-Z0-9_]*(?==|\b))+")
_NO_PLACEHOLDER = frozenset({"ON", "OFF", "ND", "NCHW", "NHWC", "Q", "TRUE", "FALSE", "GET", "ERROR", "WARNING", "INFO", "DEBUG", "EVENT", "PATH", "HOME"})
_QUOTED_PLACEHOLDER = re.compile(r"\b(?:[A-Z]+_(?:ID|NAME|DIR|PATH|IP|ADDR|VERSION|FILE|PORT)|MODEL|VERSION|PID|FILE|IMAGE|NODE|HOST|CHIP)\b|/path/[\w/.-]*|<[A-Za-z_][\w .-]*>")


def to_fill_in(run: str) -> tuple[str, ...]:
    """The words of a command that stand for what its reader must put in: in capitals, as no command takes a value."""
    found = [word for text in _QUOTED.findall(run) for word in _QUOTED_PLACEHOLDER.findall(text) if f"${word}" not in text and f"{{{word}" not in text]
    bare = _NAMES.sub(" ", _QUOTED.sub("Q", run))
    found += [word for word in _PLACEHOLDER.findall(bare) if word not in _NO_PLACEHOLDER and len(word) > 1]
    return tuple(dict.fromkeys(found))
