"""What commands print."""

from __future__ import annotations

import argparse
import sys

from pytest_webeval.redaction.policy import MODES
from pytest_webeval.safety.text import sanitize
from pytest_webeval.summary.redacted_results import redact_text


def add_redact(parser: argparse.ArgumentParser) -> None:
    """Declare the option that says what is redacted, as in a session."""
    parser.add_argument("--redact", choices=MODES, default=MODES[0], help=f"redact secrets (default: {MODES[0]})")


def print_text(text: str) -> None:
    """Print a text with a line break, with escapes for characters that the terminal has not."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def warn(problem: str) -> None:
    """Print what could not be read, which may quote what an agent wrote."""
    sys.stderr.write(f"WARNING: {sanitize(redact_text(problem))}\n")
