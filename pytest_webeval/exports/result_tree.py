"""Results as single files: what shards hold, as a session without shards writes it below its output directory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.results import RESULT, TaskResult
from pytest_webeval.summary.results.redacted_results import DEFAULT_POLICY, redact_file
from pytest_webeval.summary.results.result_files import StoredResult, build_rows


def list_result_files(
    root: Path, problems: list[str], policy: RedactionPolicy = DEFAULT_POLICY
) -> Iterator[tuple[str, bytes]]:
    """The path and the bytes of each result file, one at a time. `problems` gets a line for what cannot be read.

    Raises `SettingsError` unless the root is a directory with results.
    """
    if not root.is_dir():
        raise SettingsError(f"{root} is not a directory; name a directory of results")
    is_empty = True
    for path, content in build_rows(root, partial(_build_file, policy), problems, policy):
        is_empty = False
        yield path, content
    if is_empty and not problems:
        raise SettingsError(f"{root} holds no results; name a directory of results")


def _build_file(policy: RedactionPolicy, result: TaskResult, stored: StoredResult) -> tuple[str, bytes]:
    path = RESULT if stored.place == "." else f"{stored.place}/{RESULT}"
    return path, redact_file(result, stored.read_file(), policy)
