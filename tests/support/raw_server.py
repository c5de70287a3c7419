"""A loopback server that sends any bytes, over TLS too, and knows when its client has gone."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[[socket.socket], None]
PAUSE = 0.005  # seconds between two bytes of a slow server


@dataclass
class RawServer:
    """A server with the requests that it has read. `ended` is set when a client has closed its connection."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def read_request(connection: socket.socket) -> bytes:
    """One request, with a body of the length that its headers name."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += connection.recv(65_536) or b"\r\n\r\n"
    head, _, body = content.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    while len(body) < int(length or 0):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def send_for_ever(first: bytes, repeated: bytes, *, slowly: bool) -> Behaviour:
    """Send the first bytes, then the repeated ones until the client goes: one at a time, or as fast as possible."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(first)
        pieces = [bytes([byte]) for byte in repeated] if slowly else [repeated * (1 + 65_536 // (len(repeated) or 1))]
        while repeated:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(PAUSE if slowly else 0)
        while connection.recv(65_536):
            pass

    return behave


@contextmanager
def serve_raw(behave: Behaviour, context: ssl.SSLContext | None = None, *, reads: bool = True) -> Iterator[RawServer]:
    """A running server that does the same on each connection, usually after it has read a request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RawServer(listener.getsockname()[1])

        def serve(connection: socket.socket) -> None:
            with suppress(OSError):
                if context:
                    connection = context.wrap_socket(connection, server_side=True)
                with connection:
                    if reads:
                        server.requests.append(read_request(connection))
                    behave(connection)
            connection.close()
            server.ended.set()

        def accept() -> None:
            with suppress(OSError):  # when the listener is closed
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
