"""Names whose values are secret: of headers, cookies, fields of forms and JSON, parameters of URLs."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_webeval.safety.text import ELLIPSIS

# Beginnings of keys and tokens, in small letters.
KEY_PREFIXES = (
    "eyj",
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "glrt-",
    "glptt-",
    "gldt-",
    "akia",
    "asia",
    "xox",
    "aiza",
    "ya29.",
    "hf_",
    "npm_",
    "pypi-",
    "sg.",
)

# Every name in `names` and every pattern in `patterns` has one of these in it, but for credentials of addresses.
MARKS = (
    "auth",
    "cookie",
    "pass",
    "pwd",
    "token",
    "secret",
    "key",
    "sess",
    "sid",
    "sig",
    "csrf",
    "xsrf",
    "otp",
    "jwt",
    "credential",
    "bearer",
    "basic",
    "mfacode",
    "mfa",
    "cvv",
    "k_live",
    "k_test",
    *KEY_PREFIXES,
    "-----begin",
)


_SHORT = 200  # characters of a text that may well come again: names, paths, messages of our own


def may_hold_secrets(text: str) -> bool:
    """Whether it is worth looking for secrets in a text."""
    return _short_may_hold(text) if len(text) <= _SHORT else _may_hold(text)


def _may_hold(text: str) -> bool:
    lowered = text.lower()
    for mark in MARKS:
        if mark in lowered:
            return True
    if "code" in lowered and ("state" in lowered or "grant" in lowered):
        return True  # of an authorization, it may be
    return ("://" in lowered and ("@" in lowered or ELLIPSIS in lowered)) or ("%2f%2f" in lowered and "%40" in lowered)


_short_may_hold = lru_cache(maxsize=8192)(_may_hold)


HEADER, COOKIE, FIELD, PARAMETER, MEMBER = "header", "cookie", "field", "parameter", "member"

COOKIE_HEADERS = frozenset({"cookie", "setcookie"})
# The value of the header begins with a scheme, which is not a secret.
AUTHORIZATION_HEADERS = frozenset({"authorization", "proxyauthorization"})

# Names are compared in small letters and without what is neither letter nor digit: `X-CSRF-Token` is `xcsrftoken`.
_EXACT_NAMES = frozenset(
    {
        "accesskey",
        "auth",
        "authentication",
        "bearer",
        "connectsid",
        "cookie",
        "credential",
        "credentials",
        "cvv",
        "formkey",
        "jwt",
        "mfacode",
        "otp",
        "otpcode",
        "pass",
        "passcode",
        "phpsessid",
        "privatekey",
        "pwd",
        "sess",
        "session",
        "sessionkey",
        "setcookie",
        "sid",
        "sig",
        "signature",
        "totp",
        "xamzcredential",
        "xamzsignature",
        "xauthkey",
        "xgoogsignature",
    }
)
_SUFFIXES: tuple[str, ...] = (
    "token",
    "secret",
    "apikey",
    "secretkey",
    "accesskeyid",
    "secretaccesskey",
    "jsessionid",
    "subscriptionkey",
)
_SUFFIXES += ("accesskey", "sessid")
# The last words of names; as mere endings they are those of a compass.
_LAST_WORDS = frozenset({"auth", "pass", "session"})
_PARTS = ("authorization", "csrf", "passphrase", "passwd", "password", "sessionid", "xsrf")

# A `code` that is opaque is a secret where one of these stands next to it: an authorization code of OAuth.
NEXT_TO_CODE = frozenset({"state", "granttype"})
_BETWEEN = r"(?:(?-i:%5B|%5D)|[\W_])*+"  # what a name is compared without
_CODE = re.compile(rf"{_BETWEEN}c{_BETWEEN}o{_BETWEEN}d{_BETWEEN}e{_BETWEEN}", re.IGNORECASE)
_OPAQUE = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w.~+/=%-]{8,}")

# Headers of browsers that identify no person and grant no access.
SAFE_HEADERS = frozenset(
    {
        "accept",
        "acceptencoding",
        "acceptlanguage",
        "cachecontrol",
        "connection",
        "contentlength",
        "contenttype",
        "host",
        "origin",
        "pragma",
        "secfetchdest",
        "secfetchmode",
        "secfetchsite",
        "secfetchuser",
        "upgradeinsecurerequests",
        "useragent",
        "xrequestedwith",
    }
)


@lru_cache(maxsize=2048)
def compact(name: str) -> str:
    """A name as it is compared with others."""
    return "".join(filter(str.isalnum, name.replace("%5B", "").replace("%5D", ""))).lower()


def is_code(name: str) -> bool:
    """Whether a value of that name may be an authorization code."""
    return _CODE.fullmatch(name) is not None


def is_next_to_code(name: str) -> bool:
    """Whether a parameter of that name makes the `code` next to it an authorization code."""
    return compact(name) in NEXT_TO_CODE


def is_opaque(value: str) -> bool:
    """Whether a value looks generated: eight characters or more, letters and digits, no blank."""
    return _OPAQUE.fullmatch(value) is not None


@lru_cache(maxsize=2048)
def is_secret(name: str) -> bool:
    """Whether a value of that name is a secret, wherever it stands."""
    plain = compact(name)
    if plain in _EXACT_NAMES or plain.endswith(_SUFFIXES) or any(part in plain for part in _PARTS):
        return True
    words = "".join(char if char.isalnum() else " " for char in name).lower().split()
    return bool(words) and words[-1] in _LAST_WORDS
