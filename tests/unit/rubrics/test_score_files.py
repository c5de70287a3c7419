"""Score files: `fara_webeval.md` §2.7, §5.1, Q19, Q20, Q29 and vector 14."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.layout import ScoreFileName, parse_name
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.score_files import choose, read_rubric_file, read_score_file, stored_rubric

EXACT = Decimal("0.8")
MMRUBRIC, WEBJUDGE = "mmrubric_0.8-5-3.json", "WebJudge_Online_Mind2Web_eval-3.json"
ITEMS = '{"items": [{"criterion": "c", "max_points": 0.10}]}'


@pytest.mark.parametrize(
    ("names", "wanted", "chosen"),
    [
        ([], None, None),
        ([], "gpt_eval", None),
        (["notes.json", "exact_match.json"], None, None),
        (["notes.json", "gpt_eval.json"], None, "gpt_eval.json"),
        ([WEBJUDGE, "gpt_eval.json", "0.8-5-3.json", MMRUBRIC], None, MMRUBRIC),
        ([WEBJUDGE, "gpt_eval.json", "0.8-5-3.json"], None, "0.8-5-3.json"),
        ([WEBJUDGE, "gpt_eval.json"], None, "gpt_eval.json"),
        ([WEBJUDGE], None, WEBJUDGE),
        ([MMRUBRIC, "gpt_eval.json"], "gpt_eval.json", "gpt_eval.json"),
        ([MMRUBRIC, "gpt_eval.json"], "gpt_eval", "gpt_eval.json"),
        ([MMRUBRIC, "notes.json"], "notes", "notes.json"),
        ([MMRUBRIC, "mmrubric_1-5-3.json"], "mmrubric_0.8-5-3", MMRUBRIC),
        (["gpt_eval.json", "a_eval-1.json", "b_eval-1.json"], None, "gpt_eval.json"),
    ],
)
def test_the_choice_of_the_user_counts_and_otherwise_the_first_kind(names, wanted, chosen):
    assert choose(names, wanted) == chosen
    assert choose(names[::-1], wanted) == chosen


MANY = [f"a{number}_eval-3.json" for number in range(10, 32)]


@pytest.mark.parametrize(
    ("names", "wanted", "code", "found"),
    [
        (
            ["mmrubric_1.0-5-3.json", "mmrubric_1-5-3.json", "gpt_eval.json"],
            None,
            "score_ambiguous",
            'scores/ has 2 files of the kind mmrubric: "mmrubric_1-5-3.json", "mmrubric_1.0-5-3.json"; choose one',
        ),
        (
            MANY,
            None,
            "score_ambiguous",
            f"scores/ has 22 files of the kind webjudge: {str(MANY[:20])[1:-1]} and 2 more; choose one".replace(
                "'", '"'
            ),
        ),
        (
            MANY[:20],
            None,
            "score_ambiguous",
            f"scores/ has 20 files of the kind webjudge: {str(MANY[:20])[1:-1]}; choose one".replace("'", '"'),
        ),
        (
            [MMRUBRIC, "a\n\ud800.json"],
            "mmrubric_1",
            "score_missing",
            f'scores/ has no "mmrubric_1.json", only "a\\n\\ud800.json", "{MMRUBRIC}"; choose one',
        ),
    ],
)
def test_a_choice_that_nobody_made_is_refused_with_all_that_is_there(names, wanted, code, found):
    for order in (names, names[::-1]):
        with pytest.raises(UnreadableVerdict) as caught:
            choose(order, wanted)
        assert (caught.value.code, str(caught.value)) == (code, f"{found} with --webeval-score-file")


def score_file(score, response, **more):
    return json.dumps({"score": score, "gpt_response_text": response} | more).encode()


def read(content, name=MMRUBRIC):
    return read_score_file(f"scores/{name}", content)


@pytest.mark.parametrize("response", ['{"is_success": 1, "points": 0.10}', {"is_success": 1, "points": 0.10}])
def test_an_object_is_the_payload_be_it_as_text_or_itself(response):
    found = read(score_file(1, response, step_budget_scores={"5": 0}, anything=[None]))
    assert (found.source, found.name, found.score) == (f"scores/{MMRUBRIC}", parse_name(MMRUBRIC), 1)
    assert (found.payload, found.text, found.warnings) == ({"is_success": 1, "points": Decimal("0.1")}, None, ())


@pytest.mark.parametrize("response", ["SUCCESS", '{"half', "{" * 100_000, '{"a": 1e999999999}', "[1]", "7", "NaN"])
def test_text_that_is_no_object_is_the_free_text_of_kinds_that_have_one(response):
    for name in ("gpt_eval.json", WEBJUDGE):
        found = read(score_file(None, response), name)
        assert (found.score, found.payload, found.text, found.warnings) == (None, None, response, ())


@pytest.mark.parametrize("response", [None, "", " \n"])
def test_a_score_without_a_reason_is_warned_of(response):
    found = read(score_file(1, response), "gpt_eval.json")
    assert found.text == (response or "")
    told = "gpt_response_text is empty: the score has no explanation"
    assert found.warnings == (f"scores/gpt_eval.json: {told}",)


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("1", 1),
        ("0", 0),
        ("0.80", EXACT),
        ("1e0", Decimal(1)),
        ("1e-999", Decimal("1e-999")),
        ("null", None),
        ("-1", -1),
        ("9" * 400, int("9" * 400)),
    ],
)
def test_scores_are_exact(written, score):
    found = read(b'\xef\xbb\xbf{"score": %s, "gpt_response_text": "\\ufeff{}"}' % written.encode())
    assert found.score == score
    assert type(found.score) is type(score)
    assert found.payload == {}


def test_numbers_are_exact_all_through_the_payload_and_names_of_no_numbers_are_text():
    found = read(score_file(1, '{"a": [{"b": 0.1}, 2, 1e-7], "c": NaN, "d": -Infinity}'))
    assert found.payload == {"a": [{"b": Decimal("0.1")}, 2, Decimal("1e-7")], "c": "NaN", "d": "-Infinity"}
    assert repr(found.payload["a"][0]["b"]) == "Decimal('0.1')"


def test_of_a_key_that_stands_twice_the_last_counts_with_a_warning():
    found = read(b'{"score": 0, "score": 1, "gpt_response_text": "{\\"a\\": {\\"\\u00e9\\": 1, \\"\\u00e9\\": 2}}"}')
    assert (found.score, found.payload) == (1, {"a": {"é": 2}})
    told = f"scores/{MMRUBRIC}: duplicate key %s in one object; the last value counts"
    assert found.warnings == (told % '"score"', told % '"\\u00e9"')


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not valid JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"\xff", "is not valid JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b'{"score": 1', "is not valid JSON: Expecting ',' delimiter: line 1 column 12 (char 11)"),
        (b"[" * 100_000, "is not valid JSON: it nests deeper than 100 levels"),
        (b"[" * 101 + b"]" * 101, "is not valid JSON: it nests deeper than 100 levels"),
        (b'{"a": ' * 101 + b"1" + b"}" * 101, "is not valid JSON: it nests deeper than 100 levels"),
        (b"[" * 99 + b"]" * 99, "holds a list of 1, expected a JSON object"),
        (b"1e999999999", "is not valid JSON: the number 1e999999999 is out of range"),
        (b"1e-9999", "is not valid JSON: the number 1e-9999 is out of range"),
        (b"1E-99999999999999999999", "is not valid JSON: the number 1E-99999999999999999999 is out of range"),
        (b"9" * 401, f"is not valid JSON: the number {'9' * 40} is out of range"),
        (b"0." + b"9" * 9999, f"is not valid JSON: the number 0.{'9' * 38} is out of range"),
        (b"null", "holds null, expected a JSON object"),
        (b'"\\n\\ud800"', 'holds "\\n\\ud800", expected a JSON object'),
        (b"{}", 'has no score, expected {"score": 1, "gpt_response_text": "..."}'),
        (b'{"score": 1}', 'has no gpt_response_text, expected {"score": 1, "gpt_response_text": "..."}'),
        (score_file(score=True, response="{}"), "has true, expected a number or null @ score"),
        (score_file("1", "{}"), 'has "1", expected a number or null @ score'),
        (score_file(float("nan"), "{}"), 'has "NaN", expected a number or null @ score'),
        (score_file([1], "{}"), "has a list of 1, expected a number or null @ score"),
        (score_file(1, [{}]), "has a list of 1, expected a string or an object @ gpt_response_text"),
        (score_file(1, 7), "has 7, expected a string or an object @ gpt_response_text"),
        (score_file(1, "[1]"), "has no rubric in its text: expected an object, got a list of 1 @ gpt_response_text"),
        (score_file(1, "SUCCESS"), "has no rubric in its text: Expecting value: line 1 column 1 (char 0) @"),
        (score_file(1, None), "has no rubric in its text: Expecting value: line 1 column 1 (char 0) @"),
    ],
)
def test_a_damaged_score_file_is_an_error_in_one_line_and_not_as_good_as_none(content, told):
    for name in (MMRUBRIC, "0.8-5-3.json", "other.json"):
        with pytest.raises(UnreadableVerdict) as caught:
            read(content, name)
        assert str(caught.value).startswith(f"scores/{name} {told}")
        assert str(caught.value).endswith("; judge the run again")
        assert str(caught.value).isprintable()
        assert caught.value.code == "score_unreadable"


@pytest.mark.parametrize(
    ("content", "payload"),
    [
        (ITEMS, {"items": [{"criterion": "c", "max_points": Decimal("0.1")}]}),
        ('{"rubric_items": [], "outcome_success": true}', {"rubric_items": [], "outcome_success": True}),
        ('{"verifier_success": false}', {"verifier_success": False}),
        ('{"rubric_error": "e"}', {"rubric_error": "e"}),
        ('{"rubric_items": [1], "items": []}', {"rubric_items": [1], "items": []}),
    ],
)
def test_a_rubric_file_is_a_rubric_or_a_payload(content, payload):
    found = read_rubric_file("rubric.json", content.encode())
    assert (found.source, found.name, found.score) == ("rubric.json", ScoreFileName("other"), None)
    assert (found.payload, found.text) == (payload, None)


def test_a_rubric_file_may_be_a_score_file_by_another_name():
    found = read_rubric_file("rubric.json", score_file(0, '{"is_success": 0}'))
    assert (found.name, found.score, found.payload) == (ScoreFileName("other"), 0, {"is_success": 0})


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "is not valid JSON: "),
        (b"[]", "holds a list of 0, expected a JSON object"),
        (b"{}", 'has no items, expected a rubric {"items": [{"criterion": "...", "max_points": 1, ...}]}'),
        (b'{"items": []}', "has a list of 0 for items, expected a rubric "),
        (b'{"items": [], "outcome_success": true}', "has a list of 0 for items, expected a rubric "),
        (b'{"items": {"a": 1}}', "has an object for items, expected a rubric "),
        (b'{"items": [1], "gpt_response_text": "{}"}', "has no score, expected "),
        (score_file(1, "SUCCESS"), "has no rubric in its text: "),
    ],
)
def test_a_damaged_rubric_file_is_an_error_in_one_line(content, told):
    with pytest.raises(UnreadableVerdict) as caught:
        read_rubric_file("rubric.json", content)
    assert str(caught.value).startswith(f"rubric.json {told}")
    assert caught.value.code == "rubric_invalid"


def test_a_rubric_that_was_read_elsewhere_is_a_verdict_as_it_is():
    rubric = {"items": [{"criterion": "c"}]}
    found = stored_rubric("task_data.json", rubric)
    assert (found.source, found.name, found.score) == ("task_data.json", ScoreFileName("other"), None)
    assert found.payload is rubric
    with pytest.raises(UnreadableVerdict, match=r"task_data\.json has no items, expected a rubric"):
        stored_rubric("task_data.json", {"rubric_items": [1]})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
responses = anything | st.builds(json.dumps, anything) | st.binary().map(lambda content: content.decode("latin-1"))
contents = st.binary(max_size=40) | st.builds(score_file, anything, responses) | st.builds(json.dumps, anything)


@given(contents, st.sampled_from([MMRUBRIC, "gpt_eval.json", WEBJUDGE, "x.json"]))
def test_any_bytes_are_a_verdict_or_refused_by_name(content, name):
    raw = content.encode() if isinstance(content, str) else content
    for reader in (read_score_file, read_rubric_file):
        with suppress(UnreadableVerdict):  # anything else fails the test
            found = reader(name, raw)
            assert (found.payload is None) is (found.text is not None)


@given(st.lists(st.text(max_size=8) | st.from_regex(r"(mmrubric_)?[0-9.]{1,3}-[0-9]-[0-9].json"), max_size=4))
def test_any_names_come_to_a_choice_or_are_refused(names):
    with suppress(UnreadableVerdict):
        assert choose(names, None) in (None, *names)
