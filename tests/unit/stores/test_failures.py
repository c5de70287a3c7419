"""Failures: what an exception of a library means, and whether it may pass."""

from __future__ import annotations

import errno

import pytest

from pytest_webeval.stores.failures import describe_failure


def responding(status):
    """An exception as botocore raises it."""
    error = RuntimeError("secret")
    error.response = {"ResponseMetadata": {"HTTPStatusCode": status}}
    return error


def caused(error, cause):
    error.__cause__ = cause
    return error


class ClientConnectorError(Exception):
    pass


class NoCredentialsError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "reason", "is_passing"),
    [
        (FileNotFoundError("secret"), "there is no such object", False),
        (PermissionError("secret"), "access is denied", False),
        (NoCredentialsError("secret"), "access is denied", False),
        (responding(404), "there is no such object", False),
        (responding(403), "access is denied (HTTP 403)", False),
        (responding(400), "HTTP 400", False),
        (responding(429), "HTTP 429", True),
        (responding(500), "HTTP 500", True),
        (responding(503), "HTTP 503", True),
        (responding(501), "HTTP 501", False),
        (caused(OSError(errno.EINVAL, "secret"), responding(503)), "HTTP 503", True),
        (ConnectionResetError("secret"), "no response (ConnectionResetError)", True),
        (TimeoutError("secret"), "no response (TimeoutError)", True),
        (OSError(errno.EBUSY, "secret"), "no response (OSError)", True),
        (OSError(errno.EINVAL, "secret"), "OSError", False),
        (ClientConnectorError("secret"), "ClientConnectorError", True),
        (caused(ValueError("secret"), TimeoutError("secret")), "ValueError", True),
        (ValueError("secret"), "ValueError", False),
        (NotImplementedError("secret"), "NotImplementedError", False),
    ],
)
def test_a_failure_is_described_without_the_text_of_the_library(error, reason, is_passing):
    failure = describe_failure(error)
    assert (failure.reason, failure.is_passing) == (reason, is_passing)
    assert "secret" not in failure.advice


def test_causes_that_form_a_circle_have_an_end():
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first
    assert describe_failure(first).reason == "ValueError"
