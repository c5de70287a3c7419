"""The page of each run in our own report, written by the process that scored the run."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import Struct
from msgspec import field
from msgspec.structs import replace

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.collection.nodes import run_path
from pytest_webeval.plugin.performance import gc_paused
from pytest_webeval.plugin.rerun import find_repeated_options
from pytest_webeval.plugin.runtest.evaluation import USED
from pytest_webeval.plugin.runtest.evaluation import run_time_limit
from pytest_webeval.plugin.runtest.run_outcome import NO_PAGE
from pytest_webeval.plugin.runtest.run_outcome import WrittenPage
from pytest_webeval.plugin.runtest.run_outcome import WrittenRun
from pytest_webeval.plugin.settings import LONGEST
from pytest_webeval.plugin.workspace import COUNTS
from pytest_webeval.plugin.workspace import MISSING_ITEM
from pytest_webeval.plugin.workspace import Counts
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.redaction.policy import DEFINITION
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.reports.rerun import exact
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.summary.record import Record

if TYPE_CHECKING:
    from pytest_webeval.recordings.action_trace import ActionTrace
    from pytest_webeval.reports.html.screenshots import ScreenshotSource


class RunPages(Struct, frozen=True, eq=False, dict=True):
    """One per process. A page that cannot be made is missing, without other effects."""

    workspace: Workspace
    directory: Path
    _task_ids: dict[str, int | str] = field(default_factory=dict)
    _missing: set[str] = field(default_factory=set)
    _taken: set[str] = field(default_factory=set)  # keywords that select tasks by something else than their id

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Remember all runs, also deselected ones: a keyword on a page must select only the run of that page."""
        if isinstance(item, RunItem):
            label, _, name = item.nodeid.rpartition("::")
            self._task_ids[label] = item.task_id
            self._taken.update(item.listextrakeywords() - exact([item.task_id]))
            if name == MISSING_ITEM:
                self._missing.add(label)

    def write_for_item(self, written: WrittenRun, item: pytest.Item) -> WrittenPage:
        """Write the page of a run, which may take as long as scoring it."""
        item.stash[USED] = 0.0
        path = run_path(item)
        if path is None:
            return NO_PAGE
        try:
            with gc_paused(), run_time_limit(item, self.workspace.settings):
                return self._write(written, path, self._count_runs(item.session))
        except EvaluationError:
            return NO_PAGE

    def _count_runs(self, session: pytest.Session) -> int:
        """How many runs share the room for images; those of all shards do."""
        return self.workspace.config.stash.get(COUNTS, Counts()).split or len(session.items)

    def write_merged(self, written: WrittenRun, path: Path, runs: int) -> WrittenPage:
        """Write the page of a run whose result was merged at the end, within the time limit of one run."""
        seconds = self.workspace.settings.timeout or LONGEST
        try:
            with time_limit(seconds, "writing the report page timed out"):
                return self._write(written, path, runs)
        except EvaluationError:
            return NO_PAGE

    def write_without_recording(self, written: WrittenRun, path: Path) -> WrittenPage:
        """Write a page without reading the recording, which crashed the worker."""
        return self._write(written, path, run=self._placeholder(path))

    def _write(self, written: WrittenRun, path: Path, runs: int = 1, run: Run | None = None) -> WrittenPage:
        """Write a page; `runs` share the room for images. Without texts, the list says that there is no page."""
        try:
            return self._write_view(written, path, run or self._load(written, path), runs)
        except DiskFull as error:
            return WrittenPage(no_room=error.no_room)
        except (WebEvalError, RecursionError):
            return NO_PAGE

    def _load(self, written: WrittenRun, path: Path) -> Run:
        classification = written.redacted.classification
        if REDACTED in classification.result.webeval:  # by another process, which alone knew the secrets in the run
            return self._placeholder(path)
        return classification.run or self._load_run(path)

    def _write_view(self, written: WrittenRun, path: Path, run: Run, runs: int) -> WrittenPage:
        from pytest_webeval.recordings.action_trace import load_action_trace
        from pytest_webeval.reports.html.agent_answer import recorded_answer
        from pytest_webeval.reports.html.event_details import trim_bodies
        from pytest_webeval.reports.html.run_links import ReportPaths
        from pytest_webeval.reports.html.task_page import PageTexts
        from pytest_webeval.reports.html.task_page import recorded_events
        from pytest_webeval.reports.html.task_page import recorded_parts
        from pytest_webeval.reports.html.task_page import task_definition
        from pytest_webeval.reports.html.task_page import task_view
        from pytest_webeval.reports.html.timeline import list_agent_values
        from pytest_webeval.reports.html.writer import write_events
        from pytest_webeval.reports.html.writer import write_task  # for who asks

        classification, redacting = written.redacted.classification, written.redacted.redacting
        task = classification.task or self.workspace.tasks.find(run)
        actions = load_action_trace(run.inputs) if run.trajectory is None else None
        pictures = self._pictures(run, runs) if actions is None else self._frames(written.record, actions, runs)
        answer = recorded_answer(run)
        parts = recorded_parts(run, task, classification.result, pictures, actions) | {"answer": answer.data}
        events = recorded_events(run, classification.result, parts["network"])
        attachment = {"parts": parts, "events": events, DEFINITION: task_definition(task)}
        by_agent = [list_agent_values(run, parts["steps"]), answer.data]
        result, safe = redacting.redact_with_attachment(classification.result, run, attachment, by_agent)
        redacted, details = safe["parts"], trim_bodies(safe["events"]["details"])
        if redacted["network"] is not None:
            redacted["network"]["detailed"] = len(details)
        paths = ReportPaths(self.directory, path, written.result_path, self.workspace.config.invocation_params.dir)
        texts = PageTexts(self._rerun(written.record), answer.words)
        view = task_view(result, written.record, redacted | {"definition": safe[DEFINITION]}, paths, texts)
        write_events(written.record.run, details, self.directory)  # first: a page says that they are there
        write_task(written.record.run, view, self.directory)
        return WrittenPage({name: redacted[name] for name in ("intent", "template")})

    def _rerun(self, record: Record) -> str:
        reruns = self._reruns
        if record.run not in reruns.task_ids:  # a controller collects nothing, so it names the run itself
            missing = (record.run,) if record.missing else ()
            reruns = replace(reruns, task_ids={record.run: ""}, missing=missing)
        return reruns.command([record.run]).command

    @cached_property
    def _reruns(self) -> RerunCommands:
        return RerunCommands(self._task_ids, *find_repeated_options(self.workspace.config), self._missing, self._taken)

    def _load_run(self, path: Path) -> Run:
        try:
            return self.workspace.run(path)
        except WebEvalError:
            return self._placeholder(path)

    def _placeholder(self, path: Path) -> Run:
        return placeholder_run(path, self.workspace.labels.of(path), self.workspace.settings.rules)

    def _pictures(self, run: Run, runs: int) -> ScreenshotSource | None:
        """Links to the screenshots of a run, or thumbnails; None without a trajectory, or if redaction forbids them."""
        if run.trajectory is None:
            return None
        from pytest_webeval.reports.html.screenshots import Links
        from pytest_webeval.reports.html.screenshots import Thumbnails

        settings = self.workspace.settings
        if settings.report_embed is None:
            return Links(run.path, self.directory)
        return (
            None if settings.redaction.is_strict else Thumbnails(run.trajectory, settings.report_embed // max(runs, 1))
        )

    def _frames(self, record: Record, actions: ActionTrace, runs: int) -> ScreenshotSource | None:
        """Frames of a screencast, which no page can show inside of a trace: copies of the last ones, or thumbnails.

        To copy them takes about as long as to score the run, so a report has none of a success.
        """
        from pytest_webeval.reports.html.frames import FrameCopies
        from pytest_webeval.reports.html.frames import NoFrames
        from pytest_webeval.reports.html.screenshots import Thumbnails

        settings = self.workspace.settings
        if settings.redaction.is_strict:
            return None
        if settings.report_embed is not None:
            return Thumbnails(actions, settings.report_embed // max(runs, 1))
        if record.status == "success" and not record.skipped:
            return NoFrames()
        return FrameCopies.of_run(record.run, actions, self.directory, runs)


PAGES = pytest.StashKey[RunPages]()
