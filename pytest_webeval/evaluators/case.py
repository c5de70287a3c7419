"""``__SHOPPING__`` placeholders and real URLs, either way, from the configuration file (spec §7)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING
from typing import Any
from urllib.parse import urlsplit

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import Rules
from pytest_webeval.safety.text import describe_unknown_keys
from pytest_webeval.tasks.sites import Environment
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.tasks.task import Task
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.base import present_day
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.schema import ValueParser

if TYPE_CHECKING:
    from pytest_webeval.diagnostics.difference import Explanation


def infer_sites(sites: Sequence[str], events: Sequence[NetworkEvent]) -> Sites:
    """Addresses of sites as the first events have them (spec §7.4). Raises `RecordingError` where there are none."""
    if not events:
        raise RecordingError("cannot infer site URLs: the trace has no events; pass them with --webeval-config")
    environments = {}
    for position, site in enumerate(sites):
        parts = urlsplit(events[min(position, len(events) - 1)].url)
        suffix = "/admin" if site == "shopping_admin" else ""
        environments[site] = Environment((f"{parts.scheme}://{parts.netloc}{suffix}",))
    return Sites(environments)


@dataclass(frozen=True)
class Case:
    """All that an evaluator may look at: a run, its task, where the sites were, and the rules.

    `today` completes partial dates (Q44). `noticed` maps switches of the rule set that made a difference on the way to
    a verdict to the place where they did. `other_rules` stand for those of the run for a comparison with other rules.
    `requested_policy` says how stored verdicts are read. `explainers` are calls that explain what did not succeed,
    `explanations` the results that were explained, each with its explanation. `calls` calls the evaluators that users
    wrote. `is_published` is for a task of the installed data set, whose definition the user did not write.
    """

    run: Run
    task: Task
    configured_sites: Sites
    warnings: list[str] = field(default_factory=list)
    today: date = field(default_factory=present_day)
    noticed: dict[str, str] = field(default_factory=dict)
    other_rules: Rules | None = None
    requested_policy: VerdictPolicy = field(default_factory=VerdictPolicy)
    explainers: list[Callable[[], Explanation]] = field(default_factory=list)
    explanations: list[tuple[EvaluatorResult, dict[str, Any]]] = field(default_factory=list)
    calls: EvaluatorCalls = field(default_factory=EvaluatorCalls, repr=False)
    is_published: bool = False

    @property
    def rules(self) -> Rules:
        """The rule set that the session applies."""
        return self.other_rules or self.run.rules

    @property
    def policy(self) -> VerdictPolicy:
        """How stored verdicts are read: as the session asks, under the rules that it applies."""
        return replace(self.requested_policy, strict_texts=self.rules.verdict_words)

    def notice(self, switch: str, where: str) -> None:
        """Keep in mind that a switch of the rule set made a difference."""
        self.noticed.setdefault(switch, where)

    def check_keys(self, expectation: Expectation, known_keys: Sequence[str], thing: str) -> None:
        """Refuse keys of what is expected that nothing reads. Raises `EvaluationError`; some rules warn instead.

        A misspelt key checks nothing, so that a wrong run would pass (spec §2.4).
        """
        where = f"eval[{expectation.index}].expected"
        problem = describe_unknown_keys(expectation.config["expected"], known_keys, where)
        if problem is None:
            return
        if self.rules.known_keys and not (self.is_published and expectation in self.task.expectations):
            self.notice("known_keys", where)
            raise EvaluationError(f"invalid task definition: {problem}")
        for name in expectation.config["expected"]:
            if name not in known_keys:
                message = f"{where}.{name} is not a field of {thing} and is ignored"
                self.warnings.append(f"{message}; known: {', '.join(known_keys)}")

    def explain(self, explainer: Callable[[], Explanation]) -> None:
        """Offer to explain why something did not succeed. It is called after the verdict."""
        self.explainers.append(explainer)

    def explanation_of(self, result: EvaluatorResult) -> dict[str, Any] | None:
        """Why a result is not a success, as plain JSON; None where it was not explained."""
        return next((explanation for explained, explanation in self.explanations if explained == result), None)

    @property
    def events(self) -> tuple[NetworkEvent, ...]:
        """The recorded events that evaluators check. Raises `EvaluationError`."""
        trace = self.run.trace
        if trace.pending:
            if not self.rules.mended_traces:
                raise trace.pending[0].damaged("url")
            self.notice("mended_traces", f"{len(trace.pending)} entries without a request")
        return trace.evaluation_events

    @cached_property
    def sites(self) -> Sites:
        """Site addresses, guessed from the recording where none are configured. Raises `EvaluationError`."""
        if self.configured_sites.covers(self.task.sites):
            return self.configured_sites.folded if self.rules.folded_addresses else self.configured_sites
        unknown = [site for site in self.task.sites if not self.configured_sites.covers([site])]
        message = f"no URL configured for {', '.join(unknown)}; site URLs were inferred from the recording"
        self.warnings.append(f"{message}; pass them with --webeval-config")
        return infer_sites(self.task.sites, self.events)

    @cached_property
    def unvisited_sites(self) -> str | None:
        """The configured and the recorded hosts if no request went to a site of the task; None if one did.

        None as well where no address is configured, and for a trace that no evaluator has read.
        """
        trace = vars(self.run).get("trace")
        if trace is None or not self.configured_sites.covers(self.task.sites):
            return None
        from pytest_webeval.evaluators.site_visits import format_unvisited  # with what most results need not know

        return format_unvisited(self.configured_sites, self.task.sites, trace.events)

    def check(self) -> None:
        """Raise `RecordingError` unless the run can be scored at all, `RunExcluded` if it is excluded."""
        self.run.check()
        if self.run.exclusion is not None:
            raise RunExcluded(self.run.exclusion)
        if self.run.has_trace and self.task.sites and not self.configured_sites.covers(self.task.sites):
            try:
                infer_sites(self.task.sites, self.events)
            except EvaluationError as error:
                raise RecordingError(str(error)) from error

    @property
    def expected_reading(self) -> ParseContext:
        """How the task's own data is read."""
        return ParseContext(
            known_sites=True,
            whole_money=self.rules.whole_money,
            exact_money=self.rules.exact_money,
            derender=self._derender,
            today=self.today,
            longest=self.run.inputs.limits.string_length,
        )

    @property
    def actual_reading(self) -> ParseContext:
        """How data that an agent or a site wrote is read."""
        return ParseContext(
            patterns=not self.rules.literal_texts,
            alternatives=not self.rules.single_answers,
            infinities=not self.rules.finite_measures,
            nonfinite=not self.rules.finite_numbers,
            whole_money=self.rules.whole_money,
            exact_money=self.rules.exact_money,
            derender=self._derender,
            today=self.today,
            longest=self.run.inputs.limits.string_length,
        )

    def tree_reader(self, where: str, *, strict: bool) -> ValueParser:
        """Reads what the task wrote (`strict`) or what was recorded; `where` is what paths in messages begin with."""
        return ValueParser(self.expected_reading if strict else self.actual_reading, strict, where, self.notice)

    def comparison(self, *, ordered: bool = False, extra_keys: bool = False) -> Comparison:
        """How values of the task and of the recording are compared."""
        rules = self.rules
        return Comparison(ordered, extra_keys, rules.best_matching, rules.separate_lists, self.notice)

    def _derender(self, text: str) -> str:
        return self.sites.derender(text, self.task.sites)
