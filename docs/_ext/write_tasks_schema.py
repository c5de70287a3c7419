"""Write the JSON Schema of task definitions from the code: `python docs/_ext/write_tasks_schema.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from definition_keys import build_definitions

from pytest_webeval.schemas.registry import get_schema
from pytest_webeval.values import VALUE_TYPES

FILES = Path(__file__).parents[2] / "pytest_webeval/schemas/files"
WIDTH = 140


def build_schema() -> dict[str, Any]:
    """The schema with the parts that the code defines; those about other benchmarks are as in the file."""
    schema: dict[str, Any] = json.loads(get_schema("tasks").text)
    built = build_definitions(tuple(VALUE_TYPES))
    others = {name: part for name, part in schema["$defs"].items() if not name.endswith("expectation")}
    return schema | {"$defs": others | built}


def format_json(value: Any, indent: str = "") -> str:
    """JSON text with each value in one line that fits."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = f"{indent}  "
    if isinstance(value, dict):
        members = [f"{inner}{json.dumps(name)}: {format_json(member, inner)}" for name, member in value.items()]
    else:
        members = [f"{inner}{format_json(member, inner)}" for member in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(members), f"{indent}{last}"])


if __name__ == "__main__":
    schema = get_schema("tasks")
    (FILES / schema.published_name).write_text(f"{format_json(build_schema())}\n", "utf-8")
