"""A primary and its replicas, with GTIDs, parallel replication and semi-synchronous replication."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server_instance import ServerInstance, free_port
from server_kind import Setting
from support.database import Sql
from support.servers import (
    GTID_POSITION,
    ON_MYSQL,
    SERVER_TREE,
    SHOW_REPLICA,
    START_REPLICA,
    WAIT_FOR_GTID,
)
from support_servers import wait_until

USER, PASSWORD = "replica", "secret"
APP = "app@localhost"
# The names of the settings in each family.
SOURCE, REPLICA = ("source", "replica") if ON_MYSQL else ("master", "slave")
FOR_EVER_MS = 3_600_000

COMMON: dict[str, Setting] = {
    "log_bin": "binlog",
    "binlog_format": "ROW",
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
    f"log_{REPLICA}_updates": "ON",
    f"rpl_semi_sync_{SOURCE}_timeout": FOR_EVER_MS,
    f"rpl_semi_sync_{REPLICA}_enabled": "ON",
    **(
        {
            "plugin_load_add": "semisync_source.so;semisync_replica.so",
            "gtid_mode": "ON",
            "enforce_gtid_consistency": "ON",
            "replica_parallel_workers": 4,
        }
        if ON_MYSQL
        else {"slave_parallel_threads": 4, "slave_parallel_mode": "optimistic"}
    ),
}


class Group:
    """The first server is the primary. One thread uses it."""

    def __init__(self, folder: Path, replicas: int, wait_point: str = "AFTER_SYNC") -> None:
        self.servers = [
            ServerInstance(
                SERVER_TREE,
                Path(tempfile.mkdtemp(dir=folder)) / "server",
                settings={
                    **COMMON,
                    f"rpl_semi_sync_{SOURCE}_wait_point": wait_point,
                    "server_id": number + 1,
                    "read_only": "OFF" if number == 0 else "ON",
                    # root may write to a server that is read-only.
                    "handlersocket_anonymous_account": APP,
                    "port": free_port(),
                },
            )
            for number in range(replicas + 1)
        ]

    @property
    def primary(self) -> ServerInstance:
        return self.servers[0]

    @property
    def replicas(self) -> Sequence[ServerInstance]:
        return self.servers[1:]

    def start(self) -> None:
        for server in self.servers:
            server.start()
        with Sql(self.primary.socket) as sql:
            sql.run(
                f"CREATE USER {USER} IDENTIFIED BY '{PASSWORD}'",
                f"GRANT REPLICATION SLAVE ON *.* TO {USER}",
                f"CREATE USER {APP}",
                f"GRANT ALL ON ledger.* TO {APP}",
            )
        for replica in self.replicas:
            follow(replica, self.primary)
        with Sql(self.primary.socket) as sql:
            sql.run(f"SET GLOBAL rpl_semi_sync_{SOURCE}_enabled = ON")
            wait_until(
                lambda: sql.status(f"Rpl_semi_sync_{SOURCE}_clients") == len(self.replicas),
                "every replica acknowledges",
            )

    def promote(self) -> None:
        """The primary is gone. The replica that has received most takes its place."""
        positions = {server: received(server) for server in self.replicas}
        best = max(self.replicas, key=lambda server: _size(positions[server]))
        for server in self.replicas:
            with Sql(server.socket) as sql:
                sql.run(f"STOP {REPLICA.upper()} IO_THREAD")
        with Sql(best.socket) as sql:
            (waited,) = sql.row(WAIT_FOR_GTID, [received(best)])
            assert waited == b"0", "the replica has not applied what it has received"
            sql.run(f"STOP {REPLICA.upper()}", f"RESET {REPLICA.upper()} ALL")
            sql.run(f"SET GLOBAL rpl_semi_sync_{SOURCE}_enabled = ON", "SET GLOBAL read_only = OFF")
        others = [server for server in self.replicas if server is not best]
        for server in others:
            with Sql(server.socket) as sql:
                sql.run(f"STOP {REPLICA.upper()}")
            follow(server, best)
        self.servers = [best, *others]

    def stop(self) -> None:
        for server in reversed(self.servers):
            server.stop()

    def kill(self) -> None:
        for server in self.servers:
            server.kill()


@contextmanager
def running(folder: Path, watch: Any, replicas: int, **options: Any) -> Iterator[Group]:
    group = Group(folder, replicas, **options)
    every = list(group.servers)
    try:
        group.start()
        watch.servers.extend(every)
        yield group
    except BaseException:
        for server in every:
            server.kill()
        raise
    finally:
        watch.servers[:] = [server for server in watch.servers if server not in every]
    group.stop()
    for server in every:
        server.stop()  # an old primary that has come back is in no group


def follow(replica: ServerInstance, primary: ServerInstance) -> None:
    with Sql(replica.socket) as sql:
        start = START_REPLICA.format(user=USER, password=PASSWORD, port=primary.settings["port"])
        sql.run(start, f"START {REPLICA.upper()}")


def field(sql: Sql, name: str) -> bytes:
    """A field of the replica's status."""
    with sql.connection.cursor() as cursor:
        cursor.execute(SHOW_REPLICA)
        names = [column[0] for column in cursor.description]
        return cursor.fetchone()[names.index(name)] or b""


def received(server: ServerInstance) -> bytes:
    with Sql(server.socket) as sql:
        return field(sql, "Retrieved_Gtid_Set" if ON_MYSQL else "Gtid_IO_Pos")


def _size(position: bytes) -> int:
    """The last number of a position: everything comes from one server."""
    return int(position.replace(b"-", b":").rsplit(b":")[-1]) if position else 0


def wait_applied(primary: ServerInstance, replica: ServerInstance) -> None:
    with Sql(primary.socket) as source, Sql(replica.socket) as copy:
        (position,) = source.row(f"SELECT {GTID_POSITION}")
        (waited,) = copy.row(WAIT_FOR_GTID, [position])
        assert waited == b"0", f"{field(copy, 'Last_Error')!r}"


def seconds_since(began: float) -> float:
    return time.monotonic() - began
