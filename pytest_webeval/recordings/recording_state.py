"""What a recording says of itself: `webeval_recording.json` in a run directory that `pytest_webeval.recorder` wrote.

It is written when a recording begins and once more when it ends, so a recording that nobody ended says so. The agent
may have written it as well: it can make a run worse, never better.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.safety.text import sanitize, truncate_words

STATE = "webeval_recording.json"
STEPS_FOLDER = "webeval_steps"
STEPS = f"{STEPS_FOLDER}/steps.jsonl"
RERECORD = "record the run again"
LONGEST_REASON = 500  # characters
_LARGEST = 2**16  # bytes


class Outcome(StrEnum):
    """How a recording ended."""

    RECORDING = "recording"  # it did not, as far as anybody knows
    CLOSED = "closed"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"
    BROWSER_LOST = "browser_lost"

    @property
    def is_of_agent(self) -> bool:
        """Whether the agent is to blame if there is no answer, so that the run is a failure and not an error."""
        return self in {Outcome.CLOSED, Outcome.TIMEOUT, Outcome.BUDGET, Outcome.CRASHED}


class RecordingState(Struct, frozen=True, kw_only=True):
    """The content of the file. `started` and `ended` are times in UTC, `unrecorded` says which requests are missing."""

    outcome: Outcome
    reason: str | None = None
    task_id: int | str | None = None
    start_url: str | None = None
    started: str = ""
    ended: str | None = None
    versions: dict[str, str] = {}
    unrecorded: str | None = None

    @property
    def summary(self) -> str:
        """How the recording ended, in a few words."""
        return _to_line(self.reason) if self.reason else _SUMMARIES[self.outcome]

    @property
    def gap(self) -> str | None:
        """Which requests are not recorded, in a line; None for a complete recording."""
        return _to_line(self.unrecorded) if self.unrecorded else None


def _to_line(text: str) -> str:
    return truncate_words(sanitize(" ".join(text.split())), LONGEST_REASON)


_SUMMARIES = {
    Outcome.RECORDING: "recording was interrupted: the process ended before the browser was closed",
    Outcome.CLOSED: "the agent ended",
    Outcome.TIMEOUT: "the time limit was exceeded",
    Outcome.BUDGET: "the step budget was exceeded",
    Outcome.CRASHED: "the agent crashed",
    Outcome.INTERRUPTED: "recording was interrupted by the user",
    Outcome.BROWSER_LOST: "the browser ended before the agent did",
}


def read_state(inputs: RunInputs) -> RecordingState:
    """The state of the recording in a run directory. Raises `RecordingError`."""
    content = inputs.read(STATE, _LARGEST)
    try:
        return msgspec.json.decode(content, type=RecordingState)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"cannot read {inputs.directory / STATE}: {error}; {RERECORD}") from error
