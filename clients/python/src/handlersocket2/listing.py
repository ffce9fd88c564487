"""Requests for lists, and for an echo, with what reads their replies. No I/O."""

from __future__ import annotations

from typing import TypeVar

from .asks import Ask, Operation
from .codec import decode_line
from .errors import ProtocolError, ReplyError
from .lists import ListedIndex
from .ranges import Unset
from .requests import Databases, Echo, Indexes, Request, Tables, result_of

T = TypeVar("T")

_PING = Echo("ping")
#: The answer of a server that does not know a request.
_UNKNOWN = (2, "cmd")


class ListOperation(Operation[T]):
    """`L`. Its names are for those who watch requests: no connection opens anything for it."""

    __slots__ = ("database", "index", "table")

    def __init__(self, request: Request[T], database: str | None, table: str | None) -> None:
        decode = lambda line, _: result_of(request, decode_line(line))  # noqa: E731
        super().__init__("list", None, decode, modifies=False)
        self.database = database
        self.table = table
        self.index = None


def databases(timeout: float | Unset | None) -> Ask[list[str]]:
    return _ask(Databases(), timeout)


def tables(database: str, timeout: float | Unset | None) -> Ask[list[str]]:
    return _ask(Tables(database), timeout, database)


def indexes(database: str, table: str, timeout: float | Unset | None) -> Ask[list[ListedIndex]]:
    return _ask(Indexes(database, table), timeout, database, table)


def _ask(
    request: Request[T],
    timeout: float | Unset | None,
    database: str | None = None,
    table: str | None = None,
) -> Ask[T]:
    """Refuses names that no request can hold."""
    return Ask(ListOperation(request, database, table), request.encode(), timeout=timeout)


def ping(timeout: float | Unset | None) -> Ask[None]:
    """Asks for an echo, which shows that the server is there."""
    return Ask(Operation("ping", None, _pong, modifies=False), _PING.encode(), timeout=timeout)


def _pong(line: bytes, plain: bool) -> None:
    """A server that does not know the request has answered, too."""
    try:
        value = result_of(_PING, decode_line(line))
    except ReplyError as error:
        if (error.code, error.text) != _UNKNOWN:
            raise
    else:
        if value != b"ping":
            raise ProtocolError("the echo of a ping was expected", sent=True)
