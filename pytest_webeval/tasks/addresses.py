"""Addresses of sites in the one spelling that normalized URLs have (spec §5.14), whatever a configuration writes."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from unicodedata import normalize
from urllib.parse import SplitResult, quote, unquote, urlsplit

SCHEMES = ("http", "https")
DEFAULT_PORTS = {"http": 80, "https": 443}
_PATH_CHARACTERS = "~:/#[]@!$&'()*+,;="  # which url-normalize leaves as they are
_DEVIATIONS = "\u00df\u03c2\u200c\u200d"  # two letters and two joiners, which IDNA 2003 replaces and 2008 keeps
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def normalize_address(raw: str) -> str:
    """`http://shop.test` for `HTTP://me@Shop.test:80/`, as URLs on the site begin. Raises `ValueError`."""
    parts, host = _split_address(raw.strip())
    scheme, port = parts.scheme.lower(), parts.port
    suffix = "" if port in (None, DEFAULT_PORTS[scheme]) else f":{port}"
    query = f"/?{parts.query}" if parts.query else ""
    escaped = quote(unquote(parts.path.replace("\\", "/")), _PATH_CHARACTERS)  # as in normalized URLs
    return f"{scheme}://{host}{suffix}{resolve_path(re.sub('/{2,}', '/', escaped))}{query}"


def find_address_problem(raw: str) -> str | None:
    """What is wrong with an address, and what to write instead; None if a browser can go there."""
    text = raw.strip()
    scheme, separator, remainder = text.partition("://")
    host = remainder if separator else scheme
    suggestion = f"http://{host.lstrip('/') or '127.0.0.1:7770'}"
    if not text:
        return f"an empty URL; use e.g. {suggestion!r}"
    if not separator:
        return f"the URL {raw!r:.200} without a scheme; use {suggestion!r:.200}"
    if scheme.lower() not in SCHEMES:
        return f"the URL {raw!r:.200} with an unknown scheme; use {suggestion!r:.200}"
    if not host.strip("/"):
        return f"the URL {raw!r:.200} without a host; use e.g. {suggestion!r}"
    try:
        normalize_address(raw)
    except ValueError as error:
        return f"the URL {raw!r:.200}: {error}; write scheme, host, port and path, as in 'http://127.0.0.1:7770/admin'"
    return None


def normalize_host(raw: str) -> str:
    """A host as browsers send it: lower-case, in ASCII, without the dot at its end. Raises `ValueError`."""
    if raw.startswith("[") or ":" in raw:
        return f"[{IPv6Address(raw.strip('[]')).compressed}]"
    ascii_host = _to_ascii(raw.rstrip("."))
    if _HOST.fullmatch(ascii_host) is None:
        raise ValueError(f"invalid host {raw!r:.80}")
    return ascii_host


def _to_ascii(host: str) -> str:
    """A host in ASCII: in labels of IDNA 2003, as url-normalize writes it, unless browsers have another one for it."""
    if not any(letter in host for letter in _DEVIATIONS):
        return host.lower() if host.isascii() else host.lower().encode("idna").decode()
    labels = normalize("NFKC", "".join(map(str.lower, host))).split(".")  # one by one: a last sigma is one already
    return ".".join(each if each.isascii() else f"xn--{each.encode('punycode').decode()}" for each in labels)


def _split_address(text: str) -> tuple[SplitResult, str]:
    parts = urlsplit(text)
    if "#" in text:
        raise ValueError("an address has no fragment")
    if parts.query and "://" not in parts.query:  # a proxy has the address of a page there
        raise ValueError("an address has no query")
    if parts.scheme.lower() not in SCHEMES or not parts.hostname:
        raise ValueError("an address has a scheme and a host")
    is_bracketed = "[" in parts.netloc
    return parts, normalize_host(f"[{parts.hostname}]" if is_bracketed else parts.hostname)


def resolve_path(path: str) -> str:
    """A path without dot segments and empty ones, where a segment `..` drops the one before it, empty or not."""
    segments: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    return "".join(f"/{segment}" for segment in segments if segment)
