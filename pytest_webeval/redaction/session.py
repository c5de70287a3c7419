"""Redacts the results and texts that a session writes outside the run directories."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.policy import STRICT, RedactionPolicy
from pytest_webeval.results import EvaluatorResult, Status, TaskResult

if TYPE_CHECKING:
    from pytest_webeval.redaction.redactor import RedactedResult, Redactor


class Redacting(Struct, frozen=True, eq=False):
    """One a process. `is_leaving` says whether results are written outside of the run directories."""

    policy: RedactionPolicy
    is_leaving: bool
    _latest: list[tuple[TaskResult, RedactedResult]] = field(default_factory=list)

    def redact_for_report(self, result: TaskResult, run: Run | None) -> TaskResult:
        """The result as all reports use it. The latest one is cached, since callers ask several times in a row."""
        if self.policy.is_off or not _has_texts(result):
            return result
        return self._redact_cached(result, run).result

    def redact_with_attachment(
        self, result: TaskResult, run: Run | None, attachment: Any, agent_values: Any
    ) -> tuple[TaskResult, Any]:
        """A result and the JSON that a report shows with it; `agent_values` are what the agent wrote of that."""
        if self.policy.is_off:
            return result, attachment
        return self._build_redactor(run).redact_attachment(self._redact_cached(result, run), attachment, agent_values)

    def redact_for_file(self, result: TaskResult, run: Run | None) -> TaskResult:
        """The result as it goes to its file, or to the process that puts the file together."""
        return self._redact_cached(result, run).result if self.is_leaving and run is not None else result

    def redact_merged(self, result: TaskResult, load: Callable[[], Run]) -> TaskResult:
        """As `redact_for_report`, for a result whose run another process has read."""
        run = None
        if not self.policy.is_off and _has_texts(result):
            with suppress(WebEvalError):
                run = load()
                run.check()
        return self.redact_for_report(result, run)

    def _redact_cached(self, result: TaskResult, run: Run | None) -> RedactedResult:
        if not (self._latest and self._latest[0][0] is result):
            self._latest[:] = [(result, self._build_redactor(run).redact_result(result))]
        return self._latest[0][1]

    def forget(self) -> None:
        """Release the latest result."""
        self._latest.clear()

    def redact_evaluation(self, result: EvaluatorResult, run: Run) -> EvaluatorResult:
        """One evaluation, as a message may show it."""
        return self._build_redactor(run).redact_evaluation(result)

    def text(self, text: str, run: Run | None = None) -> str:
        """A message as it may be shown."""
        if self.policy.is_off or not (self.policy.mode == STRICT or may_hold_secrets(text)):
            return text
        return self._build_redactor(run).text(text)

    def _build_redactor(self, run: Run | None) -> Redactor:
        from pytest_webeval.redaction.recording_secrets import RecordingSecrets
        from pytest_webeval.redaction.redactor import Redactor  # a session without failures does not need its patterns

        if run is None:
            return Redactor(self.policy)
        recorded = RecordingSecrets(run.path, run.response_file, tuple(run.inputs.checksums), run.inputs.limits)
        return Redactor(self.policy, run.inputs.salt, recorded)


def _has_texts(result: TaskResult) -> bool:
    """Whether reports show anything but counts of a result."""
    webeval = result.webeval
    is_quiet = result.status is Status.SUCCESS and not webeval.get("warnings") and not webeval.get("excluded")
    return not is_quiet or "trajectory" in webeval
