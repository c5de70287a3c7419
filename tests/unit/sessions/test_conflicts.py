"""Options that contradict each other, or lack another one, are refused in the same words by all front ends."""

from __future__ import annotations

import argparse
import re

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.settings.conflicts import CONFLICTS, WITHOUT_EFFECT, check_conflicts
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.options import OPTIONS
from pytest_webeval.sessions.settings.settings import read_settings

BASELINE = "requires a baseline; pass --webeval-baseline=SESSION"
ALL_RUNS = "is about all runs, --webeval-shard scores a part; leave it out and use `webeval"
LABELS = (
    "--webeval-labels and --webeval-label-coding need each other: the same numbers mean other things in other files"
)
REFUSED = [
    ({"report_embed": "1MB"}, "--webeval-report-embed requires a report; pass --webeval-report=DIR"),
    ({"history": ["."]}, "--webeval-history requires a report; pass --webeval-report=DIR"),
    ({"shard_times": "FILE"}, "--webeval-shard-times requires a shard; pass --webeval-shard=I/N"),
    ({"labels": "FILE"}, LABELS),
    ({"label_coding": "osu"}, LABELS),
    ({"gate": ["no-regression"]}, f"gate 'no-regression' {BASELINE}"),
    ({"baseline_update": True}, f"--webeval-baseline-update {BASELINE}"),
    ({"known_failures": True}, f"--webeval-known-failures {BASELINE}"),
    (
        {"gate": ["certificate"]},
        "gate 'certificate' requires webeval_judge_certificate; pass --webeval-judge-certificate=FILE",
    ),
    ({"shard": "1/2", "baseline": "."}, f"--webeval-baseline {ALL_RUNS} compare BASELINE MERGED` after `merge`"),
    ({"shard": "1/2", "baseline_update": True}, f"--webeval-baseline-update {ALL_RUNS} compare BASELINE MERGED`"),
    ({"shard": "1/2", "gate": ["complete", "errors <= 1"]}, f"--webeval-gate {ALL_RUNS} compare --gate`"),
    ({"shard": "1/2", "gitlab_metrics": "m"}, f"--webeval-gitlab-metrics {ALL_RUNS} merge --gitlab-metrics`"),
    ({"shard": "1/2", "metrics": "m"}, f"--webeval-metrics {ALL_RUNS} merge --metrics`"),
    ({"shard": "1/2", "report": "r", "history": ["."]}, f"--webeval-history {ALL_RUNS} history`"),
    ({"shard": "1/2", "write_subset": "s"}, f"--webeval-write-subset {ALL_RUNS} compare`"),
]


@pytest.fixture
def read(tmp_path):
    """Reads the settings of a command line; FILE is a file that exists."""
    (tmp_path / "file").touch()

    def read_values(**values):
        given = {f"webeval_{key}": str(tmp_path / "file") if text == "FILE" else text for key, text in values.items()}
        return read_settings(CommandSource(argparse.Namespace(**given)))

    return read_values


@pytest.mark.parametrize(("values", "message"), REFUSED, ids=[str(values) for values, _ in REFUSED])
def test_options_that_do_not_go_together_are_refused(read, values, message):
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}"):
        check_conflicts(read(**values))


def test_each_rule_of_the_table_refuses_something(read):
    found = [read(**values) for values, _ in REFUSED]
    assert [rule.message for rule in CONFLICTS if not any(map(rule.find, found))] == []


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"report": "r", "report_embed": "0", "history": ["."]},
        {"shard": "1/2", "shard_times": "FILE", "gate": ["complete"], "reuse": True},
        {"labels": "FILE", "label_coding": "abp"},
        {"baseline": ".", "baseline_update": True, "known_failures": True, "gate": ["no-regression"]},
        {"judge_certificate": "FILE", "gate": ["certificate"]},
    ],
    ids=str,
)
def test_options_that_go_together_are_not(read, values):
    check_conflicts(read(**values))


@pytest.mark.parametrize(
    "values", [{"gate": ["no-regression"]}, {"known_failures": True}, {"gate": ["certificate"]}], ids=str
)
def test_a_session_that_scores_nothing_needs_no_baseline(read, values):
    check_conflicts(read(**values), is_scoring=False)
    check_conflicts(read(**values, audit_tasks=True), is_scoring=False)


@pytest.mark.parametrize(
    ("flag", "advice"),
    [
        ("--webeval-report", "use `webeval audit --report`"),
        ("--webeval-output", "use `webeval audit --json`"),
        ("--webeval-gitlab-metrics", "use `webeval audit --json`"),
        ("--webeval-baseline", "use --webeval-audit-most"),
        ("--webeval-gate", "use --webeval-audit-most"),
        ("--webeval-durations", "use --durations"),
        ("--webeval-evaluators", "leave it out: all evaluators are audited"),
        ("--webeval-judge", "leave it out: no judge is asked"),
        ("--webeval-judge-votes", "leave it out: no judge is asked"),
        ("--webeval-reuse", "leave it out: no run is scored"),
        ("--webeval-label-coding", "leave it out: no run is scored"),
    ],
)
def test_an_audit_refuses_what_would_do_nothing_where_somebody_typed_it(read, flag, advice):
    settings = read(audit_tasks=True)
    check_conflicts(settings, is_scoring=False)
    with pytest.raises(SettingsError, match=f"^{flag} has no effect with --webeval-audit-tasks; {advice}$"):
        check_conflicts(settings, {flag}, is_scoring=False)
    check_conflicts(read(), {flag})


def test_what_has_no_effect_on_an_audit_is_an_option():
    assert WITHOUT_EFFECT.keys() <= {row.name for row in OPTIONS}
