"""An AUTO_INCREMENT column without a number left is no lock: SQL's answer comes at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Insert, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support_servers import LOGGING, fresh_session, results, running_server, wait_until

LOCK_WAIT_SECONDS = 6
PARTITIONED = " PARTITION BY HASH (id) PARTITIONS 3"
LAST = {
    "BIGINT UNSIGNED": 2**64 - 1,
    "BIGINT": 2**63 - 1,
    "INT UNSIGNED": 2**32 - 1,
    "TINYINT": 127,
}


@pytest.fixture(scope="module")
def counters_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        **LOGGING,
        "handlersocket_lock_wait_timeout": LOCK_WAIT_SECONDS,
        "innodb_autoinc_lock_mode": 1,  # an INSERT ... SELECT keeps the counter locked
    }
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(counters_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(counters_server, "counters") as session:
        yield session


@pytest.fixture
def client(counters_server: ServerInstance) -> Iterator[Client]:
    with Client(("127.0.0.1", counters_server.hs_port_wr), timeout=60) as client:
        yield client


def as_answered(error: int | None) -> str | None:
    """What a client is told of SQL's error. Some have the engine's number: a duplicate key, and on
    MySQL a number that is out of range."""
    return None if error is None else f"1 {({1062: 121, 1264: 167}).get(error, error)}"


@pytest.mark.parametrize("partitions", ["", PARTITIONED], ids=["plain", "partitioned"])
@pytest.mark.parametrize("kind", LAST)
def test_the_answer_comes_at_once(sql: Sql, client: Client, kind: str, partitions: str) -> None:
    """The same inserts by SQL, in a twin of the table, give the same errors and rows."""
    for table in ("t", "twin"):
        sql.run(
            f"CREATE TABLE {table} (id {kind} AUTO_INCREMENT PRIMARY KEY, v INT){partitions}",
            f"INSERT INTO {table} VALUES ({LAST[kind]}, 1)",
        )
    blocked = sql.status("handlersocket_requests_blocked")
    client.request(OpenIndex(0, "counters", "t", "", ["v"]))
    client.request(OpenIndex(1, "counters", "t", "", ["id", "v"]))
    began = time.monotonic()
    answers = results(client, [Insert(0, [3]), Insert(0, [4]), Insert(1, [7, 5]), Insert(0, [6])])
    assert time.monotonic() - began < LOCK_WAIT_SECONDS / 2
    assert sql.status("handlersocket_requests_blocked") == blocked
    errors = [
        sql.error(f"INSERT INTO twin (id, v) VALUES ({values})")
        for values in ("NULL, 3", "NULL, 4", "7, 5", "NULL, 6")
    ]
    told = [answer if isinstance(answer, str) else None for answer in answers]
    assert told == [as_answered(error) for error in errors]
    ordered = [sql.rows(f"SELECT id, v FROM {table} ORDER BY v") for table in ("t", "twin")]
    assert ordered[0] == ordered[1]


@pytest.mark.parametrize("partitions", ["", PARTITIONED], ids=["plain", "partitioned"])
def test_a_locked_counter_is_waited_for(
    counters_server: ServerInstance, sql: Sql, client: Client, partitions: str
) -> None:
    sql.run(
        f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT){partitions}",
        "CREATE TABLE two (id INT)",
        "INSERT INTO two VALUES (1), (2)",
    )
    client.request(OpenIndex(0, "counters", "t", "", ["v"]))

    def insert() -> None:
        with Sql(counters_server.socket, "counters") as session:
            session.run("INSERT INTO t (v) SELECT SLEEP(1) FROM two")

    inserting = threading.Thread(target=insert, daemon=True)
    inserting.start()
    asleep = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep'"
    wait_until(lambda: sql.number(asleep) == 1, "the statement is at work")
    assert isinstance(results(client, [Insert(0, [7])])[0], int)
    inserting.join(30)
    assert sql.number("SELECT COUNT(*) FROM t") == 3


SIGNALLED = {1205: "1 1205", 1213: "1 1213", 1412: "1 1412", 1467: "1 1467"}


@pytest.mark.parametrize("number", SIGNALLED)
def test_a_trigger_that_only_says_so(sql: Sql, client: Client, number: int) -> None:
    """It signals the number of an error that is tried again, for a reason of its own."""
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW"
        f" SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = {number}",
    )
    blocked = sql.status("handlersocket_requests_blocked")
    client.request(OpenIndex(0, "counters", "t", "", ["id", "v"]))
    began = time.monotonic()
    assert results(client, [Insert(0, [1, 1])]) == [SIGNALLED[number]]
    assert time.monotonic() - began < LOCK_WAIT_SECONDS / 2
    assert sql.status("handlersocket_requests_blocked") == blocked
