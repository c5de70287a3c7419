"""The files of one Fara run directory, each read once, on first use."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.trajectory.answer import FinalAnswer, answer_name, read_answer
from pytest_webeval.recordings.trajectory.core_log import CoreLog, read_core_log
from pytest_webeval.recordings.trajectory.layout import CORE_LOG, LOG, TASK_DATA, TIMES, RunLocation, locate
from pytest_webeval.recordings.trajectory.log import Log, read_log
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.recordings.trajectory.task_data import TaskData, read_task_data
from pytest_webeval.recordings.trajectory.times import Times, read_times
from pytest_webeval.safety.json import may_hold_more
from pytest_webeval.safety.run_directory import list_names

MAX_FILE_BYTES = 64 * 2**20  # hundreds of times what a run leaves; as objects a file takes many times its size


@dataclass(frozen=True)
class TrajectoryFiles:
    """What lies in the directory. Only what a verdict cannot do without raises where it is missing or damaged."""

    path: Path
    inputs: RunInputs
    left_unread: dict[str, str] = field(default_factory=dict, repr=False)  # optional files that could not be read

    @property
    def task_id(self) -> str:
        """The name of the directory."""
        return self.path.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in the directory, sorted."""
        return _names(self.path)

    @cached_property
    def place(self) -> RunLocation:
        """System, model, benchmark and run, as far as the directory's path names them."""
        return locate(self.path.absolute())

    @cached_property
    def answer(self) -> FinalAnswer:
        """The answer file. Raises `UnreadableTrajectory` if there is none, several, or none that can be read."""
        name = answer_name(self.task_id, self.names)
        try:
            content = self.inputs.read_answer(name)
        except RecordingError as error:
            raise UnreadableTrajectory("answer_invalid", str(error)) from error
        return read_answer(name, content)

    @cached_property
    def log(self) -> Log:
        """The log of actions. Raises `UnreadableTrajectory` if there is none."""
        try:
            return read_log(self.inputs.read(LOG, MAX_FILE_BYTES))
        except RecordingError as error:
            raise UnreadableTrajectory("log_missing", str(error)) from error

    @cached_property
    def times(self) -> Times:
        """Start, end and duration of the run, in seconds; None where unknown."""
        return read_times(self._read_optional_json(TIMES))

    @cached_property
    def core(self) -> CoreLog:
        """What the log of the execution says: attempts, crash, last error."""
        return read_core_log(self.optional(CORE_LOG))

    @cached_property
    def task_data(self) -> TaskData:
        """What the rubric verifier wrote about the task; empty where it did not."""
        return read_task_data(self._read_optional_json(TASK_DATA) or b"{}")

    def _read_optional_json(self, name: str) -> bytes | None:
        """The same of a file whose JSON is read at once, which takes many times its size."""
        content, limits = self.optional(name), self.inputs.limits
        if content is None or not may_hold_more(content.decode("utf-8", "replace"), limits.values):
            return content
        self.left_unread[name] = f"{name} holds more values than {limits.values:,}; {limits.describe('values')}"
        return None

    def optional(self, name: str) -> bytes | None:
        """The bytes of a file that need not be there, or None; what cannot be read is as good as missing."""
        try:
            return self.inputs.read(name, MAX_FILE_BYTES) if name in self.names else None
        except RecordingError as error:
            self.left_unread[name] = f"{name}: {error}"
            return None


def _names(directory: Path) -> tuple[str, ...]:
    """Names in a directory, sorted; none where it cannot be listed."""
    try:
        return tuple(sorted(list_names(directory)))
    except OSError:
        return ()
