"""What a trigger does besides changing rows.

What it leaves in its session must not reach other clients: in SQL, nobody else would see it. All
clients of a worker share one session, so the worker resets it. And what waits for the plugin's
threads must not be done on one of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, Insert, OpenIndex, ReplyError
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support.servers import ON_MYSQL
from support_servers import running_server

ISOLATION = "@@transaction_isolation" if ON_MYSQL else "@@tx_isolation"
#: What a trigger may do, and what shows it: NULL or what a new session has.
TRACES = {
    "user variable": ("SET @secret = 'told'", "@secret"),
    "isolation": (f"SET SESSION {ISOLATION.strip('@')} = 'SERIALIZABLE'", ISOLATION),
    "time": ("SET SESSION timestamp = 1000000", "YEAR(NOW()) > 2000"),
    "number": ("SET SESSION insert_id = 700", "@@insert_id"),
    "lock": ("DO GET_LOCK('held', 0)", "IS_USED_LOCK('held')"),
    "week": ("SET SESSION default_week_format = 6", "@@default_week_format"),
    "of an engine": (
        "SET SESSION innodb_lock_wait_timeout = 77",
        "@@innodb_lock_wait_timeout = 77",
    ),
    "text": ("SET SESSION lc_time_names = 'de_DE'", "DAYNAME('2026-11-25')"),
}
SETTINGS: dict[str, Any] = {"handlersocket_threads_wr": 1}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **SETTINGS) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        session.run("DROP DATABASE IF EXISTS traces", "CREATE DATABASE traces", "USE traces")
        session.run(
            "CREATE TABLE leaves (id INT PRIMARY KEY)",
            "CREATE TABLE plain (id INT PRIMARY KEY)",
            "CREATE TABLE shows (id INT PRIMARY KEY)",
            "CREATE TABLE seen (id INT PRIMARY KEY, what VARCHAR(100))",
        )
        yield session


def open_all(client: Client) -> None:
    for number, table in enumerate(("leaves", "plain", "shows"), 1):
        client.request(OpenIndex(number, "traces", table, "", ["id"]))


@pytest.mark.parametrize("trace", TRACES)
def test_nothing_stays(server: ServerInstance, sql: Sql, trace: str) -> None:
    """Neither for the requests behind it in a pass, nor for another client's."""
    check_nothing_stays(server, sql, trace)


def test_nothing_stays_in_a_streamer(server: ServerInstance, sql: Sql) -> None:
    """Writes that cannot be undone, because their triggers write such a table."""
    sql.run("ALTER TABLE seen ENGINE=MyISAM")
    before = sql.status("handlersocket_writes_aside")
    check_nothing_stays(server, sql, "user variable")
    assert sql.status("handlersocket_writes_aside") > before


def check_nothing_stays(server: ServerInstance, sql: Sql, trace: str) -> None:
    leave, shown = TRACES[trace]
    sql.run(
        f"CREATE TRIGGER l BEFORE INSERT ON leaves FOR EACH ROW {leave}",
        "CREATE TRIGGER s AFTER INSERT ON shows FOR EACH ROW"
        f" INSERT INTO seen VALUES (NEW.id, {shown})",
    )
    address = ("127.0.0.1", server.hs_port_wr)
    with Client(address) as before, Client(address) as client, Client(address) as other:
        for one in (before, client, other):
            open_all(one)
        before.request(Insert(3, [1]))
        with client.pipeline() as pipeline:
            sent = [pipeline.send(Insert(index, [row])) for row in (2, 3) for index in (2, 1, 3)]
            for behind in (Find(2, [3]), OpenIndex(4, "traces", "plain", "", ["id"]), Find(4, [2])):
                sent += [pipeline.send(Insert(1, [10 + len(sent)])), pipeline.send(behind)]
        assert [one.error() for one in sent] == 12 * [None]
        assert [sent[place].result() for place in (7, 11)] == [[(b"3",)], [(b"2",)]]
        other.request(Insert(3, [4]))
    values = [what for (what,) in sql.rows("SELECT what FROM seen ORDER BY id")]
    assert len(values) == 4
    assert set(values) == {values[0]}, values
    assert sql.number("SELECT COUNT(*) FROM leaves") == 5
    assert sql.number("SELECT COUNT(*) FROM plain") == 2
    assert sql.number("SELECT IS_USED_LOCK('held') IS NULL") == 1


def test_a_temporary_table_takes_nobodys_rows(server: ServerInstance, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE audit (id INT)",
        "CREATE TRIGGER l BEFORE INSERT ON leaves FOR EACH ROW"
        " CREATE TEMPORARY TABLE IF NOT EXISTS traces.audit (id INT)",
        "CREATE TRIGGER s AFTER INSERT ON shows FOR EACH ROW INSERT INTO audit VALUES (NEW.id)",
    )
    address = ("127.0.0.1", server.hs_port_wr)
    with Client(address) as client, Client(address) as other:
        for one in (client, other):
            open_all(one)
        with client.pipeline() as pipeline:
            first = pipeline.send(Insert(1, [1]))
            pipeline.send(Insert(3, [1]))
        other.request(Insert(3, [2]))
        # MySQL may refuse it within a transaction.
        assert first.error() is None or ON_MYSQL
    assert sql.rows("SELECT id FROM audit ORDER BY id") == [(b"1",), (b"2",)]


def test_other_triggers_share_a_commit(server: ServerInstance, sql: Sql) -> None:
    """They have nothing to take back. The reset would end the pass behind each of them."""
    sql.run(
        "CREATE TRIGGER s AFTER INSERT ON shows FOR EACH ROW"
        " INSERT INTO seen SELECT NEW.id, CONCAT(NOW(), RAND(), UUID(), CURRENT_USER())"
    )
    with Client(("127.0.0.1", server.hs_port_wr)) as client:
        open_all(client)
        client.request(Insert(3, [1]))
        before = sql.status("handlersocket_commits")
        with client.pipeline() as pipeline:
            sent = [pipeline.send(Insert(3, [row])) for row in range(2, 42)]
        assert all(one.error() is None for one in sent)
        assert sql.status("handlersocket_commits") - before < 5
    assert sql.number("SELECT COUNT(*) FROM seen") == 41


def test_the_session_serves_as_before(server: ServerInstance, sql: Sql) -> None:
    """After a reset the worker still waits for no table, writes row events, and can be killed."""
    sql.run("CREATE TRIGGER l BEFORE INSERT ON leaves FOR EACH ROW SET @x = NEW.id")
    with (
        Client(("127.0.0.1", server.hs_port_wr), timeout=30) as client,
        Client(("127.0.0.1", server.hs_port_wr), timeout=30) as other,
        Sql(server.socket, "traces") as holder,
    ):
        for one in (client, other):
            open_all(one)
        for row in range(1, 200):
            client.request(Insert(1, [row]))
            if row % 50 == 0:
                (number,) = sql.row(
                    "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
                    " AND info IS NULL ORDER BY id LIMIT 1"
                )
                sql.run(f"KILL QUERY {int(number or 0)}")
        holder.run("LOCK TABLES plain WRITE")
        sql.run("SET GLOBAL handlersocket_lock_wait_timeout = 2")
        try:
            with other.pipeline() as pipeline:
                waits = pipeline.send(Insert(2, [1]))
                for row in range(200, 220):
                    client.request(Insert(1, [row]))
            assert waits.error() is not None
        finally:
            sql.run("SET GLOBAL handlersocket_lock_wait_timeout = DEFAULT")
            holder.run("UNLOCK TABLES")
        assert sql.number("SELECT COUNT(*) FROM leaves") == 219


@pytest.mark.parametrize("setting", ["enabled = OFF", "close_connection = 1"])
def test_a_trigger_cannot_close_the_ports(server: ServerInstance, sql: Sql, setting: str) -> None:
    sql.run(
        f"CREATE TRIGGER l BEFORE INSERT ON leaves FOR EACH ROW SET GLOBAL handlersocket_{setting}"
    )
    with Client(("127.0.0.1", server.hs_port_wr), timeout=30) as client:
        open_all(client)
        with client.pipeline() as pipeline:
            refused = pipeline.send(Insert(1, [1]))
            others = [pipeline.send(Insert(2, [row])) for row in (1, 2)]
        error = refused.error()
        assert isinstance(error, ReplyError) and error.number == 1235
        assert [one.error() for one in others] == [None, None]
    assert sql.number("SELECT @@handlersocket_enabled") == 1


def test_a_trigger_that_looks_at_the_connections(
    server: ServerInstance, sql: Sql, pace: Pace
) -> None:
    """Its worker does not wait for itself. Rows are missing, which is an error in strict mode."""
    schema = "performance_schema" if ON_MYSQL else "information_schema"
    sql.run(
        "CREATE TRIGGER l BEFORE INSERT ON leaves FOR EACH ROW BEGIN"
        f" INSERT INTO seen SELECT NEW.id, COUNT(*) FROM {schema}.handlersocket_connections;"
        f" SELECT COUNT(*) INTO @x FROM {schema}.handlersocket_open_indexes; END"
    )
    with Client(("127.0.0.1", server.hs_port_wr), timeout=30) as client:
        open_all(client)
        began = time.monotonic()
        with client.pipeline() as pipeline:
            asked = pipeline.send(Insert(1, [1]))
        assert time.monotonic() - began < 1 + pace.longest
        error = asked.error()
        assert error is None or (isinstance(error, ReplyError) and error.number == 1105)
        sql.run("INSERT INTO leaves VALUES (2)")
    counts = [what for (what,) in sql.rows("SELECT what FROM seen ORDER BY id")]
    assert int(counts[-1] or 0) > 0
    assert counts[:-1] == ([] if error is not None else [b"0"])


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has user statistics")
def test_statistics_survive_the_reset(server: ServerInstance, sql: Sql) -> None:
    """The reset sets the server's numbers of the thread to 0."""
    sql.run(
        "CREATE TRIGGER l BEFORE INSERT ON leaves FOR EACH ROW SET @x = NEW.id",
        "CREATE OR REPLACE USER counted IDENTIFIED BY 'secret'",
        "GRANT ALL ON traces.* TO counted",
        "SET GLOBAL userstat = ON",
        "FLUSH USER_STATISTICS",
    )
    try:
        address = ("127.0.0.1", server.hs_port_wr)
        with Client(address, user="counted", password="secret") as client:
            open_all(client)
            for row in range(10):
                client.request(Insert(1, [row]))
            with client.pipeline() as pipeline:
                for row in range(10, 40):
                    pipeline.send(Insert(1 + row % 2, [row]))
        counts = sql.row(
            "SELECT rows_inserted, update_commands, commit_transactions"
            " FROM information_schema.user_statistics WHERE user = 'counted'"
        )
        inserted, commands, commits = (int(count or 0) for count in counts)
        assert (inserted, commands) == (40, 40)
        assert 25 <= commits <= 100
    finally:
        sql.run("SET GLOBAL userstat = OFF", "DROP USER counted")
