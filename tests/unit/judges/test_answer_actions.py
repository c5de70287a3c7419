"""What a judge that must not see the answer is shown of the actions, in the words of each format."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.judges.evidence import build_evidence, hide_answer
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.tasks.task import TrajectoryTask
from tests.support import recorded
from tests.support.any_format import WRITERS, Recorded, write_run
from tests.unit.judges.scripted import ScriptedJudge, calls_of

ANSWER = 'The "Zebra Atlas" costs 4711 EUR'
TASK = TrajectoryTask(task_id="a", intent="Find it.")


def write_code(code):
    """An action of AgentLab that begins with a click."""
    return f"click({json.dumps({'code': code})})"


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        (f"answer({json.dumps({'content': ANSWER})})", "answer(...)"),
        ("click(3)\nanswer('other words')", "click(3)\nanswer(...)"),
        ("Thought: it is there\nAction: answer(other words)", "Thought: it is there\nAction: answer(...)"),
        ("click [3]\nstop [other words]", "click [3]\nstop(...)"),
        ("browser.done(text='other words')", "browser.done(...)"),
        ("computer.terminate('success', answer='other words')", "computer.terminate(...)"),
        ("Final Answer: other words", "Final Answer(...)"),
        ("done\nother words", "done(...)"),
        (f"terminate({json.dumps({'status': 'success', 'answer': ANSWER})})", "terminate(...)"),
        (f"done({json.dumps({'success': True, 'text': ANSWER})})", "done(...)"),
        (f"finished(content='{ANSWER}')({{}})", "finished(...)"),
        (f"stop [{ANSWER}]({{}})", "stop(...)"),
        (f"```stop [{ANSWER}]```({{}})", "```stop(...)"),
        (f"Action: ANSWER; {ANSWER}({{}})", "Action: ANSWER(...)"),
        (f"ANSWER {ANSWER}({{}})", "ANSWER(...)"),
        (f"TASK_COMPLETE {ANSWER}({{}})", "TASK_COMPLETE(...)"),
        (f"Final Action: task_complete: {ANSWER}({{}})", "Final Action: task_complete(...)"),
        (f"None -> TERMINATE: {ANSWER}({{}})", "None -> TERMINATE(...)"),
        (f"send_msg_to_user({json.dumps({'code': f'send_msg_to_user({ANSWER!r})'})})", "send_msg_to_user(...)"),
        (write_code(f"click(1)\nsend_msg_to_user({ANSWER!r})"), 'click({"code": "click(1)\\nsend_msg_to_user(...)'),
        (write_code(f"click(1); report_infeasible({ANSWER!r})"), 'click({"code": "click(1); report_infeasible(...)'),
        (json.dumps({"action_type": "done", "text": ANSWER}) + "({})", '{"action_type": "done(...)'),
        (json.dumps({"done": {"text": ANSWER}}) + "({})", '{"done(...)'),
        (f"attempt_completion({json.dumps({'result': ANSWER})})", "attempt_completion(...)"),
        ("done", "done(...)"),
        # The last action of an agent whose words nobody knows.
        (f"wrap_up({json.dumps({'summary': ANSWER})})", "wrap_up(...)"),
        (f"I am through: {ANSWER.upper()}!({{}})", "action(...)"),
    ],
)  # fmt: skip
def test_an_action_that_answers_is_shown_without_the_answer(action, shown):
    assert hide_answer(action, ANSWER, is_last=True) == shown


@pytest.mark.parametrize(
    "action",
    [
        'click({"coordinate": [410, 266]})',
        'type({"text": "answer: 42", "index": 3})',
        f"type({json.dumps({'text': ANSWER})})",
        "Stop the video({})",
        "Done with the filters, open the list({})",
        'finish_checkout({"card": "visa"})',
        'stop_timer({"id": 3})',
        'input_text({"text": "send_msg_to_user"})',
        "<button> Submit answer -> CLICK({})",
        '{"action": "click", "element": "Done reading"}({})',
    ],
)  # fmt: skip
def test_other_actions_are_shown_as_they_are(action):
    assert hide_answer(action, ANSWER, is_last=False) == action


@pytest.mark.parametrize("answer", ["", "4", "<no_answer>"])
def test_a_short_answer_hides_no_action_of_another_name(answer):
    action = 'type({"text": "4 books"})'
    assert hide_answer(action, answer, is_last=True) == action


def test_hostile_actions_take_no_time():
    for action in ("stop " * 4000, "action" * 3000, "!" * 20_000, "{" + "'done" * 4000, "\\n" * 10_000 + "->" * 5000):
        hide_answer(action, "stop" * 1000, is_last=True)


LAST_ACTIONS = {
    "fara": lambda path: put_log(path, {"action": "terminate", "status": "success", "answer": ANSWER}),
    "online-mind2web": lambda path: change(path / "result.json", action_history=["CLICK [3]", f"stop [{ANSWER}]"]),
    "stagehand": lambda path: add_step(path / "trajectory.json", {"taskComplete": True, "output": ANSWER}),
    "browser-use": lambda path: end_history(path / "AgentHistory.json"),
}


def put_log(path, action):
    recorded.put(path / "web_surfer.log", recorded.log(recorded.CLICK, action))


def change(path, **changed):
    recorded.put(path, json.loads(path.read_text()) | changed)


def add_step(path, arguments):
    document = json.loads(path.read_text())
    document["steps"].append(document["steps"][-1] | {"actionName": "done", "actionArgs": arguments})
    recorded.put(path, document)


def end_history(path):
    document = json.loads(path.read_text())
    document["history"][-1]["model_output"]["action"] = [{"done": {"text": ANSWER, "success": True}}]
    recorded.put(path, document)


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "webarena-verified"])
def test_webjudge_never_sees_the_answer_in_any_format(tmp_path, name):
    path = write_run(tmp_path / "107", name, Recorded(answer=ANSWER, verdict=None))
    if name in LAST_ACTIONS:
        LAST_ACTIONS[name](path)
    evidence = build_evidence(load_run(path), TASK, list)
    assert (evidence.answer, len(evidence.steps) > 0) == (ANSWER, True)
    replies = {"key points": "1. Find it.", "screenshot": "It shows it.\nScore: 5", "verdict": "Seen.\nStatus: success"}
    judge = ScriptedJudge(lambda question: replies[question.step])
    load_method("webjudge").judge(evidence, calls_of(judge), JudgeSettings())
    sent = "\n".join(message.text for question in judge.questions for message in question.messages)
    assert ("Zebra" in sent, "4711" in sent) == (False, False)
    if name in LAST_ACTIONS or name in ("webvoyager", "agentlab"):
        assert any("Zebra" in step.action for step in evidence.steps)
