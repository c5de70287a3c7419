"""The corpus, written and scored once for all tests of it."""

from __future__ import annotations

import pytest

from tests.hostile.corpus import sessions

# Every fortieth directory by default, and all of them.
SHARES = [pytest.param(40, id="sample"), pytest.param(1, id="whole", marks=pytest.mark.whole)]


@pytest.fixture(scope="session", params=SHARES)
def corpus(request, tmp_path_factory):
    """The hostile directories with what two sessions made of them."""
    return sessions.run(tmp_path_factory.mktemp("corpus"), every=request.param)
