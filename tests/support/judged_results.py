"""Results with verdicts of a judge, and labels of three annotators: 60 labelled runs with numbers known by hand."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from tests.support.stored_results import result, write_results

JUDGE = {
    "model": "gpt-4o",
    "text_model": None,
    "criterion": "outcome",
    "method": "webjudge",
    "version": "2",
    "votes": 3,
    "threshold": "0.8",
    "agreement": 1.0,
    "vote_values": [True, True, True],
}
# Verdict, label, site, and how many such runs there are.
GROUPS = [
    (True, "success", "shop", 12),
    (True, "success", "map", 8),
    (True, "failure", "shop", 1),
    (True, "failure", "map", 4),
    (False, "success", "shop", 2),
    (False, "success", "map", 2),
    (False, "failure", "shop", 17),
    (False, "failure", "map", 14),
    (True, None, "shop", 9),
    (False, None, "map", 6),
]


def judged(number: int | str, verdict: bool | None, site: str = "shop", **changes: Any) -> dict[str, Any]:  # noqa: FBT001
    """The result of a run, as a judge leaves it. The verdict None is an error. `judge` may be None."""
    status = {True: "success", False: "failure", None: "error"}[verdict]
    judge = changes.pop("judge", JUDGE)
    benchmark = changes.pop("benchmark", "WebVoyager")
    actual = {"status": "judged", "writer": "webjudge", "reason": f"verdict on {number}"}
    evaluated = {
        "evaluator_name": "RubricEvaluator",
        "status": status,
        "score": float(verdict is True),
        "actual": actual | ({} if judge is None else {"judge": judge}) | changes,
    }
    webeval = {"trajectory": {"benchmark": benchmark}}
    return result(f"t{number}", f"runs/{number}", status, sites=[site], evaluators_results=[evaluated], webeval=webeval)


def list_runs() -> list[tuple[int, bool, str | None, str]]:
    """Number, verdict, label and site of 75 runs, of which 60 have a label."""
    runs = [group[:3] for group in GROUPS for _ in range(group[3])]
    return [(number, *run) for number, run in enumerate(runs)]


def write_session(root: Path, **changes: Any) -> Path:
    """Write the results of all 75 runs. The judge of 5 of them had a vote of three against the verdict."""
    split = JUDGE | {"agreement": 2 / 3}
    rows = [
        judged(number, verdict, site, **{"judge": split if number < 5 else JUDGE} | changes)
        for number, verdict, _, site in list_runs()
    ]
    return write_results(root, *rows)


def list_labels() -> list[dict[str, str]]:
    """Labels of `ann` for the 60 runs; of `bob` for 20, of which two differ; of `cleo` for these two, as of `ann`."""
    labels = {f"t{number}": label for number, _, label, _ in list_runs() if label is not None}
    shared = [f"t{number}" for number in (*range(10), *range(29, 39))]
    other = {"t0": "failure", "t29": "success"}
    by_annotator = {
        "ann": labels,
        "bob": {task: other.get(task, labels[task]) for task in shared},
        "cleo": {task: labels[task] for task in other},
    }
    return [
        {"task_id": task, "annotator": annotator, "label": label}
        for annotator, given in by_annotator.items()
        for task, label in given.items()
    ]


def to_csv(rows: list[dict[str, str]]) -> str:
    """The rows as CSV with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
