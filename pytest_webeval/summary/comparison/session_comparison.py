"""Two sessions over the same tasks, compared: which tasks changed and why, and whether that can be noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct

from pytest_webeval.safety.text import pluralize
from pytest_webeval.summary.comparison.flip_causes import CauseFinder, RunPair
from pytest_webeval.summary.comparison.group_comparison import (
    MIN_PAIRS,
    GroupComparison,
    TaskPair,
    cluster_by_template,
    pair_scores,
)
from pytest_webeval.summary.comparison.paired_statistics import LEVEL, clustered_bootstrap, holm
from pytest_webeval.summary.scored_session import (
    GROUPS,
    ScoredRun,
    ScoredSession,
    count_runs,
    find_differences,
    success_share,
)
from pytest_webeval.summary.statistics import group
from pytest_webeval.summary.task_identity import TaskKeys

_DIFFERENCES = {
    "subset": "the subsets differ: {} and {}",
    "choices": "the evaluator choices differ: {:.200} and {:.200}",
    "rules": "the rules differ: {} and {}",
    "evaluators": "the evaluators differ",
    "tasks": "the task definitions differ",
}


class ChangeKind(StrEnum):
    """How a run changed. A `newly_erring` run ended in no error before; an `excluded` one does not count in both."""

    REGRESSED = "regressed"
    FIXED = "fixed"
    NEWLY_ERRING = "newly_erring"
    MISSING = "missing"
    EXTRA = "extra"
    EXCLUDED = "excluded"
    UNCHANGED = "unchanged"


def pair_runs(before: Sequence[ScoredRun], after: Sequence[ScoredRun]) -> list[RunPair]:
    """The runs that are the same in both sessions, in the order of the later one.

    They are the only runs of their task, or have the same label, or labels that differ in their first part alone, as
    under roots of other names. As many runs with other labels, as of renamed attempts, are paired in their order.
    """
    keys = TaskKeys(before, after)
    earlier, later = group(before, keys.find), group(after, keys.find)
    return [pair for task, runs in later.items() for pair in _pair_task(earlier.get(task, []), runs)]


def _pair_task(before: Sequence[ScoredRun], after: Sequence[ScoredRun]) -> Iterator[RunPair]:
    if len(before) == len(after) == 1:
        yield RunPair(before[0], after[0])
        return
    by_label = {run.run: run for run in before}
    same = [RunPair(by_label[run.run], run) for run in after if run.run in by_label]
    if same:
        yield from same
        return
    by_rest = {_without_root(run): run for run in before}
    rests = [_without_root(run) for run in after]
    if by_rest.keys() & set(rests) and len(by_rest) == len(before) and len(set(rests)) == len(after):
        yield from (RunPair(by_rest[rest], run) for rest, run in zip(rests, after, strict=True) if rest in by_rest)
    elif len(before) == len(after):
        yield from map(RunPair, *(sorted(runs, key=lambda run: run.run) for runs in (before, after)))


def _without_root(run: ScoredRun) -> str:
    return run.run.partition("/")[2]


def find_kind(pair: RunPair) -> ChangeKind:
    """How a run changed that both sessions have."""
    before, after = pair.before, pair.after
    if after.status == "error" and before.status not in ("error", "excluded"):
        return ChangeKind.NEWLY_ERRING
    if not (before.is_judged and after.is_judged):
        return ChangeKind.EXCLUDED
    if before.is_success == after.is_success:
        return ChangeKind.UNCHANGED
    return ChangeKind.FIXED if after.is_success else ChangeKind.REGRESSED


class SessionComparison(Struct, frozen=True, dict=True):
    """An earlier and a later session. Everything is computed once, when it is first asked for."""

    before: ScoredSession
    after: ScoredSession

    @cached_property
    def task_keys(self) -> TaskKeys:
        """What tells the tasks of both sessions apart."""
        return TaskKeys(self.before.runs, self.after.runs)

    @cached_property
    def pairs(self) -> list[RunPair]:
        """The runs that are in both."""
        return pair_runs(self.before.runs, self.after.runs)

    @cached_property
    def missing(self) -> list[ScoredRun]:
        """The runs that only the earlier session has."""
        paired = {pair.before.run for pair in self.pairs}
        return [run for run in self.before.runs if run.run not in paired]

    @cached_property
    def extra(self) -> list[ScoredRun]:
        """The runs that only the later session has."""
        paired = {pair.after.run for pair in self.pairs}
        return [run for run in self.after.runs if run.run not in paired]

    @cached_property
    def by_kind(self) -> dict[ChangeKind, list[RunPair]]:
        """The runs in both sessions by how they changed."""
        in_one_session = (ChangeKind.MISSING, ChangeKind.EXTRA)
        by_kind: dict[ChangeKind, list[RunPair]] = {kind: [] for kind in ChangeKind if kind not in in_one_session}
        for pair in self.pairs:
            by_kind[find_kind(pair)].append(pair)
        return by_kind

    @property
    def kind_counts(self) -> dict[str, int]:
        """How many runs there are of each kind."""
        counts = {kind: len(pairs) for kind, pairs in self.by_kind.items()}
        counts |= {ChangeKind.MISSING: len(self.missing), ChangeKind.EXTRA: len(self.extra)}
        return {kind.value: counts[kind] for kind in ChangeKind}

    @cached_property
    def lost_tasks(self) -> list[str]:
        """The ids of tasks that the earlier session judged and of which the later one has no run."""
        keys = self.task_keys
        recorded = set(map(keys.find, self.after.runs))
        return list({str(run.task_id): None for run in self.before.judged if keys.find(run) not in recorded})

    @cached_property
    def tasks(self) -> list[TaskPair]:
        """The tasks that both sessions judged. Several runs of a task count as one: they are not independent."""
        before, after = (group(session.judged, self.task_keys.find) for session in (self.before, self.after))
        both = [(before[task], runs) for task, runs in after.items() if task in before]
        return [
            TaskPair(
                str(now[0].task_id),
                now[0],
                success_share(then),
                success_share(now),
                len(then) == len(now),
                pair_scores(then, now),
            )
            for then, now in both
        ]

    @cached_property
    def overall(self) -> GroupComparison:
        """The comparison over all tasks."""
        return GroupComparison("", self.before.runs, self.after.runs, self.tasks)

    def compare_groups(self, find_name: Callable[[ScoredRun], str]) -> list[GroupComparison]:
        """One comparison for each name of a group; empty where no run has any."""
        before, after = group(self.before.runs, find_name), group(self.after.runs, find_name)
        tasks = group(self.tasks, lambda task: find_name(task.run))
        names = sorted(before.keys() | after.keys(), key=lambda name: (len(name) if name.isdigit() else 0, name))
        if names == [""]:
            return []
        return [GroupComparison(name, before.get(name, []), after.get(name, []), tasks.get(name, [])) for name in names]

    @cached_property
    def causes(self) -> CauseFinder:
        """What finds out why a run changed."""
        return CauseFinder(self.before, self.after)

    @property
    def is_regression(self) -> bool:
        """Whether the later session is worse by more than noise explains: exact McNemar test at 5 %, and more worse."""
        overall = self.overall
        return overall.p_value is not None and overall.p_value <= LEVEL and overall.worse > overall.better

    @cached_property
    def bootstrap(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference if templates are drawn again; None for fewer than two templates."""
        return clustered_bootstrap(cluster_by_template(self.tasks))

    @cached_property
    def problems(self) -> list[str]:
        """What makes the sessions harder to compare, in one line each."""
        found = (self._list_differences(), self._list_gaps(), self._list_doubts())
        return [*self.before.problems, *self.after.problems, *(problem for problems in found for problem in problems)]

    def _list_differences(self) -> Iterator[str]:
        for session in (self.before, self.after):
            if session.partial:
                yield f"{session.name} is a partial session: only some of its runs were scored"
        differences = find_differences(self.before, self.after)
        yield from (text.format(*differences[name]) for name, text in _DIFFERENCES.items() if name in differences)

    def _list_gaps(self) -> Iterator[str]:
        if not self.tasks and not self.pairs:
            yield "no task is in both sessions"
        elif len(self.tasks) < MIN_PAIRS:
            yield f"no test: both sessions judged {pluralize(len(self.tasks), 'task')}; a test needs {MIN_PAIRS}"
        elif not self.overall.is_balanced:
            yield "no test: some tasks have more or fewer judged runs than before"

    def _list_doubts(self) -> Iterator[str]:
        p_value, interval = self.overall.p_value, self.bootstrap
        if p_value is not None and p_value <= LEVEL and interval is not None and interval[0] <= 0 <= interval[1]:
            spread = f"{interval[0]:+.1%} to {interval[1]:+.1%}"
            yield f"few templates account for the difference: with templates drawn again it is {spread}"

    @property
    def sentence(self) -> str:
        """The result in words."""
        overall = self.overall
        if overall.p_value is None:
            return next(self._list_gaps(), "no test")
        if not overall.better + overall.worse:
            return f"no task of {len(self.tasks)} changed sides"
        is_noise, p_text = overall.p_value > LEVEL, f"p {format_p_value(overall.p_value)}"
        verdict = "this can be noise" if is_noise else "this is more than noise"
        if not overall.is_binary:
            tasks = pluralize(len(self.tasks), "task")
            changed = f"{overall.better} of {tasks} succeed more often, {overall.worse} less often"
            return f"{changed}: {p_text}, {verdict}"
        gain = overall.better - overall.worse
        solved = (
            f"{pluralize(abs(gain), 'task')} {'more' if gain > 0 else 'fewer'} solved" if gain else "as many solved"
        )
        sides = f"{overall.better} against {overall.worse} changed sides"
        join = "but" if gain and is_noise else "and"
        return f"{solved} of {len(self.tasks)} that both judged, {join} {sides}: {p_text}, {verdict}"

    def to_json(self) -> dict[str, Any]:
        """The comparison in plain JSON, which all reports share: do not change it."""
        return self._content

    @cached_property
    def _content(self) -> dict[str, Any]:
        return {
            "before": _describe(self.before),
            "after": _describe(self.after),
            "sentence": self.sentence,
            "is_regression": self.is_regression,
            "kinds": self.kind_counts,
            "overall": self.overall.to_json() | {"difference_bootstrap_95": self.bootstrap},
            **{name: _describe_groups(self.compare_groups(find_name)) for name, find_name in GROUPS.items()},
            "changes": list(self._list_changes()),
            "problems": self.problems,
        }

    def _list_changes(self) -> Iterator[dict[str, Any]]:
        """A row for each run that is not the same as before, by kind."""
        for kind, pairs in self.by_kind.items():
            if kind is not ChangeKind.UNCHANGED:
                yield from (self._change(kind, pair.before, pair.after) for pair in pairs)
        yield from (self._change(ChangeKind.MISSING, run, None) for run in self.missing)
        yield from (self._change(ChangeKind.EXTRA, None, run) for run in self.extra)

    def _change(self, kind: ChangeKind, before: ScoredRun | None, after: ScoredRun | None) -> dict[str, Any]:
        run = after or before
        assert run is not None  # noqa: S101  (one of them is there)
        pair = RunPair(before, after) if before is not None and after is not None else None
        causes = self.causes.list_causes(pair) if pair is not None and kind is not ChangeKind.EXCLUDED else []
        return {
            "kind": kind.value,
            "task_id": run.task_id,
            "run": run.run,
            "site": run.site_key,
            "template": run.template,
            "before": _outcome(before),
            "after": _outcome(after),
            "causes": causes,
            "libraries": self.causes.name_libraries(pair) if pair is not None and "parser library" in causes else [],
        }


def _describe_groups(groups: Sequence[GroupComparison]) -> list[dict[str, Any]]:
    """The groups of a table, with their p-values adjusted for how many groups it has (Holm)."""
    adjusted = holm({group.name: group.p_value for group in groups if group.p_value is not None})
    return [group.to_json() | {"p_value_adjusted": adjusted.get(group.name)} for group in groups]


def _outcome(run: ScoredRun | None) -> dict[str, str | None] | None:
    if run is None:
        return None
    return {"status": run.status, "reason": run.reason, "run": run.run}


def format_p_value(p_value: float) -> str:
    """The value with its sign of comparison: `= 0.115`."""
    return f"= {p_value:.3f}" if p_value >= 0.001 else "< 0.001"


def _describe(session: ScoredSession) -> dict[str, Any]:
    return {
        "name": session.name,
        "timestamp": session.timestamp,
        "rules": session.rules,
        "partial": session.partial,
        "subset": session.subset,
        "error_count": sum(run.status == "error" for run in session.runs),
        **count_runs(session.runs),
    }
