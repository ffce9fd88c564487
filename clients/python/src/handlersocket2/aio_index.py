"""An index as tasks of asyncio use it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, Unpack

from .aio_wires import AsyncCall
from .changes import Outcome
from .codec import Value
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
from .operations import Operations, plain_line
from .rows import RowReader
from .writes import ModifyOp

if TYPE_CHECKING:
    from .aio import AsyncClient

R = TypeVar("R")


class AsyncIndex(Generic[R]):
    """Finds and changes rows through one index. Made by AsyncClient.index().

    Each method gives something to be awaited, and has begun before that. `Index` says what the
    methods do; they are the same.
    """

    def __init__(
        self, client: AsyncClient, operations: Operations[R], reader: RowReader[R]
    ) -> None:
        self.operations = operations
        self._client = client
        self._reader = reader
        self._run = client._run
        self._look_up = client._look_up

    def open(self) -> AsyncCall[None]:
        """Opens it now, to see whether it is there."""
        return self._run(self.operations.open())

    def find(self, key: Key, **options: Unpack[FindOptions]) -> AsyncCall[list[R]]:
        if not options:
            line = b"\t=\t1\t%d\n" % key if type(key) is int else plain_line(key)
            if line is not None:
                return self._look_up(self.operations.find_operation, line)
        return self._run(self.operations.find(key, options))

    def find_one(self, key: Key, **options: Unpack[FindOneOptions]) -> AsyncCall[R | None]:
        if not options:
            line = b"\t=\t1\t%d\n" % key if type(key) is int else plain_line(key)
            if line is not None:
                return self._look_up(self.operations.find_one_operation, line)
        return self._run(self.operations.find_one(key, options))

    def find_in(
        self,
        values: Sequence[Value],
        key: Key = (),
        *,
        key_part: int = 0,
        **options: Unpack[FindInOptions],
    ) -> AsyncCall[list[R]]:
        return self._run(self.operations.find_in(values, key, key_part, options))

    def count(self, key: Key, **options: Unpack[CountOptions]) -> AsyncCall[int]:
        return self._run(self.operations.count(key, options))

    def exists(self, key: Key, **options: Unpack[ExistsOptions]) -> AsyncCall[bool]:
        return self._run(self.operations.exists(key, options))

    def iterate(self, key: Key, **options: Unpack[FindOptions]) -> AsyncIterator[R]:
        """The rows one by one, for `async for`, over a connection of their own."""
        return self._client._iterate(self.operations.iterate(key, options), self._reader)

    def update(
        self, key: Key, values: NewValues, **options: Unpack[ModifyOptions]
    ) -> AsyncCall[int]:
        return self._run(self.operations.modify(ModifyOp.UPDATE, key, values, options))

    def delete(self, key: Key, **options: Unpack[ModifyOptions]) -> AsyncCall[int]:
        return self._run(self.operations.modify(ModifyOp.DELETE, key, (), options))

    def increment(
        self, key: Key, amounts: Values, **options: Unpack[ModifyOptions]
    ) -> AsyncCall[int]:
        return self._run(self.operations.modify(ModifyOp.INCREMENT, key, amounts, options))

    def decrement(
        self, key: Key, amounts: Values, **options: Unpack[ModifyOptions]
    ) -> AsyncCall[int]:
        return self._run(self.operations.modify(ModifyOp.DECREMENT, key, amounts, options))

    def fetch_and(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues = (),
        **options: Unpack[ModifyOptions],
    ) -> AsyncCall[list[R]]:
        return self._run(self.operations.fetch(change, key, values, options))

    def change_and_fetch(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues,
        **options: Unpack[ModifyOptions],
    ) -> AsyncCall[list[R]]:
        return self._run(self.operations.fetch(change, key, values, options, after=True))

    def insert(self, values: Values, **options: Unpack[InsertOptions]) -> AsyncCall[int | None]:
        return self._run(self.operations.insert(values, options))

    def insert_many(
        self, rows: Sequence[Values], **options: Unpack[InsertManyOptions]
    ) -> AsyncCall[list[Outcome]]:
        return self._run(self.operations.insert_many(rows, options))

    def upsert(
        self, row: Values, changes: Changes, **options: Unpack[UpsertOptions]
    ) -> AsyncCall[Outcome]:
        return self._run(self.operations.upsert(row, changes, options))

    def upsert_many(
        self, rows: Sequence[Values], changes: Changes, **options: Unpack[UpsertOptions]
    ) -> AsyncCall[list[Outcome]]:
        return self._run(self.operations.upsert_many(rows, changes, options))
