"""Where the result and the recording of a run are, and whether they are those of the session."""

from __future__ import annotations

import json
import os

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.reports.html.side_by_side import run_files
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails
from pytest_webeval.reports.html.side_by_side.run_files import (
    RecordingReader,
    build_result,
    find_frame,
    find_picture,
    find_run_directory,
    is_same_recording,
    link_to_task,
    list_inputs,
    list_places,
    measure_recording,
    parse_label,
    read_page,
    read_result,
)
from pytest_webeval.reports.html.writer import data_name, write_task
from pytest_webeval.results import Difference
from pytest_webeval.safety.files import sha256
from tests.support.runs import Runs
from tests.unit.reports.html.side_by_side.results import build

LABELS = [
    ("runs/107", ("runs", "107")),
    ("a%20b/%C3%A4", ("a b", "ä")),
    (".", ()),
    ("", ()),
    ("/etc", ()),
    ("runs/../..", ()),
    ("runs/%2e%2e/x", ()),
    ("runs//x", ()),
    ("runs/%00", ()),
    ("runs/%0a", ()),
    ("/".join("x" * 41), ()),
]


@pytest.mark.parametrize(("label", "parts"), LABELS)
def test_a_label_leads_into_its_root(label, parts):
    assert parse_label(label) == parts


unchecked = pytest.mark.unchecked_files("results with as much as a page needs")


@unchecked
@pytest.mark.parametrize("place", ["root/runs/107", "runs/107", "107"])
def test_a_result_lies_below_its_root_or_without_the_root(tmp_path, place):
    path = tmp_path / place
    path.mkdir(parents=True)
    (path / "eval_result.json").write_text(json.dumps(build(run="root/runs/107").to_json()))
    result, directory = read_result(tmp_path, "root/runs/107")
    assert (result.task_id, directory) == (107, path)
    assert read_result(tmp_path, "runs/107") is None
    assert read_result(tmp_path, "other") is None


@unchecked
@pytest.mark.parametrize(("version", "message"), [(99, "newer than"), ("1", "invalid schema_version")])
def test_a_result_of_another_version_is_not_read(tmp_path, version, message):
    (tmp_path / "eval_result.json").write_text(json.dumps(build(run="x/y", schema_version=version).to_json()))
    (tmp_path / "y").mkdir()
    (tmp_path / "eval_result.json").rename(tmp_path / "y" / "eval_result.json")
    with pytest.raises(ValueError, match=message):
        read_result(tmp_path, "x/y")


@unchecked
def test_a_large_result_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(run_files, "MOST_BYTES", 10)
    (tmp_path / "eval_result.json").write_text(json.dumps(build().to_json()))
    (tmp_path / "107").mkdir()
    (tmp_path / "eval_result.json").rename(tmp_path / "107" / "eval_result.json")
    with pytest.raises(RecordingError, match="the limit is 10"):
        read_result(tmp_path, "runs/107")


def test_no_link_leads_to_a_recording(tmp_path):
    (tmp_path / "runs" / "1").mkdir(parents=True)
    (tmp_path / "runs" / "2").symlink_to(tmp_path / "runs" / "1")
    (tmp_path / "runs" / "3").write_text("")
    result = tmp_path / "out"
    assert list(list_places(result, tmp_path, "runs/1")) == [result, tmp_path / "runs" / "1"]
    for label in ("runs/2", "runs/3", "runs/4", "../x", "."):
        assert list(list_places(result, tmp_path, label)) == [result]


def test_a_recording_is_the_same_if_all_files_are(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"22")
    inputs = {"a": sha256(b"1"), "b": sha256(b"22")}
    assert is_same_recording(tmp_path, inputs)
    assert measure_recording(tmp_path, inputs) == 3
    assert not is_same_recording(tmp_path, {})
    assert not is_same_recording(tmp_path, inputs | {"b": sha256(b"2")})
    assert not is_same_recording(tmp_path, inputs | {"c": sha256(b"")})
    assert not is_same_recording(tmp_path, {"../a": sha256(b"1")})
    (tmp_path / "c").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "d")
    assert not is_same_recording(tmp_path, {"c": sha256(b"1")})
    assert not is_same_recording(tmp_path, {"d": sha256(b"")})
    assert measure_recording(tmp_path, {"x": "", "\0": ""}) == 0


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"network.har": "0"}, {"network.har": "0"}),
        ({"scores/x.json": "0", "rubric.json": "1", "core.log": "2"}, {"core.log": "2"}),
        (None, {}),
        (["network.har"], {}),
        ({str(number): "0" for number in range(1_001)}, {}),
    ],
)
def test_files_of_a_judge_are_none_of_the_recording(inputs, expected):
    assert list_inputs(build(inputs=inputs)) == expected


def test_recordings_are_read_until_the_bytes_of_a_page_are_used_up(tmp_path):
    path = Runs(tmp_path / "runs").add(107)
    content = (path / "agent_response.json").read_bytes()
    result = build(inputs={"agent_response.json": sha256(content)})
    reader = RecordingReader(tmp_path, left=2 * len(content))
    problems = [reader.read(result, [path]).problems for _ in range(3)]
    assert problems == [(), (), ("the recording was not read: those of this page are too large",)]


PAGE = {"run": "it's \\ runs/107", "text": "a\n'b' \\n </script> \u2028 {}", "evaluators": []}


def test_a_page_is_read_as_it_was_written(tmp_path):
    write_task("runs/'107", PAGE, tmp_path)
    assert read_page(tmp_path, "runs/'107") == PAGE
    assert read_page(tmp_path, "runs/108") is None


@pytest.mark.parametrize("change", [("webeval.task", "alert"), ("');", "');alert(1);"), ("runs/", "rins/"), ("{", "[")])
def test_another_script_is_not_a_page(tmp_path, change):
    write_task("runs/107", PAGE, tmp_path)
    (path,) = (tmp_path / "data").iterdir()
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(ValueError, match=r"not a page of this run|Expecting|Extra data"):
        read_page(tmp_path, "runs/107")


def link(address, label="run directory"):
    return {"links": [{"label": "result", "href": "x"}, {"label": label, "href": address}]}


@pytest.mark.parametrize(
    ("page", "path"),
    [
        (link("../runs/a%20b/"), "../runs/a b"),
        (link("../runs/107"), None),
        (link("/etc/"), None),
        (link("file:///etc/"), None),
        (link("../x\n/"), None),
        (link(5), None),
        (link("../runs/%ff/"), None),
        (link("../runs/", "directory"), None),
        ({"links": 5}, None),
        ({"links": [5, []]}, None),
        ({}, None),
    ],
)
def test_the_run_directory_of_a_page_is_a_relative_path(tmp_path, page, path):
    assert find_run_directory(page, tmp_path) == (None if path is None else tmp_path / path)


PICTURES = [
    ({"after": "../runs/1/a%20b.png", "before": "../runs/1/c.png"}, "a b.png"),
    ({"after": None, "before": "../runs/1/c.png"}, "c.png"),
    ({"after": "data:image/png;base64,AA"}, None),
    ({"after": "https://h.test/x.png"}, None),
    ({"after": "../runs/2/x.png"}, None),
    ({"after": "../runs/1/%ff.png"}, None),
    ({"after": 5, "before": {}}, None),
    ({}, None),
]


@pytest.mark.parametrize(("step", "name"), PICTURES)
def test_a_picture_of_a_page_is_a_file_of_its_run_directory(step, name):
    assert find_picture(step, link("../runs/1/")) == name
    assert find_picture(step, {}) is None


def test_the_address_of_a_task_in_its_report(tmp_path):
    address = link_to_task(tmp_path / "a: b", "runs/1&x=#2", tmp_path / "page")
    assert address == "../a%3A%20b/index.html#task=runs%2F1%26x%3D%232"


ANSWERS = [
    (
        {"answer": {"fields": [{"name": "results", "value": [1]}, {"name": "status", "value": "SUCCESS"}], "more": 0}},
        {"results": [1], "status": "SUCCESS"},
    ),
    ({"answer": {"value": "12 EUR"}}, "12 EUR"),
    ({"answer": {"value": ""}}, ""),
    ({"about": {"trajectory": {"answer": "12 EUR"}}}, "12 EUR"),
    ({"answer": {"fields": [5, {"name": {}}]}}, {"None": None, "{}": None}),
    ({"answer": 5, "about": {"trajectory": 7}}, "of the evaluator"),
    ({}, "of the evaluator"),
]


@pytest.mark.parametrize(("page", "answer"), ANSWERS)
def test_the_answer_on_a_page_is_in_the_words_of_the_agent(page, answer):
    evaluated = {"name": "AgentResponseEvaluator", "status": "success", "actual": "of the evaluator", "assertions": []}
    result = build_result({"status": "success", "evaluators": [evaluated], **page}, 107)
    assert RunDetails(result).answer == answer


FRAME = f"data/{data_name('runs/107')}-frame-3.png"


@pytest.mark.parametrize(
    ("step", "frame"),
    [
        ({"after": FRAME, "before": None}, FRAME),
        ({"after": None, "before": FRAME}, FRAME),
        ({"after": f"../{FRAME}"}, None),
        ({"after": f"data/{data_name('runs/108')}-frame-3.png"}, None),
        ({"after": FRAME.replace("png", "svg")}, None),
        ({"after": 5}, None),
    ],
)
def test_a_frame_is_a_file_of_the_report_for_this_run(step, frame):
    assert find_frame(step, "runs/107") == frame


@pytest.mark.parametrize(
    "other", [{}, {"differences": []}, {"differences": [5]}, {"differences": 5, "candidates": None}]
)
def test_the_differences_on_a_page_are_kept_beside_an_evaluator_that_has_none_to_read(other):
    named = {"name": "NetworkEventEvaluator", "status": "failure"}
    shown = {"path": "url", "kind": "different", "expected": "a", "actual": "b"}
    evaluators = [{**named, **other}, {**named, "differences": [shown]}]
    result = build_result({"status": "failure", "evaluators": evaluators}, 107)
    first, second = (each.explanation for each in result.evaluators_results)
    assert first is None
    assert second is not None
    assert second.differences == [Difference(**shown)]
