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


def test_the_performance_schema_does_not_know_requests(
    own_server: ServerInstance, sql: Sql
) -> None:
    query = (
        "SELECT COALESCE(SUM(count_star), 0) FROM"
        " performance_schema.table_io_waits_summary_by_table WHERE object_schema = 'counted'"
    )
    before = sql.number(query)
    find_and_write(own_server)
    assert sql.number(query) == before
    # What SQL reads is known.
    sql.run("FLUSH TABLES", "INSERT INTO t VALUES (100, 1)")
    assert sql.number(query) > before
