"""Random requests to the plugin and to a real memcached: every reply is the same.

As many cases as HS_DIFF_CASES says are tried in each form of the protocol, from HS_SEED on.
"""

from __future__ import annotations

import os
import random
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, Setting
from support.database import Sql
from support.peers import running_memcached
from support.servers import KIND
from support_memcached import Line, memcached_port, memcached_server
from support_memcached_sequences import (
    STORED_KEYS,
    Author,
    BinaryAuthor,
    MetaAuthor,
    Packet,
    Side,
    TextAuthor,
    packet,
)

SEED = os.environ.get("HS_SEED")
CASES = int(os.environ.get("HS_DIFF_CASES") or 100)
NOOP = packet(0xA, opaque=0x11223344)
END_OF_NOOP = struct.pack(">BBHBBHIIQ", 0x81, 0xA, 0, 0, 0, 0, 0, 0x11223344, 0)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings: dict[str, Setting] = {"handlersocket_threads": 2, "handlersocket_threads_wr": 2}
    with memcached_server(data_root, watch, **KIND.volatile, **settings) as instance:
        yield instance


@pytest.fixture(scope="module")
def model() -> Iterator[int]:
    with running_memcached() as port:
        yield port


def replies_to(line: Line, side: Side, author: Author, requests: list[Packet]) -> list[object]:
    told: list[object] = []
    if isinstance(author, BinaryAuthor):
        line.send(b"".join(side.filled(request) for request in requests) + NOOP)
        keys = {struct.unpack(">I", request[0][12:16])[0]: request[1] for request in requests}
        return side.packets(keys, line.until(END_OF_NOOP))
    for request in requests:
        reply = line.ask(side.filled(request))
        is_meta = isinstance(author, MetaAuthor)
        told.append(
            side.meta_replies(
                request[0].split()[1:2][0] if is_meta and len(request[0].split()) > 1 else b"",
                reply,
            )
            if is_meta
            else side.text_replies(reply)
        )
    return told


@pytest.mark.timeout(600)
@pytest.mark.parametrize("form", [TextAuthor, MetaAuthor, BinaryAuthor])
def test_the_plugin_answers_as_memcached_does(
    server: ServerInstance, model: int, form: type[Author]
) -> None:
    first = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    met: Counter[str] = Counter()
    with Sql(server.socket, "handlersocket") as sql:
        for seed in range(first, first + CASES):
            sql.run("DELETE FROM kv")
            with Line(model) as emptied:  # its flush_all leaves some items of the last second
                emptied.ask(b"".join(b"delete %s\r\n" % key for key in STORED_KEYS))
            with Line(model) as theirs, Line(memcached_port(server)) as ours:
                sides = Side(), Side()
                author = form(seed)
                story: list[str] = []
                for requests in author.requests():
                    expected = replies_to(theirs, sides[0], author, requests)
                    got = replies_to(ours, sides[1], author, requests)
                    story += [f"{requests!r}: {got!r}"]
                    assert got == expected, "\n".join(
                        [f"HS_SEED={seed}", *story[-6:], f"memcached: {expected!r}"]
                    )
                    met.update(str(reply)[:20] for reply in expected)
    assert len(met) > 15
