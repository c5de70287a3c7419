"""Results for other tools. A new target is one module and one line of `EXPORTS`, or an entry point elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.extensions import load_extensions
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.safety.text import shorten_repr

Writer = Callable[[LoadedResults, ExportSettings], Mapping[str, bytes]]
Stream = Callable[[Path, list[str], RedactionPolicy], Iterator[tuple[str, bytes]]]


class Output(StrEnum):
    """Where an export can go."""

    ANYWHERE = "anywhere"  # a file, or the standard output
    FILE = "file"
    DIRECTORY = "directory"


class Export(Struct, frozen=True):
    """A target: the module and name of its writer, where its output goes, and the settings that it knows.

    The writer is a location in this package, or a function of another one. It gives the bytes of each file by
    its path below the output; the path of a single file is empty. If it `is_streamed`, it gives a file at a time, from
    the results themselves.
    """

    writer: str | Writer
    output: Output = Output.ANYWHERE
    has_rows: bool = False
    has_facts: bool = False
    is_streamed: bool = False

    def load_writer(self) -> Writer:
        """The writer of rows, whose module is imported on first use: some need a library that may be missing."""
        writer: Writer = self._load()
        return writer

    def load_stream(self) -> Stream:
        """The same for a target that is streamed."""
        stream: Stream = self._load()
        return stream

    def _load(self) -> Any:
        if not isinstance(self.writer, str):
            return self.writer
        module, _, name = self.writer.partition(":")
        return getattr(import_module(f"{__name__}.{module}"), name)


EXPORTS: dict[str, Export] = {
    "csv": Export("tables:format_csv", has_rows=True),
    "jsonl": Export("tables:format_json_lines", has_rows=True),
    "parquet": Export("tables:format_parquet", Output.FILE, has_rows=True),
    "inspect": Export("inspect_scores:format_inspect_scores"),
    "files": Export("result_tree:list_result_files", Output.DIRECTORY, is_streamed=True),
    "every-eval-ever": Export("every_eval_ever:format_records", Output.DIRECTORY, has_facts=True),
}


def list_exports() -> dict[str, Export]:
    """All targets, those of other packages last. Raises `SettingsError` for a name that two have."""
    found = load_extensions("exports", (*EXPORTS,), _check_writer)
    return EXPORTS | {name: Export(writer) for name, writer in found.items()}


def _check_writer(name: str, found: Any) -> Writer:  # noqa: ARG001  (as all of its kind)
    if not callable(found):
        raise SettingsError(f"{shorten_repr(found)} is not a function of results and settings")
    writer: Writer = found
    return writer
