"""Whether a text may hold a secret at all, found out without a pattern: most texts cannot."""

from __future__ import annotations

# Every name in `names` and every pattern in `patterns` has one of these in it.
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
    "://",
    "%2f%2f",
    "eyj",
    "sk-",
    "k_live",
    "k_test",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat",
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
    "-----begin",
)


def may_hold_secrets(text: str) -> bool:
    """Whether it is worth looking for secrets in a text."""
    lowered = text.lower()
    return any(mark in lowered for mark in MARKS)
