"""Fara trajectories: logs, answers, screenshots and the outcome of a run (`fara_webeval.md` §2-4)."""

from __future__ import annotations
