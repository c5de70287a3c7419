"""`webeval export RESULTS --to TARGET`: results for data frames, databases and other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from pytest_webeval.commands.command import REDACT, argument, warn
from pytest_webeval.errors import SettingsError
from pytest_webeval.exports import EXPORTS, Export, Output, Stream, list_exports
from pytest_webeval.exports.loading import load_results
from pytest_webeval.exports.settings import (
    AVAILABILITIES,
    DEPLOYMENTS,
    RELATIONSHIPS,
    EvaluationFacts,
    ExportSettings,
    RowKind,
)
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.storage import write_bytes
from pytest_webeval.summary.scored_session import format_problems

HELP = "export results: CSV, JSON lines, Parquet, single files, inspect_ai, every_eval_ever"
_FACTS = EvaluationFacts.__struct_fields__
_RECORD = "for every-eval-ever"
ARGUMENTS = (
    argument("results", "RESULTS", "a directory of results, or eval_summary.json"),
    argument("--to", "TARGET", f"the format: {', '.join(EXPORTS)}, or one of another package", required=True),
    argument("--rows", None, "the rows of a table (default: tasks)", choices=get_args(RowKind)),
    argument("--output", "PATH", "a file instead of the output, or a directory of records"),
    REDACT,
    argument("--benchmark", "NAME", "the name of the benchmark", group=_RECORD),
    argument("--model", "ID", "the model, e.g. openai/gpt-4o", group=_RECORD),
    argument("--developer", "NAME", "who made the model, if its ID does not say it", group=_RECORD),
    argument("--organization", "NAME", "who publishes the record", group=_RECORD),
    argument("--relationship", None, "of who evaluated to who made the model", group=_RECORD, choices=RELATIONSHIPS),
    argument("--deployment", None, "who runs the model (default: unknown)", group=_RECORD, choices=DEPLOYMENTS),
    argument(
        "--availability", None, "of the model's weights (default: unknown)", group=_RECORD, choices=AVAILABILITIES
    ),
    argument("--dataset-url", "URL", "where the tasks are published", group=_RECORD),
    argument("--tasks", "FILE", "task definitions, for the intents", group=_RECORD),
)


def run(arguments: argparse.Namespace) -> int:
    """Write the export. Results that cannot be read are named on stderr. Raises `SettingsError`."""
    targets = list_exports()
    if arguments.to not in targets:
        raise SettingsError(f"unknown target {arguments.to!r:.80}; use {', '.join(targets)}")
    target = targets[arguments.to]
    _check_options(arguments, target)
    if target.is_streamed:
        policy = RedactionPolicy(arguments.redact)
        return _write_stream(Path(arguments.results), Path(arguments.output), target.load_stream(), policy)
    results = load_results(arguments.results, arguments.redact)
    warn(results.problems)
    facts = EvaluationFacts(**{name: getattr(arguments, name) for name in _FACTS})
    files = target.load_writer()(results, ExportSettings(arguments.rows or "tasks", facts))
    for name, content in files.items():
        if arguments.output is None:  # always in UTF-8: it is a file, though nobody named it yet
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            continue
        path = Path(arguments.output, name) if name else Path(arguments.output)
        write_bytes(path, content, "choose another --output")
        sys.stdout.write(f"{sanitize(str(path))}: {pluralize(len(content), 'byte')}\n")
    return 0


def _write_stream(results: Path, output: Path, stream: Stream, policy: RedactionPolicy) -> int:
    """Write one file at a time, of which there may be millions. Results that cannot be read are named on stderr."""
    if output.resolve().is_relative_to(results.resolve()):  # the files would be results the next time
        raise SettingsError(f"{output} is in the directory of the results; choose another --output")
    problems: list[str] = []
    count = 0
    for name, content in stream(results, problems, policy):
        write_bytes(output / name, content, "choose another --output")
        count += 1
    warn(format_problems(problems, str(results)))
    sys.stdout.write(f"{sanitize(str(output))}: {pluralize(count, 'file')}\n")
    return 0


def _check_options(arguments: argparse.Namespace, target: Export) -> None:
    if arguments.output is None and target.output is not Output.ANYWHERE:
        kind = "PATH.parquet" if target.output is Output.FILE else "DIRECTORY"
        raise SettingsError(f"{arguments.to} requires a {target.output.value}; use --output {kind}")
    if arguments.rows is not None and not target.has_rows:
        names = [name for name, export in EXPORTS.items() if export.has_rows]
        raise SettingsError(f"{arguments.to} has no --rows; use it with {', '.join(names)}")
    given = [f"--{name.replace('_', '-')}" for name in _FACTS if getattr(arguments, name) is not None]
    if given and not target.has_facts:
        raise SettingsError(f"{arguments.to} has no {', '.join(given)}; use it with every-eval-ever")
