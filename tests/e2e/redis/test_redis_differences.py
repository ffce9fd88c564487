"""Random sequences of commands to the plugin and to a real Redis: every reply is the same.

As many cases as HS_DIFF_CASES says are tried on each peer, from HS_SEED on. A case that differs is
reduced to a small one, and the failure names its seed. What differs on purpose stands in
support_redis_differences.py and in docs/redis.md.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.peers import running_peer
from support.resp import Resp, packed
from support.servers import KIND
from support_redis import redis_port, redis_server
from support_redis_beside import Beside, shrink, told
from support_redis_differences import OF_COMMANDS, OF_SEQUENCES
from support_redis_sequences import DATABASE, TABLE, Author

SEED = os.environ.get("HS_SEED")
CASES = int(os.environ.get("HS_DIFF_CASES") or 120)
#: The time to reduce a case that failed.
SHRINKING = 30.0
#: What the cases must have met, or they have shown nothing.
FEWEST = {"commands": 20, "errors": 2, "units": 0.5, "units that were not executed": 0.02}
FEWEST_WITH_PLUGIN = {"units that failed": 0.1, "a field is a column": 0.1}

#: Hashes that are kept as lists, of which HSCAN answers all at once.
IN_ONE = ("--hash-max-listpack-value", "100000")

#: Bytes that are no request, or hardly one: both servers answer the same and close, or do not.
ODD_BYTES = {
    "an empty line": b"\r\n",
    "many empty lines": b"\r\n" * 100 + b"PING\r\n",
    "inline": b"PING\r\n",
    "inline without CR": b"PING\nECHO a\n",
    "inline with blanks": b"   ECHO    hello   \r\n",
    "inline in quotes": b"ECHO \"a b\\x41\\n\\\"\"\r\nECHO 'a\\'b'\r\n",
    "inline with a quote that does not end": b'ECHO "abc\r\n',
    "inline with a quote and more": b'ECHO "a"b\r\n',
    "inline with a NUL": b"ECHO a\x00b\r\n",
    "an empty array": b"*0\r\n*-1\r\nPING\r\n",
    "an array of less than nothing": b"*-10\r\nPING\r\n",
    "too many words": b"*1048577\r\n",
    "no number of words": b"*abc\r\n",
    "no number at all": b"*\r\n",
    "a number of words that overflows": b"*9223372036854775808\r\n",
    "a blank in the number": b"* 1\r\n$4\r\nPING\r\n",
    "a plus in the number": b"*+1\r\n$4\r\nPING\r\n",
    "zeros in the number": b"*01\r\n$4\r\nPING\r\n",
    "no string": b"*1\r\n:1\r\n",
    "a letter for a string": b"*1\r\nPING\r\n",
    "a string of less than nothing": b"*1\r\n$-1\r\n",
    "a string without a length": b"*1\r\n$\r\n",
    "a string of letters": b"*1\r\n$abc\r\n",
    "a string of 2^63": b"*1\r\n$9223372036854775808\r\n",
    "a string of 2^63 - 1": b"*1\r\n$9223372036854775807\r\n",
    "a string longer than said": b"*2\r\n$4\r\nECHO\r\n$1\r\nabc\r\nPING\r\n",
    "nested": b"*1\r\n*1\r\n$4\r\nPING\r\n",
    "an empty command": b"*1\r\n$0\r\n\r\n",
    "an unknown command of odd bytes": packed(b"\xff'\r\n", "a\r\nb", "c" * 300),
    "a unit that is not closed": packed("MULTI") + packed("PING"),
    "QUIT": packed("PING") + packed("QUIT") + packed("PING"),
    "POST": b"POST / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET and Host": b"GET / HTTP/1.1\r\nHost: a\r\nPING\r\n",
    "HELLO 3 and more": packed("HELLO", 3, "SETNAME", "x y") + packed("PING"),
    "half a request": b"*2\r\n$4\r\nECHO\r\n$5\r\nhel",
}
#: What may be answered instead, where Redis's answer is no better: it waits for ever, or takes
#: bytes for what they are not.
INSTEAD = {
    "inline with a NUL": b"$3\r\na\x00b\r\n",
    "too many words": b"-ERR Protocol error: invalid multibulk length\r\n",
    "a string longer than said": b"-ERR Protocol error: a string does not end as it says\r\n",
}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """Two workers for each port, so that connections are on different ones, too."""
    settings = {"handlersocket_threads": 2, "handlersocket_threads_wr": 2}
    with redis_server(data_root, watch, **KIND.volatile, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}", TABLE)
        yield instance


@pytest.fixture(scope="module")
def redis() -> Iterator[int]:
    with running_peer("redis-server", *IN_ONE) as port:
        yield port


def hunt(beside: Beside, cases: int, fewest: dict[str, float]) -> None:
    first = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    for seed in range(first, first + cases):
        case = Author(seed).case()
        if beside.run(case) is not None:
            small, difference = shrink(case, beside.run, SHRINKING)
            pytest.fail(f"HS_SEED={seed} shows it again\n{told(small, difference)}", pytrace=False)
    print(f"{cases} cases from HS_SEED={first} on: {dict(beside.counts)}")
    assert [one for one, share in fewest.items() if beside.counts[one] < share * cases] == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("peer", ["redis-server", "valkey-server"])
def test_the_plugin_answers_as_redis_does(server: ServerInstance, peer: str) -> None:
    with Sql(server.socket, DATABASE) as sql, running_peer(peer, *IN_ONE) as port:
        beside = Beside(redis_port(server), port, lambda: sql.run("DELETE FROM t"))
        beside.compares_texts = peer == "redis-server"
        hunt(beside, CASES, {**FEWEST, **FEWEST_WITH_PLUGIN})


def test_redis_and_valkey_answer_alike(redis: int) -> None:
    """So what is compared is what both have, and the comparison itself works."""
    with running_peer("valkey-server", *IN_ONE) as valkey, Resp(valkey) as wire:
        beside = Beside(valkey, redis, lambda: wire.ask("FLUSHALL"))
        beside.has_differences = beside.compares_texts = False
        hunt(beside, CASES // 2, FEWEST)


@pytest.mark.parametrize("kind", ODD_BYTES)
def test_bytes_that_are_hardly_a_request(server: ServerInstance, redis: int, kind: str) -> None:
    answers = []
    for port in (redis, redis_port(server)):
        with Resp(port) as wire:
            wire.send(ODD_BYTES[kind])
            wire.half_close()
            answers.append(wire.rest())
    expected, got = answers
    if kind == "GET and Host":  # Redis closes the connection so quickly that it answers nothing
        assert b"PONG" not in got
    else:
        assert got in (expected, INSTEAD.get(kind))


def test_the_page_has_the_same_differences() -> None:
    page = (REPOSITORY / "docs/redis.md").read_text()
    (section,) = page.split("\n## Differences from Redis\n")[1:]
    listed = section.split("\n## ")[0]
    names = [*(one.name for one in OF_COMMANDS), *OF_SEQUENCES]
    assert [name for name in names if f"| {name} |" not in listed] == []
