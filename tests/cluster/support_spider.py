"""Servers with a Spider table and its back ends, and what their tests ask of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from handlersocket2 import Client, Find, OpenIndex, ReplyError, Request
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.servers import ON_MYSQL
from support_galera import MORE
from support_servers import running_server

LIBRARY = MORE / "root/usr/lib/mysql/plugin/ha_spider.so"
#: Of each test file of Spider.
MARKS = [
    pytest.mark.skipif(ON_MYSQL, reason="Spider is MariaDB's"),
    pytest.mark.skipif(
        not ON_MYSQL and not LIBRARY.exists(), reason="setup/more.sh has not got Spider"
    ),
    pytest.mark.timeout(600),
]
COLUMNS = "(id INT PRIMARY KEY, v INT NOT NULL, s VARCHAR(100), KEY v (v))"
OPEN = OpenIndex(1, "shop", "t", "", ["id", "v"])
OPEN_HERE = OpenIndex(2, "shop", "here", "", ["id", "v"])
#: Remote threads of a port. Spider gives up a back end after so many seconds.
THREADS = 2
SPIDER_WAITS = 3


def back_end(stack: ExitStack, data_root: Path, watch: Any) -> ServerInstance:
    end = stack.enter_context(running_server(data_root, watch, port=free_port()))
    with Sql(end.socket) as sql:
        sql.run(
            "CREATE USER spider IDENTIFIED BY 'secret'",
            "GRANT ALL ON *.* TO spider",
            "CREATE DATABASE shop",
            f"CREATE TABLE shop.t {COLUMNS}",
        )
    return end


def front_end(
    stack: ExitStack,
    data_root: Path,
    watch: Any,
    ends: list[ServerInstance],
    spider_waits: int = SPIDER_WAITS,
    **settings: object,
) -> ServerInstance:
    """A server with tables whose rows with even ids are on the first back end."""
    front = stack.enter_context(running_server(data_root, watch, **settings))
    link = front.base_dir / "plugins" / LIBRARY.name
    link.symlink_to(LIBRARY)
    with Sql(front.socket) as sql:
        make_tables(sql, ends, spider_waits)
    return front


def make_tables(sql: Sql, ends: list[ServerInstance], spider_waits: int = SPIDER_WAITS) -> None:
    """Of a server that has the library of Spider: a table over the back ends, and one here."""
    sql.run("INSTALL SONAME 'ha_spider'", "CREATE DATABASE shop")
    # How long Spider waits for a back end; and as docs/scaling.md has it.
    sql.run(
        f"SET GLOBAL spider_net_read_timeout = {spider_waits}",
        f"SET GLOBAL spider_connect_timeout = {spider_waits}",
        "SET GLOBAL spider_conn_recycle_mode = 1",
    )
    for number, end in enumerate(ends):
        sql.run(
            f"CREATE SERVER end{number} FOREIGN DATA WRAPPER mysql"
            " OPTIONS (HOST '127.0.0.1',"
            f" DATABASE 'shop', USER 'spider', PASSWORD 'secret',"
            f" PORT {end.settings['port']})"
        )
    sql.run(
        f"CREATE TABLE shop.t {spider_columns(ends)}",
        f"CREATE TABLE shop.here {COLUMNS}",
        "INSERT INTO shop.here VALUES (1, 1, 'one')",
    )


def spider_columns(ends: list[ServerInstance]) -> str:
    partitions = ", ".join(
        f'PARTITION p{number} COMMENT = \'srv "end{number}", table "t"\''
        for number in range(len(ends))
    )
    return (
        f"{COLUMNS} ENGINE=SPIDER COMMENT='wrapper \"mysql\"' PARTITION BY HASH (id) ({partitions})"
    )


@contextmanager
def spider_servers(
    data_root: Path, watch: Any, **settings: object
) -> Iterator[list[ServerInstance]]:
    """The one with the Spider table and these settings, and two back ends."""
    with ExitStack() as stack:
        ends = [back_end(stack, data_root, watch) for _ in range(2)]
        settings = {"handlersocket_threads_remote": THREADS, **settings}
        yield [front_end(stack, data_root, watch, ends, **settings), *ends]


def fill(front: ServerInstance) -> list[tuple[bytes, ...]]:
    """What the Spider table holds from now on: `id` and `v` of its rows."""
    values = [(row, 10 * row, f"row {row}") for row in range(1, 101)]
    with Sql(front.socket) as sql:
        wait_until(lambda: sql.error("DELETE FROM shop.t") is None)
        sql.run(
            "INSERT INTO shop.t VALUES "
            + ", ".join(f"({row}, {v}, '{text}')" for row, v, text in values),
        )
    return [(b"%d" % row, b"%d" % v) for row, v, _ in values]


def connect(port: int) -> Client:
    return Client(("127.0.0.1", port), timeout=30)


def error_of(client: Client, request: Request[Any]) -> str | None:
    try:
        client.request(request)
    except ReplyError as error:
        return error.text
    return None


#: A connection to a back end has ended.
LOST = {"1158", "1159", "1429", "2006", "2013", "12701"}
Answer = TypeVar("Answer")


def ask_again(client: Client, request: Request[Answer], seconds: float = 20) -> Answer:
    """The answer of a request behind connections that a back end has closed. Spider keeps several,
    and the next use of each fails. What fails so has not reached the back end."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return client.request(request)
        except ReplyError as error:
            assert error.text in LOST and time.monotonic() < deadline, error.text


def error_or_end(client: Client, index: int = 1) -> None:
    with suppress(Exception):
        client.request(Find(index, [1]))


def is_stopped(task: Path) -> bool:
    """Behind the name, which stands in brackets, comes the state."""
    try:
        return (task / "stat").read_text().rpartition(") ")[2].startswith("T")
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return True


@contextmanager
def standing_still(server: ServerInstance) -> Iterator[None]:
    """Its threads stop one after the other; on a busy machine the last one only after some time."""
    tasks = Path(f"/proc/{server.pid}/task")
    os.kill(server.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: all(is_stopped(task) for task in tasks.iterdir()))
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)
