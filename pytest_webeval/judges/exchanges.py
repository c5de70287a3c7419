"""One exchange with a server: it takes no more seconds and receives no more bytes than its limits, whatever happens.

Requests of the library `openai` reach a server each over a connection of its own. openai uses httpx or httpx2, as its
version has it. Both take any object with the methods of `BoundedTransport` as a transport.

Names, connects, handshakes, headers, interim responses, chunks and trailers all pass the methods here. They have the
signatures of `NetworkBackend` and `NetworkStream` of httpcore, whose time limits begin again with each byte.
"""

from __future__ import annotations

import importlib
import importlib.util
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import Thread
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_webeval.errors import SettingsError

Value = TypeVar("Value")
MOST_BYTES = 4 * 2**20  # of a response, as received and as decoded
_HEADERS = ("retry-after", "retry-after-ms")  # others could choose a decoder or set cookies
_GZIP = zlib.MAX_WBITS | 16
_RECORD_SIZE = 16_384  # bytes of TLS that are read at a time


class AttemptFailed(Exception):
    """An attempt has no reply, and the next may have one. `is_lost`: the server may charge for it."""

    def __init__(self, problem: str, *, is_lost: bool = False, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem)
        self.is_lost = is_lost
        self.headers = headers or {}


class Exchange(ExitStack):
    """Opens the connections of one exchange, and closes them when its block ends.

    `is_sent` says whether the server may have the request.
    """

    def __init__(self, seconds: float, most_bytes: int) -> None:
        super().__init__()
        self.is_sent = False
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._most_bytes = most_bytes
        self._received = 0

    @property
    def remaining(self) -> float:
        """The seconds that are left. Raises `AttemptFailed` if none are."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise self._build_timeout()
        return seconds

    def count(self, size: int) -> None:
        """Count received bytes. Raises `AttemptFailed` if they are too many."""
        self._received += size
        self.check_size(self._received)

    def check_size(self, size: int) -> None:
        """Raise `AttemptFailed` if a response has more bytes than the limit."""
        if size > self._most_bytes:
            problem = f"a response of more than {self._most_bytes:,} bytes"
            raise AttemptFailed(problem, is_lost=self.is_sent)

    @contextmanager
    def limit(self, connection: socket.socket, share: float = 1.0) -> Iterator[None]:
        """Let the block use a socket for a share of the remaining time. Raises `AttemptFailed` once that is over."""
        connection.settimeout(self.remaining * share)
        try:
            yield
        except TimeoutError:
            raise self._build_timeout() from None

    def send(self, content: bytes) -> Iterator[bytes]:
        """Yield the body of the request, which is sent only once the server itself is connected."""
        self.is_sent = True
        yield content

    def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> Connection:
        """Connect to the first address of a host that accepts. Each gets an equal share of the remaining time."""
        resolve = partial(socket.getaddrinfo, host, port, 0, socket.SOCK_STREAM)
        try:
            addresses: list[Any] = call_with_time_limit(resolve, self.remaining)
        except TimeoutError:
            raise self._build_timeout() from None
        errors: list[Exception] = []
        for count, (family, kind, protocol, _, address) in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                connection = self.enter_context(socket.socket(family, kind, protocol))
                with self.limit(connection, 1 / count):
                    connection.connect(address)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except (OSError, AttemptFailed) as error:
                errors.append(error)
            else:
                return Connection(connection, self)
        raise errors[-1]

    def _build_timeout(self) -> AttemptFailed:
        return AttemptFailed(f"the request timed out after {self._seconds:g} seconds", is_lost=self.is_sent)


class Connection:
    """A connection of an exchange, within its limits."""

    def __init__(self, connection: socket.socket, exchange: Exchange) -> None:
        self._socket = connection
        self._exchange = exchange

    def read(self, max_bytes: int, *_: object, **__: object) -> bytes:
        """Read what has arrived, or wait for it; nothing means that the server has closed the connection."""
        with self._exchange.limit(self._socket):
            content = self._socket.recv(max_bytes)
        self._exchange.count(len(content))
        return content

    def write(self, buffer: bytes, *_: object, **__: object) -> None:
        view = memoryview(buffer)
        with suppress(ConnectionError):  # of a server that has responded before it read everything
            while view:
                with self._exchange.limit(self._socket):
                    view = view[self._socket.send(view) :]

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, *_: object, **__: object
    ) -> Connection:
        """Return an encrypted connection over this one, which may be encrypted itself: that of a proxy."""
        return _TlsConnection(self, ssl_context, server_hostname)

    def get_extra_info(self, _: str) -> None:
        """Return no facts: none is needed about a connection that serves one request."""
        return


class _TlsConnection(Connection):
    """TLS without a socket of its own, which would count only the decrypted bytes."""

    def __init__(self, connection: Connection, context: ssl.SSLContext, hostname: str | None) -> None:
        self._connection = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=hostname)
        self._perform(self._tls.do_handshake)

    def read(self, max_bytes: int, *_: object, **__: object) -> bytes:
        with suppress(ssl.SSLEOFError):  # of a server that closes without a notice, as many do
            return bytes(self._perform(self._tls.read, max_bytes))
        return b""

    def write(self, buffer: bytes, *_: object, **__: object) -> None:
        if buffer:
            self._perform(self._tls.write, buffer)

    def close(self) -> None:
        self._connection.close()

    def _perform(self, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Return what an operation of TLS returns, once it has what it needs from the server."""
        while True:
            try:
                return operation(*arguments)
            except ssl.SSLWantReadError:
                pass
            finally:
                self._connection.write(self._outgoing.read())
            content = self._connection.read(_RECORD_SIZE)
            if content:
                self._incoming.write(content)
            else:
                self._incoming.write_eof()


class BoundedTransport:
    """Sends a request and reads the whole response, which `seconds` and `MOST_BYTES` limit, whatever its status.

    Proxies and certificates are those of the environment, for the URL of the server. Raises `SettingsError`.
    """

    def __init__(self, client: Any, url: str, seconds: float) -> None:
        base: str = client.__mro__[1].__module__  # of the library whose client is the base of that of openai
        self._http = importlib.import_module(base.partition(".")[0])
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


def _choose_pool(http: ModuleType, url: str) -> Callable[..., Any]:
    """What opens connections for a URL: to the server, or to a proxy. Raises `SettingsError`."""
    core, context = importlib.import_module(http.__name__.replace("httpx", "httpcore")), http.create_ssl_context()
    parts, proxies = urlsplit(url), getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address or any(map(proxy_bypass, (parts.hostname or "", parts.netloc))):
        return partial(core.ConnectionPool, ssl_context=context)
    try:
        proxy = http.Proxy(address if "://" in address else f"http://{address}")
    except (ValueError, http.InvalidURL):  # whose messages may have its password
        raise SettingsError("invalid proxy in the environment; set it to a URL such as http://10.0.0.1:3128") from None
    is_socks = proxy.url.scheme.startswith("socks")
    if is_socks and importlib.util.find_spec("socksio") is None:
        raise SettingsError("a SOCKS proxy requires socksio; install it, or choose another proxy in the environment")
    kind = core.SOCKSProxy if is_socks else core.HTTPProxy
    return partial(kind, proxy_url=str(proxy.url), proxy_auth=proxy.raw_auth, ssl_context=context)


def _decode(content: bytes, encoding: str) -> bytes:
    """The decoded body, of which nothing is unpacked far beyond the limit. Raises `AttemptFailed`."""
    name = encoding.strip().lower()
    if name in {"", "identity"} or not content:
        return content
    if name != "gzip":
        raise AttemptFailed(f"a response with the encoding '{encoding}', which was not requested", is_lost=True)
    return zlib.decompressobj(_GZIP).decompress(content, MOST_BYTES + 1)


def call_with_time_limit(function: Callable[[], Value], seconds: float) -> Value:
    """Return what a function returns. Raises its exception, or `TimeoutError`, and then leaves its thread behind."""
    values: list[Value] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            values.append(function())
        except Exception as error:  # noqa: BLE001  (raised again by the thread that waits)
            errors.append(error)

    thread = Thread(target=work, name="webeval-judge", daemon=True)
    thread.start()
    thread.join(seconds)
    if values:
        return values[0]
    raise errors[0] if errors else TimeoutError
