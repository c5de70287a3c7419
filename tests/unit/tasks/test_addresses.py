"""Configured addresses in the one spelling of normalized URLs, or refused with the place in the configuration."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from url_normalize import url_normalize

from pytest_webeval.errors import EvaluationError, SettingsError
from pytest_webeval.evaluators.network.urls import UrlMatcher
from pytest_webeval.tasks.addresses import normalize_address
from pytest_webeval.tasks.sites import Environment, Sites, load_sites

# url-normalize asks idna for what idna no longer does; scoring ignores that for the whole of an evaluation.
pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")

NORMAL = {
    "http://shop.test:80": "http://shop.test",
    "http://shop.test:080": "http://shop.test",
    "https://shop.test:443/": "https://shop.test",
    "http://shop.test:443": "http://shop.test:443",
    "http://shop.test:": "http://shop.test",
    "HTTP://Shop.TEST:7770": "http://shop.test:7770",
    " http://shop.test:7770\n": "http://shop.test:7770",
    "http://shop.test.:7770": "http://shop.test:7770",
    "http://me:secret@shop.test": "http://shop.test",
    "http://münchen.test": "http://xn--mnchen-3ya.test",
    "http://MÜNCHEN.test": "http://xn--mnchen-3ya.test",
    "http://xn--mnchen-3ya.test": "http://xn--mnchen-3ya.test",
    "http://STRA\u00dfE.test": "http://xn--strae-oqa.test",
    "http://b\u00fccher.stra\u00dfe.test.": "http://xn--bcher-kva.xn--strae-oqa.test",
    "http://\u03b2\u03cc\u03bb\u03bf\u03c2.test": "http://xn--nxasmm1c.test",
    "http://\u0392\u03cc\u039b\u039f\u03a3.test": "http://xn--nxasmq6b.test",
    "http://\u0dc1\u0dca\u200d\u0dbb\u0dd3.test": "http://xn--10cl1a0b660p.test",
    "http://[::1]:7770": "http://[::1]:7770",
    "http://[0:0:0:0:0:0:0:1]:80": "http://[::1]",
    "http://[2001:DB8::1]": "http://[2001:db8::1]",
    "http://shopping_admin:7780/admin/": "http://shopping_admin:7780/admin",
    "http://shop.test//a//": "http://shop.test/a",
    "http://shop.test/a/../b/./c": "http://shop.test/b/c",
    "http://shop.test/%7Eme/ü": "http://shop.test/~me/%C3%BC",
    "http://shop.test/Admin": "http://shop.test/Admin",
    "http://proxy.test:80?u=http://a.test": "http://proxy.test/?u=http://a.test",
}
# The addresses that the recorded URLs of the table below have.
RECORDED = {
    "http://me:secret@shop.test": ["http://shop.test/x", "http://other@shop.test/x"],
    "http://münchen.test": ["http://xn--mnchen-3ya.test/x", "http://münchen.test/x", "http://xn--mnchen-3ya.test:80/x"],
    "http://stra\u00dfe.test": ["http://xn--strae-oqa.test/x"],
    "HTTP://Shop.TEST:7770": ["http://shop.test:7770/x", "HTTP://SHOP.test:7770/x", "http://shop.test.:7770//x"],
    "http://shop.test:80": [
        "http://shop.test/x",
        "http://shop.test:80/x",
        "http://shop.test:/x",
        "http://a:b@shop.test/x",
    ],
    "http://shop.test//a//": ["http://shop.test/a/x", "http://shop.test/a//x"],
    "http://[0:0:0:0:0:0:0:1]:80": ["http://[::1]/x", "http://[::1]:80/x"],
}
WITHOUT_USER = ("http://other@shop.test/x", "http://a:b@shop.test/x", "http://[::1]:80/x")
PAIRS = [(address, url) for address, urls in RECORDED.items() for url in urls]


@pytest.mark.parametrize("raw", NORMAL)
def test_an_address_has_one_spelling(raw):
    normal = normalize_address(raw)
    assert normal == NORMAL[raw] == normalize_address(normal)
    assert url_normalize(normal).rstrip("/") == normal


@pytest.mark.parametrize("expected", ["__SHOPPING__/x", "^__SHOPPING__/x$", "^__SHOPPING__/[a-z]$"])
@pytest.mark.parametrize(("address", "url"), PAIRS)
@pytest.mark.parametrize("rules", ["default", "strict"])
def test_literals_and_patterns_match_whatever_the_spelling(bench, rules, address, url, expected):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": url}])
    network = {"evaluator": "NetworkEventEvaluator", "expected": {"url": expected}}
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network)
    sites = Sites({"shopping": Environment((address,))})
    is_met = rules == "strict" or url not in WITHOUT_USER  # Q61
    assert (replace(bench, sites=sites).score(task, rules).status == "success") is is_met


REFUSED = {
    "http://shop test": "invalid host 'shop test'",
    "http://shop..test": "invalid host 'shop..test'",
    "http://%73hop.test": "invalid host '%73hop.test'",
    "http://[::1": "Invalid IPv6 URL",
    "http://[zz]:80": "'zz' does not appear to be an IPv4 or IPv6 address",
    "http://shop.test:99999": "Port out of range 0-65535",
    "http://shop.test/?p=1": "an address has no query",
    "http://proxy.test/?u=http%3A%2F%2Fa.test": "an address has no query",
    "http://shop.test?shop": "an address has no query",
    "http://shop.test:http": "Port could not be cast to integer value as 'http'",
    "http://shop.test/#top": "an address has no fragment",
}


@pytest.fixture
def load(tmp_path):
    """Load a configuration with this environment of one site."""

    def load_environment(**environment):
        path = tmp_path / "config.json"
        path.write_text(json.dumps({"environments": {"__MAP__": {"urls": ["http://a.test"]}, "shopping": environment}}))
        return load_sites(path)

    return load_environment


@pytest.mark.parametrize("raw", REFUSED)
def test_an_impossible_address_is_refused_with_file_and_key(load, tmp_path, raw):
    with pytest.raises(SettingsError) as caught:
        load(urls=["http://shop.test", raw])
    start = f"invalid configuration {tmp_path}/config.json: the URL {raw!r}: {REFUSED[raw]}; write "
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(" @ environments.shopping.urls[1]")


@pytest.mark.parametrize("active", [-1, 2])
def test_an_active_address_that_does_not_exist_is_refused_with_file_and_key(load, active):
    with pytest.raises(SettingsError) as caught:
        load(urls=["http://a.test", "http://b.test"], active_url_idx=active)
    problem = f"active_url_idx {active} is out of range for 2 URLs; use 0 to 1 @ environments.shopping.active_url_idx"
    assert str(caught.value).endswith(problem)


def test_a_configuration_keeps_its_text_and_its_name(load):
    sites = load(urls=["HTTP://Shop.test:80/"])
    assert sites.source == "config.json"
    assert sites.environments["shopping"] == Environment(("HTTP://Shop.test:80/",))
    assert sites.folded.environments["shopping"].url == "http://shop.test"
    assert sites.folded.source == "config.json"


def test_an_address_that_nobody_can_normalize_stays_as_it_is():
    sites = Sites({"shopping": Environment(("shop.test",))})
    assert sites.folded is sites


def test_to_the_reference_the_configured_text_is_wrong_and_not_the_task():
    reader = UrlMatcher(Sites({"shopping": Environment(("http://shop.test:80",))}), ("shopping",))
    with pytest.raises(EvaluationError) as caught:
        reader.expected("__SHOPPING__/x")
    advice = "write the normalized URL there, or use rules that normalize it"
    assert (
        str(caught.value) == f"the configured URL 'http://shop.test:80' of shopping is not in its normal form; {advice}"
    )
