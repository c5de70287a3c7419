"""Secrets of a recording that an agent repeats, although no event that is shown has them."""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.known_secrets import has_any
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.policy import build_scope
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.text import TextRedactor
from pytest_webeval.redaction.tokens import decode_token
from pytest_webeval.redaction.tokens import list_tokens
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import plain_json
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.safety.limits import Limits
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR
from pytest_webeval.tasks.expectations import REQUEST_EVALUATOR

_OPAQUE = re.compile(r"(?<!\w)(?=[^\W\d]*+\d)(?=[\d_]*+[^\W\d_])\w{8,}+")
_LEAST = 8  # characters of such a word


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
        replacements = Replacements(salt)
        if words:
            trees = JsonRedactor(TextRedactor(build_scope(policy), replacements))
            for content in self._read_contents({*names, *self.names} - {self.answer}):
                _search(content, words, trees)
        return {
            secret: replacement
            for secret, replacement in replacements.secrets.items()
            if has_any(secret.lower(), words)
        }

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


def _search(content: bytes, words: Collection[str], trees: JsonRedactor) -> None:
    from pytest_webeval.redaction.audit import encoded_bodies
    from pytest_webeval.redaction.audit import split_content

    lowered = content.lower()
    present = [word for word in words if word.encode() in lowered]
    if present:
        for _, _, part in split_content(content, lambda text: has_any(text.lower(), present)):
            for tree in (part, *encoded_bodies(part)):
                trees(tree)


def opaque_words(results: Iterable[EvaluatorResult], *others: Any) -> set[str]:
    """Lower-case words of letters and digits in results that are neither from an event nor from a task."""
    own_values: list[Any] = [others]
    recorded_values: list[Any] = []
    for result in results:
        values = recorded_values if result.evaluator_name in (NETWORK_EVALUATOR, REQUEST_EVALUATOR) else own_values
        own_values += [result.assertions, result.error_msg]
        values += [result.actual, result.actual_normalized]
        recorded_values.append(result.expected)
    words = _collect_words(own_values)
    return words - _collect_words(recorded_values) if words else words


def has_opaque_word(tokens: Iterable[bytes]) -> bool:
    """Whether there is such a word in any of these texts as JSON spells them."""
    return any(map(_token_words, tokens))


def _collect_words(tree: list[Any]) -> set[str]:
    """The words of all texts in some JSON, its names included."""
    tokens = list_tokens(tree)
    if tokens is None:
        return {word for text in _list_texts(plain_json(tree)) for word in _split_words(text)}
    return set().union(*map(_token_words, tokens))


@lru_cache(maxsize=8192)
def _token_words(token: bytes) -> frozenset[str]:
    return _split_words(decode_token(token))


def _split_words(text: str) -> frozenset[str]:
    return frozenset(_OPAQUE.findall(text.lower())) if len(text) >= _LEAST else frozenset()


def _list_texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for name, value in tree.items():
            yield name
            yield from _list_texts(value)
    elif isinstance(tree, list | tuple):
        for child in tree:
            yield from _list_texts(child)
