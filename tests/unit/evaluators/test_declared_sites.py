"""Sites of a task that the configuration does not declare, and those that the rules `reference` do not know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.results import WarningKind
from pytest_webeval.scoring.score import score as score_case
from pytest_webeval.tasks.sites import Environment, Sites
from pytest_webeval.tasks.task import Task

BOOKS = "http://books.test"
VISITED = ({"url": f"{BOOKS}/cart", "method": "POST"},)
ORDERED = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__BOOKSHOP__/cart", "http_method": "POST"}}
SEVEN = "gitlab, map, reddit, shopping_admin, shopping, wikipedia, homepage"


@pytest.fixture
def scored(bench, monkeypatch):
    """The result of a run that sent a cart, with a configuration of these sites."""

    def score(*declared, sites=("bookshop",), rules="default", expected=ORDERED, is_published=False, without_url=()):
        bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, VISITED)
        environments = {name: Environment((BOOKS,)) for name in declared}
        environments |= {name: Environment(()) for name in without_url}
        task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), expected, sites=sites)
        case = replace(bench, sites=Sites(environments, "config.json" if environments else "")).case(task, rules)
        monkeypatch.setattr(Task, "is_published", property(lambda _: is_published))
        return score_case(case, default_evaluators())

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


WITHOUT_SITE = {"declared": ["map"], "sites": ["shopping"]}
WITHOUT_URL = {"declared": ["map"], "sites": ["shopping"], "without_url": ["shopping"]}
SEVERAL = {"declared": [], "sites": ["shopping", "gitlab"]}
ONE = {"declared": [], "sites": ["shopping"]}
PROBLEMS = {
    "a site that it lacks": (WITHOUT_SITE, "unknown site 'shopping' @ sites; known: map; add it to environments in "),
    "a site without a URL": (
        WITHOUT_URL,
        "no URL for shopping in config.json: environments.shopping.urls is empty; write the URL of the site there",
    ),
    "several sites": (
        SEVERAL,
        "no URL configured for shopping, gitlab: only those of tasks with one site are inferred from a recording; pass",
    ),
}
INFERRED = [("reference", False), ("reference", True), ("default", True)]


def score_with(scored, *, declared, **settings):
    return scored(*declared, expected=IN_THE_SHOP, **settings)


@pytest.mark.parametrize(
    ("rules", "is_published"), [*INFERRED, ("default", False), ("strict", False), ("strict", True)]
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_an_address_is_inferred_beside_a_configuration_for_the_benchmark_alone(scored, rules, is_published, name):
    settings, problem = PROBLEMS[name]
    if (rules, is_published) in INFERRED:
        result = score_with(scored, rules=rules, is_published=is_published, **settings)
        assert result.status == "success"
        assert WarningKind.GUESSED_SITES in [warning.kind for warning in result.warnings]
    else:
        with pytest.raises(TaskDefinitionError) as caught:
            score_with(scored, rules=rules, is_published=is_published, **settings)
        assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("rules", ["reference", "default", "strict"])
def test_the_address_of_a_single_site_is_inferred_without_a_configuration(scored, rules):
    assert score_with(scored, rules=rules, **ONE).status == "success"


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


@pytest.mark.parametrize(("answer", "status"), [("lamp", "success"), ("vase", "failure")])
def test_an_expectation_about_no_site_needs_no_address(bench, answer, status):
    wanted = bench.expecting(data=["lamp"], schema={"type": "array", "items": {"type": "string"}})
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [answer]}, VISITED)
    task = bench.task(wanted, sites=("shopping", "gitlab"))
    assert replace(bench, sites=Sites()).score(task, "strict").status == status
    about_a_site = bench.expecting(data=["__GITLAB__/a"], schema={"type": "array", "items": {"type": "string"}})
    with pytest.raises(TaskDefinitionError, match="no URL configured for shopping, gitlab"):
        replace(bench, sites=Sites()).score(bench.task(about_a_site, sites=("shopping", "gitlab")), "strict")
