"""Faults built into definitions of the example suite are found, each with its field; its clean tasks have none."""

from __future__ import annotations

import copy
import json
from datetime import date
from pathlib import Path

import pytest

from pytest_webeval.api import find_runs
from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
from pytest_webeval.authoring.audit.task_audit import AuditSettings
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.rules import find_rules
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import load_sites

SUITE = Path(__file__).parents[3] / "example_suite"
TASKS = json.loads((SUITE / "runs" / "tasks.json").read_text("utf-8"))
VERDICTS = json.loads((SUITE / "verdicts.json").read_text("utf-8"))
PASSING = [task["task_id"] for task in TASKS if VERDICTS[str(task["task_id"])]["status"] == "success"]
ANYTHING = "^.*$"
LAST = -1


@pytest.fixture(scope="module")
def audit():
    """The findings and notes of one task of the suite, audited with all runs of the suite, after some edits."""
    settings = AuditSettings(
        find_rules("default"),
        load_sites(SUITE / "config.json"),
        {evaluator.name: evaluator for evaluator in default_evaluators()},
        date(2026, 1, 31),
    )
    runs = list(find_runs(SUITE / "runs"))

    def audit(task_id, *edits):
        tasks = copy.deepcopy(TASKS)
        for task in tasks:
            task["eval"] = [config for config in task["eval"] if config["evaluator"] != "PageBudgetEvaluator"]
            if task["task_id"] == task_id:
                for edit in edits:
                    edit(task["eval"])
        own = [run for run in runs if run.task_id in {task_id, *NEIGHBOURS}]
        return SuiteAudit(parse_tasks(json.dumps(tasks).encode(), "tasks.json"), settings, own).audit_one(task_id)

    return audit


NEIGHBOURS = (101, 108, 204, 205, 301, 304)


def expecting(index=1, **fields):
    """Expect other fields at an index of the definition."""
    return lambda config: config[index]["expected"].update(fields)


def without(*path, index=1):
    """Leave a field of what is expected out."""

    def edit(config):
        target = config[index]["expected"]
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]

    return edit


def inside(name, index=1, **members):
    """Expect other members of a field."""
    return lambda config: config[index]["expected"][name].update(members)


def setting(index=1, **fields):
    """Set fields beside what is expected."""
    return lambda config: config[index].update(fields)


def answering(*data):
    return expecting(0, retrieved_data=list(data))


def typed(kind, form=None):
    schema = {"type": kind} | ({"format": form} if form else {})
    return setting(0, results_schema={"type": "array", "items": schema})


def removed(index):
    return lambda config: config.pop(index)


def repeated(index):
    return lambda config: config.append(copy.deepcopy(config[index]))


FAULTS = [
    (101, "any brand", [answering(ANYTHING)], "wrong_answer_passes", "retrieved_data[0]"),
    (101, "unknown type", [typed("word")], "invalid_definition", "eval[0]"),
    (101, "half a brand", [answering("^North.*$")], "wrong_answer_passes", "retrieved_data[0]"),
    (103, "price as a number", [typed("number")], "equal_answer_fails", "retrieved_data[0]"),
    (103, "price as a text", [typed("string")], "equal_answer_fails", "retrieved_data[0]"),
    (103, "no price at all", [answering("a bargain")], "invalid_definition", "eval[0]"),
    (105, "words ignored", [setting(ignored_query_params=["q"])], "unchecked_field", "eval[1].query_params.q"),
    (107, "any page", [expecting(url="^__SHOPPING__/.*$")], "unchecked_field", "eval[1].url"),
    (107, "any product", [expecting(url="^__SHOPPING__/product/.*$")], "unchecked_field", "eval[1].url"),
    (107, "no page", [removed(1)], "passes_without_work", "status"),
    (108, "no form", [without("post_data")], "unchecked_field", "eval[1].post_data.product"),
    (108, "no quantity", [without("post_data", "quantity")], "unchecked_field", "eval[1].post_data.quantity"),
    (
        108,
        "any quantity",
        [inside("post_data", quantity=ANYTHING), setting(post_data_schema=None)],
        "unchecked_field",
        "eval[1].post_data.quantity",
    ),
    (
        115,
        "any quantity before the right one",
        [inside("post_data", quantity=ANYTHING), setting(post_data_schema=None)],
        "unchecked_field",
        "eval[1].post_data.quantity",
    ),
    (108, "any referer", [inside("headers", referer=ANYTHING)], "unchecked_field", "eval[1].headers.referer"),
    (102, "unknown type", [typed("word")], "invalid_definition", "eval[0]"),
    (106, "no page, and no run that passes", [removed(1)], "passes_without_work", "status"),
    (207, "no report, and no run that passes", [removed(1)], "passes_without_work", "status"),
    (210, "items that are no list", [typed("word")], "invalid_definition", "eval[0]"),
    (303, "no issue, and no run that passes", [removed(1)], "passes_without_work", "status"),
    (306, "no such type of an address", [typed("clone")], "invalid_definition", "eval[0]"),
    (109, "no request, and no run that passes", [removed(1)], "passes_without_work", "status"),
    (110, "nothing but a prohibition", [removed(1)], "passes_without_work", "status"),
    (110, "the start page", [expecting(url="__SHOPPING__")], "passes_without_work", "status"),
    (
        112,
        "any message",
        [inside("response_cookies", **{"shop-messages": ANYTHING})],
        "unchecked_field",
        "eval[1].response_cookies.shop-messages",
    ),
    (112, "no product", [without("post_data")], "unchecked_field", "eval[1].post_data.product"),
    (113, "refusal alone", [removed(1)], "passes_without_work", "status"),
    (114, "yes or no alone", [removed(1)], "passes_without_work", "retrieved_data"),
    (115, "the same twice", [repeated(2)], "redundant_expectation", "eval[3]"),
    (
        115,
        "no new quantity",
        [without("post_data", "quantity", index=2)],
        "unchecked_field",
        "eval[2].post_data.quantity",
    ),
    (
        201,
        "status ignored",
        [setting(ignored_query_params=["status"])],
        "unchecked_field",
        "eval[1].query_params.status",
    ),
    (201, "the start page", [expecting(url="__SHOPPING_ADMIN__", query_params={})], "start_page_passes", ""),
    (203, "day as a text", [typed("string")], "equal_answer_fails", "retrieved_data[0]"),
    (203, "no day", [answering("the day after")], "invalid_definition", "eval[0]"),
    (204, "no comment", [without("post_data")], "unchecked_field", "eval[1].post_data.comment"),
    (
        204,
        "any order",
        [expecting(url="^__SHOPPING_ADMIN__/orders/\\d+/cancel$"), removed(2)],
        "unchecked_field",
        "eval[1].url",
    ),
    (
        206,
        "period ignored",
        [setting(ignored_query_params_patterns=["^report_type$", "^(from|to)$"])],
        "unchecked_field",
        "eval[1].query_params.from",
    ),
    (208, "refusal alone", [removed(2)], "passes_without_work", "status"),
    (
        209,
        "any second product",
        [answering("Dot Grid Notebook", ANYTHING, "Packing Cubes, Set of 4")],
        "wrong_answer_passes",
        "retrieved_data[1]",
    ),
    (
        301,
        "no labels",
        [without("post_data", "$.issue.labels")],
        "unchecked_field",
        "eval[1].post_data.issue.labels[0]",
    ),
    (
        301,
        "any title",
        [inside("post_data", **{"$.issue.title": ANYTHING})],
        "unchecked_field",
        "eval[1].post_data.issue.title",
    ),
    (301, "no title", [without("post_data", "$.issue.title")], "unchecked_field", "eval[1].post_data.issue.title"),
    (301, "misspelt key", [expecting(post_dta={})], "invalid_definition", "eval[1]"),
    (302, "two contradicting posts", [repeated(1), inside("post_data", 2, project="acme/website")], "unpassable", ""),
    (
        304,
        "label ignored",
        [setting(ignored_query_params=["label_name"])],
        "unchecked_field",
        "eval[1].query_params.label_name",
    ),
    (305, "any name with an a", [answering("^.*a.*$")], "wrong_answer_passes", "retrieved_data[0]"),
    (308, "duration as a text", [typed("string")], "equal_answer_fails", "retrieved_data[0]"),
    (309, "no change of state", [without("post_data")], "unchecked_field", "eval[1].post_data.state_event"),
    (309, "any issue", [expecting(url="^__GITLAB__/api/issues/acme/rocket/\\d+$")], "unchecked_field", "eval[1].url"),
    (310, "refusal alone", [removed(1)], "passes_without_work", "status"),
    (401, "no project", [without("post_data", "project")], "unchecked_field", "eval[1].post_data.project"),
]


@pytest.mark.parametrize(
    ("task_id", "fault", "edits", "kind", "field"), FAULTS, ids=[f"{row[0]}-{row[1]}" for row in FAULTS]
)
def test_a_fault_in_a_definition_is_found(audit, task_id, fault, edits, kind, field):
    found = [(finding.kind, finding.field) for finding in audit(task_id, *edits).findings]
    assert (kind, field) in found, f"{fault}: {found}"


def test_thirty_faults_and_more_are_tried():
    assert len({task_id for task_id, *_ in FAULTS}) > 30


@pytest.mark.parametrize("task_id", PASSING)
def test_a_clean_task_gives_no_finding(audit, task_id):
    audited = audit(task_id)
    assert audited.trials > 10
    assert [finding.text for finding in audited.findings] == []
