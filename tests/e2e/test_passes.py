"""A pass is one transaction, a request one statement in it; replies leave after the commit."""

from __future__ import annotations

import re
import select
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import BINLOG_CACHE_FULL, GTID_POSITION
from support_binlog import begin_log, row_events
from support_servers import LOGGING, running_server, wait_until

LOCK_WAIT_SECONDS = 3
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, big LONGTEXT, KEY by_v (v))",
    "CREATE TABLE other (id INT PRIMARY KEY, v INT UNIQUE)",
    "CREATE TABLE ballast (id INT PRIMARY KEY, v INT)",
    "INSERT INTO ballast SELECT seq, 0 FROM seq_1_to_200",
    "INSERT INTO t SELECT seq, seq * 10, NULL FROM seq_1_to_20",
    "INSERT INTO other SELECT seq, seq FROM seq_1_to_20",
)
# InnoDB ends a deadlock by giving up the transaction that has changed less.
OUTWEIGH = "UPDATE ballast SET v = v + 1"


@pytest.fixture(scope="module")
def passes_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """One writer thread, so that what it does follows from what it is sent."""
    settings = {**LOGGING, "handlersocket_lock_wait_timeout": LOCK_WAIT_SECONDS}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(passes_server: ServerInstance) -> Iterator[Sql]:
    with Sql(passes_server.socket) as session:
        session.run(
            "DROP DATABASE IF EXISTS passes", "CREATE DATABASE passes", "USE passes", *TABLES
        )
        yield session


@pytest.fixture
def blocker(passes_server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    """A SQL session that holds locks while the plugin works."""
    with Sql(passes_server.socket, "passes") as session:
        session.run("SET SESSION innodb_lock_wait_timeout = 20")
        yield session
        if passes_server.alive:
            session.run("ROLLBACK", "UNLOCK TABLES")


@pytest.fixture
def client(passes_server: ServerInstance, sql: Sql) -> Iterator[Client]:
    """With t open as 0, other as 1, t's long column as 2."""
    with Client(("127.0.0.1", passes_server.hs_port_wr)) as opened:
        opened.request(OpenIndex(0, "passes", "t", "PRIMARY", ["id", "v"]))
        opened.request(OpenIndex(1, "passes", "other", "PRIMARY", ["id", "v"]))
        opened.request(OpenIndex(2, "passes", "t", "PRIMARY", ["id", "big"]))
        opened.request(OpenIndex(3, "passes", "t", "PRIMARY", ["v"]))
        opened.request(OpenIndex(4, "passes", "other", "PRIMARY", ["v"]))
        yield opened


def add(index_id: int, key: int, amount: int = 1) -> FindModify:
    """Index 3 or 4: adds to a row's v."""
    return FindModify(Find(index_id, [key]), ModifyOp.INCREMENT, [amount])


def results(client: Client, requests: Sequence[Any]) -> list[Any]:
    """Sends all in one piece; errors come as their text."""
    with client.pipeline() as pipeline:
        pending = [pipeline.send(request) for request in requests]
    return [str(reply.error()) if reply.error() else reply.result() for reply in pending]


def values(sql: Sql, table: str = "t") -> dict[int, int]:
    return {int(i or 0): int(v or 0) for i, v in sql.rows(f"SELECT id, v FROM passes.{table}")}


def gtid_number(sql: Sql) -> int:
    (position,) = sql.row(f"SELECT {GTID_POSITION}")
    return int(re.split(rb"[-:]", position or b"0")[-1] or 0)


def counters(sql: Sql, *names: str) -> list[int]:
    return [sql.status(f"handlersocket_{name}") for name in names]


def waits_for_a_row(sql: Sql) -> bool:
    return sql.status("Innodb_row_lock_current_waits") > 0


def waits_to_commit(sql: Sql) -> bool:
    states = sql.rows(
        "SELECT state FROM information_schema.processlist WHERE user = 'handlersocket'"
    )
    return any(b"Waiting for backup lock" in (state or b"") for (state,) in states)


def in_background(client: Client, requests: Sequence[Any]) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.extend(results(client, requests)), daemon=True)
    thread.start()
    return thread, answers


def test_pipelined_writes_are_one_commit(client: Client, sql: Sql) -> None:
    commits, gtid = counters(sql, "commits")[0], gtid_number(sql)
    requests = [add(3, 1), Insert(1, [50, 50]), add(4, 2, 100), Insert(0, [50, 7])]
    assert results(client, requests) == [1, None, 1, None]
    assert gtid_number(sql) == gtid + 1
    assert counters(sql, "commits") == [commits + 1]
    assert values(sql)[1] == 11 and values(sql, "other")[2] == 102


def test_a_failing_request_is_undone_alone(client: Client, sql: Sql) -> None:
    gtid = gtid_number(sql)
    answers = results(
        client, [add(3, 1), Insert(0, [2, 0]), add(3, 3), Insert(1, [60, "x"]), Insert(1, [61, 61])]
    )
    assert answers == [1, "1 121", 1, "1 1366", None]
    assert gtid_number(sql) == gtid + 1
    after = values(sql)
    assert (after[1], after[2], after[3]) == (11, 20, 31)
    assert 60 not in values(sql, "other") and 61 in values(sql, "other")


def test_a_modification_that_fails_half_way_is_undone_wholly(
    client: Client, sql: Sql, passes_server: ServerInstance
) -> None:
    begin_log(sql)
    # Rows 1 to 4 of `other` would go to 18, 19, 20 and 21: where 18 is taken, the first fails;
    # descending, 4 goes to 21 and only then 3 meets 20.
    move = FindModify(Find(4, [4], "<=", limit=4), ModifyOp.INCREMENT, [17])
    assert results(client, [add(3, 1), move, add(3, 2)]) == [1, "1 121", 1]
    assert values(sql, "other") == {number: number for number in range(1, 21)}
    events = [(event.table, event.after[2]) for event in row_events(passes_server, sql)]
    assert events == [("t", "11"), ("t", "21")], "nothing of what was undone is in the binary log"


def test_a_find_on_the_write_port_sees_the_writes_before_it(client: Client) -> None:
    assert results(client, [Find(0, [1]), add(3, 1), Find(0, [1]), add(3, 1, 5), Find(0, [1])]) == [
        [(b"1", b"10")],
        1,
        [(b"1", b"11")],
        1,
        [(b"1", b"16")],
    ]


def test_no_other_session_sees_a_part_of_a_pass(
    client: Client, sql: Sql, passes_server: ServerInstance
) -> None:
    """Each pass moves an amount between two rows; readers, by SQL and by the read port, always
    find the same sum, the latter in two finds of one pass."""
    stop = threading.Event()
    failures: list[str] = []

    def move() -> None:
        while not stop.is_set():
            if results(client, [add(3, 1, 1), add(3, 2, -1)]) != [1, 1]:
                failures.append("a write failed")

    writer = threading.Thread(target=move, daemon=True)
    writer.start()
    sums = set()
    with Client(("127.0.0.1", passes_server.hs_port)) as reader:
        reader.request(OpenIndex(0, "passes", "t", "PRIMARY", ["v"]))
        seen = set()
        for _ in range(1500):
            ((first,),), ((second,),) = results(reader, [Find(0, [1]), Find(0, [2])])
            sums.add(int(first) + int(second))
            seen.add(first)
    for _ in range(200):
        sums.add(sql.number("SELECT SUM(v) FROM passes.t WHERE id IN (1, 2)"))
    stop.set()
    writer.join(20)
    assert not failures
    assert sums == {30}
    assert len(seen) > 10, "the writer was not at work"


def test_replies_leave_after_the_commit(
    sql: Sql, blocker: Sql, passes_server: ServerInstance
) -> None:
    """The pass's second write waits for a row: the first one's reply waits with it."""
    blocker.run("BEGIN", "UPDATE t SET v = 0 WHERE id = 2")
    with socket.create_connection(("127.0.0.1", passes_server.hs_port_wr), 10) as wire:
        wire.sendall(b"P\t0\tpasses\tt\tPRIMARY\tv\n")
        assert wire.recv(100) == b"0\t1\n"
        wire.sendall(b"0\t=\t1\t1\t1\t0\t+\t1\n0\t=\t1\t2\t1\t0\t+\t1\n")
        wait_until(lambda: waits_for_a_row(sql), "the pass waits for the second row")
        readable, _, _ = select.select([wire], [], [], 0.2)
        assert not readable, "the first write is done, but not committed"
        assert values(sql)[1] == 10
        blocker.run("ROLLBACK")
        received = b""
        while received.count(b"\n") < 2:
            received += wire.recv(100)
        assert received == b"0\t1\t1\n0\t1\t1\n"
        assert values(sql)[1] == 11


def test_what_arrives_meanwhile_shares_the_commit(
    sql: Sql, blocker: Sql, passes_server: ServerInstance
) -> None:
    """While a pass waits for a row, two other connections write: they join it."""
    with ExitStack() as stack:
        address = ("127.0.0.1", passes_server.hs_port_wr)
        wires = [stack.enter_context(socket.create_connection(address, 10)) for _ in range(3)]
        for wire in wires:
            wire.sendall(b"P\t0\tpasses\tt\tPRIMARY\tv\n")
            assert wire.recv(100) == b"0\t1\n"
        blocker.run("BEGIN", "UPDATE t SET v = 0 WHERE id = 1")
        before, gtid = counters(sql, "commits", "passes"), gtid_number(sql)
        wires[0].sendall(b"0\t=\t1\t1\t1\t0\t+\t1\n")
        wait_until(lambda: waits_for_a_row(sql), "the pass waits for the row")
        for key, wire in enumerate(wires[1:], 2):
            wire.sendall(b"0\t=\t1\t%d\t1\t0\t+\t1\n" % key)
        readable, _, _ = select.select(wires, [], [], 0.2)
        assert not readable
        blocker.run("ROLLBACK")
        assert [wire.recv(100) for wire in wires] == 3 * [b"0\t1\t1\n"]
    assert counters(sql, "commits", "passes") == [count + 1 for count in before]
    assert gtid_number(sql) == gtid + 1
    assert [values(sql)[key] for key in (1, 2, 3)] == [11, 21, 31]


def test_lock_wait_timeout_in_the_middle(client: Client, sql: Sql, blocker: Sql) -> None:
    blocker.run("BEGIN", "UPDATE t SET v = 0 WHERE id = 2")
    gtid = gtid_number(sql)
    assert results(client, [add(3, 1), add(3, 2), add(4, 3, 100), Find(0, [2])]) == [
        1,
        "1 146",
        1,
        [(b"2", b"20")],
    ]
    assert gtid_number(sql) == gtid + 1
    assert values(sql)[1] == 11 and values(sql, "other")[3] == 103
    blocker.run("ROLLBACK")
    assert results(client, [add(3, 2)]) == [1], "the row is free again"


@pytest.mark.parametrize("victim", ["plugin", "sql"])
def test_deadlock_in_the_middle(client: Client, sql: Sql, blocker: Sql, victim: str) -> None:
    """The session holds row 2 and wants row 1, which the pass holds while it wants row 2."""
    blocker.run("BEGIN")
    if victim == "plugin":
        blocker.run(OUTWEIGH)
    blocker.run("UPDATE t SET v = v + 500 WHERE id = 2")
    replayed, rollbacks = counters(sql, "passes_replayed", "rollbacks")
    many = [add(4, number, 100) for number in range(9, 21)] if victim == "sql" else []
    requests = [*many, add(3, 1), Find(0, [1]), add(3, 2), Insert(1, [70, 70]), Insert(1, [70, 71])]
    thread, answers = in_background(client, requests)
    wait_until(lambda: waits_for_a_row(sql), "the pass waits for row 2")
    error = blocker.error("UPDATE t SET v = v + 500 WHERE id = 1")
    if error is None:
        blocker.run("COMMIT")
    thread.join(20)
    after = values(sql)
    moved = len(many) * [1]
    if victim == "plugin":
        assert error is None
        assert answers[-5:] == [1, [(b"1", b"511")], 1, None, "1 121"]
        assert (after[1], after[2]) == (511, 521)
        assert counters(sql, "passes_replayed", "rollbacks") == [replayed + 1, rollbacks + 1]
    else:
        assert error == 1213
        assert answers == [*moved, 1, [(b"1", b"11")], 1, None, "1 121"]
        assert (after[1], after[2]) == (11, 21)
        assert counters(sql, "passes_replayed") == [replayed]
    assert values(sql, "other")[70] == 70


def test_a_replayed_pass_meets_the_lock_again(client: Client, sql: Sql, blocker: Sql) -> None:
    """After the deadlock the session keeps its locks: the two rows' writes fail alone."""
    blocker.run("BEGIN", OUTWEIGH, "UPDATE t SET v = 0 WHERE id = 2")
    thread, answers = in_background(client, [add(3, 1), add(3, 2), add(3, 3)])
    wait_until(lambda: waits_for_a_row(sql), "the pass waits for row 2")
    blocker.run("UPDATE t SET v = 0 WHERE id = 1")
    thread.join(20)
    assert answers == ["1 146", "1 146", 1]
    blocker.run("ROLLBACK")
    assert values(sql)[1] == 10 and values(sql)[3] == 31


BLOCK_COMMITS = [
    f"BACKUP STAGE {stage}" for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT")
]


def test_a_commit_that_fails(client: Client, sql: Sql, blocker: Sql) -> None:
    """A backup blocks commits for longer than the lock wait time-out."""
    before, other_before, gtid = values(sql), values(sql, "other"), gtid_number(sql)
    commits, rollbacks = counters(sql, "commits", "rollbacks")
    blocker.run(*BLOCK_COMMITS)
    answers = results(
        client, [add(3, 1), Find(0, [1]), Insert(1, [1, 1]), add(4, 2, 50), Insert(0, [99, 9])]
    )
    blocker.run("BACKUP STAGE END")
    assert answers == ["1 1205", [(b"1", b"11")], "1 121", "1 1205", "1 1205"]
    assert (values(sql), values(sql, "other"), gtid_number(sql)) == (before, other_before, gtid)
    assert counters(sql, "commits", "rollbacks") == [commits, rollbacks + 1]
    assert results(client, [add(3, 1)]) == [1], "the connection lives on"


def test_a_commit_that_waits(client: Client, sql: Sql, blocker: Sql) -> None:
    blocker.run(*BLOCK_COMMITS)
    thread, answers = in_background(client, [add(3, 1), add(4, 2, 50)])
    wait_until(lambda: waits_to_commit(sql), "the pass is about to commit")
    assert values(sql)[1] == 10 and not answers
    blocker.run("BACKUP STAGE END")
    thread.join(20)
    assert answers == [1, 1]
    assert values(sql)[1] == 11


def test_a_transaction_too_big_for_the_binary_log(data_root: Path, watch: Any) -> None:
    """A pass with no room in max_binlog_cache_size is executed again, each write alone: only what
    does not fit by itself is refused, and the connection goes on."""
    settings = {**LOGGING, "max_binlog_cache_size": 4096, "binlog_cache_size": 4096}
    with running_server(data_root, watch, **settings) as instance, Sql(instance.socket) as sql:
        sql.run("CREATE DATABASE passes", "USE passes", *TABLES)
        with Client(("127.0.0.1", instance.hs_port_wr)) as client:
            client.request(OpenIndex(2, "passes", "t", "PRIMARY", ["id", "big"]))
            client.request(OpenIndex(3, "passes", "t", "PRIMARY", ["v"]))
            for sizes in [[9000], [1500] * 8, [10, 9000, 10], [200] * 60]:
                assert _insert_sizes(client, sql, sizes) == sizes.count(9000)
            for size in range(7900, 8100, 7):  # around the most that there is room for
                _insert_sizes(client, sql, [10, size])
            assert client.request(add(3, 1)) == 1, "later writes work"
        assert values(sql)[1] == 11


def _insert_sizes(client: Client, sql: Sql, sizes: Sequence[int]) -> int:
    """One pass of inserts; returns how many were refused."""
    answers = results(client, [Insert(2, [100 + n, "x" * size]) for n, size in enumerate(sizes)])
    acknowledged = {100 + n for n, answer in enumerate(answers) if answer is None}
    assert {key for key in values(sql) if key >= 100} == acknowledged, (sizes, answers)
    assert all(answer in (None, *BINLOG_CACHE_FULL) for answer in answers), (sizes, answers)
    # Their one statement would have no room in the log either.
    sql.run("SET sql_log_bin = 0", "DELETE FROM passes.t WHERE id >= 100", "SET sql_log_bin = 1")
    return len(sizes) - len(acknowledged)


def test_several_writer_threads_add_exactly(data_root: Path, watch: Any) -> None:
    settings = {**LOGGING, "handlersocket_threads_wr": 4, "handlersocket_lock_wait_timeout": 20}
    with running_server(data_root, watch, **settings) as instance, Sql(instance.socket) as sql:
        sql.run("CREATE DATABASE passes", "USE passes", *TABLES)
        before = sum(values(sql).values())
        assert _hammer(instance) == []
        assert sum(values(sql).values()) - before == CONNECTIONS * ROUNDS * (1 + 2 + 3)


CONNECTIONS, ROUNDS = 16, 60


def _hammer(instance: ServerInstance) -> list[Any]:
    """Adds from many connections to few rows, in ever different order; returns what failed."""
    failures: list[Any] = []

    def work(number: int) -> None:
        with Client(("127.0.0.1", instance.hs_port_wr), timeout=60) as client:
            client.request(OpenIndex(3, "passes", "t", "PRIMARY", ["v"]))
            for turn in range(ROUNDS):
                keys = [1 + (number * 7 + turn * step) % 20 for step in (1, 3, 7)]
                batch = [add(3, key, amount) for amount, key in enumerate(keys, 1)]
                answers = results(client, batch)
                failures.extend((number, turn, answer) for answer in answers if answer != 1)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
        assert not thread.is_alive(), "a connection hangs"
    return failures
