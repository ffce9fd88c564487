"""What USER() and CURRENT_USER() are in the triggers and expressions of a table, against SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import running_server

ANONYMOUS = "app@localhost"
TABLE = (
    "CREATE TABLE who.t (id INT PRIMARY KEY, v INT, "
    "u VARCHAR(200) DEFAULT (USER()), c VARCHAR(200) DEFAULT (CURRENT_USER()), "
    "tu VARCHAR(200), tc VARCHAR(200))"
)
VIRTUAL = (
    "CREATE TABLE who.virtual (id INT PRIMARY KEY, "
    "u VARCHAR(200) AS (USER()) VIRTUAL, c VARCHAR(200) AS (CURRENT_USER()) VIRTUAL)"
)
USERS = ("ann", "ben")
GRANT = "SELECT, INSERT, UPDATE, DELETE ON who.*"
#: With a trigger, the table is opened for each statement; without one, a pass shares it.
TRIGGERS = {"defaults": [], "triggers": ["INSERT", "UPDATE"]}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_anonymous_account": ANONYMOUS}
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run("CREATE DATABASE who", f"CREATE USER {ANONYMOUS}")
            sql.run(f"GRANT {GRANT} TO {ANONYMOUS}")
            for user in USERS:
                sql.run(f"CREATE USER {user}@`%` IDENTIFIED BY 'pw'")
                sql.run(f"GRANT {GRANT} TO {user}@`%`")
            if not ON_MYSQL:
                sql.run(VIRTUAL, "INSERT INTO who.virtual (id) VALUES (1)")
        yield instance


def log_in(wire: Wire, user: str) -> None:
    assert wire.ask(b"A\t2\t%s\tpw\n" % user.encode()) == b"0\t1"


@pytest.fixture(params=TRIGGERS.values(), ids=TRIGGERS.keys())
def sql(server: ServerInstance, request: pytest.FixtureRequest) -> Iterator[Sql]:
    with Sql(server.socket) as sql:
        sql.run("DROP TABLE IF EXISTS who.t", TABLE)
        for event in request.param:
            sql.run(
                f"CREATE TRIGGER who.on_{event} BEFORE {event} ON who.t FOR EACH ROW "
                "SET NEW.tu = USER(), NEW.tc = CURRENT_USER()"
            )
        yield sql


def row(sql: Sql, number: int) -> tuple[Any, ...]:
    return sql.row(f"SELECT u, c, tu, tc FROM who.t WHERE id = {number}")


@pytest.mark.parametrize("user", USERS)
def test_a_client_that_has_logged_in(user: str, server: ServerInstance, sql: Sql) -> None:
    with Sql(server.socket, user=user, password="pw") as own:
        own.run("INSERT INTO who.t (id) VALUES (1)")
    with Wire(server.hs_port_wr) as wire:
        log_in(wire, user)
        assert wire.ask(b"P\t1\twho\tt\tPRIMARY\tid\n") == b"0\t1"
        assert wire.ask(b"1\t+\t1\t2\n") == b"0\t1"
    expected = row(sql, 1)
    assert expected[0].startswith(user.encode() + b"@")
    assert row(sql, 2) == expected


def test_an_update(server: ServerInstance, sql: Sql) -> None:
    with Sql(server.socket, user="ann", password="pw") as own:
        own.run("INSERT INTO who.t (id) VALUES (1), (2)")
    with Sql(server.socket, user="ben", password="pw") as own:
        own.run("UPDATE who.t SET v = 1 WHERE id = 1")
    with Wire(server.hs_port_wr) as wire:
        log_in(wire, "ben")
        assert wire.ask(b"P\t1\twho\tt\tPRIMARY\tv\n") == b"0\t1"
        assert wire.ask(b"1\t=\t1\t2\t1\t0\tU\t1\n") == b"0\t1\t1"
    assert row(sql, 2) == row(sql, 1)


def test_the_anonymous_account(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port_wr) as wire:
        assert wire.ask(b"P\t1\twho\tt\tPRIMARY\tid\n") == b"0\t1"
        assert wire.ask(b"1\t+\t1\t2\n") == b"0\t1"
    assert row(sql, 2)[:2] == (ANONYMOUS.encode(), ANONYMOUS.encode())


def test_clients_that_share_a_pass(server: ServerInstance, sql: Sql) -> None:
    """Each row names its own client, although a statement may have rows of several."""
    rounds = 40
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server.hs_port_wr)) for _ in range(6)]
        for number, wire in enumerate(wires):
            log_in(wire, USERS[number % 2])
            assert wire.ask(b"P\t1\twho\tt\tPRIMARY\tid\n") == b"0\t1"
        for at in range(rounds):
            for number, wire in enumerate(wires):
                wire.send(b"1\t+\t1\t%d\n" % (number + 10 * at))
            for wire in wires:
                assert wire.lines(1) == [b"0\t1"]
    for number in range(len(wires)):
        user = USERS[number % 2]
        own = sql.row(
            f"SELECT COUNT(*) FROM who.t WHERE id % 10 = {number} AND u LIKE '{user}@%' "
            f"AND c = '{user}@%'"
        )
        assert int(own[0]) == rounds


@pytest.mark.skipif(ON_MYSQL, reason="a generated column of MySQL must not ask for the user")
def test_a_virtual_column(server: ServerInstance) -> None:
    find = b"1\t=\t1\t1\n"
    with Sql(server.socket, user="ann", password="pw") as own:
        expected = own.row("SELECT u, c FROM who.virtual WHERE id = 1")
    with Wire(server.hs_port) as ann, Wire(server.hs_port) as ben, Wire(server.hs_port) as nobody:
        for wire, user in ((ann, "ann"), (ben, "ben")):
            log_in(wire, user)
        for wire in (ann, ben, nobody):
            assert wire.ask(b"P\t1\twho\tvirtual\tPRIMARY\tu,c\n") == b"0\t1"
        for _ in range(3):
            for wire in (ann, ben, nobody):
                wire.send(find)
            assert ann.lines(1) == [b"0\t2\t" + b"\t".join(expected)]
            assert ben.lines(1) == [b"0\t2\t" + b"\t".join(expected).replace(b"ann", b"ben")]
            assert nobody.lines(1) == [f"0\t2\t{ANONYMOUS}\t{ANONYMOUS}".encode()]
