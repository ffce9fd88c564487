"""Servers with Redis's port, and what its tests share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server_instance import ServerInstance, Setting, free_port
from support.database import Sql
from support.resp import Error, Reply, Resp, Word, pairs
from support.servers import ON_MYSQL
from support_servers import running_server

CONNECTIONS = ("performance" if ON_MYSQL else "information") + "_schema.handlersocket_connections"
#: What a row lock answers, or a deadlock: the client may try again.
TRY_AGAIN = "TRYAGAIN"
#: What an account may not do, and what is not there for it.
NO_PERMISSION = "NOPERM"


@contextmanager
def redis_server(data_root: Path, watch: Any, **settings: Setting) -> Iterator[ServerInstance]:
    """A server whose Redis's port is that of its settings."""
    chosen: dict[str, Setting] = {"handlersocket_redis_port": free_port(), **settings}
    with running_server(data_root, watch, **chosen) as instance:
        yield instance


def redis_port(server: ServerInstance) -> int:
    return int(str(server.settings["handlersocket_redis_port"]))


def connect(server: ServerInstance, **options: Any) -> Resp:
    return Resp(redis_port(server), **options)


def hash_of(wire: Resp, key: Word) -> dict[bytes, bytes]:
    """All fields of a row."""
    return pairs(wire.ask("HGETALL", key))


def errors_in(replies: Sequence[Reply]) -> list[Error]:
    return [reply for reply in replies if isinstance(reply, Error)]


def sql_error(reply: Reply) -> int:
    """The number of an error that is SQL's own: `ERR <number> <SQLSTATE> <message>`."""
    assert isinstance(reply, Error), reply
    code, number, state, message = reply.text.split(" ", 3)
    assert code == "ERR" and len(state) == 5 and message, reply
    return int(number)


def connection_id(sql: Sql, wire: Resp) -> int:
    row = sql.row(f"SELECT ID FROM {CONNECTIONS} WHERE PEER = '127.0.0.1:{wire.own_port}'")
    return int(row[0] or 0)
