"""What commands print."""

from __future__ import annotations

import sys


def print_text(text: str) -> None:
    """Print a text with a line break, with escapes for characters that the terminal has not."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
