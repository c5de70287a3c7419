"""What must be the same for the result of an earlier session to be reused."""

from __future__ import annotations

import json

import msgspec


class Seal(msgspec.Struct, frozen=True):
    """All that decided a result, the result file, and the files of the run.

    A row with a seal records that webeval wrote a result, with which content: that a file lies in a run directory
    proves nothing, for an agent may have put it there.

    All but the result are empty for what is no verdict of the evaluators alone. `evaluators` is the state of those that
    users wrote, `text` the redacted failure as a test shows it.
    """

    result: str  # SHA-256 of the result file
    decided_by: str = ""  # SHA-256 of all that decided the verdict but for the files: see `Fingerprints`
    evaluators: str = ""
    is_foreign: bool = False  # users wrote code that decides, which may read any file of the run
    origin: str = ""  # name of the file with the task definition
    files: str = ""  # see `RunFiles.listed`
    identity: str = ""  # see `RunFiles.sealed_identity`
    text: str | None = None

    def to_text(self) -> str:
        """The seal as JSON; halves of surrogate pairs are escaped."""
        return json.dumps(msgspec.structs.asdict(self), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> Seal:
        """The seal in a text. Raises `ValueError`."""
        return msgspec.convert(json.loads(text), cls)
