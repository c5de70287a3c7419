"""The summaries of a session: what the session adds to the records of its runs, and where each summary goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.results import EVALUATOR_CHOICE, Summary
from pytest_webeval.scoring.provenance import libraries
from pytest_webeval.sessions.collected import Collected
from pytest_webeval.sessions.output_paths import list_result_directories
from pytest_webeval.sessions.session_rows import Rows, SessionRows
from pytest_webeval.sessions.settings import Settings
from pytest_webeval.sessions.stale_results import stale_results
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.row_file import RowFile
from pytest_webeval.summary.summarize import summarize_records

WITHOUT_RUNS_LISTED = 100  # directories in a summary


class Summaries(Struct, frozen=True, eq=False, dict=True):
    """One per session, when it ends. `records` are those of all runs, `unscored` the labels of the others."""

    workspace: Workspace
    collected: Collected
    records: SessionRows
    unscored: Sequence[str]
    stopped: str | None

    def build(self, records: Rows) -> Summary:
        """The summary of some records."""
        details = self.details
        if self.workspace.settings.reuse:
            details["reused_count"] = records.count_reused()
        if not details["partial"] and (stale := self._stale_results):
            details["stale_results"] = stale
        attempts, known = self.workspace.settings.attempts, self.workspace.known_failures
        summary = summarize_records(records, details, expected=self.expected, attempts=attempts, known_failures=known)
        if self.workspace.settings.judge_certificate is None or "judging" not in summary.webeval:
            return summary
        return self.workspace.add_certificate(summary)

    @property
    def is_whole(self) -> bool:
        """Whether the session scored all runs of its roots or of its shard: what is there of others is out of date."""
        is_some = bool(self.unscored) or self.collected.is_chosen or self.workspace.tasks.subset is not None
        return not (is_some or self.workspace.settings.is_live)

    @property
    def details(self) -> dict[str, Any]:
        """What the session adds under `webeval`."""
        tasks, shard = self.workspace.tasks.configured, self.workspace.settings.shard
        counts, without_runs = self.collected.counts, self.collected.without_runs
        is_live = self.workspace.settings.is_live
        has_all = not (self.unscored or self.collected.is_chosen or shard or (is_live and self.stopped))
        is_whole = has_all and (self.collected.has_runs or (is_live and len(self.records) > 0))
        return {
            "unscored_count": len(self.unscored),
            "unscored": list(self.unscored),
            "stopped": self.stopped,
            "deselected_count": counts.deselected,
            "partial": not is_whole,
            "subset": self._subset,
            "policy": self._policy,
            **({EVALUATOR_CHOICE: list(choice)} if (choice := self.workspace.settings.evaluators) else {}),
            "task_warnings": list(tasks.warnings) if tasks else [],
            "without_runs_count": len(without_runs),
            "without_runs": list(without_runs[:WITHOUT_RUNS_LISTED]),
            "nested_runs": list(self.collected.nested_runs[:WITHOUT_RUNS_LISTED]),
            "today": self.workspace.settings.today.isoformat(),
            "libraries": libraries(),
        } | ({"shard": f"{shard}", "shard_run_count": counts.split} if shard else {})

    @property
    def _policy(self) -> dict[str, Any]:
        """How stored verdicts count, and the files of verdicts that count before them."""
        external = self.workspace.external
        return self.workspace.settings.policy.to_json() | (external.to_json() if external is not None else {})

    @cached_property
    def _stale_results(self) -> list[str]:
        """The directories in `--webeval-output` with results of runs that are gone."""
        labels = (record.run for record in self.records if not record.missing)
        paths = (self.workspace.labels.path_of(label) for label in labels)
        return stale_results(self.workspace, {self.workspace.place(path) for path in paths if path is not None})

    @property
    def expected(self) -> list[str] | None:
        """The tasks that should have a trajectory, from --webeval-tasks or the subset."""
        tasks = self.workspace.tasks.subset or self.workspace.tasks.configured
        trajectory_ids = (
            [task_id for task_id in tasks.task_ids if isinstance(task_id, str)] if tasks is not None else []
        )
        return trajectory_ids or None

    @property
    def _subset(self) -> dict[str, Any] | None:
        """The subset in the summary. A session that scores all of it is complete."""
        subset = self.workspace.tasks.subset
        if subset is None:
            return None
        counts = {"task_count": len(subset.task_ids), "outside_count": self.collected.counts.outside}
        return {"name": subset.name, "checksum": subset.checksum} | counts

    def list_places(self) -> Mapping[Path, RowFile]:
        """The directories of summaries: the output directory, otherwise each root for its own runs.

        A root that is itself a trajectory gets its result alone. A shard may be empty, and says so.
        """
        if (output := self.workspace.settings.output) is not None:
            return {output: self.records.find_file(output)}
        paths = filter(None, map(self.workspace.labels.path_of, self.unscored))
        places = [
            root
            for root, record in self.records.list_first()
            if not (record.trajectory and record.run == self.workspace.labels.of(root))
        ]
        places += [root for path in paths if (root := self.workspace.labels.root_of(path)) not in (None, path)]
        places += list_result_directories(self.workspace) if self.workspace.settings.shard is not None else []
        return {root: self.records.find_file(root) for root in dict.fromkeys(places)}


def write_session_metrics(directory: Path, summary: Summary, records: Iterable[Record], settings: Settings) -> None:
    """Write a metrics.json for each run of trajectories. Raises `SettingsError`."""
    if summary.webeval["partial"]:
        raise SettingsError("metrics.json not written: the session is partial; score all runs to get it")
    from pytest_webeval.summary.metrics_json import write_metrics  # with all of the analysis

    trajectories = [record for record in records if record.trajectory is not None]
    write_metrics(trajectories, directory, settings.rules, settings.sync)
