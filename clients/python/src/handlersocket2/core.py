"""The client without its sockets: which connection a request takes, and what becomes of it when
one is lost.

It does no I/O. A face (asyncio's, or that of threads) makes the connections that it asks for, and
lets one thread at a time in.
"""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from .address import Place
from .calls import Call, closed, expire, is_sent, tries_of
from .channel import Channel
from .decoders import opened
from .errors import (
    AuthenticationError,
    BusyError,
    ConnectError,
    ConnectionLost,
    HandlerSocketError,
    ProtocolError,
    ReplyError,
)
from .grouped import GroupOperation
from .operations import Ask, Operation, Operations, Specs
from .requests import OpenIndex
from .rows import RowReader, reader_for
from .seen import ConnectionSeen, Counters, RequestSeen, call_hook, rows_of
from .setup import final
from .tokens import check_names
from .url import Target


class Wire:
    """The socket below a channel, as a face has it."""

    channel: Channel
    #: The number of the server to which it goes.
    server: int
    #: Whether what is in the channel will be sent without a word.
    scheduled = False

    def flush_soon(self) -> None:
        """There is something to send."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the connection at once."""
        raise NotImplementedError


class Link:
    """One of the connections of a route: it, what waits for it, and how attempts have gone."""

    def __init__(self, core: Core, route: str) -> None:
        self.core = core
        self.route = route
        self.wire: Wire | None = None
        #: Wires to servers that are current no more. They still answer what was sent.
        self.retiring: list[Wire] = []
        self.waiting: deque[Call] = deque()
        self.connecting = False
        self.not_before = 0.0
        self._failures = 0

    @property
    def load(self) -> int:
        return len(self.waiting) + (len(self.wire.channel.slots) if self.wire else 0)

    def submit(self, call: Call, now: float) -> None:
        """Sends it, or lets it wait: for a connection, or for room."""
        wire = self.wire
        if wire is not None and not self.waiting and wire.channel.add(call, now):
            wire.flush_soon()
            return
        if wire is not None and self.core.options.when_full == "fail":
            call.set_exception(BusyError("as much is in flight as the client allows"))
            return
        self.waiting.append(call)
        if wire is None:
            self.core.wants_connection(self)

    def connected(self, wire: Wire, now: float) -> None:
        """A connection was made, and the log-in was answered."""
        self.connecting = False
        self.wire = wire
        self.core.counters.connected += 1
        self.core.saw("connected", self.route, self.core.place_of(self, wire))
        self.core.reached(self, wire.server)
        self.drain(now)

    def drain(self, now: float) -> None:
        """What waits goes as far as there is room."""
        wire = self.wire
        if wire is None or not self.waiting:
            return
        added = False
        while self.waiting:
            call = self.waiting[0]
            if call.done():
                self.waiting.popleft()
            elif wire.channel.add(call, now):
                self.waiting.popleft()
                added = True
            else:
                break
        if added:
            wire.flush_soon()

    def attempt_failed(self, error: HandlerSocketError, now: float) -> None:
        """All addresses were tried. Some errors would come again, and end all calls that wait."""
        self.connecting = False
        self._failed(now)
        self.core.saw("failed", self.route, None, str(error), max(0.0, self.not_before - now))
        last = is_final(error)
        kept: deque[Call] = deque()
        for call in self.waiting:
            if call.done():
                continue
            tries = tries_of(call)
            tries.connected += 1
            if last or tries.connected >= self.core.options.connect_attempts:
                call.set_exception(of_attempt(error))
            else:
                kept.append(call)
        self.waiting = kept

    def lost(self, wire: Wire, error: ConnectionLost, now: float) -> None:
        """The wire can be used no more. Nothing that modifies and was sent is sent again."""
        if wire is self.wire:
            self.wire = None
        elif wire in self.retiring:
            self.retiring.remove(wire)
        wire.close()
        channel = wire.channel
        self.core.counters.lost += 1
        self.core.saw("lost", self.route, self.core.place_of(self, wire), str(error))
        again: list[Call] = []
        for call in channel.left_over(error):
            tries = tries_of(call)
            if not is_sent(call):
                again.append(call)
            elif tries.repeated < self.core.options.retry_reads:
                tries.repeated += 1
                call.sent = False
                again.append(call)
            else:
                call.set_exception(type(error)(*error.args, sent=True))
        if channel.proved:
            self._failures = 0
        else:
            self._failed(now)
        self.waiting.extendleft(reversed(again))
        if self.waiting and self.wire is None:
            self.core.wants_connection(self)

    def retire(self, now: float) -> None:
        """Its server is current no more: it answers what was sent, and takes nothing new."""
        wire = self.wire
        if wire is None:
            return
        self.wire = None
        if wire.channel.slots:
            self.retiring.append(wire)
        else:
            wire.close()
        if self.waiting:
            self.core.wants_connection(self)

    def replied(self, wire: Wire, now: float) -> None:
        """Something has come on a wire: looks at what follows from it."""
        channel = wire.channel
        if channel.broken is not None:
            self.lost(wire, ConnectionLost(f"the connection was given up: {channel.broken}"), now)
        elif wire is not self.wire:
            if wire in self.retiring and not channel.slots:
                self.retiring.remove(wire)
                wire.close()
        else:
            if channel.proved:
                self._failures = 0
            if self.waiting:
                self.drain(now)

    def sweep(self, now: float) -> None:
        """Frees callers whose time is over, and ends connections that are dead."""
        for call in self.waiting:
            if call.deadline <= now and not call.done():
                expire(call)
                self.core.given_up_waiting += 1
        if any(call.done() for call in self.waiting):
            self.waiting = deque(call for call in self.waiting if not call.done())
        for wire in self.wires():
            wire.channel.sweep(now)
            if now >= wire.channel.dead_at:
                self.lost(wire, wire.channel.dead(), now)

    def wires(self) -> list[Wire]:
        return [*self.retiring, *([self.wire] if self.wire else [])]

    @property
    def busy(self) -> bool:
        """Whether something waits, or is owed a reply."""
        return bool(self.waiting) or any(wire.channel.slots for wire in self.wires())

    def close(self) -> None:
        for call in self.waiting:
            if not call.done():
                closed(call)
        self.waiting.clear()
        for wire in self.wires():
            wire.channel.call_back()
            for call in wire.channel.slots:
                if not call.done():
                    closed(call)
            wire.channel.slots.clear()
            wire.close()
        self.wire = None
        self.retiring.clear()

    def forget(self) -> None:
        """In a forked child: all of it belongs to the parent."""
        self.wire = None
        self.retiring.clear()
        self.waiting.clear()
        self.connecting = False
        self._failures = 0
        self.not_before = 0.0

    def _failed(self, now: float) -> None:
        self._failures += 1
        options = self.core.options
        most = min(options.backoff_max, options.backoff_min * 2.0 ** min(self._failures - 1, 60))
        self.not_before = now + random.uniform(0, most)


class Core:
    """All links of a client, and which server is current."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.options = target.options
        self.servers = target.servers
        self.specs = Specs()
        self.counters = Counters()
        self.given_up_waiting = 0
        self.is_closed = False
        self.is_shutting_down = False
        #: The indexes that callers have opened and numbered by themselves.
        self.remembered: dict[bytes, bytes] = {}
        #: Asks for nothing but a connection.
        self.ping: Ask[None] = Ask(Operation("ping", None, opened, modifies=False), b"")
        self._current = 0
        self._home = random.randrange(len(self.servers))  # where finds go, if not to the writer
        options = target.options
        counts = {
            "read": options.read_connections,
            "write": options.write_connections,
            "long": options.long_connections,
        }
        self.routes: dict[str, list[Link]]
        if target.one_port:
            only = [Link(self, "write")]
            self.routes = {route: only for route in counts}
        else:
            self.routes = {
                route: [Link(self, route) for _ in range(count)] for route, count in counts.items()
            }
        self.links = list(dict.fromkeys(link for links in self.routes.values() for link in links))
        self._writing = self.routes["write"]

    # What a face does.

    def wants_connection(self, link: Link) -> None:
        """Something waits for a connection that is not there."""
        raise NotImplementedError

    # What a face asks.

    def operations(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | Mapping[str, Any] | type[Any],
        *,
        index: str,
        filter_columns: Sequence[str],
    ) -> tuple[Operations[Any], RowReader[Any]]:
        """The requests of an index. Refuses names that no request can hold."""
        if database is None:
            database = self.target.database
            if database is None:
                raise ValueError("there is no database: name it here, or in the client's URL")
        if not isinstance(columns, (type, Mapping)):
            check_names(columns, "columns")
        names, reader = reader_for(columns)
        request = OpenIndex(0, database, table, index, names, filter_columns)
        return Operations(self.specs, self.specs.get(request), reader), reader

    def saw(
        self,
        what: Literal["connected", "lost", "failed", "moved"],
        route: str,
        address: Place | None,
        reason: str | None = None,
        delay: float | None = None,
    ) -> None:
        """Tells those who want to know of connections."""
        hook, logger = self.options.on_connection, self.options.logger
        if hook is not None:
            call_hook(hook, ConnectionSeen(what, route, address, reason, delay))
        if logger is not None:
            level = logging.WARNING if what in ("lost", "failed") else logging.INFO
            words = "" if reason is None else f": {reason}"
            logger.log(level, "handlersocket %s %s %s%s", what, route, address or "", words)

    def saw_request(
        self,
        link: Link,
        operation: Operation[Any],
        line: bytes,
        seconds: float,
        outcome: tuple[Any, BaseException | None],
    ) -> None:
        """Tells who wants to know of requests. Only if somebody does."""
        hook = self.options.on_request
        assert hook is not None
        result, error = outcome
        spec = operation.spec
        if isinstance(operation, GroupOperation):
            spec = next(iter(operation.asks.values())).operation.spec
        seen = RequestSeen(
            operation=operation.name,
            database=spec.database if spec else None,
            table=spec.table if spec else None,
            index=spec.index if spec else None,
            route=link.route,
            address=self.place_of(link, link.wire) if link.wire else None,
            seconds=seconds,
            bytes_out=len(line),
            rows=None if error is not None else rows_of(operation, result),
            error=error,
        )
        call_hook(hook, seen)

    def place_of(self, link: Link, wire: Wire) -> Place | None:
        server = self.servers[wire.server]
        return server.write if link.route == "write" else server.read or server.write

    def counted(self) -> Counters:
        """What was done so far."""
        wires = [wire for link in self.links for wire in link.wires()]
        slots = [call for wire in wires for call in wire.channel.slots]
        waiting = [call for link in self.links for call in link.waiting]
        given_up = sum(call.done() for call in (*slots, *waiting))
        return replace(
            self.counters,
            in_flight=len(slots),
            given_up=self.counters.dropped + self.given_up_waiting + given_up,
        )

    def shown(self) -> str:
        """The servers, for a client's repr. Never a password."""
        return ", ".join(f"{server.read} {server.write}" for server in self.servers)

    def no_port(self, link: Link | None) -> ConnectError:
        """The error of a call for which no server has a port."""
        what = "writing" if link is not None and link.route == "write" else "reading"
        return final(f"the client has no port for {what}")

    def link_for(self, asks: Iterable[Ask[Any]]) -> Link:
        """Where a request goes, or all requests of a pipeline. Refuses what can go nowhere."""
        route = "read"
        for ask in asks:
            own = ask.operation.spec is None and not ask.operation.more
            if own and not self.target.one_port:
                raise ValueError(
                    "a request with an index id needs a client of one port, or a Connection"
                )
            if ask.operation.modifies:
                if all(server.write is None for server in self.servers):
                    raise ValueError("the client has no port for writing")
                route = "write"
                break
            if ask.reach >= self.options.long_limit:
                route = "long"
        if (
            route != "write"
            and self.options.read_after_write == "sent"
            and any(link.busy for link in self._writing)
        ):
            route = "write"
        links = self.routes[route]
        return links[0] if len(links) == 1 else min(links, key=lambda link: link.load)

    def places(self, route: str) -> list[tuple[int, Place]]:
        """The servers that an attempt tries, with their numbers, in order."""
        count = len(self.servers)
        if route == "write" or self.options.read_from == "writer":
            order = [(self._current + step) % count for step in range(count)]
        else:
            order = [(self._home + step) % count for step in range(count)]
            if self.options.read_from == "replicas":
                order.sort(key=lambda number: number == self._current)
        places: list[tuple[int, Place]] = []
        for number in order:
            server = self.servers[number]
            place = server.write if route == "write" else server.read or server.write
            if place is not None:
                places.append((number, place))
        return places

    def reached(self, link: Link, server: int) -> None:
        """A link has a connection to a server, which is current from now on."""
        if link.route == "write" or self.options.read_from == "writer":
            self._move_to(server)
        else:
            self._home = server

    def elsewhere(self, channel: Channel, call: Call, error: ReplyError) -> bool:
        """A server has answered that another one is to be asked. True if that is done."""
        if error.retry != "elsewhere" or len(self.servers) == 1 or call.done():
            return False
        tries = tries_of(call)
        tries.referred += 1
        if tries.referred >= len(self.servers):
            return False
        link, wire = next(
            (link, wire) for link in self.links for wire in link.wires() if wire.channel is channel
        )
        following = (wire.server + 1) % len(self.servers)
        if link.route == "write" or self.options.read_from == "writer":
            if wire.server == self._current:
                self._move_to(following)
        else:
            self._home = following
            link.retire(0.0)
        call.sent = False
        call.opening = None
        link.waiting.append(call)
        if link.wire is None:
            self.wants_connection(link)
        return True

    def _move_to(self, server: int) -> None:
        if server == self._current:
            return
        self._current = server
        self.saw("moved", "write", self.servers[server].write or self.servers[server].read)
        for link in self.links:
            follows = link.route == "write" or self.options.read_from == "writer"
            if follows and link.wire is not None and link.wire.server != server:
                link.retire(0.0)

    def sweep(self, now: float) -> None:
        for link in self.links:
            if link.waiting or link.wire is not None or link.retiring:
                link.sweep(now)

    @property
    def busy(self) -> bool:
        return any(link.busy for link in self.links)

    def close(self) -> None:
        self.is_closed = self.is_shutting_down = True
        for link in self.links:
            link.close()


def is_final(error: HandlerSocketError) -> bool:
    """Whether a second attempt would end in the same way."""
    return isinstance(error, (AuthenticationError, ProtocolError)) or (
        isinstance(error, ConnectError) and error.final
    )


def of_attempt(error: HandlerSocketError) -> HandlerSocketError:
    """An error of an attempt for one of the calls that have waited: nothing of it was sent."""
    if isinstance(error, ReplyError):
        return type(error)(error.code, error.text, sent=False)
    return type(error)(*error.args, sent=False)
