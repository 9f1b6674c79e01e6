"""What identifies people, places and machines in the text of logs, and what only looks as if it did."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple


class Form(NamedTuple):
    """A pattern with one group `name`, and words of which one stands (in lower case) in every text of ASCII that it matches."""

    pattern: re.Pattern[str]
    needs: tuple[str, ...]

    def possible(self, low: str) -> bool:
        """Asking for words is many times cheaper than trying a pattern at each place. Chinese words stand in no ASCII text."""
        for need in self.needs:
            if need in low:
                return True
        return not low.isascii()


# Names that identify nobody.
PUBLIC_USERS = frozenset(
    {"root", "hwhiaiuser", "hwbaseuser", "hwdmuser", "hwmindx", "ma-user", "user", "user_name", "username", "nobody", "none",
     "null", "true", "false", "unknown", "default", "admin", "daemon", "your_name", "x", "u"}
)  # fmt: skip
PUBLIC_HOSTS = frozenset(
    {"localhost", "localhost.localdomain", "host.docker.internal", "kubernetes.default.svc", "none", "null", "true", "false",
     "unknown", "auto", "any", "sha256", "threading.local", "werkzeug.local"}
)  # fmt: skip
PUBLIC_DOMAINS = (
    "github.com", "githubusercontent.com", "github.io", "gitee.com", "gitcode.com", "gitcode.net", "hiascend.com", "huawei.com",
    "huaweicloud.com", "myhuaweicloud.com", "huggingface.co", "hf.co", "hf-mirror.com", "modelscope.cn", "modelscope.ai", "pypi.org",
    "pythonhosted.org", "python.org", "pytorch.org", "readthedocs.io", "readthedocs.org", "openeuler.org", "mindspore.cn", "vllm.ai",
    "docker.com", "docker.io", "quay.io", "kernel.org", "kubernetes.io", "ubuntu.com", "debian.org", "kylinos.cn", "aliyun.com",
    "aliyuncs.com", "tuna.tsinghua.edu.cn", "ustc.edu.cn", "npmjs.org", "gnu.org", "nvidia.com", "google.com", "googleapis.com",
    "wandb.ai", "openmpi.org", "open-mpi.org", "stackoverflow.com", "csdn.net", "zhihu.com", "example.com", "example.org", "ietf.org",
    "w3.org", "json-schema.org", "npu-doctor.dev", "osinfra.cn", "mulanos.cn", "oss-cn.com", "nju.edu.cn", "man7.org", "redhat.com",
)  # fmt: skip
_GENERIC_HOST = re.compile(r"(?i)(?:node|worker|host|server|pod|master|rank|head|slave|agent)[-_]?\d{0,4}")
_PUBLIC_ADDRESS = re.compile(
    r"(?:127\.|0\.0\.0\.0$|255\.|169\.254\.|224\.|192\.0\.2\.|8\.8\.8\.8$|114\.114\.114\.114$)"
)
_PRIVATE_ADDRESS = re.compile(
    r"(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)"
)

_NAME = r"[A-Za-z][\w-]*(?:\.[\w-]+)*"
_LABEL, _LONG = "[a-z0-9-]", 100  # of the name of a machine; they have at most 63 characters
_SEP = r"[\"']?\s*(?:=>|[=:：])\s*[\"'\[(]?"

PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
PEM_LINE = re.compile(r"^(?=[^\n]*[A-Z])(?=[^\n]*[a-z])(?=[^\n]*\d)[A-Za-z0-9+/]{64}$", re.MULTILINE)
TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_(?=[A-Za-z]*[0-9A-Z])[A-Za-z0-9]{10,}|sk-(?=[\w-]*\d)[\w-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|github_pat_\w{20,}|gl(?:pat|ptt|dt|rt)-[\w-]{12,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|dckr_pat_[\w-]{12,}|hvs\.[\w-]{20,}"
    r"|xox[abeoprs]-[\w-]{10,}|A(?:KIA|SIA|ROA|IDA)[0-9A-Z]{12,}|LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{13,}|AIza[\w-]{30,}"
    r"|ya29\.[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?)"
)
TOKEN_BEGINS = (
    "hf_", "sk-", "gh", "gl", "npm_", "pypi-", "dckr_pat_", "hvs.", "xox", "AKIA", "ASIA", "AROA", "AIDA", "LTAI", "AKID", "AIza", "ya29.", "eyJ",
)  # fmt: skip
# A word that says that a secret follows, then the secret: quoted, or up to the next blank.
_KEY = (
    r"[\w.-]{0,60}?(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|credential|cookie|token"
    r"|(?<![\w-])[as]k(?![\w-])|密码|口令|密钥|令牌)[\w-]{0,30}?"
)
_VALUE = r"(?:(?P<quote>\\?[\"'])(?P<quoted>.{1,400}?)(?P=quote)|(?P<bare>[^\s\"'\\][^\s\"']{0,400}))"
SECRET_WORD = re.compile(
    r"(?i)pass|pwd|secret|key|credential|cookie|token|bearer|authorization|\b[as]k\b|密码|口令|密钥|令牌"
)
# The same words but for the two shortest, which stand in many others.
SECRET_WORDS = ("pass", "pwd", "secret", "key", "credential", "cookie", "token", "bearer", "authorization")
SECRETS = (
    re.compile(
        rf"(?i)(?:authorization[\"']?\s*[=:]\s*[\"']?(?:basic|bearer|token|digest)?|\bbearer)\s+(?P<key>){_VALUE}"
    ),
    re.compile(rf"(?i)--(?P<key>{_KEY})[ =]{_VALUE}"),
    re.compile(rf"(?i)(?<![\w.-])(?P<key>{_KEY})\\?[\"']?\s*(?:=>|[=:：])\s*{_VALUE}"),
)
_NO_SECRET = re.compile(
    r"tokens|tokeni[sz]|(?:max|num|pad|eos|bos|cls|sep|unk|mask|stop|next|special|per|new|prompt|out|output|input|image|video|audio|first"
    r"|last|total|draft|sampled|placeholder|n)[_-]?token|token[_-]?(?:id|count|len|num|type|level|limit|budget|index|idx|per|throughput|dim|shape)"
    r"|(?:password|secret|token|key|credential)[_-]?(?:file|path|name|error|type|expir|size)"
)
URL_LOGIN = re.compile(r"(?<=://)[^\s/\"'<>@]+(?:@[^\s/\"'<>@]+)*(?=@)")
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?!\d+\.\d)[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}(?![\w-])")
# With what its parts are joined by, and how often that stands in it.
MACS = (
    (":", 5, re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5,7}[0-9a-fA-F]{2}(?![\w:])")),
    ("-", 5, re.compile(r"(?<![\w-])(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}(?![\w-])")),
    (".", 2, re.compile(r"(?<![\w.])(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?![\w.])")),
)
IPV4 = re.compile(r"(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.]*\d)")
IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F]{0,4}:[0-9a-fA-F:]*:)[0-9a-fA-F:]{3,45}(?![\w:])")
_VERSION_BEFORE = re.compile(r"(?i)(?:version|\bver|\bv|==|>=|<=|~=)[ :=\"'-]*$")
_PRODUCT_BEFORE = re.compile(r"(?i)(?:cann|driver|firmware|toolkit|npu-smi|hdk|release|build|package)[ :=\"'-]*$")

# The group `name` is the user or the host.
USERS = tuple(
    Form(re.compile(p), needs)
    for needs, p in (
        (("/home/", "/users/"), r"/(?:home|Users)/(?P<name>[\w.@+-]+)"),
        (("\\users\\",), r"(?i)\\Users\\(?P<name>[\w.@+-]+)"),
        (("~",), r"(?<![\w/~.])~(?P<name>[a-z_][\w-]{2,31})(?=/)"),
        (("id=",), r"\b[ug]id=\d+\((?P<name>[\w.-]+)\)"),
        (("user", "login", "logname", "owner"), rf"(?i)(?<![A-Za-z])(?:user|username|user_name|user-name|login|logname|owner|sudo_user|用户名?){_SEP}(?P<name>[A-Za-z_][\w.-]{{1,31}})"),
        (("user",), r"(?i)\b(?:for|by|of|as) (?:invalid )?user [\"']?(?P<name>[A-Za-z_][\w.-]{1,31})"),
        (("sudo",), r"(?i)\bsudo -u +(?P<name>[A-Za-z_][\w.-]{1,31})"),
        (("@",), r"(?:^|(?<=[\s\[(\"'=]))(?P<name>[A-Za-z_][\w.-]{0,31})(?=@(?!sha256)(?:[A-Za-z<][\w.>-]*)(?:[:\s\])$#~\"']|$))"),
    )
)  # fmt: skip
HOSTS = tuple(
    Form(re.compile(p, re.MULTILINE), needs)
    for needs, p in (
        (("host", "node", "server", "master_addr", "rdzv_endpoint", "fqdn", "pod", "computername"),
         rf"(?i)(?<![A-Za-z])(?:host|hostname|host_name|nodename|node_name|node|server_?name|master_addr|rdzv_endpoint|peer_?host|fqdn"
         rf"|slurmd_nodename|slurm_(?:job_)?nodelist|slurm_launch_node_ipaddr|pod_?name|computername|主机名?|节点名?){_SEP}(?P<name>{_NAME})"),
        (("--",), rf"(?i)--(?:master[_-]addr|host|hostname|node|nodelist|rdzv[_-]endpoint)[ =](?P<name>{_NAME})"),
        (("://",), rf"(?i)\b[a-z][a-z0-9+.-]{{1,12}}://(?:<[\w-]+>@)?(?P<name>{_NAME})(?=[:/\s\"'\])]|$)"),
        (("@",), rf"(?<=[\w>]@)(?P<name>{_NAME})(?=[:\s\])$#~\"']|$)"),
        (("]:",), rf"\[(?P<name>{_NAME})\]:\d{{2,5}}\b"),
        (("(",), rf"\((?=[\w.]*(?:-|\d))(?P<name>{_NAME}), ?\d{{4,5}}\)"),
        (("host",), rf"(?i)\b(?:to|resolve|from|on) host(?:name)?[: ]+[\"']?(?P<name>{_NAME})"),
        (("connect",), rf"(?i)\bconnect(?:ed|ing)? to (?P<name>{_NAME}):\d{{2,5}}\b"),
        (("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), rf"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d (?P<name>{_NAME}) "),
        (("t",), rf"\b\d{{4}}-\d\d-\d\dT[\d:.+Z-]+ (?P<name>{_NAME}) (?=kernel|systemd|[\w./-]+\[\d+\])"),
        (("linux",), rf"\bLinux (?P<name>{_NAME}) (?=\d+\.\d+\.\d+)"),
        (("ip-",), r"(?i)\b(?P<name>ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w.-]+)?)\b"),
        ((".internal", ".local", ".lan", ".corp", ".intra"), rf"\b(?P<name>[a-z0-9]{_LABEL}{{0,{_LONG}}}(?:\.{_LABEL}{{1,{_LONG}}}){{0,9}}?\.(?:internal|local|lan|corp|intra|localdomain)(?:\.{_LABEL}{{1,{_LONG}}}){{0,9}})\b(?![(\w])"),
        ((".svc",), rf"\b(?P<name>[a-z0-9]{_LABEL}{{0,{_LONG}}}(?:\.{_LABEL}{{1,{_LONG}}}){{1,9}}?\.svc(?:\.{_LABEL}{{1,{_LONG}}}){{0,9}})\b"),
        ((".com", ".cn", ".org", ".edu", ".gov"), r"(?i)(?<![\w./@-])(?P<name>[a-z0-9][a-z0-9-]{0,100}(?:\.[a-z0-9-]{1,100}){0,9}?\.(?:com|cn|org|edu|gov)(?:\.[a-z]{2})?)(?![\w(/-])"),
    )
)  # fmt: skip
SERIALS = tuple(
    Form(re.compile(p), needs)
    for needs, p in (
        (("serial", "sn", "bar", "asset"),
         r"(?i)\b(?:serial(?:[ _-]?(?:number|num|no)\.?)?|sn|bar[ _-]?code|asset[ _-]?tag|序列号)[\"']?\s*[=:：]\s*[\"']?"
         r"(?P<name>(?=[A-Z-]*\d)[A-Z0-9-]{6,40})(?![\w-])"),
        (("die", "system", "product", "board", "machine", "chassis"),
         r"(?i)\b(?:(?:v|n)?die[ _-]?id|(?:system|product|board|machine|chassis)[ _-]?(?:uuid|id))[\"']?\s*[=:：]\s*[\"']?"
         r"(?P<name>[0-9A-F][0-9A-F -]{6,60}[0-9A-F])\b"),
        (("21",), r"\b(?P<name>21\d{5}(?=[0-9A-Z]*[A-Z])[0-9A-Z]{9,13})\b"),
    )
)  # fmt: skip


def may_hold_token(text: str) -> bool:
    for begin in TOKEN_BEGINS:  # noqa: SIM110 - a generator costs more than it saves here
        if begin in text:
            return True
    return False


def may_hold_secret(low: str) -> bool:
    for word in SECRET_WORDS:
        if word in low:
            return True
    return ("ak" in low or "sk" in low or not low.isascii()) and SECRET_WORD.search(low) is not None


def is_address(text: str, start: int, found: str) -> bool:
    """Four numbers with dots are an address unless a word before says that they are a version."""
    if _PUBLIC_ADDRESS.match(found):
        return False
    before = text[max(0, start - 24) : start]
    if _VERSION_BEFORE.search(before):
        return False
    return bool(_PRIVATE_ADDRESS.match(found)) or not _PRODUCT_BEFORE.search(before)


def is_address6(found: str) -> bool:
    """A valid address of a machine: no loopback, and no `c10::` of C++."""
    if not any(c.isdigit() for c in found):
        return False
    try:
        address = ipaddress.IPv6Address(found)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast)


def is_public_host(name: str) -> bool:
    """Names of sites that everybody knows, and names such as node-3, which say nothing."""
    low = name.lower().rstrip(".")
    return (
        low in PUBLIC_HOSTS
        or low.endswith(tuple(f".{d}" for d in PUBLIC_DOMAINS))
        or low in PUBLIC_DOMAINS
        or bool(_GENERIC_HOST.fullmatch(low))
    )


def is_secret(key: str, value: str) -> bool:
    """Does a value behind such a word hide something? `token` also means a piece of text, and PWD a folder."""
    if not value or value[0] in "<$*{%" or value.lower() in ("none", "null", "true", "false", "unset", "required"):
        return False
    low = key.lower()
    if _NO_SECRET.search(low) or (low.endswith("pwd") and value[0] in "/~"):
        return False
    if low in ("token", "ak", "sk") or low.endswith(".token"):
        return len(value) >= 12 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return "token" not in low or not value.isdigit()
