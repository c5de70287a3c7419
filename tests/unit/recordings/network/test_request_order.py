"""The order of requests: that of time under strict rules, that of the file under others, with a warning."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.rules import find_rules
from pytest_webeval.scoring.score import score
from tests.unit.recordings.network.test_trace_layouts import archived, entry, har, lines, paths

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

WRITERS = {
    "network.har": har,
    "network.har.zip": lambda *entries: archived({"har.har": har(*entries)}),
    "trace.network": lines,
    "trace.zip": lambda *entries: archived({"trace.network": lines(*entries)}),
}
ALL_KINDS = pytest.mark.parametrize("name", WRITERS)


def stamped(path, stamp, **more):
    return entry(path, **more) | ({} if stamp is None else {"startedDateTime": stamp})


def loaded(directory, name, entries, rules="strict"):
    (directory / name).write_bytes(WRITERS[name](*entries))
    return load_trace(RunInputs(directory), name).under(find_rules(rules))


DAY = "2026-01-01T"


@ALL_KINDS
@pytest.mark.parametrize(
    ("stamps", "order"),
    [
        (["00:00:03Z", "00:00:01Z", "00:00:02Z"], [1, 2, 0]),
        (["00:00:01Z", "00:00:02Z", "00:00:02Z"], [0, 1, 2]),
        (["00:00:02Z", "00:00:02Z", "00:00:01Z"], [2, 0, 1]),  # stably
        (["00:00:09.5Z", "00:00:10Z", "00:00:09.25Z"], [2, 0, 1]),  # not by their letters
        (["01:00:00+02:00", "00:30:00+00:00", "00:00:00-01:00"], [0, 1, 2]),
        (["00:30:00+00:00", "01:00:00+02:00"], [1, 0]),
        (["00:00:02.000001Z", "00:00:02.000000Z"], [1, 0]),
        ([None, None], [0, 1]),
        (["00:00:02Z", None, "00:00:01Z", None], [2, 3, 0, 1]),  # behind their predecessors
        ([None, "00:00:02Z", "00:00:01Z"], [0, 2, 1]),
        (["no time", "00:00:02Z", "00:00:01Z"], [0, 2, 1]),
        (["00:00:01", "00:00:02Z", "00:00:00.5"], [2, 0, 1]),
    ],
)
def test_rules_strict_take_requests_in_the_order_of_time(tmp_path, name, stamps, order):
    entries = [stamped(f"/{number}", stamp and f"{DAY}{stamp}") for number, stamp in enumerate(stamps)]
    trace = loaded(tmp_path, name, entries)
    assert paths(trace) == [f"/{number}" for number in order]
    assert [event.index for event in trace.events] == order
    for rules in ("default", "reference"):
        assert paths(loaded(tmp_path, name, entries, rules)) == [f"/{number}" for number in range(len(stamps))]


@ALL_KINDS
def test_damaged_entries_keep_their_places(tmp_path, name):
    entries = [
        stamped("/a", f"{DAY}00:00:05Z"),
        {"request": None, "startedDateTime": 5},
        stamped("/b", f"{DAY}00:00:04Z"),
    ]
    assert [event.index for event in loaded(tmp_path, name, entries).events] == [2, 0, 1]


def page(path, stamp, **more):
    return stamped(path, f"{DAY}{stamp}", headers={"accept": "text/html"}, **more)


def expecting(path, **more):
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": f"__SHOPPING__{path}"}, **more}


LATE = "event 2 of 2 began before event 1"
WARNINGS = {
    "reference": [],
    "default": [f"requests are not in the order of time: {LATE}; --webeval-rules=strict sorts them"],
    "strict": [f"requests sorted by time: {LATE}"],
}
STATUSES = {"reference": "failure", "default": "failure", "strict": "success"}


@ALL_KINDS
@pytest.mark.parametrize("kind", ["NAVIGATE", "MUTATE"])
def test_the_last_request_in_time_decides_under_strict_rules(bench, name, kind):
    directory = bench.record()
    (directory / "network.har").unlink()
    (directory / "agent_response.json").write_text(json.dumps({"task_type": kind, "status": "SUCCESS"}))
    if kind == "NAVIGATE":
        entries, check = [page("/goal", "00:00:09Z"), page("/start", "00:00:01Z")], expecting("/goal")
    else:  # the last request with the URL counts
        entries = [page("/goal", "00:00:09Z"), page("/goal", "00:00:01Z", status=404)]
        check = expecting("/goal", last_event_only=True)
    (directory / name).write_bytes(WRITERS[name](*entries))
    task = bench.task(bench.expecting(kind, schema={"type": "null"}), check)
    if name == "network.har.zip":
        del (rules_of := dict(STATUSES))["reference"]  # refuses it
    else:
        rules_of = STATUSES
    for rules, status in rules_of.items():
        case = bench.case(task, rules)
        result = score(case, default_evaluators())
        warnings = [text for text in case.warnings if "order of time" in text or "by time" in text]
        decided = [text for text in case.warnings if "(time_order) changed this verdict to success" in text]
        assert (str(result.status), warnings) == (status, WARNINGS[rules])
        assert len(decided) == (rules == "strict")
        if status == "failure":
            assert "nearest is event 2 of 2" in json.dumps(result.to_json())


@pytest.mark.parametrize(
    "entries",
    [
        [page("/a", "00:00:01Z"), page("/b", "00:00:02Z")],
        [page("/a", "00:00:01Z"), page("/b", "00:00:01Z")],
        [page("/a", "00:00:02Z"), page("/b.css", "00:00:01Z")],  # nobody looks at a static file
        [entry("/a"), entry("/b")],
    ],
)
def test_there_is_no_warning_where_the_order_of_checked_requests_is_that_of_time(bench, entries):
    directory = bench.record()
    (directory / "network.har").write_bytes(har(*entries))
    task = bench.task(expecting("/a", last_event_only=False, should_not_exist=False))
    for rules in STATUSES:
        case = bench.case(task, rules)
        score(case, default_evaluators())
        assert not [text for text in case.warnings if "time" in text]
