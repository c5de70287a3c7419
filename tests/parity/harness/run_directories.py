"""Recordings as the files that both scorers read: one run directory, one configuration."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.parity.harness.recording import SITES, Recording

RESPONSE = "agent_response.json"
LINES = "trace.network"


@dataclass(frozen=True)
class RunDirectory:
    """A run on disk: everything that either scorer is given."""

    path: Path
    task: Mapping[str, Any]
    trace_name: str
    config: Path

    @classmethod
    def write(cls, recording: Recording, folder: Path) -> RunDirectory:
        """The recording, written into a folder. What lay there is gone."""
        _clear(folder)
        (folder / RESPONSE).write_bytes(recording.response)
        _write_trace(recording, folder / recording.trace_name)
        sites = SITES if recording.sites is None else recording.sites
        environments = {site: {"urls": list(urls)} for site, urls in sites.items()}
        return cls(folder, recording.task, recording.trace_name, write_config(environments, folder.parent))

    def request(self, rules: str) -> dict[str, Any]:
        """What another process needs to score it."""
        return {"directory": str(self.path), "task": self.task, "config": str(self.config), "rules": rules}


def _clear(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def write_config(environments: Mapping[str, Any], folder: Path) -> Path:
    """A configuration file with these environments, none at all where they are empty."""
    content = json.dumps({"environments": environments or None}, sort_keys=False)
    path = folder / f"config-{hashlib.sha256(content.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        path.write_text(content, "utf-8")
    return path


def har(entries: Sequence[Mapping[str, Any]]) -> bytes:
    """A HAR file."""
    return json.dumps({"log": {"version": "1.2", "creator": {}, "entries": list(entries)}}).encode()


def lines(entries: Sequence[Mapping[str, Any]]) -> bytes:
    """A Playwright line file."""
    snapshots = ({"type": "resource-snapshot", "snapshot": entry} for entry in entries)
    return b"".join(json.dumps(line).encode() + b"\n" for line in snapshots)


def zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _write_trace(recording: Recording, path: Path) -> None:
    entries = recording.entries
    is_folder = path.name == "trace"
    if is_folder:
        path.mkdir()
        path /= LINES
    if isinstance(entries, bytes):
        content = entries
    elif path.suffix in {".har", ".json"}:
        content = har(entries)
    else:
        content = zipped({LINES: lines(entries)}) if path.suffix == ".zip" else lines(entries)
    path.write_bytes(content)
