"""The table of options. A row is all that an option needs.

It is the command line option, the ini key, the setting, its place in commands that score runs again, whether results
depend on it, and its line in the documentation.
"""

from __future__ import annotations

import pytest

from pytest_webeval.plugin.judge_options import JUDGE_OPTIONS
from pytest_webeval.plugin.option import Option

# Files in which pytest looks for its configuration.
INI_NAMES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


# `affects_results=False`: the option selects runs or changes reports, or `Fingerprints` knows which runs it touches.
OPTIONS: tuple[Option, ...] = (
    Option(
        "runs",
        "score the recorded runs in DIR, one test per run (repeatable)",
        "DIR",
        "roots",
        ini_type="paths",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "record",
        "record and score live tests, in DIR (default: skip them)",
        "DIR",
        "directory",
        affects_results=False,
    ),
    Option(
        "record_timeout",
        "limit the time of each live test (default: 0, no limit)",
        "SECONDS",
        "recording_seconds",
        affects_results=False,
    ),
    Option(
        "tasks",
        "read tasks from a JSON, JSONL or TSV file, or webarena-verified (repeatable)",
        "FILE",
        "task_files",
        choices=(
            "webarena-verified",
            "clawbench-v1",
            "clawbench-v1-lite",
            "clawbench-v2",
            "clawbench-claw-eval",
            "clawbench-environmental-observation",
        ),
        ini_type="linelist",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "subset",
        "score only these tasks: a JSON file of ids, or hard or non-hard (if installed)",
        "SUBSET",
        "word_or_file",
        choices=("hard", "non-hard"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "config",
        "read the site URLs from FILE (default: inferred from each recording)",
        "FILE",
        "file",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "output",
        "write results to DIR, in the same tree (default: to the run directories)",
        "DIR",
        "path",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "redact",
        "redact secrets outside the run directories: default, strict or off",
        "MODE",
        "word",
        choices=("default", "off", "strict"),
        in_rerun=True,
    ),
    Option(
        "rules",
        "apply the rules default, reference (as WebArena-Verified 1.2.3) or strict",
        "RULES",
        "rules",
        choices=("default", "reference", "strict"),
        in_rerun=True,
    ),
    Option(
        "evaluators",
        "score by these alone: response, network, rubric, request or yours (repeatable)",
        "NAMES",
        "evaluators",
        ini_type="linelist",
        in_rerun=True,
    ),
    Option(
        "criterion",
        "score verdicts by outcome, process, both or safe_outcome (default: as recorded)",
        "NAME",
        "optional_word",
        choices=("outcome", "process", "both", "safe_outcome"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "rubric_threshold",
        "require this share of rubric points for process success (default: as recorded)",
        "SHARE",
        "fraction",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "score_file",
        "read verdicts from the file NAME in scores/, if a trajectory has several",
        "NAME",
        "text",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "verdicts",
        "read verdicts from PATH: *_auto_eval_results.json, or a directory of judgments",
        "PATH",
        "existing_path",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "labels",
        "let the labels of people in FILE (JSON) decide; needs a label coding",
        "FILE",
        "file",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "label_coding",
        "read the labels 0, 1 and 2 as osu or abp code them",
        "CODING",
        "optional_word",
        choices=("osu", "abp"),
        in_rerun=True,
        affects_results=False,
    ),
    *JUDGE_OPTIONS,
    Option(
        "over_budget",
        "score unanswered trajectories as stored or zero (default: stored)",
        "POLICY",
        "word",
        choices=("stored", "zero"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "aborted",
        "skip, xfail or fail trajectories aborted by the environment (default: skip)",
        "OUTCOME",
        "word",
        choices=("skip", "xfail", "fail"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "report",
        "write an HTML report to DIR (open DIR/index.html)",
        "DIR",
        "directory",
        affects_results=False,
    ),
    Option(
        "report_embed",
        "embed screenshot thumbnails in the report, at most SIZE in total (e.g. 25MB)",
        "SIZE",
        "size",
        affects_results=False,
    ),
    Option(
        "history",
        "add history.html to the report: earlier sessions, then this one (repeatable)",
        "SESSION",
        "sessions",
        ini_type="linelist",
        affects_results=False,
    ),
    Option(
        "metrics",
        "write a metrics.json in webeval's format to DIR for each run of trajectories",
        "DIR",
        "directory",
        affects_results=False,
    ),
    Option(
        "baseline",
        "compare with an earlier eval_summary.json and report regressions and fixes",
        "FILE",
        "path",
        affects_results=False,
    ),
    Option(
        "baseline_update",
        "write this session to the baseline; known failures are added, never removed",
        affects_results=False,
    ),
    Option(
        "known_failures",
        "expect the failures that the baseline lists: they are xfail, others fail",
        affects_results=False,
    ),
    Option(
        "gate",
        "require e.g. 'success >= 60%', 'errors <= 2' or no-regression (repeatable)",
        "GATE",
        "gates",
        ini_type="linelist",
        affects_results=False,
    ),
    Option(
        "min_success",
        "require this success rate, e.g. 60%",
        "RATE",
        "percentage",
        affects_results=False,
    ),
    Option(
        "fail_on",
        "exit with 1 on a failure, a regression (beyond noise), any-regressed or none",
        "WHEN",
        "word",
        choices=("failure", "regression", "any-regressed", "none"),
        affects_results=False,
    ),
    Option(
        "gates_decide",
        "exit with 1 only if a gate fails, not for each task that fails",
        affects_results=False,
    ),
    Option(
        "write_subset",
        "write the tasks that did not succeed to FILE, for --webeval-subset",
        "FILE",
        "path",
        affects_results=False,
    ),
    Option(
        "attempts",
        "match directories of attempts, e.g. 'try-*'; the rest of the path is the agent",
        "GLOB",
        "text",
        affects_results=False,
    ),
    Option(
        "durations",
        "show the time per phase and the N slowest runs (0 shows all runs)",
        "N",
        "count",
        affects_results=False,
    ),
    Option(
        "gitlab_metrics",
        "write the totals to FILE for artifacts:reports:metrics of GitLab",
        "FILE",
        "path",
        affects_results=False,
    ),
    Option(
        "timeout",
        "limit the time to score one run (default: 60; 0 for no limit)",
        "SECONDS",
        "seconds",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "today",
        "complete dates such as 'March 2022' with DAY, as YYYY-MM-DD (default: today)",
        "DAY",
        "day",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "limits",
        "limit what is read: one limit per line, e.g. 'file_size = 64 MiB'",
        parse="limits",
        ini_type="linelist",
        is_flag=False,
    ),
    Option(
        "require_all",
        "report an error for each task of the subset or definitions without a recording",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "workers",
        "score runs in N processes, or auto for one per CPU (default: 0)",
        "N",
        "workers",
        affects_results=False,
    ),
    Option(
        "resume",
        "resume an interrupted session: reuse its results and score the remaining runs",
        affects_results=False,
    ),
    Option(
        "reuse",
        "reuse results of earlier sessions if all that decided them is unchanged",
        affects_results=False,
    ),
    Option(
        "shard",
        "score the I-th of N shares of the runs, e.g. 2/8; see the command merge",
        "I/N",
        "shard",
        affects_results=False,
    ),
    Option(
        "shard_times",
        "balance shards by the times in FILE (default: an earlier eval_summary.json)",
        "FILE",
        "file",
        affects_results=False,
    ),
    Option(
        "own_tasks",
        "trust task.json of a run that has no other definition (an agent can write it)",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "fsync",
        "fsync every written file",
        affects_results=False,
    ),
    Option(
        "redact_allow",
        "do not redact these names, e.g. 'NetworkEventEvaluator: form_key, x-csrf-token'",
        parse="allowed_names",
        ini_type="linelist",
        is_flag=False,
    ),
    Option(
        "audit_tasks",
        "audit the tasks of the runs, one test per task, without scoring the runs",
        affects_results=False,
    ),
    Option(
        "audit_most",
        "allow N findings of the audit of tasks (default: 0)",
        "N",
        "number",
        affects_results=False,
    ),
    Option(
        "audit_secrets",
        "list the secrets in the runs and their locations, without scoring",
        is_ini_key=False,
        affects_results=False,
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare the options and their ini keys."""
    group = parser.getgroup("webeval", "recorded web-agent tasks")
    for option in OPTIONS:
        option.declare(parser, group)
