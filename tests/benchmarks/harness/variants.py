"""Runs for a mixed corpus: answers with units and dates, paths into bodies, and one failure in five."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from hashlib import sha1
from itertools import chain
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from tests.benchmarks.harness.recordings import Example, encoded, example, examples

RETRIEVING, POSTING, POSTING_JSON = 101, 108, 301
WRONG_ANSWERS, MISSING_REQUESTS, WRONG_FIELDS = (102, 210), (109,), (106, 207, 303)
TRACE_START = {"version": 8, "type": "context-options", "origin": "library", "browserName": "chromium", "options": {}}


def mixed_examples() -> tuple[Example, ...]:
    """Successes and failures in an order in which every fifth is a failure."""
    successes = [*_answers_with_formats(), *(one for one in examples() if one.verdict == "success")]
    failures = [example(number) for number in (*WRONG_ANSWERS, *MISSING_REQUESTS, *WRONG_FIELDS)]
    failures = [*failures, damaged_body()][: len(successes) // 4]
    groups = [successes[start : start + 4] for start in range(0, 4 * len(failures), 4)]
    return tuple(chain.from_iterable((*group, one) for group, one in zip(groups, failures, strict=True)))


def _answers_with_formats() -> list[Example]:
    return [
        _answering("distance", ["1.5 km"], ["1500 m"]),
        _answering("date", ["2022-03-15"], ["March 15, 2022"]),
    ]


def _answering(value_type: str, expected: list[Any], answer: list[Any]) -> Example:
    """A run whose answer is of a value type."""
    one = example(RETRIEVING)
    (expectation,) = one.task["eval"]
    expectation = {
        **expectation,
        "expected": expectation["expected"] | {"retrieved_data": expected},
        "results_schema": {"type": "array", "items": {"type": "string", "format": value_type}},
    }
    response = json.loads(one.response) | {"retrieved_data": answer}
    return replace(one, task=one.task | {"eval": [expectation]}, response=encoded(response))


def damaged_body() -> Example:
    """A run whose posted JSON was cut off, so that no field of it can be read."""
    one = example(POSTING_JSON)
    log = json.loads(json.dumps(one.log))
    for entry in log["entries"]:
        if "postData" in entry["request"]:
            entry["request"]["postData"]["text"] = entry["request"]["postData"]["text"][:-2]
    return replace(one, log=log, verdict="failure")


def failing() -> tuple[Example, Example]:
    """A run that passes, and one with the same recording that fails because the task expects another quantity."""
    one = example(POSTING)
    answer, event = one.task["eval"]
    wrong = event["expected"] | {"post_data": event["expected"]["post_data"] | {"quantity": 6}}
    task = one.task | {"eval": [answer, event | {"expected": wrong}]}
    return one, replace(one, task=task, verdict="failure")


def zipped_trace(har: bytes) -> bytes:
    """The traffic of a HAR as Playwright's `trace.zip`, which has each body in a file of its own."""
    archive, lines = io.BytesIO(), []
    with ZipFile(archive, "w", ZIP_DEFLATED) as trace:
        for entry in json.loads(har)["log"]["entries"]:
            content = entry["response"].get("content", {})
            if text := content.pop("text", None):
                name = f"{sha1(text.encode(), usedforsecurity=False).hexdigest()}.txt"
                content["_sha1"] = name
                if f"resources/{name}" not in trace.NameToInfo:
                    trace.writestr(f"resources/{name}", text)
            lines.append(encoded({"type": "resource-snapshot", "snapshot": entry}))
        trace.writestr("trace.trace", encoded(TRACE_START) + b"\n")
        trace.writestr("trace.network", b"\n".join(lines) + b"\n")
    return archive.getvalue()
