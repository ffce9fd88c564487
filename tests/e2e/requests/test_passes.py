"""A pass is one transaction, a request one statement in it. Replies leave after the commit."""

from __future__ import annotations

import re
import select
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance, Setting
from support.database import Sql
from support.servers import BINLOG_CACHE_FULL, GTID_POSITION
from support.wire import Wire
from support_binlog import begin_log, row_events
from support_servers import (
    BLOCK_COMMITS,
    HOLDING,
    LOGGING,
    fresh_session,
    results,
    running_server,
    wait_until,
)

LOCK_WAIT_SECONDS = 3
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, big LONGTEXT, KEY by_v (v))",
    "CREATE TABLE other (id INT PRIMARY KEY, v INT UNIQUE)",
    "CREATE TABLE ballast (id INT PRIMARY KEY, v INT)",
    "INSERT INTO ballast SELECT seq, 0 FROM seq_1_to_200",
    "INSERT INTO t SELECT seq, seq * 10, NULL FROM seq_1_to_20",
    "INSERT INTO other SELECT seq, seq FROM seq_1_to_20",
)
# InnoDB ends a deadlock by rolling back the transaction that has changed less.
OUTWEIGH = "UPDATE ballast SET v = v + 1"


@pytest.fixture(scope="module")
def passes_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """One writer thread, so its work depends only on what it is sent."""
    settings = {**LOGGING, **HOLDING, "handlersocket_lock_wait_timeout": LOCK_WAIT_SECONDS}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(passes_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(passes_server, "passes", *TABLES) as session:
        yield session


@pytest.fixture
def blocker(passes_server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    """An SQL session that holds locks while the plugin works."""
    with Sql(passes_server.socket, "passes") as session:
        session.run("SET SESSION innodb_lock_wait_timeout = 20")
        yield session
        if passes_server.alive:
            session.run("ROLLBACK", "UNLOCK TABLES")


@pytest.fixture
def client(passes_server: ServerInstance, sql: Sql) -> Iterator[Client]:
    """A client with t open as 0, other as 1, and t's long column as 2."""
    with Client(("127.0.0.1", passes_server.hs_port_wr)) as opened:
        opened.request(OpenIndex(0, "passes", "t", "PRIMARY", ["id", "v"]))
        opened.request(OpenIndex(1, "passes", "other", "PRIMARY", ["id", "v"]))
        opened.request(OpenIndex(2, "passes", "t", "PRIMARY", ["id", "big"]))
        opened.request(OpenIndex(3, "passes", "t", "PRIMARY", ["v"]))
        opened.request(OpenIndex(4, "passes", "other", "PRIMARY", ["v"]))
        yield opened


@contextmanager
def own_session(
    data_root: Path, watch: Any, **settings: Setting
) -> Iterator[tuple[ServerInstance, Sql]]:
    """A server with these settings for one test, and a session of it."""
    with (
        running_server(data_root, watch, **settings) as instance,
        fresh_session(instance, "passes", *TABLES) as session,
    ):
        yield instance, session


def add(index_id: int, key: int, amount: int = 1) -> FindModify:
    """Adds to a row's v, by index 3 or 4."""
    return FindModify(Find(index_id, [key]), ModifyOp.INCREMENT, [amount])


def values(sql: Sql, table: str = "t") -> dict[int, int]:
    return {int(i or 0): int(v or 0) for i, v in sql.rows(f"SELECT id, v FROM passes.{table}")}


def gtid_number(sql: Sql) -> int:
    (position,) = sql.row(f"SELECT {GTID_POSITION}")
    return int(re.split(rb"[-:]", position or b"0")[-1] or 0)


def counters(sql: Sql, *names: str) -> list[int]:
    return [sql.status(f"handlersocket_{name}") for name in names]


def waits_for_a_row(sql: Sql) -> bool:
    return sql.status("Innodb_row_lock_current_waits") > 0


def thread_states(sql: Sql) -> str:
    states = sql.rows("SELECT state FROM information_schema.processlist")
    return " ".join((state or b"").decode() for (state,) in states)


def waits_to_commit(sql: Sql) -> bool:
    return "Waiting for backup lock" in thread_states(sql)


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
    # Rows 1 to 4 of `other` would go to 18, 19, 20 and 21. If 18 is taken, the first one fails. In
    # descending order, 4 goes to 21 first, and then 3 meets 20.
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


def test_writes_behind_a_find_obey_sql_mode(client: Client, sql: Sql) -> None:
    """In strict mode the server decides by the kind of statement, which must not be the find's."""
    too_much = 1 << 40
    update = [FindModify(Find(0, [30]), ModifyOp.UPDATE, [30, v]) for v in (2, too_much)]
    requests = [Insert(0, [30, 1]), Find(0, [30]), Insert(0, [31, too_much])]
    requests += [update[0], Find(0, [30]), update[1]]
    assert results(client, requests)[2::3] == ["1 1264", "1 1264"]
    assert sql.rows("SELECT v FROM t WHERE id >= 30") == [(b"2",)]


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


def test_an_index_that_ceased_to_be_unique_names_several_rows(
    client: Client, sql: Sql, passes_server: ServerInstance
) -> None:
    """A write that fails half way is undone wholly, though the plan of its index was made when the
    index was unique, and another write of the pass has met the table as it is now."""
    sql.run("CREATE TABLE u (id INT PRIMARY KEY, v INT NOT NULL, UNIQUE KEY v (v))")
    client.request(OpenIndex(5, "passes", "u", "v", ["id"]))
    client.request(OpenIndex(6, "passes", "u", "PRIMARY", ["v"]))
    sql.run(
        "ALTER TABLE u DROP KEY v, ADD KEY v (v)",
        "INSERT INTO u VALUES (1, 10), (2, 20), (7, 70), (8, 70), (108, 0)",
    )
    begin_log(sql)
    # Row 7 goes to 107; row 8 cannot go to 108.
    move = FindModify(Find(5, [70], limit=9), ModifyOp.INCREMENT, [100])
    assert results(client, [add(6, 1), move, add(6, 2)]) == [1, "1 121", 1]
    assert values(sql, "u") == {1: 11, 2: 21, 7: 70, 8: 70, 108: 0}
    events = [(event.table, event.after[2]) for event in row_events(passes_server, sql)]
    assert events == [("u", "11"), ("u", "21")]


# What updates `other` waits here for as long as a session has the lock.
GATE = (
    "CREATE TRIGGER gate BEFORE UPDATE ON other FOR EACH ROW"
    " DO GET_LOCK('gate', 20), RELEASE_LOCK('gate')"
)


def is_at_the_gate(sql: Sql) -> bool:
    return "User lock" in thread_states(sql)


def test_replies_leave_after_the_commit(
    sql: Sql, blocker: Sql, passes_server: ServerInstance
) -> None:
    """The pass's second write is held at a gate, and the first one's reply waits with it."""
    sql.run(GATE)
    blocker.run("DO GET_LOCK('gate', 20)")
    with socket.create_connection(("127.0.0.1", passes_server.hs_port_wr), 10) as wire:
        wire.sendall(b"P\t0\tpasses\tt\tPRIMARY\tv\nP\t1\tpasses\tother\tPRIMARY\tv\n")
        assert wire.recv(8) == b"0\t1\n0\t1\n"
        wire.sendall(b"0\t=\t1\t1\t1\t0\t+\t1\n1\t=\t1\t2\t1\t0\t+\t100\n")
        wait_until(lambda: is_at_the_gate(sql), "the pass is at the gate")
        readable, _, _ = select.select([wire], [], [], 0.2)
        assert not readable, "the first write is done, but not committed"
        assert values(sql)[1] == 10
        blocker.run("DO RELEASE_LOCK('gate')")
        received = b""
        while received.count(b"\n") < 2:
            received += wire.recv(100)
        assert received == b"0\t1\t1\n0\t1\t1\n"
        assert values(sql)[1] == 11 and values(sql, "other")[2] == 102


def test_what_arrives_meanwhile_shares_the_commit(
    sql: Sql, blocker: Sql, passes_server: ServerInstance
) -> None:
    """While a pass is held at a gate, two other connections write. Their writes join it."""
    sql.run(GATE)
    with ExitStack() as stack:
        address = ("127.0.0.1", passes_server.hs_port_wr)
        wires = [stack.enter_context(socket.create_connection(address, 10)) for _ in range(3)]
        for wire, table in zip(wires, (b"other", b"t", b"t"), strict=True):
            wire.sendall(b"P\t0\tpasses\t%s\tPRIMARY\tv\n" % table)
            assert wire.recv(100) == b"0\t1\n"
            # Who has written is served by the worker that writes.
            wire.sendall(b"0\t=\t1\t-1\t1\t0\tD\n")
            assert wire.recv(100) == b"0\t1\t0\n"
        blocker.run("DO GET_LOCK('gate', 20)")
        before, gtid = counters(sql, "commits", "passes"), gtid_number(sql)
        wires[0].sendall(b"0\t=\t1\t1\t1\t0\t+\t100\n")
        wait_until(lambda: is_at_the_gate(sql), "the pass is at the gate")
        for key, wire in enumerate(wires[1:], 2):
            wire.sendall(b"0\t=\t1\t%d\t1\t0\t+\t1\n" % key)
        readable, _, _ = select.select(wires, [], [], 0.2)
        assert not readable
        blocker.run("DO RELEASE_LOCK('gate')")
        assert [wire.recv(100) for wire in wires] == 3 * [b"0\t1\t1\n"]
    assert counters(sql, "commits", "passes") == [count + 1 for count in before]
    assert gtid_number(sql) == gtid + 1
    assert values(sql, "other")[1] == 101
    assert [values(sql)[key] for key in (2, 3)] == [21, 31]


@contextmanager
def three_wires(server: ServerInstance) -> Iterator[list[Wire]]:
    """Each has written, so the worker that writes executes its next finds, too."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server.hs_port_wr)) for _ in range(3)]
        for wire in wires:
            wire.send(b"P\t0\tpasses\tt\tPRIMARY\tv\nP\t1\tpasses\tother\tPRIMARY\tv\n")
            wire.send(b"0\t=\t1\t-1\t1\t0\tD\n")
            assert wire.lines(3) == [b"0\t1", b"0\t1", b"0\t1\t0"]
        yield wires


def test_finds_are_answered_before_the_writes_of_their_pass(
    sql: Sql, blocker: Sql, passes_server: ServerInstance
) -> None:
    """Two connections send what does not join the pass at the gate, so the next pass has both."""
    sql.run(GATE)
    with three_wires(passes_server) as (first, writer, reader):
        blocker.run("DO GET_LOCK('gate', 20)")
        first.send(b"1\t=\t1\t1\t1\t0\t+\t100\n")
        wait_until(lambda: is_at_the_gate(sql), "the pass is at the gate")
        writer.send(b"1\t=\t1\t2\n1\t=\t1\t2\t1\t0\t+\t100\n1\t=\t1\t2\n")
        reader.send(b"1\t=\t1\t1\n1\t=\t1\t2\n")
        time.sleep(0.1)
        blocker.run("DO RELEASE_LOCK('gate'), GET_LOCK('gate', 20)")
        assert first.lines(1) + reader.lines(2) == [b"0\t1\t1", b"0\t1\t101", b"0\t1\t2"]
        blocker.run("DO RELEASE_LOCK('gate')")
        assert writer.lines(3) == [b"0\t1\t2", b"0\t1\t1", b"0\t1\t102"]


def test_a_find_sees_what_was_committed_before_it_was_sent(
    sql: Sql, blocker: Sql, passes_server: ServerInstance
) -> None:
    """The pass at the gate has its snapshot, and then SQL commits."""
    sql.run(GATE)
    with three_wires(passes_server) as (first, writer, reader):
        blocker.run("DO GET_LOCK('gate', 20)")
        replayed = counters(sql, "passes_replayed")
        first.send(b"0\t=\t1\t3\n1\t=\t1\t1\t1\t0\t+\t100\n")
        wait_until(lambda: is_at_the_gate(sql), "the pass is at the gate")
        sql.run("UPDATE t SET v = 77 WHERE id = 3")
        reader.send(b"0\t=\t1\t3\n")
        writer.send(b"0\t=\t1\t3\t1\t0\t+\t1\n0\t=\t1\t3\n")
        time.sleep(0.1)
        blocker.run("DO RELEASE_LOCK('gate')")
        assert first.lines(2) == [b"0\t1\t30", b"0\t1\t1"]
        assert reader.lines(1)[0] in (b"0\t1\t77", b"0\t1\t78")
        assert writer.lines(2) == [b"0\t1\t1", b"0\t1\t78"]
        assert counters(sql, "passes_replayed") == replayed, "the write is not refused"


def test_lock_wait_timeout_in_the_middle(client: Client, sql: Sql, blocker: Sql) -> None:
    """What comes before the locked row is committed. What comes behind it waits with it."""
    blocker.run("BEGIN", "UPDATE t SET v = 0 WHERE id = 2")
    gtid = gtid_number(sql)
    thread, answers = in_background(client, [add(3, 1), add(3, 2), add(4, 3, 100), Find(0, [2])])
    wait_until(lambda: values(sql)[1] == 11, "the first write is committed")
    assert values(sql, "other")[3] == 3
    thread.join(20)
    assert answers == [1, "1 146", 1, [(b"2", b"20")]]
    assert gtid_number(sql) == gtid + 2
    assert values(sql)[1] == 11 and values(sql, "other")[3] == 103
    blocker.run("ROLLBACK")
    assert results(client, [add(3, 2)]) == [1], "the row is free again"


@pytest.mark.parametrize("victim", ["plugin", "sql"])
def test_deadlock(client: Client, sql: Sql, blocker: Sql, victim: str) -> None:
    """A modification of many rows waits for row 2, which the session holds; the session wants row
    20, which the modification has changed. If it is the plugin that gives way, the modification is
    executed again when the session has committed."""
    blocker.run("BEGIN")
    if victim == "plugin":
        blocker.run(OUTWEIGH)
    blocker.run("UPDATE t SET v = v + 500 WHERE id = 2")
    down = FindModify(Find(3, [20], "<=", limit=19), ModifyOp.INCREMENT, [1])
    thread, answers = in_background(client, [add(4, 1, 100), down, Find(0, [2])])
    wait_until(lambda: waits_for_a_row(sql), "the modification waits for row 2")
    error = blocker.error("UPDATE t SET v = v + 500 WHERE id = 20")
    if error is None:
        blocker.run("COMMIT")
    thread.join(20)
    # The engine chooses who gives way. If the session has changed much, it is the plugin.
    assert error is None or (victim == "sql" and error == 1213)
    by_sql = 500 if error is None else 0
    assert answers == [1, 19, [(b"2", b"%d" % (21 + by_sql))]]
    after = values(sql)
    assert (after[2], after[3], after[20]) == (21 + by_sql, 31, 201 + by_sql)


def test_a_pass_that_the_engine_rolls_back(data_root: Path, watch: Any) -> None:
    """By a setting, at a locked row. The pass is executed again, each write alone."""
    settings = {**LOGGING, **HOLDING, "innodb_rollback_on_timeout": "ON"}
    with own_session(data_root, watch, **settings) as (instance, sql):
        replayed, rollbacks = counters(sql, "passes_replayed", "rollbacks")
        with (
            Sql(instance.socket, "passes") as blocker,
            Client(("127.0.0.1", instance.hs_port_wr), timeout=60) as client,
        ):
            client.request(OpenIndex(0, "passes", "t", "PRIMARY", ["id", "v"]))
            client.request(OpenIndex(1, "passes", "other", "PRIMARY", ["id", "v"]))
            client.request(OpenIndex(3, "passes", "t", "PRIMARY", ["v"]))
            blocker.run("BEGIN", "INSERT INTO t VALUES (50, 0, NULL)")
            requests = [
                *[add(3, 1), Find(0, [1]), Insert(0, [50, 7])],
                *[Insert(1, [70, 70]), Insert(1, [70, 71])],
            ]
            thread, answers = in_background(client, requests)
            wait_until(
                lambda: counters(sql, "passes_replayed") == [replayed + 1],
                "the pass is rolled back",
            )
            wait_until(lambda: values(sql)[1] == 11, "the first write stands alone")
            blocker.run("ROLLBACK")
            thread.join(60)
        assert answers == [1, [(b"1", b"11")], None, None, "1 121"]
        assert counters(sql, "rollbacks")[0] > rollbacks
        assert values(sql)[50] == 7 and values(sql, "other")[70] == 70


def test_a_commit_that_fails(client: Client, sql: Sql, blocker: Sql) -> None:
    """A backup blocks commits for longer than the lock wait time-out. The find has seen what was
    not to be."""
    before, other_before, gtid = values(sql), values(sql, "other"), gtid_number(sql)
    commits, rollbacks = counters(sql, "commits", "rollbacks")
    blocker.run(*BLOCK_COMMITS)
    answers = results(
        client, [add(3, 1), Find(0, [1]), Insert(1, [1, 1]), add(4, 2, 50), Insert(0, [99, 9])]
    )
    blocker.run("BACKUP STAGE END")
    assert answers == ["1 1205"] * 5
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
    with own_session(data_root, watch, **settings) as (instance, sql):
        with Client(("127.0.0.1", instance.hs_port_wr)) as client:
            client.request(OpenIndex(2, "passes", "t", "PRIMARY", ["id", "big"]))
            client.request(OpenIndex(3, "passes", "t", "PRIMARY", ["v"]))
            for sizes in [[9000], [1500] * 8, [10, 9000, 10], [200] * 60]:
                assert _insert_sizes(client, sql, sizes) == sizes.count(9000)
            for size in range(7900, 8100, 7):  # around the greatest size for which there is room
                _insert_sizes(client, sql, [10, size])
            assert client.request(add(3, 1)) == 1, "later writes work"
        assert values(sql)[1] == 11


def _insert_sizes(client: Client, sql: Sql, sizes: Sequence[int]) -> int:
    """One pass of inserts; returns how many were refused."""
    answers = results(client, [Insert(2, [100 + n, "x" * size]) for n, size in enumerate(sizes)])
    acknowledged = {100 + n for n, answer in enumerate(answers) if answer is None}
    assert {key for key in values(sql) if key >= 100} == acknowledged, (sizes, answers)
    assert all(answer in (None, *BINLOG_CACHE_FULL) for answer in answers), (sizes, answers)
    # In one statement, they would have no room in the log either.
    sql.run("SET sql_log_bin = 0", "DELETE FROM passes.t WHERE id >= 100", "SET sql_log_bin = 1")
    return len(sizes) - len(acknowledged)


def test_several_writer_threads_add_exactly(data_root: Path, watch: Any) -> None:
    settings = {**LOGGING, "handlersocket_threads_wr": 4, "handlersocket_lock_wait_timeout": 20}
    with own_session(data_root, watch, **settings) as (instance, sql):
        before = sum(values(sql).values())
        assert _hammer(instance) == []
        assert sum(values(sql).values()) - before == CONNECTIONS * ROUNDS * (1 + 2 + 3)


CONNECTIONS, ROUNDS = 16, 60


def _hammer(instance: ServerInstance) -> list[Any]:
    """Adds from many connections to few rows, in changing order. Returns what failed."""
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
