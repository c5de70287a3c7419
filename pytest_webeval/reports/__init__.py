"""What people look at."""

from __future__ import annotations
