"""Servers of a test file's own, and the waits that its tests share."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable

from conftest import SERVER_TREE
from server_instance import ServerInstance, Setting
from support.servers import own_settings

# A binary log, and no disk to wait for: what these tests compare does not depend on it.
LOGGING: Mapping[str, Setting] = {
    "log_bin": "binlog",
    "server_id": 1,
    "binlog_format": "ROW",
    "sync_binlog": 0,
    "innodb_flush_log_at_trx_commit": 0,
}


@contextmanager
def running_server(data_root: Path, watch: Any, **settings: Setting) -> Iterator[ServerInstance]:
    """A server for as long as the block lasts; conftest's watch sees whether it dies."""
    base_dir = Path(tempfile.mkdtemp(dir=data_root)) / "server"
    with ServerInstance(SERVER_TREE, base_dir, settings=own_settings(settings)) as instance:
        watch.servers.append(instance)
        try:
            yield instance
        finally:
            watch.servers.remove(instance)


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.005)
