"""Sessions of users who may read only what modes allow, also where root runs the tests."""

from __future__ import annotations

import os
import shutil

import pytest

MAY_NOT_READ = ("--bounding-set=-dac_override,-dac_read_search",)
NOBODY = ("--reuid=65534", "--regid=65534", "--clear-groups", *MAY_NOT_READ)
ON_CI = "CI" in os.environ  # which sessions under test are not told


def prefix(*options: str) -> tuple[str, ...]:
    """What makes root a user like others; nothing where nobody is root."""
    if os.geteuid() != 0:
        return ()
    found = shutil.which("setpriv")
    if found is None and ON_CI:
        pytest.fail("root may read everything; install util-linux, which has setpriv")
    return (found, *options) if found else pytest.skip("root may read everything, and there is no setpriv")
