"""What fuzzing found, once each: the reader, the input, and what comes of it today."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import msgspec
import pytest

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.evaluators.network.body_matcher import select_fields
from pytest_webeval.evaluators.network.urls import UrlMatcher
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.results import TaskResult
from pytest_webeval.scoring.task_result import merge_results
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.date import DateValue
from pytest_webeval.values.duration import DurationValue
from pytest_webeval.values.month import MonthValue
from pytest_webeval.values.number import NumberValue
from pytest_webeval.values.schema import ValueParser, to_plain_json
from pytest_webeval.values.url_normalization import is_ssh, normalize_url
from tests.fuzz.seed_documents import RESULT
from tests.fuzz.targets.target import written
from tests.fuzz.targets.value import SITES

ODD_BODIES = [
    ("$.a[?(b > 1)].c", {"a": [{"b": {"c": 1}}]}, "TypeError"),
    ("$.a[?(b > 1)].c", {"a": [{"b": float("inf")}]}, "OverflowError"),
    (f"$.a[{'9' * 5000}]", {"a": [1]}, "ValueError"),
]


def reader(*, strict):
    return ValueParser(ParseContext(), strict=strict, where="data")


@pytest.mark.parametrize(("path", "body", "told"), ODD_BODIES)
def test_a_path_that_was_not_meant_for_a_body_is_an_error_that_names_it(path, body, told):
    with pytest.raises(EvaluationError, match=rf"cannot look up .* in a body: {told}: .*; fix the path$") as found:
        select_fields([path], body)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 400


def test_a_pattern_for_names_that_is_too_big_is_an_error_of_the_task():
    with pytest.raises(EvaluationError, match=r"is too large: .*; use a smaller one"):
        select_fields(["^a{99999999999999}$"], {"a": 1})


@pytest.mark.parametrize("items", [5, ["string"], {"type": "array", "items": True}])
def test_a_schema_that_holds_no_object_is_an_error_of_the_task(items):
    schema = {"type": "array", "items": items}
    told = r"invalid schema .*: expected an object; fix the schema of the task"
    with pytest.raises(EvaluationError, match=told):
        reader(strict=False).member(["a"], schema, "a")


def test_items_that_are_no_schema_are_an_error_of_the_task():
    with pytest.raises(EvaluationError, match="invalid schema 5: expected an object"):
        reader(strict=True).array(["a"], {"items": 5})


@pytest.mark.parametrize("properties", [["a"], {"a": 5}])
def test_properties_of_a_schema_that_are_no_objects_are_an_error_of_the_task(properties):
    with pytest.raises(EvaluationError, match="invalid schema"):
        reader(strict=True).member({"a": 1}, {"type": "object", "properties": properties}, "a")


def test_no_item_means_that_nobody_reads_its_schema():
    assert reader(strict=True).array([], {"items": 5}) == []


@pytest.mark.parametrize("raw", ["9" * 400, "-inf", "nan", "1e999"])
def test_a_number_without_end_is_written_as_text(raw):
    value = NumberValue.read(raw, ParseContext())
    written(to_plain_json([value]))
    assert isinstance(to_plain_json(value), str)


@pytest.mark.parametrize("text", ["ssh://a]b/c", "ssh://git@\u2100/c"])
def test_an_ssh_address_with_an_impossible_host_is_no_url(text):
    assert not is_ssh(text)
    with pytest.raises(EvaluationError, match="invalid URL"):
        normalize_url(text)


@pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")
def test_an_address_with_a_host_that_only_its_normal_form_shows_to_be_impossible_is_no_url():
    with pytest.raises(EvaluationError, match=r"invalid URL .*: .* does not appear to be an IPv4 or IPv6 address"):
        UrlMatcher(SITES, ("shopping",)).actual("http://\u0130\u00df[::1]:80/")


def test_a_pattern_of_parameters_that_is_too_big_is_an_error_of_the_task():
    reading = UrlMatcher(SITES, ("shopping",), ignored_patterns=("a{99999999999999}",))
    with pytest.raises(EvaluationError, match="is too large"):
        reading.actual("http://shop.test:7770/?a=b")


def test_digits_without_end_are_no_slow_duration():
    began = time.process_time()
    with pytest.raises(ValueParseError, match="is not a duration"):
        DurationValue.read("9" * 9999 + "x", ParseContext())
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("1:30 hours", 1.5),
        ("0:30hour", 0.5),
        ("12:15 hours", 12.25),
        ("about 1:30 hours", None),
        ("1:1:30 hours", None),
    ],
)
def test_hours_with_minutes_are_read_as_before(text, hours):
    if hours is None:
        with pytest.raises(ValueParseError):
            DurationValue.read(text, ParseContext())
    else:
        assert DurationValue.read(text, ParseContext()).alternatives == (timedelta(hours=hours),)


@pytest.mark.parametrize("warnings", [0.5, None, [["a"]], {"a": 1}, "text"])
def test_warnings_of_a_result_that_somebody_else_wrote_are_left_out_unless_they_are_texts(warnings):
    found = TaskResult.read(json.loads(RESULT)).with_changes(webeval={"run": "7", "warnings": warnings})
    assert merge_results([found, TaskResult.read(json.loads(RESULT))]).webeval["warnings"] == ["a"]


def test_a_body_that_nests_without_end_is_damaged():
    source = BodySource(lambda _: b"")
    body = source.read_post(msgspec.Raw(b'{"x": ' + b"[" * 100_000))
    with pytest.raises(EvaluationError, match="a body in the trace is damaged"):
        body.load_text()


@pytest.mark.parametrize("kind", [DateValue, MonthValue])
@pytest.mark.parametrize("text", ["h20" + "9" * 300, "0" + "9" * 200 + ";" + "9" * 40, "8:" + "1" * 120 + ",: 0"])
def test_a_time_of_very_many_digits_is_no_date(kind, text):
    with pytest.raises(ValueParseError, match="is not"):
        kind.read(text, ParseContext())
