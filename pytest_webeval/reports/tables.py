"""Untrusted text and tables, in Markdown and as lines of a terminal."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

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
    more = (f"{line}\n" for line in count_more(left_out, 0, "more in eval_summary.json", indent="\n"))
    return "".join([*(f"| {' | '.join(map(str, line))} |\n" for line in lines), *more])


def count_more(count: int, shown: int, rest: str = "more", indent: str = "  ") -> list[str]:
    """A line with the number of those that are not shown; no line where all are."""
    return [f"{indent}… and {count - shown:,} {rest}"] if count > shown else []


def note_part(shown: int, count: int, rest: str = "") -> str:
    """How many of all are shown, behind a heading; empty where all are."""
    return f" ({shown} of {count:,}{rest})" if shown < count else ""


def clean_lines(texts: Iterable[str]) -> list[str]:
    """Untrusted texts for a terminal, each sanitized and in one line."""
    return [sanitize(text.replace("\n", " ")) for text in texts]


def align(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Iterator[str]:
    """The lines of a table for a terminal: the columns `left` to the left, the others, as numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned = [
            cell.ljust(width) if index in left else cell.rjust(width) for index, (cell, width) in enumerate(cells)
        ]
        yield f"  {'  '.join(aligned)}".rstrip()
