"""What the report of a test carries about a run: as an attribute for the controller, as properties for JUnit XML."""

from __future__ import annotations

from functools import lru_cache

import pytest
from msgspec import Struct, field

from pytest_webeval.safety.text import sanitize, truncate
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.runs.run_outcome import RunOutcome
from pytest_webeval.summary.record import Record

PAYLOAD_ATTRIBUTE = "webeval_record"
RUN_LABEL_ATTRIBUTE = "webeval_about"  # the label of the run that a Python test is about
LONGEST_PROPERTY = 1_000  # characters
WRITTEN = pytest.StashKey[RunOutcome]()  # of an item, until it is torn down


def find_payload(report: pytest.TestReport) -> RecordPayload | None:
    """The payload of a report, or None."""
    text: str | None = getattr(report, PAYLOAD_ATTRIBUTE, None)
    return None if text is None else RecordPayload.read(text)


def attach_payload(payload: RecordPayload, report: pytest.TestReport) -> None:
    """Let a report carry a payload."""
    setattr(report, PAYLOAD_ATTRIBUTE, payload.to_text())


class DropPayloads(Struct, eq=False):
    """Plugin that removes what a report carries about a run when all have seen it: pytest keeps reports to the end.

    Plugins such as pytest-html look at it when the last phase of the test has its report.
    """

    _carrying: dict[str, list[pytest.TestReport]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a report with a payload."""
        if hasattr(report, PAYLOAD_ATTRIBUTE):
            self._carrying.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Remove the payloads of a test after its last phase."""
        for report in self._carrying.pop(nodeid, ()):
            vars(report).pop(PAYLOAD_ATTRIBUTE, None)  # a plugin that retries may report the same one twice


def junit_properties(record: Record) -> list[tuple[str, object]]:
    """Properties of a run for JUnit XML."""
    by_name: dict[str, object] = {
        "webeval_task_id": record.task_id,
        "webeval_status": "excluded" if record.skipped else record.status,
        "webeval_score": record.score,
        "webeval_sites": record.site_key,
        "webeval_type": record.task_type or "",
        "webeval_template": record.template,
    }
    if record.grade is not None and record.grade["partial"]:
        by_name["webeval_partial_score"] = record.grade["score"]
    if record.status != "success":
        by_name |= {"webeval_evaluator": ", ".join(record.evaluators), "webeval_reason": _cut(record)}
    if record.trajectory is not None:
        from pytest_webeval.summary.trajectories.trajectory_rows import trajectory_labels  # which other runs do without

        by_name |= {f"webeval_{name}": value for name, value in trajectory_labels(record).items()}
    return [_build_property(name, value) for name, value in by_name.items()]


@lru_cache(maxsize=1024, typed=True)  # most are the same for many runs, and a session keeps those of all
def _build_property(name: str, value: object) -> tuple[str, object]:
    return name, sanitize(value) if isinstance(value, str) else value


def _cut(record: Record) -> str:
    """Why a run did not succeed, as long as a property may be."""
    return truncate((record.excluded if record.skipped else record.reason) or "", LONGEST_PROPERTY)
