"""Requests from before a trace chunk began are no part of it, wherever and in whatever form the trace lies."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.playwright import LARGEST_START, parse_trace_start
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.rules import find_rules
from pytest_webeval.scoring.score import score
from tests.unit.recordings.network.test_trace_layouts import BOTH_KINDS, archived, entry, lines, paths, written

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

START = 10  # the second of the minute at which the chunk begins
WALL = 1_767_225_600_000 + START * 1_000  # milliseconds; entries are of the first minute of 2026
ALL, OWN = ["/old", "/new"], ["/new"]


def options(wall=WALL, monotonic=START * 1_000, **more):
    values = {"version": 10, "type": "context-options", "wallTime": wall, "monotonicTime": monotonic} | more
    return json.dumps({name: value for name, value in values.items() if value is not None}).encode() + b"\n"


def at(path, started=None, monotonic=None, **more):
    clock = {} if monotonic is None else {"_monotonicTime": monotonic}
    return entry(path, started=started, **clock, **more)


def loaded(directory, name, rules="default"):
    return load_trace(RunInputs(directory), name).under(find_rules(rules))


@BOTH_KINDS
@pytest.mark.parametrize(
    ("start", "old", "new", "own"),
    [
        (options(), {"started": 9}, {"started": 11}, OWN),
        (options(), {"monotonic": 9_999.9}, {"monotonic": 10_000}, OWN),
        (options(), {"started": 11, "monotonic": 9_000}, {"started": 9, "monotonic": 11_000}, OWN),  # the wall jumps
        (options(monotonic=None), {"started": 9, "monotonic": 1}, {"started": 11, "monotonic": 2}, OWN),
        (options(monotonic=0), {"started": 9, "monotonic": 1}, {"started": 11, "monotonic": 2}, OWN),
        (options(wall=None), {"started": 9}, {"started": 11}, ALL),
        (options(), {"started": 9.96}, {"started": 11}, ALL),  # clocks of two programs differ by so much
        (options(), {}, {}, ALL),
        (options(), {"monotonic": "9"}, {"monotonic": True}, ALL),
        (options(wall="1", monotonic=[]), {"started": 9}, {"started": 11}, ALL),
        (options(type="before"), {"started": 9}, {"started": 11}, ALL),
        (b"", {"started": 9}, {"started": 11}, ALL),
        (b"no JSON\n" + options(), {"started": 9}, {"started": 11}, ALL),
        (b"\xff\n", {"started": 9}, {"started": 11}, ALL),
        (options()[:-1], {"started": 9}, {"started": 11}, OWN),
        (options() + b'{"type":"before"}\n' * 9, {"started": 9}, {"started": 11}, OWN),
        (options(title="x" * LARGEST_START), {"started": 9}, {"started": 11}, ALL),
    ],
)
def test_a_request_counts_if_it_began_with_the_chunk_or_nobody_knows(tmp_path, kind, start, old, new, own):
    log = lines(at("/old", **old), at("/new", **new))
    name = written(tmp_path, {"trace.network": log, "trace.trace": start}, kind)
    assert paths(loaded(tmp_path, name)) == paths(loaded(tmp_path, name, "strict")) == own
    assert paths(loaded(tmp_path, name, "reference")) == ALL


@BOTH_KINDS
def test_a_trace_without_the_file_that_says_when_it_began_is_kept_whole(tmp_path, kind):
    name = written(tmp_path, {"trace.network": lines(at("/old", 9), at("/new", 11)), "0-trace.trace": options()}, kind)
    assert paths(loaded(tmp_path, name)) == ALL


@BOTH_KINDS
def test_each_log_of_playwright_test_has_its_own_beginning(tmp_path, kind):
    members = {
        "0-trace.network": lines(at("/a", 9), at("/b", 11)),
        "0-trace.trace": options(),
        "1-trace.network": lines(at("/c", 8), at("/d", 9), at("/e", 12)),
        "1-trace.trace": options(WALL - 1_500),
        "test.trace": options(WALL + 60_000),
    }
    name = written(tmp_path, members, kind)
    assert paths(loaded(tmp_path, name)) == ["/d", "/b", "/e"]
    assert [event.index for event in loaded(tmp_path, name).events] == [2, 3, 4]


@pytest.mark.parametrize("stem", ["trace", "network"])
def test_a_line_file_alone_has_the_beginning_next_to_it(tmp_path, stem):
    (tmp_path / f"{stem}.network").write_bytes(lines(at("/old", 9), at("/new", 11)))
    assert paths(loaded(tmp_path, f"{stem}.network")) == ALL
    (tmp_path / f"{stem}.trace").write_bytes(options())
    assert paths(loaded(tmp_path, f"{stem}.network")) == OWN


def test_of_a_big_file_only_the_beginning_is_read(tmp_path):
    folder = tmp_path / "trace"
    folder.mkdir()
    (folder / "trace.network").write_bytes(lines(at("/old", 9), at("/new", 11)))
    (folder / "trace.trace").write_bytes(options())
    with (folder / "trace.trace").open("r+b") as file:
        file.truncate(2**34)
    assert paths(loaded(tmp_path, "trace")) == OWN
    assert parse_trace_start(options()[: LARGEST_START - 1]) is not None


@pytest.mark.parametrize("is_link", [False, True])
def test_what_is_no_file_of_the_run_says_nothing(tmp_path, is_link):
    name = written(tmp_path, {"trace.network": lines(at("/old", 9), at("/new", 11))}, "trace")
    (tmp_path / "elsewhere").write_bytes(options())
    target = tmp_path / name / "trace.trace"
    target.symlink_to(tmp_path / "elsewhere") if is_link else target.mkdir()
    assert paths(loaded(tmp_path, name)) == ALL


def test_events_keep_the_numbers_that_they_have_in_the_file(tmp_path):
    log = lines(at("/old", 8), at("/older", 7), at("/new", 12), at("/first", 11))
    trace = loaded(tmp_path, written(tmp_path, {"trace.network": log, "trace.trace": options()}, "trace"), "strict")
    assert [(event.name, event.url[-4:]) for event in trace.events] == [("event 4", "irst"), ("event 3", "/new")]
    assert [event.index for event in trace.all_events] == [0, 1, 2, 3]
    assert paths(trace.under(find_rules("default"))) == ["/new", "/first"]
    assert paths(trace.under(find_rules("reference"))) == ["/old", "/older", "/new", "/first"]


def required(path, **more):
    expected = {"url": f"__SHOPPING__{path}", "http_method": "POST"}
    return {"evaluator": "NetworkEventEvaluator", "expected": expected, "last_event_only": False, **more}


WARNING = "1 request from before the trace chunk began excluded, the last is event 1 of 2"
DECIDED = "§3.1 (own_requests) changed this verdict to {}: requests from before the chunk began are not part of the run"


@pytest.mark.parametrize(
    ("check", "reference", "others"),
    [
        (required("/old"), "success", "failure"),
        (required("/old", should_not_exist=True), "failure", "success"),
        (required("/new"), "success", "success"),
        (required("/new", should_not_exist=True), "failure", "failure"),
    ],
)
def test_what_an_earlier_chunk_did_neither_passes_nor_fails_a_run(bench, check, reference, others):
    directory = bench.record()
    (directory / "network.har").unlink()
    log = lines(at("/old", 9, method="POST"), at("/new", 11, method="POST"))
    (directory / "trace.zip").write_bytes(archived({"trace.network": log, "trace.trace": options()}))
    task = bench.task(check)
    for rules, status in (("reference", reference), ("default", others), ("strict", others)):
        case = bench.case(task, rules)
        assert str(score(case, default_evaluators()).status) == status
        decided = DECIDED.format(status)
        assert sum(decided in text for text in case.warnings) == (rules != "reference" and reference != others)
        assert (WARNING in case.warnings) == (rules != "reference")


def test_a_run_that_did_nothing_after_an_earlier_chunk_is_a_failure(bench):
    directory = bench.record()
    (directory / "network.har").unlink()
    content = archived({"trace.network": lines(at("/old", 9, method="POST")), "trace.trace": options()})
    (directory / "trace.zip").write_bytes(content)
    result = score(bench.case(bench.task(required("/old"))), default_evaluators())
    assert str(result.status) == "failure"
    (directory / "trace.zip").write_bytes(archived({"trace.network": b"", "trace.trace": options()}))
    with pytest.raises(RecordingError, match="no usable events"):
        score(bench.case(bench.task(required("/old"))), default_evaluators())
