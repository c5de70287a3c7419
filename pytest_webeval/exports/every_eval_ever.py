"""Public records of an evaluation, as `every_eval_ever validate` accepts them (schema 0.3.0)."""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pytest_webeval.errors import SettingsError, TaskDefinitionError
from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import TaskRow
from pytest_webeval.exports.settings import EvaluationFacts, ExportSettings
from pytest_webeval.exports.tables import join_lines
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import name_first
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.statistics import group, wilson_over_tasks
from pytest_webeval.summary.task_identity import count_tasks
from pytest_webeval.tasks.dataset import TaskSet, load_tasks

SCHEMA_VERSION = "0.3.0"
METRIC = "success_rate"
_REQUIRED = ("benchmark", "model", "organization", "relationship")
_SCORED_BY = ("rules", "evaluators_checksum")
_PART = re.compile(r"\w[\w.+@: -]*(?<![. ])", re.ASCII)
_RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?|data|unknown", re.IGNORECASE)
_EPOCH = "SOURCE_DATE_EPOCH"  # the time of reproducible builds


def format_records(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """One record of the rates, overall and by sites, and one line for each run with a verdict and each rate.

    The directories are those of the public data store, and the names of files come from their content. Raises
    `SettingsError` if facts are missing, or if no run has a verdict.
    """
    facts = settings.facts
    missing = [f"--{name}" for name in _REQUIRED if not getattr(facts, name)]
    if missing:
        raise SettingsError(f"every-eval-ever requires {', '.join(missing)}; results do not say it")
    directory = build_directory(facts)
    judged = [row for row in results if row.is_judged]
    if not judged:
        raise SettingsError(f"{results.source} holds no run with a verdict; every-eval-ever requires one")
    groups = _group_by_rate(judged, str(facts.benchmark))
    record = _build_record(facts, judged, groups)
    lines = _build_lines(record, groups, load_tasks(facts.tasks) if facts.tasks else None)
    name = uuid.UUID(hex=sha256(to_json_bytes(record) + lines)[:32], version=4)
    samples = f"{directory}/{name}_samples.jsonl"
    detail = {"format": "jsonl", "file_path": samples, "hash_algorithm": "sha256", "checksum": sha256(lines)}
    record["detailed_evaluation_results"] = detail | {"total_rows": lines.count(b"\n")}
    return {f"{directory}/{name}.json": to_json_bytes(record), samples: lines}


def build_directory(facts: EvaluationFacts) -> str:
    """Where the record of a model belongs in the public data store: data/BENCHMARK/DEVELOPER/MODEL.

    A model without a slash in its name requires `developer`. Raises `SettingsError`.
    """
    developer, slash, model = (facts.model or "").partition("/")
    if not slash:
        if not facts.developer:
            raise SettingsError(f"--model {facts.model!r:.80} names no developer; use DEVELOPER/MODEL, or --developer")
        developer, model = facts.developer, developer
    parts = {"--benchmark": facts.benchmark or "", "--developer" if not slash else "--model": developer}
    names = [_check_part(option, part) for option, part in parts.items()]
    return "/".join(["data", *names, "_".join(_check_part("--model", part) for part in model.split("/"))])


def _check_part(option: str, part: str) -> str:
    """The name of a directory on all systems."""
    if not _PART.fullmatch(part) or _RESERVED.fullmatch(part):
        raise SettingsError(f"invalid {option} part {part!r:.80}; use letters, digits, spaces and . _ + @ : - only")
    return part.replace(":", "_")


def _group_by_rate(judged: Sequence[TaskRow], benchmark: str) -> dict[str, list[TaskRow]]:
    """The runs of each rate by its name: the benchmark, then its sites if there are several."""
    by_site = group(judged, lambda row: row.sites)
    sites = {f"{benchmark}/{site}": by_site[site] for site in sorted(by_site) if site}
    return {benchmark: list(judged)} | (sites if len(by_site) > 1 else {})


def _build_record(
    facts: EvaluationFacts, judged: Sequence[TaskRow], groups: Mapping[str, Sequence[TaskRow]]
) -> dict[str, Any]:
    timestamp = max((row.timestamp for row in judged if row.timestamp), default=None)
    retrieved = _find_time(timestamp)
    model = {"name": facts.model, "id": facts.model, **({"developer": facts.developer} if facts.developer else {})}
    details = {
        "deployment_type": facts.deployment or "unknown",
        "model_availability": facts.availability or "unknown",
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{facts.benchmark}/{facts.model}/{retrieved}",
        **({"evaluation_timestamp": timestamp} if timestamp else {}),
        "retrieved_timestamp": str(retrieved),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": facts.organization,
            "evaluator_relationship": facts.relationship,
        },
        "eval_library": {"name": "pytest-webeval", "version": _join(judged, "version") or "unknown"},
        "model_info": model | {"additional_details": details},
        "evaluation_results": [_build_result(name, rows, facts) for name, rows in groups.items()],
    }


def _find_time(timestamp: str | None) -> int:
    """The seconds of `SOURCE_DATE_EPOCH`, or else of the session if they are known, or else of now."""
    given = os.environ.get(_EPOCH)
    if given is not None:
        if not (given.isascii() and given.isdigit()):
            raise SettingsError(f"invalid {_EPOCH} {given!r:.80}; use seconds, e.g. 1700000000")
        return int(given)
    try:
        read = datetime.fromisoformat(timestamp or "")
        return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return int(time.time())


def _build_result(name: str, rows: Sequence[TaskRow], facts: EvaluationFacts) -> dict[str, Any]:
    successes, tasks = sum(row.is_success for row in rows), count_tasks(rows)
    low, high = wilson_over_tasks(successes, len(rows), tasks)
    interval = {"lower": low, "upper": high, "confidence_level": 0.95, "method": "Wilson, over tasks"}
    counts = {"successes": str(successes), "runs": str(len(rows)), "tasks": str(tasks)}
    return {
        "evaluation_result_id": f"{name}#{METRIC}",
        "evaluation_name": name,
        "source_data": _build_source(rows, facts),
        "metric_config": {
            "metric_id": METRIC,
            "metric_name": "Success rate",
            "metric_kind": "pass_rate",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": {name: text for name in _SCORED_BY if (text := _join(rows, name))},
        },
        "score_details": {
            "score": successes / len(rows),
            "details": counts,
            "uncertainty": {"confidence_interval": interval, "num_samples": len(rows)},
        },
    }


def _build_source(rows: Sequence[TaskRow], facts: EvaluationFacts) -> dict[str, Any]:
    place = {"source_type": "url", "url": [facts.dataset_url]} if facts.dataset_url else {"source_type": "other"}
    checksum = _join(rows, "data_checksum")
    details = {"additional_details": {"checksum": checksum}} if checksum else {}
    return {"dataset_name": facts.benchmark, **place, **details}


def _join(rows: Sequence[TaskRow], column: str) -> str:
    """The different texts of a column, sorted: usually one."""
    texts = sorted({text for row in rows if (text := getattr(row, column))})
    return name_first(texts, 10, 80, len(texts))


def _build_lines(record: Mapping[str, Any], groups: Mapping[str, Sequence[TaskRow]], tasks: TaskSet | None) -> bytes:
    """A line for each run of each rate."""
    common = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
    }
    names = {name: {"evaluation_name": name, "evaluation_result_id": f"{name}#{METRIC}"} for name in groups}
    intents: dict[str, str] = {}
    if tasks is not None:
        for row in groups[next(iter(groups))]:  # the runs of the benchmark, which are all
            with suppress(TaskDefinitionError):
                intents[row.task_id] = tasks.get(row.task_id).intent
    return join_lines(
        common | names[name] | _build_sample(row, intents.get(row.task_id, ""))
        for name, rows in groups.items()
        for row in rows
    )


def _build_sample(row: TaskRow, intent: str) -> dict[str, Any]:
    """A run. Results hold only the last message of an agent, its answer."""
    answered = row.answer is not None
    message = {"turn_idx": 0, "role": "assistant", "content": row.answer}
    attribution = {"turn_idx": 0, "source": "messages[0].content", "extracted_value": row.answer}
    attribution |= {"extraction_method": "final answer", "is_terminal": True}
    metadata = {name: getattr(row, name) for name in ("run", "status", "sites", "type", "rules", "tags", "reason")}
    return {
        "sample_id": row.task_id,
        "interaction_type": "agentic",
        "input": {"raw": intent, "reference": []},
        "messages": [message] if answered else [],
        "answer_attribution": [attribution] if answered else [],
        "evaluation": {"score": float(row.is_success), "is_correct": row.is_success},
        "error": row.reason if row.status == "error" else None,
        "metadata": {name: text for name, text in metadata.items() if text},
    }
