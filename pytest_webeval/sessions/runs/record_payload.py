"""What a process that scored a run tells the process that sums up."""

from __future__ import annotations

import json
from functools import lru_cache
from sys import intern
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import asdict, replace

from pytest_webeval.results import TaskResult
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.sessions.runs.run_outcome import Classification, RunOutcome, Storage
from pytest_webeval.sessions.runs.stored_results import Seal
from pytest_webeval.summary.record import Record

LABELS = "warning_labels"  # of a part of a result, whose JSON has the texts of warnings alone

# A session keeps all records to its end. These fields are the same in most of them, and these lists empty.
SAME_IN_ALL = ("status", "rules", "version", "evaluator_checksum", "data_checksum")
OFTEN_SAME = ("task_type", "reported", "claim", "today")
OFTEN_EMPTY = ("warnings", "evaluators", "capture", "tags", "proposals")


class RecordPayload(Struct, frozen=True):
    """A record, and the result of a Python test, of which the complete result is put together.

    It travels as text: any process can send that, and pytest keeps all of its reports to the end of a session.
    """

    record: Record
    part: dict[str, Any] | None
    seal: Seal | None = None
    is_reused: bool = False  # the result is that of an earlier session
    is_disturbed: bool = False  # the error is not about the run and may not occur again
    texts: dict[str, str | None] | None = None  # of the task, intent and template, where a report shows them
    no_room: dict[str, str] | None = None  # files for which the disk has none, with what the system says
    is_aborted: bool = False  # the environment made the agent abort
    is_unread: bool = False  # a store did not give files of the run, and may do so another time
    line: str | None = None  # the JSON of the result, where it goes to a shard
    result: TaskResult | None = None  # for whoever asks from Python: it is no part of the text

    @classmethod
    def read(cls, text: str) -> Self:
        """The payload in a text."""
        fields, _, line = text.partition("\n")
        record, part, seal, *flags = json.loads(fields)
        record |= {name: intern(record[name]) for name in SAME_IN_ALL}
        record |= {name: intern(value) for name in OFTEN_SAME if (value := record[name]) is not None}
        record |= {name: record[name] or () for name in OFTEN_EMPTY} | {"sites": _share_sites(tuple(record["sites"]))}
        record["score"] = _SCORES.get(record["score"], record["score"])
        return cls(Record(**record), part, seal and Seal(**seal), *(*flags, line or None))

    def mark_unread(self) -> Self:
        """The same of a run of which a store did not give all files: no other session reuses the result."""
        return replace(self, is_unread=True, seal=None)

    def to_text(self) -> str:
        """The payload as a text that any process can send."""
        seal = self.seal and asdict(self.seal)
        fields = [self.record.to_json(), self.part, seal, self.is_reused, self.is_disturbed, self.texts]
        fields += [self.no_room, self.is_aborted, self.is_unread]
        text = json.dumps(fields)
        text = json.dumps(_escape_fields(fields)) if "\\ud" in text else text
        return text if self.line is None else f"{text}\n{self.line}"


_SCORES = {0.0: 0.0, 1.0: 1.0}


@lru_cache(maxsize=1024)  # most runs are of few sites
def _share_sites(sites: tuple[str, ...]) -> list[str]:
    return list(sites)


def _escape_fields(fields: list[Any]) -> list[Any]:
    """The fields without halves of surrogate pairs, but for those that files have unchanged: trajectory and part."""
    record, part, *others = fields
    texts = {name: value for name, value in record.items() if name != "trajectory"}
    return [escape_surrogates(texts) | {"trajectory": record["trajectory"]}, part, *escape_surrogates(others)]


def build_payload(outcome: RunOutcome) -> RecordPayload:
    """What the process that sums up is told of a run that was written."""
    classification, part = outcome.classification, None
    if classification.storage is Storage.REPORT and outcome.result is not None:
        result = outcome.redacting.redact_for_file(outcome.result, classification.run)
        part = result.to_json() | {LABELS: result.warning_labels}
    return RecordPayload(
        outcome.record,
        part,
        outcome.seal,
        is_reused=classification.stored is not None,
        is_disturbed=outcome.is_disturbed,
        texts=outcome.texts,
        no_room=outcome.no_room or None,
        is_aborted=outcome.record.skipped and _is_aborted(classification),
        line=outcome.line,
    )


def _is_aborted(classification: Classification) -> bool:
    run, task = classification.run, classification.task
    return run is not None and run.find_exclusion(task) is not None
