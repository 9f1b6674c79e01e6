"""Replaces what identifies people, places and machines by stable pseudonyms, the same throughout a report.

The mapping from value to pseudonym stays in this process, unless the user asks for a file of it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doctor.answer import redact_people, redact_places, redact_public, redact_secrets, redact_tokens
from doctor.answer.redact_form import Form, Forms, named
from doctor.findings.situation import VERSIONS
from doctor.scan.harvest import Absent, Cluster, Place
from doctor.scan.situation import Said

if TYPE_CHECKING:
    from doctor.judge.diagnosis import Diagnosis
    from kb.knowledge import Knowledge

KEY_VARIABLE = "NPU_DOCTOR_REDACT_KEY"
ANYWHERE = frozenset({"token", "secret", "key", "login", "serial", "person"})  # no words: replaced inside of other ones, too
# Shorter values are only replaced where the text says what they are.
SHORTEST_WORD, LONGEST_WORD, SHORTEST_SECRET, SHORTEST_PERSON = 3, 256, 6, 2
FORMS = Forms((*redact_tokens.FORMS, *redact_secrets.FORMS, *redact_places.ADDRESSES, *redact_places.SERIALS, *redact_people.FORMS, *redact_places.HOSTS))


class Redactor:
    """The pseudonyms of one report. This machine's own name and user are known from the start.

    `keep`: words of the program's own texts, in lower case. Somebody called `data` keeps that name where it may be the plain word.
    `fixed`: texts of the program's own, which stay as they are: their addresses are examples.
    `tag`: stands in every pseudonym, so that those of two nodes are not taken for each other.
    `key`: makes pseudonyms the same on all nodes that use the same key; without the key nobody can compute them.
    `own`: words of the user's, replaced wherever they stand, in any case.
    """

    def __init__(
        self, keep: Iterable[str] = (), fixed: Iterable[str] = (), tag: str = "", key: str = "", own: Iterable[str] = ()
    ) -> None:
        self.mapping: dict[str, str] = {}
        self.tag = tag
        self._key = key.encode("utf-8", "surrogateescape")[:64]
        self._keep = frozenset(keep)
        self._fixed = frozenset(fixed)
        self._numbers: Counter[str] = Counter()
        self._kinds: dict[str, str] = {}
        self._aliases: dict[str, str] = {}  # lower case, and the first part of a full host name -> the name
        self._known: re.Pattern[str] | None = None
        self._plain: dict[str, str] = {}  # texts and what the patterns made of them
        self._cache: dict[str, str] = {}  # the same, with the names that were recognised elsewhere
        self._hiders: dict[int, Callable[[str], str]] = {}  # by the number of the form
        self._learning = False
        self._own = tuple(own)
        for name in (os.environ.get("USER", ""), Path(os.environ.get("HOME", "/root")).name):
            if len(name) >= 3:
                self._user(name)
        own = os.uname().nodename
        if len(own) >= 3:
            self._host(own)

    def spare(self, fixed: Iterable[str]) -> None:
        """Further texts of the program's own. What was worked out so far is forgotten, but for the names."""
        self._fixed |= frozenset(fixed)
        self._plain.clear()
        self._cache.clear()

    @property
    def counts(self) -> dict[str, int]:
        """How many different values of each kind were replaced."""
        return dict(sorted(self._numbers.items()))

    @property
    def names(self) -> str:
        """Two reports with the same mark here call the same thing the same."""
        return self._digest("names")[:8] if self._key else self.tag

    @property
    def told(self) -> dict[str, Any]:
        """How many values and names were replaced, as a report tells it."""
        return {"values": self.counts, "names": self.names}

    def map_text(self) -> str:
        """What each pseudonym stands for, as JSON: for the user's own eyes."""
        import json

        back: dict[str, list[str]] = {}
        for value, told in self.mapping.items():
            back.setdefault(told, []).append(value)
        return json.dumps(back, ensure_ascii=False, indent=1) + "\n"

    # what identifies

    def text(self, text: str) -> str:
        """The text with everything identifying replaced."""
        found = self._cache.get(text)
        if found is None:
            plain = self._plain.get(text)  # a name once given stays: what patterns find is looked for once
            if plain is None:
                plain = self._plain[text] = self._replaced(text)
            found = self._cache[text] = plain if self._learning else self._words(plain)
        return found

    def _replaced(self, text: str) -> str:
        if "-----BEGIN" in text:
            text = redact_secrets.PEM.sub(self._block, text)
        if len(text) >= 64:
            text = redact_secrets.PEM_LINE.sub(lambda m: self._name("key", m[0]), text)
        for number in FORMS.possible(text.lower()):  # pseudonyms that are put in meanwhile bring no further word
            hide = self._hiders.get(number)
            if hide is None:
                hide = self._hiders[number] = partial(FORMS.all[number].pattern.sub, partial(self._hide, FORMS.all[number]))
            text = hide(text)
        return text

    def _hide(self, form: Form, match: re.Match[str]) -> str:
        span = form.span(match)
        if span is None or span[0] == span[1] or _PSEUDONYM.match(match.string, span[0] - 1):
            return match[0]
        begin, end = span[0] - match.start(), span[1] - match.start()
        value = match[0][begin:end]
        if form.pieces is not None:
            told = form.pieces.sub(partial(self._hide, form._replace(pieces=None, span=named)), value)
        else:
            told = self._called(form, value)
        return match[0][:begin] + told + match[0][end:]

    def _called(self, form: Form, value: str) -> str:
        if value.startswith("<"):  # a pseudonym already
            return value
        if form.kind == "user":
            return self._user(value, form.learnt)
        if form.kind == "host":
            return self._host(value)
        if form.kind == "login":
            self._password(value)
        # A password that is a plain word stays one where nothing says that it is a password.
        return self._name(form.kind, value, form.learnt and value.lower() not in self._keep)

    def _password(self, login: str) -> None:
        """Of a name and a password the second one is known from now on."""
        word = re.split("[:/]", login, maxsplit=1)[-1]
        if word != login and len(word) >= SHORTEST_SECRET:
            self._name("secret", word)

    def _block(self, match: re.Match[str]) -> str:
        """Of a key or certificate: its lines are known from now on, where they stand alone as well."""
        told = self._name("key", match[0])
        for row in redact_secrets.BASE64.findall(match[0].replace("\\n", " ")):
            if row not in self.mapping:
                self._remember(row, told, "key")
        return told

    # pseudonyms

    def _name(self, kind: str, value: str, learnt: bool = True) -> str:
        if kind not in ANYWHERE:  # the same in any case
            value = self._aliases.setdefault(value.lower(), value) if learnt else self._aliases.get(value.lower(), value)
        told = self.mapping.get(value)
        if told is None:
            self._numbers[kind] += 1
            number = f"{self.tag}-{self._numbers[kind]}" if self.tag else str(self._numbers[kind])
            told = f"<{kind}-{self._digest(f'{kind}:{value}')[:10] if self._key else number}>"
            self._remember(value, told, kind if learnt else "")
        elif learnt and not self._kinds[value]:
            self._remember(value, told, kind)
        return told

    def _remember(self, value: str, told: str, kind: str) -> None:
        self.mapping[value], self._kinds[value] = told, kind
        self._known = None
        if not self._learning:  # the first round only looks: each text once is enough
            self._cache.clear()

    def _digest(self, text: str) -> str:
        from hashlib import blake2b

        return blake2b(text.encode("utf-8", "surrogateescape"), key=self._key, digest_size=16).hexdigest()

    def _user(self, written: str, learnt: bool = True) -> str:
        name = written.rstrip(".-+")
        if not name or name.isdigit() or name.startswith("<") or redact_public.is_user(name):
            return written
        return self._name("user", name, learnt) + written[len(name) :]

    def _host(self, name: str) -> str:
        """A host's full name and its first part are one host."""
        low = name.lower()
        if (
            redact_public.is_host(low)
            or low in self._keep
            or name.isdigit()
            or name.startswith("<")
            or _NUMBERS.fullmatch(name)
        ):
            return name
        first = low.partition(".")[0]
        short = first if first != low and len(first) > SHORTEST_WORD and not redact_public.is_host(first) else ""
        if low not in self._aliases and short in self._aliases:
            known = self._aliases[short]
            self._aliases[low] = name
            self._remember(name, self.mapping[known], "host")
        told = self._name("host", name)
        if short:
            self._aliases.setdefault(short, self._aliases[low])
        return told

    # names that were recognised once, wherever else they stand

    def _words(self, text: str) -> str:
        if self._known is None:
            self._known = self._compile()
        return self._known.sub(self._again, text)

    def _again(self, match: re.Match[str]) -> str:
        found = match[0]
        if match.lastgroup == "told":
            return found
        if match.lastgroup == "own":
            return self._name("word", found, learnt=False)
        return self.mapping.get(found) or self.mapping[self._aliases[found.lower()]]

    def _compile(self) -> re.Pattern[str]:
        inside = [
            v
            for v, kind in self._kinds.items()
            if kind in ANYWHERE and len(v) >= (SHORTEST_PERSON if kind == "person" else SHORTEST_SECRET)
        ]
        words = [w for w in self._aliases if SHORTEST_WORD <= len(w) <= LONGEST_WORD and w not in self._keep]
        # Longer ones first: what begins with another one is taken whole.
        parts = [re.escape(v) for v in sorted(inside, key=len, reverse=True)]
        if self._own:  # they may be a part of a pseudonym, which stays
            parts = [r"(?P<told><[a-z]+-[\w-]{1,30}>)", *parts, rf"(?P<own>(?i:{any_of(w.lower() for w in self._own)}))"]
        if words:
            parts.append(rf"(?<![A-Za-z0-9<])(?i:{any_of(words)})(?![A-Za-z0-9>])")
        return re.compile("|".join(parts) or r"(?!)")

    # structures

    def report(self, value: Any) -> Any:
        """A report or harvest in JSON form. Two rounds: a name learnt late is replaced where it stood early, too."""
        self._learning = True
        try:
            self._walk(value)
        finally:
            self._learning = False
            self._cache.clear()
        return self._walk(value)

    def _walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            if key in _NAMED_KEYS:
                self._structure(key, value)
            return value if key in _FIXED or value in self._fixed else self.text(value)
        if isinstance(value, dict):
            if "template" in value and "evidence" in value:
                value = {**value, "template": self._shape(value["template"], value["evidence"]["text"])}
            if "page" in value and "evidence" in value:  # a site of the reader's own: its address would tell of them, and lead nobody else anywhere
                value = {k: v for k, v in value.items() if k != "page"}
            if key == "situation" and "facts" in value:  # its line is made of names of software
                return {**value, "facts": {k: v if k in _PUBLIC_FACTS else self._walk(v, k) for k, v in value["facts"].items()}}
            return {
                k: v if v is None or type(v) is int or k == "references" else self._walk(v, k) for k, v in value.items()
            }
        if isinstance(value, Place):
            self._node(value.node or "")
        elif isinstance(value, Absent):
            self.machine(value.node)
        elif isinstance(value, Said):
            told = value.value if value.fact in _PUBLIC_FACTS else self.text(value.value)
            return value._replace(value=told, path=self.text(value.path))
        elif isinstance(value, Cluster):
            value = value._replace(template=self._shape(value.template, value.first.text))
        elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str) and value[0] in _NAMED_KEYS:  # a capture
            self._structure(*value)
        if isinstance(value, (list, tuple)):
            return [v if v is None or type(v) is int else self._walk(v, key) for v in value]
        return value

    def _structure(self, key: str, value: str) -> None:
        """A capture may say what it is by its name."""
        if key in _USER_KEYS:
            self._user(value)
        elif not redact_public.is_operator(value):
            self._node(value)

    def _node(self, name: str) -> None:
        """What the structure says is a machine, be it called by a name or by an address."""
        name = name.partition("%")[0]
        if name and self.text(name) == name:
            self._host(name)

    def machine(self, name: str) -> str:
        """The pseudonym of what is a machine for certain, however common its name."""
        self._node(name)
        told = self.text(name)
        return told if told != name else self._name("host", name)

    def _shape(self, shape: str, text: str) -> str:
        """A token without its digits would no longer be recognised: the shape is made anew, of the redacted text."""
        from doctor.scan.clusters import FURTHER, template

        return shape if shape == FURTHER else template(_PSEUDONYM.sub(r"<\1>", self.text(text)))


def redactor(
    diagnosis: Diagnosis, knowledge: Knowledge, *, tagged: bool = False, own: Iterable[str] = ()
) -> Redactor:
    """For a report. NPU_DOCTOR_REDACT_KEY is honoured.

    `tagged`: for what is merged with the reports of other nodes. `own`: words of the user's.
    """
    made = of_texts(knowledge, own_texts(diagnosis), tagged=tagged, own=own)
    for absent in diagnosis.harvest.absent:
        made.machine(absent.node)
    return made


def own_texts(diagnosis: Diagnosis) -> frozenset[str]:
    """What the entries of a diagnosis say, in the program's own words."""
    told = ((r.finding.entry.title, r.finding.entry.cause, r.finding.entry.fixes) for r in diagnosis.related)
    return frozenset(s for texts in told for s in _strings(texts))


def of_texts(knowledge: Knowledge, fixed: Iterable[str] = (), *, tagged: bool = False, own: Iterable[str] = ()) -> Redactor:
    """The same for texts that no diagnosis stands behind; `fixed` are the program's own."""
    key = os.environ.get(KEY_VARIABLE, "")
    return Redactor(vocabulary(knowledge), fixed, os.urandom(2).hex() if tagged and not key else "", key, own)


@lru_cache(maxsize=1)
def vocabulary(knowledge: Knowledge) -> frozenset[str]:
    """The words of all titles, and what machines and accounts are often called by."""
    rows = (f"{brief.title.en} {brief.words} {brief.component}" for brief in knowledge.catalog())
    return _COMMON.union(word.lower() for row in rows for word in _WORD.findall(row))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _strings(one)


def any_of(words: Iterable[str]) -> str:
    """A pattern for one of many words, that looks at each letter once."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}

    def pattern(node: dict[str, Any]) -> str:
        parts = [re.escape(letter) + pattern(below) for letter, below in sorted(node.items()) if letter]
        if not parts:
            return ""
        return f"(?:{'|'.join(parts)}){'?' if '' in node else ''}"

    return pattern(tree)


# What chips, software and versions are called, which look like addresses. Other facts are the reader's own commands, names and places.
_PUBLIC_FACTS = frozenset({"chip", *VERSIONS, "activity", "cpu", "deepspeed", "framework", "opset", "python", "transformers"})
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]+")
_PSEUDONYM = re.compile(r"<([a-z]+)-[\w-]{1,20}>")
_NUMBERS = re.compile(r"[\d.:-]+")
# Plain words that accounts and machines are often called by.
_COMMON = frozenset(
    {"app", "apps", "ascend", "base", "build", "ci", "cloud", "code", "conda", "connect", "data", "demo", "deploy", "dev", "docker", "env", "from",
     "gitlab", "guest", "home", "infer", "install", "jenkins", "job", "jobs", "k8s", "kernel", "lab", "llm", "local", "log", "logs", "mindspore", "model",
     "models", "npu", "ops", "python", "ray", "rank", "run", "runner", "script", "service", "share", "shared", "slurm", "store", "system", "test",
     "tests", "tmp", "torch", "train", "trainer", "training", "ubuntu", "vllm", "web", "with", "work", "worker", "workspace"}
)  # fmt: skip
_HOST_KEYS = frozenset({"node", "host", "hostname", "server", "on_server", "host_name", "node_name"})
_USER_KEYS = frozenset({"user", "username", "account"})  # an owner is mostly a module
_NAMED_KEYS = _HOST_KEYS | _USER_KEYS
# Words of the program itself; times look like addresses to a pattern and identify nobody.
_FIXED = frozenset(
    {"id", "slug", "kind", "role", "severity", "verdict", "level", "module", "digest", "version", "time", "first_seen", "last_seen", "explains",
     "explained_by", "rule", "goal", "risk", "name", "undo", "type"}
)  # fmt: skip
