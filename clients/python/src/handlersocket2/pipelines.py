"""What the pipelines of all faces have in common: requests that wait, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar, Unpack, cast

from .asks import Ask
from .changes import Outcome
from .codec import Value
from .errors import HandlerSocketError, ReplyError
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
from .operations import Operations
from .writes import ModifyOp

R = TypeVar("R")
T = TypeVar("T")


class Pending(Generic[T]):
    """The result of a pipelined request, once the pipeline has run."""

    def __init__(self, ask: Ask[T]) -> None:
        self.ask = ask
        self._result: T | HandlerSocketError | None = None
        self._done = False

    def result(self) -> T:
        """The request's result; raises the error that the server answered instead."""
        if not self._done:
            raise RuntimeError("the pipeline or the group has not run yet")
        if isinstance(self._result, HandlerSocketError):
            raise self._result
        return cast(T, self._result)

    def error(self) -> HandlerSocketError | None:
        """The error that result() would raise, if it would."""
        return self._result if isinstance(self._result, HandlerSocketError) else None

    def _settle_as(self, result: T | HandlerSocketError) -> None:
        self._result = result
        self._done = True

    def _outcome(self) -> T | HandlerSocketError:
        return self.error() or self.result()


class Pipelining:
    """Collects requests, and keeps their results in order."""

    def __init__(self) -> None:
        self._waiting: list[Pending[Any]] = []
        self._settled: list[Pending[Any]] = []

    def results(self) -> list[Any]:
        """Every result so far in the order of the requests; an error stands as the exception."""
        return [pending._outcome() for pending in self._settled]

    def _add(self, ask: Ask[T]) -> Pending[T]:
        pending = Pending(ask)
        self._waiting.append(pending)
        return pending

    def _take(self) -> list[Pending[Any]]:
        """Those that are to be sent. Their results count from now on."""
        waiting, self._waiting = self._waiting, []
        self._settled += waiting
        return waiting

    def _raise_if_lost(self, ran: Sequence[Pending[Any]]) -> None:
        """An error that is no answer of the server is one of the whole pipeline."""
        for pending in ran:
            error = pending.error()
            if error is not None and not isinstance(error, (ReplyError, ValueError)):
                raise error


class _Add(Protocol):
    def __call__(self, ask: Ask[T]) -> Pending[T]: ...


class PipelinedIndex(Generic[R]):
    """Index's calls, each adding a request to a pipeline; what cannot be said is refused then."""

    def __init__(self, operations: Operations[R], add: _Add) -> None:
        self._operations = operations
        self._add = add

    def find(self, key: Key, **options: Unpack[FindOptions]) -> Pending[list[R]]:
        return self._add(self._operations.find(key, options))

    def find_one(self, key: Key, **options: Unpack[FindOneOptions]) -> Pending[R | None]:
        return self._add(self._operations.find_one(key, options))

    def find_in(
        self,
        values: Sequence[Value],
        key: Key = (),
        *,
        key_part: int = 0,
        **options: Unpack[FindInOptions],
    ) -> Pending[list[R]]:
        return self._add(self._operations.find_in(values, key, key_part, options))

    def count(self, key: Key, **options: Unpack[CountOptions]) -> Pending[int]:
        return self._add(self._operations.count(key, options))

    def exists(self, key: Key, **options: Unpack[ExistsOptions]) -> Pending[bool]:
        return self._add(self._operations.exists(key, options))

    def update(self, key: Key, values: NewValues, **options: Unpack[ModifyOptions]) -> Pending[int]:
        return self._add(self._operations.modify(ModifyOp.UPDATE, key, values, options))

    def delete(self, key: Key, **options: Unpack[ModifyOptions]) -> Pending[int]:
        return self._add(self._operations.modify(ModifyOp.DELETE, key, (), options))

    def increment(
        self, key: Key, amounts: Values, **options: Unpack[ModifyOptions]
    ) -> Pending[int]:
        return self._add(self._operations.modify(ModifyOp.INCREMENT, key, amounts, options))

    def decrement(
        self, key: Key, amounts: Values, **options: Unpack[ModifyOptions]
    ) -> Pending[int]:
        return self._add(self._operations.modify(ModifyOp.DECREMENT, key, amounts, options))

    def fetch_and(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues = (),
        **options: Unpack[ModifyOptions],
    ) -> Pending[list[R]]:
        return self._add(self._operations.fetch(change, key, values, options))

    def change_and_fetch(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues,
        **options: Unpack[ModifyOptions],
    ) -> Pending[list[R]]:
        return self._add(self._operations.fetch(change, key, values, options, after=True))

    def insert(self, values: Values, **options: Unpack[InsertOptions]) -> Pending[int | None]:
        return self._add(self._operations.insert(values, options))

    def insert_many(
        self, rows: Sequence[Values], **options: Unpack[InsertManyOptions]
    ) -> Pending[list[Outcome]]:
        return self._add(self._operations.insert_many(rows, options))

    def upsert(
        self, row: Values, changes: Changes, **options: Unpack[UpsertOptions]
    ) -> Pending[Outcome]:
        return self._add(self._operations.upsert(row, changes, options))

    def upsert_many(
        self, rows: Sequence[Values], changes: Changes, **options: Unpack[UpsertOptions]
    ) -> Pending[list[Outcome]]:
        return self._add(self._operations.upsert_many(rows, changes, options))
