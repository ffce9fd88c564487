"""The table handlersocket_open_indexes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, HandlerSocketError, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, running_server, wait_until

SCHEMA = "performance_schema" if ON_MYSQL else "information_schema"
TABLE = f"{SCHEMA}.handlersocket_open_indexes"
COLUMNS = "PORT, TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAMES, FILTER_NAMES, OPENED, REQUESTS"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, handlersocket_threads=2) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(
        server,
        "opened",
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT, KEY by_v (v))",
        "CREATE TABLE `zwölf ä` (id INT PRIMARY KEY, `größe` INT)",
        "INSERT INTO t SELECT seq, seq, seq FROM seq_1_to_1000",
    ) as session:
        wait_until(lambda: shown(session) == [], "nothing is open")
        yield session


def shown(sql: Sql, columns: str = COLUMNS) -> list[tuple[str, ...]]:
    rows = sql.rows(f"SELECT {columns} FROM {TABLE}")
    return sorted(tuple((value or b"").decode() for value in row) for row in rows)


def test_what_is_open(server: ServerInstance, sql: Sql) -> None:
    with ExitStack() as stack:
        readers = [stack.enter_context(Wire(server.hs_port)) for _ in range(10)]
        writer = stack.enter_context(Wire(server.hs_port_wr))
        for wire in readers:
            assert wire.ask(b"P\t1\topened\tt\t\tid,v\tw\n") == b"0\t1"
            assert wire.ask(b"1\t=\t1\t7\n") == b"0\t2\t7\t7"
        assert readers[0].ask(b"P\t100\topened\tt\tby_v\tid\n") == b"0\t1"
        assert readers[0].ask(b"P\t7\topened\tt\tby_v\tid\n") == b"0\t1"
        assert writer.ask("P\t1\topened\tzwölf ä\tPRIMARY\tid,größe\n".encode()) == b"0\t1"
        writer.send(b"1\t+\t2\t1\t10\n1\t=\t1\t1\n1\t=\t1\t1\t1\t0\tU\t1\t20\n")
        assert writer.lines(3)[0] == b"0\t1"
        # An index that is opened in vain is not open.
        assert writer.ask(b"P\t2\topened\tt\tnone\tid\n") == b"2\t1\tidxnum"
        expected = [
            ("read", "opened", "t", "PRIMARY", "id,v", "w", "10", "10"),
            ("read", "opened", "t", "by_v", "id", "", "2", "0"),
            ("write", "opened", "zwölf ä", "PRIMARY", "id,größe", "", "1", "3"),
        ]
        assert shown(sql) == expected
        # The server may read the rows again by their positions.
        ordered = sql.rows(f"SELECT {COLUMNS} FROM {TABLE} ORDER BY OPENED DESC")
        assert [row[6] for row in ordered] == [b"10", b"2", b"1"]
        # Another index takes the place of the first.
        assert writer.ask(b"P\t1\topened\tt\t\tid\n") == b"0\t1"
        assert shown(sql)[2] == ("write", "opened", "t", "PRIMARY", "id", "", "1", "0")
        for wire in readers[1:]:
            wire.close()
        wait_until(lambda: shown(sql, "OPENED")[0] == ("1",), "nine have gone")
        sql.run("DROP TABLE t")  # nobody's open index holds it
        assert len(shown(sql)) == 3
    wait_until(lambda: shown(sql) == [], "all have gone")


def test_long_names_are_cut(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port) as wire:
        columns = ",".join(["id", "größe"] * 300)
        assert wire.ask(f"P\t1\topened\tzwölf ä\t\t{columns}\n".encode()) == b"0\t1"
        (row,) = shown(sql)
        assert 1000 < len(row[4].encode()) <= 1024
        assert columns.startswith(row[4])


def test_who_may_see(server: ServerInstance, sql: Sql) -> None:
    sql.run("CREATE USER IF NOT EXISTS 'looker'@'localhost'")
    with Wire(server.hs_port) as wire, Sql(server.socket, user="looker") as looker:
        assert wire.ask(b"P\t1\topened\tt\t\tid\n") == b"0\t1"
        if ON_MYSQL:
            assert looker.error(f"SELECT * FROM {TABLE}") == 1142
        else:
            assert looker.rows(f"SELECT * FROM {TABLE}") == []
    sql.run("DROP USER 'looker'@'localhost'")


def test_under_load(data_root: Path, watch: Any) -> None:
    """Clients come and go, workers are killed, and the plugin is unloaded.

    Nobody reads the table beside INSTALL SONAME: see "A defect of the servers" in
    docs/operations.md.
    """
    apart = nullcontext() if ON_MYSQL else threading.Lock()
    stop = threading.Event()
    failed: list[BaseException] = []

    with running_server(data_root, watch) as own, Sql(own.socket) as sql:
        sql.run("CREATE DATABASE opened", "CREATE TABLE opened.t (id INT PRIMARY KEY, v INT)")

        def repeat(work: Any) -> threading.Thread:
            def run() -> None:
                try:
                    while not stop.is_set():
                        work()
                except BaseException as error:  # noqa: BLE001
                    failed.append(error)

            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            return thread

        def come_and_go(port: int) -> None:
            try:
                with Client(("127.0.0.1", port), timeout=10) as client:
                    for number in range(5):
                        client.request(OpenIndex(number, "opened", "t", "", ["v"] * (number + 1)))
                        client.request(Find(number, [1]))
            except (HandlerSocketError, OSError):
                time.sleep(0.01)  # the plugin is away, or a worker was killed

        def look() -> None:
            with apart, Sql(own.socket) as session:
                session.error(f"SELECT * FROM {TABLE} ORDER BY REQUESTS")

        def kill() -> None:
            with Sql(own.socket) as session:
                for (number,) in session.rows(
                    "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
                ):
                    session.error(f"KILL QUERY {int(number or 0)}")
            time.sleep(0.1)

        ports = (own.hs_port, own.hs_port, own.hs_port_wr)
        threads = [repeat(lambda port=port: come_and_go(port)) for port in ports]
        threads += [repeat(work) for work in (look, look, kill)]
        try:
            seen = 0
            for _ in range(100):
                rows = shown(sql)
                assert len({row[:6] for row in rows}) == len(rows)
                seen += len(rows)
            assert seen > 0
            for _ in range(3):
                sql.error("UNINSTALL SONAME 'handlersocket2'")
                with apart:
                    sql.error("INSTALL SONAME 'handlersocket2'")
                time.sleep(0.3)
        finally:
            stop.set()
            for thread in threads:
                thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
        assert failed == []
        assert own.alive
