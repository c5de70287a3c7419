"""A run that `pytest_webeval.recorder` recorded: it says of itself how it ended, and may lack an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import DECODE
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.recording_state import RERECORD, Outcome, RecordingState, read_state
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

if TYPE_CHECKING:
    from typing import Any

    from pytest_webeval.tasks.task import Expectation, Task

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
        """The trace, or why it cannot be read."""
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
        if self.state.gap is not None and not is_failed and any(map(_is_about_requests, expectations)):
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


def _is_about_requests(expectation: Expectation) -> bool:
    """Whether an expectation may be about requests: all are but those about the answer or a stored verdict."""
    return expectation.evaluator not in (RESPONSE_EVALUATOR, RUBRIC_EVALUATOR)


def _requires_deed(expectation: Expectation) -> bool:
    """Whether an agent that neither answered nor sent anything fails an expectation: it asks for one of both."""
    if expectation.evaluator == NETWORK_EVALUATOR:
        return not expectation.config.get("should_not_exist")
    return expectation.evaluator == RESPONSE_EVALUATOR
