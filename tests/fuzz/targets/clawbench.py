"""ClawBench: the files of a run, its log of requests, and tasks whose request is looked up in one."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

from msgspec import to_builtins

from pytest_webeval.errors import EvaluationError, RecordingError, TaskDefinitionError
from pytest_webeval.evaluators import RequestPatternEvaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.formats.clawbench import read
from pytest_webeval.recordings.formats.clawbench_verdicts import META, REQUESTS
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.network.request_log import load_log
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.rubrics.stored_verdict import from_judgement
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task
from tests.fuzz.engine.parts import files
from tests.fuzz.targets.definition import memory
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import NOWHERE, KeptFiles, expect, written
from tests.fuzz.targets.trace import use_trace

MAX_USED = 20  # tasks of one file
_NAMES = frozenset(
    {
        META,
        REQUESTS,
        "judge.json",
        "judge_llm.json",
        "data/interception.json",
        "data/actions.jsonl",
        "data/agent-messages.jsonl",
    }
)
_LOG = b"".join(
    json.dumps({"url": url, "method": "POST", "headers": {}, "body": body}).encode() + b"\n"
    for url, body in (
        ("https://shop.test/cart?page=2&tag=a&tag=b", {"quantity": "2", "product": "mug"}),
        ("https://shop.test/graphql", [{"operationName": "Order", "variables": {"n": [1]}}, None, [[]]]),
    )
)


def read_run(content: bytes) -> None:
    """The files of a run: no success that no judge stored, and no run excluded that intercepted its request."""
    path = memory() / "clawbench"
    shutil.rmtree(path, ignore_errors=True)
    (path / "data").mkdir(parents=True)
    members = {name: text for name, text in files(content).items() if name in _NAMES}
    for name, text in members.items():
        (path / name).write_bytes(text)
    with suppress(RecordingError):
        use_trace(load_trace(RunInputs(path), REQUESTS))
    use_run(path, members)


def use_run(path: Path, members: dict[str, bytes]) -> None:
    """Read a run, and ask for all that is known of it."""
    trajectory = read(RecordedFiles(RunInputs(path))).judged()
    written([trajectory.to_json(), to_builtins(trajectory.steps), list(trajectory.warnings)])
    is_intercepted = trajectory.details.get("intercepted")
    expect(is_intercepted is False or trajectory.outcome.kind != "aborted", "a run with its request is excluded")
    for judgement in trajectory.judgements:
        written(to_builtins(judgement))
        expect(not judgement.success or is_intercepted is True, "a success without a request")
        expect(not judgement.success or b"match" in b"".join(members.values()), "a success that was not stored")
        if judgement.ungraded is None:
            use_verdict(from_judgement(judgement))


def read_requests(content: bytes) -> None:
    """A log of requests: whatever is in it, no response is known."""
    trace = load_log(KeptFiles(NOWHERE, files={REQUESTS: content}), REQUESTS)
    use_trace(trace)
    for event in trace.events[:MAX_USED]:
        for ask in (lambda event=event: event.status, event.read_content):
            try:
                ask()
            except EvaluationError:
                continue
            expect(False, "a response that was not recorded")  # noqa: FBT003  (it was read)


def read_requested(content: bytes) -> None:
    """Tasks of ClawBench, each looked up in a log."""
    trace = load_log(KeptFiles(NOWHERE, files={REQUESTS: _LOG}), REQUESTS)
    for source in ("suite/7/task.json", "tasks.json"):
        tasks = parse_tasks(content, source)
        for task_id in tasks.task_ids[:MAX_USED]:
            with suppress(TaskDefinitionError):
                use_request(tasks.get(task_id), trace)


def use_request(task: Task, trace: NetworkTrace) -> None:
    """Evaluate what a task expects of requests, and explain why it failed."""
    run = SimpleNamespace(trace=trace, inputs=SimpleNamespace(limits=USUAL))
    for expectation in task.expectations:
        case = Case(run, task, Sites({}))
        with suppress(EvaluationError):
            result = RequestPatternEvaluator().evaluate(expectation, case)
            written(result.to_json())
            written(result.explanation and result.explanation.to_json())
            expect((result.explanation is None) is (result.status == "success"), "a failure without its explanation")
