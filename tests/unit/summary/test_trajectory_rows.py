"""Everything that a result says of a trajectory arrives in the analysis."""

from __future__ import annotations

from msgspec.structs import asdict

from pytest_webeval import load_run, score
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectories.trajectory_rows import build_row
from tests.support import recorded
from tests.support.recorded import core_log, item, payload, put, score_file

STEPS = {"step2_relevance_scores": {"screenshot_0": {"0": 0, "screenshot_idx": 0}}}
FAILURE = {"has_failure": True, "failure_points": [{"step_numbers": "2", "error_code": "1.1", "what_happened": "x"}]}
ERROR = "2026-03-01 10:02:00,000 [ERROR] webeval.core.books_7 - Web surfing error\n"
JUDGED = payload(
    items=(item(4, 4), item(3, 2.5)),
    cp_violation=False,
    rubric_intermediate_mm_rubric_steps=STEPS,
    error_taxonomy={"first_point_of_failure": FAILURE},
)


def test_each_field_of_a_row_comes_from_its_place(tmp_path):
    made_up = {"action": "fly", "height": 3}
    path = recorded.write(
        tmp_path / recorded.RUN / "books_7",
        web_surfer_log=recorded.log(recorded.CLICK, made_up, recorded.TERMINATE),
        core_log=core_log("books_7", crash="gone") + core_log("books_7", evaluated=True) + ERROR,
        scores=score_file(JUDGED),
    )
    put(path / "screenshot9.png", recorded.PIXEL)
    row = asdict(build_row(Record.of(score(load_run(path)), None)))
    wanted = {
        "task_id": "books_7",
        "score": 1.0,
        "status": "success",
        "kind": "completed",
        "experiment": "WebSurfer-fara-3-max_n_images-3/fara-7b/WebTailBench_hf",
        "benchmark": "WebTailBench_hf",
        "steps": 3,
        "max_rounds": 3,
        "duration": 25.5,
        "prompt_tokens": 9100,
        "completion_tokens": 240,
        "attempts": 2,
        "criterion": "outcome",
        "process_share": 6.5 / 7,
        "process": True,
        "outcome": True,
        "violation": False,
        "verdict_status": "judged",
        "generation": "G2",
        "tool_failures": ["6.2"],
        "answer": "done",
        "reasoning": "as seen",
        "is_long": False,
    }
    assert {name: row[name] for name in wanted} == wanted
    assert row["failure"]["codes"][0] == "1.1"
    assert row["degraded"]
    assert row["last_error"] == "Web surfing error"
    assert "several_attempts" in row["flags"]


def test_an_aborted_run_is_excluded_and_an_unjudged_one_not_scored(tmp_path):
    aborted = recorded.write(tmp_path / "a", answer=recorded.final_answer("<no_answer>", is_aborted=True))
    unjudged = recorded.write(tmp_path / "b", scores=None)
    rows = [build_row(Record.of(score(load_run(path)), None)) for path in (aborted, unjudged)]
    assert [(row.status, row.score) for row in rows] == [("excluded", None), ("not_scored", None)]
