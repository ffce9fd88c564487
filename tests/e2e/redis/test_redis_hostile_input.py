"""What means harm at Redis's port costs its sender the connection, and nobody else notices it."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support.resp import Error, Resp, packed, read_reply
from support.wire import WireError
from support_redis import connect, redis_port, redis_server
from support_servers import fresh_session, wait_until
from test_hostile_input import GROWTH, abort, resident

MIB = 1 << 20
SEED = 1
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v MEDIUMBLOB, n BIGINT)",
    f"INSERT INTO t VALUES (1, 'here', 1), (2, REPEAT('x', {8 * MIB}), 2)",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_default_database": "hostile",
        "handlersocket_threads": 1,
        "max_allowed_packet": 64 * MIB,
    }
    with redis_server(data_root, watch, **settings) as instance:
        with fresh_session(instance, "hostile", *TABLES):
            yield instance


@pytest.fixture(autouse=True)
def beside(server: ServerInstance, pace: Pace) -> Iterator[None]:
    """Somebody who is connected all the time, and goes on. Memory does not grow for good."""
    before = resident(server)
    with connect(server) as witness:
        assert witness.ask("HGET", "t:1", "v") == b"here"
        yield
        begun = time.monotonic()
        assert witness.ask("HGET", "t:1", "v") == b"here"
        assert time.monotonic() - begun < 2 + pace.longest
    assert resident(server) - before < GROWTH


def still_answers(server: ServerInstance) -> None:
    with connect(server) as wire:
        assert wire.ask("HGET", "t:1", "v") == b"here"


LENGTHS = [2**63, 2**63 - 1, 2**64, 2**31, 2**32, -1, -(2**63), 10**30]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("of", ["words", "bytes"])
def test_lengths_that_nobody_has(server: ServerInstance, of: str, length: int) -> None:
    """What follows is either no request, or more than a request may have: the connection ends."""
    with connect(server) as wire:
        wire.send(b"*%d\r\n" % length if of == "words" else b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % length)
        if of == "words" and length < 0:
            assert wire.ask("PING").text == "PONG"
            return
        told = wire.rest()
        assert told.startswith(b"-ERR ") and told.count(b"\r\n") == 1, told


def test_half_a_gibibyte_is_announced(server: ServerInstance) -> None:
    """It is refused before it comes, or not kept: whoever sends it does not fill the memory."""
    before = resident(server)
    with connect(server, timeout=20) as wire:
        wire.send(b"*4\r\n$4\r\nHSET\r\n$3\r\nt:1\r\n$1\r\nv\r\n$%d\r\n" % (512 * MIB))
        piece = b"y" * MIB
        try:
            for _ in range(512):
                wire.send(piece)
        except OSError:
            pass  # it was closed, as it should be
        assert resident(server) - before < GROWTH
        told = _whatever_comes(wire)
        assert told == b"" or told.startswith(b"-"), told[:100]
    with connect(server) as wire:
        assert wire.ask("HGET", "t:1", "v") == b"here"


def _whatever_comes(wire: Resp) -> bytes:
    try:
        return wire.rest()
    except OSError:
        return b""


def test_a_million_words(server: ServerInstance) -> None:
    """Announced, or sent: answered in the end or refused, and one by one they are not read anew."""
    with connect(server) as announcing, connect(server) as sending:
        announcing.send(b"*1000000\r\n$4\r\nHGET\r\n")
        begun = time.monotonic()
        words = packed("HMGET", "t:1", *["n"] * 1_000_000)
        for start in range(0, len(words), 200_000):
            try:
                sending.send(words[start : start + 200_000])
            except OSError:
                break
        try:
            reply = sending.reply()
        except WireError:
            reply = None
        assert reply is None or isinstance(reply, Error) or reply == [b"1"] * 1_000_000
        assert time.monotonic() - begun < 60
        still_answers(server)


def test_half_a_request_stays_half(server: ServerInstance) -> None:
    """It is executed when it is whole, and not before, wherever it was cut."""
    whole = packed("HINCRBY", "t:1", "n", 1)
    with connect(server) as wire:
        for cut in range(1, len(whole)):
            wire.send(whole[:cut])
            time.sleep(0.001)
            wire.send(whole[cut:])
            assert wire.reply() == 1 + cut
        wire.send(whole[:-1])
        wire.half_close()
        assert wire.rest() == b""
    with connect(server) as wire:
        assert int(wire.ask("HGET", "t:1", "n")) == len(whole)
        assert wire.ask("HSET", "t:1", "n", 1) == 0


def test_a_slow_trickle(server: ServerInstance, pace: Pace) -> None:
    """Many clients, a byte at a time. A request beside them does not wait."""
    request = packed("HGET", "t:1", "v")
    slow = [connect(server) for _ in range(100)]
    try:
        with connect(server) as other:
            for place in range(len(request)):
                for wire in slow:
                    wire.send(request[place : place + 1])
                begun = time.monotonic()
                assert other.ask("HGET", "t:1", "v") == b"here"
                assert time.monotonic() - begun < 1 + pace.longest
        assert [wire.reply() for wire in slow] == [b"here"] * 100
    finally:
        for wire in slow:
            wire.close()


NESTED = {
    "an array of arrays": b"*1\r\n" * 100_000,
    "an array in a command": b"*2\r\n$4\r\nPING\r\n*1\r\n$1\r\na\r\n",
    "empty arrays": b"*0\r\n" * 500_000,
    "replies": b"+OK\r\n:1\r\n-ERR x\r\n%1\r\n",
    "a TLS hello in the middle": packed("PING") + b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "zeros": bytes(100_000),
    "a line without an end": b"x" * (2 * MIB),
    "blanks without an end": b" " * (2 * MIB),
    "a number without an end": b"*" + b"1" * MIB,
    "quotes": b'ECHO "' + b"\\x" * MIB,
    "an HTTP request": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nDEL t:1\r\nHSET t:1 v x\r\n",
    "another HTTP request": b"GET /DEL HTTP/1.1\r\nHost: x\r\n\r\nDEL t:1\r\n",
    "a PUT": b"PUT /x HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nDEL t:1\r\n",
    "HandlerSocket's protocol": b"P\t1\thostile\tt\t\tid\n1\t=\t1\t1\n",
}


@pytest.mark.parametrize("kind", NESTED)
def test_what_is_no_request(server: ServerInstance, kind: str) -> None:
    with connect(server, timeout=30) as wire:
        try:
            wire.send(NESTED[kind])
            wire.half_close()
        except OSError:
            pass
        told = _whatever_comes(wire)
        if "HTTP" in kind or kind == "a PUT":
            assert b":1\r\n" not in told, "no line of its body was executed"
    still_answers(server)


def test_pipelines_of_units(server: ServerInstance) -> None:
    """Thousands in one packet, most of them not closed, and one of very many commands."""
    with connect(server) as wire:
        assert len(wire.pipeline([("MULTI",)] * 20_000)) == 20_000
        assert wire.ask("DISCARD").text == "OK"
        replies = wire.pipeline([("MULTI",), ("DISCARD",)] * 10_000)
        assert {reply.text for reply in replies} == {"OK"}
        many = 200_000
        wire.send(packed("MULTI"))
        told = wire.reply()
        for _ in range(many // 1000):
            try:
                wire.send(packed("HGET", "t:1", "n") * 1000)
            except OSError:
                break
            try:
                told = wire.replies(1000)[-1]
            except WireError:
                break
            if isinstance(told, Error):
                break
    still_answers(server)


def test_a_client_that_does_not_read(server: ServerInstance, pace: Pace) -> None:
    """Replies of gigabytes: little of them is kept."""
    before = resident(server)
    clients = []
    for _ in range(20):
        client = socket.create_connection(("127.0.0.1", redis_port(server)), 10)
        client.setblocking(False)
        client.send(packed("HGET", "t:2", "v") * 50)
        clients.append(client)
    ends = time.monotonic() + 2
    with connect(server) as other:
        while time.monotonic() < ends:
            begun = time.monotonic()
            assert other.ask("HGET", "t:1", "v") == b"here"
            assert time.monotonic() - begun < 1.5 + pace.longest
    assert resident(server) - before < GROWTH
    for client in clients:
        client.close()


def test_clients_that_vanish(server: ServerInstance) -> None:
    choose = random.Random(SEED)
    lines = ["HGET t:1 v", "HINCRBY t:1 n 1", "MULTI", "EXEC", "HGETALL t:2", "HSET t:1 n 1"]
    requests = [packed(*line.split()) for line in lines]
    for _ in range(300):
        client = socket.create_connection(("127.0.0.1", redis_port(server)), 10)
        data = b"".join(choose.choices(requests, k=choose.randrange(1, 30)))
        client.sendall(data[: choose.randrange(1, len(data))])
        if choose.random() < 0.5:
            abort(client)
        else:
            client.close()
    still_answers(server)
    with Sql(server.socket) as sql:
        # The fixture's own is left.
        wait_until(lambda: sql.status("handlersocket_connections") <= 1, "all have gone")


ODD_WORDS = [
    b"", b"t:1", b"t:2", b"t:x", b"hostile.t:1", b"v", b"n", b"id", b"1", b"-1", b"0", b"9" * 30,
    b"\x00", b"\r\n", b"\xff" * 9, b"x" * 70_000, b"*", b"ON", b"3", b"AUTH", b"SETNAME", b"NX",
]  # fmt: skip
NAMES = [
    "HGET", "HSET", "HMGET", "HGETALL", "HDEL", "HINCRBY", "HINCRBYFLOAT", "HSETNX", "DEL",
    "EXISTS", "MULTI", "EXEC", "DISCARD", "WATCH", "HELLO", "CLIENT", "COMMAND", "CONFIG", "INFO",
    "SELECT", "PING", "ECHO", "RESET", "TYPE", "OBJECT", "nonsense", "HSCAN", "SCAN", "KEYS",
]  # fmt: skip


def test_random_words(server: ServerInstance) -> None:
    """Whatever the words are, each request has one reply."""
    choose = random.Random(SEED)
    for _ in range(60):
        with connect(server) as wire:
            for _ in range(10):
                batch = [
                    [choose.choice(NAMES), *choose.choices(ODD_WORDS, k=choose.randrange(6))]
                    for _ in range(20)
                ]
                assert len(wire.pipeline(batch)) == 20
                assert wire.pipeline([("RESET",), ("ECHO", "in step")])[1] == b"in step"
    with Sql(server.socket, "hostile") as sql:
        sql.run("REPLACE INTO t VALUES (1, 'here', 1)")


def test_random_bytes(server: ServerInstance) -> None:
    """Requests whose bytes were changed. What comes back are replies, to the end."""
    choose = random.Random(SEED)
    for _ in range(400):
        data = bytearray(
            b"".join(
                packed(choose.choice(NAMES), *choose.choices(ODD_WORDS[:15], k=choose.randrange(4)))
                for _ in range(choose.randrange(1, 8))
            )
        )
        for _ in range(choose.randrange(1, 6)):
            place = choose.randrange(len(data))
            data[place : place + choose.randrange(3)] = choose.randbytes(choose.randrange(3))
        with connect(server) as wire:
            wire.send(bytes(data))
            wire.half_close()
            stream = wire.raw.makefile("rb")
            try:
                while True:
                    read_reply(stream)
            except EOFError as end:
                assert end.args[0] == b"", "it ends behind a reply"
            except ConnectionResetError:
                pass
    with Sql(server.socket, "hostile") as sql:
        sql.run("REPLACE INTO t VALUES (1, 'here', 1)")
    still_answers(server)
