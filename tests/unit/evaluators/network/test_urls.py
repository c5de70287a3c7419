"""URLs: spec §5.14 (normal form), §4.5 (queries), §4.6 (base64), §4.8 (bases), §7.2-§7.4 (sites)."""

from __future__ import annotations

import json

import msgspec
import pytest

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError
from pytest_webeval.evaluators.case import infer_sites
from pytest_webeval.evaluators.network.urls import UrlMatcher, bases_match, queries_match
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.har_entries import build_trace
from pytest_webeval.rules import RULES
from pytest_webeval.tasks.sites import Environment, Sites, load_sites
from pytest_webeval.values.url_normalization import normalize_keeping_slashes, normalize_url

# url-normalize asks idna for what idna no longer does; scoring ignores that for the whole of an evaluation.
pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")

SHOP, GIT = "http://shop.test:7770", "http://git.test:8023"
SPEC_SITES = Sites(
    {
        "shopping": Environment((SHOP,)),
        "shopping_admin": Environment(("http://shop.test:7780/admin",)),
        "gitlab": Environment((GIT,)),
    }
)
ALL = ("shopping", "shopping_admin", "gitlab")
BOTH = pytest.mark.parametrize("rules", ["reference", "default"])


def equal(expected, actual, *, query=None, rules="reference", **settings):
    reader = UrlMatcher(SPEC_SITES, ALL, **settings, rules=RULES[rules])
    found = reader.actual(actual)
    return any(
        bases_match(url, found, reader) and queries_match(url.query, found.query)
        for url in reader.expected(expected, query)
    )


TABLE_5_14 = [
    ("__SHOPPING__/a/b", f"{SHOP}/a/b/", True),
    ("__SHOPPING__/A", f"{SHOP}/a", True),
    ("__SHOPPING__/a?x=1&y=2", f"{SHOP}/a?y=2&x=1", True),
    ("__SHOPPING__/a", f"{SHOP}/a?x=1", False),
    ("__SHOPPING__/a?x=", f"{SHOP}/a", True),
    ("__SHOPPING__/a?x=A", f"{SHOP}/a?x=a", True),
    ("__SHOPPING__/a?X=1", f"{SHOP}/a?x=1", False),
    ("__SHOPPING__/a?x=1&x=2", f"{SHOP}/a?x=1", True),
    ("__SHOPPING__/a?x=2&x=3", f"{SHOP}/a?x=2&x=9", True),
    ("__SHOPPING__/a?x=a b", f"{SHOP}/a?x=a%2Bb", True),
    ("__SHOPPING__/a#f", f"{SHOP}/a", False),
    ("__SHOPPING__/a#f", f"{SHOP}/a#f", True),
    ("__SHOPPING__/a;p=1", f"{SHOP}/a", False),
    ("__SHOPPING__/a;p=1", f"{SHOP}/a;p=1", True),
    ("__SHOPPING__/a", "https://shop.test:7770/a", False),
    ("__SHOPPING_ADMIN__/x", "http://shop.test:7780/admin/x", True),
    ("^__SHOPPING__/p/\\d+$", f"{SHOP}/p/12/", True),
    ("^__SHOPPING__/p/\\d+$", f"{SHOP}/p/12?x=1", False),
    ("^__SHOPPING__/P/\\d+$", f"{SHOP}/p/12", False),
    (["__SHOPPING__/a", "__SHOPPING__/b"], f"{SHOP}/b", True),
    # The effects of normalization that the section lists.
    ("__SHOPPING__/a", "HTTP://SHOP.test.:7770/a", True),
    ("__SHOPPING__/a//b", f"{SHOP}//a/b", True),
    ("__SHOPPING__/a~b", f"{SHOP}/a%7Eb", True),
    ("__SHOPPING__", f"{SHOP}/", True),
    ("__SHOPPING__/a?x=%2526", f"{SHOP}/a?x=%26", True),
    # Bases, spec §4.8.
    ("^__SHOPPING__/issues/.*$", f"{SHOP}/issues/?q=1", False),
    ("^__SHOPPING__/issues/.*$", f"{SHOP}/issues/", False),
    ("^__SHOPPING__/p/\\d+/$", f"{SHOP}/p/12/", False),
    ("^__SHOPPING__/a|b$", f"{SHOP}/abc", True),
]


@BOTH
@pytest.mark.parametrize(("expected", "actual", "same"), TABLE_5_14)
def test_urls_are_equal_when_their_bases_and_queries_are(rules, expected, actual, same):
    assert equal(expected, actual, rules=rules) is same


TRICKS = [
    ("__SHOPPING__/a/b", f"{SHOP}/a%2Fb"),
    ("__SHOPPING__/a/b", f"{SHOP}/a%2fb?x="),
    ("__SHOPPING__/a", f"{SHOP}/b/../a"),
    ("__SHOPPING__/a", f"{SHOP}/b/%2e%2E/a"),
    ("__SHOPPING__/a", f"{SHOP}/a/."),
    ("__SHOPPING__/a/b", f"{SHOP}/a/./b"),
    ("^__SHOPPING__/p/\\d+$", f"{SHOP}/x%2f..%2Fp%2F12"),
    ("^__SHOPPING__/p/\\d+$", f"{SHOP}/x/../p/12"),
    ("^__SHOPPING__/p$", "http://shopxtest:7770/p"),
    ("__SHOPPING__/a", f"{SHOP}/b/.\t./a"),
]
NOWHERE = [("__SHOPPING__/a%2Fb", f"{SHOP}/a%2Fb#f"), ("__SHOPPING__/a%2Fb#f", f"{SHOP}/a%2Fb")]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("^__SHOPPING__/catalog/.*$", f"{SHOP}/catalog/../evil/x"),
        ("^__SHOPPING__/catalog/.*$", f"{SHOP}/catalog/..%2Fevil"),
        ("^__SHOPPING__/[^/]+/x$", f"{SHOP}/a%2Fb/x"),
        ("^__SHOPPING__/a%2Fb$", f"{SHOP}/a%2Fb"),
    ],
)
def test_a_closed_hole_makes_no_match_that_the_reference_does_not_find(expected, actual):
    assert not equal(expected, actual)
    assert not equal(expected, actual, rules="default")


def test_what_two_rules_hold_back_is_told_of_both():
    noticed = {}
    assert not equal("^__SHOPPING__/a$", "http://shopxtest:7770/x/../a", rules="default", notice=noticed.__setitem__)
    assert sorted(noticed) == ["escaped_hosts", "unresolved_paths"]


def test_parameters_in_a_path_are_found_beside_an_encoded_slash():
    query, step = {"from": ["1"]}, "ZnJvbT0x"  # from=1
    expected, actual = "__SHOPPING__/r/a%2Fb/filter", f"{SHOP}/r/a%2Fb/filter/{step}"
    for rules in ("reference", "default"):
        assert equal(expected, actual, query=query, rules=rules, decode_base64=True)


@pytest.mark.parametrize(("expected", "actual"), NOWHERE)
def test_a_fragment_counts_whatever_else_is_in_the_path(expected, actual):
    assert not equal(expected, actual)
    assert not equal(expected, actual, rules="default")


@pytest.mark.parametrize(("expected", "actual"), TRICKS)
def test_a_trick_is_another_place_to_all_rules_but_the_references(expected, actual):
    assert equal(expected, actual)
    noticed = {}
    assert not equal(expected, actual, rules="default", notice=noticed.__setitem__)
    assert list(noticed) == (["escaped_hosts"] if "shopxtest" in actual else ["unresolved_paths"])


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("__SHOPPING__/a%2Fb", f"{SHOP}/a//b"),
        ("__SHOPPING__/a%2Fb", f"{SHOP}/a%2fb/"),
        ("__SHOPPING__/a%2Fb?q=c%2Fd", f"{SHOP}/a%2Fb?q=c/d"),
        ("__SHOPPING__/a/b?q=../c", f"{SHOP}/a/b?q=..%2Fc"),
        ("__SHOPPING__/a%252Fb", f"{SHOP}/a%252fb"),
        ("__SHOPPING__/..a", f"{SHOP}/..a"),
        ("__SHOPPING__/a%2Fb#f", f"{SHOP}/a%2Fb#f"),
        ("^__SHOPPING__/.*#f$", f"{SHOP}/a%2Fb#f"),
    ],
)
def test_an_encoded_slash_that_a_task_asks_for_is_found(expected, actual):
    assert equal(expected, actual, rules="default")


def test_an_encoded_slash_is_not_the_text_that_encodes_it():
    assert not equal("__SHOPPING__/a%252Fb", f"{SHOP}/a%2Fb", rules="default")


@pytest.mark.parametrize("actual", [f"{SHOP}/issues/?q=1", f"{SHOP}/issues/x"])
def test_a_slash_before_a_query_stays_and_one_at_the_end_goes(actual):
    reader = UrlMatcher(SPEC_SITES, ALL)
    (pattern,) = reader.expected("^__SHOPPING__/issues/.*$")
    assert bases_match(pattern, reader.actual(actual), reader)
    assert not bases_match(pattern, reader.actual(f"{SHOP}/issues/"), reader)


@pytest.mark.parametrize(
    "expected", ["__UNKNOWN__/x", ["__SHOPPING__/a"], [], "", "/a", "__REDDIT__/x", "__shopping__/"]
)
def test_an_expected_url_begins_with_a_site_of_the_task(expected):
    with pytest.raises(EvaluationError):
        equal(expected, f"{SHOP}/a")


@pytest.mark.parametrize("expected", ["__UNKNOWN__/x", "^__UNKNOWN__/x$"])
def test_a_placeholder_of_no_site_is_told_with_those_of_the_task(expected):
    told = "does not start with a site of the task; start it with __SHOPPING__, __SHOPPING_ADMIN__, __GITLAB__, or add"
    with pytest.raises(EvaluationError, match=told):
        equal(expected, f"{SHOP}/a")


@pytest.mark.parametrize("expected", ["/search", "http://other.test/search", "HTTP://other.test/search"])
def test_a_url_at_no_address_of_a_site_of_the_task_is_an_error_that_says_so(expected):
    told = f"'{expected}' is not at an address of a site of the task; start it with __GITLAB__, or add the site to the "
    with pytest.raises(EvaluationError, match=f"^{told}task$"):
        UrlMatcher(SPEC_SITES, ("gitlab",)).expected(expected)


def test_an_address_that_is_lost_in_the_normal_form_is_named_with_it():
    sites = Sites({"gitlab": Environment(("http://GIT.test:80",))})
    told = "'http://GIT.test:80/a' does not match its normalized URL 'http://git.test/a'; write the normalized URL"
    with pytest.raises(EvaluationError, match=f"^{told}$"):
        UrlMatcher(sites, ("gitlab",)).expected("http://GIT.test:80/a")


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ("/search", "is not at an address of a site"),
        (SHOP, "is not at an address of a site"),
        ("__SHOPPING__/search", "does not start with a site"),
        ("^__SHOPPING__/search$", "does not start with a site"),
    ],
)
def test_without_sites_the_advice_is_to_add_one(expected, problem):
    reader = UrlMatcher(SPEC_SITES, ())
    with pytest.raises(EvaluationError) as caught:
        bases_match(reader.expected(expected)[0], reader.actual(f"{SHOP}/search"), reader)
    advice = "of the task, which has none; add the site of the URL to the sites of the task"
    assert str(caught.value) == f"'{expected}' {problem} {advice}"


@pytest.mark.parametrize("actual", ["", " ", "/", "http://[::1/a"])
def test_an_empty_or_impossible_recorded_url_is_an_error(actual):
    with pytest.raises((EvaluationError, ValueError)):
        UrlMatcher(SPEC_SITES, ALL).actual(actual)


@pytest.mark.parametrize(
    "actual",
    [
        "data:text/html,x",
        "blob:http://shop.test:7770/1-2",
        "about:blank",
        "chrome-extension://abc/x.html",
        "http://shop.test:99999999/a",
    ],
)
def test_an_odd_recorded_url_equals_nothing(actual):
    assert equal("__SHOPPING__/a", actual) is False


# expected query, actual query, whether they match: spec §4.5.
@pytest.mark.parametrize(
    ("query", "actual", "same"),
    [
        ({}, "", True),
        ({}, "?x=1", False),
        ({"x": ["1"]}, "?x=1", True),
        ({"x": ["B", "a"]}, "?x=A", True),
        ({"x": []}, "", True),
        ({"x": [""]}, "", True),
        ({"x": ["1"]}, "", False),
        ({"x": ["1"]}, "?x=1&y=", True),
        ({"x": ["1"]}, "?x=1&y=2", False),
        ({"x": ["^a|b$"]}, "?x=abc", True),
        ({"x": ["^a$"]}, "?x=ab", False),
        ({"s": ["^\\D+$"]}, "?s=abc", False),
        ({"s": ["^\\D+$"]}, "?s=12", True),
        ({"x": ["a"]}, "?x=%5E.*%24", False),
        ({"x": [" a "]}, "?x=+A+", True),
        ({"X": ["1"]}, "?x=1", False),
    ],
)
def test_query_params_replace_the_query_of_the_url(query, actual, same):
    assert equal("__SHOPPING__/a?gone=1", f"{SHOP}/a{actual}", query=query) is same


@pytest.mark.parametrize(
    ("settings", "actual", "same"),
    [
        ({"ignored": ("page",)}, "?page=2", True),
        ({"ignored": ("page",)}, "?Page=2", False),
        ({"ignored_patterns": ("page",)}, "?homePAGE=2", True),
        ({"ignored_patterns": (".*",)}, "?a=1&b=2", True),
        ({"ignored_patterns": ("^page$",)}, "?homepage=2", False),
        ({"ignored_patterns": ("(", "page")}, "?page=2", True),
        ({"ignored_patterns": ("^(?!from$|to$).*$",)}, "?form_key=2", True),
        ({"ignored_patterns": ("^(?!from$|to$).*$",)}, "?from=2", False),
    ],
)
def test_ignored_parameters_are_removed_on_both_sides(settings, actual, same):
    assert equal("__SHOPPING__/a", f"{SHOP}/a{actual}", **settings) is same
    assert equal(f"__SHOPPING__/a{actual}", f"{SHOP}/a", **settings) is same


@pytest.mark.parametrize(
    ("path", "base", "query"),
    [
        ("/a/ZnJvbT0xJnRvPTI/c", "__SHOPPING__/a/c", {"from": ("1",), "to": ("2",)}),
        ("/a/ZnJvbT0xJnRvPTI=/c", "__SHOPPING__/a/c", {"from": ("1",), "to": ("2",)}),
        ("/a/Zm9vPQ/x", "__SHOPPING__/a/x", {"foo": ("",)}),
        ("/a/P2E9MQ/x?b=2", "__SHOPPING__/a/x", {"a": ("1",), "b": ("2",)}),
        ("/a/Zm9v/x", "__SHOPPING__/a/Zm9v/x", {}),
        ("/a/catalog/x", "__SHOPPING__/a/catalog/x", {}),
    ],
)
def test_a_path_segment_that_is_a_query_in_base64_joins_the_query(path, base, query):
    found = UrlMatcher(SPEC_SITES, ALL, decode_base64=True).actual(SHOP + path)
    assert (found.base, dict(found.query)) == (base, query)


def test_the_dots_of_a_host_are_wildcards_for_the_reference_alone():
    foreign = "http://shopXtest:7770/p/1"
    assert equal("^__SHOPPING__/p/1$", foreign)
    assert not equal("^__SHOPPING__/p/1$", foreign, rules="default")


def test_a_malformed_pattern_is_an_error():
    with pytest.raises(EvaluationError, match=r"invalid regular expression .*; fix the url"):
        equal("^__SHOPPING__/($", f"{SHOP}/a")


@pytest.mark.parametrize(
    ("text", "sites", "rendered"),
    [
        ("__SHOPPING__/a", ALL, f"{SHOP}/a"),
        ("__SHOPPING__/__SHOPPING__", ALL, f"{SHOP}/{SHOP}"),
        ("__SHOPPING_ADMIN__/a", ALL, "http://shop.test:7780/admin/a"),
        ("x__SHOPPING__", ALL, None),
        ("__shopping__/a", ALL, None),
        ("__GITLAB__/a", ("shopping",), None),
    ],
)
def test_a_placeholder_at_the_start_is_rendered(text, sites, rendered):
    assert SPEC_SITES.render(text, sites) == rendered


def test_a_site_of_the_task_without_an_address_cannot_be_rendered():
    with pytest.raises(EvaluationError, match="no URL for site reddit"):
        SPEC_SITES.render("__SHOPPING__/a", ("shopping", "reddit"))


@pytest.mark.parametrize("active", [1, -1])
def test_the_active_address_must_exist(active):
    with pytest.raises(EvaluationError, match="is out of range for 1 URL;"):
        Sites({"shopping": Environment((SHOP,), active)}).render("__SHOPPING__", ["shopping"])


ADMIN_LONGER = {"shopping": ["http://h:7770"], "shopping_admin": ["http://h:7770/admin"]}
TABLE_7_3 = [
    ({"shopping": ["http://a:1"]}, None, "http://a:12/x", "__SHOPPING__2/x"),
    ({"shopping": ["http://a:1"]}, None, "http://z/?u=http://a:1/x", "http://z/?u=__SHOPPING__/x"),
    (
        {"shopping_admin": ["http://h:7780/admin"], "shopping": ["http://h:7770"]},
        None,
        "http://h:7780/adminx",
        "__SHOPPING_ADMIN__x",
    ),
    (ADMIN_LONGER, None, "http://h:7770/admin/x", "__SHOPPING_ADMIN__/x"),
    (ADMIN_LONGER, ["shopping"], "http://h:7770/admin/x", "__SHOPPING__/admin/x"),
    (
        {**ADMIN_LONGER, "shopping": ["http://h:7770", "http://a.very.long.name.of.another.host"]},
        None,
        "http://h:7770/admin/x",
        "__SHOPPING__/admin/x",
    ),
    ({"shopping": ["http://a", "http://a/b"]}, None, "http://a/b/x", "__SHOPPING__/b/x"),
    ({"shopping": ["http://h:1/"]}, None, "http://h:1", "http://h:1"),
    ({"shopping": ["http://h:1/"]}, None, "http://h:1/x", "__SHOPPING__/x"),
    ({"shopping": ["http://a:1"]}, None, "HTTP://A:1/x", "HTTP://A:1/x"),
    ({"shopping": ["http://a:1"]}, None, "https://a:1/x", "https://a:1/x"),
    ({"shopping": ["http://a:1"]}, None, "http://a/x", "http://a/x"),
]


@pytest.mark.parametrize(("config", "sites", "text", "derendered"), TABLE_7_3)
def test_an_address_becomes_its_placeholder(config, sites, text, derendered):
    known = Sites({site: Environment(tuple(urls)) for site, urls in config.items()})
    assert known.derender(text, sites or list(config)) == derendered


@pytest.mark.parametrize("address", ["http://Shop.test:7770", "http://shop.test:80", "http://a//b"])
def test_a_configured_address_that_normalization_changes_is_an_error(address):
    reader = UrlMatcher(Sites({"shopping": Environment((address,))}), ("shopping",))
    with pytest.raises(EvaluationError, match="write the normalized URL"):
        reader.expected("__SHOPPING__/x")


@pytest.mark.parametrize(
    ("urls", "sites", "found"),
    [
        (["http://h:1/a?b"], ["shopping"], ["http://h:1"]),
        (["http://h:1/a", "http://i/b"], ["gitlab", "reddit"], ["http://h:1", "http://i"]),
        (["http://h:1/a"], ["gitlab", "shopping_admin"], ["http://h:1", "http://h:1/admin"]),
    ],
)
def test_addresses_that_nobody_configured_are_taken_from_the_first_events(urls, sites, found):
    entries = [
        msgspec.Raw(json.dumps({"request": {"url": url, "method": "GET"}, "response": {"status": 200}}).encode())
        for url in urls
    ]
    guessed = infer_sites(sites, build_trace(entries, BodySource(str.encode)).events)
    assert [guessed.environments[site].url for site in sites] == found


@pytest.mark.parametrize(
    ("configured", "sites", "covers"),
    [
        (["reddit", "shopping"], ["shopping"], True),
        (["reddit"], ["reddit", "shopping"], False),
        ([], [], False),
    ],
)
def test_a_configuration_serves_a_task_only_if_it_has_all_of_its_sites(configured, sites, covers):
    known = Sites({site: Environment((f"http://{site}",)) for site in configured} | {"map": Environment(())})
    assert (known if configured else Sites()).covers(sites) is covers
    assert not known.covers(["map"])


def test_without_an_event_no_address_can_be_guessed():
    with pytest.raises(RecordingError, match="the trace has no event"):
        infer_sites(["shopping"], [])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "config.json: Expecting property name"),
        ("[]", "config.json: expected a JSON object"),
        ('{"environments": {"Shop": {"urls": []}}}', "invalid site 'Shop'; use lower-case letters"),
        ('{"environments": {"map": {"urls": "x"}}}', "environments.map.urls must be a list"),
        ('{"environments": {"map": {"urls": [5]}}}', "environments.map.urls must be a list"),
        ('{"environments": {"map": {"urls": ["x"], "active_url_idx": "1"}}}', "active_url_idx must be an integer"),
        ('{"environments": [1]}', "config.json: expected a JSON object"),
    ],
)
def test_a_wrong_configuration_is_told_with_its_file(tmp_path, content, message):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(SettingsError, match=message) as raised:
        load_sites(tmp_path / "config.json")
    assert str(tmp_path / "config.json") in str(raised.value)


def test_site_names_are_read_in_each_accepted_spelling(tmp_path):
    names = {"shopping": "shopping", "GITLAB": "gitlab", "__MAP__": "map", "_reddit_": "reddit"}
    path = tmp_path / "config.json"
    listed = ", ".join(f'"{name}": {{"urls": ["http://x"], "active_url_idx": null}}' for name in names)
    path.write_text(f'{{"environments": {{{listed}}}}}')
    assert sorted(load_sites(path).environments) == sorted(names.values())


def test_a_pattern_need_not_begin_with_a_site():
    assert equal("^.*/a$", f"{SHOP}/a")
    assert not equal("^.*/b$", f"{SHOP}/a")


def test_a_recorded_placeholder_is_the_address_that_it_stands_for():
    assert equal("__SHOPPING__/a", "__SHOPPING__/a/")


def test_a_pattern_that_was_recorded_matches_to_the_reference_alone():
    asked = "^http://shop.test:7770/.*$"
    assert equal("__SHOPPING__/a", asked)
    noticed = {}
    assert not equal("__SHOPPING__/a", asked, rules="default", notice=noticed.__setitem__)
    assert list(noticed) == ["no_recorded_patterns"]


def test_a_site_whose_address_is_empty_has_no_page():
    reader = UrlMatcher(Sites({"shopping": Environment(("",))}), ("shopping",))
    assert [url.base for url in reader.expected("__SHOPPING__")] == [""]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ssh://h/A", "git@__ssh_host__:a"),
        ("SSH://u@h:22/a?x=1#f", "u@__ssh_host__:a"),
        ("git@h:/a/b", "git@__ssh_host__:a/b"),
    ],
)
def test_an_address_to_clone_from_has_a_short_form(text, normal):
    assert normalize_url(text) == normal


def test_an_encoded_slash_and_the_text_that_encodes_one_are_kept_apart():
    assert normalize_keeping_slashes("http://h/x%2fy/a%252Fb") == "http://h/x%2Fy/a%252Fb"
