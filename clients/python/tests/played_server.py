"""A server that the tests play: it notes each connection's lines and answers them all."""

import socket
import threading
from contextlib import suppress


class PlayedServer:
    """Serves one connection after the other, or side by side.

    A find is answered with its own key in each column, so that a row in the wrong hands shows.
    `hang_up()` closes the connections from the server's side, as its idle time-out does.
    """

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self.connections = []  # the lines of each, in the order in which they came
        self.silent = False  # answers nothing any more, and hangs up instead
        self.refused = ()  # tables that P does not find
        self.lacking = ()  # columns that it does not find
        self.most_open = 1000  # indexes of a connection
        self.held = None  # an event for which the answer to the key `hold` waits
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go()

    def go(self):
        """Nobody listens any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept()
        self._listener.close()
        self.hang_up()

    def hang_up(self):
        """Returns when the clients can see it."""
        for peer in self._sockets:
            with suppress(OSError):  # the client was quicker
                peer.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def _accept(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            lines = []
            self.connections.append(lines)
            self._sockets.append(peer)
            threading.Thread(target=self._serve, args=(peer, lines), daemon=True).start()

    def _serve(self, peer, lines):
        opened = {}
        with peer, peer.makefile("rb") as incoming, suppress(ConnectionError):
            for line in incoming:
                lines.append(line)
                if self.silent:
                    peer.shutdown(socket.SHUT_RDWR)
                    return
                peer.sendall(self._answer(line, opened))

    def _answer(self, line, opened):
        """`opened` has the number of columns of each index that this connection has open."""
        tokens = line.rstrip(b"\n").split(b"\t")
        if tokens[0] == b"P":
            if tokens[3].decode() in self.refused:
                return b"1\t1\topen_table\n"
            if any(column in tokens[5].decode().split(",") for column in self.lacking):
                return b"2\t1\tfld\n"
            if len(opened) >= self.most_open:
                return b"2\t1\tstmtnum\n"
            opened[tokens[1]] = len(tokens[5].split(b","))
            return b"0\t1\n"
        if tokens[0] == b"A":
            return b"0\t1\n"
        if tokens[0] == b"echo":
            return b"0\t1\t" + tokens[1] + b"\n"
        if tokens[0] not in opened:
            return b"2\t1\tstmtnum\n"
        if tokens[1] == b"+":
            return b"0\t1\t7\n"
        if tokens[-1] in (b"D",) or b"U" in tokens or b"+" in tokens or b"-" in tokens:
            return b"0\t1\t1\n"
        if tokens[3] == b"hold":
            self.held.wait(20)
        columns = opened[tokens[0]]
        return b"0\t%d" % columns + (b"\t" + tokens[3]) * columns + b"\n"
