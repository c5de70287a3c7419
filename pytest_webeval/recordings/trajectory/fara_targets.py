"""The points of Fara's actions in pixels of the screenshot (`fara_webeval.md` §2.1).

An action is logged in the units of the picture that the model saw, which is resized. The observation after a click has
the same point in pixels of the page (microsoft/fara 3f3f1fd, `fara_agent.py`, `proc_coords` and `execute_action`), so
one click shows the scale of a run. Where no click says it, the points stay as they are: both sides differ by 14 pixels
at most in the usual case, where they are rounded to multiples of 28.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_webeval.recordings.trajectory.step import Step

_NUMBER = r"(\d{1,6}(?:\.\d{1,20})?)"
_CLICKED = re.compile(rf"I clicked at coordinates \({_NUMBER}, {_NUMBER}\)", re.ASCII)
_LEAST, _MOST = 0.25, 4.0  # a model's picture is not resized by more


def find_scale(steps: Iterable[Step]) -> tuple[float, float] | None:
    """By what the x and the y of actions are multiplied, from the first click that shows it; None if none does."""
    for step in steps:
        clicked = _CLICKED.match(step.observation or "")
        if clicked and step.target and step.target.x and step.target.y:
            scale = float(clicked[1]) / step.target.x, float(clicked[2]) / step.target.y
            if all(_LEAST <= factor <= _MOST for factor in scale):
                return scale
    return None
