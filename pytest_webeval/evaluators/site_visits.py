"""Whether a recording went where the configuration says that the sites were.

A wrong address in the configuration must not look like a bad agent: with it, nothing that the agent did is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.url_readings import Server, split_sent
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.safety.text import list_first
from pytest_webeval.tasks.sites import Sites, placeholder

MAX_NAMED = 3


def origin(url: str) -> str | None:
    """Scheme, host and port in one spelling, such as `http://shop.test:7770`; None for what names no host."""
    server = _find_server(url)
    return None if server is None else server.text


def read_server(event: NetworkEvent) -> Server | None:
    """Where a request went. An unreadable event went nowhere."""
    with suppress(EvaluationError):
        return _find_server(event.url)
    return None


def _find_server(url: str) -> Server | None:
    sent = split_sent(url)
    return sent.server if sent is not None and sent.server.host else None


def format_unvisited(sites: Sites, names: Iterable[str], events: Iterable[NetworkEvent]) -> str | None:
    """A message with the configured and the recorded hosts if no request went to a configured one, else None.

    A recording without a request to any host is None as well: the agent went nowhere, which no address can change.
    """
    urls = [(site, url) for site in names for url in sites.environments[site].urls]
    configured = {host: site for site, url in urls if (host := origin(url))}
    recorded: Counter[str] = Counter()
    for event in events:
        server = read_server(event)
        if server is None:
            continue
        if server.text in configured:
            return None
        recorded[server.text] += 1
    if not configured or not recorded:
        return None
    expected = list_first([f"{host:.80} ({site})" for host, site in configured.items()], MAX_NAMED)
    return (
        f"no request to a configured URL: expected {expected}; got {_join_counts(recorded)}; "
        "fix the URL in --webeval-config, or re-record the run"
    )


def format_other_hosts(sites: Sites, names: Iterable[str], events: Iterable[NetworkEvent]) -> str | None:
    """Why inferred addresses may be wrong: requests went to other hosts, too. None if there are no others."""
    inferred = {host: site for site in names for url in sites.environments[site].urls if (host := origin(url))}
    recorded = Counter(each.text for event in events if (each := read_server(event)) and each.text not in inferred)
    if not recorded:
        return None
    guesses = list_first([f"{host:.80} ({site})" for host, site in inferred.items()], MAX_NAMED)
    return (
        f"the site URL was inferred from the first request, and nothing there matches: {guesses}; other hosts in the "
        f"recording: {_join_counts(recorded)}; pass a file with the site URLs: --webeval-config=FILE"
    )


def names_a_site(urls: str | Sequence[str], names: Iterable[str]) -> bool:
    """Whether each of the expected URLs begins with the address of one of the sites, so that it depends on that."""
    marks = tuple(mark for site in names for mark in (placeholder(site), f"^{placeholder(site)}"))
    return all(url.startswith(marks) for url in ([urls] if isinstance(urls, str) else urls))


def _join_counts(recorded: Counter[str]) -> str:
    return list_first([f"{host:.80} ({count})" for host, count in recorded.most_common()], MAX_NAMED)
