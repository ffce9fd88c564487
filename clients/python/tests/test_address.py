"""What is taken for a host and a port, what for a Unix socket, and what for neither."""

from pathlib import Path

import pytest
from played_server import PlayedServer

from handlersocket2 import Client, Connection
from handlersocket2.address import parse_address


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        (("db", 9998), ("db", 9998)),
        (("::1", 1), ("::1", 1)),
        ("127.0.0.1:9998", ("127.0.0.1", 9998)),
        ("db.example.org:65535", ("db.example.org", 65535)),
        ("[::1]:9998", ("::1", 9998)),
        ("/run/hs.sock", "/run/hs.sock"),
        ("./hs.sock", "./hs.sock"),
        ("/run/a:1", "/run/a:1"),
        (Path("hs.sock"), "hs.sock"),
        (Path("/run/hs.sock"), "/run/hs.sock"),
    ],
)
def test_addresses(address, meant):
    assert parse_address(address) == meant


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1", "has no port"),
        ("hs.sock", "has no port.*with a / in it"),
        ("", "has no port"),
        (":9998", "no host"),
        ("db:", "port is a number from 1 to 65535, not ''"),
        ("db:x", "port is a number from 1 to 65535, not 'x'"),
        ("db:0", "port is a number from 1 to 65535"),
        ("db:65536", "port is a number from 1 to 65535"),
        ("db:-1", "port is a number from 1 to 65535"),
        ("db:9998\n", "port is a number from 1 to 65535"),
        ("db:²", "port is a number from 1 to 65535"),
        ("::1:9998", "in brackets"),
        ("::1", "in brackets"),
        ("[::1]", "has no port"),
        ("[::1:9998", "in brackets"),
        ("[]:9998", "no host"),
        ("d b:9998", "cannot hold"),
        ("ann:pw@db:9998", "has no user"),
        ("http://ann:pw@db:9998", "no URL of 'http'"),
        ("db://", "no URL"),
        (("db", "9998"), "port is a whole number, not str"),
        (("db", 0), "port is a number from 1 to 65535"),
        (("db", 2**16), "port is a number from 1 to 65535"),
        (("db", True), "port is a whole number, not bool"),
        ((1, 9998), "host is a str, not int"),
        (("", 9998), "no host"),
        (("db",), "a host and a port"),
        (("db", 9998, 0, 0), "a host and a port"),
        (9998, "an address is .* not int"),
        (b"/run/hs.sock", "an address is .* not bytes"),
        (Path(""), "a folder"),
        ("/", "a folder"),
        ("/run/", "a folder"),
        ("/run/\0", "NUL"),
    ],
)
@pytest.mark.parametrize("made", [Client, Connection])
def test_nonsense_is_refused_in_words_at_once(made, address, message):
    with pytest.raises((TypeError, ValueError), match=message) as refused:
        made(address)
    assert "pw" not in str(refused.value)


def test_a_host_and_a_port_in_one_text():
    with PlayedServer() as server:
        host, port = server.address
        with Client(f"{host}:{port}", timeout=10) as client:
            assert client.index("d", "t", ["a"]).find(1) == [(b"1",)]
        with Connection(f"{host}:{port}", timeout=10) as connection:
            assert not connection.closed
