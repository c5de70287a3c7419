"""What a session says about stores: locations in place of the directories of caches, and objects without a file."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_webeval.sessions.settings import Settings

MOST_PROBLEMS = 3  # that are shown


def name_locations(lines: Iterable[str], settings: Settings) -> list[str]:
    """Lines for people with locations in place of directories."""
    shown = list(lines)
    for mirror in settings.mirrors:
        shown = [line.replace(str(mirror.path), mirror.store.location) for line in shown]
    if (staging := settings.staging) is not None:
        place, location = str(staging.path), staging.store.location
        shown = [line if "--webeval-resume" in line else line.replace(place, location) for line in shown]
    return shown


def list_store_problems(settings: Settings) -> list[str]:
    """The first objects that have no file, a line for each."""
    shown = [problem for mirror in settings.mirrors for problem in mirror.problems][:MOST_PROBLEMS]
    others = sum(mirror.problem_count for mirror in settings.mirrors) - len(shown)
    return [*shown, f"… and {others:,} more"] if others else shown
