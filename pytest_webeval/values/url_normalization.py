"""The normal form of a URL (spec §5.14), with and without what the reference resolves in its path."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from pytest_webeval.errors import EvaluationError

_ENCODED_SLASH = re.compile("%2f", re.IGNORECASE)
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
_LABEL, _SEGMENT, _WORD = (
    "[a-z0-9]{1,30}(?:-[a-z0-9]{1,30})?",
    r"(?!\.\.?(?:[/?]|$))[A-Za-z0-9_.~-]+",
    "[A-Za-z0-9_.~-]+",
)
# Most recorded URLs are their own normal form, and these are recognized without parsing them.
_NORMAL = re.compile(
    rf"https?://{_LABEL}(?:\.{_LABEL})*(?::(?!(?:80|443)/)[1-9][0-9]{{0,4}})?(?:/|(?:/{_SEGMENT})+/?)"
    rf"(?:\?{_WORD}(?:={_WORD})?(?:&{_WORD}(?:={_WORD})?)*)?"
)
LONGEST_KEPT = 2_000  # characters of a URL whose normal form is kept; a data: URL may have millions
_USERINFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\\]*@")
_IPV6_PORT = re.compile(r"^(?:(http://\[[^\]/?#]*\]):0*80|(https://\[[^\]/?#]*\]):0*443)(?=[/?#]|$)", re.IGNORECASE)
_KEPT_SLASHES = {"%25252F": "%252F", "%252F": "%2F"}


def is_ssh(text: str) -> bool:
    """Whether a text is an address to clone from with SSH, in either form."""
    return _parse_ssh(text) is not None


def _parse_ssh(text: str) -> tuple[str, str] | None:
    """User and path of ``ssh://user@host:port/path`` or ``git@host:path``."""
    if text[:6].lower() == "ssh://" and "[" not in text:
        try:
            parts = urlsplit(text)
        except ValueError:
            return None
        return parts.netloc.rpartition("@")[0] or "git", parts.path.lstrip("/")
    if text[:4].lower() == "git@" and ":" in text:
        return "git", text.partition(":")[2].lstrip("/")
    return None


def is_normal(text: str) -> bool:
    """Whether a URL is certainly its own normal form; where this is false, it may still be."""
    return _NORMAL.fullmatch(text) is not None


def normalize_url(text: str) -> str:
    """The URL after url-normalize, or its SSH short form. Raises `EvaluationError` where it is impossible."""
    return _normalize_short(text) if len(text) <= LONGEST_KEPT else _normalize(text)


def _normalize(text: str) -> str:
    if short := _parse_ssh(text):
        return f"{short[0]}@__SSH_HOST__:{short[1]}".lower()
    if is_normal(text):
        return text
    from url_normalize import url_normalize  # a session without network checks does without it

    try:
        return url_normalize(text) or ""
    except (ValueError, AttributeError) as error:
        raise EvaluationError(f"invalid URL {text[:200]!r}: {error}; re-record the run") from error


_normalize_short = lru_cache(maxsize=4096)(_normalize)


def split_normal(text: str) -> SplitResult:
    """The parts of a URL in its normal form. Raises `EvaluationError` where that is impossible all the same."""
    try:
        return urlsplit(text)
    except ValueError as error:
        raise EvaluationError(f"invalid URL {text[:200]!r}: {error}; re-record the run") from error


def has_path_tricks(text: str) -> bool:
    """Whether a path has an encoded slash or a dot segment: it means another place than the reference takes it for."""
    return _ENCODED_SLASH.search(path_of(text)) is not None or has_dot_segments(text)


def has_dot_segments(text: str) -> bool:
    """Whether a path has segments ``.`` or ``..``, encoded or not; browsers resolve them before they send anything."""
    return _DOT_SEGMENT.search(path_of(text)) is not None


def path_of(text: str) -> str:
    """A URL up to its query or fragment."""
    return re.split("[?#]", text, maxsplit=1)[0]


def normalize_keeping_slashes(text: str) -> str:
    """As `normalize_url`, with the encoded slashes of the path left encoded."""
    head = path_of(text)
    if not _ENCODED_SLASH.search(head):
        return normalize_url(text)
    protected = _ENCODED_SLASH.sub("%252F", head.replace("%252F", "%25252F").replace("%252f", "%25252F"))
    return re.sub("%25252F|%252F", lambda match: _KEPT_SLASHES[match[0]], normalize_url(protected + text[len(head) :]))


def query_of(text: str) -> str:
    """The query of a URL as it was sent."""
    return text.partition("#")[0].partition("?")[2]


def fold_authority(text: str) -> str:
    """A URL without the user before its host, and an IPv6 address without its default port.

    Neither is a part of what a server reads as its address, and url-normalize keeps both.
    """
    if ("@" not in text and "]:" not in text) or is_ssh(text):
        return text
    return _IPV6_PORT.sub(r"\1\2", _USERINFO.sub(r"\1", text, count=1), count=1)
