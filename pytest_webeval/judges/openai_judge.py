"""A judge behind a server that speaks the protocol of OpenAI's chat completions, a local one included."""

from __future__ import annotations

import ipaddress
import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from pytest_webeval.errors import JudgeFailed, SettingsError
from pytest_webeval.judges import chat_completions
from pytest_webeval.judges.calls import KeyRefused, ReplyLost
from pytest_webeval.judges.exchanges import AttemptFailed, BoundedTransport
from pytest_webeval.judges.questions import Ending, Question, Reply
from pytest_webeval.safety.text import pluralize, to_line

KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
_PUBLIC_URL = "https://api.openai.com/v1"
_UNUSED_KEY = "unused"  # of a server on this machine, which wants none
_LONGEST_PROBLEM = 300  # characters
_FORMAT_REFUSED = frozenset({400, 422})
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
_FIRST_WAIT = 0.5
_SPREAD = 0.5  # share by which waits differ, so that requests that failed together are not sent together again
_RETRIED = frozenset({408, 409, 429})
_FINAL_CODES = frozenset({"insufficient_quota"})  # with status 429, but no wait helps


class _Rejected(JudgeFailed):
    """The server does not accept the request. It may do so without structured output."""


class OpenAIJudge:
    """Asks a server. Threads may use one judge at the same time.

    `model` is the name that results have; each question names the model that is asked. The server is that of
    `base_url`, else of the environment variable `OPENAI_BASE_URL`. The key is that of `OPENAI_API_KEY` and of nothing
    else; a server at a loopback address needs none. A request ends after `timeout` seconds, whatever the server does,
    and there are `retries` more with the same `Idempotency-Key`, which is the question's. A reply of another model is a
    failure.

    A server that refuses structured output is asked without it, for the rest of the process. That does not change the
    key of a question, for its text asks for the same form.

    Raises `SettingsError` where a library or the key is missing, or the proxy of the environment is not usable.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        timeout: float = 120.0,
        retries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            import openai  # only for judges that are asked
        except ImportError as error:
            problem = "a judge requires openai; install it with pip install 'pytest-webeval[judge]'"
            raise SettingsError(problem) from error
        self._openai: ModuleType = openai
        chat_completions.load_judge_pillow()
        self._model = model
        self._retries = retries
        self._sleep = sleep
        url = base_url or os.environ.get(URL_VARIABLE) or _PUBLIC_URL
        self._host = _parse_host(url)
        self._key = _find_key(self._host)
        client = self._openai.DefaultHttpxClient
        transport = BoundedTransport(client, url, timeout)
        self._client = self._openai.OpenAI(
            api_key=self._key,
            base_url=url,
            timeout=timeout,
            max_retries=0,
            http_client=client(transport=transport, follow_redirects=False),  # to a host that nobody named
        )
        self._unstructured: set[tuple[str, str, str]] = set()  # questions for which structured output was refused

    @property
    def model(self) -> str:
        return self._model

    def answer(self, question: Question) -> Reply:
        """The reply of the server.

        Raises `JudgeFailed`: `unreachable` where there is none after all attempts, or the server does not accept the
        request; `ReplyLost` if it may charge for one, `KeyRefused`. Raises `RecordingError` for a damaged screenshot.
        """
        body = chat_completions.build_body(question)
        failures: list[AttemptFailed] = []
        while len(failures) <= self._retries:
            if failures:
                self._sleep(_find_wait(len(failures) - 1, question.key, failures[-1].headers))
            try:
                return self._ask(question, body)
            except AttemptFailed as failure:
                failures.append(failure)
        attempts = pluralize(len(failures), "attempt")
        problem = self._clean(str(failures[-1]))
        reason = f"no reply from {self._host} in {attempts}: {problem}; check the server and run again"
        if any(failure.is_lost for failure in failures):
            raise ReplyLost(reason)
        raise JudgeFailed(reason, "unreachable")

    def _ask(self, question: Question, body: dict[str, Any]) -> Reply:
        """One attempt, within which a server that refuses structured output is asked once more without it."""
        response_format = chat_completions.build_response_format(question)
        kind = (question.model, question.method, question.step)
        if response_format is None or kind in self._unstructured:
            return self._send(question, body)
        try:
            return self._send(question, body | {"response_format": response_format})
        except _Rejected:
            reply = self._send(question, body)
        self._unstructured.add(kind)
        return reply

    def _send(self, question: Question, body: dict[str, Any]) -> Reply:
        """One request. No error has a cause, for those of the library quote what the server sent."""
        try:
            return chat_completions.read_reply(self._post(question, body), question.model)
        except JudgeFailed:
            raise
        except chat_completions.InvalidResponse as error:
            raise AttemptFailed(f"invalid response: {error}", is_lost=True) from None
        except self._openai.APIStatusError as error:
            if str(error.code) in _FILTER_CODES:  # it may be any JSON
                return Reply(text="", model=question.model, ending=Ending.FILTERED)
            raise self._explain(error, question.model) from None
        except Exception as error:  # noqa: BLE001  (of the library, which may wrap that of the transport)
            failure = error if isinstance(error, AttemptFailed) else error.__cause__
            if isinstance(failure, AttemptFailed):
                raise failure from None
            raise AttemptFailed(f"{type(error).__name__}: {error}", is_lost=True) from None

    def _post(self, question: Question, body: dict[str, Any]) -> bytes:
        response = self._client.chat.completions.with_raw_response.create(
            model=question.model,
            messages=body["messages"],
            extra_body={name: value for name, value in body.items() if name != "messages"},
            extra_headers={"Idempotency-Key": question.key},
        )
        return bytes(response.http_response.content)

    def _explain(self, error: Any, model: str) -> Exception:
        """What a status means: an attempt that failed, or a request that no attempt makes acceptable."""
        status = error.status_code
        message = error.body.get("message") if isinstance(error.body, dict) else None
        problem = f"status {status}: {self._clean(message if isinstance(message, str) else str(error.message))}"
        if (status in _RETRIED or status >= 500) and str(error.code) not in _FINAL_CODES:
            return AttemptFailed(problem, headers=dict(error.response.headers))
        if status == 401:  # its message may quote a part of the key
            return KeyRefused(f"{self._host} refused the key; set {KEY_VARIABLE} to a valid one")
        if status == 403:
            return KeyRefused(f"{self._host} refused the key with {problem}; use a key that may ask model '{model}'")
        advice = _ADVICE.get(status, "correct the model or the parameters of the judge").format(model=model)
        kind = _Rejected if status in _FORMAT_REFUSED else JudgeFailed
        return kind(f"{self._host} refused the request with {problem}; {advice}", "unreachable")

    def _clean(self, text: str) -> str:
        """A text of the server or the library on one line, without the key."""
        return to_line(text.replace(self._key, "***"), _LONGEST_PROBLEM)


_ADVICE = {
    404: "check that the server has model '{model}', and that the base URL ends as its manual says, often with /v1",
    429: "check the quota and the billing of the account",
}


def _parse_host(url: str) -> str:
    """Host and port of a URL, which is all of it that messages show. Raises `SettingsError`."""
    try:
        parts = urlsplit(url)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        raise SettingsError(_INVALID_URL) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not url.isprintable() or " " in url:
        raise SettingsError(_INVALID_URL)
    if parts.username or parts.password or parts.query or parts.fragment:  # which results would show
        raise SettingsError(f"the base URL of the judge has a user or parameters; put the key into {KEY_VARIABLE}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}{port}"


_INVALID_URL = "invalid base URL of the judge; use one such as https://api.openai.com/v1"


def _find_key(host: str) -> str:
    """The key in the environment. Raises `SettingsError`, which does not quote it."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        name = urlsplit(f"//{host}").hostname or ""
        with suppress(ValueError):
            if name == "localhost" or ipaddress.ip_address(name).is_loopback:
                return _UNUSED_KEY
        raise SettingsError(f"no key for {host}; set the environment variable {KEY_VARIABLE}")
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(f"invalid {KEY_VARIABLE}; set it to a key of ASCII characters")
    return key


def _find_wait(attempt: int, key: str, headers: Mapping[str, str]) -> float:
    """Seconds to wait after a failed attempt, the first of which is 0. It depends on nothing that is random.

    `headers` are those of the response, by lower-case names; `key` is the question's.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _parse_seconds(headers.get(name), unit)
        if seconds is not None:
            return min(max(seconds, 0.0), _LONGEST_WAIT)
    share = int(key[:4], 16) / 0xFFFF
    return min(_FIRST_WAIT * 2.0 ** min(attempt, 10) * (1 + _SPREAD * share), _LONGEST_WAIT)


def _parse_seconds(text: str | None, unit: float) -> float | None:
    """A number, or the time until a date."""
    if text is None:
        return None
    with suppress(ValueError):
        seconds = float(text) * unit
        return None if math.isnan(seconds) else seconds
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(text).timestamp() - time.time()
    return None
