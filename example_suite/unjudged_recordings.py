"""Trajectories without a verdict, and their tasks: what a judge is asked about."""

from __future__ import annotations

import json

import trajectory_steps as agents
from trajectory_recordings import BUY_SHOTS, GUESS_SHOTS, Trajectory, at, payload, shots
from trajectory_tables import FIND, SHOP, unscored
from trajectory_texts import answer_file, fara_log

DAY = "2026-03-04"
CART = "Put one Pocket Atlas into the cart and report the total."
CUT_SHOTS = shots("start", "atlas", "atlas")  # that of the cart is missing

UNJUDGED = (
    Trajectory(
        run="",
        task_id="atlas_cart_1",
        screenshots=BUY_SHOTS,
        log=fara_log(DAY, *agents.BUY),
        answer=answer_file(agents.IN_CART, *BUY_SHOTS),
        started=at(DAY, "10:05"),
        seconds=24.5,
    ),
    Trajectory(
        run="",
        task_id="atlas_cart_2",
        screenshots=CUT_SHOTS,
        log=fara_log(DAY, *agents.BUY),
        answer=answer_file(agents.IN_CART, *CUT_SHOTS),
        started=at(DAY, "10:05"),
        seconds=24.5,
    ),
    Trajectory(
        run="",
        task_id="atlas_price_3",
        screenshots=GUESS_SHOTS,
        log=fara_log(DAY, *agents.GUESS),
        answer=answer_file(agents.RADIO, *GUESS_SHOTS),
        started=at(DAY, "10:00"),
        seconds=23.5,
    ),
)


def tasks_json() -> str:
    """The tasks as rows of WebTailBench: for the last one, the judge writes a rubric itself."""
    rubric = unscored(payload("r2_books_cart_2"))
    rows = [
        {"id": "atlas_cart_1", "benchmark": "bookshop", "task_summary": CART, "init_url": SHOP},
        {"id": "atlas_cart_2", "benchmark": "bookshop", "task_summary": CART, "init_url": SHOP},
        {"id": "atlas_price_3", "benchmark": "bookshop", "task_summary": FIND, "init_url": SHOP},
    ]
    for row in rows[:2]:
        row["precomputed_rubric"] = rubric
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
