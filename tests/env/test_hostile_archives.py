"""Archives of a machine's tree that are made to take memory."""

from __future__ import annotations

import gzip
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from doctor.base.errors import UsageError
from doctor.env import archive

LARGE = 30 << 20


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
@pytest.mark.parametrize("first", [True, False])
def test_a_name_without_an_end_is_not_read(kind: bytes, first: bool, tmp_path: Path) -> None:
    """A head of tar says how long the name is that follows: at the beginning of an archive and behind a member."""
    plain, long = tarfile.TarInfo("etc/hostname"), tarfile.TarInfo("long")
    long.type, long.size = kind, LARGE
    path = tmp_path / "tree.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write((b"" if first else plain.tobuf()) + long.tobuf(tarfile.GNU_FORMAT) + b"a" * LARGE + plain.tobuf())
    tracemalloc.start()
    with pytest.raises(UsageError, match="no archive that can be read"):
        archive.read(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LARGE / 2
