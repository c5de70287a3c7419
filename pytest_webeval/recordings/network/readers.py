"""Network recordings: HAR files, alone or in an archive, Playwright's traces as zip, folder or line file, and logs."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Protocol

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.events import REQUEST_LOG, NetworkTrace
from pytest_webeval.recordings.network.har import HarTrace, HarZipTrace
from pytest_webeval.recordings.network.playwright import FolderTrace, LineTrace, ZipTrace
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.run_directory import is_directory


class TraceReader(Protocol):
    """What a kind of trace must offer."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether a file or folder of that name is of this kind."""
        ...

    def load(self, inputs: RunInputs, name: str) -> NetworkTrace:
        """The events of the file or folder. Raises `RecordingError`."""
        ...


class RequestLog:
    """The log of requests that ClawBench writes, by its name."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether it is a file of that name."""
        return not is_folder and PurePosixPath(name).name == REQUEST_LOG

    def load(self, inputs: RunInputs, name: str) -> NetworkTrace:
        """The events of the file. Raises `RecordingError`."""
        from pytest_webeval.recordings.network.request_log import load_log  # which most sessions have none of

        return load_log(inputs, name)


# The first that reads a name does; a line file reads what nothing else does (spec §3.1).
TRACE_READERS: tuple[TraceReader, ...] = (
    HarTrace(),
    HarZipTrace(),
    ZipTrace(),
    FolderTrace(),
    RequestLog(),
    LineTrace(),
)


def load_trace(inputs: RunInputs, name: str) -> NetworkTrace:
    """The network trace of that name in a run directory. Raises `RecordingError`."""
    if not exists_no_follow(inputs.directory / name):
        raise RecordingError(f"missing network trace {name} in {inputs.directory}; record one, or remove the directory")
    is_folder = is_directory(inputs.directory / name)
    reader = next(reader for reader in TRACE_READERS if reader.reads(name, is_folder=is_folder))
    return reader.load(inputs, name)
