"""Which URLs are those of static files: style sheets, scripts, pictures and fonts, which no evaluator checks."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlparse

# Spec §3.2: the suffixes, in this case only, that make a request an asset which no evaluator looks at.
_SUFFIXES = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp")
# An ASCII URL without brackets, semicolons and control characters: its path is found without a parser.
_SPECIAL = r"\[\];\x00-\x1f\x7f"
_PLAIN_URL = re.compile(rf"https?://[^/?#{_SPECIAL}]*+([^?#{_SPECIAL}]*+)[^{_SPECIAL}]*+")
_SHORT = 500  # characters
_KEPT = 8_192  # answers for short URLs: recordings of one site load the same files again and again


def is_static_file(url: str) -> bool:
    """Whether the path of a URL has one of the suffixes. Raises `ValueError` for an invalid URL."""
    return _answer_once(url) if len(url) <= _SHORT else _is_static_file(url)


def _is_static_file(url: str) -> bool:
    plain = _PLAIN_URL.fullmatch(url) if url.isascii() else None
    return (urlparse(url).path if plain is None else plain[1]).endswith(_SUFFIXES)


_answer_once = lru_cache(maxsize=_KEPT)(_is_static_file)
