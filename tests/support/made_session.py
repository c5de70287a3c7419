"""A session of `score` over runs that exist nowhere: its executor replies with made records."""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_webeval.executors.job import encode_reply
from pytest_webeval.executors.placement import JobExecutor
from pytest_webeval.executors.progress import Progress
from pytest_webeval.results import SUMMARY
from pytest_webeval.sessions.placement.session_scoring import PathList, ScoredRuns, SessionScoring
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.sessions.runs.stored_results import Seal
from pytest_webeval.sessions.session import Session
from pytest_webeval.sessions.session_end import SessionEnd
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.settings import read_settings
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.workspace import Workspace
from tests.support.made_records import TASKS, make_records

BATCH = 1_000
_CHECKSUM = "0123456789abcdef" * 4


class MadeReplies(JobExecutor):
    """An executor that has the reply to each batch at once."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts

    def count_workers(self) -> int:
        return 1

    def submit(self, _: Callable[..., Any], /, *args: Any, **__: Any) -> Future[Any]:
        texts = list(islice(self._texts, len(pickle.loads(args[-1]))))
        future = Future[Any]()
        future.set_result(encode_reply(lambda: texts))
        return future


def make_texts(count: int, form: str) -> Iterator[str]:
    """What workers say of the runs, in the order of `list_labels`."""
    line = json.dumps({"task_id": 1, "status": "success", "score": 1.0, "webeval": {"note": "x" * 200}})
    records = make_records(count)
    for label, record in zip(list_labels(count), records, strict=True):
        seal = Seal(_CHECKSUM, _CHECKSUM, "", files=_CHECKSUM, identity=_CHECKSUM)
        named = type(record)(**{**{name: getattr(record, name) for name in record.__struct_fields__}, "run": label})
        yield RecordPayload(named, None, seal, line=None if form == "files" else line).to_text()


def list_labels(count: int) -> Iterator[str]:
    """The runs as they are collected."""
    return (f"runs/attempt_{number // TASKS:06}/{number % TASKS}" for number in range(count))


def open_session(directory: Path, *options: str) -> Session:
    """A session over the directory `runs`, which has none."""
    (directory / "runs").mkdir(parents=True, exist_ok=True)
    arguments = _parse(["runs", *options], directory)
    workspace = Workspace(read_settings(CommandSource(arguments)), directory, directory)
    return Session(workspace, MissingTasks(workspace), SessionRows(workspace))


def score_made_runs(
    directory: Path,
    count: int,
    form: str,
    executor: type[MadeReplies] = MadeReplies,
) -> tuple[Session, int]:
    """Sum up that many results and write all files. Returns the session and its exit code."""
    session = open_session(directory, "--output", str(directory / "out"), "--results", form)
    scoring, end = SessionScoring(session), SessionEnd(session)
    paths = (str(directory / label) for label in list_labels(count))
    vars(scoring)["runs"] = ScoredRuns(PathList(paths))
    scoring.score(executor(make_texts(count, form)), BATCH, Progress(count))
    return session, end.close(end.sum_up(scoring.finish()))


def _parse(words: list[str], directory: Path) -> Any:
    import argparse

    from pytest_webeval.commands.command import add_arguments, list_session_arguments

    os.chdir(directory)
    parser = argparse.ArgumentParser()
    parser.add_argument("webeval_runs", nargs="+")
    add_arguments(parser, list_session_arguments())
    return parser.parse_args(words)


if __name__ == "__main__":
    place, number, form = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    done, _ = score_made_runs(place, number, form)
    assert len(done.records) == number
    assert not done.problems, done.problems
    assert (place / "out" / SUMMARY).exists()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
