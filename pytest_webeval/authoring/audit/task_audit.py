"""The audit of one task: baselines, and mutants of its passing runs, each with the verdict that it must have."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from pytest_webeval.authoring.audit.answer_mutants import list_answer_mutants
from pytest_webeval.authoring.audit.attempts import Attempt, RecordedRun, Trial
from pytest_webeval.authoring.audit.baselines import DATA, Material, build_right_answer, list_baselines, read_expected
from pytest_webeval.authoring.audit.examiner import Examiner, Verdict
from pytest_webeval.authoring.audit.findings import (
    KINDS,
    NO_PASSING_RUN,
    NOT_AUDITED,
    Finding,
    TaskAudit,
    merge_findings,
)
from pytest_webeval.authoring.audit.trace_mutants import list_trace_mutants
from pytest_webeval.authoring.audit.values import list_values
from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.errors import RecordingError, WebEvalError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import infer_sites
from pytest_webeval.evaluators.network.urls import OTHER_ADDRESS
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.results import Status
from pytest_webeval.rules import Rules
from pytest_webeval.safety import regex
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, RESPONSE_EVALUATOR
from pytest_webeval.tasks.sites import INVENTED, Sites, invent_environments, placeholder
from pytest_webeval.tasks.task import Expectation, Task
from pytest_webeval.values.base import looks_like_pattern

AIMED = ("dropped_request_passes", "forbidden_request_passes")  # kinds of trials that must fail by one expectation
MOST_RUNS = 3  # passing runs of a task of which mutants are made
SECONDS = 60.0  # for each task


class AuditSettings(Struct, frozen=True):
    """What is the same for all tasks. Sites that it does not configure are inferred from runs, or made up.

    `timeout` are the seconds that the audit of one task may take, 0 for no limit.
    """

    rules: Rules
    sites: Sites
    evaluators: Mapping[str, Evaluator]
    today: date
    timeout: float = SECONDS

    def choose_sites(self, task: Task, runs: Sequence[RecordedRun] = ()) -> Sites:
        """Addresses of all sites of a task."""
        if self.sites.covers(task.sites):
            return self.sites.folded if self.rules.folded_addresses else self.sites
        for run in runs:
            try:
                return infer_sites(task.sites, run.attempt.trace.evaluation_events if run.attempt.trace else ())
            except (WebEvalError, ValueError):
                continue
        return Sites(invent_environments(task.sites))


def build_examiner(task: Task, settings: AuditSettings, runs: Sequence[RecordedRun] = ()) -> Examiner:
    """What judges attempts at a task."""
    rules = settings.rules.choose(is_published=task.is_published)
    return Examiner(task, settings.choose_sites(task, runs), rules, settings.evaluators, settings.today)


def select_passing(examiner: Examiner, runs: Iterable[RecordedRun]) -> list[RecordedRun]:
    """The runs that pass, as far as their expectations can be checked."""
    passing = []
    for run in runs:
        with suppress(RecordingError):
            if examiner.judge(run.attempt).passes:
                passing.append(run)
    return passing


class Audit(Struct, dict=True, eq=False):
    """One audit under way, with the findings and verdicts so far: it may be interrupted."""

    examiner: Examiner
    runs: Sequence[RecordedRun]
    commonest: Mapping[str, bytes]
    others: Sequence[RecordedRun]
    spare_traces: Sequence[NetworkTrace]
    findings: list[Finding] = field(default_factory=list)
    verdicts: list[tuple[Trial, Verdict]] = field(default_factory=list)

    @property
    def task(self) -> Task:
        return self.examiner.task

    @cached_property
    def expected(self) -> Mapping[str, Any]:
        """What its first response expectation expects."""
        return read_expected(self.task)

    def run(self) -> None:
        """Try everything."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of parsers; under -W error they would decide
            for finding in self._list_findings():
                self.findings.append(finding)

    def sum_up(self, *notes: Finding) -> TaskAudit:
        """What was found so far, and these notes about the rest."""
        merged = merge_findings([*self.findings, *notes])
        return TaskAudit(
            self.task.task_id,
            len(self.verdicts),
            tuple(finding for finding in merged if not finding.is_note),
            tuple(finding for finding in merged if finding.is_note),
            tuple(run.name for run in self.runs),
        )

    @cached_property
    def passing(self) -> list[RecordedRun]:
        """The runs of which mutants are made."""
        return select_passing(self.examiner, self.runs)[:MOST_RUNS]

    @cached_property
    def right_answer(self) -> bytes | None:
        """The answer of a passing run, or else the expected one if it passes and is no pattern."""
        if self.passing:
            return self.passing[0].attempt.answer
        answer = write_right_answer(self.task, self.examiner.sites)
        if answer is None or _list_patterns(self.expected.get(DATA)):
            return None
        return answer if self.examiner.judge(Attempt(answer, None)).passes else None

    def _list_findings(self) -> Iterator[Finding]:
        """All findings and notes, some of them several times. What nobody could check may have decided."""
        yield from self._check_definition()
        for trial in self._list_trials():
            verdict = self.examiner.judge(trial.attempt)
            self.verdicts.append((trial, verdict))
            is_success = verdict.passes and bool(verdict.statuses) and not self.examiner.unknown
            if not verdict.passes if KINDS[trial.kind].must_pass else is_success:
                yield self._finding(trial.kind, trial.evaluator, trial.field, trial.detail, trial.name)
        yield from self._find_redundant()

    def _check_definition(self) -> Iterator[Finding]:
        for expectation in self.examiner.unknown:
            yield self._finding(NOT_AUDITED, expectation.evaluator, f"eval[{expectation.index}]")
        reason = unpassable_reason(self.task)
        if reason is not None and not self.passing:
            yield self._finding("unpassable", "", "", reason)
        elif not self.passing:
            yield from self._check_expectations()
        if self.runs and not self.passing:
            yield self._finding(NO_PASSING_RUN, "", "", ", ".join(run.name for run in self.runs[:MOST_RUNS]))

    def _check_expectations(self) -> Iterator[Finding]:
        """Expectations that are errors whatever was recorded, and answers that are not what they are compared with."""
        answer = write_right_answer(self.task, self.examiner.sites) or b"{}"
        trace = self._material().idle("/")  # with a page of its site, wherever the task starts
        for expectation in self.examiner.checked:
            result, place = self.examiner.examine(expectation, Attempt(answer, trace)), f"eval[{expectation.index}]"
            is_about_answer = expectation.evaluator == RESPONSE_EVALUATOR and self.examiner.is_built_in(expectation)
            is_error, message = result.status is Status.ERROR, result.error_msg or ""
            if is_error and "the trace" not in message and not self._needs_address(expectation, trace):
                yield self._finding("invalid_definition", expectation.evaluator, place, message)
            elif is_about_answer and result.status is not Status.SUCCESS:
                yield from self._explain_expected(expectation.evaluator, place)

    def _needs_address(self, expectation: Expectation, trace: NetworkTrace) -> bool:
        """Whether an expected URL may be at a site whose address was made up."""
        urls = (environment.url for environment in self.examiner.sites.environments.values())
        is_ours = expectation.evaluator == NETWORK_EVALUATOR and self.examiner.is_built_in(expectation)
        if not is_ours or not any(url.endswith(INVENTED) for url in urls):
            return False
        try:
            self.examiner.build_matcher(expectation, trace).normalize_expected()
        except WebEvalError as error:
            return error.code == OTHER_ADDRESS
        return False

    def _explain_expected(self, evaluator: str, place: str) -> Iterator[Finding]:
        """Why the expected answer, as it is written, does not pass; nothing where it is a pattern of others."""
        patterns = _list_patterns(self.expected.get(DATA))
        if not patterns:
            yield self._finding("unpassable", evaluator, place, "the expected answer itself does not pass")
        for pattern in patterns:
            try:
                problem = None if regex.is_pattern(pattern) else f"invalid regular expression {pattern!r:.80}"
            except regex.PatternTooBig as error:
                problem = str(error)
            if problem is not None:
                yield self._finding("invalid_definition", evaluator, f"{place}.expected.{DATA}", problem)
                return

    def _material(self) -> Material:
        return Material(self.task, self.examiner.sites, self.expected, self.right_answer, self.commonest, self.others)

    def _list_trials(self) -> Iterator[Trial]:
        if not self.examiner.checked:
            return
        yield from list_baselines(self._material())
        bases = [run.attempt for run in self.passing]
        if not bases and self.right_answer is not None:
            bases = [Attempt(self.right_answer, None)]
        for base in bases:
            yield from list_answer_mutants(self.examiner, base)
        for run in self.passing:
            yield from list_trace_mutants(self.examiner, run.attempt, self.spare_traces)

    def _find_redundant(self) -> Iterator[Finding]:
        """Expectations that fail, but never alone: without them each verdict would be the same."""
        if not self.passing:
            return
        failed = [verdict.failed for _, verdict in self.verdicts]
        alone = {indices[0] for indices in failed if len(indices) == 1}
        ever = {index for indices in failed for index in indices}
        aimed_at = {trial.field for trial, _ in self.verdicts if trial.kind in AIMED}
        for expectation in self.examiner.checked:
            is_answer = expectation.evaluator == RESPONSE_EVALUATOR
            if expectation.index in ever - alone and (is_answer or f"eval[{expectation.index}]" in aimed_at):
                yield self._finding("redundant_expectation", expectation.evaluator, f"eval[{expectation.index}]")

    def _finding(self, kind: str, evaluator: str, place: str, detail: str = "", *mutants: str) -> Finding:
        return Finding(self.task.task_id, kind, evaluator, place, mutants, detail)


def write_right_answer(task: Task, sites: Sites) -> bytes | None:
    """What a task expects as an answer, with addresses for placeholders; None where it expects none."""
    answer = build_right_answer(task)
    if answer is None:
        return None
    text = json.dumps(answer)
    for site in task.sites:
        if site in sites.environments:
            text = text.replace(placeholder(site), sites.environments[site].url.rstrip("/"))
    return text.encode()


def _list_patterns(data: Any) -> list[str]:
    return [value for _, value in list_values(data) if looks_like_pattern(value)]
