"""Where the weights alone fill the cards, the sum is told, and the reader's own command among as many cards as there is room for."""

from __future__ import annotations

import pytest

from doctor.api import report
from doctor.findings.started import Started, read
from doctor.findings.weights import card_gib, divided, parameters, weights

FULL = (
    "root@2f1a2b3c4d5e:/# {command}\n"
    "(Worker_TP0 pid=11) INFO plugh vllm_ascend platform npu\n"
    "(Worker_TP0 pid=11) RuntimeError: NPU out of memory. Tried to allocate 462.00 MiB (NPU 0; 60.97 GiB total capacity; 58.92 GiB already allocated; "
    "58.92 GiB current active; 112.00 MiB free; 59.01 GiB reserved in total by PyTorch)\n"
)


def command(text: str) -> Started:
    made = read(text)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("vllm serve /models/Plugh-72B-Instruct --tensor-parallel-size 2 --max-model-len 8192", "vllm serve /models/Plugh-72B-Instruct --tensor-parallel-size 4 --max-model-len 8192"),
        ("vllm serve /models/Plugh-32B", "vllm serve /models/Plugh-32B --tensor-parallel-size 2"),
        ("python3 -m sglang.launch_server --model-path /models/Plugh-72B --tp 2", "python3 -m sglang.launch_server --model-path /models/Plugh-72B --tp 4"),
    ],
)
def test_the_readers_command_gets_as_many_cards_as_leave_room(typed: str, wanted: str) -> None:
    first = report(FULL.format(command=typed))["findings"][0]
    shown = first["fixes"][first["first_fix"]]
    assert "The weights alone need" in shown["title"]["en"]
    assert [one["run"] for one in shown["commands"]] == [wanted]


@pytest.mark.parametrize(
    "typed",
    [
        "vllm serve /models/Plugh-7B",  # leaves room
        "vllm serve /models/plugh",  # of no size
        "vllm serve /models/Plugh-72B-GGUF",  # of bytes that nothing tells
        "vllm serve /models/Plugh-8x7B",  # shared parts are counted in each expert
        "vllm serve /models/Plugh-235B-A22B --data-parallel-size 8 --enable-expert-parallel",  # experts are divided otherwise
    ],
)
def test_nothing_is_said_of_weights_that_leave_room_or_are_not_told(typed: str) -> None:
    assert "The weights alone" not in str(report(FULL.format(command=typed)))


def test_what_no_node_holds_is_quantised() -> None:
    shown = str(report(FULL.format(command="vllm serve /models/Plugh-480B-A35B --tensor-parallel-size 16")))
    assert "take quantised ones (W8A8), 28 GiB on each of 16" in shown
    assert "--tensor-parallel-size 32" not in shown


@pytest.mark.parametrize(
    ("frame", "option"),
    [
        ("/w/swift/cli/rlhf.py", "--vllm_tensor_parallel_size 2"),
        ("/w/verl/verl/trainer/main_ppo.py", "rollout.tensor_model_parallel_size=2"),
    ],
)
def test_an_engine_that_a_trainer_makes_is_told_by_the_option_of_the_trainer(frame: str, option: str) -> None:
    """`vllm serve` beside it would only take further cards."""
    text = (
        "INFO 03-21 17:02:48 llm_engine.py:234] Initializing a V0 LLM engine (v0.7.3) with config: model='/m/Plugh-32B', tokenizer='/m/Plugh-32B', max_seq_len=1024, tensor_parallel_size=1\n"
        f'Traceback (most recent call last):\n  File "{frame}", line 5, in <module>\n    main()\n'
        '  File "/usr/lib/python3/dist-packages/vllm_ascend/worker/worker.py", line 180, in load_model\n    self.model_runner.load_model()\n'
        "RuntimeError: NPU out of memory. Tried to allocate 542.00 MiB (NPU 3; 60.97 GiB total capacity; 58.89 GiB already allocated; 58.89 GiB current active; 546.91 MiB free; 59.73 GiB reserved in total by PyTorch)\n"
    )
    first = report(text)["findings"][0]
    shown = first["fixes"][first["first_fix"]]
    assert "The weights alone need 60 GiB" in shown["title"]["en"]
    assert option in str(shown["steps"])
    assert "vllm serve" not in str(first["fixes"])


@pytest.mark.parametrize(
    ("name", "billions"),
    [("Plugh2.5-0.5B", 0.5), ("org/Plugh-30B-A3B-w8a8", 30), ("/w/DeepSeek-V3.1-w8a8", 671), ("Plugh-1M-context", None), ("Plugh-7B-13B", None), ("plugh-R1-Distill-32B/", 32)],
)
def test_parameters_are_read_from_a_name(name: str, billions: float | None) -> None:
    assert parameters(name) == billions


@pytest.mark.parametrize(("name", "width"), [("Plugh-72B", 2), ("Plugh-72B-W8A8", 1), ("Plugh-72B-AWQ", 0.5), ("Plugh-72B-GPTQ-Int4", 0.5), ("Plugh-72B-w4a8-mtp", 0.5)])
def test_bytes_are_read_from_a_name(name: str, width: float) -> None:
    told = weights(command(f"vllm serve /m/{name}"), {"chip": ("910B3",)}, {})
    assert told is not None
    assert told.width == width


def test_a_message_tells_what_a_card_holds_before_its_name_does() -> None:
    assert card_gib({"chip": ("910B4",)}, {"capacity": "60.97 GiB"}) == 60.97
    assert card_gib({"chip": ("910B4",), "card_mib": ("32768",)}, {}) == 32
    assert card_gib({"chip": ("910B4-1",)}, {}) == 61
    assert card_gib({"chip": ("910",)}, {}) is None


def test_a_degree_that_divides_also_leaves_room() -> None:
    service = command("sglang serve --model-path /m/Plugh-122B-A10B --tp-size 6")
    assert divided({"tp": "6"}, service, {"card_gib": ("60.55",)}) == {"tp_fit": "8"}
    assert divided({"tp": "6"}, service, {}) == {"tp_fit": "4"}
    assert divided({"tp": "6"}, service, {"card_gib": ("60.55",), "npu_ids": ("0, 1, 2, 3, 4, 5",)}) == {"tp_fit": "4"}
