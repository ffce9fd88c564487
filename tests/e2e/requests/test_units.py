"""Several requests as one unit, done wholly or not at all: `swap` of the tests' line protocol.

It exchanges the values of two rows of two tables, by three statements. The in-memory store is held
to the same by src/store/memory_unit_test.cc and src/passes/line_protocol_test.cc.
"""

from __future__ import annotations

import random
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.servers import (
    GTID_POSITION,
    ON_MYSQL,
    SHOW_REPLICA,
    START_REPLICA,
    WAIT_FOR_GTID,
)
from support_binlog import begin_log, row_events
from support_line_port import build_plugin, say
from support_servers import (
    BLOCK_COMMITS,
    LOGGING,
    WRITING_ASIDE,
    fresh_session,
    running_server,
    wait_until,
    wait_until_nobody_writes_aside,
)

TABLES = (
    "CREATE TABLE kv (k VARCHAR(50) PRIMARY KEY, v VARCHAR(100))",
    "CREATE TABLE other (k VARCHAR(50) PRIMARY KEY, v VARCHAR(100), UNIQUE (v))",
    "INSERT INTO kv VALUES ('a', '1'), ('b', '2')",
    "INSERT INTO other VALUES ('x', '11'), ('y', '12')",
)
UNTOUCHED = ["1", "2", "11", "12"]
SWAPPED = ["11", "2", "1", "12"]  # a and x


@pytest.fixture(scope="module")
def line_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(data_root: Path, line_port: int, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        **LOGGING,
        "handlersocket_lock_wait_timeout": 5,
        "handlersocket_threads_wr": 1,
        "handlersocket_line_port": line_port,
        "port": free_port(),
    }
    with running_server(data_root, watch, plugin_dir=build_plugin(), **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst", *TABLES) as session:
        begin_log(session)
        wait_until_nobody_writes_aside(session)
        yield session


@pytest.fixture
def second(server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    """Another session, whose transaction holds locks."""
    with Sql(server.socket, "hst") as session:
        yield session


class Saying:
    """Requests that wait, in a thread of their own."""

    def __init__(self, port: int, requests: str) -> None:
        self._replies = ""
        self._thread = threading.Thread(target=self._say, args=(port, requests), daemon=True)
        self._thread.start()

    def _say(self, port: int, requests: str) -> None:
        self._replies = say(port, requests)

    def replies(self) -> str:
        self._thread.join(60)
        assert not self._thread.is_alive(), "no answer"
        return self._replies


def values(sql: Sql) -> list[str]:
    rows = sql.rows(
        "SELECT v FROM (SELECT * FROM kv UNION ALL SELECT * FROM other) AS t ORDER BY k"
    )
    return [(value or b"NULL").decode() for (value,) in rows]


def logged(server: ServerInstance, sql: Sql) -> list[str]:
    """What the binary log has of each row: its table, its key, and its new value."""
    return [
        " ".join([event.table, event.after[1].strip("'"), event.after[2].strip("'")])
        for event in row_events(server, sql)
    ]


SWAP_LOGGED = ["kv a ", "other x 1", "kv a 11"]


def assert_no_savepoint_is_logged(server: ServerInstance, sql: Sql) -> None:
    names = [(name or b"").decode() for name, *_ in sql.rows("SHOW BINARY LOGS")]
    tool = str(server.tree / "bin" / server.kind.binlog)
    files = [str(server.data_dir / name) for name in names]
    shown = subprocess.run([tool, "--no-defaults", *files], capture_output=True, check=False)
    assert shown.returncode == 0 and re.search(rb"BEGIN|START TRANSACTION", shown.stdout)
    assert not re.search(rb"SAVEPOINT|ROLLBACK TO", shown.stdout)


def test_both_values_or_none(server: ServerInstance, line_port: int, sql: Sql) -> None:
    assert say(line_port, "get a\nswap a x\nget a\n") == "VALUE 1 1\nSWAPPED\nVALUE 2 11\n"
    assert values(sql) == SWAPPED
    assert say(line_port, "swap a nothing\nget a\nset b 3\n") == "NONE\nVALUE 2 11\nSTORED\n"
    assert values(sql) == ["11", "3", "1", "12"]
    assert logged(server, sql) == [*SWAP_LOGGED, "kv b 3"]
    assert_no_savepoint_is_logged(server, sql)


def test_what_is_undone_alone_is_no_transaction(
    server: ServerInstance, line_port: int, sql: Sql
) -> None:
    before = sql.row(f"SELECT {GTID_POSITION}")
    assert say(line_port, "swap a nothing\n") == "NONE\n"
    assert sql.row(f"SELECT {GTID_POSITION}") == before
    assert logged(server, sql) == []


@pytest.mark.parametrize("before", ["", "set c 5\n", "get b\n"])
def test_a_duplicate_key(server: ServerInstance, line_port: int, sql: Sql, before: str) -> None:
    """What came before it in the pass stays, whether it wrote, read, or was nothing at all."""
    sql.run("UPDATE kv SET v = '12' WHERE k = 'a'")
    begin_log(sql)
    replies = say(line_port, f"{before}swap a x\nget a\nset b 6\nswap b x\nset b 7\n")
    of_before = {"": "", "set c 5\n": "STORED\n", "get b\n": "VALUE 1 2\n"}[before]
    assert replies == f"{of_before}ERROR exists\nVALUE 2 12\nSTORED\nSWAPPED\nSTORED\n"
    stored = ["kv c 5"] if "set" in before else []
    swap = ["kv b 6", "kv b ", "other x 6", "kv b 11", "kv b 7"]
    assert logged(server, sql) == [*stored, *swap]
    assert_no_savepoint_is_logged(server, sql)


@pytest.mark.parametrize("locked", ["kv WHERE k = 'a'", "other WHERE k = 'x'"])
def test_it_waits_for_a_row(
    server: ServerInstance, line_port: int, sql: Sql, second: Sql, locked: str
) -> None:
    second.run("BEGIN")
    second.rows(f"SELECT * FROM {locked} FOR UPDATE")
    waiting = Saying(line_port, "set c 5\nswap a x\nget a\n")
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it waits")
    assert say(line_port, "get a\nset b 2\n") == "VALUE 1 1\nSTORED\n"
    assert values(sql) == ["1", "2", "5", "11", "12"]
    second.run("ROLLBACK")
    assert waiting.replies() == "STORED\nSWAPPED\nVALUE 2 11\n"
    assert [line for line in logged(server, sql) if not line.startswith("kv b")] == [
        "kv c 5",
        *SWAP_LOGGED,
    ]
    assert_no_savepoint_is_logged(server, sql)


def test_it_waits_too_long(server: ServerInstance, line_port: int, sql: Sql, second: Sql) -> None:
    second.run("BEGIN")
    second.rows("SELECT * FROM other WHERE k = 'x' FOR UPDATE")
    assert say(line_port, "set c 5\nswap a x\nget a\n") == "STORED\nERROR locked\nVALUE 1 1\n"
    second.run("ROLLBACK")
    assert values(sql) == ["1", "2", "5", "11", "12"]
    assert logged(server, sql) == ["kv c 5"]


def test_its_second_table_is_locked(
    server: ServerInstance, line_port: int, sql: Sql, second: Sql
) -> None:
    """The index is open, so the table is met by the second statement."""
    assert say(line_port, "swap a x\nswap a x\n") == "SWAPPED\n" * 2
    begin_log(sql)
    second.run("LOCK TABLES other WRITE")
    before = sql.status("handlersocket_requests_blocked")
    waiting = Saying(line_port, "swap a x\n")
    wait_until(lambda: sql.status("handlersocket_requests_blocked") > before, "it waits")
    assert sql.rows("SELECT v FROM kv WHERE k = 'a'") == [(b"1",)]
    second.run("UNLOCK TABLES")
    assert waiting.replies() == "SWAPPED\n"
    assert logged(server, sql) == SWAP_LOGGED


def test_a_deadlock(server: ServerInstance, line_port: int, sql: Sql, second: Sql) -> None:
    """The session is not chosen to give way, because it has changed more rows."""
    filling = ", ".join(f"('{number}', '0')" for number in range(100, 400))
    second.run("BEGIN", f"INSERT INTO kv VALUES {filling}")
    second.run("UPDATE other SET v = '50' WHERE k = 'x'")
    waiting = Saying(line_port, "swap a x\n")
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it waits")
    second.run("UPDATE kv SET v = '40' WHERE k = 'a'", "COMMIT")
    assert waiting.replies() == "SWAPPED\n"
    assert sql.rows("SELECT v FROM kv WHERE k = 'a'") == [(b"50",)]
    assert sql.rows("SELECT v FROM other WHERE k = 'x'") == [(b"40",)]
    assert logged(server, sql)[-3:] == ["kv a ", "other x 40", "kv a 50"]


def test_kill(server: ServerInstance, line_port: int, sql: Sql, second: Sql) -> None:
    second.run("BEGIN")
    second.rows("SELECT * FROM other WHERE k = 'x' FOR UPDATE")
    waiting = Saying(line_port, "swap a x\n")
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it waits")
    sql.run(f"KILL QUERY {sql.number(WRITING_ASIDE)}")
    replies = waiting.replies()
    second.run("ROLLBACK")
    assert re.fullmatch(r"ERROR \d+\n", replies)
    assert values(sql) == UNTOUCHED
    assert logged(server, sql) == []
    assert say(line_port, "swap a x\n") == "SWAPPED\n"


@pytest.mark.skipif(ON_MYSQL, reason="MySQL has no BACKUP STAGE, which lets a commit fail here")
def test_its_commit_fails(server: ServerInstance, line_port: int, sql: Sql) -> None:
    sql.run(*BLOCK_COMMITS)
    replies = say(line_port, "get a\nswap a x\nget a\n")
    sql.run("BACKUP STAGE END")
    assert replies == "VALUE 1 1\nERROR locked\nERROR locked\n"
    assert values(sql) == UNTOUCHED
    assert logged(server, sql) == []


def test_what_cannot_be_undone_is_refused(server: ServerInstance, line_port: int, sql: Sql) -> None:
    """The second table has no transactions, or a trigger of the first reaches one that has none."""
    sql.run("ALTER TABLE other ENGINE = MyISAM")
    begin_log(sql)
    assert say(line_port, "set c 5\nswap a x\nset c 6\n") == "STORED\nERROR 1178\nSTORED\n"
    assert logged(server, sql) == ["kv c 5", "kv c 6"]
    sql.run(
        "ALTER TABLE other ENGINE = InnoDB",
        "CREATE TABLE log (v VARCHAR(100)) ENGINE = MyISAM",
        "CREATE TRIGGER log_kv BEFORE UPDATE ON kv FOR EACH ROW INSERT INTO log VALUES (NEW.v)",
    )
    assert say(line_port, "swap a x\n") == "ERROR 1178\n"
    assert sql.rows("SELECT * FROM log") == []
    assert values(sql) == ["1", "2", "6", "11", "12"]


def test_triggers_that_leave_something_in_the_session(
    server: ServerInstance, line_port: int, sql: Sql
) -> None:
    sql.run(
        "CREATE TRIGGER seen_kv BEFORE UPDATE ON kv FOR EACH ROW SET @seen = 1",
        "CREATE TRIGGER seen_other BEFORE UPDATE ON other FOR EACH ROW SET @seen = 2",
    )
    assert say(line_port, "swap a x\nswap b y\nget a\n") == "SWAPPED\nSWAPPED\nVALUE 2 11\n"
    sql.run("UPDATE kv SET v = '12' WHERE k = 'b'", "UPDATE other SET v = '2' WHERE k = 'y'")
    sql.run("UPDATE other SET v = '30' WHERE k = 'x'", "INSERT INTO other VALUES ('z', '11')")
    assert say(line_port, "swap a x\nget a\nset c 1\n") == "ERROR exists\nVALUE 2 11\nSTORED\n"


def test_many_at_once_and_a_replica(
    server: ServerInstance, line_port: int, data_root: Path, watch: Any, sql: Sql
) -> None:
    """No value is lost, whoever locks rows meanwhile, and a replica has the same rows."""
    sql.run("DELETE FROM kv", "DELETE FROM other")
    keys = range(6)
    sql.run("INSERT INTO kv VALUES " + ", ".join(f"('{key}', '{key}')" for key in keys))
    sql.run("INSERT INTO other VALUES " + ", ".join(f"('{key}', '{key + 10}')" for key in keys))
    choice = random.Random(27)
    stop = threading.Event()

    def lock_now_and_then(number: int) -> None:
        choice = random.Random(number)
        with Sql(server.socket, "hst") as session:
            while not stop.is_set():
                table = choice.choice(["kv", "other"])
                session.run("BEGIN")
                session.rows(f"SELECT * FROM {table} WHERE k = '{choice.choice(keys)}' FOR UPDATE")
                stop.wait(choice.random() / 50)
                session.run("ROLLBACK")

    lockers = [threading.Thread(target=lock_now_and_then, args=(n,), daemon=True) for n in (1, 2)]
    for locker in lockers:
        locker.start()
    try:
        swaps = [
            "".join(f"swap {choice.choice(keys)} {choice.choice(keys)}\n" for _ in range(60))
            for _ in range(4)
        ]
        connections = [Saying(line_port, requests) for requests in swaps]
        replies = "".join(connection.replies() for connection in connections)
    finally:
        stop.set()
        for locker in lockers:
            locker.join(30)
    assert replies == "SWAPPED\n" * 240
    everything = "SELECT k, v FROM kv UNION ALL SELECT k, v FROM other"
    found = sorted(int(value or 0) for _, value in sql.rows(everything))
    assert found == [*keys, *(key + 10 for key in keys)]
    sql.run("CREATE USER IF NOT EXISTS replica IDENTIFIED BY 'secret'")
    sql.run("GRANT REPLICATION SLAVE ON *.* TO replica")
    with running_server(data_root, watch, **{**LOGGING, "server_id": 2}) as copy:
        with Sql(copy.socket) as replica:
            # The primary's log begins behind its tables.
            replica.run("CREATE DATABASE hst", "USE hst", *TABLES)
            begin_log(replica)
            replica.run(
                START_REPLICA.format(
                    user="replica", password="secret", port=server.settings["port"]
                ),
                "START SLAVE",
            )
            (position,) = sql.row(f"SELECT {GTID_POSITION}")
            (waited,) = replica.row(WAIT_FOR_GTID, [position])
            assert waited == b"0", replica.row(SHOW_REPLICA)
            assert sorted(replica.rows(everything)) == sorted(sql.rows(everything))
            replica.run("STOP SLAVE")
