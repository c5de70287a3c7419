"""The two gates on a baseline: whether a task regressed, and whether the decline is more than noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import comb

from pytest_webeval.safety.text import name_first, pluralize
from pytest_webeval.summary.paired_statistics import LEVEL, count_needed_changes, mcnemar_exact
from pytest_webeval.summary.scored_session import ScoredRun, count_successes
from pytest_webeval.summary.session_comparison import SessionComparison, format_p_value
from pytest_webeval.summary.statistics import group
from pytest_webeval.summary.task_identity import TaskKey

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
