"""The rule table row by row, the text of a failure, and where task definitions say that they come from."""

import importlib
import json
import sys
from dataclasses import asdict

import pytest

from pytest_webeval.comparison import Comparison
from pytest_webeval.comparison import failed
from pytest_webeval.reports.failure_text import failure_text
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import TaskResult
from pytest_webeval.rules import RULES
from pytest_webeval.rules import SWITCHES
from pytest_webeval.schema import TreeReader
from pytest_webeval.task_sets import load_tasks
from pytest_webeval.values.base import Reading

BY_DEFAULT = {
    "documented_dialect",
    "literal_texts",
    "single_answers",
    "events_required",
    "side_bodies",
    "mended_traces",
    "escaped_hosts",
    "plain_paths",
    "finite_measures",
    "budgets_in_steps",
}
TABLE = {"reference": set(), "default": BY_DEFAULT, "strict": set(SWITCHES)}


@pytest.mark.parametrize("name", TABLE)
def test_each_rule_set_is_what_the_design_says(name):
    assert {field for field, holds in asdict(RULES[name]).items() if holds is True} == TABLE[name]


def test_a_failure_text_names_what_differs_and_what_erred():
    wrong = failed("agent_response.status_mismatch", "expected x", "got y")
    found = [
        EvaluatorResult(evaluator_name="A", status="failure", score=0, assertions=[wrong]),
        EvaluatorResult(evaluator_name="B", status="error", score=0, error_msg="cannot tell"),
    ]
    result = TaskResult(
        task_id=1,
        intent_template_id=1,
        sites=[],
        task_revision=1,
        status="error",
        score=0,
        evaluators_results=found,
        error_msg="B: cannot tell",
        webarena_verified_version="1.2.3",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
    )
    assert failure_text(result).splitlines() == [
        "agent_response.status: expected x; got y",
        "A",
        "  agent_response.status_mismatch",
        "    expected x",
        "    got y",
        "B: cannot tell",
    ]


def test_the_data_set_of_an_installed_reference_is_named_as_such(tmp_path, monkeypatch):
    package = tmp_path / "webarena_verified"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "webarena-verified.json").write_text(json.dumps([{"task_id": 7}]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "webarena_verified", raising=False)
    importlib.invalidate_caches()
    tasks = load_tasks("webarena-verified")
    assert (tasks.source, tasks.origin, tasks.task_ids) == ("webarena-verified", "webarena-verified", (7,))


@pytest.mark.parametrize(("extra_keys", "equal"), [(True, True), (False, False)])
def test_objects_in_events_may_say_more_than_expected(extra_keys, equal):
    schema = {"type": "object"}
    reader = TreeReader(Reading(), strict=False, where="post_data")
    expected, actual = (reader.member(raw, schema, "o") for raw in ({"a": 1}, {"a": 1, "b": 2}))
    assert Comparison(extra_keys=extra_keys).equal(expected, actual) is equal
