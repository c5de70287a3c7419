"""What decides the verdict of an item: as in any session, and modules of users with its fixtures and hooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import pytest
from msgspec import field

from pytest_webeval.plugin.collection.nodes import RunItem, find_fixtures
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.run import Run
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.sessions.runs.fingerprints import Fingerprints
from pytest_webeval.sessions.runs.session_rows import CopiedRows, SessionRows
from pytest_webeval.sessions.runs.stored_results import PreviousSession, StoredResult
from pytest_webeval.sessions.runs.user_modules import checksum_modules, list_installed_types

PROVIDED_BY_PYTEST = {"request"}


class ItemFingerprints(Fingerprints, eq=False, kw_only=True):
    """One per process."""

    config: pytest.Config
    _modules: dict[Any, tuple[object, str | None]] = field(default_factory=dict)

    @cached_property
    def hooks(self) -> str:
        """The checksum of modules of users with hooks, which may replace anything; not of what these import."""
        from pytest_webeval.sessions.runs.user_modules import checksum_hooks  # only for this option

        return checksum_hooks(self.config.pluginmanager.get_plugins())

    def modules_of(self, item: Any, run: Run) -> str | None:
        """The checksum of modules of users with fixtures of the item or the format of its run; empty without any.

        None if a plugin added a fixture to the item, which may do anything.
        """
        fixtures, run_format = find_fixtures(item), self.workspace.format_of(run.path)
        is_built_in = any(run_format is built_in for built_in in formats.FORMATS)
        if not fixtures.keys() >= set(item.fixturenames) - PROVIDED_BY_PYTEST:
            return None
        key = (id(fixtures), None if is_built_in else type(run_format))
        if key not in self._modules:
            kinds = [] if is_built_in else [type(run_format)]
            self._modules[key] = fixtures, _checksum_modules([*_list_foreign(fixtures), *kinds])
        return self._modules[key][1]


def checksum_user_modules(items: Iterable[RunItem]) -> str:
    """The checksum of modules of users with fixtures of any of the items; empty without any."""
    fixtures = {id(each): each for each in map(find_fixtures, items)}
    return _checksum_modules([function for each in fixtures.values() for function in _list_foreign(each)])


def _list_foreign(fixtures: Mapping[str, Sequence[pytest.FixtureDef[Any]]]) -> list[Any]:
    """The functions of fixtures that are neither of pytest nor of this package."""
    functions = (definition.func for definitions in fixtures.values() for definition in definitions)
    known = {"_pytest", "pytest_webeval"}
    return [function for function in functions if str(function.__module__).partition(".")[0] not in known]


def _checksum_modules(functions: Sequence[Any]) -> str:
    return checksum_modules([*functions, *list_installed_types()])


FINGERPRINTS = pytest.StashKey[ItemFingerprints]()
PREVIOUS = pytest.StashKey[PreviousSession]()
EARLIER = pytest.StashKey[SessionRows | CopiedRows]()  # where items find rows of earlier sessions


def find_stored_result(item: pytest.Item, run: Run, definition: Definition) -> StoredResult | None:
    """The result of an earlier session that judged the run of an item, so that it need not be read."""
    stash = item.config.stash
    previous = stash.get(PREVIOUS, None) if isinstance(item, RunItem) else None
    if previous is None:
        return None
    earlier = stash[EARLIER].find_earlier(run.path, run.label)
    return previous.check(earlier, stash[FINGERPRINTS].modules_of(item, run), run, definition)
