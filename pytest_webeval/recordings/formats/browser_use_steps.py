"""What browser-use's agent did: the steps of a history, with their screenshots, and what they pointed at.

PyPI `browser-use`, `agent/views.py` and `browser/views.py`: until 0.2 the thoughts of a model output are below
`current_state`; until 0.4 the state holds a `screenshot` in base64, since 0.5 a `screenshot_path`, which is absolute.

`DOMHistoryElement` of `dom/history_tree_processor/view.py` until 0.4 has the box of an element in the viewport, and the
size of that. `DOMInteractedElement` of `dom/views.py` since 0.5 (85ddbfe) has `bounds` in CSS pixels of the document,
and nothing says how far that was scrolled. So there is no box on a page that the agent has scrolled. An element in an
inner frame has bounds of that frame, and nothing tells it from others.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES, RunInputs
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.trajectory.step import (
    Screenshot,
    Step,
    Target,
    build_step,
    build_target,
    find_target,
    format_time,
)
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import truncate

MAX_OBSERVATION = 2000  # characters; an extracted page may be as long as it likes
MAX_STEPS_ERROR = "Failed to complete task in maximum steps"  # the last result of a run that is out of steps, since 0.2
NO_OUTPUT = "unparsed"  # the action of a step in which the model gave none
SCREENSHOTS = "screenshots"
_AGENT_DIRECTORY = re.compile(r"browser_use_agent_[\w-]{1,80}")  # which holds `screenshots`, if it was copied as it is
_MOST_DIRECTORIES = 5
_SEPARATOR = re.compile(r"[/\\]")
_THOUGHTS = ("thinking", "evaluation_previous_goal", "memory", "next_goal")
_BASE64_PREFIX = re.compile(r"\Adata:image/[a-z]{1,10};base64,")


class HistoryImages(Struct, frozen=True):
    """Screenshots of a history: one for each entry, or None. `encoded` are those that the file itself holds."""

    inputs: RunInputs
    by_entry: tuple[Screenshot | None, ...]
    encoded: Mapping[str, str]
    missing: int = 0

    @property
    def all(self) -> tuple[Screenshot, ...]:
        """Each of them once, in the order of the entries."""
        return tuple(dict.fromkeys(shot for shot in self.by_entry if shot is not None))

    def load(self, shot: Screenshot) -> bytes:
        """The bytes of an image. Raises `RecordingError`."""
        content = self.encoded.get(shot.name)
        if content is None:
            return self.inputs.read(shot.name, MAX_FILE_BYTES)
        try:
            return base64.b64decode(_BASE64_PREFIX.sub("", content), validate=True)
        except (binascii.Error, ValueError) as error:
            raise RecordingError(f"{shot.name} is not valid base64: {error}; record the run again") from error


def find_images(files: RecordedFiles, name: str, entries: Sequence[JsonFields]) -> HistoryImages:
    """The screenshot of each entry, by the name of its file or in the entry itself."""
    below = {_base_name(shot.name): shot for folder in _image_folders(files) for shot in files.list_images(folder)}
    found: list[Screenshot | None] = []
    encoded: dict[str, str] = {}
    missing = 0
    for number, entry in enumerate(entries, 1):
        state = entry.member("state")
        path, content = state.text("screenshot_path"), state.text("screenshot")
        shot = below.get(_base_name(path)) if path else None
        missing += path is not None and path != "" and shot is None
        if shot is None and content:
            shot = Screenshot(f"{name}#{number}", number, is_embedded=True)
            encoded[shot.name] = content
        found.append(shot)
    return HistoryImages(files.inputs, tuple(found), encoded, missing)


def _image_folders(files: RecordedFiles) -> list[str]:
    """Directories with screenshots; of a name in several of them, that in the last counts."""
    copied = [name for name in files.names if _AGENT_DIRECTORY.fullmatch(name)][:_MOST_DIRECTORIES]
    return ["", *(f"{name}/{SCREENSHOTS}" for name in copied if SCREENSHOTS in files.list_names(name)), SCREENSHOTS]


def _base_name(path: str) -> str:
    return _SEPARATOR.split(path)[-1]


def is_end_mark(entry: JsonFields) -> bool:
    """Whether the library added an entry because the steps were used up: it has no output and no page."""
    results = entry.objects("result")
    is_empty = entry.raw.get("model_output") is None and entry.raw.get("metadata") is None
    return is_empty and len(results) == 1 and results[0].raw.get("error") == MAX_STEPS_ERROR


def read_steps(entries: Sequence[JsonFields], images: HistoryImages) -> Iterator[Step]:
    """One step for each action, and for each output that the model failed to give.

    The page, its screenshot and the thoughts are those before the first action of an entry.
    """
    index, targets = 0, TargetReader()
    for place, entry in enumerate(entries):
        if is_end_mark(entry):
            continue
        output, url = entry.member("model_output"), entry.member("state").text("url") or None
        actions = [_read_action(action) for action in output.items("action")] or [(NO_OUTPUT, {})]
        observations = _read_observations(entry.objects("result"), len(actions))
        pointed = targets.read_entry(url, entry.member("state").items("interacted_element"), actions)
        following = images.by_entry[place + 1] if place + 1 < len(entries) else None
        for number, (action, arguments) in enumerate(actions):
            index += 1
            is_first, is_last = number == 0, number == len(actions) - 1
            yield build_step(
                index,
                action,
                arguments,
                thought=_read_thought(output) if is_first else "",
                url=url if is_first else None,
                observation=observations[number],
                timestamp=format_time(entry.member("metadata").number("step_start_time")),
                before=images.by_entry[place] if is_first else None,
                after=following if is_last else None,
                target=pointed[number],
            )


def _read_action(action: object) -> tuple[str, Mapping[str, Any]]:
    members = action.items() if isinstance(action, dict) else ()
    for name, arguments in members:
        if arguments is not None:
            return name or NO_OUTPUT, arguments if isinstance(arguments, dict) else {}
    return NO_OUTPUT, {}


def _read_observations(results: Sequence[JsonFields], count: int) -> list[str | None]:
    """What each action resulted in. The library stops at an error, so that later actions have no result."""
    names = ("error", "extracted_content", "long_term_memory")
    stored = (next(filter(None, map(result.text, names)), None) for result in results)
    texts = [truncate(text, MAX_OBSERVATION) if text else None for text in stored]
    rest = [text for text in texts[count - 1 :] if text]
    observations = [*texts[: count - 1], "\n".join(rest) or None]
    return observations + [None] * (count - len(observations))


def _read_thought(output: JsonFields) -> str:
    """What the model thought, until 0.2 below `current_state`."""
    fields = output.member("current_state") if "current_state" in output else output
    return "\n".join(text.strip() for name in _THOUGHTS if (text := fields.text(name)) and text.strip())


def read_duration(entries: Sequence[JsonFields]) -> float | None:
    """The seconds of all steps, as `total_duration_seconds` of the library adds them up; None where none is timed."""
    spans = []
    for entry in entries:
        times = entry.member("metadata")
        start, end = times.number("step_start_time"), times.number("step_end_time")
        if start is not None and end is not None and end >= start:
            spans.append(end - start)
    return sum(spans) if spans else None


_SCROLLING = ("scroll", "find_text", "send_keys")  # what may have scrolled a page


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
        targets = []
        for (name, arguments), element in zip(actions, chain(elements, repeat(None)), strict=False):
            targets.append(_read_element(element, is_scrolled=self._is_scrolled) or find_target(name, arguments))
            self._is_scrolled = self._is_scrolled or any(word in name for word in _SCROLLING)
        return targets


def _read_element(element: object, *, is_scrolled: bool) -> Target | None:
    box = get_member(element, "viewport_coordinates")
    if isinstance(box, Mapping) and box:
        corner, viewport = box.get("top_left"), get_member(element, "viewport_info")
        frame = get_member(viewport, "width"), get_member(viewport, "height")
        place = get_member(corner, "x"), get_member(corner, "y")
        return build_target(*place, box.get("width"), box.get("height"), frame)
    bounds = None if is_scrolled else get_member(element, "bounds")
    return build_target(*(get_member(bounds, name) for name in ("x", "y", "width", "height")))
