"""The upper layer: tables and indexes by name, their index ids kept and used again."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar, Unpack

from .address import Address, parse_address
from .codec import VALUE_TYPES, Value
from .connection import Connection, Pending
from .deadline import Deadline, take_in_time
from .errors import ClosedError, ConnectionLost, HandlerSocketError, ReplyError
from .forks import renew_after_fork
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
    Row,
    check_some_values,
)

T = TypeVar("T")

#: A key: its parts in order, or the one value of the first part.
Key: TypeAlias = Value | Sequence[Value]
#: What is done on a connection, and until when.
_Work: TypeAlias = Callable[[Connection, Deadline], T]
_IndexName: TypeAlias = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


class FindOneOptions(TypedDict, total=False):
    """Keywords of a find that answers one row."""

    op: FindOp
    offset: int
    in_: In | None
    filters: Sequence[Filter]


class FindOptions(FindOneOptions, total=False):
    """Keywords of every other find and modification."""

    limit: int


class FindInOptions(TypedDict, total=False):
    """Keywords of find_in()."""

    op: FindOp
    limit: int
    offset: int
    filters: Sequence[Filter]


def _parts(key: Key) -> Sequence[Value]:
    return [key] if isinstance(key, VALUE_TYPES) else key


class Client:
    """One connection that remembers what it has opened.

    The server listens on two ports: the one for reading, 9998, and the one for
    reading and writing, 9999. Connects on first use. Where the server has closed the connection
    meanwhile (it does so to those that are idle), the next call connects again, logs in and
    opens the indexes again. What may have been executed is never sent twice: a loss under way
    is ConnectionLost. A client that was closed stays closed. In a child that was forked it makes a
    connection of its own. Threads may share a client; they take turns, a call or a pipeline each.
    With a `user` it acts as that account of the server, with a `secret` as the account that the
    server has for this.
    """

    def __init__(
        self,
        address: Address = ("127.0.0.1", 9998),
        *,
        secret: Value | None = None,
        user: Value | None = None,
        password: Value = "",
        timeout: float | None = 30.0,
        tls: ssl.SSLContext | bool = False,
    ) -> None:
        self._address = parse_address(address)
        if secret is not None and user is not None:
            raise ValueError("a secret and a user: one of them")
        self._log_in: Auth | LogIn | None = None
        if user is not None:
            self._log_in = LogIn(user, password)
        elif secret is not None:
            self._log_in = Auth(secret)
        self._timeout = timeout
        self._tls = tls
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._opened: dict[_IndexName, int] = {}
        self._closed = False
        renew_after_fork(self)

    def index(
        self,
        database: str,
        table: str,
        columns: Sequence[str],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> Index:
        """An index of a table with the columns that its rows are to have. Opens it."""
        OpenIndex(0, database, table, index, columns, filter_columns).encode()  # refuses, in words
        opened = Index(self, (database, table, index, tuple(columns), tuple(filter_columns)))
        self._on_connection(partial(self._index_id, opened.name))
        return opened

    def request(self, request: Request[T]) -> T:
        """Any request, on this client's connection."""
        return self._on_connection(
            lambda connection, deadline: connection.request(request, deadline)
        )

    def pipeline(self) -> ClientPipeline:
        """Requests of this client's indexes that travel together."""
        return ClientPipeline(self)

    def connection(self) -> Connection:
        """The connection, made and authenticated if there is none that can be used."""
        return self._on_connection(lambda connection, _: connection)

    def close(self) -> None:
        """Ends the connection. Every call after this is a ClosedError."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()

    def __enter__(self) -> Client:
        self._check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def after_fork(self) -> None:
        """In the child it is a new client, which makes a connection of its own."""
        self._lock = threading.RLock()
        self._connection = None

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the client is closed")

    def _on_connection(self, work: _Work[T]) -> T:
        """Does work that sends something, alone. Again on a new connection if nothing got away.

        The time-out begins here, and all of this has to be done within it.
        """
        deadline = Deadline(self._timeout)
        lock = self._lock
        take_in_time(lock, deadline)
        try:
            connection = self._connected(deadline)
            try:
                return work(connection, deadline)
            except ConnectionLost as error:
                if not error.nothing_sent:
                    raise
            return work(self._connected(deadline), deadline)
        finally:
            lock.release()

    def _connected(self, deadline: Deadline) -> Connection:
        self._check_open()
        if self._connection is None or not self._connection.usable:
            if self._connection is not None:
                self._connection.close()
            self._opened.clear()
            connection = Connection(
                self._address, timeout=self._timeout, tls=self._tls, deadline=deadline
            )
            if self._log_in is not None:
                connection.request(self._log_in, deadline)
            self._connection = connection
        return self._connection

    def _index_id(self, name: _IndexName, connection: Connection, deadline: Deadline) -> int:
        index_id = self._opened.get(name)
        if index_id is None:
            index_id = len(self._opened)
            connection.request(OpenIndex(index_id, *name), deadline)
            self._opened[name] = index_id
        return index_id


# Each call of an index is a request that lacks the index's id until there is a connection.
_Call: TypeAlias = Callable[[int], Request[T]]


def _find(key: Key, options: FindOptions) -> _Call[list[Row]]:
    return lambda index_id: Find(index_id, _parts(key), **options)


def _find_in(
    values: Sequence[Value], key: Key, key_part: int, options: FindInOptions
) -> _Call[list[Row]]:
    parts = _parts(key) or [""]
    with_limit: FindInOptions = {"limit": len(values), **options}
    return lambda index_id: Find(index_id, parts, in_=In(values, key_part), **with_limit)


def _modify(
    name: _IndexName, op: ModifyOp, key: Key, values: Sequence[Value], options: FindOptions
) -> _Call[int]:
    _check_modification(name, op, values)
    return lambda index_id: FindModify(Find(index_id, _parts(key), **options), op, values)


def _fetch(
    name: _IndexName, op: ModifyOp, key: Key, values: Sequence[Value], options: FindOptions
) -> _Call[list[Row]]:
    _check_modification(name, op, values)
    return lambda index_id: FetchModify(Find(index_id, _parts(key), **options), op, values)


def _insert(name: _IndexName, values: Sequence[Value]) -> _Call[int | None]:
    _check_columns(name, values, "an insert")
    return lambda index_id: Insert(index_id, values)


def _check_modification(name: _IndexName, op: ModifyOp, values: Sequence[Value]) -> None:
    if op is not ModifyOp.DELETE:  # its request refuses values
        _check_columns(name, values, "a modification")


def _check_columns(name: _IndexName, values: Sequence[Value], what: str) -> None:
    """The server ignores values that have no column, and does nothing if there are none."""
    check_some_values(values, f"values of {what}")
    columns = name[3]
    if len(values) > len(columns):
        noun = "column: " if len(columns) == 1 else "columns: " if columns else "columns"
        raise ValueError(
            f"{len(values)} values for {what}, but the index was opened with"
            f" {len(columns)} {noun}{', '.join(columns)}"
        )


def _is_empty(values: Sequence[Value]) -> bool:
    """Nothing is IN an empty list. What is no list is for In to refuse."""
    return isinstance(values, (list, tuple)) and not values


class Index:
    """Finds and changes rows through one index. Made by Client.index().

    The keyword options of every find and modification are those of `Find`:
    `op` (``= > >= < <=``), `limit`, `offset`, `in_` and `filters`.
    """

    def __init__(self, client: Client, name: _IndexName) -> None:
        self._client = client
        self.name = name

    def find(self, key: Key, **options: Unpack[FindOptions]) -> list[Row]:
        """The rows of a key."""
        return self._do(_find(key, options))

    def find_one(self, key: Key, **options: Unpack[FindOneOptions]) -> Row | None:
        """The first row of a key, or None."""
        rows = self._do(lambda index_id: Find(index_id, _parts(key), limit=1, **options))
        return rows[0] if rows else None

    def find_in(
        self,
        values: Sequence[Value],
        key: Key = (),
        *,
        key_part: int = 0,
        **options: Unpack[FindInOptions],
    ) -> list[Row]:
        """The rows of many keys: one key part (`key_part`, 0) takes each of `values`.

        `key` holds the other parts, with any value at that place. The limit is by itself the
        number of values: enough for a unique index, to be given for another.
        """
        return [] if _is_empty(values) else self._do(_find_in(values, key, key_part, options))

    def update(self, key: Key, values: Sequence[Value], **options: Unpack[FindOptions]) -> int:
        """Gives the first columns of each row found these values. Returns how many were found."""
        return self._do(_modify(self.name, ModifyOp.UPDATE, key, values, options))

    def delete(self, key: Key, **options: Unpack[FindOptions]) -> int:
        """Deletes each row found. Returns how many."""
        return self._do(_modify(self.name, ModifyOp.DELETE, key, (), options))

    def increment(self, key: Key, amounts: Sequence[Value], **options: Unpack[FindOptions]) -> int:
        """Adds to the first columns of each row found. NULL stays NULL."""
        return self._do(_modify(self.name, ModifyOp.INCREMENT, key, amounts, options))

    def decrement(self, key: Key, amounts: Sequence[Value], **options: Unpack[FindOptions]) -> int:
        """Subtracts likewise; a value that would cross zero stays, and its row is not counted."""
        return self._do(_modify(self.name, ModifyOp.DECREMENT, key, amounts, options))

    def fetch_and(
        self,
        change: ModifyOp,
        key: Key,
        values: Sequence[Value] = (),
        **options: Unpack[FindOptions],
    ) -> list[Row]:
        """Any of the four modifications, returning the rows as they were before."""
        return self._do(_fetch(self.name, change, key, values, options))

    def insert(self, values: Sequence[Value]) -> int | None:
        """A new row, by the first columns' values. Returns its auto-increment value, if any."""
        return self._do(_insert(self.name, values))

    def _do(self, call: _Call[T]) -> T:
        def work(connection: Connection, deadline: Deadline) -> T:
            index_id = self._client._index_id(self.name, connection, deadline)
            return connection.request(call(index_id), deadline)

        return self._client._on_connection(work)


class ClientPipeline:
    """A pipeline that knows indexes: `on(index)` has the calls of Index, returning Pending.

    Everything is sent by run(), which opens the indexes where that has to be done anew.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: list[_Waiting] = []
        self._settled: list[Pending[Any]] = []

    def on(self, index: Index) -> PipelinedIndex:
        if index._client is not self._client:
            raise ValueError("the index was opened by another client than the pipeline's")
        return PipelinedIndex(index.name, self._add)

    def send(self, request: Request[T]) -> Pending[T]:
        """Any request, with an index id that the caller knows."""
        return self._add(None, request)

    def run(self) -> None:
        """Sends what was added and waits for every reply. May be used again after it."""
        waiting, self._waiting = self._waiting, []
        self._settled += [pending for _, _, pending in waiting]
        try:
            self._client._on_connection(partial(self._exchange, waiting))
        except HandlerSocketError as error:
            for _, _, pending in waiting:
                pending._settle_unless_done(error)
            raise

    def results(self) -> list[Any]:
        """Every result so far in the order of the requests; an error stands as the exception."""
        return [pending._outcome() for pending in self._settled]

    def __enter__(self) -> ClientPipeline:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.run()

    def _add(self, name: _IndexName | None, request: Request[T] | None) -> Pending[T]:
        """Without a request it is settled already, and only its place counts."""
        pending = Pending(request)
        self._waiting.append((name, b"" if request is None else request.encode(), pending))
        return pending

    def _exchange(
        self, waiting: list[_Waiting], connection: Connection, deadline: Deadline
    ) -> None:
        lines: list[bytes] = []
        asked: list[Pending[Any]] = []
        refused: dict[_IndexName, ReplyError] = {}
        for name, line, pending in waiting:
            if not line:
                continue
            if name is not None and name not in refused:
                try:
                    index_id = self._client._index_id(name, connection, deadline)
                    line = b"%d" % index_id + line[1:]  # it was encoded with the id 0
                except ReplyError as error:
                    refused[name] = error
            if name in refused:
                pending._settle_as(refused[name])
            else:
                lines.append(line)
                asked.append(pending)
        for pending, reply in zip(asked, connection.exchange(lines, deadline), strict=True):
            pending._settle(reply)


#: An index, unless the request has its id; the request's line; where its result goes.
_Waiting: TypeAlias = tuple[_IndexName | None, bytes, Pending[Any]]


class _Add(Protocol):
    def __call__(self, name: _IndexName | None, request: Request[T] | None) -> Pending[T]: ...


class PipelinedIndex:
    """Index's calls, each adding a request to a pipeline; what cannot be said is refused then."""

    def __init__(self, name: _IndexName, add: _Add) -> None:
        self.name = name
        self._add = add

    def find(self, key: Key, **options: Unpack[FindOptions]) -> Pending[list[Row]]:
        return self._later(_find(key, options))

    def find_in(
        self,
        values: Sequence[Value],
        key: Key = (),
        *,
        key_part: int = 0,
        **options: Unpack[FindInOptions],
    ) -> Pending[list[Row]]:
        if not _is_empty(values):
            return self._later(_find_in(values, key, key_part, options))
        nothing: Pending[list[Row]] = self._add(None, None)
        nothing._settle_as([])
        return nothing

    def update(
        self, key: Key, values: Sequence[Value], **options: Unpack[FindOptions]
    ) -> Pending[int]:
        return self._later(_modify(self.name, ModifyOp.UPDATE, key, values, options))

    def delete(self, key: Key, **options: Unpack[FindOptions]) -> Pending[int]:
        return self._later(_modify(self.name, ModifyOp.DELETE, key, (), options))

    def increment(
        self, key: Key, amounts: Sequence[Value], **options: Unpack[FindOptions]
    ) -> Pending[int]:
        return self._later(_modify(self.name, ModifyOp.INCREMENT, key, amounts, options))

    def decrement(
        self, key: Key, amounts: Sequence[Value], **options: Unpack[FindOptions]
    ) -> Pending[int]:
        return self._later(_modify(self.name, ModifyOp.DECREMENT, key, amounts, options))

    def fetch_and(
        self,
        change: ModifyOp,
        key: Key,
        values: Sequence[Value] = (),
        **options: Unpack[FindOptions],
    ) -> Pending[list[Row]]:
        return self._later(_fetch(self.name, change, key, values, options))

    def insert(self, values: Sequence[Value]) -> Pending[int | None]:
        return self._later(_insert(self.name, values))

    def _later(self, call: _Call[T]) -> Pending[T]:
        return self._add(self.name, call(0))
