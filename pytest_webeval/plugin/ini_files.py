"""Configuration files of pytest, which itself says only what declared keys hold, and not what `-o` replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_LARGEST = 2**20  # bytes; nobody's configuration is larger


def read_keys(path: Path, word: str) -> list[dict[str, Any]]:
    """The tables of pytest in a file that has a word; none in a damaged one, since pytest would reject it as well."""
    try:
        is_likely = path.is_file() and path.stat().st_size <= _LARGEST
        text = path.read_text("utf-8", "replace") if is_likely else ""
    except OSError:
        return []
    if word not in text:
        return []
    return _list_tables(text) if path.suffix == ".toml" else _list_sections(text)


def read_lines(path: Path | None, key: str) -> list[str]:
    """The lines or texts of a key that is a list."""
    values = [table.get(key) for table in (read_keys(path, key) if path is not None else ())]
    lists = [
        value.split("\n") if isinstance(value, str) else value for value in values if isinstance(value, str | list)
    ]
    return [line for lines in lists for text in lines if (line := str(text).strip())]


def _list_sections(text: str) -> list[dict[str, Any]]:
    import configparser  # few sessions have keys of ours in an ini file

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    return [dict(parser[name]) for name in ("pytest", "tool:pytest") if name in parser]


def _list_tables(text: str) -> list[dict[str, Any]]:
    import tomllib  # same

    try:
        tree = tomllib.loads(text)
    except ValueError:
        return []
    return [_table(tree, "pytest"), _table(tree, "tool", "pytest"), _table(tree, "tool", "pytest", "ini_options")]


def _table(tree: Any, *names: str) -> dict[str, Any]:
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}
