"""The client of asyncio: tasks share its connections, and what they ask in one turn of the loop
is sent together."""

from __future__ import annotations

import asyncio
import socket
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Mapping, Sequence
from time import monotonic
from typing import Any, Generic, TypeVar, Unpack, cast, overload

from .address import Address, Place
from .channel import NEVER, Channel, Opening
from .codec import Value, quoted
from .core import Core, Link, Wire, is_final
from .errors import (
    ClosedError,
    ConnectionLost,
    HandlerSocketError,
    ProtocolError,
    RequestTimeout,
)
from .forks import leave_to_parent, renew_after_fork
from .operations import (
    UNSET,
    Ask,
    FindInOptions,
    FindOneOptions,
    FindOptions,
    InsertOptions,
    Key,
    ModifyOptions,
    Nothing,
    Operation,
    Operations,
    Unset,
    Values,
    plain_line,
)
from .options import ClientOptions
from .pipelines import PipelinedIndex, Pipelining
from .requests import ModifyOp
from .rows import NamedRow, Row, RowReader
from .setup import cannot_connect, check_greeting, check_log_in, final, hung_up, log_in_line
from .stream import RowStream, StreamIndexes
from .url import TwoPorts, target_of

R = TypeVar("R")
T = TypeVar("T")

#: How often deadlines are looked at. A call may end so much late, and never early.
_SWEEP = 0.05
_CHUNK = 64 * 1024


class AsyncCall(asyncio.Future[T]):
    """A request under way, to be awaited. A task that is cancelled gives it up."""

    # What every call sets has a slot; a Future has a dictionary for what few calls set.
    __slots__ = ("deadline", "line", "operation", "sent")
    operation: Operation[T]
    line: bytes
    deadline: float
    sent: bool
    attempts = repeated = referred = 0
    opening: Opening | None = None

    settle = asyncio.Future.set_result
    fail = asyncio.Future.set_exception

    @property
    def maybe_executed(self) -> bool:
        """Of one that was given up: whether a modification may have been executed."""
        return self.sent and self.operation.modifies


class _Wire(asyncio.Protocol, Wire):
    """A socket of the loop below a channel."""

    def __init__(self, client: AsyncClient, link: Link, server: int, place: Place) -> None:
        self.server = server
        self._client = client
        self._link = link
        self._place = place
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self.scheduled = False
        self._closed = False
        self._first: asyncio.Future[bytes] | None = None  # the reply to the log-in
        self._begun = b""
        core = client._core
        elsewhere = core.elsewhere if len(core.servers) > 1 else None
        self.channel = Channel(core.options, monotonic(), elsewhere)

    async def log_in(self, line: bytes) -> None:
        assert self._transport is not None
        self._first = self._loop.create_future()
        self._transport.write(line)
        reply = await self._first
        self._first = None
        check_log_in(reply)

    def flush_soon(self) -> None:
        if not self.scheduled:
            self.scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self.scheduled = False
        if not self._paused and not self._closed and self.channel.has_output:
            assert self._transport is not None
            self._transport.write(self.channel.take_output())

    def close(self) -> None:
        self._closed = True
        if self._transport is not None:
            self._transport.abort()

    def after_fork(self) -> None:
        if self._transport is not None:
            leave_to_parent(self._transport, self._transport.get_extra_info("socket"))

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        opened = transport.get_extra_info("socket")
        if isinstance(self._place, tuple) and opened is not None:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        if self._first is not None:
            self._log_in_received(data)
            return
        if self._closed:
            return
        now = monotonic()
        self.channel.received(data, now)
        self._link.replied(self, now)

    def _log_in_received(self, data: bytes) -> None:
        assert self._first is not None
        self._begun += data
        if self._first.done():
            return
        try:
            check_greeting(self._begun)
            line, end, surplus = self._begun.partition(b"\n")
            if surplus:
                raise ProtocolError(f"bytes that nobody has asked for: {quoted(surplus)}")
            if end:
                self._first.set_result(line)
        except ProtocolError as error:
            self._first.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._first is not None and not self._first.done():
            self._first.set_exception(hung_up(self._place))
        if self._closed:
            return
        self._closed = True
        if self in self._link.wires():
            text = str(exc or "the server closed the connection")
            self._link.lost(self, ConnectionLost(text), monotonic())
        elif self.channel.broken is None:
            self.channel.broken = ConnectionLost("the server closed the connection")

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._flush()


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
        usual = len(reads) == 1 and self._target.options.read_after_write == "awaited"
        self._usual_link = reads[0] if usual else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._idle_stream: _Stream | None = None
        self._streams: set[_Stream] = set()
        self._may_stream = asyncio.Semaphore(self._target.options.max_streams)
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
        operations, reader = self._core.operations(
            database, table, columns, index=index, filter_columns=filter_columns
        )
        return AsyncIndex(self, operations, reader)

    def __repr__(self) -> str:
        return f"AsyncClient({self._core.shown()})"

    def pipeline(self) -> AsyncPipeline:
        """Requests of this client's indexes that travel together."""
        return AsyncPipeline(self)

    async def ping(self) -> None:
        """Connects, if that is still to be done, and waits until a request could be sent."""
        self._check()
        for link in self._core.links:
            if not any(self._core.places(link.route)):
                continue
            call = self._call(self._core.ping, monotonic())
            link.submit(call, monotonic())
            self._sweep_later()
            await call

    async def close(self) -> None:
        """Ends at once, in every state. Calls under way and later ones have ClosedError."""
        if self._core.is_closed:
            return
        self._core.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for stream in [*self._streams, *([self._idle_stream] if self._idle_stream else [])]:
            stream.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets

    async def shutdown(self, seconds: float | None = None) -> None:
        """Takes no new calls, waits for the replies that are owed, at most so long, and closes."""
        self._core.is_shutting_down = True
        end = NEVER if seconds is None else monotonic() + seconds
        while self._core.busy and monotonic() < end and not self._core.is_closed:
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
                cast(_Wire, wire).after_fork()
            link.forget()
        for stream in [*self._streams, *([self._idle_stream] if self._idle_stream else [])]:
            stream.after_fork()
        self._forget_loop()

    def _forget_loop(self) -> None:
        self._loop = None
        self._tasks = set()
        self._sweeper = None
        self._idle_stream = None
        self._streams = set()
        self._may_stream = asyncio.Semaphore(self._core.options.max_streams)

    def _run(self, ask: Ask[T]) -> AsyncCall[T]:
        self._check()
        now = monotonic()
        call = self._call(ask, now)
        if isinstance(ask, Nothing):
            call.set_result(cast(T, []))
            return call
        self._core.link_for((ask,)).submit(call, now)
        self._sweep_later()
        return call

    def _look_up(self, operation: Operation[T], line: bytes) -> AsyncCall[T]:
        """The same for the most usual find, with nothing in its way that may be left out."""
        loop = self._loop
        if get_running_loop() is not loop or self._core.is_shutting_down:
            loop = self._check()
        call: AsyncCall[T] = AsyncCall(loop=loop)
        call.operation = operation
        call.line = line
        call.sent = False
        now = monotonic()
        call.deadline = now + self._seconds
        link = self._usual_link
        if link is None:
            link = self._core.link_for((Ask(operation, line),))
        wire = link.wire
        if wire is not None and not link.waiting and wire.channel.add(call, now):
            if not wire.scheduled:
                wire.flush_soon()
        else:
            link.submit(call, now)
        if self._sweeper is None:
            self._sweep_later()
        return call

    def _call(self, ask: Ask[T], now: float) -> AsyncCall[T]:
        call: AsyncCall[T] = AsyncCall(loop=self._loop)
        call.operation = ask.operation
        call.line = ask.line
        call.sent = False
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
                call.set_result([])
            else:
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
                for server, place in self._core.places(link.route):
                    try:
                        wire = await self._open(link, server, place)
                    except HandlerSocketError as refused:
                        error = refused
                        if is_final(refused):
                            break
                    else:
                        link.connected(wire, monotonic())
                        return
                link.attempt_failed(error or self._core.no_port(link), monotonic())
        except Exception as error:  # of ours; nobody may wait for ever because of it
            link.attempt_failed(final(f"{type(error).__name__}: {error}"), monotonic())
            raise
        finally:
            link.connecting = False

    async def _open(self, link: Link, server: int, place: Place) -> _Wire:
        wire = _Wire(self, link, server, place)
        try:
            async with asyncio.timeout(self._core.options.connect_timeout):
                await self._dial(lambda: wire, place)
                assert wire._transport is not None
                line = log_in_line(
                    self._core.options, _peer(wire._transport), encrypted=self._tls is not None
                )
                if line is not None:
                    await wire.log_in(line)
        except BaseException as error:
            wire.close()
            if isinstance(error, (OSError, UnicodeError)):
                raise cannot_connect(place, error) from error
            raise
        if wire.channel.broken is not None:
            raise wire.channel.broken
        return wire

    async def _dial(self, protocol: Any, place: Place) -> tuple[asyncio.Transport, Any]:
        assert self._loop is not None
        if isinstance(place, str):
            return await self._loop.create_unix_connection(protocol, place)
        host, port = place
        name = (self._core.options.tls_name or host) if self._tls is not None else None
        return await self._loop.create_connection(
            protocol, host, port, ssl=self._tls, server_hostname=name
        )

    async def _iterate(self, ask: Ask[list[R]], reader: RowReader[R]) -> AsyncIterator[R]:
        self._check()
        try:
            async with asyncio.timeout(self._core.options.timeout):
                await self._may_stream.acquire()
        except TimeoutError:
            raise RequestTimeout("as many iterate as the client allows") from None
        stream: _Stream | None = None
        whole = False
        try:
            stream = await self._stream()
            async for row in stream.rows(ask, reader):
                yield row
            whole = True
        finally:
            self._may_stream.release()
            if stream is not None:
                self._streams.discard(stream)
                if whole and self._idle_stream is None and not self._core.is_closed:
                    self._idle_stream = stream
                else:
                    stream.close()

    async def _stream(self) -> _Stream:
        """A connection for a stream: the one that was kept, or a new one."""
        stream, self._idle_stream = self._idle_stream, None
        if stream is None or not stream.usable:
            if stream is not None:
                stream.close()
            error: HandlerSocketError | None = None
            for _, place in self._core.places("stream"):
                try:
                    stream = await self._open_stream(place)
                    break
                except HandlerSocketError as refused:
                    error = refused
            else:
                raise error or self._core.no_port(None)
        self._streams.add(stream)
        return stream

    async def _open_stream(self, place: Place) -> _Stream:
        assert self._loop is not None
        reader = asyncio.StreamReader(limit=_CHUNK, loop=self._loop)
        transport: asyncio.Transport | None = None
        try:
            async with asyncio.timeout(self._core.options.connect_timeout):
                transport, _ = await self._dial(lambda: asyncio.StreamReaderProtocol(reader), place)
                line = log_in_line(
                    self._core.options, _peer(transport), encrypted=self._tls is not None
                )
                if line is not None:
                    transport.write(line)
                    reply = await reader.readline()
                    check_greeting(reply)
                    if not reply.endswith(b"\n"):
                        raise hung_up(place)
                    check_log_in(reply[:-1])
        except BaseException as error:
            if transport is not None:
                transport.abort()
            if isinstance(error, (OSError, UnicodeError)):
                raise cannot_connect(place, error) from error
            raise
        return _Stream(self, reader, transport)


def _peer(transport: asyncio.Transport) -> str | None:
    """The address of the other end, if it is TCP."""
    name = transport.get_extra_info("peername")
    return name[0] if isinstance(name, tuple) else None


class _Stream:
    """A connection for iterating. If the consumer is slow, the loop stops reading."""

    def __init__(
        self, client: AsyncClient, reader: asyncio.StreamReader, transport: asyncio.Transport
    ) -> None:
        self._client = client
        self._reader = reader
        self._transport = transport
        self._indexes = StreamIndexes()
        self._first = True
        self._closed = False

    @property
    def usable(self) -> bool:
        return not (self._transport.is_closing() or self._reader.at_eof())

    async def rows(self, ask: Ask[list[R]], row_reader: RowReader[R]) -> AsyncIterator[R]:
        spec = ask.operation.spec
        assert spec is not None
        options = self._client._core.options
        timeout = options.timeout if ask.timeout is UNSET else cast("float | None", ask.timeout)
        lines, opening = self._indexes.lines(ask, spec)
        self._transport.write(lines)
        stream = RowStream(
            spec, row_reader, options.max_reply_bytes, opening=opening, first=self._first
        )
        self._first = False
        while not stream.done:
            try:
                async with asyncio.timeout(timeout):
                    data = await self._reader.read(_CHUNK)
            except TimeoutError as error:
                raise RequestTimeout("no bytes within the time-out", sent=True) from error
            except OSError as error:
                data = b""
                if not self._closed:
                    raise ConnectionLost(str(error), sent=True) from error
            if self._closed:
                raise ClosedError("the client is closed", sent=True)
            if not data:
                raise ConnectionLost("the server closed the connection", sent=True)
            for row in stream.feed(data):
                yield row

    def close(self) -> None:
        self._closed = True
        self._transport.abort()

    def after_fork(self) -> None:
        leave_to_parent(self._transport, self._transport.get_extra_info("socket"))


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

    def iterate(self, key: Key, **options: Unpack[FindOptions]) -> AsyncIterator[R]:
        """The rows one by one, for `async for`, over a connection of their own."""
        return self._client._iterate(self.operations.iterate(key, options), self._reader)

    def update(self, key: Key, values: Values, **options: Unpack[ModifyOptions]) -> AsyncCall[int]:
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
        values: Sequence[Value] = (),
        **options: Unpack[ModifyOptions],
    ) -> AsyncCall[list[R]]:
        return self._run(self.operations.fetch(change, key, values, options))

    def insert(self, values: Values, **options: Unpack[InsertOptions]) -> AsyncCall[int | None]:
        return self._run(self.operations.insert(values, options))


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
