"""Results for other tools. A new target is one module and one line of `EXPORTS`."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module

from msgspec import Struct

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.settings import ExportSettings

Writer = Callable[[LoadedResults, ExportSettings], Mapping[str, bytes]]


class Output(StrEnum):
    """Where an export can go."""

    ANYWHERE = "anywhere"  # a file, or the standard output
    FILE = "file"
    DIRECTORY = "directory"


class Export(Struct, frozen=True):
    """A target: the module and name of its writer, where its output goes, and the settings that it knows.

    The writer gives the bytes of each file by its path below the output; the path of a single file is empty.
    """

    writer: str
    output: Output = Output.ANYWHERE
    has_rows: bool = False
    has_facts: bool = False

    def load_writer(self) -> Writer:
        """The writer, whose module is imported on first use: some need a library that is not always installed."""
        module, _, name = self.writer.partition(":")
        writer: Writer = getattr(import_module(f"{__name__}.{module}"), name)
        return writer


EXPORTS: dict[str, Export] = {
    "csv": Export("csv_table:format_csv", has_rows=True),
    "jsonl": Export("json_lines:format_json_lines", has_rows=True),
    "parquet": Export("parquet:format_parquet", Output.FILE, has_rows=True),
    "inspect": Export("inspect_scores:format_inspect_scores"),
    "every-eval-ever": Export("every_eval_ever:format_records", Output.DIRECTORY, has_facts=True),
}
