"""The table of secrets: their names and beginnings, and the marks of texts that may hold one; and names of secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, TypeVar

from pytest_webeval.safety.text import ELLIPSIS

_BETWEEN = r"(?:[\W_]|%5[bd]){0,3}"


class SecretKind(NamedTuple):
    """Secrets that a text without any of their marks, in small letters, does not hold.

    Names are compared in small letters and without what is neither letter nor digit: `X-CSRF-Token` is `xcsrftoken`.
    """

    marks: str
    exact: str = ""  # names
    ends: str = ""  # of names
    parts: str = ""  # of names
    words: str = ""  # last words of names, also where a word such as `confirm` or a number follows
    last: str = ""  # last words of names; as mere endings they are those of a compass
    among: str = ""  # a pattern of what the mark stands in, if other words have it too
    key: tuple[str, str] | None = None  # patterns of how a key begins, and of what follows


KINDS = (
    SecretKind("auth", "auth authentication", ends="authcode", parts="authorization", last="auth"),
    SecretKind("cookie", "cookie setcookie"),
    SecretKind(
        "pass",
        exact="pass passcode",
        ends="passportnumber passportno",
        parts="passphrase passwd password",
        words="passcode",
        last="pass",
    ),
    SecretKind("pwd", ends="pwd", words="pwd"),
    SecretKind("token", ends="token"),
    SecretKind("secret", ends="secret"),
    SecretKind(
        "key",
        exact="formkey privatekey sessionkey xauthkey",
        ends="apikey secretkey accesskeyid accesskey subscriptionkey",
    ),
    SecretKind("sess", "sess session", ends="sessid jsessionid", parts="sessionid", last="session"),
    SecretKind("sid", "connectsid sid"),
    SecretKind("sig", "sig signature xamzsignature xgoogsignature"),
    SecretKind("csrf xsrf", parts="csrf xsrf"),
    SecretKind("otp", "otp otpcode totp", words="otp totp"),
    SecretKind("jwt", "jwt", words="jwt"),
    SecretKind("credential", "credential credentials xamzcredential"),
    SecretKind("bearer basic", "bearer"),
    SecretKind("mfa", "mfacode"),
    SecretKind("cvv cvc", ends="cvv cvv2 cvc cvc2", words="cvv cvc"),
    SecretKind("cvn csc iban", words="cvn csc iban"),
    SecretKind("saml wresult", ends="samlresponse samlrequest wresult"),
    SecretKind("card", ends="cardnumber cardno cardnum", among=rf"card{_BETWEEN}n(?:o|um)"),
    SecretKind("cc", ends="ccnumber ccnum ccno cccid", among=rf"cc{_BETWEEN}(?:n(?:o|um)|cid)"),
    SecretKind("social", ends="socialsecurity socialsecuritynumber", among=rf"social{_BETWEEN}sec"),
    SecretKind(
        "pin",
        exact="pin",
        ends="pincode pinnumber",
        words="pin",
        among="pin(?:again|code|confirm|confirmation|copy|last|new|no|num|number|old|repeat|retype|v|verify)*(?![a-z])",
    ),
    SecretKind("ssn", words="ssn", among="ssn(?!ame)"),
    SecretKind(
        "code",
        ends="securitycode verificationcode onetimecode backupcode recoverycode devicecode usercode",
        among=rf"(?:security|verification|one[\W_]?time|backup|recovery|device|user){_BETWEEN}code",
    ),
    SecretKind("form-data -----begin --user --proxy-user"),
    SecretKind("-u", among=r"(?<![\w-])-u(?![\w-])"),
    SecretKind("curl", among="curl"),
    SecretKind("eyj"),
    SecretKind("sk-", key=("sk-", r"[\w-]{16,}")),
    SecretKind("k_live k_test", key=("[sprw]k_(?:live|test)_", r"\w{10,}")),
    SecretKind("ghp_ gho_ ghu_ ghs_ ghr_", key=("gh[pousr]_", r"\w{20,}")),
    SecretKind("github_pat_", key=("github_pat_", r"\w{20,}")),
    SecretKind("glpat- glrt- glptt- gldt-", key=("gl(?:pat|rt|ptt|dt)-", r"[\w-]{16,}")),
    SecretKind("akia asia", key=("(?:akia|asia)", r"[A-Z0-9]{16}(?!\w)")),
    SecretKind("xox", key=("xox[abeprs]-", r"[\w-]{10,}")),
    SecretKind("aiza", key=("aiza", r"[\w-]{30,}")),
    SecretKind("ya29.", key=(r"ya29\.", r"[\w-]{20,}")),
    SecretKind("hf_", key=("hf_", r"\w{20,}")),
    SecretKind("npm_", key=("npm_", r"\w{30,}")),
    SecretKind("pypi-", key=("pypi-", r"[\w-]{30,}")),
    SecretKind("whsec_", key=("whsec_", r"[\w+/]{16,}")),
    SecretKind("xapp-", key=("xapp-", r"[\w-]{10,}")),
    SecretKind("sg.", key=(r"sg\.", r"[\w-]{16,}\.[\w-]{16,}")),
)


def list_words(column: str) -> tuple[str, ...]:
    """All words of a column of the table."""
    return tuple(word for kind in KINDS for word in getattr(kind, column).split())


_MARKS = tuple(mark for kind in KINDS if not kind.among for mark in kind.marks.split())
_AMONG = {kind.marks: kind.among for kind in KINDS if kind.among}
KEY_PATTERN = "|".join("".join(kind.key) for kind in KINDS if kind.key)
KEY_BEGINNING = "|".join(["eyj", *(kind.key[0] for kind in KINDS if kind.key)])

# Schemes of authorization that stand before a secret of which nothing else is known.
SCHEMES = ("bearer", "basic", "token", "apikey")
# Names of secrets where the value looks generated: `code` of OAuth, but no `code=US`.
GENERATED_NAMES = frozenset({"activation", "code", "invitation", "invite", "ticket", "verification"})
# Parts of names and paths whose values are secrets where they look generated: code=…, /reset-password/…
_LINKS = ("invit", "activat", "verif", "confirm", "reset", "magic", "unsubscri", "recover", "forgot", "login", "signin")
_GENERATED = ("code", "ticket", *_LINKS)
LINK_WORDS = "|".join([*_LINKS, "token", "passw", "session", "secret", "otp", "auth(?!or(?!i))"])
ALL_MARKS = (*_MARKS, *_AMONG, *_GENERATED)
_AMONG_OTHERS = re.compile("|".join(_AMONG.values()))
_VALUE = re.compile(r"[\w.~+/=%-]{8,}(?::[\w.~+/=%:-]*)?", re.ASCII)
_LETTER_AND_DIGIT = re.compile(r"[^a-z]*+[a-z]\D*\d|\D*+\d[^a-z]*[a-z]", re.IGNORECASE)
# As people number tickets, orders and errors, and times.
_NUMBERED = re.compile(r"[A-Za-z]+(?:[-_]?\d+)+(?::(?:[A-Za-z]+|\d+)?)*|\d{4}-\d\d-\d\dT\d\d:?[\d:.Z+-]*")

Text = TypeVar("Text", bound=str | bytes)
Answer = TypeVar("Answer")


def cache_short(longest: int, size: int) -> Callable[[Callable[[Text], Answer]], Callable[[Text], Answer]]:
    """Cache what a function answers about texts that are short enough to come again."""

    def decorate(function: Callable[[Text], Answer]) -> Callable[[Text], Answer]:
        cached = lru_cache(maxsize=size)(function)
        return lambda text: cached(text) if len(text) <= longest else function(text)

    return decorate


@cache_short(200, 8192)
def may_hold_secrets(text: str) -> bool:
    """Whether it is worth looking for secrets in a text."""
    lowered = text.lower()
    for mark in _MARKS:
        if mark in lowered:
            return True
    if _has_address(lowered):
        return True
    for mark in _AMONG:
        if mark in lowered and _AMONG_OTHERS.search(lowered):
            return True
    for mark in _GENERATED:
        if mark in lowered:
            return any(map(_LETTER_AND_DIGIT.match, _VALUE.findall(lowered)))
    return False


def _has_address(lowered: str) -> bool:
    """Whether there may be credentials in an address."""
    if "@" in lowered or ELLIPSIS in lowered:
        return "://" in lowered or ":\\/\\/" in lowered
    return "%40" in lowered and "%2f%2f" in lowered


def is_generated(value: str) -> bool:
    """Whether a value looks generated: eight characters or more, letters and digits, no blank, not just numbered."""
    first = value.partition(":")[0]
    return bool(_VALUE.fullmatch(value) and _LETTER_AND_DIGIT.match(first)) and not _NUMBERED.fullmatch(value)


def _group_marks() -> Iterator[re.Pattern[str]]:
    """Patterns that begin with one letter each, which is faster to search for than any of several."""
    for first, marks in groupby(sorted(set(ALL_MARKS)), key=lambda mark: mark[0]):
        patterns = (_AMONG[mark] if _AMONG.get(mark, "").startswith(mark) else re.escape(mark) for mark in marks)
        rests = "|".join(pattern.removeprefix(re.escape(first)) for pattern in patterns)
        yield re.compile(f"{re.escape(first)}(?={rests})")


_GROUPS = tuple(_group_marks())


def find_marks(lowered: str) -> Iterator[int]:
    """The positions of marks in a text in small letters."""
    return (match.start() for group in _GROUPS for match in group.finditer(lowered))


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
