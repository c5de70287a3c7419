"""Failures: what an exception of a library means, and whether it may pass."""

from __future__ import annotations

import errno
import socket

import pytest

from pytest_webeval.stores.failures import ClientFailure, describe_failure


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


class ProfileNotFound(Exception):
    pass


class EndpointConnectionError(Exception):
    pass


GenericError = type("GenericError", (Exception,), {"__module__": "obstore.exceptions"})
SENDING = "secret - HTTP error: error sending request"
REFUSED = "connection refused"
UNUSABLE = "the configuration of the client cannot be used"


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
        (ClientConnectorError("secret"), "no connection (ClientConnectorError)", True),
        (
            caused(EndpointConnectionError("secret"), ConnectionRefusedError(errno.ECONNREFUSED, "secret")),
            REFUSED,
            True,
        ),
        (caused(EndpointConnectionError("secret"), socket.gaierror(-2, "secret")), "the host is unknown", True),
        (GenericError(f"{SENDING} Os {{ code: 111, kind: ConnectionRefused }}"), REFUSED, True),
        (GenericError(f'{SENDING} ConnectError("dns error", Custom)'), "the host is unknown", True),
        (GenericError(SENDING), "no connection (GenericError)", True),
        (GenericError("secret"), "GenericError", True),
        (ProfileNotFound("secret"), f"{UNUSABLE} (ProfileNotFound)", False),
        (caused(ClientFailure(), ProfileNotFound("secret")), f"{UNUSABLE} (ProfileNotFound)", False),
        (caused(ClientFailure(), ValueError("secret")), f"{UNUSABLE} (ValueError)", False),
        (caused(ClientFailure(), FileNotFoundError("secret")), f"{UNUSABLE} (FileNotFoundError)", False),
        (caused(ClientFailure(), NoCredentialsError("secret")), "access is denied", False),
        (caused(ClientFailure(), TimeoutError("secret")), "no response (TimeoutError)", True),
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
