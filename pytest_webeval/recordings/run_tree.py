"""Where the runs of a run root lie, and which of its directories hold none."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import ENVIRONMENT, DirectoryListing, is_directory, is_hidden, list_directory
from pytest_webeval.recordings.formats import FORMATS, format_of, holds_reports, unknown_layout
from pytest_webeval.recordings.signatures import TRAJECTORIES, RecordedFormat
from pytest_webeval.recordings.webarena_verified import TRACE_NAMES
from pytest_webeval.safety.files import exists, is_dir
from pytest_webeval.safety.text import list_first, preview

MOST_LEVELS = 64  # below a root; pytest walks a tree by recursion
MOST_NAMED = 3
MOST_INSIDE, MOST_LEVELS_INSIDE = 8, 2  # directories of a run that are looked into, and how deep they may lie
MOST_DIRECTORIES = 100_000  # without a run, in one directory of a root
RESULT = "eval_result.json"
SESSION_FILE = re.compile(  # in each place that a session writes to
    r"eval_(?:summary(?:\.partial)?\.json|session(?:-\d+-of-\d+)?(?:\.old-\d+)?\.sqlite(?:-journal)?"
    r"|results(?:-\d+-of-\d+)?(?:\.json|-\d+\.(?:jsonl|parquet)))",
    re.ASCII,
)
REPORT_FILES = frozenset({"index.html", "report.css", "report.js"})
STYLES = frozenset({"style.css"})  # the assets of pytest-html


class Kind(Enum):
    """What a directory is."""

    RUN = "run"
    BROKEN = "broken"  # should be a run, and cannot be scored
    UNREADABLE = "unreadable"  # may be a run; this is unknown
    GROUP = "group"  # has runs or broken ones at some depth
    WITHOUT_RUNS = "without runs"
    OUTPUT = "output"  # written by us, by tools or by an analysis
    RESULTS = "results"  # holds nothing but results: an output, unless it lies among runs


_ITEMS = (Kind.RUN, Kind.BROKEN, Kind.UNREADABLE)


class Branch(Struct, frozen=True):
    """A directory at or below a run root. `branches` are those in it; `without_runs` lie anywhere below.

    The branches of a run are runs inside it, which nobody scores: the agent may have put them there.
    """

    path: Path
    kind: Kind
    problem: str | None = None
    branches: tuple[Branch, ...] = ()
    without_runs: tuple[Path, ...] = ()
    may_be_damaged: bool = False  # it holds no run, but something

    @property
    def has_items(self) -> bool:
        """Whether something in it is to be scored, or is an error."""
        return self.kind in _ITEMS or self.kind is Kind.GROUP

    def list_items(self) -> Iterator[Branch]:
        """All runs and broken ones in it, in their order."""
        if self.kind in _ITEMS:
            yield self
        for branch in self.branches if self.kind is Kind.GROUP else ():
            yield from branch.list_items()

    def list_nested(self) -> Iterator[Path]:
        """All runs inside of other runs, which are not scored."""
        for branch in self.branches:
            if self.kind is Kind.GROUP:
                yield from branch.list_nested()
            else:
                yield from (item.path for item in branch.list_items())


class _TooManyError(Exception):
    pass


def _never(path: Path) -> bool:  # noqa: ARG001  (the signature of a rule)
    return False


class Search(Struct):
    """Looks through one root. `format_of` returns None for a directory that is not a run.

    A directory that `is_defined` as a task is a run or broken, whatever lies in it, for the agent may have put it
    there. One that `is_ignored` is not opened.
    """

    root: Path
    format_of: Callable[[Path, DirectoryListing], object]
    is_defined: Callable[[Path], bool] = _never
    is_ignored: Callable[[Path], bool] = _never
    _count: int = 0

    def tree(self) -> Branch:
        return self.branch(self.root)

    def branch(self, path: Path) -> Branch:
        """A directory at or below the root that the user passed: a group even if it is empty."""
        branch = self._search_branch(path, 0)
        return branch if branch.has_items else Branch(path, Kind.GROUP)

    def _search_branch(self, path: Path, level: int) -> Branch:
        listing = list_directory(path)
        try:
            is_run = self.format_of(path, listing) is not None
        except RecordingError as error:
            return _build_broken(listing, str(error))
        if level and RESULT in listing.names and all(name == RESULT or name.startswith(".") for name in listing.names):
            return Branch(path, Kind.RESULTS)
        if is_run:
            return _build_run(listing)
        if listing.problem is not None:
            return Branch(path, Kind.UNREADABLE, listing.problem)
        try:
            return self._search_without_format(listing, level)
        except RecordingError as error:  # of a store, over a file that may be that of a run
            return _build_broken(listing, str(error))

    def _search_without_format(self, listing: DirectoryListing, level: int) -> Branch:
        if any(layout.is_certain(listing) for layout in FORMATS if isinstance(layout, RecordedFormat)):
            return _build_broken(listing, unknown_layout(listing.path, listing))
        self._count += 1
        if level and self._count > MOST_DIRECTORIES:
            raise _TooManyError
        is_environment = not listing.names.isdisjoint(ENVIRONMENT)
        is_certain = self.is_defined(listing.path) and (is_environment or not self._holds_attempts(listing))
        if listing.path != self.root and is_certain:
            return _build_broken(listing, unknown_layout(listing.path))
        if level and is_environment:
            return Branch(listing.path, Kind.OUTPUT)
        branches = list(self._search_children(listing, level))
        branches += self._list_link_branches(listing, branches, is_root=level == 0)
        branches += self._list_replaced(listing, branches)
        return self._combine_branches(listing, branches, is_root=level == 0)

    def _holds_attempts(self, listing: DirectoryListing) -> bool:
        """Whether a directory named after a task holds nothing but runs of a format that names them itself.

        One file next to them, which a download would be, and it is a broken run.
        """
        directories = listing.directories()
        if not 0 < len(directories) == len(listing.names):
            return False
        formats = ((self._find_recorded(path), path) for path in directories)
        return all(run_format is not None and run_format.is_named_by_run(path) for run_format, path in formats)

    def _find_recorded(self, path: Path) -> RecordedFormat | None:
        try:
            run_format = self.format_of(path, list_directory(path))
        except RecordingError:
            return None
        return run_format if isinstance(run_format, RecordedFormat) else None

    def _search_children(self, listing: DirectoryListing, level: int) -> Iterator[Branch]:
        for path in listing.directories() if level < MOST_LEVELS else ():
            if self.is_ignored(path):
                continue
            if level == 0:
                self._count = 0
            count_before = self._count
            try:
                branch = self._search_hidden(path) if is_hidden(path) else self._search_branch(path, level + 1)
            except _TooManyError:
                if level and self._count - count_before <= MOST_DIRECTORIES // 2:
                    raise  # what is too big is further up
                self._count = count_before + MOST_DIRECTORIES // 10  # so that not many of them are searched, either
                problem = f"{path} was not searched: it has more than {MOST_DIRECTORIES:,} directories without a run"
                branch = Branch(path, Kind.BROKEN, f"{problem}; exclude it with --ignore, or pass a run root inside it")
            if branch is not None:
                yield branch

    def _search_hidden(self, path: Path) -> Branch | None:
        """A directory whose name begins with a dot, if it is a run. Nobody looks below it."""
        listing = list_directory(path)
        try:
            is_run = self.format_of(path, listing) is not None
        except RecordingError as error:
            return Branch(path, Kind.BROKEN, str(error))
        if is_run:
            return _build_run(listing)
        return Branch(path, Kind.BROKEN, listing.problem or unknown_layout(path)) if self.is_defined(path) else None

    def _list_link_branches(
        self, listing: DirectoryListing, branches: Iterable[Branch], *, is_root: bool
    ) -> list[Branch]:
        """Links that lead out of the root: broken where a run is expected, otherwise without runs or ignored."""
        kinds = {branch.kind for branch in branches}
        is_expected = Kind.RUN in kinds or (is_root and not kinds) or listing.path.name == TRAJECTORIES
        links = listing.links_out(self.root)
        link_branches = (_build_link_branch(link, is_expected or self.is_defined(link)) for link in links)
        return [branch for branch in link_branches if branch is not None]

    def _list_replaced(self, listing: DirectoryListing, known: Iterable[Branch]) -> list[Branch]:
        """What has taken the place of a run: a link, a file or a pipe with the name of a task."""
        paths = {listing.path / entry.name for entry in listing.entries if not is_directory(entry)}
        replaced = filter(self._is_replaced, sorted(paths - {branch.path for branch in known}))
        problem = "has the name of a task and is not a directory; copy the run here"
        return [Branch(path, Kind.BROKEN, f"{path} {problem}") for path in replaced]

    def _is_replaced(self, path: Path) -> bool:
        """Whether what is not a directory should be a run. A link may be another name of the run of the same task."""
        is_other = not is_dir(path) or Path(os.path.realpath(path)).name != path.name
        return is_other and self.is_defined(path) and not self.is_ignored(path)

    def _combine_branches(self, listing: DirectoryListing, branches: list[Branch], *, is_root: bool) -> Branch:
        if is_root or any(branch.has_items for branch in branches):
            branches = self._mark_damaged([self._resolve_results(branch) for branch in branches])
        if is_root or any(branch.has_items for branch in branches):
            return _build_group(listing.path, branches)
        if self._is_expected(listing):
            return Branch(listing.path, Kind.BROKEN, unknown_layout(listing.path))
        if _is_output(listing):
            return Branch(listing.path, Kind.OUTPUT)
        kinds = {branch.kind for branch in branches}
        if kinds and kinds <= {Kind.OUTPUT, Kind.RESULTS}:
            return Branch(listing.path, max(kinds, key=lambda kind: kind is Kind.RESULTS), branches=tuple(branches))
        without = (listing.path,)
        return Branch(listing.path, Kind.WITHOUT_RUNS, without_runs=without, may_be_damaged=bool(listing.names))

    def _mark_damaged(self, branches: list[Branch]) -> list[Branch]:
        """The same, with broken runs for directories next to runs that have a damaged main file."""
        if not any(branch.may_be_damaged for branch in branches):
            return branches
        runs = [branch.path for branch in branches if branch.kind is Kind.RUN][:MOST_NAMED]
        recorded = list({each.name: each for each in map(self._find_recorded, runs) if each is not None}.values())
        return [self._find_damage(branch, recorded) for branch in branches]

    def _find_damage(self, branch: Branch, recorded: Sequence[RecordedFormat]) -> Branch:
        """A broken run for a directory with a damaged main file of one of these formats; else the branch."""
        if not branch.may_be_damaged:
            return branch
        listing = list_directory(branch.path)
        try:
            self.format_of(branch.path, listing)  # whose files a store may have to give again
            for run_format in recorded:
                if damage := run_format.describe_main_damage(listing):
                    problem = f"it lies next to runs of the format {run_format.name}, but {damage}"
                    advice = "restore the damaged files or move the directory away"
                    return _build_broken(listing, f"unknown layout of {branch.path}: {problem}; {advice}")
        except RecordingError as error:
            return _build_broken(listing, str(error))
        return branch

    def _resolve_results(self, branch: Branch) -> Branch:
        """The same once it is known that results alone lie among runs, so that they are no output."""
        if branch.kind is not Kind.RESULTS:
            return branch
        path = branch.path
        if branch.branches:
            children = [self._resolve_results(child) for child in branch.branches]
            has_items = any(child.has_items for child in children)
            return _build_group(path, children) if has_items else Branch(path, Kind.WITHOUT_RUNS, without_runs=(path,))
        if self.format_of(path, list_directory(path)) is not None:
            return Branch(path, Kind.RUN)
        if self.is_defined(path):
            return Branch(path, Kind.BROKEN, unknown_layout(path))
        return Branch(path, Kind.WITHOUT_RUNS, without_runs=(path,))

    def _is_expected(self, listing: DirectoryListing) -> bool:
        path, has_task_file = listing.path, "task.json" in listing.names and listing.path.name.isdigit()
        has_run_file = has_task_file or any(layout.has_typical_file(listing) for layout in FORMATS)
        return has_run_file or path.parent.name == TRAJECTORIES or self.is_defined(path)


def _build_group(path: Path, branches: Iterable[Branch]) -> Branch:
    branches = tuple(branches)
    without = tuple(path for branch in branches for path in branch.without_runs)
    return Branch(path, Kind.GROUP, None, tuple(branch for branch in branches if branch.has_items), without)


def _build_broken(listing: DirectoryListing, problem: str) -> Branch:
    return Branch(listing.path, Kind.BROKEN, problem, _find_inner_runs(listing))


def _build_run(listing: DirectoryListing) -> Branch:
    """A run, or a broken one if several runs lie in it: then a stray file makes the outer one look like a run."""
    branches = _find_inner_runs(listing)
    names = [branch.path.name for branch in branches if branch.kind is Kind.RUN]
    if len(names) > 1:  # a single one may be a download of the agent, which must not end its run
        inner = list_first(names, MOST_NAMED, lambda name: preview(name, 80), " and more")
        problem = f"{listing.path} has the files of a run, and holds runs: {inner}"
        return Branch(listing.path, Kind.BROKEN, f"{problem}; move its own files, or these runs, away", branches)
    return Branch(listing.path, Kind.RUN, branches=branches)


def _find_inner_runs(listing: DirectoryListing, levels: int = MOST_LEVELS_INSIDE) -> tuple[Branch, ...]:
    """Runs in a run, with the directories between. Those of formats of users are not searched for."""
    if listing.problem is not None or not levels:
        return ()
    directories = [path for path in listing.directories() if path.name not in TRACE_NAMES]
    branches = []
    for inner in map(list_directory, directories[:MOST_INSIDE]):
        try:
            is_run = format_of(inner.path, inner) is not None
        except RecordingError:
            is_run = False
        if is_run:
            branches.append(Branch(inner.path, Kind.RUN))
        elif below := _find_inner_runs(inner, levels - 1):
            branches.append(Branch(inner.path, Kind.GROUP, branches=below))
    return tuple(branches)


def _build_link_branch(link: Path, is_expected: bool) -> Branch | None:  # noqa: FBT001  (of two kinds of links)
    has_target = exists(link)
    if is_expected:
        leads = (
            "to a target outside the run root; copy the directory here" if has_target else "without a target; remove it"
        )
        return Branch(link, Kind.BROKEN, f"{link} is a link {leads}")
    return Branch(link, Kind.WITHOUT_RUNS, without_runs=(link,)) if has_target else None


def _is_output(listing: DirectoryListing) -> bool:
    names = {name for name in listing.names if not name.startswith(".")}
    is_of_session = any(map(SESSION_FILE.fullmatch, names))
    return is_of_session or names >= REPORT_FILES or names == STYLES or holds_reports(listing)
