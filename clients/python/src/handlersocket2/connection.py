"""One connection without a client around it: requests as objects, with index ids of one's own."""

from __future__ import annotations

import ssl
from typing import TypeVar

from .address import Address, parse_address
from .asks import ask_for
from .client import ClientPipeline
from .pipelines import Pending
from .requests import Request
from .threads import ThreadCore
from .url import target_of

T = TypeVar("T")

__all__ = ["Connection", "Pending", "Pipeline"]
#: Requests that travel together: `send()` adds one and gives a Pending.
Pipeline = ClientPipeline


class Connection:
    """A connection to one port of the server: (host, port), "host:port" or a Unix socket's path.

    `timeout` bounds a whole call in seconds (None or 0: it may take for ever): making the
    connection, a request, or a pipeline with all of its replies. `tls` is True for TLS with the
    authorities that this machine trusts, or a context of your own; host and certificate are
    verified unless that context says otherwise. Threads may share it, and their requests travel
    together. It does not connect again: after ConnectionLost or ProtocolError it is closed. It
    belongs to the process that made it: in a child that was forked it is closed.
    """

    def __init__(
        self,
        address: Address,
        *,
        timeout: float | None = 30.0,
        tls: ssl.SSLContext | bool = False,
    ) -> None:
        seconds = {"connect_timeout": timeout} if timeout else {}
        options = {"timeout": timeout, "tls": tls, "connect_attempts": 1, **seconds}
        self._core = ThreadCore(target_of(parse_address(address), None, options, {}), once=True)
        self._core.connect()

    def request(self, request: Request[T]) -> T:
        """Sends one request and returns its result, or raises what the server answered."""
        return self._core.run(ask_for(request))

    def pipeline(self) -> Pipeline:
        """Collects requests, sends them together, and gives their results in order."""
        return Pipeline(self._core)

    @property
    def closed(self) -> bool:
        """Whether no request can be sent any more, as far as it is known."""
        return self._core.has_ended

    def close(self) -> None:
        self._core.end()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
