"""Measure whole sessions against their bars, and print the table of docs/explanation/performance.md.

    python -m tests.benchmarks.sessions [--rounds 5] [--only NAME ...] [--scratch DIR] [--json FILE]

Makes the environments and the recordings that it compares. Contestants take turns, and a figure compares the medians of
all their sessions. What each found is checked: a cost without the right verdicts is none. Takes an hour or two.
"""

from __future__ import annotations

from tests.benchmarks.harness.comparison import main

if __name__ == "__main__":
    main(about=__doc__)
