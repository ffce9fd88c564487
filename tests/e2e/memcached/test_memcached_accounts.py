"""Who may do what at memcached's port: log-ins in text and by SASL, secrets, privileges, TLS."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, Setting
from support.certificates import context_for, make_certificates
from support.database import Sql
from support.servers import ON_MYSQL
from support_memcached import Line, connect, found, memcached_port, memcached_server, stored
from support_memcached_sequences import packet
from test_log_in import DEFAULT_WAY, DELAY, PASSWORD, identified

CONNECTIONS = ("performance" if ON_MYSQL else "information") + "_schema.handlersocket_connections"
SECRET = b"opensesame"
UNAUTHENTICATED = b"CLIENT_ERROR unauthenticated\r\n"
WRONG = b"CLIENT_ERROR authentication failure\r\n"
DENIED = b"CLIENT_ERROR the account has no right to do that, or to see the table\r\n"
USERS = {
    "ann": "SELECT, INSERT, UPDATE, DELETE ON handlersocket.kv",
    "reading": "SELECT ON handlersocket.kv",
    "nothing": "SELECT ON mysql.help_topic",
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server")


@pytest.fixture(scope="module")
def server(
    data_root: Path, watch: Any, certificates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerInstance]:
    """Nobody may do anything without a log-in."""
    settings: dict[str, Setting] = {
        "handlersocket_anonymous_account": "",
        "handlersocket_secret_account": "ann@localhost",
        "handlersocket_memcached_secret": SECRET.decode(),
        "handlersocket_memcached_socket": str(tmp_path_factory.mktemp("sockets") / "memcached"),
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
        "general_log": 1,
        "general_log_file": "general.log",
    }
    with memcached_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket, "handlersocket") as sql:
            sql.run("INSERT INTO kv (k, v) VALUES ('a', 'here')")
            for user, grant in USERS.items():
                way = identified(DEFAULT_WAY, PASSWORD)
                sql.run(
                    f"CREATE USER {user}@localhost IDENTIFIED {way}",
                    f"GRANT {grant} TO {user}@localhost",
                )
        yield instance


def log_in(line: Line, words: bytes) -> bytes:
    line.send(stored(b"any", words))
    return line.until(b"\r\n")


def as_user(server: ServerInstance, user: str) -> Line:
    line = connect(server)
    assert log_in(line, f"{user} {PASSWORD}".encode()) == b"STORED\r\n"
    return line


def test_behind_a_log_in_a_set_is_a_set(server: ServerInstance) -> None:
    # As in memcached.
    words = f"ann {PASSWORD}".encode()
    with as_user(server, "ann") as line:
        assert line.ask(stored(b"twice", words)) == b"STORED\r\n"
        assert line.ask(b"get twice\r\ndelete twice\r\n") == (
            found(b"twice", words) + b"DELETED\r\n"
        )


def plain(user: str, password: str) -> bytes:
    return packet(0x21, b"PLAIN", b"", b"\0%s\0%s" % (user.encode(), password.encode()))


def status_of(line: Line) -> int:
    """Of the next packet."""
    header = line.exactly(24)
    line.exactly(struct.unpack(">I", header[8:12])[0])
    return int(struct.unpack(">H", header[6:8])[0])


def test_nothing_before_a_log_in(server: ServerInstance) -> None:
    for request in (
        b"get a\r\n",
        b"version\r\n",
        b"stats\r\n",
        b"mg a v\r\n",
        b"delete a\r\n",
        b"flush_all\r\n",
    ):
        with connect(server) as line:
            line.send(request * 2)
            assert line.until(UNAUTHENTICATED * 2) == UNAUTHENTICATED * 2
    for request in (b"add a 0 0 1\r\nx\r\n", b"set a 0 0 9999\r\n", b"x" * 3000):
        with connect(server) as line:
            line.send(request)
            assert line.rest() in (UNAUTHENTICATED, b"")
    for opcode in (0, 4, 9, 0xA, 0x10):
        with connect(server) as line:
            line.send(packet(opcode, b"" if opcode == 0xA else b"a"))
            assert status_of(line) == 0x20
            assert line.rest() == b""


def test_every_way_to_log_in(server: ServerInstance) -> None:
    for words in (SECRET, b"default " + SECRET, f"ann {PASSWORD}".encode()):
        with connect(server) as line, Sql(server.socket) as sql:
            assert log_in(line, words) == b"STORED\r\n"
            assert line.ask(b"get a\r\n") == found(b"a", b"here")
            account = f"SELECT ACCOUNT FROM {CONNECTIONS} WHERE PEER = '127.0.0.1:{line.own_port}'"
            assert sql.row(account) == (b"ann@localhost",)
    for user, password in (("ann", PASSWORD), ("default", SECRET.decode())):
        with connect(server) as line:
            line.send(packet(0x20) + plain(user, password) + packet(0, b"a"))
            assert [status_of(line) for _ in range(3)] == [0, 0, 0]


def test_a_wrong_password_is_answered_late(server: ServerInstance) -> None:
    for words in (
        b"wrong",
        b"default wrong",
        b"ann wrong",
        b"nobody " + PASSWORD.encode(),
        b"ann ",
        b"",
    ):
        with connect(server) as line:
            begun = time.monotonic()
            assert log_in(line, words) == WRONG, words
            assert time.monotonic() - begun > DELAY * 0.9
            line.send(b"get a\r\n")
            assert line.until(b"\r\n") == UNAUTHENTICATED
    with connect(server) as line:
        line.send(plain("ann", "wrong"))
        assert status_of(line) == 0x20


def test_rights_are_those_of_sql(server: ServerInstance) -> None:
    with as_user(server, "reading") as line:
        assert line.ask(b"get a\r\n") == found(b"a", b"here")
        for request in (
            stored(b"a", b"x"),
            b"delete a\r\n",
            b"incr a 1\r\n",
            b"touch a 5\r\n",
            b"gat 5 a\r\n",
        ):
            assert line.ask(request) == DENIED, request
    with as_user(server, "nothing") as line:
        assert line.ask(b"get a\r\n") == DENIED
    with as_user(server, "ann") as line:
        assert line.ask(stored(b"b", b"x") + b"delete b\r\n") == b"STORED\r\nDELETED\r\n"


def test_a_right_that_is_taken_counts_at_once(server: ServerInstance) -> None:
    with as_user(server, "reading") as line, Sql(server.socket) as sql:
        assert line.ask(b"get a\r\n") == found(b"a", b"here")
        sql.run("REVOKE SELECT ON handlersocket.kv FROM reading@localhost")
        try:
            assert line.ask(b"get a\r\n") == DENIED
        finally:
            sql.run("GRANT SELECT ON handlersocket.kv TO reading@localhost")


def test_tls_and_unix_sockets(server: ServerInstance, certificates: Path) -> None:
    context = context_for(certificates)
    with socket.create_connection(("127.0.0.1", memcached_port(server)), 10) as plain_socket:
        with context.wrap_socket(plain_socket, server_hostname="localhost") as wrapped:
            wrapped.sendall(stored(b"any", f"ann {PASSWORD}".encode()) + b"get a\r\n")
            told = b""
            while not told.endswith(b"END\r\n"):
                told += wrapped.recv(4096)
            assert told == b"STORED\r\n" + found(b"a", b"here")
    with socket.socket(socket.AF_UNIX) as local:
        local.connect(str(server.settings["handlersocket_memcached_socket"]))
        local.settimeout(10)
        local.sendall(stored(b"any", SECRET) + b"mn\r\n")
        told = b""
        while not told.endswith(b"MN\r\n"):
            told += local.recv(4096)
        assert told == b"STORED\r\nMN\r\n"


def test_no_password_is_in_a_log(server: ServerInstance) -> None:
    with as_user(server, "ann") as line:
        line.ask(b"get a\r\n")
    for file in server.data_dir.parent.rglob("*.log"):
        assert PASSWORD.encode() not in file.read_bytes() or b"CREATE USER" in file.read_bytes(), (
            file
        )
