"""What the files of a trajectory are called (`fara_webeval.md` §1.2)."""

from __future__ import annotations

LOG = "web_surfer.log"
CORE_LOG = "core.log"
TIMES = "times.json"
TASK_DATA = "task_data.json"
SCORES = "scores"
HARNESS_FILE = "data_point.json"  # Fara 1.5, whose layout is another
