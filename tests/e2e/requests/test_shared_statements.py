"""Writes that share a statement of the server: each is applied once and whole, or not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Filter, Find, FindModify, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support_binlog import begin_log, row_events
from support_servers import LOGGING, fresh_session, results, running_server

ROUNDS = 6
LARGE = 8_000_000  # bytes of a row, which takes longer to read and to change than a worker may take
SETTINGS = {
    **LOGGING,
    "max_allowed_packet": 64 << 20,
    "handlersocket_lock_wait_timeout": 20,
    **({} if ON_MYSQL else {"innodb_log_file_size": 256 << 20}),
}
TABLES = (
    "CREATE TABLE large (id INT PRIMARY KEY, v INT, f LONGBLOB, big LONGBLOB)",
    f"INSERT INTO large VALUES (1, 0, '', ''), (2, 0, 'x', REPEAT('a', {LARGE}))",
    "CREATE TABLE parts (id INT, p INT, v INT, w INT DEFAULT 0,"
    " PRIMARY KEY (id, p), KEY by_v (v))"
    " PARTITION BY LIST (p) (PARTITION p1 VALUES IN (1), PARTITION p2 VALUES IN (2))",
    "INSERT INTO parts (id, p, v) VALUES (1, 1, 10), (2, 1, 20), (3, 1, 30)",
)


@pytest.fixture(scope="module")
def sharing_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **SETTINGS) as instance:
        yield instance


@pytest.fixture
def sql(sharing_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(sharing_server, "sharing", *TABLES) as session:
        yield session


@pytest.fixture
def client(sharing_server: ServerInstance, sql: Sql) -> Iterator[Client]:
    with Client(("127.0.0.1", sharing_server.hs_port_wr), timeout=60) as opened:
        opened.request(OpenIndex(0, "sharing", "large", "", ["v"], ["f"]))
        opened.request(OpenIndex(1, "sharing", "parts", "", ["p"]))
        opened.request(OpenIndex(2, "sharing", "parts", "", ["w"]))
        yield opened


def add_one(index_id: int, *key: int, **more: Any) -> Any:
    return FindModify(Find(index_id, list(key), **more), ModifyOp.INCREMENT, [1])


@pytest.mark.parametrize("limit", [1, 2])
def test_a_row_that_takes_long_is_changed_once(client: Client, sql: Sql, limit: int) -> None:
    """When the row has been changed, the time of the worker is over: it must not begin again."""
    slow = Filter("!=", 0, b"y" * 40_000)
    for _ in range(ROUNDS):
        sql.run("UPDATE large SET v = 0")
        answers = results(client, [add_one(0, 1), add_one(0, 2, limit=limit, filters=[slow])])
        assert answers == [1, 1]
        assert sql.rows("SELECT v FROM large ORDER BY id") == [(b"1",), (b"1",)]


def move(row: int) -> Any:
    return FindModify(Find(1, [row, 1]), ModifyOp.UPDATE, [2])


@pytest.fixture
def row_2_cannot_leave(sharing_server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    """A session that has locked an index entry of row 2, but not the row itself."""
    with Sql(sharing_server.socket, "sharing") as session:
        session.run(
            "BEGIN",
            "SELECT v FROM parts PARTITION (p1) FORCE INDEX (by_v) WHERE v = 20 LOCK IN SHARE MODE",
        )
        yield session
        session.run("ROLLBACK")


def test_a_move_that_fails_leaves_nothing(
    sharing_server: ServerInstance, client: Client, sql: Sql, row_2_cannot_leave: Sql
) -> None:
    """An engine does not undo the first half of a move between partitions."""
    begin_log(sql)
    answers: list[Any] = []
    requests = [move(1), move(2), move(3), add_one(2, 3, 2)]
    asking = threading.Thread(target=lambda: answers.extend(results(client, requests)), daemon=True)
    asking.start()
    time.sleep(1)
    row_2 = sql.rows("SELECT id, p FROM parts WHERE id = 2")
    row_2_cannot_leave.run("ROLLBACK")
    asking.join(30)
    assert row_2 == [(b"2", b"1")]
    assert answers == [1, 1, 1, 1]
    found = sql.rows("SELECT id, p, w FROM parts ORDER BY id")
    assert found == [(b"1", b"2", b"0"), (b"2", b"2", b"0"), (b"3", b"2", b"1")]
    events = [(event.before[1], event.after[2]) for event in row_events(sharing_server, sql)]
    assert events == [("1", "2"), ("2", "2"), ("3", "2"), ("3", "2")]
