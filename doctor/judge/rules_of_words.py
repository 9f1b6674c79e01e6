"""Rules about entries that rest on the words of a line alone: on what it says, or on what those words mean."""

from __future__ import annotations

from doctor.findings.evaluate import Finding, leaves_of
from doctor.judge.nature import ends_job, guesses, is_read, is_vague, may_be_root, tells
from doctor.judge.scene import Scene
from parsers.lazy import lazy


def words_beside_a_code(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Of a line of which an entry knows nothing but the code, its words tell what failed.

    Without it: incident sglang-operator-in-no-kernels-package: OPR042 is read first.
    """
    return (
        is_read(cause.entry)
        and not is_vague(cause.entry)
        and may_be_root(cause.entry)
        and not is_read(effect.entry)
        and effect.entry.confidence != "high"
        and _known_by_code(effect)
        and scene.places.reads(effect, cause)
    )


def code_explains_no_words(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """And never the other way round.

    Without it: incident sglang-operator-in-no-kernels-package: MNG060 is put beneath OPR042.
    """
    return words_beside_a_code(cause, effect, scene)


def _known_by_code(finding: Finding) -> bool:
    """Does nothing but the number of an error decide that it holds?"""
    signals = finding.entry.signals
    forms = {signals[leaf].id: signals[leaf].form for part in finding.entry.condition for leaf in leaves_of(part)}
    return all(forms[hit.signal] == "code" for hit in finding.hits if hit.signal in forms)


def guess_at_a_known_line(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """An entry that only repeats what a line says yields to whoever knows that line.

    Without it: incident seed-help-acl-execute-a: NOT033 is a root.
    """
    return (
        guesses(effect.entry)
        and not guesses(cause.entry)
        and not cause.entry.general
        and tells(cause.entry)
        and scene.places.reads(cause, effect)
    )


def knows_the_guessed_line(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """And never the other way round, however early the guess stands.

    Without it: sample DST007/old: NOT033 is read first.
    """
    return guess_at_a_known_line(cause, effect, scene)


def read_from_words(effect: Finding, cause: Finding, scene: Scene) -> bool:
    """Read from the words of a line that nobody may know: whoever knows what happened there knows more.

    Without it: incident compile-triton-ub-overflow: MNG022 is a root.
    """
    return (
        is_read(effect.entry)
        and not is_read(cause.entry)
        and not cause.entry.general
        and not guesses(cause.entry)
        and (may_be_root(cause.entry) or (is_vague(effect.entry) and cause.entry.role == "symptom"))
        and ends_job(cause.entry)
        and (scene.places.near(effect, cause) or _of_its_package(effect, cause))
    )


_PACKAGE_OF = ("where", "in", "module", "name")


def _of_its_package(effect: Finding, cause: Finding) -> bool:
    """Did it fail in the package of which pip did not find the wanted release? It is the one that stayed, wherever somebody wrote of pip."""
    wanted = cause.instances[0].captures.get("package") if cause.entry.domain == "install" else None
    if not wanted:
        return False
    package = _project(wanted)
    return any(_project(value) == package for one in effect.instances for name in _PACKAGE_OF if (value := one.captures.get(name)))


def _project(named: str) -> str:
    """The project of a requirement or a module.

    >>> _project("Plugh-Frob[a]==1.2"), _project("plugh_frob.xyzzy")
    ('plugh_frob', 'plugh_frob')
    """
    return _PROJECT.split(named, maxsplit=1)[0].lower().replace("-", "_")


_PROJECT = lazy(r"[^\w-]")


def vague_words_explain_no_symptom(effect: Finding, cause: Finding, _: Scene) -> bool:
    """That something failed, or was waited for in vain, is less than a symptom that is known.

    Without it: incident hccl-notify-lmdeploy-hang: MNG051 is read first.
    """
    return effect.entry.role == "symptom" and is_read(cause.entry) and is_vague(cause.entry)
