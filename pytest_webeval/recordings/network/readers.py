"""Network recordings: HAR files, alone or in an archive, Playwright's traces as zip, folder or line file, and logs."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import UNDECODABLE, RunInputs, decode_lenient, try_decode
from pytest_webeval.recordings.network.bodies import NOTHING, BodySource, build_archive_source, build_folder_source
from pytest_webeval.recordings.network.entries import TEXT, Entry
from pytest_webeval.recordings.network.events import RECORD_AGAIN, REQUEST_LOG, NetworkTrace
from pytest_webeval.recordings.network.har_entries import TooManyEntries, build_trace, too_many_entries
from pytest_webeval.recordings.network.playwright import (
    load_folder,
    load_lines,
    load_zip,
    read_line_entries,
)
from pytest_webeval.safety.archives import BROKEN_ZIP, Archive, choose_advice, list_visible
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.run_directory import is_directory


class _Log(msgspec.Struct, gc=False):
    entries: list[Entry]
    creator: msgspec.Raw = NOTHING


class _Har(msgspec.Struct, gc=False):
    log: _Log


class _LooseLog(msgspec.Struct, gc=False):
    entries: msgspec.Raw
    creator: msgspec.Raw = NOTHING


class _LooseHar(msgspec.Struct, gc=False):
    log: _LooseLog


_MEMBER = "har.har"  # as Playwright calls it, whatever the archive is called
_HAR = msgspec.json.Decoder(_Har)
_LOOSE_HAR = msgspec.json.Decoder(_LooseHar)
_CREATOR = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LARGE = 32 * 2**20  # bytes; fewer cannot hold entries enough to matter
_VALUES = 20  # for each entry that may be read, commas in a HAR that is read entry by entry
_PIECE = 4_000  # bytes; of larger pieces fewer are ASCII and need no decoding


def load_har(inputs: RunInputs, name: str) -> NetworkTrace:
    """The events of a HAR, or of a line file under the name of one (spec §3.1). Raises `RecordingError`."""
    return _parse_trace(inputs.read(name), str(inputs.directory / name), build_folder_source(inputs, "."))


def load_har_zip(inputs: RunInputs, name: str) -> NetworkTrace:
    """The events of a HAR in an archive with its bodies, as Playwright writes it, read in place.

    Raises `RecordingError`.
    """
    where = str(inputs.directory / name)
    try:
        archive = Archive(inputs.read(name), inputs.limits)
        folder, member = _find_member(archive.names)
        archive = archive.below(folder)
        content = archive.read(member, inputs.limits.file_size)
    except BROKEN_ZIP as error:
        message = f"cannot read {where} as an archive with a {_MEMBER}: {error}"
        raise RecordingError(f"{message}; {choose_advice(error, RECORD_AGAIN)}") from error
    trace = _parse_trace(content, f"{where}/{folder}{member}", build_archive_source(archive, where))
    return replace(trace, repairs=trace.repairs or f"{where} is an archive")


def _find_member(names: Sequence[str]) -> tuple[str, str]:
    """The folder and the name of the HAR in an archive: of one that was packed again, the only one that there is."""
    hars = [name for name in list_visible(names) if name.endswith(".har")]
    folder, slash, member = (_MEMBER if _MEMBER in names or len(hars) != 1 else hars[0]).rpartition("/")
    return f"{folder}{slash}", member


def _parse_trace(content: bytes, where: str, bodies: BodySource) -> NetworkTrace:
    limits, repairs = bodies.limits, None
    if content.startswith(codecs.BOM_UTF8):
        content, repairs = content.removeprefix(codecs.BOM_UTF8), f"{where} starts with a byte order mark"
    # It would fill the memory before its entries are counted.
    if len(content) > _LARGE and content.count(b'"request"') > limits.entries:
        raise too_many_entries(where, limits)
    try:
        entries, recorder = _decode_log(content, where, limits)
    except UNDECODABLE as error:
        try:
            lines, refused = read_line_entries(content, where, limits)
        except TooManyEntries:
            raise
        except RecordingError:
            raise RecordingError(f"cannot parse {where} as HAR: {error}; {RECORD_AGAIN}") from error
        return build_trace(lines, bodies, refused or repairs)
    if len(entries) > limits.entries:
        raise too_many_entries(where, limits)
    if not entries:
        raise RecordingError(f"{where} has no entries; re-record the run")
    trace = build_trace(entries, bodies, repairs if _is_utf8(content) else f"{where} is not UTF-8 throughout")
    return replace(trace, recorder=recorder)


def _decode_log(content: bytes, where: str, limits: Limits) -> tuple[Sequence[Entry | msgspec.Raw], str]:
    """The entries, and the name of the recorder, which may be empty."""
    try:
        log = _HAR.decode(content).log
    except msgspec.DecodeError:  # one malformed entry must not cost the others: take them one by one
        if content.count(b",") > _VALUES * limits.entries:
            problem = f"{where} is damaged and too large to read it entry by entry"
            raise RecordingError(f"{problem}; {limits.describe('entries')}") from None
        loose = decode_lenient(_LOOSE_HAR, content, limits).log
        return _split_entries(loose.entries, limits), _parse_recorder(loose.creator)
    return log.entries, _parse_recorder(log.creator)


def _parse_recorder(creator: msgspec.Raw) -> str:
    name = (try_decode(_CREATOR, creator) or {}).get("name", NOTHING)
    return try_decode(TEXT, name) or ""


def _split_entries(raw_entries: msgspec.Raw, limits: Limits) -> list[msgspec.Raw]:
    if bytes(raw_entries)[:1] in {b"{", b'"'}:  # each member or character counts as an unreadable entry
        count = len(msgspec.json.decode(raw_entries, type=dict | str))
        return [msgspec.Raw(b"{}")] * min(count, limits.entries + 1)
    return msgspec.json.decode(raw_entries, type=list[msgspec.Raw])


def _is_utf8(content: bytes) -> bool:
    """Whether the bytes are UTF-8 throughout, checked in pieces, without a copy of all."""
    if content.isascii():
        return True
    start = 0
    try:
        while piece := content[start : start + _PIECE]:
            is_last = start + len(piece) == len(content)
            start += len(piece) if piece.isascii() else codecs.utf_8_decode(piece, "strict", is_last)[1]
    except UnicodeDecodeError:
        return False
    return True


def _load_request_log(inputs: RunInputs, name: str) -> NetworkTrace:
    from pytest_webeval.recordings.network.request_log import load_log  # which most sessions have none of

    return load_log(inputs, name)


# By the end of a file's path; any other file is a line file (spec §3.1).
TRACE_READERS: dict[str, Callable[[RunInputs, str], NetworkTrace]] = {
    ".har": load_har,
    ".json": load_har,
    ".har.zip": load_har_zip,
    ".zip": load_zip,
    f"/{REQUEST_LOG}": _load_request_log,
}


def load_trace(inputs: RunInputs, name: str) -> NetworkTrace:
    """The network trace of that name in a run directory. Raises `RecordingError`."""
    if not exists_no_follow(inputs.directory / name):
        raise RecordingError(f"missing network trace {name} in {inputs.directory}; record one, or remove the directory")
    if is_directory(inputs.directory / name):
        return load_folder(inputs, name)
    readers = (reader for ending, reader in TRACE_READERS.items() if f"/{name}".endswith(ending))
    return next(readers, load_lines)(inputs, name)
