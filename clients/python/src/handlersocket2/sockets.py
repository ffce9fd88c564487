"""Sockets that do not block, and waiting for them no longer than a deadline allows."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from collections.abc import Callable
from typing import Any, TypeAlias

from .address import Place
from .deadline import Deadline
from .errors import ProtocolError
from .greeting import sql_greeting

#: A socket that does not block has nothing to give or no room; TLS may lack the rest of a record.
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


#: Is told of a socket before it connects, so that somebody else can end that.
Starts: TypeAlias = Callable[[socket.socket], None]


def connect(place: Place, deadline: Deadline, starts: Starts) -> socket.socket:
    """A connected socket that does not block. Tries each address of a host in turn."""
    if isinstance(place, str):
        return _connect_to(socket.AF_UNIX, place, deadline, starts)
    refused: OSError | None = None
    for family, _, _, _, address in socket.getaddrinfo(*place, type=socket.SOCK_STREAM):
        try:
            connected = _connect_to(family, address, deadline, starts)
        except OSError as error:
            deadline.check()
            refused = error
            continue
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected
    raise refused or OSError("the host has no address")


def _connect_to(
    family: int, address: str | tuple[Any, ...], deadline: Deadline, starts: Starts
) -> socket.socket:
    connecting = socket.socket(family, socket.SOCK_STREAM)
    try:
        starts(connecting)
        connecting.settimeout(_not_zero(deadline))
        connecting.connect(address)
        connecting.setblocking(False)
    except BaseException:
        connecting.close()
        raise
    return connecting


def _not_zero(deadline: Deadline) -> float | None:
    """0 would mean: do not block."""
    deadline.check()
    return deadline.left()


def shake_hands(
    connected: socket.socket, tls: ssl.SSLContext, host: str, deadline: Deadline
) -> ssl.SSLSocket:
    """The same connection with TLS. Closes the socket if that fails."""
    try:
        wrapped = tls.wrap_socket(connected, server_hostname=host, do_handshake_on_connect=False)
    except BaseException:
        connected.close()
        raise
    try:
        while True:
            if words := sql_greeting(_to_be_read(wrapped)):
                raise ProtocolError(words)
            try:
                wrapped.do_handshake()
                return wrapped
            except ssl.SSLWantReadError:
                wait_for(wrapped, deadline, for_writing=False)
            except ssl.SSLWantWriteError:
                wait_for(wrapped, deadline, for_writing=True)
    except BaseException:
        wrapped.close()
        raise


def _to_be_read(wrapped: ssl.SSLSocket) -> bytes:
    """What has come and stays there. TLS itself only says that it is of a wrong version."""
    try:
        return socket.socket.recv(wrapped, 256, socket.MSG_PEEK)
    except BlockingIOError:
        return b""


def wait_for(waiting: socket.socket, deadline: Deadline, *, for_writing: bool) -> bool:
    """Waits for the socket; says whether there is something to read."""
    if isinstance(waiting, ssl.SSLSocket) and waiting.pending():
        return True
    poll = select.poll()
    poll.register(waiting, select.POLLIN | (select.POLLOUT if for_writing else 0))
    while True:
        left = deadline.left()
        events = poll.poll(None if left is None else left * 1000)
        if events:
            return bool(events[0][1] & ~select.POLLOUT)
        deadline.check()


def shut_down(shared: socket.socket) -> None:
    """Wakes whoever waits for the socket. It is not closed, so its number stays in use."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(shared, socket.SHUT_RDWR)  # below TLS, if that is above
