"""Gets of much more than a client takes at once, and clients that read it slowly."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.certificates import context_for, make_certificates
from support.database import Sql
from support_memcached import Line, connect, found, memcached_server, stored
from support_servers import wait_until

MIB = 1 << 20
KEYS = 40
#: Longer than a streamer waits for a client.
STALL = 2.5


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server")


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any, certificates: Path) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_threads": 1,
        "handlersocket_stream_patience": 1,
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
    }
    with memcached_server(data_root, watch, **settings) as instance:
        with connect(instance) as line:
            for key in range(KEYS):
                assert line.ask(stored(b"k%02d" % key, value(key))) == b"STORED\r\n"
        yield instance


def value(key: int) -> bytes:
    return b"%02d." % key * (MIB // 3)


def items(*keys: int) -> bytes:
    return b"".join(found(b"k%02d" % key, value(key))[: -len(b"END\r\n")] for key in keys)


def slow(server: ServerInstance) -> Line:
    """A client with little room for replies."""
    line = connect(server)
    line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
    return line


def parked(sql: Sql) -> int:
    return sql.status("handlersocket_finds_parked")


#: A get of every item.
EVERY = b"get " + b" ".join(b"k%02d" % key for key in range(KEYS)) + b"\r\n"


def every_item() -> bytes:
    """Its reply."""
    return items(*range(KEYS)) + b"END\r\n"


def ask_and_wait_until_parked(line: Line, sql: Sql, request: bytes) -> None:
    """Until the client has not read the reply for so long that the get is parked."""
    before = parked(sql)
    line.send(request)
    wait_until(lambda: parked(sql) > before, "the get is parked")


def test_a_client_that_reads_late_gets_all_of_it(server: ServerInstance) -> None:
    names = b" ".join(b"none k%02d" % key for key in range(KEYS))
    with Sql(server.socket, "handlersocket") as sql, slow(server) as line:
        ask_and_wait_until_parked(line, sql, b"get " + names + b"\r\nget k07\r\nmn\r\n")
        began = time.monotonic()
        with connect(server) as other:  # the only streamer is free, and so is the table
            assert other.ask(b"get k07\r\n") == items(7) + b"END\r\n"
            sql.run("LOCK TABLES kv WRITE", "UNLOCK TABLES")
        assert time.monotonic() - began < STALL
        time.sleep(STALL)
        expected = every_item() + items(7) + b"END\r\nMN\r\n"
        assert line.until(b"MN\r\n") == expected


def test_a_client_that_reads_a_little_now_and_then(server: ServerInstance) -> None:
    with slow(server) as line:
        line.send(EVERY)
        received = b""
        began = time.monotonic()
        while time.monotonic() - began < STALL:
            received += line.exactly(10_000)
            time.sleep(0.05)
        expected = every_item()
        received += line.exactly(len(expected) - len(received))
        assert received == expected


def test_ranges(server: ServerInstance) -> None:
    with slow(server) as line:
        line.send(b"get @>=k10 @<=k10 @>=k30\r\nmn\r\n")
        time.sleep(STALL)
        expected = items(*range(10, KEYS)) + items(*range(10, -1, -1)) + items(*range(30, KEYS))
        assert line.until(b"MN\r\n") == expected + b"END\r\nMN\r\n"


def test_a_lock_is_waited_for_behind_a_part(server: ServerInstance) -> None:
    with Sql(server.socket, "handlersocket") as sql, slow(server) as line:
        ask_and_wait_until_parked(line, sql, EVERY + b"mn\r\n")
        sql.run("LOCK TABLES kv WRITE")
        expected = every_item() + b"MN\r\n"
        received = line.exactly(len(items(0)))
        time.sleep(0.5)
        sql.run("UNLOCK TABLES")
        assert received + line.until(b"MN\r\n") == expected


def test_the_table_is_altered_between_two_keys(server: ServerInstance) -> None:
    with Sql(server.socket, "handlersocket") as sql, slow(server) as line:
        ask_and_wait_until_parked(line, sql, EVERY + b"mn\r\n")
        sql.run("ALTER TABLE kv ADD COLUMN more INT FIRST, ADD KEY by_more (more)")
        try:
            assert line.until(b"MN\r\n") == every_item() + b"MN\r\n"
        finally:
            sql.run("ALTER TABLE kv DROP COLUMN more")


def test_the_table_is_gone_between_two_keys(server: ServerInstance) -> None:
    """An error stands in place of the end, and the connection goes on."""
    with Sql(server.socket, "handlersocket") as sql, slow(server) as line:
        ask_and_wait_until_parked(line, sql, EVERY + b"mn\r\n")
        sql.run("RENAME TABLE kv TO elsewhere")
        try:
            received = line.until(b"MN\r\n")
        finally:
            sql.run("RENAME TABLE elsewhere TO kv")
        whole, _, error = received.rpartition(b"SERVER_ERROR ")
        assert whole and every_item().startswith(whole) and whole.endswith(b"\r\n")
        assert error.startswith(b"1146 42S02 ") and error.endswith(b"\r\nMN\r\n")
        assert line.ask(b"get k07\r\n") == items(7) + b"END\r\n"


def test_over_tls(server: ServerInstance, certificates: Path) -> None:
    # With little room, TCP would send one record of TLS for each of its time-outs.
    with Sql(server.socket, "handlersocket") as sql, connect(server) as line:
        line.socket = context_for(certificates).wrap_socket(
            line.socket, server_hostname="localhost"
        )
        ask_and_wait_until_parked(line, sql, EVERY + b"mn\r\n")
        time.sleep(STALL)
        assert line.until(b"MN\r\n") == every_item() + b"MN\r\n"


def test_a_client_goes_away(server: ServerInstance) -> None:
    with Sql(server.socket, "handlersocket") as sql:
        with slow(server) as line:
            ask_and_wait_until_parked(line, sql, EVERY)
        with connect(server) as other:
            assert other.ask(b"get k07\r\n") == items(7) + b"END\r\n"
