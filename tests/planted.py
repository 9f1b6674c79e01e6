"""Planted secrets, in the words in which logs wrap them, and everything in which they could leave."""

from __future__ import annotations

import argparse
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, NamedTuple

from doctor.answer.quotes import cited
from doctor.answer.redact import redactor
from doctor.answer.redact_tokens import HOOKS, TOKENS
from doctor.answer.report import report
from doctor.answer.versions import versions
from doctor.commands import diff, reporting, scan
from doctor.judge.diagnosis import Diagnosis
from doctor.read import discover
from doctor.render import brief, draft
from doctor.scan.harvest import this_machine
from doctor.tui.diagnosis.export import report_text
from doctor.tui.shell.pseudonyms import Pseudonyms
from doctor.tui.shell.session import Outcome
from kb.knowledge import Knowledge
from tests.planted_lines import LINES, THERE

# A context; what is in braces is the secret that may not come out.
PLANTED = {
    "ip": "connect to {10.23.45.67}:29500 failed",
    "ip in a url": "GET http://{172.16.9.200}:8080/v1/models 502",
    "ip with a prefix": "bind eth0 {10.96.3.0}/24",
    "ip behind the driver": "driver {10.23.45.68} is not reachable",
    "ip in a communicator": "group[{10.12.0.77}%eth0_60000_0_1700000000000] gone",
    "ip as name": "pod on {ip-10-0-3-17} evicted",
    "public ip": "peer {123.57.88.9} closed",
    "ipv6": "connect {2001:db8:85a3::8a2e:370:7334} refused",
    "ipv6 in brackets": "connect [{fd00:10:96::1f}]:29500 refused",
    "ipv6 link": "neighbour {fe80::1a2b:3c4d%eth0} lost",
    "ipv6 mapped": "client [::ffff:{10.5.6.7}]:4001 lost",
    "mac": "eth0 link down {aa:bb:cc:dd:ee:0f}",
    "mac with dashes": "nic {AA-BB-CC-DD-EE-1F} down",
    "mac with dots": "nic {aabb.ccdd.ee2f} down",
    "infiniband": "port guid {00:02:c9:03:00:0d:0e:1f} down",
    "prompt": "{zhangwei}@{box-17}:~/work$ python train.py",
    "prompt in brackets": "[{lihua88}@{gpu-box-3} ~]# python train.py",
    "ssh": "ssh {wangfang}@10.1.2.3 refused",
    "home": "no such file /home/{chenlong}/work/a.py",
    "home on nfs": "no such file /nfs/home/{liuyang7}/a.py",
    "home in a url": "cannot load file:///home/{zhaolei}/a.bin",
    "home of a mac": "no such file /Users/{sunqi}/a.py",
    "home by tilde": "no such file ~{zhouj}/a.py",
    "windows home": "no such file C:\\Users\\{wuhan1}\\a.py",
    "user": "user={xuming9} is not in group HwHiAiUser",
    "user in json": 'bad request {"username": "{guoqiang}"}',
    "user in quotes": 'authentication failed for user "{yangmi2}"',
    "uid": "uid=1003({hanmei}) gid=1003({hanmei}) denied",
    "sudo": "sudo -u {leilei3} npu-smi failed",
    "host word": "hostname: {train-node-17} is down",
    "host in json": 'bad node {"host_name": "{a3-pod-19}"}',
    "host option": "--master_addr {trainhead77} --nnodes 2",
    "host variable": "MASTER_ADDR={gpu-box.corp} unreachable",
    "host in a url": "tcp://{rdzv-12.example-corp.net}:29400 timed out",
    "host with port": "failed to connect to [{cluster-a12}]:29500",
    "host in a tuple": "TCPStore({node-b17x}, 29500) timed out",
    "internal name": "cannot resolve {store.train.internal}",
    "local name": "cannot resolve {nas7.local}",
    "service": "cannot resolve {job7-worker-0.tenant9.svc.cluster.local}",
    "company": "cannot resolve {git.some-company.com.cn}",
    "slurm": "SLURMD_NODENAME={cn0417} drained",
    "syslog": "Jan  2 03:04:05 {dc3-rack9} kernel: ascend_drv heartbeat lost",
    "iso syslog": "2026-01-02T03:04:05.678+08:00 {dc3-rack10} kernel: hisi_pcie link is down",
    "uname": "Linux {labhost9} 5.10.0-60.18.0.50.oe2203.aarch64 #1 SMP",
    "chinese host": "主机名：{jisuan-07} 不可达",
    "email": "mail to {wang.fang@corp-mail.cn} failed",
    "hugging face": "401 with {hf_AbCdEfGhIjKlMnOpQrStUvWx}",
    "github": "401 with {ghp_abcdefghijklmnopqrstuvwxyz0123456789}",
    "github fine": "401 with {github_pat_11AAAAAAA0abcdefghijk_lmnopqrstuv}",
    "openai": "401 with {sk-proj-1234567890abcdefXYZ}",
    "gitlab": "401 with {glpat-x1y2z3x1y2z3x1y2z3}",
    "slack": "401 with {xoxb-123456789012-abcdef}",
    "aws": "denied {AKIAABCDEFGHIJKLMNOP}",
    "aws secret": "AWS_SECRET_ACCESS_KEY={wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY}",
    "aliyun": "denied {LTAI5tAbCdEfGhIjKlMn}",
    "huawei cloud": "obs ak={HPUAQWERTYUIOPASDF12} sk={abcDEF123456abcDEF123456abcDEF123456abcd}",
    "jwt": "Authorization: Bearer {eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij-_k}",
    "bearer": "-H 'Authorization: Bearer {0d9f8a7b6c5e4d3c2b1a}'",
    "basic": "Authorization: Basic {dXNlcjpodW50ZXIy}",
    "cookie": "Cookie: session={9af3-77aa-bb12}",
    "password": "password: {hunter2secret}",
    "password with signs": "export DB_PASSWORD={p@ss;w0rd&more}",
    "password in quotes": "export DB_PASSWORD='{correct horse battery}'",
    "password in json": 'config {"password": "{s3cr3t!x9}"} rejected',
    "password in escaped json": 'config {\\"password\\": \\"{s3cr3t!y9}\\"} rejected',
    "password option": "mysql --password {tiger77x} -h db",
    "password of digits": "passwd={87654321}",
    "chinese password": "密码：{mima-9988}",
    "login in a url": "clone https://{ci-bot:tok3n-Value}@git.example-corp.org/a.git failed",
    "token in a url": "clone https://{oauthTok3nValue99}@git.example-corp.org/a.git failed",
    "proxy": "http_proxy=http://{proxyuser:pr0xyPass}@10.9.8.7:3128 refused",
    "env token": "WANDB_API_KEY={0123456789abcdef0123456789abcdef01234567}",
    "any token": "MY_SERVICE_TOKEN={zz-token-value-1}",
    "key in a config": "api_key: {k-99-aa-bb-cc}",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\\n{MIIEpAIBAAKCAQEA7bq1xg}\\n-----END RSA PRIVATE KEY-----",
    "serial": "Serial Number                  : {1023B71234567}",
    "serial short": "board sn={2102312ABC12345678} rejected",
    "serial bare": "replace {2102353DEF0987654321}",
    "serial chinese": "序列号：{2106030XYZ10987654}",
    "die": "VDie ID : {53A8D1A4 20401250 6BB48492 FC0A2A18 AB0E8034}",
    "uuid": "System UUID: {4c4c4544-0042-3510-8051-b7c04f4d5a32}",
}
KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
HEAD = "[ERROR] GE(77,python):2026-01-02-03:04:05.006.007 [b.cc:3]77 F: "
_BRACES = re.compile(r"\{([^{}\"'\s][^{}]*)\}")


class Plant(NamedTuple):
    """A line with secrets of one kind. `everywhere`: they are to be hidden wherever else they stand, too."""

    kind: str
    line: str
    secrets: tuple[str, ...]
    everywhere: bool


def _plant(kind: str, written: str, everywhere: bool = True) -> Plant:
    return Plant(kind, _BRACES.sub(r"\1", written), tuple(s.partition("%eth")[0] for s in _BRACES.findall(written)), everywhere)


def _of_vendors() -> Iterator[Plant]:
    """Each form of a token bare, in a variable without a telling name, in JSON and beside Chinese; never the same one twice."""
    for token in TOKENS:
        for n, line in enumerate(("401 with {%s}", "X_Y={%s} rejected", 'bad {"x": "{%s}"}', "使用{%s}失败")):
            yield _plant(token.vendor, line % _varied(token.sample, max(map(len, token.begins)), n))
    for hook in HOOKS:
        found = re.search(hook.pattern, hook.sample, re.IGNORECASE)
        assert found is not None, hook.vendor
        for n, line in enumerate(("cannot post to %s: 403", "hook=%s")):
            told = _varied(found["name"], 4, n)
            yield _plant(f"hook of {hook.vendor}", line % hook.sample.replace(found["name"], f"{{{told}}}"))


def _varied(sample: str, begin: int, times: int) -> str:
    """Another sample of the same form: letters and digits behind the beginning are moved on."""
    after = {c: a[(a.index(c) + times) % len(a)] for a in (ascii_lowercase[6:], ascii_lowercase[:6], ascii_uppercase[6:], ascii_uppercase[:6], digits) for c in a}
    return sample[:begin] + "".join(after.get(c, c) for c in sample[begin:])


def plants() -> tuple[Plant, ...]:
    """All of the corpus."""
    return (
        *(_plant(kind, line) for kind, line in PLANTED.items()),
        *(_plant(kind, line) for kind, lines in LINES.items() for line in lines),
        *(_plant(kind, line, False) for kind, lines in THERE.items() for line in lines),
        *_of_vendors(),
    )


def groups(size: int = 4) -> Iterator[tuple[Plant, ...]]:
    """So few lines in one log that its report holds all of them, and no two of one kind, which it would fold."""
    every = plants()
    count = -(-len(every) // size)
    return (every[n::count] for n in range(count))


def args(**more: Any) -> argparse.Namespace:
    """The options of scan as a call would have them."""
    return argparse.Namespace(**{**_plain_call(), "redact": True, "all": True, "lang": "en", **more})


@cache
def _plain_call() -> dict[str, Any]:
    return vars(scan.arguments().parse_args([]))


def log_with(chosen: Sequence[Plant]) -> tuple[str, str]:
    """A log and its path, with the secrets in lines that an entry claims, in some that none claims, cut up, alone, and in the file's name."""
    rows: list[str] = []
    for plant in chosen:
        line = plant.line
        rows += [f"{KNOWN}: {line}", f"{HEAD}{line}", line]
        if plant.everywhere:
            rows += [f"RuntimeError: {line} again {' '.join(plant.secrets)}", f"{HEAD}lost {' '.join(plant.secrets)} at once"]
    named = next((p.secrets[0] for p in chosen if p.everywhere), "x").replace("/", "_")
    return "\n".join(rows) + "\n", f"/data/{named}/logs/plog-77_1.log"


def leaked(secrets: Iterable[str], told: str) -> list[str]:
    """Also where a form escapes signs or breaks lines."""
    return leaks(told)(secrets)


def leaks(told: str) -> Callable[[Iterable[str]], list[str]]:
    """The same for several: a text is read in all its forms once."""
    plain = told.lower()
    read = html.unescape(plain.replace('\\\\', "\\").replace('\\"', '"'))
    forms = tuple(dict.fromkeys((plain, read)))
    joined = tuple("".join(form.split()) for form in forms)

    def found(secrets: Iterable[str]) -> list[str]:
        return [s for s in secrets if any(s.lower() in form for form in forms) or (len(s) > 5 and any("".join(s.lower().split()) in form for form in joined))]

    return found


def answers(diagnosis: Diagnosis, knowledge: Knowledge, text: str, path: str) -> dict[str, str]:
    """Everything that can leave: each format of the report in both languages, the timeline, the draft of an issue, the brief."""
    told = {}
    using, plain = redactor(diagnosis, knowledge), report(diagnosis, knowledge)
    quoted = cited(plain, [discover.given_text(text, path)])
    made_report, harvest = using.report([quoted, diagnosis.harvest._replace(machine=this_machine()).json()])
    for form in reporting.FORMATS:
        for lang in ("en", "zh"):
            told[f"{form} {lang}"] = reporting.render(made_report, harvest, form, lang, args(format=form, timeline=True), "-")
    seen = versions([discover.given_text(text, path)])
    for lang in ("en", "zh"):
        hidden = tuple(s._replace(values=tuple((v, using.text(p)) for v, p in s.values)) for s in seen)
        told[f"issue {lang}"] = draft.render(made_report, hidden, lang)
        told[f"brief {lang}"] = brief.render(made_report, lang, brief.LARGEST)
    for suffix in (".md", ".json", ".txt"):
        told[f"export{suffix}"] = report_text(made_report, suffix, "en")
    told["copied lines"] = copied(Outcome(plain, diagnosis, True), knowledge, text)
    return told


def kept_secrets(chosen: Sequence[Sequence[Plant]], folder: Path) -> list[tuple[str, str]]:
    """(kind, secret) of those that a baseline keeps which was learnt of a run with these groups of lines."""
    log, made = folder / "run.log", folder / "good.baseline"
    log.write_text("".join(log_with(group)[0] for group in chosen), encoding="utf-8")
    if diff.main(["--learn", str(log), "-o", str(made)]):
        raise RuntimeError("the run was not learnt")
    found = leaks(json.dumps(json.loads(zlib.decompress(made.read_bytes().partition(b"\n")[2])), ensure_ascii=False))
    return [(plant.kind, secret) for group in chosen for plant in group for secret in found(plant.secrets)]


def copied(outcome: Outcome, knowledge: Knowledge, text: str) -> str:
    """Every line of the log as the terminal interface copies it for others."""
    using = Pseudonyms(outcome, knowledge)
    return "\n".join(map(using.text, text.splitlines()))
