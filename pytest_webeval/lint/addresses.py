"""Placeholders of sites that are misspelt, out of place or never replaced, and addresses where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from pytest_webeval.lint.definition import CONTENT, COOKIE, Definition
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.lint.keys import find_nearest
from pytest_webeval.tasks.sites import SITE_NAMES, placeholder
from pytest_webeval.values.base import looks_like_pattern

PLACEHOLDER = re.compile(r"__[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*__")
SSH = "__SSH_HOST__"  # what the normal form of an SSH address has for its host
MISSPELT = 0.85


class AddressedText(Struct, frozen=True):
    """A text of a task that may have the placeholder of a site: at its beginning if `is_url`."""

    steps: Steps
    text: str
    is_url: bool
    is_replaced: bool = True

    @property
    def placeholders(self) -> list[str]:
        """What is spelt like a placeholder in it, each once."""
        return [name for name in dict.fromkeys(PLACEHOLDER.findall(self.text)) if name != SSH]

    @property
    def start(self) -> str | None:
        """What is spelt like a placeholder where one is replaced, None for a text that is no URL."""
        return find_start(self.text) if self.is_url else None


def find_start(url: str) -> str | None:
    """What a URL, or a pattern of one, has where the placeholder of its site belongs."""
    found = PLACEHOLDER.match(url.strip().removeprefix("^"))
    return found[0] if found and found[0] != SSH else None


def _list_texts(definition: Definition) -> Iterator[AddressedText]:
    for index, text in enumerate(definition.task.start_urls if definition.task else ()):
        yield AddressedText(("start_urls", index), text, is_url=True)
    for request in definition.requests:
        yield from (AddressedText(steps, text, is_url=True) for steps, text in (*request.urls, *request.referer_urls))
    for datum in definition.singles:
        is_replaced = datum.role not in (COOKIE, CONTENT) and datum.type_name not in ("markdown", "base64")
        if isinstance(datum.raw, str):
            yield AddressedText(datum.steps, datum.raw, is_url=False, is_replaced=is_replaced)


def check_placeholders(definition: Definition) -> Iterator[Problem]:
    """Placeholders that are misspelt, or of a site that the task does not name."""
    expected = definition.placeholders
    others = {placeholder(site) for site in (*SITE_NAMES, *(definition.sites.environments if definition.sites else ()))}
    for addressed in _list_texts(definition):
        for name in addressed.placeholders:
            is_start = name == addressed.start  # elsewhere `__main__` may be meant
            text = None if name in expected else _explain_placeholder(name, expected, others, is_start=is_start)
            if text is not None:
                yield Problem(addressed.steps, text, is_fatal=is_start)


def _explain_placeholder(name: str, expected: Sequence[str], others: AbstractSet[str], *, is_start: bool) -> str | None:
    if name in others:
        return f"{name} is a site that the task does not name; add {name.strip('_').lower()!r} to sites"
    problem = f"unknown placeholder {name:.80}"
    if nearest := find_nearest(name.upper(), expected, MISSPELT):
        return f"{problem}; use {nearest}"
    if not is_start:
        return None
    if nearest := find_nearest(name.upper(), sorted(others), MISSPELT):
        return f"{problem}; use {nearest}, and add {nearest.strip('_').lower()!r} to sites"
    return f"{problem}; use {' or '.join(expected) or 'a URL'}"


def check_sites(definition: Definition) -> Iterator[Problem]:
    """Sites of a task that the configuration does not have."""
    if definition.sites is None:
        return
    known = sorted(definition.sites.environments)
    for index, site in enumerate(definition.task_sites):
        if site not in known:
            nearest = find_nearest(site, known)
            advice = f"use {nearest!r}, or add it to environments" if nearest else "add it to environments"
            yield Problem(("sites", index), f"the site {site!r:.80} is not in the configuration; {advice}")


def check_placeholder_positions(definition: Definition) -> Iterator[Problem]:
    """Placeholders in the middle of a URL, which are replaced only at its beginning."""
    expected = definition.placeholders
    for addressed in _list_texts(definition):
        if addressed.is_url:
            text = addressed.text.strip()
            text = text.removeprefix("^") if looks_like_pattern(text) else text.partition("?")[0]
            for name in (name for name in expected if name in text and not text.startswith("__")):
                yield Problem(addressed.steps, f"{name} is replaced only at the beginning of a URL; begin with it")


def check_literal_placeholders(definition: Definition) -> Iterator[Problem]:
    """Placeholders where recorded addresses stay as they are: in cookies, content of responses and Markdown, and of a
    RequestPatternEvaluator.
    """
    named = {*definition.placeholders, *map(placeholder, SITE_NAMES)}
    texts = list(_list_texts(definition))
    for request in definition.request_patterns:  # which are compared with a request as it was recorded
        url_pattern = request.expected.url_pattern
        texts.append(AddressedText((*request.steps, "url_pattern"), url_pattern, is_url=True, is_replaced=False))
        for field in ("body", "params"):
            for name, text in (getattr(request.expected, field) or {}).items():
                if isinstance(text, str):
                    texts.append(AddressedText((*request.steps, field, name), text, is_url=False, is_replaced=False))
    for addressed in texts:
        known = named if addressed.is_url else definition.placeholders
        for name in () if addressed.is_replaced else (name for name in addressed.placeholders if name in known):
            text = f"{name} never matches here, for recorded addresses are not replaced; expect a text without it"
            yield Problem(addressed.steps, text)


def check_several_sites(definition: Definition) -> Iterator[Problem]:
    """Texts with the placeholders of two sites: in a recorded text only the addresses of one are replaced."""
    for addressed in _list_texts(definition):
        names = [name for name in addressed.placeholders if name in definition.placeholders]
        if len(names) > 1 and addressed.is_replaced and not addressed.is_url:
            text = f"{' and '.join(names)} in one text: only one of them is replaced in a recorded text; split it"
            yield Problem(addressed.steps, text)


def check_real_addresses(definition: Definition) -> Iterator[Problem]:
    """Addresses of the configuration where a placeholder belongs."""
    if definition.sites is None:
        return
    addresses = {
        url.rstrip("/"): site
        for site, each in definition.sites.environments.items()
        for url in each.urls
        if url.strip()
    }
    for addressed in _list_texts(definition):
        matches = [url for url in addresses if re.search(rf"{re.escape(url)}(?![\w.-])", addressed.text)]
        if matches:
            url = max(matches, key=len)
            use = placeholder(addresses[url])
            yield Problem(addressed.steps, f"the address {url:.80} of {addresses[url]}; use {use}")
