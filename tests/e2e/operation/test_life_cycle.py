"""The plugin is loaded, unloaded and killed under load. Every client gets an end of file."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from conftest import MakeServer
from server_instance import ServerInstance
from support.database import Database, Sql
from support.wire import Wire
from support_load import Load, definition_of, under_load
from support_servers import listens

LIBRARY = "handlersocket2"
# If something takes longer, it has waited for a time-out: InnoDB's lock wait (50 s), or an idle
# client's.
PROMPTLY = 10.0


# An expression that takes some seconds, and does not check meanwhile whether it was killed.
DEAF_TO_KILL = f"CONCAT({', '.join(['SHA2(REPEAT(CHAR(64 + id), 15000000), 512)'] * 25)})"


def connected(port: int, count: int) -> list[socket.socket]:
    clients = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(count)]
    for client in clients:
        client.setblocking(False)
    return clients


def ended_within(clients: list[socket.socket], seconds: float) -> int:
    """How many of the clients get an end of file in time. Closes all of them."""
    deadline = time.monotonic() + seconds
    ended = 0
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_READ)
        while ended < len(clients) and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                client = key.fileobj
                assert isinstance(client, socket.socket)
                try:
                    data = client.recv(4096)
                except ConnectionResetError:
                    pytest.fail("a client got a reset in place of an end of file")
                if not data:
                    selector.unregister(client)
                    ended += 1
    for client in clients:
        client.close()
    return ended


def wait_until_gone(server: ServerInstance, seconds: float) -> float:
    """Waits until the process has ended by itself. Returns how long that took."""
    started = time.monotonic()
    while server.alive:
        assert time.monotonic() - started < seconds, "the server does not end"
        time.sleep(0.005)
    return time.monotonic() - started


@pytest.fixture
def own(make_server) -> Iterator[Database]:
    """A server for one test, with a small table."""
    database = Database(make_server(handlersocket_threads=4), "test")
    database.sql.run(definition_of("t"), "INSERT INTO t (id, v) VALUES (1, 10), (2, 20)")
    yield database
    if database.sql.connection.open:
        database.close()


class TestUnload:
    def test_under_load_again_and_again(self, own: Database) -> None:
        ports = (own.server.hs_port, own.server.hs_port_wr)
        load = Load(ports, own.name, "l", reconnect=True)
        own.sql.run(definition_of("l"), load.fill())
        with under_load(load):
            for _ in range(5):
                started = time.monotonic()
                own.sql.run(f"UNINSTALL SONAME '{LIBRARY}'")
                assert time.monotonic() - started < PROMPTLY
                assert not listens(ports[0])
                assert not listens(ports[1])
                own.sql.run(f"INSTALL SONAME '{LIBRARY}'")
                load.wait_for_answers()
        # Unanswered requests get an error at most.
        load.check(["1\t1\t1317", "1\t1\topen_table"])
        assert load.tally.ends >= 5 * 50

    def test_each_client_gets_an_end_of_file(self, own: Database) -> None:
        clients = connected(own.server.hs_port, 100) + connected(own.server.hs_port_wr, 100)
        for client in clients[::2]:
            client.sendall(b"P\t1\ttest\tt\t\tid\n1\t=\t1\t1\n1\t=")
        own.sql.run(f"UNINSTALL SONAME '{LIBRARY}'")
        assert ended_within(clients, PROMPTLY) == 200

    def test_while_a_writer_waits_for_a_row(self, own: Database) -> None:
        with blocked_writer(own) as blocked:
            started = time.monotonic()
            own.sql.run(f"UNINSTALL SONAME '{LIBRARY}'")
            assert time.monotonic() - started < PROMPTLY
            assert blocked.rest() in (b"", b"1\t1\t1317\n", b"1\t1\t146\n")
        assert own.sql.rows("SELECT v FROM t WHERE id = 1") == [(b"10",)]

    def test_the_last_kill_is_not_forgotten(self, make_server: MakeServer) -> None:
        """All workers are killed, then those of the read port have to leave. A writer that takes a
        request in the meantime must not forget its kill, as it does with any other, and wait."""
        settings = {f"handlersocket_{name}": 1 for name in ("threads", "threads_wr")}
        server = make_server(handlersocket_lock_wait_timeout=300, **settings)
        own = Database(server, "test")
        own.sql.run(
            definition_of("t"),
            f"CREATE TABLE slow (id INT PRIMARY KEY, v TEXT AS ({DEAF_TO_KILL}) VIRTUAL)",
            "INSERT INTO t (id, v) VALUES (1, 10)",
            "INSERT INTO slow (id) VALUES (1)",
        )
        with own.connect() as holder, own.connect() as ender:
            reader, writer = own.wire(), own.wire(write=True)
            assert reader.ask(b"P\t1\ttest\tslow\t\tv\n") == b"0\t1"
            assert writer.ask(b"P\t1\ttest\tt\t\tv\n") == b"0\t1"
            holder.run("BEGIN", "UPDATE t SET v = 99 WHERE id = 1")
            reader.send(b"1\t=\t1\t1\n")
            wait_for_state(own.sql, "reading")
            uninstall = (f"UNINSTALL SONAME '{LIBRARY}'",)
            ending = threading.Thread(target=ender.run, args=uninstall, daemon=True)
            ending.start()
            wait_for(lambda: all_are_killed(own.sql))
            writer.send(b"1\t=\t1\t1\t1\t0\tU\t11\n")
            assert workers(own.sql, "reading"), "the read port's worker has left too soon"
            ending.join(6 * PROMPTLY)
            waits = ending.is_alive()
            holder.run("ROLLBACK")
            ending.join(6 * PROMPTLY)
            assert not waits
            assert writer.rest() in (b"", b"1\t1\t1317\n")
            reader.close()
            writer.close()
        assert own.sql.rows("SELECT v FROM t") == [(b"10",)]
        own.close()

    def test_while_a_large_find_is_streamed_to_a_client_that_does_not_read(
        self, own: Database
    ) -> None:
        own.sql.run("INSERT INTO t SELECT seq, 0, REPEAT('x', 50) FROM seq_10_to_200000")
        with Wire(own.server.hs_port) as wire:
            wire.send(b"P\t1\ttest\tt\t\tid,note\n1\t>\t1\t0\t1000000\n")
            wire.lines(1)
            wait_for(lambda: own.sql.status("handlersocket_finds_parked") > 0)
            started = time.monotonic()
            own.sql.run(f"UNINSTALL SONAME '{LIBRARY}'")
            assert time.monotonic() - started < PROMPTLY

    def test_leaves_nothing_behind(self, own: Database) -> None:
        own.sql.run(f"UNINSTALL SONAME '{LIBRARY}'")
        assert own.sql.rows("SHOW GLOBAL STATUS LIKE 'handlersocket%'") == []
        assert own.sql.rows("SHOW GLOBAL VARIABLES LIKE 'handlersocket%'") == []
        assert workers(own.sql) == []
        own.sql.run(f"INSTALL SONAME '{LIBRARY}'")
        with own.reader() as client:
            assert client.index("test", "t", ["v"]).find(1) == [(b"10",)]


@contextmanager
def blocked_writer(own: Database) -> Iterator[Wire]:
    """A write that waits for a row that an SQL transaction has locked."""
    waits = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
    with own.connect() as holder, Wire(own.server.hs_port_wr) as wire:
        holder.run("BEGIN", "UPDATE t SET v = 99 WHERE id = 1")
        wire.ask(b"P\t1\ttest\tt\t\tid,v\n")
        wire.send(b"1\t=\t1\t1\t1\t0\tU\t1\t11\n")
        wait_for(lambda: own.sql.number(waits) == 1)
        yield wire


def wait_for(condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(
            0.15
        )  # InnoDB renews what it shows of its transactions if it was not asked for 100 ms


def workers(sql: Sql, state: str = "") -> list[int]:
    rows = sql.rows(
        "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
        " AND state RLIKE %s",
        [state or ".*"],
    )
    return [int(row[0]) for row in rows if row[0] is not None]


def all_are_killed(sql: Sql) -> bool:
    commands = sql.rows(
        "SELECT DISTINCT command FROM information_schema.processlist WHERE user = 'handlersocket'"
    )
    return commands == [(b"Killed",)]


def wait_for_state(sql: Sql, state: str) -> int:
    wait_for(lambda: workers(sql, state))
    return workers(sql, state)[0]


@contextmanager
def blocked_commit(own: Database) -> Iterator[Wire]:
    """A write whose commit waits for a backup."""
    with own.connect() as backup, Wire(own.server.hs_port_wr) as wire:
        wire.ask(b"P\t1\ttest\tt\t\tid,v\n")
        stages = ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT")
        backup.run(*(f"BACKUP STAGE {stage}" for stage in stages))
        wire.send(b"1\t=\t1\t1\t1\t0\tU\t1\t11\n")
        wait_for_state(own.sql, "backup|committing")
        yield wire


class TestShutdown:
    @pytest.mark.parametrize("how", ["SQL", "SIGTERM"])
    def test_with_a_thousand_clients(self, how: str, own: Database) -> None:
        server = own.server
        with ExitStack() as stack:
            clients = connected(server.hs_port, 500) + connected(server.hs_port_wr, 500)
            wait_for(lambda: own.sql.status("handlersocket_connections") == 1000)
            for client in clients[::3]:
                stack.callback(client.close)
                client.sendall(b"P\t1\ttest\tt\t\tid\n1\t=\t1\t1\n")
            if how == "SQL":
                own.sql.run("SHUTDOWN")
            else:
                # MySQL gives an SQL session that is still there two seconds to end by itself.
                own.sql.close()
                os.kill(server.pid, signal.SIGTERM)
            assert ended_within(clients, PROMPTLY) == 1000
            assert wait_until_gone(server, PROMPTLY) < PROMPTLY
        server.stop()  # fails if the server ended badly

    def test_while_a_commit_waits_for_a_backup(self, own: Database) -> None:
        with blocked_commit(own):
            started = time.monotonic()
            own.server.restart(timeout=40)
            assert time.monotonic() - started < 40

    def test_under_load(self, own: Database) -> None:
        load = Load((own.server.hs_port, own.server.hs_port_wr), own.name, "l", reconnect=True)
        own.sql.run(definition_of("l"), load.fill())
        with under_load(load):
            started = time.monotonic()
            own.server.restart(timeout=40)
            assert time.monotonic() - started < 40
            load.wait_for_answers()
        load.check(["1\t1\t1317", "1\t1\topen_table"])
        assert load.tally.ends >= 50

    def test_while_a_writer_waits_for_a_row(self, own: Database) -> None:
        with blocked_writer(own) as blocked:
            started = time.monotonic()
            own.server.restart(timeout=40)
            assert time.monotonic() - started < 40
            reply = blocked.rest()
        # If the session with the lock ends first, the write succeeds.
        made = b"0\t1\t1\n"
        assert reply in (b"", b"1\t1\t1317\n", b"1\t1\t146\n", made)
        with own.connect() as sql:
            expected = (b"11",) if reply == made else (b"10",)
            assert sql.rows("SELECT v FROM t WHERE id = 1") == [expected]


class TestKill:
    @pytest.mark.parametrize("kill", ["KILL", "KILL QUERY", "KILL HARD", "KILL SOFT"])
    def test_idle_workers(self, kill: str, own: Database) -> None:
        with own.reader() as reader, own.writer() as writer:
            index = reader.index("test", "t", ["v"])
            written = writer.index("test", "t", ["id", "v"])
            for worker in workers(own.sql):
                own.sql.run(f"{kill} {worker}")
            assert still_works(index, written)
            for port in (own.server.hs_port, own.server.hs_port_wr):
                with Wire(port) as wire:
                    assert wire.ask(b"A\t2\tnobody\tguess\n") == b"1\t1\t1045"
            streamers = log_in_threads = 2
            assert len(workers(own.sql)) == 4 + 1 + 2 * (streamers + log_in_threads)

    @pytest.mark.parametrize("kill", ["KILL", "KILL QUERY"])
    def test_during_a_write_that_waits(self, kill: str, own: Database) -> None:
        with own.writer() as bystander, own.reader() as reader:
            written = bystander.index("test", "t", ["id", "v"])
            index = reader.index("test", "t", ["v"])
            with blocked_writer(own) as blocked:
                own.sql.run(f"{kill} {wait_for_state(own.sql, 'writing')}")
                reply = blocked.lines(1)[0]
                assert reply in (b"1\t1\t1317", b"1\t1\t146"), reply
                assert blocked.ask(b"1\t=\t1\t2\n") == b"0\t2\t2\t20"
            assert still_works(index, written)
        assert own.sql.rows("SELECT v FROM t WHERE id = 1") == [(b"10",)]

    def test_during_a_commit_that_waits_for_a_backup(self, own: Database) -> None:
        with blocked_commit(own) as blocked:
            own.sql.run(f"KILL QUERY {wait_for_state(own.sql, 'backup|committing')}")
            assert blocked.lines(1) == [b"1\t1\t1317"]
            assert own.sql.rows("SELECT v FROM t WHERE id = 1") == [(b"10",)]
        with own.writer() as writer:
            assert writer.index("test", "t", ["id", "v"]).update(1, [1, 12]) == 1

    def test_while_triggers_are_read(self, own: Database) -> None:
        """If KILL comes while a trigger is parsed, MariaDB takes it for broken, also in SQL."""
        own.sql.run("CREATE TRIGGER flip BEFORE UPDATE ON t FOR EACH ROW SET NEW.note = 'f'")
        stop = time.monotonic() + 6
        replies: Counter[bytes] = Counter()

        def ask(port: int, requests: bytes) -> None:
            while time.monotonic() < stop:
                with Wire(port) as wire:
                    wire.send(b"P\t1\ttest\tt\t\tid,v\n" + requests)
                    replies.update(wire.lines(1 + requests.count(b"\n")))

        def disturb(statement: str) -> None:
            with own.connect() as sql:
                while time.monotonic() < stop:
                    for worker in workers(sql):
                        sql.error(statement.format(worker))

        calls: list[tuple[Any, ...]] = [(disturb, "FLUSH TABLES"), (disturb, "KILL QUERY {}")]
        calls += [(ask, own.server.hs_port, b"1\t=\t1\t1\n")] * 2
        calls += [(ask, own.server.hs_port_wr, b"1\t=\t1\t1\t1\t0\tU\t1\t%d\n" % n) for n in (7, 8)]
        with ThreadPoolExecutor(len(calls)) as pool:
            for future in [pool.submit(*call) for call in calls]:
                future.result()
        assert replies[b"0\t1\t1"] > 50, replies
        assert {reply for reply in replies if reply[:1] != b"0"} <= {
            b"1\t1\t1317",
            b"2\t1\tstmtnum",
        }, replies
        own.sql.run("UPDATE t SET v = 9 WHERE id = 1")

    def test_during_a_long_find(self, own: Database) -> None:
        own.sql.run("INSERT INTO t SELECT seq, 0, REPEAT('x', 50) FROM seq_10_to_300000")
        with own.reader() as reader, own.writer() as writer, Wire(own.server.hs_port) as wire:
            index, written = (
                reader.index("test", "t", ["v"]),
                writer.index("test", "t", ["id", "v"]),
            )
            wire.ask(b"P\t1\ttest\tt\t\tid,note\tnote\n")
            # No row passes the filter, so the streamer sends nothing and looks at all rows.
            wire.send(b"1\t>\t1\t0\t1000000\t0\tF\t=\t0\tnone\n" * 20)
            for _ in range(40):
                for (thread,) in own.sql.rows(
                    "SELECT id FROM information_schema.processlist"
                    " WHERE user = 'handlersocket' AND state LIKE '%streaming%'"
                ):
                    assert thread is not None
                    assert own.sql.error(f"KILL QUERY {thread.decode()}") in (None, 1094)
                time.sleep(0.01)
            replies = wire.lines(20)
            failed = [reply for reply in replies if reply != b"0\t2"]
            assert failed
            assert set(failed) == {b"1\t1\t1317"}
            assert still_works(index, written)

    def test_again_and_again_under_load(self, own: Database) -> None:
        load = Load((own.server.hs_port, own.server.hs_port_wr), own.name, "l")
        own.sql.run(definition_of("l"), load.fill())
        with under_load(load):
            for round_ in range(30):
                kill = "KILL" if round_ % 2 else "KILL QUERY"
                for worker in workers(own.sql):
                    own.sql.run(f"{kill} {worker}")
            load.wait_for_answers()
        load.check(["1\t1\t1317", "1\t1\t131", "1\t1\topen_table"])


def still_works(reading, writing) -> bool:
    assert reading.find(2) == [(b"20",)]
    assert writing.update(2, [2, 21]) == 1
    assert writing.update(2, [2, 20]) == 1
    return True
