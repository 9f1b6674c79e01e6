"""Images of vllm-ascend: tags that were published, of the reader's chip; packages for who has a Python of their own."""

from __future__ import annotations

import pytest

from doctor.answer.image_tags import real
from doctor.answer.newer import with_newer
from doctor.findings.situation import Situation
from kb.knowledge import Knowledge
from kb.model import Command, Fix, Text

PULL = "docker pull quay.io/ascend/vllm-ascend:v{}"


@pytest.mark.parametrize(
    ("facts", "title", "asked", "made"),
    [
        ({}, "x", "0.13.0rc2.dev12+g81f30aa", PULL.format("0.13.0rc2")),  # a build: of its release
        ({"vllm": ("0.11.0+empty",)}, "x", "0.11.1.dev5+gabc", PULL.format("0.11.0")),  # or of the same vllm
        ({}, "x", "99.0.0.dev1+gabc", ""),
        ({}, "x", "99.0.0", PULL.format("99.0.0")),  # newer than the tables
        ({}, "x", "X.Y.Z-310p", PULL.format("0.23.0-310p")),  # no version is told
        ({"chip": ("910_9362",)}, "x", "VERSION", PULL.format("0.23.0-a3")),
        ({}, "x", "0.1", PULL.format("0.23.0")),
        ({"chip": ("910_9362",)}, "x", "0.9.1", PULL.format("0.10.0rc1-a3")),  # the first that was made for it
        ({"chip": ("310P3",)}, "x", "0.9.1", PULL.format("0.9.2rc1-310p")),
        ({"chip": ("310P3",)}, "x", "0.9.1rc1", PULL.format("0.9.1rc1-310p")),
        ({"chip": ("910_9362",)}, "Start the image of this chip", "0.18.0-310p", PULL.format("0.18.0-a3")),
        ({"chip": ("910B3",)}, "Start the image of this chip", "0.18.0-310p", PULL.format("0.18.0")),
        ({"chip": ("910B3",)}, "On a 310P its image", "0.18.0-310p", PULL.format("0.18.0-310p")),
    ],
)
def test_an_image_has_a_tag_that_was_published(knowledge: Knowledge, facts: dict[str, tuple[str, ...]], title: str, asked: str, made: str) -> None:
    fix = Fix("resolve", "low", Text(title, "x"), (), (), (Command(PULL.format(asked), Text("x", "x"), None),), None)
    assert [c.run for c in real([fix], Situation(facts, published=knowledge.published()))[0].commands] == ([made] if made else [])


def test_that_a_release_has_no_image_for_a_chip_is_said(knowledge: Knowledge) -> None:
    fix = Fix("resolve", "low", Text("x", "x"), (), (), (Command(PULL.format("0.9.1"), Text("x", "x"), None),), None)
    why = real([fix], Situation({"chip": ("A3",)}, published=knowledge.published()))[0].commands[0].why
    assert why is not None
    assert why.en == "0.9.1 has no image for this chip; 0.10.0rc1 is the next that has"


@pytest.mark.parametrize(
    ("facts", "begins"),
    [
        ({"seen": ("own-python",)}, "pip install vllm==0.18.0 && pip install vllm-ascend==0.18.0"),
        ({"seen": ("own-python",), "chip": ("910_9362",)}, "pip install vllm==0.18.0 && git clone --depth 1 --branch v0.18.0 "),
        ({"seen": ("own-python", "gpustack")}, "docker pull "),
        ({"seen": ("own-python",), "image": ("q/i:1",)}, "docker pull "),
        ({"seen": ("own-python",), "place": ("container",)}, "docker pull "),
    ],
)
def test_who_has_a_python_of_their_own_is_told_packages(knowledge: Knowledge, facts: dict[str, tuple[str, ...]], begins: str) -> None:
    """The wheels on PyPI are made for A2: others build the plugin."""
    fix = Fix("resolve", "low", Text("Take that image", "x"), (), (), (Command(PULL.format("0.18.0"), Text("x", "x"), None),), None)
    assert real([fix], Situation(facts, published=knowledge.published()))[0].commands[0].run.startswith(begins)


def test_where_another_fix_builds_it_the_image_stays(knowledge: Knowledge) -> None:
    pull = Fix("resolve", "low", Text("x", "x"), (), (), (Command(PULL.format("0.18.0-a3"), Text("x", "x"), None),), None)
    build = pull._replace(commands=(Command("pip install -v --no-build-isolation -e .", Text("x", "x"), None),))
    assert real([pull, build], Situation({"seen": ("own-python",)}, published=knowledge.published())) == (pull, build)


@pytest.mark.parametrize(
    ("faulty", "vllm_ascend", "pulled"),
    [
        ("", "0.23.0rc1", "0.23.0"),
        ("vllm_ascend", "0.23.0rc1", "0.23.0"),
        ("vllm", "0.22.1rc1", "0.23.0"),  # it has a newer vllm
        ("vllm", "0.23.0rc1", "0.30.0rc2"),  # 0.23.0 has the same vllm, and its fault
    ],
)
def test_a_fault_of_vllm_is_not_mended_by_a_release_with_the_same_vllm(knowledge: Knowledge, faulty: str, vllm_ascend: str, pulled: str) -> None:
    fix = Fix("resolve", "low", Text("Take the next release of vllm-ascend", "x"), (), (), (), None)
    situation = Situation({"vllm_ascend": (vllm_ascend,)}, published=knowledge.published())
    assert [c.run for c in with_newer(fix, situation, faulty).commands] == [PULL.format(pulled)]
