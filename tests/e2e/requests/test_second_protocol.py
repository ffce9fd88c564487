"""The server's tables behind a second protocol, which src/passes/test_line_protocol.h describes.

It has a port of its own beside those of HandlerSocket, which tests/support/line_port.h declares,
and shares the workers of the write port. So passes, stores and the plugin's threads need to know no
protocol, and nothing but the table of ports knows a port. What is tested here of commits and locks
is what HandlerSocket cannot show: a write that has no reply unless it fails.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.servers import ON_MYSQL
from support_line_port import build_plugin, say
from support_servers import BLOCK_COMMITS, fresh_session, running_server, wait_until

SCHEMA = "performance_schema" if ON_MYSQL else "information_schema"
TABLE = "CREATE TABLE kv (k VARCHAR(50) PRIMARY KEY, v VARCHAR(10000))"


@pytest.fixture(scope="module")
def plugin_dir() -> Path:
    return build_plugin()


@pytest.fixture(scope="module")
def line_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def second_server(
    plugin_dir: Path, data_root: Path, line_port: int, watch: Any
) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_lock_wait_timeout": 2,
        "handlersocket_threads_wr": 1,
        "handlersocket_line_port": line_port,
    }
    with running_server(data_root, watch, plugin_dir=plugin_dir, **settings) as instance:
        yield instance


@pytest.fixture
def sql(second_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(second_server, "hst", TABLE) as session:
        yield session


def rows(sql: Sql) -> dict[bytes | None, bytes | None]:
    return {key: value for key, value in sql.rows("SELECT k, v FROM hst.kv")}


def test_sets_are_rows_and_quiet_ones_are_silent(line_port: int, sql: Sql) -> None:
    requests = "get a\nset a 1\nquiet b two words\nget b\nquiet a 3\nget a\nnonsense\n"
    replies = say(line_port, requests)
    assert replies == "NONE\nSTORED\nVALUE 9 two words\nVALUE 1 3\nERROR\n"
    assert rows(sql) == {b"a": b"3", b"b": b"two words"}
    sql.run("UPDATE hst.kv SET v = 'from SQL' WHERE k = 'a'")
    assert say(line_port, "get a\nget c\n") == "VALUE 8 from SQL\nNONE\n"


def test_a_value_that_the_table_refuses(line_port: int, sql: Sql) -> None:
    """A quiet one, too, has an answer then, and what comes behind it is executed."""
    too_long = "x" * 10001
    replies = say(line_port, f"quiet a {too_long}\nset b 1\nquiet b {too_long}\n")
    assert replies == "ERROR too much\nSTORED\nERROR too much\n"
    assert rows(sql) == {b"b": b"1"}


def test_a_quiet_set_waits_for_its_row(
    second_server: ServerInstance, line_port: int, sql: Sql
) -> None:
    assert say(line_port, "set a 1\n") == "STORED\n"
    sql.run("BEGIN", "UPDATE hst.kv SET v = 'held' WHERE k = 'a'")
    assert say(line_port, "set b 1\nquiet a 2\nget b\n") == "STORED\nERROR locked\nVALUE 1 1\n"
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(say(line_port, "quiet a 2\nget a\n")))
    thread.start()
    with Sql(second_server.socket) as other:
        wait_until(lambda: other.status("handlersocket_requests_blocked") > 1, "it waits")
    sql.run("ROLLBACK")
    thread.join(60)
    assert answers == ["VALUE 1 2\n"]


@pytest.mark.skipif(ON_MYSQL, reason="MySQL has no BACKUP STAGE, which lets a commit fail here")
def test_a_quiet_set_whose_commit_fails(line_port: int, sql: Sql) -> None:
    """What a quiet write has not said has to be said when its commit has failed."""
    sql.run(*BLOCK_COMMITS)
    replies = say(line_port, "get a\nquiet a 1\nset b 2\nget b\nquiet c 3\n")
    sql.run("BACKUP STAGE END")
    assert replies == "NONE\n" + "ERROR locked\n" * 4
    assert rows(sql) == {}


def test_a_long_scan_is_streamed(line_port: int, sql: Sql) -> None:
    value = "y" * 1000
    requests = "".join(f"quiet {key} {value}\n" for key in range(1000, 2000))
    assert say(line_port, requests) == ""
    before = sql.status("handlersocket_long_finds")
    replies = say(line_port, "scan 0 5000\nget 1500\n")
    assert replies == f"VALUE 1000 {value}\n" * 1000 + f"END\nVALUE 1000 {value}\n"
    assert sql.status("handlersocket_long_finds") == before + 1


def test_the_port_shares_rows_and_workers_with_the_write_port(
    second_server: ServerInstance, line_port: int, sql: Sql
) -> None:
    """Each speaks its own protocol, and one thread executes and commits the writes of both."""
    assert say(line_port, "set a 1\n") == "STORED\n"
    with Client(("127.0.0.1", second_server.hs_port_wr)) as client:
        index = client.index("hst", "kv", ["k", "v"])
        assert index.find_one("a") == (b"a", b"1")
        index.insert(("b", "2"))
    assert say(line_port, "get b\n") == "VALUE 1 2\n"
    assert say(second_server.hs_port_wr, "get b\n") == "2\t1\tcmd\n"

    def writers() -> int:
        processes = [b" ".join(filter(None, row)) for row in sql.rows("SHOW FULL PROCESSLIST")]
        return sum(b"handlersocket: writer" in process for process in processes)

    wait_until(lambda: writers() > 0, "the writer has nothing to do")
    assert writers() == 1


def test_the_port_is_counted_and_shown_as_any_other(line_port: int, sql: Sql) -> None:
    names = {
        "line": ("connections_opened", "requests", "errors", "latency_find_count"),
        "write": ("connections_opened", "requests", "latency_find_modify_count"),
    }

    def counts() -> dict[str, int]:
        return {
            f"{port}_port_{name}": sql.status(f"handlersocket_{port}_port_{name}")
            for port, of_port in names.items()
            for name in of_port
        }

    before = counts()
    assert say(line_port, "set a 1\nget a\nget b\nnonsense\n").endswith("ERROR\n")
    wait_until(
        lambda: (
            counts()["line_port_latency_find_count"] >= before["line_port_latency_find_count"] + 2
        ),
        "its latencies are counted",
    )
    moved = {name: value - before[name] for name, value in counts().items()}
    assert moved == {
        "line_port_connections_opened": 1,
        "line_port_requests": 4,
        "line_port_errors": 1,
        "line_port_latency_find_count": 2,
        "write_port_connections_opened": 0,
        "write_port_requests": 0,
        "write_port_latency_find_modify_count": 0,
    }
    with socket.create_connection(("127.0.0.1", line_port), timeout=60) as connection:
        connection.sendall(b"get a\n")
        assert connection.recv(100) == b"VALUE 1 1\n"
        shown = f"SELECT PORT, REQUESTS, LAST_REQUEST FROM {SCHEMA}.handlersocket_connections"
        wait_until(lambda: len(sql.rows(shown)) == 1, "the others have ended")
        assert sql.rows(shown) == [(b"line", b"1", b"find")]


def test_the_port_has_its_options_and_its_lines_in_the_log(
    second_server: ServerInstance, line_port: int, sql: Sql
) -> None:
    shown = "SHOW GLOBAL VARIABLES LIKE 'handlersocket_line%'"
    assert sql.rows(shown) == [
        (b"handlersocket_line_port", str(line_port).encode()),
        (b"handlersocket_line_socket", b""),
    ]
    assert re.search(
        rf"listens on 127\.0\.0\.1:{line_port}( and \S+)? for reading and writing, with"
        r" \d+ readers? and 1 writer",
        second_server.log_text(),
    )
