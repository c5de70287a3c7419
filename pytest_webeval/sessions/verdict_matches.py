"""How many verdicts of named files belong to runs of the session, so that a file about other runs is not overlooked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_webeval.safety.text import pluralize, sanitize, truncate
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.workspace import Workspace

if TYPE_CHECKING:
    from pytest_webeval.recordings.verdict_files import HumanLabels, JudgeVerdicts

_LONGEST_NAME = 80


def list_match_lines(workspace: Workspace, counts: Counts) -> Iterator[str]:
    """For each file a line: its verdicts, those that are on no run, and the runs on which it has none."""
    for option, file in _list_files(workspace):
        matched, others = getattr(counts, f"matched_{option}"), getattr(counts, f"without_{option}")
        if matched >= 0:  # as soon as runs were collected
            parts = [f"{_shorten(file.source)} has {pluralize(file.count, file.noun)}", f"{matched:,} on runs"]
            parts += [f"{file.count - matched:,} on no run"] if file.count > matched else []
            parts += [f"{pluralize(others, 'run')} without {file.noun}"] if others else []
            yield ", ".join(parts)


def list_mismatches(workspace: Workspace, counts: Counts) -> Iterator[str]:
    """What is wrong with files that have a verdict on no run at all."""
    for option, file in _list_files(workspace):
        if getattr(counts, f"matched_{option}") == 0:
            reason = file.explain_mismatch(getattr(counts, f"same_task_{option}"))
            yield sanitize(f"no {file.noun} in {_shorten(file.source)} is on a run; {reason}")


def _list_files(workspace: Workspace) -> Iterable[tuple[str, HumanLabels | JudgeVerdicts]]:
    return workspace.external.files.items() if workspace.external is not None else ()


def _shorten(name: str) -> str:
    return sanitize(truncate(name, _LONGEST_NAME))
