"""The two gates on a baseline: whether a task regressed, and whether the decline is more than noise."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_webeval.safety.text import name_first
from pytest_webeval.safety.text import pluralize
from pytest_webeval.summary.session_comparison import SessionComparison

IDS_NAMED = 5
LONGEST_NAME = 80


def check_each_task(comparison: SessionComparison) -> tuple[str, bool]:
    """What became of the tasks that succeeded in the baseline, and whether all still do."""
    worse = comparison.no_longer_successful
    lost = format_lost_tasks(comparison)
    found = f"{pluralize(len(worse), 'task')} no longer succeed{'s' if len(worse) == 1 else ''}{name_tasks(worse)}"
    return "; ".join(filter(None, [found, lost])), not (worse or lost)


def check_beyond_noise(comparison: SessionComparison) -> tuple[str, bool]:
    """The result of the paired test in words, and whether the decline can be noise."""
    if comparison.overall.p_value is None or comparison.lost_tasks:
        return format_lost_tasks(comparison) or comparison.sentence, False
    return comparison.sentence, not comparison.is_regression


def explain_powerless(successes: int) -> str | None:
    """Why the paired test cannot fail over so many tasks that succeeded in the baseline; None if it can."""
    return None


def format_lost_tasks(comparison: SessionComparison) -> str:
    """The tasks of the baseline without a run; empty if there are none."""
    lost = comparison.lost_tasks
    return f"{pluralize(len(lost), 'task')} of the baseline without a run{name_tasks(lost)}" if lost else ""


def name_tasks(task_ids: Iterable[int | str]) -> str:
    """The first few ids after a colon; empty without any."""
    ids = list(task_ids)
    return f": {name_first(ids, IDS_NAMED, LONGEST_NAME, len(ids))}" if ids else ""
