"""What a person sees of a fleet: the real program in a terminal, with a stand-in for docker on PATH."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal import terminal
from tui.support import MTE

from kb.in_use import cache_folder
from tests.fleet.conftest import path_of_nodes

# `docker exec` into three containers of which each holds the log of the same fault; all others are gone.
DOCKER = """\
#!/bin/sh
[ "$1 $2" = "exec -i" ] || exit 125
case "$3" in
  worker*) export ASCEND_PROCESS_LOG_PATH="{trees}/$3"; shift 3; exec "$@" ;;
  *) echo "Error response from daemon: No such container: $3" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path) -> dict[str, str]:
    """The variables with which it is found."""
    for n in range(3):
        folder = tmp_path / "trees" / f"worker-{n}"
        folder.mkdir(parents=True)
        (folder / "plog-4242_20260302091400000.log").write_text(MTE + "\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/docker").write_text(DOCKER.format(trees=tmp_path / "trees"))
    (tmp_path / "bin/docker").chmod(0o755)
    cache = cache_folder()  # where the knowledge lies compiled already
    assert cache is not None
    return {"PATH": f"{tmp_path / 'bin'}:{path_of_nodes()}", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache.parent), "XDG_STATE_HOME": str(tmp_path / "state")}


def test_one_answer_for_many_nodes_of_which_most_are_gone(docker: dict[str, str], tmp_path: Path) -> None:
    """Rows 83 and 85: the cause once with all nodes that have it, those that did not answer in one line with the reason, the limit each node has; only they are asked again."""
    names = [f"worker-{n}" for n in range(3)] + [f"gone-{n:03}" for n in range(12)]
    told = {
        "en": ("(one of 3: worker-[0-2])", "scanned 3: worker-[0-2]", "unreachable 12: gone-[000-011]", "No such container: NODE", "fleet scan --resume"),
        "zh": ("（共 3 个：worker-[0-2]）", "worker-[0-2]", "无法连接 12: gone-[000-011]", "No such container: NODE", "fleet scan --resume"),
    }
    calls = {"en": (*names, "--via", "docker", "--into", "run", "--timeout", "200"), "zh": ("--resume", "run")}
    for lang, call in calls.items():
        seen = terminal("fleet", "scan", *call, "--lang", lang, cwd=tmp_path, **docker)
        assert seen.code == 1, seen.text
        assert seen.text.count("RTS001 ") == 1
        flat = " ".join(seen.text.split())
        assert [text for text in told[lang] if text not in flat] == []
        assert ("15 nodes via docker" in flat and "200 s each" in flat) if lang == "en" else "12 个节点" in flat


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_ways_to_nodes_are_named(lang: str) -> None:
    """Row 84: a way that does not exist is refused with those that do, before anything is asked; each of them has tests with the real thing or a stand-in."""
    seen = terminal("fleet", "scan", "n1", "--via", "dokcer", "--lang", lang)
    assert seen.code == 2
    assert [way for way in ("ssh", "srun", "kubectl", "docker", "ray") if f"'{way}'" not in seen.text] == []
    assert ("help" if lang == "en" else "建议") in seen.text
