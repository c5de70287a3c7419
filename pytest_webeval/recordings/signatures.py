"""By which files a run directory is recognized: Fara's layout, and one row of the table `FORMATS` for each recorder.

The reader of a format is imported when the first run of it is loaded; to recognize one, its row is enough.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import DirectoryListing, is_directory, list_directory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.run import RunFormat
from pytest_webeval.recordings.trajectory.layout import CORE_LOG, HARNESS_FILE, LOG, SCORES, TIMES
from pytest_webeval.recordings.webarena_verified import RESPONSE, TRACE_NAMES
from pytest_webeval.safety.files import exists_no_follow, read_beginning_inside
from pytest_webeval.safety.json import InvalidJson, load_lenient
from pytest_webeval.safety.text import list_first, preview

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkTrace
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.rules import Rules


MOST_READ = 4 * 2**20  # bytes of a file that are searched for keys
MOST_LISTED = 3  # names in a message
MOST_CANDIDATES = 10  # files of a directory whose names fit a pattern


@dataclass(frozen=True, slots=True)
class FileSign:
    """A file that a recorder always leaves. `name` may hold `*`, and `/` for a file in a directory below.

    Where other programs use the name as well, the file has to hold the `keys` of JSON; of a key `a|b` one is enough.
    """

    name: str
    keys: tuple[str, ...] = ()
    most_read: int = MOST_READ

    def find(self, listing: DirectoryListing) -> str | None:
        """The name of such a file in a directory, or None."""
        if self.name not in listing.names and "*" not in self.name and "/" not in self.name:  # as in most directories
            return None
        return next((name for name in self._candidates(listing) if self.has_keys(listing.path, name)), None)

    @property
    def description(self) -> str:
        keys = ", ".join(key.replace("|", " or ") for key in self.keys)
        return f"{self.name} with {keys}" if keys else self.name

    def describe_damage(self, listing: DirectoryListing, *, is_expected: bool = False) -> str | None:
        """Why nobody can look for the keys: the file is there, but it is not JSON; None for any other reason.

        Where the file `is_expected`, what is no object with members is damage as well.
        """
        name = next(self._candidates(listing), None) if self.keys else None
        if name is None:
            return None
        content = read_beginning_inside(listing.path, name, self.most_read)
        if len(content) == self.most_read:
            return None  # the rest was not read
        text = content.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if not text:
            return f"{name} is empty or cannot be read"
        try:
            value = load_lenient(text).value
        except InvalidJson as error:
            return f"{name} is not valid JSON: {error}"
        is_object = isinstance(value, dict) and value
        return None if is_object or not is_expected else f"{name} holds {preview(value, 60)}, expected a JSON object"

    def _candidates(self, listing: DirectoryListing) -> Iterator[str]:
        if "*" in self.name:
            names = sorted(name for name in listing.names if fnmatchcase(name, self.name))
            yield from names[:MOST_CANDIDATES]
        elif self.name in listing.names:
            yield self.name
        elif "/" in self.name and self.name.partition("/")[0] in listing.names:
            yield from [self.name] if exists_no_follow(listing.path / self.name) else ()

    def has_keys(self, directory: Path, name: str) -> bool:
        """Whether a file of a directory has the keys near its beginning."""
        if not self.keys:
            return True
        content = read_beginning_inside(directory, name, self.most_read)
        return all(any(f'"{key}"'.encode() in content for key in keys.split("|")) for keys in self.keys)


Names = str | tuple[str, ...]  # a name, or several that are there together


def _find_names(names: Names, listing: DirectoryListing) -> list[str]:
    """The names in a directory that fit all of these, sorted; none if one is missing.

    A name with `/` is a pattern for the files in a directory below, which is listed only if it is there.
    """
    matches = [_find_name(name, listing) for name in ((names,) if isinstance(names, str) else names)]
    present = [name for name in matches if name is not None]
    return sorted(present) if len(present) == len(matches) else []


def _find_name(name: str, listing: DirectoryListing) -> str | None:
    folder, _, pattern = name.rpartition("/")
    if not folder:
        return name if name in listing.names else None
    is_listed = folder in listing.names  # as in few directories, and their entries need not be looked through
    if not is_listed or not any(entry.name == folder and is_directory(entry) for entry in listing.entries):
        return None
    names = [match for match in list_directory(listing.path / folder).names if fnmatchcase(match, pattern)]
    return next((f"{folder}/{match}" for match in sorted(names) if match.isprintable()), None)


@dataclass(frozen=True)
class RecordedFormat(RunFormat):
    """A format by its files. A directory is a run if it has all signs of one of the `layouts`.

    `module` is that of the reader in `formats/`, which defines `read`. `typical` are names that few other programs use,
    alone or together, so that a directory with them is a broken run if no runs lie below it; one with `/` is a
    pattern for files in a directory below. So is a directory whose name fits the pattern `named`, unless it is empty,
    and one with `misnamed`: what the main file holds, under another name. With the names of `certain` it is a broken
    run whatever lies below it, for the agent may have put it there. `traces` are patterns of further names of recorded
    traffic, or the names of files in directories below. The last group of `task_id` in the directory's name is the id
    of the task; a pattern with `/` is for the name of the directory above as well. Where the file `run_sign` is there,
    the directory is named after the run, and the one above it after the task. The recorder puts `superseded` before the
    name of a directory when it runs the task again: without all files, that is no broken run.
    """

    name: str
    module: str
    layouts: tuple[tuple[FileSign, ...], ...]
    typical: tuple[Names, ...] = ()
    certain: tuple[Names, ...] = ()
    traces: tuple[str, ...] = ("*.har",)
    task_id: str = "(.+)"
    run_sign: FileSign | None = None
    superseded: str = ""
    named: str = ""
    misnamed: FileSign | None = None

    @property
    def expected_files(self) -> str:  # type: ignore[override]  # which is read only
        layouts = (" and ".join(sign.description for sign in layout) for layout in self.layouts)
        return ", or ".join(layouts)

    def recognizes(self, path: Path) -> bool:
        return self.recognizes_listing(list_directory(path))

    def recognizes_listing(self, listing: DirectoryListing) -> bool:
        return any(all(sign.find(listing) for sign in layout) for layout in self.layouts)

    def has_typical_file(self, listing: DirectoryListing) -> bool:
        """Whether there are files or a name of the directory that few other programs write."""
        name = listing.path.name
        if self.superseded and name.startswith(self.superseded):
            return False
        is_named = bool(self.named and listing.names and re.fullmatch(self.named, name, re.DOTALL))
        return is_named or any(_find_names(names, listing) for names in self.typical) or bool(self._misnamed(listing))

    def describe_main_damage(self, listing: DirectoryListing) -> str | None:
        """What is wrong with a file that is called as one that tells the format, or as its directory.

        None for an object with other keys, which is of another program.
        """
        own = [FileSign(f"{listing.path.name}.json", self.misnamed.keys)] if self.misnamed else []
        signs = (sign for layout in (*self.layouts, own) for sign in layout)
        damage = (sign.describe_damage(listing, is_expected=True) for sign in signs)
        return next((problem for problem in damage if problem), None)

    def _misnamed(self, listing: DirectoryListing) -> list[str]:
        name = self.misnamed.find(listing) if self.misnamed else None
        return [name] if name else []

    def is_certain(self, listing: DirectoryListing) -> bool:
        """Whether a directory that is no run is a broken one, whatever lies below it."""
        return any(_find_names(names, listing) for names in self.certain)

    def list_signs(self, listing: DirectoryListing) -> list[tuple[list[str], list[str]]]:
        """Of each layout the files that are there, and the signs that are missing; typical files count as well."""
        signs = []
        typical = [_find_names(names, listing) for names in (*self.typical, *self.certain)]
        typical.append(self._misnamed(listing))
        present = max(typical, key=len, default=[])
        for layout in self.layouts:
            names = [(sign, sign.find(listing)) for sign in layout]
            matching = [name for _, name in names if name is not None]
            missing = [sign.description for sign, name in names if name is None]
            signs.append((present if len(present) > len(matching) else matching, missing))
        return signs

    def list_damage(self, listing: DirectoryListing) -> dict[str, str]:
        """What is wrong with files that are there and hold no JSON, by the description of their sign."""
        signs = {sign.description: sign.describe_damage(listing) for layout in self.layouts for sign in layout}
        return {description: damage for description, damage in signs.items() if damage is not None}

    def load(self, path: Path, label: str, rules: Rules) -> Run:
        """The run, whose files are read on demand."""
        is_named_by_run = self.is_named_by_run(path)
        directory = path.absolute().parent if is_named_by_run else path
        above = f"{directory.absolute().parent.name}/" if "/" in self.task_id else ""
        task_id = self.parse_task_id(above + directory.name)
        from pytest_webeval.recordings.trajectory_run import TrajectoryRun  # which most sessions have none of

        list_names = partial(list_traces, path, self.traces)
        return TrajectoryRun(
            path=path,
            label=label,
            task_id=task_id,
            format=self.name,
            response_file="",
            inputs=RunInputs(path),
            rules=rules,
            load_trace=partial(_load_trace, list_names),
            read=importlib.import_module(f"pytest_webeval.recordings.formats.{self.module}").read,
            list_traces=list_names,
            is_named_by_run=is_named_by_run,
        )

    def is_named_by_run(self, path: Path) -> bool:
        """Whether a run directory is named after the run, and the one above it after the task."""
        sign = self.run_sign
        return sign is not None and exists_no_follow(path / sign.name) and sign.has_keys(path, sign.name)

    def parse_task_id(self, name: str) -> int | str:
        """The id of the task in the name of a directory: a number where it is written as one, which `007` is not."""
        match = re.fullmatch(self.task_id, name, re.DOTALL)
        task_id = next(filter(None, reversed(match.groups())), name) if match else name
        is_number = task_id.isascii() and task_id.isdigit() and len(task_id) < 20 and str(int(task_id)) == task_id
        return int(task_id) if is_number else task_id


def list_traces(path: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """The names of all recorded traffic in a run directory: the usual ones first, then those that fit a pattern."""
    usual = [name for name in TRACE_NAMES if exists_no_follow(path / name)]
    names = list_directory(path).names if patterns else ()
    below = [pattern for pattern in patterns if "/" in pattern and exists_no_follow(path / pattern)]
    others = {name for pattern in patterns for name in (*names, *below) if fnmatchcase(name, pattern)}
    return (*usual, *sorted(others.difference(usual)))


def _load_trace(list_names: Callable[[], Sequence[str]], inputs: RunInputs) -> NetworkTrace:
    """The only trace, or the first of those with usual names. Raises `RecordingError` where one may be a download."""
    names = list_names()
    if len(names) > 1 and not set(names) <= set(TRACE_NAMES):
        listed = list_first(names, MOST_LISTED, lambda name: preview(name, 80))
        problem = f"{inputs.directory} has several network recordings: {listed}"
        raise RecordingError(f"{problem}; keep only the one that the recorder wrote")
    return load_trace(inputs, next(iter(names), TRACE_NAMES[0]))


TRAJECTORIES = "traj"
_RUN_PARENTS = ("runs", TRAJECTORIES)
ANSWER_SUFFIX = "_answer.json"
FINAL_ANSWER_SUFFIX = "_final_answer.json"
_TYPICAL_FILES = frozenset({LOG, CORE_LOG, TIMES, HARNESS_FILE})


class Fara(RecordedFormat):
    """The layout that Microsoft's `webeval` writes, of whatever year: by several files, or by its place."""

    expected_files = f"{LOG} and one of *_final_answer.json, {TIMES}, {CORE_LOG}, {SCORES}/ or a screenshot"

    def recognizes(self, path: Path) -> bool:
        """Whether the directory is a trajectory, or stands where only trajectories do (§1.3, rules 2, 3 and 9)."""
        listing = list_directory(path)
        return self.recognizes_listing(listing) or self.accepts_listing(listing)

    def recognizes_listing(self, listing: DirectoryListing) -> bool:
        """Whether the names in a directory are those of a trajectory."""
        names = listing.names
        return _is_trajectory(names) or (HARNESS_FILE in names and any(name.endswith("_pre.png") for name in names))

    def accepts_listing(self, listing: DirectoryListing) -> bool:
        """Whether it stands where only trajectories do, and holds no recording of another kind."""
        names = listing.names
        if RESPONSE in names:
            return False
        is_in_trajectories = listing.path.absolute().parent.name == TRAJECTORIES and names.isdisjoint(TRACE_NAMES)
        return is_in_trajectories and not _holds_runs(listing)

    def has_typical_file(self, listing: DirectoryListing) -> bool:
        """Whether there is one of the files that few other programs write under such a name."""
        return not listing.names.isdisjoint(_TYPICAL_FILES) or any(
            name.endswith(FINAL_ANSWER_SUFFIX) for name in listing.names
        )

    def list_signs(self, listing: DirectoryListing) -> list[tuple[list[str], list[str]]]:
        """The log or an answer, without what stands with it in a trajectory."""
        present = sorted(name for name in listing.names if name in _TYPICAL_FILES or name.endswith(FINAL_ANSWER_SUFFIX))
        others = f"one of *{FINAL_ANSWER_SUFFIX}, {TIMES}, {CORE_LOG}, {SCORES}/ or a screenshot"
        return [(present, [others if LOG in listing.names else LOG])]

    def parse_task_id(self, name: str) -> str:
        """The name, whatever it looks like."""
        return name


def _is_trajectory(names: frozenset[str]) -> bool:
    has_answer = any(name.endswith(ANSWER_SUFFIX) for name in names)
    has_other_file = not names.isdisjoint((TIMES, CORE_LOG, SCORES))
    is_recorded = has_other_file or any(name.startswith("screenshot") and name.endswith(".png") for name in names)
    return (LOG in names and (has_answer or is_recorded)) or (has_answer and is_recorded)


def _holds_runs(listing: DirectoryListing) -> bool:
    """Whether a directory below is one of runs, so that a path called `traj` by chance is searched like any other."""
    subdirectories = [entry for entry in listing.entries if is_directory(entry) and entry.name != SCORES]
    if any(entry.name in _RUN_PARENTS for entry in subdirectories):
        return True
    inner_names = (list_directory(listing.path / entry.name).names for entry in subdirectories)
    return any(_is_trajectory(names) or RESPONSE in names for names in inner_names)
