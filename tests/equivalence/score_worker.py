"""Scores runs with whatever version of the package PYTHONPATH names: a request a line in, a result a line out."""

from __future__ import annotations

import json
import sys
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from pytest_webeval import Case, WebEvalError, load_run, load_sites
from pytest_webeval.evaluators import default_evaluators

try:
    from pytest_webeval.scoring.score import score
    from pytest_webeval.tasks.task import read_task
except ImportError:  # a version without rooms
    from pytest_webeval.scoring import score  # type: ignore[no-redef]
    from pytest_webeval.tasks import read_task  # type: ignore[no-redef]

TODAY = date(2026, 3, 21)  # as in the parity suite
sites_of = cache(load_sites)


def answer(request: dict[str, Any]) -> Any:
    """The result of one run as JSON data; a text if it cannot be scored."""
    try:
        run = load_run(Path(request["directory"]), request["rules"])
        task = read_task(request["task"], "the parity suite")
        return score(Case(run, task, sites_of(request["config"]), today=TODAY), default_evaluators()).to_json()
    except (WebEvalError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


for line in sys.stdin:
    print(json.dumps([answer(request) for request in json.loads(line)], default=str), flush=True)
