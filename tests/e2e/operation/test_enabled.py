"""handlersocket_enabled: the ports are closed and opened again without a restart."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import LOG_ERROR, LOG_NEWS, ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, listens, running_server, thread_names, wait_until

SCHEMA = "performance_schema" if ON_MYSQL else "information_schema"
OPEN = b"P\t1\tswitched\tt\tPRIMARY\tid,v\n"
ROWS = 300_000
SWITCHING = 6.0
UNKNOWN = 1105
WRONG_VALUE = 1231


@pytest.fixture(scope="module")
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.fixture
def sql(own_server: ServerInstance) -> Iterator[Sql]:
    table = "CREATE TABLE t (id INT PRIMARY KEY, v INT)"
    rows = f"INSERT INTO t SELECT seq, seq FROM seq_1_to_{ROWS}"
    with fresh_session(own_server, "switched", table, rows) as session:
        yield session
        switch(session, "ON")


def switch(sql: Sql, value: str) -> None:
    sql.run(f"SET GLOBAL handlersocket_enabled = {value}")


def is_on(sql: Sql) -> bool:
    return sql.number("SELECT @@GLOBAL.handlersocket_enabled") == 1


def threads(server: ServerInstance) -> int:
    """The plugin's. The engine's come and go."""
    names = thread_names(server)
    return sum(count for name, count in names.items() if name.startswith("hs-"))


def with_sessions(server: ServerInstance) -> int:
    """How many of its threads have, or are about to have, a session of the server."""
    names = thread_names(server)
    return sum(names[f"hs-{kind}"] for kind in ("worker", "streamer", "log-in", "remote", "waiter"))


def files(server: ServerInstance) -> int:
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def test_off_closes_everything_and_on_opens_it(own_server: ServerInstance, sql: Sql) -> None:
    begun = own_server.log_text()
    used: list[tuple[int, int]] = []
    query = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'handlersocket'"
    # The server answers SQL a moment before the plugin's threads have their names and sessions.
    some = sql.number("SELECT @@handlersocket_threads + @@handlersocket_threads_wr")
    wait_until(lambda: with_sessions(own_server) > some, "the threads have their names")
    wait_until(lambda: sql.number(query) == with_sessions(own_server), "all threads have started")
    at_work = sql.number(query)
    for _ in range(5):
        with ExitStack() as stack:
            readers = [stack.enter_context(Wire(own_server.hs_port)) for _ in range(20)]
            writers = [stack.enter_context(Wire(own_server.hs_port_wr)) for _ in range(5)]
            for wire in [*readers, *writers]:
                assert wire.ask(OPEN + b"1\t=\t1\t7\n") == b"0\t1"
                assert wire.lines(1) == [b"0\t2\t7\t7"]
            readers[0].send(b"half a request")
            switch(sql, "OFF")
            assert not is_on(sql)
            for wire in [*readers, *writers]:
                assert wire.rest() == b""
        assert not listens(own_server.hs_port)
        assert not listens(own_server.hs_port_wr)
        assert sql.status("handlersocket_connections") == 0
        assert sql.rows(f"SELECT * FROM {SCHEMA}.handlersocket_connections") == []
        assert sql.number(query) == 0
        switch(sql, "OFF")  # does nothing
        switch(sql, "DEFAULT")
        assert is_on(sql)
        with Wire(own_server.hs_port) as reader, Wire(own_server.hs_port_wr) as writer:
            assert reader.ask(OPEN) == writer.ask(OPEN) == b"0\t1"
        wait_until(lambda: sql.status("handlersocket_connections") == 0, "they have gone")
        wait_until(lambda: sql.number(query) == at_work, "all threads have started")
        used.append((threads(own_server), files(own_server)))
    # The first rounds may have opened files of the server.
    assert used[-1] == used[-2]
    said = own_server.log_text()[len(begun) :]
    assert said.count("listens nowhere, because handlersocket_enabled is OFF") == 5
    assert said.count("for reading and writing") == 5


def workers(sql: Sql, kind: str) -> int:
    return sql.number(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'handlersocket'"
        f" AND state LIKE '%{kind}, %'"
    )


def await_workers(sql: Sql, kind: str, count: int) -> None:
    wait_until(lambda: workers(sql, kind) == count, f"there are {count} of the kind {kind}")


def test_the_number_of_workers_changes_with_the_ports(own_server: ServerInstance, sql: Sql) -> None:
    before = sql.number("SELECT @@GLOBAL.handlersocket_threads")
    await_workers(sql, "reader", before)
    try:
        was = before
        for readers, writers in ((5, 3), (2, 1)):
            sql.run(f"SET GLOBAL handlersocket_threads = {readers}")
            sql.run(f"SET GLOBAL handlersocket_threads_wr = {writers}")
            await_workers(sql, "reader", was)
            switch(sql, "OFF")
            switch(sql, "ON")
            await_workers(sql, "reader", readers)
            await_workers(sql, "writer", writers)
            was = readers
            assert f"for reading, with {readers} workers" in own_server.log_text()
            with ExitStack() as stack:
                wires = [stack.enter_context(Wire(own_server.hs_port)) for _ in range(20)]
                for wire in wires:
                    assert wire.ask(OPEN + b"1\t=\t1\t7\n") == b"0\t1"
                    assert wire.lines(1) == [b"0\t2\t7\t7"]
        # One for each core, also if that is said while the ports are closed.
        switch(sql, "OFF")
        sql.run("SET GLOBAL handlersocket_threads = 0")
        suitable = sql.number("SELECT @@GLOBAL.handlersocket_threads")
        assert 1 <= suitable <= 16
        switch(sql, "ON")
        await_workers(sql, "reader", suitable)
    finally:
        sql.run(f"SET GLOBAL handlersocket_threads = {before}")
        sql.run("SET GLOBAL handlersocket_threads_wr = 1")


def test_a_request_under_way_is_answered(own_server: ServerInstance, sql: Sql) -> None:
    """It takes a while, but not long."""
    with Wire(own_server.hs_port_wr) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        wire.send(b"1\t>\t1\t0\t20000\t0\t+\t0\t1\n")
        state = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'hand%aside'"
        deadline = time.monotonic() + 10
        while sql.number(state) == 0 and sql.number("SELECT v FROM t WHERE id = 1") == 1:
            assert time.monotonic() < deadline
        switch(sql, "OFF")
        changed = sql.number("SELECT COUNT(*) FROM t WHERE v = id + 1")
        # As a whole or not at all, and whoever reads a reply has its rows.
        assert changed in (0, 20_000)
        reply = wire.rest()
        assert reply == b"" or changed == 20_000


def test_nobody_is_waited_for(own_server: ServerInstance, sql: Sql) -> None:
    """Clients that do not read, a locked row and a very long request do not keep the ports open."""
    with (
        Wire(own_server.hs_port) as unread,
        Wire(own_server.hs_port_wr) as blocked,
        Wire(own_server.hs_port_wr) as long,
        Sql(own_server.socket, "switched") as holder,
    ):
        for wire in (unread, blocked, long):
            assert wire.ask(OPEN) == b"0\t1"
        holder.run("BEGIN", "UPDATE t SET v = 0 WHERE id = 1")
        unread.send(10 * (b"1\t>\t1\t0\t%d\n" % ROWS))
        blocked.send(b"1\t=\t1\t1\t1\t0\tU\t1\t9\n")
        for _ in range(20):
            long.send(b"1\t>\t1\t5\t%d\t0\t+\t0\t1\n" % ROWS)
        time.sleep(0.5)
        begun = time.monotonic()
        switch(sql, "OFF")
        assert time.monotonic() - begun < 10
        for wire in (blocked, long):
            wire.rest()
        assert unread.rest().count(b"\n") < 10
        holder.run("ROLLBACK")
        assert sql.number("SELECT v FROM t WHERE id = 1") == 1


def test_a_port_that_is_taken_meanwhile(own_server: ServerInstance, sql: Sql) -> None:
    switch(sql, "OFF")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", own_server.hs_port_wr))
        other.listen()
        begun = len(own_server.log_text())
        assert sql.error("SET GLOBAL handlersocket_enabled = ON") == UNKNOWN
        said = b" ".join(row[2] or b"" for row in sql.rows("SHOW WARNINGS"))
        assert b"cannot listen" in said
        assert "cannot listen" in own_server.log_text()[begun:]
        assert not is_on(sql)
        # It opens all or nothing, and does not say that it listens where it did for a moment.
        assert "listens on" not in own_server.log_text()[begun:]
        assert not listens(own_server.hs_port)
    switch(sql, "ON")
    with Wire(own_server.hs_port_wr) as wire:
        assert wire.ask(OPEN) == b"0\t1"


def log_of_plugin(own: ServerInstance) -> list[str]:
    """The server itself may tell late of the connection by which its start was waited for."""
    lines = own.log_text().splitlines()
    return [line for line in lines if "Aborted connection" not in line]


def test_a_server_may_start_with_its_ports_closed(data_root: Path, watch: Any) -> None:
    with running_server(data_root, watch, handlersocket_enabled="OFF") as own:
        assert not listens(own.hs_port)
        with Sql(own.socket) as sql:
            assert not is_on(sql)
            assert "because handlersocket_enabled is OFF" in own.log_text()
            put = "SET GLOBAL handlersocket_max_request_size"
            sql.run(f"{put} = 1024", "SET GLOBAL handlersocket_verbose = 0")
            said = log_of_plugin(own)
            switch(sql, "ON")
            with Wire(own.hs_port) as wire:
                assert wire.ask(b"x" * 2000 + b"\n") == b"2\t1\trequest_size"
            switch(sql, "OFF")
            assert log_of_plugin(own) == said
            sql.run("UNINSTALL SONAME 'handlersocket2'", "INSTALL SONAME 'handlersocket2'")


@pytest.mark.skipif(not ON_MYSQL, reason="only MySQL has SET PERSIST")
def test_persisted(data_root: Path, watch: Any) -> None:
    with running_server(data_root, watch) as own:
        with Sql(own.socket) as sql, Wire(own.hs_port) as wire:
            sql.run("SET PERSIST_ONLY handlersocket_enabled = OFF")
            assert is_on(sql)
            assert wire.ask(b"x\n") == b"2\t1\tcmd"
        own.restart()
        assert not listens(own.hs_port)
        with Sql(own.socket) as sql:
            sql.run("SET PERSIST handlersocket_enabled = ON")
        own.restart()
        with Wire(own.hs_port) as wire:
            assert wire.ask(b"x\n") == b"2\t1\tcmd"


def test_while_everything_else_happens(data_root: Path, watch: Any) -> None:
    """Clients, other settings, readers of the tables, and the plugin's coming and going.

    MySQL does not protect a plugin's settings from its UNINSTALL, see "A defect of the servers" in
    docs/operations.md.
    """
    apart = threading.Lock() if ON_MYSQL else nullcontext()
    failed: list[BaseException] = []
    with running_server(data_root, watch) as own, Sql(own.socket) as sql:
        sql.run("CREATE DATABASE switched", "CREATE TABLE switched.t (id INT PRIMARY KEY, v INT)")
        end = time.monotonic() + SWITCHING
        switched = served = 0

        def repeat(work: Any) -> threading.Thread:
            def run() -> None:
                try:
                    with Sql(own.socket) as session:
                        while time.monotonic() < end and own.alive:
                            work(session)
                except BaseException as error:  # noqa: BLE001
                    failed.append(error)

            thread = threading.Thread(target=run)
            thread.start()
            return thread

        def turn_over(session: Sql) -> None:
            nonlocal switched
            with apart:
                for value in ("OFF", "ON"):
                    error = session.error(f"SET GLOBAL handlersocket_enabled = {value}")
                    switched += error is None

        def change(session: Sql) -> None:
            with apart:
                for value in (1000, 2000):
                    session.error(f"SET GLOBAL handlersocket_max_connections = {value}")
                for account in ("nobody@localhost", "root@localhost"):
                    session.error(f"SET GLOBAL handlersocket_anonymous_account = '{account}'")

        def look(session: Sql) -> None:
            session.error(f"SELECT COUNT(*) FROM {SCHEMA}.handlersocket_connections")
            session.error(f"SELECT COUNT(*) FROM {SCHEMA}.handlersocket_latency")

        def ask(_: Sql) -> None:
            nonlocal served
            try:
                with Wire(own.hs_port) as reader, Wire(own.hs_port_wr) as writer:
                    for wire in (reader, writer):
                        wire.send(OPEN + 50 * b"1\t=\t1\t1\n")
                        served += len(wire.lines(51))
            except (OSError, AssertionError):
                pass  # closed, or not open

        def come_and_go(session: Sql) -> None:
            library = "handlersocket2.so" if ON_MYSQL else "handlersocket2"
            with apart:
                session.error("UNINSTALL PLUGIN handlersocket")
                session.error(f"INSTALL PLUGIN handlersocket SONAME '{library}'")
            time.sleep(0.2)

        workers = [repeat(work) for work in (turn_over, turn_over, change, look, ask, ask)]
        workers.append(repeat(come_and_go))
        for worker in workers:
            worker.join(SWITCHING + 60)
        assert not any(worker.is_alive() for worker in workers)
        assert own.alive
        assert failed == []
        assert switched > 10
        assert served > 51
        library = "handlersocket2.so" if ON_MYSQL else "handlersocket2"
        sql.error(f"INSTALL PLUGIN handlersocket SONAME '{library}'")
        switch(sql, "ON")
        sql.run("SET GLOBAL handlersocket_anonymous_account = 'root@localhost'")
        with Wire(own.hs_port_wr) as wire:
            assert wire.ask(OPEN) == b"0\t1"


def test_a_shutdown_comes_meanwhile(data_root: Path, watch: Any) -> None:
    for _ in range(3):
        with running_server(data_root, watch) as own:
            stop = threading.Event()

            def turn_over(own: ServerInstance = own, stop: threading.Event = stop) -> None:
                try:
                    with Sql(own.socket) as session:
                        while not stop.is_set():
                            for value in ("OFF", "ON"):
                                session.rows(f"SET GLOBAL handlersocket_enabled = {value}")
                except Exception:  # noqa: BLE001
                    pass  # the server has gone

            workers = [threading.Thread(target=turn_over) for _ in range(2)]
            for worker in workers:
                worker.start()
            time.sleep(0.5)
            own.stop()
            stop.set()
            for worker in workers:
                worker.join(30)
            own.start()
            assert listens(own.hs_port)


def test_the_accounts_change(own_server: ServerInstance, sql: Sql) -> None:
    """They count for who connects from then on."""
    put = "SET GLOBAL handlersocket_anonymous_account"
    sql.run("DROP USER IF EXISTS 'seer'@'localhost'", "CREATE USER 'seer'@'localhost'")
    sql.run("GRANT SELECT (id) ON switched.t TO 'seer'@'localhost'")
    try:
        with Wire(own_server.hs_port) as old:
            assert old.ask(OPEN) == b"0\t1"
            sql.run(f"{put} = 'seer@localhost'")
            assert sql.row("SELECT @@GLOBAL.handlersocket_anonymous_account") == (
                b"seer@localhost",
            )
            with Wire(own_server.hs_port) as new:
                assert new.ask(OPEN) == b"0\t1"
                assert new.ask(b"1\t=\t1\t7\n") == b"1\t1\t1143"
                assert old.ask(b"1\t=\t1\t7\n") == b"0\t2\t7\t7"
            switch(sql, "OFF")
            switch(sql, "ON")
            with Wire(own_server.hs_port) as new:
                assert new.ask(OPEN + b"1\t=\t1\t7\n") == b"0\t1"
                assert new.lines(1) == [b"1\t1\t1143"]
        for nonsense in ("'seer'", "'seer@'"):
            assert sql.error(f"{put} = {nonsense}") == WRONG_VALUE
        sql.run(f"{put} = ''")
        with Wire(own_server.hs_port) as nobody:
            assert nobody.ask(OPEN) == b"3\t1\tunauth"
        sql.run(f"{put} = 'root@localhost'", f"{put} = DEFAULT")
        with Wire(own_server.hs_port) as nobody:
            assert nobody.ask(OPEN) == b"3\t1\tunauth"
    finally:
        sql.run(f"{put} = 'root@localhost'", "DROP USER 'seer'@'localhost'")


def test_the_account_of_the_secret_changes(data_root: Path, watch: Any) -> None:
    secret = {"handlersocket_plain_secret": "s", "handlersocket_secret_account": ""}
    with running_server(data_root, watch, **secret) as own, Sql(own.socket) as sql:
        sql.run("CREATE DATABASE switched", "CREATE TABLE switched.t (id INT PRIMARY KEY, v INT)")
        with Wire(own.hs_port) as wire:
            assert wire.ask(b"A\t1\ts\n") == b"3\t1\tunauth"
            sql.run("SET GLOBAL handlersocket_secret_account = 'root@localhost'")
            assert wire.ask(b"A\t1\ts\n") == b"0\t1"
            assert wire.ask(OPEN) == b"0\t1"


def test_the_log_is_quiet_or_not(own_server: ServerInstance, sql: Sql) -> None:
    begun = len(own_server.log_text())
    switch(sql, "OFF")
    switch(sql, "ON")
    said = own_server.log_text()[begun:]
    assert len(re.findall(LOG_NEWS, said)) == 3
    assert re.findall(LOG_ERROR, said) == []
