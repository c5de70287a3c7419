"""Names under which processes and hooks of a session find each other's values."""

from __future__ import annotations

from pathlib import Path

import pytest

RECORD = "webeval_record"
DESELECTED = pytest.StashKey[int]()
OUTSIDE = pytest.StashKey[int]()
# What arguments name, in a session that has to find it by itself because one of them names a missing task.
CHOSEN = pytest.StashKey[tuple[Path, ...]]()
