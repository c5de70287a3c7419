"""The page of a run in the report of its session: already redacted, and all that the page shows in one file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlencode

from pytest_webeval.reports.html.screenshots import relative_url
from pytest_webeval.reports.html.writer import PAGES, data_name, inert_json
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import exists_no_follow, read_file_inside
from pytest_webeval.safety.json import get_member, load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR

MOST_BYTES = 32 * 2**20  # of one page
MOST_EVALUATORS = 50
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_END = "');\n"


def read_page(directory: Path, label: str) -> dict[str, Any] | None:
    """What the page of a run shows, in the report in a directory; None where there is no page.

    Raises `RecordingError` or `ValueError` for a file that the report did not write so.
    """
    name = f"{data_name(label)}.js"
    if not exists_no_follow(directory / PAGES / name):
        return None
    text = read_file_inside(directory, f"{PAGES}/{name}", MOST_BYTES).decode()
    start = f"webeval.task({inert_json(label)}, '"
    if not text.startswith(start) or not text.endswith(_END):
        raise ValueError("not a page of this run")
    json_text = _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text[len(start) : -len(_END)])
    page = load_bounded(json_text, USUAL, "the page")
    if not isinstance(page, dict):
        raise ValueError("not a page of this run")
    return page


def build_result(page: Mapping[str, Any], task_id: int | str) -> TaskResult:
    """The result as far as the page shows it. Raises `ValueError`."""
    evaluators = page.get("evaluators")
    listed = [each for each in evaluators if isinstance(each, dict)] if isinstance(evaluators, list) else []
    evaluated = listed[:MOST_EVALUATORS]
    return TaskResult.read(
        {
            "task_id": task_id,
            "intent_template_id": -1,
            "sites": [],
            "task_revision": -1,
            "status": page.get("status"),
            "score": 0.0,
            "evaluators_results": [_build_evaluation(each, page) for each in evaluated],
            "error_msg": page.get("error"),
            **dict.fromkeys(_VERSIONS, ""),
            "webeval": {
                "trajectory": {"answer": _find_answer(page)},
                "inputs": get_member(page.get("checksums"), "inputs"),
                "explanations": [_find_explanation(each) for each in evaluated],
            },
        }
    )


def _find_explanation(evaluated: Mapping[str, Any]) -> dict[str, Any] | None:
    """The explanation of an evaluation; None where the page shows no differences of it."""
    shown = {name: evaluated[name] for name in ("differences", "nearest", "candidates") if evaluated.get(name)}
    return shown if "differences" in shown else None


def _find_answer(page: Mapping[str, Any]) -> Any:
    """The answer as the agent wrote it; None where the page has it among what an evaluator found alone."""
    answer = page.get("answer")
    fields = get_member(answer, "fields")
    if isinstance(fields, list):
        return {str(get_member(each, "name")): get_member(each, "value") for each in fields}
    value = get_member(answer, "value")
    return get_member(get_member(page.get("about"), "trajectory"), "answer") if value is None else value


_VERSIONS = ("webarena_verified_version", "webarena_verified_evaluator_checksum", "webarena_verified_data_checksum")


def _build_evaluation(evaluated: Mapping[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    name, assertions = evaluated.get("name"), evaluated.get("assertions")
    verdict = get_member(page.get("rubric"), "verdict") if name == RUBRIC_EVALUATOR else evaluated.get("actual")
    names = {"assertion_name": "name", "status": "status", "assertion_msgs": "messages"}
    return {
        "evaluator_name": name,
        "score": 0.0,
        "actual": verdict,
        "error_msg": evaluated.get("error"),
        **{each: evaluated.get(each) for each in ("status", "expected")},
        "assertions": [
            {field: get_member(each, shown) for field, shown in names.items()}
            for each in (assertions if isinstance(assertions, list) else ())
        ],
    }


def link_to_task(report: Path, label: str, directory: Path) -> str:
    """The address of a task in a report, from a page in a directory."""
    return f"{relative_url(report / 'index.html', directory)}#{urlencode({'task': label})}"


def find_run_directory(page: Mapping[str, Any], report: Path) -> Path | None:
    """The run directory that a page links to; None without such a link."""
    address = _find_run_address(page)
    with suppress(ValueError):
        return None if address is None else report / unquote_to_bytes(address).decode()
    return None


def find_picture(step: Mapping[str, Any], page: Mapping[str, Any]) -> str | None:
    """The name of the last picture of a step in the run directory; None for any other picture.

    A small copy that the report has in itself is not copied again.
    """
    root = _find_run_address(page)
    url = next((url for side in ("after", "before") if isinstance(url := step.get(side), str) and url), None)
    if root is None or url is None or not url.startswith(root):
        return None
    with suppress(ValueError):
        return unquote_to_bytes(url.removeprefix(root)).decode()
    return None


def find_frame(step: Mapping[str, Any], label: str) -> str | None:
    """The name of the last frame of a Playwright trace that the report has for a step of a run; None without any."""
    pattern = rf"{PAGES}/{data_name(label)}-frame-[0-9]{{1,4}}\.(?:png|jpg)"
    urls = (step.get(side) for side in ("after", "before"))
    return next((url for url in urls if isinstance(url, str) and re.fullmatch(pattern, url)), None)


def _find_run_address(page: Mapping[str, Any]) -> str | None:
    """The relative address of the run directory, which ends in a slash."""
    links = page.get("links")
    for link in links if isinstance(links, list) else ():
        address = get_member(link, "href")
        if get_member(link, "label") == "run directory" and isinstance(address, str):
            is_local = address.endswith("/") and not address.startswith("/") and ":" not in address
            return address if is_local and address.isprintable() else None
    return None
