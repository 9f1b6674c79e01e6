"""What a scan needs of compiled packages, in plain Python: slower, and without time limits of their own; a node's time is limited.

Sent to nodes beside the program, one file for each package, and used there only where the real one does not load.
"""

from __future__ import annotations

REGEX = '''
import re as _re
from re import *
from re import error, Pattern, Match

class _Limited:
    """A pattern that takes a time limit and has none."""

    def __init__(self, pattern):
        self._pattern = pattern

    def __getattr__(self, name):
        return getattr(self._pattern, name)

    def search(self, text, *rest, timeout=None, **more):
        return self._pattern.search(text, *rest)

    def match(self, text, *rest, timeout=None, **more):
        return self._pattern.match(text, *rest)

    def fullmatch(self, text, *rest, timeout=None, **more):
        return self._pattern.fullmatch(text, *rest)

    def finditer(self, text, *rest, timeout=None, **more):
        return self._pattern.finditer(text, *rest)

def compile(pattern, flags=0, **more):
    return _Limited(_re.compile(pattern, flags))

def search(pattern, text, flags=0, timeout=None, **more):
    return _re.search(pattern, text, flags)
'''

AHOCORASICK = '''
import re as _re

class AhoCorasick:
    """All words that stand in a text, overlapping ones too."""

    def __init__(self, words, **more):
        self._words = list(words)

    def find_matches_as_indexes(self, text, overlapping=False):
        return [(n, at, at + len(w)) for n, w in enumerate(self._words) if (at := text.find(w)) >= 0]
'''

RAPIDFUZZ = '''
class fuzz:
    """How alike two texts are: only an order of hints, which a node's harvest does not hold."""

    @staticmethod
    def token_set_ratio(a, b, **more):
        return 0.0
'''

FILES = {"regex.py": REGEX, "ahocorasick_rs.py": AHOCORASICK, "rapidfuzz.py": RAPIDFUZZ}
