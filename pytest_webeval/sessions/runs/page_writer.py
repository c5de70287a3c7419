"""What the page of one run shows, put together from its recording and its result, without secrets."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from msgspec import Struct, structs

from pytest_webeval.errors import DiskFull, WebEvalError
from pytest_webeval.recordings.action_trace import ActionTrace, load_action_trace
from pytest_webeval.recordings.run import Run, placeholder_run
from pytest_webeval.redaction.policy import DEFINITION, REDACTED
from pytest_webeval.reports.html.requests import trim_bodies
from pytest_webeval.reports.html.screenshots import FrameCopies, Links, ScreenshotSource, Thumbnails, no_frames
from pytest_webeval.reports.html.task_page import (
    PageTexts,
    ReportPaths,
    recorded_answer,
    recorded_events,
    recorded_parts,
    task_definition,
    task_view,
)
from pytest_webeval.reports.html.timeline import list_agent_values
from pytest_webeval.reports.html.writer import write_events, write_task
from pytest_webeval.sessions.runs.run_outcome import RunOutcome
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.summary.record import Record


class PageWriter(Struct, frozen=True):
    """Writes pages of runs into the directory of a report."""

    workspace: Workspace
    directory: Path

    def try_to_write(  # noqa: PLR0913  (each is about another thing)
        self,
        written: RunOutcome,
        path: Path,
        runs: int,
        rerun: str,
        limit: AbstractContextManager[None] | None = None,
        *,
        is_reading: bool = True,
    ) -> RunOutcome:
        """Write the page of a run. One that cannot be made, or not within the time `limit`, is missing.

        The outcome gets its texts. Without them, the list of runs says that there is no page. The recording is read
        unless it killed whoever read it.
        """
        try:
            with limit or nullcontext():
                run = self._load(written, path) if is_reading else self._build_placeholder(path)
                texts = self.write(written, path, run, runs, rerun)
        except DiskFull as error:
            return structs.replace(written, no_room=written.no_room | error.no_room)
        except (WebEvalError, RecursionError):
            return written
        return structs.replace(written, texts=texts)

    def _load(self, written: RunOutcome, path: Path) -> Run:
        classification = written.classification
        if REDACTED in classification.result.webeval:  # by another process, which alone knew the secrets in the run
            return self._build_placeholder(path)
        try:
            return classification.run or self.workspace.run(path)
        except WebEvalError:
            return self._build_placeholder(path)

    def _build_placeholder(self, path: Path) -> Run:
        """A stand-in for a run, of which nothing is read."""
        return placeholder_run(path, self.workspace.labels.of(path), self.workspace.settings.rules)

    def write(self, written: RunOutcome, path: Path, run: Run, runs: int, rerun: str) -> dict[str, str | None]:
        """Write the page of a run, and return the texts of its task.

        `runs` share the room for images. `rerun` is the command that scores the run again.

        Raises what reading the recording and writing the page raise.
        """
        classification, redacting = written.classification, written.redacting
        task = classification.task or self.workspace.tasks.find(run)
        actions = load_action_trace(run.inputs) if run.trajectory is None else None
        pictures = self._pictures(run, runs) if actions is None else self._frames(written.record, actions, runs)
        answer = recorded_answer(run)
        parts = recorded_parts(run, task, classification.result, pictures, actions) | {"answer": answer.data}
        is_strict = self.workspace.settings.redaction.is_strict
        events = recorded_events(run, classification.result, parts["network"], is_strict=is_strict)
        attachment = {"parts": parts, **events, DEFINITION: task_definition(task)}
        by_agent = [list_agent_values(run, parts["steps"]), answer.data]
        result, safe = redacting.redact_with_attachment(classification.result, run, attachment, by_agent)
        redacted, details = safe["parts"], trim_bodies(safe["details"])
        if redacted["network"] is not None:
            redacted["network"]["detailed"] = len(details)
        paths = ReportPaths(self.directory, path, written.result_path, self.workspace.here)
        texts = PageTexts(rerun, answer.words)
        view = task_view(result, written.record, redacted | {"definition": safe[DEFINITION]}, paths, texts)
        # Events come first: a page says that they are there.
        write_events(written.record.run, details, safe["headers"], self.directory)
        write_task(written.record.run, view, self.directory)
        return {name: redacted[name] for name in ("intent", "template")}

    def _pictures(self, run: Run, runs: int) -> ScreenshotSource | None:
        """Links to the screenshots of a run, or thumbnails; None without a trajectory, or if redaction forbids them."""
        if run.trajectory is None:
            return None
        settings = self.workspace.settings
        if settings.report_embed is None:
            return Links(run.path, self.directory)
        return (
            None
            if settings.redaction.is_strict
            else Thumbnails(run.trajectory.image, settings.report_embed // max(runs, 1))
        )

    def _frames(self, record: Record, actions: ActionTrace, runs: int) -> ScreenshotSource | None:
        """Frames of a screencast, which no page can show inside of a trace: copies of the last ones, or thumbnails.

        To copy them takes about as long as to score the run, so a report has none of a success.
        """
        settings = self.workspace.settings
        if settings.redaction.is_strict:
            return None
        if settings.report_embed is not None:
            return Thumbnails(actions.image, settings.report_embed // max(runs, 1))
        if record.status == "success" and not record.skipped:
            return no_frames
        return FrameCopies.of_run(record.run, actions, self.directory, runs)
