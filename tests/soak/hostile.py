"""Clients that mean harm: broken handshakes, slow ones, wrong passwords, too many open indexes.

They come from an address of their own, so that the limits of an address concern nobody else. The
server has to bear them, and the other clients must not notice. What they are answered is not looked
at, but they know when the server is gone.
"""

from __future__ import annotations

import random
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

ADDRESS = "127.0.0.2"
CONNECTIONS = 12
#: More than one address may try at once.
WRONG_LOG_INS = 150
OPENINGS = 5000
#: Seconds that a slow client takes between two bytes, and in all.
PAUSE = 0.02
PATIENCE = 0.4


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 5.0, (ADDRESS, 0))


def client_hello(rng: random.Random) -> bytes:
    """The first bytes of a TLS client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if rng.random() < 0.5:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    outgoing = ssl.MemoryBIO()
    handshake = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="db")
    with suppress(ssl.SSLWantReadError):
        handshake.do_handshake()
    return outgoing.read()


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Some bytes are changed, left out, doubled, or cut off. The first one still says TLS."""
    result = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(1, len(result)) if len(result) > 1 else 0
        size = rng.choice([1, 1, 2, 16, 200])
        kind = rng.randrange(5)
        if kind == 0:
            result[at] = rng.randrange(256)
        elif kind == 1:
            del result[max(at, 1) : at + size]
        elif kind == 2:
            result[at:at] = result[at : at + size]
        elif kind == 3:
            result[at:at] = rng.randbytes(size)
        else:
            del result[max(at, 1) :]
    return bytes(result)


def send(client: socket.socket, data: bytes, rng: random.Random) -> None:
    """In one piece, or in several. The server may have closed the connection meanwhile."""
    with suppress(ConnectionError, TimeoutError):
        while data:
            size = rng.choice([len(data), rng.randint(1, len(data)), 1])
            client.sendall(data[:size])
            data = data[size:]


def broken_handshakes(ports: Sequence[int], rng: random.Random) -> None:
    for _ in range(CONNECTIONS):
        with connect(rng.choice(ports)) as client:
            send(client, mutated(client_hello(rng), rng)[:4096], rng)
            if rng.random() < 0.3:
                send(client, rng.randbytes(rng.randint(1, 600)), rng)
            client.settimeout(0.05)
            with suppress(ConnectionError, TimeoutError):
                client.recv(1 << 16)


def slow_ones(ports: Sequence[int], rng: random.Random) -> None:
    """Each sends the beginning of something, a byte at a time."""
    beginnings = (
        client_hello(rng),
        b"A\t2\tclient_1\tsecret",
        b"A\t1\t" + b"x" * 500,
        b"P\t1\tsoak\t" + b"y" * 500,
        b"1\t=\t" + b"9" * 500,
    )
    with ExitStack() as stack:
        clients = [
            (stack.enter_context(connect(rng.choice(ports))), rng.choice(beginnings))
            for _ in range(CONNECTIONS)
        ]
        ends = time.monotonic() + PATIENCE
        sent = 0
        while time.monotonic() < ends:
            for client, data in clients:
                with suppress(ConnectionError):
                    client.send(data[sent : sent + 1])
            sent += 1
            time.sleep(PAUSE)


def wrong_log_ins(ports: Sequence[int], rng: random.Random) -> None:
    """More than one address may send at once, on new connections, and most do not wait."""
    for _ in range(WRONG_LOG_INS):
        with connect(rng.choice(ports)) as client:
            line = rng.choice([b"A\t2\tclient_1\tguess\n", b"A\t2\tnobody\t\n", b"A\t1\tguess\n"])
            send(client, line * rng.randint(1, 3), rng)


def too_many_openings(ports: Sequence[int], rng: random.Random) -> None:
    with connect(rng.choice(ports)) as client:
        lines = (b"P\t%d\tmysql\tuser\t\tHost\n" % number for number in range(OPENINGS))
        with suppress(ConnectionError, TimeoutError):
            client.sendall(b"".join(lines))
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass


ATTACKS: Sequence[Callable[[Sequence[int], random.Random], None]] = (
    broken_handshakes,
    slow_ones,
    wrong_log_ins,
    too_many_openings,
)
