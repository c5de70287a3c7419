"""The rule table row by row, the text of a failure, and where task definitions say that they come from."""

import importlib
import json
import sys
from dataclasses import asdict

import pytest

from pytest_webeval.reports.failure_text import evaluator_text, failure_text
from pytest_webeval.results import Assertion, EvaluatorResult, Status, TaskResult
from pytest_webeval.rules import RULES
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.score import build_evaluator_error
from pytest_webeval.tasks.dataset import load_tasks
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.comparison import Comparison, failed
from pytest_webeval.values.schema import ValueParser

BY_DEFAULT = {
    "documented_dialect",
    "no_recorded_patterns",
    "no_recorded_alternatives",
    "events_required",
    "external_bodies",
    "recorded_bodies",
    "recorded_cookies",
    "recording_gaps",
    "browser_forms",
    "repaired_traces",
    "own_requests",
    "null_headers",
    "escaped_hosts",
    "unresolved_paths",
    "finite_quantities",
    "finite_numbers",
    "exact_money",
    "budgets_in_steps",
    "proven_verdicts",
    "known_keys",
    "visited_sites",
    "folded_addresses",
    "any_sites",
    "declared_sites",
    "forbidden_readings",
}
TABLE = {"reference": set(), "default": BY_DEFAULT, "strict": asdict(RULES["strict"]).keys() - {"name"}}


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
    reader = ValueParser(ParseContext(), strict=False, where="post_data")
    expected, actual = (reader.member(raw, schema, "o") for raw in ({"a": 1}, {"a": 1, "b": 2}))
    assert Comparison(extra_keys=extra_keys).equal(expected, actual) is equal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\u003a:error::x"),
        ("a\n \t::set-output name=x::y", "a\n \t\\u003a:set-output name=x::y"),
        ("a ::error:: b", "a ::error:: b"),
        ("runs/107::task", "runs/107::task"),
        ("a ##[group]b", "a \\u0023#[group]b"),
        ("##vso[task.setvariable]x", "\\u0023#vso[task.setvariable]x"),
        ("##TeamCity[buildStatus]", "\\u0023#TeamCity[buildStatus]"),
        ("## a heading", "## a heading"),
        ("\x1b[31mred\x07\r", "\\u001b[31mred\\u0007\\u000d"),
        ("\u202eabc\u2028::warning::", "\\u202eabc\\u2028::warning::"),
        ("\r::error::x", "\\u000d::error::x"),
        ("\ud800", "\\ud800"),
        ("\u3000::error::x", "\u3000\\u003a:error::x"),
        ("a\n\u00a0::x", "a\n\u00a0\\u003a:x"),
        ("\u061c\ufeff\u2060", "\\u061c\\ufeff\\u2060"),
    ],
)
def test_no_text_commands_a_terminal_or_a_ci_system(text, shown):
    assert sanitize(text) == shown


def test_a_failure_text_is_as_long_as_anybody_reads():
    wrong = [Assertion.of("a" * 2_000, False, "b" * 1_000_000)] * 150  # noqa: FBT003  (it does not hold)
    result = EvaluatorResult(evaluator_name="E", status=Status.FAILURE, score=0.0, assertions=wrong)
    lines = evaluator_text(result).splitlines()
    assert lines[1] == f"  {'a' * 998}… (2,002 characters)"
    assert lines[2] == f"    {'b' * 996}… (1,000,004 characters)"
    assert (len(lines), lines[-1]) == (202, "  … and 100 more lines in eval_result.json")
    told = build_evaluator_error("E", "c" * 5_000)
    assert evaluator_text(told) == f"E: {'c' * 997}… (5,003 characters)"
