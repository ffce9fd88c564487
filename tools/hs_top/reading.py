"""Asks the server by SQL. A Reading is what it answered at one moment."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pymysql

from hs_top.arguments import Way

CONNECT_TIMEOUT = 5
# The table of connections takes some seconds if workers wait for commits.
READ_TIMEOUT = 15
MOST_CONNECTIONS = 2000
FIRST_CLIENT_ERROR = 2000  # smaller ones are the server's own
ALL = "SELECT * FROM {table}"
BUSY = (
    f"{ALL} WHERE idle_ms < %s OR waiting_bytes > 0 OR state <> 'waiting' ORDER BY idle_ms LIMIT %s"
)

PREFIX = "handlersocket_"
# The tables besides handlersocket_connections, and what is asked of each.
TABLES = {
    "latency": "SELECT * FROM {table}",
    # Clients name the same index with many lists of columns.
    "open_indexes": "SELECT port, table_schema, table_name, index_name, SUM(opened) AS opened,"
    " SUM(requests) AS requests FROM {table} GROUP BY 1, 2, 3, 4 ORDER BY 6 DESC LIMIT 1000",
}
Row = Mapping[str, Any]
UNSEEN = "none can be seen: that needs the privilege PROCESS"


class ServerError(RuntimeError):
    """The server cannot be reached or refuses. The message is one line."""


@dataclass(frozen=True)
class Table:
    """The rows of one of the plugin's tables, by column names in lower case."""

    rows: Sequence[Row] = ()
    # Why there are no rows, or not all of them. Empty: all is well.
    remark: str = ""


@dataclass(frozen=True)
class Reading:
    at: float  # seconds of a steady clock
    server: str
    uptime: int
    # By names without `handlersocket_`. Empty if the plugin is not loaded.
    counters: Mapping[str, int]
    most_waiting_bytes: int
    connections: Table
    # By the same names. An older plugin lacks some tables, and then they are not here.
    tables: Mapping[str, Table] = field(default_factory=dict)


class Server:
    """One SQL session, which is made when it is needed and after each failure. Not thread-safe."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._session: Any = None
        self._version = ""
        self._schema = ""
        self._on_mysql = False

    def read(self, interval: float) -> Reading:
        """What the server says now, `interval` seconds after the reading before."""
        try:
            if self._session is None:
                self._connect()
            return self._read(interval)
        except (pymysql.err.Error, OSError) as error:
            self.close()
            raise ServerError(_in_one_line(error)) from None

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(pymysql.err.Error, OSError):  # it may be broken already
                session.close()

    def _connect(self) -> None:
        way = self._way
        place: dict[str, Any] = (
            {"unix_socket": way.socket} if way.socket else {"host": way.host, "port": way.port}
        )
        if way.tls_ca and not way.socket:
            place |= {"ssl_ca": way.tls_ca, "ssl_verify_cert": True, "ssl_verify_identity": True}
        self._session = pymysql.connect(
            **place,
            user=way.user,
            password=way.password,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=CONNECT_TIMEOUT,
            read_timeout=READ_TIMEOUT,
            write_timeout=READ_TIMEOUT,
            program_name="hs-top",
            cursorclass=pymysql.cursors.DictCursor,
        )
        version = self._rows("SELECT VERSION() AS version")[0]["version"]
        on_mariadb = "MariaDB" in version
        self._version = f"{'MariaDB' if on_mariadb else 'MySQL'} {version.partition('-')[0]}"
        self._on_mysql = not on_mariadb
        self._schema = "information_schema" if on_mariadb else "performance_schema"

    def _read(self, interval: float) -> Reading:
        status = self._numbers(
            "SHOW GLOBAL STATUS WHERE Variable_name LIKE %s OR Variable_name = 'Uptime'"
        )
        settings = self._numbers("SHOW GLOBAL VARIABLES WHERE Variable_name LIKE %s")
        at = time.monotonic()
        connections = self._connections(status.get("connections", 0), interval)
        return Reading(
            at=at,
            server=self._version,
            uptime=status.pop("uptime", 0),
            counters=status,
            most_waiting_bytes=settings.get("max_waiting_bytes", 0),
            connections=connections,
            tables=self._tables(bool(connections.remark and not connections.rows)),
        )

    def _tables(self, denied: bool) -> dict[str, Table]:
        """`denied`: as another table was. Then MySQL does not list these, either."""
        there = set(TABLES) if denied and self._on_mysql else self._tables_that_are_there()
        tables = {name: self._table(name, query) for name, query in TABLES.items() if name in there}
        # Its rows are there even if no request was, for whom may see them.
        if "latency" in tables and tables["latency"] == Table(rows=[]):
            tables["latency"] = Table(remark=UNSEEN)
        return tables

    def _connections(self, there: int, interval: float) -> Table:
        """All of them, or if they are many, those that were busy in the interval."""
        if there <= MOST_CONNECTIONS:
            table = self._table("connections", f"{ALL} LIMIT %s", (MOST_CONNECTIONS,))
        else:
            busy_for = int(interval * 1000) + 500
            table = self._table("connections", BUSY, (busy_for, MOST_CONNECTIONS))
        nothing = there > 0 and not table.rows and not table.remark
        if nothing and not self._table("connections", f"{ALL} LIMIT 1").rows:
            return Table(remark=UNSEEN)
        if len(table.rows) < MOST_CONNECTIONS:
            return table
        return Table(table.rows, f"only the {MOST_CONNECTIONS:,} that were busy last")

    def _table(self, name: str, query: str, arguments: Sequence[int] = ()) -> Table:
        try:
            rows = self._rows(query.format(table=f"{self._schema}.{PREFIX}{name}"), arguments)
            warnings = self._rows("SHOW WARNINGS")
        except pymysql.err.Error as error:
            if not 1000 <= (error.args[0] if error.args else 0) < FIRST_CLIENT_ERROR:
                raise  # the session has ended
            return Table(remark=_in_one_line(error))
        remark = warnings[0]["Message"] if warnings else ""
        return Table([{key.lower(): cell for key, cell in row.items()} for row in rows], remark)

    def _tables_that_are_there(self) -> set[str]:
        rows = self._rows(
            "SELECT table_name AS name FROM information_schema.tables"
            " WHERE table_schema = %s AND table_name LIKE 'handlersocket%%'",
            (self._schema,),
        )
        return {row["name"].lower().removeprefix(PREFIX) for row in rows}

    def _numbers(self, query: str) -> dict[str, int]:
        found = {}
        for row in self._rows(query, [f"{PREFIX.replace('_', chr(92) + '_')}%"]):
            name = row["Variable_name"].lower().removeprefix(PREFIX)
            if row["Value"].isdecimal():
                found[name] = int(row["Value"])
        return found

    def _rows(self, query: str, arguments: Sequence[object] = ()) -> list[dict[str, Any]]:
        with self._session.cursor() as cursor:
            cursor.execute(query, tuple(arguments) or None)
            return list(cursor.fetchall())


def _in_one_line(error: Exception) -> str:
    """The server's own words, with the number of the error if there is one."""
    if isinstance(error, pymysql.err.Error) and len(error.args) == 2:
        number, words = error.args
        return f"{' '.join(str(words).split())} ({number})" if number else str(words)
    return " ".join(str(error).split()) or type(error).__name__
