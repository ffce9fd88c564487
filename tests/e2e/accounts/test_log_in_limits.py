"""How many connections an account may have, by its own limit and by the server's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire
from support_servers import running_server, wait_until

LOG_IN = b"A\t2\tann\tsecret\n"
OPEN = b"P\t1\tlogin\tt\tPRIMARY\tid\n"
FIND = b"1\t=\t1\t7\n"
OK = b"0\t1"
# By the limit of the account, and by that of the server.
ACCOUNT_HAS_TOO_MANY = b"1\t1\t1226"
SERVER_ALLOWS_NO_MORE = b"1\t1\t1203"
MANY = 100


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """MariaDB's max_user_connections can be changed only if it was not 0 at the start."""
    settings = {"handlersocket_anonymous_account": "", "max_user_connections": MANY}
    with running_server(data_root, watch, **settings) as instance, Sql(instance.socket) as sql:
        sql.run(
            "CREATE DATABASE login",
            "CREATE TABLE login.t (id INT PRIMARY KEY)",
            "INSERT INTO login.t VALUES (7)",
        )
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        # Places of the test before are given back when its connections have ended.
        wait_until(lambda: session.status("handlersocket_connections") == 0, "nobody is connected")
        yield session
        session.run(
            f"SET GLOBAL max_user_connections = {MANY}", "DROP USER IF EXISTS ann@localhost"
        )


def make_account(sql: Sql, options: str = "") -> None:
    sql.run(f"CREATE USER ann@localhost IDENTIFIED BY 'secret' {options}")
    sql.run("GRANT SELECT ON login.* TO ann@localhost")


def session_of_ann(server: ServerInstance) -> Sql:
    return Sql(server.socket, user="ann", password="secret")


def refusal_by_sql(server: ServerInstance) -> bytes:
    """As the plugin would write it."""
    with pytest.raises(pymysql.err.Error) as refused:
        session_of_ann(server)
    return b"1\t1\t%d" % refused.value.args[0]


def wait_for_place(wire: Wire) -> None:
    wait_until(lambda: wire.ask(LOG_IN) == OK, "a place is given back")


def test_an_account_has_so_many_connections(server: ServerInstance, sql: Sql) -> None:
    make_account(sql, "WITH MAX_USER_CONNECTIONS 2")
    with Wire(server.hs_port) as first:
        assert first.ask(LOG_IN) == OK
        assert first.ask(OPEN) == OK
        with Wire(server.hs_port_wr) as second, Wire(server.hs_port) as third:
            assert second.ask(LOG_IN) == OK
            assert third.ask(LOG_IN) == ACCOUNT_HAS_TOO_MANY
        with Wire(server.hs_port) as fourth:
            wait_for_place(fourth)
            # A log-in takes a second place before it gives back the first one.
            assert fourth.ask(LOG_IN) == ACCOUNT_HAS_TOO_MANY
            assert sql.error("DROP USER ann@localhost") is None


def test_the_server_allows_every_account_so_many(server: ServerInstance, sql: Sql) -> None:
    make_account(sql)
    sql.run("SET GLOBAL max_user_connections = 2")
    with Wire(server.hs_port) as first, Wire(server.hs_port) as third:
        assert first.ask(LOG_IN) == OK
        with Wire(server.hs_port_wr) as second:
            assert second.ask(LOG_IN) == OK
            assert third.ask(LOG_IN) == SERVER_ALLOWS_NO_MORE == refusal_by_sql(server)
            assert third.ask(OPEN) == b"3\t1\tunauth"
            assert [wire.ask(OPEN) for wire in (first, second)] == [OK, OK]
        wait_for_place(third)
        assert refusal_by_sql(server) == SERVER_ALLOWS_NO_MORE
        third.send(OPEN + FIND)
        assert third.lines(2) == [OK, b"0\t1\t7"]
        # What is higher counts for the next one.
        sql.run("SET GLOBAL max_user_connections = 3")
        with Wire(server.hs_port) as fourth:
            assert fourth.ask(LOG_IN) == OK


def test_connections_by_sql_count_together_with_the_plugins(
    server: ServerInstance, sql: Sql
) -> None:
    make_account(sql)
    sql.run("SET GLOBAL max_user_connections = 2")
    with Wire(server.hs_port) as second, Wire(server.hs_port_wr) as third:
        with session_of_ann(server) as session:
            assert second.ask(LOG_IN) == OK
            assert third.ask(LOG_IN) == SERVER_ALLOWS_NO_MORE == refusal_by_sql(server)
            assert session.number("SELECT id FROM login.t") == 7
        # The session's place is the plugin's, and back.
        wait_for_place(third)
        assert refusal_by_sql(server) == SERVER_ALLOWS_NO_MORE
        third.close()

        def may_connect() -> bool:
            try:
                session_of_ann(server).close()
            except pymysql.err.Error:
                return False
            return True

        wait_until(may_connect, "a place is given back")


def test_whoever_is_refused_takes_no_place(server: ServerInstance, sql: Sql) -> None:
    make_account(sql)
    sql.run("SET GLOBAL max_user_connections = 1")
    with Wire(server.hs_port) as refused:
        with Wire(server.hs_port) as first:
            assert first.ask(LOG_IN) == OK
            for _ in range(3):
                assert refused.ask(LOG_IN) == SERVER_ALLOWS_NO_MORE
            # It takes a second place before it gives back the first one.
            assert first.ask(LOG_IN) == SERVER_ALLOWS_NO_MORE
            assert first.ask(OPEN) == OK, "it is still logged in"
        wait_for_place(refused)
