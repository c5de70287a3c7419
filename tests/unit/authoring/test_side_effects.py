"""Changes that one passing run made and no other one of its task."""

from __future__ import annotations

import gc
import time
from itertools import count

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.authoring.addresses import Addresses, Place
from pytest_webeval.authoring.side_effects import Change, RunChanges, count_single, find_side_effects, list_changes
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.traffic import SHOP, send, visit, write_traffic

ADDRESSES = Addresses.of(Sites({"shopping": Environment((SHOP,))}))
ADD = send("/cart/add", [("product", "lamp")])
UUIDS = ["0b6f1f4e-3a52-4bc6-9a0a-7f4f6d1c2b3a", "7c9e6679-7425-40de-944b-e07fc1f90ae7"]


@pytest.fixture
def find(tmp_path):
    """The side effects of runs, each a list of entries, as texts."""
    calls = count()

    def find_in(*runs):
        changes, root = [], tmp_path / str(next(calls))
        for number, entries in enumerate(runs, 1):
            run = load_run(write_traffic(root / f"try-{number}/7", "MUTATE", visit("/"), *entries))
            changes.append(list_changes(f"try-{number}/7", run.trace, ADDRESSES))
        return [effect.text for effect in find_side_effects({7: changes})]

    return find_in


def test_a_change_of_one_run_is_listed_with_its_fields(find):
    wish = send("/wishlist?from=home", [("product", "lamp"), ("form_key", "k"), ("note", "")])
    place = "task 7: try-1/7: event 3 POST __SHOPPING__/wishlist (from, note, product)"
    assert find([ADD, wish], [ADD], [ADD]) == [f"{place} is in none of the 2 other passing runs"]


def test_a_change_that_every_run_makes_is_none(find):
    assert find([ADD], [ADD]) == []


def test_a_change_that_two_of_three_runs_make_is_none(find):
    wish = send("/wishlist/add", [("product", "lamp")])
    assert find([ADD, wish], [ADD, wish], [ADD]) == []


@pytest.mark.parametrize(
    "same",
    [
        send("/cart/add", [("product", "desk")]),
        send("/cart/add", [("product", "lamp"), ("form_key", "k")]),
        send("/cart/add", [("product", "lamp")], status=302),
    ],
)
def test_values_tokens_and_status_do_not_tell_changes_apart(find, same):
    assert find([ADD], [same]) == []


@pytest.mark.parametrize(
    "other",
    [
        send("/cart/add", [("product", "lamp")], method="PUT"),
        send("/cart/remove", [("product", "lamp")]),
        send("/cart/add", [("product", "lamp"), ("gift", "1")]),
        send("/cart/add", [("product", "lamp")], url="https://partner.test"),
    ],
)
def test_method_path_site_and_names_of_fields_do(find, other):
    assert len(find([ADD], [other], [ADD])) == 1


@pytest.mark.parametrize(
    "harmless",
    [
        send("/telemetry", [("x", "1")]),
        send("/login", [("email", "a"), ("password", "p")]),
        send("/wishlist/add", status=403),
        send("/graphql", document={"query": "{ me }"}),
        visit("/wishlist"),
    ],
)
def test_what_changes_nothing_is_none(find, harmless):
    assert find([ADD, harmless], [ADD]) == []


def test_the_operation_tells_changes_at_one_url_apart(find):
    add, drop = (
        send("/graphql", document={"query": f"mutation {name} {{ x }}", "operationName": name})
        for name in ("add", "drop")
    )
    (text,) = find([add, drop], [add])
    assert text.startswith("task 7: try-1/7: event 3 POST __SHOPPING__/graphql drop (operationName)")


def test_ids_that_the_site_gave_to_new_objects_are_the_same(find):
    runs = [
        [send("/issues", [("title", "t")], status=201, returned={"id": number}), send(f"/issues/{number}/close")]
        for number in (8, 9)
    ]
    assert find(*runs) == []


def test_another_object_is_another_change(find):
    cancel = [send(f"/orders/{number}/cancel") for number in (1041, 1043)]
    (text,) = find(cancel, cancel[:1])
    assert "/orders/1043/cancel" in text


def test_random_ids_are_the_same_unless_runs_share_one_of_them(find):
    first, second = (send(f"/carts/{name}/items", [("sku", "1")]) for name in UUIDS)
    assert find([first], [second]) == []
    (text,) = find([first, second], [first], [first])
    assert UUIDS[1] in text


def test_lines_of_an_order_are_counted_as_one_field(find):
    def order(count):
        return send("/orders", document={"lines": [{"sku": number} for number in range(count)]})

    assert find([order(1)], [order(3)]) == []


def test_a_repeated_change_is_listed_once(find):
    wish = send("/wishlist/add", [("product", "lamp")])
    assert len(find([wish, ADD, wish], [ADD])) == 1


def test_a_text_of_the_recording_is_on_one_printable_line(find):
    (text,) = find([ADD, send("/x\u202e" + "y" * 500, [("a\nb\x1b", "1")])], [ADD])
    assert text.isprintable()
    assert len(text) < 500


def test_a_single_run_has_nothing_to_compare_with(find):
    assert find([ADD]) == []
    assert count_single({1: [RunChanges("a", {})], 2: [RunChanges("a", {}), RunChanges("b", {})]}) == 1


def test_as_json_a_side_effect_has_all_that_its_text_says():
    change = Change("POST", Place("shopping", "", ("cart", None)), None, ("x",))
    (effect,) = find_side_effects({"t": [RunChanges("a", {change: 3}), RunChanges("b", {})]})
    assert effect.to_json() == {
        "task_id": "t",
        "run": "a",
        "event": 3,
        "method": "POST",
        "url": "__SHOPPING__/cart/*",
        "operation": None,
        "fields": ["x"],
        "other_passing_runs": 1,
    }


def test_the_time_grows_with_the_number_of_changes():
    def seconds(length):
        places = [[Place(None, "x", (str(run), str(number))) for number in range(length)] for run in range(10)]
        runs = [RunChanges("x", {Change("POST", place, None, ()): 1 for place in each}) for each in places]
        start = time.process_time()
        assert len(find_side_effects({1: runs})) == 10 * length
        return time.process_time() - start

    gc.disable()  # it would look at all that the other tests left
    try:
        seconds(100)
        assert seconds(1_000) < 60 * seconds(100)
    finally:
        gc.enable()
