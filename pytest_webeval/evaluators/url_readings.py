"""A URL in every reading that a server may have of it: what it was sent to, and which paths it may mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from socket import inet_aton, inet_ntoa
from urllib.parse import unquote

from msgspec import Struct

from pytest_webeval.tasks.addresses import DEFAULT_PORTS, normalize_host, resolve_path

DECODINGS = 3  # a path that is encoded more often means nothing to any server
_SENT = re.compile(r"(http|ws)(s?):[/\\]*([^/\\?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.IGNORECASE | re.DOTALL)
_BLANKS = "".join(map(chr, range(0x21)))  # around a URL: browsers drop them, and line ends and tabs everywhere
_LINE_ENDS = str.maketrans("", "", "\t\r\n")
_IPV4 = re.compile(r"[0-9a-fx.]+")  # which may be an address: browsers read 127.1 and 0x7f000001 as 127.0.0.1
_PORT = re.compile(r":([0-9]*)$")
_PARAMETERS = re.compile(r";[^/]*")
_LOOPBACK_NAMES = ("localhost", "0.0.0.0", "[::]")  # noqa: S104  (hosts of recorded URLs; nothing is bound)


class Server(Struct, frozen=True):
    """Where a request went: host and port, without what two spellings of a URL may differ in."""

    scheme: str
    host: str
    port: int

    def is_same(self, other: Server) -> bool:
        """Whether both are one server: also under another loopback address, and beside it with TLS."""
        same_port = self.port == other.port or (self._has_default_port and other._has_default_port)
        return same_port and (self.host == other.host or (_is_loopback(self.host) and _is_loopback(other.host)))

    @property
    def _has_default_port(self) -> bool:
        return self.port == DEFAULT_PORTS[self.scheme]

    @property
    def text(self) -> str:
        return f"{self.scheme}://{self.host}{'' if self._has_default_port else f':{self.port}'}"


class SentUrl(Struct, frozen=True):
    server: Server
    path: str
    query: str
    fragment: str


def split_sent(raw: str) -> SentUrl | None:
    """The parts of a URL; None for one that leads to no server, as `data:` URLs do."""
    match = _SENT.fullmatch(raw.strip(_BLANKS).translate(_LINE_ENDS))
    if match is None:
        return None
    name = unquote(match[3].rpartition("@")[2])
    port = _PORT.search(name)
    host = _read_host(name[: port.start()] if port else name)
    scheme = "https" if match[2] else "http"
    number = int(port[1][:6]) if port and port[1] else DEFAULT_PORTS[scheme]
    return SentUrl(Server(scheme, host, number), match[4], match[5] or "", match[6] or "")


def _read_host(raw: str) -> str:
    """A host in one spelling, addresses as four numbers where they have them; what is no host as it is."""
    host = raw.lower()
    with suppress(ValueError):
        host = normalize_host(raw)
        mapped = IPv6Address(host.strip("[]")).ipv4_mapped if host.startswith("[") else None
        host = host if mapped is None else str(mapped)
    with suppress(OSError):
        host = inet_ntoa(inet_aton(host)) if _IPV4.fullmatch(host) else host
    return host


def _is_loopback(host: str) -> bool:
    if host in _LOOPBACK_NAMES:
        return True
    with suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return False


def read_path(path: str, decodings: int = DECODINGS, *, parameters: bool = True) -> tuple[str, ...]:
    """The path as it was sent, decoded, and with its segments resolved; each without a last slash too.

    It is read without its `parameters` as well. Servers do these in several orders: `..;/x` is `../x` to one that drops
    parameters first.
    """
    readings = {path: None}
    for decoded in _decode(path, decodings):
        for text in dict.fromkeys((decoded, _PARAMETERS.sub("", decoded) if parameters else decoded)):
            slashed = text.replace("\\", "/")
            readings |= dict.fromkeys(
                (text, slashed, resolve_path(slashed), resolve_path(re.sub("/{2,}", "/", slashed)))
            )
    return tuple(dict.fromkeys(text for reading in readings for text in (reading, reading.rstrip("/"))))


def read_query(query: str) -> tuple[str, ...]:
    """The query as it was sent, decoded, and each with its parameters in order; none without a query."""
    texts = [
        text
        for decoded in (_decode(query, DECODINGS) if query else ())
        for text in (decoded, decoded.replace("+", " "), "&".join(sorted(decoded.split("&"))))
    ]
    return tuple(dict.fromkeys(texts))


def _decode(text: str, decodings: int) -> Iterator[str]:
    yield text
    for _ in range(decodings):
        decoded = unquote(text)
        if decoded == text:
            return
        yield (text := decoded)
