"""What an evaluator gets: a run, its task, the addresses of the sites, and the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec import field as struct_field

from pytest_webeval.errors import EvaluationError, RecordingError, RunExcluded, TaskDefinitionError, WebEvalError
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import EvaluatorResult, Explanation, ResultWarning, Status, WarningKind
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import Rules
from pytest_webeval.safety.text import pluralize
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR
from pytest_webeval.tasks.sites import SITE_NAMES, Environment, Sites, placeholder
from pytest_webeval.tasks.task import Expectation, Task
from pytest_webeval.values.base import present_day

if TYPE_CHECKING:
    from pytest_webeval.judges.judging import Judging
    from pytest_webeval.recordings.network.events import NetworkTrace


def infer_sites(sites: Sequence[str], events: Sequence[NetworkEvent]) -> Sites:
    """Addresses of sites as the first events have them (spec §7.4). Raises `RecordingError` where there are none."""
    if not events:
        raise RecordingError(
            "cannot infer site URLs: the trace has no events; pass a file with the site URLs: --webeval-config=FILE"
        )
    environments = {}
    for position, site in enumerate(sites):
        parts = urlsplit(events[min(position, len(events) - 1)].url)
        suffix = "/admin" if site == "shopping_admin" else ""
        environments[site] = Environment((f"{parts.scheme}://{parts.netloc}{suffix}",))
    return Sites(environments)


class EvaluationLog(Struct):
    """What the evaluation of a run adds to its results.

    `notices` maps switches of the rule set that made a difference on the way to a verdict to the place where they did.
    They are about the current expectation, all else about all of them.
    """

    warnings: list[ResultWarning] = struct_field(default_factory=list)
    notices: dict[str, str] = struct_field(default_factory=dict)
    proposals: list[dict[str, Any]] = struct_field(default_factory=list)  # of a judge about requests that came near


@dataclass(frozen=True)
class Case:
    """The input of an evaluator: a run, its task, the addresses of the sites, and the rules.

    `today` completes partial dates (Q44). `other_rules` replace those of the run to evaluate it again for comparison.
    `requested_policy` says how stored verdicts are read, `judging` who judges a run without one. `calls` calls the
    evaluators that users wrote. `has_definition` is false for a task that only the directory of the run describes.
    Evaluators write only to `log`.
    """

    run: Run
    task: Task
    configured_sites: Sites
    today: date = field(default_factory=present_day)
    other_rules: Rules | None = None
    requested_policy: VerdictPolicy = field(default_factory=VerdictPolicy)
    judging: Judging | None = None
    has_definition: bool = True
    calls: EvaluatorCalls = field(default_factory=EvaluatorCalls, repr=False)
    log: EvaluationLog = field(default_factory=EvaluationLog)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The texts of the warnings of the result. Use `warn` to add one."""
        return tuple(warning.text for warning in self.log.warnings)

    def warn(self, text: str, kind: str = WarningKind.OTHER) -> None:
        """Add a warning to the result. Reports group warnings by kind, which is a name that no recording chooses."""
        self.log.warnings.append(ResultWarning(str(kind), text))

    @cached_property
    def rules(self) -> Rules:
        """The rule set that judges the task."""
        return self.other_rules or self.run.rules.choose(is_published=self.task.is_published)

    def notice(self, switch: str, where: str) -> None:
        """Keep in mind that a switch of the rule set made a difference."""
        self.log.notices.setdefault(switch, where)

    def explain(self, result: EvaluatorResult, build: Callable[[], Explanation]) -> EvaluatorResult:
        """The result, a failure with why it is one, unless that fails or nobody asks: the verdict stands either way.

        What is noticed on the way made no difference to the verdict.
        """
        if result.status is not Status.FAILURE or self.other_rules is not None:
            return result
        notices = dict(self.log.notices)
        try:
            return result.with_changes(explanation=build())
        except (WebEvalError, RecursionError, ArithmeticError, ValueError, TypeError):
            return result
        finally:
            self.log.notices = notices

    @property
    def trace(self) -> NetworkTrace:
        """The recorded traffic that counts under the rules of the session. Raises `RecordingError`."""
        trace = self.run.trace
        if not (trace.earlier or trace.by_time):
            return trace
        trace = trace.under(self.rules)
        if trace.earlier and self.rules.own_requests:
            self.notice("own_requests", pluralize(len(trace.earlier), "request"))
        if trace.by_time and self.rules.time_order:
            self.notice("time_order", "the trace")
        return trace

    @property
    def events(self) -> tuple[NetworkEvent, ...]:
        """The recorded events that evaluators check. Raises `EvaluationError`."""
        trace = self.trace
        if trace.pending:
            if not self.rules.repaired_traces:
                raise trace.pending[0].damaged("url")
            self.notice("repaired_traces", f"{pluralize(len(trace.pending), 'entry', 'entries')} without a request")
        return trace.evaluation_events

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """The expectations of the task that are evaluated: those for the chosen evaluators, or all."""
        return self.run.select_expectations(self.task)

    @cached_property
    def sites(self) -> Sites:
        """Site addresses, guessed from the recording where none are configured. Raises `EvaluationError`."""
        self._check_sites()
        if self.configured_sites.covers(self.task.sites):
            return self.configured_sites.folded if self.rules.folded_addresses else self.configured_sites
        if self.run.requires_trace and (self._infers_as_reference or self._names_sites):
            unknown = [site for site in self.task.sites if not self.configured_sites.covers([site])]
            if unknown:  # a task may have no sites
                self._warn_of_guesses(unknown, "were inferred from the recording")
            return infer_sites(self.task.sites, self.events)
        inferred = self.configured_sites  # if there is no recording
        if self._infers_as_reference or self.configured_sites.find_missing_url(self.task.sites) is None:
            with suppress(WebEvalError):
                inferred = infer_sites(self.task.sites, self.events)
        origin = "were inferred from the recording" if inferred is not self.configured_sites else "are unknown"
        self._warn_of_guesses(self.task.sites, origin)
        return inferred

    def _warn_of_guesses(self, sites: Sequence[str], origin: str) -> None:
        message = f"no URL configured for {', '.join(sites)}; site URLs {origin}"
        self.warn(f"{message}; pass a file with the site URLs: --webeval-config=FILE", WarningKind.GUESSED_SITES)

    @cached_property
    def unvisited_sites(self) -> str | None:
        """The configured and the recorded hosts if no request went to a site of the task; None if one did.

        None as well where no URL is configured, and for a trace that no evaluator has read.
        """
        if not self.run.is_trace_loaded or not self.configured_sites.covers(self.task.sites):
            return None
        from pytest_webeval.evaluators.site_visits import format_unvisited  # with what most results need not know

        return format_unvisited(self.configured_sites.folded, self.task.sites, self.trace.events)

    @cached_property
    def doubtful_sites(self) -> str | None:
        """The inferred address of a site and the other recorded hosts, of which one may be the site; None without any.

        None as well for rules that infer what the reference does.
        """
        if self._infers_as_reference or self.configured_sites.covers(self.task.sites):
            return None
        from pytest_webeval.evaluators.site_visits import format_other_hosts  # with what most results need not know

        return format_other_hosts(self.sites, self.task.sites, self.events)

    def check(self) -> None:
        """Raise `RecordingError` unless the run can be scored at all, `RunExcluded` if it is excluded.

        Raises `TaskDefinitionError` for sites that the rules or the configuration do not allow.
        """
        self.run.check()
        self.run.check_evidence(self.expectations)
        self._check_sites()
        if (exclusion := self.run.find_exclusion(self.task)) is not None:  # it says nothing about the agent
            raise RunExcluded(exclusion, self.run.exclusion_kind)
        if self.run.exclusion is not None:
            self.warn(f"the run is marked as {self.run.exclusion}; it counts, since its task has expectations")
        is_read = self.run.requires_trace and self.run.has_trace
        if is_read and self.task.sites and not self.configured_sites.covers(self.task.sites):
            try:
                infer_sites(self.task.sites, self.events)
            except EvaluationError as error:
                raise RecordingError(str(error)) from error

    def _check_sites(self) -> None:
        names = (*self.task.sites, *self.configured_sites.environments)
        unknown = [name for name in names if name not in SITE_NAMES]
        if unknown and not self.rules.any_sites:
            advice = f"rules {self.rules.name} allow {', '.join(SITE_NAMES)}; use other rules"
            raise TaskDefinitionError(f"unknown site {unknown[0]!r}; {advice}")
        if not self.run.requires_trace:
            return
        problem = None  # without one, the URLs that the configuration lacks are inferred
        if self._infers_as_reference:
            problem = self.configured_sites.find_undeclared(filter(unknown.__contains__, self.task.sites))
            problem = problem and f"{problem}; add it to environments in --webeval-config"
        elif self._names_sites or self.configured_sites.environments:
            problem = self.configured_sites.find_missing_url(self.task.sites)
        if problem is not None:
            raise TaskDefinitionError(problem)

    @cached_property
    def _names_sites(self) -> bool:
        """Whether an expectation is about an address: it checks a request, or has a placeholder of a site."""
        marks = [*map(placeholder, self.task.sites)]
        return any(
            each.evaluator == NETWORK_EVALUATOR or any(mark in repr(each.config) for mark in marks)
            for each in self.expectations
        )

    @property
    def _infers_as_reference(self) -> bool:
        """Whether addresses are inferred next to a configuration, and for tasks of several sites."""
        return not (self.rules.published_sites if self.task.is_published else self.rules.declared_sites)
