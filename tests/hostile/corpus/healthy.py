"""Controls: honest runs and trajectories, good and bad ones, whose outcomes are known and must not suffer."""

from __future__ import annotations

from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import Case, answering, holding, recording, tracing
from tests.support import recorded

_POSTED = honest.visited(
    "__SHOPPING__/cart", expected={"http_method": "POST", "post_data": {"sku": "7"}, "response_status": 302}
)
_DOCUMENTED = {"action": "retrieve", "status": "SUCCESS", "results": ["lamp"], "error_details": None}
_FORM = {"mimeType": "application/x-www-form-urlencoded", "text": "sku=7"}


def _run(what: str, outcome: str, spoil: Any = lambda path: None, says: str = "", **more: Any) -> Case:
    return Case(f"a healthy run: {what}", outcome, says, spoil, is_healthy=True, **more)


def _typed(schema: str, wanted: Any, told: Any, outcome: str) -> Case:
    says = "retrieved_data" if outcome == "failure" else ""
    what = f"{schema}, {told!r} where {wanted!r} is wanted"
    return _run(what, outcome, answering([told]), says, task=honest.asked((wanted,), schema))


def _trajectory(what: str, outcome: str, says: str = "", **changed: Any) -> Case:
    return Case(f"a healthy trajectory: {what}", outcome, says, task=None, changed=changed, is_healthy=True)


_RUNS = (
    _run("all as asked", "success"),
    _run("another answer", "failure", answering(["chair"]), "retrieved_data"),
    _run("no answer found", "failure", answering(None, status="NOT_FOUND_ERROR"), "status"),
    _run("another page", "failure", recording(honest.entry("http://shop.test/help")), "nearest is .*/help"),
    _run("Playwright's lines in place of a HAR", "success", tracing(honest.lines(honest.entry()))),
    _run(
        "a form posted",
        "success",
        recording(honest.entry("http://shop.test/cart", "POST", 302, post=_FORM)),
        task=honest.asked(None, "null", _POSTED, kind="mutate"),
    ),
    _run("no form posted", "failure", task=honest.asked(None, "null", _POSTED, kind="mutate")),
    _run("navigated", "success", task=honest.asked(None, "null", kind="navigate")),
    _run("the documented dialect", "success", holding(honest.RESPONSE, _DOCUMENTED)),
    _typed("number", 5, "5", "success"),
    _typed("number", 5, 6, "failure"),
    _typed("currency", 1149, "$1149.00", "success"),
    _typed("currency", 1149, "$1150", "failure"),
    _typed("date", "2023-01-31", "31 January 2023", "success"),
    _typed("date", "2023-01-31", "30 January 2023", "failure"),
    _typed("duration", "2h30m", "150 minutes", "success"),
    _typed("duration", "2h30m", "3 hours", "failure"),
    _typed("distance", "5 km", "5000 m", "success"),
    _typed("distance", "5 km", "50 m", "failure"),
    _typed("coordinates", [40.44, -79.94], [40.44, -79.94], "success"),
    _typed("boolean", True, "yes", "success"),
    _typed("boolean", True, "no", "failure"),
    _typed("month", "March", "march", "success"),
    _typed("url", "http://shop.test/p/1", "http://shop.test/p/1", "success"),
    _typed("string", "Blue Mug", "blue mug", "success"),
)
_TRAJECTORIES = (
    _trajectory("judged a success", "success"),
    _trajectory("judged a failure", "failure", "outcome", scores=recorded.score_file(recorded.payload(outcome=False))),
    _trajectory("over budget", "failure", "no answer", answer=recorded.final_answer(None)),
    _trajectory("aborted", "skipped", answer=recorded.final_answer(is_aborted=True)),
    _trajectory("crashed", "skipped", answer=None, core_log=recorded.core_log("7", crash="no browser")),
    _trajectory("not judged yet", "skipped", scores=None),
    _trajectory("without times", "success", times_json=None),
    _trajectory("without a log of its execution", "success", core_log=None),
    _trajectory("without terminate", "failure", "terminate", scores=None, web_surfer_log=recorded.log(recorded.SEARCH)),
    _trajectory("without a log", "error", "log_missing", web_surfer_log=None),
    _trajectory("without actions", "failure", "No actions", scores=None, web_surfer_log=""),
    _trajectory(
        "with a points criterion", "success", scores=recorded.score_file(recorded.payload(success_criterion="process"))
    ),
    _trajectory("an empty answer", "success", answer=recorded.final_answer("")),
    _trajectory("judge failed", "error", "judge_error", scores=recorded.score_file('{"rubric_error": "no model"}', 0)),
    _trajectory("two screenshots too few", "failure", "mismatch", scores=None, answer=recorded.final_answer(shots=1)),
)
CASES = tuple(case for pair in zip(_RUNS, (*_TRAJECTORIES, *[None] * 10), strict=True) for case in pair if case)
