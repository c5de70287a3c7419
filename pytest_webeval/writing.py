"""Writing JSON so that nobody ever sees half a file, and no link leads the bytes elsewhere."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pytest_webeval.errors import SettingsError


def write_json(path: Path, content: Any) -> None:
    """Write beside the target, then rename over it. Raises `SettingsError` that says how to write elsewhere."""
    text = encoded(content)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text)
            os.chmod(temporary, 0o644)  # noqa: PTH101  (mkstemp made it private; results are to be shared)
            os.replace(temporary, path)  # noqa: PTH105  (the path may be anything by now; rename, never follow)
        except OSError:
            os.unlink(temporary)  # noqa: PTH108  (same)
            raise
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}; choose a place with --webeval-output") from error


def remove(path: Path) -> None:
    """Remove a file of ours. Raises `SettingsError` that says how to write elsewhere."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot remove {path}: {error.strerror}; choose a place with --webeval-output") from error


def encoded(content: Any) -> bytes:
    """The bytes of some JSON: indented, UTF-8 whatever an agent put into its texts, with a final newline."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=True)
    return text.encode("utf-8", "backslashreplace") + b"\n"
