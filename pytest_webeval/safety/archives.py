"""Members of a `trace.zip` or `network.har.zip`, read in place and within limits: their names are never paths."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable
from copy import copy

from pytest_webeval.errors import EvaluationError
from pytest_webeval.safety.limits import Limits

# RuntimeError: an encrypted member, or (its child) an unknown compression.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, KeyError, ValueError, RuntimeError, EOFError, OSError)
_DIRECTORY_ENTRY = b"PK\x01\x02"
_SMALL = 16 * 2**20  # bytes; what unpacks to less may be packed as tightly as it likes
_CHUNK_SIZE = 4096  # bytes of bzip2 or LZMA that are unpacked at once, however much that comes to
_BOUNDED_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # which never unpack more than they are asked for


class OverLimit(zipfile.BadZipFile):
    """A limit that an intact archive exceeds."""


class Archive:
    """A zip archive in memory. What it raises, here and later, is in `BROKEN_ZIP`."""

    folder = ""  # in which the members lie, with a slash at its end

    def __init__(self, content: bytes, limits: Limits) -> None:
        if content.count(_DIRECTORY_ENTRY) > limits.archive_members:
            problem = f"it has more than {limits.archive_members:,} members; {limits.describe('archive_members')}"
            raise OverLimit(problem)
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        self.limits = limits

    @property
    def names(self) -> list[str]:
        """Names of the members that are no directories, sorted."""
        names = {info.filename for info in self._archive.infolist() if info.filename.startswith(self.folder)}
        # is_dir raises for an empty name
        return sorted(name.removeprefix(self.folder) for name in names if not name.endswith("/"))

    def below(self, folder: str) -> Archive:
        """The members in a folder of the archive, which ends in a slash; empty for all."""
        part = copy(self)
        part.folder = f"{self.folder}{folder}"
        return part

    def __contains__(self, name: str) -> bool:
        return f"{self.folder}{name}" in self._archive.NameToInfo

    def read(self, name: str, max_size: int) -> bytes:
        """The bytes of a member, of which there are at most so many."""
        info = self._archive.getinfo(f"{self.folder}{name}")
        if info.file_size > max_size:
            raise OverLimit(f"{name} unpacks to {info.file_size:,} bytes; the limit is {max_size:,}")
        ratio = info.file_size / max(info.compress_size, 1)
        if info.file_size > _SMALL and ratio > self.limits.expansion:
            problem = f"{name} unpacks to {ratio:,.0f} times its size; {self.limits.describe('expansion')}"
            raise OverLimit(problem)
        with self._archive.open(info) as member:
            if info.compress_type in _BOUNDED_METHODS:
                return member.read(info.file_size)  # with no number, all is unpacked before the rest is cut off
            return b"".join(iter(lambda: member.read(_CHUNK_SIZE), b""))

    def read_beginning(self, name: str, size: int) -> bytes:
        """The first bytes of a member; none of one that cannot be unpacked a piece at a time."""
        info = self._archive.getinfo(f"{self.folder}{name}")
        if info.compress_type not in _BOUNDED_METHODS:
            return b""
        with self._archive.open(info) as member:
            return member.read(size)


def list_visible(names: Iterable[str]) -> list[str]:
    """The names without those that systems add when they pack a folder: `__MACOSX/trace/._trace.network`."""
    return [
        name for name in names if not any(part.startswith(".") for part in name.split("/")) and "__MACOSX/" not in name
    ]


def choose_advice(error: BaseException, damaged: str) -> str:
    """What to do about an archive that cannot be read: of one that is `damaged`, or else of one that is intact."""
    if isinstance(error, OverLimit):
        return "raise the limit, or record less"
    if isinstance(error, RuntimeError):  # encrypted, or compressed in another way
        return "pack it again without a password and with the usual compression"
    return damaged


def build_body_reader(
    archive: Archive, where: str, folder: str = "", most: int | None = None
) -> Callable[[str], bytes]:
    """Bodies that an archive holds, each of at most so many bytes. Reading a missing one raises `EvaluationError`."""
    size = archive.limits.body_size if most is None else min(most, archive.limits.body_size)

    def fetch(reference: str) -> bytes:
        try:
            return archive.read(f"{folder}{reference.removeprefix(folder)}", size)
        except BROKEN_ZIP as error:
            raise EvaluationError(f"{where} has no body {reference}: {error}; re-record the run") from error

    return fetch
