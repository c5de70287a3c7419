"""Of the 812 tasks of WebArena-Verified the lint reports those with a mistake, and none of the others."""

from __future__ import annotations

import json
import time

import pytest

from pytest_webeval.lint.linter import lint_files

pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")

# Ids by check, and why each report is right. Numbers are those of the rule table.
MISTAKES = {
    # The schema has `hotel` and `information`, the answer `hotel_name` and `travel_time`, so a duration is a string.
    "schema-property": {34, 35},
    # A navigate task, of which the last page decides whatever the setting is.
    "last-event-only": {118},
    "lax-value": {
        124,  # a price of 0.01, which an answer of 0 equals
        237,  # an empty house number, which null, 0 and "..." equal
        652,  # a comment "???", which an empty comment equals, for punctuation around a text does not count
    },
    # `^.*(?!delete$).*$` is meant to refuse `delete` and matches it, for `.*` has passed it by then (Q10).
    "broad-pattern": {411, 412, 413, 414, 736},
    # `$.^file_path|file_name$` matches every name that begins with `file_path` (Q10).
    "open-alternation": {411, 412, 413, 414, 736},
    # The fields of a form that is saved, with neither POST nor another method (Q29).
    "posted-data": {423},
    # Markdown with `__REDDIT__`, where the recorded text has the address (Q18).
    "literal-placeholder": {562, 563, 564, 565, 566},
    # A list of one item without an array schema is an error of every run (Q35).
    "unreadable-value": {699, 700, 811},
    "unpassable": {
        319,  # no `retrieved_data` (Q16)
        429,  # two pages, both of which have to be the last (Q17)
        *(567, 568, 569, 570, 742, 743, 745, 746),  # several members are added, each by the last request (Q15)
    },
}


def test_of_the_data_set_only_tasks_with_mistakes_are_reported(dataset, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(dataset.tasks))
    reported = {}
    for finding in lint_files([path]):
        position = int(finding.location.strip("[]"))
        reported.setdefault(finding.check, set()).add(dataset.tasks[position]["task_id"])
    assert reported == MISTAKES
    assert len(set().union(*MISTAKES.values())) == 30  # as the manual says


def test_the_data_set_is_checked_in_seconds(dataset, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(dataset.tasks))
    begin = time.process_time()
    list(lint_files([path]))
    assert time.process_time() - begin < 20  # two or three; minutes if anything were quadratic
