"""What a trajectory is made of: steps, screenshots, and where an action acted on the page that the agent saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.safety.json import read_number

MOST_PIXELS = 100_000  # no picture is as wide or high; numbers beyond it are no places
_POINTING = ("click", "tap", "hover", "mouse", "drag", "type", "input", "fill")
_SCROLLING = ("scroll", "wheel")  # whose x and y are distances for some recorders
_PAIRS = ("start_coordinate", "startCoordinates", "coordinate", "coordinates")
_MEMBERS = (("x", "y"), ("coordinate_x", "coordinate_y"))
_LONGEST_NAME = 80  # characters of a name that are looked at


class Target(Struct, frozen=True):
    """A point, or a box with a width and a height, in pixels of the screenshot before the action.

    They count from its top left corner. Where the recorder says how large the page was in units of these numbers, which
    are CSS pixels then, `frame` holds that width and height: a screenshot may have several pixels for each.
    """

    x: float
    y: float
    width: float = 0
    height: float = 0
    frame: tuple[float, float] | None = None

    def scaled(self, by_x: float, by_y: float) -> Target:
        """The same place where units are larger by these factors."""
        return Target(self.x * by_x, self.y * by_y, self.width * by_x, self.height * by_y)

    def in_pixels(self, size: tuple[int, int] | None) -> Target:
        """The same place in a screenshot of that many pixels, if its frame is known; otherwise as it is."""
        if self.frame is None or size is None:
            return self
        return self.scaled(size[0] / self.frame[0], size[1] / self.frame[1])


def build_target(
    x: object, y: object, width: object = 0, height: object = 0, frame: tuple[object, object] | None = None
) -> Target | None:
    """The target of untrusted numbers. None if one of them is no number, or none that a picture can have."""
    place = [_parse_pixels(value) for value in (x, y, width, height)]
    left, top, across, down = place
    if left is None or top is None or across is None or down is None or across < 0 or down < 0:
        return None
    return Target(left, top, across, down, _parse_frame(frame))


def find_target(action: str, arguments: Mapping[str, object]) -> Target | None:
    """The point of an action that points at one, as clicks do; None where the arguments have none.

    Tools of several kinds of actions name the kind among their arguments, or have an object of its arguments there.
    """
    inner = arguments.get("action")
    fields = inner if isinstance(inner, Mapping) else arguments
    names = [name[:_LONGEST_NAME].lower() for name in (action, inner, fields.get("type")) if isinstance(name, str)]
    if not _has_word(names, _POINTING) or _has_word(names, _SCROLLING):
        return None
    pairs = [fields.get(name) for name in _PAIRS] + [[fields.get(x), fields.get(y)] for x, y in _MEMBERS]
    return next((target for pair in pairs if (target := parse_pair(pair))), None)


def parse_pair(pair: object) -> Target | None:
    """The point of a list of two numbers; None of anything else."""
    return build_target(*pair) if isinstance(pair, list | tuple) and len(pair) == 2 else None


def _has_word(names: Sequence[str], words: Sequence[str]) -> bool:
    return any(word in name for name in names for word in words)


def _parse_frame(frame: tuple[object, object] | None) -> tuple[float, float] | None:
    width, height = map(_parse_pixels, frame or (None, None))
    return (width, height) if width and height and width >= 1 and height >= 1 else None


def _parse_pixels(value: object) -> float | None:
    number = read_number(value, -MOST_PIXELS, MOST_PIXELS)
    return None if number is None else float(number)


IMAGES = (".png", ".jpg", ".jpeg", ".webp")
NO_ANSWER = "<no_answer>"  # what the answer is as long as the agent has given none


class UnreadableTrajectory(RecordingError):
    """An unreadable trajectory. `code` is the reason code of `fara_webeval.md` §4.2."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Screenshot(Struct, frozen=True):
    """An image of the run. `name` is its path below the trajectory's directory, `number` the integer it ends in.

    One that is embedded is a part of another file, whose name and a number it has.
    """

    name: str
    number: int
    is_embedded: bool = False


class Step(Struct, frozen=True):
    """One action of the agent, whatever dialect the log is in (`fara_webeval.md` §3.2).

    `action` is the renamed action, `raw_action` what the log calls it, `tool` the logged top-level name. `arguments`
    come without the action and without what the agent thought. `line` counts from 1. `before` and `after` are the
    screenshots of the page before and after the action, where there are any. `target` is what the action pointed at on
    the former, where the recorder says so.
    """

    index: int
    action: str
    raw_action: str
    tool: str | None
    arguments: Mapping[str, Any]
    thought: str
    url: str | None
    timestamp: str | None
    source: str | None
    observation: str | None
    line: int
    before: Screenshot | None = None
    after: Screenshot | None = None
    target: Target | None = None


def build_step(index: int, action: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> Step:
    """A step of a format that has no log lines, whose other fields are unknown unless they are passed.

    `index` counts from 1, `timestamp` is ISO 8601.
    """
    unknown: dict[str, Any] = dict.fromkeys(("tool", "url", "timestamp", "source", "observation"))
    usual = {"raw_action": action, "thought": "", "line": index}
    return Step(index=index, action=action, arguments=arguments or {}, **(unknown | usual | fields))


def format_time(seconds: float | None) -> str | None:
    """ISO 8601 of the seconds since 1970; None for a moment that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
