"""What browser-use's actions pointed at: the box of an element, or the point of a click.

PyPI `browser-use`: `DOMHistoryElement` of `dom/history_tree_processor/view.py` until 0.4 has the box in the viewport,
and the size of that. `DOMInteractedElement` of `dom/views.py` since 0.5 (85ddbfe) has `bounds` in CSS pixels of the
document, and nothing says how far that was scrolled. So there is no box on a page that the agent has scrolled. An
element in an inner frame has bounds of that frame, and nothing tells it from others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from pytest_webeval.recordings.trajectory.target import Target, build_target, find_target

_SCROLLING = ("scroll", "find_text", "send_keys")  # what may have scrolled a page
_NO_MEMBERS: Mapping[str, Any] = {}


class TargetReader:
    """Reads the targets of an agent's actions, entry by entry in their order: an earlier one may scroll the page."""

    def __init__(self) -> None:
        self._url: str | None = None
        self._is_scrolled = False

    def read_entry(
        self, url: str | None, elements: Sequence[object], actions: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[Target | None]:
        """The target of each action on a page, None where nothing says it; `elements` are those that they used."""
        if url != self._url:
            self._url, self._is_scrolled = url, False
        pairs = zip(actions, chain(elements, repeat(None)), strict=False)
        return [self._read(name, arguments, element) for (name, arguments), element in pairs]

    def _read(self, name: str, arguments: Mapping[str, Any], element: object) -> Target | None:
        target = _read_element(element, is_scrolled=self._is_scrolled) or find_target(name, arguments)
        self._is_scrolled = self._is_scrolled or any(word in name for word in _SCROLLING)
        return target


def _read_element(element: object, *, is_scrolled: bool) -> Target | None:
    members = _as_object(element)
    box = _as_object(members.get("viewport_coordinates"))
    if box:
        corner, viewport = _as_object(box.get("top_left")), _as_object(members.get("viewport_info"))
        frame = viewport.get("width"), viewport.get("height")
        return build_target(corner.get("x"), corner.get("y"), box.get("width"), box.get("height"), frame)
    bounds = _NO_MEMBERS if is_scrolled else _as_object(members.get("bounds"))
    return build_target(*(bounds.get(name) for name in ("x", "y", "width", "height")))


def _as_object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else _NO_MEMBERS
