"""WebArena-Verified run directories: `agent_response.json` and a network trace."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import DirectoryListing, list_directory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.recording_state import STATE
from pytest_webeval.recordings.run import LoadTrace, Run, RunFormat
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.run_directory import is_link

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkTrace
    from pytest_webeval.rules import Rules


RESPONSE = "agent_response.json"
# In this order: where a run holds several, the HAR is what the reference reads.
TRACE_NAMES = ("network.har", "trace.zip", "network.har.zip", "trace", "trace.network", "network.network")
_FOLDER = "trace"  # a name that other programs use as well
_TYPICAL_FILES = (RESPONSE, STATE, *(name for name in TRACE_NAMES if name != _FOLDER))


class WebArenaVerified(RunFormat):
    """The layout that WebArena-Verified's runner writes, with Playwright's traces as a second choice."""

    name = "webarena-verified"
    expected_files = f"{RESPONSE} and {' or '.join(TRACE_NAMES[:2])}"

    def recognizes(self, path: Path) -> bool:
        """Whether the directory holds a response, a trace or a recording that was begun."""
        return any(exists_no_follow(path / name) for name in _TYPICAL_FILES) or _is_trace(path / _FOLDER)

    def recognizes_listing(self, listing: DirectoryListing) -> bool:
        """Whether there is a response, or a recording of ours. A trace alone is evidence of any format."""
        return not listing.names.isdisjoint((RESPONSE, STATE))

    def accepts_listing(self, listing: DirectoryListing) -> bool:
        """Whether there is a trace, so that the response is missing."""
        return not listing.names.isdisjoint(_TYPICAL_FILES) or (
            _FOLDER in listing.names and _is_trace(listing.path / _FOLDER)
        )

    def list_signs(self, listing: DirectoryListing) -> list[tuple[list[str], list[str]]]:
        """A trace without a response, which may be that of any recorder."""
        traces = [name for name in TRACE_NAMES if name in listing.names]
        return [(traces[:1], [f"{RESPONSE}, or the main file of another format"])]

    def load(self, path: Path, label: str, rules: Rules) -> Run:
        """The run, with the directory's name as task id."""
        return _find_kind(path)(
            path=path,
            label=label,
            task_id=_task_id(path.name),
            format=self.name,
            response_file=RESPONSE,
            inputs=RunInputs(path),
            rules=rules,
            load_trace=network_trace(path),
        )


def _find_kind(path: Path) -> type[Run]:
    if not exists_no_follow(path / STATE):
        return Run
    from pytest_webeval.recordings.live_run import LiveRun  # most runs have another recorder

    return LiveRun


def _is_trace(folder: Path) -> bool:
    """Whether a directory holds a network trace. A link does not count."""
    return not is_link(folder) and any(name.endswith(".network") for name in list_directory(folder).names)


def _task_id(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdigit() else name


def network_trace(path: Path) -> LoadTrace:
    """Reads whichever network trace lies in a run directory."""
    return partial(_load_first_trace, path)


def _load_first_trace(path: Path, inputs: RunInputs) -> NetworkTrace:
    for name in TRACE_NAMES:
        if exists_no_follow(path / name):
            return load_trace(inputs, name)
    raise RecordingError(f"no network trace in {path}; expected one of {', '.join(TRACE_NAMES)}")
