"""What a report reads of an event and evaluators do not: headers of the response, duration, starts of bodies."""

from __future__ import annotations

import base64
import json
import zipfile

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.bodies import PEEKED, Body
from pytest_webeval.recordings.network.form_fields import MOST_FIELDS, list_fields
from pytest_webeval.recordings.network.readers import load_trace

HEADERS = [{"name": "Content-Type", "value": "text/html"}, {"name": "X-Page", "value": "1"}]
PAIRS = (("Content-Type", "text/html"), ("X-Page", "1"))


def entry(content=None, *, headers=HEADERS, **others):
    response = {"status": 200, "cookies": [], "content": content, "headers": headers}
    return {"request": {"method": "GET", "url": "http://shop.test/", "headers": []}, "response": response} | others


def write_har(directory, recorded):
    (directory / "network.har").write_text(json.dumps({"log": {"entries": [recorded]}}))
    return "network.har"


def write_zip(directory, recorded):
    with zipfile.ZipFile(directory / "trace.zip", "w") as archive:
        archive.writestr("trace.network", json.dumps({"type": "resource-snapshot", "snapshot": recorded}))
        archive.writestr("resources/page.html", (directory / "resources" / "page.html").read_bytes())
    return "trace.zip"


def write_folder(directory, recorded):
    (directory / "trace").mkdir()
    line = json.dumps({"type": "resource-snapshot", "snapshot": recorded})
    (directory / "trace" / "trace.network").write_text(line)
    (directory / "resources").rename(directory / "trace" / "resources")
    return "trace"


WRITERS = {"HAR": write_har, "archive": write_zip, "folder": write_folder}


@pytest.fixture(params=WRITERS)
def read(request, tmp_path):
    """The event of a recording in each form, with the inputs that it was read from."""
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "page.html").write_text("<p>lamp")

    def read_event(recorded, text="<p>lamp"):
        (tmp_path / "resources" / "page.html").write_text(text)
        inputs = RunInputs(tmp_path)
        (event,) = load_trace(inputs, WRITERS[request.param](tmp_path, recorded)).events
        return event, inputs

    return read_event


def test_headers_of_the_response_are_read_in_each_form(read):
    assert read(entry())[0].response_headers == PAIRS


@pytest.mark.parametrize("damaged", ["x", [{"name": 7}], {"a": 1}])
def test_damaged_headers_of_the_response_cost_only_themselves(read, damaged):
    event, _ = read(entry(headers=damaged))
    with pytest.raises(EvaluationError, match="no readable response headers"):
        _ = event.response_headers
    assert event.status == 200


def test_an_entry_without_headers_of_the_response_has_none(read):
    recorded = entry()
    del recorded["response"]["headers"]
    assert read(recorded)[0].response_headers == ()


@pytest.mark.parametrize(
    ("time", "seconds"),
    [(1500, 1.5), (0, 0), (0.5, 0.0005), (-1, None), (None, None), ("9", None), (1e300, None), ([], None)],
)
def test_a_duration_is_milliseconds_that_can_be(read, time, seconds):
    assert read(entry(time=time))[0].duration == seconds


def test_a_damaged_entry_has_its_headers_and_duration_too(read):
    recorded = entry(time=20)
    recorded["request"]["url"] = 7
    event, _ = read(recorded)
    assert (event.response_headers, event.duration) == (PAIRS, 0.02)


def test_a_body_that_a_report_reads_is_no_input_and_uses_nothing_up(read):
    event, inputs = read(entry({"mimeType": "text/html", "_file": "resources/page.html"}))
    before = dict(inputs.checksums), dict(inputs.salts)
    body = event.read_content()
    assert body.read_uncounted() == "<p>lamp"
    assert (inputs.checksums, inputs.salts, event._bodies._texts) == (*before, {})
    assert body.load_text() == "<p>lamp"
    assert list(event._bodies._texts) == ["resources/page.html"]


def test_a_side_file_that_is_too_large_for_a_report_is_read_for_a_verdict(read):
    event, _ = read(entry({"mimeType": "text/html", "_file": "resources/page.html"}), "x" * (PEEKED + 1))
    with pytest.raises(EvaluationError):
        event.read_content().read_uncounted()
    assert len(event.read_content().load_text()) == PEEKED + 1


def test_of_a_body_in_base64_a_report_reads_the_beginning(read):
    text = base64.b64encode(b"lamp" * 100_000).decode()
    body = read(entry({"mimeType": "text/plain", "encoding": "base64", "text": text}))[0].read_content()
    start = body.read_uncounted()
    assert len(start) < 400_000 == len(body.load_text())
    assert body.load_text().startswith(start)


def test_a_plain_body_is_its_text(read):
    assert read(entry({"mimeType": "text/plain", "text": "lamp"}))[0].read_content().read_uncounted() == "lamp"


def test_of_an_upload_whose_text_is_lost_a_report_has_the_value_that_is_kept():
    def refuse():
        raise EvaluationError("lost")

    assert Body("multipart/form-data", "", refuse, '{"a": "1"}').read_uncounted() == '{"a": "1"}'
    with pytest.raises(EvaluationError, match="lost"):
        Body("multipart/form-data", "", refuse).read_uncounted()


FORM = "application/x-www-form-urlencoded"
MULTIPART = '--xx\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xx\r\nContent-Disposition: form-data; '
MULTIPART += 'name="a"\r\n\r\n2\r\n--xx--'


@pytest.mark.parametrize(
    ("mime", "text", "fields"),
    [
        (f"{FORM}; charset=utf-8", "a=1&b=%26+c&a=&d", [("a", "1"), ("b", "& c"), ("a", ""), ("d", "")]),
        ("multipart/form-data; boundary=xx", MULTIPART, [("a", "1"), ("a", "2")]),
        ('multipart/form-data; boundary="xx"', MULTIPART, [("a", "1"), ("a", "2")]),
        ("multipart/form-data", MULTIPART, None),
        ("application/json", "{}", None),
        ("", "a=1", None),
    ],
)  # fmt: skip
def test_the_fields_of_a_form_are_listed_as_they_were_sent(mime, text, fields):
    assert list_fields(Body(mime, text)) == fields


@pytest.mark.parametrize(
    ("mime", "text"),
    [
        (FORM, "a=1&" * 100_000),
        ("multipart/form-data; boundary=xx", MULTIPART.removesuffix("--xx--") * 2_000 + "--xx--"),
    ],
)
def test_of_very_many_fields_the_first_are_listed(mime, text):
    assert len(list_fields(Body(mime, text))) == MOST_FIELDS
