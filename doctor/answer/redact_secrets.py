"""Secrets that a word before them tells: passwords, keys, tokens, cookies, flags of commands; and what only looks as if it hid something."""

from __future__ import annotations

import re
from math import log2

from doctor.answer.redact_form import Form, Span, compiled

# A value: in quotes, or up to the next blank. Quotes inside of JSON inside of a log carry a backslash.
_VALUE = r"(?:(?P<quote>\\?[\"'“])(?P<quoted>.{1,400}?)(?:(?P=quote)|”)|(?P<bare>[^\s\"'\\“”，。；][^\s\"'，。；]{0,400}))"
_IS = r"\\?[\"']?\s*(?:=>|:=|[=:：])\s*"
_KEYS = ("api", "access", "private", "account", "auth", "shared", "master", "encrypt", "encryption", "license", "server", "deploy", "app", "secure")
_STRONG = (
    rf"password|passwd|passphrase|passcode|passwort|pswd|pwd|secret|(?:{'|'.join(_KEYS)})[_-]?key"
    r"|client-key-data|client-certificate-data|certificate-authority-data|credential|cookie|token|requirepass|masterauth|x-amz-signature"
    r"|x-obs-signature|webhook|(?<![a-z])pass(?![a-z])|(?-i:(?<=[A-Z])PASS(?![A-Za-z]))|(?<![a-z])psk(?![a-z])|密码|口令|密钥|令牌|秘钥|凭证"
)
# In front of it and behind it there may be more of the name: MY_SERVICE_TOKEN_2.
_KEY = rf"[\w.-]{{0,60}}?(?:{_STRONG})[\w-]{{0,30}}?"
# Access key and secret key, as Chinese clouds call them: alone, at the end of a name, or with capitals in one: hwAk.
_AKSK = r"(?:(?<![a-z0-9])[as]k|(?-i:(?<=[a-z])[AS][kK]))(?![a-z])(?:_?id)?"
_WEAK = r"(?:[\w-]{0,40}?[_-])?(?:key|auth|sign|sig|signature|ticket|session(?:_?id)?|sid|jsessionid|nonce|salt|psk|license|code|jwt|otp|cred|credentials|hook|seed_phrase)"
_STRONG_NEEDS = (
    "pass", "psk", "pswd", "pwd", "secret", "credential", "cookie", "token", "masterauth", "-key-data", "certificate-", "x-amz-", "x-obs-", "webhook",
    *(f"{word}{sign}key" for word in _KEYS for sign in ("", "_", "-")), "密码", "口令", "密钥", "令牌", "秘钥", "凭证",
)  # fmt: skip
_WEAK_NEEDS = ("key", "auth", "sig", "ticket", "sess", "sid", "nonce", "salt", "psk", "license", "code", "jwt", "otp", "cred", "hook", "seed")

_NO_SECRET_KEY = re.compile(
    r"tokens|tokeni[sz]|(?:max|num|pad|eos|bos|cls|sep|unk|mask|stop|next|special|per|new|prompt|out|output|input|image|video|audio|first"
    r"|last|total|draft|sampled|placeholder|n)[_-]?token|token[_-]?(?:id|count|len|num|type|level|limit|budget|index|idx|per|throughput|dim|shape)"
    r"|(?:password|secret|token|key|credential|cookie)[_-]?(?:file|path|name|error|type|expir|size|dir|len|manager|provider)|pass(?:es)?[_-]?(?:name|id|list|type|mgr|manager|count|num|rate)"
)
_NO_SECRET = frozenset(
    {"none", "null", "nil", "true", "false", "yes", "no", "unset", "required", "optional", "empty", "missing", "invalid", "expired", "redacted",
     "hidden", "masked", "prompt", "string", "str", "int", "bytes", "undefined", "default", "error", "failed", "not", "and", "or", "is", "for"}
)  # fmt: skip
# What follows `password is` when it tells about one, and tells none.
_STATES = (
    r"(?!(?:wrong|incorrect|invalid|required|expir\w*|empty|missing|not|too|set|unset|ok|correct|weak|needed|being|used|no|from|null|none|a|an|the"
    r"|in|on|for|of|to|by|only|now|also|stored|encrypted|provided|given|disabled|enabled|changed|unknown|default|bad|valid|accepted|rejected|denied"
    r"|authentication|mismatch|is|was|has|may|must|should|will|or|and|file|prompt|错误|为空|无效|过期|不)(?![\w-]))"
)
_HARMLESS = re.compile(r"[<$*{%#]|\.{3}|xxx|\*\*\*", re.IGNORECASE)


def hidden(key: str, value: str) -> bool:
    """Does a value behind such a word hide something? `token` also means a piece of text, PWD a folder, `pass` a step of a compiler."""
    if not value or _HARMLESS.match(value) or value.lower() in _NO_SECRET:
        return False
    low = key.lower()
    if _NO_SECRET_KEY.search(low) or (low.endswith("pwd") and value[0] in "/~"):
        return False
    last = re.split(r"[_.-]", low)[-1]
    if last != "pass" and last.endswith("pass"):  # SSHPASS, and BYPASS as well
        return _typed(value)
    if last == "pass":
        return _typed(value) if last == low else not (value.isdigit() and len(value) < 5) and not value.endswith("Pass")
    if last in ("ak", "sk"):
        return len(value) >= (12 if last == low else 6) and any(c.isalpha() for c in value)
    if low in ("token", "cookie") or low.endswith(".token"):
        return len(value) >= 12 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return "token" not in low or not value.isdigit()


def _typed(value: str) -> bool:
    """Letters and digits or signs: what people type as a password, and no word or number."""
    return len(value) >= 6 and any(c.isalpha() for c in value) and any(not c.isalpha() and c not in "_./:" for c in value)


def random_looking(value: str) -> bool:
    """Was this drawn and not written? Long, letters and digits mixed all over, many different ones."""
    if not 16 <= len(value) <= 2000:
        return False
    longest = max(_RUN.findall(_ESCAPED.sub("+", value)), key=len, default="")
    if len(longest) < 12 or len(_DIGITS.findall(longest)) < 2 or len(_LETTERS.findall(longest)) < 2:
        return False
    return entropy(longest) >= 3.0


def entropy(text: str) -> float:
    """Bits a character."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in map(text.count, set(text))) if text else 0.0


_RUN = re.compile(r"[A-Za-z0-9+=]+")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")  # a sign in an address
_DIGITS = re.compile(r"[0-9]+")
_CAPITALS = re.compile(r"[A-Z]+")
_LETTERS = re.compile(r"[A-Za-z]+")


def _value(match: re.Match[str]) -> tuple[Span, str]:
    """Where the value stands: without what closes the sentence, and of an address only up to its next parameter."""
    group = "quoted" if match["quoted"] is not None else "bare"
    value = match[group]
    if group == "bare":
        before = match.string[match.start() - 1 : match.start()]
        if before and before in "?&;":  # of an address, of a list of settings
            value = value.partition(";" if before == ";" else "&")[0]
        value = value.rstrip(",;)]}>")
    begin = match.start(group)
    return (begin, begin + len(value)), value


def _strong(match: re.Match[str]) -> Span | None:
    span, value = _value(match)
    return span if hidden(match["key"] or "", value) else None


def _weak(match: re.Match[str]) -> Span | None:
    span, value = _value(match)
    return span if random_looking(value) and not _HARMLESS.match(value) else None


def _bare(match: re.Match[str]) -> Span | None:
    """Right behind the word, without any sign between them: `api key QwErTy...`, `password Abc#2024`, but `password authentication`."""
    span, value = _value(match)
    if _HARMLESS.match(value) or not value.isascii():
        return None
    mixed = value.isalnum() and len(value) >= 20 and len(_CAPITALS.findall(value)) > 5
    typed = "pass" in match["key"].lower() or not match["key"].isascii()
    digits = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return span if random_looking(value) or mixed or (typed and digits and _typed(value)) else None


def _login(match: re.Match[str]) -> Span | None:
    """`-u NAME:PASSWORD`, but not the numbers or the names of a user and a group."""
    user, _, rest = match["name"].partition(":")
    same = user.isdigit() or user.lower() == rest.lower() or rest.lower() in ("root", "users", "docker", "wheel", "hwhiaiuser")
    return None if same else match.span("name")


def _flag(needs: str, pattern: str) -> Form:
    return Form("secret", compiled(pattern + rf"(?P<key>){_VALUE}"), tuple(needs.split()), _strong)


# Of all cookies in a header, the second one as well.
_COOKIES = compiled(r"[\w.-]{1,60}=(?P<name>[^;\s\"'<]{4,4000})")

FORMS = (
    Form("login", compiled(r"(?<=://)(?P<name>[^\s/\"'<>@]+(?:@[^\s/\"'<>@]+)*)(?=@)"), ("://",)),
    Form("login", compiled(r"(?i)\bjdbc:oracle:thin:(?P<name>[^\s/@]{1,60}/[^\s@]{1,100})(?=@)"), ("jdbc:",)),
    Form("key", compiled(r"\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+|sk-(?:ssh|ecdsa)[\w@.-]+) (?P<name>AAAA[A-Za-z0-9+/]{16,}={0,3})"), ("ssh-", "ecdsa-")),
    Form("key", compiled(r"\bSHA256:(?P<name>[A-Za-z0-9+/]{43})(?![A-Za-z0-9+/])"), ("sha256:",)),
    Form("key", compiled(r"\bMD5:(?P<name>(?:[0-9a-f]{2}:){15}[0-9a-f]{2})"), ("md5:",)),
    Form("secret", compiled(r"(?i)cookies?\\?[\"']?\s*[:=]\s*\\?[\"']?(?P<name>[\w.-]{1,60}=[^\n\"'\\]{1,4000})"), ("cookie",), pieces=_COOKIES),
    Form("key", compiled(r"(?i)\b(?:obs|oss|cos|aws) (?P<name>[A-Z0-9]{12,128})(?=:[\w+/]{8})"), ("obs ", "oss ", "cos ", "aws ")),
    Form("secret", compiled(r"(?i)\b(?:obs|oss|cos|aws) <[\w-]{1,40}>:(?P<name>[\w+/]{8,200}=*)"), ("obs ", "oss ", "cos ", "aws ")),
    Form("key", compiled(r"(?i)\bSDK-HMAC-SHA256 Access=(?P<name>[A-Za-z0-9]{8,128})"), ("sdk-hmac",)),
    Form("key", compiled(r"(?<![\w-])(?P<name>(?=[A-Z-]*\d)(?=[\d-]*[A-Z])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,5})(?![\w-])"), ("-",), times=3),
    Form("key", compiled(r"(?<![\w.])(?P<name>[0-9a-f]{32}\.[A-Za-z0-9]{16})(?![\w.])"), (".",)),
    Form("secret", compiled(rf"(?i)(?:authorization{_IS}[\"']?(?:basic|bearer|token|digest|obs|aws|oss|negotiate|apikey|aws4-hmac-sha256)?|\bbearer)\s+(?P<key>){_VALUE}"), ("authorization", "bearer"), _strong),
    Form("secret", compiled(rf"(?i)\b(?:credential|response|nonce|cnonce|signature)=(?P<key>)(?!0x){_VALUE}"), ("credential=", "response=", "nonce=", "signature="), _weak),
    Form("secret", compiled(rf"(?i)--?(?P<key>{_KEY})(?:=| +){_VALUE}"), _STRONG_NEEDS, lambda m: None if m["bare"] and m["bare"].startswith("-") else _strong(m)),
    Form("secret", compiled(rf"(?i)(?<![\w.-])(?P<key>{_KEY}){_IS}{_VALUE}"), _STRONG_NEEDS, _strong),
    Form("secret", compiled(rf"(?i)(?P<key>{_AKSK}){_IS}{_VALUE}"), ("ak", "sk"), _strong),
    Form("secret", compiled(rf"(?i)(?<!\S)--?(?P<key>{_AKSK})(?:=| +){_VALUE}"), ("ak", "sk"), _strong),
    Form("secret", compiled(rf"(?i)(?<![\w.-])(?P<key>{_WEAK}){_IS}{_VALUE}"), _WEAK_NEEDS, _weak),
    Form("secret", compiled(rf"(?i)(?<![A-Za-z])(?P<key>password|passwd|pwd|passphrase|passcode|pin code|secret|api key|access key|secret key|token)(?: +(?:for|of)(?: +[\w.@-]{{1,40}}){{1,4}})? +(?:is|was|are|set to|changed to) *[:=]? *{_STATES}{_VALUE}"),
         ("password", "passwd", "pwd", "passphrase", "passcode", "pin code", "secret", "api key", "access key", "token"), lambda m: _strong(m) if m["key"].lower() != "token" else _weak(m)),
    Form("secret", compiled(rf"(?P<key>密码|口令|密钥|秘钥|令牌)(?:是|为|設為|设为|设置为|改为|:|：|=)[:： ]*{_STATES}{_VALUE}"), ("密码", "口令", "密钥", "秘钥", "令牌"), _strong),
    Form("token", compiled(r"\btoken[ =:]+(?P<name>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])"), ("token",)),
    Form("secret", compiled(rf"(?i)\blogin +\S{{1,60}} +password +(?P<key>){_VALUE}"), ("login",), _strong),
    Form("secret", compiled(rf"(?i)\bidentified +by +(?:password +)?(?P<key>){_VALUE}"), ("identified",), _strong),
    Form("secret", compiled(rf"(?i)\b(?:requirepass|masterauth|rocommunity|rwcommunity) +(?P<key>){_VALUE}"), ("requirepass", "masterauth", "community"), _strong),
    Form("secret", compiled(rf"(?i)(?<![A-Za-z])(?P<key>api key|access key|secret key|token|secret|password|passwd|密码|口令|密钥|令牌) +{_VALUE}"),
         ("api key ", "access key ", "secret key ", "token ", "secret ", "password ", "passwd ", "密码 ", "口令 ", "密钥 ", "令牌 "), _bare),
    Form("login", compiled(r"(?<![\w/.@:-])(?P<name>[A-Za-z_][\w.-]{1,31}:[^\s@:/<\"']{4,64})(?=@[\w<])"), ("@",)),
    _flag("sshpass", r"\bsshpass +(?:-[a-oq-z] +)?-p *"),
    _flag("mysql mariadb", r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}? -p(?=[^\s-])"),
    _flag("login", r"\b(?:docker|podman|nerdctl|ctr|crictl|oras|helm registry|skopeo|isula|ctyun|huggingface-cli|hf auth|swanlab|modelscope|oc|argocd|az)\b[^\n|;]{0,80}? login\b[^\n|;]{0,120}? -[pk][ =]*"),
    _flag("login", r"\b(?:docker|swanlab|wandb|modelscope) login (?:--relogin )?(?=[\w-]{16})"),
    _flag("redis-cli", r"\bredis-cli\b[^\n|;]{0,120}? -a[ =]*"),
    _flag("ldap", r"\bldap(?:search|modify|add|whoami|passwd)\b[^\n|;]{0,200}? -w[ =]*"),
    _flag("mongo", r"\bmongo(?:sh|dump|restore)?\b[^\n|;]{0,200}? -p[ =]*"),
    _flag("ipmitool", r"\bipmitool\b[^\n|;]{0,200}? -P[ =]*"),
    _flag("obsutil ossutil coscli cosutil", r"\b(?:obsutil|ossutil|coscli|cosutil)(?:64)?\b[^\n|;]{0,200}? -(?:i|k|t|sk|ak)[ =]*"),
    _flag("obsutil ossutil", r"\b(?:obsutil|ossutil)(?:64)?\b[^\n|;]{0,200}? -k[ =]*"),
    _flag("snmp", r"\bsnmp(?:walk|get|set|bulkwalk)\b[^\n|;]{0,200}? -[cAX][ =]*"),
    _flag("snmp", r"(?i)\bsnmp\w{0,8}(?:[ -]server)? community(?: string)?[ :=]+(?:is )?"),
    _flag("zip", r"\b(?:zip|unzip) +(?:-\w+ +){0,4}-P *"),
    _flag("7z", r"\b7z\w? +\w +(?:-\S+ +){0,4}-p"),
    _flag("passin passout", r"-pass(?:in|out) +pass:"),
    _flag("chpasswd", r"\becho +(?:-\w+ +)?(?=[^\n]{1,200}chpasswd)"),
    _flag("sudo", r"\becho +(?:-\w+ +)?(?=[^\n]{1,200}\| *sudo +-\w*S)"),
    _flag("htpasswd", r"\bhtpasswd +-\w*b\w* +\S+ +\S+ +"),
    _flag("smb rpcclient", r"\b(?:smb\w{0,20}|rpcclient)\b[^\n|;]{0,200}? (?:-U *|--user[= ])[\w.\\-]{1,60}%"),
    _flag("net use", r"\bnet use\b[^\n]{0,200}?/user:\S{1,80} +"),
    Form("login", compiled(r"(?<!\S)(?:-u|--user|--proxy-user|-U)[ =]?[\"']?(?P<name>[\w.@\\-]{1,60}:[^\s\"':]{3,100})"), ("-u",), _login),
    Form("login", compiled(r"(?i)\bproxy[-_]?user\w*[ =:]+[\"']?(?P<name>[\w.@\\-]{1,60}:[^\s\"']{3,100})"), ("proxy",), _login),
)  # fmt: skip

PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----.*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)", re.DOTALL)
PEM_LINE = re.compile(r"^(?=[^\n]*[A-Z])(?=[^\n]*[a-z])(?=[^\n]*\d)[A-Za-z0-9+/]{64}$", re.MULTILINE)
BASE64 = re.compile(r"[A-Za-z0-9+/=]{16,}")
