"""Requests with their responses as HAR entries, with the members and headers that Playwright records of Chromium."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

Entry = dict[str, Any]
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36"
PAGES = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
PICTURES = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
SECURITY = (
    "default-src 'self' 'unsafe-inline'; font-src 'self' data:; form-action 'self' secure.authorize.net; "
    "frame-src 'self' www.paypal.com www.youtube.com; img-src 'self' data: widgets.magentocommerce.com; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' assets.adobedtm.com www.paypal.com"
)
FORM = "application/x-www-form-urlencoded; charset=UTF-8"


class Kind(NamedTuple):
    """What the browser says and hears about a kind of resource."""

    accept: str
    destination: str
    mode: str
    mime: str
    resource_type: str


# fmt: off
KINDS = {
    "page":    Kind(PAGES, "document", "navigate", "text/html; charset=UTF-8", "document"),
    "answer":  Kind("application/json, text/javascript, */*; q=0.01", "empty", "cors", "application/json", "xhr"),
    "script":  Kind("*/*", "script", "no-cors", "application/javascript", "script"),
    "style":   Kind("text/css,*/*;q=0.1", "style", "no-cors", "text/css", "stylesheet"),
    "picture": Kind(PICTURES, "image", "no-cors", "image/jpeg", "image"),
    "font":    Kind("*/*", "font", "cors", "font/woff2", "font"),
}
# fmt: on


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response, as far as one differs from another of its kind."""

    kind: str
    url: str
    body: str | None = None
    status: int = 200
    posted: str | None = None
    location: str = ""


@dataclass(slots=True)
class Browser:
    """Writes down exchanges, in their order, as one page of one browser has them."""

    random: Random
    page_id: str
    frame_id: str
    cookies: dict[str, str]
    referer: str
    count: int = 0

    def entry(self, exchange: Exchange) -> Entry:
        """The entry of an exchange. A page becomes the referer of what follows it."""
        self.count += 1
        kind = KINDS[exchange.kind]
        wait, receive = self.random.randrange(2_000, 900_000) / 1000, self.random.randrange(200, 60_000) / 1000
        found = {
            "pageref": self.page_id,
            "startedDateTime": f"2026-03-21T{self._clock}.041Z",
            "time": round(wait + receive, 3),
            "request": self._request(exchange, kind),
            "response": self._response(exchange, kind),
            "cache": {},
            "timings": {"dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": wait, "receive": receive},
            "_frameref": self.frame_id,
            "_monotonicTime": 9_000 + self.count,
            "_resourceType": kind.resource_type,
            "serverIPAddress": urlsplit(exchange.url).hostname,
            "_serverPort": urlsplit(exchange.url).port,
            "_securityDetails": {},
        }
        if exchange.kind == "page" and exchange.status == 200:
            self.referer = exchange.url
        return found

    @property
    def _clock(self) -> str:
        return f"10:{self.count // 60 % 60:02}:{self.count % 60:02}"

    def _request(self, exchange: Exchange, kind: Kind) -> dict[str, Any]:
        headers = self._request_headers(exchange, kind)
        found: dict[str, Any] = {
            "method": "GET" if exchange.posted is None else "POST",
            "url": exchange.url,
            "httpVersion": "HTTP/1.1",
            "cookies": _named(self.cookies),
            "headers": _named(headers),
            "queryString": _named(dict(parse_qsl(urlsplit(exchange.url).query))),
            "headersSize": sum(len(name) + len(value) + 4 for name, value in headers.items()),
            "bodySize": len(exchange.posted or ""),
        }
        if exchange.posted is not None:
            params = _named(dict(parse_qsl(exchange.posted)))
            found["postData"] = {"mimeType": headers["Content-Type"], "text": exchange.posted, "params": params}
        return found

    def _request_headers(self, exchange: Exchange, kind: Kind) -> dict[str, str]:
        found = {
            "Accept": kind.accept,
            "Accept-Encoding": "gzip, deflate, br, zstd",
            "Accept-Language": "en-US,en;q=0.9",
            "Connection": "keep-alive",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "Host": urlsplit(exchange.url).netloc,
            "Referer": self.referer,
            "Sec-Fetch-Dest": kind.destination,
            "Sec-Fetch-Mode": kind.mode,
            "Sec-Fetch-Site": "same-origin",
            "User-Agent": AGENT,
            "sec-ch-ua": '"Chromium";v="142", "HeadlessChrome";v="142", "Not_A Brand";v="99"',
            "sec-ch-ua-mobile": "?0",
            "sec-ch-ua-platform": '"Linux"',
        }
        if exchange.kind == "page":
            found |= {"Sec-Fetch-User": "?1", "Upgrade-Insecure-Requests": "1"}
        if exchange.kind == "answer":
            found |= {"X-Requested-With": "XMLHttpRequest"}
        if exchange.posted is not None:
            found |= {"Content-Type": FORM, "Content-Length": str(len(exchange.posted))}
        return found

    def _response(self, exchange: Exchange, kind: Kind) -> dict[str, Any]:
        is_new = kind.destination in {"document", "empty"}
        cookies = {"private_content_version": self.random.randbytes(16).hex()} if is_new else {}
        headers = self._response_headers(exchange, kind, cookies)
        size = len(exchange.body or "")
        content = {"size": size, "mimeType": kind.mime} | ({"text": exchange.body} if exchange.body else {})
        return {
            "status": exchange.status,
            "statusText": {200: "OK", 302: "Found", 304: "Not Modified"}[exchange.status],
            "httpVersion": "HTTP/1.1",
            "cookies": [{**one, "path": "/", "sameSite": "Lax"} for one in _named(cookies)],
            "headers": _named(headers),
            "content": content,
            "headersSize": sum(len(name) + len(value) + 4 for name, value in headers.items()),
            "bodySize": size,
            "redirectURL": exchange.location,
            "_transferSize": size + 500,
        }

    def _response_headers(self, exchange: Exchange, kind: Kind, cookies: dict[str, str]) -> dict[str, str]:
        found = {
            "Connection": "keep-alive",
            "Content-Type": kind.mime,
            "Date": f"Sat, 21 Mar 2026 {self._clock} GMT",
            "ETag": f'"{self.random.randbytes(8).hex()}"',
            "Server": "nginx/1.22.1",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
        }
        if cookies:
            set_cookie = "; ".join(f"{name}={value}; path=/; SameSite=Lax" for name, value in cookies.items())
            found |= {"Cache-Control": "max-age=0, must-revalidate, no-cache, no-store", "Set-Cookie": set_cookie}
        else:
            found |= {"Cache-Control": "max-age=31536000, public", "Last-Modified": "Tue, 03 Feb 2026 08:15:00 GMT"}
        if exchange.kind == "page":
            found |= {"Content-Security-Policy-Report-Only": SECURITY, "Pragma": "no-cache"}
        return found | ({"Location": exchange.location} if exchange.location else {})


def _named(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
