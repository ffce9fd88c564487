"""Spider: a table over two back ends is one table to the plugin's clients, too."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import (
    Filter,
    Find,
    FindModify,
    FindOp,
    In,
    Insert,
    ModifyOp,
    OpenIndex,
    ReplyError,
    Request,
)
from server_instance import ServerInstance
from support.database import Sql
from support_spider import (
    COLUMNS,
    MARKS,
    OPEN,
    OPEN_HERE,
    ask_again,
    connect,
    error_of,
    fill,
    spider_columns,
    spider_servers,
    wait_until,
)

pytestmark = MARKS


@pytest.fixture(scope="module")
def servers(data_root: Path, watch: Any) -> Iterator[list[ServerInstance]]:
    with spider_servers(data_root, watch) as servers:
        yield servers


@pytest.fixture
def rows(servers: list[ServerInstance]) -> list[tuple[bytes, ...]]:
    """What the Spider table holds at the beginning of each test."""
    return fill(servers[0])


def test_rows_are_found(servers: list[ServerInstance], rows: list[tuple[bytes, ...]]) -> None:
    front = servers[0]
    for port in (front.hs_port, front.hs_port_wr):
        with connect(port) as client:
            client.request(OPEN)
            assert client.request(Find(1, [7])) == [rows[6]]
            assert client.request(Find(1, [777])) == []
            assert client.request(Find(1, [1], op=">=", limit=1000)) == rows
            assert client.request(Find(1, [50], op="<", limit=3, offset=1)) == rows[47:44:-1]
            some = client.request(Find(1, [0], in_=In([3, 99, 4, 400]), limit=10))
            assert sorted(some) == sorted([rows[2], rows[98], rows[3]])
            client.request(OpenIndex(3, "shop", "t", "v", ["s"], ["id"]))
            assert client.request(Find(3, [770])) == [(b"row 77",)]


def test_filters_look_at_all_rows(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    with connect(servers[0].hs_port) as client:
        client.request(OpenIndex(1, "shop", "t", "", ["id", "v"], ["v"]))
        for wanted in (1, 60, 100):
            only = Filter("=", 0, 10 * wanted)
            find = Find(1, [0], op=">=", limit=1, filters=[only])
            assert client.request(find) == [rows[wanted - 1]]


def test_a_back_end_is_not_asked_for_more_than_twice_the_rows(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """A range would else bring all rows behind its key."""
    front, *ends = servers
    with connect(front.hs_port) as client, Sql(ends[0].socket) as sql:
        client.request(OPEN)
        sql.run("SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON")
        try:
            for _ in range(2):
                assert client.request(Find(1, [0], op=">", limit=3, offset=2)) == rows[2:5]
                assert client.request(Find(1, [90], op="<", limit=1)) == [rows[88]]
        finally:
            sql.run("SET GLOBAL general_log = OFF")
        asked = [
            (query or b"").decode()
            for (query,) in sql.rows(
                "SELECT argument FROM mysql.general_log"
                " WHERE argument LIKE 'select%from `shop`.`t`%'"
            )
        ]
        sql.run("TRUNCATE mysql.general_log")
    assert len(asked) == 4
    assert all(query.endswith(("limit 10", "limit 2")) for query in asked), asked


def test_rows_are_written(servers: list[ServerInstance], rows: list[tuple[bytes, ...]]) -> None:
    front, *ends = servers
    with connect(front.hs_port_wr) as client, Sql(front.socket) as sql:
        client.request(OPEN)
        for row in (201, 202):
            client.request(Insert(1, [row, 7]))
        with pytest.raises(ReplyError, match="1062"):
            client.request(Insert(1, [202, 8]))
        for row in (1, 2):
            assert client.request(FindModify(Find(1, [row]), ModifyOp.UPDATE, [row, 5])) == 1
            assert client.request(FindModify(Find(1, [row]), ModifyOp.INCREMENT, [0, 3])) == 1
            assert client.request(Find(1, [row])) == [(b"%d" % row, b"8")]
        for row in (3, 4):
            assert client.request(FindModify(Find(1, [row]), ModifyOp.DELETE)) == 1
        assert client.request(FindModify(Find(1, [50]), ModifyOp.UPDATE, [1050, 9])) == 1
        many = Find(1, [50], op=">=", limit=20)
        assert client.request(FindModify(many, ModifyOp.DELETE)) == 20
        seen = {row: v for row, v in sql.rows("SELECT id, v FROM shop.t")}
        wanted = {row: v for row, v in rows if not 50 <= int(row) < 71 and int(row) not in (3, 4)}
        wanted |= {b"1": b"8", b"2": b"8", b"201": b"7", b"202": b"7", b"1050": b"9"}
        assert seen == wanted
    # Each back end has its share.
    for number, end in enumerate(ends):
        with Sql(end.socket) as sql:
            share = {row for (row,) in sql.rows("SELECT id FROM shop.t")}
            assert share == {row for row in wanted if int(row) % 2 == number}


def test_a_write_that_fails_leaves_nothing(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """Not even the rows before the one that has failed, which Spider alone would keep."""
    front = servers[0]
    everything = "SELECT id, v FROM shop.t ORDER BY id"
    with connect(front.hs_port_wr) as client, Sql(front.socket) as sql:
        client.request(OPEN)
        to_one_id = FindModify(Find(1, [1], op=">=", limit=9), ModifyOp.UPDATE, [1000, 1])
        assert error_of(client, to_one_id) == "1062"
        assert sql.rows(everything) == rows
        for moment, request in (
            ("INSERT", Insert(1, [500, 5])),
            ("UPDATE", FindModify(Find(1, [3], op=">=", limit=9), ModifyOp.INCREMENT, [0, 1])),
            ("DELETE", FindModify(Find(1, [3], op=">=", limit=9), ModifyOp.DELETE)),
        ):
            row = "OLD" if moment == "DELETE" else "NEW"
            sql.run(
                f"CREATE TRIGGER shop.refuse AFTER {moment} ON shop.t FOR EACH ROW"
                f" IF {row}.id IN (7, 500) THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001;"
                " END IF"
            )
            try:
                assert error_of(client, request) == "30001"
            finally:
                sql.run("DROP TRIGGER shop.refuse")
            assert sql.rows(everything) == rows, moment


def test_a_write_that_waits_is_executed_once(data_root: Path, watch: Any) -> None:
    """A back end gives up a locked row again and again, with other rows changed before it. The
    servers are its own, because it closes connections that Spider keeps."""
    with ExitStack() as stack:
        front, *ends = stack.enter_context(spider_servers(data_root, watch))
        fill(front)
        client = stack.enter_context(connect(front.hs_port_wr))
        sql = stack.enter_context(Sql(front.socket))
        end = stack.enter_context(Sql(ends[1].socket))
        client.request(OpenIndex(1, "shop", "t", "", ["v"]))
        end.run("SET GLOBAL innodb_lock_wait_timeout = 1")
        # It counts for new connections.
        for (number,) in end.rows(
            "SELECT id FROM information_schema.processlist WHERE user = 'spider'"
        ):
            end.run(f"KILL {int(number or 0)}")
        wait_until(lambda: error_of(client, Find(1, [1])) is None)
        holder = Sql(ends[1].socket, "shop")
        try:
            holder.run("BEGIN", "SELECT * FROM t WHERE id = 5 FOR UPDATE")
            free = threading.Timer(2.5, lambda: holder.run("COMMIT"))
            free.start()
            plus = FindModify(Find(1, [0], limit=10, in_=In([1, 2, 3, 5])), ModifyOp.INCREMENT, [1])
            assert ask_again(client, plus) == 4
            free.join()
        finally:
            holder.close()
            end.run("SET GLOBAL innodb_lock_wait_timeout = DEFAULT")
        wait_until(lambda: sql.error("SELECT COUNT(*) FROM shop.t") is None)
        seen = sql.rows("SELECT id, v FROM shop.t WHERE id <= 5 ORDER BY id")
        assert [int(v or 0) for _, v in seen] == [11, 21, 31, 40, 51]


def test_what_spider_does_not_search_exactly_is_refused(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    front, *ends = servers
    columns = (
        "(id INT PRIMARY KEY, a INT, b INT NOT NULL, bits BIT(8), s VARCHAR(50), KEY ab (a, b),"
        " KEY b (b), KEY bits (bits), KEY s (s(4)))"
    )
    values = (
        "(1, 1, 1, 0, 'one'), (2, 1, 2, 1, 'onerous'), (3, 2, 1, 1, 'two'), (4, NULL, 3, 0, '')"
    )
    table = 'wrapper "mysql", srv "end0", table "other"'
    with Sql(ends[0].socket) as end, Sql(front.socket) as sql, connect(front.hs_port_wr) as client:
        end.run(f"CREATE TABLE shop.other {columns}")
        sql.run(f"CREATE TABLE shop.other {columns} ENGINE=SPIDER COMMENT='{table}'")
        sql.run(f"INSERT INTO shop.other VALUES {values}")
        for index in ("bits", "s"):
            assert error_of(client, OpenIndex(1, "shop", "other", index, ["id"])) == "idxnum"
        client.request(OpenIndex(1, "shop", "other", "ab", ["id"]))
        client.request(OpenIndex(2, "shop", "other", "b", ["id"]))

        def ids(index: int, key: list[Any], op: FindOp) -> list[int]:
            found = client.request(Find(index, key, op=op, limit=10))
            return sorted(int(row or 0) for (row,) in found)

        assert ids(1, [1, 2], "=") == [2]
        assert ids(1, [None], "=") == [4]
        assert ids(1, [1], ">=") == [1, 2, 3]
        assert ids(1, [1], ">") == [3]
        assert ids(2, [2], "<=") == [1, 2, 3]
        assert ids(2, [2], "<") == [1, 3]
        operators: list[FindOp] = [">", ">=", "<", "<="]
        for op in operators:
            refused = [Find(1, [1, 2], op=op), Find(1, [None], op=op)]
            if op.startswith("<"):
                refused.append(Find(1, [2], op=op))  # NULL is less
            for find in refused:
                assert error_of(client, find) == "131"
                assert error_of(client, FindModify(find, ModifyOp.DELETE)) == "131"
        assert sql.number("SELECT COUNT(*) FROM shop.other") == 4
        sql.run("DROP TABLE shop.other")
        end.run("DROP TABLE shop.other")


def test_both_kinds_of_tables_in_one_pipeline(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """The replies come in the order of the requests."""
    front = servers[0]
    with connect(front.hs_port_wr) as client:
        for first in range(1000, 1100, 10):
            requests: list[Request[Any]] = [OPEN, OPEN_HERE]
            for row in range(first, first + 10):
                requests += [Insert(1, [row, row]), Insert(2, [row, row + 1])]
                requests += [Find(1, [row]), Find(2, [row])]
                requests += [OpenIndex(1, "shop", "t", "", ["v", "id"]), Find(1, [row])]
                requests += [OPEN]
            with client.pipeline() as pipeline:
                for request in requests:
                    pipeline.send(request)
            at = iter(pipeline.results()[2:])
            for row in range(first, first + 10):
                assert next(at) is None
                assert next(at) is None
                assert next(at) == [(b"%d" % row, b"%d" % row)]
                assert next(at) == [(b"%d" % row, b"%d" % (row + 1))]
                assert next(at) is None
                assert next(at) == [(b"%d" % row, b"%d" % row)]
                assert next(at) is None
    with Sql(front.socket) as sql:
        assert sql.number("SELECT COUNT(*) FROM shop.here WHERE id >= 1000") == 100
        sql.run("DELETE FROM shop.here WHERE id >= 1000")


def test_what_cannot_be_opened(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    front = servers[0]
    with connect(front.hs_port) as client:
        assert error_of(client, OpenIndex(1, "shop", "t", "", ["id", "nothing"])) == "fld"
        assert error_of(client, OpenIndex(1, "shop", "t", "nothing", ["id"])) == "idxnum"
        assert error_of(client, OpenIndex(1, "shop", "nothing", "", ["id"])) == "open_table"
        # A failed P leaves nothing behind.
        assert error_of(client, Find(1, [1])) == "stmtnum"
        client.request(OPEN)
        assert client.request(Find(1, [1])) == [rows[0]]


def test_a_table_that_moves(servers: list[ServerInstance], rows: list[tuple[bytes, ...]]) -> None:
    """A client goes on with its open index when the table moves to other servers, and back."""
    front, *ends = servers
    with Sql(front.socket) as sql, connect(front.hs_port_wr) as client:
        sql.run(f"CREATE TABLE shop.moves {COLUMNS}", "INSERT INTO shop.moves VALUES (2, 5, '')")
        client.request(OpenIndex(3, "shop", "moves", "", ["id", "v"]))
        for _ in range(3):
            assert client.request(Find(3, [2])) == [(b"2", b"5")]
            sql.run(
                f"CREATE TABLE shop.new {spider_columns(ends)}",
                "RENAME TABLE shop.moves TO shop.old, shop.new TO shop.moves",
            )
            assert client.request(Find(3, [2])) == [rows[1]]
            assert client.request(FindModify(Find(3, [2]), ModifyOp.UPDATE, [2, 20])) == 1
            sql.run("RENAME TABLE shop.moves TO shop.new, shop.old TO shop.moves")
            assert client.request(Find(3, [2])) == [(b"2", b"5")]
            sql.run("DROP TABLE shop.new")
        sql.run("DROP TABLE shop.moves")
        assert error_of(client, Find(3, [2])) == "open_table"


def test_statements_beside_requests(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """Clients and SQL change and flush the table at once, and nothing is lost.

    They do so for 5 seconds, or on a busy machine until there were enough changes.
    """
    front = servers[0]
    over = threading.Event()
    added = [0] * 4
    failures: list[BaseException] = []

    def add(number: int) -> None:
        dice = random.Random(number)
        try:
            with connect(front.hs_port_wr) as client:
                client.request(OPEN)
                while not over.is_set():
                    row = dice.randint(1, 100)
                    plus = FindModify(Find(1, [row]), ModifyOp.INCREMENT, [0, 1])
                    assert client.request(plus) == 1
                    added[number] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(len(added))]
    for thread in threads:
        thread.start()
    with Sql(front.socket) as sql:
        began = time.monotonic()
        while time.monotonic() < began + (5 if sum(added) > 100 else 60) and not failures:
            sql.run("FLUSH TABLES shop.t", "ALTER TABLE shop.t COMMENT='wrapper \"mysql\"'")
            sql.run("UPDATE shop.t SET s = 'x' WHERE id = 5")
        over.set()
        for thread in threads:
            thread.join(60)
        assert not failures
        assert sum(added) > 100
        total = sum(int(v) for _, v in rows) + sum(added)
        assert sql.number("SELECT SUM(v) FROM shop.t") == total
