"""A client that meets a port of SQL says so: such a port greets, and knows none of our requests."""

import contextlib
import threading
import time

import pytest
from test_connection import Peer

from handlersocket2 import Client, ConnectError, Connection, Find, ProtocolError
from handlersocket2.sessions import Sessions


def packet(payload):
    return len(payload).to_bytes(3, "little") + b"\0" + payload


MARIADB = packet(b"\n5.5.5-10.11.6-MariaDB-0+deb12u1\0" + b"\x05\0\0\0abcdefgh\0" + b"x" * 40)
MYSQL = packet(b"\n9.7.1\0" + b"\x0a\x09\0\0abcdefgh\0" + b"x" * 40)
REFUSED = packet(b"\xff\x10\x04Too many connections")
BLOCKED = packet(b"\xff\x69\x04Host 'h' is blocked\nbecause of many errors")


def greeting(*pieces, waits=False):
    def serve(peer):
        if waits:
            peer.recv(65536)
        for piece in pieces:
            peer.sendall(piece)
        with contextlib.suppress(ConnectionError):  # the client ends it with bytes unread
            peer.recv(65536)

    return Peer(serve)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([MARIADB], r"a port of SQL \(10\.11\.6-MariaDB-0\+deb12u1\)"),
        ([MYSQL], r"a port of SQL \(9\.7\.1\)"),
        ([MYSQL[:1], MYSQL[1:5], MYSQL[5:]], "a port of SQL"),
        ([REFUSED], r"a port of SQL \(Too many connections\)"),
        ([BLOCKED], r"a port of SQL \(Host 'h' is blocked because of many errors\)"),
        ([MYSQL[:5]], "a port of SQL"),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
def test_a_port_of_sql(pieces, said, waits):
    peer = greeting(*pieces, waits=waits)
    with (
        pytest.raises(ProtocolError, match=said + ".*9998"),
        Connection(peer.address, timeout=10) as connection,  # or here already
    ):
        try:
            connection.request(Find(0, [1]))
        finally:
            assert connection.closed
    peer.join()


def test_a_greeting_that_comes_in_pieces(monkeypatch):
    """The first byte is there when the connection is looked at, and the others are not."""
    first, connected = threading.Event(), threading.Event()

    def serve(peer):
        peer.sendall(MYSQL[:1])
        first.set()
        connected.wait(10)
        time.sleep(0.1)
        peer.sendall(MYSQL[1:])
        with contextlib.suppress(ConnectionError):
            peer.recv(65536)

    open_session = Sessions.open

    def opened_late(sessions, place, deadline):
        opened = open_session(sessions, place, deadline)
        assert first.wait(10)
        connected.set()
        return opened

    monkeypatch.setattr(Sessions, "open", opened_late)
    peer = Peer(serve)
    with pytest.raises(ProtocolError, match=r"a port of SQL \(9\.7\.1\)"):
        Connection(peer.address, timeout=10).request(Find(0, [1]))
    peer.join()


def test_a_greeting_that_begins_before_the_first_call():
    made, first = threading.Event(), threading.Event()

    def serve(peer):
        made.wait(10)
        peer.sendall(MYSQL[:1])
        first.set()
        peer.recv(65536)  # the request
        peer.sendall(MYSQL[1:])
        with contextlib.suppress(ConnectionError):
            peer.recv(65536)

    peer = Peer(serve)
    connection = Connection(peer.address, timeout=10)
    made.set()
    assert first.wait(10)
    with pytest.raises(ProtocolError, match=r"a port of SQL \(9\.7\.1\)"):
        connection.request(Find(0, [1]))
    peer.join()


def test_a_client_at_a_port_of_sql():
    peer = greeting(MARIADB)
    with (
        Client(peer.address, user="ann", password="pw", timeout=10) as client,
        pytest.raises(ProtocolError, match="a port of SQL"),
    ):
        client.index("d", "t", ["a"])
    peer.join()


def test_a_client_with_tls_at_a_port_of_sql():
    """TLS may have read the greeting before it can be looked at."""
    peer = greeting(MARIADB)
    with (
        Client(peer.address, tls=True, timeout=10) as client,
        pytest.raises((ProtocolError, ConnectError), match="a port of SQL"),
    ):
        client.index("d", "t", ["a"])
    peer.join()


def test_another_peer_is_quoted():
    peer = greeting(b"SSH-2.0-OpenSSH_9.2\r\n")
    with (
        pytest.raises(ProtocolError, match=r"b'SSH-2\.0"),
        Connection(peer.address, timeout=10) as connection,
    ):
        connection.request(Find(0, [1]))
    peer.join()


def test_a_reply_of_the_same_length_is_none():
    peer = greeting(b"0\t1\n", waits=True)
    with Connection(peer.address, timeout=10) as connection:
        assert connection.request(Find(0, [1])) == []
    peer.join()


@pytest.mark.parametrize("line", [b"0\t1\t\0\n", b"10\t\n", b"0\t1\n\0\n"])
def test_bytes_with_nul_are_no_greeting(line):
    peer = greeting(line, waits=True)
    with Connection(peer.address, timeout=10) as connection:
        try:
            connection.request(Find(0, [1]))
        except ProtocolError as error:
            assert "SQL" not in str(error)
    peer.join()
