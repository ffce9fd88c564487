"""MULTI, EXEC, DISCARD, WATCH: all of a unit or nothing of it, beside others who write."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import OK, QUEUED, RESET, Error, Resp, packed, pairs
from support.wire import WireError
from support_redis import TRY_AGAIN, connect, connection_id, redis_server
from support_servers import fresh_session, wait_until
from test_log_in import DEFAULT_WAY, PASSWORD, identified
from test_upserts_beside import at_once, is_waiting

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT, v VARCHAR(50))",
    "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, NULL, NULL)",
    "CREATE TABLE old (id INT PRIMARY KEY, n INT) ENGINE=MyISAM",
)
ABORTED = Error("EXECABORT Transaction discarded because of previous errors.")


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_default_database": "units", "handlersocket_lock_wait_timeout": 2,
                "handlersocket_threads": 4, "handlersocket_threads_wr": 4}  # fmt: skip
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "units", *TABLES) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server) as one:
        yield one


def rows(sql: Sql) -> list[tuple[bytes | None, ...]]:
    return sql.rows("SELECT id, n, v FROM t ORDER BY id")


BEFORE = [(b"1", b"10", b"one"), (b"2", b"20", b"two"), (b"3", None, None)]


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_unit_answers_each_command(server: ServerInstance, sql: Sql, protocol: int) -> None:
    with connect(server, protocol=protocol) as wire:
        done = wire.unit([
            ("HSET", "t:1", "v", "new"), ("HGET", "t:1", "v"), ("HINCRBY", "t:1", "n", 5),
            ("HGETALL", "t:1"), ("HSET", "t:9", "n", 1), ("DEL", "t:2"), ("EXISTS", "t:2", "t:9"),
            ("PING",), ("HGET", "t:3", "n"), ("HMGET", "t:9", "n", "v"),
        ])  # fmt: skip
        row = done.pop(3)
        assert isinstance(row, dict if protocol == 3 else list)
        assert pairs(row) == {b"id": b"1", b"n": b"15", b"v": b"new"}
        *numbers, pong, none, several = done
        assert numbers == [0, b"new", 15, 1, 1, 1]
        assert (pong.text, none, several) == ("PONG", None, [b"1", None])
    assert rows(sql) == [(b"1", b"15", b"new"), (b"3", None, None), (b"9", b"1", None)]


def test_nobody_sees_half_of_it(wire: Resp, sql: Sql, server: ServerInstance) -> None:
    """Neither by SQL nor by a command, while units come one after the other."""
    ended = threading.Event()
    wrong: list[object] = []

    def look() -> None:
        with Sql(server.socket, "units") as session, connect(server) as other:
            while not ended.is_set():
                first, second = session.rows("SELECT n FROM t WHERE id < 3 ORDER BY id")
                by_unit = other.unit([("HGET", "t:1", "n"), ("HGET", "t:2", "n")])
                if first != second or by_unit[0] != by_unit[1]:
                    wrong.append((first, second, by_unit))

    sql.run("UPDATE t SET n = 0 WHERE id < 3")
    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(300):
        a, b = wire.unit([("HINCRBY", "t:1", "n", 1), ("HINCRBY", "t:2", "n", 1)])
        assert a == b
    ended.set()
    thread.join(60)
    assert wrong == []


FAILING = {
    "a value too long": (("HSET", "t:2", "v", "x" * 51), "1406"),
    "no number": (("HINCRBY", "t:2", "v", 1), "not an integer"),
    "an overflow": (("HINCRBY", "t:2", "n", 2**63 - 1), "overflow"),
    "no such column": (("HSET", "t:2", "nosuch", 1), "nosuch"),
    "no such table": (("HGET", "nosuch:1", "n"), ""),
    "no key": (("HSET", "t:abc", "n", 1), ""),
}


@pytest.mark.parametrize("kind", FAILING)
def test_all_or_nothing(wire: Resp, sql: Sql, kind: str) -> None:
    """A command that fails is named, and those before and behind it are not done."""
    command, word = FAILING[kind]
    done = wire.unit([("HSET", "t:1", "v", "x"), ("DEL", "t:3"), command, ("HSET", "t:5", "n", 1)])
    assert isinstance(done, Error), done
    assert word in done.text
    assert "3" in done.text or str(command[0]).lower() in done.text.lower(), "it says which"
    assert rows(sql) == BEFORE
    assert wire.ask("HGET", "t:1", "v") == b"one", "the next request is a new one"


@pytest.mark.parametrize(
    "wrong", ["nosuch a b", "HGET t:1", "HSET t:1 n", "SELECT", "HINCRBY t:1 n"]
)
def test_what_is_refused_at_once_spoils_the_unit(wire: Resp, sql: Sql, wrong: str) -> None:
    words = [word.encode() for word in wrong.split()]
    unit = [("MULTI",), ("HSET", "t:1", "v", "x"), words, ("DEL", "t:2"), ("EXEC",)]
    first, second, refused, third, done = wire.pipeline(unit)
    assert (first, second, third) == (OK, QUEUED, QUEUED)
    assert isinstance(refused, Error)
    assert done == ABORTED
    assert rows(sql) == BEFORE


@pytest.mark.parametrize("inside", ["MULTI", "WATCH t:1"])
def test_multi_inside_of_a_unit_spoils_it(wire: Resp, sql: Sql, inside: str) -> None:
    words = [word.encode() for word in inside.split()]
    unit = [("MULTI",), ("DEL", "t:1"), words, ("DEL", "t:2"), ("EXEC",)]
    *_, refused, queued, done = wire.pipeline(unit)
    assert isinstance(refused, Error) and queued == QUEUED and done == ABORTED
    assert rows(sql) == BEFORE


def test_a_refused_multi_executes_nothing_until_exec(wire: Resp, sql: Sql) -> None:
    """Clients send all of it in one packet. Executed one by one would be worse than not at all."""
    unit = [("MULTI", "now"), ("DEL", "t:1"), ("HSET", "t:2", "n", 0), ("EXEC",)]
    replies = wire.pipeline(unit)
    assert all(isinstance(replies[number], Error) for number in (0, 3)), replies
    assert rows(sql) == BEFORE
    assert wire.ask("HGET", "t:1", "v") == b"one"


def test_what_ends_a_unit(wire: Resp, sql: Sql) -> None:
    assert wire.ask("EXEC") == Error("ERR EXEC without MULTI")
    assert wire.ask("DISCARD") == Error("ERR DISCARD without MULTI")
    assert wire.pipeline([("MULTI",), ("DEL", "t:1"), ("DISCARD",)]) == [OK, QUEUED, OK]
    assert wire.pipeline([("MULTI",), ("DEL", "t:1"), ("RESET",)]) == [OK, QUEUED, RESET]
    assert wire.ask("HGET", "t:1", "v") == b"one"
    assert wire.pipeline([("MULTI",), ("EXEC",)]) == [OK, []]
    assert rows(sql) == BEFORE


def test_a_client_that_leaves_inside_of_a_unit(server: ServerInstance, sql: Sql) -> None:
    with connect(server) as leaving:
        assert leaving.pipeline([("MULTI",), ("DEL", "t:1"), ("DEL", "t:2")]) == [
            OK, QUEUED, QUEUED,
        ]  # fmt: skip
    with connect(server) as other:
        assert other.ask("HSET", "t:1", "v", "one") == 0
    assert rows(sql) == BEFORE


def test_a_table_without_transactions_is_no_part_of_a_unit(wire: Resp, sql: Sql) -> None:
    done = wire.unit([("HSET", "t:1", "v", "x"), ("HSET", "old:1", "n", 1)])
    assert isinstance(done, Error)
    assert rows(sql) == BEFORE
    assert sql.number("SELECT COUNT(*) FROM old") == 0
    assert wire.ask("HSET", "old:1", "n", 1) == 1
    assert wire.unit([("HGET", "old:1", "n"), ("HGET", "t:1", "v")]) == [b"1", b"one"]


def test_a_locked_row(wire: Resp, sql: Sql) -> None:
    """The unit waits for it as a single write does, and is then refused wholly."""
    sql.run("BEGIN", "UPDATE t SET n = 0 WHERE id = 2")
    begun = time.monotonic()
    done = wire.unit([("HSET", "t:1", "v", "x"), ("HINCRBY", "t:2", "n", 1)])
    assert 1.5 < time.monotonic() - begun < 20
    assert isinstance(done, Error) and TRY_AGAIN in done.text, done
    refused = wire.ask("HSET", "t:2", "n", 1)
    assert isinstance(refused, Error) and refused.code == TRY_AGAIN
    assert wire.ask("HGET", "t:2", "n") == b"20", "who reads waits for nobody"
    sql.run("ROLLBACK")
    assert rows(sql) == BEFORE
    sql.run("BEGIN", "UPDATE t SET n = 5 WHERE id = 2")
    wire.send(b"MULTI\r\nHINCRBY t:2 n 1\r\nHSET t:1 v x\r\nEXEC\r\n")
    time.sleep(0.3)
    sql.run("COMMIT")
    assert wire.replies(4) == [OK, QUEUED, QUEUED, [6, 0]]


def test_a_deadlock(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    """Whichever the engine chooses. The unit is done or not, and never in halves."""
    with Sql(server.socket, "units") as watching:
        for _ in range(3):
            sql.run("UPDATE t SET n = 0", "BEGIN", "UPDATE t SET n = n + 10 WHERE id = 1")
            unit = b"MULTI\r\nHINCRBY t:2 n 1\r\nHINCRBY t:1 n 1\r\nEXEC\r\n"
            wire.send(unit)
            wait_until(lambda: is_waiting(watching), "the unit waits for a row")
            refused = sql.error("UPDATE t SET n = n + 10 WHERE id = 2")
            sql.run("ROLLBACK" if refused else "COMMIT")
            assert refused in (None, 1213)
            done = wire.replies(4)[3]
            by_unit = 0 if isinstance(done, Error) else 1
            if isinstance(done, Error):
                assert TRY_AGAIN in done.text
            by_sql = 0 if refused else 10
            assert sql.rows("SELECT n FROM t WHERE id < 3") == [(b"%d" % (by_sql + by_unit),)] * 2


def test_a_unit_whose_connection_is_closed(server: ServerInstance, sql: Sql) -> None:
    """While it waits for a row."""
    with connect(server) as wire, Sql(server.socket) as admin:
        sql.run("BEGIN", "UPDATE t SET n = 0 WHERE id = 2")
        wire.send(b"MULTI\r\nHSET t:1 v x\r\nHINCRBY t:2 n 1\r\nEXEC\r\n")
        time.sleep(0.3)
        admin.run(f"SET GLOBAL handlersocket_close_connection = {connection_id(admin, wire)}")
        try:
            told = wire.rest()
        except WireError:
            told = b""
        sql.run("ROLLBACK")
        assert b"*2\r\n" not in told
    assert rows(sql) == BEFORE


def test_many_clients_add(server: ServerInstance, sql: Sql) -> None:
    clients, rounds, depth = 8, 10, 10

    def add() -> None:
        with connect(server) as one:
            for _ in range(rounds):
                unit = [("HINCRBY", "t:1", "n", 1), ("HINCRBY", "t:2", "n", 1)]
                packet = [words for _ in range(depth) for words in [("MULTI",), *unit, ("EXEC",)]]
                for done in one.pipeline(packet)[3::4]:
                    assert isinstance(done, list), done

    at_once(*[add] * clients)
    sent = clients * rounds * depth
    assert sql.rows("SELECT n FROM t WHERE id < 3 ORDER BY id") == [
        (b"%d" % (10 + sent),),
        (b"%d" % (20 + sent),),
    ]


class TestWatch:
    def test_what_has_not_changed(self, wire: Resp, sql: Sql) -> None:
        assert wire.ask("WATCH", "t:1", "t:99") == OK
        value = int(wire.ask("HGET", "t:1", "n"))
        assert wire.unit([("HSET", "t:1", "n", value + 1)]) == [0]
        assert sql.number("SELECT n FROM t WHERE id = 1") == 11

    @pytest.mark.parametrize(
        "change",
        ["UPDATE t SET v = 'x' WHERE id = 1", "DELETE FROM t WHERE id = 1",
         "INSERT INTO t VALUES (99, 1, 'x')"],
    )  # fmt: skip
    def test_a_change_by_sql(self, wire: Resp, sql: Sql, change: str) -> None:
        assert wire.ask("WATCH", "t:1", "t:99") == OK
        sql.run(change)
        assert wire.unit([("HSET", "t:2", "n", 0)]) is None
        assert sql.number("SELECT n FROM t WHERE id = 2") == 20
        assert wire.unit([("HSET", "t:2", "n", 0)]) == [0], "EXEC has ended the watch"

    def test_a_change_by_a_command(self, server: ServerInstance, wire: Resp) -> None:
        with connect(server) as other:
            for ending, done in (("UNWATCH", [0]), ("DISCARD", [0]), (None, None)):
                assert wire.ask("WATCH", "t:1") == OK
                assert isinstance(other.ask("HINCRBY", "t:1", "n", 1), int)
                if ending == "DISCARD":
                    wire.ask("MULTI")
                if ending:
                    assert wire.ask(ending) == OK
                assert wire.unit([("HSET", "t:2", "v", "x")]) == done

    def test_compare_and_swap_by_many(self, server: ServerInstance, sql: Sql) -> None:
        """As applications write it. No turn is lost."""
        clients, turns = 4, 15

        def swap() -> None:
            with connect(server) as one:
                done = 0
                while done < turns:
                    assert one.ask("WATCH", "t:1") == OK
                    value = int(one.ask("HGET", "t:1", "n"))
                    reply = one.unit([("HSET", "t:1", "n", value + 1)])
                    if isinstance(reply, Error):
                        assert TRY_AGAIN in reply.text
                    elif reply is not None:
                        done += 1

        at_once(*[swap] * clients)
        assert sql.number("SELECT n FROM t WHERE id = 1") == 10 + clients * turns


def test_a_read_behind_a_wait_sees_what_is_there(
    server: ServerInstance, sql: Sql, wire: Resp
) -> None:
    """The reads of a unit that writes are no snapshot of what was there when it began."""
    reads: list[tuple[Any, ...]] = [
        ("HGET", "t:2", "v"), ("HGETALL", "t:2"), ("HMGET", "t:2", "n", "v"), ("HLEN", "t:4"),
        ("EXISTS", "t:2"), ("EXISTS", "t:4"), ("HSTRLEN", "t:2", "v"), ("HVALS", "t:2"),
        ("HSCAN", "t:2", 0), ("HGETALL", "t:9"),
    ]  # fmt: skip
    answers: list[Any] = []
    with Sql(server.socket, "units") as holder:
        holder.run("BEGIN", "UPDATE t SET n = n + 1 WHERE id = 1")

        def run() -> None:
            # The first command makes the snapshot, and the second one waits.
            answers.append(wire.unit([("HGET", "t:3", "v"), ("HSET", "t:1", "v", "mine"), *reads]))

        unit = threading.Thread(target=run)
        unit.start()
        wait_until(lambda: is_waiting(sql), "the unit waits for the row")
        holder.run("UPDATE t SET v = 'newest', n = NULL WHERE id = 2",
                   "INSERT INTO t VALUES (4, 4, 'four')", "COMMIT")  # fmt: skip
        unit.join()
    assert answers[0][2:] == [
        b"newest", [b"id", b"2", b"v", b"newest"], [None, b"newest"], 3, 1, 1, 6, [b"2", b"newest"],
        [b"0", [b"id", b"2", b"v", b"newest"]], [],
    ]  # fmt: skip


def test_no_value_is_read_twice_and_none_is_lost(server: ServerInstance, sql: Sql) -> None:
    """Each client takes what is there and leaves a value of its own, in one unit."""
    rounds, clients = 60, 6
    taken: list[bytes] = []

    def swap(number: int) -> None:
        with connect(server) as own:
            for one in range(rounds):
                while True:
                    done = own.unit([("HGET", "t:1", "v"), ("HSET", "t:1", "v", f"{number}.{one}")])
                    if not isinstance(done, Error):
                        break
                    assert done.code == TRY_AGAIN, done
                taken.append(done[0])

    threads = [threading.Thread(target=swap, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = {b"%d.%d" % (number, one) for number in range(clients) for one in range(rounds)}
    last = sql.row("SELECT v FROM t WHERE id = 1")[0]
    assert sorted([*taken, last or b""]) == sorted([*left, b"one"])


def test_a_unit_may_read_what_it_may_not_change(server: ServerInstance, sql: Sql) -> None:
    """A row that cannot be locked is read without a lock: of another's table, or without
    transactions."""
    sql.run("INSERT INTO old VALUES (1, 7)", "CREATE TABLE theirs LIKE t",
            "INSERT INTO theirs SELECT * FROM t", "DROP USER IF EXISTS half@localhost",
            f"CREATE USER half@localhost IDENTIFIED {identified(DEFAULT_WAY, PASSWORD)}",
            "GRANT SELECT ON units.* TO half@localhost",
            "GRANT UPDATE ON units.t TO half@localhost")  # fmt: skip
    try:
        with connect(server) as own:
            assert own.ask("AUTH", "half", PASSWORD) == OK
            done = own.unit([
                ("HSET", "t:1", "v", "mine"), ("HGET", "theirs:1", "v"), ("EXISTS", "theirs:2"),
                ("HGET", "old:1", "n"), ("EXISTS", "old:1"), ("HGETALL", "theirs:9"),
                ("HGET", "t:1", "v"),
            ])  # fmt: skip
            assert done == [0, b"one", 1, b"7", 1, [], b"mine"]
    finally:
        sql.run("DROP USER half@localhost")


def test_a_read_that_locks_meets_another_definition(
    server: ServerInstance, sql: Sql, wire: Resp
) -> None:
    """It reads the table as it is now, although the connection had opened another one."""
    sql.run("CREATE TABLE later LIKE t", "INSERT INTO later SELECT * FROM t")
    assert wire.ask("HGET", "later:1", "v") == b"one"
    with Sql(server.socket, "units") as holder:
        holder.run("BEGIN", "UPDATE t SET n = n + 1 WHERE id = 1")
        unit = [("MULTI",), ("HSET", "t:1", "v", "mine"), ("HGET", "later:1", "v"),
                ("HGETALL", "later:2"), ("EXEC",)]  # fmt: skip
        wire.send(b"".join(packed(*words) for words in unit))
        wait_until(lambda: is_waiting(sql), "the unit waits for the row")
        sql.run("ALTER TABLE later DROP COLUMN n, RENAME COLUMN v TO w,"
                " ADD COLUMN v VARCHAR(9) NOT NULL DEFAULT 'new'")  # fmt: skip
        holder.run("COMMIT")
        replies = wire.replies(5)
    assert replies[-1] == [0, b"new", [b"id", b"2", b"w", b"two", b"v", b"new"]]


def test_a_row_is_locked_whatever_its_triggers_do(
    server: ServerInstance, sql: Sql, wire: Resp
) -> None:
    """A trigger that writes a table without transactions is no reason to read without a lock."""
    sql.run("CREATE TABLE noted LIKE t", "INSERT INTO noted SELECT * FROM t",
            "CREATE TRIGGER notes BEFORE UPDATE ON noted FOR EACH ROW"
            " INSERT INTO old (n) VALUES (NEW.n)")  # fmt: skip
    with Sql(server.socket, "units") as holder:
        holder.run("BEGIN", "DELETE FROM noted WHERE id = 2")
        answers: list[Any] = []
        unit = threading.Thread(
            target=lambda: answers.append(
                wire.unit([("HGET", "noted:2", "v"), ("HSET", "t:1", "v", "mine")])
            )
        )
        unit.start()
        wait_until(lambda: is_waiting(sql), "the unit waits for the row")
        holder.run("COMMIT")
        unit.join()
    assert answers == [[None, 0]]


def test_a_read_of_a_table_without_transactions_waits_for_nobody(
    server: ServerInstance, sql: Sql, wire: Resp
) -> None:
    sql.run("INSERT INTO old VALUES (1, 7)")
    with Sql(server.socket, "units") as holder:
        holder.run("LOCK TABLES old READ")
        done = wire.unit([("HGET", "old:1", "n"), ("EXISTS", "old:1"), ("HSET", "t:1", "v", "x")])
    assert done == [b"7", 1, 0]
