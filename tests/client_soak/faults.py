"""What happens to the server while the clients work."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable

import pymysql
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL

DATABASE = "soak"
CONNECTIONS = ("performance_schema" if ON_MYSQL else "information_schema") + (
    ".handlersocket_connections"
)
DDL = (
    "ALTER TABLE kept ADD COLUMN IF NOT EXISTS more INT DEFAULT 1",
    "ALTER TABLE kept DROP COLUMN IF EXISTS more",
    "ALTER TABLE log ENGINE = InnoDB",
    "FLUSH TABLES",
    "ANALYZE TABLE kept",
)
DDL_OF_MYSQL = (
    "ALTER TABLE kept COMMENT = 'altered'",
    "ALTER TABLE log ENGINE = InnoDB",
    "FLUSH TABLES",
    "ANALYZE TABLE kept",
)


class Faults:
    """Belongs to one thread, that of the run. Each fault ends before the next one begins."""

    def __init__(self, server: ServerInstance, seed: int) -> None:
        self._server = server
        self._random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self._weights: dict[Callable[[], None], int] = {
            self._close_connections: 8,
            self._lock_rows: 5,
            self._lock_table: 3,
            self._change_table: 4,
            self._stand_still: 3,
            self._kill: 3,
            self._restart: 2,
        }

    def happen(self) -> None:
        """One of them."""
        (fault,) = self._random.choices(list(self._weights), list(self._weights.values()))
        self.counts[fault.__name__.strip("_")] += 1
        fault()

    def _close_connections(self) -> None:
        """All of ours, or some."""
        part = self._random.choice([0.1, 0.5, 1])
        with self._sql() as sql:
            for (number,) in sql.rows(f"SELECT id FROM {CONNECTIONS}"):
                if self._random.random() < part:
                    # It may have ended by itself.
                    sql.error(f"SET GLOBAL handlersocket_close_connection = {int(number or 0)}")

    def _lock_rows(self) -> None:
        """For less than requests wait, or for more."""
        with self._sql() as sql:
            sql.run("BEGIN")
            # Who waits for a row that a client has locked may be the victim of a deadlock.
            with contextlib.suppress(pymysql.OperationalError):
                sql.rows(
                    f"SELECT * FROM kept WHERE caller % 3 = {self._random.randrange(3)} FOR UPDATE"
                )
                self._sleep(0.1, 3)
            sql.run("ROLLBACK")

    def _lock_table(self) -> None:
        with self._sql() as sql:
            sql.run(f"LOCK TABLES {self._random.choice(['kept', 'log'])} WRITE")
            self._sleep(0.1, 3)
            sql.run("UNLOCK TABLES")

    def _change_table(self) -> None:
        with self._sql() as sql:
            sql.rows(self._random.choice(DDL_OF_MYSQL if ON_MYSQL else DDL))

    def _stand_still(self) -> None:
        pid = self._server.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            self._sleep(0.1, 2)
        finally:
            os.kill(pid, signal.SIGCONT)

    def _kill(self) -> None:
        self._server.kill()
        self._sleep(0, 1)
        self._server.start()

    def _restart(self) -> None:
        self._server.stop()
        self._sleep(0, 1)
        self._server.start()

    def _sql(self) -> Sql:
        return Sql(self._server.socket, DATABASE)

    def _sleep(self, least: float, most: float) -> None:
        time.sleep(self._random.uniform(least, most))
