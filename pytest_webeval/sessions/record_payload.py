"""What a process that scored a run tells the process that sums up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from sys import intern
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import asdict, replace

from pytest_webeval.results import TaskResult
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.sessions.run_outcome import NO_PAGE, Classification, Storage, WrittenPage, WrittenRun
from pytest_webeval.sessions.seal import Seal
from pytest_webeval.sessions.stored_results import StoredResult
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


class RunOutcome(Struct, frozen=True):
    """The last step: what a report carries about a run. `result` is what the record was made of."""

    payload: RecordPayload
    result: TaskResult | None

    @property
    def record(self) -> Record:
        """The record that the report carries."""
        return self.payload.record

    def mark_unread(self) -> RunOutcome:
        """The same of a run of which a store did not give all files: no other session reuses the result."""
        return replace(self, payload=replace(self.payload, is_unread=True, seal=None))


def build_outcome(written: WrittenRun, page: WrittenPage = NO_PAGE) -> RunOutcome:
    """What the report of a test carries about a run."""
    redacted, part = written.redacted, None
    classification = redacted.classification
    if classification.storage is Storage.REPORT and written.result is not None:
        result = redacted.redacting.redact_for_file(written.result, classification.run)
        part = result.to_json() | {LABELS: result.warning_labels}
    flags = classification.stored is not None, written.is_disturbed
    no_room = written.no_room | page.no_room
    payload = RecordPayload(
        written.record,
        part,
        written.seal,
        *flags,
        page.texts,
        no_room or None,
        is_aborted=written.record.skipped and _is_aborted(classification),
        line=written.line,
    )
    return RunOutcome(payload, classification.result)


def _is_aborted(classification: Classification) -> bool:
    run, task = classification.run, classification.task
    return run is not None and run.find_exclusion(task) is not None


def build_unchanged_outcome(stored: StoredResult, tags: Sequence[str]) -> RunOutcome:
    """What the report of a test carries about a run whose result of an earlier session stands."""
    record = replace(stored.record, tags=tags) if tags else stored.record
    return RunOutcome(RecordPayload(record, None, stored.seal, is_reused=True, line=stored.line), None)
