"""Secrets of a recording: those that an agent repeats, although no event that is shown has them; and all, for an audit.

An audit has the location, kind and name of each, never the secret itself.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import msgspec
from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.network.events import event_number
from pytest_webeval.redaction.json import JsonRedactor, decode_token, find_tokens, list_tokens
from pytest_webeval.redaction.known_secrets import has_any
from pytest_webeval.redaction.names import compact, is_secret
from pytest_webeval.redaction.policy import ANSWER_NAMES, RedactionPolicy, Scope, build_scope
from pytest_webeval.redaction.text import Replacements, TextRedactor
from pytest_webeval.results import EvaluatorResult, is_side_file, plain_json
from pytest_webeval.safety.archives import BROKEN_ZIP, Archive
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR

_WORD = re.compile(r"\w{2,}")
_OPAQUE = re.compile(r"(?=[^\W\d]*+\d)(?=[\d_]*+[^\W\d_])\w{6,}+")
# Names of secrets that need not look like one, and characters before and behind such a name that may be its value.
_PASSWORDS = (b"pass", b"pwd")
_NUMBERS = (b"cardn", b"card_n", b"ccn", b"cc_n", b"ssn", b"cvc", b"cvv", b"pin")  # whose values are digits
_REACH = 200
# What stands behind such a name where a value follows or precedes it, in forms, JSON, lists of fields and parts.
_HAS_VALUE = re.compile(rb"[\w\[\].%-]{0,40}(?:[ \t>]|[\"'\\]{1,9}[\r\nrn]|[\"'\\]{0,9}\s{0,8}(?:[=:,}]|%3[ad]))")
_BREAK = re.compile(r"\\{1,4}[nrt]")
_ESCAPE = re.compile(r"\\{1,4}u([0-9a-f]{4})", re.IGNORECASE)
_OWN_WORDS = frozenset({*ANSWER_NAMES, "done", "mutate", "navigate", "retrieve", "success"})  # of each answer


class RecordingSecrets(Struct, frozen=True):
    """The files of a run, read once more where a result repeats what may be a secret in them.

    `answer` is the file that the agent wrote: a text is not a secret because it is in that file.
    """

    directory: Path
    answer: str
    names: tuple[str, ...] = ()  # of what the run has read
    limits: Limits = USUAL

    def secrets(
        self, words: Collection[str], policy: RedactionPolicy, salt: bytes | None, names: Iterable[str] = ()
    ) -> dict[str, str]:
        """Secrets of the files that have some of the words in them, each with its replacement."""
        secrets: dict[str, str] = {}
        opaque = {word for word in words if word.isascii() and _OPAQUE.fullmatch(word)}
        for content in self._read_contents({*names, *self.names} - {self.answer} if words else ()):
            secrets |= _find_generated(content, opaque, build_scope(policy), salt)
            secrets |= _find_passwords(content, set(words) - opaque, salt)
        return {secret: secrets[secret] for secret in secrets if has_any(_unescape(secret).lower(), words)}

    def _read_contents(self, names: Iterable[str]) -> Iterator[bytes]:
        for name in sorted(names):
            with suppress(RecordingError, *BROKEN_ZIP):
                content = read_file_inside(self.directory, name, self.limits.file_size)
                if name.endswith(".zip"):
                    yield from (inner for _, inner in list_members(content, self.limits))
                else:
                    yield content


class _PasswordScope(Scope, frozen=True):
    """Names whose values are secrets even if they are plain words."""

    def covers(self, _kind: str, name: str) -> bool:
        """Whether the value of that name is a secret."""
        return is_secret(name) and any(part in compact(name).encode() for part in (*_PASSWORDS, *_NUMBERS))


def _find_generated(content: bytes, words: Collection[str], scope: Scope, salt: bytes | None) -> dict[str, str]:
    """The secrets in those parts of a file that have one of the words."""
    lowered = content.lower() if words else b""
    present = [word for word in words if word.encode() in lowered]
    if not present:
        return {}
    parts = split_content(content, lambda text: has_any(text.lower(), present))
    return _search((tree for _, _, part in parts for tree in (part, *encoded_bodies(part))), scope, salt)


def _find_passwords(content: bytes, words: Collection[str], salt: bytes | None) -> dict[str, str]:
    """The passwords in those requests and lines of a file that have one of the words next to the name of one."""
    if not words or _is_disjoint(content, words):
        return {}
    parts = split_content(content, lambda text: not _is_disjoint(text.encode("utf-8", "replace"), words))
    secrets = _search((_find_request(part) for _, _, part in parts), _PasswordScope(), salt)
    return {secret: secrets[secret] for secret in secrets if not is_secret(secret)}  # as labels: "password": "Password"


def _is_disjoint(content: bytes, words: Collection[str]) -> bool:
    """Whether none of these words stands next to a name such as `password`."""
    lowered = content.lower()
    for name in (*_PASSWORDS, *_NUMBERS) if any(word.isdecimal() and len(word) > 2 for word in words) else _PASSWORDS:
        at, reached = lowered.find(name), 0
        while at >= 0:
            if at >= reached and _HAS_VALUE.match(lowered, at):
                reached = at + _REACH // 2
                window = lowered[max(at - _REACH, 0) : at + _REACH].decode("utf-8", "replace")
                if not _split_words(window).isdisjoint(words):
                    return False
            at = lowered.find(name, at + 1)
    return True


def _find_request(part: Any) -> Any:
    """The request of an event; anything else as it is. A page may call anything a password."""
    event = part.get("snapshot", part) if isinstance(part, dict) else part
    return event.get("request", part) if isinstance(event, dict) else part


def _search(trees: Iterable[Any], scope: Scope, salt: bytes | None) -> dict[str, str]:
    redact = JsonRedactor(TextRedactor(scope, Replacements(salt)))
    for tree in trees:
        redact(tree)
    return redact.texts.replacements.secrets


def repeated_words(results: Iterable[EvaluatorResult], agent_values: Any = None, others: Any = None) -> set[str]:
    """Lower-case words that neither an event nor a task has: all words of an agent, and others that look generated."""
    answers: list[Any] = [agent_values]
    messages: list[Any] = [others]
    recorded_values: list[Any] = []
    for result in results:
        values = recorded_values if result.evaluator_name in (NETWORK_EVALUATOR, REQUEST_EVALUATOR) else answers
        values += [result.actual, result.actual_normalized]
        messages += [result.assertions, result.error_msg, result.explanation]
        recorded_values.append(result.expected)
    words = _collect_words(answers).union(filter(_OPAQUE.fullmatch, _collect_words(messages))) - _OWN_WORDS
    return words - _collect_words(recorded_values) if words else words


def _collect_words(tree: list[Any]) -> set[str]:
    """The words of all texts in some JSON, its names included."""
    tokens = list_tokens(tree)
    if tokens is None:  # values of a user's evaluator, or half a surrogate pair
        tokens = find_tokens(json.dumps(plain_json(tree)).encode())
    return set().union(*map(_token_words, tokens))


@lru_cache(maxsize=8192)
def _token_words(token: bytes) -> frozenset[str]:
    return _split_words(decode_token(token))


def _split_words(text: str) -> frozenset[str]:
    """Its words, also those directly behind the escape of a line break in JSON."""
    lowered = _unescape(text).lower()
    return frozenset(_WORD.findall(lowered)).union(_WORD.findall(_BREAK.sub(" ", lowered)) if "\\" in lowered else ())


def _unescape(text: str) -> str:
    """The text without the escapes of forms and of JSON."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text
    return unquote_plus(text) if "%" in text or "+" in text else text


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
