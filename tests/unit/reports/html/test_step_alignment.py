"""Which events a step made: by the clock where there is one, by the pages that were seen where there is none."""

from __future__ import annotations

import json
import time

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.recordings.network.entries import parse_timestamp
from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.reports.html.timeline import _ranges, align_events

SHOP = "http://shop.test"


def step(timestamp=None, url=None):
    return Step(1, "click", "click", None, {}, "", url, timestamp, None, None, 1)


@pytest.fixture
def trace(tmp_path):
    """Records events given as times or as URLs of pages, and reads them again."""

    def recorded(*events):
        (tmp_path / "agent_response.json").write_text("{}")
        entries = [_entry(event) for event in events]
        (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
        return load_run(tmp_path).trace.all_events

    return recorded


def _entry(event):
    about = event if isinstance(event, dict) else {"startedDateTime": event}
    url = about.pop("url", f"{SHOP}/x")
    headers = [{"name": "Accept", "value": "text/html"}] if about.pop("page", False) else []
    return {"request": {"method": "GET", "url": url, "headers": headers}, "response": {"status": 200}} | about


def at(seconds, day=1):
    return f"2026-01-{day:02}T12:00:{seconds:02}Z"


def page(path, **more):
    return {"url": SHOP + path, "page": True} | more


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T00:01:00.5+00:00", 60.5),
        ("1970-01-01T01:01:00+01:00", 60.0),
        ("1970-01-01T00:01:00", 60.0),
        (" 1970-01-01T00:01:00.123456Z ", 60.123456),
        ("0001-01-01T00:00:00+23:59", -62135683140.0),
        ("yesterday", None),
        ("", None),
        (None, None),
        ("2026-01-01T00:00:00Z" + " " * 100, None),
    ],
)
def test_a_time_stamp_is_seconds_since_1970(stamp, seconds):
    assert parse_timestamp(stamp) == seconds


@pytest.mark.parametrize(
    ("given", "started"),
    [
        ({"startedDateTime": "1970-01-01T00:01:00.250Z"}, 60.25),
        ({"startedDateTime": "soon"}, None),
        ({"startedDateTime": 60}, None),
        ({"startedDateTime": None}, None),
        ({"startedDateTime": {"a": "b"}}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("damage", [{}, {"pageref": 5}], ids=["whole", "damaged"])
def test_an_event_knows_when_it_was_made_where_that_can_be_read(trace, given, started, damage):
    assert [event.started for event in trace(given | damage)] == [started]


@pytest.mark.parametrize(
    ("steps", "events", "ranges"),
    [
        ([at(10), at(20)], [at(1), at(10), at(19), at(20), at(30)], [(1, 2), (3, 4)]),
        ([at(10), at(20), at(30)], [at(1), at(11), at(31)], [(1, 1), None, (2, 2)]),
        ([at(10), None, at(20)], [at(11), at(15), at(21)], [(0, 1), None, (2, 2)]),
        ([at(10), at(20)], [at(11), None, at(5), at(21)], [(0, 2), (3, 3)]),
        ([at(10), at(20)], [None, at(11), at(21)], [(0, 1), (2, 2)]),
        ([at(20), at(10)], [at(15), at(25)], [None, (1, 1)]),
        (["2026-01-01T14:00:10", "2026-01-01T14:00:20"], [at(1), at(11), at(21)], [(1, 1), (2, 2)]),
        (["2026-01-01T06:30:10", "2026-01-01T06:30:20"], [at(1), at(11), at(21)], [(1, 1), (2, 2)]),
        ([at(10), at(20)], [at(30)], [None, (0, 0)]),
        ([at(10)], [at(30, day=20)], [None]),
        ([], [at(1)], []),
        ([at(10)], [], [None]),
        ([None], [at(1)], [None]),
    ],
)
def test_a_step_made_what_came_between_its_time_and_that_of_the_next(trace, steps, events, ranges):
    made = trace(*({} if one is None else one for one in events)) if events else ()
    assert align_events([step(one) for one in steps], made) == ranges


REQUEST = {"url": f"{SHOP}/x"}


@pytest.mark.parametrize(
    ("urls", "events", "ranges"),
    [
        (["/a", "/b"], [page("/a"), REQUEST, page("/b"), REQUEST], [(2, 3), None]),
        (["/a", "/a", "/b", "/c"], [page("/a"), page("/b"), REQUEST, page("/c")], [None, (1, 2), (3, 3), None]),
        ([None, "/a", "/b"], [page("/a"), page("/b")], [(0, 0), (1, 1), None]),
        (["/a", "/b", "/a"], [page("/a"), page("/b"), page("/a"), REQUEST], [(1, 1), (2, 3), None]),
        (["/a", "/gone", "/b"], [page("/a"), REQUEST, page("/b")], [None, (2, 2), None]),
        (["/a/#top", "/b"], [page("/a"), page("/b/")], [(1, 1), None]),
        (["/b", "/a"], [page("/a"), page("/b")], [None, None]),
        (["/a", "/b"], [{"url": f"{SHOP}/a"}, {"url": f"{SHOP}/b"}], [None, None]),
        (["/a", "/b"], [page("/a"), {"url": f"{SHOP}/b", "_resourceType": "document"}], [(1, 1), None]),
        (["/a", "/b"], [page("/a"), {"request": {"url": 5}}, page("/b")], [(2, 2), None]),
        (["/a", "/b"], [], [None, None]),
        ([], [page("/a")], []),
    ],
)
def test_without_a_clock_the_last_step_on_a_page_led_to_the_next_page(trace, urls, events, ranges):
    made = trace(*map(dict, events)) if events else ()
    assert align_events([step(url=url and SHOP + url) for url in urls], made) == ranges


def test_many_steps_and_events_are_aligned_in_bounded_time(trace):
    events = trace(*(page(f"/{number % 7}") for number in range(5_000)))
    steps = [step(url=f"{SHOP}/{number % 11}") for number in range(5_000)]
    started = time.process_time()
    assert len(align_events(steps, events)) == 5_000
    assert time.process_time() - started < 5


def test_ranges_are_of_indices_where_rules_sort_events(tmp_path):
    (tmp_path / "agent_response.json").write_text("{}")
    entries = [_entry(event) for event in (at(11), at(12), at(5), at(21))]
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
    run = load_run(tmp_path, "strict")
    assert [event.index for event in run.trace.events] == [2, 0, 1, 3]
    assert _ranges(run, [step(at(10)), step(at(20))]) == [(0, 2), (3, 3)]
