"""The command line that scores some runs of a session again."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from urllib.parse import unquote

from msgspec import Struct

from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.safety.text import name_first
from pytest_webeval.summary.record import Record

TASKS_NAMED, LONGEST_NAME = 5, 80
MOST = 400  # names in one command: of three times as many pytest's parser of -k fills the stack
_PLAIN = re.compile(r"[\w.+-]+", re.ASCII)
_BRACKETED = re.compile(r"\[[\w.+-]+\]", re.ASCII)


def keyword(task_id: int | str) -> str | None:
    """The exact `-k` keyword of a task; None if `-k` cannot express it."""
    return f"[{task_id}]" if _PLAIN.fullmatch(str(task_id)) else None


def exact(names: Iterable[int | str]) -> set[str]:
    """The names as keywords that select nothing but what has the very same name; not those that `-k` cannot spell."""
    return {word for name in names if (word := keyword(name))}


class Rerun(Struct, frozen=True):
    """A command, and how many `of` so many runs it names."""

    command: str
    named: int
    of: int


class RerunCommands(Struct, frozen=True, dict=True):
    """Commands that score runs of one session again, with its options.

    `pinned` are further options without which node ids might mean something else. `missing` are tasks that have no
    recording, by the labels that they go by. `taken` are keywords that select runs by something else than their task.
    With `has_others`, there are runs that the session did not score, which keywords could select as well.
    """

    task_ids: Mapping[str, int | str]
    options: Sequence[str] = ()
    pinned: Sequence[str] = ()
    missing: Collection[str] = ()
    taken: Collection[str] = ()
    has_others: bool = False

    def command(self, runs: Sequence[str], longest: int | None = None) -> Rerun:
        """The command for some runs, by keywords where these select no other run; `longest` in characters.

        A command that would be longer, or would name more runs than pytest can take, names the first of them.
        """
        first = list(islice(runs, MOST))
        keywords = [keyword(self.task_ids[run]) for run in first]
        if not self.has_others and all(name and self._runs_by_keyword[name.lower()] == 1 for name in keywords):
            start, separator, end = f"{shlex.join(['pytest', *self.options])} -k '", " or ", "'"
            names = [str(name) for name in keywords]
        else:
            start, separator, end = f"{shlex.join(['pytest', *self.pinned, *self.options])} ", " ", ""
            names = [shlex.quote(f"{run}::{'missing' if run in self.missing else 'task'}") for run in first]
        included = list(_take_fitting(names, separator, None if longest is None else longest - len(start) - len(end)))
        return Rerun(f"{start}{separator.join(included)}{end}", len(included), len(runs))

    def name_tasks(self, runs: Sequence[str]) -> str:
        """The tasks of the first few runs."""
        return name_first((self.task_ids[run] for run in runs), TASKS_NAMED, LONGEST_NAME, len(runs))

    @cached_property
    def _runs_by_keyword(self) -> Counter[str]:
        """How many runs each keyword selects: `-k` also matches the names of directories, and ignores case."""
        counts: Counter[str] = Counter()
        for run, task_id in self.task_ids.items():
            directory_keywords = _BRACKETED.findall(unquote(run)) if "%5B" in run else []
            counts.update({word.lower() for word in (keyword(task_id), *directory_keywords) if word})
        counts.update({word.lower() for word in self.taken})
        return counts


def build_commands(
    records: Iterable[Record], options: Sequence[str], pinned: Sequence[str], *, has_others: bool = False
) -> RerunCommands:
    """The commands for the runs of a session, of which no record is kept.

    `has_others` if its roots have more runs than it scored. Keywords also select by the names of formats, templates,
    sites, types, benchmarks and groups.
    """
    task_ids: dict[str, int | str] = {}
    missing, names = set[str](), {layout.name for layout in FORMATS}
    for record in records:
        task_ids[record.run] = record.task_id
        trajectory = record.trajectory or {}
        groups = (str(trajectory[name]) for name in ("benchmark", "group") if trajectory.get(name))
        names.update((f"template_{record.template}", *record.sites, record.task_type or "", *groups))
        if record.missing:
            missing.add(record.run)
    return RerunCommands(task_ids, options, pinned, missing, exact(names), has_others)


def _take_fitting(names: Sequence[str], separator: str, room: int | None) -> Iterator[str]:
    """As many names as fit, but at least one."""
    for position, name in enumerate(names):
        if room is not None:
            room -= len(name) + (len(separator) if position else 0)
            if room < 0 and position:
                return
        yield name
