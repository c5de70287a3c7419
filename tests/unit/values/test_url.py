"""URLs as data: spec §5.14."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.url import UrlValue

# The library behind URLs warns of its own; scoring lets no warning decide a verdict.
pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")

AS_WRITTEN_BY_AN_AGENT = ParseContext(patterns=False, alternatives=False)
SITE = "http://a.test/"


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (SITE, "HTTP://A.TEST:80", True),
        ("a.test", "https://a.test/", True),
        (SITE + "A/", SITE + "a", True),
        (SITE + "a;p=1", SITE + "a", False),
        (SITE + "a", SITE + "a;", True),
        (SITE + "#F", SITE + "#f", True),
        (SITE + "a#f", SITE + "a", False),
        (SITE + "?x=1&y=2", SITE + "?y=2&x=1", True),
        (SITE + "?x=A", SITE + "?x=a", True),
        (SITE + "?X=1", SITE + "?x=1", False),
        (SITE + "?x=1", SITE, False),
        (SITE + "?x=", SITE, True),
        (SITE + "?x=&x=1", SITE, True),
        (SITE + "?x=2&x=3", SITE + "?x=9&x=2", True),
        (SITE + "?x=a%2Bb", SITE + "?x=a b", True),
        (SITE + "?x=%2541", SITE + "?x=a", True),
        (SITE + "?x=^1.*$", SITE + "?x=123", True),
        (SITE + "?x=123", SITE + "?x=^1.*$", False),
        (SITE + "?x=^.*$", SITE, True),
        ("^http://a.test/x$", SITE + "x/", True),
        ("^http://a.test/x$", SITE + "X", False),
        ("^http://a.test/x$", SITE + "x?y=1", False),
        (" ^http://a.test/x|zzz$ ", SITE + "xy?z=", True),
        (SITE, "^.*$", True),
        ("^http://.*$", "^.*$", True),
        ("^http://.*$", "^http://.*$", False),
        ([SITE, SITE + "x"], SITE + "x", True),
        (SITE, [SITE + "y", SITE], True),
    ],
)
def test_urls_match_when_they_lead_to_the_same_place(expected, actual, equal):
    assert UrlValue.read(expected, ParseContext()).matches(UrlValue.read(actual, ParseContext())) is equal


def test_site_addresses_become_placeholders():
    context = ParseContext(derender=lambda text: text.replace("http://git.test:8023", "__GITLAB__"))
    assert UrlValue.read("http://git.test:8023/a/b.git?x=1", context).to_json() == "__GITLAB__/a/b.git?x=1"


def test_an_address_to_clone_from_stands_for_its_ssh_form():
    expected = UrlValue.read("git@__SSH_HOST__:a/b.git", ParseContext())
    assert expected.matches(UrlValue.read("ssh://git@git.test:2222/A/B.git", AS_WRITTEN_BY_AN_AGENT))
    assert not expected.matches(UrlValue.read("git@git.test:2222/a/b.git", AS_WRITTEN_BY_AN_AGENT))
    assert not expected.matches(UrlValue.read("http://git.test:8023/a/b.git", AS_WRITTEN_BY_AN_AGENT))


KNOWN_SITES = ParseContext(known_sites=True, derender=lambda text: text.replace("http://a.test", "__SHOPPING__"))


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (SITE + "b", "__SHOPPING__/b"),
        ("^http://b.test/.*$", "^http://b.test/.*$"),
        ("git@b.test:a/b", "git@__ssh_host__:a/b"),
    ],
)
def test_a_task_may_name_its_sites_and_patterns_and_what_is_cloned(raw, written):
    assert UrlValue.read(raw, KNOWN_SITES).to_json() == written


@pytest.mark.parametrize("raw", ["http://b.test/", "a.b", "z://a"])
def test_a_task_may_name_no_other_site(raw):
    with pytest.raises(ValueParseError, match="is not a URL of the task's sites; copy the URL from the site"):
        UrlValue.read(raw, KNOWN_SITES)


@pytest.mark.parametrize("raw", ["", "  ", None, 5, {}, [SITE], "http://[::1/a", "a" * 10_001])
def test_anything_but_a_url_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"URL|url"):
        UrlValue.read(raw, ParseContext())


@pytest.mark.parametrize("text", ["^.*$", "^http://.*$", SITE + "?x=^.*$"])
def test_a_pattern_of_an_agent_is_plain_text(text):
    read = UrlValue.read(text, AS_WRITTEN_BY_AN_AGENT)
    assert not UrlValue.read(SITE, ParseContext()).matches(read)
    assert not UrlValue.read(SITE + "?x=1", ParseContext()).matches(read)


@pytest.mark.parametrize("expected", ["^($", SITE + "?x=^($"])
def test_a_broken_pattern_is_an_error(expected):
    with pytest.raises(EvaluationError, match=r"invalid regular expression .*; fix the URL"):
        UrlValue.read(expected, ParseContext()).matches(UrlValue.read(SITE, ParseContext()))


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (SITE + "?b=2&A=X&b=1", SITE + "?b=1&A=x"),
        (SITE + "a/", SITE + "a"),
        ("^.*/a$", "^.*/a$"),
        ([SITE + "a", SITE + "b"], SITE + "a"),
    ],
)
def test_a_report_shows_the_first_url_with_its_parameters(raw, written):
    assert UrlValue.read(raw, ParseContext()).to_json() == written
