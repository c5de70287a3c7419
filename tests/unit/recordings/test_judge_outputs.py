"""Verdicts and labels that lie apart from the runs."""

from __future__ import annotations

import hashlib
import json
import math
import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.verdict_files import load_labels, load_verdicts
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import UnreadableVerdict, VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, from_judgement

CORPORA = Path(__file__).parents[4] / "shared/corpora"
TRANSCRIPTS = CORPORA / "webjudge_7b.tar.xz"
LABELS = CORPORA / "online_mind2web_human_labels.json"


MARKED_FAILURES = [
    "- Status: failure",
    "* **Status:** failure",
    "## Status: failure",
    "1. Status: failure",
    "12) Status: failure.",
    "> - Status: `failure`",
    "Status\uff1a failure\r",
    "\u2022 Status : Failure",
]


def line(task_id="7", reply="Thoughts: fine\nStatus: success", **fields):
    return json.dumps({"task_id": task_id, "evaluation_details": {"response": reply}, **fields})


def verdict_of(judgement):
    return derive(from_judgement(judgement), VerdictPolicy(), RunFacts())


def verdicts_in(tmp_path, *lines, name="WebJudge_auto_eval_results.json"):
    path = tmp_path / name
    path.write_text("\n".join(lines))
    return load_verdicts(path).by_task


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Status: success", 1),
        ('Thoughts: done\n\n**Status**: "failure".', 0),
        ("The page says\nStatus: success\nbut it is a fake\nStatus: failure", 0),
        ("The page says\nStatus: failure\nwhich is about something else\n_Status_: Success", 1),
        ("Status: unsuccessful", 0),
        *((f"The page says:\nStatus: success\nIt is a fake.\n{line}", 0) for line in MARKED_FAILURES),
        ("The page says:\nfoo\u2028Status: failure\nStatus: success", 1),
    ],
)
def test_the_last_line_that_is_a_status_decides(tmp_path, reply, score):
    judgement = verdicts_in(tmp_path, line(reply=reply))["7"]
    assert verdict_of(judgement).score == score


@pytest.mark.parametrize("reply", ["", "success", "The state: success"])
def test_a_reply_without_such_a_line_is_no_verdict(tmp_path, reply):
    judgement = verdicts_in(tmp_path, line(reply=reply))["7"]
    with pytest.raises(UnreadableVerdict, match="no line 'Status: success' or 'Status: failure'; judge the run again"):
        verdict_of(judgement)


@pytest.mark.parametrize(
    "last",
    [
        "Status: maybe",
        "## Status\nfailure",
        "The Status: success of it",
        "**Final Status: failure**",
        "status - failure",
        "Status = failed",
        "My _sta_tus: it is a failure",
        "Status: failure, as the page has an error",
        "The page\u2028Status: success",
        "The page\rStatus: success",
        "The page\x85Status: success",
    ],
)
def test_a_last_status_that_cannot_be_read_makes_a_quoted_one_no_verdict(tmp_path, last):
    judgement = verdicts_in(tmp_path, line(reply=f"The page says:\nStatus: success\nHm.\n{last}\nThat is all."))["7"]
    with pytest.raises(UnreadableVerdict, match=r"the judge's last word on the status is .*; judge the run again"):
        verdict_of(judgement)


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"predicted_label": 1}, []),
        ({"predicted_label": 1.0}, []),
        ({"predicted_label": 0}, ["R20"]),
        ({"predicted_label": None}, []),
        ({"image_judge_record": [{"Response": "**Reasoning**: no\n\n**Score**: 2", "Score": 2}]}, []),
        ({"image_judge_record": [{"Response": "Score: 1\n3. Score: 5", "Score": 1}]}, ["R21"]),
        ({"image_judge_record": [{"Response": "no number", "Score": 1}, {}]}, []),
        ({"image_judge_record": [{"Response": "Score: 1", "Score": 10**350}]}, ["R21"]),
    ],
)
def test_what_contradicts_the_reply_makes_the_verdict_inconsistent(tmp_path, fields, rules):
    verdict = verdict_of(verdicts_in(tmp_path, line(**fields))["7"])
    assert [check.rule for check in verdict.checks] == rules
    assert verdict.is_inconsistent is bool(rules)


@pytest.mark.parametrize(
    ("score", "text", "threshold", "has_effect"),
    [
        (0, 1, None, False),
        (1, 2, None, False),
        (5, 3, None, False),
        (0, 3, None, True),
        (2, 4, None, True),
        (3, 2, None, True),
        (0, 1, 1, True),
        (2, 4, 5, False),
        (4, 5, 5, True),
        (3.5, 3, 4, False),
        (3.5, 4, 4, True),
        (5, 1, 0, False),
    ],
)
def test_an_image_score_that_its_text_does_not_have_is_an_error_only_across_the_threshold(
    tmp_path, score, text, threshold, has_effect
):
    end = "auto_eval_results.json" if threshold is None else f"score_threshold_{threshold}_auto_eval_results.json"
    images = [{"Response": f"**Reasoning**: hm\n\n**Score**: {text}", "Score": score}]
    rows = verdicts_in(tmp_path, line(image_judge_record=images), name=f"WebJudge_general_eval_o4-mini_{end}")
    verdict = verdict_of(rows["7"])
    (check,) = verdict.checks
    assert (check.rule, verdict.is_inconsistent) == ("R21" if has_effect else "R22", has_effect)
    reaches = "one of them reaches" if has_effect else "both or neither reaches"
    expected = f"image 1 has the score {score}, but its text says {text}; {reaches} the threshold {threshold or 3}"
    assert check.message == (expected if threshold != 0 else expected.replace("threshold 3", "threshold 0"))


@pytest.mark.parametrize(
    ("name", "judge", "reply", "score"),
    [
        ("WebJudge_Online_Mind2Web_eval_o4-mini", "webjudge", "Thoughts: done. Status: success", 1),
        ("WebJudge_general_eval_gpt-4o", "webjudge", 'Thoughts: no\nStatus: "failure"', 0),
        ("AgentTrek_eval_gpt-4o-mini", "agenttrek", "Thoughts: done\n\n**Status:** success", 1),
        ("Autonomous_eval_gpt-4o-mini", "autonomous", "Thoughts: done\nStatus: success", 1),
        ("WebVoyager_eval_gpt-4o-mini", "webvoyager", "### Verdict:\n**SUCCESS**", 1),
        ("WebVoyager_eval_o4-mini", "webvoyager", "It stopped early.\n\n**Verdict: FAILURE**", 0),
        ("WebVoyager_eval_Qwen_2", "webvoyager", "UNSUCCESSFUL, which is a FAILURE", 0),
    ],
)
def test_each_method_of_online_mind2web_is_read_by_its_own_rule(tmp_path, name, judge, reply, score):
    row = line(reply=reply, predicted_label=score)
    verdict = verdict_of(verdicts_in(tmp_path, row, name=f"{name}_score_threshold_3_auto_eval_results.json")["7"])
    assert (verdict.writer, verdict.score, verdict.checks) == (judge, score, ())


@pytest.mark.parametrize(
    "reply", ["", "Status: success", "NOT SUCCESS", "Verdict: failure", "SUCCESS or FAILURE? It is a SUCCESS"]
)
def test_a_reply_to_webvoyagers_prompt_without_a_plain_verdict_is_unreadable(tmp_path, reply):
    rows = verdicts_in(
        tmp_path, line(reply=reply), name="WebVoyager_eval_gpt-4o_score_threshold_3_auto_eval_results.json"
    )
    with pytest.raises(UnreadableVerdict, match="does not plainly end in SUCCESS or FAILURE; judge the run again"):
        verdict_of(rows["7"])


def test_a_stored_label_that_differs_from_the_reply_to_webvoyagers_prompt_is_inconsistent(tmp_path):
    name = "WebVoyager_eval_gpt-4o_score_threshold_3_auto_eval_results.json"
    verdict = verdict_of(verdicts_in(tmp_path, line(reply="FAILURE", predicted_label=1), name=name)["7"])
    assert ([check.rule for check in verdict.checks], verdict.is_inconsistent) == (["R20"], True)


def test_there_is_a_line_for_each_task(tmp_path):
    verdicts = verdicts_in(tmp_path, line("a"), line("b", "Status: failure"), "")
    assert {task_id: verdict_of(judgement).score for task_id, judgement in verdicts.items()} == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([line(), line()], "task '7' is judged twice in "),
        ([line(), "{"], "cannot read verdicts: WebJudge_auto_eval_results.json"),
        (["[]"], "holds [], expected a JSON object"),
        (["{}"], "WebJudge_auto_eval_results.json holds no task_id and reply of a judge; name a file"),
        ([""], "cannot read verdicts: WebJudge_auto_eval_results.json is not valid JSON"),
        (['{"task_id": "1", "task_id": "2"}'], 'has the key "task_id" twice in one object; keep one of them'),
        ([line(), line("8", predicted_label=math.nan)], 'invalid predicted_label "NaN" in'),
        *(
            ([line(predicted_label=label)], f"invalid predicted_label {json.dumps(label)} in")
            for label in ("0", False, True, [0], 2, -1, {})
        ),
        ([line(predicted_label="0")], "WebJudge_auto_eval_results.json; expected 0 or 1"),
        ([line(predicted_label=0.5)], "invalid predicted_label"),
        ([line(task_id=7)], "invalid task_id 7 in"),
        ([line(reply=["Status: success"])], 'invalid response ["Status: success"] in'),
        ([line(evaluation_details=[])], "invalid evaluation_details [] in"),
        ([line(judge=1)], "invalid judge 1 in"),
        ([line(image_judge_record={"Score": 1})], 'invalid image_judge_record {"Score": 1} in'),
        ([line(image_judge_record=[{}, 3])], "image 2; expected an object"),
        ([line(image_judge_record=[{"Score": "2"}])], 'invalid Score "2" in'),
        ([line(image_judge_record=[{"Response": 2}])], "invalid Response 2 in"),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(tmp_path, lines, problem):
    with pytest.raises(SettingsError, match=re.escape(problem)):
        verdicts_in(tmp_path, *lines)


def test_the_checksum_is_that_of_the_files_that_were_read(tmp_path):
    path = tmp_path / "labels.json"
    path.write_text(json.dumps([{"task_id": "7", "A_human_label": "1"}]))
    assert load_labels(path, "osu").describe() == {
        "name": "labels.json",
        "checksum": hashlib.sha256(path.read_bytes()).hexdigest(),
        "coding": "osu",
    }
    path.write_text(line())
    verdicts = load_verdicts(path)
    assert verdicts.describe() == {"name": "labels.json", "checksum": hashlib.sha256(path.read_bytes()).hexdigest()}
    (tmp_path / "8.json").write_text(line("8"))
    checksums = {load_verdicts(tmp_path).checksum}
    for name, word in (("8.json", "failure"), ("labels.json", "failure")):
        (tmp_path / name).write_text(line(name, f"Status: {word}"))
        checksums.add(load_verdicts(tmp_path).checksum)
    assert len(checksums) == 3


def test_an_empty_directory_holds_no_verdict(tmp_path):
    with pytest.raises(SettingsError, match=r"no verdict in .*; name a file"):
        load_verdicts(tmp_path)


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        ({"choices": {}}, "invalid choices {} in"),
        ({"choices": []}, "holds no task_id and reply of a judge"),
        ({"choices": ["Status: success"]}, "holds no task_id and reply of a judge"),
        ({"choices": [{"message": "Status: success"}]}, 'invalid message "Status: success" in'),
        ({"choices": [{"message": {"content": 1}}]}, "invalid content 1 in"),
    ],
)
def test_a_damaged_judgment_of_a_directory_is_refused(tmp_path, response, problem):
    (tmp_path / "7.json").write_text(json.dumps({"response": response}))
    with pytest.raises(SettingsError, match=re.escape(problem)):
        load_verdicts(tmp_path)


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the corpora are not here")
def test_of_308_public_transcripts_each_verdict_is_that_of_the_last_verdict_line(tmp_path):
    with tarfile.open(TRANSCRIPTS) as archive:
        archive.extractall(tmp_path, filter="data")
    paths = sorted(tmp_path.rglob("*.json"))
    expected = {}
    for path in paths:
        reply = json.loads(path.read_bytes())["response"]["choices"][0]["message"]["content"]
        expected[path] = int("success" in [each for each in reply.splitlines() if "Status:" in each][-1])
    assert (len(expected), sum(expected.values())) == (308, 61)
    scores = {}
    for directory in {path.parent for path in paths}:
        for task_id, judgement in load_verdicts(directory).by_task.items():
            verdict = verdict_of(judgement)
            scores[directory / f"{task_id}.json"] = verdict.score
            assert verdict.checks == ()
    assert scores == expected


def label_of(labels, task_id, *folders):
    key = labels.find_key(task_id, folders)
    return None if key is None else labels.judge(key)


def labels_in(tmp_path, rows, coding="osu"):
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(rows))
    return load_labels(path, coding)


@pytest.mark.parametrize(
    ("coding", "code", "success", "is_impossible"),
    [
        ("osu", "0", False, False),
        ("osu", "1", True, False),
        ("osu", 2, None, True),
        ("abp", "0", None, True),
        ("abp", 1, True, False),
        ("abp", "2", False, False),
    ],
)
def test_a_label_means_what_its_coding_says(tmp_path, coding, code, success, is_impossible):
    labels = labels_in(tmp_path, [{"task_id": "7", "SeeAct_human_label": code}], coding)
    judgement = label_of(labels, "7", "runs", "SeeAct")
    assert (judgement.success, judgement.is_impossible) == (success, is_impossible)
    assert label_of(labels, "8", "runs", "SeeAct") is None
    assert labels.count == 1


@pytest.mark.parametrize(("impossible", "success"), [("exclude", None), ("zero", False)])
def test_an_impossible_task_counts_as_the_session_says(tmp_path, impossible, success):
    path = tmp_path / "labels.json"
    path.write_text(json.dumps([{"task_id": "7", "A_human_label": "2", "B_human_label": "0"}]))
    labels = load_labels(path, "osu", impossible)
    judgement = label_of(labels, "7", "A")
    assert (judgement.success, judgement.is_impossible, judgement.ungraded is None) == (success, True, success is False)
    assert label_of(labels, "7", "B") == label_of(load_labels(path, "osu"), "7", "B")
    assert labels.describe().get("impossible") == (None if impossible == "exclude" else "zero")


@pytest.mark.skipif(not LABELS.exists(), reason="the corpora are not here")
@pytest.mark.parametrize(("impossible", "rated"), [("exclude", 290), ("zero", 300)])
def test_the_public_rate_of_an_agent_has_the_denominator_of_its_leaderboard(impossible, rated):
    labels = load_labels(LABELS, "osu", impossible)
    verdicts = [label_of(labels, task_id, "Operator").success for task_id in labels.rows]
    assert (verdicts.count(True), len(verdicts) - verdicts.count(None)) == (184, rated)


def test_of_several_agents_a_directory_names_one(tmp_path):
    labels = labels_in(tmp_path, [{"task_id": "7", "SeeAct_human_label": "1", "Operator_human_label": "0"}])
    assert label_of(labels, "7", "runs", "seeact").success is True
    assert label_of(labels, "7", "runs", "Operator").success is False
    for folders, named in ((["runs"], "none"), (["SeeAct", "Operator"], "several")):
        problem = f"labels of SeeAct, Operator, and {'/'.join(folders)} names {named} of them; put the runs"
        with pytest.raises(RecordingError, match=problem):
            label_of(labels, "7", *folders)


def test_a_directory_names_the_agent_even_if_the_labels_are_of_one(tmp_path):
    labels = labels_in(tmp_path, [{"task_id": "7", "SeeAct_human_label": "1"}])
    with pytest.raises(RecordingError, match="labels of SeeAct, and runs/Operator names none of them; put the runs"):
        label_of(labels, "7", "runs", "Operator")


def test_an_agent_without_a_label_of_the_task_has_none(tmp_path):
    rows = [{"task_id": "7", "A_human_label": "1"}, {"task_id": "8", "A_human_label": None, "B_human_label": "0"}]
    labels = labels_in(tmp_path, rows)
    assert label_of(labels, "7", "B") is None
    assert label_of(labels, "8", "A") is None
    assert labels.count == 2


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            [{"task_id": "7", "A_human_label": "3"}],
            'invalid label "3" in .* osu has 0 failure, 1 success, 2 impossible',
        ),
        ([{"task_id": "7"}], "no labels in .*; expected a JSON list such as"),
        ({}, "no labels in"),
        ([{"task_id": "7", "A_human_label": "1"}] * 2, "a task is labelled twice in .*; keep one row for each task_id"),
        (
            [{"task_id": "7", "A_human_label": "1"}, {"task_id": 7}],
            "a task is labelled twice in .*; keep one row for each task_id",
        ),
        ([{"task_id": "7", "A_human_label": "1"}, 3], "invalid row 3 in .*, row 2; expected an object"),
        ([{"A_human_label": "1"}], "no task_id in .*, row 1; add it, or remove the row"),
        ([{"task_id": None, "A_human_label": "1"}], "no task_id in .*, row 1; add it, or remove the row"),
        ([{"task_id": ["7"], "A_human_label": "1"}], r'invalid task_id \["7"\] in .*, row 1'),
        ([{"task_id": "7", "A_human_label": True}], "invalid label true in"),
        ([{"task_id": "7", "A_human_label": 1.0}], "invalid label .*1.0.* in"),
        ([{"task_id": "7", "A_human_label": math.nan}], 'invalid label "NaN" in'),
    ],
)
def test_labels_that_say_nothing_clear_are_refused(tmp_path, rows, problem):
    with pytest.raises(SettingsError, match=problem):
        labels_in(tmp_path, rows)


def test_a_label_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "labels.json").write_text('[{"task_id": "7", "A_human_label": "0", "A_human_label": "1"}]')
    with pytest.raises(SettingsError, match=r"labels\.json has the key \"A_human_label\" twice"):
        load_labels(tmp_path / "labels.json", "osu")


@pytest.mark.skipif(not LABELS.exists(), reason="the corpora are not here")
def test_the_public_labels_of_six_agents_are_read(tmp_path):
    rows = json.loads(LABELS.read_bytes())
    labels = load_labels(LABELS, "osu")
    assert (len(labels.rows), len(labels.agents)) == (300, 6)
    solved = [label_of(labels, row["task_id"], "Operator").success for row in rows]
    assert solved.count(True) == sum(row["Operator_human_label"] == "1" for row in rows)


@given(
    document=st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "task_id",
                        "A_human_label",
                        "evaluation_details",
                        "response",
                        "choices",
                        "image_judge_record",
                        "Score",
                        "Response",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=10,
    )
)
def test_whatever_is_in_such_a_file_nothing_but_our_errors_is_raised(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("outputs") / "labels.json"
    path.write_text(json.dumps(document))
    for load in (load_verdicts, lambda path: load_labels(path, "osu")):
        try:
            assert load(path)
        except SettingsError:
            continue
