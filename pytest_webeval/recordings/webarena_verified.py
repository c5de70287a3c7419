"""WebArena-Verified run directories: `agent_response.json` and a network trace.

A run that `pytest_webeval.recorder` recorded says of itself how it ended, and may lack an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import DirectoryListing, list_directory
from pytest_webeval.recordings.inputs import DECODE, RunInputs
from pytest_webeval.recordings.labels import default_task_id
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.recording_state import RERECORD, STATE, Outcome, RecordingState, read_state
from pytest_webeval.recordings.run import Run, RunFormat
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.run_directory import is_link
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

if TYPE_CHECKING:
    from typing import Any

    from pytest_webeval.rules import Rules
    from pytest_webeval.tasks.task import Expectation, Task


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
        kind = LiveRun if exists_no_follow(path / STATE) else Run
        return kind(
            path=path,
            label=label,
            task_id=default_task_id(path),
            format=self.name,
            response_file=RESPONSE,
            inputs=RunInputs(path),
            rules=rules,
            load_trace=partial(_load_first_trace, path),
        )


def _is_trace(folder: Path) -> bool:
    """Whether a directory holds a network trace. A link does not count."""
    return not is_link(folder) and any(name.endswith(".network") for name in list_directory(folder).names)


def _load_first_trace(path: Path, inputs: RunInputs) -> NetworkTrace:
    for name in TRACE_NAMES:
        if exists_no_follow(path / name):
            return load_trace(inputs, name)
    raise RecordingError(f"no network trace in {path}; expected one of {', '.join(TRACE_NAMES)}")


_USE_CONTEXT = "let the agent work in the context of the recording, and record the run again"


@dataclass(frozen=True)
class LiveRun(Run):
    """A run that says how its recording ended.

    Without an answer it is a failure of an agent that ended, crashed, or exceeded a limit. It is an error if the
    recording itself broke, for then nobody knows what the agent would have answered.
    """

    @cached_property
    def state(self) -> RecordingState:
        """How the recording ended. Raises `RecordingError`."""
        return read_state(self.inputs)

    @cached_property
    def response(self) -> bytes:
        """The agent's response, empty where the agent is to blame that there is none. Raises `RecordingError`."""
        if self.absence is None:
            return self.inputs.read_answer(self.response_file)
        if self._is_silent:
            return b""
        raise RecordingError(f"no answer in {self.path}: {self.state.summary}; {RERECORD}")

    @cached_property
    def trace(self) -> NetworkTrace:
        """What the browser sent and received; nothing of a silent agent without a readable trace. Raises the same."""
        if isinstance(self._recorded_trace, NetworkTrace):
            return self._recorded_trace
        if self._is_silent:
            return NetworkTrace(())
        raise self._recorded_trace

    @cached_property
    def _recorded_trace(self) -> NetworkTrace | RecordingError:
        with self.inputs.durations.phase(DECODE):
            try:
                return self.load_trace(self.inputs).under(self.rules)
            except RecordingError as error:
                return error

    @property
    def _is_silent(self) -> bool:
        """Whether the agent is to blame that there is no answer, so that it has failed any task that asks for one."""
        return self.absence is not None and self.state.outcome.is_of_agent

    @property
    def absence(self) -> str | None:
        """Why there is no answer, or None where there is one."""
        return None if exists_no_follow(self.path / self.response_file) else f"no answer: {self.state.summary}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How the recording ended, unless it ended as it should, and which requests are missing in it."""
        summary = None if self.state.outcome is Outcome.CLOSED else self.state.summary
        return tuple(filter(None, (summary, self.state.gap)))

    def describe(self, task: Task | None) -> dict[str, Any]:  # noqa: ARG002  (a format may need the definition)
        """The outcome of the recording, if that can be read."""
        try:
            state = self.state
        except RecordingError:
            return {}
        return {"recording": {"outcome": state.outcome.value, "reason": state.summary}}

    def check(self) -> None:
        """Raise `RecordingError` unless the state can be read, and response and trace of an agent that answered."""
        with self._explain():
            if not self._is_silent:
                super().check()

    def check_evidence(self, expectations: Sequence[Expectation]) -> None:
        """Raise `RecordingError` where nobody knows what the agent did, unless it fails whatever that was.

        This is so for a silent agent without a trace, and for any with requests that are not recorded.
        """
        is_failed = self._is_silent and any(map(_requires_deed, expectations))
        others = (RESPONSE_EVALUATOR, RUBRIC_EVALUATOR)  # which are about no requests
        if self.state.gap is not None and not is_failed and any(each.evaluator not in others for each in expectations):
            raise RecordingError(f"{self.state.gap}; {_USE_CONTEXT}")
        if is_failed or not (self._is_silent and self.requires_trace):
            return
        with self._explain():
            if isinstance(self._recorded_trace, RecordingError):
                raise self._recorded_trace
            self.check_trace()

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """Say with what is wrong how the recording ended, unless it ended as it should. Raises `RecordingError`."""
        summary = None if self.state.outcome is Outcome.CLOSED else self.state.summary
        try:
            yield
        except RecordingError as error:
            if summary is None or summary in str(error):
                raise
            raise RecordingError(f"{summary}; {error}", error.rule) from error


def _requires_deed(expectation: Expectation) -> bool:
    """Whether an agent that neither answered nor sent anything fails an expectation: it asks for one of both."""
    if expectation.evaluator == NETWORK_EVALUATOR:
        return not expectation.config.get("should_not_exist")
    return expectation.evaluator == RESPONSE_EVALUATOR
