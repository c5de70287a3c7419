"""WebVoyager's runs, written by its own `run.py` with a scripted model, and the two real ones of the corpora."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import format_of
from pytest_webeval.recordings.formats.webvoyager import parse_reply, read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.rubrics import derivation as rubrics_derivation
from pytest_webeval.rubrics.policy import UnreadableVerdict, VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, from_judgement
from tests.support.default_run import examples

RECORDED = Path(__file__).parents[3] / "recorded" / "webvoyager"
CORPUS = Path(__file__).parents[4].parent / "shared" / "corpora" / "webvoyager.tar.xz"


def load(path):
    files = RecordedFiles(RunInputs(path))
    return read(files).judged(), files.warnings.texts


@pytest.mark.parametrize(
    ("name", "outcome", "reason", "answer", "actions"),
    [
        ("Shop--0", "ungraded", "no_verdict", "The bottle has 12 reviews.", ["type", "click", "answer"]),
        ("Shop--1", "over_budget", "no_answer", None, ["scroll"] * 5),
        ("Shop--2", "ungraded", "no_verdict", "none", ["click", "unparsed", "click", "wait", "answer"]),
        ("Shop--3", "aborted", "no_reply", None, ["click"]),
        ("Shop--4", "aborted", "browser_lost", None, ["click"]),
        ("Shop--6", "aborted", "no_reply", None, []),
        ("BigShop--5", "ungraded", "no_verdict", "line one\nline two: [a] and [b]", ["unparsed", "answer"]),
        ("Text--0", "ungraded", "no_verdict", "The bottle has 12 reviews.", ["type", "click", "answer"]),
    ],
)
def test_a_run_ends_as_its_chat_and_log_say(name, outcome, reason, answer, actions):
    trajectory, warnings = load(RECORDED / f"task{name}")
    assert (trajectory.outcome.kind, trajectory.outcome.reasons[0]) == (outcome, reason)
    assert (trajectory.answer, [step.action for step in trajectory.steps], warnings) == (answer, actions, ())


def test_the_task_screenshots_and_tokens_are_those_of_the_run():
    trajectory, _ = load(RECORDED / "taskShop--2")
    assert (trajectory.task_text, trajectory.start_url) == (
        "How many reviews has the water bottle?",
        "https://shop.example/",
    )
    assert [step.before and step.before.number for step in trajectory.steps] == [1, None, None, 4, 5]
    assert (trajectory.usage.prompt_tokens, trajectory.usage.completion_tokens, trajectory.usage.num_calls) == (
        5000,
        250,
        5,
    )
    assert trajectory.last_error == "Message: element click intercepted: Element is not clickable at point (5, 5)"


LOST = "ERROR - Driver error when adding set-of-mark."


@pytest.mark.parametrize(
    "lines",
    [[LOST], ["INFO - Iter: 4", LOST], ["INFO - Iter: 5", LOST], ["INFO - Iter: 5", "INFO - Calling", LOST]],
)
def test_the_words_of_a_lost_browser_in_the_error_of_an_action_abort_nothing(tmp_path, lines):
    path = tmp_path / "taskShop--1"
    shutil.copytree(RECORDED / "taskShop--1", path)
    with (path / "agent.log").open("a") as log:
        log.write("\n".join(["ERROR - driver error info:", "ERROR - Message: no element", *lines, ""]))
    assert load(path)[0].outcome.kind == "over_budget"


@pytest.mark.parametrize(
    ("text", "action", "arguments"),
    [
        ("Thought: t\n\nAction: Click [2]", "click", {"number": "2"}),
        ("Thought: t\nAction: Type [2]; Baked Salmon", "type", {"number": "2", "content": "Baked Salmon"}),
        ("Thought: t\nAction: Scroll [WINDOW]; down", "scroll", {"number": "WINDOW", "content": "down"}),
        ("Thought: t\nAction: ANSWER; Click 3 of 5", "answer", {"content": "Click 3 of 5"}),
        ("Thought: t\nAction: ANSWER; [a] and [b]", "answer", {"content": "[a] and [b]"}),
        ("Thought: t\nAction: ANSWER; [a\nb]", "answer", {"content": "a\nb"}),
        ("Thought: t\nAction: Hover [3]", "unparsed", {"text": "Hover [3]"}),
        ("Action: Click [2]", "unparsed", {}),
        ("", "unparsed", {}),
    ],
)
def test_actions_have_the_forms_that_the_agent_was_asked_for(text, action, arguments):
    reply = parse_reply(text)
    assert (reply.action, reply.arguments) == (action, arguments)


def judge(tmp_path, last, name="Shop--0"):
    """The judgement of a run whose judge's last message is this."""
    path = tmp_path / f"task{name}"
    shutil.copytree(RECORDED / f"task{name}", path)
    (path / "eval_res.json").write_text(json.dumps([{"role": "system", "content": "SUCCESS"}, last]))
    (judgement,) = load(path)[0].judgements
    return judgement


def derive(judgement):
    """The verdict that follows from a judgement."""
    return rubrics_derivation.derive(from_judgement(judgement), VerdictPolicy(), RunFacts())


@pytest.mark.parametrize(
    ("reply", "stored", "verdict"),
    [
        ("Verdict: SUCCESS", 1, True),
        ("so: NOT SUCCESS", 0, False),
        ("Either SUCCESS or NOT SUCCESS: it is NOT SUCCESS", 0, False),
    ],
)
def test_the_verdict_of_a_reply_is_that_of_the_writers_rule(tmp_path, reply, stored, verdict):
    judgement = judge(tmp_path, {"content": reply, "success": stored})
    assert derive(judgement).score == verdict
    assert derive(judgement).checks == ()


@pytest.mark.parametrize(
    "reply", ["UNSUCCESSFUL", "Verdict: **NOT** SUCCESS", "The page says NOT SUCCESS earlier. Verdict: SUCCESS"]
)
def test_a_reply_that_the_writers_rule_and_a_reader_take_for_different_verdicts_is_an_error(tmp_path, reply):
    judgement = judge(tmp_path, {"content": reply, "success": int("NOT SUCCESS" not in reply)})
    with pytest.raises(UnreadableVerdict, match="does not plainly end in SUCCESS or NOT SUCCESS; judge the run again"):
        derive(judgement)


def test_a_stored_number_that_is_not_that_of_the_reply_contradicts_it(tmp_path):
    (check,) = derive(judge(tmp_path, {"content": "so: NOT SUCCESS", "success": 1})).checks
    assert (check.rule, check.message) == ("R20", "the stored verdict is success, but the reply says failure")


def test_a_success_without_an_answer_contradicts_the_chat(tmp_path):
    (check,) = derive(judge(tmp_path, {"content": "SUCCESS", "success": 1}, "Shop--1")).checks
    assert (check.rule, check.message) == ("R21", "the judge says success, but the chat has no answer to judge")


def test_a_judge_whose_model_refused_the_run_leaves_it_ungraded(tmp_path):
    refused = {"content": "content_filter", "success": 0}
    assert judge(tmp_path, refused).ungraded == "the judge's model refused the run (content_filter)"
    with pytest.raises(RecordingError, match="stores success 1, but the judge's model refused the run"):
        judge(tmp_path / "again", refused | {"success": 1})


@pytest.mark.parametrize("stored", [0, 1])
@pytest.mark.parametrize("reply", ["I cannot say", "", "success", "FAILURE"])
def test_a_number_next_to_a_reply_without_a_verdict_is_an_error_whichever_it_is(tmp_path, reply, stored):
    with pytest.raises(RecordingError, match=f"stores success {stored}, but the judge's reply has neither SUCCESS"):
        judge(tmp_path, {"content": reply, "success": stored})


@pytest.mark.parametrize(
    "last",
    ["SUCCESS", {"content": "SUCCESS"}, {"content": ["SUCCESS"], "success": 1}]
    + [{"content": "SUCCESS", "success": stored} for stored in ("1", True, 2, -1, None, [1])],
    ids=str,
)
def test_a_damaged_verdict_is_an_error_and_never_none(tmp_path, last):
    with pytest.raises(
        RecordingError, match=r"the last message of eval_res.json has content .* expected a text and 0 or 1"
    ):
        judge(tmp_path, last)


def test_tokens_that_do_not_belong_to_a_reply_are_not_counted(tmp_path):
    path = tmp_path / "taskShop--0"
    shutil.copytree(RECORDED / "taskShop--0", path)
    with (path / "agent.log").open("a") as log:
        log.write("INFO - Prompt Tokens: 9; Completion Tokens: 9\n")
    trajectory, warnings = load(path)
    assert trajectory.usage is None
    assert warnings == ("taskShop--0: agent.log counts tokens of 4 calls, and there are 3 replies; ignored",)


def test_a_run_is_recognized_by_its_chat_and_named_by_its_directory():
    found = format_of(RECORDED / "taskShop--0")
    assert (found.name, found.parse_task_id("taskCambridge Dictionary--29")) == (
        "webvoyager",
        "Cambridge Dictionary--29",
    )


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpora are not there")
def test_steps_and_answers_of_the_real_runs_are_as_in_the_files(tmp_path):
    with tarfile.open(CORPUS) as archive:
        archive.extractall(tmp_path, filter="data")
    paths = sorted(path.parent for path in tmp_path.rglob("interact_messages.json"))
    assert [path.name for path in paths] == ["taskAllrecipes--4", "taskApple--17"]
    for path in paths:
        replies = [each["content"] for each in json.loads((path / "interact_messages.json").read_text())[2::2]]
        trajectory, warnings = load(path)
        assert (len(trajectory.steps), len(trajectory.screenshots), warnings) == (len(replies), 6, ())
        assert trajectory.answer == replies[-1].rsplit("Action: ANSWER; ", 1)[1]
        assert [step.action.upper() for step in trajectory.steps] == [
            each.rsplit("Action: ", 1)[1].split(" ")[0].strip(";").upper() for each in replies
        ]
        assert (trajectory.outcome.kind, trajectory.outcome.message) == ("ungraded", "not judged yet")


MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "system"]) | st.integers(),
        "content": st.text() | st.lists(st.dictionaries(st.sampled_from(["text", "type"]), st.text() | st.none())),
    },
)


@settings(max_examples=examples(150), deadline=None)
@given(messages=st.lists(MESSAGE | st.none() | st.text()) | st.integers(), verdict=st.lists(MESSAGE), log=st.text())
def test_no_content_raises_anything_but_a_recording_error(tmp_path_factory, messages, verdict, log):
    path = tmp_path_factory.mktemp("task")
    (path / "interact_messages.json").write_text(json.dumps(messages))
    (path / "eval_res.json").write_text(json.dumps(verdict))
    (path / "agent.log").write_text(log, "utf-8", "surrogatepass")
    try:
        trajectory, _ = load(path)
    except RecordingError:
        return
    assert len(trajectory.judgements) == 1
