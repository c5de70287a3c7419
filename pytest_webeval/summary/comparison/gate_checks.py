"""What gates find in a session, and whether it is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from math import comb
from typing import Any

from msgspec import Struct, structs

from pytest_webeval.safety.text import name_first, pluralize, truncate
from pytest_webeval.summary.attempts import name_attempt, reaches
from pytest_webeval.summary.comparison.paired_statistics import LEVEL, count_needed_changes, mcnemar_exact
from pytest_webeval.summary.comparison.session_comparison import SessionComparison, format_p_value
from pytest_webeval.summary.scored_session import (
    ScoredRun,
    ScoredSession,
    compute_rate_interval,
    count_successes,
)
from pytest_webeval.summary.statistics import group
from pytest_webeval.summary.task_identity import TaskKey, TaskKeys, count_tasks, describe_sample

MOST_COMPARED = 10_000  # ids with one that no run has
ERROR, EXCLUDED = "error", "excluded run"  # what a gate counts
NO_COMMON_TASK = "no common task; check the path"
_WITHOUT_RESULT = ("ungraded", "skipped")  # exclusions of runs on which nobody decided: see `RunExcluded`


class GateResult(Struct, frozen=True):
    """A line about a gate: what was wanted, what was found, and whether it holds."""

    gate: str
    wanted: str
    found: str
    passed: bool

    def to_json(self) -> dict[str, Any]:
        """The same in plain JSON."""
        return structs.asdict(self)


class GateCase(Struct, frozen=True):
    """What gates check: a session, its comparison with a baseline, and the tasks that should have been scored."""

    session: ScoredSession
    comparison: SessionComparison | None = None
    missing: Sequence[int | str] = ()  # expected tasks without a run
    unscored: int = 0  # collected runs without a result
    attempts: str | None = None  # a pattern of the directories with one attempt each
    judging: Mapping[str, Any] | None = None  # what the summary says of judges


CheckResult = tuple[str, bool]  # what was found, and whether that holds


class Selector(Struct, frozen=True):
    """Selects the runs of a site, type, template, tag, agent or level; without a kind, all runs."""

    kind: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.kind else ""

    def matches(self, run: ScoredRun, attempts: str | None) -> bool:
        """Whether a run is one of them. `attempts` is the pattern that tells the names of agents.

        A run that is broken so that nobody knows its site is one of each site.
        """
        if not self.kind:
            return True
        name = self.name.lower() if self.kind in _WITHOUT_CASE else self.name
        names = SELECTORS[self.kind](run, attempts)
        is_unknown = run.status == "error" and self.kind not in _ALWAYS_KNOWN and not any(names)
        return name in names or is_unknown

    def select(self, runs: Iterable[ScoredRun], attempts: str | None) -> list[ScoredRun]:
        """Those of some runs."""
        return [run for run in runs if self.matches(run, attempts)]

    def is_unmet(self, runs: Iterable[ScoredRun], attempts: str | None) -> bool:
        """Whether there is a kind, and no run is of it."""
        return bool(self.kind) and not self.select(runs, attempts)

    def explain_none(self, case: GateCase) -> str:
        """Why there is no run of the kind, with the names that a gate could have."""
        before = () if case.comparison is None else case.comparison.before.runs
        if not self.kind or any(self.matches(run, case.attempts) for run in (*case.session.runs, *before)):
            return "no judged run"
        runs = (*case.session.runs, *before)
        names = sorted({name for run in runs for name in SELECTORS[self.kind](run, case.attempts) if name})
        nearest = get_close_matches(self.name[:LONGEST_NAME], names, 1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else f"; known{name_tasks(names)}" if names else ""
        return f"no {_NOUNS[self.kind]} {truncate(self.name, LONGEST_NAME)!r}{hint}"


SELECTORS: dict[str, Callable[[ScoredRun, str | None], Sequence[str]]] = {
    "site": lambda run, _: (run.site_key,),
    "type": lambda run, _: ((run.type or "").lower(),),
    "template": lambda run, _: () if run.template < 0 else (str(run.template),),
    "tag": lambda run, _: run.tags,
    "agent": lambda run, attempts: (name_attempt(run.attempt, attempts).agent or run.attempt,),
    "level": lambda run, _: ((run.group or "").lower(),),
}
_WITHOUT_CASE = ("type", "level")
_ALWAYS_KNOWN = ("tag", "agent")
_NOUNS = {
    "site": "task on site",
    "type": "task of type",
    "template": "task of template",
    "tag": "run with tag",
    "agent": "run of agent",
    "level": "task of level",
}


def format_share(share: Fraction) -> str:
    """The exact percentage, which is a decimal number."""
    percent = 100 * share
    return f"{(Decimal(percent.numerator) / percent.denominator).normalize():f}%"


def check_success(case: GateCase, selector: Selector, least: Fraction) -> CheckResult:
    """Whether so many of the judged runs succeed."""
    runs = selector.select(case.session.judged, case.attempts)
    if not runs:
        return selector.explain_none(case), False
    successes = count_successes(runs)
    low, high = compute_rate_interval(runs)
    rate = Fraction(successes, len(runs))
    interval = f"95% interval {low:.1%} to {high:.1%}{describe_sample(count_tasks(runs), len(runs))}"
    return f"{float(rate):.1%} ({successes} of {len(runs)}; {interval})", rate >= least


def check_attempts(case: GateCase, selector: Selector, needed: int, tries: int, least: Fraction) -> CheckResult:
    """Whether so many of the tasks of each agent succeed in `needed` of `tries` attempts."""
    found, passed = [], True
    for agent, by_task in _group_by_agent(case, selector).items():
        fewer = sum(len(runs) < tries for runs in by_task.values())
        successes = sum(reaches(count_successes(runs), len(runs), needed, tries) for runs in by_task.values())
        passed = passed and Fraction(successes, len(by_task)) >= least
        found.append(_format_attempts(agent, successes, len(by_task), fewer))
    return ("; ".join(found), passed) if found else (selector.explain_none(case), False)


def _group_by_agent(case: GateCase, selector: Selector) -> dict[str, dict[TaskKey, list[ScoredRun]]]:
    """The judged runs by agent and task."""
    runs = selector.select(case.session.judged, case.attempts)
    agents = group(runs, lambda run: name_attempt(run.attempt, case.attempts).agent)
    keys = TaskKeys(case.session.runs)
    return {agent: group(runs, keys.find) for agent, runs in sorted(agents.items())}


def _format_attempts(agent: str, successes: int, tasks: int, fewer: int) -> str:
    head = f"{truncate(agent, LONGEST_NAME)}: " if agent else ""
    note = f"; {pluralize(fewer, 'task')} with fewer attempts" if fewer else ""
    return f"{head}{successes / tasks:.1%} ({successes} of {pluralize(tasks, 'task')}{note})"


def check_count(case: GateCase, selector: Selector, noun: str, most: int | Fraction) -> CheckResult:
    """Whether at most so many runs, or such a share, end in an error or are excluded from rates, by the noun.

    The share of errors is of the runs that are not excluded.
    """
    runs = selector.select(case.session.judged if noun == ERROR else case.session.runs, case.attempts)
    counted = [run for run in runs if run.status == ("error" if noun == ERROR else "excluded")]
    is_share = isinstance(most, Fraction)
    if not runs:
        return selector.explain_none(case), False
    tasks = list(dict.fromkeys(run.task_id for run in counted))
    where = f" in {pluralize(len(tasks), 'task')}" if len(tasks) < len(counted) else ""
    share = f" ({len(counted) / len(runs):.1%} of {pluralize(len(runs), 'run')})" if is_share else ""
    value = Fraction(len(counted), len(runs)) if is_share else len(counted)
    return pluralize(len(counted), noun) + where + share + name_tasks(tasks), value <= most


def check_complete(case: GateCase) -> CheckResult:
    """Whether each collected run has a result, and each expected task a run."""
    without = [run.task_id for run in case.session.runs if run.excluded_as in _WITHOUT_RESULT]
    problems = [
        f"{pluralize(len(case.missing), 'task')} without a run{name_tasks(case.missing)}" if case.missing else "",
        f"{pluralize(len(without), 'run')} without a verdict{name_tasks(without)}" if without else "",
        f"{pluralize(case.unscored, 'run')} not scored" if case.unscored else "",
        "" if case.session.runs else "no run",
        "a partial session" if case.session.partial and not case.unscored else "",
    ]
    found = "; ".join(filter(None, problems))
    return found or f"{pluralize(len(case.session.runs), 'run')} scored", not found


def check_must_pass(case: GateCase, ids: Sequence[str]) -> CheckResult:
    """Whether all runs of some tasks succeed."""
    by_id = group(case.session.runs, lambda run: str(run.task_id))
    solved_ids = {task_id for task_id, runs in by_id.items() if all(run.is_success for run in runs)}
    failed = [task_id for task_id in ids if task_id not in solved_ids]
    solved = f"{len(ids) - len(failed)} of {pluralize(len(ids), 'task')} solved"
    unknown = next((task_id for task_id in failed if task_id not in by_id and not task_id.isdigit()), "")
    nearest = get_close_matches(unknown[:LONGEST_NAME], islice(by_id, MOST_COMPARED), 1) if unknown else []
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return solved + (f"; not solved{name_tasks(failed)}{hint}" if failed else ""), not failed


def check_certificate(case: GateCase) -> CheckResult:
    """Whether the judge of the session has a valid certificate."""
    certificate = (case.judging or {}).get("certificate")
    if case.judging is None:
        return "no judge was asked", True
    if certificate is None:
        return "no certificate", False
    return certificate["problem"] or f"{certificate['labelled']} labelled runs", not certificate["problem"]


def check_regression(case: GateCase, selector: Selector, *, is_beyond_noise: bool) -> CheckResult:
    """Whether the session is as good as the baseline: for each task, or by the paired test of all."""
    if case.comparison is None:
        return "no baseline; make it with a session without this gate", False
    comparison = restrict(case.comparison, selector, case.attempts)
    if not (comparison.before.runs or comparison.after.runs):
        return selector.explain_none(case), False
    find_key = comparison.task_keys.find
    if set(map(find_key, comparison.before.runs)).isdisjoint(map(find_key, comparison.after.runs)):
        return NO_COMMON_TASK, False
    return check_beyond_noise(comparison) if is_beyond_noise else check_each_task(comparison)


def restrict(comparison: SessionComparison, selector: Selector, attempts: str | None) -> SessionComparison:
    """The comparison of the runs that match in one of the sessions.

    A task that matches in one of them is in both, whatever the other knows of it: a tag may be gone, and the run of an
    error may have no site. Agents have the same tasks, so there each run has to match itself.
    """
    if not selector.kind:
        return comparison
    keys = comparison.task_keys
    sessions = (comparison.before, comparison.after)
    selected = [selector.select(session.runs, attempts) for session in sessions]
    if selector.kind != "agent":
        tasks = {keys.find(run) for runs in selected for run in runs}
        selected = [[run for run in session.runs if keys.find(run) in tasks] for session in sessions]
    before, after = (structs.replace(session, runs=runs) for session, runs in zip(sessions, selected, strict=True))
    return SessionComparison(before, after)


IDS_NAMED = 5
LONGEST_NAME = 80


class Regression(StrEnum):
    """How a task regressed that succeeded in the baseline. The last two are never noise."""

    FAILED = "failed"
    ERRED = "error"
    LOST = "no verdict"  # a run is missing or excluded


NEVER_NOISE = (Regression.ERRED, Regression.LOST)


def check_each_task(comparison: SessionComparison) -> tuple[str, bool]:
    """Return which tasks that succeeded in the baseline regressed, in words, and whether none did."""
    successful = len({comparison.task_keys.find(run) for run in comparison.before.judged if run.is_success})
    if not successful:
        return "no task succeeded in the baseline, so none can regress; use another baseline", False
    regressed = find_regressed(comparison)
    counts = f"{len(regressed)} of {pluralize(successful, 'task')} that succeeded regressed"
    return "; ".join([counts, *_list_regressed(regressed)]), not regressed


def check_beyond_noise(comparison: SessionComparison) -> tuple[str, bool]:
    """Return the decline and its test in words, and whether it can be noise. Errors and lost runs cannot."""
    regressed = find_regressed(comparison)
    certain = {task: kind for task, kind in regressed.items() if kind in NEVER_NOISE}
    if certain:
        return f"{'; '.join(_list_regressed(certain))}: never noise", False
    overall = comparison.overall
    if overall.p_value is None:
        return comparison.sentence, False
    if text := explain_powerless(sum(task.before > 0 for task in comparison.tasks)):
        return f"this gate cannot fail: {text}", False
    interval = overall.interval
    spread = "" if interval is None else f" (95% interval {interval[0]:+.1%} to {interval[1]:+.1%})"
    counts = f"{overall.worse} regressed, {overall.better} fixed of {pluralize(len(overall.tasks), 'task')}"
    test = f"difference {overall.difference or 0:+.1%}{spread}, p {format_p_value(overall.p_value)}"
    if comparison.is_regression:
        return f"{counts}: {test}, more than noise", False
    return f"{counts}: {test}, can be noise; {_describe_margin(comparison)}", True


def explain_powerless(successes: int) -> str | None:
    """Return why the paired test cannot fail over so many tasks that succeeded in the baseline; None if it can."""
    if mcnemar_exact(successes, 0) <= LEVEL:
        return None
    return (
        f"{pluralize(successes, 'common task')} succeeded in the baseline, {count_needed_changes()} regressions needed"
    )


def _describe_margin(comparison: SessionComparison) -> str:
    """How many more regressions turn the gate red."""
    overall = comparison.overall
    unchanged = sum(task.after >= task.before > 0 for task in overall.tasks)
    needed = count_needed_changes(overall.better, overall.worse + unchanged)
    if needed is None:
        return f"cannot fail against so many fixes, even if all {unchanged} others regress"
    return f"fails from {pluralize(needed - overall.worse, 'more regression')} on"


def find_regressed(comparison: SessionComparison) -> dict[TaskKey, Regression]:
    """Return the tasks that succeeded in the baseline and regressed, and how.

    A task that succeeded in all attempts regressed if it does not in all now. One that succeeded in some regressed if
    its share fell by more than chance explains (Fisher's exact test, one-sided, at 5 %). Either did if an attempt ends
    in an error now and none did before, or if it has fewer verdicts.
    """
    keys = comparison.task_keys
    now, earlier = group(comparison.after.judged, keys.find), group(comparison.before.judged, keys.find)
    kinds = {task: _classify(runs, now.get(task, ())) for task, runs in earlier.items()}
    return {task: kind for task, kind in kinds.items() if kind is not None}


def _classify(before: Sequence[ScoredRun], after: Sequence[ScoredRun]) -> Regression | None:
    """How a task regressed; None if it did not."""
    successes, successes_now = count_successes(before), count_successes(after)
    if not successes:
        return None
    if _has_error(after) and not _has_error(before):
        return Regression.ERRED
    if len(after) < len(before):
        return Regression.LOST
    if successes == len(before):
        return None if successes_now == len(after) else Regression.FAILED
    p_value = fisher_exact(successes, len(before), successes_now, len(after))
    return Regression.FAILED if p_value <= LEVEL else None


def _has_error(runs: Iterable[ScoredRun]) -> bool:
    return any(run.status == "error" for run in runs)


def fisher_exact(successes: int, runs: int, successes_now: int, runs_now: int) -> float:
    """Return the one-sided p-value of a fall of the share (Fisher 1922): at most so many of all successes are later."""
    total = successes + successes_now
    fewer = range(max(0, total - runs), successes_now + 1)
    return sum(comb(runs_now, k) * comb(runs, total - k) for k in fewer) / comb(runs + runs_now, total)


def _list_regressed(regressed: Mapping[TaskKey, Regression]) -> Iterator[str]:
    """How many regressed in each way, with the first few ids."""
    for kind in Regression:
        ids = [task.task_id for task, how in regressed.items() if how is kind]
        if ids:
            yield f"{len(ids)} {kind.value}{name_tasks(ids)}"


def format_lost_tasks(comparison: SessionComparison) -> str:
    """Return the tasks of the baseline without a run; empty if there are none."""
    lost = comparison.lost_tasks
    return f"{pluralize(len(lost), 'task')} of the baseline without a run{name_tasks(lost)}" if lost else ""


def name_tasks(task_ids: Iterable[int | str]) -> str:
    """Return the first few ids after a colon; empty without any."""
    ids = list(task_ids)
    return f": {name_first(ids, IDS_NAMED, LONGEST_NAME, len(ids))}" if ids else ""
