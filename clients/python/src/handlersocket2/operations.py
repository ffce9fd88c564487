"""What can be asked of an index, as values: each method makes an Ask, and sends nothing.

A connection, a pipeline or a task runs it. So the synchronous client and the one of asyncio share
all that is here, and so do their pipelines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, NoReturn, TypeAlias, TypedDict, TypeVar, cast

from .codec import VALUE_TYPES, Value, decode_line, escape
from .errors import ProtocolError, reply_error
from .requests import (
    Auth,
    FetchModify,
    Filter,
    Find,
    FindModify,
    FindOp,
    In,
    Insert,
    LogIn,
    ModifyOp,
    OpenIndex,
    Request,
    check_some_values,
    result_of,
)
from .rows import RowReader

R = TypeVar("R")
T = TypeVar("T")

#: A key: its parts in order, or the one value of the first part.
Key: TypeAlias = Value | Sequence[Value]
#: Values for the first of the opened columns, or for columns by their names.
Values: TypeAlias = Sequence[Value] | Mapping[str, Value]


class _EveryCall(TypedDict, total=False):
    #: Seconds for this call in place of the client's; None: it may take for ever.
    timeout: float | None


class _Finding(_EveryCall, total=False):
    op: FindOp
    offset: int
    filters: Sequence[Filter]


class FindOneOptions(_Finding, total=False):
    """Keywords of a find that answers one row."""

    in_: In | None
    #: Whether it takes the connection for long finds. Without it the limit decides.
    long: bool


class FindOptions(FindOneOptions, total=False):
    """Keywords of every other find."""

    limit: int


class FindInOptions(_Finding, total=False):
    """Keywords of find_in()."""

    limit: int
    long: bool


class ModifyOptions(_Finding, total=False):
    """Keywords of every modification."""

    in_: In | None
    limit: int


class InsertOptions(_EveryCall, total=False):
    """Keywords of insert()."""


class Unset:
    """The type of a time-out that the caller did not give."""


UNSET: Final = Unset()
_EVERYTHING = 2**64 - 1
_LOW = re.compile(rb"[\x00-\x0f]")


class Spec:
    """What one `P` opens. There is one for each combination of names, so it is its own key."""

    __slots__ = ("columns", "database", "filter_columns", "index", "line", "table")

    def __init__(self, request: OpenIndex) -> None:
        self.line = request.encode()[len(b"P\t0") :]  # behind the index id
        self.database = request.database
        self.table = request.table
        self.index = request.index
        self.columns = tuple(request.columns)
        self.filter_columns = tuple(request.filter_columns)


class Specs:
    """All that a client has been asked to open."""

    def __init__(self) -> None:
        self._specs: dict[tuple[object, ...], Spec] = {}

    def get(self, request: OpenIndex) -> Spec:
        """Refuses names that no request can hold."""
        made = Spec(request)
        key = (made.database, made.table, made.index, made.columns, made.filter_columns)
        return self._specs.setdefault(key, made)


class Operation(Generic[T]):
    """What is the same for all requests of a kind: their index, and how a reply is read."""

    __slots__ = ("decode", "modifies", "name", "spec")

    def __init__(
        self, name: str, spec: Spec | None, decode: Callable[[bytes, bool], T], *, modifies: bool
    ) -> None:
        self.name = name
        self.spec = spec
        #: Gives the result of a line, or raises ReplyError, ProtocolError or DecodeError. The
        #: second argument says that the line has neither an escaped byte nor a NULL.
        self.decode = decode
        self.modifies = modifies


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
    ) -> None:
        self.operation = operation
        self.line = line
        #: How many rows it may answer; so a long find is known.
        self.reach = reach
        self.timeout = timeout


class Nothing(Ask[T]):
    """A request whose result is known to be an empty list. It is not sent."""


def ask_for(request: Request[T]) -> Ask[T]:
    """Any request, with an index id that the caller knows."""
    decode = lambda line, _: result_of(request, decode_line(line))  # noqa: E731
    modifies = not isinstance(request, (Find, OpenIndex, Auth, LogIn))
    name = "open_index" if isinstance(request, OpenIndex) else "request"
    return Ask(Operation(name, None, decode, modifies=modifies), request.encode())


class Operations(Generic[R]):
    """The requests of one index, whose rows are R."""

    def __init__(self, specs: Specs, spec: Spec, reader: RowReader[R]) -> None:
        self.spec = spec
        self._specs = specs
        self._reader = reader
        rows, row = _rows_decoder(spec, reader)
        self.find_operation: Operation[list[R]] = Operation("find", spec, rows, modifies=False)
        self.find_one_operation: Operation[R | None] = Operation("find", spec, row, modifies=False)
        self._by_names: dict[tuple[str, ...], Spec] = {}

    def open(self) -> Ask[None]:
        """Only that the index is open. It has no line: a connection opens what it has not yet."""
        return Ask(Operation("open_index", self.spec, _nothing, modifies=False), b"")

    def find(self, key: Key, options: FindOptions) -> Ask[list[R]]:
        if not options and (line := plain_line(key)):
            return Ask(self.find_operation, line)
        find, reach, timeout = self._finding(key, options)
        return Ask(self.find_operation, _behind_id(find.encode()), reach, timeout)

    def find_one(self, key: Key, options: FindOneOptions) -> Ask[R | None]:
        if not options and (line := plain_line(key)):
            return Ask(self.find_one_operation, line)
        if "limit" in options:
            raise TypeError("find_one() has no limit: it answers one row")
        find, reach, timeout = self._finding(key, cast(FindOptions, options))
        return Ask(self.find_one_operation, _behind_id(find.encode()), reach, timeout)

    def find_in(
        self, values: Sequence[Value], key: Key, key_part: int, options: FindInOptions
    ) -> Ask[list[R]]:
        if isinstance(values, (list, tuple)) and not values:
            return Nothing(self.find_operation, b"")  # nothing is IN an empty list
        parts = _parts(key) or [""]
        if "in_" in options:
            raise TypeError("find_in() makes its own in_")
        with_in = cast(FindOptions, {**options, "in_": In(values, key_part)})
        if "limit" not in options and isinstance(values, Sequence):
            with_in["limit"] = len(values)
        find, reach, timeout = self._finding(parts, with_in)
        return Ask(self.find_operation, _behind_id(find.encode()), reach, timeout)

    def iterate(self, key: Key, options: FindOptions) -> Ask[list[R]]:
        """A find without a limit, unless one is given."""
        return self.find(key, {"limit": _EVERYTHING, **options})

    def modify(
        self, change: ModifyOp, key: Key, values: Values, options: ModifyOptions
    ) -> Ask[int]:
        spec, given = self._for_columns(change, values)
        find, _, timeout = self._finding(key, cast(FindOptions, options))
        line = FindModify(find, change, given).encode()
        operation = Operation(_NAMES[change], spec, _count, modifies=True)
        return Ask(operation, _behind_id(line), 1, timeout)

    def fetch(
        self, change: ModifyOp, key: Key, values: Sequence[Value], options: ModifyOptions
    ) -> Ask[list[R]]:
        """A modification that answers the rows as they were before."""
        if isinstance(values, Mapping):
            raise TypeError("the values of a modification that answers rows are a list, not dict")
        self._for_columns(change, values)
        find, _, timeout = self._finding(key, cast(FindOptions, options))
        line = FetchModify(find, change, values).encode()
        operation = Operation(
            _NAMES.get(change, "modify"), self.spec, self.find_operation.decode, modifies=True
        )
        return Ask(operation, _behind_id(line), 1, timeout)

    def insert(self, values: Values, options: InsertOptions) -> Ask[int | None]:
        spec, given = self._named(values, "an insert")
        operation = Operation("insert", spec, _inserted, modifies=True)
        line = Insert(0, given).encode()
        timeout = options.pop("timeout", UNSET)
        if options:
            raise TypeError(f"insert() has no option {next(iter(options))!r}")
        return Ask(operation, _behind_id(line), 1, timeout)

    def _finding(self, key: Key, options: FindOptions) -> tuple[Find, int, float | Unset | None]:
        """The find, how far it reaches, and its time-out."""
        rest: dict[str, Any] = dict(options)
        timeout = rest.pop("timeout", UNSET)
        long = rest.pop("long", None)
        if filters := rest.get("filters"):
            rest["filters"] = self._numbered(filters)
        find = Find(0, _parts(key), **rest)
        reach = find.limit if long is None else _EVERYTHING if long else 0
        return find, reach, timeout

    def _numbered(self, filters: Sequence[Filter]) -> Sequence[Filter]:
        """Filters whose columns are numbers. What is no list of filters is for Find to refuse."""
        if isinstance(filters, VALUE_TYPES) or not isinstance(filters, Sequence):
            return filters
        numbered = []
        for each in filters:
            if isinstance(each, Filter) and isinstance(each.column, str):
                if each.column not in self.spec.filter_columns:
                    among = ", ".join(self.spec.filter_columns) or "none"
                    text = f"no column of a filter is {each.column!r}; those of the index: {among}"
                    raise ValueError(text)
                each = replace(each, column=self.spec.filter_columns.index(each.column))
            numbered.append(each)
        return numbered

    def _for_columns(self, change: ModifyOp, values: Values) -> tuple[Spec, Sequence[Value]]:
        if change is ModifyOp.DELETE:  # its request refuses values
            return self.spec, cast(Sequence[Value], values)
        return self._named(values, "a modification")

    def _named(self, values: Values, what: str) -> tuple[Spec, Sequence[Value]]:
        """The index with the columns that are meant, and their values.

        The server ignores values that have no column, and does nothing if there are none.
        """
        if isinstance(values, Mapping):
            names = tuple(sorted(values))
            check_some_values(names, f"values of {what}")
            return self._spec_of(names), [values[name] for name in names]
        check_some_values(values, f"values of {what}")
        columns = self.spec.columns
        if len(values) > len(columns):
            noun = "column: " if len(columns) == 1 else "columns: " if columns else "columns"
            raise ValueError(
                f"{len(values)} values for {what}, but the index was opened with"
                f" {len(columns)} {noun}{', '.join(columns)}"
            )
        return self.spec, values

    def _spec_of(self, names: tuple[str, ...]) -> Spec:
        """The same index, with the columns of these names."""
        found = self._by_names.get(names)
        if found is None:
            mine = self.spec
            request = OpenIndex(
                0, mine.database, mine.table, mine.index, names, mine.filter_columns
            )
            found = self._by_names[names] = self._specs.get(request)
        return found


_NAMES = {
    ModifyOp.UPDATE: "update",
    ModifyOp.DELETE: "delete",
    ModifyOp.INCREMENT: "increment",
    ModifyOp.DECREMENT: "decrement",
}


def plain_line(key: Key) -> bytes | None:
    """The line of the most usual find: one value of one key part, and nothing else."""
    if type(key) is int:
        return b"\t=\t1\t%d\n" % key
    if type(key) is str:
        raw = key.encode()
    elif type(key) is bytes:
        raw = key
    else:
        return None
    return b"\t=\t1\t%b\n" % (escape(raw) if _LOW.search(raw) else raw)


def _behind_id(line: bytes) -> bytes:
    """Without the index id, which was 0."""
    return line[1:]


def _parts(key: Key) -> Sequence[Value]:
    return [key] if isinstance(key, VALUE_TYPES) else key


def _rows_decoder(
    spec: Spec, reader: RowReader[R]
) -> tuple[Callable[[bytes, bool], list[R]], Callable[[bytes, bool], R | None]]:
    nothing = b"0\t%d" % len(spec.columns)
    begin = nothing + b"\t"
    skip = len(begin)
    read = reader.rows

    def rows(line: bytes, plain: bool) -> list[R]:
        if line.startswith(begin):
            return read(line[skip:], plain)
        if line == nothing:
            return []
        refuse(line, f"a reply of {len(spec.columns)} columns")

    def first(line: bytes, plain: bool) -> R | None:
        found = rows(line, plain)
        return found[0] if found else None

    return rows, reader.one_of_lines(begin, first)


def refuse(line: bytes, expected: str) -> NoReturn:
    """Raises the error that a reply is, or says that it is not the one that was expected."""
    reply = decode_line(line)
    if reply.code != 0:
        text = (reply.values[0] if reply.values else b"") or b""
        raise reply_error(reply.code, text.decode("utf-8", "replace"))
    raise ProtocolError(f"{expected} was expected, not one of {reply.columns}", sent=True)


def _count(line: bytes, plain: bool) -> int:
    if line.startswith(b"0\t1\t") and line[4:].isdigit():
        return int(line[4:])
    refuse(line, "a reply of 1 column and a count")


def _inserted(line: bytes, plain: bool) -> int | None:
    if line == b"0\t1":
        return None
    # A signed column may have been given a negative one.
    if line.startswith(b"0\t1\t") and line[4:].removeprefix(b"-").isdigit():
        return int(line[4:])
    refuse(line, "a reply of 1 column and a number")


def _nothing(line: bytes, plain: bool) -> None:
    raise AssertionError("the reply to an opening is the opening's")


def opened(line: bytes, plain: bool = False) -> None:
    """The reply to a `P`, or to a log-in."""
    if not re.match(rb"0\t\d+(\t|\Z)", line):
        refuse(line, "a reply without values")
