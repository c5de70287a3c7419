"""ClawBench's runs, written by its own code: see `tests/recorded/record_clawbench.py`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.api import load_run
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import format_of
from pytest_webeval.recordings.formats.clawbench import read
from pytest_webeval.recordings.formats.clawbench_verdicts import read_lenient_reply, read_strict_reply
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from tests.support.default_run import examples

RECORDED = Path(__file__).parents[3] / "recorded" / "clawbench" / "example--agent-1"
SUCCESS = "901-shop-success"


def case(name):
    (path,) = RECORDED.glob(f"*-{name}-*")
    return path


def load(path):
    files = RecordedFiles(RunInputs(path))
    return read(files).judged(), files.warnings.texts


@pytest.fixture
def copy(tmp_path):
    """Copies a recorded run, and changes members of its JSON files; None removes a file."""

    def make(name, files):
        path = tmp_path / case(name).name
        shutil.copytree(case(name), path)
        for file, changes in files.items():
            if changes is None:
                (path / file).unlink()
                continue
            old = json.loads((path / file).read_text()) if (path / file).exists() else {}
            (path / file).write_text(json.dumps(changes if isinstance(changes, list) else old | changes))
        return path

    return make


@pytest.mark.parametrize(
    ("name", "outcome", "reasons", "success"),
    [
        (SUCCESS, "completed", (), True),
        ("902-shop-judge-mismatch", "completed", (), False),
        ("903-shop-not-matched", "completed", ("agent_exited",), False),
        ("904-shop-time-limit", "over_budget", ("time_limit_exceeded",), False),
        ("905-shop-browser-failed", "aborted", ("chrome_cdp_timeout",), False),
        ("906-shop-not-judged", "ungraded", ("no_verdict",), None),
        ("907-shop-judge-failed", "ungraded", ("no_verdict",), None),
        ("908-shop-rescored", "completed", (), True),
        ("909-shop-no-api", "aborted", ("harness_failed",), False),
        ("ce-T910-answer", "completed", (), True),
    ],
)
def test_a_run_ends_as_the_harness_and_the_judge_say(name, outcome, reasons, success):
    trajectory, warnings = load(case(name))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons, warnings) == (outcome, reasons, ())
    (judgement,) = trajectory.judgements
    assert (judgement.success, judgement.contradictions) == (success, ())
    assert (judgement.ungraded is None) is (success is not None)


@pytest.mark.parametrize("name", [SUCCESS, "903-shop-not-matched", "ce-T910-answer"])
def test_steps_and_screenshots_are_those_of_the_files(name):
    lines = [json.loads(line) for line in (case(name) / "data" / "actions.jsonl").read_text().splitlines()]
    images = {path.name for path in (case(name) / "data" / "screenshots").iterdir()}
    trajectory, _ = load(case(name))
    assert [(step.action, step.url) for step in trajectory.steps] == [(line["type"], line["url"]) for line in lines]
    assert {shot.name.rpartition("/")[2] for shot in trajectory.screenshots} == images
    shown = {step.after.number for step in trajectory.steps if step.after}
    assert shown == {line["timestamp"] for line in lines if f"{line['timestamp']}.png" in images}
    click = next(step for step in trajectory.steps if step.action == "click")
    assert (click.arguments["tagName"], click.arguments["x"]) == ("BUTTON", 0)
    assert trajectory.image(trajectory.screenshots[0]).startswith(b"\x89PNG")


def test_facts_of_a_run_are_those_of_run_meta():
    meta = json.loads((case(SUCCESS) / "run-meta.json").read_text())
    trajectory, _ = load(case(SUCCESS))
    assert (trajectory.task_text, trajectory.model, trajectory.system, trajectory.duration, trajectory.group) == (
        meta["instruction"],
        meta["model"],
        meta["harness"],
        meta["duration_seconds"],
        meta["metaclass"],
    )
    assert (trajectory.usage.prompt_tokens, trajectory.usage.completion_tokens, trajectory.usage.num_calls) == (
        meta["usage"]["input_tokens"],
        meta["usage"]["output_tokens"],
        1,
    )
    assert trajectory.judgements[0].reasoning == meta["judge"]["reason"]


def test_the_answer_is_what_was_submitted_or_else_the_last_text_of_the_model():
    assert load(case("ce-T910-answer"))[0].answer == "Two mugs cost $8."
    assert load(case(SUCCESS))[0].answer == "I order it now."
    assert load(case("909-shop-no-api"))[0].answer is None


@pytest.mark.parametrize(
    ("url", "answer"),
    [("http://127.0.0.1:7878/api/task-submit", "x"), ("https://shop.test/api/task-submit/1", "Done.")],
)
def test_only_a_request_to_the_harness_is_an_answer(copy, url, answer):
    path = copy(SUCCESS, {BLOCKED: {"request": {"url": url, "method": "POST", "body": {"answer": "x"}}}})
    lines = [{"role": "assistant", "content": "Done."}, {"role": "tool", "content": "a page"}, {"content": "-"}]
    (path / "data" / "agent-messages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert load(path)[0].answer == answer


def test_tokens_from_the_cache_are_tokens_of_the_prompt(copy):
    counts = {"input_tokens": 1, "cache_read_tokens": 20, "cache_write_tokens": 300, "output_tokens": 4000}
    usage = load(copy(SUCCESS, {META: {"usage": counts | {"total_tokens": 4321}}}))[0].usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (321, 4000)


def test_texts_of_messages_are_bounded(copy):
    description = {"stop_description": "x" * 10_000}
    trajectory, _ = load(copy("903-shop-not-matched", {BLOCKED: description}))
    assert (len(trajectory.outcome.message), len(trajectory.judgements[0].reasoning)) == (300, 300)
    trajectory, _ = load(copy("907-shop-judge-failed", {JUDGE: {"reason": "y" * 10_000}}))
    assert trajectory.judgements[0].ungraded == f"the judge reached no verdict: {'y' * 300}"


@pytest.mark.parametrize("name", ["901-shop-success", "ce-T910-answer", "904-shop-time-limit"])
def test_the_task_id_is_the_test_case_in_the_name(name):
    run = load_run(case(name))
    assert (run.format, run.task_id, run.has_trace) == ("clawbench", name, True)


@pytest.mark.parametrize(
    ("name", "task_id"),
    [
        ("m-1/claude-code-v2-047-daily-m-1-20260401-101112", "v2-047-daily"),
        ("m-1/claude-code-chrome-extension-006-food-m-1-20260401-101112", "006-food"),
        ("m-1/006-food-m-1-20260401-101112", "006-food"),
        ("m-1/pi-a-m-1-b-m-1-20260401-101112", "a-m-1-b"),
        ("runs/pi-006-food-m-1-20260401-101112", "pi-006-food-m-1-20260401-101112"),
        ("runs/12", 12),
    ],
)
def test_a_name_without_the_model_above_is_the_id_itself(name, task_id):
    assert format_of(case(SUCCESS)).parse_task_id(name) == task_id


def test_a_run_has_the_key_that_its_verdict_depends_on(tmp_path):
    (tmp_path / "run-meta.json").write_text('{"test_case": "1-a"}')
    assert format_of(tmp_path) is None
    (tmp_path / "run-meta.json").write_text('{"test_case": "1-a", "intercepted": false}')
    assert format_of(tmp_path).name == "clawbench"


def test_a_har_is_a_trace_of_a_run_too(copy):
    path = copy("903-shop-not-matched", {LOG: None})
    assert not load_run(path).has_trace
    (path / "browser.har").write_text(json.dumps({"log": {"entries": []}}))
    assert load_run(path).has_trace


META, JUDGE, BLOCKED, LOG = "run-meta.json", "judge.json", "data/interception.json", "data/requests.jsonl"
COPY = {"match": True, "reason": "", "raw": '{"match": true}', "error": None}
PRINTING, UPLOADING = "infra_failure: printing_results: KeyError: 'type'", "infra_failure: uploading: OSError: no route"


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        (SUCCESS, {JUDGE: {"match": False}}, "judge.json stores false, but its reply says true"),
        (SUCCESS, {JUDGE: {"match": None}}, "judge.json stores no verdict, but its reply says true"),
        (SUCCESS, {JUDGE: {"raw": ""}}, "judge.json stores true, but its reply says no verdict"),
        (SUCCESS, {JUDGE: {"raw": "who knows"}}, "judge.json stores true, but its reply says no verdict"),
        (
            SUCCESS,
            {JUDGE: {"match": False, "raw": None}},
            "run-meta.json has True as judge_match, but judge.json has False",
        ),
        (
            SUCCESS,
            {JUDGE: {"match": None, "raw": None}},
            "run-meta.json has True as judge_match, but judge.json has None",
        ),
        (
            SUCCESS,
            {META: {"judge": COPY | {"match": False, "raw": None}}},
            "judge has False as match, but judge.json has",
        ),
        (
            SUCCESS,
            {META: {"judge": COPY | {"match": None, "raw": None}}},
            "judge has None as match, but judge.json has",
        ),
        (SUCCESS, {META: {"judge": COPY | {"raw": '{"match": false}'}}}, "judge stores true, but its reply says false"),
        (
            SUCCESS,
            {META: {"judge": COPY | {"raw": '{"match": false}'}}, JUDGE: {"rubric": "strict"}},
            "run-meta.json judge stores true, but its reply says false",
        ),
        (
            SUCCESS,
            {META: {"judge": COPY, "judge_match": False, "pass": False}, JUDGE: None},
            "has False as judge_match",
        ),
        (
            SUCCESS,
            {META: {"judge": COPY, "judge_match": False, "pass": False}, JUDGE: {"rubric": "strict"}},
            "run-meta.json has False as judge_match, but run-meta.json judge has True",
        ),
        (SUCCESS, {JUDGE: {"error": "down"}}, "judge.json stores true, but also the error 'down' of the judge"),
        (SUCCESS, {JUDGE: {"error": False}}, "judge.json stores true, but also the error False of the judge"),
        (SUCCESS, {META: {"judge": COPY | {"error": "down"}}}, "run-meta.json judge stores true, but also the error"),
        (
            "908-shop-rescored",
            {"judge_llm.json": {"error": "http_500"}},
            "judge_llm.json stores true, but also the err",
        ),
        (
            "902-shop-judge-mismatch",
            {JUDGE: {"match": True, "raw": f'{{"match": false, "reason": "{"x" * 500}"}}', "rubric": "strict"}},
            "judge.json stores true, but its reply says false",
        ),
        (SUCCESS, {META: {"intercepted": False}}, "judge.json judges a request, but none was intercepted"),
        (SUCCESS, {META: {"intercepted": False}, JUDGE: None}, "intercepted is False in run-meta.json, but True in"),
        (SUCCESS, {BLOCKED: {"intercepted": False}}, "intercepted is True in run-meta.json, but False in"),
        (SUCCESS, {BLOCKED: None}, "run-meta.json says that a request was intercepted, but there is no data/interc"),
        (
            SUCCESS,
            {BLOCKED: {"request": None}},
            "data/interception.json says that a request was intercepted, but has none",
        ),
        (
            SUCCESS,
            {BLOCKED: {"request": {"url": "https://a.test/", "method": "POST"}}},
            "which is not in data/requests.jsonl",
        ),
        (SUCCESS, {META: {"pass": False}}, "run-meta.json has False as pass, which its judge_match does not give"),
        ("906-shop-not-judged", {META: {"pass": False}}, "run-meta.json has False as pass"),
        ("903-shop-not-matched", {META: {"intercepted": True}}, "intercepted is True in run-meta.json, but False in"),
        ("903-shop-not-matched", {META: {"pass": True}}, "run-meta.json has True as pass"),
        ("903-shop-not-matched", {JUDGE: {"match": True, "raw": None}}, "judge.json judges a request, but none was"),
        (
            "908-shop-rescored",
            {"judge_llm.json": {"match": False}},
            "judge_llm.json stores false, but its reply says tr",
        ),
    ],
)
def test_files_that_do_not_agree_are_a_contradiction(copy, name, files, message):
    trajectory, _ = load(copy(name, files))
    first = trajectory.judgements[0]
    assert any(message in problem for problem in first.contradictions), first.contradictions
    assert first.ungraded is None


def test_a_missing_reason_of_the_end_is_a_warning_unless_the_harness_failed(copy):
    reason = (
        "there is no data/interception.json, which says why the run stopped; copy it from the output of the harness"
    )
    trajectory, warnings = load(copy("904-shop-time-limit", {BLOCKED: None}))
    assert trajectory.outcome.reasons == ("unknown_stop",)
    assert warnings == (f"{trajectory.path.name}: {reason}, or record the run again",)
    assert load(copy("909-shop-no-api", {}))[1] == ()


LENIENT = {"match": True, "raw": '{"match": true}', "rubric": "lenient"}


@pytest.mark.parametrize("name", [SUCCESS, "906-shop-not-judged", "907-shop-judge-failed"])
def test_a_contradiction_of_the_files_is_one_of_each_judgement(copy, name):
    trajectory, _ = load(copy(name, {BLOCKED: {"intercepted": False}, "judge_llm.json": LENIENT}))
    assert len(trajectory.judgements) == (1 if "not-judged" in name else 2)
    for judgement in trajectory.judgements:
        assert "intercepted is True in run-meta.json, but False in" in judgement.contradictions[-1]
        assert judgement.ungraded is None
    assert trajectory.outcome.kind == "completed"


def test_a_run_that_nobody_judged_is_no_better_than_its_contradictions(copy):
    trajectory, _ = load(copy("906-shop-not-judged", {BLOCKED: {"intercepted": False}}))
    assert (trajectory.outcome.kind, trajectory.judgements[0].ungraded) == ("completed", None)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({JUDGE: {"match": "true"}}, "judge.json has 'true' as match, expected true, false or null"),
        ({JUDGE: {"match": 1}}, "judge.json has 1 as match"),
        ({JUDGE: []}, "judge.json holds"),
        ({JUDGE: {"raw": 5, "rubric": "strict"}}, "judge.json has 5 as raw, expected the reply of the judge as a text"),
        ({JUDGE: {"raw": False}}, "judge.json has False as raw"),
        ({"judge_llm.json": LENIENT | {"raw": ["a"]}}, r"judge_llm.json has \['a'\] as raw"),
        ({META: {"intercepted": 1}}, "run-meta.json has 1 as intercepted"),
        ({META: {"judge": {}}, JUDGE: None}, "run-meta.json judge has None as match"),
        ({META: {"judge": {}}}, "run-meta.json judge has None as match"),
        ({META: {"judge": 100}}, "run-meta.json has 100 as judge, expected what the judge stored as an object; copy"),
        ({META: {"judge": False}, JUDGE: None}, "run-meta.json has False as judge, expected"),
        ({META: {"judge": {"match": "false"}}, JUDGE: {"rubric": "strict"}}, "run-meta.json judge has 'false' as mat"),
        (
            {META: {"judge": {"match": True, "raw": float("nan")}}, JUDGE: None},
            "run-meta.json.judge.raw is or holds NaN",
        ),
        ({BLOCKED: {"intercepted": None}}, "data/interception.json has None as intercepted"),
        ({META: None}, "run-meta.json"),
    ],
)
def test_a_damaged_verdict_is_an_error(copy, files, message):
    with pytest.raises(UnreadableTrajectory, match=message):
        load(copy(SUCCESS, files))


def test_the_copy_in_run_meta_stands_for_a_verdict_without_its_file(copy):
    (judgement,) = load(copy(SUCCESS, {JUDGE: None}))[0].judgements
    assert (judgement.source, judgement.success, judgement.contradictions) == ("run-meta.json judge", True, ())


@pytest.mark.parametrize("match", [False, True, "false"])
def test_a_verdict_of_which_only_the_copy_is_left_is_a_contradiction(copy, match):
    meta = {"judge": None, "judge_match": match, "pass": match is True}
    (judgement,) = load(copy("902-shop-judge-mismatch", {META: meta, JUDGE: None}))[0].judgements
    problem = (
        f"run-meta.json has {match!r} as judge_match, but the reply of the judge is missing: there is no judge.json"
    )
    assert judgement.contradictions == (f"{problem}; copy it from the output of the harness, or record the run again",)


def test_an_empty_error_and_another_reply_with_the_same_verdict_are_no_contradiction(copy):
    files = {JUDGE: {"error": ""}, META: {"judge": COPY | {"raw": '{"match": true, "reason": "so"}'}}}
    assert load(copy(SUCCESS, files))[0].judgements[0].contradictions == ()


def test_a_run_that_was_judged_again_has_another_verdict_than_its_run_meta(copy):
    again = {"match": False, "raw": '{"match": false}', "rubric": "strict"}
    assert load(copy(SUCCESS, {JUDGE: again}))[0].judgements[0].contradictions == ()


def test_a_lenient_verdict_counts_where_the_strict_judge_failed_and_comes_second_otherwise(copy):
    lenient = {"match": True, "raw": '{"match": true}', "rubric": "lenient"}
    trajectory, _ = load(copy("907-shop-judge-failed", {"judge_llm.json": lenient}))
    assert [judgement.ungraded is None for judgement in trajectory.judgements] == [False, True]
    assert trajectory.outcome.kind == "completed"
    shutil.rmtree(trajectory.path)
    trajectory, _ = load(copy("902-shop-judge-mismatch", {"judge_llm.json": lenient}))
    assert [judgement.success for judgement in trajectory.judgements] == [False, True]


@pytest.mark.parametrize(
    ("meta", "blocked", "outcome"),
    [
        ({"failure_category": "api_or_credit"}, {}, "completed"),  # a page with "403" is enough for that
        ({"failure_category": "infra_failure", "infra_failure": True}, {}, "completed"),  # something was done
        (
            {"failure_category": "infra_failure", "run_metrics": {"api_calls": 0, "actions": 0, "requests": 0}},
            {},
            "aborted",
        ),
        (
            {"failure_category": "infra_failure", "run_metrics": {"api_calls": 5, "actions": 4, "requests": 0}},
            {},
            "completed",
        ),
        ({"failure_reason": "host_timeout: container did not exit"}, {"stop_reason": "unknown"}, "aborted"),
        ({"failure_reason": "host_timeout: container did not exit"}, {}, "completed"),  # the agent had ended
        (
            {"failure_reason": PRINTING},
            {},
            "completed",
        ),  # a page can do that
        (
            {"failure_reason": UPLOADING},
            {"stop_reason": "time_limit_exceeded"},
            "over_budget",
        ),
        ({}, {"stop_reason": "proxy_failed"}, "aborted"),
        ({"failure_category": "infra_failure"}, {"stop_reason": "webbrain_failed"}, "completed"),  # or the agent failed
        ({}, {"stop_reason": "agent_idle"}, "over_budget"),
        ({}, {"stop_reason": "chrome_cdp_timeout; the page says so"}, "completed"),
        ({}, {"stop_reason": None}, "completed"),
    ],
)
def test_a_failure_is_excluded_only_by_what_the_harness_itself_says(copy, meta, blocked, outcome):
    trajectory, _ = load(copy("903-shop-not-matched", {META: meta, BLOCKED: blocked}))
    assert (trajectory.outcome.kind, trajectory.judgements[0].success) == (outcome, False)


def write_failure(path, reason):
    """Writes `run-meta.json` as the harness does after a failure: again, and without a verdict."""
    meta = json.loads((path / META).read_text()) | {"intercepted": False, "failure_reason": reason}
    (path / META).write_text(json.dumps({k: meta[k] for k in meta if k not in ("judge", "judge_match", "pass")}))
    return path


@pytest.mark.parametrize(("name", "success"), [(SUCCESS, True), ("902-shop-judge-mismatch", False)])
def test_a_stored_verdict_counts_though_the_harness_failed_after_it(copy, name, success):
    trajectory, _ = load(write_failure(copy(name, {}), UPLOADING))
    (judgement,) = trajectory.judgements
    assert (trajectory.outcome.kind, judgement.success, judgement.contradictions) == ("completed", success, ())


def test_a_request_that_was_intercepted_before_the_harness_failed_is_not_judged_yet(copy):
    trajectory, _ = load(write_failure(copy(SUCCESS, {JUDGE: None}), PRINTING))
    assert (trajectory.outcome.kind, trajectory.judgements[0].contradictions) == ("ungraded", ())


# Written out again: to drop one from the reader is to count a broken harness as a failure of the agent.
NOT_STARTED = (
    *("chrome_cdp_timeout", "gateway_failed", "opencode_failed", "claude_code_failed", "codex_failed"),
    *("browser_use_failed", "hermes_failed", "pi_failed", "proxy_failed", "missing_harness"),
    *("browser_runtime_setup_failed", "mock_api_failed", "bridge_failed", "chrome_auth_missing"),
)


@pytest.mark.parametrize("reason", NOT_STARTED)
def test_a_part_of_the_harness_that_did_not_start_excludes_the_run(copy, reason):
    trajectory, _ = load(copy("903-shop-not-matched", {BLOCKED: {"stop_reason": reason}}))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == ("aborted", (reason,))


@pytest.mark.parametrize("reason", ["agent_exited", "webbrain_failed", "vnc_disconnected", "eval_matched"])
def test_an_ordinary_end_decides_though_the_harness_failed(copy, reason):
    meta = {"failure_reason": PRINTING, "failure_category": "infra_failure"}
    trajectory, _ = load(copy("903-shop-not-matched", {META: meta, BLOCKED: {"stop_reason": reason}}))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == ("completed", (reason,))


def test_a_verdict_without_a_request_is_a_contradiction_though_the_harness_failed(copy):
    trajectory, _ = load(copy("903-shop-not-matched", {META: {"failure_reason": UPLOADING}, JUDGE: LENIENT}))
    assert "judge.json judges a request, but none was" in trajectory.judgements[0].contradictions[0]


def test_a_missing_log_of_requests_is_a_contradiction_only_of_an_interception(copy):
    (judgement,) = load(copy(SUCCESS, {LOG: None}))[0].judgements
    assert judgement.contradictions[0].startswith("there is no data/requests.jsonl, which has each request that was")
    (judgement,) = load(copy("903-shop-not-matched", {LOG: None}))[0].judgements
    assert judgement.contradictions == ()


@pytest.mark.parametrize(
    ("change", "is_there"),
    [({}, True), ({"method": "PUT"}, False), ({"url": 5}, False), ({"url": "https://a.test"}, False)],
)
def test_a_request_is_looked_up_by_its_url_and_its_method(copy, change, is_there):
    path = copy(SUCCESS, {})
    request = json.loads((path / BLOCKED).read_text())["request"]
    logged = [{"url": request["url"], "method": 5}, {"url": request["url"], "method": request["method"]} | change]
    (path / LOG).write_text("".join(json.dumps(line) + "\n" for line in logged))
    (judgement,) = load(path)[0].judgements
    assert ["which is not in data/requests.jsonl; " in problem for problem in judgement.contradictions] == (
        [] if is_there else [True]
    )


def write_damage(log):
    log.write_text("{x\n{}\n")


def replace_by_fifo(log):
    log.unlink()
    os.mkfifo(log)


@pytest.mark.parametrize(
    ("damage", "message"),
    [(write_damage, "as a log of requests: .* @ line 1"), (replace_by_fifo, "not a regular file")],
)
def test_an_unreadable_log_of_requests_is_an_error(copy, damage, message):
    path = copy(SUCCESS, {})
    damage(path / LOG)
    with pytest.raises(UnreadableTrajectory, match=message):
        load(path)


def test_another_test_case_than_that_of_the_name_is_a_warning(copy):
    _, warnings = load(copy(SUCCESS, {META: {"test_case": "other"}}))
    assert 'run-meta.json is of the test case "other"; the directory\'s name is used as the task id' in warnings[0]


@pytest.mark.parametrize(
    ("reply", "strict", "lenient"),
    [
        ('{"match": true, "reason": "x"}', True, True),
        ('{"match": false}', False, False),
        ('{"match": "False."}', False, False),
        *((f'{{"match": "{word}"}}', True, True) for word in ("True", "yes", "PASS", "match", '\\"true\\".')),
        *((f'{{"match": " {word}"}}', False, False) for word in ("false", "No", "fail", "MISMATCH")),
        ('{"match": "maybe"}', None, None),
        ('{"match": false, "reason": {"is": "true"}}', False, False),
        ('{"reason": "match true"}', None, None),
        ('```json\n{"match": true}\n```', True, True),
        ('```\n{"match": false}\n```', False, False),
        ('I think {"match": true} is right', True, True),
        ('Rules: {"match": true|false}. It is wrong.', False, False),
        ("match: true", True, True),
        ("match: true, and nothing in it is what one would call false", True, False),
        ("match: false, not true", True, False),
        ("match: true, or is it false? It is true", True, False),
        (f"Does it match? {'-' * 80} true", True, None),
        ('```json\n{"match": "yes"}`', True, None),
        ("no verdict", None, None),
        ("", None, None),
        ("[" * 100_000 + "{", None, None),
        ('{"a": ' * 50_000 + "1" + "}" * 50_000, None, None),
    ],
)
def test_the_verdict_of_a_reply_is_that_of_the_writers_rules(reply, strict, lenient):
    assert (read_strict_reply(reply), read_lenient_reply(reply)) == (strict, lenient)


def test_a_lenient_reply_that_may_be_cut_is_not_read_again(copy):
    cut = '{"reason": "match is false? ' + "x" * 500
    for reply, contradictions in ((cut[:500], 0), (cut[:499], 1)):
        path = copy("908-shop-rescored", {"judge_llm.json": {"raw": reply}})
        assert len(load(path)[0].judgements[0].contradictions) == contradictions
        shutil.rmtree(path)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
MEMBERS = {
    META: ("intercepted", "usage", "judge", "judge_match", "pass", "run_flags", "failure_reason", "run_metrics"),
    JUDGE: ("match", "reason", "raw"),
    BLOCKED: ("intercepted", "request", "stop_reason"),
    "data/actions.jsonl": ("type", "timestamp", "url", "target"),
    "data/agent-messages.jsonl": ("message", "role", "content"),
    "data/requests.jsonl": ("url", "method", "headers", "body", "timestamp"),
}
FILES = st.fixed_dictionaries(
    {},
    optional={name: st.dictionaries(st.sampled_from(keys), ANY, max_size=4) | ANY for name, keys in MEMBERS.items()},
)


@settings(max_examples=examples(150), deadline=None)
@given(files=FILES)
def test_no_content_raises_anything_but_a_recording_error_or_is_a_success_by_itself(tmp_path_factory, files):
    path = tmp_path_factory.mktemp("run")
    shutil.copytree(case("903-shop-not-matched"), path, dirs_exist_ok=True)
    for name, content in files.items():
        (path / name).write_text(json.dumps(content))
    try:
        trajectory, _ = load(path)
    except RecordingError:
        return
    first = trajectory.judgements[0]
    assert not first.success or first.contradictions or files[JUDGE]["match"] is True or "judge" in files[META]
