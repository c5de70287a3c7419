"""Reports for people: terminal, CI, HTML."""

from __future__ import annotations
