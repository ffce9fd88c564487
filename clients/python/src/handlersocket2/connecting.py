"""How the connections of the synchronous client are made: by a thread that lives only meanwhile.

The time of a caller may be shorter than it takes to make a connection, or to find out that a server
is not there. So an attempt belongs to no caller: it goes on when those who wait for it have given
up, and the next ones find what has come of it.
"""

from __future__ import annotations

import select
import threading
from time import monotonic
from typing import TYPE_CHECKING

from .address import Place
from .deadline import Deadline
from .errors import HandlerSocketError
from .links import Link, more_telling
from .sessions import Sessions
from .setup import cannot_connect, final, hung_up
from .thread_wires import ThreadWire

if TYPE_CHECKING:
    from .threads import ThreadCore


class Connector:
    """Makes the connections of one client. The lock is the client's."""

    def __init__(self, core: ThreadCore, sessions: Sessions) -> None:
        self._core = core
        self._sessions = sessions
        self._over = threading.Event()  # ends the wait for the next attempt
        #: Who makes the attempts of a link. A thread that is not named here any more just ends.
        self._threads: dict[Link, threading.Thread] = {}

    def close(self) -> None:
        """Ends what is being made. The threads end by themselves."""
        self._over.set()
        self._sessions.close()

    def after_fork(self) -> None:
        """In the child there is none of the threads."""
        self._over = threading.Event()
        self._threads.clear()
        self._sessions.forget()

    def begin(self, link: Link) -> None:
        """Has attempts made for those who wait. The lock is held."""
        thread = threading.Thread(
            target=self._connect, args=(link,), name="handlersocket connects", daemon=True
        )
        self._threads[link] = thread
        link.connecting = True
        try:
            thread.start()
        except RuntimeError as error:  # the process can have no more threads
            link.attempt_failed(final(f"no thread could be had to connect: {error}"), monotonic())

    def after_interrupt(self, link: Link) -> None:
        """Somebody was perhaps interrupted before it had begun. The lock is held."""
        thread = self._threads.get(link)
        is_made = link.connecting and thread is not None and thread.is_alive()
        if link.wire is None and not is_made:
            link.connecting = False
            if self._is_wanted(link):
                self.begin(link)

    def _is_wanted(self, link: Link) -> bool:
        return not self._core.has_ended and any(not call.done() for call in link.waiting)

    def _is_replaced(self, link: Link) -> bool:
        return self._threads.get(link) is not threading.current_thread()

    def _connect(self, link: Link) -> None:
        """Makes attempts until one succeeds or nobody waits any more."""
        try:
            while (places := self._next_places(link)) is not None:
                wire, error = self._attempt(places)
                with self._core.lock:
                    if self._settle(link, wire, error):
                        return
        except BaseException as error:  # of ours, or of who is asked for the password
            with self._core.lock:
                if not self._is_replaced(link):
                    link.attempt_failed(final(f"{type(error).__name__}: {error}"), monotonic())
            if isinstance(error, Exception):
                raise

    def _next_places(self, link: Link) -> list[tuple[int, Place]] | None:
        """The servers to be tried, once that is allowed. None if nobody waits for it."""
        while True:
            with self._core.lock:
                if self._is_replaced(link):
                    return None
                if not self._is_wanted(link):
                    link.connecting = False
                    return None
                delay = link.not_before - monotonic()
                if delay <= 0:
                    return link.places()
            self._over.wait(delay)

    def _attempt(
        self, places: list[tuple[int, Place]]
    ) -> tuple[ThreadWire | None, HandlerSocketError | None]:
        """Tries all servers once. Each of them has the whole time."""
        error: HandlerSocketError | None = None
        for server, place in places:
            try:
                return self._open(server, place), None
            except HandlerSocketError as refused:
                error = more_telling(error, refused)
        return None, error

    def _settle(
        self, link: Link, wire: ThreadWire | None, error: HandlerSocketError | None
    ) -> bool:
        """Says what has come of an attempt. Whether that was all. The lock is held."""
        now = monotonic()
        replaced = self._is_replaced(link)
        if not replaced:
            link.connecting = False
        if replaced or self._core.has_ended:
            if wire is not None:
                wire.close()
            return True
        if wire is None:
            link.attempt_failed(error or self._core.no_port(link), now)
        elif link.connected(wire, now):
            wire.wake_one()  # who is woken sends for all
            return True
        link.connecting = True
        return False

    def _open(self, server: int, place: Place) -> ThreadWire:
        deadline = Deadline(self._core.options.connect_timeout)
        wire = ThreadWire(self._core, self._sessions.open(place, deadline), server)
        # A server that closes at once may have done so already: then nothing is sent in vain.
        try:
            data = wire.receive() if wire.wait(0, select.POLLIN) else None
        except OSError as error:
            wire.close()
            raise cannot_connect(place, error) from error
        if data is None:
            return wire
        if not data:
            wire.close()
            raise hung_up(place)
        with self._core.lock:
            wire.channel.received(data, monotonic())
        if wire.channel.broken is not None:
            wire.close()
            raise wire.channel.broken
        return wire
