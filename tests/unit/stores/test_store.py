"""Locations: which are remote, which are refused, and what has to be installed for them."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.stores import choice
from pytest_webeval.stores.choice import LocalStore, open_store
from pytest_webeval.stores.store import is_remote, trim


def _find_nothing(name):
    """No library is installed."""


SECRETS = ("AKIAPLANTED", "hunter2", "c2lnbmF0dXJl")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("runs", False),
        ("/runs", False),
        ("./a://b", False),
        ("C:\\runs", False),
        ("file:///runs", False),
        ("FILE:///runs", False),
        ("", False),
        ("s3://bucket/runs", True),
        ("S3://bucket", True),
        ("gs://b", True),
        ("https://host/runs", True),
        ("zip://runs::s3://bucket/a.zip", True),
        ("memory://runs", True),
    ],
)
def test_a_url_is_remote_and_a_path_is_not(text, expected):
    assert is_remote(text) is expected


@pytest.mark.parametrize(
    "location",
    [
        "s3://AKIAPLANTED:hunter2@bucket/runs",
        "s3://AKIAPLANTED@bucket/runs",
        "https://user:hunter2@host/runs",
        "https://hunter2@host/runs",
        "https://host/runs?sig=c2lnbmF0dXJl",
        "https://account.blob.core.windows.net/c/runs?sv=1&sig=c2lnbmF0dXJl",
        "az://container/runs?sig=c2lnbmF0dXJl",
        "abfs://container:hunter2@account.dfs.core.windows.net/runs",
        "s3://bucket/runs?X-Amz-Signature=c2lnbmF0dXJl",
        "s3://bucket/runs#token=hunter2",
        "zip://runs::https://user:hunter2@host/a.zip",
        "unknown://user:hunter2@host/",
        "file:///runs?token=hunter2",
    ],
)
def test_a_location_with_credentials_is_refused_and_not_repeated(location):
    with pytest.raises(SettingsError) as refusal:
        open_store(location)
    message = str(refusal.value)
    assert message.startswith(f"the {location.rpartition('::')[2].partition(':')[0]}:// location has credentials")
    assert not any(secret in message for secret in SECRETS)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("s3://bucket", "s3://bucket"),
        ("S3://Bucket/Runs//", "s3://Bucket/Runs"),
        ("zip:///data/runs.zip", "zip:///data/runs.zip"),
        ("https://host/runs/", "https://host/runs"),
    ],
)
def test_a_location_has_one_spelling(location, expected):
    assert trim(location) == expected


@pytest.mark.parametrize("location", ["s3://", "S3:///", "s3:///runs", "gs:///runs", "zip://", "memory://"])
def test_a_location_without_a_place_is_refused(location):
    scheme = location.partition(":")[0].lower()
    with pytest.raises(SettingsError, match=rf"the location {scheme}:// names no place; use one such as s3://bucket"):
        trim(location)


@pytest.mark.parametrize("location", ["abfs://container@account.dfs.core.windows.net/runs", "s3://bucket/what?/runs"])
def test_a_container_and_a_question_mark_are_no_credentials(location, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", _find_nothing)
    with pytest.raises(SettingsError, match="requires fsspec"):
        open_store(location)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("s3://b/runs", "reading s3://… requires fsspec and s3fs; install pytest-webeval[remote]"),
        ("gs://b/runs", "reading gs://… requires fsspec and gcsfs; install pytest-webeval[remote] and gcsfs"),
        ("az://b/runs", "reading az://… requires fsspec and adlfs; install pytest-webeval[remote] and adlfs"),
        ("memory://runs", "reading memory://… requires fsspec; install pytest-webeval[remote]"),
        ("zip://a::s3://b", "reading zip://… requires fsspec; install pytest-webeval[remote]"),
    ],
)
def test_a_missing_library_is_an_error_that_says_what_to_install(location, message, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", _find_nothing)
    with pytest.raises(SettingsError) as refusal:
        open_store(location)
    assert str(refusal.value) == message


def test_an_unknown_scheme_is_an_error_that_lists_the_others():
    with pytest.raises(SettingsError, match=r"unknown scheme 'ftp' of a store; use a path or one of s3, gs, az, abfs"):
        open_store("ftp://host/runs")


@pytest.mark.parametrize("location", ["runs", "file://runs"])
def test_a_path_is_a_local_store_wherever_the_process_goes(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store(location)
    assert store == LocalStore(str(tmp_path / "runs"))
    assert pickle.loads(pickle.dumps(store)) == store


def test_asking_whether_a_location_is_remote_imports_no_library():
    code = (
        "import sys; from pytest_webeval.stores.store import is_remote; is_remote('s3://b')\n"
        "import pytest_webeval.stores.choice, pytest_webeval.stores.mirror\n"
        "print({'fsspec', 's3fs', 'obstore', 'botocore', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
