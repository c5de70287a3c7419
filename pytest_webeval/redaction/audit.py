"""The secrets in the files of a run: location, kind and name, never the secrets themselves."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.network.events import event_number
from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.policy import RedactionPolicy, build_scope
from pytest_webeval.redaction.text import Replacements, TextRedactor
from pytest_webeval.results import is_side_file
from pytest_webeval.safety.archives import BROKEN_ZIP, Archive
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.limits import USUAL, Limits

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".woff", ".woff2", ".ttf")
_SUMMARIES = ("eval_summary", "eval_summary.partial")
_OUTPUT_FILES = ("eval_result.json", *(f"{name}.json" for name in _SUMMARIES))
_MULTILINE_MARKS = ("-----BEGIN ", "form-data;")  # what goes over several lines


class _Log(msgspec.Struct):
    entries: list[msgspec.Raw]


class _Har(msgspec.Struct):
    log: _Log


class Finding(Struct, frozen=True, order=True):
    """A secret: the file, the event or line in it where that is known, its kind and name, and its replacement."""

    file: str
    number: int  # of the event or the line, from 1; -1 where that is not known
    unit: str
    kind: str
    name: str
    replacement: str


class Audit(Struct, frozen=True):
    """Looks through the files of one run directory."""

    directory: Path
    policy: RedactionPolicy
    salt: bytes | None
    findings: Counter[Finding]
    problems: list[str]

    @classmethod
    def of(cls, directory: Path, policy: RedactionPolicy, salt: bytes | None) -> Audit:
        """The secrets in a directory, file by file."""
        audit = cls(directory, policy, salt, Counter(), [])
        for name in _list_files(directory):
            audit._search_file(name)
        return audit

    def _search_file(self, name: str) -> None:
        """Search one file. One that cannot be read is a problem."""
        try:
            content = read_file_inside(self.directory, name)
        except RecordingError as error:
            self.problems.append(str(error))
            return
        if not name.endswith(".zip"):
            self._search(name, content)
            return
        try:
            for member, inner in list_members(content):
                self._search(f"{name}/{member}", inner)
        except BROKEN_ZIP as error:
            self.problems.append(f"cannot read archive {self.directory / name}: {error}")

    def _search(self, name: str, content: bytes) -> None:
        unit, number = "", -1
        names = [TextRedactor(build_scope(policy), Replacements(self.salt)) for policy in self.policy.steps]

        def record(kind: str, secret_name: str, replacement: str) -> None:
            for texts in names:
                secret_name = texts(secret_name)  # the name of a member may have a secret in it
            self.findings[Finding(name, number, unit, kind, secret_name, replacement)] += 1

        replacements = Replacements(self.salt, listener=record)
        steps = [JsonRedactor(TextRedactor(build_scope(policy), replacements)) for policy in self.policy.steps]
        for unit, number, part in split_content(content):  # noqa: B007  (`record` reads them)
            for tree in (part, *encoded_bodies(part)):
                for trees in steps:
                    tree = trees(tree)  # noqa: PLW2901  (the next step searches what this one left)


def _list_files(directory: Path) -> list[str]:
    paths: list[str] = []
    for folder, _, names in os.walk(directory):
        inner = Path(folder).relative_to(directory)
        paths += [
            (inner / name).as_posix()
            for name in names
            if name not in _OUTPUT_FILES and not any(is_side_file(name, summary) for summary in _SUMMARIES)
        ]
    return sorted(name for name in paths if not name.lower().endswith(_PICTURES))


def list_members(content: bytes, limits: Limits = USUAL) -> Iterator[tuple[str, bytes]]:
    """The members of an archive without images. Raises the errors in `BROKEN_ZIP`."""
    archive = Archive(content, limits)
    for name in archive.names:
        if not name.lower().endswith(_PICTURES):
            yield name, archive.read(name, limits.file_size)


def split_content(
    content: bytes, is_relevant: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[str, int, Any]]:
    """What a file consists of: events of a HAR, one JSON text, or lines, each JSON or not; only the relevant ones."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        entries = msgspec.json.decode(content, type=_Har).log.entries
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        text = content.decode("utf-8", "replace")
        document = _parse_json(text)
        is_single = document is not None or any(mark in text for mark in _MULTILINE_MARKS)
        lines = [text] if is_single else text.split("\n")
        for number, line in enumerate(lines, 1):
            if not is_relevant(line):
                continue
            parsed = document if is_single else _parse_json(line)
            part = line if parsed is None else parsed
            yield ("", -1, part) if is_single else ("line", number, part)
        return
    for index, entry in enumerate(entries):
        if is_relevant(text := bytes(entry).decode("utf-8", "replace")):
            yield "event", event_number(index), _parse_json(text)


def _parse_json(text: str) -> Any:
    """The object or array in a text of JSON; None for anything else, in which nothing has a name."""
    try:
        parsed = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):  # NaN, for one, or half a surrogate pair
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            return None
    return parsed if isinstance(parsed, dict | list) else None


def encoded_bodies(tree: Any) -> Iterator[str]:
    """The texts of bodies that a recording keeps in base64."""
    content = tree.get("response", tree) if isinstance(tree, dict) else None
    body = content.get("content") if isinstance(content, dict) else None
    if isinstance(body, dict) and body.get("encoding") == "base64" and isinstance(body.get("text"), str):
        try:
            yield base64.b64decode(body["text"]).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return
