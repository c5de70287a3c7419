"""The corpus, written and scored once for all tests of it."""

from __future__ import annotations

import pytest
from hostile import sessions

# A share of every family, and everything.
SHARES = [pytest.param(4, id="share"), pytest.param(1, id="whole", marks=pytest.mark.whole)]


@pytest.fixture(scope="session", params=SHARES)
def corpus(request, tmp_path_factory):
    """The hostile directories with what two sessions made of them."""
    return sessions.run(tmp_path_factory.mktemp("corpus"), every=request.param)
