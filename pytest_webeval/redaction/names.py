"""Names whose values are secret: of headers, cookies, fields of forms and JSON, parameters of URLs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from pytest_webeval.redaction.marks import GENERATED_NAMES, Answer, list_words

_LONGEST_END = 256  # characters of a name that decide at each end
HEADER, COOKIE, FIELD, PARAMETER, MEMBER = "header", "cookie", "field", "parameter", "member"

COOKIE_HEADERS = frozenset({"cookie", "setcookie"})
# The value of the header begins with a scheme, which is not a secret.
AUTHORIZATION_HEADERS = frozenset({"authorization", "proxyauthorization"})

_EXACT_NAMES, _ENDS, _PARTS = frozenset(list_words("exact")), list_words("ends"), list_words("parts")
_WORDS, _LAST_WORDS = frozenset(list_words("words")), frozenset(list_words("last"))
# What stands behind a name that a form asks for twice; and where the name is a number or a code itself.
_REPEATED = frozenset({"again", "confirm", "confirmation", "copy", "new", "old", "repeat", "retype", "verify"})
_FOLLOWING = _REPEATED | {"code", "no", "num", "number"}
_BEFORE_NUMBER = frozenset({"last", "v"})  # ssn_last_4, token_v2
# newpass, oldpin, confirmotp: as one word, of which other words have the ending too
_JOINED = re.compile(
    "(?:admin|card|confirm|current|db|login|my|new|old|repeat|retype|root|user|verify|your)"
    f"(?:{'|'.join(sorted({'pass', *_WORDS.difference(_ENDS)}))})"
)
# The signs are those of rates: pass@1, pass^3.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[@^]")

# Headers of browsers that identify no person and grant no access.
SAFE_HEADERS = frozenset(
    {
        *("accept", "acceptencoding", "acceptlanguage", "cachecontrol", "connection", "contentlength"),
        *("contenttype", "host", "origin", "pragma", "secfetchdest", "secfetchmode", "secfetchsite"),
        *("secfetchuser", "upgradeinsecurerequests", "useragent", "xrequestedwith"),
    }
)


def _cache_ends(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """The function with cached answers. Of a long name, both ends decide: an encoded body before a `=` is one, too."""
    cached = lru_cache(maxsize=2048)(function)

    def answer(name: str) -> Answer:
        is_long = len(name) > 2 * _LONGEST_END
        return cached(f"{name[:_LONGEST_END]}.{name[-_LONGEST_END:]}" if is_long else name)

    return answer


@_cache_ends
def compact(name: str) -> str:
    """A name as it is compared with others."""
    return "".join(filter(str.isalnum, _decode_brackets(name))).lower()


def _decode_brackets(name: str, bracket: str = "") -> str:
    return name.replace("%5B", bracket).replace("%5D", bracket)


def is_generated_name(name: str) -> bool:
    """Whether a value of that name is a secret if it looks generated, such as an authorization code."""
    return compact(name) in GENERATED_NAMES or drop_number(name) in GENERATED_NAMES


@_cache_ends
def is_secret(name: str) -> bool:
    """Whether a value of that name is a secret, wherever it stands."""
    plain, words = compact(name), _list_words(name)
    once = _drop_last_words(words, _REPEATED)
    if any(each in _EXACT_NAMES or each.endswith(_ENDS) for each in (plain, "".join(once))):
        return True
    if any(part in plain for part in _PARTS) or not _LAST_WORDS.isdisjoint(once[-1:]):
        return True
    single = _drop_last_words(words, _FOLLOWING)[-1:]
    return any(word in _WORDS or _JOINED.fullmatch(word) for word in single)


@_cache_ends
def drop_number(name: str) -> str:
    """A name as it is compared with others, without numbers and such words as `confirm` behind it."""
    return "".join(_drop_last_words(_list_words(name), _REPEATED))


def _list_words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_decode_brackets(name, " "))]


def _drop_last_words(words: list[str], following: Collection[str]) -> list[str]:
    end = len(words)
    while end > 1:
        is_number = words[end - 1].isdecimal()
        if not is_number and words[end - 1] not in following:
            break
        end -= 2 if is_number and end > 2 and words[end - 2] in _BEFORE_NUMBER else 1
    return words[:end]
