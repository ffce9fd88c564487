"""What a client lets others see: hooks for requests and connections, and counters.

Nothing here ever holds a value of a row, a key, a password or a secret.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from .address import Place
from .asks import Operation
from .errors import ErrorKind, HandlerSocketError, ReplyError

#: What goes wrong in a hook is said here, and nowhere else.
_LOGGER = logging.getLogger("handlersocket2")
_LOGGER.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class RequestSeen:
    """A request that has ended."""

    #: find, count, exists, insert, upsert, update, delete, increment, decrement, lock, group,
    #: describe, hello, list, ping, open_index or request.
    operation: str
    database: str | None
    table: str | None
    index: str | None
    route: str
    #: The server, if there was a connection at the end.
    address: Place | None
    seconds: float
    #: Of an iteration all that its connection has sent and received meanwhile.
    bytes_out: int
    bytes_in: int
    #: How many rows were answered, or changed. Of an iteration that has failed, those before that.
    rows: int | None
    error: BaseException | None

    def attributes(self) -> dict[str, str | int]:
        """By the names that OpenTelemetry has for them."""
        names: dict[str, str | int | None] = {
            "db.system.name": "handlersocket",
            "db.namespace": self.database,
            "db.collection.name": self.table,
            "db.operation.name": self.operation,
        }
        if isinstance(self.address, tuple):
            names["server.address"], names["server.port"] = self.address
        else:
            names["server.address"] = self.address
        if self.error is not None:
            names["error.type"] = kind_of(self.error)
        if isinstance(self.error, ReplyError):
            names["error.type"] = names["db.response.status_code"] = self.error.text
        return {name: value for name, value in names.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ConnectionSeen:
    """Something that has happened to a connection."""

    #: Of the two ways to end: lost, if requests were in flight or what came was no reply; closed,
    #: if it was idle or the client has closed it.
    what: Literal["connected", "lost", "closed", "failed", "moved"]
    route: str
    #: The server; of an attempt that failed, none, because it has tried all of them.
    address: Place | None
    reason: str | None = None
    #: The seconds until the next attempt may begin.
    delay: float | None = None


@dataclass(slots=True)
class Counters:
    """What a client has done so far."""

    #: Lines, with those that open an index.
    requests: int = 0
    replies: int = 0
    #: Replies that were errors, or that do not fit the caller's types.
    errors: int = 0
    #: Calls whose time was over, or whose task was cancelled.
    given_up: int = 0
    #: Replies for which nobody waited any more.
    dropped: int = 0
    in_flight: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    #: How often a socket was read and written.
    reads: int = 0
    writes: int = 0
    connected: int = 0
    lost: int = 0

    def plus(self, other: Counters) -> Counters:
        return Counters(
            **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in _COUNTED}
        )


_COUNTED = fields(Counters)


def kind_of(error: BaseException) -> ErrorKind:
    """The kind of what has ended a call, which may be no error of this package."""
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    return error.kind if isinstance(error, HandlerSocketError) else "usage"


RequestHook: TypeAlias = Callable[[RequestSeen], object]
ConnectionHook: TypeAlias = Callable[[ConnectionSeen], object]


def call_hook(hook: Callable[[Any], object], seen: Any) -> None:
    """A hook that fails is no reason for a request to fail."""
    try:
        hook(seen)
    except Exception:
        _LOGGER.exception("a hook has failed")


def rows_of(operation: Operation[Any], result: Any) -> int | None:
    """How many rows a result is, or stands for."""
    if isinstance(result, list):
        return len(result)
    if operation.name == "find":
        return 0 if result is None else 1
    if operation.name in ("insert", "upsert"):
        return 1
    return int(result) if isinstance(result, int) else None
