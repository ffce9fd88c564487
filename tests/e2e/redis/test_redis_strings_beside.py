"""Random commands on strings to the plugin and to a real Redis and Valkey: every reply is the same.

As many cases as HS_DIFF_CASES says are tried on each peer, from HS_SEED on.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.peers import running_peer
from support.resp import Error, Resp
from support.servers import KIND
from support_redis import connect, redis_server
from support_redis_strings import StringAuthor, is_same

SEED = os.environ.get("HS_SEED")
CASES = int(os.environ.get("HS_DIFF_CASES") or 120)
CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_threads": 2, "handlersocket_threads_wr": 2}
    with redis_server(data_root, watch, **KIND.volatile, **settings) as instance:
        instance.client(CONTAINERS.read_text())
        yield instance


@pytest.mark.timeout(600)
@pytest.mark.parametrize("peer", ["redis-server", "valkey-server"])
def test_the_plugin_answers_as_redis_does(server: ServerInstance, peer: str) -> None:
    first = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    met: Counter[str] = Counter()
    with Sql(server.socket, "handlersocket") as sql, running_peer(peer) as port:
        for seed in range(first, first + CASES):
            sql.run("DELETE FROM kv")
            with (
                Resp(port, protocol=2 + seed % 2) as model,
                connect(server, protocol=2 + seed % 2) as wire,
            ):
                model.ask("FLUSHALL")
                story: list[str] = []
                author = StringAuthor(seed, has_ifeq=peer == "valkey-server")
                for packet in author.packets():
                    pairs = zip(packet, model.pipeline(packet), wire.pipeline(packet), strict=True)
                    for words, expected, got in pairs:
                        met[words[0].upper().decode()] += 1
                        met["errors"] += isinstance(expected, Error)
                        story.append(f"{words!r}: {got!r}")
                        assert is_same(words, expected, got, is_redis=peer == "redis-server"), (
                            "\n".join([f"HS_SEED={seed}", *story[-12:], f"{peer}: {expected!r}"])
                        )
    assert len(met) >= 40 and met["errors"] > CASES
