"""A server under test, and how to reach it: by SQL, by the two ports, by bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymysql
from handlersocket2 import Client
from pymysql import converters
from server_instance import ServerInstance

from support.servers import in_dialect
from support.wire import Wire

SqlRow = tuple[bytes | None, ...]
Argument = bytes | str | int | None

# No decoders: a cell holds exactly the bytes that the server sends to a client.
_ENCODERS = {kind: encode for kind, encode in converters.encoders.items()}


class Sql:
    """An SQL session whose results are the text protocol's own bytes, in utf8mb4."""

    def __init__(
        self, socket: Path, database: str | None = None, user: str = "root", **options: Any
    ) -> None:
        self.connection = pymysql.connect(
            unix_socket=str(socket),
            user=user,
            database=database,
            charset="utf8mb4",
            use_unicode=False,
            conv=dict(_ENCODERS),
            autocommit=True,
            init_command="SET SESSION lock_wait_timeout = 20",
            read_timeout=60,
            max_allowed_packet=1 << 30,
            # Over a Unix socket there is no TLS to gain, and to read the authorities' certificates
            # for it takes a hundred times as long as to connect.
            ssl_disabled=True,
            **options,
        )

    def rows(self, query: str, arguments: Sequence[Argument] = ()) -> list[SqlRow]:
        with self.connection.cursor() as cursor:
            cursor.execute(query, tuple(arguments) or None)
            return list(cursor.fetchall())

    def row(self, query: str, arguments: Sequence[Argument] = ()) -> SqlRow:
        (row,) = self.rows(query, arguments)
        return row

    def run(self, *statements: str) -> None:
        """Executes statements whose results nobody needs."""
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(in_dialect(statement))

    def number(self, query: str) -> int:
        (value,) = self.row(query)
        assert value is not None
        return int(value)

    def status(self, name: str) -> int:
        """A global status counter."""
        _, value = self.row("SHOW GLOBAL STATUS LIKE %s", [name])
        assert value is not None
        return int(value)

    def error(self, statement: str, arguments: Sequence[Argument] = ()) -> int | None:
        """The error number with which a statement ends, or None if it succeeds."""
        try:
            self.rows(statement, arguments)
        except pymysql.err.Error as error:
            return int(error.args[0])
        return None

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Sql:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Database:
    """One schema of a running server."""

    def __init__(self, server: ServerInstance, name: str) -> None:
        self.server = server
        self.name = name
        self.sql = self.connect()

    def connect(self, **options: Any) -> Sql:
        """Another SQL session."""
        return Sql(self.server.socket, self.name, **options)

    def reader(self, **options: Any) -> Client:
        return Client(("127.0.0.1", self.server.hs_port), **options)

    def writer(self, **options: Any) -> Client:
        return Client(("127.0.0.1", self.server.hs_port_wr), **options)

    def wire(self, *, write: bool = False) -> Wire:
        return Wire(self.server.hs_port_wr if write else self.server.hs_port)

    def close(self) -> None:
        self.sql.close()
