"""The schemas by name, and the names of the files that they are about. One more is a file and a line of the table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import SettingsError


class Schema(Struct, frozen=True):
    """A schema. `patterns` are about names of files, the latter parts of their paths.

    A file `of_lines` has a JSON value in each line. Names that are `generic` may be those of other programs' files:
    only a file that the user names is taken for such a one, not each one of a directory. `members` have schemas of
    their own, by their names.
    """

    name: str
    patterns: tuple[str, ...]
    of_lines: bool = False
    generic: tuple[str, ...] = ()
    members: tuple[tuple[str, str], ...] = ()

    @property
    def published_name(self) -> str:
        """The name of the schema's own file, which says its version."""
        return f"{self.name}.v1.json"

    @property
    def text(self) -> str:
        """The schema as it is published."""
        return files("pytest_webeval.schemas").joinpath("files", self.published_name).read_text("utf-8")

    @property
    def address(self) -> str:
        """Where the documentation has the schema: its `$id`."""
        return str(load_schema(self.name)["$id"])

    @property
    def title(self) -> str:
        """What the schema is about, in a few words."""
        return str(load_schema(self.name)["title"])


SCHEMAS: tuple[Schema, ...] = (
    Schema("eval_result", ("eval_result.json",)),
    Schema("eval_results", ("eval_results.json", "eval_results-*-of-*.json")),
    Schema("eval_results_line", ("eval_results-*.jsonl",), of_lines=True, members=(("result", "eval_result"),)),
    Schema("eval_summary", ("eval_summary.json", "eval_summary.partial.json"), generic=("baseline.json",)),
    Schema("eval_shard", ("eval_shard-*-of-*.json",)),
    Schema("comparison", (), generic=("comparison.json",)),
    Schema("history", (), generic=("history.json",)),
    Schema("tasks", ("tasks.json", "task.json", "tasks.jsonl")),
    Schema("config", (), generic=("config.json",)),
    Schema("subset", (), generic=("subset.json",)),
    Schema("agent_response", ("agent_response.json",)),
    Schema("network_har", ("network.har",), generic=("*.har",)),
    Schema("playwright_network", ("trace.network",), of_lines=True, generic=("*.network",)),
    Schema("final_answer", ("*_answer.json",)),
    Schema("times", ("times.json",)),
    Schema("web_surfer_log", ("web_surfer.log",), of_lines=True),
    Schema("task_data", ("task_data.json",)),
    Schema("score_file", ("scores/*.json",)),
    Schema("rubric", ("rubric.json",)),
    Schema("metrics", ("metrics.json",)),
)
_BY_NAME = {schema.name: schema for schema in SCHEMAS}


def get_schema(name: str) -> Schema:
    """The schema of that name. Raises `SettingsError` that names the valid ones."""
    if name not in _BY_NAME:
        raise SettingsError(f"unknown schema {name!r:.80}; use one of {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The content of a schema. All callers share it: do not change it."""
    content: dict[str, Any] = json.loads(get_schema(name).text)
    return content


def find_schema(path: PurePath, *, is_named: bool) -> Schema | None:
    """The schema for a file of that name; None without one. `is_named` says that the user named the file itself."""
    for schema in SCHEMAS:
        patterns = schema.patterns + schema.generic if is_named else schema.patterns
        if any(_matches(path.parts, pattern) for pattern in patterns):
            return schema
    return None


def _matches(parts: Sequence[str], pattern: str) -> bool:
    count = pattern.count("/") + 1
    return len(parts) >= count and fnmatchcase("/".join(parts[-count:]), pattern)
