"""A machine's tree out of an archive (tar in any compression, zip): read in memory, within bounds, nothing unpacked."""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from doctor.base.errors import UsageError
from doctor.env.tree import FILE, FOLDER, LINK, MAX_TEXT, NODE, Members
from parsers.named import NamedTuple

MAX_MEMBERS = 1_000_000  # of which only the names are kept
MAX_TEXTS = 96 << 20  # bytes of all texts that are kept
MAX_NAME = 1 << 20  # bytes of a name, with what else stands in its head
# What of a machine is read: version files, metadata of packages, what the kernel tells, recorded outputs.
_WANTED = re.compile(
    r"(?:^|/)(?:version\.(?:info|cfg)|[\w.-]*install\.info|METADATA|PKG-INFO|pyvenv\.cfg|os-release|hostname|hccn\.conf|\.dockerenv|\.containerenv)$"
    r"|(?:^|/)(?:etc/(?:passwd|group|hccn\.conf|hccl_rootinfo\.json)|proc/|sys/(?:devices/system|bus/pci)|commands/|sos_commands/)"
    r"|(?:^|/)(?:npu-smi|hccn_tool|env|printenv|environ|id|ulimit|uname|pip_list|ls_)[^/]*$"
)
_ROOTS = ("etc", "proc", "usr", "home", "root", "dev", "opt", "sys", "commands", "sos_commands")


class _Info(tarfile.TarInfo):
    """A head of tar whose names are no longer than names are: the library would read any length into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        special = self.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
        if special and self.size > MAX_NAME:
            raise tarfile.ReadError(f"a name of {self.size} bytes")
        read: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return read


class _Member(NamedTuple):
    path: str
    kind: str
    target: str
    data: bytes | None


def read(name: str) -> Members:
    """The tree that an archive holds."""
    try:
        members = list(_bounded(_members(name)))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{name} is no archive that can be read: {error}", "give a folder, a .tar (.gz, .xz, .bz2) or a .zip") from None
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}", "give a folder, a .tar.gz or a .zip that holds a machine's tree") from None
    top = _top([m.path for m in members])
    texts: dict[str, bytes] = {}
    kinds: dict[str, str] = {}
    links: dict[str, str] = {}
    for member in members:
        path = "/" + member.path[len(top) :]
        if not member.path.startswith(top) or path == "/":
            continue
        kinds[path] = member.kind
        if member.kind == LINK:
            links[path] = member.target[len(top) :] if top and member.target.startswith("/" + top) else member.target
        if member.data is not None:
            texts[path] = member.data
    return Members(name, texts, kinds, links)


def _bounded(found: Iterator[_Member]) -> Iterator[_Member]:
    kept = 0
    for number, member in enumerate(found):
        if number >= MAX_MEMBERS:
            return
        kept += len(member.data or b"")
        yield member if kept <= MAX_TEXTS else member._replace(data=None)


def _members(name: str) -> Iterator[_Member]:
    try:
        archive = tarfile.open(name, "r:*", tarinfo=_Info)
    except tarfile.ReadError:
        return _zip(name)
    return _tar(archive)


def _tar(archive: tarfile.TarFile) -> Iterator[_Member]:
    with archive:
        for info in archive:
            path = _clean(info.name)
            kind = LINK if info.issym() else FOLDER if info.isdir() else FILE if info.isfile() else NODE
            if info.islnk():
                kind = LINK
            target = "/" + _clean(info.linkname) if info.islnk() else info.linkname
            yield _Member(path, kind, target, _taken(archive, info, path) if kind == FILE else None)


def _taken(archive: tarfile.TarFile, info: tarfile.TarInfo, path: str) -> bytes | None:
    if info.size > 64 * MAX_TEXT or not _WANTED.search(path):
        return None
    file = archive.extractfile(info)
    return file.read(MAX_TEXT + 1) if file is not None else None


def _zip(name: str) -> Iterator[_Member]:
    with zipfile.ZipFile(name) as archive:
        for info in archive.infolist():
            path = _clean(info.filename)
            link = (info.external_attr >> 16) & 0o170000 == 0o120000
            kind = LINK if link else FOLDER if info.is_dir() else FILE
            data = None
            if (link or _WANTED.search(path)) and info.file_size <= 64 * MAX_TEXT and kind != FOLDER:
                with archive.open(info) as file:
                    data = file.read(MAX_TEXT + 1)
            target = data.decode("utf-8", "replace") if link and data else ""
            yield _Member(path, kind, target, None if link else data)


def _clean(path: str) -> str:
    """A name inside of the archive: nothing leads out of it."""
    return "/".join(part for part in path.replace("\\", "/").split("/") if part not in ("", ".", ".."))


def _top(paths: list[str]) -> str:
    """The folder in which the tree begins: reports have one of their own around it."""
    heads = {path.split("/", 1)[0] for path in paths if path}
    if heads & set(_ROOTS) or len(heads) != 1:
        return ""
    return heads.pop() + "/"
