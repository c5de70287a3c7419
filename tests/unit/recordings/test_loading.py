"""What a stranger left: spec §3.1 (traces), files that are no files, task definitions, writing."""

from __future__ import annotations

import json
import os
import re
import zipfile
from contextlib import suppress
from functools import partial

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError, TaskDefinitionError, WebEvalError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.readers import _PIECE, load_trace
from pytest_webeval.results import Status
from pytest_webeval.rules import RULES
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.limits import Limits
from pytest_webeval.scoring.provenance import deciding_checksum
from pytest_webeval.storage import write_json
from pytest_webeval.summary.statistics import wilson
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import Sites

ENTRY = {
    "request": {"url": "http://a/", "method": "GET", "headers": []},
    "response": {"status": 200, "content": {"mimeType": "text/plain", "_sha1": "b.txt", "_file": "b.txt"}},
}
HAR = json.dumps({"log": {"entries": [ENTRY]}}).encode()
LINE = json.dumps({"type": "resource-snapshot", "snapshot": ENTRY}).encode()
OTHER = b'{"type": "context-options"}'


def loaded(directory, name):
    return load_trace(RunInputs(directory), name)


@pytest.mark.parametrize(
    ("name", "content", "events"),
    [
        ("a.har", HAR, 1),
        ("a.json", HAR, 1),
        ("a.har", LINE, 1),
        ("a.network", OTHER + b"\n" + LINE + b"\n", 1),
        ("a.network", OTHER, 0),
        ("a.har", HAR.replace(b"200", b'"302"'), 1),
        ("a.har", HAR.replace(b"200", b"302.0"), 1),
    ],
)
def test_a_trace_is_read_by_its_name(tmp_path, name, content, events):
    (tmp_path / name).write_bytes(content)
    assert len(loaded(tmp_path, name).events) == events


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("a.har", text) for text in [b"{}", b'{"log": {}}', b'{"log": {"entries": []}}']),
        *(("a.har", text) for text in [b'{"log": {"entries": null}}', HAR[:-1], b"[]", HAR.decode().encode("utf-16")]),
        *(("a.network", text) for text in [HAR, LINE + b"\nx", b"x"]),
        *(("a.har", HAR.replace(b"[{", b"[%s, {" % entry)) for entry in [b"null", b"5", b"[]"]),
        ("a.zip", b"no archive"),
    ],
)
def test_a_damaged_trace_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordingError):
        loaded(tmp_path, name)


@pytest.mark.parametrize("trace", [b"", OTHER])
def test_the_reference_alone_takes_a_trace_without_events(bench, trace):
    bench.record(events=trace)
    bench.case(bench.task(bench.expecting()), "reference").run.check()
    with pytest.raises(RecordingError, match="has no usable events: no entries") as refusal:
        bench.case(bench.task(bench.expecting())).run.check()
    assert refusal.value.rule == "events_required"


MENDED = [
    ("a.har", HAR.replace(b"text/plain", b"text/pl\xe9in")),
    ("a.network", LINE + b"\n\n" + LINE),
    ("a.network", LINE + b"\n\n"),
    ("a.network", b" "),
    ("a.har", LINE.replace(b"text/plain", "text\u2028plain".encode())),
    ("a.network", LINE + b'\n{"type": "resource-snapshot", "snapshot": {}}\n\n'),
]


@pytest.mark.parametrize(("name", "content"), MENDED)
def test_a_trace_that_the_reference_refuses_is_mended_where_that_is_possible(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert loaded(tmp_path, name).repairs


def test_a_mended_trace_is_refused_by_the_rules_of_the_reference(bench):
    bench.record(events=LINE + b"\n\n" + LINE)
    task = bench.task(bench.expecting(data=["Blue Mug"]))
    assert bench.score(task).status == "success"
    with pytest.raises(RecordingError, match="@ line 2; use --webeval-rules=default, which reads it"):
        bench.score(task, "reference")


@pytest.mark.parametrize(("name", "content"), [("a.har", HAR), ("a.network", LINE)])
@pytest.mark.parametrize(
    ("usual", "odd", "url"),
    [
        (b"200", b'200, "time": NaN, "wait": -Infinity, "more": 1e999', "http://a/"),
        (b"text/plain", b"text/\\ud800plain", "http://a/"),
        (b"http://a/", b"http://a/\\udfff", "http://a/\ufffd"),  # another address than without it
    ],
)
def test_json_as_python_writes_it_is_read(tmp_path, name, content, usual, odd, url):
    (tmp_path / name).write_bytes(content.replace(usual, odd))
    trace = loaded(tmp_path, name)
    assert (trace.events[0].url, trace.repairs) == (url, None)


@pytest.mark.parametrize("entries", [b'"xy"', b'{"a": 1, "b": 2}'])
def test_entries_that_are_no_list_are_as_many_lost_events(tmp_path, entries):
    (tmp_path / "a.har").write_bytes(b'{"log": {"entries": %s}}' % entries)
    trace = loaded(tmp_path, "a.har")
    assert (len(trace.events), trace.is_empty) == (2, True)


@pytest.mark.parametrize("method", [b"null", b"5", b"[]"])
def test_a_method_that_is_no_text_is_no_get_and_cannot_be_compared(tmp_path, method):
    (tmp_path / "a.har").write_bytes(HAR.replace(b'"GET"', method))
    event = loaded(tmp_path, "a.har").events[0]
    assert not event.is_navigation
    with pytest.raises(EvaluationError, match="invalid method of an event of the trace"):
        event.method.upper()


@pytest.mark.parametrize("status", [b"1e400", b"1e300", b"302.5", b'"x"', b"null", b"[1]"])
def test_a_damaged_field_costs_only_who_asks_for_it(tmp_path, status):
    (tmp_path / "a.har").write_bytes(HAR.replace(b"200", status))
    event = loaded(tmp_path, "a.har").events[0]
    assert (event.url, event.method, event.headers) == ("http://a/", "GET", ())
    with pytest.raises(EvaluationError, match="event 1 of the trace is damaged: no readable status; re-record the run"):
        _ = event.status
    with pytest.raises(AttributeError):
        _ = event.colour


@pytest.mark.parametrize("kind", ["har", "folder", "zip"])
def test_a_body_in_a_side_file_is_set_aside_until_somebody_asks(tmp_path, kind):
    name = {"har": "a.har", "folder": "trace", "zip": "a.zip"}[kind]
    if kind == "har":
        (tmp_path / name).write_bytes(HAR)
        (tmp_path / "b.txt").write_text("kept")
    elif kind == "folder":
        (tmp_path / "trace/resources").mkdir(parents=True)
        (tmp_path / "trace/trace.network").write_bytes(LINE)
        (tmp_path / "trace/resources/b.txt").write_text("kept")
    else:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("trace.network", LINE)
            archive.writestr("resources/b.txt", "kept")
    body = loaded(tmp_path, name).events[0].read_content()
    assert (body.text, body.load_text()) == ("", "kept")


def test_side_files_are_read_once_and_are_of_bounded_size():
    asked = []
    bodies = BodySource(lambda name: asked.append(name) or b"12345", Limits(body_size=4))
    first, again, other = (
        bodies.read_post(msgspec.Raw(b'{"mimeType": "text/plain", "_sha1": "%s"}' % name))
        for name in (b"a", b"a", b"b")
    )
    assert (first.load_text(), again.load_text(), asked) == ("12345", "12345", ["a"])
    with pytest.raises(
        EvaluationError, match="the bodies in side files have 10 characters; the limit is 8; see body_s"
    ):
        other.load_text()
    assert first.load_text() == "12345"


def test_only_plain_files_inside_the_directory_are_read(tmp_path):
    (tmp_path / "run/deep").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (tmp_path / "run/link").symlink_to(tmp_path / "secret")
    (tmp_path / "run/away").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "run/pipe")
    for name in ["link", "away/secret", "pipe", "deep", "../secret", "", str(tmp_path / "secret"), "none", "a\0b"]:
        with pytest.raises(RecordingError):
            read_file_inside(tmp_path / "run", name)
    (tmp_path / "run/deep/file").write_text("12345")
    assert read_file_inside(tmp_path / "run", "deep/file") == b"12345"
    with pytest.raises(RecordingError, match="has 5 bytes; the limit is 4"):
        read_file_inside(tmp_path / "run", "deep/file", 4)


@settings(deadline=None)  # the machine may be busy
@given(st.binary(max_size=200) | st.sampled_from([HAR, LINE]).flatmap(lambda text: st.just(text[:60] + text[61:])))
def test_any_bytes_are_read_or_refused_by_name(tmp_path_factory, content):
    directory = tmp_path_factory.getbasetemp()
    reads = [partial(parse_tasks, content, "x"), partial(parse_response, content, RULES["default"])]
    for name in ("any.har", "any.network", "any.zip"):
        (directory / name).write_bytes(content)
        reads.append(partial(loaded, directory, name))
    for read in reads:
        with suppress(WebEvalError):  # anything else fails the test
            assert read() is not None


@pytest.mark.parametrize("layout", ["list", "lines"])
def test_tasks_are_a_json_list_or_json_lines(bench, layout):
    rows = [bench.task(bench.expecting(), task_id=number) for number in (9, 7)]
    text = json.dumps(rows) if layout == "list" else "\n".join(map(json.dumps, rows))
    found = parse_tasks(text.encode(), "tasks.json")
    assert (found.task_ids, found.get(7).task_id) == ((7, 9), 7)
    with pytest.raises(TaskDefinitionError, match=r"task 8 is not defined in tasks\.json"):
        found.get(8)


def test_a_task_that_is_defined_twice_is_refused(bench):
    rows = [bench.task(bench.expecting())] * 2
    with pytest.raises(TaskDefinitionError, match="task 7 is defined twice"):
        parse_tasks(json.dumps(rows).encode(), "x").get(7)


def test_a_wrong_definition_is_told_with_its_place(bench):
    bench.record()
    result = bench.score(bench.task(bench.expecting(status="DONE"), bench.expecting(data=["Blue Mug"])))
    assert result.error_msg.endswith("@ eval[0].expected.status")
    assert [one.status for one in result.evaluators_results] == [Status.ERROR, Status.SUCCESS]
    assert (result.status, result.score) == (Status.ERROR, 0.0)


class Raises(Evaluator):
    name = "AgentResponseEvaluator"

    def evaluate(self, expectation, case):  # noqa: ARG002  (the signature of an evaluator)
        raise ZeroDivisionError("by hand")


def test_whatever_an_evaluator_raises_is_its_error_and_its_code_changes_the_checksum(bench):
    bench.record()
    result = bench.score(bench.task(bench.expecting()), evaluators=[Raises()])
    told = r"AgentResponseEvaluator: ZeroDivisionError: by hand @ eval\[0\], \S*test_loading\.py:\d+"
    assert re.fullmatch(told, result.error_msg)
    assert result.webarena_verified_evaluator_checksum == deciding_checksum([Raises()]) != deciding_checksum([])


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1)],
)
def test_rates_have_wilson_intervals(successes, total, low, high):
    assert wilson(successes, total) == pytest.approx((low, high), abs=5e-5)


def test_writing_replaces_a_link_and_spells_out_lone_surrogates(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "out.json").symlink_to(tmp_path / "precious")
    write_json(tmp_path / "out.json", {"a": "\ud800é"})
    assert (tmp_path / "precious").read_text() == "kept"
    assert msgspec.json.decode((tmp_path / "out.json").read_bytes()) == {"a": "\\ud800é"}
    with pytest.raises(SettingsError, match=r"out\.json: Object of type object is not JSON serializable; use JSON"):
        write_json(tmp_path / "out.json", {"a": object()})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "precious"]


def test_an_entry_that_is_a_text_is_a_lost_event(tmp_path):
    (tmp_path / "a.har").write_bytes(HAR.replace(b"[{", b'["x", {', 1))
    events = loaded(tmp_path, "a.har").events
    assert [event.is_significant for event in events] == [False, True]


def test_bytes_that_are_no_utf8_are_dropped_from_a_line_file(tmp_path):
    (tmp_path / "a.network").write_bytes(LINE.replace(b"http://a/", b"http://a\xe9/"))
    trace = loaded(tmp_path, "a.network")
    assert (trace.events[0].url, trace.repairs) == ("http://a/", None)


def test_an_impossible_url_is_left_to_whoever_looks_at_it(bench):
    bench.record(events=[{"url": "http://[::1/a"}])
    case = bench.case(bench.task(bench.expecting(data=["Blue Mug"])))
    case.check()
    with pytest.raises(RecordingError, match="event 1 has the invalid URL"):
        Case(case.run, case.task, Sites()).check()


def test_alternatives_of_alternatives_are_refused(bench):
    bench.record()
    result = bench.score(bench.task(bench.expecting(data=[[["a"], ["b"]]])))
    told = "is a list of lists; write the alternatives of a datum as one flat list @ eval[0].expected.retrieved_data"
    assert result.error_msg.endswith(told)


@pytest.mark.parametrize("before", range(5))
@pytest.mark.parametrize(
    ("odd", "is_utf8"),
    [("é€🙂".encode(), True), (b"\xff", False), (b"\xf0\x9f\x99", False), (b"\xe2\x82", False)],
)
def test_a_har_is_read_and_mended_wherever_a_byte_is_no_utf8(tmp_path, before, odd, is_utf8):
    head, mark, tail = HAR.partition(b'"response": {')
    start = head + b'"comment": "'
    content = start.ljust(_PIECE - before, b"x") + odd + b"y" * _PIECE + b'", ' + mark + tail
    (tmp_path / "a.har").write_bytes(content)
    assert (loaded(tmp_path, "a.har").repairs is None) is is_utf8


def test_a_har_that_ends_in_half_a_character_is_mended(tmp_path):
    (tmp_path / "a.har").write_bytes(HAR + b"\xe2\x82")
    with pytest.raises(RecordingError, match="as HAR: "):
        loaded(tmp_path, "a.har")
