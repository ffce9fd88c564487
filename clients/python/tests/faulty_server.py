"""A server that hangs up, trickles and stalls at random, and knows which writes it has executed."""

import contextlib
import random
import socket
import struct
import threading
import time
from collections import Counter


class FaultyServer:
    """Answers a find with its key, and an insert with 1; counts how often each was executed.

    A connection lives for some requests only. It may end before a request was executed, after that
    without a reply, or in the middle of the reply.
    """

    def __init__(self, seed):
        self._seed = seed
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = self._listener.getsockname()
        self.executed = Counter()
        self.calm = False
        self._lock = threading.Lock()
        self._number = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._number += 1
                rng = random.Random(f"{self._seed} {self._number}")
                threading.Thread(target=self._serve, args=(peer, rng), daemon=True).start()

    def _serve(self, peer, rng):
        with peer, contextlib.suppress(OSError), peer.makefile("rb") as incoming:
            if rng.random() < 0.1 and not self.calm:
                return
            left = rng.choice([1, 3, 10, 100, 1000, 1000])
            for line in incoming:
                left -= 1
                fate = rng.random()
                if left <= 0 and not self.calm:
                    self._end(peer, rng, line)
                    return
                reply = self._execute(line)
                if fate < 0.01 and not self.calm:
                    time.sleep(rng.choice([0.01, 0.05, 0.3]))
                if fate > 0.97:
                    for start in range(len(reply)):
                        peer.sendall(reply[start : start + 1])
                else:
                    peer.sendall(reply)

    def _end(self, peer, rng, line):
        how = rng.randrange(4)
        if how:
            reply = self._execute(line)
            if how > 1:
                peer.sendall(reply[: rng.randrange(len(reply))])
        if rng.random() < 0.5:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _execute(self, line):
        tokens = line.rstrip(b"\n").split(b"\t")
        if tokens[0] == b"P":
            return b"0\t1\n"
        if tokens[1] == b"+":
            with self._lock:
                self.executed[tokens[3]] += 1
            return b"0\t1\t1\n"
        return b"0\t1\t" + tokens[3] + b"\n"
