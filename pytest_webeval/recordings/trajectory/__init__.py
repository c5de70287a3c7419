"""Fara trajectories: logs, answers, screenshots and what became of a run (`fara_webeval.md` §2-4)."""

from __future__ import annotations
