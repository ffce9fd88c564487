"""Ids that are given to an AUTO_INCREMENT column: how they are answered, which id comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client
from support.database import Database, Sql
from support_binlog import begin_log, row_events
from support_servers import LOGGING, fresh_session, running_server

Ids = Sequence[int | None]

GIVEN: list[Ids] = [
    [None, 0, None, None],
    [None, -5, None, None],
    [0, None, None],
    [-5, None, None],
    [10, None, 0, None, None],
    [10, None, -3, None],
    [None, 5, 3, None],
    [None, None, 7, None, -1, 0, None],
    [None, 0, -1, None, 20, -2, None],
]


@pytest.fixture
def zero_is_given(sql: Sql) -> Iterator[None]:
    before = sql.rows("SELECT @@GLOBAL.sql_mode")[0][0]
    assert before is not None
    mode = before.decode()
    wanted = ",".join(word for word in (mode, "NO_AUTO_VALUE_ON_ZERO") if word)
    sql.run(f"SET GLOBAL sql_mode = '{wanted}'", f"SET SESSION sql_mode = '{wanted}'")
    yield
    sql.run(f"SET GLOBAL sql_mode = '{mode}'")


@pytest.mark.usefixtures("zero_is_given")
@pytest.mark.parametrize("kind", ["TINYINT", "INT", "BIGINT", "BIGINT UNSIGNED"])
@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_ids_of_one_pass(
    engine: str, kind: str, writer: Client, sql: Sql, database: Database
) -> None:
    """The ids are those that SQL gives, also after an id of 0 or below, and are answered."""
    for number, given in enumerate(GIVEN):
        if "UNSIGNED" in kind and any(value is not None and value < 0 for value in given):
            continue
        for name in ("by_sql", "by_plugin"):
            sql.run(
                f"CREATE TABLE {name}{number} (v INT, id {kind} AUTO_INCREMENT PRIMARY KEY)"
                f" ENGINE={engine}"
            )
        for place, value in enumerate(given):
            literal = "NULL" if value is None else value
            sql.run(f"INSERT INTO by_sql{number} VALUES ({place}, {literal})")
        index = writer.index(database.name, f"by_plugin{number}", ["v", "id"])
        with writer.pipeline() as pipeline:
            inserts = pipeline.on(index)
            pending = [inserts.insert([place, value]) for place, value in enumerate(given)]
        answered = [reply.result() for reply in pending]
        wanted, got = (
            [int(row[0] or 0) for row in sql.rows(f"SELECT id FROM {name}{number} ORDER BY v")]
            for name in ("by_sql", "by_plugin")
        )
        assert (got, answered) == (wanted, wanted), given


def test_the_least_and_the_greatest_id(writer: Client, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE signed_ids (id BIGINT AUTO_INCREMENT PRIMARY KEY)",
        "CREATE TABLE unsigned_ids (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY)",
    )
    for table, ids in (
        ("signed_ids", [-(2**63), -1, 2**63 - 1]),
        ("unsigned_ids", [2**63, 2**64 - 2]),
    ):
        index = writer.index(database.name, table, ["id"])
        assert [index.insert([value]) for value in ids] == ids


def test_each_is_in_the_binary_log(data_root: Path, watch: Any) -> None:
    with (
        running_server(data_root, watch, **LOGGING) as server,
        fresh_session(
            server, "given", "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)"
        ) as sql,
        Client(("127.0.0.1", server.hs_port_wr), timeout=60) as client,
    ):
        index = client.index("given", "t", ["id", "v"])
        begin_log(sql)
        with client.pipeline() as pipeline:
            inserts = pipeline.on(index)
            for value in (5, -3, -1, None, -7):
                inserts.insert([value, 1])
        rows = [row[0] for row in sql.rows("SELECT id FROM t ORDER BY id")]
        logged = [event.after[1].split()[0] for event in row_events(server, sql)]
        assert len(logged) == 5
        assert sorted(map(int, logged)) == [int(value or 0) for value in rows]
