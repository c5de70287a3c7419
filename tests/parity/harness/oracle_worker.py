"""Runs inside the reference's own environment: answers each JSON line on stdin with one on stdout.

Started by `reference.py`; needs nothing of ours. Only the public models and the internal evaluator that takes a reader
are used (spec §11.3 item 6), so that tasks outside the reference's data set can be evaluated as well.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import dateutil.parser
import jsonpath_ng.ext.parser
from pydantic import ValidationError
from webarena_verified.api.internal import SubsetsManager, WebArenaVerifiedEvaluator
from webarena_verified.types.config import WebArenaVerifiedConfig
from webarena_verified.types.eval import TaskEvalResult
from webarena_verified.types.task import WebArenaVerifiedTask

TODAY = dt.datetime(2026, 3, 21)  # noqa: DTZ001  (dateutil's own default has no zone either)
SECONDS = 20
LONGEST_REASON = 400


class TookTooLong(BaseException):
    """Not an `Exception`: those the reference takes for an evaluator's error."""


class FrozenDatetime(dt.datetime):
    """A `datetime` whose clock stands still."""

    @classmethod
    def now(cls, tz=None):
        """The day on which partial dates are read, whatever the zone."""
        return TODAY.replace(tzinfo=tz)


def freeze_date():
    """Let dateutil complete partial dates from one day.

    Nothing but the name `datetime` in dateutil's parser is replaced: it is the only clock that a verdict depends on
    (spec §5.5), and time limits, logs and everything else keep the real one.
    """
    module = sys.modules[dateutil.parser.parser.__module__]
    module.datetime = SimpleNamespace(**{**vars(dt), "datetime": FrozenDatetime})


def keep_path_parser():
    """Let jsonpath-ng reuse its parser.

    It builds the same grammar tables for each path anew, in 30 ms: three quarters of the time that all verdicts take.
    """
    parser = jsonpath_ng.ext.parser.ExtentedJsonPathParser
    built = vars(parser())
    parser.__init__ = lambda self, **_: vars(self).update(built)


@contextmanager
def time_limit():
    """Raise `TookTooLong` in the body after a while."""

    def stop(signum, frame):
        raise TookTooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


class OneTask:
    """A reader that knows a single task; the reference's own accepts nothing but its 812."""

    def __init__(self, task):
        self.task = task

    def get_task_by_id(self, task_id):  # noqa: ARG002  (the signature of a reader)
        """The task, whose id the caller took from it."""
        return self.task


def result_of(request):
    """The reference's result for a run directory."""
    # The reference hashes the data file for each task: a short one will do. Validating a task changes the dictionary
    # that it is given (Q46), which was just read from the request and is nobody else's.
    config = WebArenaVerifiedConfig.from_file(request["config"], test_data_file_override=__file__)
    task = WebArenaVerifiedTask.model_validate(request["task"])
    directory = Path(request["directory"])
    return WebArenaVerifiedEvaluator(config=config, reader=OneTask(task)).evaluate_task(
        task_id=task.task_id,
        agent_response=directory / "agent_response.json",
        network_trace=directory / request["trace_name"],
    )


def verdict(request):
    """Status of the task and of each evaluator, with reasons for people."""
    try:
        with time_limit():
            result = result_of(request)
    except TookTooLong:
        return {"status": "hang", "evaluators": [], "reasons": [], "error": f"no verdict within {SECONDS} s"}
    except ValidationError as error:  # of the task's definition or the configuration, before anything is evaluated
        return {"status": "error", "evaluators": [], "reasons": [], "error": short(error), "refused": True}
    except Exception as error:  # noqa: BLE001  (whatever else the reference refuses: an error as well)
        return {"status": "error", "evaluators": [], "reasons": [], "error": short(error)}
    return {
        "status": str(result.status.value),
        "score": result.score,
        "evaluators": [[one.evaluator_name, str(one.status)] for one in result.evaluators_results],
        "reasons": [reason(one) for one in result.evaluators_results],
        "error": short(result.error_msg or ""),
    }


def reason(found):
    """Why an evaluator did not succeed, in a few words."""
    told = [f"{one.assertion_name} {' '.join(one.assertion_msgs or ())}" for one in found.assertions or ()]
    return short(found.error_msg or "; ".join(told))


def short(text):
    """A text that cannot fill the pipe."""
    return " ".join(str(text).split())[:LONGEST_REASON]


def dataset(request):
    """The definitions of the 812 tasks, and the ids of each subset."""
    definitions = json.loads(WebArenaVerifiedConfig().test_data_file.read_text("utf-8"))
    subsets = {row["name"]: json.loads(Path(row["path"]).read_text("utf-8")) for row in SubsetsManager().list_subsets()}
    return {"tasks": definitions, "subsets": {name: content["task_ids"] for name, content in subsets.items()}}


def read_result(request):
    """A file of ours as the reference's own result model reads it."""
    result = TaskEvalResult.model_validate_json(Path(request["path"]).read_bytes())
    found = [[one.evaluator_name, str(one.status)] for one in result.evaluators_results]
    return {"task_id": result.task_id, "status": str(result.status.value), "score": result.score, "evaluators": found}


COMMANDS = {"verdict": verdict, "dataset": dataset, "read_result": read_result}


def answer(line):
    """The answer to one request."""
    request = json.loads(line)
    try:
        found = COMMANDS[request["command"]](request)
    except Exception as error:  # noqa: BLE001  (one bad request must not end the process that the others wait for)
        found = {"failed": f"{type(error).__name__}: {short(error)}"}
    return {"ticket": request["ticket"], **found}


def main():
    """Answer until stdin ends. What the reference prints goes to stderr."""
    logging.disable(logging.CRITICAL)  # each error would cost a formatted traceback
    freeze_date()
    keep_path_parser()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            answers.write(json.dumps(answer(line)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
