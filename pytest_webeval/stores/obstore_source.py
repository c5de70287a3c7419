"""Objects of S3, Google Cloud Storage and Azure through obstore, which reads many small ones fast."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from pytest_webeval.stores.failures import describe_failure, making_client
from pytest_webeval.stores.fsspec_source import SECONDS, FsspecSource, S3Source
from pytest_webeval.stores.store import StoredObject, find_key_problem

# Variables with credentials that both obstore and the library of fsspec read, by scheme.
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "gs": ("GOOGLE_APPLICATION_CREDENTIALS",),
    "az": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"),
}
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=SECONDS)}
_RETRIES = {"max_retries": 0, "retry_timeout": timedelta(seconds=SECONDS)}
T = TypeVar("T")
_first_process: list[int] = []  # where obstore was used first: it does not survive a fork


class ObstoreSource(FsspecSource):
    """Reads and writes through obstore where it can. What fails for good there, fsspec decides."""

    _store: Any = None

    def list_pages(self, prefix: str, most: int | None = None) -> Iterator[list[StoredObject]]:
        """The objects in a directory.

        obstore fails for keys that are no paths, and gives directories as objects without content. With either, fsspec
        lists the store.
        """
        listed = self._try(prefix or "any", lambda store: _list_all(store, prefix, most))
        yield from super().list_pages(prefix, most) if listed is None else [listed]

    def read(self, key: str) -> bytes:
        """The bytes of an object."""
        content = self._try(key, lambda store: bytes(_obstore().get(store, key).bytes()))
        return super().read(key) if content is None else content

    def write(self, key: str, content: bytes) -> None:
        """Write an object."""
        if self._try(key, lambda store: _obstore().put(store, key, content, use_multipart=False) or True) is None:
            super().write(key, content)

    def _try(self, key: str, action: Callable[[Any], T | None]) -> T | None:
        """What an action of obstore gives; None where it fails for good, and fsspec decides."""
        store = self._connect(key)
        try:
            return None if store is None else action(store)
        except Exception as error:
            if describe_failure(error).is_passing:
                raise
            return None

    def _connect(self, key: str) -> Any:
        """The store of obstore; None where fsspec has to do, as after a fork and for keys that are no paths."""
        if not _first_process:
            _first_process.append(os.getpid())
        if _first_process[0] != os.getpid() or find_key_problem(key) is not None:
            return None
        if self._store is None:
            with making_client():
                self._store = _open(self.scheme, self.location)
        return self._store


class ObstoreS3Source(ObstoreSource, S3Source):
    """The same, but what fsspec decides is decided as for S3."""


def _list_all(store: Any, prefix: str, most: int | None) -> list[StoredObject] | None:
    """All objects, or about `most`; None if one of them may be a directory."""
    objects: list[StoredObject] = []
    for page in _obstore().list(store, prefix or None, chunk_size=1000):
        for row in page:
            if not row["size"]:
                return None
            etag = row["e_tag"] and row["e_tag"].removeprefix("W/").strip('"')
            objects.append(StoredObject(row["path"], row["size"], etag, row["last_modified"].timestamp()))
        if most is not None and len(objects) >= most:
            break
    return objects


def _obstore() -> Any:
    return import_module("obstore")


def is_usable(scheme: str) -> bool:
    """Whether obstore is installed and has the same credentials as the library of fsspec.

    That library fails as well where they cannot be read, and says so when the store is first used.
    """
    if find_spec("obstore") is None:
        return False
    if scheme == "s3":
        try:
            return _open_session().get_credentials() is not None
        except Exception:  # noqa: BLE001  (whatever the library raises for a configuration)
            return False
    return scheme in _VARIABLES and all(map(os.environ.get, _VARIABLES[scheme]))


def _open(scheme: str, location: str) -> Any:
    stores = import_module("obstore.store")
    if scheme != "s3":
        return stores.from_url(location, client_options=_CLIENT, retry_config=_RETRIES)
    session = _open_session()
    url: str = session.create_client("s3").meta.endpoint_url  # as botocore finds it: the environment, or the profile
    endpoint = None if url.endswith((".amazonaws.com", ".amazonaws.com.cn")) else url
    settings: dict[str, Any] = {"region": session.get_config_variable("region") or "us-east-1"}
    if endpoint:
        settings["endpoint"] = endpoint
    client = {**_CLIENT, "allow_http": bool(endpoint and endpoint.startswith("http://"))}
    provider = _CredentialProvider(session)
    options = {"config": settings, "client_options": client, "retry_config": _RETRIES}
    return stores.S3Store.from_url(location, credential_provider=provider, **options)


def _open_session() -> Any:
    return import_module("botocore.session").Session()


class _CredentialProvider:
    """Credentials as botocore finds and renews them."""

    def __init__(self, session: Any) -> None:
        self._credentials = session.get_credentials()

    def __call__(self) -> dict[str, Any]:
        frozen = self._credentials.get_frozen_credentials()
        return {
            "access_key_id": frozen.access_key,
            "secret_access_key": frozen.secret_key,
            "token": frozen.token,
            "expires_at": getattr(self._credentials, "_expiry_time", None),
        }
