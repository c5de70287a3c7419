"""Sites have any name: how names and placeholders are spelled, and which sites a configuration declares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.tasks.sites import (
    PLACEHOLDER,
    SITE_NAMES,
    Environment,
    Sites,
    is_site_name,
    parse_sites,
    placeholder,
    site_name,
)

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}(_[a-z0-9]{1,8}){0,3}", fullmatch=True)


def addresses(*names):
    """Sites with these names, each at an address of its own."""
    return Sites({name: Environment((f"http://{name.replace('_', '-')}.test",)) for name in names})


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("bookshop", "bookshop"),
        ("BOOKSHOP", "bookshop"),
        ("__BOOKSHOP__", "bookshop"),
        ("_book_shop_", "book_shop"),
        ("shop2", "shop2"),
        ("a", "a"),
        ("a" * 60, "a" * 60),
        *((name, name) for name in SITE_NAMES),
    ],
)
def test_a_site_may_have_any_name(spelling, name):
    assert site_name(spelling) == name


@pytest.mark.parametrize(
    "spelling",
    ["", "_", "Bookshop", "book-shop", "book shop", "book__shop", "2shop", "büchern", "book.shop", "shop\n", "a" * 61],
)
def test_a_name_that_makes_no_placeholder_is_refused(spelling):
    with pytest.raises(ValueError, match=r"^invalid site '.*; use lower-case letters, digits and single underscores"):
        site_name(spelling)
    assert not is_site_name(spelling)


@given(NAMES)
def test_a_placeholder_leads_back_to_its_site(name):
    assert PLACEHOLDER.fullmatch(placeholder(name))
    assert site_name(placeholder(name)) == name


@given(NAMES, NAMES)
def test_no_placeholder_begins_with_that_of_another_site(first, second):
    assert first == second or not placeholder(first).startswith(placeholder(second))


@pytest.mark.parametrize("order", [("book", "book_admin"), ("book_admin", "book")])
def test_sites_whose_names_begin_alike_are_told_apart(order):
    sites = addresses(*order)
    assert sites.render("__BOOK_ADMIN__/orders", order) == "http://book-admin.test/orders"
    assert sites.derender("http://book.test/orders", order) == "__BOOK__/orders"
    assert sites.render_pattern("^__BOOK__/.*$", order, escape=False) == "^http://book.test/.*$"


@pytest.mark.parametrize(
    ("declared", "sites", "problem"),
    [
        (["bookshop"], ["bookshop"], None),
        (["bookshop", "map"], ["bookshop"], None),
        (["bookshop"], [], None),
        ([], ["bookshop"], None),
        (["bookshop", "till"], ["bookshp"], "'bookshp' @ sites; did you mean 'bookshop'? known: bookshop, till"),
        (["till"], ["bookshop"], "'bookshop' @ sites; known: till"),
    ],
)
def test_an_undeclared_site_is_named_with_the_nearest_declared_one(declared, sites, problem):
    assert addresses(*declared).find_undeclared(sites) == (problem and f"unknown site {problem}")


def test_a_configuration_declares_sites_of_any_name():
    content = b'{"environments": {"__BOOKSHOP__": {"urls": ["http://books.test"]}, "till_2": {"urls": []}}}'
    assert list(parse_sites(content, "config.json").environments) == ["bookshop", "till_2"]
