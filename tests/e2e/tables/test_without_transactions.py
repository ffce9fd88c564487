"""What cannot be undone is done once: writes to tables without transactions, and those whose
triggers write to such a table, in a pass that is executed again."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support_servers import HOLDING, LOGGING, fresh_session, results, running_server, wait_until

# With GTIDs, MySQL lets no transaction write both tables with and tables without transactions.
GTIDS = {"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"} if ON_MYSQL else {}
# At a locked row the engine rolls back the whole transaction, as in a deadlock.
SETTINGS = {
    **LOGGING,
    **GTIDS,
    **HOLDING,
    "innodb_rollback_on_timeout": "ON",
}
ENGINES = ["MyISAM", "MEMORY", "Aria"]
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=MyISAM",
    "CREATE TABLE fired (id INT PRIMARY KEY, v INT)",
    "CREATE TRIGGER to_log AFTER UPDATE ON fired FOR EACH ROW INSERT INTO log (v) VALUES (NEW.v)",
    "INSERT INTO t SELECT seq, 0 FROM seq_1_to_20",
    "INSERT INTO fired VALUES (1, 0)",
)


@pytest.fixture(scope="module")
def standing_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **SETTINGS) as instance:
        yield instance


@pytest.fixture
def sql(standing_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(standing_server, "standing", *TABLES) as session:
        yield session


def make_plain(sql: Sql, engine: str) -> None:
    sql.run(
        f"CREATE TABLE plain (id INT PRIMARY KEY, v INT) ENGINE={engine}",
        "INSERT INTO plain VALUES (1, 0), (2, 0)",
    )


def open_all(client: Client) -> None:
    """Opens 0: t, 1: plain, 2: fired, 3: the keys of plain, 4: those of t."""
    for number, table in enumerate(("t", "plain", "fired")):
        client.request(OpenIndex(number, "standing", table, "", ["v"]))
    for number, table in enumerate(("plain", "t"), 3):
        client.request(OpenIndex(number, "standing", table, "", ["id", "v"]))


def add(index_id: int, key: int) -> FindModify:
    return FindModify(Find(index_id, [key]), ModifyOp.INCREMENT, [1])


def value(sql: Sql, table: str, key: int) -> int:
    return sql.number(f"SELECT v FROM standing.{table} WHERE id = {key}")


def send_into_a_rollback(
    server: ServerInstance, sql: Sql, blocker: Sql, requests: Sequence[Any]
) -> list[Any]:
    """The requests meet row 30 of t, which the blocker is about to insert. The pass is rolled back
    and executed again, each write alone; then the blocker gives the row up."""
    blocker.run("USE standing", "BEGIN", "INSERT INTO t VALUES (30, 0)")
    answers: list[Any] = []
    replayed = sql.status("handlersocket_passes_replayed")

    def work() -> None:
        with Client(("127.0.0.1", server.hs_port_wr), timeout=60) as client:
            open_all(client)
            answers.extend(results(client, requests))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    wait_until(
        lambda: sql.status("handlersocket_passes_replayed") == replayed + 1,
        "the pass is executed again",
    )
    blocker.run("ROLLBACK")
    thread.join(60)
    return answers


@pytest.mark.parametrize("engine", ENGINES)
def test_a_replayed_pass_does_not_repeat_what_stands(
    standing_server: ServerInstance, sql: Sql, engine: str
) -> None:
    make_plain(sql, engine)
    requests = [
        *[add(1, 1), Insert(3, [7, 7]), add(0, 1), Insert(4, [30, 1])],
        *[add(1, 2), add(0, 3)],
    ]
    with Sql(standing_server.socket) as blocker:
        answers = send_into_a_rollback(standing_server, sql, blocker, requests)
    assert answers == [1, None, 1, None, 1, 1]
    assert (value(sql, "plain", 1), value(sql, "plain", 2), value(sql, "plain", 7)) == (1, 1, 7)
    assert [value(sql, "t", key) for key in (1, 30, 3)] == [1, 1, 1]


def test_nor_what_a_trigger_did_to_such_a_table(standing_server: ServerInstance, sql: Sql) -> None:
    make_plain(sql, "MyISAM")
    requests = [add(2, 1), add(0, 1), Insert(4, [30, 1]), add(2, 1)]
    with Sql(standing_server.socket) as blocker:
        answers = send_into_a_rollback(standing_server, sql, blocker, requests)
    assert answers == [1, 1, None, 1]
    assert value(sql, "fired", 1) == 2
    assert sql.rows("SELECT v FROM standing.log ORDER BY n") == [(b"1",), (b"2",)]


@pytest.mark.parametrize("index", [1, 2], ids=["plain", "fired"])
def test_what_stands_comes_behind_a_commit(
    standing_server: ServerInstance, sql: Sql, index: int
) -> None:
    """The blocker holds the row of the first of them. What came before is committed by then: a
    trigger's statement, which a streamer executes, waits for its row behind a commit, too."""
    make_plain(sql, "MyISAM")
    commits = sql.status("handlersocket_commits")
    answers: list[Any] = []

    def work() -> None:
        with Client(("127.0.0.1", standing_server.hs_port_wr), timeout=60) as client:
            open_all(client)
            answers.extend(results(client, [add(0, 1), add(index, 1), add(0, 2), Find(0, [1])]))

    with Sql(standing_server.socket) as blocker:
        blocker.run("USE standing", "BEGIN", "UPDATE fired SET v = v + 100 WHERE id = 1")
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        wait_until(lambda: value(sql, "t", 1) == 1, "the first write is committed")
        blocker.run("COMMIT")
        thread.join(60)
    assert answers == [1, 1, 1, [(b"1",)]]
    assert [value(sql, "t", key) for key in (1, 2)] == [1, 1]
    assert value(sql, "plain", 1) == (1 if index == 1 else 0)
    assert value(sql, "fired", 1) == (100 if index == 1 else 101)
    assert sql.status("handlersocket_commits") >= commits + 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_write_that_fails_half_way_stands_as_in_sql(
    standing_server: ServerInstance, sql: Sql, engine: str
) -> None:
    """What the engine has done of it is not done again with the rest of the pass."""
    make_plain(sql, engine)
    sql.run(f"CREATE TABLE u (id INT, v INT UNIQUE, PRIMARY KEY USING BTREE (id)) ENGINE={engine}")
    sql.run("INSERT INTO u VALUES (1, 1), (2, 2), (3, 4)")
    with Client(("127.0.0.1", standing_server.hs_port_wr)) as client:
        open_all(client)
        client.request(OpenIndex(5, "standing", "u", "", ["v"]))
        descending = FindModify(Find(5, [2], "<=", limit=2), ModifyOp.INCREMENT, [1])
        failing = FindModify(Find(5, [2], ">=", limit=2), ModifyOp.INCREMENT, [1])
        answers = results(client, [add(0, 1), descending, failing, add(1, 1), add(0, 2)])
    assert answers == [1, 2, "1 121", 1, 1]
    assert [value(sql, "u", key) for key in (1, 2, 3)] == [2, 3, 4]


CONNECTIONS, ROUNDS = 8, 30


def test_several_writers_add_exactly(data_root: Path, watch: Any) -> None:
    """There are deadlocks among the rows of t. Each turn also adds to a non-transactional table."""
    settings = {**SETTINGS, "handlersocket_threads_wr": 4}
    with (
        running_server(data_root, watch, **settings) as instance,
        fresh_session(instance, "standing", *TABLES) as sql,
    ):
        make_plain(sql, "MyISAM")
        counted = {"t": 0, "plain": 0, "fired": 0}
        lock = threading.Lock()

        def work(number: int) -> None:
            with Client(("127.0.0.1", instance.hs_port_wr), timeout=60) as client:
                open_all(client)
                for turn in range(ROUNDS):
                    keys = [1 + (number * 7 + turn * step) % 5 for step in (1, 3, 2)]
                    tables = [(1, 1), *((0, key) for key in keys), (turn % 3, 1), (0, keys[0])]
                    answers = results(client, [add(*request) for request in tables])
                    with lock:
                        for (index, _), answer in zip(tables, answers, strict=True):
                            counted[("t", "plain", "fired")[index]] += answer == 1

        threads = [
            threading.Thread(target=work, args=(n,), daemon=True) for n in range(CONNECTIONS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive(), "a connection hangs"
        for table, expected in counted.items():
            assert sql.number(f"SELECT SUM(v) FROM standing.{table}") == expected > 0, table
        assert sql.number("SELECT COUNT(*) FROM standing.log") == counted["fired"]


def test_what_stands_alone_is_no_part_of_a_transaction(data_root: Path, watch: Any) -> None:
    """With the settings as they come: on MySQL with GTIDs. A table with a trigger is opened
    the way SQL does it, and so is one that has been changed or repaired meanwhile."""
    with (
        running_server(data_root, watch, **LOGGING) as server,
        fresh_session(server, "standing", *TABLES) as sql,
    ):
        make_plain(sql, "MyISAM")
        sql.run("CREATE TRIGGER up BEFORE UPDATE ON plain FOR EACH ROW SET NEW.v = NEW.v + 10")
        requests = [add(0, 1), add(1, 1), Find(0, [1]), add(1, 2), add(0, 2), add(2, 1), add(1, 1)]
        with Client(("127.0.0.1", server.hs_port_wr), timeout=60) as client:
            open_all(client)
            answers = results(client, requests)
        # Its trigger writes a table without transactions, so one statement writes both kinds.
        mixed = sql.error("UPDATE fired SET v = v + 1 WHERE id = 1")
        assert answers == [1, 1, [(b"1",)], 1, 1, 1 if mixed is None else f"1 {mixed}", 1]
        assert [value(sql, "plain", 1), value(sql, "plain", 2)] == [22, 11]
        assert [value(sql, "t", 1), value(sql, "t", 2)] == [1, 1]
