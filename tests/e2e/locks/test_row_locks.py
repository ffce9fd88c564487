"""A write that meets a locked row, or takes long, goes to a streamer. Nobody else waits for it."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, FetchModify, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support_servers import (
    LOGGING,
    WRITING_ASIDE,
    fresh_session,
    results,
    running_server,
    wait_until,
    wait_until_nobody_writes_aside,
)

LOCK_WAIT_SECONDS = 6
SETTINGS = {
    **LOGGING,
    "handlersocket_lock_wait_timeout": LOCK_WAIT_SECONDS,
    "innodb_autoinc_lock_mode": 1,  # an INSERT ... SELECT keeps the counter locked
}
ROWS = 30_000  # rows of `many`
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY by_v (v))",
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id))",
    "CREATE TABLE logged (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE log (id INT PRIMARY KEY, n INT)",
    "CREATE TRIGGER g AFTER UPDATE ON logged FOR EACH ROW UPDATE log SET n = n + 1 WHERE id = 1",
    "CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "CREATE TABLE named (id INT AUTO_INCREMENT PRIMARY KEY, name INT UNIQUE)",
    "INSERT INTO t SELECT seq, seq * 10 FROM seq_1_to_40",
    "INSERT INTO parent VALUES (1), (2)",
    "INSERT INTO logged VALUES (1, 0), (2, 0)",
    "INSERT INTO log VALUES (1, 0)",
)
OPENED = (
    OpenIndex(0, "locks", "t", "", ["v"]),
    OpenIndex(1, "locks", "t", "", ["id", "v"]),
    OpenIndex(2, "locks", "t", "by_v", ["v"]),
    OpenIndex(3, "locks", "child", "", ["id", "p"]),
    OpenIndex(4, "locks", "logged", "", ["v"]),
    OpenIndex(5, "locks", "counted", "", ["v"]),
    OpenIndex(6, "locks", "named", "", ["name"]),
)


@dataclass(frozen=True)
class Case:
    """A request, and a statement that locks one of its rows."""

    lock: str
    request: Any
    answer: Any


def add(index_id: int, key: int, operator: str = "=", limit: int = 1, amount: int = 1) -> Any:
    return FindModify(Find(index_id, [key], operator, limit=limit), ModifyOp.INCREMENT, [amount])


CASES = {
    "update": Case("SELECT * FROM t WHERE id = 2 FOR UPDATE", add(0, 2), 1),
    "delete": Case(
        "UPDATE t SET v = v + 1 WHERE id = 2", FindModify(Find(0, [2]), ModifyOp.DELETE), 1
    ),
    "range": Case("SELECT * FROM t WHERE id = 4 FOR UPDATE", add(0, 2, ">=", 5), 5),
    "by another index": Case("SELECT * FROM t WHERE id = 2 FOR UPDATE", add(2, 20), 1),
    "insert": Case("INSERT INTO t VALUES (90, 1)", Insert(1, [90, 5]), None),
    "parent": Case("SELECT * FROM parent WHERE id = 2 FOR UPDATE", Insert(3, [1, 2]), None),
    "trigger": Case("SELECT * FROM log FOR UPDATE", add(4, 2), 1),
    "number": Case("INSERT INTO named VALUES (50, 7)", Insert(6, [7]), 1),
}


@pytest.fixture(scope="module")
def locks_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **SETTINGS) as instance:
        yield instance


@pytest.fixture
def sql(locks_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(locks_server, "locks", *TABLES) as session:
        yield session


@pytest.fixture
def blocker(locks_server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    with Sql(locks_server.socket, "locks") as session:
        session.run("BEGIN")
        yield session
        if locks_server.alive:
            session.run("ROLLBACK")


def connect(server: ServerInstance) -> Client:
    client = Client(("127.0.0.1", server.hs_port_wr), timeout=60)
    for request in OPENED:
        client.request(request)
    return client


def told(client: Client, request: Any) -> Any:
    """The answer, or an error's text."""
    (answer,) = results(client, [request])
    return answer


class Asking:
    """A client in its own thread, which sends one request."""

    def __init__(self, client: Client, request: Any) -> None:
        self.answers: list[Any] = []
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._ask, args=(client, request), daemon=True)
        self._thread.start()

    def _ask(self, client: Client, request: Any) -> None:
        began = time.monotonic()
        self.answers.append(told(client, request))
        self.seconds = time.monotonic() - began

    def join(self) -> Any:
        self._thread.join(60)
        assert self.answers, "no answer"
        return self.answers[0]


def seconds_of(client: Client, requests: Sequence[Any]) -> list[float]:
    """How long each request takes that has to wait for nobody."""
    taken = []
    for request in requests:
        began = time.monotonic()
        answer = told(client, request)
        taken.append(time.monotonic() - began)
        assert not isinstance(answer, str), answer
    return taken


@pytest.mark.parametrize("name", CASES)
def test_nobody_else_waits(locks_server: ServerInstance, sql: Sql, blocker: Sql, name: str) -> None:
    """Several clients want a locked row. Meanwhile others write and find. Then they get it."""
    case = CASES[name]
    count = 6
    blocker.run(case.lock)
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(locks_server)) for _ in range(count + 1)]
        light = clients.pop()
        blocked = sql.status("handlersocket_requests_blocked")
        asking = [Asking(client, case.request) for client in clients]
        wait_until(
            lambda: sql.status("handlersocket_requests_blocked") == blocked + count,
            "all are set aside",
        )
        taken = seconds_of(light, 10 * [add(0, 30), Find(0, [30]), Insert(5, [1])])
        assert not any(one.answers for one in asking)
        assert sum(taken) < 2.5, taken
        assert statistics.median(taken) < 0.1, taken
        blocker.run("ROLLBACK")
        answers = [one.join() for one in asking]
    right = case.answer
    # What one of them has done, some of the others cannot do again.
    again = {"delete": 0, "by another index": 0}
    again |= dict.fromkeys(["insert", "parent", "number"], "1 121")
    expected = [right] + (count - 1) * [again.get(name, right)]
    if name == "number":  # the engine chooses which one
        answers = [right if isinstance(answer, int) else answer for answer in answers]
    assert sorted(map(str, answers)) == sorted(map(str, expected))


@pytest.mark.parametrize("name", CASES)
def test_the_time_out_holds_for_each(
    locks_server: ServerInstance, sql: Sql, blocker: Sql, name: str
) -> None:
    """Six clients are told after the time that one waits, not one after the other. The streamers
    are there for long finds meanwhile."""
    blocker.run(CASES[name].lock)
    requests = [CASES[name].request] * 6
    if name == "parent":  # equal rows would wait for each other, too, and end in deadlocks
        requests = [Insert(3, [number, 2]) for number in range(1, 7)]
    sql.run(
        "CREATE TABLE much (id INT PRIMARY KEY)", "INSERT INTO much SELECT seq FROM seq_1_to_9000"
    )
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(locks_server)) for _ in range(7)]
        reader = clients.pop()
        reader.request(OpenIndex(9, "locks", "much", "", ["id"]))
        blocked = sql.status("handlersocket_requests_blocked")
        asking = [
            Asking(client, request) for client, request in zip(clients, requests, strict=True)
        ]
        wait_until(
            lambda: sql.status("handlersocket_requests_blocked") >= blocked + 6, "all are set aside"
        )
        long_find = Find(9, [0], ">", limit=10_000)
        assert max(seconds_of(reader, 5 * [long_find])) < 2.5
        answers = {one.join() for one in asking}
        assert answers == {"1 146"}
        waited = [one.seconds for one in asking]
    assert min(waited) > LOCK_WAIT_SECONDS - 0.5
    assert max(waited) < LOCK_WAIT_SECONDS + 4, waited
    assert sql.number("SELECT SUM(v) FROM t") == 8200


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has MyRocks")
def test_an_engine_that_cannot_refuse_a_row(locks_server: ServerInstance, sql: Sql) -> None:
    """A worker's wait in MyRocks is ended after milliseconds; the engine's own limit is 30 s."""
    sql.error("INSTALL SONAME 'ha_rocksdb'")
    sql.run(
        "SET GLOBAL rocksdb_lock_wait_timeout = 30",
        "CREATE TABLE slow (id INT PRIMARY KEY, v INT) ENGINE=ROCKSDB COLLATE utf8mb4_bin",
        "INSERT INTO slow VALUES (1, 0), (2, 0)",
    )
    with ExitStack() as stack:
        session = stack.enter_context(Sql(locks_server.socket, "locks"))
        waiting, light = (stack.enter_context(connect(locks_server)) for _ in range(2))
        for client in (waiting, light):
            client.request(OpenIndex(8, "locks", "slow", "", ["v"]))
        session.run("BEGIN", "UPDATE slow SET v = 5 WHERE id = 1")
        asking = Asking(waiting, add(8, 1))
        taken = seconds_of(light, 20 * [add(8, 2), add(0, 30)])
        assert not asking.answers
        session.run("COMMIT")
        assert asking.join() == 1
    assert sum(taken) < 2.5, taken
    assert statistics.median(taken) < 0.1, taken
    assert sql.rows("SELECT v FROM slow ORDER BY id") == [(b"6",), (b"20",)]


def test_what_comes_before_is_answered(
    locks_server: ServerInstance, sql: Sql, blocker: Sql
) -> None:
    blocker.run(CASES["update"].lock)
    blocked = sql.status("handlersocket_requests_blocked")
    with connect(locks_server) as client, connect(locks_server) as other:
        asking = Asking(client, add(0, 2))
        wait_until(
            lambda: sql.status("handlersocket_requests_blocked") > blocked, "it is set aside"
        )
        assert told(other, add(0, 1)) == 1
        with client.pipeline() as pipeline:
            blocker.run("ROLLBACK")
            replies = [pipeline.send(request) for request in (Find(0, [1]), Find(0, [2]))]
        assert asking.join() == 1
        assert [reply.result() for reply in replies] == [[(b"11",)], [(b"21",)]]


def test_a_row_for_which_others_queue(locks_server: ServerInstance, sql: Sql) -> None:
    """SQL sessions pass a row from one to the next. Only a client that queues with them gets it."""
    stop = threading.Event()

    def hold() -> None:
        with Sql(locks_server.socket, "locks") as session:
            while not stop.is_set():
                session.run("BEGIN", "UPDATE t SET v = v + 1 WHERE id = 3")
                time.sleep(0.02)
                session.run("COMMIT")

    holders = [threading.Thread(target=hold, daemon=True) for _ in range(4)]
    for holder in holders:
        holder.start()
    try:
        wait_until(lambda: sql.number("SELECT v FROM t WHERE id = 3") > 35, "the row is hot")
        with connect(locks_server) as client:
            assert [told(client, add(0, 3)) for _ in range(8)] == 8 * [1]
    finally:
        stop.set()
        for holder in holders:
            holder.join(30)


def test_a_counter_that_another_statement_keeps(locks_server: ServerInstance, sql: Sql) -> None:
    def insert() -> None:
        with Sql(locks_server.socket, "locks") as session:
            session.run("INSERT INTO counted (v) SELECT SLEEP(0.5) FROM parent, t WHERE t.id < 3")

    inserting = threading.Thread(target=insert, daemon=True)
    inserting.start()
    wait_until(
        lambda: (
            sql.number(
                "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep'"
            )
            == 1
        ),
        "the statement is at work",
    )
    with connect(locks_server) as client, connect(locks_server) as light:
        asking = Asking(client, Insert(5, [7]))
        assert max(seconds_of(light, 5 * [add(0, 30)])) < 1
        assert isinstance(asking.join(), int | None)
    inserting.join(30)
    assert sql.number("SELECT COUNT(*) FROM counted") == 5


def test_a_blocked_insert_draws_few_numbers(
    locks_server: ServerInstance, sql: Sql, blocker: Sql
) -> None:
    blocker.run("INSERT INTO named VALUES (1, 7)")
    with connect(locks_server) as client:
        asking = Asking(client, Insert(6, [7]))
        wait_until(lambda: sql.status("Innodb_row_lock_current_waits") > 0, "it waits")
        time.sleep(1)  # enough time for a worker that would ask again and again
        blocker.run("ROLLBACK")
        answer = asking.join()
        assert isinstance(answer, int), answer
        assert answer <= 6


def test_what_cannot_be_undone_is_executed_once(data_root: Path, watch: Any) -> None:
    """Its trigger writes a table without transactions, and waits for a row in a deadlock with a
    session. Whoever gives way, the trigger has fired once."""
    gtids = {"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"} if ON_MYSQL else {}
    with (
        running_server(data_root, watch, **SETTINGS, **gtids) as server,
        fresh_session(server, "locks", *TABLES) as sql,
    ):
        sql.run(
            "CREATE TABLE fired (id INT) ENGINE=MyISAM",
            "CREATE TABLE ballast (v INT)",
            "INSERT INTO ballast SELECT seq FROM seq_1_to_200",
            "CREATE TRIGGER f AFTER UPDATE ON t FOR EACH ROW BEGIN"
            " INSERT INTO fired VALUES (NEW.id); UPDATE log SET n = n + 1 WHERE id = 1; END",
        )
        with Sql(server.socket, "locks") as session, connect(server) as client:
            # What a session has changed decides who gives way. Tables without transactions count,
            # too.
            session.run("BEGIN", "INSERT INTO fired VALUES (99)", "UPDATE ballast SET v = v + 1")
            session.run("SELECT * FROM log FOR UPDATE")
            asking = Asking(client, add(0, 1))
            wait_until(lambda: sql.status("Innodb_row_lock_current_waits") > 0, "the trigger waits")
            error = session.error("SELECT * FROM t WHERE id = 1 FOR UPDATE")
            session.run("ROLLBACK")
            answer = asking.join()
        assert answer == ("1 149" if error is None else 1)
        assert sql.number("SELECT COUNT(*) FROM fired WHERE id = 1") == 1


def test_kill_ends_the_wait(locks_server: ServerInstance, sql: Sql, blocker: Sql) -> None:
    wait_until_nobody_writes_aside(sql)
    blocker.run(CASES["update"].lock)
    with connect(locks_server) as client:
        asking = Asking(client, add(0, 2))
        wait_until(lambda: sql.status("Innodb_row_lock_current_waits") > 0, "a streamer waits")
        sql.run(f"KILL QUERY {sql.number(WRITING_ASIDE)}")
        assert asking.join() == "1 1317"
        blocker.run("ROLLBACK")
        assert told(client, add(0, 2)) == 1


@pytest.fixture
def many(sql: Sql, locks_server: ServerInstance) -> Iterator[Client]:
    """A client with a table of many rows, open as 6, and its unique column as 7."""
    sql.run(
        "CREATE TABLE many (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
        f"INSERT INTO many SELECT seq, 0, seq FROM seq_1_to_{ROWS}",
    )
    with connect(locks_server) as client:
        client.request(OpenIndex(6, "locks", "many", "", ["v"]))
        client.request(OpenIndex(7, "locks", "many", "", ["u"]))
        yield client


@contextmanager
def no_row_is_waited_for(sql: Sql) -> Iterator[None]:
    """A write that its machine holds up is not taken for one that waits, which would go aside."""
    sql.run("SET GLOBAL handlersocket_row_wait = 0")
    try:
        yield
    finally:
        sql.run("SET GLOBAL handlersocket_row_wait = DEFAULT")


LONG = {
    "changes": add(6, 1, ">=", ROWS),
    "examines": FindModify(Find(6, [1], ">=", limit=1, offset=ROWS - 1), ModifyOp.INCREMENT, [1]),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_modification_goes_aside(
    locks_server: ServerInstance, sql: Sql, many: Client, name: str
) -> None:
    aside = sql.status("handlersocket_writes_aside")
    with connect(locks_server) as light, no_row_is_waited_for(sql):
        alone = statistics.median(seconds_of(light, 20 * [add(0, 30)]))
        asking = Asking(many, LONG[name])
        taken = []
        while not asking.answers:
            taken += seconds_of(light, [add(0, 30)])
        changed = ROWS if name == "changes" else 1
        assert asking.join() == changed
    assert sql.number("SELECT SUM(v) FROM many") == changed
    assert sql.status("handlersocket_writes_aside") == aside + 1
    if name == "changes":  # the other one takes no time
        assert len(taken) > 2, taken
        assert statistics.median(taken) < 5 * alone + 0.05, (alone, taken)


def test_a_long_modification_keeps_its_place_and_is_whole(sql: Sql, many: Client) -> None:
    """Its last row cannot be changed, so no row is. The requests around it succeed."""
    sql.run(f"INSERT INTO many VALUES (0, 0, {ROWS + 1})")
    fails = FindModify(Find(7, [ROWS], "<=", limit=ROWS), ModifyOp.INCREMENT, [1])
    before = FetchModify(Find(6, [1], ">=", limit=ROWS), ModifyOp.INCREMENT, [1])
    with many.pipeline() as pipeline:
        replies = [
            pipeline.send(request)
            for request in (add(6, 1), fails, Find(6, [1]), before, Find(6, [1]), add(6, 1))
        ]
    assert replies[0].result() == 1
    error = replies[1].error()
    assert error is not None and error.text == "121"
    assert replies[2].result() == [(b"1",)]
    assert replies[3].result() == [(b"1",), *[(b"0",)] * (ROWS - 1)]
    assert [reply.result() for reply in replies[4:]] == [[(b"2",)], 1]
    assert sql.row("SELECT SUM(v), SUM(u) FROM many") == (
        str(ROWS + 2).encode(),
        str(ROWS * (ROWS + 1) // 2 + ROWS + 1).encode(),
    )
