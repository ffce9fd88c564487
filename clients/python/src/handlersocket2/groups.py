"""What the groups of all faces have in common: requests that are done all, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from .asks import Ask, Nothing
from .errors import HandlerSocketError, ReplyError, reply_error
from .grouped import GroupOperation
from .keywords import Key, ModifyOptions
from .operations import Operations
from .pipelines import Pending, PipelinedIndex, Pipelining
from .ranges import UNSET, Unset
from .tokens import within_prefix
from .writes import ModifyOp

R = TypeVar("R")
T = TypeVar("T")

#: How many requests a group may have.
MAX_GROUP = 4096
_ON_ROWS = ("update", "delete", "increment", "decrement", "lock")


class GroupedIndex(PipelinedIndex[R]):
    """Index's calls, each adding a request to a group, and locks."""

    def lock(self, key: Key, **options: Unpack[ModifyOptions]) -> Pending[int]:
        """Keeps the rows as they are until the group has ended. Its result is how many."""
        return self._add(self._operations.modify(ModifyOp.LOCK, key, (), options))

    def fetch_lock(self, key: Key, **options: Unpack[ModifyOptions]) -> Pending[list[R]]:
        """The same, with the rows as the result: a find in a group takes no lock."""
        return self._add(self._operations.fetch(ModifyOp.LOCK, key, (), options))


class Grouping(Pipelining):
    """Collects the requests of a group, and keeps their results in order."""

    def __init__(self, timeout: float | Unset | None, within: float | None) -> None:
        super().__init__()
        self._timeout = timeout
        self._before = b"" if within is None else within_prefix(within)
        self._meets: dict[Pending[Any], bytes] = {}

    def _grouped(self, operations: Operations[R], meets: bytes) -> GroupedIndex[R]:
        def add(ask: Ask[T]) -> Pending[T]:
            if ask.timeout is not UNSET:
                raise ValueError("a group has one time-out: that of group()")
            if ask.operation.before:
                raise ValueError("a group has one time for the server: that of group()")
            if meets and (ask.operation.name not in _ON_ROWS or isinstance(ask, Nothing)):
                raise ValueError("some() and none() are for modifications of rows that are there")
            if len(self._waiting) == MAX_GROUP:
                raise ValueError(f"a group has at most {MAX_GROUP} requests")
            pending = self._add(ask)
            if meets:
                self._meets[pending] = meets
            return pending

        return GroupedIndex(operations, add)

    def _whole(self) -> tuple[Sequence[Pending[Any]], Ask[list[Any]] | None]:
        """What is to be sent as one request. None if there is nothing."""
        meets, self._meets = self._meets, {}
        waiting = self._take()
        asks, conditions = {}, {}
        for place, pending in enumerate(waiting, 1):
            if isinstance(pending.ask, Nothing):
                pending._settle_as(pending.ask.result)
                continue
            asks[place] = pending.ask
            conditions[place] = meets.get(pending, b"")
        if not asks:
            return waiting, None
        size = b"".join(ask.line for ask in asks.values())
        operation = GroupOperation(asks, conditions)
        return waiting, Ask(operation, size, 1, self._timeout, self._before)

    @staticmethod
    def _settle(waiting: Sequence[Pending[Any]], ask: Ask[list[Any]], results: list[Any]) -> None:
        assert isinstance(ask.operation, GroupOperation)
        for place, result in zip(ask.operation.asks, results, strict=True):
            waiting[place - 1]._settle_as(result)

    @staticmethod
    def _settle_failed(waiting: Sequence[Pending[Any]], error: HandlerSocketError) -> None:
        for place, pending in enumerate(waiting, 1):
            mine = error
            if isinstance(error, ReplyError) and error.line not in (0, place):
                mine = reply_error(1, "undone")
                mine.line = error.line
            pending._settle_as(mine)
