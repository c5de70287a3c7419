"""What many results come to: summaries, gates, comparisons of sessions, statistics, and their files."""

from __future__ import annotations
