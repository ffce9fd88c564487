"""What the soak asks by SQL: whole tables, and the state of the server."""

from __future__ import annotations

from pathlib import Path

import pymysql
from handlersocket2.codec import encode_value
from support.database import Sql

from soak.tables import (
    COLUMNS,
    DATABASE,
    STATIC_OWNER,
    Row,
    Table,
    more_statements,
    static_row,
)


class SqlSide:
    """A process's own SQL session, made when it is first needed."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._sql: Sql | None = None

    def session(self) -> Sql:
        if self._sql is None:
            try:
                self._sql = Sql(self._socket, DATABASE)
            except pymysql.err.OperationalError as error:
                raise ConnectionError(str(error)) from None
        return self._sql

    def close(self) -> None:
        if self._sql is not None:
            self._sql.close()
            self._sql = None

    def rows(self, table: Table, owner: int) -> dict[bytes, Row]:
        """The owner's rows by id, as tokens."""
        query = f"SELECT {', '.join(COLUMNS)} FROM {table.name} WHERE owner = {owner}"
        for last in (False, True):
            try:
                found = self.session().rows(query)
                break
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError) as error:
                self._sql = None
                if last:  # the first session may have belonged to a server that was killed
                    raise ConnectionError(str(error)) from None
        return {tokens[0]: tokens for row in found if (tokens := tuple(map(encode_value, row)))}


def create_database(socket: Path, tables: list[Table]) -> None:
    with Sql(socket) as sql:
        sql.run(f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}")
        for table in tables:
            sql.run(table.definition())
        sql.run(*more_statements())
        for table in tables:
            fill_static(sql, table)


def fill_static(sql: Sql, table: Table) -> None:
    for begin in range(1, table.static_rows + 1, 1000):
        rows = [static_row(table, number) for number in range(begin, begin + 1000)]
        values = ", ".join(
            "(" + ", ".join(f"'{token.decode()}'" for token in row) + ")" for row in rows
        )
        sql.run(f"INSERT INTO {table.name} ({', '.join(COLUMNS)}) VALUES {values}")


def make_volatile_anew(socket: Path, tables: list[Table]) -> None:
    """Makes tables without transactions again: after a crash nobody knows what they contain."""
    with Sql(socket, DATABASE) as sql:
        for table in tables:
            if not table.transactional:
                sql.run(f"DROP TABLE IF EXISTS {table.name}", table.definition())


def check_tables(socket: Path, tables: list[Table]) -> list[str]:
    """The complaints of CHECK TABLE, and whether rows are missing that nobody deletes."""
    found = []
    with Sql(socket, DATABASE) as sql:
        for table in tables:
            for _, _, kind, text in sql.rows(f"CHECK TABLE {table.name}"):
                if kind in (b"error", b"Error", b"warning", b"Warning"):
                    found.append(f"CHECK TABLE {table.name}: {(text or b'').decode()}")
        for table in tables:
            if table.static_rows:
                (count,) = sql.row(
                    f"SELECT COUNT(*) FROM {table.name} WHERE owner = {STATIC_OWNER}"
                )
                if count != b"%d" % table.static_rows:
                    found.append(f"{table.name}: {count!r} of {table.static_rows} static rows")
    return found
