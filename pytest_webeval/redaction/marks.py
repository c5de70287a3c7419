"""Whether a text may hold a secret at all, found out without a pattern: most texts cannot."""

from __future__ import annotations

from functools import lru_cache

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
    return _short_one_may(text) if len(text) <= _SHORT else _may(text)


def _may(text: str) -> bool:
    lowered = text.lower()
    for mark in MARKS:
        if mark in lowered:
            return True
    if "code" in lowered and ("state" in lowered or "grant" in lowered):
        return True  # of an authorization, it may be
    return ("://" in lowered and "@" in lowered) or ("%2f%2f" in lowered and "%40" in lowered)


_short_one_may = lru_cache(maxsize=8192)(_may)
