"""Options that have no effect on a session that audits tasks, with what is done instead."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.judge_options import JUDGE_OPTIONS
from pytest_webeval.sessions.option import Option
from pytest_webeval.sessions.options import OPTIONS

AUDIT = "webeval audit"
ALLOW = "use --webeval-audit-most"
SCORES = "leave it out: no run is scored"
# By the name of an option.
WITHOUT_EFFECT = {
    "output": f"use `{AUDIT} --json`",
    "report": f"use `{AUDIT} --report`",
    "report_embed": f"use `{AUDIT} --report`",
    "history": f"use `{AUDIT} --report`",
    "metrics": f"use `{AUDIT} --json`",
    "gitlab_metrics": f"use `{AUDIT} --json`",
    "baseline": ALLOW,
    "baseline_update": ALLOW,
    "known_failures": ALLOW,
    "gate": ALLOW,
    "evaluators": "leave it out: all evaluators are audited",
    **{option.name: "leave it out: no judge is asked" for option in JUDGE_OPTIONS},
    "write_subset": SCORES,
    "durations": "use --durations",
    "reuse": SCORES,
    "fsync": SCORES,
    "criterion": SCORES,
    "rubric_threshold": SCORES,
    "score_file": SCORES,
    "verdicts": SCORES,
    "labels": SCORES,
    "label_coding": SCORES,
    "over_budget": SCORES,
    "aborted": SCORES,
}


def check_options(config: pytest.Config) -> None:
    """Raise `SettingsError` for an option on the command line that would do nothing. Ini keys are for all sessions."""
    arguments = [str(argument) for argument in config.invocation_params.args]
    for option in OPTIONS:
        if option.name in WITHOUT_EFFECT and _is_given(option, arguments):
            problem = f"{option.flag} has no effect with --webeval-audit-tasks"
            raise SettingsError(f"{problem}; {WITHOUT_EFFECT[option.name]}")


def _is_given(option: Option, arguments: list[str]) -> bool:
    return any(argument.partition("=")[0] == option.flag for argument in arguments)
