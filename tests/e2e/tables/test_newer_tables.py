"""Tables that SQL changes after a pass has taken its snapshot. The engine does not let the pass use
them (159, in a trigger 1412), so what needs them comes in the next pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire
from support_servers import HOLDING, fresh_session, running_server, wait_until

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE other (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE u (id INT PRIMARY KEY, v INT, KEY made_anew (v))",
    "CREATE TABLE written (id INT PRIMARY KEY, n INT)",
    *(f"INSERT INTO {table} SELECT seq, seq * 10 FROM seq_1_to_9" for table in ("t", "other", "u")),
    "INSERT INTO written VALUES (1, 0)",
    # A pass waits at the gate while it executes a write to `other`.
    "CREATE TRIGGER gate BEFORE UPDATE ON other FOR EACH ROW"
    " DO GET_LOCK('gate', 20), RELEASE_LOCK('gate')",
)
# The pass has a snapshot from here on, and then it stands at the gate.
FIRST = b"0\t=\t1\t3\n1\t=\t1\t1\t1\t0\t+\t100\n"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **HOLDING) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "newer", *TABLES) as session:
        yield session


def connect(server: ServerInstance, index: str = "PRIMARY") -> Wire:
    wire = Wire(server.hs_port_wr)
    for number, table, name in ((0, "t", "PRIMARY"), (1, "other", "PRIMARY"), (2, "u", index)):
        opened = wire.ask(f"P\t{number}\tnewer\t{table}\t{name}\tv\n".encode())
        assert opened == b"0\t1"
    return wire


def values_of_u(sql: Sql) -> dict[int, int]:
    return {int(key or 0): int(v or 0) for key, v in sql.rows("SELECT id, v FROM u")}


class Gate:
    """Holds a pass up in its middle."""

    def __init__(self, server: ServerInstance, sql: Sql) -> None:
        self._keeper = Sql(server.socket, "newer")
        self._sql = sql
        self._keeper.run("DO GET_LOCK('gate', 20)")

    def wait(self) -> None:
        waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"
        wait_until(lambda: self._sql.number(waiting) == 1, "the pass is at the gate")

    def open(self) -> None:
        self._keeper.run("DO RELEASE_LOCK('gate')")
        self._keeper.close()


@pytest.mark.parametrize("modification", ["U\t120", "+\t100", "D"])
@pytest.mark.parametrize(
    ("index", "statement"),
    [("PRIMARY", "ALTER TABLE u FORCE"), ("made_anew", "CREATE INDEX made_anew ON u (v)")],
)
def test_a_write(
    server: ServerInstance, sql: Sql, index: str, statement: str, modification: str
) -> None:
    key = 1 if index == "PRIMARY" else 10  # of the same row
    with connect(server, index) as wire, connect(server, index) as joining:
        sql.run("DROP INDEX made_anew ON u")
        gate = Gate(server, sql)
        wire.send(FIRST + f"2\t=\t1\t{2 * key}\t1\t0\t{modification}\n".encode() + b"0\t=\t1\t3\n")
        gate.wait()
        sql.run(statement)
        joining.send(f"2\t=\t1\t{3 * key}\t1\t0\t+\t1\n".encode())
        gate.open()
        assert wire.lines(4) == [b"0\t1\t30", b"0\t1\t1", b"0\t1\t1", b"0\t1\t30"]
        assert joining.lines(1) == [b"0\t1\t1"]
    after = values_of_u(sql)
    assert (after.get(2), after[3]) == (None if modification == "D" else 120, 31)


def test_a_find_and_an_insert(server: ServerInstance, sql: Sql) -> None:
    with connect(server) as wire:
        gate = Gate(server, sql)
        wire.send(FIRST + b"2\t=\t1\t2\n2\t>\t1\t2\t100\t0\n2\t+\t1\t5\n")
        gate.wait()
        sql.run("ALTER TABLE u FORCE, MODIFY id INT AUTO_INCREMENT")
        gate.open()
        replies = wire.lines(5)
        assert replies[:3] == [b"0\t1\t30", b"0\t1\t1", b"0\t1\t20"]
        assert replies[3] == b"0\t1\t" + b"\t".join(b"%d" % (10 * i) for i in range(3, 10))
        assert replies[4].startswith(b"0\t1")
    assert len(values_of_u(sql)) == 10


def test_a_trigger(server: ServerInstance, sql: Sql) -> None:
    """The table of the trigger is newer."""
    sql.run(
        "CREATE TRIGGER writes AFTER UPDATE ON u FOR EACH ROW"
        " UPDATE written SET n = n + 1 WHERE id = 1"
    )
    with connect(server) as wire:
        gate = Gate(server, sql)
        wire.send(FIRST + b"2\t=\t1\t2\t1\t0\t+\t100\n")
        gate.wait()
        sql.run("ALTER TABLE written FORCE")
        gate.open()
        assert wire.lines(3) == [b"0\t1\t30", b"0\t1\t1", b"0\t1\t1"]
    assert values_of_u(sql)[2] == 120
    assert sql.number("SELECT n FROM written") == 1
