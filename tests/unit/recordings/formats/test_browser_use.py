"""Histories of browser-use, written by its versions 0.13.14 and 0.2.7 with a scripted model."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import format_of
from pytest_webeval.recordings.formats.browser_use import read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.signatures import list_traces
from pytest_webeval.recordings.trajectory.step import Target, UnreadableTrajectory
from tests.support.default_run import examples

RECORDED = Path(__file__).parents[3] / "recorded" / "browser_use"
NAME = "AgentHistory.json"
ANSWER = "The desk lamps are sorted, cheapest first."
DONE = {"is_done": True, "success": True, "extracted_content": "42"}
VERDICT = {"verdict": True, "reasoning": "fine", "failure_reason": "", "impossible_task": False}
END_MARK = {
    "model_output": None,
    "result": [{"error": "Failed to complete task in maximum steps"}],
    "state": {"url": ""},
    "metadata": None,
}


def load(path):
    files = RecordedFiles(RunInputs(path))
    return read(files).judged(), files.warnings.texts


def entry(*results, action="done", **members):
    output = {"action": [{action: {"text": "42"}}], "memory": "m"}
    return {"model_output": output, "result": list(results), "state": {"url": "https://shop.example/"}} | members


@pytest.fixture
def write(tmp_path):
    """Writes a history of these entries."""

    def write(*entries, name=NAME, **members):
        (tmp_path / name).write_text(json.dumps({"history": list(entries)} | members))
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("name", "outcome", "reasons", "answer", "actions"),
    [
        ("judged-success", "completed", (), ANSWER, ["navigate", "input", "send_keys", "navigate", "done"]),
        ("judged-failure", "completed", (), ANSWER, ["navigate", "input", "send_keys", "done"]),
        (
            "not-judged",
            "ungraded",
            ("no_verdict",),
            "The message was sent.",
            ["navigate", *["input"] * 3, "click", "done"],
        ),
        ("judge-failed", "ungraded", ("no_verdict",), "Done.", ["navigate", "input", "send_keys", "done"]),
        (
            "reported-failure",
            "ungraded",
            ("no_verdict", "self_reported_failure"),
            "I could not sort the list.",
            ["navigate", "input", "send_keys", "upload_file", "done"],
        ),
        (
            "impossible",
            "impossible",
            ("impossible_task", "self_reported_failure"),
            "The shop has no Blue Teapot.",
            ["navigate", "input", "send_keys", "done"],
        ),
        (
            "captcha",
            "completed",
            ("self_reported_failure", "reached_captcha"),
            "A captcha blocks the list.",
            ["navigate", "input", "send_keys", "done"],
        ),
        ("max-steps", "over_budget", ("no_answer", "max_steps"), None, ["navigate", "unparsed"]),
        ("failures", "over_budget", ("no_answer", "no_model_output"), None, ["navigate", *["unparsed"] * 3]),
        ("rate-limit", "aborted", ("rate_limit",), None, ["navigate", "unparsed", "unparsed"]),
        ("02-har", "ungraded", ("no_verdict",), ANSWER, ["go_to_url", "go_to_url", "wait", "done"]),
        ("02-max-steps", "over_budget", ("no_answer", "max_steps"), None, ["go_to_url", "unparsed", "unparsed"]),
        ("02-no-browser", "aborted", ("no_steps",), None, []),
    ],
)
def test_a_run_ends_as_its_history_says(name, outcome, reasons, answer, actions):
    trajectory, warnings = load(RECORDED / f"shop-{name}")
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == (outcome, reasons)
    assert (trajectory.answer, [step.action for step in trajectory.steps], warnings) == (answer, actions, ())


def test_each_action_is_a_step_with_what_the_library_stored_of_it():
    path = RECORDED / "shop-judged-success"
    entries = json.loads((path / NAME).read_text())["history"]
    trajectory, _ = load(path)
    second = trajectory.steps[1]
    assert second.arguments == entries[1]["model_output"]["action"][0]["input"]
    assert second.thought.splitlines() == [
        "Let me look at the page.",
        "Success",
        "The task is to use the shop.",
        "Go on with input and send_keys",
    ]
    assert (second.url, second.observation) == ("https://127.0.0.1:7743/", "Typed 'desk lamp'")
    assert second.timestamp.startswith("20")
    assert [(step.before and step.before.name, step.after and step.after.name) for step in trajectory.steps] == [
        (None, "screenshots/step_2.png"),
        ("screenshots/step_2.png", None),
        (None, "screenshots/step_3.png"),
        ("screenshots/step_3.png", "screenshots/step_4.png"),
        ("screenshots/step_4.png", None),
    ]
    seconds = sum(each["metadata"]["step_end_time"] - each["metadata"]["step_start_time"] for each in entries)
    assert trajectory.duration == pytest.approx(seconds)
    assert trajectory.task_text == "Search the shop for desk lamps and show me the results, cheapest first."
    assert (trajectory.system, trajectory.flags) == ("browser-use", ())
    assert trajectory.details == {"self_reported_success": True}


def test_an_error_of_an_action_is_its_observation_and_the_last_error_of_the_run():
    trajectory, _ = load(RECORDED / "shop-reported-failure")
    assert trajectory.steps[3].observation == trajectory.last_error
    assert trajectory.last_error.startswith("File path /nowhere.pdf is not available. ")


def test_images_of_older_histories_are_in_the_file():
    trajectory, _ = load(RECORDED / "shop-02-har")
    stored = [
        each["state"]["screenshot"] for each in json.loads((RECORDED / "shop-02-har" / NAME).read_text())["history"]
    ]
    assert [trajectory.image(shot) for shot in trajectory.screenshots] == [base64.b64decode(text) for text in stored]
    assert [step.before and step.before.name for step in trajectory.steps] == [
        f"{NAME}#1",
        f"{NAME}#2",
        None,
        f"{NAME}#3",
    ]
    assert trajectory.details["estimated_input_tokens"] > 10_000
    assert trajectory.steps[0].thought == "Success\nUse the shop.\nGo on"


@pytest.mark.parametrize(
    ("name", "success", "reasoning", "notes"),
    [
        ("judged-success", True, "The list of desk lamps is sorted by price.", (False, False)),
        (
            "judged-failure",
            False,
            "The agent never changed the order.\nThe list is sorted by relevance.",
            (False, False),
        ),
        ("impossible", False, "There is no Blue Teapot.\nThe shop does not sell it.", (True, False)),
        ("captcha", False, "The agent was blocked.\nA captcha was shown.", (False, True)),
    ],
)
def test_the_judgement_of_the_library_is_the_verdict(name, success, reasoning, notes):
    (judgement,) = load(RECORDED / f"shop-{name}")[0].judgements
    assert (judgement.success, judgement.reasoning, judgement.judge) == (success, reasoning, "browser-use judge")
    assert judgement.notes == dict(zip(("impossible_task", "reached_captcha"), notes, strict=True))
    assert (judgement.source, judgement.contradictions) == (f"{NAME} judgement", ())


@pytest.mark.parametrize(
    ("result", "contradictions"),
    [
        (DONE, ()),
        (DONE | {"judgement": VERDICT | {"reached_captcha": True}}, ()),
        (DONE | {"judgement": VERDICT | {"failure_reason": "None."}}, ()),
        (DONE | {"judgement": VERDICT | {"failure_reason": None}}, ()),
        (DONE | {"judgement": VERDICT | {"failure_reason": "-"}}, ()),
        (DONE | {"judgement": VERDICT | {"failure_reason": "No failure."}}, ()),
        (DONE | {"judgement": VERDICT | {"failure_reason": "N/A - the task\nwas completed."}}, ()),
        (DONE | {"judgement": VERDICT | {"failure_reason": "Not applicable"}}, ()),
        (
            DONE | {"judgement": VERDICT | {"failure_reason": "None of it"}},
            ('verdict is true, but failure_reason is "None of it"',),
        ),
        (
            DONE | {"judgement": VERDICT | {"failure_reason": "No failure was seen, no order either"}},
            ('verdict is true, but failure_reason is "No failure was seen, no order either"',),
        ),
        (DONE | {"is_done": None, "judgement": VERDICT}, ("verdict is true, but the agent is not done",)),
        (DONE | {"judgement": VERDICT | {"impossible_task": True}}, ("verdict is true, but impossible_task is true",)),
        (
            DONE | {"judgement": VERDICT | {"failure_reason": "Not sorted"}},
            ('verdict is true, but failure_reason is "Not sorted"',),
        ),
        (DONE | {"is_done": False, "judgement": VERDICT}, ("verdict is true, but the agent is not done",)),
    ],
)
def test_a_success_that_the_rest_of_the_judgement_denies_contradicts_itself(write, result, contradictions):
    trajectory, _ = load(write(entry(result)))
    assert tuple(text for judgement in trajectory.judgements for text in judgement.contradictions) == contradictions


@pytest.mark.parametrize(
    ("judgement", "problem"),
    [
        ("true", f'{NAME} has "true" as judgement of its last result, expected an object'),
        ([], f"{NAME} has [] as judgement of its last result, expected an object"),
        (
            VERDICT | {"failure_reason": ["fails"]},
            f'{NAME} has ["fails"] as failure_reason of its judgement, expected a string',
        ),
        ({}, f"{NAME} has null as verdict of its judgement, expected true or false"),
        ({"verdict": 1}, f"{NAME} has 1 as verdict of its judgement, expected true or false"),
        (
            VERDICT | {"impossible_task": "no"},
            f'{NAME} has "no" as impossible_task of its judgement, expected true or false',
        ),
    ],
)
def test_a_damaged_judgement_is_an_error_and_not_as_good_as_none(write, judgement, problem):
    with pytest.raises(UnreadableTrajectory) as caught:
        load(write(entry(DONE | {"judgement": judgement})))
    assert (caught.value.code, str(caught.value)) == ("score_unreadable", f"{problem}; save the history again")


@pytest.mark.parametrize(
    ("last", "problem"),
    [
        (None, "null as result of its last entry, expected a list"),
        ({}, "null as result of its last entry, expected a list"),
        ("x", "null as result of its last entry, expected a list"),
        (entry() | {"result": None}, "null as result of its last entry, expected a list"),
        (
            entry() | {"result": DONE},
            '{"is_done": true, "success": true, "ext… as result of its last entry, expected',
        ),
        (entry("x"), '"x" as its last result, expected an object'),
        (entry(DONE, None), "null as its last result, expected an object"),
        (entry(DONE | {"is_done": 1}), "1 as is_done of its last result, expected true or false"),
        (entry(DONE | {"is_done": "true"}), '"true" as is_done of its last result, expected true or false'),
    ],
)
def test_a_damaged_place_of_the_verdict_is_an_error_and_not_as_good_as_none(write, last, problem):
    with pytest.raises(UnreadableTrajectory) as caught:
        load(write(entry(DONE | {"judgement": VERDICT}), last))
    assert caught.value.code == "score_unreadable"
    assert f"{NAME} has {problem}" in str(caught.value)


@pytest.mark.parametrize(
    ("entries", "outcome", "reasons"),
    [
        ([], "aborted", ("no_steps",)),
        ([END_MARK], "aborted", ("no_steps",)),
        ([entry(action="wait"), END_MARK], "over_budget", ("no_answer", "max_steps")),
        ([entry({}, action="wait")], "over_budget", ("no_answer", "no_done")),
        ([entry(DONE), entry({}, action="wait")], "over_budget", ("no_answer", "no_done")),
        ([entry(DONE, {"is_done": False})], "over_budget", ("no_answer", "no_done")),
        ([entry({"is_done": None})], "over_budget", ("no_answer", "no_done")),
        ([entry(DONE), entry()], "over_budget", ("no_answer", "no_done")),
        ([END_MARK | {"result": END_MARK["result"] * 2}], "over_budget", ("no_answer", "no_model_output")),
        (
            [END_MARK | {"result": [{"error": "Failed to complete task in maximum steps."}]}],
            "over_budget",
            ("no_answer", "no_model_output"),
        ),
        ([entry({"is_done": True})], "ungraded", ("no_verdict", "empty_answer")),
        ([entry({"error": "Rate limit reached. Waiting before retry."})], "over_budget", ("no_answer", "no_done")),
        ([entry(END_MARK["result"][0], metadata=None)], "over_budget", ("no_answer", "no_done")),
        (
            [entry({"error": "Browser closed or disconnected, unable to proceed"}, model_output=None)],
            "over_budget",
            ("no_answer", "no_model_output"),
        ),
        (
            [entry({"error": "Rate limit reached. Waiting before retry. Really"}, model_output=None)],
            "over_budget",
            ("no_answer", "no_model_output"),
        ),
    ],
)
def test_only_what_the_library_alone_writes_makes_a_run_aborted(write, entries, outcome, reasons):
    trajectory, _ = load(write(*entries))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == (outcome, reasons)


def test_a_step_that_failed_with_the_words_of_the_mark_is_a_step(write):
    step = END_MARK | {"metadata": {"step_number": 1}}
    trajectory, _ = load(write(step))
    assert (trajectory.outcome.kind, trajectory.outcome.reasons) == ("over_budget", ("no_answer", "no_model_output"))
    assert [each.action for each in trajectory.steps] == ["unparsed"]


def test_a_success_on_an_impossible_task_is_not_impossible(write):
    judgement = VERDICT | {"impossible_task": True}
    assert load(write(entry(DONE | {"judgement": judgement})))[0].outcome.kind == "completed"


def test_the_last_error_is_that_of_a_step():
    trajectory, _ = load(RECORDED / "shop-02-max-steps")
    assert trajectory.last_error is None
    trajectory, _ = load(RECORDED / "shop-max-steps")
    assert trajectory.last_error.startswith("Invalid model output format. ")


@pytest.mark.parametrize(
    ("spans", "duration", "first"),
    [
        ([(0, 1.5), (2, 4)], 3.5, "1970-01-01T00:00:00+00:00"),
        ([(2, 1), (2, 4)], 2, "1970-01-01T00:00:02+00:00"),
        ([(None, 1)], None, None),
        ([(10**14, 10**14 + 1)], 1, None),
    ],
)
def test_the_duration_is_the_sum_of_the_steps(write, spans, duration, first):
    times = [{"step_start_time": start, "step_end_time": end} for start, end in spans]
    trajectory, _ = load(write(*(entry(DONE, metadata=each) for each in times)))
    assert (trajectory.duration, trajectory.steps[0].timestamp) == (duration, first)


def test_a_long_observation_is_cut(write):
    trajectory, _ = load(write(entry({"extracted_content": "a" * 5000})))
    assert (len(trajectory.steps[0].observation), trajectory.steps[0].observation[:3]) == (2000, "aaa")


def test_a_success_that_the_agent_reports_is_no_verdict(write):
    trajectory, _ = load(write(entry(DONE)))
    assert (trajectory.judgements, trajectory.details["self_reported_success"]) == ((), True)
    trajectory, _ = load(write(entry(DONE | {"is_done": False})))
    assert "self_reported_success" not in trajectory.details


def test_a_judgement_of_an_earlier_result_does_not_count(write):
    trajectory, warnings = load(write(entry(DONE | {"judgement": VERDICT}), entry(DONE)))
    assert (trajectory.outcome.kind, trajectory.judgements) == ("ungraded", ())
    assert [text.partition(": ")[2] for text in warnings] == [f"{NAME} has 1 judgement of earlier results; ignored"]


@pytest.mark.parametrize(
    ("action", "results", "steps"),
    [
        ([{"wait": {"seconds": 1}}], [], [("wait", None)]),
        ([{"wait": {}}, {"done": {}}], [{"error": "e"}], [("wait", "e"), ("done", None)]),
        ([{"wait": {}}], [{"extracted_content": "a"}, {"long_term_memory": "b"}], [("wait", "a\nb")]),
        ([{"navigate": None, "go_back": {}}], [{}], [("go_back", None)]),
        ([{}, "wait", None], [], [("unparsed", None)] * 3),
        ([], [{"error": "e"}], [("unparsed", "e")]),
    ],
)
def test_results_belong_to_the_actions_in_their_order(write, action, results, steps):
    trajectory, _ = load(write(entry(*results, model_output={"action": action})))
    assert [(step.action, step.observation) for step in trajectory.steps] == steps


def test_tokens_are_those_that_pydantic_wrote(write):
    usage = {"total_prompt_tokens": 7, "total_completion_tokens": 3, "entry_count": 2, "total_cost": 0.5}
    trajectory, _ = load(write(entry(DONE), usage=usage | {"by_model": {"gpt": {}}}))
    assert (trajectory.usage.prompt_tokens, trajectory.usage.completion_tokens, trajectory.usage.num_calls) == (7, 3, 2)
    assert (trajectory.model, trajectory.details["cost_usd"]) == ("gpt", 0.5)


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("<user_request>\nBuy tea.\n</user_request>\n<agent_history>\n", "Buy tea."),
        ("<agent_history>\n<user_request>\nBuy tea.\n</user_request>\n", ""),
        ("<user_request>\nBuy tea.", ""),
        (7, ""),
    ],
)
def test_the_task_is_read_where_only_the_library_can_have_written_it(write, message, task):
    assert load(write(entry(DONE, state_message=message)))[0].task_text == task


@pytest.mark.parametrize("folder", ["screenshots", "browser_use_agent_06b0_1795/screenshots", ""])
def test_screenshots_are_found_by_the_names_of_their_files(write, folder):
    stored = [
        "/home/user/browser_use_agent_1/screenshots/step_1.png",
        "C:\\Temp\\screenshots\\step_2.png",
        "../../step_3.png",
    ]
    path = write(*(entry(DONE, state={"screenshot_path": each}) for each in stored))
    (path / folder).mkdir(parents=True, exist_ok=True)
    (path / folder / "step_1.png").write_bytes(b"1")
    (path / folder / "step_2.png").write_bytes(b"2")
    trajectory, _ = load(path)
    assert [trajectory.image(shot) for shot in trajectory.screenshots] == [b"1", b"2"]
    assert trajectory.flags == ("missing_screenshots",)


def test_only_the_directory_that_the_library_made_is_searched(write):
    path = write(entry(DONE, state={"screenshot_path": "/a/screenshots/step_1.png"}))
    (path / "browser_use_agent_1.old" / "screenshots").mkdir(parents=True)
    (path / "browser_use_agent_1.old" / "screenshots" / "step_1.png").write_bytes(b"1")
    assert load(path)[0].screenshots == ()


def test_an_image_may_be_a_data_url(write):
    url = "data:image/png;base64," + base64.b64encode(b"1").decode()
    trajectory, _ = load(write(entry(DONE, state={"screenshot": url})))
    assert trajectory.image(trajectory.screenshots[0]) == b"1"


def test_files_and_base64_may_be_mixed_and_damaged_base64_is_an_error_of_its_image(write):
    path = write(
        *(entry(DONE, state={key: value}) for key, value in [("screenshot_path", "/a/x_1.png"), ("screenshot", "?")])
    )
    (path / "x_1.png").write_bytes(b"1")
    trajectory, _ = load(path)
    first, second = trajectory.screenshots
    assert trajectory.image(first) == b"1"
    with pytest.raises(RecordingError, match=f"{NAME}#2 is not valid base64: .*; record the run again"):
        trajectory.image(second)


@pytest.mark.parametrize(
    ("names", "read_name"),
    [
        ((NAME,), NAME),
        (("history.json",), "history.json"),
        (("agent_history_7.json", "history.txt"), "agent_history_7.json"),
    ],
)
def test_a_history_may_have_another_name(write, names, read_name):
    for name in names:
        path = write(entry(DONE | {"judgement": VERDICT}), name=name)
    assert format_of(path).name == "browser-use"
    assert load(path)[0].judgements[0].source == f"{read_name} judgement"


def test_of_two_histories_nobody_knows_which_the_recorder_wrote(write):
    write(entry(DONE | {"judgement": VERDICT}), name="a_history.json")
    path = write(entry(DONE))
    assert format_of(path).name == "browser-use"
    with pytest.raises(UnreadableTrajectory) as caught:
        load(path)
    assert str(caught.value) == f'2 histories: "{NAME}", "a_history.json"; keep only that of the run'


def test_among_many_files_that_may_be_the_history_none_is_chosen(write):
    for number in range(10):
        write(entry(DONE | {"judgement": VERDICT}) if number == 0 else {}, name=f"a{number}_history.json")
    path = write(entry(DONE), name="history.json")
    assert format_of(path).name == "browser-use"
    with pytest.raises(UnreadableTrajectory) as caught:
        load(path)
    listed = '"a0_history.json", "a1_history.json", "a2_history.json" and 8 more'
    assert str(caught.value) == f"11 files may be the history: {listed}; keep only that of the run"


def test_a_default_name_counts_whatever_the_file_holds(write):
    path = write(name=NAME)
    write(entry(DONE | {"judgement": VERDICT}), name="a_history.json")
    with pytest.raises(UnreadableTrajectory, match="2 histories: "):
        load(path)


def test_a_name_that_no_terminal_shows_is_not_read(write):
    path = write(entry(DONE | {"judgement": VERDICT}), name="a\nhistory.json")
    with pytest.raises(UnreadableTrajectory, match=f"{NAME}") as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_a_history_of_something_else_is_no_run(write):
    path = write(name="history.json")
    assert format_of(path) is None


@pytest.mark.parametrize(
    ("content", "code"), [("[]", "json_invalid"), ('{"history": {}}', "json_invalid"), ("{", "json_invalid")]
)
def test_a_history_without_its_list_cannot_be_read(tmp_path, content, code):
    (tmp_path / NAME).write_text(content)
    with pytest.raises(UnreadableTrajectory) as caught:
        load(tmp_path)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "name", ["network.har", "browser.har", "BrowserSession_1.zip", "0b5f4d6c-2f6f-4f6e-9d3b-3a8a5f1f7c10.zip"]
)
def test_the_traffic_is_found_by_the_names_that_its_versions_give(write, name):
    path = write(entry(DONE))
    (path / "download.zip").write_bytes(b"")
    (path / name).write_bytes(b"")
    assert list_traces(path, format_of(path).traces) == (name,)


def test_a_link_with_the_name_of_a_history_is_not_followed(tmp_path):
    shutil.copytree(RECORDED / "shop-judged-success", tmp_path / "other")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / NAME).symlink_to(tmp_path / "other" / NAME)
    assert format_of(tmp_path / "run") is None
    with pytest.raises(RecordingError):
        load(tmp_path / "run")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=5,
)
RESULT = st.dictionaries(st.sampled_from(["is_done", "success", "error", "extracted_content", "judgement"]), JSON)
STATE = st.dictionaries(st.sampled_from(["url", "screenshot", "screenshot_path"]), JSON)
OUTPUT = st.dictionaries(st.sampled_from(["action", "current_state", "memory", "thinking"]), JSON)
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "model_output": OUTPUT | JSON,
        "result": st.lists(RESULT | JSON, max_size=3) | JSON,
        "state": STATE | JSON,
        "metadata": st.dictionaries(st.sampled_from(["step_start_time", "step_end_time", "input_tokens"]), JSON) | JSON,
    },
)


@settings(max_examples=examples(200), deadline=None)
@given(history=st.lists(ENTRY | JSON, max_size=4) | JSON, usage=JSON)
def test_no_content_raises_anything_but_a_recording_error(tmp_path_factory, history, usage):
    path = tmp_path_factory.mktemp("run")
    (path / NAME).write_text(json.dumps({"history": history, "usage": usage}))
    try:
        trajectory, _ = load(path)
    except RecordingError:
        return
    assert trajectory.outcome.kind != "completed" or trajectory.judgements


BOUNDS = {"x": 10.5, "y": 20, "width": 30, "height": 40}
CORNERS = {"top_left": {"x": 1, "y": 2}, "center": {"x": 3, "y": 4}, "width": 5, "height": 6}


def using(element, action="click", url="https://shop.example/", **arguments):
    """An entry with an action on an element of a page."""
    state = {"url": url, "interacted_element": [element]}
    return entry({}, state=state) | {"model_output": {"action": [{action: arguments}]}}


@pytest.mark.parametrize(
    ("element", "arguments", "target"),
    [
        ({"bounds": BOUNDS}, {"index": 3}, Target(10.5, 20, 30, 40)),
        ({"viewport_coordinates": CORNERS, "bounds": BOUNDS}, {}, Target(1, 2, 5, 6)),
        (
            {"viewport_coordinates": CORNERS, "viewport_info": {"width": 1280, "height": 1100}},
            {},
            Target(1, 2, 5, 6, (1280, 1100)),
        ),
        ({"viewport_coordinates": CORNERS, "viewport_info": {"width": 0, "height": "9"}}, {}, Target(1, 2, 5, 6)),
        ({"bounds": BOUNDS | {"width": None}}, {}, None),
        ({"bounds": [1, 2, 3, 4]}, {}, None),
        ({"viewport_coordinates": {"top_left": 1}}, {}, None),
        ("<a>", {}, None),
        (None, {"coordinate_x": 7, "coordinate_y": 8}, Target(7, 8)),
        (None, {"index": 3}, None),
    ],
)
def test_an_action_points_at_the_element_that_it_used(write, element, arguments, target):
    trajectory, warnings = load(write(using(element, **arguments)))
    assert ([step.target for step in trajectory.steps], warnings) == ([target], ())


def test_a_box_of_the_document_is_no_target_once_the_agent_scrolled_the_page(write):
    element = {"bounds": BOUNDS}
    other = "https://shop.example/other"
    entries = [using(element), using(None, "scroll", down=True), using(element), using(element, url=other)]
    trajectory, _ = load(write(*entries))
    assert [step.target is None for step in trajectory.steps] == [False, True, True, False]


def test_the_recorded_input_has_the_box_of_its_element():
    path = RECORDED / "shop-judged-success"
    element = json.loads((path / NAME).read_text())["history"][1]["state"]["interacted_element"][0]
    trajectory, _ = load(path)
    box = element["bounds"]
    assert trajectory.steps[1].target == Target(box["x"], box["y"], box["width"], box["height"])
    assert trajectory.steps[0].target is None


def test_elements_that_are_no_list_are_a_warning(write):
    damaged = using(None) | {"state": {"interacted_element": "x"}}
    trajectory, warnings = load(write(damaged))
    assert trajectory.steps[0].target is None
    assert len(warnings) == 1
