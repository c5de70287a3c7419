"""Secrets of a recording that an agent repeats, although no event that is shown has them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.redaction.json import JsonRedactor, decode_token, find_tokens, list_tokens
from pytest_webeval.redaction.known_secrets import has_any
from pytest_webeval.redaction.names import compact, is_secret
from pytest_webeval.redaction.policy import ANSWER_NAMES, RedactionPolicy, Scope, build_scope
from pytest_webeval.redaction.text import Replacements, TextRedactor
from pytest_webeval.results import EvaluatorResult, plain_json
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
        from pytest_webeval.redaction.audit import list_members  # with all that reads files, which few results need
        from pytest_webeval.safety.archives import BROKEN_ZIP

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
    from pytest_webeval.redaction.audit import encoded_bodies, split_content

    lowered = content.lower() if words else b""
    present = [word for word in words if word.encode() in lowered]
    if not present:
        return {}
    parts = split_content(content, lambda text: has_any(text.lower(), present))
    return _search((tree for _, _, part in parts for tree in (part, *encoded_bodies(part))), scope, salt)


def _find_passwords(content: bytes, words: Collection[str], salt: bytes | None) -> dict[str, str]:
    """The passwords in those requests and lines of a file that have one of the words next to the name of one."""
    from pytest_webeval.redaction.audit import split_content

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
