"""The tables next to the trajectories: the tasks, and the metrics of the first run."""

from __future__ import annotations

import csv
import io
import json
from statistics import mean
from typing import Any

from trajectory_recordings import FARA, TRAJECTORIES, Trajectory, payload

METRICS = f"{FARA}/r1/mmrubric_0.8-5-3/metrics.json"
SHOP, NO_START = "https://shop.test/", ""
COLUMNS = ("benchmark", "id", "task_summary", "init_url", "precomputed_rubric")
FIND = "What does the Pocket Atlas cost, and is it in stock?"
HOURS = [{"criterion": "Report the opening hours", "description": "Full credit for both days.", "max_points": 4}]
EVALUATED = 2


def tasks_tsv() -> str:
    """The tasks as WebTailBench lists them; one has no rubric, and most runs open the shop themselves."""
    find, cart, rain = (unscored(payload(f"r2_{name}")) for name in ("books_find_7", "books_cart_2", "books_rain_9"))
    rows = (
        ("books", "books_find_7", FIND, SHOP, find),
        ("books", "books_old_1", FIND, SHOP, find),
        ("books", "books_rain_9", "Find a book about rain or weather. If the shop has none, say so.", SHOP, rain),
        ("shopping", "books_cart_2", "Put one Pocket Atlas into the cart and report the total.", NO_START, cart),
        ("shopping", "books_hours_5", "When is the bookshop open at weekends?", NO_START, _unscored_items(HOURS)),
        ("shopping", "books_hours_6", "When is the bookshop open on public holidays?", NO_START, ""),
    )
    table = io.StringIO()
    csv.writer(table, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *rows])
    return table.getvalue()


def metrics_json() -> str:
    """What the first run comes to: one success, one run over budget, one aborted (`fara_webeval.md` §9.5)."""
    found, cart, aborted = TRAJECTORIES[:3]
    budgets = {"1": [0.0, 0.0], "2": [0.0, 0.0], "3": [0.5, 1]}
    durations = [found.seconds or 0, cart.seconds or 0, aborted.seconds or 0]
    metrics = {
        "mean_score": 0.5,
        "max_score": 1,
        "num_examples": 2,
        "accuracy_books": 1.0,
        "samples_books": 1,
        "accuracy_shopping": 0.0,
        "samples_shopping": 1,
        "step_budget_scores": {
            budget: {"mean_score": average, "max_score": best, "num_examples": 2}
            for budget, (average, best) in budgets.items()
        },
        "average_time": mean(durations),
        "durations": durations,
        "scores": [_score(found, {"1": 0, "2": 0, "3": 1}), _score(cart, {"1": 0, "2": 0, "3": 0})],
        "total examples": 3,
        "executed examples": 2,
    }
    return json.dumps(metrics, indent=2, ensure_ascii=False)


def _score(run: Trajectory, budgets: dict[str, int]) -> str:
    scored, answered = json.loads(run.score or "{}"), json.loads(run.answer or "{}")
    return json.dumps(
        {
            "qid": run.task_id,
            "score": scored["score"],
            "duration": run.seconds,
            "stage": EVALUATED,
            "reasoning": scored["gpt_response_text"],
            "answer": answered["final_answer"],
            "step_budget_scores": budgets,
        },
        ensure_ascii=False,
    )


def unscored(verdict: dict[str, Any]) -> str:
    return _unscored_items([item for item in verdict["rubric_items"] if "penalty" not in item])


def _unscored_items(items: list[dict[str, Any]]) -> str:
    asked = ("criterion", "condition", "description", "max_points")
    blank = {"earned_points": "", "justification": ""}
    stripped = [{key: item[key] for key in asked if key in item} | blank for item in items]
    return json.dumps({"items": stripped}, ensure_ascii=False)
