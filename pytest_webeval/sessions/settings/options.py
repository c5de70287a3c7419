"""The table of options. A row is all that an option needs.

It is the command line option, the ini key, the setting and its type, its place in commands that score runs again,
whether results depend on it, and its line in the documentation.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from enum import Flag
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from pytest_webeval.rules import Rules
    from pytest_webeval.safety.limits import Limits
    from pytest_webeval.summary.comparison.gates import Gate
    from pytest_webeval.summary.shards import Shard


class Effect(Flag):
    """What an option has an effect on."""

    SESSION = 0  # it selects runs or changes reports
    RERUN = 1  # rerun commands repeat it; `Fingerprints` knows which runs it touches
    RESULTS = 2  # a session with another value may reuse no result of this one


class Option(NamedTuple):
    """A row: `name` is `rules` for the option `--webeval-rules`, the ini key `webeval_rules` and `settings.rules`.

    `parse` names an entry of `option_values.PARSERS`, and `default` is parsed like a value. `choices` are the valid
    words, the default first; one that also takes a file lists only the words. The ini types `paths` and `linelist`
    make an option repeatable.
    """

    name: str
    effect: Effect
    help: str
    metavar: str = ""
    parse: str = "switch"
    default: str | None = None
    choices: tuple[str, ...] = ()
    ini_type: str = "string"
    is_flag: bool = True
    is_ini_key: bool = True

    @property
    def key(self) -> str:
        """The ini key, and the name by which pytest stores the option."""
        return f"webeval_{self.name}"

    @property
    def flag(self) -> str:
        """The option on the command line, without its value."""
        return f"--{self.key.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether the option is on or off."""
        return self.parse == "switch"

    @property
    def is_repeatable(self) -> bool:
        """Whether the option may be given several times."""
        return self.ini_type != "string"

    @property
    def in_rerun(self) -> bool:
        """Whether rerun commands repeat it."""
        return Effect.RERUN in self.effect

    @property
    def is_about_judges(self) -> bool:
        """Whether it says which model is asked, how, and what that may cost."""
        return self.name.startswith("judge")

    @property
    def action(self) -> dict[str, Any]:
        """How a parser of command lines takes the option."""
        if self.is_switch:
            return {"action": "store_true", "default": False}
        return {"action": "append" if self.is_repeatable else "store", "default": None, "metavar": self.metavar}


def option(
    effect: Effect, text: str, metavar: str = "", parse: str = "switch", *, choices: str = "", **others: Any
) -> Any:
    """A field that is a row of the table, without its name."""
    return field(metadata={"row": Option("", effect, text, metavar, parse, choices=tuple(choices.split()), **others)})


SESSION, RERUN, RESULTS = Effect.SESSION, Effect.RERUN, Effect.RESULTS


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Options:
    """The value of each option. Paths are absolute, with their links unresolved. See `Settings`, which can be made."""

    runs: tuple[Path, ...] = option(
        RERUN, "score the recorded runs in DIR, one test per run (repeatable)", "DIR", "roots", ini_type="paths"
    )
    record: Path | None = option(
        SESSION, "record live tests into DIR and score them (default: skip them; in CI they fail)", "DIR", "directory"
    )
    record_timeout: float = option(
        SESSION, "limit the time of each live test (default: 0, no limit)", "SECONDS", "seconds", default="0"
    )
    tasks: tuple[str, ...] = option(
        RERUN,
        "read tasks from a JSON, JSONL or TSV file, or webarena-verified (repeatable)",
        "FILE",
        "task_files",
        choices="webarena-verified clawbench-v1 clawbench-v1-lite clawbench-v2 "
        "clawbench-claw-eval clawbench-environmental-observation",
        ini_type="linelist",
    )
    subset: str | None = option(
        RERUN,
        "score only these tasks: a JSON file of ids, or hard or non-hard (if installed)",
        "SUBSET",
        "word_or_file",
        choices="hard non-hard",
    )
    config: Path | None = option(
        RERUN, "read the site URLs from FILE (default: inferred from each recording)", "FILE", "file"
    )
    output: Path | None = option(
        RERUN, "write results to DIR, in the same tree (default: to the run directories)", "DIR", "output"
    )
    results: str = option(
        RERUN,
        "write results as files, or as shards of 1,000: JSON lines, or parquet",
        "FORM",
        "word",
        choices="files shards parquet",
    )
    cache: Path | None = option(
        SESSION, "keep files of runs in stores in DIR (default: in the user's cache)", "DIR", "directory"
    )
    cache_size: int | None = option(
        SESSION, "keep about SIZE of these files at most, e.g. 20GB (default: all)", "SIZE", "size"
    )
    redact: str = option(
        RERUN | RESULTS,
        "redact secrets outside the run directories: default, strict or off",
        "MODE",
        "word",
        choices="default off strict",
    )
    rules: Rules = option(
        RERUN,
        "apply rules default, reference or strict (default: auto, by the task's origin)",
        "RULES",
        "rules",
        choices="auto default reference strict",
    )
    evaluators: tuple[str, ...] = option(
        RERUN | RESULTS,
        "score by these alone: response, network, rubric, request or yours (repeatable)",
        "NAMES",
        "evaluators",
        ini_type="linelist",
    )
    criterion: str | None = option(
        RERUN,
        "score verdicts by outcome, process, both or safe_outcome (default: as recorded)",
        "NAME",
        "optional_word",
        choices="outcome process both safe_outcome",
    )
    rubric_threshold: Decimal | None = option(
        RERUN, "require this share of rubric points for process success (default: as recorded)", "SHARE", "fraction"
    )
    score_file: str | None = option(
        RERUN, "read verdicts from the file NAME in scores/, if a trajectory has several", "NAME", "text"
    )
    verdicts: Path | None = option(
        RERUN, "read verdicts from PATH: *_auto_eval_results.json, or a directory of judgments", "PATH", "existing_path"
    )
    labels: Path | None = option(
        RERUN, "let the labels of people in FILE (JSON) decide; needs a label coding", "FILE", "file"
    )
    label_coding: str | None = option(
        RERUN, "read the labels 0, 1 and 2 as osu or abp code them", "CODING", "optional_word", choices="osu abp"
    )
    judge: str | None = option(
        RERUN, "let MODEL judge trajectories without a verdict (see --webeval-judge-mode)", "MODEL", "text"
    )
    judge_method: str = option(
        RERUN,
        "judge by rubric (default), rubric-pipeline, webjudge or webvoyager",
        "NAME",
        "word",
        choices="rubric rubric-pipeline webjudge webvoyager",
    )
    judge_mode: str = option(
        RERUN,
        "use remembered replies only (cached), ask a server too (live), or ask nobody",
        "MODE",
        "word",
        choices="cached live off",
    )
    judge_replies: Path | None = option(
        RERUN, "remember replies of judges in DIR (default: judge_replies in the rootdir)", "DIR", "directory"
    )
    judge_url: str | None = option(
        RERUN, "ask the OpenAI-compatible server at URL (default: $OPENAI_BASE_URL, or OpenAI)", "URL", "text"
    )
    judge_text_model: str | None = option(
        RERUN, "let MODEL answer the questions without pictures (default: the judge)", "MODEL", "text"
    )
    judge_votes: int = option(
        RERUN, "ask the deciding question N times: 1, 3, 5, ... (default: 1)", "N", "votes", default="1"
    )
    judge_max_usd: Decimal | None = option(
        RERUN, "spend at most AMOUNT on replies in this session, e.g. 2.50", "AMOUNT", "amount"
    )
    judge_prices: Path | None = option(
        RERUN, "read prices of models from FILE (TOML), before those that are built in", "FILE", "file"
    )
    judge_concurrency: int = option(
        SESSION,
        "send at most N requests at a time, divided among processes (default: 8)",
        "N",
        "concurrency",
        default="8",
    )
    judge_again: bool = option(RERUN, "judge trajectories with a verdict too, and write score files as webeval does")
    judge_requests: bool = option(RERUN, "let the judge propose patterns where a request came near the expected one")
    judge_certificate: Path | None = option(
        RERUN, "show how far the judge agrees with people, from the file of calibrate", "FILE", "file"
    )
    over_budget: str = option(
        RERUN,
        "score unanswered trajectories as stored or zero (default: stored)",
        "POLICY",
        "word",
        choices="stored zero",
    )
    aborted: str = option(
        RERUN,
        "skip, xfail or fail trajectories aborted by the environment (default: skip)",
        "OUTCOME",
        "word",
        choices="skip xfail fail",
    )
    impossible: str = option(
        RERUN,
        "exclude impossible tasks, or score them zero (default: exclude)",
        "WHEN",
        "word",
        choices="exclude zero",
        is_flag=False,
    )
    report: Path | None = option(SESSION, "write an HTML report to DIR (open DIR/index.html)", "DIR", "directory")
    report_embed: int | None = option(
        SESSION, "embed screenshot thumbnails in the report, at most SIZE in total (e.g. 25MB)", "SIZE", "size"
    )
    history: tuple[str, ...] = option(
        SESSION,
        "add history.html to the report: earlier sessions, then this one (repeatable)",
        "SESSION",
        "sessions",
        ini_type="linelist",
    )
    metrics: Path | None = option(
        SESSION, "write a metrics.json in webeval's format to DIR for each run of trajectories", "DIR", "directory"
    )
    baseline: Path | None = option(
        SESSION, "compare with an earlier session and report regressions and fixes", "SESSION", "path"
    )
    baseline_update: bool = option(
        SESSION, "write this session to the baseline; known failures are added, never removed"
    )
    known_failures: bool = option(SESSION, "expect the failures that the baseline lists: they are xfail, others fail")
    gate: tuple[Gate, ...] = option(
        SESSION,
        "require GATE, e.g. 'success >= 60%'; gates alone decide the exit code",
        "GATE",
        "gates",
        ini_type="linelist",
    )
    write_subset: Path | None = option(
        SESSION, "write the tasks that did not succeed to FILE, for --webeval-subset", "FILE", "path"
    )
    attempts: str | None = option(
        SESSION, "match directories of attempts, e.g. 'try-*'; the rest of the path is the agent", "GLOB", "text"
    )
    durations: int | None = option(
        SESSION, "show the time per phase and the N slowest runs (0 shows all runs)", "N", "count"
    )
    gitlab_metrics: Path | None = option(
        SESSION, "write the totals to FILE for artifacts:reports:metrics of GitLab", "FILE", "path"
    )
    timeout: float = option(
        RERUN, "limit the time to score one run (default: 60; 0 for no limit)", "SECONDS", "seconds", default="60"
    )
    today: date = option(
        RERUN, "complete dates such as 'March 2022' with DAY, as YYYY-MM-DD (default: today)", "DAY", "day"
    )
    limits: Limits = option(
        RESULTS,
        "limit what is read: one limit per line, e.g. 'file_size = 64 MiB'",
        parse="limits",
        ini_type="linelist",
        is_flag=False,
    )
    require_all: bool = option(RERUN, "report an error for each task of the subset or definitions without a recording")
    reuse: bool = option(SESSION, "reuse results if all that decided them is unchanged")
    shard: Shard | None = option(
        SESSION, "score the I-th of N shares of the runs, e.g. 2/8; see the command merge", "I/N", "shard"
    )
    shard_times: Path | None = option(
        SESSION, "balance shards by the times in FILE (default: an earlier eval_summary.json)", "FILE", "file"
    )
    own_tasks: bool = option(RERUN, "trust task.json of a run that has no other definition (an agent can write it)")
    fsync: bool = option(SESSION, "fsync every written file")
    redact_allow: Mapping[str, tuple[str, ...]] = option(
        RESULTS,
        "do not redact these names, e.g. 'NetworkEventEvaluator: form_key, x-csrf-token'",
        parse="allowed_names",
        ini_type="linelist",
        is_flag=False,
    )
    audit_tasks: bool = option(SESSION, "audit the tasks of the runs, one test per task, without scoring the runs")
    audit_most: int = option(SESSION, "allow N findings of the audit of tasks (default: 0)", "N", "number", default="0")
    audit_secrets: bool = option(
        SESSION, "list the secrets in the runs and their locations, without scoring", is_ini_key=False
    )


OPTIONS = tuple(each.metadata["row"]._replace(name=each.name) for each in fields(Options))
# Options that are gone, with what replaces them.
REMOVED = {
    "fail_on": "use the gate 'no-regression beyond noise' for regression, no-regression for any-regressed, "
    "or complete for none",
    "gates_decide": "leave it out: gates alone decide the exit code",
    "min_success": "use the gate 'success >= 60%'",
    "require_certificate": "use the gate certificate",
    "resume": "use --webeval-reuse",
    "workers": "use -n of pytest-xdist, or webeval score --executor=process:N",
}


class Refusal(argparse.Action):
    """An option that the program does not have. `const` says why, and what to do instead."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> NoReturn:
        """End the program."""
        *_, name = given
        parser.error(f"{name} {self.const}")


def refuse(reason: str) -> dict[str, Any]:
    """How a parser of command lines takes an option only to refuse it."""
    return {"nargs": "?", "const": reason, "action": Refusal, "help": argparse.SUPPRESS}
