"""CLIENT REPLY OFF and SKIP: not even what has waited for too long is answered.

A reply that nobody expects would be taken for that of the next command.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import OK, Resp, Word, packed
from support_redis import connect, redis_server
from support_servers import fresh_session

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
    "INSERT INTO t SELECT seq, 0 FROM seq_1_to_5000",
    "CREATE TABLE closed (id INT PRIMARY KEY, v INT)",
)
#: Of each: in a worker, or aside because it is about many rows.
LOCKED: dict[str, list[Word]] = {
    "a row": ["HSET", "t:1", "v", 1],
    "many rows": ["HS.UPDATE", "t", "SET", 1, "v", 1, "FILTER", "id", ">", 0],
    "many keys": ["DEL", *[f"t:{key}" for key in range(1, 2000)]],
    "a table": ["HGET", "closed:1", "v"],
    "a table of many keys": ["EXISTS", *[f"closed:{key}" for key in range(2000)]],
    "a count": ["HS.COUNT", "closed"],
}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_default_database": "silent", "handlersocket_lock_wait_timeout": 1}
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture(scope="module")
def locks(server: ServerInstance) -> Iterator[None]:
    """Somebody has locked the first row of `t`, and all of `closed`."""
    with fresh_session(server, "silent", *TABLES), Sql(server.socket, "silent") as row:
        row.run("BEGIN", "UPDATE t SET v = 9 WHERE id = 1")
        with Sql(server.socket, "silent") as table:
            table.run("LOCK TABLES closed WRITE")
            yield
            table.run("UNLOCK TABLES")
        row.run("ROLLBACK")


def failed(wire: Resp) -> int:
    """How many commands were answered with TRYAGAIN, or would have been."""
    lines = wire.ask("INFO", "errorstats").decode().split()
    counts = dict(line.split(":") for line in lines if line.startswith("errorstat_"))
    return int(counts.get("errorstat_TRYAGAIN", "count=0").removeprefix("count="))


@pytest.mark.parametrize("what", LOCKED)
def test_what_waits_for_too_long(server: ServerInstance, locks: None, what: str) -> None:
    words = LOCKED[what]
    with connect(server) as wire:
        before = failed(wire)
        wire.send(packed("CLIENT", "REPLY", "SKIP") + packed(*words) + packed("ECHO", "behind"))
        assert wire.reply() == b"behind"
        wire.send(packed("CLIENT", "REPLY", "OFF") + packed(*words) + packed(*words))
        wire.send(packed("CLIENT", "REPLY", "ON") + packed("ECHO", "on"))
        assert wire.replies(2) == [OK, b"on"]
        assert failed(wire) == before + 3


def test_a_transaction(server: ServerInstance, locks: None) -> None:
    with connect(server) as wire:
        wire.send(packed("CLIENT", "REPLY", "OFF") + packed("MULTI") + packed(*LOCKED["a row"]))
        wire.send(packed("EXEC") + packed("CLIENT", "REPLY", "ON") + packed("ECHO", "on"))
        assert wire.replies(2) == [OK, b"on"]
