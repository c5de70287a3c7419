"""Count the instructions that scoring a recording takes, and record the figure in instructions.json.

    python tests/benchmarks/instructions.py

Commit the figure with the change that made it necessary. Takes a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pythonpath does for the tests

from benchmarks.instruction_counts import main

if __name__ == "__main__":
    main()
