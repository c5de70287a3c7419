"""Answers that are given without looking at any site: the same few for every task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.parity.harness.drafts import Draft, Event
from tests.parity.harness.goldens import (
    expected_event,
    golden_draft,
    home_page,
    kind_of,
    network_configs,
    response_config,
)
from tests.parity.harness.leaves import leaves, replaced
from tests.parity.harness.recording import (
    EMPTY_TRACE,
    GUESSES,
    HONEST,
    INFINITE,
    PATH_TRICK,
    PATTERN,
    SITE_PATTERN,
    SITES,
    Recording,
)
from tests.parity.harness.url_edits import PATH_TRICK_EDITS, SITE_PATTERN_EDITS

ANYTHING = "^.*$"
# Statuses that need no data, and data that are often right: what an honest agent might answer as well.
BARE = {
    "not found": ("NOT_FOUND_ERROR", None),
    "not allowed": ("ACTION_NOT_ALLOWED_ERROR", None),
    "denied": ("PERMISSION_DENIED_ERROR", None),
    "done": ("SUCCESS", None),
    "yes": ("SUCCESS", [True]),
    "nothing": ("SUCCESS", [0]),
}
GUESSED = {
    "yes and no": [[True, False]],
    "the first five thousand numbers": [list(range(5000))],
    "words": [["yes", "no", "none", "0", "1", "2", "3", "May", "$5", ANYTHING]],
}
# What is put in the place of each value of the expected shape, which a task's wording often tells.
EVERYWHERE = {
    "anything": (PATTERN, ANYTHING),
    "inf km": (INFINITE, "inf km"),
    "inf minutes": (INFINITE, "inf minutes"),
    "infinity": (INFINITE, float("inf")),
}
PATTERNS = {"task_type": ANYTHING, "status": ANYTHING}


def fixed_answers(task: Mapping[str, Any]) -> Iterator[Recording]:
    """What an agent may try on any task, most of it without leaving the home page."""
    draft = golden_draft(task)
    idle = replace(draft, events=draft.events[:1])
    yield from _bare(idle)
    if kind_of(task) == "RETRIEVE":  # elsewhere nobody looks at the data
        yield from _patterned(idle)
        yield from _guessed(idle)
    yield from _without_trace(idle)
    yield from _url_tricks(draft)


def _answer(draft: Draft, about: str, kind: str, data: Any, **fields: Any) -> Recording:
    """The draft with these data in the expected envelope, or with what else is given."""
    envelope = {"task_type": kind_of(draft.task), "status": "SUCCESS", "retrieved_data": data, **fields}
    return replace(draft, answer=envelope).recording(about, kind)


def _bare(idle: Draft) -> Iterator[Recording]:
    for about, (status, data) in BARE.items():
        if data is None or kind_of(idle.task) == "RETRIEVE":
            yield _answer(idle, f"only {about}", HONEST, data, status=status)
    yield _answer(idle, "only patterns", PATTERN, None, **PATTERNS)


def _patterned(idle: Draft) -> Iterator[Recording]:
    yield _answer(idle, "all patterns", PATTERN, _everywhere(idle, ANYTHING), **PATTERNS)
    yield _answer(idle, "a pattern", PATTERN, [ANYTHING])
    yield _answer(idle, "objects of patterns", PATTERN, [{ANYTHING: ANYTHING}])


def _guessed(idle: Draft) -> Iterator[Recording]:
    for about, (kind, value) in EVERYWHERE.items():
        yield _answer(idle, f"{about} everywhere", kind, _everywhere(idle, value))
    for about, data in GUESSED.items():
        yield _answer(idle, f"guesses: {about}", GUESSES, data)
        yield _answer(idle, f"guesses everywhere: {about}", GUESSES, _everywhere(idle, data[0]))


def _everywhere(idle: Draft, value: Any) -> Any:
    """Data of the expected shape with the same in the place of each value."""
    data = idle.answer["retrieved_data"]
    if not data:
        return [value]
    for leaf in leaves(data, response_config(idle.task)["results_schema"]):
        data = replaced(data, leaf.path, value)
    return data


def _without_trace(idle: Draft) -> Iterator[Recording]:
    """The right answer beside a trace without events: what must not have happened has not."""
    yield idle.recording("the right answer without a trace", EMPTY_TRACE, entries=b"")
    if kind_of(idle.task) == "RETRIEVE":
        answer = {**idle.answer, "retrieved_data": None}
        yield replace(idle, answer=answer).recording("no data, no trace", EMPTY_TRACE, entries=b"")


def _url_tricks(draft: Draft) -> Iterator[Recording]:
    """All that must be requested is requested at addresses that lead elsewhere; the answer claims success."""
    tricks: Mapping[str, tuple[str, Callable[[str], str]]] = {
        "encoded slashes": (PATH_TRICK, PATH_TRICK_EDITS["hidden behind an encoded slash"]),
        "small encoded slashes": (PATH_TRICK, PATH_TRICK_EDITS["small encoded slashes"]),
        "dot segments": (PATH_TRICK, PATH_TRICK_EDITS["a step up"]),
        "encoded dots": (PATH_TRICK, PATH_TRICK_EDITS["steps up with encoded dots"]),
        "another host": (SITE_PATTERN, SITE_PATTERN_EDITS["any letter for the dot"]),
    }
    home, *expected = draft.events
    for about, (kind, edit) in tricks.items():
        events = tuple(replace(event, url=edit(event.url)) if _on_a_site(event) else event for event in expected)
        if any(event.url != right.url for event, right in zip(events, expected, strict=True)):
            tricked = replace(draft, events=(home, *events))
            yield _answer(tricked, f"addresses with {about}", kind, None)


def _on_a_site(event: Event) -> bool:
    """Whether the task names the site: where any will do, no address leads elsewhere."""
    return event.url.startswith(tuple(url for urls in SITES.values() for url in urls))


def lucky(task: Mapping[str, Any]) -> bool:
    """Whether one of the bare answers is right, and the network is asked for no page but the first."""
    expected = response_config(task)["expected"]
    if "retrieved_data" not in expected or any(not _begins_there(config, task) for config in network_configs(task)):
        return False
    data = expected["retrieved_data"] if kind_of(task) == "RETRIEVE" else None
    return any(status == str(expected["status"]).upper() and _is_right(given, data) for status, given in BARE.values())


def _begins_there(config: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Whether the evaluator asks for the page on which every run begins."""
    event, home = expected_event(config, task), home_page(task)
    return (event.url.rstrip("/"), event.method, event.status) == (home.url.rstrip("/"), home.method, home.status)


def _is_right(given: list[Any] | None, wanted: list[Any] | None) -> bool:
    """Whether the bare data are the expected ones. To the reference true is 1 as well, and 0 false."""
    if given is None or not wanted:
        return given is None and not wanted
    return len(wanted) == 1 and isinstance(wanted[0], bool | int | float) and wanted[0] == given[0]
