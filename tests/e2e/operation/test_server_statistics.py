"""What the server's own statistics know of requests, and what they do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, running_server, thread_names, wait_until

OPEN = b"P\t1\tcounted\tt\t\tid,v\n"


@pytest.fixture(scope="module")
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, performance_schema="ON") as instance:
        yield instance


@pytest.fixture
def sql(own_server: ServerInstance) -> Iterator[Sql]:
    table = "CREATE TABLE t (id INT PRIMARY KEY, v INT)"
    with fresh_session(own_server, "counted", table) as session:
        yield session


def find_and_write(server: ServerInstance) -> None:
    """50 finds of one row each, and 21 writes that change one row each."""
    with Wire(server.hs_port) as reader, Wire(server.hs_port_wr) as writer:
        assert reader.ask(OPEN) == writer.ask(OPEN) == b"0\t1"
        assert writer.ask(b"1\t+\t2\t7\t0\n") == b"0\t1"
        writer.send(20 * b"1\t=\t1\t7\t1\t0\t+\t0\t1\n")
        assert writer.lines(20) == 20 * [b"0\t1\t1"]
        reader.send(50 * b"1\t=\t1\t7\n")
        assert reader.lines(50) == 50 * [b"0\t2\t7\t20"]


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has userstat")
def test_userstat(own_server: ServerInstance, sql: Sql) -> None:
    def statistics() -> list[tuple[bytes | None, ...]]:
        return sql.rows(
            "SELECT rows_read, rows_changed FROM information_schema.table_statistics"
            " WHERE table_schema = 'counted' AND table_name = 't'"
        )

    sql.run("FLUSH TABLE_STATISTICS")
    find_and_write(own_server)
    assert statistics() == []
    sql.run("SET GLOBAL userstat = ON", "DELETE FROM t")
    try:
        sql.run("FLUSH TABLE_STATISTICS")
        find_and_write(own_server)

        def has_all() -> bool:
            ((read, changed),) = statistics() or [(b"0", b"0")]
            return int(read or 0) >= 70 and changed == b"21"

        wait_until(has_all, "the tables have been given back")
        used = (
            "SELECT COALESCE(SUM(rows_read), 0) FROM information_schema.index_statistics"
            " WHERE table_schema = 'counted' AND table_name = 't' AND index_name = 'PRIMARY'"
        )
        wait_until(lambda: sql.number(used) >= 70, "the indexes have been given back")
    finally:
        sql.run("SET GLOBAL userstat = OFF")


@dataclass
class Statistics:
    """A row of user_statistics or client_statistics."""

    selects: int
    updates: int
    read: int
    sent: int
    inserted: int
    updated: int
    commits: int


def statistics_of(sql: Sql, table: str, name: str) -> Statistics | None:
    rows = sql.rows(
        "SELECT select_commands, update_commands, rows_read, rows_sent, rows_inserted,"
        f" rows_updated, commit_transactions FROM information_schema.{table}_statistics"
        f" WHERE {table} = '{name}' AND busy_time BETWEEN 0 AND 60 AND cpu_time BETWEEN 0 AND 60"
    )
    return Statistics(*(int(value or 0) for value in rows[0])) if rows else None


@pytest.fixture
def userstat(sql: Sql) -> Iterator[None]:
    sql.run("SET GLOBAL userstat = ON", "FLUSH USER_STATISTICS", "FLUSH CLIENT_STATISTICS")
    yield
    sql.run("SET GLOBAL userstat = OFF")


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has userstat")
@pytest.mark.usefixtures("userstat")
@pytest.mark.parametrize(("table", "name"), [("user", "root"), ("client", "localhost")])
def test_an_account_without_a_log_in_is_counted_by_its_names(
    table: str, name: str, own_server: ServerInstance, sql: Sql
) -> None:
    """The clients of root@localhost. So are those of this test's own session."""
    before = statistics_of(sql, table, name) or Statistics(0, 0, 0, 0, 0, 0, 0)
    find_and_write(own_server)

    def has_all() -> bool:
        now = statistics_of(sql, table, name)
        return now is not None and (
            now.selects >= before.selects + 50
            and now.updates == before.updates + 21
            and now.read >= before.read + 70
            and now.sent >= before.sent + 50
            and now.inserted == before.inserted + 1
            and now.updated == before.updated + 20
            and now.commits > before.commits
        )

    wait_until(has_all, "the passes have ended")


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has userstat")
@pytest.mark.usefixtures("userstat")
def test_accounts_that_share_passes_are_counted_apart(own_server: ServerInstance, sql: Sql) -> None:
    """Their requests arrive at the same time at the one worker of the port."""
    finds = {"ann": 3, "bob": 2}
    sql.run("INSERT INTO t VALUES (7, 20)")
    for user in finds:
        sql.run(f"CREATE OR REPLACE USER {user}@localhost IDENTIFIED BY 'x'")
        sql.run(f"GRANT ALL ON counted.* TO {user}@localhost")

    def counts() -> dict[str, tuple[int, ...]]:
        every = {user: statistics_of(sql, "user", user) for user in finds}
        return {
            user: (one.selects, one.updates, one.read, one.sent, one.updated)
            for user, one in every.items()
            if one is not None
        }

    with ExitStack() as stack:
        wires = {user: stack.enter_context(Wire(own_server.hs_port_wr)) for user in finds}
        for user, wire in wires.items():
            assert wire.ask(b"A\t2\t%s\tx\n" % user.encode()) == b"0\t1"
            assert wire.ask(OPEN) == b"0\t1"
        for number in range(20):
            for user, wire in wires.items():
                wire.send(finds[user] * b"1\t=\t1\t7\n")
            wires["ann"].send(b"1\t=\t1\t7\t1\t0\tU\t7\t%d\n" % number)
            for user, wire in wires.items():
                assert len(wire.lines(finds[user])) == finds[user]
            assert wires["ann"].lines(1) == [b"0\t1\t1"]
        # A write that sets a column of the index reads its row twice.
        expected = {"ann": (60, 20, 60 + 2 * 20, 60, 20), "bob": (40, 0, 40, 40, 0)}
        wait_until(lambda: counts() == expected, "the passes have ended")

        sql.run("FLUSH USER_STATISTICS")
        assert wires["bob"].ask(b"1\t=\t1\t7\n") == b"0\t2\t7\t19"
        wait_until(lambda: counts() == {"bob": (1, 0, 1, 1, 0)}, "the pass has ended")
    sql.run(*(f"DROP USER {user}@localhost" for user in finds))


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has userstat")
@pytest.mark.usefixtures("userstat")
def test_strangers_add_no_rows(own_server: ServerInstance, sql: Sql) -> None:
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(b"A\t2\tnobody\tx\n") == b"1\t1\t1045"
    assert statistics_of(sql, "user", "nobody") is None


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has userstat")
@pytest.mark.usefixtures("userstat")
def test_a_request_that_is_tried_again_is_counted_once(
    own_server: ServerInstance, sql: Sql
) -> None:
    """A write that waits for a row, and a find that its worker hands over to a streamer."""
    sql.run(
        "INSERT INTO t SELECT seq, seq FROM seq_1_to_20000",
        "CREATE OR REPLACE USER ann@localhost IDENTIFIED BY 'x'",
        "GRANT ALL ON counted.* TO ann@localhost",
    )
    with Wire(own_server.hs_port_wr) as writer, Wire(own_server.hs_port) as reader:
        for wire in (writer, reader):
            assert wire.ask(b"A\t2\tann\tx\n") == b"0\t1"
            assert wire.ask(OPEN) == b"0\t1"
        sql.run("BEGIN", "UPDATE t SET v = 0 WHERE id = 7")
        writer.send(b"1\t=\t1\t7\t1\t0\tU\t7\t1\n")
        wait_until(
            lambda: sql.status("handlersocket_requests_blocked") > 0, "the write waits for the row"
        )
        sql.run("ROLLBACK")
        assert writer.lines(1) == [b"0\t1\t1"]
        reader.send(b"1\t>\t1\t0\t20000\n")
        assert len(reader.lines(1)[0]) > 100_000

        def counted() -> tuple[int, ...]:
            now = statistics_of(sql, "user", "ann")
            return () if now is None else (now.selects, now.updates, now.sent)

        wait_until(lambda: counted() == (1, 1, 20_000), "the passes have ended")
    sql.run("DROP USER ann@localhost")


@pytest.fixture
def counting(sql: Sql) -> Iterator[None]:
    """Statements of SQL are counted, which MariaDB does only if it is told to."""
    instrument = "performance_schema.setup_instruments SET enabled = '{}', timed = '{}'"
    handlers = "name = 'wait/io/table/sql/handler'"
    sql.run(f"UPDATE {instrument.format('YES', 'YES')} WHERE {handlers}")
    sql.run("FLUSH TABLES")
    yield
    if not ON_MYSQL:
        sql.run(f"UPDATE {instrument.format('NO', 'NO')} WHERE {handlers}")


def counted_in(sql: Sql, table: str, column: str = "count_star", index: str = "") -> int:
    summary = "by_index_usage" if index else "by_table"
    return sql.number(
        f"SELECT COALESCE(SUM({column}), 0) FROM"
        f" performance_schema.table_io_waits_summary_{summary}"
        f" WHERE object_schema = 'counted' AND object_name = '{table}'"
        + (f" AND index_name = '{index}'" if index else "")
    )


@pytest.mark.usefixtures("counting")
def test_the_performance_schema_counts_requests_as_sql(
    own_server: ServerInstance, sql: Sql
) -> None:
    """It is the plugin that opens the table first.

    A modification reads its row twice here: a column of the index is among those that it sets, so
    it finds all rows before it changes one, as UPDATE does.
    """
    columns = ["count_fetch", "count_insert", "count_update"]
    before = [counted_in(sql, "t", column) for column in columns]

    def counted() -> list[int]:
        after = [counted_in(sql, "t", column) for column in columns]
        return [now - then for now, then in zip(after, before, strict=True)]

    by_index = counted_in(sql, "t", "count_fetch", "PRIMARY")
    find_and_write(own_server)
    wait_until(lambda: counted() == [90, 1, 20], "the tables have been given back")
    assert counted_in(sql, "t", "count_fetch", "PRIMARY") == by_index + 70
    sql.run("INSERT INTO t VALUES (100, 1)", "SELECT * FROM t WHERE id = 100")
    assert counted() == [91, 2, 20]


@pytest.mark.usefixtures("counting")
def test_each_index_of_a_pipeline_is_counted_by_itself(
    own_server: ServerInstance, sql: Sql
) -> None:
    sql.run("ALTER TABLE t ADD KEY by_v (v)", "INSERT INTO t VALUES (1, 5), (2, 5), (3, 5)")
    indexes = ["PRIMARY", "by_v"]
    before = [counted_in(sql, "t", "count_fetch", index) for index in indexes]
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"P\t2\tcounted\tt\tby_v\tid\n") == b"0\t1"
        wire.send(10 * b"1\t=\t1\t1\n2\t=\t1\t5\t3\t0\n")
        assert wire.lines(20) == 10 * [b"0\t2\t1\t5", b"0\t1\t1\t2\t3"]

    def counted() -> list[int]:
        after = [counted_in(sql, "t", "count_fetch", index) for index in indexes]
        return [now - then for now, then in zip(after, before, strict=True)]

    wait_until(lambda: counted() == [10, 30], "the table has been given back")


@pytest.mark.usefixtures("counting")
def test_waits_of_requests_are_told_as_events(own_server: ServerInstance, sql: Sql) -> None:
    """A pass reads more tables than the performance schema can follow events at once."""
    consumers = (
        "UPDATE performance_schema.setup_consumers SET enabled = '{}'"
        " WHERE name LIKE 'events_waits%'"
    )
    names = [f"t{number}" for number in range(20)]
    sql.run(*(f"CREATE TABLE {name} (id INT PRIMARY KEY, v INT)" for name in names))
    sql.run(*(f"INSERT INTO {name} VALUES (7, 1)" for name in names))
    sql.run(consumers.format("YES"))
    lost = sql.status("performance_schema_locker_lost")
    before = {name: counted_in(sql, name, "count_fetch") for name in names}

    def counted() -> set[int]:
        return {counted_in(sql, name, "count_fetch") - before[name] for name in names}

    try:
        with Wire(own_server.hs_port) as wire:
            for number, name in enumerate(names):
                line = f"P\t{number}\tcounted\t{name}\t\tid,v\n"
                assert wire.ask(line.encode()) == b"0\t1"
            finds = b"".join(b"%d\t=\t1\t7\n" % number for number in range(20))
            wire.send(50 * finds)
            assert wire.lines(1000) == 1000 * [b"0\t2\t7\t1"]
        wait_until(lambda: counted() == {50}, "the tables have been given back")
        assert sql.status("performance_schema_locker_lost") == lost
        threads = (
            "SELECT COUNT(*) FROM performance_schema.events_waits_history JOIN"
            " performance_schema.threads USING (thread_id)"
            " WHERE event_name = 'wait/io/table/sql/handler' AND name LIKE '%handlersocket%'"
        )
        wait_until(lambda: sql.number(threads) > 0, "the history has them")
    finally:
        sql.run(consumers.format("NO"))


@pytest.mark.skipif(not ON_MYSQL, reason="only MySQL counts memory by default")
def test_the_memory_of_log_ins_is_not_counted_for_the_threads(
    own_server: ServerInstance, sql: Sql
) -> None:
    sql.run("CREATE USER IF NOT EXISTS ann@localhost IDENTIFIED BY 'x'")
    used = (
        "SELECT COALESCE(SUM(current_number_of_bytes_used), 0) FROM"
        " performance_schema.memory_summary_by_user_by_event_name WHERE user = 'handlersocket'"
    )

    def log_in(times: int) -> None:
        for _ in range(times):
            with Wire(own_server.hs_port) as wire:
                assert wire.ask(b"A\t2\tann\tx\n") == b"0\t1"

    log_in(20)
    before = sql.number(used)
    log_in(100)
    assert sql.number(used) - before < 200_000
    sql.run("DROP USER ann@localhost")


@pytest.mark.skipif(not ON_MYSQL, reason="MariaDB's workers have no such states")
def test_an_idle_worker_is_shown_as_idle(own_server: ServerInstance, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE noted (id INT PRIMARY KEY)",
        "CREATE TRIGGER note AFTER INSERT ON t FOR EACH ROW INSERT INTO noted VALUES (NEW.id)",
    )
    with Wire(own_server.hs_port_wr) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t+\t2\t8\t0\n") == b"0\t1"
        busy = (
            "SELECT COUNT(*) FROM performance_schema.processlist WHERE user = 'handlersocket'"
            " AND (state <> '' OR info IS NOT NULL)"
        )
        wait_until(lambda: sql.number(busy) == 0, "the worker is idle")
    names = "SELECT DISTINCT user FROM performance_schema.processlist WHERE user LIKE '{}'"
    assert sql.rows(names.format("handlersocket")) == [(b"handlersocket",)]


def test_the_performance_schema_knows_the_threads(own_server: ServerInstance, sql: Sql) -> None:
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(OPEN) == b"0\t1"
    listed = "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
    known = (
        "SELECT processlist_id FROM performance_schema.threads"
        " WHERE name = 'thread/handlersocket/worker' AND processlist_user = 'handlersocket'"
    )

    # A thread that has waited for locks ends when it has had nothing to do for some time.
    def shown_as_known() -> bool:
        return sorted(sql.rows(known)) == sorted(sql.rows(listed))

    wait_until(shown_as_known, "both show the same threads")
    assert sql.number(f"SELECT COUNT(*) FROM ({listed}) shown") > 3
    # Their names in the operating system tell them apart, also after a log-in.
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(b"A\t2\tnobody\tx\n") == b"1\t1\t1045"
    of_plugin = ("hs-worker", "hs-streamer", "hs-log-in", "hs-waiter")

    def named() -> int:
        names = thread_names(own_server)
        return sum(names[name] for name in of_plugin)

    wait_until(lambda: named() == len(sql.rows(listed)), "each that is shown has such a name")
    names = thread_names(own_server)
    assert names["hs-streamer"] == names["hs-log-in"] == 4


@pytest.mark.usefixtures("counting")
def test_sql_is_counted_after_the_table_was_flushed(own_server: ServerInstance, sql: Sql) -> None:
    sql.run("INSERT INTO t VALUES (7, 20)")
    with Wire(own_server.hs_port) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        for _ in range(3):
            sql.run("FLUSH TABLES")
            before = counted_in(sql, "t")
            assert wire.ask(b"1\t=\t1\t7\n") == b"0\t2\t7\t20"
            # It is counted when its pass is over, which is behind its reply.
            wait_until(lambda before=before: counted_in(sql, "t") > before, "the find is counted")
            before = counted_in(sql, "t")
            sql.run("SELECT * FROM t WHERE id = 7")
            assert counted_in(sql, "t") == before + 1


@pytest.mark.usefixtures("counting")
def test_sql_is_counted_on_a_table_that_a_trigger_needs(
    own_server: ServerInstance, sql: Sql
) -> None:
    sql.run(
        "CREATE TABLE log (id INT PRIMARY KEY)",
        "CREATE TRIGGER noted AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)",
        "FLUSH TABLES",
    )
    with Wire(own_server.hs_port_wr) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t+\t2\t7\t0\n") == b"0\t1"
    before = counted_in(sql, "log")
    sql.run("SELECT * FROM log WHERE id = 7")
    assert counted_in(sql, "log") == before + 1
