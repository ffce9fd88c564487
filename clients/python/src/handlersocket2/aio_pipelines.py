"""The pipelines and groups of asyncio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from .aio_index import AsyncIndex
from .errors import HandlerSocketError
from .groups import GroupedIndex, Grouping
from .pipelines import PipelinedIndex, Pipelining
from .ranges import Unset

if TYPE_CHECKING:
    from .aio import AsyncClient

R = TypeVar("R")


class AsyncPipeline(Pipelining):
    """Requests that travel together. Run at the end of an `async with` block, or by run()."""

    def __init__(self, client: AsyncClient) -> None:
        super().__init__()
        self._client = client

    def on(self, index: AsyncIndex[R]) -> PipelinedIndex[R]:
        if index._client is not self._client:
            raise ValueError("the index was opened by another client than the pipeline's")
        return PipelinedIndex(index.operations, self._add)

    async def run(self) -> None:
        """Sends what was added and waits for every reply. May be used again after it."""
        waiting = self._take()
        try:
            calls = self._client._run_all([pending.ask for pending in waiting])
        except HandlerSocketError as error:
            for pending in waiting:
                pending._settle_as(error)
            raise
        try:
            if calls:
                await asyncio.wait(calls)
        finally:
            for call in calls:
                call.cancel()
        for pending, call in zip(waiting, calls, strict=True):
            error_of_call = call.exception()
            if isinstance(error_of_call, HandlerSocketError):
                pending._settle_as(error_of_call)
            else:
                pending._settle_as(call.result())
        self._raise_if_lost(waiting)

    async def __aenter__(self) -> AsyncPipeline:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.run()


class AsyncGroup(Grouping):
    """Requests that are done as a whole or not at all.

    Run at the end of an `async with` block, or by run().

    `on(index)` has the calls of Index, each returning a Pending, and locks. `some(index)` has
    modifications that must meet a row, `none(index)` those that must meet none: else nothing is
    done, and the error is an UnmetError.
    """

    def __init__(
        self, client: AsyncClient, timeout: float | Unset | None, within: float | None
    ) -> None:
        super().__init__(timeout, within)
        self._client = client

    def on(self, index: AsyncIndex[R]) -> GroupedIndex[R]:
        return self._on(index, b"")

    def some(self, index: AsyncIndex[R]) -> GroupedIndex[R]:
        return self._on(index, b"some\t")

    def none(self, index: AsyncIndex[R]) -> GroupedIndex[R]:
        return self._on(index, b"none\t")

    def _on(self, index: AsyncIndex[R], meets: bytes) -> GroupedIndex[R]:
        if index._client is not self._client:
            raise ValueError("the index was opened by another client than the group's")
        return self._grouped(index.operations, meets)

    async def run(self) -> None:
        """Sends what was added and waits for every reply. May be used again after it.

        If a request fails, nothing was done: the error is that of this request, whose `line` says
        which it is. It is never sent again by itself if it may have been executed.
        """
        pending, ask = self._whole()
        if ask is None:
            return
        try:
            results = await self._client._run(ask)
        except HandlerSocketError as error:
            self._settle_failed(pending, error)
            raise
        self._settle(pending, ask, results)

    async def __aenter__(self) -> AsyncGroup:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.run()
