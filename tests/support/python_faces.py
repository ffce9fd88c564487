"""Both faces of the Python client, used in the same way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from handlersocket2 import AsyncClient
from server_instance import ServerInstance


class Blocking:
    """An AsyncClient whose calls are made one by one, as if it were a Client."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._runner = asyncio.Runner()
        self._of = AsyncClient(*arguments, **keywords)

    def __enter__(self) -> Blocking:
        return self

    def __exit__(self, *_: object) -> None:
        self._wait(self._of.close)
        self._runner.close()

    def index(self, *arguments: Any, **keywords: Any) -> BlockingIndex:
        return BlockingIndex(self, self._of.index(*arguments, **keywords))

    def described_index(self, *arguments: Any, **keywords: Any) -> BlockingIndex:
        return BlockingIndex(self, self._wait(self._of.described_index, *arguments, **keywords))

    def describe(self, *arguments: Any, **keywords: Any) -> Any:
        return self._wait(self._of.describe, *arguments, **keywords)

    def hello(self) -> Any:
        return self._wait(self._of.hello)

    def databases(self) -> Any:
        return self._wait(self._of.databases)

    def tables(self, *arguments: Any) -> Any:
        return self._wait(self._of.tables, *arguments)

    def indexes(self, *arguments: Any) -> Any:
        return self._wait(self._of.indexes, *arguments)

    def ping(self) -> None:
        self._wait(self._of.ping)

    def group(self, **keywords: Any) -> BlockingGroup:
        return BlockingGroup(self, self._of.group(**keywords))

    def _wait(self, call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        async def made() -> Any:
            return await call(*arguments, **keywords)

        return self._runner.run(made())


class BlockingIndex:
    def __init__(self, client: Blocking, of: Any) -> None:
        self._client = client
        self._of = of

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *arguments, **keywords: self._client._wait(
            getattr(self._of, name), *arguments, **keywords
        )

    def iterate(self, *arguments: Any, **keywords: Any) -> Iterator[Any]:
        rows: AsyncIterator[Any] = self._of.iterate(*arguments, **keywords)
        while True:
            try:
                yield self._client._wait(lambda: anext(rows))
            except StopAsyncIteration:
                return


class BlockingGroup:
    def __init__(self, client: Blocking, of: Any) -> None:
        self._client = client
        self._of = of
        self.results = of.results

    def on(self, index: BlockingIndex) -> Any:
        return self._of.on(index._of)

    def some(self, index: BlockingIndex) -> Any:
        return self._of.some(index._of)

    def none(self, index: BlockingIndex) -> Any:
        return self._of.none(index._of)

    def run(self) -> None:
        self._client._wait(self._of.run)


@contextmanager
def connected(face: Any, server: ServerInstance, **options: Any) -> Iterator[Any]:
    read, write = (("127.0.0.1", port) for port in (server.hs_port, server.hs_port_wr))
    with face(read, write=write, **options) as client:
        yield client
