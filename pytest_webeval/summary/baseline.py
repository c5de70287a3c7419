"""The summary of an earlier session, as far as another one is compared with it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal

from msgspec import Struct
from msgspec import ValidationError
from msgspec import convert

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.results import Summary
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL

OPTION = "--webeval-baseline"


class BaselineRow(Struct, frozen=True):
    """The outcome of one run."""

    run: str
    task_id: int | str
    status: Literal["success", "failure", "partial_match", "error", "excluded"]


class BaselineInfo(Struct, frozen=True):
    """The fields under `webeval`."""

    rules: str
    success_rate: float | None
    partial: bool = False


class Baseline(Struct, frozen=True):
    """The earlier session. Fields that are not named here may hold anything."""

    timestamp: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    task_results: list[BaselineRow]
    webeval: BaselineInfo


def read_baseline(path: Path) -> Baseline:
    """The summary in a file. Raises `SettingsError`."""
    resolved = path.resolve()
    try:
        raw = load_bounded(read_file_inside(resolved.parent, resolved.name).decode(), USUAL, str(path))
        return convert(raw, Baseline)
    except (RecordingError, EvaluationError) as error:
        raise SettingsError(f"{OPTION}: {error}") from error
    except ValidationError as error:
        message = f"invalid eval_summary.json {path}: {format_validation_error(error)}"
        raise SettingsError(f"{OPTION}: {message}; use a file that an earlier session wrote") from error
    except ValueError as error:
        raise SettingsError(f"{OPTION}: cannot parse {path} as JSON: {error}; use an eval_summary.json") from error


class Flips(Struct, frozen=True):
    """Labels of runs in the order of their summary: those of `gone` runs are from the earlier one."""

    regressed: tuple[str, ...]
    fixed: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]


def flips(before: Iterable[BaselineRow], now: Iterable[BaselineRow]) -> Flips:
    """The changed runs. Two runs are the same if they are the only ones of a task, or if they have the same label.

    A run that is excluded is neither regressed nor fixed.
    """
    earlier, current = list(before), list(now)
    pairs = list(_pair_rows(_group_by_task(earlier), _group_by_task(current)))
    regressed = {
        current_row.run
        for earlier_row, current_row in pairs
        if earlier_row.status == "success" and current_row.status not in ("success", "excluded")
    }
    fixed = {
        current_row.run
        for earlier_row, current_row in pairs
        if earlier_row.status not in ("success", "excluded") and current_row.status == "success"
    }
    compared, still_there = {current_row.run for _, current_row in pairs}, {earlier_row.run for earlier_row, _ in pairs}
    return Flips(
        tuple(row.run for row in current if row.run in regressed),
        tuple(row.run for row in current if row.run in fixed),
        tuple(row.run for row in current if row.run not in compared),
        tuple(row.run for row in earlier if row.run not in still_there),
    )


def _group_by_task(rows: Iterable[BaselineRow]) -> dict[str, dict[str, BaselineRow]]:
    rows_by_task: dict[str, dict[str, BaselineRow]] = {}
    for row in rows:
        rows_by_task.setdefault(str(row.task_id), {})[row.run] = row
    return rows_by_task


def _pair_rows(
    before: Mapping[str, Mapping[str, BaselineRow]], now: Mapping[str, Mapping[str, BaselineRow]]
) -> Iterator[tuple[BaselineRow, BaselineRow]]:
    for task_id in before.keys() & now.keys():
        old, new = before[task_id], now[task_id]
        if len(old) == len(new) == 1:
            yield from zip(old.values(), new.values(), strict=True)
        else:
            yield from ((old[run], new[run]) for run in old.keys() & new.keys())


class BaselineComparison(Struct, frozen=True):
    """Compares the summaries of a session with an earlier one."""

    baseline: Baseline

    def compare(self, summary: Summary) -> Summary:
        """The summary with what changed under `webeval.baseline`, and whether the two can be compared at all."""
        baseline = self.baseline
        run_flips = flips(baseline.task_results, convert(summary.task_results, list[BaselineRow]))
        comparison = {
            "timestamp": baseline.timestamp,
            "success_rate": baseline.webeval.success_rate,
            "rules": baseline.webeval.rules,
            "partial": baseline.webeval.partial,
            "same_rules": baseline.webeval.rules == summary.webeval["rules"],
            "same_evaluators": _is_same("evaluator_checksum", baseline, summary),
            "same_tasks": _is_same("data_checksum", baseline, summary),
        }
        comparison |= {name: list(getattr(run_flips, name)) for name in Flips.__struct_fields__}
        return summary.with_changes(webeval=summary.webeval | {"baseline": comparison})

    def restrict(self, summary: Summary, part: Summary) -> Summary:
        """The summary of some runs, with the part of the session's comparison that is about them."""
        runs, comparison = {row["run"] for row in part.task_results}, summary.webeval["baseline"]
        of_runs = {name: [run for run in comparison[name] if run in runs] for name in ("regressed", "fixed", "new")}
        return part.with_changes(webeval=part.webeval | {"baseline": comparison | of_runs})


def _is_same(name: str, baseline: Baseline, summary: Summary) -> bool:
    field = f"webarena_verified_{name}"
    return bool(getattr(baseline, field) == getattr(summary, field))


def flip_by_run(webeval: Mapping[str, Any]) -> dict[str, str]:
    """`regressed` or `fixed` by the label of each run that flipped, of what stands under `webeval` in a summary."""
    comparison = webeval.get("baseline") or {}
    return {run: name for name in ("regressed", "fixed") for run in comparison.get(name, ())}
