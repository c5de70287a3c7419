"""What an exception of a library means, in words of ours, and whether it may pass.

The texts of the libraries may hold credentials and signed URLs.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

_PASSING_STATUSES = frozenset({408, 409, 425, 429})
_UNKNOWN_STATUSES = frozenset({400, 405, 501})  # of a server that does not know a kind of request
_LASTING_STATUSES = frozenset({501, 505})  # of a server that does not know a verb
_DENIED_STATUSES = frozenset({401, 403})
_PASSING_ERRORS = frozenset(
    {
        errno.EAGAIN,
        errno.EBUSY,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.ENETUNREACH,
        errno.EPIPE,
        errno.ETIMEDOUT,
    }
)
_STATUS = re.compile(r"status(?: code)?:? ([1-5]\d\d)\b")  # in messages of obstore
_DENIED = re.compile(r"permission|unauth|forbidden|credential|accessdenied|invalidaccesskey", re.IGNORECASE)
_PASSING = re.compile(
    r"connect|timeout|disconnect|payload|incomplete|httpclient|protocol|slowdown|genericerror|remotedisc"
)
_UNCONFIGURED = re.compile(r"profile|config|region", re.IGNORECASE)
_REFUSED = re.compile(r"\bConnectionRefused\b")  # in messages of obstore
_UNKNOWN_HOST = re.compile(r"\bdns error\b|\bgaierror\b")  # in those, or names of exceptions
_UNCONNECTED = re.compile(
    r"\berror sending request\b|\b(?:EndpointConnection|ClientConnector|ConnectTimeout)\w*Error\b"
)
_MOST_CAUSES = 6


class ClientFailure(Exception):
    """A client that a library could not make."""


@contextmanager
def making_client() -> Iterator[None]:
    """Mark exceptions, so that they are about the configuration of the client where they do not say what they mean."""
    try:
        yield
    except Exception as error:
        raise ClientFailure from error


class Failure(Struct, frozen=True):
    """A failure in a few words. It may pass, or not; the store may not even be reachable."""

    reason: str
    advice: str
    is_passing: bool = False
    is_unreachable: bool = False


MISSING = Failure("there is no such object", "list the store again")
NO_PLACE = Failure("there is no such bucket or location", "check it")  # of what is listed or written
_DENIED_FAILURE = Failure("access is denied", "check the credentials in the environment or profile")


def describe_failure(error: BaseException) -> Failure:
    """What an exception of any library means. The text of the exception is not used."""
    causes = list(_list_causes(error))
    if is_client := isinstance(error, ClientFailure):
        del causes[0]
    status = next(filter(None, map(_find_status, causes)), None)
    if status is not None:
        return _describe_status(status)
    names = " ".join(type(cause).__name__ for cause in causes)
    if _UNCONFIGURED.search(names):
        return _describe_client(causes[0])
    if any(isinstance(cause, FileNotFoundError) for cause in causes) or "NotFound" in names:
        return _describe_client(causes[0]) if is_client else MISSING
    if any(isinstance(cause, PermissionError) for cause in causes) or _DENIED.search(names):
        return _DENIED_FAILURE
    if any(map(_is_passing, causes)) or _PASSING.search(names.lower()):
        reason = _describe_connection(causes)
        return Failure(reason, "check that the store can be reached", is_passing=True, is_unreachable=True)
    return _describe_client(causes[0]) if is_client else Failure(_name(causes[0]), "check the location and the object")


def _describe_client(error: BaseException) -> Failure:
    reason = f"the configuration of the client cannot be used ({type(error).__name__})"
    return Failure(reason, "check its variables and files, for S3 AWS_PROFILE, AWS_ENDPOINT_URL and ~/.aws")


def _describe_connection(causes: list[BaseException]) -> str:
    names = [type(cause).__name__ for cause in causes]
    text = " ".join([*names, *(str(cause) for cause in causes if _is_of_obstore(cause))])
    if _REFUSED.search(text) or any(getattr(cause, "errno", None) == errno.ECONNREFUSED for cause in causes):
        return "connection refused"
    if _UNKNOWN_HOST.search(text):
        return "the host is unknown"
    return f"no connection ({names[0]})" if _UNCONNECTED.search(text) else _name(causes[0])


def is_unknown_verb(error: BaseException) -> bool:
    """Whether a server does not know a kind of request."""
    return any(_find_status(cause) in _UNKNOWN_STATUSES for cause in _list_causes(error))


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _find_status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    metadata = response.get("ResponseMetadata") if isinstance(response, dict) else None
    numbers = [metadata.get("HTTPStatusCode") if isinstance(metadata, dict) else None]
    numbers += [getattr(error, name, None) for name in ("status", "status_code")]
    if type(error).__module__.startswith("gcsfs"):  # in aiohttp, a response that was cut has a code as well
        numbers.append(getattr(error, "code", None))
    for number in numbers:
        if isinstance(number, int) and 400 <= number <= 599:
            return number
    match = _STATUS.search(str(error)) if _is_of_obstore(error) else None
    return int(match[1]) if match else None


def _is_of_obstore(error: BaseException) -> bool:
    return type(error).__module__.startswith("obstore")


def _describe_status(status: int) -> Failure:
    if status == 404:
        return MISSING
    if status in _DENIED_STATUSES:
        return Failure(f"access is denied (HTTP {status})", _DENIED_FAILURE.advice)
    is_passing = status in _PASSING_STATUSES or (status >= 500 and status not in _LASTING_STATUSES)
    return Failure(f"HTTP {status}", "check the store" if is_passing else "check the location", is_passing)


def _is_passing(error: BaseException) -> bool:
    is_connection = isinstance(error, TimeoutError | ConnectionError)
    return is_connection or (isinstance(error, OSError) and error.errno in _PASSING_ERRORS)


def _name(error: BaseException) -> str:
    return f"no response ({type(error).__name__})" if _is_passing(error) else type(error).__name__
