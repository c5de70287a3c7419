"""Sites of a task that the configuration does not declare, and those that the rules `reference` do not know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.results import WarningKind
from pytest_webeval.tasks.sites import Environment
from pytest_webeval.tasks.sites import Sites

BOOKS = "http://books.test"
VISITED = ({"url": f"{BOOKS}/cart", "method": "POST"},)
ORDERED = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__BOOKSHOP__/cart", "http_method": "POST"}}
SEVEN = "gitlab, map, reddit, shopping_admin, shopping, wikipedia, homepage"


@pytest.fixture
def scored(bench):
    """The result of a run that sent a cart, with a configuration of these sites."""

    def score(*declared, sites=("bookshop",), rules="default", expected=ORDERED):
        bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, VISITED)
        environments = {name: Environment((BOOKS,)) for name in declared}
        task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), expected, sites=sites)
        return replace(bench, sites=Sites(environments)).score(task, rules)

    return score


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_a_declared_site_of_any_name_is_rendered_and_put_back(scored, rules):
    result = scored("bookshop", rules=rules)
    assert (result.status, result.webeval["warnings"]) == ("success", [])
    assert result.evaluators_results[1].actual["url"] == "__BOOKSHOP__/cart"


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_a_site_that_the_configuration_lacks_is_an_error(scored, rules):
    with pytest.raises(TaskDefinitionError) as caught:
        scored("bookshop", "till", sites=["bookshp"], rules=rules)
    assert str(caught.value) == (
        "unknown site 'bookshp' @ sites; did you mean 'bookshop'? known: bookshop, till; "
        "add it to environments in --webeval-config"
    )


def test_an_evaluator_alone_finds_no_address_for_such_a_site_either(bench):
    bench.record()
    case = replace(
        bench.case(bench.task(ORDERED, sites=["till"])), configured_sites=Sites({"map": Environment((BOOKS,))})
    )
    with pytest.raises(TaskDefinitionError, match="unknown site 'till' @ sites; known: map"):
        _ = case.sites


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_without_a_configuration_addresses_are_inferred_for_any_name(scored, rules):
    result = scored(rules=rules)
    assert result.status == "success"
    (warning,) = result.warnings
    assert warning.kind == WarningKind.GUESSED_SITES
    assert warning.text.startswith("no URL configured for bookshop; ")


IN_THE_SHOP = {**ORDERED, "expected": {**ORDERED["expected"], "url": "__SHOPPING__/cart"}}


@pytest.mark.parametrize("rules", ["reference", "default"])
def test_the_address_of_one_of_the_seven_sites_is_inferred_where_the_configuration_lacks_it(scored, rules):
    assert scored("map", sites=["shopping"], rules=rules, expected=IN_THE_SHOP).status == "success"


def test_strict_rules_infer_no_address_where_the_configuration_lacks_one(scored):
    with pytest.raises(TaskDefinitionError, match="unknown site 'shopping' @ sites; known: map"):
        scored("map", sites=["shopping"], rules="strict", expected=IN_THE_SHOP)


@pytest.mark.parametrize(("declared", "sites"), [((), ["bookshop"]), (("bookshop", "shopping"), ["shopping"])])
def test_the_reference_knows_seven_sites(scored, declared, sites):
    with pytest.raises(TaskDefinitionError) as caught:
        scored(*declared, sites=sites, rules="reference")
    assert str(caught.value) == f"unknown site 'bookshop'; rules reference allow {SEVEN}; use other rules"


def test_a_recorded_placeholder_names_no_site_of_another_task(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, ({"url": "__TILL__/cart", "method": "POST"},))
    sites = Sites({name: Environment((BOOKS,)) for name in ("bookshop", "till")})
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), ORDERED, sites=["bookshop"])
    assert replace(bench, sites=sites).score(task).status != "success"
