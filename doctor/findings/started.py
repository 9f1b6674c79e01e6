"""The command by which somebody started a program, as the logs or the files beside them show it: read, asked, changed, written again.

What stands in it is text of others: it is cut into words, and each word is quoted again before a command is shown.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from doctor.base import shell
from doctor.findings import python_call
from doctor.findings.on_this_node import BY_VARIABLE, SERVICES, made_here, number
from parsers.lazy import lazy
from parsers.named import NamedTuple

MAX_TEXT = 4000  # characters of a command


class Kind(NamedTuple):
    """A program that starts others: how its commands begin, and which options say how many processes a node gets."""

    begins: tuple[tuple[str, ...], ...]
    processes: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()  # options without a value
    script: bool = False  # what follows the first word that is no option belongs to another program
    aliases: Mapping[str, str] = {}
    single: bool = False  # no option has several values


_VLLM = {"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size", "q": "quantization", "model-tag": "model"}
_SGLANG = {"tp": "tp-size", "tensor-parallel-size": "tp-size", "dp": "dp-size", "data-parallel-size": "dp-size", "model": "model-path", "pp": "pp-size"}
_DOCKER = {"v": "volume", "e": "env", "network": "net", "u": "user", "w": "workdir", "p": "publish"}
_BEGIN_DOCKER = ("docker", "podman", "nerdctl")  # of which prose speaks as well
_PYTHON = ("python", "python3", "python3.8", "python3.9", "python3.10", "python3.11", "python3.12")


def _modules(*names: str) -> tuple[tuple[str, ...], ...]:
    return tuple((python, "-m", name) for python in _PYTHON for name in names)


KINDS: Mapping[str, Kind] = {
    "vllm": Kind((("vllm", "serve"), *_modules("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")), ("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size"), aliases=_VLLM),
    "llm": Kind((("LLM",),), ("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size"), aliases=_VLLM, single=True),
    "sglang": Kind((("sglang", "serve"), *_modules("sglang.launch_server")), ("tp-size", "pp-size"), aliases=_SGLANG),
    "sglang-generate": Kind((("sglang", "generate"),), aliases={"model": "model-path"}),
    "lmdeploy": Kind((("lmdeploy", "serve", "api_server"),), ("tp",), frozenset({"eager-mode", "enable-prefix-caching", "enable-microbatch", "enable-eplb", "allow-terminate-by-client"}), single=True),
    "xllm": Kind((("xllm",),), single=True),
    "xinference": Kind((("xinference", "launch"),), script=True, aliases={"n": "model-name", "en": "model-engine"}),  # each option has a value
    "atc": Kind((("atc",),), single=True),
    "torchrun": Kind((("torchrun",), *_modules("torch.distributed.run", "torch.distributed.launch")), ("nproc-per-node",), frozenset({"standalone", "use-env", "no-python", "m", "module"}), True),
    "msrun": Kind((("msrun",),), ("local-worker-num", "worker-num"), script=True),
    "mpirun": Kind((("mpirun",), ("mpiexec",)), ("n", "np"), frozenset({"allow-run-as-root", "oversubscribe"}), True),
    "accelerate": Kind((("accelerate", "launch"),), ("num-processes",), frozenset({"multi-gpu", "use-deepspeed", "use-fsdp", "cpu", "m", "module", "debug", "quiet"}), True),
    "deepspeed": Kind((("deepspeed",),), ("num-gpus", "num-accelerators"), frozenset({"no-python", "module", "no-local-rank", "no-ssh"}), True),
    "llamafactory": Kind((("llamafactory-cli",),), script=True),
    "swift": Kind((("swift", "sft"), ("swift", "pt"), ("swift", "rlhf"), ("swift", "infer"), ("swift", "deploy")), script=False),
    "docker": Kind((("docker", "run"), ("podman", "run"), ("nerdctl", "run")), (), frozenset({"i", "t", "d", "it", "ti", "itd", "dit", "tid", "idt", "td", "dt", "di", "id", "dti", "tdi", "rm", "privileged", "init", "interactive", "tty", "detach", "P", "publish-all", "read-only", "no-healthcheck"}), True, _DOCKER),
}
_MODEL_FIRST = ("vllm", "lmdeploy")  # the model is the word that is no option
_HERE = "\ue000"  # the folder in which a command was typed, as every shell knows it
_PWD = lazy(r"\$\(pwd\)|\$\{PWD\}|\$PWD\b")
_WITH_HERE = lazy(r"[\w ./:@%+=,\ue000-]*\ue000[\w ./:@%+=,\ue000-]*")
_FLAG = lazy(r"(?:no|enable|disable|trust|enforce|skip|use|multi|allow|headless|async|return|log|calculate|language|is)-[\w-]+$|headless$|async-scheduling$|debug$|verbose$|is-embedding$")
_VALUED = frozenset({"log-level", "log-dir", "log-config-file", "log-format", "allowed-origins", "disable-log-prefix", "skip-tokens", "use-cpu-affinity"})
_SETS = lazy(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ASSIGNS = lazy(r"[A-Z_][A-Z0-9_]*=")
_SECRET = lazy(r"(?i)(?:^|[_-])(?:api[_-]?key|key|token|passw(?:or)?d|secret)$")
_VARIABLE = lazy(r"'[^'\n]*'|\$\{?([A-Za-z_]\w*)(?::-([^}]*))?\}?")
_ARGUMENT = lazy(r"\$[@*#\d]?$")  # of a script: only its own shell can tell
_EXEC_LIST = lazy(r"[\"'],\s*[\"']")
_IS_EXEC_LIST = lazy(r"[\[\s,]*[\"']?[^\s\"']+[\"'],\s*[\"']")  # from its first word on: JSON in a value of an option has such commas as well
_FIELD = lazy(r"(?:^|[(,] {0,2})(\w{2,40})=('[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|[\w./-]{1,80})(?=[,)]|$)")


class _Engine(NamedTuple):
    """How an engine tells its own configuration, and by which options of a command that would be set."""

    kind: str
    first: str  # with what the configuration begins: the model
    begin: tuple[str, ...]
    options: Mapping[str, str]
    across: tuple[str, ...]  # more than one of these, and it may be a part of something larger


_ENGINES = (
    _Engine(
        "vllm",
        "model=",
        ("vllm", "serve"),
        {"served_model_name": "--served-model-name", "tensor_parallel_size": "--tensor-parallel-size", "max_seq_len": "--max-model-len", "quantization": "--quantization", "trust_remote_code": "--trust-remote-code", "enforce_eager": "--enforce-eager"},
        ("pipeline_parallel_size", "data_parallel_size"),
    ),
    _Engine(
        "sglang",
        "model_path=",
        ("python3", "-m", "sglang.launch_server"),
        {"served_model_name": "--served-model-name", "tp_size": "--tp-size", "quantization": "--quantization", "context_length": "--context-length", "device": "--device", "attention_backend": "--attention-backend", "mem_fraction_static": "--mem-fraction-static", "trust_remote_code": "--trust-remote-code", "disable_cuda_graph": "--disable-cuda-graph"},
        ("pp_size", "dp_size", "nnodes"),
    ),
)
_TO_FILL_IN = lazy(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$|<.*>$|\[.*\]$|\.\.\.$|…$")


class Option(NamedTuple):
    """One option of a command: its name without what differs between spellings, and where it stands among the words."""

    name: str
    at: int
    end: int
    values: tuple[str, ...]
    glued: bool = False  # `--name=value`

    @property
    def value(self) -> str:
        return self.values[0] if self.values else ""


class Started(NamedTuple):
    """A command in words, with the variables that stand before it; `typed` when a person wrote it, else put together from arguments."""

    kind: str
    env: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    head: int  # words that name the program
    path: str = ""
    typed: bool = True
    partial: bool = False  # the rest of its options is not told

    @property
    def options(self) -> tuple[Option, ...]:
        return tuple(_options(self))

    def option(self, name: str) -> str | None:
        """The value of an option, by its full name; "" of one without a value, None of one that is not given."""
        return next((o.value for o in self.options if o.name == name), None)

    @property
    def target(self) -> int | None:
        """The word that is no option: the model, the script, the image."""
        return next(iter(_loose(self)), None)

    @property
    def model(self) -> str | None:
        """What it loads, where the command says so."""
        for name in ("model", "model-path", "model-name-or-path", "model-id"):
            if value := self.option(name):
                return value
        return self.words[self.target] if self.kind in _MODEL_FIRST and self.target is not None else None

    @property
    def settings(self) -> str | None:
        """The file of settings that a service of vLLM is started with, which may name the model as well."""
        named = next((o.values for o in self.options if o.name == "config"), ()) if self.kind == "vllm" else ()
        return named[0] if len(named) == 1 and named[0].endswith((".yaml", ".yml")) else None

    @property
    def processes(self) -> int | None:
        """How many processes it makes on this node."""
        if self.partial or self.settings is not None:  # a file says the rest
            return None
        given: dict[str, str] = {}
        for option in self.options:
            given.setdefault(option.name, option.value)
        return made_here(self.kind, KINDS[self.kind].processes, given, dict(self.env), self.model is not None)

    def shell(self) -> str:
        """As a line for a shell: whatever the words are, they stay words. A call in Python stays one."""
        if self.kind == "llm":
            return python_call.written(tuple((o.name, o.values) for o in self.options))
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in self.env), *map(_quoted, self.words)])

    def with_env(self, name: str, value: str) -> Started:
        return self._replace(env=(*((n, v) for n, v in self.env if n != name), (name, value)))

    def with_option(self, name: str, values: Sequence[str], glued: bool = False) -> Started:
        """The same command with an option set: where it stands, else where options end; `glued`: such a new one is written with an equals sign."""
        words = list(self.words)
        for option in self.options:
            if option.name == name:
                written = words[option.at].partition("=")[0]
                words[option.at : option.end] = [f"{written}={values[0]}"] if option.glued and len(values) == 1 else [written, *values]
                return self._replace(words=tuple(words))
        dashes = "-" if len(name) == 1 else "--"
        styled = name.replace("-", "_") if any("_" in o.partition("=")[0] for o in words if o.startswith("--")) and self.kind != "docker" else name
        return self.added(f"{dashes}{styled}={values[0]}", ()) if glued and len(values) == 1 else self.added(dashes + styled, values)

    def added(self, written: str, values: Sequence[str]) -> Started:
        """The same command with one more option, where options end."""
        at = self.target if KINDS[self.kind].script and self.target is not None else len(self.words)
        return self._replace(words=(*self.words[:at], written, *values, *self.words[at:]))

    def without(self, name: str) -> Started:
        words = list(self.words)
        for option in reversed(self.options):
            if option.name == name:
                del words[option.at : option.end]
        return self._replace(words=tuple(words))

    def with_processes(self, count: int) -> Started | None:
        """The same with another number of processes, said as this program wants it; None where it has no word for that."""
        if variable := BY_VARIABLE.get(self.kind):
            return self.with_env(variable, str(count))
        names = KINDS[self.kind].processes
        if not names or self.option("include") is not None:  # those are named one by one
            return None
        given = [name for name in names if self.option(name) is not None]
        if self.kind in SERVICES:
            plain = all(self.option(name) in (None, "1") for name in names[1:])
            return self.with_option(names[0], (str(count),)) if plain else None
        changed, before = self, self.processes
        for name in given or names[:1]:
            all_nodes = (number(self.option(name) or "") or 0) // before if before else 1
            changed = changed.with_option(name, (str(count * max(all_nodes, 1)),))
        return changed


def read(text: str, path: str = "") -> Started | None:
    """The command that a text is; None for what is none, is cut off, or holds what only its own shell can tell."""
    text = _PWD.sub(_HERE, text.strip().replace(_HERE, ""))
    if len(text) > MAX_TEXT or "$(" in text or "`" in text:
        return None
    if text.startswith("{"):
        return _of_arguments(text, path)
    if text.endswith("]") and text.count("[") < text.count("]"):  # of a list in which somebody tells it
        text = text[:-1]
    if text.startswith(python_call.BEGIN):
        words = python_call.words(text)
        return None if words is None else _without_secrets(Started("llm", (), words, 1, path))
    if engine := next((engine for engine in _ENGINES if text.startswith(engine.first)), None):
        return _of_engine(engine, text, path)
    return _command(text, path)


def _command(text: str, path: str) -> Started | None:
    words = _words(text)
    env: list[tuple[str, str]] = []
    while words and _ASSIGNS.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        env.append((name, _masked(name, value)))
    words = [word for word in words if word not in ("Args:", "args:", "-") and (word != "--" or words[0] not in _BEGIN_DOCKER)]
    for kind, known in KINDS.items():
        for begin in known.begins:
            if tuple(w.rsplit("/", 1)[-1] if n == 0 else w for n, w in enumerate(words[: len(begin)])) == begin:
                made = Started(kind, tuple(env), tuple(words), len(begin), path)
                if len(loose := _loose(made)) > 1 and kind in _MODEL_FIRST:  # a sentence: after a model that is a path, or all of it
                    made = made._replace(words=made.words[: loose[1] if "$" in text or "/" in made.words[loose[0]] else made.head])
                return _without_secrets(made) if "$" in text or _is_one(made) else None
    return None


def blank(word: str) -> bool:
    """Is it a word that its reader fills in, `MODEL_PATH`, as which a variable of the shell is read?"""
    return _TO_FILL_IN.match(word) is not None


def _loose(made: Started) -> list[int]:
    """The words that are neither the program nor part of an option."""
    taken = {n for o in made.options for n in range(o.at, o.end)}
    return [n for n in range(made.head, len(made.words)) if n not in taken]


def _is_one(made: Started) -> bool:
    """Is it a command that somebody gave, and no line of a manual?"""
    if made.kind in ("docker", "torchrun", "msrun", "mpirun", "accelerate", "deepspeed"):
        return made.target is not None and not _TO_FILL_IN.match(made.words[made.target])
    if made.kind in (*SERVICES, "atc"):
        return made.settings is not None if made.model is None else not _TO_FILL_IN.match(made.model)
    return len(made.words) > made.head


def _words(text: str) -> list[str]:
    """The words of the first simple command of a text; nothing of a text with an open quote, but for that of a string in which all of it stands."""
    if _IS_EXEC_LIST.match(text):
        text = _EXEC_LIST.sub('" "', text.strip("[] ,"))
        text = text if text.startswith(('"', "'")) else f'"{text}'
        text = text if text.endswith(('"', "'")) else f'{text}"'
    lexer = shlex.shlex(_VARIABLE.sub(lambda m: m[2] or m[1].upper() if m[1] else m[0], text), posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words: list[str] = []
    try:
        for word in lexer:
            if word and not word.strip(";|&<>"):
                if word.startswith(("<", ">", "&>")) and words and words[-1] in ("1", "2"):
                    words.pop()
                break
            words.append(word)
    except ValueError:
        return [] if text.startswith(_BEGIN_DOCKER) or (bare := text.rstrip().rstrip("\"'")) == text else _words(bare)
    return [word for word in words if not _ARGUMENT.match(word)]


def _of_arguments(text: str, path: str) -> Started | None:
    """What vLLM prints of the arguments that differ from their defaults, as the command that has them."""
    import ast

    try:
        told = ast.literal_eval(text)  # plain values only: nothing is run
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(told, dict) or not all(isinstance(name, str) for name in told):
        return None
    model = told.pop("model_tag", None) or told.get("model")
    told.pop("model", None)
    if not isinstance(model, str):
        return None
    words = ["vllm", "serve", model]
    for name, value in told.items():
        written = "--" + name.replace("_", "-")
        if value is True:
            words.append(written)
        elif value is False:
            words.append("--no-" + name.replace("_", "-"))
        elif isinstance(value, dict):
            words += [written, json.dumps(value, ensure_ascii=False)]
        elif isinstance(value, (list, tuple)):
            words += [written, *map(str, value)]
        elif value is not None:
            words += [written, str(value)]
    return _without_secrets(Started("vllm", (), tuple(words), 2, path, False))


def _of_engine(engine: _Engine, text: str, path: str) -> Started | None:
    """What an engine prints of itself, as a command that would make such a one; its other options are not told."""
    told = dict(reversed(_FIELD.findall(text)))  # the first holds: the draft model of the engine has fields of the same names
    model = told.pop(engine.first.rstrip("="), "").strip("'\"")
    if not model or any(told.get(name, "1") != "1" for name in engine.across):
        return None
    words = [*engine.begin, *((model,) if engine.begin[-1] == "serve" else ("--model-path", model))]
    for name, option in engine.options.items():
        value = told.get(name, "None").strip("'\"")
        if value == "True":
            words.append(option)
        elif value not in ("False", "None", "", "1", "auto", model):
            words += [option, value]
    return Started(engine.kind, (), tuple(words), len(engine.begin), path, False, True)


def _options(started: Started) -> Iterator[Option]:
    known, words = KINDS[started.kind], started.words
    at = started.head
    while at < len(words):
        word = words[at]
        if not word.startswith("-") or word == "-" or number(word) is not None:
            if known.script:
                return
            at += 1
            continue
        written, glued, value = word.partition("=")
        name = written.lstrip("-") if len(written) == 2 else written.lstrip("-").replace("_", "-")
        name = known.aliases.get(name, name)
        if glued:
            yield Option(name, at, at + 1, (value,), True)
            at += 1
            continue
        end = at + 1
        if not _is_flag(name, known):
            most = 1 if known.script or known.single else len(words)
            while end < len(words) and end - at <= most and (not words[end].startswith("-") or number(words[end]) is not None):
                end += 1
        yield Option(name, at, end, tuple(words[at + 1 : end]))
        at = end


def is_flag(name: str, kind: str) -> bool:
    """Has an option of such a program no value, as far as its name tells?"""
    return _is_flag(name, KINDS[kind])


def _is_flag(name: str, known: Kind) -> bool:
    return name in known.flags or (not known.script and name not in _VALUED and _FLAG.match(name) is not None)


def _without_secrets(made: Started) -> Started:
    words = list(made.words)
    for option in made.options:
        if option.values and _SECRET.search(option.name):
            written = words[option.at].partition("=")[0]
            words[option.at : option.end] = [f"{written}={_word(option.name)}"] if option.glued else [written, *([_word(option.name)] * len(option.values))]
        elif made.kind == "docker" and option.name == "env" and (sets := _SETS.fullmatch(option.value)):
            words[option.end - 1] = words[option.end - 1].replace(option.value, f"{sets[1]}={_masked(sets[1], sets[2])}")
    return made._replace(words=tuple(words))


def _masked(name: str, value: str) -> str:
    return _word(name) if _SECRET.search(name) else value


def _word(name: str) -> str:
    return name.replace("-", "_").upper()


def _quoted(word: str) -> str:
    """Quoted where a shell would take it for more than a word."""
    if _WITH_HERE.fullmatch(word):
        return f'"{word.replace(_HERE, "$PWD")}"'
    word = word.replace(_HERE, "PWD")
    return word if _TO_FILL_IN.fullmatch(word) and word.isascii() and word[:1].isalpha() else shell.word(word)
