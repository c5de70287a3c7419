"""Trajectories that bring a verdict of their own, and verdicts that do not add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hostile.corpus.cases import EITHER, Case, Spoil, all_of, holding, trajectory, without
from tests.support import recorded

_BAD = recorded.score_file(recorded.payload(outcome=False))
_GOOD = recorded.score_file(recorded.payload())
_ITEM = recorded.item
_RESULT = {"task_id": 1, "status": "success", "score": 1.0, "evaluators_results": [], "error_msg": None}


def _verdict(what: str, wanted: str, score: Any = None, says: str = "", **fields: Any) -> Case:
    stored = recorded.score_file(recorded.payload(**fields), score)
    return trajectory(f"a verdict with {what}", wanted, says=says, scores=stored)


def _raw(what: str, outcome: str, text: str, says: str = "") -> Case:
    return trajectory(f"a score file with {what}", outcome, says=says, scores=text)


def _points(what: str, outcome: str, *items: Any, **fields: Any) -> Case:
    """A verdict by the process; its totals are said to be good."""
    told = recorded.payload() | {"rubric_items": list(items), "success_criterion": "process", **fields}
    return trajectory(f"points that are {what}", outcome, scores=recorded.score_file(told))


def _beside(name: str, content: Any) -> Case:
    """A file that would decide, beside a stored failure."""
    return trajectory(f"a stored failure beside its own {name}", "failure", holding(name, content), scores=_BAD)


def _unjudged(name: str, content: Any, outcome: str = "skipped") -> Case:
    """The same where nobody judged."""
    return trajectory(f"no verdict beside its own {name}", outcome, holding(name, content), scores=None)


def _answer(what: str, outcome: str, **fields: Any) -> Case:
    def spoil(path: Path) -> None:
        recorded.put(path / f"{path.name}_final_answer.json", recorded.final_answer(**fields))

    return trajectory(f"an answer file with {what}", outcome, spoil)


def _log(what: str, outcome: str, *actions: dict[str, Any]) -> Case:
    """Nobody judged it, so that the benchmark's own gates decide, or nothing."""
    return trajectory(f"a log with {what}", outcome, scores=None, web_surfer_log=recorded.log(*actions))


def _second_answer(name: str) -> Spoil:
    return holding(name, {"final_answer": "another", "screenshots": []})


_LEAF = {"criterion": "c", "description": "d"}
_VOTES = {
    "rubric_majority_vote_metadata": {"n_instances": 3, "outcome_votes": [True, False, False], "median_instance_idx": 0}
}
_RUBRIC = {"items": [_ITEM(1, 1)], "outcome_success": True}
_JUDGE = {"score": 1, "gpt_response_text": json.dumps(recorded.payload())}
CASES: tuple[Case, ...] = (
    _verdict("a score that its payload denies", "error", 1, "R6|R7|contradicts", outcome=False),
    _verdict("a success that its outcome denies", "error", 1, "contradicts", outcome=False, is_success=1),
    _verdict(
        "an outcome that its nested outcome denies",
        "error",
        1,
        "R3",
        rubric_outcome_verification={"output_success": False},
    ),
    _verdict("totals that its points deny", "error", 1, "R1", rubric_total_earned_points=700),
    _verdict("a maximum that its points deny", "error", 1, "R1", rubric_total_max_points=0.001),
    _verdict("a process that its points deny", "error", 1, "R2", items=(_ITEM(4, 1), _ITEM(3, 0)), rubric_is_success=1),
    _verdict("votes against it", EITHER, 1, **_VOTES),
    _verdict("scores that were raised", "error", 1, "R5", rubric_all_scores_list=[1.0]),
    _verdict("scores of more judges than asked", "error", 1, "R5", rubric_all_scores_list=[0.95, 0.9, 1.2]),
    trajectory("a success without an action", "error", says="holds no action", web_surfer_log=""),
    trajectory(
        "a success with pictures of another run",
        "error",
        says="and the recording 9 screenshots",
        answer=recorded.final_answer(shots=9),
    ),
    _verdict(
        "votes that are NaN",
        "success|error",
        1,
        rubric_majority_vote_metadata={"n_instances": 3, "all_scores": [float("nan")] * 3, "median_instance_idx": 1},
    ),
    _verdict(
        "a million votes",
        "success|error",
        1,
        rubric_majority_vote_metadata={"n_instances": 10**6 + 1, "outcome_votes": [True] * 5},
    ),
    _verdict("a score of 2", "error", 2),
    _verdict("a score of -1", "error", -1),
    _verdict("a score of 0.999", "error", 0.999),
    _verdict("an outcome in words", EITHER, 1, outcome_success="true"),
    _verdict("an outcome of 1", EITHER, 1, outcome_success=1),
    _verdict("no outcome", EITHER, 1, outcome=None, is_success=1),
    _raw(
        "a criterion that does not exist",
        "error|success",
        recorded.score_file(recorded.payload() | {"success_criterion": "generous"}, 1),
    ),
    _raw("the score true", "error", '{"score": true, "gpt_response_text": "{}"}', "score"),
    _raw("the score as a text", "error", '{"score": "1", "gpt_response_text": "{}"}', "score"),
    _raw("the score NaN", "error", _GOOD.replace('"score": 1', '"score": NaN'), "score"),
    _raw("the score Infinity", "error", _GOOD.replace('"score": 1', '"score": Infinity'), "score"),
    _raw("the score twice", EITHER, '{"score": 1, ' + _BAD[1:]),
    _raw("the good verdict first and the bad one last", "failure", _GOOD[:-1] + ", " + _BAD[1:]),
    _raw("nothing but a score", "error", '{"score": 1}', "gpt_response_text"),
    _raw("an empty payload", EITHER, '{"score": 1, "gpt_response_text": "{}"}'),
    _raw("praise in place of a rubric", "error", '{"score": 1, "gpt_response_text": "the agent did very well"}'),
    _raw(
        "a payload in a payload", "error", recorded.score_file(json.dumps(recorded.score_file(recorded.payload())), 1)
    ),
    _raw("a payload that is a list", "error", recorded.score_file("[1]", 1)),
    _raw(
        "an error of the judge and a success",
        "error",
        recorded.score_file(recorded.payload() | {"rubric_error": "no model"}, 1),
        "judge",
    ),
    _raw(
        "a turned-away run with a success", EITHER, recorded.score_file({"verifier_success": False, "is_success": 1}, 1)
    ),
    _raw(
        "a turned-away run with the score 1",
        "error",
        recorded.score_file({"verifier_success": False, "verifier_reasoning": "no"}, 1),
    ),
    _raw(
        "a rubric of ten thousand items",
        EITHER + "|success",
        recorded.score_file(recorded.payload(items=tuple([_ITEM(1, 1)] * 10_000))),
    ),
    _points("beyond their maximum", EITHER, _ITEM(4, 400)),
    _points("less than nothing", EITHER, _ITEM(4, -400), _ITEM(3, 407)),
    _points("NaN", "error", _ITEM(4, float("nan"))),
    _points("infinite", "error", _ITEM(4, float("inf"))),
    _points("of a maximum of nothing", "error", _ITEM(0, 0)),
    _points("of a negative maximum", "error", _ITEM(-4, -4)),
    _points("of 10,000 digits", "error", _LEAF | {"max_points": 10**4200, "post_image_earned_points": 10**4200}),
    _points("texts", "error", _LEAF | {"max_points": "4", "earned_points": "4", "post_image_earned_points": "4"}),
    _points("truths", "error", _LEAF | {"max_points": True, "earned_points": True, "post_image_earned_points": True}),
    _points("no items at all", "error"),
    _points("items that are numbers", "error", 1, 2, 3),
    _points("items that are null", "error", None),
    _points("under a condition that nobody decided", EITHER, _ITEM(4, 4, condition="if"), _ITEM(4, 0)),
    *(
        _beside(name, content)
        for name, content in (
            ("rubric.json", _RUBRIC),
            ("task_data.json", {"precomputed_rubric": _RUBRIC, "is_success": True}),
            ("eval_result.json", _RESULT),
            ("eval_summary.json", {"success_count": 1}),
            ("eval_session.sqlite", json.dumps(_RESULT)),
            ("metrics.json", {"mean_score": 1}),
            ("verdict.json", {"score": 1}),
            ("task.json", {"task_id": "x", "eval": []}),
            ("tasks.json", []),
            ("tasks.tsv", "id\ttask\n"),
            ("run_config.json", {"threshold": 0}),
            ("scores/.mmrubric_0.8-5-3.json", _JUDGE),
            ("scores/mmrubric_0.8-5-3.json.bak", _JUDGE),
            ("scores/mmrubric_0.8-5-3.JSON", _JUDGE),
            ("scores/gpt_eval.json", {"score": 1, "gpt_response_text": "success"}),
            ("scores/x.json", _JUDGE),
            ("scores/inner/mmrubric_0.0-5-3.json", _JUDGE),
        )
    ),
    *(
        _unjudged(name, content)
        for name, content in (
            ("rubric.json", _RUBRIC),
            ("task_data.json", {"precomputed_rubric": _RUBRIC, "is_success": True}),
            ("eval_result.json", _RESULT),
            ("mmrubric_0.8-5-3.json", _JUDGE),
            ("scores/notes.txt", "success"),
            ("Scores/mmrubric_0.8-5-3.json", _JUDGE),
        )
    ),
    trajectory(
        "two verdicts of one kind",
        "error",
        holding("scores/mmrubric_0.1-5-3.json", _JUDGE),
        "score_ambiguous",
        scores=_BAD,
    ),
    trajectory(
        "a verdict for a threshold of nothing",
        "failure|error",
        all_of(
            without("scores"),
            holding(
                "scores/mmrubric_0-5-3.json", recorded.score_file(recorded.payload(outcome=False, items=(_ITEM(4, 0),)))
            ),
        ),
    ),
    trajectory(
        "a verdict for a threshold of 999999999",
        "success|error",
        all_of(without("scores"), holding("scores/mmrubric_999999999-5-3.json", _GOOD)),
    ),
    trajectory(
        "two answers and none of them the directory's",
        "error",
        all_of(_second_answer("a_final_answer.json"), _second_answer("b_final_answer.json")),
        "answer_ambiguous",
        answer=None,
    ),
    *(
        trajectory(f"an answer with a second one called {name}", "error", _second_answer(name), "answer_ambiguous")
        for name in ("a_final_answer.json", "z_answer.json", "A_FINAL_ANSWER.JSON")
    ),
    _answer("another task's id in it", "success", task_id="another"),
    _answer("a verdict in it", "success", is_success=False, score=0),
    _answer("a list for its text", "error", answer=["done"]),
    _answer("the words for no answer", "failure", answer="<no_answer>"),
    _answer("aborted as a text", "error", is_aborted="false"),
    _answer("aborted as a number", "error", is_aborted=0),
    _answer("screenshots that are links out", "error", screenshots=["../../../../etc/passwd"] * 4),
    _answer("screenshots that are addresses", "error", screenshots=["http://192.0.2.1/x.png"] * 4),
    _answer("screenshots with NUL", "error", screenshots=["a\x00.png"] * 4),
    _answer("screenshots that are numbers", "error", screenshots=[1, 2, 3]),
    _answer("tokens that are no numbers", "success", token_usage={"FaraAgent": {"prompt_tokens": "many"}}),
    _answer("tokens that are NaN", "success", token_usage={"FaraAgent": {"prompt_tokens": float("nan")}}),
    _answer("tokens beyond all floats", "success", token_usage={"FaraAgent": {"prompt_tokens": 10**400}}),
    _answer("tokens that are negative", "success", token_usage={"FaraAgent": {"prompt_tokens": -5}}),
    _answer(
        "tokens of ten thousand agents", "success", token_usage={f"a{n}": {"prompt_tokens": 1} for n in range(10_000)}
    ),
    _log("nothing but its end", "failure", recorded.TERMINATE),
    _log("an end that is none", "failure", recorded.SEARCH, {"action": "terminate "}),
    _log("an end with a bracket", "skipped|failure", recorded.SEARCH, recorded.CLICK, {"action": "finished("}),
    _log("actions that are numbers", "failure|error", {"action": 17}, {"action": 18}, {"action": 19}),
    _log("ten thousand steps", "failure", *[recorded.SEARCH] * 10_000),
    *(
        trajectory(f"times that are {what}", "success", times_json=times)
        for what, times in (
            ("negative", {"start_time": -1, "end_time": -5, "duration": -4}),
            ("NaN", '{"start_time": NaN, "end_time": NaN, "duration": NaN}'),
            ("infinite", '{"start_time": -Infinity, "end_time": Infinity, "duration": Infinity}'),
            ("texts", {"start_time": "now", "end_time": "then", "duration": "long"}),
            ("beyond all floats", {"start_time": 10**400, "end_time": 10**401, "duration": 10**400}),
            ("truths", {"start_time": True, "end_time": True, "duration": True}),
        )
    ),
)
