"""The synchronous client: any number of threads share it, and their requests travel together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, Unpack, cast, overload

from . import listing
from .address import Address
from .asks import Ask, ask_for
from .changes import Outcome
from .codec import Value
from .descriptions import Description
from .errors import HandlerSocketError
from .groups import GroupedIndex, Grouping
from .keywords import (
    Changes,
    CountOptions,
    ExistsOptions,
    FindInOptions,
    FindOneOptions,
    FindOptions,
    InsertManyOptions,
    InsertOptions,
    Key,
    ModifyOptions,
    NewValues,
    UpsertOptions,
    Values,
)
from .lists import ListedIndex
from .operations import Operations
from .options import ClientOptions
from .pipelines import Pending, PipelinedIndex, Pipelining
from .ranges import UNSET, Unset
from .requests import Request
from .rows import NamedRow, Row, RowReader
from .seen import Counters
from .streams import Streams
from .threads import ThreadCore
from .url import TwoPorts, target_of
from .writes import ModifyOp

R = TypeVar("R")
T = TypeVar("T")


class Client:
    """A client for threads. Any number of them share it; make one for a server, and keep it.

    The address is a URL, a (host, port), "host:port" or the path of a Unix socket; with `write`
    the port that writes. A URL or two addresses have a connection for reads, one for writes and
    one for long finds; a single address has one connection for all. It connects at the first call.

    Where the server has closed a connection meanwhile (it does so to those that are idle), the next
    call connects again, logs in and opens the indexes again. What modifies and may have been
    executed is never sent twice. A client that was closed stays closed. In a child that was forked
    it makes connections of its own.
    """

    def __init__(
        self,
        address: Address | Sequence[TwoPorts] | None = None,
        *,
        write: Address | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self._core = ThreadCore(target_of(address, write, options))
        self._streams = Streams(self._core)

    @overload
    def index(
        self,
        database: str | None,
        table: str,
        columns: type[R],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> Index[R]: ...

    @overload
    def index(
        self,
        database: str | None,
        table: str,
        columns: Mapping[str, Any],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> Index[NamedRow[Any]]: ...

    @overload
    def index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> Index[Row]: ...

    def index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | Mapping[str, Any] | type[Any],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> Index[Any]:
        """An index of a table with the columns that its rows are to have.

        It is opened when a request first needs it. A client of one port opens it at once.
        """
        return self._index(database, table, columns, index, filter_columns)

    def describe(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | None = None,
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
        timeout: float | Unset | None = UNSET,
    ) -> Description:
        """What the server says of the columns of an index, and of what its key is made of.

        Without `columns` it is all that the table has.
        """
        ask = self._core.describe(
            database, table, columns, index=index, filter_columns=filter_columns, timeout=timeout
        )
        return self._core.run(ask, self._core.link_about_server())

    def described_index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | None = None,
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
        timeout: float | Unset | None = UNSET,
    ) -> Index[NamedRow[Any]]:
        """Describes an index, and makes one whose rows have the types that the server has said.

        The description is from this moment. After an ALTER TABLE a value that does not fit its old
        type is a DecodeError; then describe it again.
        """
        described = self.describe(
            database, table, columns, index=index, filter_columns=filter_columns, timeout=timeout
        )
        return self._index(database, table, described, index, filter_columns)

    def hello(self, *, timeout: float | Unset | None = UNSET) -> dict[str, str]:
        """What the server says of itself: versions and what it understands, in its order."""
        return self._core.run(self._core.hello(timeout), self._core.link_about_server())

    def databases(self, *, timeout: float | Unset | None = UNSET) -> list[str]:
        """The names of the databases of which the account may know."""
        return self._core.run(listing.databases(timeout), self._core.link_about_server())

    def tables(
        self, database: str | None = None, *, timeout: float | Unset | None = UNSET
    ) -> list[str]:
        """The names of the tables of a database that the account can open."""
        return self._core.run(self._core.tables(database, timeout), self._core.link_about_server())

    def indexes(
        self, database: str | None, table: str, *, timeout: float | Unset | None = UNSET
    ) -> list[ListedIndex]:
        """The indexes of a table. One is left out if the account may not see all of its columns."""
        ask = self._core.indexes(database, table, timeout)
        return self._core.run(ask, self._core.link_about_server())

    def ping(self, *, timeout: float | Unset | None = UNSET) -> None:
        """Asks the server whether it is there. Connects for that, if it is still to be done.

        A server that does not know the request is there, too.
        """
        self._core.run(listing.ping(timeout), self._core.link_about_server())

    def _index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | Mapping[str, Any] | type[Any] | Description,
        index: str,
        filter_columns: Sequence[str],
    ) -> Index[Any]:
        operations, reader = self._core.operations(
            database, table, columns, index=index, filter_columns=filter_columns
        )
        made: Index[Any] = Index(self, operations, reader)
        if self._core.target.one_port:
            made.open()
        return made

    def __repr__(self) -> str:
        return f"Client({self._core.shown()})"

    def request(self, request: Request[T]) -> T:
        """Any request, with an index id that the caller knows. For a client of one port."""
        return self._core.run(ask_for(request))

    def pipeline(self) -> ClientPipeline:
        """Requests of this client's indexes that travel together."""
        return ClientPipeline(self._core)

    def group(
        self, *, timeout: float | Unset | None = UNSET, within: float | None = None
    ) -> ClientGroup:
        """Requests of this client's indexes that are done as a whole or not at all.

        `within` is the time in seconds that the server may take for all of them.
        """
        return ClientGroup(self._core, timeout, within)

    def counters(self) -> Counters:
        """What the client has done so far."""
        return self._streams.added_to(self._core.counted())

    def close(self) -> None:
        """Ends at once, in every state. Calls under way and later ones have ClosedError."""
        self._core.end()
        self._streams.close()

    def shutdown(self, seconds: float | None = None) -> None:
        """Takes no new calls, waits for the replies that are owed, at most so long, and closes.

        It waits for iterations that go on, too: also for one of the thread that calls it.
        """
        self._core.shut_down(seconds, self._streams.iterations)
        self._streams.close()

    def __enter__(self) -> Client:
        self._core.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Index(Generic[R]):
    """Finds and changes rows through one index. Made by Client.index().

    The keyword options of every find and modification are those of `Find`: `op` (``= > >= < <=``),
    `limit`, `offset`, `in_` and `filters`; and `timeout`, the seconds for this call.
    """

    def __init__(self, client: Client, operations: Operations[R], reader: RowReader[R]) -> None:
        self.operations = operations
        self._client = client
        self._reader = reader
        self._run = client._core.run

    def open(self) -> None:
        """Opens it now, to see whether it is there."""
        self._run(self.operations.open())

    def find(self, key: Key, **options: Unpack[FindOptions]) -> list[R]:
        """The rows of a key."""
        return self._run(self.operations.find(key, options))

    def find_one(self, key: Key, **options: Unpack[FindOneOptions]) -> R | None:
        """The first row of a key, or None."""
        return self._run(self.operations.find_one(key, options))

    def find_in(
        self,
        values: Sequence[Value],
        key: Key = (),
        *,
        key_part: int = 0,
        **options: Unpack[FindInOptions],
    ) -> list[R]:
        """The rows of many keys: one key part (`key_part`, 0) takes each of `values`.

        `key` holds the other parts, with any value at that place. The limit is by itself the
        number of values: enough for a unique index, to be given for another.
        """
        return self._run(self.operations.find_in(values, key, key_part, options))

    def count(self, key: Key, **options: Unpack[CountOptions]) -> int:
        """How many rows there are. It has no limit unless one is given."""
        return self._run(self.operations.count(key, options))

    def exists(self, key: Key, **options: Unpack[ExistsOptions]) -> bool:
        """Whether there is a row."""
        return self._run(self.operations.exists(key, options))

    def iterate(self, key: Key, **options: Unpack[FindOptions]) -> Iterator[R]:
        """The rows one by one as they arrive, without a limit, over a connection of their own.

        `timeout` bounds the wait for the next bytes, and not the whole.
        """
        return self._client._streams.rows(self.operations.iterate(key, options), self._reader)

    def update(self, key: Key, values: NewValues, **options: Unpack[ModifyOptions]) -> int:
        """Gives the first columns of each row found these values, or columns by their names.

        Returns how many rows were found.
        """
        return self._run(self.operations.modify(ModifyOp.UPDATE, key, values, options))

    def delete(self, key: Key, **options: Unpack[ModifyOptions]) -> int:
        """Deletes each row found. Returns how many."""
        return self._run(self.operations.modify(ModifyOp.DELETE, key, (), options))

    def increment(self, key: Key, amounts: Values, **options: Unpack[ModifyOptions]) -> int:
        """Adds to the first columns of each row found. NULL stays NULL."""
        return self._run(self.operations.modify(ModifyOp.INCREMENT, key, amounts, options))

    def decrement(self, key: Key, amounts: Values, **options: Unpack[ModifyOptions]) -> int:
        """Subtracts likewise; a value that would cross zero stays, and its row is not counted."""
        return self._run(self.operations.modify(ModifyOp.DECREMENT, key, amounts, options))

    def fetch_and(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues = (),
        **options: Unpack[ModifyOptions],
    ) -> list[R]:
        """Any of the four modifications, returning the rows as they were before."""
        return self._run(self.operations.fetch(change, key, values, options))

    def change_and_fetch(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues,
        **options: Unpack[ModifyOptions],
    ) -> list[R]:
        """The same but for deletions, returning the rows as they are afterwards."""
        return self._run(self.operations.fetch(change, key, values, options, after=True))

    def insert(self, values: Values, **options: Unpack[InsertOptions]) -> int | None:
        """A new row, by the first columns' values. Returns its auto-increment value, if any."""
        return self._run(self.operations.insert(values, options))

    def insert_many(
        self, rows: Sequence[Values], **options: Unpack[InsertManyOptions]
    ) -> list[Outcome]:
        """Several new rows: all of them or none. Returns what was done of each.

        `duplicate` says what is done about a row that is there already: `fail`, `ignore` or
        `replace`.
        """
        return self._run(self.operations.insert_many(rows, options))

    def upsert(self, row: Values, changes: Changes, **options: Unpack[UpsertOptions]) -> Outcome:
        """A new row, or the `changes` of the one that is there, if it meets the `filters`."""
        return self._run(self.operations.upsert(row, changes, options))

    def upsert_many(
        self, rows: Sequence[Values], changes: Changes, **options: Unpack[UpsertOptions]
    ) -> list[Outcome]:
        """The same with several rows: all of it or nothing. Returns what was done of each."""
        return self._run(self.operations.upsert_many(rows, changes, options))


class ClientPipeline(Pipelining):
    """Requests that travel together. Run at the end of a `with` block, or by run().

    `on(index)` has the calls of Index, each returning a Pending.
    """

    def __init__(self, core: ThreadCore) -> None:
        super().__init__()
        self._core = core

    def on(self, index: Index[R]) -> PipelinedIndex[R]:
        if index._client._core is not self._core:
            raise ValueError("the index was opened by another client than the pipeline's")
        return PipelinedIndex(index.operations, self._add)

    def send(self, request: Request[T]) -> Pending[T]:
        """Any request, with an index id that the caller knows. For a client of one port."""
        return self._add(ask_for(request))

    def run(self) -> None:
        """Sends what was added and waits for every reply. May be used again after it."""
        waiting = self._take()
        asks: list[Ask[Any]] = [pending.ask for pending in waiting]
        try:
            calls = self._core.run_all(asks)
        except HandlerSocketError as error:
            for pending in waiting:
                pending._settle_as(error)
            raise
        for pending, call in zip(waiting, calls, strict=True):
            pending._settle_as(cast(Any, call.error or call.result))
        self._raise_if_lost(waiting)

    def __enter__(self) -> ClientPipeline:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.run()


class ClientGroup(Grouping):
    """Requests that are done as a whole or not at all.

    Run at the end of a `with` block, or by run().

    `on(index)` has the calls of Index, each returning a Pending, and locks. `some(index)` has
    modifications that must meet a row, `none(index)` those that must meet none: else nothing is
    done, and the error is an UnmetError.
    """

    def __init__(
        self, core: ThreadCore, timeout: float | Unset | None, within: float | None
    ) -> None:
        super().__init__(timeout, within)
        self._core = core

    def on(self, index: Index[R]) -> GroupedIndex[R]:
        return self._on(index, b"")

    def some(self, index: Index[R]) -> GroupedIndex[R]:
        return self._on(index, b"some\t")

    def none(self, index: Index[R]) -> GroupedIndex[R]:
        return self._on(index, b"none\t")

    def _on(self, index: Index[R], meets: bytes) -> GroupedIndex[R]:
        if index._client._core is not self._core:
            raise ValueError("the index was opened by another client than the group's")
        return self._grouped(index.operations, meets)

    def run(self) -> None:
        """Sends what was added and waits for every reply. May be used again after it.

        If a request fails, nothing was done: the error is that of this request, whose `line` says
        which it is. It is never sent again by itself if it may have been executed.
        """
        pending, ask = self._whole()
        if ask is None:
            return
        try:
            results = self._core.run(ask)
        except HandlerSocketError as error:
            self._settle_failed(pending, error)
            raise
        self._settle(pending, ask, results)

    def __enter__(self) -> ClientGroup:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.run()
