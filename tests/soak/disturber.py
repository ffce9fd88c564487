"""What happens beside the clients: DDL, locks, KILL, REVOKE. Shared memory tells when."""

from __future__ import annotations

import collections
import json
import os
import random
import socket as sockets
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import pymysql
from support.database import Sql
from support.servers import ON_MYSQL

from soak.accounts import Right, account, grant, log_in, revoke
from soak.channel import LINGER_NOT
from soak.hostile import ATTACKS
from soak.remote import Remote
from soak.shared import Disturbance, Phase, Shared, die_with_parent
from soak.tables import DATABASE, Table

CONNECTIONS = ("performance_schema" if ON_MYSQL else "information_schema") + (
    ".handlersocket_connections"
)
# What the server counts, if it is told to. Only MariaDB has the second group.
STATISTICS = [
    "UPDATE performance_schema.setup_instruments SET enabled = '{yes}', timed = '{yes}'"
    " WHERE name LIKE 'wait/io/table/%' OR name LIKE 'wait/lock/metadata/%'",
    "UPDATE performance_schema.setup_consumers SET enabled = '{yes}' WHERE name LIKE '%waits%'",
    "UPDATE performance_schema.threads SET instrumented = '{yes}'"
    " WHERE processlist_user = 'handlersocket'",
    "TRUNCATE TABLE performance_schema.table_io_waits_summary_by_index_usage",
    "SELECT * FROM performance_schema.table_io_waits_summary_by_table",
    "SELECT * FROM performance_schema.events_waits_current",
    "SELECT * FROM performance_schema.threads",
    "SELECT * FROM performance_schema.metadata_locks",
]
STATISTICS_OF_MARIADB = [
    *2 * ["SET GLOBAL userstat = {on}"],
    "FLUSH USER_STATISTICS",
    "FLUSH CLIENT_STATISTICS",
    "FLUSH TABLE_STATISTICS",
    "SELECT * FROM information_schema.user_statistics",
    "SELECT * FROM information_schema.client_statistics",
    "SELECT * FROM information_schema.table_statistics",
]
# What the look ahead at lookups reads, and whether it does.
LOOK_AHEAD = [
    *2 * ["SET GLOBAL handlersocket_prefetch = {on}"],
    "SET GLOBAL innodb_adaptive_hash_index = {on}",
    "SET GLOBAL innodb_buffer_pool_size = {megabytes} * 1024 * 1024",
]
NO_SUCH_THREAD = 1094
LOCK_WAIT_TIMEOUT = 1205
RESIZE_IN_PROGRESS = 3166


class Disturber:
    def __init__(
        self,
        socket: Path,
        tables: Sequence[Table],
        owners: Sequence[int],
        ports: Sequence[int],
        remote: Remote | None,
        shared: Shared,
        features: frozenset[str],
        seed: int,
    ) -> None:
        self._socket = socket
        self._tables = tables
        self._owners = owners
        self._ports = ports
        self._remote = remote
        self._missing: list[tuple[int, Table, Right]] = []
        self._shared = shared
        self._rng = random.Random(f"{seed}/disturber")
        self._tally: collections.Counter[str] = collections.Counter()
        self._actions: list[tuple[Callable[[Sql], None], float]] = []
        if "ddl" in features:
            self._actions += [(self._alter, 3), (self._plaything, 2), (self._flush, 1)]
        if "locks" in features:
            self._actions += [(self._lock_table, 2), (self._lock_rows, 3), (self._read_lock, 0.5)]
        if "kill" in features:
            self._actions += [(self._kill, 2), (self._close, 2)]
        if "hostile" in features:
            self._actions += [(self._attack, 2)]
        if "accounts" in features:
            self._actions += [(self._take_right, 4), (self._storm, 1), (self._accounts, 1)]
        if "statistics" in features:
            self._actions += [(self._statistics, 2)]
        if "prefetch" in features and ON_MYSQL:
            self._actions += [(self._look_ahead, 2)]
        if remote is not None:
            self._actions += [(self._ask_other_server, 4)]

    def run(self) -> None:
        while self._shared.phase != Phase.STOP:
            if self._shared.phase != Phase.RUN or not self._actions:
                time.sleep(0.01)
                continue
            try:
                with Sql(self._socket, DATABASE) as sql:
                    self._finish_ddl(sql)
                    self._give_back(sql)
                    while self._shared.phase == Phase.RUN:
                        self._disturb(sql)
                        time.sleep(self._rng.choice([0.01, 0.1, 0.5]))
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, ConnectionError):
                if self._shared.phase == Phase.RUN:
                    time.sleep(0.2)  # the server may be killed at this moment
                    if self._shared.phase == Phase.RUN:
                        raise
            finally:
                for kind in Disturbance:
                    if kind != Disturbance.RIGHTS or not self._missing:
                        self._shared.end(kind)
                self._forget_what_is_missing()
                self.save()

    def save(self) -> None:
        (self._shared.folder / "tally-disturber.json").write_text(json.dumps(self._tally))

    def _disturb(self, sql: Sql) -> None:
        actions, weights = zip(*self._actions, strict=True)
        action = self._rng.choices(actions, weights)[0]
        action(sql)

    def _during(self, kind: Disturbance, sql: Sql, *statements: str) -> None:
        self._shared.begin(kind)
        sql.run(*statements)
        self._shared.end(kind)

    def _alter(self, sql: Sql) -> None:
        table = self._rng.choice(self._tables).name
        for statements in self._rng.choice(
            [
                (
                    f"ALTER TABLE {table} ADD COLUMN more INT",
                    f"ALTER TABLE {table} DROP COLUMN more",
                ),
                (f"ALTER TABLE {table} FORCE",),
                (f"CREATE INDEX some ON {table} (ver, n)", f"DROP INDEX some ON {table}"),
                (f"OPTIMIZE TABLE {table}",),
                (f"ANALYZE TABLE {table}",),
            ]
        ):
            self._tally["ddl"] += 1
            self._during(Disturbance.TABLE_LOCK, sql, statements)
            time.sleep(self._rng.random() * 0.1)

    def _finish_ddl(self, sql: Sql) -> None:
        """Drops what _alter() had added and could not drop because of kill -9."""
        columns = sql.rows(
            "SELECT table_name FROM information_schema.columns"
            f" WHERE table_schema = '{DATABASE}' AND column_name = 'more'"
        )
        indexes = sql.rows(
            "SELECT DISTINCT table_name FROM information_schema.statistics"
            f" WHERE table_schema = '{DATABASE}' AND index_name = 'some'"
        )
        for found, drop in ((columns, "COLUMN more"), (indexes, "INDEX some")):
            for (name,) in found:
                statement = f"ALTER TABLE {(name or b'').decode()} DROP {drop}"
                self._during(Disturbance.TABLE_LOCK, sql, statement)

    def _plaything(self, sql: Sql) -> None:
        self._tally["ddl"] += 2
        sql.run(
            self._rng.choice(["TRUNCATE TABLE plaything", "ALTER TABLE plaything FORCE"]),
            "REPLACE INTO plaything VALUES (1, 2, 'three')",
            "DELETE FROM plaything",
            "DROP TABLE IF EXISTS passing",
            "CREATE TABLE passing LIKE plaything",
        )

    def _flush(self, sql: Sql) -> None:
        self._tally["ddl"] += 1
        table = self._rng.choice(self._tables).name
        statement = self._rng.choice(["FLUSH TABLES", f"FLUSH TABLES {table}"])
        self._during(Disturbance.TABLE_LOCK, sql, statement)

    def _lock_table(self, sql: Sql) -> None:
        self._tally["table locks"] += 1
        table = self._rng.choice(self._tables).name
        self._shared.begin(Disturbance.TABLE_LOCK)
        sql.run(f"LOCK TABLES {table} {self._rng.choice(['READ', 'WRITE', 'WRITE'])}")
        time.sleep(self._rng.choice([0.005, 0.05, 0.3]))
        sql.run("UNLOCK TABLES")
        self._shared.end(Disturbance.TABLE_LOCK)

    def _read_lock(self, sql: Sql) -> None:
        self._tally["table locks"] += 1
        self._shared.begin(Disturbance.TABLE_LOCK)
        sql.run("FLUSH TABLES WITH READ LOCK")
        time.sleep(self._rng.choice([0.005, 0.05, 0.2]))
        sql.run("UNLOCK TABLES")
        self._shared.end(Disturbance.TABLE_LOCK)

    def _lock_rows(self, sql: Sql) -> None:
        self._tally["row locks"] += 1
        table = self._rng.choice([t for t in self._tables if t.transactional]).name
        owner = self._rng.choice(self._owners)
        self._shared.begin(Disturbance.ROW_LOCK)
        try:
            sql.run(
                "BEGIN",
                f"SELECT COUNT(*) FROM {table} WHERE owner = {owner} FOR UPDATE",
                f"UPDATE {table} SET n = n + 1, m = m - 1 WHERE owner = {owner} LIMIT 3",
            )
            time.sleep(self._rng.choice([0.005, 0.05, 0.3]))
        except pymysql.err.OperationalError as error:
            if error.args[0] not in (1205, 1213):  # it has met the clients' own locks
                raise
        sql.run("ROLLBACK")
        self._shared.end(Disturbance.ROW_LOCK)

    def _kill(self, sql: Sql) -> None:
        found = sql.rows(
            "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
        )
        if not found:
            return
        (number,) = self._rng.choice(found)
        self._tally["kills"] += 1
        self._shared.begin(Disturbance.KILL)
        sql.error(f"{self._rng.choice(['KILL', 'KILL QUERY'])} {int(number or 0)}")
        self._shared.end(Disturbance.KILL)

    def _close(self, sql: Sql) -> None:
        """Looks at the table of connections, and closes one of them."""
        rows = sql.rows(f"SELECT ID, PEER FROM {CONNECTIONS}")
        self._tally["looks"] += 1
        ids = [int(number or 0) for number, _ in rows]
        if len(set(ids)) != len(ids):
            raise AssertionError(f"a connection is shown twice: {rows}")
        remote = [(number, peer) for number, peer in rows if peer and b":" in peer]
        if not remote:
            return
        number, peer = self._rng.choice(remote)
        self._shared.note_closed(int((peer or b"").rpartition(b":")[2]))
        try:
            sql.run(f"SET GLOBAL handlersocket_close_connection = {int(number or 0)}")
            self._tally["closed"] += 1
        except pymysql.err.Error as error:
            if error.args[0] not in (NO_SUCH_THREAD, LOCK_WAIT_TIMEOUT):
                raise

    def _take_right(self, sql: Sql) -> None:
        missing = (
            self._rng.choice(self._owners),
            self._rng.choice(self._tables),
            self._rng.choice(list(Right)),
        )
        self._tally["rights taken"] += 1
        self._shared.begin(Disturbance.RIGHTS)
        self._missing.append(missing)
        sql.run(revoke(*missing))
        self._shared.note_missing(*self._numbers(missing))
        time.sleep(self._rng.choice([0.02, 0.1, 0.4]))
        self._give_back(sql)

    def _give_back(self, sql: Sql) -> None:
        self._forget_what_is_missing()
        for missing in self._missing:
            sql.run(grant(*missing))
        self._missing.clear()
        self._shared.end(Disturbance.RIGHTS)

    def _forget_what_is_missing(self) -> None:
        """From now on requests may be refused, but need not be."""
        for missing in self._missing:
            self._shared.note_given_back(*self._numbers(missing))

    def _numbers(self, missing: tuple[int, Table, Right]) -> tuple[int, int]:
        """The client, and the right's number."""
        owner, table, right = missing
        return self._owners.index(owner), self._tables.index(table) * len(Right) + right

    def _accounts(self, sql: Sql) -> None:
        """What makes the server look at all accounts again."""
        self._tally["accounts changed"] += 1
        owner = self._rng.choice(self._owners)
        sql.run(
            "CREATE USER IF NOT EXISTS passing",
            "FLUSH PRIVILEGES",
            f"GRANT PROCESS ON *.* TO {account(owner)}",
            "DROP USER passing",
        )

    def _statistics(self, sql: Sql) -> None:
        self._tally["statistics"] += 1
        choice = STATISTICS if ON_MYSQL else STATISTICS + STATISTICS_OF_MARIADB
        for statement in self._rng.sample(choice, 3):
            is_on = self._rng.random() < 0.7
            sql.rows(statement.format(yes="YES" if is_on else "NO", on="ON" if is_on else "OFF"))

    def _look_ahead(self, sql: Sql) -> None:
        self._tally["looks ahead changed"] += 1
        is_on = self._rng.random() < 0.7
        statement = self._rng.choice(LOOK_AHEAD)
        megabytes = self._rng.choice([64, 128, 256])
        try:
            sql.run(statement.format(on="ON" if is_on else "OFF", megabytes=megabytes))
        except pymysql.err.Error as error:
            if error.args[0] != RESIZE_IN_PROGRESS:
                raise

    def _ask_other_server(self, _sql: Sql) -> None:
        if self._remote is not None:
            self._tally.update(self._remote.count(self._ports, self._rng))

    def _storm(self, _sql: Sql) -> None:
        """Clients that log in, rightly or wrongly, and leave at any time."""
        self._tally["log-in storms"] += 1
        rng = self._rng
        for _ in range(8):
            owner = rng.choice(self._owners)
            lines = b"".join(log_in(owner, wrong=rng.random() < 0.3).line for _ in range(3))
            with sockets.create_connection(("127.0.0.1", rng.choice(self._ports))) as client:
                client.send(lines[: rng.randrange(len(lines) + 1)])
                time.sleep(rng.choice([0.0, 0.001, 0.01]))
                if rng.random() < 0.5:
                    client.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, LINGER_NOT)

    def _attack(self, _sql: Sql) -> None:
        attack = self._rng.choice(ATTACKS)
        self._tally[attack.__name__.replace("_", " ")] += 1
        attack(self._ports, self._rng)


def run_disturber(parent: int, disturber: Disturber, shared: Shared) -> None:
    """The whole life of the disturber's process."""
    die_with_parent(parent)
    try:
        disturber.run()
        disturber.save()
    except BaseException:  # noqa: BLE001  # whatever it is, the parent reports it
        shared.fail("disturber", traceback.format_exc())
        os._exit(1)
    os._exit(0)
