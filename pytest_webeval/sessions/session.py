"""What a session keeps while its runs are scored, whoever lets them be scored: pytest, or the command `score`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_webeval.errors import DiskFull, WebEvalError
from pytest_webeval.sessions.collected import Collected
from pytest_webeval.sessions.full_disk import FullDisk
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.runs.run_outcome import RunOutcome
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pytest_webeval.sessions.report_index import ReportIndex
    from pytest_webeval.sessions.session_checks import SessionChecks

PASSED, FAILED, INTERRUPTED, MISUSED, NO_RUNS = 0, 1, 2, 4, 5  # exit codes, as pytest has them
CHECKING = ("baseline", "baseline_update", "known_failures", "gate", "write_subset")


class Session(Struct, eq=False, dict=True):
    """One per session, in the process that sums up. `records` are the rows of the runs, of which a rerun replaces one.

    `repeated` are the options of commands that score runs again, and those that keep the meaning of node ids.
    `selection` says how the session selects some of its runs; None if it scores all.
    """

    workspace: Workspace
    missing: MissingTasks
    records: SessionRows
    repeated: tuple[Sequence[str], Sequence[str]] = ((), ())
    selection: str | None = None
    collected: Collected = field(default_factory=Collected)
    texts: dict[str, dict[str, str | None]] = field(default_factory=dict)  # of tasks, for a report
    problems: list[str] = field(default_factory=list)
    unscored: Sequence[str] = ()  # the labels of runs without a record, when the session ends
    stopped: str | None = None  # why not all runs were scored
    has_other_failure: bool = False  # something failed that is not the verdict on a task
    contradicted: list[str] = field(default_factory=list)  # runs that passed their own test, and failed by another
    recorded: list[str] = field(default_factory=list)  # other runs of which Python tests recorded a failure
    _shared_texts: dict[tuple[tuple[str, str | None], ...], dict[str, str | None]] = field(default_factory=dict)

    @cached_property
    def full_disk(self) -> FullDisk:
        """Files that were not written because the disk is full."""
        return FullDisk(self.workspace.settings)

    @cached_property
    def checks(self) -> SessionChecks | None:
        """The gates and the baseline, if an option asks for any. Raises `WebEvalError`."""
        if not any(getattr(self.workspace.settings, name) for name in CHECKING):
            return None
        from pytest_webeval.sessions.session_checks import SessionChecks  # few sessions have them

        return SessionChecks.of(self.workspace, self.missing, self.selection)

    @cached_property
    def report(self) -> ReportIndex | None:
        """The report to write, if an option asks for one, with its directory made. Raises `SettingsError`."""
        if self.workspace.settings.report is None:
            return None
        from pytest_webeval.sessions.report_index import ReportIndex  # for who asks

        return ReportIndex.open(self.workspace, self.workspace.settings.report)

    def keep(self, payload: RecordPayload) -> None:
        """Keep what a process tells of a run that it scored."""
        label, texts = payload.record.run, payload.texts
        if texts:  # those of a task once: it may have many runs
            self.texts[label] = self._shared_texts.setdefault(tuple(texts.items()), texts)
        self.full_disk.replace(label, payload.no_room)
        self.attempt(partial(self.records.keep_payload, payload))

    def keep_written(self, written: RunOutcome) -> None:
        """Keep a run that this process wrote in place of the one that scored it."""
        label = written.record.run
        self.attempt(partial(self.records.keep, written.record, written.line))
        if written.texts:
            self.texts[label] = written.texts
        self.full_disk.add(written.no_room, label)

    def attempt(self, write: Callable[[], object], label: str = "") -> bool:
        """Whether something could be written; the obstacle is shown at the end of the session."""
        try:
            write()
        except DiskFull as error:
            self.full_disk.add(error.no_room, label)
            return False
        except WebEvalError as error:
            self.problems.append(self.workspace.redacting.text(str(error)))
            return False
        return True

    @property
    def is_whole(self) -> bool:
        """Whether the session scored all runs of its roots or of its shard: what is there of others is out of date."""
        is_some = bool(self.unscored) or self.collected.is_chosen or self.workspace.tasks.subset is not None
        return not (is_some or self.workspace.settings.is_live)
