"""Which of our modules the code checksum covers."""

from __future__ import annotations

from pathlib import Path

import pytest_webeval
from pytest_webeval.checksums import _own_code

PACKAGE = Path(pytest_webeval.__file__).parent
ONLY_CARRY = {"__init__.py", "__main__.py", "api.py", "capture_check.py", "durations.py", "event_alignment.py"}
ONLY_CARRY |= {"journal.py", "subsets.py", "summary.py", "trajectory_rows.py", "writing.py"}
ONLY_SHOW = {"analysis", "explanations", "plugin", "redaction", "reports"}


def test_the_code_checksum_covers_every_module_that_can_change_a_verdict_with_its_name():
    code, left_out = _own_code(), set()
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.encode() + b"\0" + path.read_bytes() not in code:
            left_out.add(name)
    assert {name for name in left_out if name.partition("/")[0] not in ONLY_SHOW} == ONLY_CARRY
    assert {name.partition("/")[0] for name in left_out - ONLY_CARRY} == ONLY_SHOW
