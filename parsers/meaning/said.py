"""What a program said when it failed, and what was read from it."""

from __future__ import annotations

from parsers.named import NamedTuple
from parsers.raised import blame
from parsers.traceback import Failure, Raised

LONGEST = 1500
"""Characters of a text, and of the lines that follow it, that are looked at."""
FOLLOWING = 6
ASSERTION = "AssertionError"
"""One without a message says something as well: the source line tells its rule."""
_CELL = 160
_CONTINUED = 400
"""How far into the next lines a message may begin whose own line is only its title."""

_ADVICE = ("[FUNC:", "[THREAD:", "Possible Cause:", "Solution:", "TraceBack (most recent")
# Packages whose name for pip is another one; "_" and "-" are the same to pip.
_DISTRIBUTIONS = {
    "cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "yaml": "pyyaml", "skimage": "scikit-image",
    "google": "protobuf", "bs4": "beautifulsoup4", "Crypto": "pycryptodome", "dateutil": "python-dateutil",
    "swift": "ms-swift", "llamafactory": "llamafactory", "fitz": "pymupdf", "dotenv": "python-dotenv",
    "paddle": "paddlepaddle", "git": "gitpython", "attr": "attrs", "pkg_resources": "setuptools", "whisper": "openai-whisper",
    "jwt": "PyJWT", "serial": "pyserial", "docx": "python-docx",
    "fla": "flash-linear-attention", "megatron": "megatron-core", "mpl_toolkits": "matplotlib", "OpenSSL": "pyopenssl", "magic": "python-magic",
    "Levenshtein": "python-Levenshtein", "faiss": "faiss-cpu", "usb": "pyusb", "zmq": "pyzmq",
}  # fmt: skip


class Said(NamedTuple):
    """The message of an exception, or an error line; of an exception also what its frames tell."""

    text: str
    """Peeled; several lines are joined by newlines."""
    type: str = ""
    """Of the exception as printed, "" for a plain line."""
    raised_in: str = ""
    """The package of the last frame outside the standard library; "" is the user's own code, or nothing is known of it."""
    caller: str = ""
    """The package above it in the frames, "user" for the user's own code; "" when there is none."""
    through: tuple[str, ...] = ()
    """The packages passed, outermost first, without repeats, the user's own and the standard library."""
    user_file: str = ""
    """The last frame of the user's own code, as file:line; "" when there is none."""
    code: str = ""
    """The source line that raised."""
    calls: str = ""
    """With which call the caller entered the package that raised."""
    following: tuple[str, ...] = ()
    """A few lines below, peeled."""

    @property
    def line(self) -> str:
        """The text as one line."""
        return _without_advice(self.text[:LONGEST]).replace("\n", " ").replace("\\n", " ")

    @property
    def whole(self) -> str:
        """The text and what follows as one line: a list that is told may stand in the next line."""
        return _without_advice(" ".join((self.line, *(line.strip()[:LONGEST] for line in self.following[:FOLLOWING]))))[: 2 * LONGEST]

    def reaches(self, at: int) -> bool:
        """Does a place in `whole` still belong to this text: stands it in the text, or right below a mere title?"""
        end = min(len(self.text), LONGEST)
        return at < end or (self.text.rstrip().endswith((":", "(", ",")) and at < end + _CONTINUED)


class Reading(NamedTuple):
    """A row that the text says: the table's name, and the cells that are known."""

    table: str
    cells: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        """The value of a cell, "" when the text does not tell it."""
        return dict(self.cells).get(name, "")


def _without_advice(text: str) -> str:
    """What happened, without where it was written and what the software guesses about it."""
    ends = [at for words in _ADVICE if (at := text.find(words)) > 0]
    return text[: min(ends, default=len(text))]


def reading(table: str, **cells: str) -> Reading:
    """A row of what is known; values are one line of bounded length."""
    kept = ((name, " ".join(value.split())[:_CELL].strip()) for name, value in cells.items() if value)
    return Reading(f"meaning.{table}", tuple((name, value) for name, value in kept if value))


def distribution(package: str) -> str:
    """What pip calls a package that Python code imports.

    >>> distribution("cv2"), distribution("vllm_ascend"), distribution("trl")
    ('opencv-python', 'vllm-ascend', 'trl')
    """
    return _DISTRIBUTIONS.get(package) or package.replace("_", "-")


def said_by(failure: Failure, part: Raised) -> Said:
    """What an exception said, with what the frames tell that it passed."""
    who = blame(failure, part)
    code = who.last.code if who.last is not None else ""
    return Said(part.message, part.type, who.owner, who.caller, who.through, who.own, code, who.calls)
