"""Objects that fsspec and its libraries reach: buckets, datasets, web servers, archives."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any
from urllib.parse import quote, unquote

from pytest_webeval.stores.failures import is_unknown_verb, making_client
from pytest_webeval.stores.store import (
    MOST_LEVELS,
    WRITABLE_SCHEMES,
    StoredObject,
    scheme_of,
    split_chain,
    strip_scheme,
)

SECONDS = 30  # for one request
_ETAGS = ("ETag", "etag", "e_tag", "blob_id", "CRC")  # in the order in which libraries are believed
_TIMES = ("LastModified", "last_modified", "Last-Modified", "updated", "mtime", "modified", "created")
_CONNECTIONS = 32
# What each library is opened with: no cache of its own, no attempts of its own, limits of time.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "s3": {
        "use_listings_cache": False,
        "max_concurrency": 1,  # otherwise it asks for the size of each object first
        "config_kwargs": {
            "connect_timeout": 5,
            "read_timeout": SECONDS,
            "retries": {"total_max_attempts": 1},
            "max_pool_connections": _CONNECTIONS,
        },
    },
    "http": {"use_listings_cache": False, "client_kwargs": {"headers": {"Accept-Encoding": "identity"}}},
}
OPTIONS = {**OPTIONS, "https": OPTIONS["http"]}
_WEB = frozenset({"http", "https"})


class FsspecSource:
    """The objects below a URL, with exceptions of the libraries. Each process has a connection of its own."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.scheme = scheme_of(location) or ""
        self._connection: tuple[int, Any, str] | None = None  # of a process

    def __reduce__(self) -> tuple[type[FsspecSource], tuple[str]]:
        return type(self), (self.location,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"

    def connect(self) -> tuple[Any, str]:
        """The file system of fsspec, which this process alone uses, and the path of the location in it."""
        connection = self._connection
        if connection is None or connection[0] != os.getpid():
            with making_client() if self.scheme in WRITABLE_SCHEMES else nullcontext():  # others need no configuration
                system, root = self._make_client()
            self._connection = connection = os.getpid(), system, root.rstrip("/")
        return connection[1], connection[2]

    def _make_client(self) -> tuple[Any, str]:
        options = {**OPTIONS.get(self.scheme, {}), "skip_instance_cache": True}
        system, root = import_module("fsspec.core").url_to_fs(_complete(self.location), **options)
        if self.scheme == "s3":
            system.retries = 1
            system.connect()
        return system, root

    def list_pages(self, prefix: str, most: int | None = None) -> Iterator[list[StoredObject]]:  # noqa: ARG002  (a protocol)
        """The objects in a directory."""
        system, root = self.connect()
        files = system.find(self.path_of(prefix), withdirs=False, detail=True)
        start = f"{root}/" if root else ""
        below = ((path, facts) for path, facts in files.items() if path.startswith(start) and path != start)
        yield [self.read_entry(path, path[len(start) :], facts) for path, facts in below]

    def read_entry(self, path: str, key: str, facts: Mapping[str, Any]) -> StoredObject:
        """The object at a path of the library."""
        system, _ = self.connect()
        if self.scheme in _WEB:
            key, facts = unquote(key), system.info(path)
        size = facts.get("size")
        if size is None:
            size = len(system.cat_file(path))
        return StoredObject(key, int(size), _find_etag(facts), _find_time(facts))

    def path_of(self, key: str) -> str:
        """A key as the library names it."""
        _, root = self.connect()
        return "/".join(filter(None, (root, quote(key) if self.scheme in _WEB else key)))

    def read(self, key: str) -> bytes:
        """The bytes of an object."""
        content: bytes = self.connect()[0].cat_file(self.path_of(key))
        return content

    def write(self, key: str, content: bytes) -> None:
        """Write an object."""
        self.connect()[0].pipe_file(self.path_of(key), content)

    def check_writable(self, key: str) -> None:
        """Raise what a write would raise, and write nothing: there is no way here."""

    def may_have_checksum(self, key: str) -> bool:  # noqa: ARG002  (a protocol)
        """Whether the etag of an object may be a checksum of its content: nobody knows here."""
        return True


class S3Source(FsspecSource):
    """Objects in S3, listed page by page with their names as they are."""

    def list_pages(self, prefix: str, most: int | None = None) -> Iterator[list[StoredObject]]:  # noqa: ARG002  (a protocol)
        """The objects in a directory, a thousand at a time."""
        system, path = self.connect()
        bucket, _, root = path.partition("/")
        start = f"{root}/" if root else ""
        request = {"Bucket": bucket, "Prefix": f"{start}{prefix.rstrip('/')}/" if prefix else start}
        while True:
            page = system.call_s3("list_objects_v2", **request)
            rows = (row for row in page.get("Contents", ()) if len(row["Key"]) > len(start))
            yield [
                StoredObject(
                    row["Key"][len(start) :], row["Size"], row["ETag"].strip('"'), row["LastModified"].timestamp()
                )
                for row in rows
            ]
            if not page.get("IsTruncated"):
                return
            request["ContinuationToken"] = page["NextContinuationToken"]

    def check_writable(self, key: str) -> None:
        """Raise what a write would raise: an upload in parts is begun and dropped, which leaves no object."""
        system, _ = self.connect()
        bucket, _, name = self.path_of(key).partition("/")
        request = {"Bucket": bucket, "Key": name}
        try:
            upload = system.call_s3("create_multipart_upload", **request)
        except Exception as error:
            if is_unknown_verb(error):  # which is no obstacle to a write
                return
            raise
        with suppress(Exception):  # whoever may only write cannot drop it; it is never listed as an object
            system.call_s3("abort_multipart_upload", **request, UploadId=upload["UploadId"])

    def may_have_checksum(self, key: str) -> bool:
        """Whether the etag of an object may be a checksum of its content: not if it is encrypted with a key of KMS."""
        system, _ = self.connect()
        bucket, _, name = self.path_of(key).partition("/")
        facts = system.call_s3("head_object", Bucket=bucket, Key=name)
        return not str(facts.get("ServerSideEncryption")).startswith("aws:kms")


class WebSource(FsspecSource):
    """Objects of a web server. fsspec leaves out directories that cannot be listed, as if they were empty."""

    def list_pages(self, prefix: str, most: int | None = None) -> Iterator[list[StoredObject]]:  # noqa: ARG002  (same)
        """The objects in a directory, those of one directory of the server at a time."""
        system, root = self.connect()
        start, waiting = f"{root}/", [self.path_of(prefix)]
        seen: set[str] = set()  # a page may link to a directory far below
        while waiting:
            directory = f"{waiting.pop().rstrip('/')}/"
            below = [facts for facts in system.ls(directory, detail=True) if facts["name"].startswith(directory)]
            inner = {facts["name"] for facts in below if facts["type"] == "directory"} - {directory} - seen
            too_deep = {path for path in inner if path[len(start) :].count("/") > MOST_LEVELS}
            waiting += sorted(inner - too_deep)
            seen |= inner
            page = [
                self.read_entry(facts["name"], facts["name"][len(start) :], facts)
                for facts in below
                if facts["type"] == "file"
            ]
            yield [*page, *(StoredObject(path[len(start) :], 0) for path in sorted(too_deep))]  # which are told


def _complete(location: str) -> str:
    """The location with the archive that a `zip://` URL names alone."""
    chain = split_chain(location)
    if scheme_of(location) != "zip" or len(chain) > 1:
        return location
    return f"zip://::{os.path.abspath(strip_scheme(location))}"  # noqa: PTH100  (a text for a URL)


def _find_etag(facts: Mapping[str, Any]) -> str | None:
    etag = next((facts[name] for name in _ETAGS if facts.get(name)), None)
    return None if etag is None else str(etag).removeprefix("W/").strip('"')


def _find_time(facts: Mapping[str, Any]) -> float | None:
    moment = next((facts[name] for name in _TIMES if facts.get(name)), None)
    for parse in (datetime.fromisoformat, parsedate_to_datetime) if isinstance(moment, str) else ():
        with suppress(ValueError):
            moment = parse(str(moment))
            break
    if isinstance(moment, datetime):
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment) if isinstance(moment, int | float) else None
