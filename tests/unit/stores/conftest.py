"""A server of S3 for a test, ours or moto's, with the variables by which libraries find it."""

from __future__ import annotations

import pytest

from tests.support.faulty_s3 import S3Server

VARIABLES = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL_S3")


@pytest.fixture
def s3(tmp_path, monkeypatch):
    """Our server without faults; `restart(Faults(...))` gives it some."""
    pytest.importorskip("s3fs")
    directory = tmp_path / "server"
    directory.mkdir()
    with S3Server(directory) as server:
        set_variables(monkeypatch, server.environment)
        yield server


def set_variables(monkeypatch, environment):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def quick_retries(monkeypatch):
    """Pauses of a hundredth."""
    monkeypatch.setattr("pytest_webeval.stores.remote_store.PAUSES", (0.002, 0.005, 0.01, 0.02, 0.04))
    monkeypatch.setattr("pytest_webeval.stores.listing.PAUSES", (0.002, 0.01))
