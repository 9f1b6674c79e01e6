"""The fix is the reader's own command: read from logs and from the scripts beside them, changed, and written again for a shell."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor import diagnose, report
from doctor.answer.own_command import own, with_phrase, without_option
from doctor.findings.started import read
from doctor.read.content import STARTS
from doctor.read.discover import discover
from doctor.scan.beside import expanded
from doctor.scan.scanner import Scanner
from doctor.scan.situation import said
from kb.model import Signal

TOO_LONG = """\
(EngineCore_0 pid=981) ERROR 07-02 03:14:51 [core.py:586] EngineCore failed to start.
(EngineCore_0 pid=981) ERROR 07-02 03:14:51 [core.py:586] ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (11.21 GiB). Based on the available memory, the estimated maximum model length is 91776. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
"""
NO_DRIVER = "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "kind", "processes", "model"),
    [
        ("vllm serve /m/a --tensor-parallel-size 2 --served-model-name x y --port=80 > log 2>&1 &", "vllm", 2, "/m/a"),
        ("vllm serve --enforce-eager /m/a -tp 4 -pp 2", "vllm", 8, "/m/a"),
        ("python3 -m vllm.entrypoints.openai.api_server --model /m/a", "vllm", 1, "/m/a"),
        ("vllm serve /m/a and then I see this", "vllm", 1, "/m/a"),
        ('["vllm", "serve", "/m/a", "--tensor-parallel-size", "4"]', "vllm", 4, "/m/a"),
        ("""vllm serve /m/a -tp 2 --kv-transfer-config '{"kv_connector": "A", "kv_role": "kv_both"}'""", "vllm", 2, "/m/a"),
        ("{'model_tag': '/m/a', 'tensor_parallel_size': 2, 'enforce_eager': True}", "vllm", 2, "/m/a"),
        ("python -m sglang.launch_server --model-path /m/a --tp 8", "sglang", 8, "/m/a"),
        ("sglang serve --model-path /m/a --port 80 --tp-size 8]", "sglang", 8, "/m/a"),
        ("torchrun --nproc_per_node=8 --master_port 29501 train.py --epochs 3", "torchrun", 8, None),
        ("msrun --worker_num=16 --local_worker_num=8 --join=True run.py", "msrun", 8, None),
        ("accelerate launch --num_processes 4 train.py", "accelerate", 4, None),
        ("NPROC_PER_NODE=4 swift sft --model /m/a", "swift", 4, "/m/a"),
        ("mpirun --allow-run-as-root -n 8 python train.py", "mpirun", 8, None),
        ("deepspeed --num_gpus 2 train.py", "deepspeed", 2, None),
        ("deepspeed --include localhost:4,5,6,7 train.py", "deepspeed", 4, None),
    ],
)
def test_a_command_is_read(text: str, kind: str, processes: int, model: str | None) -> None:
    started = read(text)
    assert started is not None
    assert (started.kind, started.processes, started.model) == (kind, processes, model)


@pytest.mark.parametrize("text", ["vllm serve MODEL --enforce-eager", "vllm serve [model_tag] [options]", 'vllm serve "/m/a', "vllm serve $(cat model)", "vllm serve `cat model`", "{'model_tag': __import__('os')}", "vllm bench latency", "vllm serve to start bge-large-zh-v1.5 model, error shows like this:"])
def test_what_is_no_command_of_somebody_is_none(text: str) -> None:
    """Lines of a manual, cut commands, and what only a shell can work out."""
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("torchrun --nproc_per_node=8 train.py --epochs 3", "torchrun --nproc_per_node=4 train.py --epochs 3"),
        ("torchrun train.py", "torchrun --nproc-per-node 4 train.py"),
        ("msrun --worker_num=16 --local_worker_num=8 run.py", "msrun --worker_num=8 --local_worker_num=4 run.py"),
        ("accelerate launch --config_file a.yaml train.py", "accelerate launch --config_file a.yaml --num_processes 4 train.py"),
        ("NPROC_PER_NODE=8 swift sft --model /m/a", "NPROC_PER_NODE=4 swift sft --model /m/a"),
        ("vllm serve /m/a -tp 8", "vllm serve /m/a -tp 4"),
    ],
)
def test_each_launcher_is_told_the_number_of_processes_in_its_own_words(text: str, changed: str) -> None:
    started = read(text)
    assert started is not None
    made = started.with_processes(4)
    assert made is not None
    assert made.shell() == changed


@pytest.mark.parametrize(
    ("told", "command"),
    [
        (
            "model='/m/a', speculative_config=None, dtype=torch.bfloat16, max_seq_len=32768, tensor_parallel_size=8, pipeline_parallel_size=1, quantization=ascend, enforce_eager=False, served_model_name=/m/a",
            "vllm serve /m/a --tensor-parallel-size 8 --max-model-len 32768 --quantization ascend --enforce-eager",
        ),
        ("model='/m/a', tensor_parallel_size=8, data_parallel_size=2", None),
        ("model_path='/m/a', tp_size=4, mem_fraction_static=0.8, device='npu')", "python3 -m sglang.launch_server --model-path /m/a --tp-size 4 --device npu --mem-fraction-static 0.8"),
    ],
)
def test_what_an_engine_prints_of_itself_stands_for_a_command_that_is_not_told(told: str, command: str | None) -> None:
    """Of a part of something larger nothing is made; a command that somebody typed, or all its arguments, come first."""
    started = read(told, "serve.log")
    if command is None:
        assert started is None
        return
    assert started is not None
    assert started.processes is None
    made = own("vllm serve MODEL --enforce-eager", [started]) or own("python -m sglang.launch_server --model-path MODEL --device npu", [started])
    assert (made.run if made is not None else started.shell()) == command
    whole = read("{'model_tag': '/m/b', 'port': 80}")
    assert whole is not None
    if started.kind == "vllm":
        assert made is not None
        assert "serve.log" in made.note.en
        assert "keep" in made.note.en
        assert (own("vllm serve MODEL --enforce-eager", [started, whole]) or made).run == "vllm serve /m/b --port 80 --enforce-eager"


def test_an_option_that_goes_is_taken_out_of_the_readers_command() -> None:
    """What the knowledge writes behind the command as a comment; nothing is said of a command that does not have it."""
    with_it = read("""vllm serve /m/a -tp 2 --speculative-config '{"method": "mtp", "num_speculative_tokens": 3}' --port 80""")
    without_it = read("vllm serve /m/a -tp 2 --port 80")
    assert with_it is not None
    assert without_it is not None
    advised = "vllm serve MODEL   # without --speculative-config"
    made = own(advised, [with_it])
    assert made is not None
    assert made.run == "vllm serve /m/a -tp 2 --port 80"
    assert "without --speculative-config" in made.note.en
    assert own(advised, [without_it]) is None
    both_ways = own("vllm serve MODEL --enforce-eager  # without --speculative-config", [with_it])
    assert both_ways is not None
    assert both_ways.run == "vllm serve /m/a -tp 2 --port 80 --enforce-eager"
    assert both_ways.note.en.endswith("--enforce-eager, without --speculative-config")


def test_what_means_nothing_without_an_option_goes_with_it() -> None:
    started = read("vllm serve /m/a --load-format plugh --model-loader-extra-config '{\"a\": 1}' --port 80")
    assert started is not None
    made = without_option([started], (), "load-format")
    assert made is not None
    assert made.run == "vllm serve /m/a --port 80"
    sglang = read("python3 -m sglang.launch_server --model-path /m --speculative-algorithm NEXTN --speculative-num-steps 3 --tp-size 4")
    assert sglang is not None
    told = own("python3 -m sglang.launch_server --model-path MODEL  # without --speculative-algorithm", [sglang])
    assert told is not None
    assert told.run == "python3 -m sglang.launch_server --model-path /m --tp-size 4"


@pytest.mark.parametrize(
    ("theirs", "advised", "made", "told"),
    [
        (  # what they chose beside it stays
            '{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1, 64]}',
            '{"cudagraph_capture_sizes": [1, 8]}',
            '{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1, 8]}',
            '{"cudagraph_capture_sizes": [1, 8]} (was {"cudagraph_capture_sizes": [1, 64]})',
        ),
        ('{"a":{"enabled":true,"x":1}}', '{"a": {"enabled": false}}', '{"a":{"enabled":false,"x":1}}', '(was {"a": {"enabled": true, "x": 1}})'),
        ('{"method": "eagle3", "num_speculative_tokens": 3}', '{"method": "mtp", "num_speculative_tokens": 1}', '{"method": "eagle3", "num_speculative_tokens": 1}', '"num_speculative_tokens": 3'),
        ('{"kv_role": "kv_both", "kv_port": "1"}', '{"kv_role": "kv_producer", ...}', '{"kv_role": "kv_producer", "kv_port": "1"}', '(was {"kv_role": "kv_both"})'),
        ('{"kv_role": "kv_bo', '{"kv_role": "kv_producer"}', '{"kv_role": "kv_producer"}', '(was {"kv_role": "kv_bo)'),  # theirs is cut
        ("[1]", '{"a": 1}', '{"a": 1}', "(was [1])"),
    ],
)
def test_settings_in_json_are_put_into_theirs(theirs: str, advised: str, made: str, told: str) -> None:
    """Their other settings stay, and only what differs is told."""
    started = read(f"vllm serve /m/a --some-config '{theirs}' --port 80")
    assert started is not None
    changed = own(f"vllm serve MODEL --some-config '{advised}'", [started])
    assert changed is not None
    assert changed.run == f"vllm serve /m/a --some-config {shlex.quote(made)} --port 80"
    assert told in changed.note.en


def test_settings_in_json_that_hold_what_is_advised_are_no_advice() -> None:
    started = read("""vllm serve /m/a --some-config '{"x":1,"y":[2]}'""")
    assert started is not None
    assert own("""vllm serve MODEL --some-config '{"y": [2]}'""", [started]) is None


@pytest.mark.parametrize("hostile", ["/m/a;reboot", "/m/'$HOME'", "/m/a b", "--x=\n|sh"])
def test_words_stay_words(hostile: str) -> None:
    """What somebody's file says is quoted again: nothing in it is an operator of a shell."""
    started = read(f"vllm serve {shlex.quote('/m/a')} --served-model-name {shlex.quote(hostile)} --port 80")
    assert started is not None
    made = own("vllm serve MODEL --enforce-eager", [started])
    assert made is not None
    lexer = shlex.shlex(made.run, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    assert words == shlex.split(made.run)
    assert (words[:3], words[-3:]) == (["vllm", "serve", "/m/a"], ["--port", "80", "--enforce-eager"])


def test_secrets_are_words_to_fill_in() -> None:
    started = read("HF_TOKEN=hf_abc vllm serve /m/a --api-key sk-1234")
    assert started is not None
    assert started.shell() == "HF_TOKEN=HF_TOKEN vllm serve /m/a --api-key API_KEY"


def test_an_example_never_gives_more_than_the_reader_has() -> None:
    """Advice to need less memory shows numbers: where theirs are smaller already, they get smaller still."""
    started = read("vllm serve /m/a --max-model-len 4096 --gpu-memory-utilization 0.6")
    assert started is not None
    made = own("vllm serve MODEL --max-model-len 8192 --gpu-memory-utilization 0.8", [started], less=True)
    assert made is not None
    assert made.run == "vllm serve /m/a --max-model-len 2048 --gpu-memory-utilization 0.5"


def test_a_limit_that_is_off_is_not_halved() -> None:
    """`--chunked-prefill-size -1` is no chunking at all: a half of it would be one token a step."""
    started = read("python3 -m sglang.launch_server --model-path /m/a --chunked-prefill-size -1 --mem-fraction-static 0.9")
    assert started is not None
    made = own("python3 -m sglang.launch_server --model-path MODEL --chunked-prefill-size 2048 --mem-fraction-static 0.8", [started], less=True)
    assert made is not None
    assert made.run == "python3 -m sglang.launch_server --model-path /m/a --chunked-prefill-size -1 --mem-fraction-static 0.8"


def test_dots_of_an_advised_command_are_the_rest_of_theirs() -> None:
    """`docker run --network host ...`: their container with the network of the host."""
    theirs = read("docker run -d --name plugh -p 80:80 frob/xyzzy:2 serve")
    assert theirs is not None
    made = own("docker run --network host ...", [theirs])
    assert made is not None
    assert made.run == "docker run -d --name plugh -p 80:80 --net host frob/xyzzy:2 serve"
    assert own("docker run --network host ...", []) is None


def test_of_two_commands_none_is_taken() -> None:
    """A prefill and a decode service: which one failed is not known."""
    two = [made for text in ("vllm serve /m/a --port 1", "vllm serve /m/a --port 2") if (made := read(text)) is not None]
    assert own("vllm serve MODEL --enforce-eager", two) is None


def test_of_two_commands_the_one_whose_model_the_engine_names_is_meant() -> None:
    log = (
        "$ vllm serve /m/a --port 8000\n$ vllm serve /m/b --port 8001 --max-model-len 8192\n"
        "INFO 03-10 10:00:00 [utils.py:233] non-default args: {'model_tag': '/m/b', 'port': 8001, 'model': '/m/b', 'max_model_len': 8192}\n"
        "ValueError: No available memory for the cache blocks.\n"
    )
    found = [c["run"] for f in report(log)["findings"][:1] for fix in f["fixes"] for c in fix["commands"] if "vllm serve" in c["run"]]
    assert found
    assert all(run.startswith("vllm serve /m/b --port 8001") for run in found)


def test_a_container_gets_what_it_lacks() -> None:
    started = read("docker run --rm --name v --device=/dev/davinci3 -v /usr/local/Ascend/driver:/usr/local/Ascend/driver:ro -it repo/vllm-ascend:v0.9.1 bash run.sh")
    assert started is not None
    advised = "docker run -it --device /dev/davinci0 --device /dev/davinci_manager -v /usr/local/dcmi:/usr/local/dcmi -v /usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64 IMAGE bash"
    made = own(advised, [started])
    assert made is not None
    assert made.run == (
        "docker run --rm --name v --device=/dev/davinci3 -v /usr/local/Ascend/driver:/usr/local/Ascend/driver:ro -it "
        "--device /dev/davinci_manager -v /usr/local/dcmi:/usr/local/dcmi repo/vllm-ascend:v0.9.1 bash run.sh"
    )


def test_variables_of_a_script_are_replaced_where_they_are_plain() -> None:
    script = b'MODEL="/data/Qwen3-8B"\nexport TP=4\nA=1\nA=2\nvllm serve ${MODEL} -tp $TP --port $A --x $UNSET\n'
    assert expanded(script).splitlines()[-1] == b"vllm serve /data/Qwen3-8B -tp 4 --port $A --x $UNSET"


def commands(paths: list[Path], code: str) -> dict[str, dict[str, str]]:
    """Every command of a finding's fixes, with what is said of it."""
    found = next(f for f in report(paths)["findings"] if f["id"] == code)
    return {c["run"]: c["why"] for fix in found["fixes"] for c in fix["commands"]}


@pytest.mark.parametrize(
    ("script", "last"),
    [
        (b'ARGS="--nproc_per_node $N --nnodes 1"\nN=8\ntorchrun $ARGS a.py\n', b"torchrun --nproc_per_node 8 --nnodes 1 a.py"),
        (b'ARGS=(\n  --nproc_per_node 8\n  --nnodes 1\n)\ntorchrun "${ARGS[@]}" a.py\n', b"torchrun --nproc_per_node 8 --nnodes 1 a.py"),
        (b'A="$A $B"\nB="$A"\ntorchrun $B a.py\n', None),
    ],
)
def test_options_in_variables_are_replaced_as_well(script: bytes, last: bytes | None) -> None:
    """As Megatron's scripts have them; variables that hold each other come to an end."""
    made = expanded(script).splitlines()[-1]
    assert made == last if last else len(made) < 1000


def test_a_start_command_tells_the_framework(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text('command: ["vllm", "serve", "/m/a", "--tensor-parallel-size", "4"]\n')
    (tmp_path / "out.log").write_text(NO_DRIVER)
    facts = report(tmp_path)["situation"]["facts"]
    assert ("vllm" in facts["framework"], facts["processes"]) == (True, ["4"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "serve.sh").write_text("# vllm serve /models/old\nMODEL=/models/Qwen2.5-32B-Instruct\npython -m vllm.entrypoints.openai.api_server --model $MODEL \\\n  --tensor-parallel-size 2 --max-model-len 131072 --port 8080\n")
    (tmp_path / "api.log").write_text(TOO_LONG)
    return tmp_path


def test_the_command_of_a_script_beside_the_log_is_the_fix(folder: Path) -> None:
    """After a thread in which the length of the model's configuration did not fit: the fix is their command with a length that does."""
    runs = commands([folder], "MEM022")
    note = runs["python -m vllm.entrypoints.openai.api_server --model /models/Qwen2.5-32B-Instruct --tensor-parallel-size 2 --max-model-len 91776 --port 8080"]
    assert note["en"].startswith("your command in serve.sh, with --max-model-len 91776 (was 131072).")
    assert note["zh"].startswith("您在 serve.sh 中的命令，改用 --max-model-len 91776（原为 131072）。")


def test_a_command_that_the_shell_repeats_cut_off_is_the_one_of_the_script(folder: Path) -> None:
    """Of a killed program bash names the beginning of its command: pasted as a fix, the model would be served without its other options."""
    (folder / "api.log").write_text(TOO_LONG + "./serve.sh: line 3: 40221 Killed    python -m vllm.entrypoints.openai.api_server --model /models/Qwen2.5-32B-Instruct ...\n")
    (note,) = [note for run, note in commands([folder], "MEM022").items() if "--max-model-len 91776" in run and "--tensor-parallel-size 2" in run]
    assert note["en"].startswith("your command in serve.sh, with --max-model-len 91776 (was 131072).")


def test_what_an_engine_tells_of_its_own_command_is_a_part_of_it(tmp_path: Path) -> None:
    """It is started once: the settings that it prints are no second server."""
    (tmp_path / "start.sh").write_text("python3 -m sglang.launch_server --model-path /m/a --tp-size 1 --device npu --port 30000\n")
    (tmp_path / "out.log").write_text("server_args=ServerArgs(model_path='/m/a', device='npu', tp_size=1)\nRuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n")
    assert [one.path.rpartition("/")[2] for one in diagnose(tmp_path).situation.started] == ["start.sh"]


def test_a_script_is_still_no_log(folder: Path, scanner: Scanner) -> None:
    """No message in it counts as printed, it is told as no log, and alone it is nothing to read."""
    (folder / "serve.sh").write_text("vllm serve /m/a\necho 'RuntimeError: NPU out of memory'\n")
    found = discover([str(folder)])
    assert [s.reason for s in found.skipped] == [STARTS]
    assert all(not scanner.scan(s).hits for s in found.sources if s.dump)
    (folder / "api.log").unlink()
    assert len(discover([str(folder)]).sources) == 0


@pytest.mark.parametrize(("script", "told"), [("python preprocess_data.py --input a.json --append-eod\n", ["append-eod"]), ("# python preprocess_data.py --append-eod\n", None)])
def test_an_option_of_a_script_beside_the_log_is_told(tmp_path: Path, script: str, told: list[str] | None) -> None:
    """What makes the data is seldom logged; what stands behind a # was not done."""
    (tmp_path / "data.sh").write_text("export HCCL_CONNECT_TIMEOUT=600\n" + script)
    (tmp_path / "out.log").write_text("AssertionError: Rank 3: found NaN in local grad norm in backward pass\n")
    assert report(tmp_path)["situation"]["facts"].get("option") == told


def test_the_mounts_that_a_container_lacks_are_added_to_its_command(tmp_path: Path) -> None:
    """After vllm-ascend #1440: the container was started without the driver."""
    (tmp_path / "run.txt").write_text("docker run --rm --name env --device /dev/davinci0 --device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc \\\n  -v /home/models:/models -it quay.io/ascend/vllm-ascend:v0.9.1 bash\n")
    (tmp_path / "out.log").write_text(NO_DRIVER)
    runs = [run for run in commands([tmp_path], "CTR001") if run.startswith("docker run --rm --name env ")]
    assert len(runs) == 1
    assert " -v /usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64 " in runs[0]
    assert runs[0].endswith(" quay.io/ascend/vllm-ascend:v0.9.1 bash")
    assert runs[0].count("--device") == 4


def test_a_command_of_several_lines_is_read_as_the_shell_shows_it(tmp_path: Path) -> None:
    """With the sign by which it asks for the next line; a redirection is none."""
    (tmp_path / "serve.log").write_text("$ vllm serve /m/a \\\n>   --served-model-name a \\\n>   --enforce-eager\n" + TOO_LONG)
    runs = [c["run"] for fix in report(tmp_path)["findings"][0]["fixes"] for c in fix["commands"]]
    assert any(run.startswith("vllm serve /m/a --served-model-name a --enforce-eager --max-model-len ") for run in runs), runs


def test_what_the_advice_splits_in_another_way_is_said_whole() -> None:
    """Tensor parallelism instead of a pipeline: the pipeline of 3 would not start beside it."""
    theirs = read("vllm serve /m/a --tensor-parallel-size 1 --pipeline-parallel-size 3")
    assert theirs is not None
    mine = own("vllm serve MODEL_PATH --tensor-parallel-size 2 --pipeline-parallel-size 1", [theirs])
    assert mine is not None
    assert mine.run == "vllm serve /m/a --tensor-parallel-size 2 --pipeline-parallel-size 1"


@pytest.fixture(scope="session")
def forms(scanner: Scanner) -> Sequence[Signal]:
    """How the knowledge reads a situation; only the forms of commands, which hypothesis may print."""
    return tuple(form for form in scanner.plan.situation if form.id.startswith("situation:start="))


VALUES = st.sampled_from(["8192", "0.9", "/models/plugh-7b", "auto", '{"kv_role": "kv_both", "a": [1, 2]}', "two words", "it's", "a=b", "$HOME-less"])
OPTIONS = st.lists(
    st.tuples(st.sampled_from(["--max-model-len", "--served-model-name", "--kv-transfer-config", "--additional-config", "--dtype", "--chat-template", "--api-server-count"]), VALUES, st.booleans()),
    unique_by=lambda option: option[0],
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(
    env=st.lists(st.sampled_from([("VLLM_USE_V1", "1"), ("HCCL_BUFFSIZE", "512"), ("OMP_NUM_THREADS", "8")]), unique=True, max_size=2),
    options=OPTIONS,
    flags=st.lists(st.sampled_from(["--trust-remote-code", "--enforce-eager", "--enable-expert-parallel"]), unique=True, max_size=2),
    between=st.sampled_from([" ", " \\\n    ", " \\\n> ", " \\\r\n  "]),
    after=st.sampled_from(["", " > serve.log 2>&1 &", " 2>&1 | tee a.log", "\nINFO started"]),
    prompt=st.sampled_from(["$ ", "", "[root@n1 ~]# ", "nohup "]),
)
def test_whatever_a_command_looks_like_all_of_it_is_kept(
    forms: Sequence[Signal], env: list[tuple[str, str]], options: list[tuple[str, str, bool]], flags: list[str], between: str, after: str, prompt: str
) -> None:
    """Continued lines, prompts of a shell that asks for more, variables before it, JSON as a value: one option is changed, the rest stays."""
    parts = [f"{name}={shlex.quote(value)}" if glued else f"{name} {shlex.quote(value)}" for name, value, glued in options]
    text = prompt + " ".join([*(f"{name}={value}" for name, value in env), "vllm serve /models/plugh"]) + "".join(between + part for part in (*flags, *parts)) + after + "\n"
    started = [made for one in said(text.encode(), "run.txt", forms) if one.fact == "start" and (made := read(one.value, one.path)) is not None]
    made = own("vllm serve MODEL --gpu-memory-utilization 0.8", started)
    assert made is not None
    words = shlex.split(made.run)
    wanted = [f"{name}={value}" if glued else [name, value] for name, value, glued in options]
    for one in wanted:
        assert (one in words) if isinstance(one, str) else any(words[n : n + 2] == one for n in range(len(words)))
    assert {f"{name}={value}" for name, value in env} <= set(words)
    assert set(flags) <= set(words)
    assert words[words.index("--gpu-memory-utilization") + 1] == "0.8"
    assert not {">", "&", "|", "tee", "INFO"} & set(words)


def test_the_folder_of_the_reader_stays_in_a_command() -> None:
    """`$(pwd)` and its other spellings are the one expansion that every shell does alike; any other substitution is not shown."""
    made = read('docker run --rm -v $(pwd):/work -v ${PWD}/m:/m -v "$PWD/a b":/y img:1 bash')
    assert made is not None
    assert made.shell() == 'docker run --rm -v "$PWD:/work" -v "$PWD/m:/m" -v "$PWD/a b:/y" img:1 bash'
    assert read("docker run --rm -v $(cat folder):/work img:1 bash") is None


def test_a_service_of_lmdeploy_is_the_readers_own() -> None:
    """The model may stand after options, each of which has one value."""
    made = read("lmdeploy serve api_server --backend pytorch --device ascend /m/a --tp 2")
    assert made is not None
    assert (made.model, made.processes) == ("/m/a", 2)
    told = own("lmdeploy serve api_server MODEL --backend pytorch --device ascend --eager-mode", [made])
    assert told is not None
    assert told.run == "lmdeploy serve api_server --backend pytorch --device ascend /m/a --tp 2 --eager-mode"


def test_what_they_have_already_is_no_advice_however_it_is_written(tmp_path: Path) -> None:
    """Code of one line for a shell counts as a command does."""
    (tmp_path / "serve.log").write_text(
        "vllm serve /m/a --dtype float16 --enforce-eager\n"
        "EH9999: [PID: 53769] 2025-12-17-09:31:39.804.969 rtSetStreamFailureMode failed, runtime result = 207000.[FUNC:ReportCallError][FILE:log_inner.cpp][LINE:161]\n"
    )
    (found,) = [f for f in report([tmp_path / "serve.log"])["findings"] if f["id"] == "VER020"]
    assert not any("enforce-eager" in fix.get("code", {}).get("after", "") for fix in found["fixes"])


def test_weights_of_a_hub_are_no_folder(tmp_path: Path) -> None:
    """A file of theirs is named only where the command shows a path."""
    from doctor.answer.known_words import filled

    for model, made in (("Qwen/Qwen3-8B", "cat MODEL/config.json; vllm bench Qwen/Qwen3-8B"), ("/m/a", "cat /m/a/config.json; vllm bench /m/a")):
        assert filled("cat MODEL/config.json; vllm bench MODEL", {"model": model}, lambda value, _: value) == made


def test_a_mount_that_hides_the_image_goes_and_what_is_needed_of_it_comes_back() -> None:
    started = read("docker run -d -v /opt/plugh:/opt/plugh:ro -v /data:/data IMAGE_A:1 serve")
    assert started is not None
    made = own("docker run -v /opt/plugh/driver:/opt/plugh/driver:ro ... IMAGE  # without -v /opt/plugh", [started])
    assert made is not None
    assert made.run == "docker run -d -v /data:/data -v /opt/plugh/driver:/opt/plugh/driver:ro IMAGE_A:1 serve"


@pytest.mark.parametrize(
    ("theirs", "advised", "made"),
    [
        ('{"kv_role": "kv_both", "kv_port": 1}', '{"policy": "b"}', '{"kv_role": "kv_both", "kv_port": 1, "policy": "b"}'),
        ('{"policy": "a", "sizes": [1, 2]}', '{"policy": "b"}', '{"policy": "b", "sizes": [1, 2]}'),
        ("not json", '{"policy": "b"}', '{"policy": "b"}'),
    ],
)
def test_an_option_of_json_keeps_the_readers_other_keys(theirs: str, advised: str, made: str) -> None:
    started = read(f"vllm serve /m/a --kv-transfer-config {shlex.quote(theirs)}")
    assert started is not None
    found = own(f"vllm serve MODEL --kv-transfer-config {shlex.quote(advised)}", [started])
    assert found is not None
    assert shlex.split(found.run)[-1] == made
    assert own(f"vllm serve MODEL --kv-transfer-config {shlex.quote(advised)}", [started._replace(words=(*started.words[:-1], made))]) is None


def test_an_option_of_xllm_keeps_its_equals_sign() -> None:
    known = read("./xllm --model /m/a --rank_tablefile=/data/r.json")
    assert known is not None
    kept = own("xllm --model MODEL_PATH --communication_backend=hccl --rank_tablefile=/path/to/ranktable.json", [known])
    assert kept is not None
    assert kept.run == "./xllm --model /m/a --rank_tablefile=/data/r.json --communication_backend=hccl"
    for theirs, made in (("./xllm --model /m/a --enable_graph=true", "./xllm --model /m/a --enable_graph=false"), ("./xllm --model /m/a --max_memory_utilization=0.8", "./xllm --model /m/a --max_memory_utilization=0.8 --enable_graph=false")):
        started = read(theirs)
        assert started is not None
        found = own("xllm --model MODEL_PATH --enable_graph=false", [started])
        assert found is not None
        assert found.run == made


def test_what_a_framework_is_told_becomes_an_option_of_the_readers_command() -> None:
    xllm, lmdeploy = read("./xllm --model /m/a --enable_graph=true"), read("lmdeploy serve api_server /m/a --tp 2")
    assert xllm is not None
    assert lmdeploy is not None
    one, other = with_phrase("start with --enable_graph=false", [xllm]), with_phrase("start with --eager-mode (X(eager_mode=True))", [lmdeploy])
    assert one is not None
    assert other is not None
    assert (one.run, other.run) == ("./xllm --model /m/a --enable_graph=false", "lmdeploy serve api_server /m/a --tp 2 --eager-mode")
    assert with_phrase("set A_VARIABLE=0", [xllm]) is None


def test_less_memory_never_takes_cards_away() -> None:
    started = read("vllm serve /m/a --tensor-parallel-size 8")
    assert started is not None
    found = own("vllm serve MODEL --tensor-parallel-size 2 --max-model-len 4096", [started], less=True)
    assert found is not None
    assert found.run == "vllm serve /m/a --tensor-parallel-size 8 --max-model-len 4096"


def test_options_that_go_are_told_quickly_from_what_only_looks_so() -> None:
    """Hyphens may be read in many ways; each is tried once. A child tries: nothing else ends a pattern of the library."""
    text = "from doctor.answer.own_command import _WITHOUT as p; print([p.search(' # without ' + x * 2000 + '!') for x in ('--a', '-', '--')])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=10, check=True)
    assert done.stdout.split() == [b"[None,", b"None,", b"None]"]


def test_graphs_of_torchair_go_where_eager_mode_comes() -> None:
    """vLLM on Ascend refuses both at once; what else they set for it stays."""
    alone, beside = '{"torchair_graph_config": {"enabled": true}}', '{"torchair_graph_config": {"enabled": true}, "refresh": true}'
    for theirs, left in ((alone, ""), (beside, """ --additional-config '{"refresh": true}'""")):
        started = read(f"vllm serve /m/a --additional-config {shlex.quote(theirs)}")
        assert started is not None
        made = own("vllm serve MODEL --enforce-eager", [started])
        assert made is not None
        assert made.run == f"vllm serve /m/a{left} --enforce-eager"


_ATC = "atc --model=./n.pb --framework=3 --soc_version=Ascend310P3 --output=out/n"
_EXAMPLE = "atc --framework=5 --model=model.onnx --output=model --soc_version=Ascend910B4"


@pytest.mark.parametrize(
    ("theirs", "advised", "made"),
    [
        (f"{_ATC} --log=error", _EXAMPLE, f"{_ATC} --log=error"),
        (_ATC, _EXAMPLE.replace("model.onnx", "model_filled.onnx"), _ATC.replace("./n.pb", "model_filled.onnx")),
        (_ATC, _EXAMPLE.replace("=model ", "=model_new "), _ATC.replace("310P3", "910B4").replace("out/n", "model_new")),
        (f'{_ATC} --input_shape="a:-1,3,8" --dynamic_batch_size="4"', f"{_EXAMPLE} --input_shape=NAME:1,3,224,224 # without --dynamic_batch_size, --dynamic_dims", f"{_ATC} --input_shape=a:4,3,8"),
        (f'{_ATC} --input_shape="a:-1,-1" --dynamic_dims="4,128"', f"{_EXAMPLE} --input_shape=NAME:1,3,224,224 # without --dynamic_batch_size, --dynamic_dims", f"{_ATC} --input_shape=a:4,128"),
        (f"{_ATC} --input_shape=a:16,3 --dynamic_batch_size=16", f"{_EXAMPLE} --input_shape=NAME:-1,3 --dynamic_batch_size=1,2,4", f"{_ATC} --input_shape=a:-1,3 --dynamic_batch_size=1,2,4,16"),
        (f"{_ATC} --input_shape=a:-1,3 --dynamic_dims=4 --dynamic_batch_size=1,4", f"{_EXAMPLE} --dynamic_batch_size=1,2,4", f"{_ATC} --input_shape=a:-1,3 --dynamic_batch_size=1,2,4"),
        (_ATC, "atc --out_nodes='add:0'", f"{_ATC} --out_nodes=add:0"),
        (f'{_ATC} --input_shape="a:1,3,8"', f"{_EXAMPLE} --input_shape=x:SIZES", f"{_ATC} --input_shape=x:1,3,8"),
        (f'{_ATC} --input_shape="a:1,3;b:4"', f"{_EXAMPLE} --input_shape=x:SIZES", None),
        (_ATC, "atc --help | grep -A4 -e --mode", None),
        (_ATC, f"{_EXAMPLE} --dynamic_dims=1,128;1,256", None),
    ],
)
def test_a_conversion_keeps_what_is_the_readers(theirs: str, advised: str, made: str | None) -> None:
    """Their model, framework, chip and inputs, and of two tries the newer one; what sizes they need cannot be told."""
    started = [one for text in ("atc --model=old.onnx --framework=5 --soc_version=Ascend310", theirs) if (one := read(text)) is not None]
    given = own(advised, started)
    assert (given and shlex.split(given.run)) == (made and shlex.split(made))


def test_what_the_reader_has_already_is_no_look_and_no_stump_of_their_command(tmp_path: Path) -> None:
    log = (
        "$ vllm serve /m/a --omni --port 80 --enforce-eager\n"
        '(Worker pid=4) ERROR 06-12 07:53:09 [w.py:2]   File "/usr/lib/python3.11/site-packages/vllm_ascend/ascend_config.py", line 912, in get\n'
        '(Worker pid=4) ERROR 06-12 07:53:09 [w.py:2]     raise RuntimeError("Plugh is not there.")\n'
        "(Worker pid=4) ERROR 06-12 07:53:09 [w.py:2] RuntimeError: Plugh is not there.\n"
    )
    (tmp_path / "a.log").write_text(log, encoding="utf-8")
    fixes = report(tmp_path)["findings"][0]["fixes"]
    assert not [c["run"] for f in fixes for c in f["commands"] if c["run"].startswith("vllm serve") and "--omni" not in c["run"]]
    theirs = read("vllm serve /m/a --omni --enforce-eager")
    again = own("vllm serve MODEL --enforce-eager", [theirs], whole=True) if theirs else None
    assert again is not None
    assert again.run == "vllm serve /m/a --omni --enforce-eager"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("docker run --rm --device /dev/davinci0 --device=/dev/davinci1 --device /dev/davinci_manager repo/i:1 sh", "docker run --rm --device /dev/davinci_manager --device /dev/davinciN repo/i:1 sh"),
        ("docker run -e ASCEND_VISIBLE_DEVICES=0,1 --rm repo/i:1 sh", "docker run -e ASCEND_VISIBLE_DEVICES=N --rm repo/i:1 sh"),
        ("docker run --rm repo/i:1 sh", "docker run --rm --device /dev/davinciN repo/i:1 sh"),
    ],
)
def test_another_card_takes_the_place_of_those_that_are_held(typed: str, shown: str) -> None:
    """Held cards that stay in the command would be refused again."""
    started = read(typed)
    assert started is not None
    told = own("docker run --device /dev/davinciN IMAGE", [started])
    assert told is not None
    assert told.run == shown


@pytest.mark.parametrize(
    ("typed", "devices"),
    [
        ("docker run -e ASCEND_VISIBLE_DEVICES=2,3 repo/i:1 sh", ["/dev/davinci2", "/dev/davinci3", "/dev/davinci_manager"]),
        ("docker run -e ASCEND_VISIBLE_DEVICES=4-6 repo/i:1 sh", ["/dev/davinci4", "/dev/davinci5", "/dev/davinci6", "/dev/davinci_manager"]),
        ("docker run -e ASCEND_VISIBLE_DEVICES=0-999 repo/i:1 sh", ["/dev/davinci0", "/dev/davinci_manager"]),
        ("docker run -e ASCEND_VISIBLE_DEVICES=void repo/i:1 sh", ["/dev/davinci0", "/dev/davinci_manager"]),
        ("docker run --device /dev/davinci5 -e ASCEND_VISIBLE_DEVICES=2 repo/i:1 sh", ["/dev/davinci5", "/dev/davinci_manager"]),
    ],
)
def test_the_cards_that_a_runtime_was_asked_for_are_those_that_are_mounted(typed: str, devices: list[str]) -> None:
    """Without Ascend Docker Runtime the variable brings none: card 0 of the example is not theirs."""
    started = read(typed)
    assert started is not None
    told = own("docker run --device /dev/davinci0 --device /dev/davinci_manager IMAGE", [started])
    assert told is not None
    changed = read(told.run)
    assert changed is not None
    assert [o.value for o in changed.options if o.name == "device"] == devices


def test_who_starts_with_a_file_of_settings_keeps_it() -> None:
    """What is typed goes before what the file says; how many processes that makes, only the file tells."""
    made = read("vllm serve --config conf/serve.yaml --port 90", "up.sh")
    assert made is not None
    assert made.processes is None
    theirs = own("vllm serve MODEL --enforce-eager", (made,))
    assert theirs is not None
    assert theirs.run == "vllm serve --config conf/serve.yaml --port 90 --enforce-eager"
    assert theirs.note.en == "your command in up.sh, with --enforce-eager; it goes before the same key in serve.yaml"


@pytest.mark.parametrize("text", ["vllm serve --config CONFIG", "vllm serve --config <file>", "vllm serve --config a.yaml and then it stops", "vllm serve --port 80"])
def test_a_file_of_settings_that_nobody_names_is_none(text: str) -> None:
    assert read(text) is None


def test_of_several_conversions_the_refused_one_is_changed() -> None:
    """It holds the name that the message says, wherever it stands among those that were tried."""
    log = """\
$ atc --model=plugh.onnx --framework=5 --output=zz --soc_version=Ascend310P3
$ python3 -c "import onnx; print([i.name for i in onnx.load('plugh.onnx').graph.input])"
['pixels']
$ atc --model=plugh.onnx --framework=5 --output=aa --soc_version=Ascend310P3 --input_shape="data:1,3,48,96" --log=error
E10016: [PID: 5521] 2026-02-02-10:21:02.115.302 Opname [data] specified in [--input_shape] is not found in the model.
"""
    root = report(log)["findings"][0]
    run = root["fixes"][root["first_fix"]]["commands"][0]["run"]
    assert run == "atc --model=plugh.onnx --framework=5 --output=aa --soc_version=Ascend310P3 --input_shape=pixels:1,3,48,96 --log=error"


@pytest.mark.parametrize(
    ("theirs", "advised", "run"),
    [
        ("vllm serve /m/plugh --port 80", '{"frob": {"on": false}, ...}', """vllm serve /m/plugh --port 80 --additional-config '{"frob": {"on": false}}'"""),
        ("vllm serve /m/plugh --port 80", '{"frob": null, ...}', None),
        ("""vllm serve /m/plugh --additional-config '{"frob": [1], "xyzzy": 2}'""", '{"frob": null, ...}', """vllm serve /m/plugh --additional-config '{"xyzzy": 2}'"""),
        ("""vllm serve /m/plugh --additional-config '{"frob": [1]}' --port 80""", '{"frob": null, ...}', "vllm serve /m/plugh --port 80"),
    ],
)
def test_what_only_holds_beside_theirs_is_not_typed(theirs: str, advised: str, run: str | None) -> None:
    """Neither the dots that stand for the rest nor a null that means that a key goes: engines refuse both."""
    command = read(theirs)
    assert command is not None
    made = own(f"vllm serve MODEL --additional-config '{advised}'", [command])
    assert (made.run if made is not None else None) == run
    assert made is None or "{} " not in made.note.en


def test_a_key_that_goes_is_said_in_words_where_no_command_is_known() -> None:
    from doctor.answer.option_json import typable
    from kb.model import Command

    made = typable(Command("vllm serve MODEL --additional-config '{\"frob\": null, ...}'", "nothing", None))
    assert made.run == "vllm serve MODEL"
    assert made.why is not None
    assert made.why.en == "take frob out of your --additional-config, keep the rest"
    kept = typable(Command("vllm serve MODEL --frob-config '{\"a\": 1, ...}'", "nothing", None))
    assert (kept.run, kept.why and kept.why.en) == ("vllm serve MODEL --frob-config '{\"a\": 1}'", "keep what else your --frob-config holds")


def test_other_weights_keep_the_place_of_the_readers_own() -> None:
    """A name that an option gives is theirs as much as one that stands alone."""
    theirs = read("python3 -m sglang.launch_server --model-path /m/Plugh-32B --tp-size 8")
    assert theirs is not None
    made = own("python3 -m sglang.launch_server --model-path MODEL-W8A8 --quantization modelslim", [theirs])
    assert made is not None
    assert made.run == "python3 -m sglang.launch_server --model-path /m/Plugh-32B-W8A8 --tp-size 8 --quantization modelslim"


def test_a_mount_that_goes_is_named_among_others_that_stay() -> None:
    started = read("docker run -it -v /opt/plugh:/opt/plugh -v /data:/w IMAGE bash $")
    assert started is not None
    made = own("docker run ... IMAGE  # without -v /data", [started])
    assert made is not None
    assert made.run == "docker run -it -v /opt/plugh:/opt/plugh IMAGE bash"
    assert "without -v /data:/w" in made.note.en


SIZES = "--compilation-config '{\"cudagraph_capture_sizes\": [1, 8, 16, 32]}'"


@pytest.mark.parametrize(
    ("typed", "advised", "changed"),
    [
        ("python3 -m sglang.launch_server --model-path /m --cuda-graph-bs 1 2 4 8 16 32 64 128 256 --tp 8", "python3 -m sglang.launch_server --model-path MODEL --cuda-graph-bs 1 8 16 32", "--cuda-graph-bs 1 2 8 32 --tp 8"),
        ("vllm serve /m --cudagraph_capture_sizes 4 8 12 16 --max-cudagraph-capture-size 16", f"vllm serve MODEL {SIZES}", "/m --cudagraph_capture_sizes 4 8"),
        ("vllm serve /m --port 80 --max-cudagraph-capture-size 64", f"vllm serve MODEL {SIZES}", f"/m --port 80 {SIZES}"),
        ('vllm serve /m --compilation-config \'{"a": 1, "cudagraph_capture_sizes": [4, 8, 64, 128], "max_cudagraph_capture_size": 128}\'', f"vllm serve MODEL {SIZES}", '\'{"a": 1, "cudagraph_capture_sizes": [4, 8]}\''),
        ("vllm serve /m --cudagraph-capture-sizes 3 6", "vllm serve MODEL --compilation-config '{\"cudagraph_capture_sizes\": null, \"b\": 1}'", "/m --compilation-config '{\"b\": 1}'"),
    ],
)
def test_a_list_of_sizes_becomes_a_shorter_one_of_the_readers(typed: str, advised: str, changed: str) -> None:
    """Theirs fit drafts and parallelism; told twice, or with another largest, vLLM refuses them."""
    started = read(typed)
    assert started is not None
    made = own(advised, [started], (), True)
    assert made is not None
    assert made.run.endswith(changed)


def test_where_sizes_are_no_example_of_fewer_they_are_as_advised() -> None:
    started = read("vllm serve /m --cudagraph-capture-sizes 1 2 4 8")
    assert started is not None
    made = own(f"vllm serve MODEL {SIZES}", [started])
    assert made is not None
    assert made.run == "vllm serve /m --cudagraph-capture-sizes 1 8 16 32"


@pytest.mark.parametrize(
    ("typed", "advised", "left"),
    [
        ("python3 -m sglang.launch_server --model-path /m --speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-draft-model-quantization unquant --tp 8", "python3 -m sglang.launch_server --model-path MODEL  # without --speculative-*", "--model-path /m --tp 8"),
        ("python3 -m sglang.launch_server --model-path /m --speculative-algorithm EAGLE --speculative-draft-model-quantization unquant", "python3 -m sglang.launch_server --model-path MODEL  # without --speculative-algorithm", "--model-path /m"),
        ("vllm serve /m --speculative-config.method mtp --speculative-config.num_speculative_tokens 1 --port 8", "vllm serve MODEL  # without --speculative-config", "/m --port 8"),
    ],
)
def test_a_group_of_options_goes_as_one(typed: str, advised: str, left: str) -> None:
    started = read(typed)
    assert started is not None
    made = own(advised, [started])
    assert made is not None
    assert made.run.endswith(left)
