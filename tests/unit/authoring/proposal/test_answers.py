"""Data and schemas that answers suggest."""

from __future__ import annotations

import pytest

from pytest_webeval.authoring.addresses import Addresses
from pytest_webeval.authoring.proposal.answers import propose_answer
from pytest_webeval.errors import RecordingError
from pytest_webeval.tasks.sites import Environment, Sites

ADDRESSES = Addresses.of(Sites({"shopping": Environment(("http://shop.test",))}))
TEXT, NUMBER, BOOLEAN = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
CURRENCY = {"type": "number", "format": "currency"}
DATE, DURATION, DISTANCE, URL = (TEXT | {"format": name} for name in ("date", "duration", "distance", "url"))


def guess(*answers, intent=""):
    return propose_answer(answers, ADDRESSES, intent)


@pytest.mark.parametrize(
    ("items", "written", "schema"),
    [
        ([4], [4], NUMBER),
        (["4", 5.5], [4, 5.5], NUMBER),
        (["1,149"], [1149], NUMBER),
        (["-3.5"], [-3.5], NUMBER),
        ([True], [True], BOOLEAN),
        (["No"], [False], BOOLEAN),
        ([True, "no"], [True, False], BOOLEAN),
        ([True, 1], [True, 1], TEXT),
        ([5, "March 9, 2024"], [5, "March 9, 2024"], TEXT),
        (["$1,149.00", "€3"], [1149.0, 3], CURRENCY),
        (["-$5.20"], [-5.2], CURRENCY),
        (["$5", 6], [5, 6], CURRENCY),
        (["2024-03-09"], ["2024-03-09"], DATE),
        (["March 9, 2024", "9 Mar 2024"], ["2024-03-09", "2024-03-09"], DATE),
        (["03/09/2024"], ["2024-03-09"], DATE),
        (["2h 30m"], ["2h 30m"], DURATION),
        (["2 hours, 30 minutes"], ["2 hours, 30 minutes"], DURATION),
        (["5.2 km"], ["5.2 km"], DISTANCE),
        (["http://shop.test/lamp?x=1"], ["__SHOPPING__/lamp?x=1"], URL),
        # What may be something else is a text.
        (["http://else.test/lamp"], ["http://else.test/lamp"], TEXT),
        (["see http://shop.test/lamp"], ["see __SHOPPING__/lamp"], TEXT),
        (["007"], ["007"], TEXT),
        (["2 hours and 30 minutes"], ["2 hours and 30 minutes"], TEXT),
        (["4 orders"], ["4 orders"], TEXT),
        (["March"], ["March"], TEXT),
        (["May 2024"], ["May 2024"], TEXT),
        (["2024-13-45"], ["2024-13-45"], TEXT),
        (["9" * 70], ["9" * 70], TEXT),
        (["http://shop.test:81/lamp"], ["__SHOPPING__:81/lamp"], TEXT),
        (["1.234,50"], ["1.234,50"], TEXT),
        (["5", "five"], ["5", "five"], TEXT),
        (["yes", "maybe"], ["yes", "maybe"], TEXT),
        (["^.*$"], [r"^\^\.\*\$$"], TEXT),
        ("Lumio", ["Lumio"], TEXT),
        (0, [0], NUMBER),
        (False, [False], BOOLEAN),
        ([[]], None, None),
    ],
)
def test_data_have_the_type_that_they_can_only_have(items, written, schema):
    if schema is None:
        with pytest.raises(RecordingError, match=r"a list in a list: \[\]; give one list of data"):
            guess(items)
    else:
        proposed = guess(items)
        assert (proposed.data, proposed.schema) == (written, {"type": "array", "items": schema})


@pytest.mark.parametrize("empty", [None, [], "", {}])
def test_no_data_have_the_schema_null(empty):
    assert (guess(empty).data, guess(empty).schema) == (None, {"type": "null"})


def test_each_property_of_objects_has_a_type():
    proposed = guess([{"name": "a", "stars": "2", "tags": ["x"], "by": None}, {"name": "b", "stars": 3, "tags": []}])
    assert proposed.data == [
        {"name": "a", "stars": 2, "tags": ["x"], "by": None},
        {"name": "b", "stars": 3, "tags": []},
    ]
    assert proposed.schema["items"]["properties"] == {
        "name": TEXT,
        "stars": NUMBER,
        "tags": {"type": "array", "items": TEXT},
        "by": TEXT,
    }


@pytest.mark.parametrize(
    ("intent", "is_ordered"),
    [
        ("Name the bestsellers, the most sold first.", True),
        ("List the orders sorted by date.", True),
        ("List the orders of this year.", False),
        ("List the orders.", False),
    ],
)
def test_the_order_counts_where_the_intent_asks_for_one(intent, is_ordered):
    assert guess(["b", "a"], intent=intent).is_ordered is is_ordered
    assert "order" in guess(["b", "a"], intent=intent).notes[0]
    assert not guess(["a"], intent=intent).is_ordered


def test_what_runs_order_in_different_ways_has_no_order():
    proposed = guess(["b", "a"], ["A", "b"], intent="sorted")
    assert (proposed.data, proposed.is_ordered, proposed.notes) == (["b", "a"], False, ())


def test_one_datum_that_runs_spell_in_different_ways_has_alternatives():
    proposed = guess(["Mira Castellanos"], ["mira.castellanos"], ["MIRA CASTELLANOS"])
    assert proposed.data == [["Mira Castellanos", "mira.castellanos"]]
    assert proposed.notes == ("the answers of the runs differ; each of them is an alternative",)


def test_several_data_that_differ_are_those_of_the_first_run():
    proposed = guess(["a", "b"], ["a", "c"])
    assert proposed.data == ["a", "b"]
    assert proposed.notes == ("the answers of the runs differ; these are those of the first",)


def test_a_guess_and_a_long_text_are_questions_to_the_author():
    assert "half of all guesses" in guess(["yes"]).notes[0]
    assert "a long text" in guess(["word " * 20]).notes[0]
    assert "is escaped" in guess(["^x$"]).notes[0]
    assert "month first" in guess(["03/09/2024"]).notes[0]
