"""Experiments in `tests/recorded/agentlab`, which `tests/recorded/record_agentlab.py` writes."""

from __future__ import annotations

from pathlib import Path

RECORDED = Path(__file__).parents[1] / "recorded" / "agentlab"


def find_experiment(name: str, seed: int = 0, prefix: str = "") -> Path:
    """The directory of a toy task; with the prefix `_` the one that was moved away."""
    (path,) = RECORDED.glob(f"{prefix}2*_on_toy.{name}_{seed}")
    return path
