"""`score`: every expectation of a task goes to the evaluator that it names; the worst status wins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.results import worst_status


def joined(wholes: Sequence[TaskResult]) -> TaskResult:
    """Several results of one run as one; what was found twice is kept once, and the worst status wins."""
    every = [one for whole in wholes for one in whole.evaluators_results]
    found = list({_key(one): one for one in every}.values())
    unscored = [whole.status for whole in wholes if not whole.evaluators_results]
    status = worst_status([*unscored, *(one.status for one in found)])
    told = [whole.error_msg for whole in wholes if whole.error_msg and not whole.evaluators_results]
    told += [f"{one.evaluator_name}: {one.error_msg}" for one in found if one.error_msg]
    checksums = {whole.webarena_verified_evaluator_checksum for whole in wholes}
    warned = list(dict.fromkeys(note for whole in wholes for note in _warnings(whole)))
    looked = _looked_into(wholes, found) if status is not Status.SUCCESS else {}
    return wholes[0].with_changes(
        evaluators_results=found,
        status=status,
        score=float(status is Status.SUCCESS),
        error_msg="; ".join(dict.fromkeys(told)) or None,
        webarena_verified_evaluator_checksum=",".join(sorted(checksums)),
        webeval=wholes[0].webeval | {"warnings": warned} | looked | _excluded(wholes[0], status, told),
    )


def _looked_into(wholes: Sequence[TaskResult], found: Sequence[EvaluatorResult]) -> dict[str, Any]:
    """What several results say of why they are none that anybody wanted, beside what was found."""
    told: dict[str, Any] = {}
    for whole in wholes:
        for one, explanation in zip(whole.evaluators_results, _listed(whole, "explanations"), strict=False):
            name = _key(one)
            told[name] = told.get(name) or explanation
    capture = next((listed for whole in wholes if (listed := _listed(whole, "capture"))), [])
    return {"explanations": [told.get(_key(one)) for one in found], "capture": capture}


def _warnings(whole: TaskResult) -> list[str]:
    """The warnings of a result, which may be read from a file that somebody else wrote."""
    return [note for note in _listed(whole, "warnings") if isinstance(note, str)]


def _listed(whole: TaskResult, name: str) -> list[Any]:
    found = whole.webeval.get(name)
    return list(found) if isinstance(found, list | tuple) else []


def _key(result: EvaluatorResult) -> str:
    return json.dumps(result.to_json(), sort_keys=True)


def _excluded(whole: TaskResult, status: Status, told: list[str]) -> dict[str, Any]:
    """As of a single result: what nobody could judge of a trajectory is in no mean."""
    if status is not Status.ERROR or "trajectory" not in whole.webeval:
        return {}
    return {"excluded": whole.webeval.get("excluded") or "; ".join(told) or status.value}
