"""Making connections for threads: until the log-in is answered, and so that close() can end it."""

from __future__ import annotations

import socket
import ssl

from .address import Place
from .codec import quoted
from .deadline import Deadline
from .errors import ProtocolError
from .options import Options
from .setup import cannot_connect, check_greeting, check_log_in, final, hung_up, log_in_line
from .sockets import WOULD_BLOCK, connect, shake_hands, shut_down, wait_for

_CHUNK = 4096


class Sessions:
    """Makes connections, and knows those that are not made yet."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._tls = options.tls_context()
        self._dialing: set[socket.socket] = set()
        self._closed = False

    def close(self) -> None:
        """Ends what is being made, and lets nothing more begin."""
        self._closed = True
        for dialing in list(self._dialing):
            shut_down(dialing)

    def forget(self) -> None:
        """In a forked child: what is being made is the parent's."""
        self._dialing = set()

    def open(self, place: Place, deadline: Deadline) -> socket.socket:
        """A socket that does not block, whose log-in was answered."""
        opened = self._dial(place, deadline)
        try:
            _log_in(opened, self._options, place, deadline)
        except OSError as error:
            opened.close()
            raise cannot_connect(place, error) from error
        except BaseException:
            opened.close()
            raise
        finally:
            self._dialing.discard(opened)
        return opened

    def _dial(self, place: Place, deadline: Deadline) -> socket.socket:
        """A connected socket that does not block, with TLS if that is wanted."""
        begun: list[socket.socket] = []

        def starts(dialing: socket.socket) -> None:
            begun.append(dialing)
            self._dialing.add(dialing)
            if self._closed:
                raise OSError("the client is closed")

        try:
            opened = connect(place, deadline, starts)
            if self._tls is not None:
                if isinstance(place, str):
                    raise final("TLS needs a host and a port: a Unix socket has none")
                host = self._options.tls_name or place[0]
                opened = shake_hands(opened, self._tls, host, deadline)
                starts(opened)
        except (OSError, UnicodeError) as error:
            self._dialing.difference_update(begun)
            raise cannot_connect(place, error) from error
        except BaseException:
            self._dialing.difference_update(begun)
            raise
        self._dialing.difference_update(each for each in begun if each is not opened)
        return opened


def _log_in(opened: socket.socket, options: Options, place: Place, deadline: Deadline) -> None:
    """Logs in, if that is wanted, and waits for the reply."""
    peer = opened.getpeername()[0] if isinstance(place, tuple) else None
    line = log_in_line(options, peer, encrypted=isinstance(opened, ssl.SSLSocket))
    if line is None:
        return
    unsent = memoryview(line)
    begun = b""
    while True:
        try:
            if unsent:
                unsent = unsent[opened.send(unsent) :]
            received = opened.recv(_CHUNK)
        except WOULD_BLOCK:
            wait_for(opened, deadline, for_writing=bool(unsent))
            continue
        if not received:
            raise hung_up(place)
        begun += received
        check_greeting(begun)
        reply, end, surplus = begun.partition(b"\n")
        if surplus:
            raise ProtocolError(f"bytes that nobody has asked for: {quoted(surplus)}")
        if end:
            check_log_in(reply)
            return
