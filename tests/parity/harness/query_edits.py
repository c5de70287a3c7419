"""Events whose queries differ from the expected ones: parameter by parameter, and in notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.recording import Recording
from tests.parity.harness.url_edits import base64_step, requested

WHOLE, PER_PARAMETER, MOST_EVENTS = 3, 3, 3


def _on_query(edit: Callable[[str], str]) -> Callable[[str], str]:
    """An edit of the query alone."""

    def on_url(url: str) -> str:
        base, _, query = url.partition("?")
        changed = edit(query)
        return f"{base}?{changed}" if changed else base

    return on_url


def _joined(*parameters: str) -> Callable[[str], str]:
    return _on_query(lambda query: "&".join(part for part in (query, *parameters) if part))


QUERY_EDITS: Mapping[str, Callable[[str], str]] = {
    "parameter more": _joined("utm_source=mail"),
    "parameter without value": _joined("flag"),
    "parameter with empty value": _joined("flag="),
    "parameter with blank value": _joined("flag=+"),
    "nameless parameter": _joined("=x"),
    "page and sort": _joined("page=2", "sort=created_date"),
    "page alike": _joined("homepage=1"),
    "paging": _joined("paging[pageSize]=20", "isAjax=true"),
    "underscore": _joined("_=1700000000000"),
    "serializer": _joined("serializer=basic"),
    "serializer in capitals": _joined("SERIALIZER=basic"),
    "two parameters alike": _joined("a=2", "a=1"),
    "list parameter": _joined("a[]=1", "a[]=2"),
    "question mark behind": lambda url: url if "?" in url else f"{url}?",
    "ampersands": _on_query(lambda query: f"&&{query.replace('&', '&&')}&"),
    "ampersand escaped": _on_query(lambda query: query.replace("&", "%26") if query else "a%26b"),
    "semicolons": _on_query(lambda query: query.replace("&", ";") if query else "a=1;b=2"),
    "lost": _on_query(lambda _: ""),
    "twice": _on_query(lambda query: f"{query}&{query}" if query else "a=1&a=1"),
    "second question mark": _on_query(lambda query: f"{query}?a=b"),
    "equals signs": _on_query(lambda query: f"{query}&a==b=" if query else "a==b="),
    "reversed": _on_query(lambda query: "&".join(reversed(query.split("&")))),
    "blanks as plus": _on_query(lambda query: query.replace("%20", "+")),
    "blanks as %20": _on_query(lambda query: query.replace("+", "%20")),
    "plus escaped": _on_query(lambda query: query.replace("+", "%2B")),
    "escaped twice": _on_query(lambda query: query.replace("%", "%25")),
    "small escapes": _on_query(lambda query: re.sub("%..", lambda found: found[0].lower(), query)),
    "brackets as they are": _on_query(lambda query: query.replace("%5B", "[").replace("%5D", "]")),
    "letters escaped": _on_query(lambda query: "".join(f"%{ord(c):02X}" if c.isalpha() else c for c in query)),
    "in capitals": _on_query(str.upper),
    "an address": _joined("u=" + quote("http://git.test:8023/x?y=z", safe="")),
    "an address as it is": _joined("u=http://git.test:8023/x"),
    "bad escape": _joined("a=%zz", "b=%"),
    "Latin-1 escape": _joined("a=%E9"),
    "Unicode": _joined("a=é北", "ü=1"),
    "NUL escape": _joined("a=%00"),
    "ten thousand letters": _joined("a=" + "x" * 10_000),
}
PARAMETER_EDITS: Mapping[str, Callable[[str], str | None]] = {
    "lost": lambda _: None,
    "empty": lambda _: "",
    "other": lambda _: "other",
    "extended": lambda value: f"{value}x",
    "truncated": lambda value: value[:-1],
    "in capitals": str.upper,
    "blanks around": lambda value: f" {value} ",
    "blanks as hyphens": lambda value: value.replace(" ", "-"),
    "first word": lambda value: value.split(" ")[0],
    "leading zero": lambda value: re.sub(r"\b(\d)\b", r"0\1", value),
    "no leading zero": lambda value: re.sub(r"\b0+(\d)", r"\1", value),
    "as ISO date": lambda value: re.sub(r"(\d+)/(\d+)/(\d+)", r"\3-\1-\2", value),
    "day first": lambda value: re.sub(r"(\d+)/(\d+)/(\d+)", r"\2/\1/\3", value),
    "in quotes": lambda value: f'"{value}"',
    "with an accent": lambda value: f"{value}\u0301",
}


def queries(draft: Draft) -> Iterator[Recording]:
    """Another query for each expected event, in one respect at a time."""
    expected = range(1, len(draft.events))
    for index in drawn(expected, MOST_EVENTS, draft.task["task_id"], "query"):
        for name, edit in drawn(QUERY_EDITS.items(), WHOLE, draft.task["task_id"], index, "query"):
            yield from requested(draft, index, edit(draft.events[index].url), f"query {name}")
    for index in expected:
        yield from _parameters(draft, index)


def _parameters(draft: Draft, index: int) -> Iterator[Recording]:
    """Each parameter of the query lost, renamed, repeated and changed."""
    url = draft.events[index].url
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    for place, (name, value) in enumerate(pairs):
        task_id, where = draft.task["task_id"], f"parameter {name}"
        for about, edit in drawn(PARAMETER_EDITS.items(), PER_PARAMETER, task_id, index, name, place):
            changed = edit(value)
            kept = [] if changed is None else [(name, changed)]
            yield from requested(
                draft, index, _with_pairs(url, [*pairs[:place], *kept, *pairs[place + 1 :]]), f"{where} {about}"
            )
        renamed = [*pairs[:place], (name.swapcase(), value), *pairs[place + 1 :]]
        yield from requested(draft, index, _with_pairs(url, renamed), f"{where} renamed")
        for second in ("0", "zzz"):
            yield from requested(draft, index, _with_pairs(url, [*pairs, (name, second)]), f"{where} and {second}")
    if pairs:
        yield from requested(draft, index, _asbase64_step(url), "query as a base64 step")


def _with_pairs(url: str, pairs: list[tuple[str, str]]) -> str:
    query = urlencode(pairs)
    return f"{url.partition('?')[0]}?{query}" if query else url.partition("?")[0]


def _asbase64_step(url: str) -> str:
    base, _, query = url.partition("?")
    return f"{base.rstrip('/')}/{base64_step(query)}/"
