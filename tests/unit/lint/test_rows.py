"""Rows of task files: a damaged one hides no other, and each finding has its line."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import hypothesis
import pytest
from hypothesis import strategies

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.lint.findings import Finding
from pytest_webeval.lint.linter import lint_files, lint_row
from pytest_webeval.lint.task_rows import read_rows
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.default_run import examples
from tests.unit.lint.planted import answer, post, request, task

pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")
MISTAKE = task(request({"http_method": "post"}))
SUITE = Path(__file__).parents[3] / "example_suite"
ADDRESSES = Sites({"shopping": Environment(("http://shop.test",))})


@pytest.fixture
def lint(tmp_path):
    """The findings in a text, as (line, place, text)."""

    def run(text, name="tasks.json"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return [(finding.line, finding.place, finding.text) for finding in lint_files([path])]

    return run


METHOD = "unknown method 'post'; use POST"


def test_a_row_that_cannot_be_read_hides_no_other(lint):
    rows = [5, {"task_id": 1}, {"color": "red"}, {**MISTAKE, "task_id": 2}]
    findings = lint(json.dumps(rows, indent=1))
    assert [finding[1] for finding in findings] == ["[0]", "[1]", "[2]", "[3].eval[1].expected.http_method"]
    assert findings[0] == (2, "[0]", "a task is a JSON object; write its fields")
    assert "lacks the fields" in findings[1][2]
    assert findings[2][2].startswith("unknown benchmark in ")


def test_a_finding_has_the_line_of_its_place(lint):
    text = json.dumps([task(request(), task_id=1), {**MISTAKE, "task_id": 2}], indent=1)
    (finding,) = lint(text)
    assert finding[1:] == ("[1].eval[1].expected.http_method", METHOD)
    assert text.splitlines()[finding[0] - 1].strip() == '"http_method": "post"'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_are_counted_in_files_of_windows_and_behind_a_byte_order_mark(lint, newline):
    text = json.dumps(MISTAKE, indent=1).replace("\n", newline)
    ((line, *_),) = lint(b"\xef\xbb\xbf" + text.encode())
    assert '"post"' in text.splitlines()[line - 1]


def test_places_with_escaped_and_nested_keys_have_their_line(lint):
    text = json.dumps(task(post({"a": [["}"], {"]": 1}], 'é"\n[{': "lamp.*"})), indent=1)
    (line,) = [line for line, _, problem in lint(text) if "looks like a pattern" in problem]
    assert text.splitlines()[line - 1].strip() == '"\\u00e9\\"\\n[{": "lamp.*"'


def test_a_line_of_json_lines_that_is_damaged_hides_no_other(lint):
    lines = [json.dumps(task(request(), task_id=1)), '{"task_id": 2', "", json.dumps({**MISTAKE, "task_id": 3})]
    findings = lint("\n".join(lines), "tasks.jsonl")
    assert findings[0][:2] == (2, "[1]")
    assert findings[0][2].startswith("not valid JSON: ")
    assert findings[1] == (4, "[2].eval[1].expected.http_method", METHOD)


def test_one_object_is_a_file_too(lint):
    assert lint(json.dumps(MISTAKE)) == [(1, "[0].eval[1].expected.http_method", METHOD)]


def test_a_key_that_is_written_twice_is_reported_where_it_is(lint):
    text = json.dumps([task(request())], indent=1).replace(
        '"url": "__SHOPPING__/cart"', '"url": "__SHOPPING__/x",\n"url": "__SHOPPING__/cart"'
    )
    (finding,) = lint(text)
    message = "the key 'url' is written twice; keep one, for the last counts"
    assert finding[1:] == ("[0].eval[1].expected.url", message)
    assert text.splitlines()[finding[0] - 1] == '"url": "__SHOPPING__/cart"'


def test_an_object_that_a_later_one_replaces_is_not_taken_for_another():
    replaced = ", ".join(['"a": {"b": 1, "b": 2}'] * 50)  # whose memory is free for what is read next
    text = f'[{{"x": {{{replaced}, "a": {{}}}}}}{", [{}, {}, {}]" * 20}]'
    first, *others = read_rows(text.encode(), "tasks.json")
    objects = {id(each) for row in others for each in row.raw}
    assert len(first.repeated) == 51
    assert not objects & first.repeated.keys()


def test_an_id_that_is_there_before_is_reported_in_all_files_together(tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    paths[0].write_text(json.dumps([task(request(), task_id=8), task(request(), task_id="7")]))
    paths[1].write_text(json.dumps([task(request(), task_id=7)]))
    (finding,) = lint_files(paths)
    text = f"the id '7' is defined before in {paths[0]} [1]; give each task its own id"
    assert (finding.source, finding.place, finding.text) == (str(paths[1]), "[0]", text)


def test_the_rows_of_a_table_are_checked(lint):
    table = "task_summary\tinit_url\tsubdir\tprecomputed_rubric\nBuy a lamp\thttp://a\tx_1\tno JSON\n"
    ((line, place, text),) = lint(table, "webtailbench.tsv")
    assert (line, place) == (None, "line 2")
    assert text.startswith("precomputed_rubric is not valid JSON: ")


def test_a_row_of_a_table_without_an_id_is_reported(lint):
    ((_, _, text),) = lint("task_summary\tinit_url\tsubdir\nBuy a lamp\thttp://a\t\n", "webtailbench.tsv")
    assert text.endswith("@ line 2; the row is skipped")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (".*", "'.*' matches every text; write what it must have"),
        ("(", "invalid regular expression '(': missing ), unterminated subpattern at position 0; fix the pattern"),
        ("checkout/.*", None),
    ],
)
def test_url_patterns_of_clawbench_are_checked(lint, pattern, text):
    row = {"instruction": "Buy a lamp", "test_case": "lamp", "eval_schema": {"url_pattern": pattern}}
    findings = lint(json.dumps([row]))
    assert findings == ([(1, "[0].eval_schema.url_pattern", text)] if text else [])


@pytest.mark.parametrize("text", ["", "[1", "[1]]", '[{"a": 1} {"b": 2}]', "[1,]", '{"a": \n1', "plain text", '"a"'])
def test_a_file_that_holds_no_rows_is_an_error(lint, text):
    with pytest.raises(TaskDefinitionError):
        lint(text)


def test_definitions_that_are_nested_too_deeply_are_reported_or_refused(lint):
    deep = '{"type": "array", "items": ' * 800 + "1" + "}" * 800
    findings = lint(json.dumps([MISTAKE]).replace('{"type": "null"}', deep))
    assert findings


def test_the_example_suite_has_no_findings():
    assert not list(lint_files([SUITE / "runs/tasks.json"]))


SCALARS = strategies.one_of(
    strategies.none(),
    strategies.booleans(),
    strategies.integers(-1, 700),
    strategies.floats(),
    strategies.sampled_from(
        ["", "^a|b$", "__SHOPPING__/x", "(", "date", "array", "POST", "$.a[?(@.b==1)]", "^.*$", "é"]
    ),
)
VALUES = strategies.recursive(
    SCALARS,
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(
            strategies.sampled_from(["type", "items", "properties", "url", "$.a["]), inner, max_size=3
        )
    ),
    max_leaves=5,
)
SOUND = task(
    answer([[1, 2], {"a": "x"}], {"type": "object", "properties": {"a": {"type": "date"}}}, ordered=True),
    request(
        {"query_params": {"q": ["a"]}, "headers": {"referer": "^a$"}}, query_params_schema={"properties": {"q": {}}}
    ),
    post({"$.a": "1", "b": ["x", "y"]}, {"b": {"type": "number", "format": "currency"}}, should_not_exist=True),
)


def list_places(raw, steps=()):
    """Each place in a definition."""
    members = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for step, member in members:
        yield (*steps, step)
        yield from list_places(member, (*steps, step))


def test_each_place_of_a_definition_has_its_line():
    text = json.dumps([5, SOUND], indent=1)
    _, row = read_rows(text.encode(), "tasks.json")
    lines = text.splitlines()
    keys = [(place, place[-1]) for place in list_places(SOUND) if isinstance(place[-1], str)]
    assert len(keys) > 40
    wrong = [
        place for place, key in keys if not lines[row.find_line(place) - 1].strip().startswith(f"{json.dumps(key)}:")
    ]
    assert not wrong
    values = [place for place in list_places(SOUND) if isinstance(place[-1], int)]
    assert len({row.find_line(place) for place in values}) == len(values)


def test_a_place_that_is_not_there_has_the_line_of_the_last_that_is():
    text = json.dumps([SOUND], indent=1)
    (row,) = read_rows(text.encode(), "tasks.json")
    for place in [("eval", 1, "expected", "missing", 3), ("eval", 1, "expected", 7), ("eval", 1, "expected")]:
        assert '"expected": {' in text.splitlines()[row.find_line(place) - 1]
    assert row.find_line(("eval", 99)) == row.find_line(("eval",))
    (row,) = read_rows(b'[{"a": [], "b": {}}]', "tasks.json")
    assert [row.find_line(place) for place in [("a", 0), ("b", "c")]] == [1, 1]


@pytest.mark.parametrize("text", ['[{"task_id": 1}, 5]', " [ ]\n", '{"task_id": [1, {"a": "]"}]}'])
def test_a_file_that_is_cut_short_is_an_error(text):
    rows = [row.raw for row in read_rows(text.encode(), "tasks.json")]
    assert rows == (json.loads(text) if text.lstrip().startswith("[") else [json.loads(text)])
    for length in range(len(text.rstrip())):
        with pytest.raises(TaskDefinitionError):
            read_rows(text[:length].encode(), "tasks.json")


@hypothesis.given(place=strategies.sampled_from(list(list_places(SOUND))), value=VALUES)
@hypothesis.settings(max_examples=examples(150))
def test_whatever_a_definition_has_anywhere_there_are_findings_and_no_crash(place, value):
    definition = json.loads(json.dumps(SOUND))
    parent = definition
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = value
    content = json.dumps([definition], allow_nan=True).encode()
    for sites in (None, ADDRESSES):
        (row,) = read_rows(content, "tasks.json")
        findings = list(lint_row(row, "tasks.json", sites, {}))
        assert all(isinstance(finding, Finding) and finding.line == 1 for finding in findings)
        assert findings == list(lint_row(row, "tasks.json", sites, {}))


def test_the_schema_of_a_short_task_is_inferred_once(tmp_path):
    """Once for each of 2,000 data takes most of a minute."""
    expected = {"task_type": "retrieve", "retrieved_data": [f"lamp {number}" for number in range(2_000)]}
    row = {"task_id": "lamps", "intent": "List all.", "eval": [{"evaluator": "AgentResponseEvaluator"}]}
    row["eval"][0]["expected"] = expected
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([row]))
    begin = process_time()
    assert list(lint_files([path], None)) == []
    assert process_time() - begin < 5
