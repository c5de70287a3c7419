"""The agent's response: spec §1."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.rules import RULES
from pytest_webeval.safety.limits import Limits

GOOD = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Blue Mug"], "error_details": None}
TEXT = json.dumps(GOOD)
KEYS, FORMAT, NONE = "agent_response_keys_mismatch", "agent_response_invalid_format", "agent_response_none_mismatch"
ABSENT, VALUES = "retrieved_data_missing_or_null", "retrieved_data_array_values_mismatch"


def with_data(data):
    return {**GOOD, "retrieved_data": data}


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


# Spec §1.4: number of its row, response, status and failed assertions under the rules of the reference.
ROWS = [
    (1, GOOD, "success", []),
    (2, {**GOOD, "task_type": " retrieve ", "status": "success", "x": 1, "error_details": "?"}, "success", []),
    (3, {"performed_operation": "RETRIEVE", **without("task_type")}, "success", []),
    (4, {**GOOD, "task_type": "MUTATE", "performed_operation": "RETRIEVE"}, "failure", ["task_type_mismatch"]),
    (5, {**GOOD, "task_type": "", "performed_operation": "RETRIEVE"}, "failure", ["task_type_none_mismatch"]),
    (6, {"action": "retrieve", "status": "SUCCESS", "results": ["Blue Mug"]}, "failure", [KEYS, ABSENT]),
    (7, {"action": "retrieve", **without("task_type")}, "failure", [KEYS]),
    (8, {"task_type": "RETRIEVE", "status": "SUCCESS", "results": ["Blue Mug"]}, "failure", [ABSENT]),
    (9, {"Task_Type": "RETRIEVE", "Status": "SUCCESS", "Retrieved_Data": ["Blue Mug"]}, "failure", [KEYS, ABSENT]),
    (10, without("task_type"), "failure", [KEYS]),
    (10, without("status"), "failure", [KEYS]),
    (11, {**GOOD, "task_type": None}, "error", []),
    (11, {**GOOD, "status": None}, "error", []),
    (11, {**GOOD, "task_type": 3}, "error", []),
    (11, {**GOOD, "status": ["SUCCESS"]}, "error", []),
    (12, {**GOOD, "task_type": ""}, "failure", ["task_type_none_mismatch"]),
    (13, {**GOOD, "task_type": "READ"}, "failure", ["task_type_mismatch"]),
    (13, {**GOOD, "status": "DONE"}, "failure", ["status_mismatch"]),
    (14, {**GOOD, "task_type": "'RETRIEVE'", "status": "SUCCESS!"}, "success", []),
    (15, {**GOOD, "task_type": "^.*$"}, "success", []),
    (15, {**GOOD, "status": "^.*$"}, "success", []),
    (15, with_data(["^.*$"]), "success", []),
    (16, with_data(None), "failure", [ABSENT]),
    (16, with_data([]), "failure", [ABSENT]),
    (16, with_data(""), "failure", [ABSENT]),
    (16, without("retrieved_data"), "failure", [ABSENT]),
    (17, with_data([None]), "failure", [VALUES]),
    (17, with_data(0), "failure", [VALUES]),
    (17, with_data(False), "failure", [VALUES]),  # noqa: FBT003  (a response, not a flag)
    (17, with_data(5), "failure", [VALUES]),
    (17, with_data({"name": "Blue Mug"}), "failure", [VALUES]),
    (18, with_data("Blue Mug"), "success", []),
    (19, with_data([["Blue Mug"]]), "failure", [VALUES]),
    (20, with_data([["Blue Mug", "Red Mug"]]), "success", []),
    (21, with_data(["Blue Mug", "Red Mug"]), "failure", [VALUES]),
    (21, with_data(["Blue Mug", "Blue Mug"]), "failure", [VALUES]),
    (22, f" \n{TEXT}\t ", "success", []),
    (23, "\ufeff" + TEXT, "failure", [FORMAT]),
    (24, f"Here:\n```json\n{TEXT}\n```\nthere", "success", []),
    (24, f"```\n{TEXT}\n```", "success", []),
    (24, f"```json {TEXT} ```", "success", []),
    (25, f"```JSON\n{TEXT}\n```", "failure", [FORMAT]),
    (25, f"```json5\n{TEXT}\n```", "failure", [FORMAT]),
    (25, f"```json\n{TEXT}\n", "failure", [FORMAT]),
    (25, f"```\nfirst\n``` ```json\n{TEXT}\n```", "failure", [FORMAT]),
    (26, f"The answer: {TEXT}", "failure", [FORMAT]),
    (26, f"{TEXT} done", "failure", [FORMAT]),
    (26, TEXT.replace('"', "'"), "failure", [FORMAT]),
    (26, TEXT[:-1] + ",}", "failure", [FORMAT]),
    (26, "Blue Mug", "failure", [FORMAT]),
    (26, json.dumps(TEXT), "failure", [FORMAT]),
    (27, with_data(["Blue Mug ```x```"]), "failure", [FORMAT]),
    (28, '["Blue Mug"]', "failure", [FORMAT]),
    (28, "5", "failure", [FORMAT]),
    (28, '"x"', "failure", [FORMAT]),
    (28, "true", "failure", [FORMAT]),
    (28, "NaN", "failure", [FORMAT]),
    *((29, text, "failure", [NONE]) for text in ["", " \n", "null", "[]", "{}", "0", "false", '""', "```json```"]),
    (30, '{"task_type": "RETR', "failure", [FORMAT]),
]
# Rows in which the default rules do not follow: a documented dialect is read, patterns and guesses are plain data.
DEFAULT_SAYS = {6: ("success", []), 7: ("success", []), 8: ("success", [])}
CHEATS = {
    0: ("failure", ["task_type_mismatch"]),
    1: ("failure", ["status_mismatch"]),
    2: ("failure", [VALUES]),
}


def short(names):
    return [name.removeprefix("agent_response.") for name in names]


@pytest.mark.parametrize(("row", "response", "status", "wrong"), ROWS)
def test_under_the_reference_rules_a_response_gets_the_verdict_of_the_table(
    bench, failures, row, response, status, wrong
):
    result = bench.answer(response, bench.expecting(data=["Blue Mug"]), "reference")
    assert (result.status, short(failures(result))) == (status, wrong)


@pytest.mark.parametrize(("row", "response", "status", "wrong"), [row for row in ROWS if row[0] not in {15, 20}])
def test_by_default_an_honest_response_gets_the_verdict_of_the_table(bench, failures, row, response, status, wrong):
    result = bench.answer(response, bench.expecting(data=["Blue Mug"]))
    assert (result.status, short(failures(result))) == DEFAULT_SAYS.get(row, (status, wrong))


@pytest.mark.parametrize(
    ("response", "wrong"),
    [
        ({**GOOD, "task_type": "^.*$"}, ["task_type_mismatch"]),
        ({**GOOD, "status": "^.*$"}, ["status_mismatch"]),
        (with_data(["^.*$"]), [VALUES]),
        (with_data([["Blue Mug", "Red Mug"]]), [VALUES]),
        (with_data([["Blue Mug", "^.*$"]]), [VALUES]),
    ],
)
@pytest.mark.parametrize("rules", ["default", "strict"])
def test_patterns_and_guesses_of_an_agent_do_not_count(bench, failures, rules, response, wrong):
    result = bench.answer(response, bench.expecting(data=["Blue Mug"]), rules)
    assert (result.status, short(failures(result))) == ("failure", wrong)


def documented(response):
    names = {"task_type": "action", "retrieved_data": "results"}
    return {names.get(name, name): value for name, value in response.items()}


@pytest.mark.parametrize(
    "response",
    [
        one
        for _, one, *_ in ROWS
        if isinstance(one, dict) and not {"action", "results", "performed_operation"} & set(one)
    ],
)
def test_by_default_both_dialects_get_the_same_verdict(bench, failures, response):
    wanted = bench.expecting(data=["Blue Mug"])
    current, older = bench.answer(response, wanted), bench.answer(documented(response), wanted)
    assert (older.status, failures(older)) == (current.status, failures(current))


def test_the_current_name_wins_over_the_documented_one(bench):
    both = {**GOOD, "action": "MUTATE", "results": ["Red Mug"]}
    assert bench.answer(both, bench.expecting(data=["Blue Mug"])).status == "success"


def test_a_name_that_the_reference_knows_wins_over_the_documented_one(bench):
    both = {**without("task_type"), "performed_operation": "RETRIEVE", "action": "MUTATE"}
    assert bench.answer(both, bench.expecting(data=["Blue Mug"])).status == "success"


def test_strict_rules_forgive_a_byte_order_mark(bench):
    assert bench.answer("\ufeff" + TEXT, bench.expecting(data=["Blue Mug"]), "strict").status == "success"


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ({"task_type": "navigate", "status": "SUCCESS"}, "success"),
        ({"task_type": "navigate", "status": "SUCCESS", "retrieved_data": [{"junk": [1]}]}, "success"),
        ({"task_type": "mutate", "status": "SUCCESS"}, "failure"),
        ({"task_type": "navigate", "status": "NOT_FOUND_ERROR"}, "failure"),
    ],
)
@pytest.mark.parametrize("rules", ["reference", "default", "strict"])
def test_data_is_ignored_where_none_is_to_be_retrieved(bench, rules, response, status):
    wanted = bench.expecting("NAVIGATE", schema={"type": "null"})
    assert bench.answer(response, wanted, rules).status == status


def test_bytes_that_are_no_utf8_are_an_error_that_says_where(bench):
    bench.record(TEXT.encode("utf-16"))
    with pytest.raises(RecordingError, match="is not UTF-8: invalid start byte @ byte 0; write it as UTF-8"):
        bench.score(bench.task(bench.expecting(data=["Blue Mug"])))


@pytest.mark.parametrize("text", ["```" + " " * 200_000, "```json" + "\n" * 200_000])
def test_a_hostile_response_is_read_in_bounded_time(text):
    answer = parse_response(text.encode(), RULES["default"])
    assert answer.parsed == text.strip()
    assert answer.fields is None


def test_an_integer_of_very_many_digits_is_an_error():
    with pytest.raises(EvaluationError, match="the response holds an integer of too many digits; Python reads at most"):
        parse_response(b"9" * 100_000, RULES["default"])


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "[" * 751 + "]" * 751])
def test_a_response_that_nests_too_deep_is_an_error_that_names_the_limit(text):
    with pytest.raises(EvaluationError, match="the response nests deeper than 750 levels; the limit is 750; raise nes"):
        parse_response(text.encode(), RULES["default"])


def test_a_response_with_too_many_values_is_an_error_that_names_the_limit():
    text = f"[{'0,' * 9}0]".encode()
    assert parse_response(text, RULES["default"], Limits(values=10)).parsed == [0] * 10
    with pytest.raises(EvaluationError, match="the response holds more values than 9; the limit is 9; raise values"):
        parse_response(text, RULES["default"], Limits(values=9))


@pytest.mark.parametrize(
    ("details", "status"), [({}, "success"), ({"error_details": "x"}, "failure"), ({"error_details": None}, "error")]
)
@pytest.mark.parametrize("listed", [None, "x"])
def test_a_task_that_lists_error_details_wants_none(bench, listed, details, status):
    wanted = bench.expecting(data=["Blue Mug"])
    wanted["expected"]["error_details"] = listed
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Blue Mug"], **details}
    assert bench.answer(answer, wanted).status == status


def test_what_json_has_no_number_for_is_written_as_a_text(bench):
    result = bench.answer(
        '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [NaN, 1e999]}', bench.expecting()
    )
    assert json.loads(json.dumps(result.actual["retrieved_data"], allow_nan=False)) == ["nan", "inf"]


OTHER = json.dumps(with_data(["Red Mug"]))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (f'I found:\n```\n["Blue Mug"]\n```\n```json\n{TEXT}\n```', "success"),
        (f'```5```\n```"x"```\n```null```\n```[{{"a": 1}}]```\n```JSON\n{TEXT}\n```', "success"),
        (f"```not JSON```\n```[1]```\n```{{broken```\n```{TEXT}```", "success"),
        (f"```{TEXT}```\n```{OTHER}```", "success"),  # the first of two objects
        (f"```{OTHER}```\n```{TEXT}```", "failure"),
        (f'```{{"a": 1}}```\n```{TEXT}```', "failure"),
        ('```["Blue Mug"]```\n```["Red Mug"]```', "failure"),
        (f'["Blue Mug"] {TEXT}', "failure"),
        (f'```["Blue Mug"]``` {TEXT}', "failure"),
    ],
)
def test_the_first_object_of_several_fences_is_the_answer_when_strict(bench, text, status):
    assert bench.answer(text, bench.expecting(data=["Blue Mug"]), "strict").status == status


def test_without_an_object_the_first_json_is_shown():
    assert parse_response(b'```no```\n```["a"]```\n```["b"]```', RULES["strict"]).parsed == ["a"]
    assert parse_response(b"```no```\n```neither```", RULES["strict"]).parsed == "no"
