"""Records of very many runs, as sessions of WebArena-Verified and of webeval have them, without any recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from pytest_webeval.summary.record import Record

TASKS = 812
SITES = (["shopping"], ["reddit"], ["gitlab"], ["shopping_admin"], ["map"], ["gitlab", "reddit"], ["wikipedia", "map"])
_CHECKSUM = "0123456789abcdef" * 4


def make_records(count: int, *, has_own_ids: bool = False) -> Iterator[Record]:
    """Some records: 60 % successes, 30 % failures in 200 groups, 5 % errors, 5 % excluded; one in ten has a warning.

    The runs are attempts at 812 tasks, or, with `has_own_ids`, each of a task of its own.
    """
    for number in range(count):
        shuffled = number * 7919 % count if count % 7919 else number
        yield _make_record(shuffled, f"books_find_{shuffled:09}" if has_own_ids else shuffled % TASKS)


def _make_record(number: int, task_id: int | str) -> Record:
    place, group = number * 31 % 100, number * 17 % 200
    status = "success" if place < 60 else "failure" if place < 90 else "error"
    run = f"attempt_{number // TASKS:06}/{task_id}"
    text = f"the recording has {group} responses without a body, such as the one of /catalog/page-{number}.html"
    return Record(
        run=run,
        task_id=task_id,
        status=status,
        score=float(status == "success"),
        sites=SITES[number % len(SITES)],
        template=number % 241,
        task_type=("retrieve", "mutate", "navigate")[number % 3],
        reason=None if status == "success" else f"field_{group}: expected {group!r}, got 'page {number}' @ event 17",
        warnings=[["other" if number % 20 else "guessed_sites", text, number % 40 == 0]] if number % 10 == 0 else (),
        wall_time=0.05 + number % 997 / 1000,
        rules="default",
        version="1.2.3",
        evaluator_checksum=_CHECKSUM,
        data_checksum=_CHECKSUM,
        excluded="the site was down" if place >= 95 else None,
        skipped=place >= 97,
        failure=None if status == "success" else ["AgentResponseEvaluator", f"field_{group}", "different"],
        evaluators=() if status == "success" else ["AgentResponseEvaluator"],
        reported="SUCCESS" if place < 80 else "UNKNOWN_ERROR",
        claim="honest" if place < 60 else "over_claiming",
        checksums=f"recording={number:016x} task={number % TASKS:016x}",
        format="webarena-verified",
    )


def make_trajectories(count: int) -> Iterator[Record]:
    """As many records of trajectories, with judgements, of the same tasks."""
    for number, record in enumerate(make_records(count)):
        attempt, _, task_id = record.run.partition("/")
        yield replace(
            record,
            run=f"{attempt}/traj/books_{task_id}",
            task_id=f"books_{task_id}",
            sites=[],
            template=-1,
            format="fara",
            trajectory=_make_facts(number, attempt, record.score),
        )


def _make_facts(number: int, attempt: str, score: float) -> dict[str, Any]:
    return {
        "class": ("completed", "over_budget")[number % 10 == 0],
        "reasons": [] if number % 10 else ["no_answer"],
        "message": "the agent answered",
        "flags": [] if number % 7 else ["late_answer"],
        "system": "surfer",
        "model": "fara-7b",
        "benchmark": "WebTailBench_hf",
        "run_id": attempt,
        "max_rounds": (30, 100)[number % 2],
        "duration": number * 37 % 60_000 / 64,
        "attempts": 1 + number % 3,
        "last_error": None if number % 20 else f"HTTP {400 + number % 5}",
        "is_long": number % 100 == 0,
        "steps": number % 97,
        "screenshots": number % 97 + 1,
        "usage": {"prompt_tokens": number * 7919 % 100_000, "completion_tokens": number * 31 % 4_000},
        "answer": f"page {number}",
        "group": None,
        "verdict": _make_verdict(number, score),
    }


def _make_verdict(number: int, score: float) -> dict[str, Any]:
    failure = {
        "has_failure": True,
        "first_step": number % 9,
        "summary": f"[{number % 9}.1] The agent opened page {number} instead of the product of the task.",
        "codes": [f"{number % 9}.1"],
        "categories": [f"category {number % 9}"],
    }
    return {
        "status": "judged",
        "criterion": "outcome",
        "process_score": number % 13 / 12,
        "process": number % 13 > 9,
        "outcome": score == 1,
        "violation": False,
        "generation": "G2",
        "failure": None if score else failure,
        "tool_failures": [],
        "reason": f"The judge wrote of page {number}.",
    }
