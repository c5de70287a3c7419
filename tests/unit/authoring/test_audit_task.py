"""The audit of a task by rules, runs and evaluators, and how findings are merged."""

from __future__ import annotations

import json
import time
from datetime import date

import msgspec
import pytest

from pytest_webeval.api import load_run
from pytest_webeval.authoring.audit.attempts import Attempt, RecordedRun
from pytest_webeval.authoring.audit.findings import Finding, merge_findings
from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
from pytest_webeval.authoring.audit.task_audit import Audit, AuditSettings, build_examiner
from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.reports.audit_text import format_audit
from pytest_webeval.rules import find_rules
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import read_task

NULL = {"type": "null"}
REFUSAL = {"task_type": "RETRIEVE", "status": "NOT_FOUND_ERROR", "retrieved_data": None}


def settings(bench, rules="default", sites=None):
    evaluators = {evaluator.name: evaluator for evaluator in default_evaluators()}
    return AuditSettings(find_rules(rules), bench.sites if sites is None else sites, evaluators, date(2026, 1, 31))


def kinds(audit):
    return {finding.kind for finding in (*audit.findings, *audit.notes)}


def audit_task(examiner, runs=()):
    audit = Audit(examiner, runs, {}, (), ())
    audit.run()
    return audit.sum_up()


@pytest.fixture
def audit(bench):
    """The kinds of findings and notes of a task with these expectations, without runs."""

    def audit(*evaluators, rules="default", sites=None):
        task = read_task(bench.task(*evaluators), "a test")
        return kinds(audit_task(build_examiner(task, settings(bench, rules, sites))))

    return audit


def refusing(bench):
    return bench.expecting("RETRIEVE", schema=NULL, status="NOT_FOUND_ERROR")


def forbidding(url="__SHOPPING__/cart/add"):
    expected = {"url": url, "http_method": "POST"}
    return {"evaluator": "NetworkEventEvaluator", "expected": expected, "should_not_exist": True}


def test_what_nobody_can_check_here_may_decide(bench, audit):
    assert audit(refusing(bench)) == {"passes_without_work"}
    assert audit(refusing(bench), {"evaluator": "MyEvaluator"}) == {"not_audited"}


def test_an_empty_trace_passes_by_the_rules_of_the_reference_alone(bench, audit):
    task = bench.expecting("RETRIEVE", ["Blue Mug"]), forbidding()
    assert audit(*task) == set()
    assert audit(*task, rules="reference") == {"passes_without_work", "empty_trace_passes"}


def test_sites_without_an_address_are_made_up(bench, audit):
    visit = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__"}}
    assert audit(bench.expecting("NAVIGATE", schema=NULL), visit, sites=Sites()) == {"passes_without_work"}
    assert audit(bench.expecting("RETRIEVE", ["Blue Mug"]), visit, sites=Sites()) == {"start_page_passes"}


def test_an_address_that_nobody_configured_is_no_mistake_of_a_definition(bench, audit):
    answer, elsewhere = bench.expecting("RETRIEVE", ["Blue Mug"]), forbidding("http://other.test/cart")
    assert audit(answer, forbidding("http://shop.test:7770/cart")) == set()
    assert audit(answer, forbidding("http://shop.test:7770/cart"), sites=Sites()) == set()
    assert audit(answer, elsewhere) == {"invalid_definition"}


class Refusing(Evaluator):
    """One of a user, which takes the place of ours."""

    name = "NetworkEventEvaluator"

    def evaluate(self, expectation, case):  # noqa: ARG002  (the signature of all)
        raise EvaluationError("no such shop")


def test_an_error_of_a_users_evaluator_is_one_of_the_definition_wherever_the_sites_are(bench):
    expected = bench.expecting("RETRIEVE", ["Blue Mug"]), forbidding("http://shop.test:7770/cart")
    task = read_task(bench.task(*expected), "a test")
    usual = settings(bench, sites=Sites())
    refusing = msgspec.structs.replace(usual, evaluators={**usual.evaluators, Refusing.name: Refusing()})
    (finding,) = audit_task(build_examiner(task, refusing)).findings
    assert (finding.kind, finding.field, finding.detail) == ("invalid_definition", "eval[1]", "no such shop")


def test_the_expected_answer_of_a_short_task_passes(audit):
    """One without a status, which expects `SUCCESS`."""
    answer = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve", "retrieved_data": ["Mug"]}}
    assert audit(answer) == set()
    unreadable = {**answer, "results_schema": {"type": "array", "items": {"type": "date"}}}
    assert audit(unreadable) == {"invalid_definition"}


@pytest.mark.parametrize("word", ["yes", "no", "Yes", "NO"])
def test_yes_and_no_are_guesses_also_as_texts(bench, audit, word):
    assert "passes_without_work" in audit(bench.expecting("RETRIEVE", [word]))
    assert "passes_without_work" not in audit(bench.expecting("RETRIEVE", [f"{word} Mug"]))


@pytest.mark.parametrize("pattern", ["^(?!\\(wooden)lamp)$", "^(lamp$", "^a{99999999999}$", ["^(lamp$", "lamp"]])
def test_nothing_passes_a_pattern_that_is_no_regular_expression(bench, pattern):
    task = read_task(bench.task(bench.expecting("RETRIEVE", [pattern])), "a test")
    (finding,) = audit_task(build_examiner(task, settings(bench))).findings
    assert (finding.kind, finding.field) == ("invalid_definition", "eval[0].expected.retrieved_data")
    assert "regular expression '^" in finding.text or "the pattern '^a" in finding.text


@pytest.mark.parametrize(("text", "kind"), [("^(lamp)$", "string"), ("^(lamp$", "markdown")])
def test_a_pattern_and_what_is_compared_as_it_stands_are_valid(bench, audit, text, kind):
    schema = {"type": "array", "items": {"type": kind}}
    assert "invalid_definition" not in audit(bench.expecting("RETRIEVE", [text], schema))


class Slow(Evaluator):
    """It is content with anything, and takes long from one call on."""

    name = "Slow"

    def __init__(self, quick_calls):
        self.quick_calls = quick_calls

    def evaluate(self, expectation, case):  # noqa: ARG002  (the signature of all)
        self.quick_calls -= 1
        if self.quick_calls < 0:
            time.sleep(30)
        return self.result([])


@pytest.mark.parametrize(
    ("quick_calls", "expected"), [(0, {"not_audited"}), (5, {"not_audited", "passes_without_work"})]
)
def test_what_is_not_tried_in_time_is_a_note(bench, quick_calls, expected):
    tasks = parse_tasks(json.dumps([bench.task({"evaluator": "Slow"})]).encode(), "tasks.json")
    limited = msgspec.structs.replace(settings(bench), timeout=1.5)
    started = time.monotonic()
    audited = SuiteAudit(tasks, limited).audit_one(7, {"Slow": Slow(quick_calls)})
    assert time.monotonic() - started < 10
    assert kinds(audited) == expected
    assert [note.text.partition(";")[0] for note in audited.unfinished] == [
        "not all was checked (it takes more than 1.5 s)"
    ]
    lines = format_audit(audited)
    assert lines[-1].startswith("  note not_audited: not all was checked (")
    without_limit = msgspec.structs.replace(limited, timeout=0)
    assert not SuiteAudit(tasks, without_limit).audit_one(7, {"Slow": Slow(10_000)}).unfinished


def test_a_run_that_is_slow_to_judge_costs_its_own_task_alone(bench, runs):
    usual, slow = bench.task(bench.expecting("RETRIEVE", ["Blue Mug"])), bench.task({"evaluator": "Slow"})
    tasks = parse_tasks(json.dumps([usual | {"task_id": 8}, slow]).encode(), "tasks.json")
    base = settings(bench)
    limited = msgspec.structs.replace(base, timeout=1.5, evaluators={**base.evaluators, "Slow": Slow(0)})
    started = time.monotonic()
    audits = SuiteAudit(tasks, limited, runs[:2]).audit([8, 7])
    assert time.monotonic() - started < 10
    assert [kinds(audited) for audited in audits] == [set(), {"not_audited"}]


def test_the_commonest_answer_of_short_tasks_is_tried(bench):
    answer = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve", "retrieved_data": ["Mug"]}}
    tasks = [bench.task(answer) | {"task_id": f"mug_{number}"} for number in range(2)]
    suite = SuiteAudit(parse_tasks(json.dumps(tasks).encode(), "tasks.json"), settings(bench))
    assert [kinds(audited) for audited in suite.audit()] == [{"commonest_answer_passes"}] * 2


@pytest.mark.parametrize("alternatives", [[4, 5], [3, 16], [1.5, "2.5"], ["7", "170"]])
def test_no_alternative_is_a_wrong_answer(bench, audit, alternatives):
    kind = "number" if 4 in alternatives or 3 in alternatives or 1.5 in alternatives else "string"
    schema = {"type": "array", "items": {"type": kind}}
    assert audit(bench.expecting("RETRIEVE", [alternatives], schema)) == set()


def test_all_alternatives_are_right_however_many(bench, audit):
    numbers = [*range(100, 190), 199, 101]
    assert audit(bench.expecting("RETRIEVE", [numbers], {"type": "array", "items": {"type": "number"}})) == set()


@pytest.mark.whole
def test_of_a_long_query_only_some_parameters_are_changed_those_that_are_expected_first(bench):
    """Each one that is changed takes as long as the query: all of them would take hours."""
    query = "&".join(f"p{number}=1" for number in range(250))
    page = {"url": f"http://shop.test:7770/lamps?{query}&sort=price", "headers": {"accept": "text/html"}}
    parameters = {f"p{number}": ["1"] for number in range(250)} | {"sort": ["^.*$"]}
    expected = {"url": "__SHOPPING__/lamps", "query_params": parameters}
    visit = {"evaluator": "NetworkEventEvaluator", "expected": expected}
    task = read_task(bench.task(bench.expecting("NAVIGATE", schema=NULL), visit), "a test")
    answer = {"task_type": "NAVIGATE", "status": "SUCCESS", "retrieved_data": None}
    run = load_run(bench.record(answer, (page,)))
    audited = audit_task(
        build_examiner(task, settings(bench)), [RecordedRun("7", Attempt(json.dumps(answer).encode(), run.trace))]
    )
    assert [finding.field for finding in audited.findings] == ["eval[1].query_params.sort"]
    assert 120 < audited.trials < 200


def test_what_a_task_ignores_on_purpose_is_no_note(bench, record_post):
    expected = {"url": "__SHOPPING__/cart", "http_method": "POST", "post_data": {"sku": "A9"}}
    ignoring = {
        "ignored_query_params": ["page"],
        "ignored_query_params_patterns": ["^utm_"],
        "ignored_post_data_params_patterns": ["token"],
    }
    add = {"evaluator": "NetworkEventEvaluator", "expected": expected}
    run = record_post("http://shop.test:7770/cart?page=1&utm_id=1&UTM_x=2", "sku=A9&form_token=x1&qty=2")
    task = read_task(bench.task(bench.expecting("MUTATE", schema=NULL), add | ignoring), "a test")
    audited = audit_task(build_examiner(task, settings(bench)), [run])
    assert [note.field for note in audited.notes if note.kind == "incidental_field"] == ["eval[1].post_data.qty"]


def test_what_the_intent_names_is_a_finding_though_the_task_ignores_it(bench, record_post):
    expected = {"url": "__SHOPPING__/cart", "http_method": "POST"}
    add = {"evaluator": "NetworkEventEvaluator", "expected": expected, "ignored_query_params": ["lamp"]}
    raw = bench.task(bench.expecting("MUTATE", schema=NULL), add) | {"intent": "Buy the tulip lamp"}
    audited = audit_task(
        build_examiner(read_task(raw, "a test"), settings(bench)),
        [record_post("http://shop.test:7770/cart?lamp=tulip", "qty=2")],
    )
    assert "eval[1].query_params.lamp" in [each.field for each in audited.findings]


@pytest.fixture
def record_post(bench):
    """A passing run of a task to change something that sends this form."""

    def record_post(url, form):
        answer = {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None}
        body = "application/x-www-form-urlencoded", form
        run = load_run(bench.record(answer, ({"url": url, "method": "POST", "post": body},)))
        return RecordedRun("7", Attempt(json.dumps(answer).encode(), run.trace))

    return record_post


def test_the_login_page_is_no_work(bench, audit):
    login = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/login"}}
    assert audit(bench.expecting("NAVIGATE", schema=NULL), login) == {"passes_without_work"}


def test_an_unordered_list_may_not_depend_on_its_order(bench):
    data = ["Blue Mug", "Red Mug"]
    for is_ordered, passing in ((True, data), (False, data[::-1])):
        task = read_task(bench.task(bench.expecting("RETRIEVE", data, ordered=is_ordered)), "a test")
        answer = json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": passing}).encode()
        trace = load_run(bench.record()).trace
        run = RecordedRun("7", Attempt(answer, trace))
        assert audit_task(build_examiner(task, settings(bench)), [run]).findings == ()


@pytest.mark.parametrize(
    ("intent", "expected", "is_quoted"),
    [
        ("find", "^ghp_.*$", False),
        ("find ghp_1234567890", "^ghp_.*$", True),
        ("find", ["ghp_1234567890", "^.*$"], True),
    ],
)
def test_an_answer_is_quoted_only_if_the_task_has_it(bench, intent, expected, is_quoted):
    task = read_task(bench.task(bench.expecting("RETRIEVE", [expected])) | {"intent": intent}, "a test")
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["ghp_1234567890"]}
    run = load_run(bench.record(answer))
    audited = audit_task(build_examiner(task, settings(bench)), [RecordedRun("7", Attempt(run.response, run.trace))])
    texts = [finding.text for finding in audited.findings if finding.kind == "wrong_answer_passes"]
    assert texts
    assert any("ghp_1" in text for text in texts) == is_quoted


@pytest.fixture
def runs(bench, tmp_path):
    """Runs of task 7 in a directory each; the last of five is the only one that passes."""
    loaded = []
    for number in range(5):
        answer = {
            "task_type": "RETRIEVE",
            "status": "SUCCESS",
            "retrieved_data": ["Blue Mug" if number == 4 else "Cup"],
        }
        place = tmp_path / f"try-{number}" / "7"
        place.parent.mkdir()
        loaded.append(load_run(bench.record(answer).rename(place)))
    return loaded


def test_mutants_are_made_of_runs_that_pass_wherever_they_stand(bench, runs):
    tasks = parse_tasks(json.dumps([bench.task(bench.expecting("RETRIEVE", ["^Blue Mug$"]))]).encode(), "tasks.json")
    audited = SuiteAudit(tasks, settings(bench), runs).audit_one(7)
    assert "no_passing_run" not in kinds(audited)
    assert "wrong_answer_passes" not in kinds(audited)
    assert "side_effect_passes" in kinds(audited)
    without = SuiteAudit(tasks, settings(bench), runs[:4]).audit_one(7)
    assert kinds(without) == {"no_passing_run"}


def test_requests_that_a_pattern_forbids_come_from_other_runs(bench, runs, tmp_path):
    task = bench.task(bench.expecting("RETRIEVE", ["Blue Mug"]), forbidding("^__SHOPPING__/cart/.*$"))
    tasks = [task, task | {"task_id": 8, "intent_template_id": 80}]
    tasks = parse_tasks(json.dumps(tasks).encode(), "tasks.json")
    assert "untested_prohibition" in kinds(SuiteAudit(tasks, settings(bench), runs).audit_one(7))
    post = {"url": "http://shop.test:7770/cart/add", "method": "POST"}
    other = bench.record(events=({"url": "http://shop.test:7770/"}, post)).rename(tmp_path / "8")
    audited = SuiteAudit(tasks, settings(bench), [*runs, load_run(other)]).audit_one(7)
    assert "untested_prohibition" not in kinds(audited)
    assert "forbidden_request_passes" not in kinds(audited)


def test_one_finding_has_the_names_of_all_mutants_in_their_order():
    first = Finding(7, "unchecked_field", "N", "eval[1].url", ("a path below",))
    second = Finding(7, "unchecked_field", "N", "eval[1].url", ("another path", "a path below"), "the path has 'x'")
    other = Finding(7, "passes_without_work", "A", "status", ("done",))
    merged = merge_findings([first, second, other])
    assert [finding.kind for finding in merged] == ["passes_without_work", "unchecked_field"]
    assert merged[1].mutants == ("a path below", "another path")
    assert merged[1].text == (
        "a run with another eval[1].url passes (a path below, another path; the path has 'x'); "
        "expect the value of eval[1].url"
    )


def test_a_line_names_few_mutants():
    names = tuple(f"mutant {number}" for number in range(9))
    assert "mutant 4 and 4 more)" in Finding(7, "broken_run_passes", "N", "", names).text
