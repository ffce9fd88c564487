"""What SHOW GLOBAL STATUS and SHOW PROCESSLIST say. The server's own counters count, too."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Callable

import pytest
from handlersocket2 import Client, Filter, ReplyError
from server_instance import REPOSITORY
from support.database import Database, Sql
from support.servers import HAS_ROWS_READ, ON_MYSQL, SHOW_STATUS
from support_servers import wait_until

Counts = dict[str, int]
KINDS = ("open_index", "find", "count", "update", "delete", "insert", "group", "auth")
# In microseconds: the ends of the buckets that status variables show.
BOUNDS = (128, 512, 2048, 8192, 32768, 131072, 524288, 2097152)


def counts(sql: Sql) -> Counts:
    """Every counter of the plugin, without `handlersocket_`, and the server's that it moves."""
    found = {}
    for name, value in sql.rows(
        f"{SHOW_STATUS} WHERE Variable_name LIKE 'handlersocket%' OR Variable_name IN"
        " ('Handler_read_key', 'Handler_write', 'Handler_update', 'Handler_delete',"
        " 'Rows_read')"
    ):
        assert name is not None
        assert value is not None
        known_as = "server_rows_read" if name == b"Rows_read" else name.decode().lower()
        found[known_as.removeprefix("handlersocket_")] = int(value)
    return found


def declared() -> set[str]:
    text = Path(REPOSITORY / "src/base/counters.h").read_text()
    return set(re.findall(r'CounterInfo\{\s*Counter::\w+, "(\w+)"', text))


@pytest.fixture(autouse=True)
def table(sql: Sql) -> None:
    sql.run(
        "CREATE TABLE c (id INT PRIMARY KEY, a INT, b VARCHAR(20))",
        "INSERT INTO c SELECT seq, seq, 'b' FROM seq_1_to_10",
    )


@pytest.fixture
def moved(sql: Sql) -> Callable[..., Counts]:
    """moved() says which counters have changed since its last call, and by how much.

    Some counters are written after the replies were sent. So it waits for `passes`, and for the
    bytes that they have sent.
    """
    before = counts(sql)

    def difference(passes: int = 0) -> Counts:
        nonlocal before
        deadline = time.monotonic() + 5
        while True:
            now = counts(sql)
            has_sent = passes == 0 or now["bytes_sent"] != before["bytes_sent"]
            is_over = now["passes"] - before["passes"] >= passes and has_sent
            if is_over or time.monotonic() > deadline:
                break
        moves = {name: now[name] - before[name] for name in now if now[name] != before[name]}
        before = now
        return moves

    return difference


def test_all_that_are_declared_are_shown(sql: Sql) -> None:
    own = {
        name.decode().lower()
        for name, _ in sql.rows("SHOW GLOBAL STATUS LIKE 'handlersocket%'")
        if name is not None
    }
    assert len(declared()) > 15
    at_this_moment = {"connections", "waiting_bytes"}
    sums = {"requests_find_modify"}
    of_kind = ("count", "sum_us", *(f"le_{bound}us" for bound in BOUNDS))
    of_a_port = {
        "connections",
        "connections_opened",
        "connections_refused",
        "requests",
        "errors",
        "bytes_received",
        "bytes_sent",
        "lock_wait_ms",
        *(f"latency_{kind}_{what}" for kind in KINDS for what in of_kind),
        *(f"latency_find_modify_{what}" for what in ("count", "sum_us")),
    }
    of_ports = {
        f"{port}_port_{name}"
        for port in ("read", "write", "redis", "memcached")
        for name in of_a_port
    }
    expected = declared() | at_this_moment | sums | of_ports
    assert own == {f"handlersocket_{name}" for name in expected}


def test_connections_and_bytes(moved: Callable[..., Counts], database: Database) -> None:
    with database.wire() as wire:
        assert wire.ask(b"nonsense\n") == b"2\t1\tcmd"
        moves = moved(1)
        assert moves["connections_opened"] == 1
        assert moves["connections"] == 1
        assert moves["bytes_received"] == len(b"nonsense\n")
        assert moves["bytes_sent"] == len(b"2\t1\tcmd\n")
        assert moves["requests_malformed"] == 1
        assert moves["errors"] == 1
    deadline = time.monotonic() + 5
    closed = open_ = 0
    # Each is read for itself, so the connection may end between the two.
    while (closed == 0 or open_ == 0) and time.monotonic() < deadline:
        moves = moved()
        closed += moves.get("connections_closed", 0)
        open_ += moves.get("connections", 0)
    assert (closed, open_) == (1, -1)


def test_reads(moved: Callable[..., Counts], reader: Client, database: Database) -> None:
    index = reader.index(database.name, "c", ["id", "a"], filter_columns=["a"])
    moves = moved(1)
    assert moves["requests_open_index"] == 1
    assert moves["passes"] == 1
    assert moves["table_opens"] == 1
    assert len(index.find(1, op=">=", limit=7, filters=[Filter(">", 0, 2)])) == 7
    moves = moved(1)
    assert moves["requests_find"] == 1
    assert moves["rows_read"] == 7
    assert moves["passes"] == 1
    assert moves["table_opens"] == 1
    assert moves["handler_read_key"] == 1
    assert moves.get("server_rows_read", 9) == 9
    assert ("server_rows_read" in moves) == HAS_ROWS_READ
    assert "errors" not in moves
    assert "commits" not in moves
    assert "requests_open_index" not in moves
    with pytest.raises(ReplyError):
        reader.index(database.name, "nowhere", ["id"])
    assert moved(1)["errors"] == 1


def test_counts(moved: Callable[..., Counts], database: Database) -> None:
    with database.wire() as wire:
        name = database.name.encode()
        assert wire.ask(b"P\t1\t%s\tc\t\tid,b\ta\n" % name) == b"0\t1"
        moved(1)
        assert wire.ask(b"1\tup\t0\t>\t3\tC\n") == b"0\t1\t7"
        moves = moved(1)
        assert moves["requests_count"] == 1
        assert not {"requests_find", "rows_read", "errors"} & moves.keys()
        assert wire.ask(b"1\tup\t0\t0\t0\tF\t>\t0\t8\tE\n") == b"0\t1\t1"
        moves = moved(1)
        assert moves["requests_count"] == 1
        assert moves.get("server_rows_read", 9) == 9


def test_a_pipeline_is_one_pass(
    moved: Callable[..., Counts], reader: Client, database: Database
) -> None:
    index = reader.index(database.name, "c", ["id", "a"])
    moved(1)
    with reader.pipeline() as pipeline:
        for key in range(50):
            pipeline.on(index).find(key)
    moves = moved(1)
    assert moves["requests_find"] == 50
    assert moves["rows_read"] == 10
    assert moves["passes"] < 10
    assert moves["table_opens"] == moves["passes"]
    assert moves["handler_read_key"] == 50


def test_writes(moved: Callable[..., Counts], writer: Client, database: Database) -> None:
    index = writer.index(database.name, "c", ["id", "a", "b"])
    moved(1)
    index.insert([11, 1, "x"])
    moves = moved(1)
    assert moves["requests_insert"] == moves["rows_changed"] == moves["commits"] == 1
    assert moves["handler_write"] == 1
    index.update(3, [3, 0, "y"])
    moves = moved(1)
    assert moves["requests_update"] == moves["rows_changed"] == moves["commits"] == 1
    assert moves["requests_find_modify"] == 1
    assert moves["handler_update"] == 1
    assert index.delete(5, op=">=", limit=3) == 3
    moves = moved(1)
    assert moves["rows_changed"] == moves["handler_delete"] == 3
    assert moves["requests_delete"] == moves["requests_find_modify"] == moves["commits"] == 1
    assert "requests_update" not in moves
    with pytest.raises(ReplyError):
        index.insert([1, 1, "again"])
    moves = moved(1)
    assert moves["errors"] == moves["requests_insert"] == 1
    assert "rows_changed" not in moves


def test_auth_and_long_finds(moved: Callable[..., Counts], sql: Sql, database: Database) -> None:
    sql.run("INSERT INTO c SELECT seq, seq, 'b' FROM seq_11_to_20000")
    with database.wire() as wire:
        wire.send(b"A\t1\tguess\nP\t1\t%s\tc\t\tid\n1\t>\t1\t0\t100000\n" % database.name.encode())
        replies = wire.lines(3)
        assert replies[0] == b"3\t1\tunauth"
        assert replies[2].count(b"\t") == 20_001
        deadline = time.monotonic() + 5
        moves: Counts = {}
        while "long_finds" not in moves and time.monotonic() < deadline:
            for name, count in moved().items():
                moves[name] = moves.get(name, 0) + count
    assert moves["requests_auth"] == 1
    assert moves["long_finds"] == 1
    assert moves["requests_find"] == 1
    assert moves["rows_read"] >= 20_000


def test_requests_that_wait(
    moved: Callable[..., Counts], reader: Client, database: Database
) -> None:
    index = reader.index(database.name, "c", ["id"])
    moved(1)
    with database.connect() as holder:
        holder.run("LOCK TABLES c WRITE")
        blocked = database.sql.status("handlersocket_requests_blocked")

        def unlock() -> None:
            wait_until(
                lambda: database.sql.status("handlersocket_requests_blocked") > blocked, "it waits"
            )
            time.sleep(0.3)
            holder.run("UNLOCK TABLES")

        unlocking = threading.Thread(target=unlock)
        unlocking.start()
        assert index.find(1) == [(b"1",)]
        unlocking.join()
    moves = moved(1)
    assert moves["requests_blocked"] == 1
    assert moves["requests_find"] == 1
    assert 200 <= moves["lock_wait_ms"] < 5_000
    assert moves["read_port_lock_wait_ms"] == moves["lock_wait_ms"]


def test_processlist_shows_the_workers(
    sql: Sql, reader: Client, writer: Client, database: Database
) -> None:
    def states() -> list[tuple[str, ...]]:
        rows = sql.rows(
            "SELECT user, command, state FROM information_schema.processlist"
            " WHERE user = 'handlersocket'"
        )
        return [tuple((cell or b"").decode() for cell in row) for row in rows]

    threads = sql.number("SELECT @@handlersocket_threads") + sql.number(
        "SELECT @@handlersocket_threads_wr"
    )
    # A request of an earlier test may still wait for its lock, for handlersocket_lock_wait_timeout.
    deadline = time.monotonic() + 30
    what = [
        "reader, waiting for requests",
        "writer, waiting for requests",
        "streamer, waiting for long requests",
        "waiting for log-ins",
    ]
    idle = {("handlersocket", "Sleep", f"handlersocket: {each}") for each in what}
    while set(states()) != idle and time.monotonic() < deadline:
        time.sleep(0.01)
    assert set(states()) == idle
    assert len(states()) >= threads
    index = writer.index(database.name, "c", ["id", "a"])
    with database.connect() as holder, database.wire(write=True) as wire:
        holder.run("BEGIN", "SELECT * FROM c WHERE id = 1 FOR UPDATE")
        wire.ask(b"P\t1\t%s\tc\t\tid,a\n" % database.name.encode())
        wire.send(b"1\t=\t1\t1\t1\t0\tU\t1\t7\n")
        busy = ("handlersocket", "Query", "handlersocket: writing aside")
        # The lock is waited for in tries of a second, and between two of them nobody is busy.
        deadline = time.monotonic() + 5
        while busy not in (seen := states()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert busy in seen
        holder.run("COMMIT")
        assert wire.lines(1) == [b"0\t1\t1"]
    assert index.find(1) == [(b"1", b"7")]


def test_processlist_forgets_a_kill(sql: Sql, database: Database) -> None:
    """A thread whose work was ended by KILL rests afterwards like the others."""
    threads = "FROM information_schema.processlist WHERE user = 'handlersocket'"
    commands = f"SELECT DISTINCT command {threads}"
    streaming = f"SELECT id {threads} AND state = 'handlersocket: streaming'"
    database.sql.run("CREATE TABLE long_one (id INT PRIMARY KEY, v CHAR(200))")
    digits = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4)"
    sources = ", ".join(f"{digits} d{place}" for place in range(7))
    number = " + ".join(f"d{place}.d * {5**place}" for place in range(7))
    database.sql.run(f"INSERT INTO long_one SELECT {number}, 'x' FROM {sources}")
    with database.wire() as wire:
        wire.ask(b"P\t1\t%s\tlong_one\t\tid\tv\n" % database.name.encode())
        for _ in range(20):
            # A streamer that has answered is busy for a moment longer.
            wait_until(lambda: sql.rows(commands) == [(b"Sleep",)], "nobody works")
            wire.send(b"1\t>=\t1\t0\t100000\t0\tF\t=\t0\tnone\n")
            # The worker soon gives it up, and a streamer has it. It may be over between two looks.
            deadline = time.monotonic() + 0.5
            while not (found := sql.rows(streaming)) and time.monotonic() < deadline:
                time.sleep(0.001)
            for (number_of_thread,) in found:
                assert sql.error(f"KILL {int(number_of_thread or 0)}") in (None, 1094)
            if wire.lines(1) == [b"1\t1\t1317"]:
                break
        else:
            raise AssertionError("no find was met by KILL")
    wait_until(lambda: sql.rows(commands) == [(b"Sleep",)], "no thread is shown as killed")


def test_processlist_shows_since_when(sql: Sql, reader: Client, database: Database) -> None:
    """A thread that rests shows since when, and so does one that works."""

    def times() -> list[int]:
        query = (
            "SELECT time FROM information_schema.processlist WHERE user = 'handlersocket'"
            " AND state LIKE 'handlersocket: reader%'"
        )
        return [int(row[0] or 0) for row in sql.rows(query)]

    index = reader.index(database.name, "c", ["id"])
    time.sleep(2.5)
    assert max(times()) >= 2
    for _ in range(20):
        index.find(1)
    # MySQL counts in whole seconds, so a thread may have been at rest for one as soon as it rests.
    least = 1 if ON_MYSQL else 0
    wait_until(lambda: min(times(), default=2) <= least, "a thread has worked")
