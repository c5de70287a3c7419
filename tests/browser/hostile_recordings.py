"""Runs and trajectories in which every field that a report may show is a text of a stranger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.browser.pages import png
from tests.hostile.corpus import honest
from tests.hostile.corpus.markup import TEXTS
from tests.hostile.corpus.odd_names import NAMES
from tests.support import recorded

LONG = "<b>" + "A" * 1_000_000
RUN_TEXTS = (*TEXTS, LONG)
FIRST = 1001
# None of these can hold a slash; control characters would have an image refused.
IMAGES = (
    "shot \"one\" 'two' 1.png",
    "shot#2.png",
    "shot?x=1&y=3.png",
    "shot%41%2f 4.png",
    "<img src=x onerror=window.__pwned=1>5.png",
    "javascript:6.png",
    "100% of 7.png",
    "ünï\u200acode 8.png",
)


def write(directory: Path) -> None:
    """A root `runs` with a run and a trajectory for each text, and directories with odd names."""
    tasks = [_write_run(directory / "runs" / str(at), at, text) for at, text in enumerate(RUN_TEXTS, FIRST)]
    (directory / "runs" / "tasks.json").write_text(json.dumps(tasks))
    (directory / "config.json").write_text(json.dumps({"environments": {"__SHOPPING__": {"urls": [honest.HOME]}}}))
    for at, text in enumerate(TEXTS):
        _write_trajectory(directory / recorded.RUN / f"t{at}", text)
    for _, name in NAMES:
        _write_named(directory / recorded.RUN / "named" / name)
    _write_named(directory / recorded.RUN / "shots")


def _write_run(path: Path, task_id: int, text: str) -> dict[str, Any]:
    path.mkdir(parents=True)
    answer = honest.answer([text, {text: text}], status=text, task_type=text, error_details=text)
    (path / honest.RESPONSE).write_text(json.dumps(answer))
    posted = {"mimeType": "application/json", "text": json.dumps({"a": text})}
    more = {"headers": {**honest.PAGE, "x": text}, "cookies": {"a": text}, "content": posted}
    entries = [
        honest.entry(f"http://shop.test/{text}", **more),
        honest.entry(text, text, post=posted) | {"_resourceType": text, "startedDateTime": text},
        honest.entry(f"http://shop.test/?q={text}", "POST", post=posted),
    ]
    (path / honest.HAR).write_text(json.dumps(honest.har(*entries)))
    return _task(task_id, text)


def _task(task_id: int, text: str) -> dict[str, Any]:
    """A definition with the text where one may stand; the sites of the last ones are no sites."""
    told = text.replace("\ud800", "").replace("\udfff", "")
    url = honest.visited(f"__SHOPPING__/{told[:200]}", expected={"query_params": {"q": [told]}})
    posted = honest.visited("__SHOPPING__/", expected={"http_method": "POST", "post_data": {"a": told}})
    task = honest.asked((told,), "string", url, posted)
    about = {"intent": told, "intent_template": told, "start_urls": [told], "instantiation_dict": {told: told}}
    return task | about | {"task_id": task_id} | ({"sites": [told]} if task_id % 5 == 0 else {})


def _write_trajectory(path: Path, text: str) -> None:
    actions = ({"action": text, text: text, "query": text}, {"action": "web_search", "query": text}, recorded.TERMINATE)
    spelled = json.dumps(text)[1:-1]
    log = recorded.log(*actions).replace("thought 1", spelled).replace("saw 1", spelled)
    leaf = recorded.item(4, 1) | dict.fromkeys(("criterion", "description", "justification"), text)
    verdict = recorded.payload(
        outcome=False,
        outcome_reasoning=text,
        outcome_primary_intent=text,
        items=(leaf | {"post_image_justification": text}, recorded.item(3, 0)),
    )
    recorded.write(
        path,
        answer=recorded.final_answer(text),
        web_surfer_log=log.replace("https://shop.test/", spelled),
        scores=recorded.score_file(verdict),
    )


def _write_named(path: Path) -> None:
    """A trajectory with odd names of its directory and its screenshots, in which each loads."""
    recorded.write(path, answer=None, core_log=recorded.core_log("x", evaluated=True))
    answer = recorded.final_answer() | {"screenshots": list(IMAGES)}
    recorded.put(path / "x_final_answer.json", answer)
    for at, image in enumerate(IMAGES):
        (path / image).write_bytes(png(64, 40, (20 * at, 120, 200)))
