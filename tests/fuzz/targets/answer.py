"""What an agent answered, what was posted, and what is written of either."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.recordings.labels import Labels
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.form_fields import parse_fields
from pytest_webeval.reports.failure_text import evaluator_text, reason
from pytest_webeval.results import EvaluatorResult, Status, TaskResult
from pytest_webeval.rules import RULES
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.score import build_evaluator_error, validate_result
from pytest_webeval.scoring.task_result import merge_results
from pytest_webeval.values.comparison import failed, preview
from pytest_webeval.values.schema import to_plain_json
from tests.fuzz.targets.target import expect, written

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MIMES = ("application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x")


def read_response(content: bytes) -> None:
    """A response, under all rules."""
    for rules in RULES.values():
        answer = parse_response(content, rules)
        _ = answer.is_none, answer.data, answer.repairs
        if answer.fields is not None:
            expect(answer.advice, "no advice")
        written([to_plain_json(answer.parsed), to_plain_json(answer.data)])
        preview(answer.parsed)


def read_posted(content: bytes) -> None:
    """A posted body: the MIME type on the first line, then the text."""
    mime, _, text = content.decode("utf-8", "replace").partition("\n")
    for one in (mime, *_MIMES):
        found = parse_fields(Body(one, text))
        if found is not None:
            written(to_plain_json(found.first | found.repeated))


def read_result(content: bytes) -> None:
    """An `eval_result.json` that may be anybody's, told and written again."""
    try:
        found = TaskResult.read(json.loads(content))
    except (ValueError, RecursionError):
        return
    written(found.to_json())
    harmless_told(reason(found) or "")
    merge_results([found, found])


def tell(content: bytes) -> None:
    """A text of a stranger in all that is told and written."""
    text = content.decode("utf-8", "surrogateescape")
    harmless_told(sanitize(text))
    assertion = failed(text, text, preview(text))
    found = EvaluatorResult(evaluator_name="a", status=Status.FAILURE, score=0.0, actual=text, assertions=[assertion])
    for one in (found, build_evaluator_error("a", text)):
        harmless_told(evaluator_text(one))
        written(validate_result(one, "of a stranger").to_json())


def harmless_told(text: str) -> None:
    """Check that no terminal obeys a text, and that it can be written."""
    expect(not _OBEYED.search(text), f"a control character is told: {text!r:.200}")
    text.encode()


def write_tree(content: bytes) -> None:
    """Any JSON as a result holds it."""
    with suppress(ValueError, RecursionError):
        tree = json.loads(content)
        written(to_plain_json(tree))
        expect(len(preview(tree)) <= 300, "shown at length")  # as the comparison promises
        with suppress(msgspec.ValidationError):
            msgspec.convert(to_plain_json(tree), dict)


def label(content: bytes) -> None:
    """Names of directories, which NUL cannot be part of."""
    names = [name for name in content.split(b"\0") if name.strip(b"/.") and b"/../" not in b"/" + name + b"/"]
    paths = {Path("/home/runs", name.decode("utf-8", "surrogateescape").strip("/")) for name in names}
    labels = Labels((Path("/home/runs"),), Path("/home"))
    found = {path: labels.of(path) for path in paths if labels.root_of(path)}
    expect(len(set(found.values())) == len(found), "two directories have one label")
    for path, told in found.items():
        expect(told.isascii() and told.isprintable(), f"no plain label: {told!r}")
        expect(labels.path_of(told) == path, f"{told!r} leads to another directory than {path}")
