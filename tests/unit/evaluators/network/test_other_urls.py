"""What is told of a URL without normalizing it is what normalizing it tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from url_normalize import url_normalize

from pytest_webeval.evaluators.network.urls import UrlMatcher, bases_match, build_prefilter
from pytest_webeval.tasks.sites import Environment, Sites
from pytest_webeval.values.url_normalization import is_normal

# idna 3.15 and later warn of an argument that url-normalize passes.
pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing")

SHOP, GIT = "http://shop.test:7770", "http://git.test/"
SITES = Sites({"shopping": Environment((SHOP,)), "gitlab": Environment((GIT, "http://old.test/git"))})
READER = UrlMatcher(SITES, ("shopping", "gitlab"))


@pytest.mark.parametrize(
    "text",
    [
        "http://shop.test/",
        "https://shop.test:8443/a/b.html",
        "http://10.0.0.7:7770/rest/V1/carts/mine/",
        "http://my-shop.example.com/a_b/~me/c-d.x?q=1&p&sort=asc",
        "http://localhost/..a/...",
    ],
)
def test_a_plain_url_is_known_to_be_its_own_normal_form(text):
    assert is_normal(text)
    assert url_normalize(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "http://shop.test",
        "HTTP://shop.test/",
        "http://Shop.test/",
        "http://shop.test:80/",
        "https://shop.test:443/a",
        "http://shop.test:080/",
        "http://shop.test./a",
        "http://a--b.test/",
        "http://xn--bcher-kva.test/",
        "http://me@shop.test/",
        "http://shop.test//a",
        "http://shop.test/a/../b",
        "http://shop.test/./a",
        "http://shop.test/a/..",
        "http://shop.test/a%20b",
        "http://shop.test/ä",
        "http://shop.test/?",
        "http://shop.test/?a=",
        "http://shop.test/?a&&b",
        "http://shop.test/?a=b+c",
        "http://shop.test/#top",
        "http://shop.test/a\n",
        "git@shop.test:a/b",
        "ftp://shop.test/",
        "",
    ],
)
def test_what_normalizing_may_change_is_left_to_it(text):
    assert not is_normal(text)


PIECES = st.sampled_from(
    [
        *"aZ09./:?&=-_~%#@!+,;[]",
        "..",
        "//",
        "/.",
        "80",
        "443",
        "xn--",
        "www.",
        "é",
        "?a=b",
        "a" * 31,
        "%3A",
        "%2C",
        SHOP,
        GIT,
    ]
)
URLS = st.builds(
    lambda scheme, host, rest: f"{scheme}://{host}{''.join(rest)}",
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["shop.test:7770", "shop.test", "git.test", "old.test", "a-b.c", "h", "127.0.0.1:80", "h:443"]),
    st.lists(PIECES, max_size=8),
)


@given(URLS)
def test_a_url_that_is_told_to_be_normal_does_not_change(text):
    assert not is_normal(text) or url_normalize(text) == text


EXPECTED = ["__SHOPPING__/a", "__SHOPPING__", "__GITLAB__/a/b/", "__GITLAB__/?a=b"]


@given(
    st.one_of(
        URLS, st.sampled_from([SHOP + "/a", SHOP + "/a/", SHOP + "/", GIT, GIT + "a/b", "http://old.test/git/a/b"])
    )
)
def test_what_is_ruled_out_matches_none_of_the_expected_places(raw):
    expected = READER.expected(EXPECTED)
    places = build_prefilter(expected, READER)
    assert places is not None
    if places(raw):
        actual = READER.actual(raw)
        assert not any(bases_match(url, actual, READER) for url in expected)


@pytest.mark.parametrize(
    ("raw", "ruled_out"),
    [
        (f"{SHOP}/a", False),
        (f"{SHOP}/a/?x=1", False),
        (f"{SHOP}/A", False),
        ("http://old.test/git/a/b", False),
        (f"{SHOP}/b", True),
        ("http://elsewhere.test/a", True),
        (f"{SHOP}/b?q=red+mug&ids=7%2C11", True),
        (f"{SHOP}/b%20c", False),
        (f"{SHOP}/b?to={SHOP}/a", False),
        (f"{SHOP}/b?to=http%3A//shop.test", False),
        (f"{SHOP}/b?x#y", False),
        ("no url", False),
    ],
)
def test_requests_to_other_places_are_ruled_out_unless_they_have_to_be_normalized(raw, ruled_out):
    places = build_prefilter(READER.expected(EXPECTED), READER)
    assert places is not None
    assert places(raw) is ruled_out


@pytest.mark.parametrize("address", ["shop.test", "http://shop.test/?store=", ""])
def test_addresses_that_are_none_rule_nothing_out(address):
    reader = UrlMatcher(Sites({"shopping": Environment((SHOP, address))}), ("shopping",))
    assert build_prefilter(reader.expected("__SHOPPING__/a"), reader) is None


def test_a_pattern_or_base64_in_paths_rules_nothing_out():
    decoding = UrlMatcher(SITES, ("shopping",), decode_base64=True)
    assert build_prefilter(READER.expected("^__SHOPPING__/a.*$"), READER) is None
    assert build_prefilter(decoding.expected("__SHOPPING__/a"), decoding) is None
