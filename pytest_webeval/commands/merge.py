"""`webeval merge DIR…`: one summary and one report of all shards of a session."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_webeval.commands.command import REDACT, argument, print_text, warn
from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.reports.ci import open_metrics
from pytest_webeval.results import RESULT, SUMMARY, Summary
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.text import name_first, pluralize, sanitize
from pytest_webeval.storage import write_bytes, write_text
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.results.redacted_results import redact_file
from pytest_webeval.summary.results.result_files import build_rows
from pytest_webeval.summary.shard_file import ShardFile, check_shards, merge_records, merge_summary, read_shards
from pytest_webeval.summary.summary_file import write_session_summary

HELP = "merge the shards of a session into one summary and one report"
NO_RUNS = 5  # as pytest has it for a session without tests
ARGUMENTS = (
    argument("directories", "DIR", "a directory that a shard wrote to", nargs="+"),
    argument("--output", "DIR", f"write {SUMMARY} and all results to DIR"),
    argument("--report", "DIR", "write the HTML report to DIR; name the reports of the shards too"),
    REDACT,
    argument("--gitlab-metrics", "FILE", "write the totals to FILE for GitLab"),
    argument("--metrics", "DIR", "write a metrics.json to DIR for each run of trajectories"),
)


def run(arguments: argparse.Namespace) -> int:
    """Merge all shards. Returns the exit code: 1 if some runs were not scored, 5 if there are none.

    Raises `SettingsError`.
    """
    try:
        return _merge(arguments)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # somebody changed the file of a shard
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise SettingsError(f"cannot merge the shards: {problem:.200}; score them again") from error


def _merge(arguments: argparse.Namespace) -> int:
    directories = [Path(name) for name in dict.fromkeys(arguments.directories)]
    files = read_shards(directories)
    shards = check_shards(files)
    summary = merge_summary(shards)
    place = _choose_place(arguments.output, directories)
    if arguments.output:
        _copy_results(files, place, RedactionPolicy(arguments.redact))
    written = write_session_summary(place, summary)
    lines = [*_describe(shards, summary), f"summary: {written}"]
    if arguments.report:
        from pytest_webeval.reports.html.report_directory import write_merged_report  # only for this option

        report = Path(arguments.report)
        has_own_summary = report.resolve() == place.resolve()
        page = write_merged_report(report, summary, files, has_own_summary=has_own_summary)
        lines.append(f"report: {page}")
    if arguments.metrics:
        lines += _write_metrics(merge_records(shards), Path(arguments.metrics), shards)
    if arguments.gitlab_metrics:
        write_text(Path(arguments.gitlab_metrics), open_metrics(summary))
    print_text("\n".join(map(sanitize, lines)))
    if not summary.task_results:
        return NO_RUNS
    return 1 if summary.webeval["unscored_count"] else 0


def _choose_place(output: str | None, directories: Sequence[Path]) -> Path:
    """The directory for the summary: that of the option, or the one to which all shards wrote."""
    if output:
        return Path(output)
    if len(directories) > 1:
        raise SettingsError("several directories; name one for the summary and the results with --output")
    return directories[0]


def _copy_results(files: Sequence[tuple[Path, ShardFile]], output: Path, policy: RedactionPolicy) -> None:
    """Copy the results of the runs of each shard, in the same tree: others in the directory are of earlier sessions."""
    problems: list[str] = []
    missing = {record.run for _, shard in files for record in shard.records if record.status in ("success", "failure")}
    runs_by_directory: dict[Path, set[str]] = {}
    for path, shard in files:
        runs_by_directory.setdefault(path.parent, set()).update(record.run for record in shard.records)
    own = output.resolve()
    for directory, runs in runs_by_directory.items():
        base = directory.resolve()
        for result, stored in build_rows(directory, lambda *read: read, problems, policy):
            run = str(result.webeval.get("run"))
            is_copy = own.is_relative_to(base) and (base / stored.place).is_relative_to(own)
            if run in runs and not is_copy:
                write_bytes(output / stored.place / RESULT, redact_file(result, stored.read_file(), policy))
            missing.discard(run)
    if missing:
        names = name_first(sorted(missing), 3, 80, len(missing))
        problems.append(f"{pluralize(len(missing), 'result')} not copied: {names}; name the directories of the results")
    warn(problems)


def _write_metrics(records: Iterable[Record], directory: Path, shards: Sequence[ShardFile]) -> list[str]:
    """Write the files. Returns a line if there are none."""
    from pytest_webeval.summary.trajectories.metrics_json import write_metrics  # with all of the analysis

    trajectories = [record for record in records if record.trajectory is not None]
    write_metrics(trajectories, directory, find_rules(shards[0].session["rules"]), None)
    return [] if trajectories else ["no metrics.json was written: no run is a trajectory"]


def _describe(shards: Sequence[ShardFile], summary: Summary) -> list[str]:
    """What was merged, and what is not in it. The times show a shard of an earlier session."""
    times = sorted({shard.timestamp for shard in shards})
    ended = times[0] if len(times) == 1 else f"from {times[0]} to {times[-1]}"
    lines = [
        f"merged {pluralize(len(shards), 'shard')}: {summary.total} scored, {summary.success_count} success",
        f"shards ended: {ended}",
    ]
    webeval = summary.webeval
    if webeval["unscored_count"]:
        reason = f" ({webeval['stopped']})" if webeval["stopped"] else ""
        lines.append(
            f"partial: {pluralize(webeval['unscored_count'], 'run')} not scored{reason}; score these shards again"
        )
    elif webeval["partial"]:
        lines.append("partial: options selected some of the runs")
    return lines
