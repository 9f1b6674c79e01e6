"""Replaces what identifies people and places by stable pseudonyms, the same throughout a report.

The mapping from pseudonym to value stays in this process; nothing writes it anywhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

# Names that identify nobody.
_PUBLIC_USERS = frozenset(
    {"root", "HwHiAiUser", "HwBaseUser", "HwDmUser", "ma-user", "user", "user_name", "USER", "x", "u"}
)
_PUBLIC_ADDRESSES = re.compile(r"^(?:127\.|0\.0\.0\.0$|255\.|169\.254\.|224\.|192\.0\.2\.)")
_PUBLIC_HOSTS = frozenset(
    {"localhost", "github.com", "gitee.com", "gitcode.com", "hiascend.com", "huggingface.co", "pypi.org"}
)

_TOKEN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w-]{16,}|xox[abp]-[\w-]{10,}|AKIA[0-9A-Z]{16}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})"
)
_SECRET = re.compile(
    r"(?i)\b((?:[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\w-]*)\s*[=:]\s*[\"']?|bearer\s+|authorization:\s*\w+\s+)"
    r"([^\s\"',;&]{4,})"
)
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_URL_LOGIN = re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)")
_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+\b")
_IPV4 = re.compile(r"(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.]*\d)")
_VERSION_BEFORE = re.compile(r"(?i)(?:version|cann|driver|firmware|toolkit|\bv|==|>=)[ :=-]*$")
_IPV6 = re.compile(
    r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,7}(?![\w:])|(?<![\w:])fe80::[0-9a-fA-F:]+"
)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])")
_HOME = re.compile(r"(?<![\w/])(/(?:home|Users|data/home|mnt/home|export/home)/)([\w.@-]+)")
_PROMPT = re.compile(r"(?:^|(?<=[\s\[(]))([A-Za-z_][\w.-]*)@([A-Za-z][\w.-]*)(?=[:\s\]$#~])", re.MULTILINE)
_SERIAL = re.compile(r"(?i)\b(serial(?:[ _]?(?:number|no))?|sn)(\s*[:=]\s*)([A-Z0-9]{8,32})\b")
_HOSTWORD = re.compile(
    r"(?i)\b((?:host|hostname|node_?name|server_?name|master_addr|nodename)\s*[=:]\s*[\"']?)([A-Za-z][\w-]*(?:\.[\w-]+)*)"
)
_FQDN = re.compile(r"\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:internal|local|lan|corp|intra|cluster|svc)\b")


class Redactor:
    """One report's pseudonyms. This machine's own name and user are known from the start."""

    def __init__(self) -> None:
        self.mapping: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        for name in (os.environ.get("USER", ""), Path(os.environ.get("HOME", "/root")).name):
            if len(name) >= 3:
                self._user(name)
        own = os.uname().nodename
        if len(own) >= 3:
            self._host(own)

    def _name(self, kind: str, value: str) -> str:
        if value not in self.mapping:
            self._numbers[kind] = self._numbers.get(kind, 0) + 1
            self.mapping[value] = f"<{kind}-{self._numbers[kind]}>"
        return self.mapping[value]

    def text(self, text: str) -> str:
        """The text with everything identifying replaced."""
        text = _PEM.sub(lambda m: self._name("key", m[0]), text)
        text = _TOKEN.sub(lambda m: self._name("token", m[0]), text)
        text = _SECRET.sub(lambda m: m[1] + (m[2] if m[2].startswith("<") else self._name("secret", m[2])), text)
        text = _URL_LOGIN.sub(lambda m: self._name("login", m[0]), text)
        text = _EMAIL.sub(lambda m: self._name("email", m[0]), text)
        text = _MAC.sub(lambda m: self._name("mac", m[0]), text)
        text = _IPV4.sub(self._address, text)
        text = _IPV6.sub(lambda m: self._name("ip", m[0]) if m[0].count(":") >= 3 else m[0], text)
        text = _HOME.sub(lambda m: m[1] + self._user(m[2]), text)
        text = _PROMPT.sub(lambda m: f"{self._user(m[1])}@{self._host(m[2])}", text)
        text = _SERIAL.sub(lambda m: m[1] + m[2] + self._name("serial", m[3]), text)
        text = _HOSTWORD.sub(lambda m: m[1] + self._host(m[2]), text)
        text = _FQDN.sub(lambda m: self._host(m[0]), text)
        return self._known(text)

    def _address(self, match: re.Match[str]) -> str:
        """Four numbers with dots are an address unless a word before says that they are a version."""
        before = match.string[max(0, match.start() - 24) : match.start()]
        if _PUBLIC_ADDRESSES.match(match[0]) or _VERSION_BEFORE.search(before):
            return match[0]
        return self._name("ip", match[0])

    def _user(self, name: str) -> str:
        return name if name in _PUBLIC_USERS else self._name("user", name)

    def _host(self, name: str) -> str:
        return name if name.lower() in _PUBLIC_HOSTS else self._name("host", name)

    def _known(self, text: str) -> str:
        """Values that were recognised once are replaced wherever else they stand as words."""
        for value in sorted(self.mapping, key=len, reverse=True):
            if len(value) >= 3 and value in text:
                text = re.sub(rf"(?<![\w<]){re.escape(value)}(?![\w>])", lambda _, v=value: self.mapping[v], text)  # type: ignore[misc]
        return text

    def report(self, value: Any) -> Any:
        """A report or harvest in JSON form. Two rounds: a name learnt late is replaced where it stood early, too."""
        self._walk(value)
        return self._walk(value)

    def _walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return value if key in _FIXED else self.text(value)
        if isinstance(value, dict):
            return {k: v if k == "references" else self._walk(v, k) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._walk(v, key) for v in value]
        return value


# Words of the program itself; times look like addresses to a pattern and identify nobody.
_FIXED = frozenset(
    {"id", "slug", "kind", "role", "severity", "verdict", "level", "module", "digest", "version", "time", "first_seen", "last_seen", "explains",
     "explained_by", "goal", "risk", "name", "undo", "type"}
)  # fmt: skip
