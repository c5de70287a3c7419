"""All that a report shows of one run, as JSON."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.reports.filmstrip import filmstrip
from pytest_webeval.reports.network_table import marks_of
from pytest_webeval.reports.network_table import network_table
from pytest_webeval.reports.pictures import Pictures
from pytest_webeval.reports.pictures import linked
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.runs import Run
from pytest_webeval.summary import Record
from pytest_webeval.tasks import RUBRIC_EVALUATOR
from pytest_webeval.tasks import Task
from pytest_webeval.warning_kinds import warning_kind

MOST_ASSERTIONS = 500
_ABOUT = ("format", "rules", "version", "wall_time", "tasks_from", "limits", "excluded", "unpassable", "trajectory")
_VERDICT = ("criterion", "status", "score", "reason", "source")


@dataclass(frozen=True, slots=True)
class Places:
    """Where the things are that a report leads to, the report itself, and where its commands are to be called."""

    report: Path
    run: Path
    result: Path | None
    called_from: Path

    def told(self, path: Path) -> str:
        """A path as a command has it: as short as it can be, and quoted."""
        inside = path.is_relative_to(self.called_from)
        return shlex.quote(str(path.relative_to(self.called_from) if inside else path))


def recorded_parts(run: Run, task: Task | None, result: TaskResult, pictures: Pictures | None) -> dict[str, Any]:
    """What a report shows of the recording and the task themselves, with all secrets that are in them."""
    return {
        "intent": (task.intent or None) if task else None,
        "start_urls": list(task.start_urls) if task else [],
        "template": (task.intent_template or None) if task else None,
        "network": network_table(run, marks_of(result.evaluators_results, _explanations(result))),
        "steps": filmstrip(run, pictures),
    }


def task_view(
    result: TaskResult, record: Record, parts: Mapping[str, Any], places: Places, rerun: str | None
) -> dict[str, Any]:
    """The page of one run, from its result and its recorded parts without secrets. `rerun` scores it again.

    What the record says became of the run counts, which may have changed after it was scored.
    """
    about = result.webeval
    return {
        "run": about["run"],
        "task_id": result.task_id,
        "status": "excluded" if record.skipped else record.status,
        "score": record.score,
        "reason": record.excluded if record.skipped else record.reason,
        "error": result.error_msg and harmless(result.error_msg),
        "template_id": result.intent_template_id,
        "sites": result.sites,
        "type": record.task_type,
        "evaluators": list(_evaluators(result)),
        "rubric": _rubric(result),
        "warnings": list(_warnings(about)),
        "checksums": _checksums(result),
        "commands": list(_commands(about, places, rerun)),
        "links": list(_links(places)),
        "about": {name: about[name] for name in _ABOUT if about.get(name)},
    } | dict(parts)


def _explanations(result: TaskResult) -> Sequence[Mapping[str, Any] | None]:
    found = result.webeval.get("explanations")
    return found if isinstance(found, list) else ()


def _evaluators(result: TaskResult) -> Iterator[dict[str, Any]]:
    explained = dict(enumerate(_explanations(result)))
    whole = sorted(enumerate(result.evaluators_results), key=lambda entry: entry[1].status is Status.SUCCESS)
    for index, one in whole:  # first what failed: that is what people look for
        nothing: dict[str, Any] = {"differences": [], "nearest": None, "candidates": []}
        yield _evaluator(one) | nothing | dict(explained.get(index) or {})


def _evaluator(found: EvaluatorResult) -> dict[str, Any]:
    actual = found.actual if found.actual_normalized is None else found.actual_normalized
    is_rubric = found.evaluator_name == RUBRIC_EVALUATOR  # of which the verdict is a table of its own
    return {
        "name": found.evaluator_name,
        "status": found.status.value,
        "score": found.score,
        "error": found.error_msg,
        "expected": None if is_rubric else found.expected,
        "actual": None if is_rubric else actual,
        "assertions": list(map(_assertion, (found.assertions or ())[:MOST_ASSERTIONS])),
    }


def _assertion(one: Assertion) -> dict[str, Any]:
    told = [*(one.assertion_msgs or ()), *filter(None, [one.error_msg])]
    return {"name": one.assertion_name, "status": one.status.value, "messages": told}


def _rubric(result: TaskResult) -> dict[str, Any] | None:
    """The verdict of a judge, with its criteria where it gave points to some."""
    found = next((one for one in result.evaluators_results if one.evaluator_name == RUBRIC_EVALUATOR), None)
    if found is None or not isinstance(found.actual, dict):
        return None
    told = found.actual
    verdict = {name: value for name, value in told.items() if name not in (*_VERDICT, "items")}
    return {name: told.get(name) for name in _VERDICT} | {"items": told.get("items") or [], "verdict": verdict}


def _warnings(about: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for one in about.get("capture") or ():
        yield {"kind": str(one["kind"]), "text": str(one["text"])}
    for text in map(str, about.get("warnings") or ()):
        yield {"kind": warning_kind(text), "text": text}


def _checksums(result: TaskResult) -> dict[str, Any]:
    return {
        "inputs": result.webeval.get("inputs") or {},
        "tasks": result.webarena_verified_data_checksum,
        "evaluators": result.webarena_verified_evaluator_checksum,
    }


def _commands(about: Mapping[str, Any], places: Places, rerun: str | None) -> Iterator[dict[str, str]]:
    if rerun is not None:
        yield {"label": "score this run again", "command": rerun}
    for name in sorted(about.get("inputs") or {}):
        if name.endswith(".zip"):
            viewer = f"npx playwright show-trace {places.told(places.run / name)}"
            yield {"label": "open the trace", "command": viewer}


def _links(places: Places) -> Iterator[dict[str, str]]:
    directory = f"{linked(places.run, places.report)}/"
    if os.path.isdir(places.run):  # noqa: PTH112  (pathlib raises where nobody may look)
        yield {"label": "run directory", "href": directory}
    if places.result is not None:
        is_inside = places.result.parent == places.run
        href = f"{directory}{places.result.name}" if is_inside else linked(places.result, places.report)
        yield {"label": places.result.name, "href": href}
