"""What logs tell of the situation, and how advice follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import diagnose, report
from doctor.answer.advice import chosen
from doctor.answer.met import met
from doctor.findings import inventory, started
from doctor.findings.chips import family
from doctor.findings.situation import Situation
from doctor.scan.harvest import from_json, merge
from doctor.scan.situation import Said, joined
from kb import knowledge
from kb.model import Command, Fix, Text

TRAINING = """\
[WARNING|2025-03-17 11:51:10] llamafactory.extras.misc:168 >> Version checking has been disabled
- PyTorch version: 2.1.0+cpu (NPU)
- NPU type: Ascend910B2C
- CANN version: 8.0.RC2
  File "/opt/py/lib/python3.10/site-packages/transformers/trainer.py", line 3, in training_step
RuntimeError: InnerRun:torch_npu/csrc/framework/OpParamMaker.cpp:208 NPU error, error code is 507018
"""
CUDA = """\
| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
"""

KNOWN = knowledge.load().frameworks()


def fix(name: str, **when: tuple[str, ...]) -> Fix:
    return Fix("resolve", "low", Text(name, name), (), (), (), None, tuple(when.items()))


def test_chip_versions_and_activity_are_told() -> None:
    facts = diagnose(TRAINING).situation.facts
    assert facts["chip"] == ("910B2C",)
    assert facts["cann"] == ("8.0.RC2",)
    assert facts["torch"] == ("2.1.0+cpu",)
    assert facts["activity"] == ("training",)
    assert facts["machine"] == ("npu",)
    assert facts["program"] == ("python",)


def test_nobody_on_a_gpu_is_told_to_update_vllm_ascend() -> None:
    told = Situation({"framework": ("vllm",), "machine": ("cuda",)}, KNOWN)
    assert "update" not in told.phrases()
    assert "update" in told._replace(facts={"framework": ("vllm",)}).phrases()


def test_a_machine_without_an_npu_is_told() -> None:
    assert diagnose(CUDA).situation.facts["machine"] == ("cuda",)


def test_what_a_node_tells_is_told_after_a_merge() -> None:
    harvest = diagnose(TRAINING).harvest
    again = from_json(harvest.json())
    assert merge([again, diagnose(CUDA).harvest]).situation == merge([diagnose(CUDA).harvest, harvest]).situation


def test_joining_counts_and_keeps_the_first_place() -> None:
    a, b = Said("cann", "8.0", "b.log", 2), Said("cann", "8.0", "a.log", 3)
    assert joined([a, b]) == joined([b, a]) == (Said("cann", "8.0", "a.log", 5),)


@pytest.mark.parametrize(
    ("chip", "generation"),
    [("910B4", "A2"), ("910B2C", "A2"), ("910_9362", "A3"), ("910C", "A3"), ("A3", "A3"), ("910A", "A1"), ("910PROB", "A1"), ("910", "A1"), ("310P3", "310P"), ("310B4", "310B"), ("950PR", "950")],
)  # fmt: skip
def test_generations(chip: str, generation: str) -> None:
    assert family(chip) == generation


def test_advice_for_another_situation_is_left_out() -> None:
    at = Situation({"chip": ("910B4",), "activity": ("training",), "framework": ("llamafactory", "torch_npu")}, KNOWN)
    fixes = [fix("a", chip=("310P",)), fix("b", chip=("910B",)), fix("c", framework=("vllm",)), fix("d", activity=("training",)), fix("e")]
    assert [f.title.en for f in chosen(fixes, at)] == ["b", "d", "e"]


def test_what_logs_do_not_tell_contradicts_nothing() -> None:
    """What is open stands last."""
    fixes = [fix("a", chip=("310P",)), fix("b", framework=("vllm",)), fix("c")]
    at = Situation({"framework": ("torch_npu",)}, KNOWN)
    assert [f.title.en for f in chosen(fixes, at)] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("facts", "when", "fits"),
    [
        ({"activity": ("training",)}, {"framework": ("vllm", "sglang")}, False),
        ({"activity": ("serving",)}, {"framework": ("llamafactory",)}, False),
        ({"framework": ("mindspore",), "stack": ("mindspore",)}, {"stack": ("torch",)}, False),
        ({"framework": ("mindspore",), "stack": ("mindspore",)}, {"framework": ("deepspeed",)}, False),
        ({"framework": ("swift", "torch_npu"), "stack": ("torch",)}, {"stack": ("torch",)}, True),
        ({"program": ("native",)}, {"program": ("python",)}, False),
        ({}, {"stack": ("torch",)}, None),
        ({"transformers": ("4.51.3",)}, {"transformers": (">=4.50",)}, True),
        ({"cann": ("8.0.RC2",)}, {"cann": (">=8.0",)}, False),
        ({}, {"cann": (">=8.0",)}, None),
    ],
)
def test_when_a_condition_holds(facts: dict[str, tuple[str, ...]], when: dict[str, tuple[str, ...]], fits: bool | None) -> None:
    assert Situation(facts, KNOWN).fits(tuple(when.items())) is fits


def test_a_capture_is_a_fact_as_well() -> None:
    at = Situation()
    assert at.fits((("said.allowed", ("~ ^$",)),), {"allowed": ""}) is True
    assert at.fits((("said.allowed", ("~ ^$",)),), {"allowed": "DT_FLOAT"}) is False
    assert at.fits((("said.allowed", ("~ ^$",)),), {}) is None
    assert at.fits((("said.allowed", ("unsaid",)),), {}) is True
    assert at.fits((("said.allowed", ("unsaid",)),), {"allowed": "x"}) is False
    assert [at.fits((("said.allowed", ("~ x", "unsaid")),), told) for told in ({}, {"allowed": "x"}, {"allowed": "y"})] == [True, True, False]


@pytest.mark.parametrize(
    ("log", "facts"),
    [
        ("| 0     910B3               | OK            | 67.7        36\n-- build ascend910_93 ops\n", {"chip": "910B3"}),
        ("| 0     Ascend910           | OK            | 173.4       38\nbash build.sh --soc=Ascend910B3\n", {"chip": "910_93"}),
        ("-- build ascend910_93 ops\nnpu:0\n", {"chip": "910_93"}),
        ("(lf) u@orangepiaipro-20t:~$ llamafactory-cli api a.yaml\nrun_sft\n", {"chip": "310B", "activity": "serving"}),
        ('(vllm_torch25) root@a:~# python bnb.py\n  File "/home/u/miniconda3/envs/vllm_torch25/lib/python3.9/site-packages/torch_npu/x.py", line 3, in f\n  File "/home/u/code/vllm/mine/bnb.py", line 192, in <module>\n', {"framework": "torch_npu", "activity": None}),
        ("$ conda activate vllm\n$ python /home/u/vllm.py\n  File \"/opt/conda/envs/vllm/lib/python3.10/site-packages/torch_npu/x.py\", line 3, in f\n", {"framework": "torch_npu", "activity": None}),
        ("昇腾910c 两台, CANN 8.2.RC1, vllm 0.9.1+empty\n  File \"/w/vllm-ascend/vllm_ascend/patch/worker/patch_0_9_1/patch_x.py\", line 3, in f\n", {"chip": "910C", "vllm": "0.9.1+empty", "framework": "vllm"}),
        ("F20251111 12:28:58.504206 214989 xllm.cpp:131] Check failed: HCCL_SUCCESS npu:0\n", {"framework": "xllm", "program": "native", "stack": "native"}),
        ("[root@h ~]# atc --model=a.onnx --framework=5 --soc_version=Ascend310P3\nATC run failed\n", {"activity": "conversion", "stack": "atc", "program": "tool"}),
        ("[root@h ~]# ./out/main a.jpg\n[ERROR] aclrtMemcpy failed on the NPU\n", {"program": "native", "stack": "native"}),
        ("/opt/x/csrc/a.cc:Run:218 Failed to call aclrtMemcpy of onnxruntime\n", {"program": "native", "stack": "onnxruntime"}),
        ("{'train_runtime': 12.5}\nNPU\n", {"seen": "run-completed"}),
        ("soc_version is Ascend910 \nAssertionError: Current device type: AscendDeviceType.A3 does not match\n", {"chip": "A3"}),
        ("| 0     910B                | OK            | 67.7        36\nnpu:0, a 910B\n", {"chip": "910 (A1)"}),
        ("- NPU type: Ascend910B\n- CANN version: 8.0.RC2\n", {"chip": "910 (A1)"}),
        ("on this Ascend 910B\nnpu:0\n", {"chip": "910B"}),
        ("Loading checkpoint shards:  97%|###| 36/37 [33:01<00:55]\nnpu:0\n", {"progress": "36/37"}),
        ("li@n1:~$ sudo npu-smi info\nnpu:0\n", {"place": "host"}),
        ("li@n1:~$ sudo npu-smi info\n$ docker exec -it qwen bash\nroot@0a1b2c3d4e5f:/# npu-smi info\n", {"place": "container"}),
        ("npu:0 is lost\n", {"place": None}),
        ("npu:0, CANN 8.3.RC2\n用旧的 CANN 8.1.RC1 镜像可以正常推理\n| npu-smi 24.1.0                 Version: 24.1.0 |\n", {"worked": "CANN 8.1.RC1", "cann": "8.3.RC2", "driver_pair": "older"}),
        ("npu:0, CANN 8.3.RC2\nwith the previous CANN 8.0.0 image the same command runs fine\n", {"worked": "CANN 8.0.0", "cann": "8.3.RC2"}),
        ("image quay.io/ascend/vllm-ascend:v0.11.0\nnpu:0\n", {"framework": "vllm"}),
        ("image quay.io/ascend/vllm-ascend:v0.11.0\nmineru.backend.pipeline.model_init:__init__:208 - npu:0\n", {"framework": "mineru"}),  # an image brings more than what runs in it
        ("npu:0\n    Uninstalling torch-2.8.0:\n      Successfully uninstalled torch-2.8.0\nSuccessfully installed plugh-1.0 torch-2.7.1\ntorch==2.8.0\ntorch==2.7.1\n", {"torch": "2.7.1"}),
        ("npu:0\nvllm-ascend 0.8.5rc1\nUninstalling vllm-ascend-0.8.5rc1:\n  Successfully uninstalled vllm-ascend-0.8.5rc1\nSuccessfully installed vllm-ascend-0.8.5rc2.dev3+g6a1f3c2\n", {"vllm_ascend": "0.8.5rc2.dev3+g6a1f3c2"}),
        ("npu:0\nUninstalling vllm-ascend-0.8.5rc1:\n  Successfully uninstalled vllm-ascend-0.8.5rc1\nSuccessfully installed vllm-ascend-0.8.5rc1\n", {"vllm_ascend": "0.8.5rc1", "replaced": None}),  # the same once more
        ("npu:0\nthe previous CANN 8.0.0 image does not work\n之前的 CANN 8.2.RC1 镜像也不正常\n", {"worked": None}),
        ("npu:0\nvllm               0.11.0+empty\nvllm_ascend        0.11.0rc1\n", {"pair": "fits"}),
        ("npu:0\nvllm               0.11.0+empty\nvllm_ascend        0.13.0rc1\n", {"pair": "differs"}),
        ("npu:0\nvllm               0.11.0+empty\n", {"pair": None}),
        ("npu:0\nvllm               0.1.dev1+ge5588e49b\n", {"vllm": None}),
        (".[2025-2-11 3:31:59] [WARNING] [ascend310p] te_rmsnorm_646750ff not found cann_version.h\n", {"chip": "310P"}),
        ("| 0     310P3               | OK            | 67.7        36\n$ docker run -it quay.io/ascend/vllm-ascend:v0.11.0rc0 bash\n", {"image_pair": "other-chip", "image_chip": "A2"}),
        ("| 0     910B3               | OK            | 67.7        36\n$ docker run -it quay.io/ascend/vllm-ascend:v0.11.0rc0 bash\n", {"image_pair": "fits"}),
        ("| 0     910B3               | OK            | 67.7        36\n$ docker run -it ubuntu:22.04 bash\n", {"image_pair": None}),
    ],
)  # fmt: skip
def test_facts_of_a_log(log: str, facts: dict[str, str | None]) -> None:
    told = diagnose(log).situation
    assert {fact: told.first(fact) for fact in facts} == facts


def test_a_platform_that_is_not_there_is_no_fact() -> None:
    log = "INFO 01-01 [__init__.py:44] ROCm platform is not available because no Ascend NPU is found\nValueError: bad\n"
    assert "machine" not in diagnose(log).situation.facts


@pytest.mark.parametrize(
    ("facts", "holds"),
    [
        ({}, True),
        ({"vllm_ascend": ("0.17.0rc1",)}, True),
        ({"vllm_ascend": ("0.18.0rc1",)}, False),
        ({"vllm": ("0.25.1+empty",)}, False),
        ({"vllm": ("0.18.0+empty",)}, True),
        ({"vllm": ("0.18.0",), "vllm_ascend": ("0.18.0",)}, False),
        ({"vllm": ("0.13.0",), "vllm_ascend": ("0.11.0rc4.dev12+gfcfb3a0e9",)}, True),
    ],
)
def test_a_fault_is_none_of_the_releases_that_have_its_fix(facts: dict[str, tuple[str, ...]], holds: bool) -> None:
    """Where the logs do not tell the release it may well be that fault, and a vllm of the same number runs with earlier builds as well."""
    assert Situation(facts).fits((("mended", ("0.18.0rc1",)),)) is holds


def test_a_variant_says_what_a_fact_decides() -> None:
    """The same failure, on the chip where MindSpore does not run and on another one."""
    log = "MindSpore version:  2.4.0\nEE8888: Inner Error!\n        rtStreamCreateWithFlags execute failed, reason=[feature not support][FUNC:FuncErrorReason][FILE:error_message_manage.cc][LINE:49]\nRuntimeError: Create stream failed, ret:207000\n"
    plain, on_310 = (diagnose(log + more).roots[0].finding.entry for more in ("", "soc is Ascend310\n| 0       310                   | OK |\n"))
    assert (plain.code, on_310.code) == ("VER020", "VER020")
    assert "MindSpore does not run on Ascend 310" not in plain.title.en
    assert "MindSpore does not run on Ascend 310" in on_310.title.en


def test_what_the_framework_is_told_fills_advice() -> None:
    at = Situation({"framework": ("xllm", "torch_npu"), "activity": ("serving",)}, KNOWN)
    assert at.phrases()["graphs_off"].en == "start with --enable_graph=false"
    assert Situation({"framework": ("paddle",)}, KNOWN).phrases().keys() == {"update"}


def test_what_a_fact_makes_doubtful_stands_behind_a_cause() -> None:
    """Of one failed start: kernels for GPUs that do not import, and a module that the installed pair does not have."""
    log = (
        "vllm               0.11.0+empty\nvllm_ascend        0.11.0rc1\ntriton-ascend      3.2.0\n"
        "AttributeError: module 'triton.language' has no attribute 'constexpr_function'\nModuleNotFoundError: No module named 'vllm.lora.lora_model'\nnpu:0\n"
    )
    assert [root.finding.entry.code for root in diagnose(log).roots][:2] == ["VER012", "VER016"]


def test_an_image_of_another_chip_is_held_against_the_card_of_another_file(tmp_path: Path) -> None:
    """The image stands in a manifest, the card in what npu-smi printed, the error in the log."""
    (tmp_path / "pod.yaml").write_text("kind: Pod\nspec:\n  containers:\n  - name: a\n    image: frob/sglang:main-cann8.2.rc1-a3\n")
    (tmp_path / "node.txt").write_text("| 0     910B3               | OK            | 67.7        36                0    / 0             |\n")
    (tmp_path / "console.log").write_text("        [Set][Options]OpCompileProcessor init failed![FUNC:ReportInnerError][FILE:log_inner.cpp][LINE:145]\n")
    told = report(str(tmp_path))
    assert "made for another chip" in told["findings"][0]["title"]["en"]
    assert "frob/sglang:main-cann8.2.rc1-a3" in told["findings"][0]["fixes"][0]["commands"][0]["run"]


@pytest.mark.parametrize(
    ("log", "title"),
    [
        ("ray.exceptions.RayTaskError: ray::W.run()\nAssertionError: Expects tensor to be on the compute device npu:3, was on npu:0\n", "Tensors of every rank lie on npu:0"),
        ("Job 'raysubmit_a' submitted\n+ ray job submit -- python3 t.py\nAssertionError: no NPU\n", "This process of Ray sees no NPU"),
        ("AssertionError: no NPU\n", "A Python assertion failed"),
    ],
)  # fmt: skip
def test_an_assertion_that_speaks_of_an_npu_is_read(log: str, title: str) -> None:
    assert report(log)["findings"][0]["title"]["en"].startswith(title)


def test_a_name_in_code_that_asks_for_a_chip_tells_none() -> None:
    """`is_310p` is asked on every card; what lies in the folder of one is run on it alone."""
    frames = 'Traceback (most recent call last):\n  File "/w/vllm_ascend/{0}.py", line 31, in plugh\n    from vllm_ascend.utils import is_310p\nImportError: plugh\n'
    chips = [diagnose(frames.format(file)).situation.facts.get("chip", ()) for file in ("platform", "_310p/model_runner")]
    assert chips == [(), ("310P",)]


def test_an_image_of_another_chip_is_told_with_the_situation_and_beside_a_code_without_a_meaning() -> None:
    """A driver that is older than its CANN is the cause where the first call fails with 507899; the image is named beside it."""
    log = (
        "| npu-smi 22.0.4                                   Version: 22.0.4       |\n| 13      310P3                 | OK              | NA           50                0    / 0              |\n"
        "package_name=Ascend-cann-toolkit\nversion=8.2.RC1\n$ docker run -it quay.io/ascend/vllm-ascend:v0.11.0rc0-openeuler bash\n"
        "RuntimeError: Initialize:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:217 NPU function error: aclrtSetDevice(device_id_), error code is 507899\n"
    )
    told = report(log)
    assert told["situation"]["line"]["en"].endswith("an image made for A2")
    assert "driver 22.0.4 is older than CANN 8.2.RC1 asks for" in told["findings"][0]["title"]["en"]


def test_a_variant_is_shown_by_what_failed_and_not_by_the_step_that_told_it() -> None:
    log = "[ 50%] Building kernel plugh_kernel.cpp\nThe extend info: errcode:(0x2000000000000, 0, 0) errorStr: VEC instruction error: the ub address out of bounds. fixp_error0 info: 0x41, subErrType:4.\n"
    [found] = [f for f in report(log)["findings"] if f["role"] == "root"]
    assert "The kernel that was built here" in found["title"]["en"]
    assert [row["matched"] != "" for row in found["evidence"]] == [False, True]


def test_neither_a_command_nor_a_frame_is_shown_for_a_failure() -> None:
    """Words such as `no` and `error` stand in the options of a command as well."""
    log = (
        "python3 -m verl.trainer.main_ppo data.truncation=error algorithm.use_kl_in_reward=False trainer.nnodes=1\n"
        "torch.distributed.DistNetworkError: The client socket has timed out after 1800000ms while trying to connect to (10.1.2.3, 38321).\n"
    )
    [found] = [f for f in report(log)["findings"] if f["role"] == "root"]
    assert "One machine" in found["title"]["en"]
    assert [row["line"] for row in found["evidence"] if row["matched"]] == [2]


def test_a_tag_has_nothing_of_the_build_in_it() -> None:
    """An image and a branch are called by the release: 0.19.0+empty is how a build of it calls itself."""
    assert Situation({"vllm": ("4.7.3+empty",), "torch": ("4.7.3+cpu",)}).names() == {"vllm": "4.7.3", "torch": "4.7.3+cpu"}



def test_what_is_said_as_a_fact_is_only_said_where_it_was_captured() -> None:
    """`~ .` asks whether anything was captured at all; what a capture says is left open where there is none."""
    found = Situation()
    assert found.fits((("said.brought", ("~ .",)),), {"other": "x"}) is False
    assert found.fits((("said.kernel", ("~ (?i)gather",)),), {"other": "x"}) is None
    assert found.fits((("said.brought", ("~ .",)),)) is None, "of no finding: nothing is known"
    assert found.fits((("option", ("fsdp2",)),)) is False, "an option that no command and no script sets"


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("Package    Version\n---------- -------\nattrs      1.2\nplugh-x    4.7.3\nwheel      0.38.4\n", {"attrs": "1.2", "plugh_x": "4.7.3", "wheel": "0.38.4"}),
        ("attrs==1.2\nnumpy==1.24.4\nplugh-x==4.7.3\n", {"attrs": "1.2", "numpy": "1.24.4", "plugh_x": "4.7.3"}),
        ("- `plugh` version: 1.0\n- PEFT version: 0.12.0\n- Platform: Linux\n", {"plugh": "1.0", "peft": "0.12.0"}),
        ("numpy==1.24.4\n", {}),
    ],
)
def test_lists_tell_what_is_installed(log: str, told: dict[str, str]) -> None:
    assert diagnose(log).situation.packages == told


def test_what_pip_freeze_does_not_show_is_not_lacking() -> None:
    """It names what came from a file in another form, so that the list breaks off there."""
    log = "attrs @ file:///croot/attrs\ndecorator @ file:///croot/decorator\nnumpy==1.24.4\nplugh-x==4.7.3\nzipp==3.1.0\n"
    assert "lacking" not in diagnose(log).situation.facts


def test_a_release_that_a_list_shows_is_no_advice() -> None:
    command = Command("pip install 'plugh-x>=4.5'", Text("", ""), Text("", ""))
    fix = Fix("resolve", "low", Text("Update it", "升级"), (), (), (command,), None, ())
    assert met(fix, Situation(packages={"plugh_x": "4.7.3"})) is True
    assert met(fix, Situation(packages={"plugh_x": "4.4.0"})) is False
    assert met(fix, Situation()) is False


@pytest.mark.parametrize(
    ("row", "command", "says"),
    [
        ("frob-xyzzy   0.3   /w/frob", "", ("editable",)),
        ("frob_xyzzy   0.3   /w/frob", "docker run -it -v /home/u/out:/w IMAGE bash", ("editable", "hidden")),
        ("frob-xyzzy   0.3   /w/frob", "docker run -it -v /home/u/out:/w/fro -v /home/u/w:/data IMAGE bash", ("editable",)),
        ("frob-xyzzy   0.3", "", ("installed",)),
        ("frob-xyzzy2  0.3", "", ()),
    ],
)
def test_a_missing_package_is_looked_up_in_a_list_beside_it(row: str, command: str, says: tuple[str, ...]) -> None:
    """It is not missing where the list has it: its sources are gone, or another Python ran."""
    told = inventory.listed("frob_xyzzy", [f"attrs 1.2 {row} "], tuple(filter(None, [started.read(f"{command} $")])))
    assert tuple(told.get("listed", "").split()) == says
    assert ("mount_from" in told) == ("hidden" in says)
