"""`L`: the databases, tables and indexes that an account may see, against what SQL shows it."""

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

#: No table of these can be opened.
INFORMATION = {b"information_schema", b"performance_schema"}
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, word VARCHAR(20), UNIQUE pair (a, id),"
    " KEY beginning (word(4), a DESC))",
    "CREATE TABLE `with\ttab` (id INT PRIMARY KEY)",
    "CREATE TABLE `größe` (id INT PRIMARY KEY) ENGINE=MyISAM",
    "CREATE TABLE parts (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 3",
    "CREATE TABLE secret (id INT PRIMARY KEY)",
    "CREATE VIEW v AS SELECT * FROM t",
)
GRANTS: dict[str, list[str]] = {
    "nothing": [],
    "everything": ["ALL ON *.*"],
    "the server": ["SHOW DATABASES ON *.*"],
    "reading everything": ["SELECT ON *.*"],
    "the database": ["SELECT ON hst.*"],
    "databases of a pattern": ["SELECT ON `hs%`.*"],
    "tables to be created": ["CREATE ON hst.*"],
    "a table": ["SELECT ON hst.t"],
    "a table to be written": ["INSERT ON hst.t"],
    "a column": ["SELECT (id) ON hst.t", "UPDATE (a) ON hst.t"],
    "two databases": ["DELETE ON hst.parts", "SELECT ON other.o"],
    "a table that is not there": ["SELECT, CREATE ON other.missing"],
}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst", *TABLES) as session:
        session.run(
            "DROP DATABASE IF EXISTS other",
            "CREATE DATABASE other",
            "CREATE TABLE other.o (id INT PRIMARY KEY)",
            "DROP USER IF EXISTS app@localhost",
            "CREATE USER app@localhost IDENTIFIED BY 'app'",
        )
        yield session
        session.run("DROP DATABASE other", "DROP USER app@localhost")


def listed(reply: bytes) -> list[bytes]:
    code, columns, *names = reply.split(b"\t")
    assert (code, columns) == (b"0", b"1"), reply
    return names


def tables_by_sql(sql: Sql, database: str) -> list[bytes]:
    """Those of which the account may read or change something. It may see others, too."""
    rows = sql.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
        " AND table_type IN ('BASE TABLE', 'SEQUENCE')",
        [database],
    )
    usable = set()
    for (name,) in rows:
        assert name is not None
        quoted = f"`{database}`.`{name.decode()}`"
        if any(
            sql.error(statement.format(quoted)) is None
            for statement in (
                "EXPLAIN SELECT 1 FROM {}",
                "EXPLAIN DELETE FROM {}",
                "EXPLAIN INSERT INTO {} (id) VALUES (1)",
            )
        ):
            usable.add(name)
    return sorted(usable)


@pytest.mark.parametrize("kind", GRANTS)
def test_an_account_sees_what_sql_shows_it(server: ServerInstance, sql: Sql, kind: str) -> None:
    for privileges in GRANTS[kind]:
        sql.run(f"GRANT {privileges} TO app@localhost")
    with (
        Wire(server.hs_port) as wire,
        Sql(server.socket, user="app", password="app") as own,
    ):
        assert wire.ask(b"A\t2\tapp\tapp\n") == b"0\t1"
        shown = {name for (name,) in own.rows("SHOW DATABASES") if name is not None}
        assert listed(wire.ask(b"L\n")) == sorted(shown - INFORMATION)
        for database in ("hst", "other"):
            reply = wire.ask(b"L\t%s\n" % database.encode())
            if database.encode() in shown:
                names = [name.replace(b"\x01I", b"\t") for name in listed(reply)]
                assert names == tables_by_sql(own, database)
            else:
                assert reply == b"1\t1\t1044"
        for database in (b"nosuch", b"information_schema", b"performance_schema"):
            sees_all = kind in ("everything", "the server", "reading everything")
            expected = b"1\t1\t1049" if sees_all and database == b"nosuch" else b"1\t1\t1044"
            assert wire.ask(b"L\t%s\n" % database) == expected


def test_who_may_do_everything(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port) as wire:
        shown = {name for (name,) in sql.rows("SHOW DATABASES") if name is not None}
        assert listed(wire.ask(b"L\n")) == sorted(shown - INFORMATION)
        names = "t", "with\x01Itab", "größe", "parts", "secret"
        assert listed(wire.ask(b"L\thst\n")) == sorted(name.encode() for name in names)
        assert wire.ask(b"L\tnosuch\n") == b"1\t1\t1049"
        assert wire.ask(b"L\t\n") == b"1\t1\t1049"
        assert wire.ask(b"L\ths/t\n") == b"1\t1\t1049"
        assert wire.ask(b"L\t..\n") == b"1\t1\t1049"
        assert wire.ask(b"L\thst\tt\tid\n") == b"2\t1\tcmd"
        # A request behind a list is answered behind it, and one before it before it.
        wire.send(b"echo\ta\nL\thst\necho\tb\nL\nP\t1\thst\tt\t\ta\n1\t=\t1\t1\n")
        replies = wire.lines(6)
        assert replies[0] == b"0\t1\ta" and replies[2] == b"0\t1\tb"
        assert listed(replies[1]) == sorted(name.encode() for name in names)
        assert replies[4:] == [b"0\t1", b"0\t1"]


def test_the_indexes_of_a_table(server: ServerInstance, sql: Sql) -> None:
    sql.run("CREATE TABLE h (id INT, a INT, PRIMARY KEY (id), KEY (a) USING HASH) ENGINE=MEMORY")
    with Wire(server.hs_port) as wire:
        for table in ("t", "h", "parts", "with\x01Itab"):
            if table == "with\x01Itab":
                wire.ask(b"H\tnames\n")
            code, columns, *values = wire.ask(f"L\thst\t{table}\n".encode()).split(b"\t")
            assert (code, columns) == (b"0", b"6")
            rows = [tuple(values[at : at + 6]) for at in range(0, len(values), 6)]
            name = table.replace("\x01I", "\t")
            shown = sql.rows(f"SHOW INDEX FROM `{name}`")
            assert rows == [
                (
                    row[2],
                    b"01"[row[1] == b"0" :][:1],
                    b"01"[row[10] != b"HASH" :][:1],
                    row[4],
                    b"01"[row[5] == b"D" :][:1],
                    b"01"[row[7] is not None :][:1],
                )
                for row in shown
            ]
        assert wire.ask(b"L\thst\tnosuch\n") == b"1\t1\topen_table"


def test_an_expression_has_no_name(server: ServerInstance, sql: Sql) -> None:
    if not ON_MYSQL:
        pytest.skip("MariaDB has no index of an expression")
    sql.run("CREATE TABLE e (id INT PRIMARY KEY, a INT, KEY twice ((a * 2), id))")
    with Wire(server.hs_port) as wire:
        assert wire.ask(b"L\thst\te\n") == (
            b"0\t6\tPRIMARY\t1\t1\tid\t0\t0\ttwice\t0\t1\t\0\t0\t0\ttwice\t0\t1\tid\t0\t0"
        )


def test_a_list_waits_for_nobody_and_keeps_nothing(server: ServerInstance, sql: Sql) -> None:
    """Another session has locked a table, or drops databases, while they are listed."""
    with Wire(server.hs_port) as wire, Sql(server.socket, "hst") as other:
        other.run("LOCK TABLES t WRITE")
        assert b"secret" in listed(wire.ask(b"L\thst\n"))
        other.run("UNLOCK TABLES")
        for number in range(20):
            wire.send(b"L\nL\tpassing\n" * 10)
            sql.run(
                "CREATE DATABASE passing",
                f"CREATE TABLE passing.p{number} (id INT PRIMARY KEY)",
                "DROP DATABASE passing",
            )
            for reply in wire.lines(20):
                assert reply.startswith(b"0\t1") or reply == b"1\t1\t1049", reply
        wait_until(lambda: sql.error("DROP TABLE secret") is None, "the table is free")


def test_many_tables(server: ServerInstance, sql: Sql) -> None:
    """So many that their list takes a while. Others of the worker do not wait for it."""
    count = 300
    sql.run(*(f"CREATE TABLE n{number:03} (id INT PRIMARY KEY)" for number in range(count)))
    sql.run("GRANT SELECT ON hst.* TO app@localhost")
    with Wire(server.hs_port) as wire:
        assert wire.ask(b"A\t2\tapp\tapp\n") == b"0\t1"
        names = listed(wire.ask(b"L\thst\n"))
        assert [name for name in names if name[:1] == b"n"] == [
            b"n%03d" % number for number in range(count)
        ]
