"""Statistics of many trajectories: means, rates, intervals, several runs of one thing (`fara_webeval.md` §7)."""

from __future__ import annotations
