"""Texts that a terminal, a CI system, an XML parser or a browser would obey, in each field that may reach one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import EITHER, Case, answering, holding, recording, run, trajectory
from tests.support import recorded

TEXTS = (
    "<script>window.__pwned=1</script>",
    "</script><script>window.__pwned=1</script><!--",
    "'\"><img src=x onerror=window.__pwned=1>",
    "<svg/onload=window.__pwned=1><animate onbegin=window.__pwned=1 attributeName=x dur=1s>",
    "</textarea></td></table></div></pre><iframe srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    '<a href="javascript:window.__pwned=1">x</a> javascript:window.__pwned=1',
    "<link rel=stylesheet href=http://192.0.2.1/x.css><style>@import 'http://192.0.2.1/y.css';*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=http://192.0.2.1/'><base href=http://192.0.2.1/>",
    "&lt;script&gt;window.__pwned=1&lt;/script&gt;&#60;script&#62;\\u003cscript\\u003ewindow.__pwned=1",
    "{{7*7}} ${7*7} <%= 7*7 %> {{constructor.constructor('window.__pwned=1')()}} `${window.__pwned=1}`",
    "]]></failure></testcase><testcase name='pwned'/><![CDATA[ <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>&y;",
    "\x1b[2J\x1b]0;pwned\x07\x1b]8;;http://192.0.2.1/\x07x\x1b]8;;\x07\x1b[31m\x9b31m\x1bP$q\x1b\\\x1b]52;c;cHduZWQ=\x07",
    "x\n::error file=a.py,line=1::pwned\n::set-output name=a::b\r\n  ::add-mask::x\n::stop-commands::y",
    "x\n##[error]pwned\n##vso[task.complete result=Succeeded;]x\n##teamcity[buildStatus status='SUCCESS']",
    "\u202egnp.\u2066x\u2069\u200b\ufeff\u2028::error::y\u2029\x85::error::z\x0b::error::v\x0c::error::f",
    "\x00\x01\x08\x7f\ufffe\uffff\ud800\udfff \U0010ffff",
    "=cmd|' /C calc'!A0\t@SUM(1+1)\n========= 1 passed in 0.01s =========\nPASSED",
    "<b>" * 100_000,
)


def _said(text: str) -> str:
    """A text by the beginning of its spelling."""
    return json.dumps(text[:40])


_CONTENT = honest.visited(expected={"response_content": {"a": "1"}})
_POSTED = honest.visited("__SHOPPING__/cart", expected={"http_method": "POST", "post_data": {"a": "1"}})
_COOKIE = honest.visited(expected={"response_cookies": {"a": "1"}})
_HEADER = honest.visited(expected={"headers": {"x": "1"}})


def _asking(expectation: Any) -> Any:
    return honest.asked(("lamp",), "string", expectation)


def _of_runs(text: str):
    """A run with the text in each of its fields, none of which can be right."""
    plain = {"mimeType": "application/json", "text": json.dumps({"a": text})}
    posted = honest.entry("http://shop.test/cart", "POST", post=plain)
    yield "the answer", answering([text]), None
    yield "the status and the type", answering(["lamp"], status=text, task_type=text), None
    yield "the names of the answer's keys", holding(honest.RESPONSE, {text: text}), None
    yield "the whole answer file", holding(honest.RESPONSE, text.replace("\ud800", "").replace("\udfff", "")), None
    yield "the details of an error", answering(None, status="UNKNOWN_ERROR", error_details=text), None
    yield "the address", recording(honest.entry(f"http://shop.test/{text}")), None
    yield "the method", recording(honest.entry(method=text)), None
    yield "a header", recording(honest.entry(headers={**honest.PAGE, "x": text})), _asking(_HEADER)
    yield "a cookie", recording(honest.entry(cookies={"a": text})), _asking(_COOKIE)
    yield "a body", recording(honest.entry(content=plain)), _asking(_CONTENT)
    yield "a post", recording(posted), _asking(_POSTED)
    yield "the address of a side file", recording(honest.entry(content={"_file": text})), _asking(_CONTENT)


def _of_trajectories(text: str):
    """A trajectory with the text in each field; which outcome that gives, and how."""
    reasons = recorded.payload(outcome=False, outcome_reasoning=text, outcome_primary_intent=text, items=_items(text))
    yield "its answer", "success", {}, {"final_answer": text}
    yield "its thoughts", "success", {"web_surfer_log": _log(text)}, None
    yield "its last action", "failure", {"scores": None, "web_surfer_log": recorded.log({"action": text})}, None
    yield "its judge's reasons", "failure", {"scores": recorded.score_file(reasons)}, None
    yield "its judge's error", "error", {"scores": recorded.score_file({"rubric_error": text}, 0)}, None
    yield "its crash", "skipped|error", {"answer": None, "core_log": _crash(text)}, None
    yield "what turned it away", "failure", {"scores": recorded.score_file(_turned_away(text), 0)}, None


def _items(text: str) -> tuple[Any, ...]:
    leaf = recorded.item(4, 1) | {"criterion": text, "description": text, "justification": text}
    return (leaf | {"post_image_justification": text}, recorded.item(3, 0))


def _log(text: str) -> str:
    line = json.dumps({"timestamp": text, "type": text, "message": text, "source": text, "url": text})
    return f"{line}\n{recorded.log(*recorded.WORKED)}".replace("thought 1", json.dumps(text)[1:-1])


def _crash(text: str) -> bytes:
    return recorded.core_log("x", crash=text).encode("utf-8", "replace")


def _turned_away(text: str) -> dict[str, Any]:
    return {"verifier_success": False, "verifier_reasoning": text}


def _run(text: str, place: str, spoil: Any, task: Any) -> Case:
    return run(f"{_said(text)} in {place}", EITHER, spoil, **({"task": task} if task else {}))


def _trajectory(text: str, place: str, outcome: str, changed: Any, answer: Any) -> Case:
    def spoil(path: Path) -> None:
        if answer:
            recorded.put(path / f"{path.name}_final_answer.json", recorded.final_answer() | answer)

    return trajectory(f"{_said(text)} in {place}", outcome, spoil, **changed)


def _intent(text: str) -> Case:
    """A definition that the agent wrote, with the text wherever one may stand."""

    def spoil(path: Path) -> None:
        task = honest.asked() | {
            "task_id": int(path.name),
            "intent": text,
            "intent_template": text,
            "start_urls": [text],
        }
        holding("task.json", task | {"instantiation_dict": {text: text}})(path)

    return run(f"{_said(text)} in its own definition's intent", "success|error", spoil, root="alone")


CASES: tuple[Case, ...] = (
    *(_run(text, *row) for text in TEXTS for row in _of_runs(text)),
    *(_trajectory(text, *row) for text in TEXTS for row in _of_trajectories(text)),
    *map(_intent, TEXTS),
)
