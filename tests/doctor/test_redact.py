"""With --redact no planted secret leaves in any format, and the same value always has the same pseudonym."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from doctor.answer.redact import Redactor, redactor
from doctor.answer.report import report
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.read import discover

SECRETS = [
    "10.23.45.67", "192.168.7.21", "fe80::1a2b:3c4d", "2001:db8:85a3::8a2e:370:7334", "aa:bb:cc:dd:ee:0f", "zhangwei", "lihua88",
    "train-node-17", "gpu-box.corp", "hf_AbCdEfGhIjKlMnOpQrStUv", "sk-proj-1234567890abcdefXYZ", "AKIAABCDEFGHIJKLMNOP", "hunter2secret",
    "wang.fang@example.com", "2102312ABC12345678", "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdefghij",
]  # fmt: skip
LOG = """\
zhangwei@train-node-17:/home/zhangwei/work$ python train.py
export HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUv OPENAI_API_KEY=sk-proj-1234567890abcdefXYZ aws=AKIAABCDEFGHIJKLMNOP
password: hunter2secret
MASTER_ADDR=gpu-box.corp serial number: 2102312ABC12345678 mac aa:bb:cc:dd:ee:0f mail wang.fang@example.com
Authorization: Bearer eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdefghij
[ERROR] HCCL(77,python):2026-01-02-03:04:05.006.007 [a.cc:1] [77]connect 10.23.45.67 via fe80::1a2b:3c4d and 2001:db8:85a3::8a2e:370:7334 failed
[ERROR] HCCL(77,python):2026-01-02-03:04:05.006.007 [a.cc:2] [77]peer 192.168.7.21 user lihua88 home /home/lihua88/x, again zhangwei on node_name=train-node-17
[ERROR] GE(77,python):2026-01-02-03:04:05.006.007 [b.cc:3]77 F: token=hf_AbCdEfGhIjKlMnOpQrStUv password=hunter2secret serial number: 2102312ABC12345678
[ERROR] GE(77,python):2026-01-02-03:04:05.006.008 [b.cc:4]77 F: sk-proj-1234567890abcdefXYZ AKIAABCDEFGHIJKLMNOP aa:bb:cc:dd:ee:0f wang.fang@example.com host=gpu-box.corp
Traceback (most recent call last):
  File "/home/zhangwei/work/train.py", line 1, in <module>
ImportError: libhccl.so: cannot open shared object file: No such file or directory (/home/zhangwei/lib from 10.23.45.67)
"""


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "md"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_secret_leaves(form: str, lang: str, run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Addresses, hosts, users, tokens, keys, serial numbers: none is in the output."""
    folder = tmp_path / "home" / "zhangwei"
    folder.mkdir(parents=True)
    log = folder / "train.log"
    log.write_text(LOG)
    plain = run("scan", str(log), "-f", form, "--all", PYTHONUTF8="1").stdout.decode()
    assert "10.23.45.67" in plain
    done = run("scan", str(log), "-f", form, "--all", "--redact", "--lang", lang, PYTHONUTF8="1")
    out = done.stdout.decode()
    assert done.returncode == 1
    assert [s for s in SECRETS if s in out] == []
    assert "ENV001" in out


def test_the_answer_stays_readable(run) -> None:  # type: ignore[no-untyped-def]
    """Commands, ids, times, lines and references are not touched; equal values have equal pseudonyms."""
    plain = json.loads(run("-f", "json", stdin=LOG.encode()).stdout)
    red = json.loads(run("-f", "json", "--redact", stdin=LOG.encode()).stdout)
    assert [f["id"] for f in red["findings"]] == [f["id"] for f in plain["findings"]]
    assert red["findings"][0]["fixes"] == plain["findings"][0]["fixes"]
    assert red["findings"][0]["references"] == plain["findings"][0]["references"]


def test_pseudonyms_are_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal values have equal pseudonyms; the machine's own name is known without a hint."""
    monkeypatch.setattr("doctor.answer.redact.os.uname", lambda: SimpleNamespace(nodename="box17"))
    redactor = Redactor()
    assert redactor.text("seen on box17") == "seen on <host-1>"
    assert redactor.text("from 10.1.2.3 to 10.1.2.4") == "from <ip-1> to <ip-2>"
    assert redactor.text("again 10.1.2.4") == "again <ip-2>"


@pytest.mark.parametrize(
    "text",
    [
        "CANN 8.0.0.10 with torch 2.5.1",
        "2026-01-02-03:04:05.006.007",
        "source /usr/local/Ascend/ascend-toolkit/set_env.sh; ls /root/ascend/log",
        "127.0.0.1:29500",
        "error code 0x800000, errcode:(0x800000, 0, 0)",
        "torch::jit::load and c10::Error",
    ],
)
def test_what_identifies_nobody_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_facts_of_the_situation_are_redacted(bench: Bench) -> None:
    """The reader's own commands, names and places among the facts are told as pseudonyms; versions stay."""
    log = (
        "zhangwei@node-17:~$ MASTER_ADDR=gpu-box.corp HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUv vllm serve /home/zhangwei/models/Qwen3-8B --port 8000\n"
        "export MASTER_ADDR=gpu-box.corp\n"
        "INFO 10-21 07:14:02 [api_server.py:1896] vLLM API server version 0.11.0rc3\n"
        "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
    )
    harvest = bench._scanner.scan(discover.given_text(log, "serve.log"))
    made = report(conclude([harvest], bench.knowledge), bench.knowledge)
    assert "gpu-box.corp" in str(made["situation"])
    secrets = ("zhangwei", "gpu-box", "hf_AbC")
    told = redactor(conclude([harvest], bench.knowledge), bench.knowledge).report(made)["situation"]
    shipped = redactor(conclude([harvest], bench.knowledge), bench.knowledge).report(harvest.situation)
    for text in (str(told), str(shipped)):
        assert [secret for secret in secrets if secret in text] == []
        assert "0.11.0rc3" in text
