"""The audit of the 812 tasks of WebArena-Verified, without a recording: which ones an answer alone passes."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import date

import pytest

from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
from pytest_webeval.authoring.audit.task_audit import AuditSettings
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.rules import find_rules
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import Sites
from tests.parity.test_default import LUCKY

PASSING_WITHOUT_WORK = 158  # of the tasks at least, by the rules of the reference
UNPASSABLE = {319, 423, 429, *range(562, 571), 699, 700, 742, 743, 745, 746, 811}  # spec §10.2
CPU_SECONDS = 150  # for each rule set; five minutes for both


@pytest.fixture
def audit(dataset):
    """The kinds of findings by task, and the CPU seconds of the audit by some rules."""
    tasks = parse_tasks(json.dumps([dict(task) for task in dataset.tasks]).encode(), "webarena-verified.json")

    def audit(rules):
        evaluators = {evaluator.name: evaluator for evaluator in default_evaluators()}
        settings = AuditSettings(find_rules(rules), Sites(), evaluators, date(2026, 1, 31))
        started = time.process_time()
        audits = SuiteAudit(tasks, settings).audit()
        return audits, time.process_time() - started

    return audit


def tasks_with(audits, kind):
    return {audit.task_id for audit in audits if any(finding.kind == kind for finding in audit.findings)}


@pytest.mark.whole
def test_the_reference_passes_many_tasks_without_work(audit):
    audits, seconds = audit("reference")
    assert len(audits) == 812
    assert len(tasks_with(audits, "passes_without_work")) >= PASSING_WITHOUT_WORK
    assert tasks_with(audits, "unpassable") == UNPASSABLE
    assert seconds < CPU_SECONDS


@pytest.mark.whole
def test_the_default_rules_pass_without_work_only_the_tasks_of_which_a_bare_answer_is_right(audit):
    audits, seconds = audit("default")
    assert tasks_with(audits, "passes_without_work") == set().union(*LUCKY.values())
    assert tasks_with(audits, "unpassable") == UNPASSABLE
    assert not tasks_with(audits, "invalid_definition")
    assert Counter(finding.kind for each in audits for finding in each.findings)["equal_answer_fails"] < 10
    assert seconds < CPU_SECONDS
