"""The runs of a session: roots, labels, task sets, site URLs, and paths of results."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.discovery import DirectoryListing
from pytest_webeval.recordings.labels import Labels
from pytest_webeval.recordings.run import Run, RunFormat
from pytest_webeval.recordings.run_tree import Branch, Kind, Search
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import PARTIAL_SUMMARY, RESULT, SUMMARY, Summary
from pytest_webeval.rules import AUTO
from pytest_webeval.safety.run_directory import open_run_directory
from pytest_webeval.scoring.definition import Definition, build_case
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.result_places import FORMATS, ResultPlaces
from pytest_webeval.sessions.workspace.task_definitions import TaskDefinitions
from pytest_webeval.storage import remove_leftovers
from pytest_webeval.tasks.sites import Sites, load_sites

if TYPE_CHECKING:
    from pytest_webeval.judges.judging import Judging
    from pytest_webeval.sessions.workspace.external_verdicts import ExternalVerdicts, VerdictMatches
    from pytest_webeval.summary.comparison.baseline import Baseline, KnownFailures


class Workspace(Struct, frozen=True, eq=False, dict=True):
    """One per process. Caches what it read of run roots and runs.

    Labels are relative to `rootpath`, links of a report to `here`, the directory of the call.
    """

    settings: Settings
    rootpath: Path
    here: Path
    started: float = field(default_factory=time.time)  # seconds since 1970, before anything was read
    formats: Sequence[RunFormat] = ()  # of users, which come before the built-in ones
    output_option: str = "--webeval-output"  # with which users choose another directory for results
    _formats: dict[Path, RunFormat | None] = field(default_factory=dict)
    _branches: dict[Path, Branch] = field(default_factory=dict)
    _problems: dict[Path, str] = field(default_factory=dict)

    @cached_property
    def redacting(self) -> Redacting:
        """What redacts results and texts outside the run directories."""
        return Redacting(self.settings.redaction, self.settings.output is not None)

    @cached_property
    def result_places(self) -> ResultPlaces:
        """Where the results of runs go."""
        settings = self.settings
        tops = frozenset(filter(None, (settings.output, *settings.roots)))
        return ResultPlaces(settings.sync, FORMATS.get(settings.results), tops, self.output_option)

    def recognize(self, path: Path) -> RunFormat | None:
        """The format of a run directory that is not built in."""
        return next((candidate for candidate in self.formats if candidate.recognizes(path)), None)

    def is_ignored(self, path: Path) -> bool:  # noqa: ARG002  (for options of pytest)
        """Whether the session is not to look at a directory."""
        return False

    def add_certificate(self, summary: Summary) -> Summary:
        """The summary with what a certificate says of its judges."""
        return summary

    @cached_property
    def sites(self) -> Sites:
        """Site addresses of the configuration file. Raises `SettingsError`."""
        return load_sites(self.settings.config) if self.settings.config else Sites()

    @cached_property
    def tasks(self) -> TaskDefinitions:
        """The definitions of the tasks."""
        return TaskDefinitions(self.settings, self.labels, self.format_of)

    def build_case(
        self,
        run: Run,
        definition: Definition,
        calls: EvaluatorCalls,
        sites: Sites | None = None,
        judging: Judging | None = None,
    ) -> Case:
        """What evaluators may look at. `sites` may replace those of all runs."""
        return build_case(
            run,
            definition,
            sites=sites or self.sites,
            today=self.settings.today,
            policy=self.settings.policy,
            tasks_origin=self.tasks.origin,
            calls=calls,
            judging=judging,
        )

    @cached_property
    def baseline(self) -> Baseline | None:
        """The earlier session to compare with; None without one. Raises `SettingsError`."""
        path = self.settings.baseline
        if path is None or (self.settings.baseline_update and not path.exists()):
            return None
        from pytest_webeval.summary.comparison.baseline import read_baseline  # few sessions have one

        return read_baseline(path)

    @property
    def known_failures(self) -> KnownFailures | None:
        """The failures that are expected; None if none are to be. Raises `SettingsError`."""
        has_list = self.settings.known_failures and self.baseline is not None
        return self.baseline.known_failures if has_list and self.baseline is not None else None

    @cached_property
    def labels(self) -> Labels:
        """The names of directories at or below the run roots."""
        mirrored = frozenset(mirror.path for mirror in self.settings.mirrors if mirror.path != self.rootpath)
        return Labels(self.settings.roots, self.rootpath, mirrored)

    def fetch(self, paths: Sequence[Path]) -> None:
        """Get whole runs from stores: for who reads them before they are scored, or in place of that."""
        for mirror in self.settings.mirrors:
            mirror.fetch(filter(mirror.holds, paths), with_pictures=True)

    def open_run(self, path: Path) -> AbstractContextManager[None]:
        """Keep the directory of a run open while the run is scored, so that what replaces it later is not used."""
        return open_run_directory(path, self.labels.root_of(path))

    def format_of(self, path: Path, seen: DirectoryListing | None = None) -> RunFormat | None:
        """The format of a run directory, from a hook or built in. It is cached.

        Raises `RecordingError` if a hook or a format cannot read the directory.
        """
        if (mirror := self.settings.mirror_of(path)) is not None:
            mirror.bring_signs(path, formats.list_signs, is_searching=seen is not None)
        if path in self._formats:
            return self._formats[path]
        try:
            run_format = self.recognize(path) or formats.recognize(path, seen)
        except OSError as error:
            raise RecordingError(f"cannot read {path}: {error.strerror or error}; make it readable") from error
        if run_format is not None or seen is not None:  # until it is collected, a conftest.py may come that knows it
            self._formats[path] = run_format
        return run_format

    def run(self, path: Path) -> Run:
        """The run in a directory, with what files of the session say of it. Raises `RecordingError`."""
        run = self.load(path)
        if self.settings.rules.name == AUTO:
            run = run.for_task(self.tasks.find(run))
        if self.external is None or not run.is_trajectory:
            return run
        from pytest_webeval.sessions.workspace.external_verdicts import judge_run  # few sessions have such files

        return judge_run(run, self.labels, self.matches.values())

    def load(self, path: Path) -> Run:
        """The run in a directory, as its format loads it, before its task is known. Raises `RecordingError`."""
        if path in self._problems:
            raise RecordingError(self._problems[path])
        run_format = self.format_of(path)
        if run_format is None:
            return formats.load_run(path, self.settings.rules, self.labels.of(path))
        run = formats.load_by(run_format, path, self.labels.of(path), self.settings.rules)
        return run.within(self.settings.limits).choosing(self.settings.evaluators)

    @cached_property
    def external(self) -> ExternalVerdicts | None:
        """The verdicts in files that options name; None without such an option. Raises `SettingsError`."""
        if (self.settings.verdicts, self.settings.labels, self.settings.label_coding) == (None, None, None):
            return None
        from pytest_webeval.sessions.workspace.external_verdicts import ExternalVerdicts  # few sessions have such files

        return ExternalVerdicts.load(self.settings)

    @cached_property
    def matches(self) -> Mapping[str, VerdictMatches]:
        """These verdicts with the trajectories of all roots, whichever of them the session scores, by option."""
        return {} if self.external is None else self.external.match(self._find_trajectories(), self.labels)

    def provide_verdicts(self, external: ExternalVerdicts, matches: Mapping[str, VerdictMatches]) -> None:
        """Take over what another process of the session has read and matched."""
        vars(self).update(external=external, matches=matches)

    def provide_sites(self, sites: Sites) -> None:
        """Take over the addresses of sites that somebody else has read."""
        vars(self)["sites"] = sites

    def count_matches(self) -> tuple[tuple[str, int, int, int], ...]:
        """What `Counts` has of them."""
        return tuple((option, *matches.count()) for option, matches in self.matches.items())

    def _find_trajectories(self) -> Iterator[Run]:
        """Those that can be loaded. Others say themselves why they cannot."""
        for path in self.run_paths:
            with suppress(RecordingError):
                run = self.load(path)
                if run.is_trajectory:
                    yield run

    def result_path(self, path: Path) -> Path:
        """The path of the result of a run."""
        return self.place(path) / RESULT

    def place(self, path: Path) -> Path:
        """The output directory for a directory at or below a root."""
        root = self.labels.root_of(path)
        if self.settings.output is None or root is None:
            return path
        is_alone = len(self.settings.roots) == 1
        tree = self.settings.output if is_alone else self.settings.output / self.labels.prefixes[root]
        return tree / str(path)[len(str(root)) :].lstrip(os.sep)  # of each run several times; pathlib compares slowly

    @property
    def branches(self) -> Iterator[Branch]:
        """All runs of all roots, including broken ones, in the order of collection."""
        ends = (branch for root in self.settings.runs for branch in self.branch(root).list_items())
        return iter({branch.path: branch for branch in ends}.values())

    @cached_property
    def run_paths(self) -> list[Path]:
        """All run directories of all roots, in the order in which they are collected."""
        return [branch.path for branch in self.branches if branch.kind is Kind.RUN]

    @cached_property
    def tested_paths(self) -> list[Path]:
        """The runs for which Python tests are repeated, including broken ones."""
        return [branch.path for branch in self.branches]

    def branch(self, path: Path) -> Branch:
        """The runs at or below a directory of a root. It is scanned once, by one process for all."""
        if path not in self._branches:
            self._branches[path] = found = self.find_branch(path)
            self._problems.update((each.path, each.problem) for each in found.list_items() if each.problem is not None)
        return self._branches[path]

    def find_branch(self, path: Path) -> Branch:
        """Scan a directory of a root."""
        root = self.labels.root_of(path) or path
        search = Search(root, self.format_of, self.tasks.is_defined, self.is_left_out)
        return search.branch(path)

    def forget_branches(self) -> None:
        """Release the scanned branches, which nobody needs any more."""
        self._branches.clear()
        self._formats.clear()

    @property
    def without_runs(self) -> list[str]:
        """The sorted labels of scanned directories without runs."""
        trees = (self._branches[root] for root in self.settings.roots if root in self._branches)
        return sorted(map(self.labels.of, {directory for tree in trees for directory in tree.without_runs}))

    @property
    def nested_runs(self) -> list[str]:
        """The sorted labels of runs that lie inside other runs, and are not scored."""
        trees = (self._branches[root] for root in self.settings.roots if root in self._branches)
        return sorted(self.labels.of(path) for tree in trees for path in tree.list_nested())

    def remove_leftovers(self, directory: Path, since: float = 0) -> None:
        """Remove what a writer that was killed left in a directory, unless that is a link to another place."""
        if directory in self.settings.roots or not directory.is_symlink():
            with self.open_run(directory):
                remove_leftovers(directory, RESULT, SUMMARY, PARTIAL_SUMMARY, since=since)

    def remove_unfinished(self, path: Path) -> None:
        """Remove what a worker of this session left of the result of a run: it was killed while it wrote."""
        self.remove_leftovers(self.place(path), self.started)

    def is_left_out(self, path: Path) -> bool:
        """Whether a directory is written to by this session, or ignored."""
        settings = self.settings
        return path in (settings.output, settings.report, settings.metrics) or self.is_ignored(path)
