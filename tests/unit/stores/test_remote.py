"""Remote stores: the same behaviour of our server and moto's, through fsspec and obstore, and in words of ours."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import socket
import struct
import threading
import time
import traceback
import zipfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_webeval.errors import StoreError
from pytest_webeval.stores import obstore_source
from pytest_webeval.stores.choice import open_store
from tests.support.faulty_s3 import BUCKET, Faults, S3Server
from tests.unit.stores.conftest import set_variables

pytest.importorskip("fsspec")
ODD_KEYS = ["a b.json", "a%20b", "x+?&#=.json", "é/ü.json", "a//b", "c/../d", "m/", "e\x01f", "x<&>'\"y", "ends."]


@pytest.fixture(scope="module")
def moto_server():
    server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["ours", pytest.param("moto", marks=pytest.mark.whole)])
def endpoint(request, tmp_path, monkeypatch):
    """An empty bucket at one of two servers."""
    pytest.importorskip("s3fs")
    if request.param == "ours":
        with S3Server(tmp_path) as server:
            set_variables(monkeypatch, server.environment)
            yield
        return
    host, port = request.getfixturevalue("moto_server").get_host_and_port()
    variables = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    set_variables(monkeypatch, {**variables, "AWS_DEFAULT_REGION": "us-east-1"})
    import botocore.session

    client = botocore.session.Session().create_client("s3")
    client.create_bucket(Bucket=BUCKET)
    yield
    for row in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=row["Key"])
    client.delete_bucket(Bucket=BUCKET)


@pytest.fixture(params=["fsspec", "obstore"])
def library(request, monkeypatch):
    """The library through which a store is read."""
    if request.param == "obstore":
        pytest.importorskip("obstore")
    else:
        monkeypatch.setattr(obstore_source, "find_spec", {}.get)
    return request.param


def test_the_library_is_chosen_by_what_is_installed(s3, library):
    source = open_store("s3://bucket/runs").source
    assert type(source).__name__ == {"fsspec": "S3Source", "obstore": "ObstoreS3Source"}[library]


def test_what_is_written_is_listed_by_key_and_read(endpoint, library):
    store = open_store("s3://bucket/runs/")
    contents = {key: key.encode() for key in ("b/c", "a.d", "a/b", "b-c")}
    for key, content in contents.items():
        store.write(key, content)
    open_store("s3://bucket/runs2").write("other", b"")
    listed = list(store.list())
    assert [(entry.key, entry.size) for entry in listed] == [("a.d", 3), ("a/b", 3), ("b-c", 3), ("b/c", 3)]
    assert all(len(entry.etag) == 32 and time.time() - entry.modified < 100 for entry in listed)
    assert {entry.key: store.read(entry.key) for entry in listed} == contents
    assert [entry.key for entry in store.list("b")] == ["b/c"]


@pytest.mark.thinned(every=2)
def test_an_odd_key_is_listed_and_read_as_it_is(endpoint, library):
    import botocore.session

    client = botocore.session.Session().create_client("s3")
    client.put_object(Bucket=BUCKET, Key="runs/plain", Body=b"plain")
    store = open_store("s3://bucket/runs")
    for key in ODD_KEYS:
        content = b"" if key.endswith("/") else b"odd"
        client.put_object(Bucket=BUCKET, Key=f"runs/{key}", Body=content)
        assert [entry.key for entry in store.list()] == sorted([key, "plain"])
        assert store.read(key) == content
        client.delete_object(Bucket=BUCKET, Key=f"runs/{key}")


@pytest.mark.thinned(every=8)
@pytest.mark.parametrize("key", ["a\tb/c", "a\nb", "\x7f", "\u2028", "a%2Fb", "a b+c", "\u00fc", "u\u0308"])
def test_an_odd_key_is_written_as_it_is(s3, library, key):
    open_store("s3://bucket/runs").write(key, b"odd")
    assert s3.objects("") == {f"runs/{key}": b"odd"}


@pytest.mark.thinned(every=2)
def test_a_listing_of_several_pages_is_complete(s3, library):
    keys = sorted(f"{number}" for number in range(2_500))
    s3.put({f"runs/{key}": b"1" for key in keys})
    assert [entry.key for entry in open_store("s3://bucket/runs").list()] == keys


def test_a_listing_ends_soon_after_the_most_objects_that_are_wanted(s3, library):
    s3.put({f"runs/{number:04}": b"1" for number in range(3500)})
    store = open_store("s3://bucket/runs")
    assert [entry.key for entry in store.list(most=1500)] == [f"{number:04}" for number in range(2000)]


def test_an_empty_object_makes_the_listing_exact(s3, library):
    s3.put({"runs/a/": b"", "runs/b": b"", "runs/c": b"1"})
    assert [entry.key for entry in open_store("s3://bucket/runs").list()] == ["a/", "b", "c"]


def test_what_fails_for_good_is_one_line_without_the_words_of_the_library(s3, library, quick_retries):
    s3.put({"runs/denied": b"1", "runs/failing": b"1"})
    s3.restart(Faults(denied=["runs/denied"], failing=["runs/failing"]))
    store = open_store("s3://bucket/runs")
    expected = {
        "missing": "there is no such object; list the store again",
        "denied": "access is denied (HTTP 403); check the credentials in the environment or profile",
        "failing": "HTTP 500 after 6 attempts; check the store",
    }
    for key, reason in expected.items():
        with pytest.raises(StoreError) as failure:
            store.read(key)
        assert str(failure.value) == f"cannot read s3://bucket/runs/{key}: {reason}"
        assert failure.value.__context__ is None


@pytest.mark.thinned(every=2)
def test_whether_a_store_can_be_written_is_tried_without_an_object(endpoint, library):
    import botocore.session

    store = open_store("s3://bucket/results")
    store.check_writable("eval_summary.json")
    assert list(store.list()) == []
    assert not botocore.session.Session().create_client("s3").list_multipart_uploads(Bucket=BUCKET).get("Uploads")
    with pytest.raises(StoreError, match=r"cannot write s3://other/results/a: there is no such bucket or location"):
        open_store("s3://other/results").check_writable("a")


@pytest.mark.whole
def test_a_store_that_cannot_be_tried_may_be_written(s3, library):
    s3.restart(Faults(unwritable=["results/a"]))
    with pytest.raises(StoreError, match=r"cannot write s3://bucket/results/a: access is denied"):
        open_store("s3://bucket/results").check_writable("a")
    s3.restart(Faults(unwritable=["results/a"], has_uploads=False))
    open_store("s3://bucket/results").check_writable("a")
    open_store("memory://results").check_writable("a")


@pytest.mark.thinned(every=2)
def test_a_bucket_that_does_not_exist_is_an_error(s3, library):
    with pytest.raises(StoreError, match=r"cannot list s3://other/runs: there is no such bucket or location; check it"):
        list(open_store("s3://other/runs").list())
    with pytest.raises(StoreError, match=r"cannot write s3://other/runs/1: there is no such bucket or location; check"):
        open_store("s3://other/runs").write("1", b"1")


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("AWS_PROFILE", "planted", "ProfileNotFound"),
        ("AWS_CONFIG_FILE", "broken", "ConfigParseError"),
        ("AWS_ENDPOINT_URL", "planted", "ValueError"),
        ("AWS_DEFAULT_REGION", "planted region", "InvalidRegionError"),
    ],
)
def test_a_client_that_cannot_be_configured_is_one_line_without_its_words(
    s3, library, tmp_path, monkeypatch, name, value, error
):
    (tmp_path / "broken").write_text("planted")
    monkeypatch.setenv(name, str(tmp_path / value) if value == "broken" else value)
    with pytest.raises(StoreError) as failure:
        list(open_store("s3://bucket/runs").list())
    reason = f"the configuration of the client cannot be used ({error})"
    assert str(failure.value).startswith(f"cannot list s3://bucket/runs: {reason}; check its variables and files")
    assert "planted" not in str(failure.value)
    assert failure.value.__context__ is None


def test_a_server_that_is_stopped_refuses_connections(s3, library, quick_retries):
    s3.kill()
    with pytest.raises(StoreError, match=r": connection refused after 6 attempts; check that the store can be reached"):
        list(open_store("s3://bucket/runs").list())


def test_a_scheme_may_have_capitals(s3, library):
    s3.put({"runs/1": b"1"})
    store = open_store("S3://bucket/runs/")
    assert (store.location, store.read("1")) == ("s3://bucket/runs", b"1")


@pytest.mark.thinned(every=2)
def test_no_error_log_or_repr_has_credentials(s3, library, quick_retries, monkeypatch, caplog):
    monkeypatch.setenv("AWS_SESSION_TOKEN", "plantedtoken")
    s3.put({"runs/denied": b"1", "runs/failing": b"1"})
    s3.restart(Faults(denied=["runs/denied"], failing=["runs/failing"]))
    store, texts = open_store("s3://bucket/runs"), []
    with caplog.at_level(logging.INFO):
        for key in ("denied", "failing", "missing"):
            try:
                store.read(key)
            except StoreError as error:
                texts += [repr(error), "".join(traceback.format_exception(error))]
        s3.kill()
        with pytest.raises(StoreError) as failure:
            store.write("a", b"1")
        texts += ["".join(traceback.format_exception(failure.value)), repr(store), repr(store.source), caplog.text]
    texts.append(pickle.dumps(store).decode("latin-1"))
    joined = "\n".join(texts)
    assert len(texts) > 8
    for secret in ("AKIAPLANTED", "planted/secret", "plantedtoken", "Authorization", "X-Amz-Signature"):
        assert secret not in joined


@pytest.mark.thinned(every=2)
def test_reads_that_fail_for_a_passing_reason_are_tried_again(s3, library, quick_retries):
    s3.put({f"runs/{number}": f"{number}".encode() * 50 for number in range(150)})
    s3.restart(Faults(share=0.2))
    store = open_store("s3://bucket/runs")
    assert all(store.read(f"{number}") == f"{number}".encode() * 50 for number in range(150))
    reads = [request for request in s3.requests() if request.startswith("GET /bucket/runs/")]
    assert len(reads) > 160


@pytest.mark.thinned(every=2)
def test_a_store_that_is_killed_and_restarted_loses_nothing(s3, library):
    s3.put({f"runs/{number}": f"{number}".encode() for number in range(3)})
    store = open_store("s3://bucket/runs")
    assert store.read("0") == b"0"
    s3.kill()
    timer = threading.Timer(1.0, s3.start)
    timer.start()
    assert store.read("1") == b"1"
    timer.join()
    store.write("new", b"new")
    assert store.read("new") == b"new"


@pytest.mark.thinned(every=2)
def test_a_store_that_is_gone_is_waited_for_once(s3, library, quick_retries):
    s3.put({"runs/1": b"1"})
    store = open_store("s3://bucket/runs")
    s3.kill()
    with pytest.raises(StoreError, match="after 6 attempts; check that the store can be reached"):
        store.read("1")
    with pytest.raises(StoreError) as second:
        store.read("1")
    assert "attempts" not in str(second.value)
    s3.start()
    assert store.read("1") == b"1"


@pytest.mark.thinned(every=2)
def test_credentials_and_endpoint_of_a_profile_are_used(s3, library, tmp_path, monkeypatch):
    s3.put({"runs/1": b"1"})
    secret = s3.environment["AWS_SECRET_ACCESS_KEY"]
    (tmp_path / "credentials").write_text(f"[team]\naws_access_key_id = a\naws_secret_access_key = {secret}\n")
    (tmp_path / "config").write_text(f"[profile team]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:{s3.port}\n")
    for name in s3.environment:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    with pytest.raises(StoreError, match="access is denied; check the credentials"):
        open_store("s3://bucket/runs").read("1")
    monkeypatch.setenv("AWS_PROFILE", "team")
    store = open_store("s3://bucket/runs")
    assert (store.read("1"), type(store.source).__name__ == "ObstoreS3Source") == (b"1", library == "obstore")


def _read_elsewhere(store):
    return os.getpid(), store.read("1")


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_store_works_in_another_process(s3, method):
    pytest.importorskip("obstore")
    s3.put({"runs/1": b"1"})
    store = open_store("s3://bucket/runs")
    assert store.read("1") == b"1"
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
        process, content = pool.submit(_read_elsewhere, store).result(60)
    assert (process != os.getpid(), content) == (True, b"1")


def test_memory_is_a_store():
    store = open_store("memory://webeval/runs")
    store.write("b/a", b"12")
    store.write("a", b"1")
    assert [(entry.key, entry.size) for entry in store.list()] == [("a", 1), ("b/a", 2)]
    assert store.read("b/a") == b"12"
    with pytest.raises(StoreError, match="there is no such object"):
        store.read("c")


@pytest.mark.parametrize("form", ["zip://{}", "zip://::{}", "zip://runs::file://{}"])
def test_an_archive_is_a_store_that_can_be_read(tmp_path, form):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("runs/1/a", "12")
        archive.writestr("runs/../../b", "3")
    store = open_store(form.format(tmp_path / "a.zip"))
    start = "" if "runs" in form else "runs/"
    listed = {entry.key: entry for entry in store.list()}
    assert (listed[f"{start}1/a"].size, store.read(f"{start}1/a")) == (2, b"12")


@contextmanager
def serve_directory(directory, failing="", times=0):
    """A web server that breaks so many connections for one path."""
    failures = iter(range(times))

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_GET(self):
            if self.path == failing and next(failures, None) is not None:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            else:
                super().do_GET()

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(directory))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_web_server_is_a_store_that_can_be_read(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "1").mkdir()
    (tmp_path / "1/a b%.json").write_text("12")
    with serve_directory(tmp_path) as location:
        store = open_store(location)
        assert [(entry.key, entry.size) for entry in store.list()] == [("1/a b%.json", 2)]
        assert store.read("1/a b%.json") == b"12"
        with pytest.raises(StoreError, match="cannot write"):
            store.write("x", b"1")


def test_a_web_server_that_breaks_a_connection_is_listed_again(tmp_path, quick_retries):
    pytest.importorskip("aiohttp")
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").touch()
    with serve_directory(tmp_path, "/2/", times=2) as location:
        assert [entry.key for entry in open_store(location).list()] == ["1/a", "2/a"]
    with serve_directory(tmp_path, "/2/", times=1000) as location, pytest.raises(StoreError, match="cannot list"):
        list(open_store(location).list())


def test_directories_of_a_web_server_that_are_too_deep_are_listed_as_they_are(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "root" / "/".join("d" * 70)).mkdir(parents=True)
    (tmp_path / "root" / "/".join("d" * 62) / "a").write_text("1")
    with serve_directory(tmp_path) as location:
        store = open_store(f"{location}root")
        assert [entry.key for entry in store.list()] == ["d/" * 62 + "a", "d/" * 65]
        assert [entry.key for entry in store.list("d/d")] == ["d/" * 62 + "a", "d/" * 65]


def test_a_web_server_that_is_not_there_is_an_error(quick_retries):
    pytest.importorskip("aiohttp")
    with pytest.raises(
        StoreError, match=r"cannot list http://127\.0\.0\.1:1/runs: .*; check that the store can be reached"
    ):
        list(open_store("http://127.0.0.1:1/runs/").list())
