"""Planted secrets: in whatever words a log wraps them, none is in any answer that is redacted, and the answer is otherwise the same."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest

from doctor import discover
from doctor.commands import scan
from doctor.diagnose import Diagnosis, conclude
from doctor.proof import Bench
from doctor.redact import Redactor, redactor
from doctor.render import draft
from doctor.report import report
from doctor.versions import versions
from kb.knowledge import Knowledge

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
    "iso syslog": "2026-01-02T03:04:05.678+08:00 {dc3-rack10} kernel: ascend_drv heartbeat lost",
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


def planted(name: str) -> tuple[str, list[str]]:
    """The line and its secrets."""
    written = PLANTED[name]
    return _BRACES.sub(r"\1", written), [s.partition("%")[0] for s in _BRACES.findall(written)]


def args(**more: Any) -> argparse.Namespace:
    """The options of scan as a call would have them."""
    made = scan.arguments().parse_args([])
    vars(made).update(redact=True, all=True, lang="en", **more)
    return made


def answers(diagnosis: Diagnosis, knowledge: Knowledge, capsys: pytest.CaptureFixture[str], text: str, path: str) -> dict[str, str]:
    """Everything that can leave: each format of the report in both languages, the timeline, the draft of an issue."""
    told = {}
    capsys.readouterr()
    for form in scan.FORMATS:
        for lang in ("en", "zh"):
            made = args(format=form, timeline=True)
            made.lang = lang
            scan.emit(made, diagnosis, knowledge)
            told[f"{form} {lang}"] = capsys.readouterr().out
    using = redactor(diagnosis, knowledge)
    made_report = using.report(report(diagnosis, knowledge))
    seen = versions([discover.given_text(text, path)])
    for lang in ("en", "zh"):
        hidden = tuple(s._replace(values=tuple((v, using.text(p)) for v, p in s.values)) for s in seen)
        told[f"issue {lang}"] = draft.render(made_report, hidden, lang)
    return told


@pytest.mark.parametrize("name", PLANTED)
def test_none_leaves(name: str, bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """In a line that an entry claims, in one that none claims, in the same line cut up, and in the name of the file."""
    line, secrets = planted(name)
    text = f"{KNOWN}: {line}\n{HEAD}{line}\nRuntimeError: {line} again {' '.join(secrets)}\n{line}\n{KNOWN} {line}\n"
    path = f"/data/{secrets[0].replace('/', '_')}/logs/plog-77_1.log"
    diagnosis = conclude([bench._scanner.scan(discover.given_text(text, path))], bench.knowledge)
    assert diagnosis.roots[0].finding.entry.code == "ENV001"
    for form, told in answers(diagnosis, bench.knowledge, capsys, text, path).items():
        assert "ENV001" in told
        assert [s for s in secrets if s.lower() in told.lower()] == [], form


def test_the_corpus_would_leak(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Without redaction every one of them stands in the answer: the corpus proves something."""
    for name in PLANTED:
        line, secrets = planted(name)
        harvest = bench._scanner.scan(discover.given_text(f"{KNOWN}: {line}\n"))
        made = args(format="json")
        made.redact = False
        scan.emit(made, conclude([harvest], bench.knowledge), bench.knowledge)
        told = json.loads(capsys.readouterr().out)
        assert all(s in json.dumps(told, ensure_ascii=False).replace("\\\\", "\\") or s in str(told) for s in secrets), name


# The same things stay apart and stay the same

NODE = """\
[INFO] HCCL({pid},python):2026-02-03-04:05:01.001.001 [hccl_communicator_attrs.cc:346] [{pid}][LocalRank Key Info]userRank[{rank}] hostIp[{own}] devicePhyId[0] server[{own}] deviceIp[{port}] superPodId[0]
[ERROR] HCCL({pid},python):2026-02-03-04:05:0{rank}.007.008 [a.cc:1] [{pid}]connect {peer} failed on node_name={host}
ImportError: libhccl.so: cannot open shared object file: No such file or directory (/home/{user}/lib, asked by {host})
"""


def node(folder: Path, rank: int) -> Path:
    """One node's logs: its own address, and that of the other one."""
    own, peer = ("10.31.0.5", "10.31.0.6")[:: 1 if rank == 0 else -1]
    plog = folder / "plog" / f"plog-{700 + rank}_20260203040501.log"
    plog.parent.mkdir(parents=True)
    told = {"pid": 700 + rank, "rank": rank, "own": own, "peer": peer, "port": f"192.168.9.{rank}", "host": f"box-{rank}7x", "user": "zhangwei"}
    plog.write_text(NODE.format(**told))
    return folder


def test_one_thing_has_one_name_over_files(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """The address that one node calls its own is the one that the other cannot reach; two addresses have two names."""
    for rank in (0, 1):
        node(tmp_path / f"n{rank}", rank)
    kept = tmp_path / "names.json"
    done = run("scan", str(tmp_path), "-f", "jsonl", "--redact", "--redact-map", str(kept))
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    facts = rows[1]["facts"]
    own = {dict(map(tuple, f[2]))["server"] for f in facts}
    tried = {m for row in rows if row["type"] == "unexplained" for m in re.findall(r"connect (<ip-[\w-]+>)", row["evidence"]["text"])}
    tried |= {m for f in rows[1]["clusters"] for m in re.findall(r"connect (<ip-[\w-]+>)", json.dumps(f))}
    assert len(own) == 2
    assert tried
    assert tried <= own
    names = json.loads(kept.read_text())
    assert sorted(v for told in own for v in names[told]) == ["10.31.0.5", "10.31.0.6"]
    assert len(names) == len({v for values in names.values() for v in values})
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "10.31" not in done.stdout.decode() + done.stderr.decode()


def shape(told: dict[str, Any]) -> Any:
    """What a diagnosis says, names apart."""
    job = told.get("job", {})
    return (
        told["verdict"],
        [(f["id"], f["role"], f["count"], f["explains"], f["explained_by"], f["scope"]["rank"], f["scope"]["device"], f["first_seen"]) for f in told["findings"]],
        [(c["count"], c["level"], c["module"], c["codes"]) for c in told["unexplained"]],
        job.get("world_size"), job.get("missing_ranks"),
        [(r["verdict"], r["codes"], r["waiters"], r["seconds_before_first_timeout"]) for r in job.get("roots", ())],
        sorted((r["rank"] if r["rank"] is not None else -1, r["pid"] or 0, r["state"]) for r in job.get("ranks", ())),
        sorted((w["kind"], w["waiters"], w["first"] or "") for w in job.get("waits", ())),
        [(e["time"], e["what"]) for e in job.get("timeline", ())],
    )


@pytest.mark.parametrize("fault", ["oom", "aicore", "killed", "stuck", "slow", "port", "mismatch", "link"])
@pytest.mark.parametrize("key", ["", "one secret for all nodes"])
def test_the_diagnosis_is_the_same(fault: str, key: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a redacted harvest, read back and concluded anew, everything but the names is as it was: ranks, roots, waits, times."""
    from doctor.harvest import from_json
    from tests.simulate.jobs import simulate

    monkeypatch.setenv("NPU_DOCTOR_REDACT_KEY", key)
    job = simulate(31, 16, fault)
    plain = conclude([bench._scanner.scan(discover.given_text(t, n)) for n, t in job.files.items()], bench.knowledge)
    using = redactor(plain, bench.knowledge, tagged=True)
    made, harvest = using.report([report(plain, bench.knowledge), plain.harvest.json()])
    again = report(conclude([from_json(json.loads(json.dumps(harvest)))], bench.knowledge), bench.knowledge)
    first = report(plain, bench.knowledge)
    assert shape(made) == shape(first)
    assert shape(again) == shape(first)
    addresses = set(re.findall(r"\b10\.\d+\.\d+\.\d+\b", json.dumps(first)))
    assert not [a for a in addresses if a in json.dumps(again)]


def test_nodes_that_share_a_key_can_be_merged(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """With one secret the names agree between nodes; without, nothing is mixed up, and merge says what it cannot tell."""
    plain, keyed, apart = [], [], []
    for rank in (0, 1):
        folder = node(tmp_path / f"n{rank}", rank)
        for kept, env, more in ((plain, {}, ()), (keyed, {"NPU_DOCTOR_REDACT_KEY": "s3"}, ("--redact",)), (apart, {}, ("--redact",))):
            kept.append(str(tmp_path / f"{len(kept)}{len(more)}{len(env)}.jsonl"))
            run("scan", str(folder), "-f", "jsonl", "-o", kept[-1], *more, **env)
    told = {name: run("merge", *files, "-f", "json") for name, files in (("plain", plain), ("keyed", keyed), ("apart", apart))}
    reports = {name: json.loads(done.stdout) for name, done in told.items()}
    assert shape(reports["keyed"]) == shape(reports["plain"])
    nodes = {name: {r["node"] for r in made["job"]["ranks"]} for name, made in reports.items()}
    assert len(nodes["plain"]) == len(nodes["keyed"]) == len(nodes["apart"]) == 2
    assert b"NPU_DOCTOR_REDACT_KEY" in told["apart"].stderr
    assert b"NPU_DOCTOR_REDACT_KEY" not in told["keyed"].stderr + told["plain"].stderr
    assert "10.31.0" not in str(reports["keyed"]) + str(reports["apart"])


# What is no secret stays readable


def test_the_programs_own_texts_stay(bench: Bench) -> None:
    """Titles, causes and fixes of every entry come out as they were written: an example address there is nobody's."""
    from doctor.evaluate import Finding
    from doctor.relate import Related

    entries = [e for code in bench.knowledge.codes_of_entries if (e := bench.knowledge.entry(code)) is not None]
    related = tuple(Related(Finding(e, (), 1, True), "root", (), None) for e in entries)
    using = redactor(Diagnosis("findings", related, (), (), conclude([], bench.knowledge).harvest), bench.knowledge)
    for entry in entries:
        told = [entry.title.json(), entry.cause.json(), *(t for f in entry.fixes for t in [f.title.json(), *(c.run for c in f.commands)])]
        assert using.report(told) == told, entry.code


@pytest.mark.parametrize(
    "text",
    [
        "max_num_batched_tokens=8192, max_tokens: 2048, tokenizer='Qwen2', token_ids=[1, 2, 3], eos_token='<|im_end|>'",
        "PWD=/usr/local/Ascend OLDPWD=/tmp",
        "password: ***",
        "File \"/usr/lib/python3.10/threading.py\", line 3, in threading.local",
        "sklearn.cluster and torch.nn.functional and c10::Error at ace::fed",
        "image vllm-ascend@sha256:0123456789ab pulled from quay.io/ascend",
        "Device 3, chip 0000:C1:00.0, 12:03:04:05 elapsed, serial number is 4",
        "node-3 and worker-0 wait for master_addr=localhost",
        "https://github.com/vllm-project/vllm-ascend/issues/1 https://www.hiascend.com/document",
    ],
)
def test_words_that_only_look_like_it(text: str, knowledge: Knowledge) -> None:
    """Options about tokens of text, modules with dots, image digests, PCI addresses and public sites identify nobody."""
    using = redactor(conclude([], knowledge), knowledge)
    assert using.text(text) == text


def test_an_account_called_like_a_word(knowledge: Knowledge) -> None:
    """Somebody called `data` or `train` is hidden in a path, and the word stays a word."""
    using = redactor(conclude([], knowledge), knowledge)
    told = using.text("/home/train/x: python train.py reads data")
    assert re.fullmatch(r"/home/<user-\d>/x: python train.py reads data", told)


def test_many_names_are_quick_enough(knowledge: Knowledge) -> None:
    """Ten thousand machines: each name is found in one pass over a text, however many there are."""
    using = Redactor()
    using._learning = True
    for n in range(10_000):
        using.text(f"hostname: rack{n // 100}-blade{n % 100}x")
    using._learning = False
    told = using.text(" ".join(f"rack{n // 100}-blade{n % 100}x failed;" for n in range(0, 10_000, 7)))
    assert "blade" not in told
    assert told.count("<host-") == len(range(0, 10_000, 7))
