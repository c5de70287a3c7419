"""Functions are timed on demand: `pytest tests/benchmarks --benchmark-enable`. Otherwise each runs once, as a test.

What cannot be measured here is skipped, unless WEBEVAL_BENCHMARKS=required.
"""

from __future__ import annotations

import os

import pytest

from tests.parity.harness.reference_environment import NotInstallable, ReferenceEnvironment


@pytest.fixture
def timed(request):
    """Calls a function: `timed(function, *arguments)`. With --benchmark-enable pytest-benchmark does.

    Without that option it is not asked, for beside xdist it would warn.
    """
    if request.config.getoption("benchmark_enable", default=False):
        return request.getfixturevalue("benchmark")
    return lambda function, *arguments: function(*arguments)


@pytest.fixture
def skip_or_fail():
    """Ends the test with a reason why nothing can be measured."""

    def end(reason):
        if os.environ.get("WEBEVAL_BENCHMARKS") == "required":
            pytest.fail(str(reason), pytrace=False)
        pytest.skip(str(reason))

    return end


@pytest.fixture
def reference_python(request, skip_or_fail):
    """The interpreter of the environment that the parity tests use."""
    cache = getattr(request.config, "cache", None)
    if cache is None:
        skip_or_fail("the reference is installed in pytest's cache: run without -p no:cacheprovider")
    try:
        return ReferenceEnvironment.within(cache.mkdir("webarena-verified")).installed()
    except NotInstallable as error:
        skip_or_fail(error)
