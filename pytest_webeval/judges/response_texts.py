"""Texts for score files without JSON: a benchmark's own parser and a careful reader get the same verdict from them.

Both benchmarks search the text for words, wherever they stand (`fara_webeval.md` §5.2). The reasoning of a judge may
quote such words from a page. It is stored with these words in another spelling.
"""

from __future__ import annotations

import re

from pytest_webeval.safety.text import escape_surrogates, truncate

_LONGEST = 50_000  # characters of a reasoning
_VERDICT_WORD = re.compile("SUCCESS|FAILURE")  # UNSUCCESSFUL has the first in it
_STATUS_LABEL = re.compile("(status):", re.IGNORECASE)


def format_webvoyager(reasoning: str, *, success: bool) -> str:
    """A text for `gpt_eval.json`. Words in capitals that are a verdict there are in lower case in the reasoning."""
    plain = _VERDICT_WORD.sub(lambda match: match[0].lower(), _shorten(reasoning))
    return f"{plain}\n\nVerdict: {'SUCCESS' if success else 'NOT SUCCESS'}"


def format_webjudge(reasoning: str, *, success: bool) -> str:
    """A text for a score file of WebJudge. Each `status:` begins a verdict there; in the reasoning it gets a space."""
    plain = _STATUS_LABEL.sub(r"\1 :", _shorten(reasoning))
    return f"Thoughts: {plain}\n\nStatus: {'success' if success else 'failure'}"


def _shorten(reasoning: str) -> str:
    shortened: str = escape_surrogates(truncate(reasoning, _LONGEST))
    return shortened
