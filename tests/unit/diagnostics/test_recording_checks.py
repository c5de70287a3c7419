"""What is wrong with a recording itself, told of runs that are no success."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.diagnostics.recording_checks import check_recording
from pytest_webeval.errors import RecordingError
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.tasks.task import read_task

SHOP = "http://shop.test:7770"
PAGE = {"accept": "text/html"}


def entry(path="/a", method="GET", status=200, headers=None, content=None, post=None, **about):
    """An entry of a HAR; what `about` says stands beside request and response."""
    listed = [{"name": name, "value": value} for name, value in (headers or {}).items()]
    request = {"url": SHOP + path, "method": method, "headers": listed, "postData": post}
    return {"request": request, "response": {"status": status, "content": content}, **about}


def document(path, frame="top", **more):
    return entry(path, headers=PAGE, _resourceType="document", pageref="1", _frameref=frame, **more)


@pytest.fixture
def checked(bench):
    """What the check says of some entries, for a task that expects some of a response or nothing of it."""

    def check(*entries, content=None):
        path = bench.record(events=json.dumps({"log": {"entries": entries}}).encode())
        wanted = {"url": "__SHOPPING__/a"} | ({"response_content": content} if content else {})
        network = {"evaluator": "NetworkEventEvaluator", "expected": wanted}
        run = load_run(path)
        assert run.trace.events
        return check_recording(run, read_task(bench.task(network), "a test"))

    return check


def kinds(found):
    return [one["kind"] for one in found]


SIZED, KEPT = {"size": 5, "mimeType": "text/html"}, {"size": 5, "text": "hello"}
POSTED = {"content-length": "12"}
FINE = [
    [entry()],
    [entry(content=KEPT)],
    [entry(content={"size": 0})],
    [entry(content={"size": -1})],
    [entry(content={"size": "many"})],
    [entry(content={"size": 5, "_file": "x.html"})],
    [entry(content={"size": 5, "_sha1": "abc"})],
    [entry(content=SIZED), entry(content=KEPT)],
    [entry("/a.css", content=SIZED), entry(content=KEPT)],
    [entry("/a.css", status=-1), entry()],
    [entry(status=304)],
    [entry(_fromCache="disk")],
    [document("/a", status=304), document("/b")],
    [document("/a", _fromCache=None), document("/b", _fromCache=False)],
    [entry(method="POST", headers=POSTED, post={"text": "x=1"})],
    [entry(method="POST", headers=POSTED, post={"_file": "x"})],
    [entry(method="POST", headers={"content-length": "0"})],
    [entry(method="POST", headers={"content-length": "many"})],
    [entry(method="POST")],
    [entry(method="GET", headers=POSTED)],
    [document("/a"), document("/f", "inner"), document("/b")],
    [document("/a"), entry("/b", headers={"accept": "text/html"})],  # nobody says that it is in a frame
]


@pytest.mark.parametrize("entries", FINE)
def test_of_a_recording_that_is_whole_nothing_is_told(checked, entries):
    assert checked(*entries) == []


WRONG = [
    (
        "bodies_missing",
        [entry(content=SIZED), entry(content=SIZED)],
        "no stored body for 2 of 2 responses with content",
    ),
    (
        "empty_log",
        [entry("/a.css"), entry("/b.png")],
        "no usable events: 2 entries of static files only; re-record",
    ),
    ("empty_log", [{"request": {}}], "no usable events: 1 unreadable entry; re-record"),
    ("final_page_cached", [document("/a"), document("/b", status=304)], "(event 2 of 2, status 304) came from a cache"),
    ("final_page_cached", [document("/a", _fromCache="disk")], "(event 1 of 1, status 200) came from a cache"),
    ("failed_requests", [entry(), entry(status=-1), entry(status=0)], "no response to 2 of 3 requests, the first is "),
    ("upload_without_body", [entry(method="post", headers=POSTED)], "no recorded body for 1 upload, the first is ev"),
    ("upload_without_body", [entry(method="PUT", headers={"content-type": "Multipart/Form-Data; boundary=x"})], ""),
    ("upload_without_body", [entry(method="PATCH", headers=POSTED, post={"text": ""})], "the first is event 1 of 1;"),
    ("frame_after_page", [document("/a"), entry("/x"), document("/f", "inner")], "a document in an iframe (event 3 of"),
]


@pytest.mark.parametrize(("kind", "entries", "told"), WRONG)
def test_what_is_wrong_has_a_code_and_a_sentence_with_numbers(checked, kind, entries, told):
    (found,) = checked(*entries)
    assert found["kind"] == kind
    assert told in found["text"]
    assert ";" in found["text"]


@pytest.mark.parametrize(("content", "told"), [({"a": 1}, ["bodies_missing"]), ({}, []), (None, [])])
def test_that_some_bodies_are_missing_matters_where_the_task_asks_for_one(checked, content, told):
    assert kinds(checked(entry(content=SIZED), entry(content=KEPT), content=content)) == told


DAMAGES = [
    {"request": {"url": 5, "method": "GET"}},
    {"request": {"url": f"{SHOP}/a"}},
    {"request": {"url": f"{SHOP}/a", "method": 7}},
    {"request": {"url": "http://[", "method": "GET", "headers": []}, "response": {"status": 200}},
    {"request": {"url": f"{SHOP}/a", "method": "POST", "headers": "none"}, "response": {"status": "x"}},
    {"request": {"url": f"{SHOP}/a", "method": "POST", "headers": [], "postData": 5}, "response": 7},
    entry(content=5),
    entry(method="POST", headers=POSTED, post=[1]),
    {"_fromCache": "disk", "startedDateTime": 5, "pageref": 5},
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_hides_nothing_else_and_raises_nothing(checked, damage):
    upload = entry("/up", "POST", headers=POSTED)
    assert {"upload_without_body", "failed_requests"} <= set(kinds(checked(upload, damage, entry(status=-1))))


@pytest.mark.parametrize("damage", [{}, {"pageref": 5}], ids=["whole", "damaged"])
def test_a_damaged_entry_tells_what_it_can_of_its_body_and_of_the_cache(checked, damage):
    found = checked(document("/a", content=SIZED, _fromCache="memory") | damage)
    assert kinds(found) == ["bodies_missing", "final_page_cached"]


def test_a_trace_that_nobody_read_is_not_read_for_this(bench):
    run = load_run(bench.record(events=[{"url": f"{SHOP}/a.css"}]))
    assert check_recording(run) == []
    assert run.inputs.checksums == {}
    assert run.trace.is_empty
    assert kinds(check_recording(run)) == ["empty_log"]


def test_it_stands_in_results_that_are_no_success_and_in_no_others(bench):
    bench.record(events=[{"url": f"{SHOP}/a"}, {"url": f"{SHOP}/b", "status": -1}])
    good = bench.score(bench.task(bench.expecting(data=["Blue Mug"])))
    bad = bench.score(bench.task(bench.expecting(data=["Red Mug"])))
    assert "capture" not in good.webeval
    assert kinds(bad.webeval["capture"]) == ["failed_requests"]


def test_it_stands_in_results_of_recordings_that_cannot_be_scored(bench):
    bench.record(events=[{"url": f"{SHOP}/a.css"}])
    case = bench.case(bench.task(bench.expecting()))
    with pytest.raises(RecordingError) as error:
        case.check()
    found = build_error_result(case.run, case.task, str(error.value)).to_json()["webeval"]
    assert (kinds(found["capture"]), found["explanations"]) == (["empty_log"], [])
