"""What MySQL's audit interface is told of the plugin's clients: as much as of clients of SQL.

Its package has no plugin that writes an audit trail. adt_null counts what such a plugin sees.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import running_server, wait_until

pytestmark = pytest.mark.skipif(not ON_MYSQL, reason="MariaDB has an audit plugin (test_audit.py)")

LOG_IN = b"A\t2\tann\tsecret\n"
WRONG = b"A\t2\tann\tguess\n"
OPEN = b"P\t1\tshop\tt\t\tv\n"
CONNECTIONS = ("pre_authenticate", "connect", "disconnect")
ACCESSES = ("read", "insert", "update", "delete")
AUDIT_PLUGINS = "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'NULL_AUDIT'"
ABORTED = 3164
Counts = dict[str, int]


@contextmanager
def audited(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_anonymous_account": "",
        "general_log": 1,  # which the audit interface is told of, too
        "plugin_load_add": "NULL_AUDIT=adt_null.so",
    }
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)",
                "INSERT INTO shop.t VALUES (7, 0)",
                "CREATE USER ann@localhost IDENTIFIED BY 'secret'",
                "CREATE USER ben@localhost IDENTIFIED BY 'secret'",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO ann@localhost",
            )
        yield instance


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with audited(data_root, watch) as instance:
        yield instance


@pytest.fixture
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with audited(data_root, watch) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        yield session


def connections(sql: Sql) -> Counts:
    return {event: sql.status(f"Audit_null_connection_{event}") for event in CONNECTIONS}


def accesses(sql: Sql) -> Counts:
    return {event: sql.status(f"Audit_null_table_access_{event}") for event in ACCESSES}


def told(count: Callable[[Sql], Counts], sql: Sql, attempt: Callable[[], None]) -> Counts:
    """What is counted more after an attempt than before it."""
    before = count(sql)
    attempt()
    after = before
    # Sessions of SQL end a little later than their clients, and so do the plugin's.
    for _ in range(20):
        time.sleep(0.5)
        last, after = after, count(sql)
        if after == last:
            break
    return {event: after[event] - before[event] for event in before}


def sql_session(server: ServerInstance, user: str = "ann", password: str = "secret") -> None:
    with (
        suppress(pymysql.err.MySQLError),
        Sql(server.socket, user=user, password=password) as session,
    ):
        session.rows("SELECT 1")


def client(server: ServerInstance, log_in: bytes = LOG_IN) -> None:
    for port in (server.hs_port, server.hs_port_wr):
        with Wire(port) as wire:
            wire.ask(log_in)
            wire.ask(OPEN)


def test_clients_come_and_go(server: ServerInstance, sql: Sql) -> None:
    def by_sql() -> None:
        for password in ("secret", "secret", "guess", "guess"):
            sql_session(server, password=password)

    def by_plugin() -> None:
        client(server)
        client(server, WRONG)

    expected = told(connections, sql, by_sql)
    assert expected == {"pre_authenticate": 4, "connect": 4, "disconnect": 2}
    assert told(connections, sql, by_plugin) == expected


def test_clients_that_leave_in_the_middle(server: ServerInstance, sql: Sql) -> None:
    def by_plugin() -> None:
        for port in (server.hs_port, server.hs_port_wr):
            with Wire(port) as wire:
                wire.send(LOG_IN + OPEN + b"1\t=\t1\t7\n" * 100)
                wire.lines(1)
            with Wire(port) as wire:
                wire.send(LOG_IN[:-5])

    assert told(connections, sql, by_plugin) == {
        "pre_authenticate": 2,
        "connect": 2,
        "disconnect": 2,
    }


@pytest.mark.parametrize(
    ("refusal", "end_of_refusal", "ends"),
    [
        (
            "SET GLOBAL init_connect = 'SELECT * FROM nowhere.t'",
            "SET GLOBAL init_connect = ''",
            1,
        ),
        # Only clients that can change their password get a session, which ends.
        (
            "ALTER USER ann@localhost PASSWORD EXPIRE",
            "ALTER USER ann@localhost IDENTIFIED BY 'secret'",
            0,
        ),
    ],
)
def test_log_ins_that_are_refused_after_the_password(
    refusal: str, end_of_refusal: str, ends: int, server: ServerInstance, sql: Sql
) -> None:
    def by_plugin() -> None:
        with Wire(server.hs_port) as wire:
            assert wire.ask(LOG_IN).startswith(b"1\t1\t")

    sql.run(refusal)
    try:
        expected = told(connections, sql, lambda: sql_session(server))
        assert expected == {"pre_authenticate": 1, "connect": 1, "disconnect": ends}
        assert told(connections, sql, by_plugin) == expected
    finally:
        sql.run(end_of_refusal)


def test_another_log_in_ends_the_first(server: ServerInstance, sql: Sql) -> None:
    def by_plugin() -> None:
        with Wire(server.hs_port_wr) as wire:
            wire.send(LOG_IN + LOG_IN.replace(b"ann", b"ben") + LOG_IN)
            assert wire.lines(3) == [b"0\t1"] * 3
            wait_until(lambda: connections(sql)["disconnect"] == before + 2, "two ends are told")

    before = connections(sql)["disconnect"]
    assert told(connections, sql, by_plugin) == {
        "pre_authenticate": 3,
        "connect": 3,
        "disconnect": 3,
    }


def test_the_end_of_the_plugin(own_server: ServerInstance) -> None:
    with Sql(own_server.socket) as sql:
        with Wire(own_server.hs_port) as read, Wire(own_server.hs_port_wr) as write:
            before = connections(sql)["disconnect"]
            for wire in (read, write):
                assert wire.ask(LOG_IN) == b"0\t1"
            sql.run("UNINSTALL SONAME 'handlersocket2'")
        assert connections(sql)["disconnect"] == before + 2


def test_a_shutdown(own_server: ServerInstance) -> None:
    """What is told then cannot be read. It must do no harm."""
    with Wire(own_server.hs_port) as read, Wire(own_server.hs_port_wr) as write:
        for wire in (read, write):
            assert wire.ask(LOG_IN) == b"0\t1"
        own_server.stop()
    assert "Shutdown complete" in own_server.log_text()


def logged_in(stack: ExitStack, port: int, log_in: bytes = LOG_IN) -> Wire:
    wire = stack.enter_context(Wire(port))
    assert wire.ask(log_in) == b"0\t1"
    assert wire.ask(OPEN) == b"0\t1"
    return wire


def succeed(wire: Wire, request: bytes) -> None:
    assert wire.ask(request).startswith(b"0\t")


def test_tables_that_are_used(server: ServerInstance, sql: Sql) -> None:
    """As often as by SQL, if each request is a pass of its own."""
    same = {
        b"1\t=\t1\t7\n": "SELECT v FROM shop.t WHERE id = 7",
        b"1\t+\t2\t8\t1\n": "INSERT INTO shop.t VALUES (9, 1)",
        b"1\t=\t1\t7\t1\t0\tU\t7\t1\n": "UPDATE shop.t SET v = 2 WHERE id = 7",
        b"1\t=\t1\t8\t1\t0\tD\n": "DELETE FROM shop.t WHERE id = 9",
        b"1\t=\t1\t7\t1\t0\tlock\n": "SELECT v FROM shop.t WHERE id = 7 FOR UPDATE",
    }
    with ExitStack() as stack:
        wire = logged_in(stack, server.hs_port_wr)
        assert wire.ask(b"P\t1\tshop\tt\t\tid,v\n") == b"0\t1"
        for request, statement in same.items():
            expected = told(accesses, sql, partial(sql.run, statement))
            assert sum(expected.values()) == 1
            assert told(accesses, sql, partial(succeed, wire, request)) == expected


def test_a_pass_is_told_once(server: ServerInstance, sql: Sql) -> None:
    finds = 100
    with ExitStack() as stack:
        wire = logged_in(stack, server.hs_port)

        def by_plugin() -> None:
            wire.send(b"1\t=\t1\t7\n" * finds)
            assert len(set(wire.lines(finds))) == 1

        assert 1 <= told(accesses, sql, by_plugin)["read"] < finds / 2


def test_a_failed_request_is_none_of_the_next(server: ServerInstance) -> None:
    """In one pass, in which the account's first use of each kind comes behind an error."""
    duplicate, too_many = b"1\t+\t2\t7\t0\n", b"1\t=\t1\t7\t1\t0\tU\t7\t99999999999\n"
    find, increment, delete = (
        b"1\t=\t1\t7\n",
        b"1\t=\t1\t7\t1\t0\t+\t0\t0\n",
        b"1\t=\t1\t70\t1\t0\tD\n",
    )
    with ExitStack() as stack:
        wire = logged_in(stack, server.hs_port_wr)
        assert wire.ask(b"P\t1\tshop\tt\t\tid,v\n") == b"0\t1"
        wire.send(duplicate + find + duplicate + increment + too_many + delete + too_many + find)
        replies = wire.lines(8)
        assert replies[::2] == [b"1\t1\t121", b"1\t1\t121", b"1\t1\t1264", b"1\t1\t1264"]
        assert all(reply.startswith(b"0\t") for reply in replies[1::2])


def test_who_may_not_use_a_table_does_not(server: ServerInstance, sql: Sql) -> None:
    sql.run("GRANT SELECT ON shop.* TO ben@localhost")
    with ExitStack() as stack:
        wire = logged_in(stack, server.hs_port_wr, LOG_IN.replace(b"ann", b"ben"))
        before = accesses(sql)
        assert wire.ask(b"1\t=\t1\t7\t1\t0\tU\t1\n") == b"1\t1\t1142"
        assert accesses(sql) == before


def test_an_audit_plugin_refuses_the_use_of_a_table(own_server: ServerInstance) -> None:
    """adt_null refuses each thread once what its settings name."""
    both = {
        "READ": (b"1\t=\t1\t7\n", "SELECT v FROM shop.t"),
        "UPDATE": (b"1\t=\t1\t7\t1\t0\t+\t1\n", "UPDATE shop.t SET v = v"),
    }
    with Sql(own_server.socket) as sql:
        for event, (request, statement) in both.items():
            order = f'MYSQL_AUDIT_TABLE_ACCESS_{event};db="shop" table="t";ABORT_RET'
            sql.run(
                "SET GLOBAL handlersocket_enabled = 0",
                "SET GLOBAL null_audit_event_order_check_exact = 0",
                f"SET GLOBAL null_audit_event_order_check = '{order}'",
                "SET GLOBAL handlersocket_enabled = 1",
            )
            with Sql(own_server.socket) as another:
                assert another.error(statement) == ABORTED
            with ExitStack() as stack:
                wire = logged_in(stack, own_server.hs_port_wr)
                assert wire.ask(request) == b"1\t1\t%d" % ABORTED
                assert wire.ask(request).startswith(b"0\t1\t")
        assert sql.number("SELECT v FROM shop.t WHERE id = 7") == 1


def test_the_audit_plugin_can_go(own_server: ServerInstance) -> None:
    """No thread keeps it after its pass. A session of SQL keeps it until its end."""
    with ExitStack() as stack:
        with Sql(own_server.socket) as sql:
            sql.run(
                "CREATE TRIGGER shop.u AFTER UPDATE ON shop.t FOR EACH ROW SET @x = 1",
                "GRANT TRIGGER ON shop.* TO ann@localhost",
            )
        client(own_server)  # and leaves
        wires = [logged_in(stack, port) for port in (own_server.hs_port, own_server.hs_port_wr)]
        for wire in wires:
            assert wire.ask(b"1\t=\t1\t7\n") == b"0\t1\t0"
            # A streamer executes it.
            values = b"\t".join(b"%d" % number for number in range(10, 5_010))
            assert wire.ask(b"1\t=\t1\t0\t10\t0\t@\t0\t5000\t" + values + b"\n") == b"0\t1"
        assert wires[1].ask(b"1\t=\t1\t7\t1\t0\t+\t1\n") == b"0\t1\t1"
        assert wires[1].ask(b"1\t+\t1\t7\n").startswith(b"1\t1\t")
        time.sleep(0.5)
        with Sql(own_server.socket) as sql:
            sql.run("UNINSTALL PLUGIN NULL_AUDIT")
        with Sql(own_server.socket) as sql:
            wait_until(lambda: sql.number(AUDIT_PLUGINS) == 0, "the audit plugin has gone", 3)
        assert wires[0].ask(b"1\t=\t1\t7\n") == b"0\t1\t1"
