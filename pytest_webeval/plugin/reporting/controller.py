"""The controller's side: records from all reports, the summary files, and the section in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import SettingsError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.reporting.full_disk import FullDisk
from pytest_webeval.plugin.reporting.merging import merged
from pytest_webeval.plugin.reporting.stale_results import stale_results
from pytest_webeval.plugin.rerun import reruns_of
from pytest_webeval.plugin.runtest.classification import error_outcome
from pytest_webeval.plugin.runtest.report_page import PAGES
from pytest_webeval.plugin.runtest.report_page import RunPages
from pytest_webeval.plugin.runtest.resume import Journals
from pytest_webeval.plugin.runtest.run_outcome import ABOUT
from pytest_webeval.plugin.runtest.run_outcome import RecordPayload
from pytest_webeval.plugin.runtest.run_outcome import RunOutcome
from pytest_webeval.plugin.selected_paths import names_runs
from pytest_webeval.plugin.selected_paths import selects_some_runs
from pytest_webeval.plugin.settings import REDACTING
from pytest_webeval.plugin.user_code import call_user_hook
from pytest_webeval.plugin.workspace import DESELECTED
from pytest_webeval.plugin.workspace import ITEMS
from pytest_webeval.plugin.workspace import OUTSIDE
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.reports.terminal import SessionFacts
from pytest_webeval.reports.terminal import format_recorded_failures
from pytest_webeval.reports.terminal import render_summary
from pytest_webeval.results import SUMMARY
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import sanitize
from pytest_webeval.storage import write_json
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.tasks.dataset import id_order

_SAY_IT_ALL = ("Interrupted", "Failed")  # pytest's and xdist's own, whose texts are whole sentences


@dataclass(eq=False)
class StopReason:
    """Plugin that keeps what pytest tells of it."""

    told: str | None = None
    lost: str | None = None

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C, `pytest.exit`, an error of collection, -x under xdist."""
        self.told = _told(excinfo)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """A hook of somebody's that raised."""
        self.told = f"internal error: {_told(excinfo)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker that died. Whether another one takes its place is for xdist to say."""
        if error:
            self.lost = f"worker {node.gateway.id} died: {error}"

    def reason(self, session: pytest.Session, unscored: Sequence[str]) -> str | None:
        """One line that says why, or None where nothing stopped the session."""
        told = self.told or session.shouldfail or session.shouldstop or (self.lost if unscored else None)
        return sanitize(" ".join(str(told).split())) if told else None


def _told(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    told = str(excinfo.value)
    name = excinfo.typename.rpartition(".")[2]
    return told if told and name in _SAY_IT_ALL else ": ".join(filter(None, (name, told)))


WITHOUT_RUNS_LISTED = 100  # directories in a summary


@dataclass(eq=False)
class SessionReporter:
    """One a session. Records are kept by run, so that a rerun replaces what it repeats."""

    workspace: Workspace
    records: dict[str, Record] = field(default_factory=dict)
    texts: dict[str, dict[str, str | None]] = field(default_factory=dict)  # of tasks, for a report
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    collected: set[str] = field(default_factory=set)
    deselected: int = 0
    outside: int = 0
    without_runs: Sequence[str] = ()  # labels of directories in which nothing is a run
    problems: list[str] = field(default_factory=list)
    summary: Summary | None = None
    places: list[Path] = field(default_factory=list)
    stopping: StopReason = field(default_factory=StopReason)
    stopped: str | None = None
    contradicted: list[str] = field(default_factory=list)  # runs that passed their own test, and failed by another
    recorded: list[str] = field(default_factory=list)  # other runs of which Python tests recorded a failure
    asked: set[str] = field(default_factory=set)  # runs that Python tests are about
    compare: Callable[[Summary], Summary] | None = None  # with an earlier session
    part_of: Callable[[Summary, Summary], Summary] | None = None  # what of a comparison is about some of the runs

    _is_complete: bool = False

    @cached_property
    def full_disk(self) -> FullDisk:
        """What could not be written because there is no room on the disk."""
        return FullDisk(self.workspace.settings)

    @cached_property
    def journals(self) -> Journals:
        """What lets another session go on where this one ends."""
        return Journals(self.workspace)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what the item found; an item that failed without saying what lost its worker."""
        if (label := getattr(report, ABOUT, None)) is not None:
            self.asked.add(label)
        carried = RecordPayload.by(report)
        if carried is None:
            self._lost(report)
        elif carried.part is None:
            self.records[carried.record.run] = carried.record
            self.texts[carried.record.run] = carried.texts or {}
            self.full_disk.replace(carried.record.run, carried.no_room)
            self.attempt(partial(self.journals.keep, carried))
        else:
            self.parts.setdefault(carried.record.run, {})[report.nodeid] = carried.part

    def _lost(self, report: pytest.TestReport) -> None:
        if not report.failed or report.when == "teardown":
            return
        label, _, name = report.nodeid.rpartition("::")
        if name not in ITEMS or label in self.records:
            return
        path = self.workspace.labels.path_of(label)
        if path is not None:
            told = "the worker died while it scored this run; score it alone to see why"
            found = error_outcome(path, told, self.workspace)
            self.attempt(lambda: found.written(self.workspace.settings.sync), label)
            self._keep(found, lambda pages: pages.bare(found, path))
            self.journals.disturbed.add(label)

    def _keep(self, found: RunOutcome, write: Callable[[RunPages], RunOutcome]) -> None:
        """Keep what was found out here, rather than where the run was scored, and let the report have a page of it."""
        label = found.record.run
        self.records[label] = found.record
        pages = self.workspace.config.stash.get(PAGES, None)
        if pages is not None:
            found = write(pages)
            self.texts[label] = found.texts or self.texts.get(label, {})
        self.full_disk.add(found.no_room or {}, label)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know how many items there are, to tell a partial session."""
        self.collected |= {item.nodeid.rpartition("::")[0] for item in session.items if isinstance(item, RunItem)}
        self.journals.tidy(self.collected)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The same under xdist, where the controller collects nothing."""
        labels = (label for label, _, name in (one.rpartition("::") for one in ids) if name in ITEMS)
        self.collected |= {label for label in labels if self.workspace.labels.path_of(label)}
        self.journals.tidy(self.collected)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker deselected."""
        output = getattr(node, "workeroutput", None) or {}
        self.deselected = max(self.deselected, output.get("webeval_deselected", 0))
        self.outside = max(self.outside, output.get("webeval_outside", 0))
        self.without_runs = self.without_runs or output.get("webeval_without_runs", ())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Sum up before others write reports of it, and see afterwards whether all of it could be written."""
        self._sum_up(session)
        try:
            return (yield)
        finally:
            if self.summary is not None:
                is_complete = self._is_complete and not self.full_disk
                self.journals.end(is_complete=is_complete, is_whole=not self._is_chosen)
            if self.full_disk:
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _sum_up(self, session: pytest.Session) -> None:
        """Put parts together and write the summaries."""
        self.deselected = max(self.deselected, session.config.stash.get(DESELECTED, 0))
        self.outside = max(self.outside, session.config.stash.get(OUTSIDE, 0))
        self.without_runs = self.without_runs or self.workspace.without_runs
        for label in sorted(self.parts):
            self.attempt(partial(self._merge, label))
        is_misused = session.exitstatus == pytest.ExitCode.USAGE_ERROR
        if not self.records and (is_misused or not self.collected):
            return
        if self.contradicted or self.recorded:  # whose tests may all have passed, which must not look like success
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        told = self.stopping.reason(session, self._unscored)
        self.stopped = told and session.config.stash[REDACTING].text(told)
        summary = self._summarize(list(self.records.values()))
        self.summary = summary if self.compare is None else self.compare(summary)
        for place, records in self._places().items():
            if not self.attempt(partial(self._write_summary, place, records)):
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        self._is_complete = bool(self.collected) and self.collected <= self.records.keys() and not self.problems
        if (directory := self.workspace.settings.metrics) is not None:
            self.attempt(lambda: self._write_metrics(directory))
        self._tell_users(session, self.summary)

    def _tell_users(self, session: pytest.Session, summary: Summary) -> None:
        """Call the hook. What it makes of a summary is a reason not to succeed, but none to lose what was scored."""
        told = call_user_hook(session.config.hook.pytest_webeval_summary, summary=summary, config=session.config)
        if told is not None:
            self.problems.insert(0, session.config.stash[REDACTING].text(told))
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _write_metrics(self, directory: Path) -> None:
        if self.summary is not None and self.summary.webeval["partial"]:
            raise SettingsError("no metrics.json is written, because the session is partial; score all runs for one")
        from pytest_webeval.summary.metrics_json import write_metrics  # with all of the analysis

        told = [record for record in self.records.values() if record.trajectory is not None]
        write_metrics(told, directory, self.workspace.settings.rules, self.workspace.settings.sync)

    def _merge(self, label: str) -> None:
        path = self.workspace.labels.path_of(label)
        if path is not None:
            record = self.records.get(label)
            found, has_failure = merged(self.workspace, path, record, list(self.parts[label].values()))
            self._keep(found, lambda pages: pages.late(found, path, len(self.collected)))
            if has_failure:
                is_passed = record is not None and record.status == "success"
                (self.contradicted if is_passed else self.recorded).append(label)

    def _write_summary(self, place: Path, records: Sequence[Record]) -> None:
        summary = self.summary
        if summary is None or len(records) < len(self.records):
            summary = self._summarize(records)
            if self.part_of is not None and self.summary is not None:
                summary = self.part_of(self.summary, summary)
        write_json(place, summary.to_json(), self.workspace.settings.sync)
        self.places.append(place)

    def _places(self) -> dict[Path, list[Record]]:
        """Where summaries go: one into the output directory, otherwise one into each root with its own runs."""
        if self.workspace.settings.output:
            return {self.workspace.settings.output / SUMMARY: list(self.records.values())}
        places: dict[Path, list[Record]] = {}
        for label in [*self.records, *self._unscored]:
            path, record = self.workspace.labels.path_of(label), self.records.get(label)
            root = self.workspace.labels.root_of(path) if path else None
            is_bare = record is None or bool(record.trajectory)
            if root and not (path == root and is_bare):  # into a trajectory goes nothing but its result
                places.setdefault(root / SUMMARY, []).extend([record] if record else [])
        return places

    @property
    def _unscored(self) -> list[str]:
        return sorted((self.collected | self.asked) - set(self.records))

    @property
    def _is_chosen(self) -> bool:
        """Whether the session was to score some runs of the roots, rather than all."""
        return self.deselected > self.outside or selects_some_runs(self.workspace.config, self.workspace.settings.roots)

    @property
    def _is_about_other_tests(self) -> bool:
        """Whether the ini file names runs and the arguments none, and no Python test found anything out about one."""
        config, roots = self.workspace.config, self.workspace.settings.roots
        is_quiet = self.summary is None and not self.asked
        return is_quiet and not config.option.webeval_runs and not names_runs(config, roots)

    def _summarize(self, records: Sequence[Record]) -> Summary:
        unscored = self._unscored
        about = {
            "unscored_count": len(unscored),
            "unscored": unscored,
            "stopped": self.stopped,
            "deselected_count": self.deselected,
            "partial": bool(unscored or self._is_chosen or not self.collected),
            "subset": self._subset,
            "policy": self.workspace.settings.policy.to_json(),
            "task_warnings": list(tasks.warnings) if (tasks := self.workspace.given_tasks) else [],
            "without_runs_count": len(self.without_runs),
            "without_runs": list(self.without_runs[:WITHOUT_RUNS_LISTED]),
            "today": self.workspace.settings.today.isoformat(),
        }
        if not about["partial"] and (stale := self._stale_results):
            about["stale_results"] = stale
        return summarize_records(records, about, expected=self._expected)

    @cached_property
    def _stale_results(self) -> list[str]:
        """Where `--webeval-output` holds results of runs that are gone."""
        labels = (label for label, record in self.records.items() if not record.missing)
        paths = (self.workspace.labels.path_of(label) for label in labels)
        return stale_results(self.workspace, {self.workspace.place(path) for path in paths if path is not None})

    @property
    def _expected(self) -> list[str] | None:
        """The tasks that should have a trajectory, where --webeval-tasks or the subset says so."""
        tasks = self.workspace.subset or self.workspace.given_tasks
        named = [task_id for task_id in tasks.task_ids if isinstance(task_id, str)] if tasks is not None else []
        return named or None

    @property
    def _subset(self) -> dict[str, Any] | None:
        """What the summary says of the subset. A session that scores all of it is whole."""
        found = self.workspace.subset
        if found is None:
            return None
        counts = {"task_count": len(found.task_ids), "outside_count": self.outside}
        return {"name": found.name, "checksum": found.checksum} | counts

    def attempt(self, write: Callable[[], object], label: str = "") -> bool:
        """Whether something could be written; what was in the way is told at the end of the session."""
        try:
            write()
        except DiskFull as error:
            self.full_disk.add(error.no_room, label)
            return False
        except WebEvalError as error:
            self.problems.append(self.workspace.config.stash[REDACTING].text(str(error)))
            return False
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the numbers, at most 40 lines of them."""
        records = self.records.values()
        missing = sorted((record.task_id for record in records if record.missing), key=id_order)
        full = map(self.workspace.config.stash[REDACTING].text, self.full_disk.lines())
        told = [
            *self.journals.lines(len(self.records)),
            *format_recorded_failures(self.recorded),
            *full,
            *self.problems[:3],
        ]
        left_out, asked = len(self.collected) + self.deselected, len(self.asked)
        ending = SessionFacts(
            self.places,
            left_out,
            missing,
            self.contradicted,
            told,
            asked,
            self.without_runs,
            **_places(self.workspace),
        )
        if self._is_about_other_tests and not told:
            return
        terminalreporter.section("webeval")
        for line in render_summary(self.summary, reruns_of(self.workspace.config, records), ending):
            terminalreporter.line(line)


def _places(workspace: Workspace) -> dict[str, Any]:
    settings = workspace.settings
    return {
        "roots": settings.roots,
        "root_labels": list(workspace.labels.prefixes.values()),
        "output": settings.output,
        "names_roots": names_runs(workspace.config, settings.roots),
    }
