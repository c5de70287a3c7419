"""Write the digests of published tasks: `python -m tests.support.write_published_digests`.

Downloads each release of webarena-verified with pip, and reads every data set in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.tasks.dataset import REFERENCE_NAME
from pytest_webeval.tasks.task import DIGITS, PUBLISHED_DIGESTS, PUBLISHED_KEYS, read_task


def list_releases() -> list[str]:
    """The versions on the package index."""
    output = _run_pip("index", "versions", REFERENCE_NAME)
    versions = re.search(r"^Available versions: (.+)$", output, re.MULTILINE)
    assert versions is not None, output
    return versions[1].split(", ")


def download(version: str, directory: Path) -> Path:
    """The archive of a release."""
    _run_pip("download", "--no-deps", "--dest", str(directory), f"{REFERENCE_NAME}=={version}")
    return next(directory.iterdir())


def _run_pip(*arguments: str) -> str:
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def list_digests(archive: Path) -> Iterator[str]:
    """The digests of all tasks in the JSON files of an archive.

    The data of the original WebArena, which releases have as well, are in a form that no release scores.
    """
    for content in _list_json(archive):
        rows = json.loads(content)
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and isinstance(row.get("eval"), list):
                yield digest_row(row, archive.name)


def digest_row(row: dict[str, Any], source: str) -> str:
    """The digest of the task that a row defines."""
    try:
        return read_task(row, source)._hash_fields(PUBLISHED_KEYS)[:DIGITS]
    except TaskDefinitionError as error:
        raise SystemExit(f"{source}: {error}") from error


def _list_json(archive: Path) -> Iterator[bytes]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from (wheel.read(name) for name in wheel.namelist() if name.endswith(".json"))
        return
    with tarfile.open(archive) as source:
        files = (source.extractfile(member) for member in source if member.name.endswith(".json"))
        yield from (file.read() for file in files if file is not None)


def format_table(digests: Iterable[str]) -> str:
    """The digests, each in a line."""
    return "".join(f"{digest}\n" for digest in sorted(set(digests)))


if __name__ == "__main__":
    digests: set[str] = set()
    for release in list_releases():
        with tempfile.TemporaryDirectory() as directory:
            digests.update(list_digests(download(release, Path(directory))))
    PUBLISHED_DIGESTS.write_text(format_table(digests), "ascii")
