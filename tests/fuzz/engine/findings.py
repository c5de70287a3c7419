"""What was found: each kind once, with the input that shows it and the command that shows it again."""

from __future__ import annotations

import hashlib
import traceback
from dataclasses import dataclass
from pathlib import Path

_OURS = "pytest_webeval"


@dataclass(frozen=True, slots=True)
class Finding:
    """A crash, hang or hunger. `signature` is the same for two inputs that show the same fault."""

    target: str
    kind: str
    signature: str
    told: str
    content: bytes

    def save(self, directory: Path) -> Path:
        """Write the input and what is known of it. Returns where the input is."""
        directory.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(self.content).hexdigest()[:12]
        path = directory / f"{self.target}-{self.kind}-{digest}"
        path.write_bytes(self.content)
        path.with_suffix(".txt").write_text(f"{self.signature}\n\n{self.told}\n", "utf-8", "backslashreplace")
        return path


def of_crash(target: str, error: BaseException, content: bytes) -> Finding:
    """The finding that an exception is, known by where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _OURS in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in (*ours[-2:], *frames[-1:])]
    told = "".join(traceback.format_exception(error))[-8000:]
    return Finding(target, "crash", f"{type(error).__name__} @ {' '.join(places)}", told, content)
