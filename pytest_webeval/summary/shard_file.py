"""The file that one shard of a session leaves, and how the files of all shards become one summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.results import SCHEMA_VERSION, Summary
from pytest_webeval.safety.json import format_validation_error, get_member
from pytest_webeval.safety.text import name_first, pluralize, truncate
from pytest_webeval.storage import Sync
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.shards import MOST_SHARDS
from pytest_webeval.summary.store.row_file import RowFile
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.summary_file import SideList, load_side_lists, read_summary_file, write_with_side_files

PATTERN = "eval_shard-*-of-*.json"
_SHOWN, _NAMED = 60, 5  # characters of a value in a message; shards
_SUMMED = ("unscored_count", "reused_count")  # details of which shards have their own
_OWN = frozenset({*_SUMMED, "unscored", "stopped", "deselected_count", "partial", "shard", "shard_run_count"})


class ReportPart(Struct, frozen=True):
    """What the report of a shard needs besides the records: see `reports.rerun` and `reports.html.index_page`."""

    title: str
    options: list[str]
    pinned: list[str]
    texts: dict[str, dict[str, str | None]]
    embed: int | None = None


class ShardFile(Struct, frozen=True, kw_only=True):
    """The content of eval_shard-I-of-N.json.

    `session` is what decides the verdicts, the same in all shards. `details` are what a summary has under `webeval`
    besides the counts. `chosen` is the number of runs that options deselected, `outside` that of runs outside the
    subset. `report` is there only in the directory of a report.
    """

    schema_version: int
    index: int
    count: int
    run_count: int
    split_checksum: str
    timestamp: str
    session: dict[str, Any]
    chosen: int
    outside: int
    details: dict[str, Any]
    records: Sequence[Record]
    report: ReportPart | None = None


class _StoredRecords(SideList):
    """The records in a side file."""

    def __iter__(self) -> Iterator[Record]:
        return (convert(raw, Record) for raw in super().__iter__())


def write_shard_file(path: Path, shard: ShardFile, sync: Sync | None = None) -> None:
    """Write the file of a shard. Raises `SettingsError`."""
    report = None if shard.report is None else structs.asdict(shard.report)
    content = {name: getattr(shard, name) for name in shard.__struct_fields__} | {"report": report}
    write_with_side_files(path, content, sync)


def read_shards(directories: Sequence[Path]) -> list[tuple[Path, ShardFile]]:
    """The shard files in some directories, in their order. Raises `SettingsError` for one that cannot be read."""
    paths: list[Path] = []
    for directory in directories:
        if not directory.is_dir():
            raise SettingsError(f"directory not found: {directory}; name the directories that the shards wrote to")
        of_directory = sorted(directory.glob(PATTERN))
        if not of_directory:
            raise SettingsError(f"{directory} holds no {PATTERN}; score with --webeval-shard=I/N to get one")
        paths += of_directory
    return [(path, _read(path)) for path in paths]


def _read(path: Path) -> ShardFile:
    try:
        raw = read_summary_file(path, str(path))
        rows = get_member(raw, "records")
        shard = convert(load_side_lists(raw | {"records": []} if isinstance(rows, SideList) else raw), ShardFile)
        if isinstance(rows, SideList):  # which stays there
            shard = structs.replace(shard, records=_StoredRecords(rows.directory, rows.file, rows.source))
        for record in shard.records:
            if record.run.startswith("/") or ".." in record.run.split("/"):
                problem = f"the label {record.run!r:.80} leads out of the run roots"
                raise SettingsError(f"invalid shard {path}: {problem}; score it again")
    except ValidationError as error:
        raise SettingsError(
            f"invalid shard {path}: {format_validation_error(error)}; score this shard again"
        ) from error
    if not 1 <= shard.index <= shard.count <= MOST_SHARDS:
        raise SettingsError(f"invalid shard {path}: there is no shard {shard.index}/{shard.count}; score it again")
    if shard.schema_version != SCHEMA_VERSION:
        version = f"{path} has schema version {shard.schema_version}, not {SCHEMA_VERSION}"
        raise SettingsError(f"{version}; merge with the version of pytest-webeval that wrote it")
    return shard


def check_shards(files: Sequence[tuple[Path, ShardFile]]) -> list[ShardFile]:
    """All shards of one session, in their order. Raises `SettingsError` that names what does not belong together."""
    by_index: dict[int, tuple[Path, ShardFile]] = {}
    first_path, first = files[0]
    for path, shard in files:
        if problem := _find_difference(first, shard):
            raise SettingsError(f"{path} and {first_path} are not shards of one session: {problem}; merge one session")
        earlier_path, earlier = by_index.setdefault(shard.index, (path, shard))
        if earlier.records != shard.records or earlier.timestamp != shard.timestamp:
            raise SettingsError(
                f"{path} and {earlier_path} are both shard {shard.index}/{shard.count}; name one of them"
            )
    missing = [f"{index}/{first.count}" for index in range(1, first.count + 1) if index not in by_index]
    if missing:
        listed = name_first(missing, _NAMED, _SHOWN, len(missing))
        raise SettingsError(f"{pluralize(len(missing), 'shard')} missing: {listed}; score and name all shards")
    ordered = [by_index[index] for index in sorted(by_index)]
    _check_overlap(ordered)
    return [shard for _, shard in ordered]


def _find_difference(first: ShardFile, other: ShardFile) -> str | None:
    """What differs between shards of several sessions, in a few words."""
    if first.count != other.count:
        return f"one is of {first.count} shards, the other of {other.count}"
    if (first.split_checksum, first.run_count) != (other.split_checksum, other.run_count):
        return "they split other runs, or by other times"
    session, others = _list_facts(first), _list_facts(other)
    for name in sorted(session.keys() | others.keys(), key=lambda name: (name != "rules", name)):
        if session.get(name) != others.get(name):
            return f"{name} {', '.join(truncate(str(facts.get(name)), _SHOWN) for facts in (session, others))}"
    return None


def _list_facts(shard: ShardFile) -> dict[str, Any]:
    """What must be the same in all shards, by the names of options and of details."""
    options = {f"option {name}": value for name, value in shard.session.get("options", {}).items()}
    details = {name: value for name, value in shard.details.items() if name not in _OWN}
    return {name: value for name, value in shard.session.items() if name != "options"} | options | details


def _check_overlap(ordered: Sequence[tuple[Path, ShardFile]]) -> None:
    """Raise `SettingsError` if a run is in two shards."""
    seen: set[int] = set()  # hashes: labels would take several times the memory
    for path, shard in ordered:
        for run in (record.run for record in shard.records):
            if hash(run) in seen:
                places = [other for other, each in ordered for record in each.records if record.run == run]
                if len(places) > 1:
                    raise SettingsError(f"{path} and {places[0]} both have the run {run}; score both again")
            seen.add(hash(run))


def merge_records(shards: Sequence[ShardFile]) -> RowFile:
    """The records of all shards."""
    rows = RowFile()
    for shard in shards:
        rows.extend(shard.records)
    return rows


def merge_summary(shards: Sequence[ShardFile]) -> Summary:
    """The summary that one session over all runs writes."""
    session = shards[0].session
    return summarize_records(
        merge_records(shards),
        _merge_details(shards),
        max(shard.timestamp for shard in shards),
        session.get("expected"),
        session.get("attempts"),
    )


def _merge_details(shards: Sequence[ShardFile]) -> Mapping[str, Any]:
    """What the session adds under `webeval`, in the order that one session writes."""
    first, chosen = shards[0], sum(shard.chosen for shard in shards)
    unscored = sorted(label for shard in shards for label in shard.details["unscored"])
    reasons = dict.fromkeys(shard.details["stopped"] for shard in shards if shard.details["stopped"])
    has_runs = any(shard.records or shard.details["unscored"] for shard in shards)
    is_selected = any(shard.details["partial"] for shard in shards)
    merged: dict[str, Any] = {
        "unscored_count": len(unscored),
        "unscored": unscored,
        "stopped": "; ".join(reasons) or None,
        "deselected_count": chosen + first.outside,
        "partial": bool(unscored or is_selected or not has_runs),
    }
    if "reused_count" in first.details:
        merged["reused_count"] = sum(shard.details.get("reused_count", 0) for shard in shards)
    return {
        name: merged.get(name, value)
        for name, value in first.details.items()
        if name not in {"shard", "shard_run_count"}
    }
