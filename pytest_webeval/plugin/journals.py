"""The controller's side of resuming: it keeps the journals, and tidies up after sessions that were killed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from pathlib import Path

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import SettingsError
from pytest_webeval.journal import JOURNAL
from pytest_webeval.journal import Entry
from pytest_webeval.journal import Journal
from pytest_webeval.plugin.carried import Carried
from pytest_webeval.plugin.resuming import asked_of
from pytest_webeval.plugin.resuming import journal_path
from pytest_webeval.plugin.workspace import RESULT
from pytest_webeval.plugin.workspace import SUMMARY
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.writing import remove_leftovers


@dataclass(eq=False)
class Journals:
    """Those of one session, one wherever a summary goes. Only the controller writes them, so each has one writer."""

    workspace: Workspace
    resumed: set[str] = field(default_factory=set)
    disturbed: set[str] = field(default_factory=set)  # runs whose result is lost for another reason than the run itself
    problems: list[str] = field(default_factory=list)
    _journals: dict[Path, Journal] = field(default_factory=dict)
    _found: set[Path] = field(default_factory=set)
    _is_tidy: bool = False

    def __post_init__(self) -> None:
        """Know which journals were there before."""
        self._found = {place for place in self._places if os.path.lexists(place)}

    @property
    def _places(self) -> set[Path]:
        settings = self.workspace.settings
        roots = [root for root in settings.roots if self.workspace.format_of(root) is None]  # see `journal_path`
        return {place / JOURNAL for place in ([settings.output] if settings.output else roots)}

    @cached_property
    def _asked(self) -> str:
        return asked_of(self.workspace.settings)

    def keep(self, carried: Carried) -> None:
        """Add a line about a result that was written just now. What cannot be kept is told once, and costs nothing.

        Raises `DiskFull` where there is no room for the line.
        """
        label = carried.record.run
        for runs, is_one in ((self.resumed, carried.is_resumed), (self.disturbed, carried.is_disturbed)):
            (runs.add if is_one else runs.discard)(label)
        path = self.workspace.labels.path_of(label) if carried.seal else None
        place = journal_path(self.workspace, path) if path else None
        if carried.seal is None or place is None:
            return
        journal = self._journals.setdefault(place, Journal(place, self.workspace.settings.sync))
        try:
            journal.append(Entry(self._asked, carried.seal, carried.record.to_json()))
        except DiskFull:
            raise
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def tidy(self, labels: Iterable[str]) -> None:
        """Before a session goes on where one was killed: remove what that one was writing, once."""
        if not self.workspace.settings.resume or self._is_tidy:
            return
        self._is_tidy = True
        paths = filter(None, map(self.workspace.labels.path_of, labels))
        written = {self.workspace.place(path) for path in paths}
        for directory in written | {place.parent for place in self._places}:
            if directory in self.workspace.settings.roots or not directory.is_symlink():
                remove_leftovers(directory, RESULT, SUMMARY)

    def end(self, *, is_complete: bool, is_whole: bool) -> None:
        """Remove the journals that nobody needs: all that is to be scored was.

        A session that chose some runs leaves those of others, which tell of more than it looked at.
        """
        for journal in self._journals.values():
            journal.close()
        if is_complete and not self.disturbed:
            for place in self._places if is_whole else self._places - self._found:
                self._remove(place)

    def _remove(self, place: Path) -> None:
        try:
            Journal(place).remove()
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def lines(self, count: int) -> Sequence[str]:
        """What the terminal tells, of so many results in all."""
        if not self.workspace.settings.resume:
            return self.problems
        told = f"resumed: {len(self.resumed)} of {count} results taken from an earlier session"
        return [told if self._found else f"{told}; there is no {JOURNAL} of one", *self.problems]
