"""A request as a value, whatever it asks: its line, its index, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from .codec import decode_line
from .deadline import check_seconds
from .descriptions import ALL_COLUMNS
from .ranges import UNSET, Unset
from .requests import (
    Databases,
    Describe,
    Echo,
    Hello,
    Indexes,
    OpenIndex,
    Request,
    Tables,
    Within,
    is_read,
    result_of,
)
from .tokens import within_prefix

T = TypeVar("T")


class Spec:
    """What one `P` opens. There is one for each combination of names, so it is its own key."""

    __slots__ = (
        "all_columns",
        "columns",
        "database",
        "filter_columns",
        "index",
        "line",
        "table",
    )

    def __init__(self, request: OpenIndex) -> None:
        self.line = request.encode()[len(b"P\t0") :]  # behind the index id
        self.database = request.database
        self.table = request.table
        self.index = request.index
        self.columns = tuple(request.columns)
        self.filter_columns = tuple(request.filter_columns)
        #: Such an index is opened each time, because the table may have others by then.
        self.all_columns = self.columns == ALL_COLUMNS

    def shown(self, error: str) -> str:
        """Names it in the text of an error. The columns are named if they are what is wrong."""
        named = f"{self.database}.{self.table}, index {self.index}"
        columns = (*self.columns, *self.filter_columns) if error == "fld" else ()
        return f"{named}, columns {', '.join(columns)}" if columns else named


class Specs:
    """All that a client has been asked to open."""

    def __init__(self) -> None:
        self._specs: dict[tuple[object, ...], Spec] = {}

    def get(self, request: OpenIndex) -> Spec:
        """Refuses names that no request can hold.

        And a star alone, which means all columns: a value for it would be one for the first column.
        """
        if tuple(request.columns) == ALL_COLUMNS:
            raise ValueError("'*' is no column: describe() says which there are")
        return self._get(request)

    def of_all_columns(self, request: OpenIndex) -> Spec:
        return self._get(replace(request, columns=ALL_COLUMNS))

    def _get(self, request: OpenIndex) -> Spec:
        made = Spec(request)
        key = (made.database, made.table, made.index, made.columns, made.filter_columns)
        return self._specs.setdefault(key, made)


class Operation(Generic[T]):
    """What is the same for all requests of a kind: their index, and how a reply is read."""

    __slots__ = ("before", "decode", "modifies", "more", "name", "spec")

    def __init__(
        self, name: str, spec: Spec | None, decode: Callable[[bytes, bool], T], *, modifies: bool
    ) -> None:
        self.name = name
        self.spec = spec
        #: Gives the result of a line, or raises ReplyError, ProtocolError or DecodeError. The
        #: second argument says that the line has neither an escaped byte nor a NULL.
        self.decode = decode
        self.modifies = modifies
        #: How many lines its reply has beside the first one.
        self.more = 0
        #: What stands in front of its line, and of the index id there.
        self.before = b""

    def behind(self, before: bytes) -> Operation[T]:
        """The same operation with this in front of its line."""
        if not before:
            return self
        made = copy(self)
        made.before = before
        return made


class Ask(Generic[T]):
    """A request as a value. Its line lacks the index id, which each connection has its own of.

    Without a line the index is opened, and nothing else is asked.
    """

    __slots__ = ("line", "operation", "reach", "timeout")

    def __init__(
        self,
        operation: Operation[T],
        line: bytes,
        reach: int = 1,
        timeout: float | Unset | None = UNSET,
        before: bytes = b"",
    ) -> None:
        self.operation = operation.behind(before)
        self.line = line
        #: How many rows it may answer; so a long find is known.
        self.reach = reach
        self.timeout = timeout if timeout is UNSET else _time_of_call(timeout)


def _time_of_call(timeout: object) -> float | None:
    """The seconds that a call may take: None and 0 are no limit."""
    check_seconds("timeout", timeout, may_be_none=True)
    return cast("float | None", timeout or None)


class Nothing(Ask[T]):
    """A request whose result is known. It is not sent."""

    __slots__ = ("result",)

    def __init__(self, operation: Operation[T], result: T) -> None:
        super().__init__(operation, b"")
        self.result = result


def ask_for(request: Request[T]) -> Ask[T]:
    """Any request, with an index id that the caller knows."""
    decode = lambda line, _: result_of(request, decode_line(line))  # noqa: E731
    name = _NAMES.get(type(request), "request")
    operation = Operation(name, None, decode, modifies=not is_read(request))
    if isinstance(request, Within):
        return Ask(operation, request.request.encode(), before=within_prefix(request.seconds))
    if isinstance(request, Describe):  # so its line begins with the index id, like any other
        return Ask(operation, request.encode().removeprefix(DESCRIBE), before=DESCRIBE)
    return Ask(operation, request.encode())


_NAMES: dict[type[Any], str] = {
    OpenIndex: "open_index",
    Describe: "describe",
    Hello: "hello",
    Databases: "list",
    Tables: "list",
    Indexes: "list",
    Echo: "ping",
}
#: What stands in front of the index that is to be described.
DESCRIBE = b"D\t"
