"""Which version to take: only one that is published with what the log tells, and never the one that is installed."""

from __future__ import annotations

import pytest

from doctor.answer.known_words import as_released, of_software, versions
from doctor.answer.newer import with_image, with_newer
from doctor.answer.situation_line import asked_for
from doctor.findings.fits import cann_of, driver, later, misfits, names, pair, together, toolkit
from doctor.findings.situation import Situation
from doctor.findings.started import read
from kb.knowledge import Knowledge
from kb.model import Command, Fix, Text
from kb.pairings import Pairing

ROWS = (
    Pairing("vllm_ascend", {"vllm_ascend": ("0.13.0rc1",), "vllm": ("0.13.0",), "torch": ("2.8.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.13.0",), "vllm": ("0.13.0",), "torch": ("2.8.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.9.1",), "vllm": ("0.9.1",), "torch": ("2.5.1",)}),
    Pairing("torch_npu", {"torch_npu": ("2.8.0",), "torch": ("2.8.0",), "cann": ("8.3.RC1",)}),
    Pairing("torch_npu", {"torch_npu": ("2.8.0.post2",), "torch": ("2.8.0",), "cann": ("8.5.0",)}),
)
BOTH = {"importer": "vllm_ascend", "imported": "vllm"}


@pytest.mark.parametrize(
    ("known", "name", "version"),
    [
        ({"vllm": "0.13.0"}, "vllm_ascend_for_vllm", "0.13.0"),
        ({"vllm": "v0.13.0+empty", "vllm_ascend": "0.9.1"}, "vllm_ascend_for_vllm", "0.13.0"),
        ({"vllm": "0.13.0", "vllm_ascend": "0.13.0rc1"}, "vllm_ascend_for_vllm", None),
        ({"vllm": "0.14.2"}, "vllm_ascend_for_vllm", None),
        ({}, "vllm_ascend_for_vllm", None),
        ({"torch": "2.8.0+cpu", "cann": "8.5.0"}, "torch_npu_for_torch", "2.8.0.post2"),
        ({"torch": "2.8.0+cpu", "cann": "8.9.0"}, "torch_npu_for_torch", "2.8.0"),
    ],
)
def test_the_version_to_take(known: dict[str, str], name: str, version: str | None) -> None:
    """It follows from one that is known; a finished release goes first; a pair that fits needs none."""
    assert names(known, ROWS).get(name) == version


@pytest.mark.parametrize(
    ("known", "pair_of_cann"),
    [
        ({"cann": "8.5.0", "torch": "2.8.0+cpu"}, ("2.8.0", "2.8.0.post2")),
        ({"cann": "8.5.0", "torch_npu": "2.7.1"}, ("2.7.1", "2.7.1.post2")),
        ({"cann": "8.5.0", "torch_npu": "2.7.1.dev20250801"}, ("2.7.1", "2.7.1.post2")),
        ({"cann": "8.5.0", "torch": "2.1.0"}, ("2.9.0", "2.9.0")),
        ({"cann": "8.5.0"}, ("2.9.0", "2.9.0")),
        ({"cann": "7.9.0", "torch": "2.8.0"}, (None, None)),
        ({"torch": "2.8.0"}, (None, None)),
    ],
)
def test_the_pair_to_install_for_a_cann(knowledge: Knowledge, known: dict[str, str], pair_of_cann: tuple[str | None, str | None]) -> None:
    """Of the torch that is there, which torch_npu tells as well; the newest where none of it goes with this CANN."""
    told = names(known, knowledge.published())
    assert (told.get("cann_torch"), told.get("cann_torch_npu")) == pair_of_cann


@pytest.mark.parametrize(
    ("known", "wanted", "update"),
    [
        ({"torch_npu": "2.8.0"}, "8.3.RC1", "8.3.RC1"),
        ({"torch_npu": "2.8.0", "cann": "8.3.RC1"}, "8.3.RC1", None),
        ({"torch_npu": "2.8.0", "cann": "8.0.0"}, "8.3.RC1", "8.3.RC1"),
        ({"vllm_ascend": "0.9.1", "torch_npu": "2.8.0"}, "8.3.RC1", "8.3.RC1"),
        ({"torch_npu": "2.8.1"}, None, None),
        ({"torch_npu": "2.8.0rc1", "cann": "8.2.RC1"}, "8.3.RC1", "8.3.RC1"),
        ({"torch_npu": "2.8.0.dev20250801"}, "8.3.RC1", "8.3.RC1"),
        ({"cann": "8.0.0"}, None, None),
    ],
)
def test_the_cann_that_software_was_made_for(known: dict[str, str], wanted: str | None, update: str | None) -> None:
    """Whichever is installed; and as an update where that is another one."""
    told = names(known, ROWS)
    assert (told.get("cann_wanted"), told.get("cann_update")) == (wanted, update)


@pytest.mark.parametrize(
    ("known", "name", "version"),
    [
        ({"torch_npu": "2.8.0"}, "torch_npu_next", "2.8.0.post2"),
        ({"torch_npu": "2.8.0.post2"}, "torch_npu_next", None),
        ({"vllm_ascend": "0.13.0rc1"}, "vllm_ascend_next", "0.13.0"),
        ({"vllm_ascend": "0.9.1"}, "vllm_ascend_next", None),
        ({"vllm_ascend": "0.1"}, "vllm_ascend_next", None),
    ],
)
def test_the_next_release_of_a_line(known: dict[str, str], name: str, version: str | None) -> None:
    """For the same torch, or the same vLLM; of a release that nobody published none is next."""
    assert names(known, ROWS).get(name) == version


@pytest.mark.parametrize(
    ("facts", "unfit"),
    [
        ({"torch_npu": ("2.8.0",), "cann": ("8.2.RC1",)}, [("cann", "8.3.RC1")]),
        ({"torch_npu": ("2.8.0",), "cann": ("8.3.RC1",)}, []),
        ({"torch_npu": ("2.8.0",), "cann": ("8.5.0",)}, []),
        ({"torch_npu": ("2.8.0",), "cann": ("8.2.RC1", "8.3.RC1")}, []),
        ({"torch_npu": ("2.8.0",), "torch": ("2.9.0+cpu",)}, [("torch", "2.8.0")]),
        ({"vllm_ascend": ("0.9.1",), "vllm": ("v0.13.0+empty",), "torch": ("2.8.0",)}, [("vllm", "0.9.1"), ("torch", "2.5.1")]),
        ({"vllm_ascend": ("0.13.0rc1",), "vllm": ("0.13.0",)}, []),
        ({"vllm_ascend": ("0.99",), "vllm": ("0.13.0",)}, []),
    ],
)
def test_releases_that_do_not_go_together(facts: dict[str, tuple[str, ...]], unfit: list[tuple[str, str]]) -> None:
    """What is published with another one that is there; a later CANN is none, nor is anything where several are told."""
    assert [(one.software, one.wanted) for one in misfits(facts, ROWS)] == unfit


@pytest.mark.parametrize(("version", "release"), [("0.9.1", "0.13.0"), ("0.13.0rc1", "0.13.0"), ("0.13.0", None), ("0.1.dev1+g90b", None)])
def test_the_newest_finished_release_where_it_is_later(version: str, release: str | None) -> None:
    """Candidates are no release that anybody is sent to; what is built from a checkout has no place among releases."""
    assert later("vllm_ascend", version, ROWS) == release


@pytest.mark.parametrize(
    ("facts", "title", "image"),
    [
        ({"vllm_ascend": ("0.9.1",)}, "Upgrade vllm-ascend on both sides", "vllm-ascend:v0.13.0"),
        ({"vllm_ascend": ("0.9.1",), "chip": ("910_9362",)}, "Update vllm and vllm-ascend together", "vllm-ascend:v0.13.0-a3"),
        ({"vllm_ascend": ("0.9.1",), "chip": ("910B4",)}, "Take the next release of vllm-ascend", "vllm-ascend:v0.13.0"),
        ({"vllm_ascend": ("0.9.1", "0.9.2")}, "Upgrade vllm-ascend", ""),
        ({"vllm_ascend": ("0.13.0",)}, "Upgrade vllm-ascend", ""),
        ({"vllm_ascend": ("0.9.1",)}, "Take another card", ""),
        ({"vllm": ("0.9.1",)}, "Upgrade vllm-ascend", "vllm-ascend:v0.13.0"),
        ({}, "Upgrade vllm-ascend", ""),
    ],
)
def test_an_update_names_its_release(facts: dict[str, tuple[str, ...]], title: str, image: str) -> None:
    """The image of the chip that the logs tell; nothing where they do not tell what is there."""
    fix = Fix("resolve", "low", Text(title, title), (), (), (Command("pip list", None, None),), None)
    made = with_newer(fix, Situation(facts, published=ROWS))
    assert [c.run.partition("quay.io/ascend/")[2] for c in made.commands[1:]] == ([image] if image else [])


KNOWN = {"cann": "8.0.RC2", "cann_update": "8.1.RC1", "cann_wanted": "8.1.RC1", "vllm": "v0.9.1+empty", "vllm_ascend_for_vllm": "0.9.1", "torch_npu_next": "2.1.0.post6"}


@pytest.mark.parametrize(
    ("chip", "typed", "run", "made"),
    [
        ("A3", "", "docker pull quay.io/ascend/vllm-ascend:v0.18.0", "docker pull quay.io/ascend/vllm-ascend:v0.18.0-a3"),
        ("910B3", "", "docker pull quay.io/ascend/vllm-ascend:v0.18.0", "docker pull quay.io/ascend/vllm-ascend:v0.18.0"),
        ("310P3", "", "docker pull quay.io/ascend/vllm-ascend:v0.18.0-310p", "docker pull quay.io/ascend/vllm-ascend:v0.18.0-310p"),
        ("A3", "docker run -it mirror.example/quay.io/ascend/vllm-ascend:v0.13.0rc1-a3-openeuler bash", "docker pull quay.io/ascend/vllm-ascend:v0.18.0", "docker pull mirror.example/quay.io/ascend/vllm-ascend:v0.18.0-a3-openeuler"),
        ("", "docker run -it quay.io/ascend/vllm-ascend:v0.17.0rc1-310p bash", "docker pull quay.io/ascend/vllm-ascend:v0.18.0", "docker pull quay.io/ascend/vllm-ascend:v0.18.0-310p"),
        ("", "docker run -it own/image:v1 bash", "docker pull quay.io/ascend/vllm-ascend:v0.18.0", "docker pull quay.io/ascend/vllm-ascend:v0.18.0"),
    ],
)
def test_an_image_is_the_one_for_the_readers_machine(chip: str, typed: str, run: str, made: str) -> None:
    """Of their chip, system and registry, where one command shows the image that they run."""
    facts = {"vllm_ascend": ("0.13.0rc1",), **({"chip": (chip,)} if chip else {})}
    command = Command(run, Text("downloads an image", "下载镜像"), None)
    given = tuple(started for started in [read(typed)] if started is not None)
    fix = with_newer(Fix("resolve", "medium", Text("Take that image", "使用该镜像"), (), (), (command,), None, ()), Situation(facts, started=given))
    assert [c.run for c in fix.commands] == [made]


@pytest.mark.parametrize(
    ("place", "begins"),
    [(("host",), "pip install vllm=="), (("container",), "docker pull "), ((), "docker pull ")],
)
def test_on_a_bare_host_an_image_is_the_pair_that_it_holds(knowledge: Knowledge, place: tuple[str, ...], begins: str) -> None:
    command = Command("docker pull quay.io/ascend/vllm-ascend:v0.13.0", Text("x", "x"), Text("", ""))
    fix = with_newer(Fix("resolve", "low", Text("Take that image", "使用该镜像"), (), (), (command,), None, ()), Situation({"place": place} if place else {}, published=knowledge.published()))
    assert fix.commands[0].run.startswith(begins)
    assert "0.13.0" in fix.commands[0].run


def test_every_post_release_of_torch_npu_has_its_torch(knowledge: Knowledge) -> None:
    assert names({"torch_npu": "2.8.0.post1", "torch": "2.12.0"}, knowledge.published())["torch_for_torch_npu"] == "2.8.0"
    assert "torch_for_torch_npu" not in names({"torch_npu": "9.9.0.post7", "torch": "9.9.0"}, knowledge.published())


@pytest.mark.parametrize(
    ("run", "made"),
    [
        ("bash Ascend-cann-toolkit_VERSION_linux-$(uname -m).run --install && bash Ascend-cann-kernels-910b_VERSION_linux.run --install", "bash Ascend-cann-toolkit_8.1.RC1_linux-$(uname -m).run --install && bash Ascend-cann-kernels-910b_8.1.RC1_linux.run --install"),
        ("bash Ascend-cann-kernels-910b_VERSION_linux.run --install", "bash Ascend-cann-kernels-910b_8.0.RC2_linux.run --install"),
        ("bash Ascend-cann-nnal_VERSION_linux-$(uname -m).run", "bash Ascend-cann-nnal_8.1.RC1_linux-$(uname -m).run"),
        ("pip install vllm==X.Y.Z && pip install 'vllm-ascend==X.Y.Z'", "pip install vllm==0.9.1 && pip install 'vllm-ascend==0.9.1'"),
        ("pip install torch==VERSION torch-npu==VERSION", "pip install torch==VERSION torch-npu==VERSION"),
        ("pip install --force-reinstall --no-deps torch-npu==VERSION", "pip install --force-reinstall --no-deps torch-npu==2.1.0.post6"),
        ("docker pull quay.io/ascend/vllm-ascend:vX.Y.Z-310p", "docker pull quay.io/ascend/vllm-ascend:v0.9.1-310p"),
        ("pip install torch_npu==X.Y.Z.postN", "pip install torch_npu==X.Y.Z.postN"),
    ],
)
def test_the_versions_of_a_command(run: str, made: str) -> None:
    """What is published stands in the command; of a pair of packages both are known, or neither is filled in."""
    assert versions(run, KNOWN) == made


def test_no_version_of_a_log_is_more_than_a_version() -> None:
    """What a log calls a version is text of others."""
    assert versions("bash Ascend-cann-nnal_VERSION_x.run", {"cann_wanted": "8.0; rm -rf ~"}) == "bash Ascend-cann-nnal_VERSION_x.run"


def test_a_pair_is_told_with_its_versions() -> None:
    """What fits either of the two is told, each with the one that it keeps."""
    told = pair(BOTH, {"vllm": "0.13.0", "vllm_ascend": "0.9.1"}, ROWS)
    assert (told["importer_version"], told["imported_version"]) == ("0.9.1", "0.13.0")
    assert told["pairs"].split("; ")[:2] == ["vllm-ascend 0.9.1 + vllm 0.9.1", "vllm 0.13.0 + vllm-ascend 0.13.0"]


@pytest.mark.parametrize(
    ("captures", "known"),
    [(BOTH, {}), (BOTH, {"vllm": "0.13.0", "vllm_ascend": "0.13.0"}), ({"importer": "trl", "imported": "vllm"}, {"vllm": "0.13.0"}), ({}, {"vllm": "0.13.0"})],
)
def test_nothing_is_published_of_other_pairs(captures: dict[str, str], known: dict[str, str]) -> None:
    """No version is known, they fit already, or no table names both: then nothing is said."""
    assert "pairs" not in pair(captures, known, ROWS)


def test_what_is_published_is_in_the_pack(knowledge: Knowledge) -> None:
    """The rows that the built-in knowledge holds, without those that are guesses."""
    rows = knowledge.published()
    assert {"torch_npu", "vllm_ascend", "mindspore"} <= {row.table for row in rows}
    assert names({"vllm": "0.11.0"}, rows)["vllm_ascend_for_vllm"] == "0.11.0"


DRIVER_ROWS = (
    Pairing("driver", {"cann": ("8.5.0",), "hdk": ("25.5.X", "25.3.X", "25.0.X")}),
    Pairing("driver", {"cann": ("8.3.RC1",), "hdk": ("25.3.RC1",)}),
)


@pytest.mark.parametrize(
    ("cann", "installed", "made"),
    [
        ("8.3.RC2", "24.1.rc3", {"driver_pair": ("older",), "driver_wanted": ("25.3.RC1",)}),
        ("8.3.RC1", "25.3.rc1", {"driver_pair": ("fits",)}),
        ("8.3.RC1", "26.0.rc1", {"driver_pair": ("fits",)}),
        ("8.5.0", "24.1.0", {"driver_pair": ("older",), "driver_wanted": ("25.0",)}),
        ("8.5.0", "25.3.rc1.1", {"driver_pair": ("fits",)}),
        ("7.0.0", "23.0.0", {}),
    ],
)
def test_a_driver_that_is_older_than_its_cann_wants(cann: str, installed: str, made: dict[str, tuple[str, ...]]) -> None:
    assert driver({"cann": (cann,), "driver": (installed,)}, DRIVER_ROWS) == made
    assert driver({"cann": (cann,), "driver": (installed, "9.9")}, DRIVER_ROWS) == {}


CANN_ROWS = (
    Pairing("torch_npu", {"torch_npu": ("2.5.1",), "torch": ("2.5.1",), "cann": ("8.1.RC1",), "adapter": ("7.0.0",)}),
    Pairing("adapter_tolerance", {"adapter": ("7.0.0",), "cann": ("8.1.RC1", "8.0.0", "8.0.RC2")}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.9.1",), "vllm": ("0.9.1",), "cann": ("8.2.RC1",), "torch_npu": ("2.5.1.post1",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.7.1rc1",), "vllm": ("0.7.1",), "cann": ("8.0.0",), "torch_npu": ("2.5.1.dev20250218",)}),
)


@pytest.mark.parametrize(
    ("facts", "told", "later"),
    [
        ({"torch_npu": "2.5.1", "cann": "8.0.RC1"}, ("older",), "8.1.RC1"),
        ({"torch_npu": "2.5.1", "cann": "8.0.RC3.20"}, ("fits",), None),
        ({"torch_npu": "2.5.1.dev20250226", "cann": "8.0.RC1"}, ("older",), "8.0.0"),
        ({"torch_npu": "2.5.1.dev20250101", "cann": "8.0.RC1"}, ("older",), "8.1.RC1"),
        ({"torch_npu": "2.5.1", "vllm_ascend": "0.9.1", "cann": "8.0.0"}, ("older",), "8.2.RC1"),
        ({"vllm": "0.9.1+empty", "cann": "8.0.RC3.20"}, ("older",), "8.2.RC1"),
        ({"vllm": "0.9.1", "cann": "8.3.RC1"}, ("fits",), None),
        ({"vllm": "0.5.0", "cann": "8.0.RC1"}, None, None),
        ({"torch_npu": "2.5.1"}, None, None),
    ],
)
def test_a_cann_that_is_older_than_its_software_needs(facts: dict[str, str], told: tuple[str, ...] | None, later: str | None) -> None:
    """What torch_npu is declared to run with is not too old; a build before a release needs what the last one published before it needs."""
    assert toolkit({name: (version,) for name, version in facts.items()}, CANN_ROWS).get("cann_pair") == told
    assert names(facts, CANN_ROWS).get("cann_later") == later


def test_of_several_canns_none_is_judged() -> None:
    assert toolkit({"torch_npu": ("2.5.1",), "cann": ("8.0.RC1", "8.2.RC1")}, CANN_ROWS) == {}


def test_a_cann_that_is_too_old_is_told_with_the_software_that_needs_another() -> None:
    facts = {"torch_npu": ("2.5.1.dev20250226",), "cann": ("8.0.RC1",)}
    (told,) = asked_for(Situation({**facts, **toolkit(facts, CANN_ROWS)}, published=CANN_ROWS))
    assert (told.software, told.version, told.wanted, told.by, told.of) == ("cann", "8.0.RC1", "8.0.0", "torch_npu", "2.5.1.dev20250226")


@pytest.mark.parametrize(
    ("run", "made"),
    [
        ("./Ascend-cann-kernels-910b_8.0.RC1_linux*.run --install && source set_env.sh", "bash Ascend-cann-toolkit_8.2.RC1_linux-$(uname -m).run --install && ./Ascend-cann-kernels-910b_8.2.RC1_linux*.run --install && source set_env.sh"),
        ("bash Ascend-cann-toolkit_8.0.RC1_linux-$(uname -m).run --install", "bash Ascend-cann-toolkit_8.2.RC1_linux-$(uname -m).run --install"),
        ("bash Ascend-cann-toolkit_8.0.RC1_linux-$(uname -m).run --check", "bash Ascend-cann-toolkit_8.0.RC1_linux-$(uname -m).run --check"),
        ("bash Ascend-cann-kernels-910b_8.0.RC10_linux*.run --install", "bash Ascend-cann-kernels-910b_8.0.RC10_linux*.run --install"),
        ("bash Ascend-cann-nnal_8.0.RC1_linux-$(uname -m).run --install", "bash Ascend-cann-nnal_8.0.RC1_linux-$(uname -m).run --install"),
    ],
)
def test_no_installer_of_a_cann_that_is_too_old(run: str, made: str) -> None:
    """Its operators alone would not fit another toolkit; what is only checked stays as it is."""
    assert of_software(run, {"cann": "8.0.RC1", "cann_later": "8.2.RC1"}) == made
    assert of_software(run, {"cann": "8.0.RC1"}) == run
    assert of_software(run, {"cann": "8.0.RC1", "cann_later": "8.2; rm -rf ~"}) == run


@pytest.mark.parametrize(
    ("vllm", "plugin", "told"),
    [("0.13.0", "0.13.0rc1", ("fits",)), ("0.12.0", "0.13.0rc1", ("differs", "plugin-newer")), ("0.21.0+empty", "0.23.0rc1.dev12+g81f30aa", ("differs", "plugin-newer")), ("0.23.0", "0.21.0.dev3", ()), ("0.14.1", "0.14.0.dev5", ()), ("0.9.2+empty", "0.9.1", ("differs", "no-plugin"))],
)
def test_which_of_vllm_and_its_plugin_is_the_newer_one(vllm: str, plugin: str, told: tuple[str, ...]) -> None:
    """A checkout has no place in the table; its number tells for which vllm it waits."""
    assert together({"vllm": (vllm,), "vllm_ascend": (plugin,)}, ROWS) == told


def test_a_driver_older_than_any_that_is_published_for_the_cann_is_told() -> None:
    known = {"driver": ("23.0.7",), "cann": ("8.5.1",)}
    (told,) = asked_for(Situation({**known, "driver_pair": ("older",), "driver_wanted": ("25.0",)}))
    assert (told.software, told.version, told.wanted, told.by, told.of) == ("driver", "23.0.7", ">=25.0", "cann", "8.5.1")
    assert asked_for(Situation({**known, "driver_pair": ("fits",)})) == ()


@pytest.mark.parametrize(
    ("run", "made"),
    [
        ("./Ascend-cann-kernels-310p_9.0.0_linux-$(uname -m).run --install", "./Ascend-cann-310p-ops_9.0.0_linux-$(uname -m).run --install"),
        ("bash Ascend-cann-kernels-CHIP_8.5.0_linux*.run", "bash Ascend-cann-CHIP-ops_8.5.0_linux*.run"),
        ("bash Ascend-cann-kernels-A3_8.5.0_linux*.run", "bash Ascend-cann-A3-ops_8.5.0_linux*.run"),
        ("bash Ascend-cann-kernels-A3_8.3.RC1_linux*.run", "bash Atlas-A3-cann-kernels_8.3.RC1_linux*.run"),
        ("bash Ascend-cann-kernels-910b_8.3.RC1_linux*.run", "bash Ascend-cann-kernels-910b_8.3.RC1_linux*.run"),
        ("bash Ascend-cann-kernels-910b_VERSION_linux*.run", "bash Ascend-cann-kernels-910b_VERSION_linux*.run"),
    ],
)
def test_operator_packages_are_called_as_in_their_release(run: str, made: str) -> None:
    """CANN 8.5 renamed them; those of A3 had a name of their own before."""
    assert as_released(run) == made


WHEEL = "https://ms-release.obs.cn-north-4.myhuaweicloud.com/$V/MindSpore/unified/$(uname -m)/mindspore-$V-$P-{abi}-linux_$(uname -m).whl"


@pytest.mark.parametrize(
    ("run", "version", "abi"),
    [
        ("pip install mindspore==2.5.0", "2.5.0", "$P"),
        ("python3 -m pip install 'mindspore==2.6.0-rc1'", "2.6.0rc1", "$P"),
        ("pip install mindspore==2.1.0", "2.1.0", "${P/cp37/cp37m}"),
    ],
)
def test_releases_that_an_index_lacks_are_taken_from_where_they_lie(run: str, version: str, abi: str) -> None:
    """PyPI has MindSpore from 2.7 on; the wheel is that of the Python that runs."""
    made = as_released(f"source set_env.sh && {run}")
    assert made.startswith(f"source set_env.sh && V={version} && P=$(python3 -c ")
    assert made.endswith(f" && python3 -m pip install {WHEEL.format(abi=abi)}")


@pytest.mark.parametrize("run", ["pip install mindspore==2.7.1", "pip install mindspore==VERSION", "pip install mindspore-ascend==1.10.1", "pip install mindspore==1.9.0", "pip install mindspore==2.5.0 mindformers==1.4"])
def test_what_an_index_has_or_nobody_knows_stays(run: str) -> None:
    assert as_released(run) == run


IMAGES = (
    Pairing("vllm_ascend", {"vllm_ascend": ("0.18.0",), "cann": ("8.5.2",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.14.0rc1",), "cann": ("8.5.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.13.0",), "cann": ("8.5.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.11.0",), "cann": ("8.3.RC2",)}),
)
TOOLKIT = "bash Ascend-cann-toolkit_8.5.0_linux-$(uname -m).run --install && pip install 'triton-ascend>=3.2.0'"


@pytest.mark.parametrize(
    ("image", "made"),
    [
        ("quay.io/ascend/vllm-ascend:v0.11.0rc2-openeuler", "docker pull quay.io/ascend/vllm-ascend:v0.13.0-openeuler"),
        ("mirror.example/ascend/vllm-ascend:v0.13.0rc1-a3", "docker pull mirror.example/ascend/vllm-ascend:v0.13.0-a3"),
        ("quay.io/ascend/cann:8.3.rc1-910b-ubuntu22.04-py3.11", "docker pull quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11"),
        ("quay.io/ascend/cann:9.0.0-910b-ubuntu22.04-py3.11", TOOLKIT),
        ("quay.io/ascend/vllm-ascend:v0.20.0", TOOLKIT),
        ("own/image:1", TOOLKIT),
    ],
)
def test_who_starts_an_image_gets_another_tag_of_it(image: str, made: str) -> None:
    """What would be installed in a host goes with a container: the next finished release that has that CANN, of the same repository."""
    started = read(f"docker run -it --privileged {image} bash")
    assert started is not None
    fix = Fix("resolve", "medium", Text("CANN 8.5.0 or later", "x"), (), (), (Command(TOOLKIT, None, None),), None)
    assert [c.run for c in with_image(fix, Situation({}, published=IMAGES, started=(started,))).commands] == [made]


@pytest.mark.parametrize(("releases", "told"), [(("0.11.0",), True), (("0.11.0+empty",), True), (("0.11.0", "4.7.3"), False), ((), False)])
def test_the_cann_of_a_release_of_vllm_ascend_is_told_where_it_is_published(knowledge: Knowledge, releases: tuple[str, ...], told: bool) -> None:
    assert bool(cann_of(releases, knowledge.published())) is told


def test_nobody_with_a_later_release_is_told_of_an_older_cann(knowledge: Knowledge) -> None:
    old = (("cann", ("<8.0",)),)
    assert Situation({"vllm_ascend": ("0.11.0",)}, {}, knowledge.published()).fits(old) is False
    assert Situation({"vllm_ascend": ("4.7.3",)}, {}, knowledge.published()).fits(old) is None
