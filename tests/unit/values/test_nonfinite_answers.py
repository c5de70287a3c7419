"""NaN and infinities: null in a body that was sent, and no value of any type in an answer (Q56)."""

from __future__ import annotations

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.rules import RULES
from pytest_webeval.scoring.score import score

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

BOOLEAN = {"type": "boolean"}
SUCCESS, FAILURE = "success", "failure"


def outcomes(bench, task):
    """Status and warnings under each rule set."""
    cases = {name: bench.case(task, name) for name in RULES}
    return {name: (str(score(case, default_evaluators()).status), list(case.warnings)) for name, case in cases.items()}


@pytest.fixture
def answered(bench):
    """What the rule sets say of an answer, which is JSON text."""

    def found(data, wanted, items):
        bench.record(f'{{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": {data}}}')
        return outcomes(bench, bench.task(bench.expecting(data=[wanted], schema={"type": "array", "items": items})))

    return found


@pytest.mark.parametrize("data", ["[NaN]", "[Infinity]", "[-Infinity]", "[1e999]", "NaN"])
def test_what_is_no_number_is_true_for_the_reference_alone(answered, data):
    found = answered(data, wanted=True, items=BOOLEAN)
    place = "retrieved_data[0]; AgentResponseEvaluator, eval[0]"
    told = f"Q56 (finite_numbers) changed this verdict to failure: NaN and infinity are invalid values @ {place}"
    assert found == {"reference": (SUCCESS, []), "default": (FAILURE, [told]), "strict": (FAILURE, [told])}


@pytest.mark.parametrize(
    ("data", "wanted", "items"),
    [
        ("[NaN]", "nan", {"type": "string"}),
        ("[Infinity]", "inf", {"type": "string"}),
        ("[NaN]", "nan", {"type": "string", "format": "location-name"}),
        ("[NaN]", "nan", {"type": "string", "format": "string_list"}),
        ('[{"a": NaN}]', {"a": True}, {"type": "object", "properties": {"a": BOOLEAN}}),
        ('["{\\"a\\": NaN}"]', {"a": True}, {"type": "object", "properties": {"a": BOOLEAN}}),
        (
            '[{"a": [NaN]}]',
            {"a": [True]},
            {"properties": {"a": {"type": "array", "items": {"type": "boolean"}}}, "type": "object"},
        ),
        ('[{"a": NaN}]', "{'a': nan}", {"type": "string"}),
    ],
)
def test_it_is_a_value_of_no_type_by_the_other_rules(answered, data, wanted, items):
    found = answered(data, wanted, items)
    assert {name: status for name, (status, _) in found.items()} == {
        "reference": SUCCESS,
        "default": FAILURE,
        "strict": FAILURE,
    }


@pytest.mark.parametrize("data", ['["NaN"]', '["nan"]'])
def test_the_word_is_a_text_like_any_other(answered, data):
    assert {status for status, _ in answered(data, "nan", {"type": "string"}).values()} == {SUCCESS}


@pytest.fixture
def sent(bench):
    """What the rule sets say of a JSON body."""

    def found(wanted, text, kind="post"):
        body = ("application/json", text)
        event = {"url": "http://shop.test:7770/p", "method": "POST", kind: body}
        bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [event])
        field = {"post": "post_data", "content": "response_content"}[kind]
        expected = {"url": "__SHOPPING__/p", "http_method": "POST", field: wanted}
        evaluator = {"evaluator": "NetworkEventEvaluator", "expected": expected}
        task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), evaluator)
        return {status for status, _ in outcomes(bench, task).values()}

    return found


@pytest.mark.parametrize(
    ("wanted", "text", "status"),
    [
        ({"a": "nan"}, '{"a": NaN}', FAILURE),
        ({"a": "inf"}, '{"a": Infinity}', FAILURE),
        ({"a": "inf"}, '{"a": 1e999}', FAILURE),
        ({"a": None}, '{"a": NaN}', SUCCESS),
        ({"a": None}, '{"a": -Infinity}', SUCCESS),
        ({"a": None}, '{"a": 1e999}', SUCCESS),
        ({"a": 1.5}, '{"a": 1.5, "b": NaN}', SUCCESS),
        ({"a": "nan"}, '{"a": "NaN"}', SUCCESS),
        ({"$.a.b": None}, '{"a": {"b": NaN}}', SUCCESS),
        ({"$.a[*]": "nan"}, '{"a": [NaN]}', FAILURE),
    ],
)
def test_in_a_json_body_it_is_null(sent, wanted, text, status):
    assert sent(wanted, text) == {status}


@pytest.mark.parametrize(("wanted", "status"), [(None, SUCCESS), ("NaN", FAILURE), (1, FAILURE)])
def test_in_an_answer_of_a_site_it_is_null_too(sent, wanted, status):
    assert sent({"a": wanted}, '{"a": NaN}', "content") == {status}
