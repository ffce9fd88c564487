"""Where this differs from the original on purpose: transactions, locks, secrets, life cycle.

The table is in docs/migration.md. A test's name begins with the number of a difference, 11 to 14.
Numbers 1 to 10 are in test_differences.py.
"""

from __future__ import annotations

import threading
import time
from typing import Callable, TypeVar

import pytest
from handlersocket2 import (
    Auth,
    AuthenticationError,
    Client,
    Find,
    FindModify,
    ModifyOp,
    OpenIndex,
    ReplyError,
)
from server_instance import ServerInstance
from support.database import Database, Sql

Result = TypeVar("Result")
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b INT)",
    "INSERT INTO t VALUES (1,'one',5),(2,'two',5),(3,'three',7)",
)


@pytest.fixture
def tables(sql: Sql) -> None:
    sql.run(*TABLES)


def test_11_what_the_binary_log_has_no_room_for_is_answered_with_the_error(make_server) -> None:
    server = make_server(
        log_bin="binlog",
        binlog_format="ROW",
        binlog_cache_size=4096,
        max_binlog_cache_size=4096,
    )
    database = Database(server, "test")
    database.sql.run("CREATE TABLE big (id INT PRIMARY KEY, v LONGTEXT)")
    with database.writer() as writer:
        index = writer.index("test", "big", ["id", "v"])
        opened = database.sql.status("handlersocket_connections_opened")
        with writer.pipeline() as pipeline:
            # together they need more than there is room for; some need it alone
            for number in range(40):
                pipeline.on(index).insert([number, "x" * (20_000 if number % 5 == 4 else 1000)])
        results = pipeline.results()
        failed = [result for result in results if isinstance(result, ReplyError)]
        assert {(error.code, error.number) for error in failed} == {(1, 1197)}
        assert len(failed) == 40 / 5, "those that do not fit alone"
        written = {number for number, result in enumerate(results) if result is None}
        rows = {int(row[0]) for row in database.sql.rows("SELECT id FROM big")}
        assert rows == written, "what was answered with an error is not there; the rest is"
        assert database.sql.status("handlersocket_connections_opened") == opened
        assert index.insert([1000, "y"]) is None
    assert database.sql.number("SELECT COUNT(*) FROM big WHERE id = 1000") == 1
    database.close()


@pytest.mark.usefixtures("tables")
def test_12_the_advisory_lock_is_not_waited_for(
    writer: Client, sql: Sql, database: Database
) -> None:
    assert sql.number("SELECT GET_LOCK('handlersocket_wr', 1)") == 1
    index = writer.index(database.name, "t", ["b"])
    assert index.update(1, [1]) == 1
    assert index.find(1) == [(b"1",)]


@pytest.mark.usefixtures("tables")
def test_12_a_find_locks_nothing_and_waits_for_no_row_lock(
    reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run("SET SESSION innodb_lock_wait_timeout = 5", "BEGIN")
    sql.run("UPDATE t SET b = 99 WHERE id = 1", "SELECT * FROM t FOR UPDATE")
    for client in (reader, writer):
        index = client.index(database.name, "t", ["b"])
        started = time.monotonic()
        assert index.find(1) == [(b"5",)], "what is committed"
        assert time.monotonic() - started < 4
    sql.run("UPDATE t SET b = 98 WHERE id = 1", "COMMIT")
    for client in (reader, writer):
        assert client.index(database.name, "t", ["b"]).find(1) == [(b"98",)]


SECRET, SECRET_WR = "a5f-reading-secret", "b77-writing-secret"


def test_13_the_secret_opens_the_port_and_shows_nowhere(make_server) -> None:
    server = make_server(
        handlersocket_plain_secret=SECRET,
        handlersocket_plain_secret_wr=SECRET_WR,
        general_log=1,
        handlersocket_verbose=10000,
    )
    database = Database(server, "test")
    database.sql.run(*TABLES)
    for port, secret, wrong in (
        (server.hs_port, SECRET, SECRET_WR),
        (server.hs_port_wr, SECRET_WR, SECRET),
    ):
        with Client(("127.0.0.1", port)) as client:
            for request in (OpenIndex(1, "test", "t"), Find(1, [1]), Auth(wrong), Auth("")):
                with pytest.raises(AuthenticationError, match="unauth"):
                    client.request(request)
            client.request(Auth(secret))
            assert client.index("test", "t", ["id"]).find(1) == [(b"1",)]
            with pytest.raises(AuthenticationError, match="unauth"):
                client.request(Auth(wrong))
    variables = database.sql.rows("SHOW GLOBAL VARIABLES LIKE 'handlersocket%'")
    assert b"handlersocket_port" in dict(variables)
    status = database.sql.rows("SHOW GLOBAL STATUS LIKE 'handlersocket%'")
    processes = database.sql.rows("SHOW FULL PROCESSLIST")
    texts = [repr((variables, status, processes)), server.log_text()]
    for secret in (SECRET, SECRET_WR):
        assert not [text for text in texts if secret in text]
    database.close()


def test_13_the_secret_of_the_option_opens_the_client(make_server) -> None:
    server = make_server(handlersocket_plain_secret=SECRET)
    database = Database(server, "test")
    database.sql.run(*TABLES)
    with database.reader(secret=SECRET) as client:
        assert client.index("test", "t", ["a"]).find(2) == [(b"two",)]
    database.close()


def test_14_uninstalling_closes_every_connection(make_server) -> None:
    server: ServerInstance = make_server()
    database = Database(server, "test")
    database.sql.run(*TABLES)
    wires = [database.wire(write=write) for write in (False, True) for _ in range(20)]
    for wire in wires:
        wire.ask(b"P\t1\ttest\tt\t\tid\n")
    stop = threading.Event()

    def load() -> None:
        with database.reader() as client:
            try:
                index = client.index("test", "t", ["id"])
                while not stop.is_set():
                    index.find(1)
            except Exception:
                return

    loading = threading.Thread(target=load)
    loading.start()
    try:
        started = time.monotonic()
        database.sql.run("UNINSTALL PLUGIN handlersocket")
        assert time.monotonic() - started < 20
        assert [wire.rest() for wire in wires] == [b""] * len(wires)
    finally:
        stop.set()
        loading.join(10)
    assert not loading.is_alive()
    database.sql.run("INSTALL PLUGIN handlersocket SONAME 'handlersocket2.so'")
    with database.reader() as client:
        assert client.index("test", "t", ["id"]).find(1) == [(b"1",)]
    database.close()


def insist(request: Callable[[], Result]) -> Result:
    """The request's result. A killed worker may once answer its requests with an error."""
    try:
        return request()
    except ReplyError:
        return request()


def test_14_a_killed_worker_goes_on(make_server) -> None:
    server: ServerInstance = make_server()
    database = Database(server, "test")
    database.sql.run(*TABLES)
    with database.reader() as reader, database.writer() as writer:
        read = reader.index("test", "t", ["b"])
        write = writer.index("test", "t", ["b"])
        for number in range(10):
            workers = [
                row[0]
                for row in database.sql.rows("SHOW FULL PROCESSLIST")
                if b"handlersocket" in b" ".join(cell or b"" for cell in row[1:]).lower()
            ]
            assert len(workers) >= 2, "a reading and a writing worker are in the process list"
            for worker in workers:
                assert worker is not None
                assert database.sql.error(f"KILL {worker.decode()}") in (None, 1094)
            assert insist(lambda number=number: write.update(1, [number])) == 1
            assert insist(lambda: read.find(1)) == [(b"%d" % number,)]
    database.close()


@pytest.mark.usefixtures("tables")
def test_14_requests_of_both_kinds_after_a_failed_pass(writer: Client, database: Database) -> None:
    """The connection stays usable after any error."""
    writer.request(OpenIndex(1, database.name, "t", "", ["id"]))
    for _ in range(100):
        with pytest.raises(ReplyError, match="121"):
            writer.request(FindModify(Find(1, [1]), ModifyOp.UPDATE, [2]))
    assert writer.request(Find(1, [1])) == [(b"1",)]
