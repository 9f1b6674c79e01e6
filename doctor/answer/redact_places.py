"""Machines and where they are: addresses of every kind, names of hosts, pods and servers, serial numbers."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from doctor.answer import redact_public as public
from doctor.answer.redact_form import Form, Span, compiled

# Addresses

_PUBLIC_ADDRESS = re.compile(r"(?:127\.|0\.0\.0\.0$|255\.|169\.254\.|224\.|192\.0\.2\.|8\.8\.8\.8$|114\.114\.114\.114$)")
_PRIVATE_ADDRESS = re.compile(r"(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)")
_VERSION_BEFORE = compiled(r"(?i)(?:(?:version|\bver|\bv|==|>=|<=|~=)[ :=\"'-]*|\d\.\d+(?:\.\d+)?-)$")
_BUILD_BEFORE = compiled(r"(?i)(?:gcc|g\+\+|clang|glibc|libc|binutils|cmake|python|openssl|openmpi|mpich|ucx|linux|kernel|uname|protobuf|boost|mindspore|torch|torch_npu|vllm)[ :=\"'()/-]*$")
_PRODUCT_BEFORE = compiled(r"(?i)(?:cann|driver|firmware|toolkit|npu-smi|hdk|release|build|package)[ :=\"'-]*$")
_RELEASE_AFTER = compiled(r"\.(?:oe|el|ky|an|fc|uel|ul|ns|tl|p|h|eulerosv|aarch64|x86_64|noarch|dev|rc|post|so|run|rpm|deb|whl|tar|zip)\w*")


def _address(match: re.Match[str]) -> Span | None:
    """Four numbers with dots are an address unless what stands around them says that they are a version."""
    found = match["name"]
    if max(map(int, found.split("."))) > 255 or _PUBLIC_ADDRESS.match(found) or _RELEASE_AFTER.match(match.string, match.end()):
        return None
    before = match.string[max(0, match.start() - 24) : match.start()]
    if _VERSION_BEFORE.search(before) or _BUILD_BEFORE.search(before):
        return None
    return match.span("name") if _PRIVATE_ADDRESS.match(found) or not _PRODUCT_BEFORE.search(before) else None


_MACHINE_BEFORE = re.compile(r"(?i)(?<![a-z])(?:ip|host|node|worker|server|pod|rank|npu|peer|addr|endpoint|ep|srv|vm|gpu)[-_]$")


def _joined_address(match: re.Match[str]) -> Span | None:
    """An address written with dashes or underscores: a private one that stands alone, or a word says that it is a machine."""
    dotted = re.sub("[-_]", ".", match["name"])
    before = match.string[max(0, match.start() - 12) : match.start()]
    alone = not before or not (before[-1].isalnum() or before[-1] in "-_")
    known = _MACHINE_BEFORE.search(before) or (alone and _PRIVATE_ADDRESS.match(f"{dotted}."))
    small = max(map(int, dotted.split("."))) < 256
    return match.span("name") if known and small and not _PUBLIC_ADDRESS.match(dotted) else None


def _address6(match: re.Match[str]) -> Span | None:
    """A valid address of a machine: no loopback, and no `c10::` of C++."""
    found = match["name"]
    if not any(c.isdigit() for c in found):
        return None
    try:
        address = ipaddress.IPv6Address(found)
    except ValueError:
        return None
    return None if address.is_loopback or address.is_unspecified or address.is_multicast else match.span("name")


# Names of machines

_NAME = r"[A-Za-z][\w-]*(?:\.[\w-]+)*"
_LABEL, _LONG = "[a-z0-9-]", 100  # of the name of a machine; they have at most 63 characters
_SEP = r"\\?[\"']?\s*(?:=>|[=:：])\s*\\?[\"'\[(]?"
_FILE = compiled(
    r"(?i)\.(?:py|pyc|so|cc|cpp|cxx|c|h|hpp|hh|o|a|log|txt|json|jsonl|ya?ml|sh|cfg|conf|ini|toml|md|html?|csv|tsv|gz|tgz|zip|tar|bz2|xz|zst|whl|run|rpm|deb"
    r"|bin|pt|pth|ckpt|onnx|om|air|pb|safetensors|npy|npz|mindir|proto|cu|js|ts|go|rs|java|lock|pid|sock|socket|service|target|slice|scope|mount|timer|ko|tmp|bak|old|orig|png|jpg|svg|pdf|parquet|arrow|xml|sql|db)\d*$"
)


def _no_file(match: re.Match[str]) -> Span | None:
    return None if _FILE.search(match["name"]) else match.span("name")


def _said(match: re.Match[str]) -> Span | None:
    """What a word says is a machine, but for a node of a graph and for files."""
    return None if _FILE.search(match["name"]) or public.is_operator(match["name"]) else match.span("name")


# Words of which names of machines are made when nothing else says that they are one.
_HARD = frozenset(
    ["node", "nodes", "host", "server", "servers", "srv", "svr", "rack", "blade", "cabinet", "pod", "compute", "login", "box", "worker", "master", "bastion", "jumper", "jump", "nas", "vm", "ecs", "bms", "mgmt", "gateway", "gw", "storage", "ceph", "workstation", "controller", "ctrl", "head", "devbox", "notebook", "launcher", "ps", "chief", "cluster", "machine", "cn"]
)
_SOFT = frozenset(
    ["ascend", "atlas", "npu", "gpu", "train", "trainer", "training", "infer", "inference", "serving", "prefill", "decode", "k8s", "kube", "kunpeng", "taishan", "hpc", "ai", "llm", "cloud", "idc", "dc", "az", "data", "lab", "edge", "proxy", "lb", "db", "mysql", "redis", "minio", "etcd", "registry", "harbor", "nginx", "jupyter", "dev", "test", "ops", "build", "ci", "runner", "a2", "a3", "910b", "910c", "910", "310p"]
)
_ENVIRONMENTS = frozenset("prod prd production uat stg staging preprod pre sit qa gray".split())  # noqa: SIM905
_CITIES = frozenset(
    ["bj", "sh", "gz", "sz", "hz", "wh", "nj", "xa", "cq", "tj", "sjz", "fz", "xm", "qd", "cd", "dg", "nn", "km", "gy", "gya", "wlcb", "hk", "sg", "beijing", "shanghai", "guangzhou", "shenzhen", "hangzhou", "wuhan", "nanjing", "xian", "chengdu", "chongqing", "tianjin", "suzhou", "qingdao", "jinan", "changsha", "dongguan", "guian", "guiyang", "wulanchabu", "zhengzhou", "hefei", "xiamen", "shenyang", "dalian", "harbin"]
)
# Without one of these, joined to something, nobody says that it is a machine.
_PARTS = tuple(f"{before}{word}{after}" for word in sorted(_HARD | _ENVIRONMENTS | _CITIES) for before, after in (("", "-"), ("-", ""), *(("", f"{n}-") for n in range(10))))
_WORD_AND_NUMBER = re.compile(r"([a-z]+?)(\d{0,4})")


@lru_cache(maxsize=4096)
def _named_so(name: str) -> bool:
    """Words with dashes and a number at the end, as people name machines: bj-ascend-prod-07, train-node-17, rack12-blade3."""
    labels = name.lower().split("-")
    if public.is_host(name) or not (name.islower() or name.isupper() or name.istitle()):
        return False
    kinds = {w[1] for label in labels if (w := _WORD_AND_NUMBER.fullmatch(label))} | set(labels)
    hard, soft, environment = bool(kinds & _HARD), bool(kinds & _SOFT), bool(kinds & _ENVIRONMENTS)
    city, long = bool(set(labels[:2]) & _CITIES), len(labels) > 2
    return hard or (city and (long or soft)) or (environment and (long or soft))


_NO_VOWELS = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]+")


def _pod(match: re.Match[str]) -> Span | None:
    """Kubernetes gives its pods letters of an alphabet without vowels, and digits."""
    both = match["hash"] + match["hash2"]
    digits = sum(c.isdigit() for c in both)
    drawn = _NO_VOWELS.fullmatch(both) or (match["hash2"] and len(both) - digits > 4 and any(c.isdigit() for c in match["hash2"]))
    return match.span("name") if drawn and digits > (1 if match["hash2"] else 0) else None


_POD_STATES = ("pod", " running", " pending", "crashloop", "errimage", "imagepull", "terminating", "evicted", " completed", "containercreating", "daemonset")


def _small_pod(match: re.Match[str]) -> Span | None:
    """One of a set of daemons has a single group of such letters: there must be talk of pods."""
    low = match.string.lower()
    return _pod(match) if any(state in low for state in _POD_STATES) else None


def _namespaced(match: re.Match[str]) -> Span | None:
    return None if match["name"].lower() in public.NAMESPACES else match.span("name")


def _share(match: re.Match[str]) -> Span | None:
    """`nas01:/share`, but no `libx.so:/usr` and no `PATH:/usr`."""
    name = match["name"]
    if _FILE.search(name) or name.startswith("/"):
        return None
    return match.span("name") if match["mount"] or "-" in name or any(c.isdigit() for c in name) or name.count(".") > 1 else None


_SURE = "com|cn|org|edu|gov|ai|cloud|tech|top|xyz|site|online|hk|tw|jp|kr|sg|uk|fr|ru|eu|ltd|vip|wang|shop|space|group|ren|中国|公司"
_DOUBTFUL = "net|io|dev|info|co|me|us|de|app|link|live|run|pro|tv|biz|host|zone|network|systems|center|team|work|intra|home|arpa|hpc|grid|cluster|idc|sys|int|mil|ca|au|nl|ch|se|br|th|vn|ph"


def _doubtful(match: re.Match[str]) -> Span | None:
    """`logger.info` is no machine, `gpu01.lab.info` and `x.y-z.net:8080` are."""
    name = match["name"]
    first = name.lower().partition(".")[0]
    signs = any(c.isdigit() for c in first) or "-" in name
    return match.span("name") if (signs and name.count(".") > 1) or (match["port"] and (signs or name.count(".") > 1)) else None


_ROLES = ("gpu", "npu", "node", "host", "srv", "server", "train", "nas", "compute", "login", "worker", "master", "db", "web", "vm", "blade", "cn", "mn", "ln", "gw")


def _hash_id(match: re.Match[str]) -> Span | None:
    return match.span("name") if any(c.isdigit() for c in match["name"]) else None


_OWNER_BEFORE = compiled(
    r"(?i)(?<![a-z])(?:machine|system|product|board|chassis|host|node|server|instance|tenant|project|domain|account|user|subscription|client|customer"
    r"|organi[sz]ation|org|cluster|device|resource|pod|job|task|session|workspace|notebook|owner|agent|vm|disk|partition|boot)"
    r"[ _-]?(?:uu?id|guid|id)?\\?[\"']?(?: +is)?[\s=:：/\[(]{1,5}\\?[\"']?$"
)


def _owned(match: re.Match[str]) -> Span | None:
    """A UUID of a machine, a project, a user; those of requests identify nobody."""
    return match.span("name") if _OWNER_BEFORE.search(match.string[max(0, match.start() - 40) : match.start()]) else None


def _re(pattern: str) -> re.Pattern[str]:
    return compiled(pattern, re.MULTILINE)


_CUES = (
    "(?:host(?:_?name)?|node(?:_?name|_?ip|_?id)?|server_?(?:name)?|slurm(?:d_nodename|_(?:job_)?nodelist|_launch_node_ipaddr)"
    "|master_addr|rdzv_endpoint|fqdn|pod_?name|computername|bastion|主机名?|节点名?|机器名?|服务器名?)"
)
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_NUMBERED = ("project", "tenant", "domain", "account", "subscription", "machine", "user", "instance", "app", "customer")

ADDRESSES = (
    Form("mac", compiled(r"(?<![\w:])(?P<name>(?:[0-9a-fA-F]{2}:){5,7}[0-9a-fA-F]{2})(?![\w:])"), (":",), times=5),
    Form("mac", compiled(r"(?<![\w-])(?P<name>(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2})(?![\w-])"), ("-",), times=5),
    Form("mac", compiled(r"(?<![\w])(?P<name>(?:[0-9a-fA-F]{2}_){5}[0-9a-fA-F]{2})(?![\w])"), ("_",), times=5),
    Form("mac", compiled(r"(?P<name>[0-9a-f](?<![\w.].)[0-9a-f]{3}\.[0-9a-f]{4}\.[0-9a-f]{4})(?![\w.])"), (".",), times=2),
    Form("mac", compiled(r"(?i)(?<![a-z])(?:mac|mac[ _-]?addr(?:ess)?|hwaddr|ether|lladdr|hardware address|(?:node|port|sys(?:tem)?)[_ ]guid|guid|gid)(?: +is)?\\?[\"']?[ \[=:：]+\\?[\"']?(?:0x)?(?P<name>[0-9a-f]{12}(?:[0-9a-f]{4})?)(?![0-9a-z])"), ("mac", "hwaddr", "ether", "lladdr", "hardware", "guid", "gid")),
    Form("mac", compiled(r"(?i)guid\\?[\"']?\s{0,8}[:=]?\s{0,24}\\?[\"']?(?P<name>[0-9a-f]{4}(?::[0-9a-f]{4}){3})(?![\w:])"), ("guid",)),
    Form("ip", compiled(r"(?P<name>[0-9](?<![\d.].)[0-9]{0,2}(?:\.[0-9]{1,3}){3})(?![\d.]*\d)"), (".",), _address, times=3),
    Form("ip", compiled(r"(?<![\w:.])(?P<name>(?=[0-9a-fA-F]{0,4}:[0-9a-fA-F:]*:)[0-9a-fA-F:]{3,45})(?![\w:])"), (":",), _address6, times=2),
    *(Form("ip", compiled(rf"(?P<name>[0-9](?<![0-9.].)[0-9]{{0,2}}(?:{j}[0-9]{{1,3}}){{3}})(?![0-9]|{j}\d)"), (j,), _joined_address, times=3) for j in "-_"),
    Form("ip", compiled(r"(?i)ip(?:v4|_?addr(?:ess)?)?\\?[\"']?\s*[\[=:：(]\s*\\?[\"']?(?P<name>0x[0-9a-f]{8}|(?=[0-9]*[a-f])[0-9a-f]{8}|[1-4]?\d{9})(?![0-9a-z.])"), ("ip",)),
    Form("ip", compiled(r"(?P<name>[0-9A-F](?<![\w:].)[0-9A-F]{7})(?=:[0-9A-F]{4} (?:[0-9A-F]{8}:|[0-9A-F]{2} ))"), ("00000000",), lambda m: None if m["name"] in ("00000000", "0100007F") else m.span("name")),
)  # fmt: skip

SERIALS = (
    Form("serial", compiled(r"(?i)\b(?:serial(?:[ _-]?(?:number|num|no)\.?)?|sn|bar[ _-]?code|asset[ _-]?tag|service[ _-]?tag|序列号|资产编号|条码)\\?[\"']?\s*[=:：为是]\s*\\?[\"']?(?P<name>(?=[A-Z-]*\d)[A-Z0-9-]{6,40})(?![\w-])"), ("serial", "sn", "bar", "asset", "tag", "序列号", "资产", "条码")),
    Form("serial", compiled(r"(?i)(?:序列号|资产编号|条码)\\?[\"']?\s*[=:：为是]\s*\\?[\"']?(?P<name>(?=[A-Z-]*\d)[A-Z0-9-]{6,40})(?![\w-])"), ("序列号", "资产", "条码")),
    Form("serial", compiled(r"(?i)\b(?:(?:v|n)?die[ _-]?id|(?:system|product|board|machine|chassis)[ _-]?(?:uuid|id))\\?[\"']?\s*[=:：]\s*\\?[\"']?(?P<name>[0-9A-F][0-9A-F -]{6,60}[0-9A-F])\b"), ("die", "system", "product", "board", "machine", "chassis")),
    Form("serial", compiled(r"\b(?P<name>21\d{5}(?=[0-9A-Z]*[A-Z])[0-9A-Z]{9,13})\b"), ("21",)),
    Form("id", compiled(r"(?P<name>[0-9a-fA-F](?<![\w-].)[0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})(?![\w-])"), ("-",), _owned, times=4),
    Form("id", compiled(rf"(?i)(?:\b(?:uuid|guid|machine-id|product_uuid)|租户|项目|账号|实例)\w{{0,10}}(?:ID)?\\?[\"']?[\s=:：]{{1,5}}\\?[\"']?(?P<name>{_UUID}|[0-9a-f]{{32}})(?![\w-])"), ("uuid", "guid", "machine-id", "租户", "项目", "账号", "实例")),
    Form("id", compiled(rf"(?i)(?<![a-z])(?:{'|'.join(_NUMBERED)})[ _-]?id\\?[\"']?\s*[=:：/]\s*\\?[\"']?(?P<name>(?=[a-f]*\d)[0-9a-f]{{24,40}}|\d{{10,20}}|ocid1\.[\w.-]{{10,100}})(?![\w-])"), tuple(f"{n}{j}id" for n in _NUMBERED for j in ("", "_", "-", " ")), _hash_id),
    Form("id", compiled(rf"(?P<name>(?<=/pod)[0-9a-f]{{8}}[-_](?:[0-9a-f]{{4}}[-_]){{3}}[0-9a-f]{{12}}|(?<=-pod)[0-9a-f]{{8}}[-_](?:[0-9a-f]{{4}}[-_]){{3}}[0-9a-f]{{12}}|(?<=/pods/){_UUID})"), ("/pod", "-pod")),
    Form("id", compiled(r"\barn:aws[\w-]*:[\w-]*:[\w-]*:(?P<name>\d{12})(?=:)"), ("arn:aws",)),
    Form("id", compiled(r"(?<![\w-])(?P<name>(?:i|vol|eni|subnet|vpc|ami|sg|snap)-[0-9a-f]{8,17})(?![\w-])"), ("i-", "l-", "t-", "c-", "g-", "p-")),
)  # fmt: skip

HOSTS = (
    Form("host", _re(rf"(?i)(?<![A-Za-z]){_CUES}{_SEP}(?P<name>{_NAME})"), ("host", "node", "server", "master_addr", "rdzv_endpoint", "fqdn", "pod", "computername", "bastion", "主机", "节点", "机器", "服务器"), _said),
    Form("host", _re(r"(?:主机|节点|服务器|机器)名?(?:是|为|：)? ?(?P<name>(?=[A-Za-z-]*\d)[A-Za-z][\w-]{2,62})"), ("主机", "节点", "机器", "服务器"), _said),
    Form("host", _re(rf"(?i)--(?:master[_-]addr|host|hostname|node|nodelist|rdzv[_-]endpoint|server|node-name)[ =](?P<name>{_NAME})"), ("--",), _no_file),
    Form("host", _re(rf"(?i)\b[a-z][a-z0-9+.-]{{1,12}}://(?:<[\w-]+>@)?(?P<name>{_NAME})(?=[:/\s\"'\])?]|$)"), ("://",)),
    Form("host", _re(rf"(?<=[\w>]@)(?P<name>{_NAME})(?=[:\s\])$#~\"']|$)"), ("@",)),
    Form("host", _re(rf"\[(?P<name>{_NAME})\]:\d{{2,5}}\b"), ("]:",), _no_file),
    Form("host", _re(rf"\((?=[\w.]*(?:-|\d))(?P<name>{_NAME}), ?\d{{4,5}}\)"), ("(",), _no_file),
    Form("host", _re(rf"(?i)\b(?:to|resolve|from|on|reach|of|by|at|ping|ssh|unknown|missing) (?:the )?(?:host|node|server|machine)(?:name)?[: ]+[\"'`]?(?P<name>(?=[\w.]*(?:-|\d))(?!(?:is|and|or|was)\b){_NAME})"), (" host", " node", " server", " machine"), _said),
    Form("host", _re(rf"(?i)\b(?:host|node|server|machine) [\"'`‘](?P<name>(?=[\w.]*(?:-|\d)){_NAME})[\"'`’]"), ("host ", "node ", "server ", "machine "), _said),
    Form("host", _re(rf"(?i)\b(?:to|resolve|from|on) host(?:name)?[: ]+[\"']?(?P<name>{_NAME})"), ("host",), _no_file),
    Form("host", _re(rf"(?i)\bconnect(?:ed|ing|ion)? (?:to|from) (?P<name>{_NAME}):\d{{2,5}}\b"), ("connect",), _no_file),
    Form("host", _re(r"(?i)\b(?:ping|nslookup|telnet|traceroute|getent hosts|dig) (?:-\w+ (?:\d+ )?){0,4}(?P<name>[a-z][\w.-]{2,80})"), ("ping ", "nslookup", "telnet", "traceroute", "getent", "dig ")),
    Form("host", _re(r"(?i)\b(?:ssh|scp|rsync|sftp)(?: -\w+(?: \d+| ~?/\S+)?){0,4} (?P<name>(?=[a-z.-]*(?:\d|-|\.))[a-z][\w.-]{2,80})(?=[\s:]|$)"), ("ssh ", "scp ", "rsync ", "sftp "), _no_file),
    Form("host", _re(rf"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d (?P<name>{_NAME}) "), ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    Form("host", _re(rf"\b\d{{4}}-\d\d-\d\dT[\d:.+Z-]+ (?P<name>{_NAME}) (?=kernel|systemd|[\w./-]+\[\d+\])"), tuple(f"t{n:02}:" for n in range(24))),
    Form("host", _re(rf"\bLinux (?P<name>{_NAME}) (?=\d+\.\d+\.\d+)"), ("linux",)),
    Form("host", _re(r"(?i)\b(?P<name>ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w.-]+)?)\b"), ("ip-",)),
    Form("host", _re(rf"\b(?P<name>[a-z0-9]{_LABEL}{{0,{_LONG}}}(?:\.{_LABEL}{{1,{_LONG}}}){{0,9}}?\.(?:internal|local|lan|corp|intra|localdomain)(?:\.{_LABEL}{{1,{_LONG}}}){{0,9}})\b(?![(\w])"), (".internal", ".local", ".lan", ".corp", ".intra")),
    Form("host", _re(rf"\b(?P<name>[a-z0-9]{_LABEL}{{0,{_LONG}}}(?:\.{_LABEL}{{1,{_LONG}}}){{1,9}}?\.svc(?:\.{_LABEL}{{1,{_LONG}}}){{0,9}})\b"), (".svc",)),
    Form("host", _re(rf"(?i)(?<![\w./@-])(?P<name>[a-z0-9][a-z0-9-]{{0,100}}(?:\.[a-z0-9-]{{1,100}}){{0,9}}?\.(?:{_SURE})(?:\.[a-z]{{2}})?)(?![\w(/-])"), tuple(f".{d}" for d in _SURE.split("|"))),
    Form("host", _re(rf"(?i)(?<![\w./@-])(?P<name>[a-z0-9][a-z0-9-]{{0,62}}(?:\.[a-z0-9-]{{1,62}}){{0,9}}?\.(?:{_DOUBTFUL})(?:\.[a-z]{{2}})?)(?![\w(-]|\.\w)(?P<port>:\d{{2,5}}\b)?"), tuple(f".{d}" for d in _DOUBTFUL.split("|")), _doubtful),
    Form("host", _re(rf"(?i)(?<![\w./@-])(?P<name>(?:{'|'.join(_ROLES)})-?\d{{2,4}}(?:\.[a-z][a-z0-9-]{{1,62}}){{1,6}})(?![\w(-]|\.\w)"), tuple(f"{w}{n}" for w in (*_ROLES, *(f"{w}-" for w in _ROLES)) for n in range(10)), _no_file),
    Form("host", _re(r"(?<![\\\w:])\\{2,4}(?P<name>[A-Za-z][\w.-]{1,62})\\{1,2}(?=[A-Za-z$_])"), ("\\\\",), lambda m: m.span("name") if len(m["name"]) > 2 else None),
    Form("host", _re(r"(?i)(?<![\w./:-])(?P<name>[a-z][\w-]{1,62}(?:\.[\w-]{1,62}){0,8}):/(?=\w)(?P<mount>[^\s]{1,200} (?:on /|/\S+ (?:nfs|ceph|lustre)))?"), (":/",), _share),
    Form("host", _re(r"(?i)\b(?:mount\.nfs|nfs|cifs|rpc\.statd|nfs_server|lustre)[^\n]{0,40}?\bserver[ =:]+(?P<name>[a-z][\w.-]{2,62})"), ("nfs", "cifs", "rpc.statd", "lustre")),
    Form("host", _re(r"(?i)\b(?:mount|cifs|smb\w{0,8})\b[^\n]{0,80}? //(?P<name>[a-z][\w.-]{1,62})(?=/)"), ("cifs", "smb", "mount")),
    Form("host", _re(r"(?<=://)(?P<name>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?=\.(?:obs|oss|cos|s3|tos|bos|ks3)[.-][a-z0-9.-]{0,40}\.(?:com|cn))"), (".obs", ".oss", ".cos", ".s3", ".tos", ".bos", ".ks3")),
    Form("host", _re(r"\bnfs: server (?P<name>[A-Za-z][\w.-]{1,62})"), ("nfs:",)),
    Form("host", _re(r"(?P<name>[a-z0-9](?<![\w./-].)[a-z0-9-]{1,50}-(?P<hash>[a-z0-9]{8,10})-(?P<hash2>[a-z0-9]{5}))(?![\w-])"), ("-",), _pod, times=2),
    Form("host", _re(r"(?<![\w-])(?P<name>[a-z0-9](?:[a-z0-9-]{1,50}-)(?P<hash>[bcdfghjklmnpqrstvwxz2456789]{5})(?P<hash2>))(?![\w-])"), _POD_STATES, _small_pod),
    Form("host", _re(r"(?i)(?<![\w/-])pods?(?:[/=:]|[ \"'`]{1,2}|\[)\"?(?:(?P<space>[a-z0-9][a-z0-9-]{0,60})/)?(?P<name>(?=[a-z-]*\d)[a-z0-9]+(?:-[a-z0-9]+){1,9})"), ("pod",)),
    Form("host", _re(r"(?i)(?<![\w-])(?:name ?space|k8s_ns|pod_?namespace|命名空间)(?:是|为)?[\"']?(?: |\s*[=:：/]\s*)[\"'`]?(?P<name>[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,6})(?![\w:.])"), ("name", "k8s_ns", "命名空间"), _namespaced),
    Form("host", _re(r"\b(?:kubectl|helm|oc|vcctl)\b[^\n|;]{0,200}? (?:-n|--namespace)[ =](?P<name>[a-z][a-z0-9-]{1,62})"), ("kubectl", "helm", "oc ", "vcctl"), _namespaced),
    Form("host", _re(r"(?<![\w./-])(?P<name>iZ[a-z0-9]{10,30}Z?|VM-\d{1,3}-\d{1,3}-[a-z]{3,12}|(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{5,15}|ecs-[0-9a-f]{4,8}(?:-\d{4})?|(?:notebook|modelarts-job|ma-job|job|task)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,40}(?:-[a-z]+-\d{1,4})?)(?![\w-])"), ("iz", "vm-", "desktop-", "laptop-", "win-", "ecs-", "notebook-", "job-", "task-")),
    Form("host", _re(r"(?P<name>[A-Za-z](?<![\w.@:-].)[A-Za-z0-9]{0,30}(?:-[A-Za-z0-9]{1,30}){0,6}-[A-Za-z]{0,15}\d{1,4})(?![\w(-]|\.\w)"), _PARTS, lambda m: m.span("name") if _named_so(m["name"]) else None),
)  # fmt: skip

FORMS = (*ADDRESSES, *SERIALS, *HOSTS)
