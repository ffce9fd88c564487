"""read_only, super_read_only and offline_mode mean for an account what they mean for it in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, running_server

OPEN = b"P\t1\tstates\tt\t\tid,v\n"
FIND = b"1\t=\t1\t1\n"
UPDATE = b"1\t=\t1\t1\t1\t0\tU\t1\t%d\n"
READ_ONLY = 1290
OFFLINE = 3032
PASSWORD = "Secret-1"
STATES = ("read_only", "super_read_only") if ON_MYSQL else ("read_only",)

# What exempts an account, and whether it does on this server.
EXEMPTING = {
    "nothing": ("SELECT ON *.*", False),
    "super": ("SUPER ON *.*", ON_MYSQL),
    **(
        {"connection_admin": ("CONNECTION_ADMIN ON *.*", True)}
        if ON_MYSQL
        else {"read_only_admin": ("READ ONLY ADMIN ON *.*", True)}
    ),
}
USERS = {f"w_{name}": exempt for name, (_, exempt) in EXEMPTING.items()}


@pytest.fixture(scope="module")
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, handlersocket_anonymous_account="") as instance:
        with Sql(instance.socket) as sql:
            for name, (privilege, _) in EXEMPTING.items():
                user = f"'w_{name}'@'%'"
                sql.run(f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}'")
                sql.run(f"GRANT {privilege} TO {user}", f"GRANT ALL ON states.* TO {user}")
        yield instance


@pytest.fixture
def sql(own_server: ServerInstance) -> Iterator[Sql]:
    table = "CREATE TABLE t (id INT PRIMARY KEY, v INT)"
    with fresh_session(own_server, "states", table, "INSERT INTO t VALUES (1, 1)") as session:
        yield session
        for variable in ("super_read_only", "read_only", "offline_mode"):
            if ON_MYSQL or variable == "read_only":
                session.run(f"SET GLOBAL {variable} = OFF")


def sql_as(server: ServerInstance, user: str) -> Sql:
    return Sql(server.socket, "states", user=user, password=PASSWORD)


@contextmanager
def wire_as(port: int, user: str) -> Iterator[Wire]:
    with Wire(port) as wire:
        assert wire.ask(f"A\t2\t{user}\t{PASSWORD}\n".encode()) == b"0\t1"
        yield wire


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("state", STATES)
def test_writes_as_in_sql(own_server: ServerInstance, sql: Sql, user: str, state: str) -> None:
    with (
        sql_as(own_server, user) as session,
        wire_as(own_server.hs_port_wr, user) as writer,
        wire_as(own_server.hs_port, user) as reader,
    ):
        for wire in (writer, reader):
            assert wire.ask(OPEN) == b"0\t1"
        sql.run(f"SET GLOBAL {state} = ON")
        expected = session.error("UPDATE t SET v = 2 WHERE id = 1")
        may_write = USERS[user] and state == "read_only"
        assert expected == (None if may_write else READ_ONLY)
        answer = b"0\t1\t1" if may_write else b"1\t1\t%d" % READ_ONLY
        assert writer.ask(UPDATE % 3) == answer
        assert writer.ask(b"1\t+\t2\t7\t7\n") == (b"0\t1" if may_write else answer)
        # Many on one table share a statement.
        writer.send(b"".join(UPDATE % number for number in range(10, 20)))
        assert writer.lines(10) == 10 * [answer]
        for wire in (writer, reader):
            assert wire.ask(FIND).startswith(b"0\t2\t1\t")
        sql.run(f"SET GLOBAL {state} = OFF", "SET GLOBAL read_only = OFF")
        assert writer.ask(UPDATE % 5) == b"0\t1\t1"


def test_one_pass_has_writes_of_both(own_server: ServerInstance, sql: Sql) -> None:
    """Each connection's account decides about its own writes."""
    exempt = next(user for user, is_exempt in USERS.items() if is_exempt)
    sql.run("SET GLOBAL read_only = ON")
    with (
        wire_as(own_server.hs_port_wr, "w_nothing") as plain,
        wire_as(own_server.hs_port_wr, exempt) as special,
    ):
        assert plain.ask(OPEN) == special.ask(OPEN) == b"0\t1"
        for number in range(200):
            plain.send(UPDATE % -1)
            special.send(UPDATE % (number + 100))
            assert plain.lines(1) == [b"1\t1\t%d" % READ_ONLY]
            assert special.lines(1) == [b"0\t1\t1"]
        assert sql.number("SELECT v FROM t") == 299


@pytest.mark.skipif(ON_MYSQL, reason="MySQL's SUPER exempts")
def test_the_right_may_be_given_and_taken(own_server: ServerInstance, sql: Sql) -> None:
    sql.run("SET GLOBAL read_only = ON", "CREATE USER IF NOT EXISTS 'changing'@'localhost'")
    sql.run("GRANT ALL ON states.* TO 'changing'@'localhost'")
    sql.run("SET GLOBAL handlersocket_anonymous_account = 'changing@localhost'")
    with Wire(own_server.hs_port_wr) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        for _ in range(3):
            assert wire.ask(UPDATE % 1) == b"1\t1\t%d" % READ_ONLY
            sql.run("GRANT READ ONLY ADMIN ON *.* TO 'changing'@'localhost'")
            assert wire.ask(b"1\t=\t1\t1\t1\t0\t+\t0\t1\n") == b"0\t1\t1"
            sql.run("REVOKE READ ONLY ADMIN ON *.* FROM 'changing'@'localhost'")
    sql.run("SET GLOBAL handlersocket_anonymous_account = ''")


@pytest.mark.skipif(not ON_MYSQL, reason="only MySQL has offline_mode")
@pytest.mark.parametrize("user", USERS)
def test_offline_mode(own_server: ServerInstance, sql: Sql, user: str) -> None:
    """SQL closes connections of who is not exempt. Requests are refused, and connections stay."""
    with (
        wire_as(own_server.hs_port_wr, user) as writer,
        wire_as(own_server.hs_port, user) as reader,
    ):
        for wire in (writer, reader):
            assert wire.ask(OPEN) == b"0\t1"
        sql.run("SET GLOBAL offline_mode = ON")
        refused = b"1\t1\t%d" % OFFLINE
        for wire, request, answer in (
            (reader, FIND, b"0\t2\t1\t1"),
            (reader, OPEN, b"0\t1"),
            (writer, FIND, b"0\t2\t1\t1"),
            (writer, UPDATE % 2, b"0\t1\t1"),
            (writer, b"1\t+\t2\t9\t9\n", b"0\t1"),
        ):
            assert wire.ask(request) == (answer if USERS[user] else refused), request
        # Who comes now meets what SQL meets.
        try:
            sql_as(own_server, user).close()
            may_come = True
        except Exception:  # noqa: BLE001
            may_come = False
        assert may_come == USERS[user]
        with Wire(own_server.hs_port) as new:
            answer = new.ask(f"A\t2\t{user}\t{PASSWORD}\n".encode())
            if answer == b"0\t1" and not may_come:
                assert new.ask(OPEN) == refused
            else:
                assert (answer == b"0\t1") == may_come
        sql.run("SET GLOBAL offline_mode = OFF")
        assert reader.ask(FIND).startswith(b"0\t2\t1\t")
        assert writer.ask(UPDATE % 4) == b"0\t1\t1"
