"""Requests of judges through TLS and proxies, as the environment has them, within the same limits."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges import exchanges as transport
from pytest_webeval.judges.calls import ReplyLost
from pytest_webeval.judges.openai_judge import OpenAIJudge
from tests.support.raw_server import read_request, send_for_ever, serve_raw
from tests.unit.judges.test_hostile_servers import BODY, ENDLESS, OK, TIMED_OUT, TOO_LONG, ask
from tests.unit.judges.test_hostile_servers import environment as environment  # noqa: PLC0414  (the fixture)

REPLY = OK + b"\r\n" + BODY
CREDENTIALS = "us%3Aer:pass"  # as in a URL
HEADER = b"Proxy-Authorization: Basic dXM6ZXI6cGFzcw=="


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate of 127.0.0.1 and its key, valid for this hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "judge.test")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = (
        builder.not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path_factory.mktemp("certificate") / "judge.pem"
    path.write_bytes(built.public_bytes(pem) + private)
    return path


@pytest.fixture
def context(certificate, monkeypatch):
    """How a server encrypts, with a certificate that the environment of the judge names."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def encrypted(server):
    return server.url.replace("http:", "https:")


def send_reply(connection):
    connection.sendall(REPLY)


def relay(connection):
    """What a proxy does after CONNECT: bytes go both ways until either side ends."""
    request = read_request(connection)
    assert HEADER in request
    host, _, port = request.split()[1].decode().partition(":")
    with socket.create_connection((host, int(port))) as server:
        connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        threading.Thread(target=pump, args=(server, connection), daemon=True).start()
        pump(connection, server)


def pump(source, target):
    with suppress(OSError):
        while content := source.recv(65_536):
            target.sendall(content)
        target.shutdown(socket.SHUT_WR)


def test_a_reply_comes_over_tls(context):
    with serve_raw(send_reply, context) as server:
        assert ask(encrypted(server), seconds=10.0).text == "yes"


def test_only_a_certificate_that_the_environment_trusts_is_accepted(context, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with serve_raw(send_reply, context) as server:
        error = ask(encrypted(server), seconds=10.0)
    assert "certificate verify failed" in str(error)
    assert not isinstance(error, ReplyLost)
    assert server.requests == []


@pytest.mark.parametrize("name", ["header lines", "100 Continue", "body", "status 400"])
@pytest.mark.parametrize("slowly", [True, False], ids=["slowly", "quickly"])
def test_an_endless_response_over_tls_ends_at_the_limits(context, name, slowly):
    with serve_raw(send_for_ever(*ENDLESS[name], slowly=slowly), context) as server:
        error = ask(encrypted(server), seconds=1.0 if slowly else 20.0)
        assert server.ended.wait(20)
    assert ("timed out after 1 second" if slowly else TOO_LONG) in str(error)
    assert isinstance(error, ReplyLost)


@pytest.mark.parametrize(
    ("first", "repeated", "problem"),
    [
        (b"", b"", TIMED_OUT),
        (b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", b"\x03", TIMED_OUT),  # a long record
        (b"", b"\x15\x03\x03\x00\x02\x01\x5a", "TOO_MANY_WARN_ALERTS"),
        (b"", b"\x14\x03\x03\x00\x01\x01", "SSL"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"", "SSL"),
    ],
    ids=["nothing", "record", "warnings", "changes", "http"],
)
def test_a_handshake_that_does_not_end_is_left_at_the_deadline(first, repeated, problem):
    with serve_raw(send_for_ever(first, repeated, slowly=True), reads=False) as server:
        error = ask(encrypted(server))
        assert server.ended.wait(20)
    assert problem in str(error)
    assert not isinstance(error, ReplyLost)


def test_a_tls_connection_that_is_cut_ends_a_response(context):
    def cut(connection):
        send_reply(connection)
        socket.socket(fileno=connection.detach()).close()

    with serve_raw(cut, context) as server:
        assert ask(encrypted(server), seconds=10.0).text == "yes"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("scheme", ["", "http://"])
def test_a_proxy_of_the_environment_forwards_a_request(monkeypatch, variable, scheme):
    with serve_raw(send_reply) as proxy:
        monkeypatch.setenv(variable, f"{scheme}{CREDENTIALS}@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-key")
        assert ask("http://judge.test/v1", seconds=10.0).text == "yes"
    (request,) = proxy.requests
    assert request.startswith(b"POST http://judge.test/v1/chat/completions HTTP/1.1\r\n")
    assert HEADER in request


@pytest.mark.parametrize("hosts", ["*", "127.0.0.1", "other.test, 127.0.0.1", "127.0.0.1:{port}"])
def test_a_host_in_no_proxy_is_asked_directly(monkeypatch, hosts):
    with serve_raw(send_reply) as server:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", hosts.format(port=server.port))
        assert ask(server.url, seconds=10.0).text == "yes"


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["http", "https"])
def test_tls_passes_through_a_proxy_which_may_be_encrypted_too(monkeypatch, context, is_encrypted):
    scheme = "https" if is_encrypted else "http"
    with serve_raw(send_reply, context) as server, serve_raw(relay, is_encrypted and context, reads=False) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"{scheme}://{CREDENTIALS}@127.0.0.1:{proxy.port}")
        assert ask(encrypted(server), seconds=10.0).text == "yes"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("first", "repeated", "slowly", "problem"),
    [
        (b"", b"", True, TIMED_OUT),
        (b"HTTP/1.1 200 ", b"O", True, TIMED_OUT),
        (b"HTTP/1.1 200 ", b"O", False, TOO_LONG),
        (b"HTTP/1.1 407 No\r\n\r\n", b"a", True, "407 No"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"", True, TIMED_OUT),
    ],
)
def test_a_proxy_has_the_same_limits_and_no_reply_is_lost_in_it(monkeypatch, first, repeated, slowly, problem):
    with serve_raw(send_for_ever(first, repeated, slowly=slowly)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{CREDENTIALS}@127.0.0.1:{proxy.port}")
        error = ask("https://judge.test/v1", seconds=0.3 if slowly else 20.0)
        assert proxy.ended.wait(20)
    assert problem in str(error)
    assert "pass" not in str(error)
    assert not isinstance(error, ReplyLost)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://user:pass@127.0.0.1", "invalid proxy in the environment; set it to a URL such as http://10.0.0.1:3128"),
        ("http://user:pass@127.0.0.1:port", "invalid proxy in the environment"),
        ("socks5://user:pass@127.0.0.1", "a SOCKS proxy requires socksio; install it"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_before_anything_is_asked(monkeypatch, address, message):
    monkeypatch.setenv("ALL_PROXY", address)
    monkeypatch.setattr(transport.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=message) as caught:
        OpenAIJudge("gpt-4o", "http://judge.test/v1")
    assert "pass@" not in str(caught.value)
