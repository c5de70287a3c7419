"""What a session says about stores: locations in place of the directories of caches, and objects without a file."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_webeval.sessions.settings import Settings


def name_locations(lines: Iterable[str], settings: Settings) -> list[str]:
    """Lines for people with locations in place of directories."""
    shown = list(lines)
    if settings.mirrors:
        from pytest_webeval.sessions.remote_roots import root_of  # few sessions have stores

        for description in settings.mirrors:
            place, location = str(root_of(description)), description.store.location
            shown = [line.replace(place, location) for line in shown]
    if (staging := settings.staging) is not None:
        place, location = str(staging.path), staging.store.location
        shown = [line if "--webeval-reuse" in line else line.replace(place, location) for line in shown]
    return shown


def list_store_problems(settings: Settings) -> list[str]:
    """The first objects that have no file, a line for each."""
    if not settings.mirrors:
        return []
    from pytest_webeval.sessions.remote_roots import list_problems  # few sessions have stores

    return list_problems(settings.mirrors)
