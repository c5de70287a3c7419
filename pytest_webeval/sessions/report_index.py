"""The first page of our own report, written by the process that sums all up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.reports.failure_text import list_known
from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.index_parts import write_index
from pytest_webeval.reports.html.report_directory import IndexRows, WrittenPages, claim_directory
from pytest_webeval.reports.html.writer import write_copy
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.results import Summary
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.store.row_file import sort_records
from pytest_webeval.summary.summary_file import write_session_summary

if TYPE_CHECKING:
    from pytest_webeval.summary.scored_session import ScoredSession

Texts = Mapping[str, Mapping[str, str | None]]  # of tasks, intent and template, by run


class ReportIndex(Struct, eq=False):
    """One per session with a report. `earlier` are the sessions for a history, which has a page of its own."""

    workspace: Workspace
    directory: Path
    earlier: Sequence[ScoredSession] = ()
    created: Sequence[Path] = ()  # directories to remove again if they stay empty
    written: list[Path] = field(default_factory=list)

    @classmethod
    def open(cls, workspace: Workspace, directory: Path) -> Self:
        """Make the directory, and remove the report of an earlier session. Raises `SettingsError`.

        The history is read first: it may name the summary that this session replaces.
        """
        earlier = _read_history(workspace.settings.history)
        try:
            created = claim_directory(directory, has_own_summary=directory == workspace.settings.output)
        except SettingsError as error:
            raise SettingsError(f"--webeval-report: {error}") from error
        return cls(workspace, directory, earlier, created)

    def write(  # noqa: PLR0913  (all that a session knows)
        self,
        summary: Summary,
        records: Iterable[Record],
        *,
        texts: Texts,
        reruns: RerunCommands,
        comparison: SessionComparison | None,
        write_numbers: Callable[[], None] | None = None,
    ) -> None:
        """Write the page, and a copy of the summary for `compare` or what `write_numbers` writes in place of it.

        With a baseline and earlier sessions, these have pages too. Raises `SettingsError`.
        """
        roots = ", ".join(self.workspace.labels.prefixes.values())
        known, flips = set(list_known(summary.webeval["failures"])), dict[str, str]()
        if "baseline" in summary.webeval:
            from pytest_webeval.summary.comparison.baseline import flip_by_run  # few sessions have a baseline

            flips = flip_by_run(summary.webeval)
        rows = IndexRows(WrittenPages(self.directory), sort_records(records), texts, flips, known)
        index = index_view(rows, summary, roots, lambda labels: reruns.command(labels).command)
        if comparison is not None:
            index["comparison"] = self._write_comparison(summary, comparison).name
        if self.earlier:
            index["history"] = self._write_history(summary).name
        index = write_index(index, rows, self.directory)
        if write_numbers is None:
            write_session_summary(self.directory, summary, self.workspace.settings.sync)
        else:
            write_numbers()
        self.written.append(self.directory / "index.html")
        if (budget := self.workspace.settings.report_embed) is not None:
            self.written.append(write_copy(index, self.directory, budget))

    def _write_comparison(self, summary: Summary, comparison: SessionComparison) -> Path:
        from pytest_webeval.reports.html.comparison_page import write_comparison_page  # few sessions have a baseline
        from pytest_webeval.reports.html.side_by_side.entries import SessionFiles

        settings, rootpath = self.workspace.settings, self.workspace.rootpath
        content = {"comparisons": [comparison.to_json()], "gates": summary.webeval.get("gates", [])}
        baseline = settings.baseline or self.directory
        files = [
            SessionFiles(comparison.before, baseline.parent, rootpath),
            SessionFiles(comparison.after, self.directory, rootpath),
        ]
        return write_comparison_page(content, self.directory, files, settings.redaction)

    def _write_history(self, summary: Summary) -> Path:
        from pytest_webeval.reports.html.static_pages import write_history_page  # when the session is over
        from pytest_webeval.summary.comparison.history import build_history
        from pytest_webeval.summary.scored_session import session_of

        return write_history_page(build_history(self.earlier, session_of(summary)), self.directory)

    def remove_empty(self) -> None:
        """Leave no empty directory behind where the session ended before it scored anything."""
        for path in self.created:
            with suppress(OSError):
                path.rmdir()


def _read_history(names: Sequence[str]) -> list[ScoredSession]:
    """The earlier sessions that an option names. Raises `SettingsError`."""
    if not names:
        return []
    from pytest_webeval.summary.comparison.history import condense  # few sessions have a history
    from pytest_webeval.summary.comparison.session_reading import read_session

    try:
        return [condense(read_session(Path(name))) for name in dict.fromkeys(names)]
    except WebEvalError as error:
        raise SettingsError(f"--webeval-history: {error}") from error
