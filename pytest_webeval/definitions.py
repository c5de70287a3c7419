"""How a definition that somebody wrote becomes a struct or a model: plain ones fast, odd ones as the reference does."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from typing import TypeVar

import msgspec

DEEPEST = 100  # levels of what is told to be JSON here; pydantic says how much deeper anything may be

Model = TypeVar("Model")


def read_definition(model: type[Model], raw: object, root: str) -> Model:
    """What a definition says. Raises `ValueError` that says what is wrong, and where below the root.

    Nearly all definitions are plain, and msgspec reads those. What WebArena-Verified makes of the others is what
    pydantic makes of them, so that is asked; importing it takes longer than to score some tasks. A struct that can tell
    has a property `is_plain`.
    """
    if issubclass(model, msgspec.Struct):
        with suppress(msgspec.ValidationError, UnicodeEncodeError):  # half of a surrogate pair where no text belongs
            found = msgspec.convert(raw, model)
            if getattr(found, "is_plain", True):
                return found
    from pytest_webeval.task_models import read_leniently  # see above

    return read_leniently(model, raw, root)


def quoted_fields(names: Sequence[str]) -> str:
    """Names of fields as a message has them: the fields 'intent', 'eval' and 'sites'."""
    *first, last = (f"'{name}'" for name in names)
    return f"the fields {', '.join(first)} and {last}" if first else f"the field {last}"


def is_json(tree: Any, depth: int = DEEPEST) -> bool:
    """Whether something is what JSON can hold, and nested no deeper than that."""
    if type(tree) is dict:
        return depth > 0 and all(type(key) is str and is_json(one, depth - 1) for key, one in tree.items())
    if type(tree) is list:
        return depth > 0 and all(is_json(one, depth - 1) for one in tree)
    return tree is None or type(tree) in (str, int, float, bool)


def is_unicode(text: str) -> bool:
    """Whether a text holds no half of a surrogate pair; pydantic minds one where a text must have some length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unknown_keys(names: Iterable[str], known: Sequence[str], where: str) -> str | None:
    """What is wrong with names that are not known, with the nearest known ones; None if all are known."""
    unknown = [name for name in names if name not in known]
    if not unknown:
        return None
    from difflib import get_close_matches  # most definitions have no unknown key

    nearest = dict.fromkeys(match for name in unknown for match in get_close_matches(name[:80], known, 1))
    hint = f"did you mean {_quoted(nearest)}? " if nearest else ""
    noun = "key" if len(unknown) == 1 else "keys"
    return f"unknown {noun} {_quoted(unknown)} @ {where}; {hint}known: {', '.join(known)}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"{name!r:.80}" for name in names)


def told_of(error: msgspec.ValidationError, root: str = "") -> str:
    """What msgspec has to say of data that are not as they should be, with the place in the words of this package."""
    told, _, place = str(error).partition(" - at `")
    where = f"{root}{place.removeprefix('key` in `').removeprefix('$').rstrip('`')}".lstrip(".")
    return f"{told} @ {where}" if where else told
