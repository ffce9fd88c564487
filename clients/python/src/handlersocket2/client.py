"""The upper layer: tables and indexes by name, their index ids kept and used again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, Union

from .codec import Value
from .connection import Address, Connection, Pending, Pipeline
from .requests import (
    Auth,
    FetchModify,
    Find,
    FindModify,
    In,
    Insert,
    ModifyOp,
    OpenIndex,
    Request,
    Row,
)

T = TypeVar("T")

#: A key: its parts in order, or the one value of the first part.
Key = Union[Value, Sequence[Value]]
_IndexName = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


def _parts(key: Key) -> Sequence[Value]:
    return [key] if key is None or isinstance(key, (bytes, str, int)) else key


class Client:
    """One connection that remembers what it has opened.

    The server listens on two ports: the one for reading, 9998, and the one for
    reading and writing, 9999. Connects on first use; after a loss of the connection
    the next call connects again. What was under way is never sent twice by itself.
    """

    def __init__(
        self,
        address: Address = ("127.0.0.1", 9998),
        *,
        secret: Value | None = None,
        timeout: float | None = 30.0,
    ) -> None:
        self._address = address
        self._secret = secret
        self._timeout = timeout
        self._connection: Connection | None = None
        self._opened: dict[_IndexName, int] = {}

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
        opened = Index(self, (database, table, index, tuple(columns), tuple(filter_columns)))
        self._index_id(opened.name)
        return opened

    def request(self, request: Request[T]) -> T:
        """Any request, on this client's connection."""
        return self.connection().request(request)

    def pipeline(self) -> ClientPipeline:
        """Requests of this client's indexes that travel together."""
        return ClientPipeline(self)

    def connection(self) -> Connection:
        """The connection, made and authenticated if there is none."""
        if self._connection is None or self._connection.closed:
            self._opened.clear()
            self._connection = Connection(self._address, timeout=self._timeout)
            if self._secret is not None:
                self._connection.request(Auth(self._secret))
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _index_id(self, name: _IndexName) -> int:
        connection = self.connection()
        index_id = self._opened.get(name)
        if index_id is None:
            index_id = len(self._opened)
            connection.request(OpenIndex(index_id, *name))
            self._opened[name] = index_id
        return index_id


class _Requests:
    """How the calls of an index become requests; what becomes of a request is the heir's."""

    def __init__(self, client: Client, name: _IndexName) -> None:
        self._client = client
        self.name = name

    def _find(self, key: Key, options: Mapping[str, Any]) -> Find:
        return Find(self._client._index_id(self.name), _parts(key), **options)

    def _find_in(self, values: Sequence[Value], key: Key, options: dict[str, Any]) -> Find:
        position = options.pop("key_part", 0)
        parts = list(_parts(key)) or [""]
        options.setdefault("limit", len(values))
        return self._find(parts, {**options, "in_": In(values, position)})

    def _insert(self, values: Sequence[Value]) -> Insert:
        return Insert(self._client._index_id(self.name), values)


class Index(_Requests):
    """Finds and changes rows through one index. Made by Client.index().

    The keyword options of every find and modification are those of `Find`:
    `op` (``= > >= < <=``), `limit`, `offset`, `in_` and `filters`.
    """

    def find(self, key: Key, **options: Any) -> list[Row]:
        """The rows of a key."""
        return self._client.request(self._find(key, options))

    def find_one(self, key: Key, **options: Any) -> Row | None:
        """The first row of a key, or None."""
        rows = self.find(key, limit=1, **options)
        return rows[0] if rows else None

    def find_in(self, values: Sequence[Value], key: Key = (), **options: Any) -> list[Row]:
        """The rows of many keys: one key part (`key_part`, 0) takes each of `values`.

        `key` holds the other parts, with any value at that place. The limit is by itself the
        number of values: enough for a unique index, to be given for another.
        """
        return self._client.request(self._find_in(values, key, options))

    def update(self, key: Key, values: Sequence[Value], **options: Any) -> int:
        """Gives the first columns of each row found these values. Returns how many were found."""
        find = self._find(key, options)
        return self._client.request(FindModify(find, ModifyOp.UPDATE, values))

    def delete(self, key: Key, **options: Any) -> int:
        """Deletes each row found. Returns how many."""
        return self._client.request(FindModify(self._find(key, options), ModifyOp.DELETE))

    def increment(self, key: Key, amounts: Sequence[Value], **options: Any) -> int:
        """Adds to the first columns of each row found. NULL stays NULL."""
        find = self._find(key, options)
        return self._client.request(FindModify(find, ModifyOp.INCREMENT, amounts))

    def decrement(self, key: Key, amounts: Sequence[Value], **options: Any) -> int:
        """Subtracts likewise; a value that would cross zero stays, and its row is not counted."""
        find = self._find(key, options)
        return self._client.request(FindModify(find, ModifyOp.DECREMENT, amounts))

    def fetch_and(
        self, change: ModifyOp, key: Key, values: Sequence[Value] = (), **options: Any
    ) -> list[Row]:
        """Any of the four modifications, returning the rows as they were before."""
        return self._client.request(FetchModify(self._find(key, options), change, values))

    def insert(self, values: Sequence[Value]) -> int | None:
        """A new row, by the first columns' values. Returns its auto-increment value, if any."""
        return self._client.request(self._insert(values))


class ClientPipeline:
    """A pipeline that knows indexes: `on(index)` has the calls of Index, returning Pending."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._pipeline: Pipeline = client.connection().pipeline()

    def on(self, index: Index) -> PipelinedIndex:
        return PipelinedIndex(self._client, index.name, self._pipeline)

    def send(self, request: Request[T]) -> Pending[T]:
        return self._pipeline.send(request)

    def run(self) -> None:
        self._pipeline.run()

    def results(self) -> list[Any]:
        return self._pipeline.results()

    def __enter__(self) -> ClientPipeline:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.run()


class PipelinedIndex(_Requests):
    """Index's calls, each adding a request to a pipeline."""

    def __init__(self, client: Client, name: _IndexName, pipeline: Pipeline) -> None:
        super().__init__(client, name)
        self._pipeline = pipeline

    def find(self, key: Key, **options: Any) -> Pending[list[Row]]:
        return self._pipeline.send(self._find(key, options))

    def find_in(self, values: Sequence[Value], key: Key = (), **options: Any) -> Pending[list[Row]]:
        return self._pipeline.send(self._find_in(values, key, options))

    def update(self, key: Key, values: Sequence[Value], **options: Any) -> Pending[int]:
        find = self._find(key, options)
        return self._pipeline.send(FindModify(find, ModifyOp.UPDATE, values))

    def delete(self, key: Key, **options: Any) -> Pending[int]:
        return self._pipeline.send(FindModify(self._find(key, options), ModifyOp.DELETE))

    def increment(self, key: Key, amounts: Sequence[Value], **options: Any) -> Pending[int]:
        find = self._find(key, options)
        return self._pipeline.send(FindModify(find, ModifyOp.INCREMENT, amounts))

    def decrement(self, key: Key, amounts: Sequence[Value], **options: Any) -> Pending[int]:
        find = self._find(key, options)
        return self._pipeline.send(FindModify(find, ModifyOp.DECREMENT, amounts))

    def fetch_and(
        self, change: ModifyOp, key: Key, values: Sequence[Value] = (), **options: Any
    ) -> Pending[list[Row]]:
        return self._pipeline.send(FetchModify(self._find(key, options), change, values))

    def insert(self, values: Sequence[Value]) -> Pending[int | None]:
        return self._pipeline.send(self._insert(values))
