"""What is wrong with a file by its schema, and where: a broken variant of each kind of file."""
# ruff: noqa: E501  (a row of the table is one line)

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.schemas.registry import SCHEMAS
from pytest_webeval.schemas.validation import TOO_DEEP, Problem, find_problems, format_path
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.comparison.history import build_history
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import session_of
from pytest_webeval.summary.summarize import summarize
from tests.support.runs import definition, navigation, visited

ITEM = {"criterion": "It works.", "max_points": 2, "earned_points": "", "post_image_earned_points": 1.5}
USAGE = {"prompt_tokens": 3, "completion_tokens": 4}
RUBRIC_ROW = {"evaluator": "RubricEvaluator", "threshold": 0.8, "criterion": None}
TASK = definition(107) | {"eval": [*definition(107)["eval"], visited(), RUBRIC_ROW, {"evaluator": "Mine", "most": 1}]}
RECORD = {"run": "runs/1", "task_id": 1, "status": "success", "score": 1.0, "sites": [], "template": 1, "more": 1}
METRICS = {
    "mean_score": 0.5,
    "max_score": None,
    "num_examples": 1,
    "step_budget_scores": {"3": {"mean_score": 0.5, "max_score": 1, "num_examples": 2}},
    "average_time": -1,
    "durations": [1.5],
    "scores": ["{}"],
    "total examples": 1,
    "executed examples": 1,
    "accuracy_books": 1.0,
}
FLIP = {
    "task_id": 1,
    "site": "shopping",
    "outcomes": "+-",
    "flips": 1,
    "flips_same_inputs": 0,
    "causes": {"recording": 1},
    "last_outcome": "failure",
}
DIGEST = "0123456789abcdef" * 4
SHARD = {"file": "eval_results-00001.jsonl", "first": "runs/1", "last": "runs/2", "count": 2, "sha256": DIGEST}
VALID = {
    "eval_results": {"schema_version": 1, "format": "jsonl", "prefix": "runs", "count": 2, "shards": [SHARD]},
    "eval_results_line": {"run": "runs/1", "result": {}},
    "eval_shard": {
        "schema_version": 1,
        "index": 1,
        "count": 2,
        "run_count": 3,
        "split_checksum": "a",
        "timestamp": "now",
        "session": {
            "rules": "default",
            "options": {"rules": "Rules()"},
            "evaluators": "b",
            "fixtures": "",
            "tasks": "c",
            "sites": None,
            "selection": "not 104  False",
            "attempts": None,
            "expected": ["a"],
        },
        "chosen": 0,
        "outside": 0,
        "details": {"unscored": [], "stopped": None, "partial": False},
        "records": [RECORD],
        "report": {"title": "runs", "options": ["-x"], "pinned": [], "texts": {"runs/1": {"intent": None}}},
    },
    "tasks": [
        TASK,
        {"task_id": "a", "confirmed_task": "Find it.", "website": None, "level": "easy"},
        {"id": 3, "ques": "Find it.", "web": "https://a.test", "reference_length": "4"},
        {"subdir": "x", "task_summary": "Find it.", "precomputed_rubric": "{}", "task_rephrasings": ["Look."]},
    ],
    "config": {"environments": {"__SHOPPING__": {"urls": ["http://a.test"], "active_url_idx": 0, "extra": {}}}},
    "subset": {"task_ids": [7, "a"], "checksum": None},
    "agent_response": {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [1], "error_details": None},
    "network_har": {"log": {"entries": [navigation()]}},
    "playwright_network": {"type": "resource-snapshot", "snapshot": navigation()},
    "final_answer": {"final_answer": "yes", "screenshots": ["a.png"], "token_usage": {"Agent": USAGE}, "more": 1},
    "times": {"start_time": 1, "end_time": 2.5, "duration": 1.5},
    "web_surfer_log": {"type": "OtherEvent", "message": "hello", "arguments": None},
    "task_data": {"task_summary": "Find it.", "precomputed_rubric": [{}]},
    "score_file": {"score": 1, "gpt_response_text": "{}"},
    "rubric": {
        "items": [{"criterion": "Both.", "items": [ITEM, ITEM | {"condition": "if", "is_condition_met": None}]}]
    },
    "metrics": METRICS,
}


@pytest.fixture
def valid(bench):
    """A valid value for each schema."""
    bench.record()
    results = [bench.score(bench.task(bench.expecting(data=[text]))) for text in ("Blue Mug", "Red Mug")]
    summary = summarize(results, "now")
    session = session_of(summarize(results[1:], "now"))
    content = {"schema_version": SCHEMA_VERSION, "comparisons": [SessionComparison(session, session).to_json()]}
    written = {
        "eval_result": results[1].to_json(),
        "eval_summary": summary.to_json(),
        "history": build_history([session]) | {"flips": [FLIP]},
        "comparison": content | {"gates": [{"gate": "a", "wanted": "b", "found": "c", "passed": True}]},
    }
    return json.loads(to_json_bytes(written | VALID))


def test_there_is_a_valid_value_for_each_schema(valid):
    assert valid.keys() == {schema.name for schema in SCHEMAS}
    problems = {name: list(map(str, find_problems(name, value))) for name, value in valid.items()}
    assert not {name: lines for name, lines in problems.items() if lines}


DELETED = object()
# Schema, path of a value, what stands there instead, and the whole line.
BROKEN = [
    ("eval_result", ["status"], "passed", 'expected one of "success", "failure", "partial_match", "error", got "passed" @ status'),
    ("eval_result", ["task_id"], None, "expected an integer or a string, got null @ task_id"),
    ("eval_result", ["zzz"], 1, 'unknown field "zzz"'),
    ("eval_result", ["webeval", "inputs", "a b"], 3, 'expected a string, got 3 @ webeval.inputs["a b"]'),
    ("eval_result", ["webeval", "schema_version"], 2, "expected 1, got 2 @ webeval.schema_version"),
    ("eval_result", ["webeval", "wall_time"], -1, "expected at least 0, got -1 @ webeval.wall_time"),
    ("eval_result", ["webeval", "run"], DELETED, "lacks the field 'run' @ webeval"),
    ("eval_result", ["webeval", "explanations", 0, "differences", 0, "kind"], "odd", 'expected one of "different", "missing", "extra", "unreadable", got "odd" @ webeval.explanations[0].differences[0].kind'),
    ("eval_result", ["evaluators_results", 0, "assertions"], {}, "expected a list or null, got an object @ evaluators_results[0].assertions"),
    ("eval_summary", ["task_results", 1, "run"], 3, "expected a string, got 3 @ task_results[1].run"),
    ("eval_summary", ["task_results", 0, "staus"], None, 'unknown field "staus"; did you mean \'status\'? @ task_results[0]'),
    ("eval_summary", ["webeval", "success_rate_interval_95"], [0], "expected at least 2 items, got 1 @ webeval.success_rate_interval_95"),
    ("eval_summary", ["webeval", "success_rate_interval_95"], [0, 1, 2], "expected at most 2 items, got 3 @ webeval.success_rate_interval_95"),
    ("eval_summary", ["webeval", "rules"], DELETED, "lacks the field 'rules' @ webeval"),
    ("eval_summary", ["webeval", "gates"], [{}], "lacks the fields 'gate', 'wanted', 'found' and 'passed' @ webeval.gates[0]"),
    ("eval_summary", ["webeval", "today"], "1 May", 'expected a text that matches "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", got "1 May" @ webeval.today'),
    ("eval_summary", ["webeval", "success_rate"], 7, "expected at most 1, got 7 @ webeval.success_rate"),
    ("eval_summary", ["total"], True, "expected an integer, got true @ total"),
    ("eval_results", ["format"], "csv", 'expected one of "jsonl", "parquet", got "csv" @ format'),
    ("eval_results", ["shards", 0, "last"], DELETED, "lacks the field 'last' @ shards[0]"),
    ("eval_results_line", ["run"], 3, "expected a string, got 3 @ run"),
    ("eval_shard", ["count"], 0, "expected at least 1, got 0 @ count"),
    ("eval_shard", ["records", 0, "run"], 3, "expected a string, got 3 @ records[0].run"),
    ("eval_shard", ["session", "rules"], DELETED, "lacks the field 'rules' @ session"),
    ("eval_shard", ["report", "texts", "runs/1"], 3, 'expected an object, got 3 @ report.texts["runs/1"]'),
    ("history", ["sessions", 0, "success_rate"], "0.5", 'expected a number or null, got "0.5" @ sessions[0].success_rate'),
    ("history", ["flips", 0, "flips"], 0, "expected at least 1, got 0 @ flips[0].flips"),
    ("history", ["tasks", "flipping"], DELETED, "lacks the field 'flipping' @ tasks"),
    ("comparison", ["gates", 0, "passed"], "yes", 'expected true or false, got "yes" @ gates[0].passed'),
    ("comparison", ["comparisons", 0, "overall", "p_value"], "0.1", 'expected a number or null, got "0.1" @ comparisons[0].overall.p_value'),
    ("comparison", ["schema_version"], "1", 'expected 1, got "1" @ schema_version'),
    ("tasks", [0, "intent"], "", 'expected a text, got "" @ [0].intent'),
    ("tasks", [0, "eval"], [], "expected at least 1 item, got 0 @ [0].eval"),
    ("tasks", [0, "task_id"], DELETED, "lacks the field 'task_id' @ [0]"),
    ("tasks", [0, "eval", 0, "expected"], DELETED, "lacks the field 'expected' @ [0].eval[0]"),
    ("tasks", [0, "eval", 0, "expected", "task_type"], DELETED, "lacks each of the fields 'task_type' and 'performed_operation'; one of them is required @ [0].eval[0].expected"),
    ("tasks", [0, "eval", 0, "expected", "task_type"], "find", 'expected one of "retrieve", "mutate", "navigate", got "find" @ [0].eval[0].expected.task_type'),
    ("tasks", [0, "eval", 0, "expected", "task_type"], 3, "expected a string, got 3 @ [0].eval[0].expected.task_type"),
    ("tasks", [0, "eval", 0, "evaluator"], 3, "expected a string, got 3 @ [0].eval[0].evaluator"),
    ("tasks", [0, "revision"], 0, "expected at least 1, got 0 @ [0].revision"),
    ("tasks", [0, "eval", 1, "should_exist"], 1, "unknown field \"should_exist\"; did you mean 'should_not_exist'? @ [0].eval[1]"),
    ("tasks", [0, "eval", 2, "criterion"], "all", 'expected one of "outcome", "process", "both", "safe_outcome", null, got "all" @ [0].eval[2].criterion'),
    ("tasks", [0, "eval", 3], {}, "lacks the field 'evaluator' @ [0].eval[3]"),
    ("tasks", [1, "website"], 3, "expected a string or null, got 3 @ [1].website"),
    ("tasks", [2, "id"], 1.5, "expected an integer, a string or null, got 1.5 @ [2].id"),
    ("tasks", [3, "task_rephrasings"], 3, "expected a list, a string or null, got 3 @ [3].task_rephrasings"),
    ("config", ["environments", "__SHOPPING__", "urls"], "http://a.test", 'expected a list, got "http://a.test" @ environments.__SHOPPING__.urls'),
    ("config", ["environment"], {}, "unknown field \"environment\"; did you mean 'environments'?"),
    ("subset", ["task_ids"], [], "expected at least 1 item, got 0 @ task_ids"),
    ("subset", ["task_ids", 1], " ", 'expected a text that matches "\\\\S", got " " @ task_ids[1]'),
    ("agent_response", ["task_type"], DELETED, "lacks each of the fields 'task_type', 'performed_operation' and 'action'; one of them is required"),
    ("agent_response", ["status"], 3, "expected a string, got 3 @ status"),
    ("network_har", ["log", "entries", 0, "request", "url"], DELETED, "lacks the field 'url' @ log.entries[0].request"),
    ("network_har", ["log", "entries"], [], "expected at least 1 item, got 0 @ log.entries"),
    ("playwright_network", ["snapshot", "response"], DELETED, "lacks the field 'response' @ snapshot"),
    ("playwright_network", ["snapshot"], DELETED, "lacks the field 'snapshot'"),
    ("final_answer", ["screenshots", 0], 3, "expected a string, got 3 @ screenshots[0]"),
    ("final_answer", ["token_usage", "Agent", "prompt_tokens"], -1, "expected at least 0, got -1 @ token_usage.Agent.prompt_tokens"),
    ("times", ["duration"], "1.5", 'expected a number, got "1.5" @ duration'),
    ("web_surfer_log", ["arguments"], [], "expected an object or null, got a list @ arguments"),
    ("task_data", ["precomputed_rubric"], "x", 'expected an object, a list or null, got "x" @ precomputed_rubric'),
    ("score_file", ["gpt_response_text"], DELETED, "lacks the field 'gpt_response_text'"),
    ("rubric", ["items", 0, "items", 1, "max_points"], DELETED, "lacks the field 'max_points' @ items[0].items[1]"),
    ("rubric", ["items", 0, "items", 1, "max_points"], -1, "expected at least 0, got -1 @ items[0].items[1].max_points"),
    ("rubric", ["rubric_items"], [{}], "lacks the field 'criterion' @ rubric_items[0]"),
    ("rubric", ["gpt_response_text"], "x", "lacks the field 'score'"),
    ("metrics", ["step_budget_scores", "3", "num_examples"], DELETED, "lacks the field 'num_examples' @ step_budget_scores.3"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "changed", "expected"), BROKEN)
def test_a_broken_file_is_refused_with_its_place(valid, name, path, changed, expected):
    value = deepcopy(valid[name])
    *above, last = path
    place = value
    for part in above:
        place = place[part]
    if changed is DELETED:
        del place[last]
    else:
        place[last] = changed
    assert expected in map(str, find_problems(name, value))


def test_each_schema_has_a_broken_variant():
    assert {row[0] for row in BROKEN} == {schema.name for schema in SCHEMAS}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
@pytest.mark.parametrize("value", [None, "x", 3], ids=str)
def test_a_value_that_is_no_object_is_refused(schema, value):
    (problem,) = find_problems(schema.name, value)
    assert problem.text.startswith("expected ")
    assert "an object" in problem.text
    assert not problem.path


def test_several_alternatives_of_a_task_file_are_one_list_or_one_task():
    assert find_problems("tasks", TASK) == []
    assert find_problems("tasks", [[TASK]]) == [Problem("expected an object, got a list", "[0]")]
    (problem,) = find_problems("tasks", {"task_id": 1, "eval": TASK["eval"]})
    assert problem.text == "lacks the field 'intent'"


@pytest.mark.parametrize(
    "payload",
    [
        {"score": None, "gpt_response_text": None},
        {"outcome_success": True},
        {"rubric_items": [ITEM], "outcome_success": None},
        {"items": [ITEM], "outcome_success": True},
    ],
)
def test_a_rubric_file_may_be_a_payload_or_a_score_file(payload):
    assert find_problems("rubric", payload) == []


def test_unknown_fields_are_named_as_far_as_anybody_reads():
    fields = dict.fromkeys(["x" * 90, *(f"{number} \x1b" for number in range(9))])
    (problem,) = find_problems("config", fields)
    assert problem.text.startswith(f'unknown fields "{"x" * 38}…, "0 \\u001b", ')
    assert problem.text.endswith(", … and 5 more")


def test_a_long_value_and_a_long_path_are_cut():
    value = {"environments": {"s" * 500: {"urls": ["http://a.test", 3]}, "b": "x" * 500}}
    second, first = map(str, find_problems("config", value))
    assert first.startswith("expected a string, got 3 @ environments.sss")
    assert len(first) < 340
    assert second == f'expected an object, got "{"x" * 58}… @ environments.b'


def test_problems_are_sorted_by_place():
    names = [chr(ord("a") + number) for number in range(20)]
    wrong = {"environments": {name: {"urls": [1] * 12} for name in reversed(names)} | {"_": 3}}
    expected = ["environments._", *(f"environments.{name}.urls[{index}]" for name in names for index in range(12))]
    assert [problem.path for problem in find_problems("config", wrong)] == expected


def test_the_first_problems_are_enough():
    value = [{"task_summary": 3}] * 50
    assert len(find_problems("tasks", value)) == 50
    assert len(find_problems("tasks", value, 7)) == 7


def test_a_value_that_nests_too_deep_is_refused():
    value = item = {"criterion": "a", "items": []}
    for _ in range(5_000):
        inner = {"criterion": "a", "items": []}
        item["items"].append(inner)
        item = inner
    assert find_problems("rubric", {"items": [value]}) == [TOO_DEEP]


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ([], ""),
        (["a", 0, "b"], "a[0].b"),
        ([3, "a"], "[3].a"),
        (["pass@k", "$ref", "pass^k", "a-b"], "pass@k.$ref.pass^k.a-b"),
        (["a b", "é"], '["a b"].é'),
        (["a\nb"], '["a\\nb"]'),
        ([""], '[""]'),
    ],
)
def test_a_path_leads_to_one_place(parts, path):
    assert format_path(parts) == path


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.sampled_from(SCHEMAS), JSON)
def test_any_value_has_problems_of_one_line_or_none(schema, value):
    for problem in find_problems(schema.name, value):
        assert problem.text
        assert "\n" not in str(problem)
