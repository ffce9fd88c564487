"""What the server's own logs and tables have of the plugin's log-ins: as for clients of SQL."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import running_server, wait_until

LOG_IN = b"A\t2\tann\tsecret\n"
WRONG = b"A\t2\tann\tguess\n"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings: dict[str, Any] = {
        "handlersocket_anonymous_account": "",
        "general_log": 1,
        "general_log_file": "general.log",
        "performance_schema": "ON",
    }
    if not ON_MYSQL:
        settings["userstat"] = "ON"
    with running_server(data_root, watch, **settings) as instance, Sql(instance.socket) as sql:
        sql.run("CREATE USER ann@localhost IDENTIFIED BY 'secret'")
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        yield session


def log_in(server: ServerInstance) -> None:
    with Wire(server.hs_port) as wire:
        assert wire.ask(LOG_IN) == b"0\t1"


def general_log(server: ServerInstance) -> list[tuple[int, str]]:
    """The numbers of connections, and what they did."""
    lines = (server.data_dir / "general.log").read_text(errors="replace").splitlines()
    found = [re.search(r"\s(\d+) (Connect|Quit)\s*(.*)$", line) for line in lines]
    return [(int(match[1]), f"{match[2]} {match[3]}".strip()) for match in found if match]


def test_the_general_log_has_the_end_of_a_connection(server: ServerInstance) -> None:
    log_in(server)
    (number,) = [n for n, what in general_log(server) if what.startswith("Connect ann@localhost")][
        -1:
    ]
    # MySQL writes the number of the thread that tells of it.
    expected = f"Quit connection {number}, ann@localhost" if ON_MYSQL else "Quit"
    wait_until(
        lambda: any(
            what == expected and (ON_MYSQL or n == number) for n, what in general_log(server)
        ),
        "the end is written",
    )


@pytest.mark.parametrize("table", ["accounts", "users", "hosts"])
def test_performance_schema_counts_log_ins(table: str, server: ServerInstance, sql: Sql) -> None:
    where = {
        "accounts": "USER = 'ann' AND HOST = 'localhost'",
        "users": "USER = 'ann'",
        "hosts": "HOST = 'localhost'",
    }[table]
    query = f"SELECT SUM(TOTAL_CONNECTIONS) FROM performance_schema.{table} WHERE {where}"
    before = int(sql.row(query)[0] or 0)
    for _ in range(3):
        log_in(server)
    # The session that asks comes from the same host, but it has been counted before.
    assert int(sql.row(query)[0] or 0) == before + 3


@pytest.mark.parametrize("table", ["USER_STATISTICS", "CLIENT_STATISTICS"])
@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has these tables")
def test_user_statistics_count_log_ins(table: str, server: ServerInstance, sql: Sql) -> None:
    """The same numbers as for clients of SQL."""
    key = "USER = 'ann'" if table == "USER_STATISTICS" else "CLIENT = 'localhost'"
    columns = "TOTAL_CONNECTIONS, DENIED_CONNECTIONS, ACCESS_DENIED"
    query = f"SELECT {columns} FROM information_schema.{table} WHERE {key}"

    def counted_by(attempt: Callable[[], None]) -> list[int]:
        before, after = ([0, 0, 0], [0, 0, 0])
        for row in sql.rows(query):
            before = [int(value or 0) for value in row]
        attempt()
        for row in sql.rows(query):
            after = [int(value or 0) for value in row]
        return [now - then for then, now in zip(before, after, strict=True)]

    def by_sql() -> None:
        with Sql(server.socket, user="ann", password="secret"):
            pass
        with pytest.raises(pymysql.err.OperationalError):
            Sql(server.socket, user="ann", password="guess")
        # SQL counts when the session has ended.
        sessions = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'ann'"
        wait_until(lambda: sql.number(sessions) == 0, "the session has ended")
        time.sleep(0.5)

    def by_plugin() -> None:
        log_in(server)
        with Wire(server.hs_port) as wire:
            assert wire.ask(WRONG) == b"1\t1\t1045"

    expected = counted_by(by_sql)
    assert expected[0] > 0
    assert counted_by(by_plugin) == expected


def test_a_wrong_password_never_blocks_a_host(server: ServerInstance, sql: Sql) -> None:
    """As in SQL: what max_connect_errors counts are handshakes that were broken off."""
    sql.run("SET GLOBAL max_connect_errors = 2", "TRUNCATE TABLE performance_schema.host_cache")
    try:
        for _ in range(4):
            with Wire(server.hs_port) as wire:
                assert wire.ask(WRONG) == b"1\t1\t1045"
        log_in(server)
        query = "SELECT MAX(SUM_CONNECT_ERRORS) FROM performance_schema.host_cache"
        assert int(sql.row(query)[0] or 0) == 0
    finally:
        sql.run("SET GLOBAL max_connect_errors = DEFAULT")


def test_aborted_connects(server: ServerInstance, sql: Sql) -> None:
    before = sql.status("Aborted_connects")
    with Wire(server.hs_port) as wire:
        assert wire.ask(WRONG) == b"1\t1\t1045"
    assert sql.status("Aborted_connects") == before + 1
