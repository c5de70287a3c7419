"""How requests of the library `openai` reach a server: each over a connection of its own, within limits.

openai uses httpx or httpx2, as its version has it. Both take any object with these methods as a transport.
"""

from __future__ import annotations

import importlib
import importlib.util
import zlib
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.exchanges import AttemptFailed, Exchange

MOST_BYTES = 4 * 2**20  # of a response, as received and as decoded
_HEADERS = ("retry-after", "retry-after-ms")  # others could choose a decoder or set cookies
_GZIP = zlib.MAX_WBITS | 16


class BoundedTransport:
    """Sends a request and reads the whole response, which `seconds` and `MOST_BYTES` limit, whatever its status.

    Proxies and certificates are those of the environment, for the URL of the server. Raises `SettingsError`.
    """

    def __init__(self, client: Any, url: str, seconds: float) -> None:
        self._http = _find_library(client)
        self._open_pool = _choose_pool(self._http, url)
        self._seconds = seconds

    def handle_request(self, request: Any) -> Any:
        """The response, without the headers that nothing reads. Raises `AttemptFailed`, whatever goes wrong."""
        request.headers.update({"Accept-Encoding": "gzip", "Connection": "close"})
        with Exchange(self._seconds, MOST_BYTES) as exchange:
            try:
                return self._exchange(request, exchange)
            except AttemptFailed:
                raise
            except Exception as error:  # noqa: BLE001  (of four libraries that read what a server sends)
                raise AttemptFailed(str(error) or type(error).__name__, is_lost=exchange.is_sent) from None

    def close(self) -> None:
        """Do nothing: no connection outlives its request."""

    def _exchange(self, request: Any, exchange: Exchange) -> Any:
        response = self._open_pool(network_backend=exchange).request(
            request.method, str(request.url), headers=request.headers.raw, content=exchange.send(request.read())
        )
        headers = self._http.Headers(response.headers)
        content = _decode(response.content, headers.get("content-encoding", ""))
        exchange.check_size(len(content))
        plain = {name: headers[name] for name in _HEADERS if name in headers} | {"Content-Type": "application/json"}
        return self._http.Response(response.status, headers=plain, content=content)


def _find_library(client: Any) -> ModuleType:
    """The library whose client is the base of that of openai."""
    name: str = client.__mro__[1].__module__
    return importlib.import_module(name.partition(".")[0])


def _choose_pool(http: ModuleType, url: str) -> Callable[..., Any]:
    """What opens connections for a URL: to the server, or to a proxy. Raises `SettingsError`."""
    core, context = importlib.import_module(http.__name__.replace("httpx", "httpcore")), http.create_ssl_context()
    address = _find_proxy(url)
    if address is None:
        return partial(core.ConnectionPool, ssl_context=context)
    try:
        proxy = http.Proxy(address)
    except (ValueError, http.InvalidURL):  # whose messages may have its password
        raise SettingsError("invalid proxy in the environment; set it to a URL such as http://10.0.0.1:3128") from None
    is_socks = proxy.url.scheme.startswith("socks")
    if is_socks and importlib.util.find_spec("socksio") is None:
        raise SettingsError("a SOCKS proxy requires socksio; install it, or choose another proxy in the environment")
    kind = core.SOCKSProxy if is_socks else core.HTTPProxy
    return partial(kind, proxy_url=str(proxy.url), proxy_auth=proxy.raw_auth, ssl_context=context)


def _find_proxy(url: str) -> str | None:
    parts, proxies = urlsplit(url), getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address or any(map(proxy_bypass, (parts.hostname or "", parts.netloc))):
        return None
    return address if "://" in address else f"http://{address}"


def _decode(content: bytes, encoding: str) -> bytes:
    """The decoded body, of which nothing is unpacked far beyond the limit. Raises `AttemptFailed`."""
    name = encoding.strip().lower()
    if name in {"", "identity"} or not content:
        return content
    if name != "gzip":
        raise AttemptFailed(f"a response with the encoding '{encoding}', which was not requested", is_lost=True)
    return zlib.decompressobj(_GZIP).decompress(content, MOST_BYTES + 1)
