"""Untrusted text and tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_webeval.safety.text import sanitize, truncate

LONGEST_CELL = 300  # characters
# Characters with a meaning in Markdown, HTML, links, mentions and formulas; entities have none.
_MEANINGFUL = re.compile(r"[&<>`*_\[\]!|~:@#\\$.{}^\"']")


def plain(text: object) -> str:
    """Untrusted text as code in one line: it shows as it is, and neither links nor mentions anybody."""
    line = " ".join(sanitize(str(text)[: 2 * LONGEST_CELL]).split())
    escaped = _MEANINGFUL.sub(lambda match: f"&#{ord(match[0])};", truncate(line, LONGEST_CELL))
    return f"<code>{escaped.replace('&#64;', '&#64;<!-- -->')}</code>" if escaped else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], left_out: int = 0) -> str:
    """A table; `left_out` rows more are in the summary."""
    lines = [heads, ["---"] * len(heads), *rows]
    more = f"\n… and {left_out} more in eval_summary.json\n" if left_out > 0 else ""
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines) + more
