"""The client without its sockets: which connection a request takes, and what becomes of it when
one is lost.

It does no I/O. A face (asyncio's, or that of threads) makes the connections that it asks for, and
lets one thread at a time in.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from . import listing
from .address import Place
from .asks import Ask, Operation, Spec, Specs
from .calls import Call, bytes_in_of, leaves_full, tries_of
from .channel import Channel
from .decoders import pairs
from .describing import DescribeOperation
from .descriptions import Description
from .errors import ConnectError, ReplyError
from .grouped import GroupOperation, first_unread
from .links import FULL, MOVED, Link, Wire
from .listing import ListOperation
from .lists import ListedIndex
from .operations import Operations
from .ranges import Unset
from .requests import OpenIndex
from .rows import RowReader, reader_for
from .seen import ConnectionSeen, Counters, RequestSeen, call_hook, rows_of
from .setup import final, hello_line
from .tokens import check_names
from .url import Target


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
        columns: Sequence[str] | Mapping[str, Any] | type[Any] | Description,
        *,
        index: str,
        filter_columns: Sequence[str],
    ) -> tuple[Operations[Any], RowReader[Any]]:
        """The requests of an index. Refuses names that no request can hold."""
        if not isinstance(columns, (type, Mapping, Description)):
            check_names(columns, "columns")
        names, reader = reader_for(columns)
        spec = self.specs.get(OpenIndex(0, self._of(database), table, index, names, filter_columns))
        return Operations(self.specs, spec, reader), reader

    def describe(
        self,
        database: str | None,
        table: str,
        columns: Sequence[str] | None,
        *,
        index: str,
        filter_columns: Sequence[str],
        timeout: float | Unset | None,
    ) -> Ask[Description]:
        """What the columns of an index are. Refuses names that no request can hold."""
        names = () if columns is None else columns
        request = OpenIndex(0, self._of(database), table, index, names, filter_columns)
        spec = self.specs.of_all_columns(request) if columns is None else self.specs.get(request)
        return Ask(DescribeOperation(spec), b"\n", timeout=timeout)

    def hello(self, timeout: float | Unset | None) -> Ask[dict[str, str]]:
        """Asks for versions and for what the server understands."""
        operation = Operation("hello", None, pairs, modifies=False)
        return Ask(operation, hello_line(self.options), timeout=timeout)

    def tables(self, database: str | None, timeout: float | Unset | None) -> Ask[list[str]]:
        return listing.tables(self._of(database), timeout)

    def indexes(
        self, database: str | None, table: str, timeout: float | Unset | None
    ) -> Ask[list[ListedIndex]]:
        return listing.indexes(self._of(database), table, timeout)

    def _of(self, database: str | None) -> str:
        """The database that is named, or that of the client."""
        named = self.target.database if database is None else database
        if named is None:
            raise ValueError("there is no database: name it here, or in the client's URL")
        return named

    def saw(
        self,
        what: Literal["connected", "lost", "closed", "failed", "moved"],
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
        call: Call,
        seconds: float,
        outcome: tuple[Any, BaseException | None],
    ) -> None:
        """Tells who wants to know of requests. Only if somebody does."""
        hook = self.options.on_request
        assert hook is not None
        result, error = outcome
        operation = call.operation
        named: Spec | ListOperation[Any] | None = operation.spec
        if isinstance(operation, GroupOperation):
            error = error or first_unread(result)
            named = next(iter(operation.asks.values())).operation.spec
        elif isinstance(operation, ListOperation):
            named = operation
        seen = RequestSeen(
            operation=operation.name,
            database=named.database if named else None,
            table=named.table if named else None,
            index=named.index if named else None,
            route=link.route,
            address=self.place_of(link, link.wire) if link.wire else None,
            seconds=seconds,
            bytes_out=len(call.line),
            bytes_in=bytes_in_of(call),
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

    def link_about_server(self) -> Link:
        """Where a request goes that asks for no rows."""
        reads = any(server.read is not None for server in self.servers)
        return min(self.routes["read" if reads else "write"], key=lambda link: link.load)

    def wanted(self, route: str) -> int:
        """The number of the server that a route asks now."""
        if route == "write" or self.options.read_from == "writer":
            return self._current
        return self._home

    def places(self, route: str) -> list[tuple[int, Place]]:
        """The servers that an attempt tries, with their numbers, in order."""
        count = len(self.servers)
        order = [(self.wanted(route) + step) % count for step in range(count)]
        if route != "write" and self.options.read_from == "replicas":
            order.sort(key=lambda number: number == self._current)
        places: list[tuple[int, Place]] = []
        for number in order:
            server = self.servers[number]
            place = server.write if route == "write" else server.read or server.write
            if place is not None:
                places.append((number, place))
        return places

    def reached(self, route: str, server: int) -> None:
        """A route has a connection to a server, which is current from now on."""
        if route == "write" or self.options.read_from == "writer":
            self._move_to(server)
        else:
            self._make_home(server)

    def left(self, route: str, server: int) -> None:
        """A server has answered that another one is to be asked."""
        if server == self.wanted(route):
            self.reached(route, (server + 1) % len(self.servers))

    def elsewhere(self, channel: Channel, call: Call, error: ReplyError) -> bool:
        """A server has answered that another one is to be asked. True if that is done."""
        if error.retry != "elsewhere" or len(self.servers) == 1 or call.done():
            return False
        tries = tries_of(call)
        tries.referred += 1
        if tries.referred >= len(self.servers):
            return False
        link, wire = self._link_of(channel)
        following = (wire.server + 1) % len(self.servers)
        if link.route == "write" or self.options.read_from == "writer":
            if wire.server == self._current:
                self._move_to(following)
        elif wire.server == self._home:
            self._make_home(following)
        self.send_again(link, call)
        return True

    def no_room(self, channel: Channel, call: Call) -> bool:
        """A connection can open no more indexes. True if the call goes to a new one; only once."""
        if not leaves_full(call):
            return False
        link, wire = self._link_of(channel)
        if wire is link.wire:
            link.leave(FULL)
        self.send_again(link, call)
        return True

    def _link_of(self, channel: Channel) -> tuple[Link, Wire]:
        return next(
            (link, wire) for link in self.links for wire in link.wires() if wire.channel is channel
        )

    def send_again(self, link: Link, call: Call) -> None:
        """A call that has left its slot, and was not executed."""
        call.sent = False
        call.opening = None
        link.waiting.append(call)
        if link.wire is None:
            self.wants_connection(link)

    def goes_elsewhere(self, error: BaseException, asked: int) -> bool:
        """Whether an iteration that so many servers were asked goes to another one."""
        elsewhere = isinstance(error, ReplyError) and error.retry == "elsewhere"
        return elsewhere and asked < len(self.servers)

    def _move_to(self, server: int) -> None:
        if server == self._current:
            return
        self._current = server
        self.saw("moved", "write", self.servers[server].write or self.servers[server].read)
        everything = self.options.read_from == "writer"
        self._retire(link for link in self.links if everything or link.route == "write")

    def _make_home(self, server: int) -> None:
        """All finds go there from now on, by whichever connection."""
        if server == self._home:
            return
        # From the writer to a replica it is the choice that was asked for, and no fail-over.
        chosen = self.options.read_from == "replicas" and self._home == self._current
        self._home = server
        if not chosen:
            self.saw("moved", "read", self.servers[server].read or self.servers[server].write)
        self._retire(link for link in self.links if link.route != "write")

    def _retire(self, links: Iterable[Link]) -> None:
        """Ends connections to servers that their routes do not ask any more."""
        for link in links:
            if link.wire is not None and link.wire.server != self.wanted(link.route):
                link.retire(MOVED)

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
