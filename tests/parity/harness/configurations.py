"""The golden run under other configurations of site addresses, or on other addresses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import FETCH, Draft, Event
from tests.parity.harness.recording import FOLDED, HONEST, SITE_PATTERN, SITES, Recording

Sites = Mapping[str, Sequence[str]]
CONFIGURED, GUESSED, MOVED, EVENTS_TO_GUESS_FROM = 2, 1, 1, 2


def _each(edit: Callable[[str], str]) -> Callable[[Sequence[str]], Sites]:
    """Another address for every site."""
    return lambda _: {name: [edit(url) for url in urls] for name, urls in SITES.items()}


def _beside(*more: str) -> Callable[[Sequence[str]], Sites]:
    return lambda _: {name: [*urls, *more] for name, urls in SITES.items()}


CONFIGURATIONS: Mapping[str, Callable[[Sequence[str]], Sites]] = {
    "only the task's sites": lambda own: {name: SITES[name] for name in own},
    "only other sites": lambda own: {name: urls for name, urls in SITES.items() if name not in own},
    "first site missing": lambda own: {name: urls for name, urls in SITES.items() if name not in own[:1]},
    "last site missing": lambda own: {name: urls for name, urls in SITES.items() if name not in own[-1:]},
    "first site without addresses": lambda own: {**SITES, own[0]: []},
    "all sites without addresses": lambda _: dict.fromkeys(SITES, ()),
    "other order": lambda _: dict(reversed(SITES.items())),
    "another address behind": _beside("http://mirror.test:1"),
    "a long address behind": _beside("http://mirror.with.a.very.long.name.example.test:1234/with/a/path"),
    "another address before": lambda _: {name: ["http://mirror.test:1", *urls] for name, urls in SITES.items()},
    "a slash behind": _each(lambda url: f"{url}/"),
    "two slashes behind": _each(lambda url: f"{url}//"),
    "a path behind": _each(lambda url: f"{url}/store"),
    "a query behind": _each(lambda url: f"{url}?a=b"),
    "a blank behind": _each(lambda url: f"{url} "),
    "host in capitals": _each(lambda url: url.replace("test", "Test")),
    "scheme in capitals": _each(lambda url: url.replace("http", "HTTP")),
    "https": _each(lambda url: url.replace("http", "https")),
    "no scheme": _each(lambda url: url.removeprefix("http://")),
    "no port": _each(
        lambda url: url.replace(":7770", "").replace(":8023", "").replace(":9999", "").replace(":3000", "")
    ),
    "port cut": _each(lambda url: url[:-1]),
    "wrong port": _each(lambda url: url.replace(":", ":1").replace(":1//", "://")),
    "the same address for all": lambda _: dict.fromkeys(SITES, SITES["shopping"]),
    "the address of another": lambda own: {**SITES, own[0]: SITES["homepage"]},
    "all addresses for all": lambda _: {name: [url for urls in SITES.values() for url in urls] for name in SITES},
    "an address within another": lambda _: {
        **SITES,
        "homepage": ["http://shop.test"],
        "wikipedia": ["http://git.test:80"],
    },
    "a longer address of another": lambda own: {**SITES, "homepage": [f"{SITES[own[0]][0]}/x"]},
    "no address at all": lambda _: {name: [""] for name in SITES},
}


FOLDED_BY = ("in capitals", "slash behind", "slashes behind", "query behind", "blank behind", "within another")
FOLDED_MOVES = ("hosts in capitals", "default port", "international hosts")


def configurations(draft: Draft) -> Iterator[Recording]:
    """Other configurations, the run as it was."""
    own = draft.task["sites"]
    for name, configure in drawn(CONFIGURATIONS.items(), CONFIGURED, draft.task["task_id"], "configuration"):
        sites = configure(own) if own else SITES
        if sites:
            kind = FOLDED if name.endswith(FOLDED_BY) else HONEST
            yield draft.recording(f"configuration: {name}", kind, sites=sites)


LOCAL = {"shopping": 7770, "shopping_admin": 7780, "gitlab": 8023, "reddit": 9999, "map": 3000, "wikipedia": 8888}


def _on(host: str, scheme: str = "http") -> Sites:
    """All sites on one host, told apart by their ports, as the benchmark's own images have it."""
    addresses = {name: f"{scheme}://{host}:{port}" for name, port in {**LOCAL, "homepage": 4399}.items()}
    return {name: (url + "/admin" if name == "shopping_admin" else url,) for name, url in addresses.items()}


MOVES: Mapping[str, Sites] = {
    "localhost": _on("localhost"),
    "loopback": _on("127.0.0.1"),
    "cloud": _on("ec2-3-131-244-37.us-east-2.compute.amazonaws.com"),
    "TLS": _on("bench.test", "https"),
    "IPv6": _on("[::1]"),
    "own hosts": {name: (f"http://{name.replace('_', '-')}.bench.test",) for name in SITES},
    "paths of one host": {name: (f"http://bench.test/{name}",) for name in SITES},
    "a part of each other": {name: (f"http://b.test/{'x' * place}",) for place, name in enumerate(SITES, 1)},
    "hosts in capitals": {name: (f"http://{name.title()}.Bench.test",) for name in SITES},
    "default port": {name: (f"http://{name.replace('_', '-')}.bench.test:80",) for name in SITES},
    "underscored hosts": {name: (f"http://my_{name}.test:81",) for name in SITES},
    "international hosts": {name: (f"http://münchen-{name.replace('_', '-')}.test",) for name in SITES},
}


def moved_runs(draft: Draft) -> Iterator[Recording]:
    """The whole run on other addresses, configured so."""
    for name, sites in drawn(MOVES.items(), MOVED, draft.task["task_id"], "move"):
        entries = json.dumps([event.entry() for event in draft.events], ensure_ascii=False)
        moved = json.loads(_moved(entries, sites))
        response = _moved(json.dumps(draft.answer, ensure_ascii=False), sites).encode("utf-8", "surrogatepass")
        kind = SITE_PATTERN if name == "IPv6" else FOLDED if name in FOLDED_MOVES else HONEST  # brackets make a class
        yield draft.recording(f"moved: {name}", kind, response=response, entries=tuple(moved), sites=sites)


def _moved(text: str, sites: Sites) -> str:
    for site, urls in sorted(SITES.items(), key=lambda pair: -len(pair[1][0])):
        text = text.replace(urls[0], sites[site][0])
        text = text.replace(urls[0].replace(":", "%3A").replace("/", "%2F"), sites[site][0].replace(":", "%3A"))
    return text


FIRST: Mapping[str, Callable[[Event], Sequence[Event]]] = {
    "a page of the site": lambda home: [home],
    "nothing": lambda _: [],
    "a foreign page": lambda home: [replace(home, url="https://cdn.elsewhere.test/lib"), home],
    "a foreign script": lambda home: [replace(home, url="https://cdn.elsewhere.test/lib.js", headers=FETCH), home],
    "a data page": lambda home: [replace(home, url="data:text/html,x"), home],
    "about:blank": lambda home: [replace(home, url="about:blank"), home],
    "an empty address": lambda home: [replace(home, url=""), home],
    "a path alone": lambda home: [replace(home, url="/x"), home],
    "an extension": lambda home: [replace(home, url="chrome-extension://abc/x.html"), home],
    "the host in capitals": lambda home: [replace(home, url=home.url.replace("test", "TEST")), home],
    "a user": lambda home: [replace(home, url=home.url.replace("http://", "http://u:p@")), home],
    "the page of another site": lambda home: [replace(home, url=SITES["homepage"][0] + "/"), home],
    "TLS": lambda home: [replace(home, url=home.url.replace("http", "https")), home],
    "a page twice": lambda home: [home, home],
    "an impossible address": lambda home: [replace(home, url="http://[::1/a"), home],
}


def guessed_sites(draft: Draft) -> Iterator[Recording]:
    """No configuration: the addresses are guessed from the first events."""
    home, *others = draft.events
    pages = [Event(SITES[site][0] + "/") for site in draft.task["sites"]]
    for name, first in drawn(FIRST.items(), EVENTS_TO_GUESS_FROM, draft.task["task_id"], "guess"):
        run = replace(draft, events=(*first(home), *others))
        yield run.recording(f"no configuration, first {name}", **_unconfigured(run))
    run = replace(draft, events=(*pages, *others))
    yield run.recording("no configuration, first a page of each site", sites={})


def _unconfigured(run: Draft) -> dict[str, Any]:
    """A trace must have an entry even where nothing can be guessed from it."""
    asset = Event("http://shop.test:7770/x.css", headers=FETCH)
    return {"sites": {}} if run.events else {"sites": {}, "entries": (asset.entry(),)}
