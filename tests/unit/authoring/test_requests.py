"""Pages and changing requests of a recording, with what means something in them."""

from __future__ import annotations

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.authoring.addresses import Addresses, infer_addresses
from pytest_webeval.authoring.requests import MOST_FIELDS, list_requests
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.traffic import SHOP, send, visit, write_traffic

SITES = Sites({"shopping": Environment((SHOP,)), "shopping_admin": Environment((f"{SHOP}/admin",))})
ADDRESSES = Addresses.of(SITES)


@pytest.fixture
def read(tmp_path):
    """The requests of a recording."""

    def read_entries(*entries, addresses=ADDRESSES):
        run = load_run(write_traffic(tmp_path / "1", "MUTATE", *entries))
        return list_requests(run.trace, addresses, USUAL)

    return read_entries


@pytest.mark.parametrize(
    ("url", "text"),
    [
        (f"{SHOP}/", "__SHOPPING__"),
        (f"{SHOP}/cart/add?x=1", "__SHOPPING__/cart/add"),
        (f"{SHOP}/cart/add/uenc/aHR0cDovL3g,/product/14/", "__SHOPPING__/cart/add/uenc/*/product/14"),
        (f"{SHOP}/view/9f86d081884c7d659a2feaa0c55ad015", "__SHOPPING__/view/9f86d081884c7d659a2feaa0c55ad015"),
        (f"{SHOP}/view/key/9f86d081884c7d659a2feaa0c55ad015", "__SHOPPING__/view/key/*"),
        (f"{SHOP}/view/key/lamps", "__SHOPPING__/view/key/lamps"),
        (f"{SHOP}/reset/ghp_{'a1B2' * 9}/lamps", "__SHOPPING__/reset/*/lamps"),
        (f"{SHOP}/key/", "__SHOPPING__/key"),
        (f"{SHOP}/admin", "__SHOPPING_ADMIN__"),
        (f"{SHOP}/admin/orders/", "__SHOPPING_ADMIN__/orders"),
        (f"{SHOP}/administrators", "__SHOPPING__/administrators"),
        ("http://SHOP.test/cart", "__SHOPPING__/cart"),
        ("http://shop.test:81/cart", "shop.test/cart"),
        ("http://shop.test.evil.test/cart", "shop.test.evil.test/cart"),
    ],
)
def test_a_url_is_at_the_site_with_the_longest_address(url, text):
    assert ADDRESSES.locate(url).text == text


def test_without_a_configuration_the_site_is_that_of_the_first_page(tmp_path):
    run = load_run(write_traffic(tmp_path / "1", "MUTATE", send("/x", url="http://ads.test"), visit("/cart")))
    addresses = infer_addresses(run.trace.evaluation_events)
    assert addresses.is_inferred
    assert addresses.locate(f"{SHOP}/cart").text == "__HOMEPAGE__/cart"


def test_without_a_page_the_site_is_that_of_the_first_request(tmp_path):
    run = load_run(write_traffic(tmp_path / "1", "MUTATE", send("/x"), send("/x", url="http://ads.test")))
    assert infer_addresses(run.trace.evaluation_events).locate(f"{SHOP}/x").text == "__HOMEPAGE__/x"
    assert infer_addresses([]).is_inferred


def test_fields_are_split_into_those_that_mean_something_and_others(read):
    form = [
        ("form_key", "k"),
        ("product", "lamp"),
        ("qty", "2"),
        ("password", "p"),
        ("note", ""),
        ("tag", "a"),
        ("tag", "b"),
    ]
    (request,) = read(send("/cart/add?isAjax=1&from=home", form))
    assert request.fields == {"product": "lamp", "qty": "2", "tag": ["a", "b"]}
    assert request.query == {"from": ("home",)}
    assert list(request.ignored) == ["isAjax"]
    assert request.dropped == {"form_key": "the name of a token", "password": "a secret"}
    assert request.blank == ("note",)


def test_members_of_a_document_have_paths(read):
    document = {
        "project": "acme",
        "issue": {
            "title": "t",
            "mixed": [1, {"a": 2}],
            "labels": ["a", "b"],
            "due date": "May",
            "lines": [{"sku": 1}, {"sku": 2}],
        },
        "$odd": 1,
        "^x$": 2,
        "open": True,
    }
    (request,) = read(send("/api", document=document))
    assert request.fields == {
        "project": "acme",
        "$.issue.title": "t",
        "$.issue.mixed[0]": 1,
        "$.issue.mixed[1].a": 2,
        "$.issue.labels": ["a", "b"],
        "$.issue['due date']": "May",
        "$.issue.lines[0].sku": 1,
        "$.issue.lines[1].sku": 2,
        "open": True,
    }
    assert list(request.dropped) == ["$odd", "^x$"]


def test_what_looks_like_a_pattern_is_no_field_of_a_task(read):
    (request,) = read(send("/x?q=^.*$", [("comment", "^.*$"), ("name", "Ida")]))
    assert request.fields == {"name": "Ida"}
    assert request.query == {}


def test_a_long_text_and_the_end_of_many_fields_are_not_named(read):
    (request,) = read(send("/x", [("body", "x" * 3_000), *((f"f{number}", "1") for number in range(MOST_FIELDS + 5))]))
    assert request.dropped["body"] == "too long"
    assert len(request.fields) == MOST_FIELDS - 1
    assert "…" in request.dropped


def test_the_address_of_a_site_in_a_field_is_a_placeholder(read):
    (request,) = read(send("/x", [("link", f"{SHOP}/lamp")]))
    assert request.fields == {"link": "__SHOPPING__/lamp"}


@pytest.mark.parametrize(
    ("entry", "is_change"),
    [
        (send("/cart"), True),
        (send("/cart", method="DELETE"), True),
        (send("/cart", status=302), True),
        (send("/cart", status=422), False),
        (send("/telemetry/page"), False),
        (send("/api/usage_data/increment"), False),
        (send("/orders/tracking"), True),
        (send("/events"), True),
        (send("/cart", kind="ping"), False),
        (send("/g/collect", url="https://www.google-analytics.com"), False),
        (send("/hook", url="https://partner.test"), True),
        (send("/api/graphql", document={"query": "query { me }"}), False),
        (send("/api/graphql", document={"query": "{ me }"}), False),
        (send("/api/graphql", document={"batch": 1}), True),
        (send("/search", document={"query": "query { me }"}), True),
        (send("/api/graphql", document={"query": "mutation add { me }", "operationName": "add"}), True),
        (visit("/cart"), False),
    ],
)
def test_telemetry_reads_and_refused_requests_change_nothing(read, entry, is_change):
    (request,) = read(entry)
    assert request.is_change is is_change


def test_a_graphql_operation_is_known_by_its_name_and_variables(read):
    document = {"query": "mutation add { x }", "operationName": "add", "variables": {"id": 5}}
    (request,) = read(send("/api/graphql", document=document))
    assert (request.operation, request.fields) == ("add", {"operationName": "add", "$.variables.id": 5})


@pytest.mark.parametrize(
    ("entry", "is_login"),
    [
        (send("/login", [("email", "a"), ("password", "p")]), True),
        (send("/customer/account/loginPost/", [("login[username]", "a"), ("login[password]", "p")]), True),
        (send("/users/sign_in", [("user[login]", "a"), ("user[password]", "p")]), True),
        (send("/start", [("username", "a"), ("password", "p")]), True),
        (send("/staff", [("username", "a"), ("password", "p"), ("role", "admin")]), False),
        (send("/cart/add", [("product", "login")]), False),
        (send("/newsletter", [("email", "a")]), False),
    ],
)
def test_a_login_is_known_by_its_path_or_its_fields(read, entry, is_login):
    (request,) = read(entry)
    assert request.is_login is is_login


@pytest.mark.parametrize(
    "change",
    [
        send("/issues", returned={"iid": 8, "state": "opened"}, status=201),
        send("/issues", status=302, location=f"{SHOP}/issues/8"),
        send("/issues", status=302, location="/issues/8"),
    ],
)
def test_an_id_that_the_site_returned_is_any_segment(read, change):
    requests = read(visit("/issues/5"), change, send("/issues/8/notes"), send("/issues/5/notes"))
    assert [request.place.text for request in requests[2:]] == [
        "__SHOPPING__/issues/*/notes",
        "__SHOPPING__/issues/5/notes",
    ]


def test_an_id_of_the_next_page_after_a_change_is_a_new_one(read):
    requests = read(send("/issues"), visit("/issues/8"), send("/issues/8/close"), visit("/issues"), visit("/issues/9"))
    assert [request.place.text for request in requests] == [
        "__SHOPPING__/issues",
        "__SHOPPING__/issues/*",
        "__SHOPPING__/issues/*/close",
        "__SHOPPING__/issues",
        "__SHOPPING__/issues/9",
    ]


@pytest.mark.parametrize(("status", "place"), [(302, "__SHOPPING__/issues/*"), (200, "__SHOPPING__/issues/8")])
def test_after_a_posted_page_only_a_redirect_leads_to_a_new_object(read, status, place):
    requests = read(send("/issues", kind="document", status=status), visit("/issues/8"))
    assert requests[1].place.text == place


def test_members_of_a_deep_document_are_not_named(read):
    document = {"y": 1}
    for _ in range(20):
        document = {"x": document}
    (request,) = read(send("/api", document=document))
    assert (request.fields, request.dropped) == ({}, {"x": "a name that a task cannot spell"})


def test_an_id_after_a_login_is_an_old_one(read):
    requests = read(send("/login", status=302, location=f"{SHOP}/users/17"), visit("/users/17"))
    assert requests[1].place.text == "__SHOPPING__/users/17"


def test_a_request_that_cannot_be_read_is_omitted(read):
    broken = send("/x")
    broken["request"]["url"] = "http://[broken"
    assert [request.number for request in read(broken, visit("/"))] == [2]
