"""What the server's own statistics know of requests, and what they do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, running_server, wait_until

OPEN = b"P\t1\tcounted\tt\t\tid,v\n"


@pytest.fixture(scope="module")
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, performance_schema="ON") as instance:
        yield instance


@pytest.fixture
def sql(own_server: ServerInstance) -> Iterator[Sql]:
    table = "CREATE TABLE t (id INT PRIMARY KEY, v INT)"
    with fresh_session(own_server, "counted", table) as session:
        yield session


def find_and_write(server: ServerInstance) -> None:
    """50 finds of one row each, and 21 writes that change one row each."""
    with Wire(server.hs_port) as reader, Wire(server.hs_port_wr) as writer:
        assert reader.ask(OPEN) == writer.ask(OPEN) == b"0\t1"
        assert writer.ask(b"1\t+\t2\t7\t0\n") == b"0\t1"
        writer.send(20 * b"1\t=\t1\t7\t1\t0\t+\t0\t1\n")
        assert writer.lines(20) == 20 * [b"0\t1\t1"]
        reader.send(50 * b"1\t=\t1\t7\n")
        assert reader.lines(50) == 50 * [b"0\t2\t7\t20"]


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has userstat")
def test_userstat(own_server: ServerInstance, sql: Sql) -> None:
    def statistics() -> list[tuple[bytes | None, ...]]:
        return sql.rows(
            "SELECT rows_read, rows_changed FROM information_schema.table_statistics"
            " WHERE table_schema = 'counted' AND table_name = 't'"
        )

    sql.run("FLUSH TABLE_STATISTICS")
    find_and_write(own_server)
    assert statistics() == []
    sql.run("SET GLOBAL userstat = ON", "DELETE FROM t")
    try:
        sql.run("FLUSH TABLE_STATISTICS")
        find_and_write(own_server)

        def has_all() -> bool:
            ((read, changed),) = statistics() or [(b"0", b"0")]
            return int(read or 0) >= 70 and changed == b"21"

        wait_until(has_all, "the tables have been given back")
        used = sql.number(
            "SELECT rows_read FROM information_schema.index_statistics"
            " WHERE table_schema = 'counted' AND table_name = 't' AND index_name = 'PRIMARY'"
        )
        assert used >= 70
        # A client of the plugin is no client there.
        users = sql.rows("SELECT user FROM information_schema.user_statistics")
        assert users == [(b"root",)]
    finally:
        sql.run("SET GLOBAL userstat = OFF")


@pytest.fixture
def counting(sql: Sql) -> Iterator[None]:
    """Statements of SQL are counted, which MariaDB does only if it is told to."""
    instrument = "performance_schema.setup_instruments SET enabled = '{}', timed = '{}'"
    handlers = "name = 'wait/io/table/sql/handler'"
    sql.run(f"UPDATE {instrument.format('YES', 'YES')} WHERE {handlers}")
    sql.run("FLUSH TABLES")
    yield
    if not ON_MYSQL:
        sql.run(f"UPDATE {instrument.format('NO', 'NO')} WHERE {handlers}")


def counted_in(sql: Sql, table: str) -> int:
    return sql.number(
        "SELECT COALESCE(SUM(count_star), 0) FROM"
        " performance_schema.table_io_waits_summary_by_table"
        f" WHERE object_schema = 'counted' AND object_name = '{table}'"
    )


@pytest.mark.usefixtures("counting")
def test_the_performance_schema_knows_of_sql_and_not_of_requests(
    own_server: ServerInstance, sql: Sql
) -> None:
    """It is the plugin that opens the table first."""
    before = counted_in(sql, "t")
    find_and_write(own_server)
    assert counted_in(sql, "t") == before
    sql.run("INSERT INTO t VALUES (100, 1)", "SELECT * FROM t WHERE id = 100")
    assert counted_in(sql, "t") == before + 2


@pytest.mark.usefixtures("counting")
def test_sql_is_counted_after_the_table_was_flushed(own_server: ServerInstance, sql: Sql) -> None:
    sql.run("INSERT INTO t VALUES (7, 20)")
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        for _ in range(3):
            sql.run("FLUSH TABLES")
            assert wire.ask(b"1\t=\t1\t7\n") == b"0\t2\t7\t20"
            before = counted_in(sql, "t")
            sql.run("SELECT * FROM t WHERE id = 7")
            assert counted_in(sql, "t") == before + 1


@pytest.mark.usefixtures("counting")
def test_sql_is_counted_on_a_table_that_a_trigger_needs(
    own_server: ServerInstance, sql: Sql
) -> None:
    sql.run(
        "CREATE TABLE log (id INT PRIMARY KEY)",
        "CREATE TRIGGER noted AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)",
        "FLUSH TABLES",
    )
    with Wire(own_server.hs_port_wr) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t+\t2\t7\t0\n") == b"0\t1"
    before = counted_in(sql, "log")
    sql.run("SELECT * FROM log WHERE id = 7")
    assert counted_in(sql, "log") == before + 1
