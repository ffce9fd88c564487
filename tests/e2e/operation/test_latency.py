"""The table handlersocket_latency, and what each port counts by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Filter
from server_instance import ACCOUNT, ServerInstance
from support.database import Database, Sql
from support.servers import ON_MYSQL, SHOW_STATUS
from support.wire import Wire
from support_servers import fresh_session, running_server, wait_until

SCHEMA = "performance_schema" if ON_MYSQL else "information_schema"
TABLE = f"{SCHEMA}.handlersocket_latency"
KINDS = ("open_index", "find", "count", "update", "delete", "insert", "group", "auth")
PORTS = ("read", "write", "redis", "memcached")
BUCKETS = 27
MOST = 2**64 - 1
OPEN = b"P\t1\tlatency\tt\tPRIMARY\tid,v\n"

Counts = dict[tuple[str, str], int]


@pytest.fixture(scope="module")
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    account = {"handlersocket_anonymous_account": ACCOUNT, "handlersocket_plain_secret": "s"}
    with running_server(data_root, watch, **account) as instance:
        yield instance


@pytest.fixture
def sql(own_server: ServerInstance) -> Iterator[Sql]:
    table = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100))"
    rows = "INSERT INTO t SELECT seq, 'v' FROM seq_1_to_50000"
    with fresh_session(own_server, "latency", table, rows) as session:
        yield session


def buckets(sql: Sql) -> list[tuple[str, str, int, int, int, int]]:
    rows = sql.rows(
        f"SELECT PORT, KIND, BUCKET_LOW_US, BUCKET_HIGH_US, COUNT_BUCKET, COUNT_BUCKET_AND_LOWER"
        f" FROM {TABLE}"
    )
    return [
        ((row[0] or b"").decode(), (row[1] or b"").decode(), *(int(cell or 0) for cell in row[2:]))
        for row in rows
    ]  # type: ignore[misc]


def counts(sql: Sql, slowest: int = 0) -> Counts:
    """How many requests of each kind were counted, of those that took so many µs or more."""
    found = dict.fromkeys(((port, kind) for port in PORTS for kind in KINDS), 0)
    for port, kind, low, _, count, _ in buckets(sql):
        if low >= slowest:
            found[port, kind] += count
    return found


def up_to_of(sql: Sql, prefix: str) -> dict[str, int]:
    """The status variables that begin so, by the rest of their names."""
    rows = sql.rows(f"{SHOW_STATUS} WHERE Variable_name LIKE '{prefix}%'")
    return {
        (name or b"").decode().lower().removeprefix(prefix): int(value or 0) for name, value in rows
    }


def moved(before: Counts, after: Counts) -> Counts:
    return {key: after[key] - before[key] for key in after if after[key] != before[key]}


def wait_for(sql: Sql, before: Counts, expected: Counts, slowest: int = 0) -> None:
    """Some are counted after their replies were sent."""
    deadline = time.monotonic() + 5
    while (now := moved(before, counts(sql, slowest))) != expected:
        assert time.monotonic() < deadline, (now, expected)


def test_each_bucket_is_a_row(sql: Sql) -> None:
    rows = buckets(sql)
    assert [row[:2] for row in rows[::BUCKETS]] == [
        (port, kind) for port in PORTS for kind in KINDS
    ]
    for begin in range(0, len(rows), BUCKETS):
        of_one = rows[begin : begin + BUCKETS]
        lower = 0
        for number, (_, _, low, high, count, count_and_lower) in enumerate(of_one):
            assert low == (0 if number == 0 else 2 ** (number - 1))
            assert high == (MOST if number == BUCKETS - 1 else 2**number)
            lower += count
            assert count_and_lower == lower
    # The server may read the rows again by their positions.
    ordered = sql.rows(f"SELECT PORT, KIND, BUCKET_LOW_US FROM {TABLE} ORDER BY BUCKET_LOW_US DESC")
    assert len(set(ordered)) == len(rows)


def test_requests_count_by_kind_and_port(own_server: ServerInstance, sql: Sql) -> None:
    before = counts(sql)
    with Wire(own_server.hs_port) as reader, Wire(own_server.hs_port_wr) as writer:
        reader.send(OPEN + 100 * b"1\t=\t1\t7\n" + b"1\tup\t0\tC\n1\t=\t1\t7\tE\nnonsense\n")
        assert len(reader.lines(104)) == 104
        writer.send(
            OPEN
            + b"1\t=\t1\t1\n"  # what is read first
            + b"1\t+\t2\t60001\tx\n" * 2  # the second one fails
            + b"1\t=\t1\t1\t1\t0\tU\t1\ty\n1\t=\t1\t2\t1\t0\tD\n1\t=\t1\t3\t1\t0\tU\t3\tz\n"
        )
        replies = writer.lines(7)
        assert [reply[:1] for reply in replies] == [b"0", b"0", b"0", b"1", b"0", b"0", b"0"]
        expected = {
            ("read", "open_index"): 1,
            ("read", "find"): 100,
            ("read", "count"): 2,
            ("write", "open_index"): 1,
            ("write", "find"): 1,
            ("write", "insert"): 2,
            ("write", "update"): 2,
            ("write", "delete"): 1,
        }
        wait_for(sql, before, expected)
        # A write is refused at the read port, and is a write all the same.
        assert reader.ask(b"1\t+\t2\t60002\tx\n") == b"2\t1\treadonly"
        wait_for(sql, before, {**expected, ("read", "insert"): 1})


def test_the_status_variables_say_the_same(own_server: ServerInstance, sql: Sql) -> None:
    before = counts(sql)
    with Wire(own_server.hs_port) as reader:
        reader.send(OPEN + 10 * b"1\t=\t1\t7\n")
        reader.lines(11)
        wait_for(sql, before, {("read", "open_index"): 1, ("read", "find"): 10})
    for (port, kind), count in counts(sql).items():
        name = f"handlersocket_{port}_port_latency_{kind}"
        assert sql.status(f"{name}_count") == count
        # Each bucket's bounds are bounds of the sum.
        of_kind = [row for row in buckets(sql) if row[:2] == (port, kind)]
        least = sum(count * low for _, _, low, _, count, _ in of_kind)
        most = sum(count * high for _, _, _, high, count, _ in of_kind)
        assert least <= sql.status(f"{name}_sum_us") <= most
        shown = {int(up_to[:-2]): count for up_to, count in up_to_of(sql, f"{name}_le_").items()}
        assert shown == {high: up_to for *_, high, _, up_to in of_kind if high in shown}
        assert sorted(shown) == [2**power for power in range(7, 22, 2)]
    for port in PORTS:
        for what in ("count", "sum_us"):
            of_verbs = [
                sql.status(f"handlersocket_{port}_port_latency_{kind}_{what}")
                for kind in ("update", "delete")
            ]
            together = sql.status(f"handlersocket_{port}_port_latency_find_modify_{what}")
            assert together == sum(of_verbs)
    for name in ("requests_find", "requests_open_index"):
        of_ports = sum(counts(sql)[port, name.removeprefix("requests_")] for port in PORTS)
        assert sql.status(f"handlersocket_{name}") == of_ports


def test_the_time_includes_waits_for_locks(own_server: ServerInstance, sql: Sql) -> None:
    before = counts(sql, slowest=2**18)
    waited = sql.status("handlersocket_write_port_lock_wait_ms")
    with Wire(own_server.hs_port_wr) as wire, Sql(own_server.socket, "latency") as holder:
        assert wire.ask(OPEN) == b"0\t1"
        holder.run("BEGIN", "UPDATE t SET v = 'held' WHERE id = 5")
        blocked = sql.status("handlersocket_requests_blocked")
        wire.send(b"1\t=\t1\t5\t1\t0\tU\t5\tx\n")
        wait_until(lambda: sql.status("handlersocket_requests_blocked") > blocked, "it waits")
        time.sleep(0.6)
        holder.run("ROLLBACK")
        assert wire.lines(1) == [b"0\t1\t1"]
        wait_for(sql, before, {("write", "update"): 1}, slowest=2**18)
        assert 500 <= sql.status("handlersocket_write_port_lock_wait_ms") - waited < 5_000


def test_a_long_find_and_what_waits_behind_it(own_server: ServerInstance, sql: Sql) -> None:
    before = counts(sql)
    with Wire(own_server.hs_port) as wire:
        wire.send(OPEN + b"1\t>\t1\t0\t40000\n" + 3 * b"1\t=\t1\t7\n")
        replies = wire.lines(5)
        assert len(replies[1]) > 40_000
        wait_for(sql, before, {("read", "open_index"): 1, ("read", "find"): 4})
        # Of these one has taken as long as the streamer had the connection.
        slow = counts(sql, slowest=2**10)
        assert slow["read", "find"] >= 1


def test_a_wrong_secret_takes_a_second(own_server: ServerInstance, sql: Sql) -> None:
    before = counts(sql, slowest=2**19)
    waited = sql.status("handlersocket_lock_wait_ms")
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(b"A\t1\tguess\n") == b"3\t1\tunauth"
        wait_for(sql, before, {("read", "auth"): 1}, slowest=2**19)
    # It has waited for nobody's lock.
    assert sql.status("handlersocket_lock_wait_ms") == waited


def test_the_ports_count_apart(own_server: ServerInstance, sql: Sql) -> None:
    def of_ports(name: str) -> list[int]:
        return [sql.status(f"handlersocket_{port}_port_{name}") for port in PORTS]

    names = ("connections_opened", "requests", "errors", "bytes_received", "bytes_sent")
    before = {name: of_ports(name) for name in names}
    with Wire(own_server.hs_port) as reader, Wire(own_server.hs_port_wr) as writer:
        assert reader.ask(OPEN) == writer.ask(OPEN) == b"0\t1"
        assert writer.ask(b"nonsense\n") == b"2\t1\tcmd"
        asked = [len(OPEN), len(OPEN) + len(b"nonsense\n"), 0, 0]
        wait_until(
            lambda: of_ports("connections") == [1, 1, 0, 0],
            "each port has its connection",
        )
    moves = {
        name: [now - then for now, then in zip(of_ports(name), before[name], strict=True)]
        for name in names
    }
    assert moves["connections_opened"] == [1, 1, 0, 0]
    assert moves["requests"] == [1, 2, 0, 0]
    assert moves["errors"] == [0, 1, 0, 0]
    assert moves["bytes_received"] == asked
    assert moves["bytes_sent"] == [len(b"0\t1\n"), len(b"0\t1\n2\t1\tcmd\n"), 0, 0]
    wait_until(lambda: of_ports("connections") == [0, 0, 0, 0], "both have gone")
    for name in names:
        assert sum(of_ports(name)) >= sum(before[name])
    assert sum(of_ports("errors")) == sql.status("handlersocket_errors")


def test_they_go_on_when_the_plugin_comes_again(own_server: ServerInstance, sql: Sql) -> None:
    with Wire(own_server.hs_port) as reader:
        assert reader.ask(OPEN) == b"0\t1"
        wait_until(lambda: counts(sql)["read", "open_index"] > 0, "it is counted")
    for _ in range(3):
        sql.run("UNINSTALL SONAME 'handlersocket2'", "INSTALL SONAME 'handlersocket2'")
        with Wire(own_server.hs_port) as reader:
            before = counts(sql)
            assert reader.ask(OPEN) == b"0\t1"
            wait_for(sql, before, {("read", "open_index"): 1})


def test_filters_and_shared_passes_count_once(database: Database) -> None:
    """The server that most tests share has counted what it has answered."""
    sql = database.sql
    sql.run("CREATE TABLE c (id INT PRIMARY KEY, a INT)", "INSERT INTO c VALUES (1, 1), (2, 2)")
    before = counts(sql)
    with database.reader() as client:
        index = client.index(database.name, "c", ["id"], filter_columns=["a"])
        with client.pipeline() as pipeline:
            for _ in range(250):
                pipeline.on(index).find(0, op=">", limit=9, filters=[Filter("=", 0, 2)])
        wait_for(sql, before, {("read", "open_index"): 1, ("read", "find"): 250})
