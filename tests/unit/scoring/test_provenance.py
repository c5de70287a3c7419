"""Which of our modules the code checksum covers."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_webeval
from pytest_webeval.scoring.provenance import RECORDING, _own_code

PACKAGE = Path(pytest_webeval.__file__).parent
# What explains, counts, shows and stores results cannot change one, nor what writes recordings and tasks.
ONLY_CARRY = {
    "__init__.py",
    "__main__.py",
    "api.py",
    "authoring",
    "commands",
    "diagnostics",
    "executors",
    "exports",
    "plugin",
    "recorder",
    "redaction",
    "reports",
    "schemas",
    "sessions",
    "storage.py",
    "stores",
    "summary",
}


def test_the_code_checksum_covers_every_module_that_can_change_a_verdict_with_its_name():
    code, left_out = _own_code(), set()
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.encode() + b"\0" + path.read_bytes() not in code:
            left_out.add(name.partition("/")[0])
    assert left_out == ONLY_CARRY


@pytest.mark.parametrize(
    "name",
    [
        "plugin/runtest/classification.py",
        "redaction/redactor.py",
        "sessions/runs/classification.py",
        "sessions/runs/run_outcome.py",
        "sessions/runs/run_scoring.py",
        "sessions/runs/stored_results.py",
        "summary/record.py",
    ],
)
def test_a_stored_result_is_of_another_code_if_what_makes_results_has_changed(name):
    assert name.encode() + b"\0" + (PACKAGE / name).read_bytes() in _own_code(RECORDING)
