"""What means harm at memcached's port costs its sender the connection, and nobody else notices."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, Setting
from support.pace import Pace
from support_memcached import connect, found, memcached_server, stored
from support_memcached_sequences import packet
from test_hostile_input import GROWTH, resident

MIB = 1 << 20
SEED = 1


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings: dict[str, Setting] = {"handlersocket_threads": 1, "max_allowed_packet": 64 * MIB}
    with memcached_server(data_root, watch, **settings) as instance:
        with connect(instance) as line:
            assert line.ask(stored(b"a", b"here")) == b"STORED\r\n"
            assert line.ask(stored(b"large", b"x" * (8 * MIB))) == b"STORED\r\n"
        yield instance


@pytest.fixture(autouse=True)
def beside(server: ServerInstance, pace: Pace) -> Iterator[None]:
    """Somebody who is connected all the time, and goes on. Memory does not grow for good."""
    before = resident(server)
    with connect(server) as witness:
        assert witness.ask(b"get a\r\n") == found(b"a", b"here")
        yield
        begun = time.monotonic()
        assert witness.ask(b"get a\r\n") == found(b"a", b"here")
        assert time.monotonic() - begun < 2 + pace.longest
    assert resident(server) - before < GROWTH


SIZES = [2**31, 2**31 - 3, 2**32, 2**63, 2**64, -1, 10**30]


@pytest.mark.parametrize("size", SIZES)
def test_sizes_that_nobody_has(server: ServerInstance, size: int) -> None:
    with connect(server) as line:
        line.send(b"set a 0 0 %d\r\n" % size)
        assert line.until(b"\r\n").startswith((b"CLIENT_ERROR", b"SERVER_ERROR"))
    with connect(server) as line:
        line.send(b"ms a %d\r\n" % size)
        assert line.until(b"\r\n").startswith((b"CLIENT_ERROR", b"SERVER_ERROR"))


def test_packets_of_four_gibibytes(server: ServerInstance) -> None:
    for opcode in (0, 1, 5, 0x10, 0x21, 0x77):
        with connect(server) as line:
            header = struct.pack(
                ">BBHBBHIIQ", 0x80, opcode, 1, 8 if opcode == 1 else 0, 0, 0, 2**32 - 1, 0, 0
            )
            line.send(header)
            assert line.socket.recv(24)[:2] == bytes([0x81, opcode])


def test_a_value_that_is_thrown_away_costs_no_memory(server: ServerInstance) -> None:
    before = resident(server)
    with connect(server) as line:
        line.send(b"set a 0 0 %d\r\n" % (256 * MIB))
        piece = b"y" * MIB
        for _ in range(256):
            line.send(piece)
        assert resident(server) - before < GROWTH
        assert line.ask(b"\r\nget a\r\n") == (
            b"SERVER_ERROR object too large for cache\r\n" + found(b"a", b"here")
        )


def test_lines_without_an_end(server: ServerInstance) -> None:
    for begin in (b"set ", b"x", b"mg ", b"get ", b"gat "):
        with connect(server) as line:
            try:
                for _ in range(10):
                    line.send(begin + b"k" * MIB)
                told = line.rest()
            except OSError:
                told = b""
            assert told == b"", told[:100]


def test_a_long_get_that_trickles(server: ServerInstance) -> None:
    """Each byte of it is looked at once."""
    with connect(server) as line:
        keys = b"get " + b" ".join(b"k%d" % number for number in range(200_000))
        begun = time.monotonic()
        for at in range(0, len(keys), 500):
            line.send(keys[at : at + 500])
        line.send(b"\r\n")
        assert line.until(b"END\r\n") == b"END\r\n"
        assert time.monotonic() - begun < 30


def test_a_client_that_does_not_read(server: ServerInstance) -> None:
    before = resident(server)
    lines = [connect(server) for _ in range(4)]
    for line in lines:
        line.send(b"get" + b" large" * 100 + b"\r\n")
    time.sleep(2)
    assert resident(server) - before < 16 * GROWTH
    with connect(server) as other:
        assert other.ask(b"get a\r\n") == found(b"a", b"here")
    for line in lines:
        line.socket.close()


REFUSED = b"SERVER_ERROR 1153 08S01 "


def test_a_reply_that_is_kept_has_a_bound(server: ServerInstance) -> None:
    """All items that one `gat` touches are changed together, so none is sent before the last."""
    before = resident(server)
    with connect(server) as line:
        for keys in (20, 400):
            line.send(b"gat 0" + b" large" * keys + b"\r\n")
            assert line.exactly(len(REFUSED)) == REFUSED
            assert line.ask(b"").endswith(b"too large\r\n")
            assert resident(server) - before < 2 * GROWTH
        assert line.ask(b"gat 0" + b" a" * 400 + b"\r\n").count(b"here") == 400


def test_any_bytes(server: ServerInstance) -> None:
    choose = random.Random(SEED)
    words = [
        b"get",
        b"set",
        b"mg",
        b"ms",
        b"a",
        b"0",
        b"-1",
        b"\r\n",
        b" ",
        b"noreply",
        b"99999",
        b"\0",
        b"v",
        b"b",
    ]
    for _ in range(200):
        with connect(server, timeout=5) as line:
            if choose.random() < 0.3:
                text = packet(
                    choose.randrange(256), b"a", b"\0" * choose.choice([0, 4, 8, 20]), b"v"
                )
                text = bytes(
                    byte if choose.random() < 0.95 else choose.randrange(256) for byte in text
                )
            else:
                text = b"".join(
                    choose.choice([word, word + b" "]) for word in choose.choices(words, k=30)
                )
            line.send(text)
