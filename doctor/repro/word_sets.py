"""Sets of words, written as one text."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())
