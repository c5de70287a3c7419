"""Count the instructions that scoring a recording takes, and record the figure in instructions.json.

    python -m tests.benchmarks.instructions

Commit the figure with the change that made it necessary. Takes a minute.
"""

from __future__ import annotations

from tests.benchmarks.harness.instruction_counts import main

if __name__ == "__main__":
    main()
