"""What a worker does for a session: a function with its settings, applied to one batch after the other.

Batches and replies travel as bytes, which executors pass on and do not read. Both ends are processes of one session.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from msgspec import Struct

BatchFunction = Callable[[Any, Sequence[Any]], Sequence[Any]]


class Job(Struct, frozen=True):
    """A function and what is the same for all batches, as the bytes that reach each worker once."""

    name: str
    content: bytes

    @classmethod
    def of(cls, function: BatchFunction, shared: Any) -> Job:
        """A job with a name that no other has."""
        return cls(uuid4().hex, encode((function, shared)))


# Functions and settings by the name of their job. A worker keeps the last one only.
_LOADED: dict[str, tuple[BatchFunction, Any]] = {}


def load_job(name: str, content: bytes) -> None:
    """Load a job into this process. Raises what its imports raise."""
    loaded = pickle.loads(content)  # noqa: S301  (from a process of the same session)
    _LOADED.clear()
    _LOADED[name] = loaded


def forget_job(name: str) -> None:
    """Drop a job of this process."""
    _LOADED.pop(name, None)


def run_batch(name: str, content: bytes | None, batch: bytes) -> bytes | None:
    """The reply of a worker; None if it does not have the job and did not get it with the batch."""
    if name not in _LOADED:
        if content is None:
            return None
        load_job(name, content)
    function, shared = _LOADED[name]
    return encode_reply(lambda: list(function(shared, pickle.loads(batch))))  # noqa: S301  (from our own session)


def encode(value: Any) -> bytes:
    """The bytes of anything that is sent."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def pack(value: Any) -> bytes | None:
    """The bytes of anything; None for what is nested too deep, or holds what cannot be pickled."""
    try:
        return encode(value)
    except (RecursionError, ValueError, TypeError, AttributeError, pickle.PicklingError):
        return None


def encode_reply(call: Callable[[], Any]) -> bytes:
    """What a call returns, or the exception that it raises."""
    try:
        return encode((call(), None))
    except Exception as error:  # noqa: BLE001  (it is raised in the session)
        return _encode_error(error)


def decode_reply(reply: bytes) -> Any:
    """What a call returned. Raises the exception that it raised, with its traceback as a note."""
    value, error = pickle.loads(reply)  # noqa: S301  (from a process of the same session)
    if error is not None:
        raise error
    return value


def _encode_error(error: Exception) -> bytes:
    """An exception with its traceback; of one that cannot be pickled, its text."""
    note = "".join(traceback.format_exception(error))
    try:
        content = _encode_with_note(error, note)
        pickle.loads(content)  # noqa: S301  (our own bytes; some exceptions refuse their own arguments)
    except Exception:  # noqa: BLE001  (whatever a foreign exception does when it is copied)
        return _encode_with_note(RuntimeError(f"{type(error).__qualname__}: {error}"), note)
    return content


def _encode_with_note(error: Exception, note: str) -> bytes:
    error.add_note(f"Traceback of the worker:\n{note}")
    return encode((None, error))
