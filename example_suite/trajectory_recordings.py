"""Every trajectory of the suite: the files it consists of, and which view of the shop each screenshot shows.

Those of r1 are the worked examples of `fara_webeval.md` §9. Those of r2 do some of the same tasks again, with other
outcomes, and the last one is that of another solver on another benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import trajectory_steps as agents
from trajectory_texts import (
    NO_ANSWER,
    Record,
    answer_file,
    compact,
    core_log,
    damaged,
    fara_log,
    score_file,
    solver_log,
    text_log,
    times_file,
)

PAYLOADS = Path(__file__).parent / "trajectory_payloads"
FARA = "WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf"
SOLVER = "WebSurfer-gpt_solver-100-max_n_images-3/gpt-5/ana/WebVoyager_WebVoyager_data_08312025.jsonl"
FIRST, SECOND, THIRD = "2026-03-01", "2026-03-02", "2026-03-03"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """What is left of one run of one task. `screenshots` says for each file which view of the shop it shows."""

    run: str
    task_id: str
    screenshots: Mapping[str, str]
    log: str
    started: datetime
    seconds: float | None = None
    answer: str | None = None
    answer_name: str = "final_answer"
    core: tuple[Record, ...] = ()
    score: str | None = None
    score_name: str = "mmrubric_0.8-5-3"

    @property
    def files(self) -> dict[str, str]:
        """The texts by their names below the directory of the trajectory."""
        found = {
            "web_surfer.log": self.log,
            f"{self.task_id}_{self.answer_name}.json": self.answer,
            "times.json": None if self.seconds is None else times_file(self.started, self.seconds),
            "core.log": core_log(self.task_id, self.started, *self.core) if self.core else None,
            f"scores/{self.score_name}.json": self.score,
        }
        return {name: text for name, text in found.items() if text is not None}


def payload(name: str) -> Any:
    """What a rubric judge stored about a run."""
    return json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))


def at(day: str, clock: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)


def shots(*views: str) -> dict[str, str]:
    return {f"screenshot{number}.png": view for number, view in enumerate(views)}


def _judged(seconds: float, judged: float, score: float) -> tuple[Record, ...]:
    return (
        (0, "INFO", "[Execution <id>] Start"),
        (seconds, "INFO", "[Execution <id>] Completed"),
        (judged, "INFO", f"[Evaluation <id>] Completed: score={score}, duration={seconds}"),
    )


def _used(prompt: int, completion: int, **others: int) -> dict[str, dict[str, int]]:
    return {"FaraAgent": {"prompt_tokens": prompt, "completion_tokens": completion, **others}}


FIND_SHOTS = shots("home", "atlas found", "atlas", "atlas")
LOOK_SHOTS = shots("start", "home", "home", "home")
HOURS_SHOTS = shots("start", "home")
GUESS_SHOTS = shots("home", "radio", "radio in cart", "radio in cart")
BUY_SHOTS = shots("start", "atlas", "atlas in cart", "atlas in cart")
RAIN_SHOTS = shots("home", "nothing found", "nothing found", "nothing found")
SOLVE_SHOTS = {"screenshot_1.png": "home", "screenshot_2.png": "atlas found", "screenshot_3.png": "atlas"}

GATE = {"verifier_reasoning": 'The last action must be "terminate".', "verifier_success": False}
SURF_ERROR = """Web surfing error
Traceback (most recent call last):
TargetClosedError: Target page, context or browser has been closed"""
VERDICT = """The last screenshot is the product page of the Pocket Atlas: 12.50 EUR, in stock.
The response says the same. Every part of the task is done.

SUCCESS"""

TRAJECTORIES = (
    Trajectory(
        run=f"{FARA}/r1",
        task_id="books_find_7",
        screenshots=FIND_SHOTS,
        log=fara_log(FIRST, *agents.FIND),
        answer=answer_file(agents.ATLAS, *FIND_SHOTS, token_usage=_used(9100, 240)),
        started=at(FIRST, "10:00"),
        seconds=25.5,
        core=_judged(25.5, 70.0, 1),
        score=score_file(1, payload("r1_books_find_7")),
    ),
    Trajectory(
        run=f"{FARA}/r1",
        task_id="books_cart_2",
        screenshots=LOOK_SHOTS,
        log=fara_log(FIRST, *agents.LOOK),
        answer=answer_file(NO_ANSWER, *LOOK_SHOTS),
        started=at(FIRST, "10:05"),
        seconds=22.0,
        core=_judged(22.0, 22.1, 0),
        score=score_file(0, GATE),
    ),
    Trajectory(
        run=f"{FARA}/r1",
        task_id="books_hours_5",
        screenshots=HOURS_SHOTS,
        log=fara_log(FIRST, agents.LOOK[0]),
        answer=answer_file(NO_ANSWER, *HOURS_SHOTS, is_aborted=True),
        started=at(FIRST, "10:09"),
        seconds=31.0,
        core=(
            (0, "INFO", "[Execution <id>] Start"),
            (30, "ERROR", SURF_ERROR),
            (31, "INFO", "[Execution <id>] Completed"),
            (31.1, "WARNING", "[Evaluation <id>] Cannot load execution result"),
        ),
    ),
    Trajectory(
        run=f"{FARA}/r1",
        task_id="books_hours_6",
        screenshots=HOURS_SHOTS,
        log=fara_log(FIRST, agents.LOOK[0]),
        started=at(FIRST, "10:12"),
        core=(
            (0, "INFO", "[Execution <id>] Start"),
            (40, "ERROR", "[Execution <id>] Error running task: Captcha timed out"),
        ),
    ),
    Trajectory(
        run=f"{FARA}/r1",
        task_id="books_old_1",
        screenshots=FIND_SHOTS,
        log=text_log(FIRST, *agents.FIND),
        answer=compact({"final_answer": agents.ATLAS, "screenshots": [*FIND_SHOTS], "is_aborted": False}),
        answer_name="answer",
        started=at(FIRST, "10:00"),
    ),
    Trajectory(
        run=f"{FARA}/r2",
        task_id="books_find_7",
        screenshots=GUESS_SHOTS,
        log=fara_log(SECOND, *agents.GUESS),
        answer=answer_file(agents.RADIO, *GUESS_SHOTS, token_usage=_used(8800, 210)),
        started=at(SECOND, "10:00"),
        seconds=23.5,
        core=_judged(23.5, 65.0, 0),
        score=score_file(0, payload("r2_books_find_7")),
    ),
    Trajectory(
        run=f"{FARA}/r2",
        task_id="books_cart_2",
        screenshots=BUY_SHOTS,
        log=fara_log(SECOND, *agents.BUY),
        answer=answer_file(agents.IN_CART, *BUY_SHOTS, token_usage=_used(9300, 225)),
        started=at(SECOND, "10:05"),
        seconds=24.5,
        core=_judged(24.5, 70.0, 1),
        score=score_file(1, payload("r2_books_cart_2")),
    ),
    Trajectory(
        run=f"{FARA}/r2",
        task_id="books_rain_9",
        screenshots=RAIN_SHOTS,
        log=damaged(fara_log(SECOND, *agents.GIVE_UP)),
        answer=answer_file(
            agents.NO_RAIN,
            *RAIN_SHOTS,
            token_usage=_used(8700, 205, total_tokens=8905),
            harness_version="2026.3",
        ),
        started=at(SECOND, "10:20"),
        seconds=24.0,
        core=_judged(24.0, 61.5, 0),
        score=score_file(0, payload("r2_books_rain_9")),
    ),
    Trajectory(
        run=f"{SOLVER}/r1",
        task_id="Bookshop--3",
        screenshots=SOLVE_SHOTS,
        log=solver_log(THIRD, *agents.SOLVE, end=f"Web surfing done. Final target: {agents.ATLAS}"),
        answer=answer_file(
            agents.ATLAS,
            *SOLVE_SHOTS,
            token_usage={
                "MultimodalWebSurferTaskSolving": {
                    "prompt_tokens": 20400,
                    "completion_tokens": 910,
                    "reasoning_tokens": 384,
                    "num_calls": 6,
                }
            },
        ),
        started=at(THIRD, "09:30"),
        seconds=31.5,
        core=_judged(31.5, 44.0, 1.0),
        score=score_file(1.0, VERDICT),
        score_name="gpt_eval",
    ),
)
