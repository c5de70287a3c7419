"""How a task definition becomes a struct or a model: plain ones fast, others as the reference does."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

import msgspec

Model = TypeVar("Model")


def decode_definition(model: type[Model], raw: object, root: str) -> Model:
    """What a definition says. Raises `ValueError` that says what is wrong, and where below the root.

    Nearly all definitions are plain, and msgspec reads those. What WebArena-Verified makes of the others is what
    pydantic makes of them, so that is asked; importing it takes longer than to score some tasks. A struct that can tell
    has a property `is_plain`.
    """
    if issubclass(model, msgspec.Struct):
        with suppress(msgspec.ValidationError, UnicodeEncodeError):  # half of a surrogate pair where no text belongs
            decoded = msgspec.convert(raw, model)
            if getattr(decoded, "is_plain", True):
                return decoded
    from pytest_webeval.tasks.lenient_models import read_leniently  # see above

    return read_leniently(model, raw, root)
