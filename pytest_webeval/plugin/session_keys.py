"""Names under which processes and hooks of a session find each other's values."""

from __future__ import annotations

import pytest

DESELECTED = pytest.StashKey[int]()
OUTSIDE = pytest.StashKey[int]()
