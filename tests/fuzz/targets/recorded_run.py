"""All files of a run of each format in the table: one input holds the files, of which some are damaged.

A format is fuzzed by a row in `CLAIMS`, which says what its files must hold for a success, and by its seeds in
`seed_runs.py`. ClawBench has a target of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from zlib import crc32

from msgspec import to_builtins

from pytest_webeval import api
from pytest_webeval.errors import RecordingError, WebEvalError
from pytest_webeval.recordings.trajectory.recorded import Trajectory
from pytest_webeval.results import Status
from pytest_webeval.rubrics.stored_verdict import from_judgement
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.json import InvalidJson, load_lenient
from pytest_webeval.storage import to_json_bytes
from tests.fuzz.engine.parts import files
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import Target, expect, written
from tests.fuzz.targets.whole import check_result, directory
from tests.support.recorded_runs import RECORDED_FORMATS
from tests.support.schema_checks import validator

Files = Mapping[str, bytes]
VALIDATED = 16  # of as many results one is checked by its schema, which takes longer than all else
MOST_STEPS = 20


def use_run(name: str, content: bytes) -> None:
    """Load, score and write a run of the format of that name."""
    with directory(content) as path:
        run = RECORDED_FORMATS[name].load(path, "7", find_rules("default"))
        _use_trajectory(run.trajectory)
        result = api.score(run)
        check_result(result, path / "written.json")
        if result.status is Status.SUCCESS:
            expect(_claims_success(name, files(content)), "a success that was not stored")
        if crc32(content) % VALIDATED == 0:
            _validate(result.to_json())
        run.check()  # so that a damaged run counts as refused


def _use_trajectory(trajectory: Trajectory) -> None:
    written([trajectory.to_json(), list(trajectory.warnings)])
    written([to_builtins(step) for step in trajectory.steps[:MOST_STEPS]])
    shots = {shot.name: shot for step in trajectory.steps for shot in (step.before, step.after) if shot}
    for shot in (*trajectory.screenshots, *shots.values()):
        parts = shot.name.split("/")
        expect(not shot.name.startswith("/") and ".." not in parts, f"an image elsewhere: {shot.name!r:.80}")
    for shot in trajectory.screenshots[:MOST_STEPS]:
        with suppress(RecordingError):
            trajectory.image(shot)
    for judgement in trajectory.judgements:
        written(to_builtins(judgement))
        expect(judgement.ungraded is None or judgement.success is None, "a verdict of a run without a grade")
        if judgement.ungraded is None:
            with suppress(WebEvalError):
                use_verdict(from_judgement(judgement))


def _validate(result: dict[str, Any]) -> None:
    problems = [error.message for error in validator("eval_result").iter_errors(json.loads(to_json_bytes(result)))]
    expect(not problems, f"a result that its schema refuses: {problems[:1]}")


def _claims_success(name: str, members: Files) -> bool:
    return any(CLAIMS[name](members))


def _parse(members: Files, name: str) -> Any:
    try:
        return load_lenient(members[name].decode("utf-8", "replace").removeprefix("\ufeff").strip()).value
    except (KeyError, InvalidJson):
        return None


def _parse_number(content: bytes) -> float | None:
    try:
        return float(content)
    except ValueError:
        return None


def _find(document: Any, *keys: str) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _reaches(value: Any, full: float) -> bool:
    return isinstance(value, int | float) and value >= full


def _claim_online_mind2web(members: Files) -> Iterator[bool]:
    yield _reaches(_find(_parse(members, "result.json"), "judge", "score"), 100)


def _claim_stagehand(members: Files) -> Iterator[bool]:
    for name in members:
        if name.startswith("scores/"):
            yield _find(_parse(members, name), "outcomeSuccess") is True


def _claim_atif(members: Files) -> Iterator[bool]:
    yield _reaches(_find(_parse(members, "result.json"), "verifier_result", "rewards", "reward"), 1)
    if "result.json" not in members:
        yield _reaches(_find(_parse(members, "verifier/reward.json"), "reward"), 1)
        yield _reaches(_parse_number(members.get("verifier/reward.txt", b"")), 1)


def _claim_webvoyager(members: Files) -> Iterator[bool]:
    messages = _parse(members, "eval_res.json")
    last = messages[-1] if isinstance(messages, list) and messages else None
    reply = str(_find(last, "content"))
    yield "SUCCESS" in reply and "NOT SUCCESS" not in reply


def _claim_agentlab(members: Files) -> Iterator[bool]:
    yield _find(_parse(members, "summary_info.json"), "cum_reward") == 1


def _claim_browser_use(members: Files) -> Iterator[bool]:
    for content in members.values():  # a history may have another name
        yield b'"verdict"' in content or b"\\u" in content


CLAIMS: Mapping[str, Callable[[Files], Iterator[bool]]] = {
    "online-mind2web": _claim_online_mind2web,
    "stagehand": _claim_stagehand,
    "atif": _claim_atif,
    "webvoyager": _claim_webvoyager,
    "agentlab": _claim_agentlab,
    "browser-use": _claim_browser_use,
}


def name_target(name: str) -> str:
    """The name of the target of a format."""
    return f"run_{RECORDED_FORMATS[name].module}"


TARGETS = tuple(Target(name_target(name), partial(use_run, name), "json") for name in CLAIMS)
