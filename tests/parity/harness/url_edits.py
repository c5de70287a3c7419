"""Events whose addresses differ from the expected ones: path, host, notation."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.recording import HONEST, PATH_TRICK, PLACEHOLDER, SITE_PATTERN, SITES, Recording

Edits = Mapping[str, Callable[[str], str]]
PATHS, NOTATIONS, TRICKS, MOST_EVENTS = 3, 2, 1, 3


def _on_path(edit: Callable[[str], str]) -> Callable[[str], str]:
    """An edit of the path alone."""

    def on_url(url: str) -> str:
        parts = urlsplit(url)
        return parts._replace(path=edit(parts.path)).geturl()

    return on_url


PATH_EDITS: Edits = {
    "with a slash": _on_path(lambda path: f"{path}/"),
    "with two slashes": _on_path(lambda path: f"{path}//"),
    "without its slash": _on_path(lambda path: path.rstrip("/")),
    "with a letter more": _on_path(lambda path: f"{path}x"),
    "with a letter less": _on_path(lambda path: path[:-1]),
    "one step deeper": _on_path(lambda path: f"{path}/deeper"),
    "one step higher": _on_path(lambda path: path.rpartition("/")[0]),
    "with a step before": _on_path(lambda path: f"/index.php{path}"),
    "without the first step": _on_path(lambda path: "/" + path.lstrip("/").partition("/")[2]),
    "with the last step other": _on_path(lambda path: f"{path.rpartition('/')[0]}/other"),
    "with its steps reversed": _on_path(lambda path: "/".join(reversed(path.split("/")))),
    "in capitals": _on_path(str.upper),
    "in small letters": _on_path(str.lower),
    "in title case": _on_path(str.title),
    "with doubled slashes": _on_path(lambda path: path.replace("/", "//")),
    "with a doubled slash at the end": _on_path(
        lambda path: "/".join(path.rsplit("/", 1)[:1]) + "//" + path.rsplit("/")[-1]
    ),
    "with other numbers": _on_path(lambda path: re.sub(r"\d+", lambda found: str(int(found[0]) + 1), path)),
    "with hyphens lost": _on_path(lambda path: path.replace("-", "")),
    "with underscores": _on_path(lambda path: path.replace("-", "_")),
    "with .html": _on_path(lambda path: f"{path}.html"),
    "without .html": _on_path(lambda path: path.removesuffix(".html")),
    "with .json": _on_path(lambda path: f"{path}.json"),
    "as a picture": _on_path(lambda path: f"{path}.png"),
    "with a parameter": _on_path(lambda path: f"{path};jsessionid=1"),
    "as a script with parameter": _on_path(lambda path: f"{path}.js;v=1"),
    "empty": _on_path(lambda _: ""),
    "only a slash": _on_path(lambda _: "/"),
    "with a base64 step": _on_path(lambda path: f"{path}/{base64_step('a=b')}"),
    "with a base64 step in the middle": _on_path(lambda path: path.replace("/", f"/{base64_step('q=x&p=2')}/", 2)),
    "with a base64 step without text": _on_path(lambda path: f"{path}/{base64_step('hello')}"),
}
NOTATION_EDITS: Edits = {
    "fragment": lambda url: f"{url}#top",
    "empty fragment": lambda url: f"{url}#",
    "route in fragment": lambda url: f"{url}#/a?b=c",
    "https": lambda url: url.replace("http:", "https:", 1),
    "no scheme": lambda url: url.removeprefix("http:"),
    "no scheme nor slashes": lambda url: url.removeprefix("http://"),
    "scheme in capitals": lambda url: url.replace("http:", "HTTP:", 1),
    "host in capitals": lambda url: url.replace(".test", ".TEST", 1),
    "host with a dot": lambda url: url.replace(".test", ".test.", 1),
    "www": lambda url: url.replace("http://", "http://www.", 1),
    "user": lambda url: url.replace("http://", "http://user@", 1),
    "user and password": lambda url: url.replace("http://", "http://u:p@", 1),
    "port lost": lambda url: re.sub(r"(\.test):\d+", r"\1", url, count=1),
    "other port": lambda url: re.sub(r"(\.test):\d+", r"\1:80", url, count=1),
    "port longer": lambda url: re.sub(r"(\.test:\d+)", r"\g<1>1", url, count=1),
    "other host": lambda url: url.replace(".test", ".example", 1),
    "longer host": lambda url: url.replace("http://", "http://my", 1),
    "host as path": lambda url: url.replace("http://", "http://elsewhere.test/http://", 1),
    "through a proxy": lambda url: f"http://proxy.test/?u={url}",
    "three slashes": lambda url: url.replace("http://", "http:///", 1),
    "one slash": lambda url: url.replace("http://", "http:/", 1),
    "backslashes": lambda url: url.replace("/", "\\"),
    "blank before": lambda url: f" {url}",
    "blank behind": lambda url: f"{url} ",
    "line break behind": lambda url: f"{url}\n",
    "blank inside": lambda url: f"{url[:-1]} {url[-1:]}",
    "tab inside": lambda url: f"{url[:-2]}\t{url[-2:]}",
    "one letter escaped": lambda url: re.sub(r"\w(?=\W*$)", lambda found: f"%{ord(found[0]):02X}", url, count=1),
    "last letter escaped twice": lambda url: re.sub(
        r"\w(?=\W*$)", lambda found: f"%25{ord(found[0]):02X}", url, count=1
    ),
    "escaped blank behind": lambda url: f"{url}%20",
    "escapes undone": lambda url: url.replace("%20", " ").replace("%2B", "+"),
    "small escapes": lambda url: re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), url),
    "accent": lambda url: url.replace("e", "é", 1) if ".test" not in url[:8] else url,
    "Cyrillic letter": lambda url: url[:-1] + "а",  # noqa: RUF001
    "view-source": lambda url: f"view-source:{url}",
    "other site": lambda url: url.replace("shop.test:7770", "git.test:8023").replace("red.test:9999", "shop.test:7770"),
    "admin on the shop's port": lambda url: url.replace(":7780", ":7770"),
}
PATH_TRICK_EDITS: Edits = {
    "encoded slash at the end": _on_path(lambda path: f"{path}%2F"),
    "encoded slashes": _on_path(lambda path: path[:1] + path[1:].replace("/", "%2F")),
    "small encoded slashes": _on_path(lambda path: path[:1] + path[1:].replace("/", "%2f")),
    "last slash encoded": _on_path(lambda path: "%2F".join(path.rsplit("/", 1))),
    "slash encoded twice": _on_path(lambda path: "%252F".join(path.rsplit("/", 1))),
    "a step up": _on_path(lambda path: f"/x/..{path}"),
    "a step up at the end": _on_path(lambda path: f"{path}/x/.."),
    "encoded step up": _on_path(lambda path: f"/x%2F..{path}"),
    "steps up with encoded dots": _on_path(lambda path: f"/x/%2E%2e{path}"),
    "hidden behind an encoded slash": _on_path(lambda path: f"/x%2F..%2F{path.lstrip('/')}"),
    "dots": _on_path(lambda path: path.replace("/", "/./", 1)),
    "dot at the end": _on_path(lambda path: f"{path}/."),
    "up beyond the root": _on_path(lambda path: f"/../..{path}"),
}
SITE_PATTERN_EDITS: Edits = {
    "any letter for the dot": lambda url: url.replace(".test", "xtest", 1),
    "a hyphen for the dot": lambda url: url.replace(".test", "-test", 1),
    "a slash for the dot": lambda url: url.replace(".test", "/test", 1),
}
PLACEHOLDER_EDITS: Edits = {
    "for the address": lambda url: _unrendered(url),  # noqa: PLW0108  (defined below)
    "in small letters": lambda url: _unrendered(url).replace("__SHOPPING", "__shopping"),
    "behind a scheme": lambda url: f"http://{_unrendered(url)}",
}
FAMILIES = (
    ("path", PATH_EDITS, PATHS, HONEST),
    ("address", NOTATION_EDITS, NOTATIONS, HONEST),
    ("path trick", PATH_TRICK_EDITS, TRICKS, PATH_TRICK),
    ("site trick", SITE_PATTERN_EDITS, TRICKS, SITE_PATTERN),
    ("placeholder", PLACEHOLDER_EDITS, TRICKS, PLACEHOLDER),
)


def base64_step(text: str) -> str:
    """The text as a step of a path, as shops write a query."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def urls(draft: Draft) -> Iterator[Recording]:
    """Another address for each expected event, in one respect at a time."""
    expected = range(1, len(draft.events))
    for index in drawn(expected, MOST_EVENTS, draft.task["task_id"], "url"):
        url = draft.events[index].url
        for about, edits, count, kind in FAMILIES:
            for name, edit in drawn(edits.items(), count, draft.task["task_id"], index, about):
                yield from requested(draft, index, edit(url), f"{about} {name}", kind)


def _unrendered(url: str) -> str:
    """The address as a task spells it."""
    for site, (address, *_) in SITES.items():
        url = url.replace(address, f"__{site.upper()}__")
    return url


def requested(draft: Draft, index: int, url: str, about: str, kind: str = HONEST) -> Iterator[Recording]:
    """The draft with another address for that event, if it is another."""
    event = draft.events[index]
    if url != event.url:
        changed = replace(event, url=url)
        yield draft.with_event(index, changed).recording(f"event {index}: {about}", kind)
