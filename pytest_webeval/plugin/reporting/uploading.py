"""Uploads the results of a session to a store, once all of them are written."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from msgspec import Struct

from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.sessions.staging import Staging


class Uploading(Struct, frozen=True, eq=False):
    """Plugin of the controller, which is registered before the reporter so that this comes after it."""

    reporter: SessionReporter
    staging: Staging

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Upload what the session has written. A session that has lost a part of it has failed."""
        try:
            return (yield)
        finally:
            problem = self.staging.finish(is_kept=self.reporter.records.is_kept)
            self.reporter.keep_places(self.staging.list_uploaded(self.reporter.places))
            if problem is not None:
                self.reporter.problems.insert(0, problem)
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
