"""What is stored in a short form is read back as it was."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kb.model import Reference
from kb.stored import reference_row, references_of

WORDS = st.text("ab#!/ 7-.", max_size=12)


@given(st.builds(Reference, st.sampled_from(("issue", "source", "doc")), WORDS, WORDS.map("https://github.com/".__add__)))
@example(Reference("issue", "repo #7", "https://github.com/owner/repo/issues/7"))
@example(Reference("issue", "repo #7", "https://github.com/owner/repo/pull/7"))
@example(Reference("issue", "owner/repo #7", "https://github.com/owner/repo/issues/7"))
@example(Reference("source", "repo #7", "https://github.com/owner/repo/issues/7"))
@example(Reference("issue", "repo #7", "https://gitcode.com/owner/repo/issues/7"))
@example(Reference("issue", "b#c #7", "https://github.com/a/b#c/issues/7"))
@example(Reference("issue", "repo #7: what it says", "https://github.com/owner/repo/issues/7"))
@example(Reference("issue", "a thread", ""))
def test_a_reference_is_read_back(reference: Reference) -> None:
    assert references_of([reference_row(reference)]) == (reference,)


def test_a_thread_is_stored_by_its_repository_and_number() -> None:
    assert reference_row(Reference("issue", "repo #7", "https://github.com/owner/repo/issues/7")) == "owner/repo#7"
    assert reference_row(Reference("issue", "repo #7", "https://github.com/owner/repo/pull/7")) == "owner/repo!7"
    assert reference_row(Reference("issue", "repo #7, mended", "https://github.com/owner/repo/pull/7")) == "owner/repo!7, mended"
