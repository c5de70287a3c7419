"""The files that a session could not write because the disk is full, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.results import PARTIAL_SUMMARY, RESULT, ROWS, SUMMARY
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.sessions.settings.settings import Settings

PLACES_SHOWN = 3
_ADVICE = "free some space and rerun with --webeval-reuse"
_NAMES = {
    ROWS: "the rows of the session",
    SUMMARY: "the summary",
    PARTIAL_SUMMARY: "the summary",
    "index.html": "the report",
    "report.css": "the report",
    "report.js": "the report",
}


class FullDisk(Struct, eq=False):
    """One per session. Files are grouped by run: a result that is written later is no longer listed."""

    settings: Settings
    _missing: dict[str, dict[str, str]] = field(default_factory=dict)  # of what is about no run by an empty label

    def __bool__(self) -> bool:
        """Whether anything is missing."""
        return bool(self._missing)

    def add(self, files: Mapping[str, str], label: str = "") -> None:
        """Take note of files that were not written, with the reason that the system gives for each."""
        if files:
            self._missing.setdefault(label, {}).update(files)

    def replace(self, label: str, files: Mapping[str, str] | None) -> None:
        """Replace the files noted for a run."""
        self._missing.pop(label, None)
        self.add(files or {}, label)

    def lines(self) -> list[str]:
        """The missing files, their directories and the remedy in one line; empty if all were written."""
        if not self._missing:
            return []
        reason = next(reason for files in self._missing.values() for reason in files.values())
        paths = (path for files in self._missing.values() for path in files)
        places = list(dict.fromkeys(map(self._find_directory, paths)))
        more = [f"{len(places) - PLACES_SHOWN} more"] if len(places) > PLACES_SHOWN else []
        to = _join_names([*places[:PLACES_SHOWN], *more])
        return [sanitize(f"disk full ({reason}): cannot write {_join_names([*self._names()])} to {to}; {_ADVICE}")]

    def _names(self) -> Iterator[str]:
        of_runs = [Path(path) for label, files in self._missing.items() if label for path in files]
        kinds = Counter("result" if path.name == RESULT else "page" for path in of_runs)
        for kind in ("result", "page"):
            if count := kinds[kind]:
                yield pluralize(count, kind)
        yield from dict.fromkeys(_NAMES.get(Path(path).name, Path(path).name) for path in self._missing.get("", {}))

    def _find_directory(self, file: str) -> str:
        """The directory that an option names for a file, the outermost where one lies in another."""
        path = Path(file)
        configured = (self.settings.output, self.settings.report, self.settings.metrics, *self.settings.roots)
        enclosing = [place for place in configured if place is not None and place in path.parents]
        return str(min(enclosing, key=lambda place: len(place.parts), default=path.parent))


def _join_names(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
