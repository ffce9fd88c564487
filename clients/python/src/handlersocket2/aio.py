"""The client of asyncio: tasks share its connections, and what they ask in one turn of the loop
is sent together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from threading import get_ident
from time import monotonic
from typing import Any, TypeVar, Unpack, cast, overload

from . import listing
from .address import Address
from .aio_index import AsyncIndex
from .aio_pipelines import AsyncGroup, AsyncPipeline
from .aio_streams import AsyncStreams
from .aio_wires import PILE, AsyncCall, AsyncWire, open_wire
from .asks import Ask, Nothing, Operation
from .calls import NEVER
from .core import Core
from .descriptions import Description
from .errors import ClosedError, HandlerSocketError
from .forks import renew_after_fork
from .links import Link, more_telling
from .lists import ListedIndex
from .options import ClientOptions
from .ranges import UNSET, Unset
from .rows import NamedRow, Row, RowReader
from .seen import Counters
from .setup import final
from .url import TwoPorts, target_of

R = TypeVar("R")
T = TypeVar("T")

#: How often deadlines are looked at. A call may end so much late, and never early.
_SWEEP = 0.05


class _Core(Core):
    """Has connections made by tasks of the loop."""

    client: AsyncClient

    def wants_connection(self, link: Link) -> None:
        if not link.connecting and not self.is_closed:
            link.connecting = True
            self.client._start(self.client._connect(link))


class AsyncClient:
    """A client for asyncio. Any number of tasks share it; make one for a server, and keep it.

    The address is a URL, a (host, port), "host:port" or the path of a Unix socket; with `write`
    the port that writes. A URL or two addresses have a connection for reads, one for writes and
    one for long finds; a single address has one connection for all. It connects at the first call.
    """

    def __init__(
        self,
        address: Address | Sequence[TwoPorts] | None = None,
        *,
        write: Address | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self._target = target_of(address, write, options)
        self._tls = self._target.options.tls_context()
        self._core = _Core(self._target)
        self._core.client = self
        timeout = self._target.options.timeout
        self._seconds = NEVER if timeout is None else timeout
        reads = self._core.routes["read"]
        chosen = self._target.options
        usual = len(reads) == 1 and chosen.read_after_write == "awaited"
        usual = usual and chosen.on_request is None
        self._usual_link = reads[0] if usual else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0  # in which that loop runs; none is 0
        self._loop_runs: Callable[[], bool]
        self._create_future: Callable[[], AsyncCall[Any]]
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._streams = AsyncStreams(self._core, self._tls)
        renew_after_fork(self)

    @overload
    def index(
        self,
        database: str | None,
        table: str,
        columns: type[R],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> AsyncIndex[R]: ...

    @overload
    def index(
        self,
        database: str | None,
        table: str,
        columns: Mapping[str, Any],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> AsyncIndex[NamedRow[Any]]: ...

    @overload
    def index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> AsyncIndex[Row]: ...

    def index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | Mapping[str, Any] | type[Any],
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
    ) -> AsyncIndex[Any]:
        """An index of a table with the columns that its rows are to have. Sends nothing yet."""
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
    ) -> AsyncCall[Description]:
        """What the server says of the columns of an index, and of what its key is made of.

        Without `columns` it is all that the table has.
        """
        ask = self._core.describe(
            database, table, columns, index=index, filter_columns=filter_columns, timeout=timeout
        )
        return self._run(ask, self._core.link_about_server())

    async def described_index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | None = None,
        *,
        index: str = "PRIMARY",
        filter_columns: Sequence[str] = (),
        timeout: float | Unset | None = UNSET,
    ) -> AsyncIndex[NamedRow[Any]]:
        """Describes an index, and makes one whose rows have the types that the server has said.

        The description is from this moment. After an ALTER TABLE a value that does not fit its old
        type is a DecodeError; then describe it again.
        """
        described = await self.describe(
            database, table, columns, index=index, filter_columns=filter_columns, timeout=timeout
        )
        return self._index(database, table, described, index, filter_columns)

    def hello(self, *, timeout: float | Unset | None = UNSET) -> AsyncCall[dict[str, str]]:
        """What the server says of itself: versions and what it understands, in its order."""
        return self._run(self._core.hello(timeout), self._core.link_about_server())

    def databases(self, *, timeout: float | Unset | None = UNSET) -> AsyncCall[list[str]]:
        """The names of the databases of which the account may know."""
        return self._run(listing.databases(timeout), self._core.link_about_server())

    def tables(
        self, database: str | None = None, *, timeout: float | Unset | None = UNSET
    ) -> AsyncCall[list[str]]:
        """The names of the tables of a database that the account can open."""
        return self._run(self._core.tables(database, timeout), self._core.link_about_server())

    def indexes(
        self, database: str | None, table: str, *, timeout: float | Unset | None = UNSET
    ) -> AsyncCall[list[ListedIndex]]:
        """The indexes of a table. One is left out if the account may not see all of its columns."""
        ask = self._core.indexes(database, table, timeout)
        return self._run(ask, self._core.link_about_server())

    def ping(self, *, timeout: float | Unset | None = UNSET) -> AsyncCall[None]:
        """Asks the server whether it is there. Connects for that, if it is still to be done.

        A server that does not know the request is there, too.
        """
        return self._run(listing.ping(timeout), self._core.link_about_server())

    def _index(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | Mapping[str, Any] | type[Any] | Description,
        index: str,
        filter_columns: Sequence[str],
    ) -> AsyncIndex[Any]:
        operations, reader = self._core.operations(
            database, table, columns, index=index, filter_columns=filter_columns
        )
        return AsyncIndex(self, operations, reader)

    def __repr__(self) -> str:
        return f"AsyncClient({self._core.shown()})"

    def pipeline(self) -> AsyncPipeline:
        """Requests of this client's indexes that travel together."""
        return AsyncPipeline(self)

    def group(
        self, *, timeout: float | Unset | None = UNSET, within: float | None = None
    ) -> AsyncGroup:
        """Requests of this client's indexes that are done as a whole or not at all.

        `within` is the time in seconds that the server may take for all of them.
        """
        return AsyncGroup(self, timeout, within)

    def counters(self) -> Counters:
        """What the client has done so far."""
        return self._streams.added_to(self._core.counted())

    async def close(self) -> None:
        """Ends at once, in every state. Calls under way and later ones have ClosedError."""
        if self._core.is_closed:
            return
        self._core.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._streams.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets

    async def shutdown(self, seconds: float | None = None) -> None:
        """Takes no new calls, waits for the replies that are owed, at most so long, and closes.

        It waits for iterations that go on, too: also for one of the task that calls it.
        """
        self._core.is_shutting_down = True
        end = NEVER if seconds is None else monotonic() + seconds
        while not self._core.is_closed and monotonic() < end:
            if not (self._core.busy or self._streams.iterations.go_on):
                break
            await asyncio.sleep(0.005)
        await self.close()

    async def __aenter__(self) -> AsyncClient:
        self._check()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def after_fork(self) -> None:
        """In the child it is a new client. The parent goes on with the sockets."""
        for link in self._core.links:
            for wire in link.wires():
                cast(AsyncWire, wire).after_fork()
            link.forget()
        self._streams.after_fork()
        self._forget_loop()

    def _forget_loop(self) -> None:
        self._loop = None
        self._thread = 0
        self._tasks = set()
        self._sweeper = None
        self._streams.forget()

    def _run(self, ask: Ask[T], link: Link | None = None) -> AsyncCall[T]:
        self._check()
        now = monotonic()
        call = self._call(ask, now)
        if isinstance(ask, Nothing):
            call.set_result(ask.result)
            return call
        link = link or self._core.link_for((ask,))
        self._watch(call, link, now)
        link.submit(call, now)
        self._sweep_later()
        return call

    def _watch(self, call: AsyncCall[Any], link: Link, began: float) -> None:
        """Has the hook for requests called at the end, if there is one."""
        if self._core.options.on_request is None:
            return

        def tell(_: object) -> None:
            error = asyncio.CancelledError() if call.cancelled() else call.exception()
            result = None if error is not None else call.result()
            seconds = monotonic() - began
            self._core.saw_request(link, call, seconds, (result, error))

        call.add_done_callback(tell)

    def _look_up(self, operation: Operation[T], line: bytes) -> AsyncCall[T]:
        """The same for the most usual find."""
        link = self._usual_link
        if (
            link is None
            or link.wire is None
            or link.waiting
            # Before Python 3.12, get_running_loop() is a system call.
            or self._thread != get_ident()
            or not self._loop_runs()
            or self._core.is_shutting_down
        ):
            return self._run(Ask(operation, line))
        call: AsyncCall[T] = self._create_future()
        call.operation = operation
        call.line = line
        now = monotonic()
        call.deadline = now + self._seconds
        wire = link.wire
        if not wire.channel.add(call, now):
            link.submit(call, now)
        elif not wire.scheduled or len(wire.channel.unsent) >= PILE:
            wire.flush_soon()
        if self._sweeper is None:
            self._sweep_later()
        return call

    def _call(self, ask: Ask[T], now: float) -> AsyncCall[T]:
        call: AsyncCall[T] = self._create_future()
        call.operation = ask.operation
        call.line = ask.line
        timeout = ask.timeout
        if isinstance(timeout, Unset):
            call.deadline = now + self._seconds
        else:
            call.deadline = NEVER if timeout is None else now + timeout
        return call

    def _run_all(self, asks: Sequence[Ask[Any]]) -> list[AsyncCall[Any]]:
        """All of a pipeline: neighbours on one connection."""
        self._check()
        now = monotonic()
        link = self._core.link_for(asks)
        calls = [self._call(ask, now) for ask in asks]
        for ask, call in zip(asks, calls, strict=True):
            if isinstance(ask, Nothing):
                call.set_result(ask.result)
            else:
                self._watch(call, link, now)
                link.submit(call, now)
        self._sweep_later()
        return calls

    def _check(self) -> asyncio.AbstractEventLoop:
        """The loop that runs, if the client may be used in it."""
        if self._core.is_closed or self._core.is_shutting_down:
            raise ClosedError("the client is closed")
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None:
                if not self._loop.is_closed():
                    raise RuntimeError("the client is used in another event loop already")
                for link in self._core.links:  # that loop has closed the sockets
                    link.forget()
                self._forget_loop()
            self._loop = loop
            self._thread = get_ident()
            self._loop_runs = loop.is_running
            # A future of the loop itself might be of another class.
            self._create_future = cast(Any, partial(asyncio.Future, loop=loop))
        return loop

    def _start(self, work: Any) -> None:
        assert self._loop is not None
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _sweep_later(self) -> None:
        if self._sweeper is None and self._core.busy and self._loop is not None:
            self._sweeper = self._loop.call_later(_SWEEP, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        self._core.sweep(monotonic())
        self._sweep_later()

    async def _connect(self, link: Link) -> None:
        """Makes attempts until one succeeds or nobody waits any more."""
        try:
            while link.waiting:
                link.connecting = True
                await asyncio.sleep(max(0.0, link.not_before - monotonic()))
                error: HandlerSocketError | None = None
                left = False
                for server, place in link.places():
                    try:
                        wire = await open_wire(link, server, place, self._tls)
                    except HandlerSocketError as refused:
                        error = more_telling(error, refused)
                    else:
                        left = not link.connected(wire, monotonic())
                        if not left:
                            return
                        break
                if not left:
                    link.attempt_failed(error or self._core.no_port(link), monotonic())
        except Exception as error:  # of ours; nobody may wait for ever because of it
            link.attempt_failed(final(f"{type(error).__name__}: {error}"), monotonic())
            raise
        finally:
            link.connecting = False

    def _iterate(self, ask: Ask[list[R]], reader: RowReader[R]) -> AsyncIterator[R]:
        return self._streams.rows(ask, reader, self._check)
