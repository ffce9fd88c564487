"""Servers for one test file, and waits that its tests share."""

from __future__ import annotations

import shutil
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Callable

from conftest import SERVER_TREE
from handlersocket2 import Client
from server_instance import ServerInstance, Setting
from support.database import Sql
from support.servers import own_settings

# A binary log that does not wait for the disk: the compared results do not depend on that.
LOGGING: Mapping[str, Setting] = {
    "log_bin": "binlog",
    "server_id": 1,
    "binlog_format": "ROW",
    "sync_binlog": 0,
    "innodb_flush_log_at_trx_commit": 0,
}
# A lock holds a worker up inside the engine, for as long as the test likes.
HOLDING: Mapping[str, Setting] = {
    "handlersocket_row_wait": 0,
    "handlersocket_lock_wait_timeout": 20,
}
# MariaDB: commits wait from the last of these on.
BLOCK_COMMITS = [
    f"BACKUP STAGE {stage}" for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT")
]


@contextmanager
def running_server(
    data_root: Path, watch: Any, *, plugin_dir: Path | None = None, **settings: Setting
) -> Iterator[ServerInstance]:
    """A server that runs during the block. conftest's watch notices if it dies.

    Its folder goes with it: to delete those of all servers at the end takes a minute of disk.
    """
    folder = Path(tempfile.mkdtemp(dir=data_root))
    try:
        with ServerInstance(
            SERVER_TREE, folder / "server", plugin_dir=plugin_dir, settings=own_settings(settings)
        ) as instance:
            watch.servers.append(instance)
            try:
                yield instance
            finally:
                watch.servers.remove(instance)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fresh_session(server: ServerInstance, database: str, *statements: str) -> Iterator[Sql]:
    """An SQL session that uses an empty database, in which it has executed the statements."""
    with Sql(server.socket) as session:
        session.run(f"DROP DATABASE IF EXISTS {database}", f"CREATE DATABASE {database}")
        session.run(f"USE {database}", *statements)
        yield session


def results(client: Client, requests: Sequence[Any]) -> list[Any]:
    """Sends all in one piece. Errors are returned as their text."""
    with client.pipeline() as pipeline:
        pending = [pipeline.send(request) for request in requests]
    return [
        f"{error.code} {error.text}" if (error := reply.error()) else reply.result()
        for reply in pending
    ]


def listens(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
    except ConnectionRefusedError:
        return False
    return True


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.005)


def thread_names(server: ServerInstance) -> Counter[str]:
    """How many threads of the server have each name. The plugin's begin with hs-."""
    names: Counter[str] = Counter()
    for task in Path(f"/proc/{server.pid}/task").iterdir():
        with suppress(OSError):  # it has ended
            names[(task / "comm").read_text().strip()] += 1
    return names


#: The threads that execute a write which waits for a row.
WRITING_ASIDE = (
    "SELECT id FROM information_schema.processlist"
    " WHERE user = 'handlersocket' AND state = 'handlersocket: writing aside'"
)


def wait_until_nobody_writes_aside(sql: Sql) -> None:
    """A thread is shown so for a moment longer than its write takes.

    Whoever waits for a write of its own to be shown, and kills it, would meet the one before.
    """
    wait_until(lambda: sql.rows(WRITING_ASIDE) == [], "the writes before are over")
