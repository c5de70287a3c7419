"""What a report carries from the process that scored a run to the one that sums all up."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from pytest_webeval.journal import Seal
from pytest_webeval.summary import Record
from pytest_webeval.writing import travelling

CARRIED = "webeval_record"
ABOUT = "webeval_about"  # the label of the run that a Python test is about


@dataclass(frozen=True, slots=True)
class Carried:
    """A record, and the result of a Python test, of which the whole result is put together.

    On the report it is text: any process can send that, and a session keeps all of its reports to the end.
    """

    record: Record
    part: str | None
    seal: Seal | None = None
    is_resumed: bool = False  # the result is that of an earlier session
    is_disturbed: bool = False  # what happened to the result is no fault of the run, and may not happen again
    texts: dict[str, str | None] | None = None  # of the task, intent and template, where a report shows them
    no_room: dict[str, str] | None = None  # files for which the disk has none, with what the system says

    @classmethod
    def by(cls, report: pytest.TestReport) -> Carried | None:
        """What a report carries, if anything."""
        text: str | None = getattr(report, CARRIED, None)
        if text is None:
            return None
        record, part, seal, *how = json.loads(text)
        return cls(Record(**record), part, seal and Seal(**seal), *how)

    def put_on(self, report: pytest.TestReport) -> None:
        """Let a report carry it."""
        seal = self.seal and {"result": self.seal.result, "files": self.seal.files}
        told = [self.record.to_json(), self.part, seal, self.is_resumed, self.is_disturbed, self.texts, self.no_room]
        text = json.dumps(told)
        setattr(report, CARRIED, json.dumps(travelling(told)) if "\\ud" in text else text)
