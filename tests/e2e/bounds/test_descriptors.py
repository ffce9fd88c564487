"""The server keeps file descriptors for itself, no matter how many clients connect to the ports."""

from __future__ import annotations

import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from handlersocket2 import Client
from server_instance import ServerInstance
from support.database import Sql
from support.servers import KIND, LOG_NEWS, LOG_WARNING, SERVER_TREE, own_settings

LIMIT = 1024
TABLES = 150


@pytest.fixture(autouse=True)
def enough_descriptors_of_our_own() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 4 * LIMIT
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.fail(f"the test needs {needed} descriptors: ulimit -Hn says {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def limited_server(base_dir: Path, limit: int, **settings: int) -> ServerInstance:
    return ServerInstance(
        SERVER_TREE,
        base_dir,
        settings=own_settings({**KIND.volatile, **settings}),
        launcher=("prlimit", f"--nofile={limit}:{limit}"),
    )


def shown_limit(sql: Sql) -> int:
    _, value = sql.row("SHOW GLOBAL VARIABLES LIKE 'handlersocket_max_connections'")
    assert value is not None
    return int(value)


def connected(port: int, count: int, stack: ExitStack) -> list[socket.socket]:
    """Makes so many idle connections. The kernel also accepts those that the server refuses."""
    return [
        stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(count)
    ]


def is_open(connection: socket.socket) -> bool:
    """Whether the other end is open. A port closes surplus connections at once."""
    try:
        connection.sendall(b"?\n")
        return connection.recv(100) == b"2\t1\tcmd\n"
    except OSError:
        return False


def test_sql_and_innodb_go_on_below_idle_connections(tmp_path: Path) -> None:
    with limited_server(tmp_path / "server", LIMIT) as server, ExitStack() as stack:
        sql = stack.enter_context(Sql(server.socket, "test"))
        sql.run("CREATE TABLE kept (id INT PRIMARY KEY)", "INSERT INTO kept VALUES (1)")
        limit = shown_limit(sql)
        assert 50 < limit < LIMIT / 2
        told = LOG_NEWS + rf"handlersocket_max_connections is {limit} instead of 10000.* {LIMIT} "
        assert len(re.findall(told, server.log_text())) == 1

        for port in (server.hs_port, server.hs_port_wr):
            clients = connected(port, LIMIT, stack)
            idle = [client for client in clients if is_open(client)]
            assert len(idle) == limit
        assert sql.status("handlersocket_connections") == 2 * limit
        assert sql.status("handlersocket_connections_refused") == 2 * (LIMIT - limit)

        for number in range(TABLES):
            engine = ("InnoDB", "MyISAM")[number % 2]
            sql.run(f"CREATE TABLE t{number} (id INT PRIMARY KEY) ENGINE={engine}")
            sql.run(f"INSERT INTO t{number} VALUES ({number})")
        for _ in range(20):
            further = stack.enter_context(Sql(server.socket, "test"))
            assert further.number("SELECT COUNT(*) FROM kept") == 1
        for number in range(TABLES):
            assert sql.number(f"SELECT id FROM t{number}") == number

        idle.pop().close()
        deadline = time.monotonic() + 30  # the port takes a while to notice the end of a connection
        while sql.status("handlersocket_connections") == 2 * limit:
            assert time.monotonic() < deadline
        with Client(("127.0.0.1", server.hs_port_wr)) as client:
            assert client.index("test", "kept", ["id"]).find(1) == [(b"1",)]
        text = server.log_text()
        assert "Too many open files" not in text
        assert "cannot accept connections" not in text


def test_what_fits_is_not_lowered(tmp_path: Path) -> None:
    with (
        limited_server(tmp_path / "server", LIMIT, handlersocket_max_connections=40) as server,
        Sql(server.socket) as sql,
    ):
        assert shown_limit(sql) == 40
        assert "handlersocket_max_connections" not in server.log_text()


def test_who_has_asked_for_more_than_fits_is_warned(tmp_path: Path) -> None:
    with (
        limited_server(tmp_path / "server", LIMIT, handlersocket_max_connections=2000) as server,
        Sql(server.socket) as sql,
    ):
        told = LOG_WARNING + rf"handlersocket_max_connections is {shown_limit(sql)} instead of 2000"
        assert len(re.findall(told, server.log_text())) == 1
