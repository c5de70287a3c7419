"""The log of requests that ClawBench writes, and what it leaves unknown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval.errors import EvaluationError, RecordingError, UnavailableBody
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.form_fields import parse_fields
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.safety.limits import Limits

RECORDED = Path(__file__).parents[3] / "recorded" / "clawbench" / "example--agent-1"
LINE = {"timestamp": 1.5, "url": "https://shop.test/", "method": "GET", "headers": {}, "body": None}


def load(path, limits=None):
    inputs = RunInputs(path) if limits is None else RunInputs(path, limits=limits)
    return load_trace(inputs, "data/requests.jsonl")


def write(directory, content, interception=None):
    (directory / "data").mkdir()
    (directory / "data" / "requests.jsonl").write_text(content)
    if interception is not None:
        (directory / "data" / "interception.json").write_text(interception)
    return directory


def case(name):
    (path,) = RECORDED.glob(f"*-{name}-*")
    return path


@pytest.mark.parametrize("name", ["901-shop-success", "903-shop-not-matched", "904-shop-time-limit"])
def test_events_are_those_of_the_lines(name):
    path = case(name) / "data" / "requests.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    events = load(case(name)).events
    assert len(lines) >= 2
    assert [(event.url, event.method, event.started, dict(event.headers)) for event in events] == [
        (line["url"], line["method"], line["timestamp"], line["headers"]) for line in lines
    ]
    assert not any(event.has_null_header or event.is_failed or event.redirect_url for event in events)
    assert [event.resource_type for event in events] == [line["resource_type"].lower() for line in lines]


def test_a_form_has_the_fields_that_the_browser_sent():
    posts = [event for event in load(case("901-shop-success")).events if event.method == "POST"]
    assert parse_fields(posts[0].read_post()).first == {"product": "mug", "quantity": "2"}


def test_the_page_is_known_and_the_response_is_not():
    trace = load(case("904-shop-time-limit"))
    page = trace.last_page
    assert page is not None
    assert page.url.endswith("/")
    for ask in (lambda: page.status, lambda: page.cookies, page.read_content, page.check):
        with pytest.raises(
            EvaluationError, match=r"event 1 has no .*: requests.jsonl of ClawBench records no responses"
        ):
            ask()


def test_the_request_that_the_harness_blocks_at_its_own_address_is_not_logged_but_known():
    path = case("ce-T910-answer")
    assert (path / "data" / "requests.jsonl").read_text() == ""
    (event,) = load(path).events
    assert (event.method, event.url) == ("POST", "http://127.0.0.1:7878/api/task-submit")
    assert json.loads(event.read_post().text) == {"answer": "Two mugs cost $8."}


def test_a_blocked_request_of_a_site_is_no_second_event(tmp_path):
    request = {"url": LINE["url"], "method": "GET"}
    write(tmp_path, json.dumps(LINE) + "\n", json.dumps({"intercepted": True, "request": request}))
    assert len(load(tmp_path).events) == 1


@pytest.mark.parametrize(
    ("body", "mime", "text"),
    [
        ({"a": "1", "b": ["2", "3"]}, "application/x-www-form-urlencoded", "a=1&b=2&b=3"),
        ({"a": 1}, "application/x-www-form-urlencoded", '{"a": 1}'),
        ({"a": "ä&="}, "application/x-www-form-urlencoded; charset=utf-8", "a=%C3%A4%26%3D"),
        ([1], "application/json", "[1]"),
        ("x", "text/plain", '"x"'),
        ({"a": "1"}, None, '{"a": "1"}'),
    ],
)
def test_a_body_is_written_so_that_its_fields_are_read_again(tmp_path, body, mime, text):
    headers = {"Content-Type": mime} if mime else {}
    write(tmp_path, json.dumps(LINE | {"headers": headers, "body": body}) + "\n")
    found = load(tmp_path).events[0].read_post()
    assert (found.text, found.mime) == (text, mime or "application/json")
    assert json.loads(found.parsed) == body


def test_the_text_of_an_upload_is_unavailable(tmp_path):
    body = {"--b\r\nContent-Disposition: form-data; name": '"a"\r\n\r\n1\r\n--b--\r\n'}
    write(tmp_path, json.dumps(LINE | {"headers": {"content-type": "multipart/form-data"}, "body": body}) + "\n")
    found = load(tmp_path).events[0].read_post()
    assert found.parsed is None
    with pytest.raises(UnavailableBody, match="event 1 is an upload"):
        found.load_text()


def test_one_damaged_field_costs_only_itself(tmp_path):
    damaged = [LINE | {"url": 5}, LINE | {"method": []}, LINE | {"headers": {"a": 1}}, LINE | {"timestamp": 1e300}]
    write(tmp_path, "".join(json.dumps(line) + "\n" for line in damaged))
    url, method, headers, stamp = load(tmp_path).events
    for event, name in ((url, "url"), (method, "method"), (headers, "headers")):
        with pytest.raises(EvaluationError, match=f"no readable {name}"):
            getattr(event, name)
    assert (url.method, method.url, headers.method, stamp.started) == ("GET", LINE["url"], "GET", None)


def test_a_line_that_was_cut_off_at_the_end_is_a_repair_and_any_other_an_error(tmp_path):
    whole = json.dumps(LINE)
    write(tmp_path, f"{whole}\n\n{whole[:30]}")
    trace = load(tmp_path)
    assert (len(trace.events), trace.repairs) == (1, f"{tmp_path}/data/requests.jsonl ends within line 3")
    for content, line in ((f"{whole[:30]}\n{whole}\n", 1), (f"{whole}\n{whole[:30]}\n", 2)):
        (tmp_path / "data" / "requests.jsonl").write_text(content)
        with pytest.raises(RecordingError, match=rf"cannot read .* as a log of requests: .* @ line {line}; re-record"):
            load(tmp_path)


def test_what_python_writes_and_json_does_not_know_is_read(tmp_path):
    write(tmp_path, json.dumps(LINE | {"body": {"a": float("nan"), "b": "\ud83d"}}) + "\n")
    assert json.loads(load(tmp_path).events[0].read_post().text)["a"] is None


def test_more_lines_than_are_read_are_an_error(tmp_path):
    write(tmp_path, f"{json.dumps(LINE)}\n" * 4)
    with pytest.raises(RecordingError, match="has more than 3 entries"):
        load(tmp_path, Limits(entries=3))


def test_a_damaged_interception_is_an_error(tmp_path):
    write(tmp_path, json.dumps(LINE) + "\n", '{"request": 5')
    with pytest.raises(RecordingError, match=r"cannot read .*interception.json"):
        load(tmp_path)


def test_a_link_is_not_followed(tmp_path):
    path = tmp_path / "run"
    shutil.copytree(case("901-shop-success"), path)
    (path / "data" / "requests.jsonl").rename(tmp_path / "elsewhere")
    (path / "data" / "requests.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecordingError):
        load(path)
