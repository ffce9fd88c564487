"""Spider: a table over two back ends is one table to the plugin's clients, too.

Who does not ask for such a table never waits for a back end.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import (
    Client,
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
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.servers import ON_MYSQL
from support_galera import MORE
from support_servers import running_server

LIBRARY = MORE / "root/usr/lib/mysql/plugin/ha_spider.so"
pytestmark = [
    pytest.mark.skipif(ON_MYSQL, reason="Spider is MariaDB's"),
    pytest.mark.skipif(
        not ON_MYSQL and not LIBRARY.exists(), reason="setup/more.sh has not got Spider"
    ),
    pytest.mark.timeout(600),
]
COLUMNS = "(id INT PRIMARY KEY, v INT NOT NULL, s VARCHAR(100), KEY v (v))"
OPEN = OpenIndex(1, "shop", "t", "", ["id", "v"])
OPEN_HERE = OpenIndex(2, "shop", "here", "", ["id", "v"])
THREADS = 2


def back_end(stack: ExitStack, data_root: Path, watch: Any) -> ServerInstance:
    end = stack.enter_context(running_server(data_root, watch, port=free_port()))
    with Sql(end.socket) as sql:
        sql.run(
            "CREATE USER spider IDENTIFIED BY 'secret'",
            "GRANT ALL ON *.* TO spider",
            "CREATE DATABASE shop",
            f"CREATE TABLE shop.t {COLUMNS}",
        )
    return end


def front_end(
    stack: ExitStack, data_root: Path, watch: Any, ends: list[ServerInstance], **settings: object
) -> ServerInstance:
    """A server with tables whose rows with even ids are on the first back end."""
    front = stack.enter_context(running_server(data_root, watch, **settings))
    link = front.base_dir / "plugins" / LIBRARY.name
    link.symlink_to(LIBRARY)
    with Sql(front.socket) as sql:
        sql.run("INSTALL SONAME 'ha_spider'", "CREATE DATABASE shop")
        # How long Spider waits for a back end; and as docs/scaling.md has it.
        sql.run("SET GLOBAL spider_net_read_timeout = 3", "SET GLOBAL spider_connect_timeout = 3")
        sql.run("SET GLOBAL spider_conn_recycle_mode = 1")
        for number, end in enumerate(ends):
            sql.run(
                f"CREATE SERVER end{number} FOREIGN DATA WRAPPER mysql"
                " OPTIONS (HOST '127.0.0.1',"
                f" DATABASE 'shop', USER 'spider', PASSWORD 'secret',"
                f" PORT {end.settings['port']})"
            )
        sql.run(
            f"CREATE TABLE shop.t {spider_columns(ends)}",
            f"CREATE TABLE shop.here {COLUMNS}",
            "INSERT INTO shop.here VALUES (1, 1, 'one')",
        )
    return front


def spider_columns(ends: list[ServerInstance]) -> str:
    partitions = ", ".join(
        f'PARTITION p{number} COMMENT = \'srv "end{number}", table "t"\''
        for number in range(len(ends))
    )
    return (
        f"{COLUMNS} ENGINE=SPIDER COMMENT='wrapper \"mysql\"' PARTITION BY HASH (id) ({partitions})"
    )


@pytest.fixture(scope="module")
def servers(data_root: Path, watch: Any) -> Iterator[list[ServerInstance]]:
    """The one with the Spider table, and two back ends."""
    with ExitStack() as stack:
        ends = [back_end(stack, data_root, watch) for _ in range(2)]
        yield [
            front_end(stack, data_root, watch, ends, handlersocket_threads_remote=THREADS),
            *ends,
        ]


@pytest.fixture
def rows(servers: list[ServerInstance]) -> list[tuple[bytes, ...]]:
    """What the Spider table holds at the beginning of each test."""
    values = [(row, 10 * row, f"row {row}") for row in range(1, 101)]
    with Sql(servers[0].socket) as sql:
        sql.run(
            "DELETE FROM shop.t",
            "INSERT INTO shop.t VALUES "
            + ", ".join(f"({row}, {v}, '{text}')" for row, v, text in values),
        )
    return [(b"%d" % row, b"%d" % v) for row, v, _ in values]


def connect(port: int) -> Client:
    return Client(("127.0.0.1", port), timeout=30)


def error_of(client: Client, request: Request[Any]) -> str | None:
    try:
        client.request(request)
    except ReplyError as error:
        return error.text
    return None


@contextmanager
def standing_still(server: ServerInstance) -> Iterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


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


def test_a_write_that_waits_is_executed_once(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """A back end gives up a locked row again and again, with other rows changed before it."""
    front, *ends = servers
    with connect(front.hs_port_wr) as client, Sql(front.socket) as sql, Sql(ends[1].socket) as end:
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
            assert client.request(plus) == 4
            free.join()
        finally:
            holder.close()
            end.run("SET GLOBAL innodb_lock_wait_timeout = DEFAULT")
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


def test_nobody_waits_for_a_back_end(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """A back end stands still. More clients ask for its rows than there are threads for that."""
    front, *ends = servers
    with Sql(front.socket) as sql:
        sql.run("FLUSH TABLES")
    answers: list[str | None] = []

    def ask_for_remote_row(port: int) -> None:
        with connect(port) as client:
            answers.append(error_of(client, OPEN) or error_of(client, Find(1, [1])))

    ports = [front.hs_port, front.hs_port_wr] * (2 * THREADS)
    threads = [threading.Thread(target=ask_for_remote_row, args=(port,)) for port in ports]
    with connect(front.hs_port) as reader, connect(front.hs_port_wr) as writer:
        for client in (reader, writer):
            client.request(OPEN_HERE)
        with standing_still(ends[1]):
            for thread in threads:
                thread.start()
            slowest = 0.0
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                began = time.monotonic()
                assert reader.request(Find(2, [1])) == [(b"1", b"1")]
                assert writer.request(FindModify(Find(2, [1]), ModifyOp.UPDATE, [1, 1])) == 1
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.01)
            assert slowest < 0.5
            assert not answers or all(answers)
            assert any(thread.is_alive() for thread in threads)
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    # They were told, or answered when the back end went on.
    assert len(answers) == len(ports)
    with connect(front.hs_port) as client:
        client.request(OPEN)
        assert client.request(Find(1, [1])) == [rows[0]]


def test_a_connection_that_waits_can_be_closed(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """It is seen as waiting for another server. One that no thread has taken ends at once."""
    front, *ends = servers
    states = (
        "SELECT state, id FROM information_schema.handlersocket_connections WHERE state = 'remote'"
    )
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(front.hs_port)) for _ in range(THREADS + 1)]
        for client in clients:
            client.request(OPEN)
        sql = stack.enter_context(Sql(front.socket))
        errors: list[BaseException] = []

        def find(client: Client) -> None:
            try:
                client.request(Find(1, [1]))
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=find, args=(client,)) for client in clients]
        with standing_still(ends[1]):
            for thread in threads[:-1]:
                thread.start()
            wait_until(lambda: len(sql.rows(states)) == THREADS)
            before = {row for _, row in sql.rows(states)}
            threads[-1].start()
            wait_until(lambda: len(sql.rows(states)) == THREADS + 1)
            (last,) = {row for _, row in sql.rows(states)} - before
            asking = "FROM information_schema.processlist WHERE state LIKE '%asking other servers'"
            assert sql.number(f"SELECT COUNT(*) {asking}") == THREADS
            sql.run(f"SET GLOBAL handlersocket_close_connection = {int(last or 0)}")
            threads[-1].join(1)
            assert not threads[-1].is_alive()
            assert len(errors) == 1
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)


def test_a_back_end_that_comes_back(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """Its rows cannot be reached while it is away. The others can."""
    front, *ends = servers
    with connect(front.hs_port_wr) as client:
        client.request(OPEN)
        ends[1].kill()
        assert error_of(client, Find(1, [1])) is not None
        assert error_of(client, FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 11])) is not None
        assert client.request(Find(1, [2])) == [rows[1]]
        # The same if the table has to be opened anew.
        with Sql(front.socket) as sql:
            sql.run("FLUSH TABLES")
        unreachable = {"1429", "12701"}
        assert error_of(client, OPEN) in unreachable
        assert error_of(client, Find(1, [1])) in unreachable
        ends[1].start()
        wait_until(lambda: error_of(client, Find(1, [1])) is None)
        assert client.request(Find(1, [1])) == [rows[0]]
        assert client.request(FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 12])) == 1
        assert client.request(Find(1, [1])) == [(b"1", b"12")]


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


def test_a_locked_table(servers: list[ServerInstance], rows: list[tuple[bytes, ...]]) -> None:
    """The time to wait is counted over all tries, on workers and on remote threads."""
    front = servers[0]
    with Sql(front.socket) as sql, Sql(front.socket) as holder, connect(front.hs_port_wr) as client:
        client.request(OPEN)
        sql.run("SET GLOBAL handlersocket_lock_wait_timeout = 1")
        try:
            holder.run("LOCK TABLES shop.t WRITE")
            for request in (
                Find(1, [1]),
                FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 1]),
                OPEN,
            ):
                began = time.monotonic()
                assert error_of(client, request) == "1205"
                assert 0.9 < time.monotonic() - began < 5
            holder.run("UNLOCK TABLES")
            assert client.request(Find(1, [1])) == [rows[0]]
        finally:
            sql.run("SET GLOBAL handlersocket_lock_wait_timeout = DEFAULT")


@pytest.mark.parametrize("way", ["rename", "alter"])
def test_nobody_waits_for_a_table_that_has_moved(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]], way: str
) -> None:
    """Workers and streamers have served it when it was here, and its back end stands still."""
    front, *ends = servers
    with (
        Sql(front.socket) as sql,
        connect(front.hs_port) as mover,
        connect(front.hs_port) as other,
        connect(front.hs_port_wr) as writer,
        ExitStack() as stack,
    ):
        sql.run(f"CREATE TABLE shop.moved {COLUMNS}", "INSERT INTO shop.moved VALUES (1, 5, '')")
        movers = [stack.enter_context(connect(front.hs_port)) for _ in range(8)]
        for client in (*movers, mover, writer):
            client.request(OpenIndex(3, "shop", "moved", "", ["id", "v"]))
            assert client.request(Find(3, [1])) == [(b"1", b"5")]
            client.request(OPEN_HERE)
        other.request(OPEN_HERE)
        if way == "rename":
            sql.run(
                f"CREATE TABLE shop.new {spider_columns(ends)}",
                "RENAME TABLE shop.moved TO shop.old, shop.new TO shop.moved",
            )
        else:
            sql.run("DROP TABLE shop.moved", f"CREATE TABLE shop.moved {spider_columns(ends)}")
        sql.run("FLUSH TABLES")
        with standing_still(ends[1]):
            finds = [threading.Thread(target=error_or_end, args=(one, 3)) for one in movers]
            finds.append(threading.Thread(target=error_or_end, args=(writer, 3)))
            for find in finds:
                find.start()
            began = time.monotonic()
            while time.monotonic() - began < 1:
                asked = time.monotonic()
                assert other.request(Find(2, [1])) == [(b"1", b"1")]
                assert time.monotonic() - asked < 0.5
        for find in finds:
            find.join(60)
            assert not find.is_alive()
        sql.run("DROP TABLE shop.moved", "DROP TABLE IF EXISTS shop.old")


def test_statements_beside_requests(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]]
) -> None:
    """Clients and SQL change and flush the table at once, and nothing is lost."""
    front = servers[0]
    over = threading.Event()
    added: list[int] = []
    failures: list[BaseException] = []

    def add(seed: int) -> None:
        dice = random.Random(seed)
        count = 0
        try:
            with connect(front.hs_port_wr) as client:
                client.request(OPEN)
                while not over.is_set():
                    row = dice.randint(1, 100)
                    plus = FindModify(Find(1, [row]), ModifyOp.INCREMENT, [0, 1])
                    assert client.request(plus) == 1
                    count += 1
        except BaseException as error:
            failures.append(error)
        added.append(count)

    threads = [threading.Thread(target=add, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    with Sql(front.socket) as sql:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            sql.run("FLUSH TABLES shop.t", "ALTER TABLE shop.t COMMENT='wrapper \"mysql\"'")
            sql.run("UPDATE shop.t SET s = 'x' WHERE id = 5")
        over.set()
        for thread in threads:
            thread.join(60)
        assert not failures
        assert sum(added) > 100
        total = sum(int(v) for _, v in rows) + sum(added)
        assert sql.number("SELECT SUM(v) FROM shop.t") == total


def test_a_server_with_requests_under_way_stops(
    servers: list[ServerInstance], data_root: Path, watch: Any
) -> None:
    """It waits as long as Spider waits for the back end, as with SQL."""
    with ExitStack() as stack:
        front = front_end(
            stack, data_root, watch, servers[1:], handlersocket_threads_remote=THREADS
        )
        clients = [stack.enter_context(connect(front.hs_port)) for _ in range(2 * THREADS)]
        for client in clients:
            client.request(OPEN)
        ends = [threading.Thread(target=error_or_end, args=(client,)) for client in clients]
        with standing_still(servers[2]):
            for thread in ends:
                thread.start()
            time.sleep(0.5)
            began = time.monotonic()
            front.stop()
            assert time.monotonic() - began < 30
        for thread in ends:
            thread.join(30)
            assert not thread.is_alive()


def error_or_end(client: Client, index: int = 1) -> None:
    with suppress(Exception):
        client.request(Find(index, [1]))


def test_without_threads_for_it_the_table_is_refused(
    servers: list[ServerInstance], data_root: Path, watch: Any
) -> None:
    """The default. The refusal does not wait for a back end that stands still."""
    with ExitStack() as stack:
        front = front_end(stack, data_root, watch, servers[1:])
        for port in (front.hs_port, front.hs_port_wr):
            client = stack.enter_context(connect(port))
            assert error_of(client, OPEN) == "open_table"
            with Sql(front.socket) as sql:
                sql.run("FLUSH TABLES")
            with standing_still(servers[2]):
                client.request(OPEN_HERE)
                began = time.monotonic()
                assert error_of(client, OPEN) == "open_table"
                assert len(client.request(Find(2, [1]))) == 1
                assert time.monotonic() - began < 2
