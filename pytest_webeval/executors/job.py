"""What a worker does for a session: a function with its settings, applied to one batch after the other.

Batches and replies travel as bytes, which engines pass on and do not read. Both ends are processes of one session.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

BatchFunction = Callable[[Any, Sequence[Any]], Sequence[Any]]


class Job(Struct, frozen=True):
    """A function and what is the same for all batches."""

    function: BatchFunction
    shared: Any

    def encode(self) -> bytes:
        """The bytes that reach each worker once."""
        return pickle.dumps((self.function, self.shared), pickle.HIGHEST_PROTOCOL)

    def run(self, batch: bytes) -> bytes:
        """The reply for a batch: its results, or the exception of the function, which is a bug."""
        try:
            results = list(self.function(self.shared, pickle.loads(batch)))  # noqa: S301  (from our own session)
            return pickle.dumps((results, None), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # noqa: BLE001  (it is raised in the session)
            return _encode_error(error)


def decode_job(content: bytes) -> Job:
    """The job in these bytes. Raises what its imports raise."""
    return Job(*pickle.loads(content))  # noqa: S301  (from a process of the same session)


def encode_batch(items: Sequence[Any]) -> bytes:
    """The bytes of a batch."""
    return pickle.dumps(items, pickle.HIGHEST_PROTOCOL)


def decode_reply(reply: bytes, count: int) -> list[Any]:
    """The results of a batch of `count` items. Raises the exception of the function, with its traceback as a note."""
    results, error = pickle.loads(reply)  # noqa: S301  (from a process of the same session)
    if error is not None:
        raise error
    if len(results) != count:
        raise ValueError(f"the function returned {len(results)} results for {count} items; return one for each")
    return list(results)


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
    return pickle.dumps((None, error), pickle.HIGHEST_PROTOCOL)
