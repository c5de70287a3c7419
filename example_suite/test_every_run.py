"""Python tests over recorded runs: each runs once for every run, and `.check()` lands in that run's result."""

from urllib.parse import urlsplit


def test_no_run_leaves_the_configured_sites(webeval_run, webeval_sites):
    known = {urlsplit(url).netloc for site in webeval_sites.environments.values() for url in site.urls}
    visited = {urlsplit(event.url).netloc for event in webeval_run.trace.events}
    assert visited <= known


def test_no_run_deletes_anything(webeval_network_event):
    webeval_network_event.check(expected={"url": "^.*$", "http_method": "DELETE"}, should_not_exist=True)
