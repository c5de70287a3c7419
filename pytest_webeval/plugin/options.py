"""What pytest loads: options, hook specifications, and one registered object when runs are asked for."""

from __future__ import annotations

from typing import Any

import pytest

OPTIONS = {
    "webeval_runs": "directory with recorded runs, each of which becomes a test (repeatable)",
    "webeval_tasks": "task definitions: JSON, JSON lines or TSV, or 'webarena-verified' if installed (repeatable)",
    "webeval_subset": "tasks that count: a file with their ids, or 'hard' or 'non-hard' of the installed data set",
    "webeval_config": "configuration file with the addresses of the sites",
    "webeval_output": "directory to write results to, in the same tree; the runs stay untouched",
    "webeval_redact": "secrets in what leaves the run directories: default, strict (more is one) or off",
    "webeval_rules": "rule set: default, reference (as WebArena-Verified 1.2.3) or strict",
    "webeval_criterion": "what counts of a stored verdict: outcome, process, both, safe_outcome; usually as stored",
    "webeval_rubric_threshold": "share of a rubric's points that a success of the process needs, such as 0.8",
    "webeval_score_file": "name of the file in scores/ that counts, for trajectories that have several",
    "webeval_over_budget": "trajectories without an answer: stored (a stored score counts, otherwise 0) or zero",
    "webeval_aborted": "tests of trajectories that the environment aborted: skip, xfail or fail; none is in a mean",
    "webeval_report": "directory for a report to open in a browser: index.html and what it needs",
    "webeval_report_embed": "let the report have small copies of screenshots in itself, this much at most, as 25MB",
    "webeval_metrics": "directory for a metrics.json of each run of trajectories, in webeval's own shape",
    "webeval_baseline": "eval_summary.json of an earlier session: tell which runs succeed no longer, and which do now",
    "webeval_durations": "show where the time went, by phase, and the N slowest runs (0 for all)",
    "webeval_gitlab_metrics": "file for the numbers of the session, as GitLab's artifacts:reports:metrics reads them",
    "webeval_timeout": "seconds that scoring one run may take, 60 by default; 0 for no limit",
    "webeval_today": "the day that completes dates such as 'March 2022', as YYYY-MM-DD; by default the present one",
}
METAVARS = {
    "webeval_runs": "DIR",
    "webeval_subset": "SUBSET",
    "webeval_output": "DIR",
    "webeval_redact": "MODE",
    "webeval_rules": "RULES",
    "webeval_timeout": "SECONDS",
    "webeval_today": "DAY",
    "webeval_criterion": "NAME",
    "webeval_rubric_threshold": "SHARE",
    "webeval_score_file": "NAME",
    "webeval_over_budget": "POLICY",
    "webeval_aborted": "OUTCOME",
    "webeval_metrics": "DIR",
    "webeval_report": "DIR",
    "webeval_report_embed": "SIZE",
    "webeval_durations": "N",
}
# Files in which pytest looks for its configuration.
INI_NAMES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# Options that may be given several times, with the type of their ini keys.
REPEATABLE = {"webeval_runs": "paths", "webeval_tasks": "linelist"}
LIMITS = "how much is read, a line for each limit such as 'file_size = 64 MiB'; see the README"
# Options that are on or off.
SWITCHES = {
    "webeval_expect": "show each task of the subset or the definitions that has no recording as an error",
    "webeval_resume": "go on where a session was interrupted: take what it scored, score the rest",
    "webeval_own_tasks": "use task.json of a run directory where there is no other definition; an agent can write it",
    "webeval_fsync": "make sure that each file that is written is on the disk before going on",
}
AUDIT = "list which secrets the runs contain, and where; nothing is scored"
ALLOW = "names that stay readable in an evaluator's results, as 'NetworkEventEvaluator: form_key, x-csrf-token'"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and an ini key for each."""
    group = parser.getgroup("webeval", "recorded web-agent tasks")
    for name, text in OPTIONS.items():
        repeatable: dict[str, Any] = {"action": "append"} if name in REPEATABLE else {}
        metavar = METAVARS.get(name, "FILE")
        group.addoption(_flag(name), dest=name, default=None, metavar=metavar, help=text, **repeatable)
        kind: Any = REPEATABLE.get(name, "string")
        parser.addini(name, text, type=kind, default=None)
    parser.addini("webeval_limits", LIMITS, type="linelist", default=[])
    for name, text in SWITCHES.items():
        group.addoption(_flag(name), dest=name, action="store_true", default=False, help=text)
        parser.addini(name, text, type="bool", default=False)
    parser.addini("webeval_redact_allow", ALLOW, type="linelist", default=[])
    group.addoption("--webeval-audit-secrets", dest="webeval_audit", action="store_true", default=False, help=AUDIT)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
