"""What leaves a run directory by way of a session, without secrets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.policy import STRICT
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult

if TYPE_CHECKING:
    from pytest_webeval.redaction.redactor import RedactedResult
    from pytest_webeval.redaction.redactor import Redactor


@dataclass(frozen=True, eq=False)
class Redacting:
    """One a process. `is_leaving` says whether results are written outside of the run directories."""

    policy: RedactionPolicy
    is_leaving: bool
    _latest: list[tuple[TaskResult, RedactedResult]] = field(default_factory=list)

    def told(self, result: TaskResult, run: Run) -> TaskResult:
        """The result that everything is made from which is told of it. It is asked for it several times in a row."""
        if self.policy.is_off or not _has_texts(result):
            return result
        return self._redacted(result, run).result

    def beside(self, result: TaskResult, run: Run | None, shown: Any, said: Any) -> tuple[TaskResult, Any]:
        """A result and what a report shows beside it; `said` is what of that the agent said."""
        if self.policy.is_off:
            return result, shown
        return self._redactor(run).beside(self._redacted(result, run), shown, said)

    def written(self, result: TaskResult, run: Run | None) -> TaskResult:
        """The result as it goes to its file, or to the process that puts the file together."""
        return self._redacted(result, run).result if self.is_leaving and run is not None else result

    def merged(self, result: TaskResult, load: Callable[[], Run]) -> TaskResult:
        """As `told`, of a result whose run another process has read."""
        if self.policy.is_off or not _has_texts(result):
            return result
        run = None
        with suppress(WebEvalError):
            run = load()
            run.check()
        return self._redacted(result, run).result

    def _redacted(self, result: TaskResult, run: Run | None) -> RedactedResult:
        if not (self._latest and self._latest[0][0] is result):
            self._latest[:] = [(result, self._redactor(run).redacted(result))]
        return self._latest[0][1]

    def forget(self) -> None:
        """Let go of the latest result."""
        self._latest.clear()

    def evaluated(self, result: EvaluatorResult, run: Run) -> EvaluatorResult:
        """What one evaluator found, as a message may tell it."""
        return self._redactor(run).evaluated(result)

    def text(self, text: str, run: Run | None = None) -> str:
        """A message as it may be shown."""
        if self.policy.is_off or not (self.policy.mode == STRICT or may_hold_secrets(text)):
            return text
        return self._redactor(run).text(text)

    def _redactor(self, run: Run | None) -> Redactor:
        from pytest_webeval.redaction.recording_secrets import RecordingSecrets
        from pytest_webeval.redaction.redactor import Redactor  # where all is well, nobody needs its patterns

        if run is None:
            return Redactor(self.policy)
        recorded = RecordingSecrets(run.path, run.response_file, tuple(run.inputs.checksums), run.inputs.limits)
        return Redactor(self.policy, run.inputs.salt, recorded)


def _has_texts(result: TaskResult) -> bool:
    """Whether anything but counts is told of a result."""
    about = result.webeval
    is_quiet = result.status is Status.SUCCESS and not about.get("warnings") and not about.get("excluded")
    return not is_quiet or "trajectory" in about
