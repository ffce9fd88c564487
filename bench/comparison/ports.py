"""The plugin's ports for the clients of caches, beside the caches: the same commands on both sides.

The rows of test.user are hashes at Redis's port, and items of a container at both ports. The read
port finds some of them, too: what a port of caches' clients costs more is seen beside that. A
second container has the same items as a cache holds them: a key and a value, both of bytes. The
caches hold the same values. hs-bench sends the same commands to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .bystanders import pace_of
from .caches import start_memcached, start_redis, start_valkey
from .cases import HOT, MULTI, PIPELINED, SINGLE, UPDATE
from .database import DURABLE, ON_LARGE_PAGES, Database
from .load import Pace, Result, run_load
from .machine import has_large_pages
from .markdown import median_and_ends, table
from .places import REPOSITORY

from demo import ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import Setting, free_port  # isort: skip

PARTS = "innodb_adaptive_hash_index_parts"
#: Servers of ours, with what differs in their settings. In one part the hash index of a table has
#: as many cells as there are for all parts together, so its chains are shorter. Large pages save
#: misses of the TLB.
AS_IT_COMES = "plugin"
ONE_PART = "plugin, 1 part"
LARGE_PAGES = "plugin, 1 part, large pages"
OURS: Mapping[str, Mapping[str, Setting]] = {
    AS_IT_COMES: {},
    ONE_PART: {PARTS: 1},
    LARGE_PAGES: {PARTS: 1, **ON_LARGE_PAGES},
}
#: In the order of the table's columns.
SERVERS = (*OURS, "Redis", "Valkey", "memcached")
CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
#: Each row is an item `user:<key>`, which memcached's clients call `@@user.<key>`.
CONTAINER = """
REPLACE INTO handlersocket.containers
  (name, db_schema, db_table, key_columns, value_columns, flags, unique_idx_name_on_key)
  VALUES ('user', 'test', 'user', 'user_id', 'user_name|user_email|created', '0', 'PRIMARY');
"""
#: Each row once more, as an item `bytes:<key>`. All keys have seven digits. So the keys of the hot
#: rows stand beside each other in the index, as those of test.user do.
BYTES = """
DROP TABLE IF EXISTS test.bytes;
CREATE TABLE test.bytes (k VARBINARY(20) PRIMARY KEY, v VARBINARY(200) NOT NULL);
INSERT INTO test.bytes
  SELECT LPAD(user_id, 7, '0'), CONCAT_WS('|', user_name, user_email, created) FROM test.user;
REPLACE INTO handlersocket.containers
  (name, db_schema, db_table, key_columns, value_columns, flags, unique_idx_name_on_key)
  VALUES ('bytes', 'test', 'bytes', 'k', 'v', '0', 'PRIMARY');
"""
#: What a set stores: three columns for the plugin, and one value of the same size for memcached.
#: The address is another one each time, so that a set changes its row.
VALUE = "--stored-value=user_{key:07}|u{n:011}@example.com|2020-01-01 00:00:00"
ITEM = "--stored-key=@@user.{key}"
BYTES_OF_REDIS = "--stored-key=bytes:{key:07}"
BYTES_OF_MEMCACHED = "--stored-key=@@bytes.{key:07}"
ROW = "--stored-key=test.user:{key}"
TWO_COLUMNS = "--columns=user_name,user_email"


@dataclass(frozen=True)
class Work:
    """One line of the table. `own` is what only the plugin is asked for: how it names the rows."""

    title: str
    protocol: str
    options: tuple[str, ...]
    beside: tuple[str, ...]
    own: tuple[str, ...] = ()


def _reads(
    what: str,
    protocol: str,
    beside: tuple[str, ...],
    own: tuple[str, ...] = (),
    load: tuple[str, ...] = PIPELINED,
    more: tuple[str, ...] = (),
) -> tuple[Work, ...]:
    return (
        Work(f"{what}, hot rows", protocol, load + HOT + more, beside, own),
        Work(f"{what}, random rows", protocol, load + more, beside, own),
    )


BESIDE_REDIS = ("Redis", "Valkey")
BESIDE_MEMCACHED = ("memcached",)
SET = (*UPDATE, VALUE)
WORKS = (
    *_reads("`GET`", "redis", BESIDE_REDIS),
    *_reads("`GET` of bytes", "redis", BESIDE_REDIS, (BYTES_OF_REDIS,)),
    *_reads("`HMGET` of 2 columns", "redis-hash", BESIDE_REDIS, (ROW,), more=(TWO_COLUMNS,)),
    *_reads("a find of the same, at the read port", "handlersocket", (), more=(TWO_COLUMNS,)),
    *_reads("`HGETALL`", "redis-hash", BESIDE_REDIS, (ROW,), more=("--columns=*",)),
    *_reads(
        "`MGET` of 100 keys, of bytes, 16 × 1",
        "redis",
        BESIDE_REDIS,
        (BYTES_OF_REDIS,),
        load=MULTI,
    ),
    Work("`GET` of bytes, 100 × 1", "redis", SINGLE, BESIDE_REDIS, (BYTES_OF_REDIS,)),
    Work(
        "`HMGET` of 2 columns, 100 × 1",
        "redis-hash",
        (*SINGLE, TWO_COLUMNS),
        BESIDE_REDIS,
        (ROW,),
    ),
    Work("`HGETALL`, 100 × 1", "redis-hash", (*SINGLE, "--columns=*"), BESIDE_REDIS, (ROW,)),
    *_reads("`get`", "memcached", BESIDE_MEMCACHED, (ITEM,)),
    *_reads("`get` of bytes", "memcached", BESIDE_MEMCACHED, (BYTES_OF_MEMCACHED,)),
    *_reads("`mg` of the value", "memcached-meta", BESIDE_MEMCACHED, (ITEM,)),
    *_reads("`get` of 100 keys, 16 × 1", "memcached", BESIDE_MEMCACHED, (ITEM,), load=MULTI),
    *_reads(
        "`get` of 100 keys, of bytes, 16 × 1",
        "memcached",
        BESIDE_MEMCACHED,
        (BYTES_OF_MEMCACHED,),
        load=MULTI,
    ),
    Work("`get`, 100 × 1", "memcached", SINGLE, BESIDE_MEMCACHED, (ITEM,)),
    Work("`set`", "memcached", PIPELINED + SET, BESIDE_MEMCACHED, (ITEM,)),
    Work("`set`, 100 × 1", "memcached", SINGLE + SET, BESIDE_MEMCACHED, (ITEM,)),
)

# By work and server: the results of all rounds.
Ports = dict[str, dict[str, list[Result]]]


@dataclass(frozen=True)
class Door:
    """Where a server takes commands of one kind."""

    pid: int
    port: int


def _start_ours(
    stack: ExitStack, tree: Path, name: str, doors: dict[tuple[str, str], Door]
) -> None:
    redis_port, memcached_port = free_port(), free_port()
    ours = Database(
        f"ours-ports-{len(OURS[name])}",
        tree,
        settings={
            **DURABLE,
            **OURS[name],
            "handlersocket_redis_port": redis_port,
            "handlersocket_memcached_port": memcached_port,
        },
    )
    stack.callback(ours.stop)
    ours.forget_binlogs()
    ours.instance.client(CONTAINERS.read_text() + CONTAINER + BYTES)
    ports = {
        "handlersocket": ours.instance.hs_port,
        "redis": redis_port,
        "redis-hash": redis_port,
        "memcached": memcached_port,
        "memcached-meta": memcached_port,
    }
    doors.update({(name, protocol): Door(ours.pid, port) for protocol, port in ports.items()})
    # Every row once, so that the adaptive hash index is there: see settle() in compare.py.
    every_row = ["--distribution=sequential", f"--keys={ROWS}", f"--operations={ROWS}"]
    bytes_of_redis = [f"--port={redis_port}", "--protocol=redis", BYTES_OF_REDIS]
    for options in (ours.read_options(), bytes_of_redis):
        run_load([*options, *every_row], server_pid=ours.pid, pace=Pace(warm_up=0, duration=60))


def _servers() -> tuple[str, str]:
    """Ours as it comes, and with the best settings that this machine can have."""
    return (AS_IT_COMES, LARGE_PAGES if has_large_pages() else ONE_PART)


def _start(stack: ExitStack, tree: Path, servers: Sequence[str]) -> dict[tuple[str, str], Door]:
    """All servers, by name and protocol. memcached takes both forms at one port."""
    doors: dict[tuple[str, str], Door] = {}
    for name in servers:
        _start_ours(stack, tree, name, doors)
    for protocol in ("redis", "redis-hash"):
        for name, start in (("Redis", start_redis), ("Valkey", start_valkey)):
            cache = start(name=f"{name.lower()}-{protocol}", protocol=protocol)
            stack.callback(cache.stop)
            doors[name, protocol] = Door(cache.pid, cache.port)
    memcached = start_memcached()
    stack.callback(memcached.stop)
    for protocol in ("memcached", "memcached-meta"):
        doors["memcached", protocol] = Door(memcached.pid, memcached.port)
    return doors


def measure_ports(tree: Path, pace: Pace) -> Ports:
    """In alternating rounds: each server in turn, and each second round in the opposite order."""
    pace = pace_of(pace)
    measured: Ports = {}
    ours = _servers()
    runs = [(work, server) for work in WORKS for server in (*ours, *work.beside)]
    with ExitStack() as stack:
        doors = _start(stack, tree, ours)
        for number in range(pace.rounds):
            print(f"   round {number + 1} of {pace.rounds}", flush=True)
            for work, server in runs if number % 2 == 0 else reversed(runs):
                door = doors[server, work.protocol]
                options = [f"--port={door.port}", f"--protocol={work.protocol}", *work.options]
                if server in ours:
                    options += work.own
                result = run_load(options, server_pid=door.pid, pace=pace)
                measured.setdefault(work.title, {}).setdefault(server, []).append(result)
    return measured


def as_json(ports: Ports) -> dict[str, Any]:
    return {
        title: {server: [vars(each) for each in rounds] for server, rounds in servers.items()}
        for title, servers in ports.items()
    }


def from_json(data: Mapping[str, Any]) -> Ports:
    return {
        title: {server: [Result(**each) for each in rounds] for server, rounds in servers.items()}
        for title, servers in data.items()
    }


def _cell(rounds: Sequence[Result]) -> str:
    return median_and_ends([each.cpu for each in rounds])


def ports_table(ports: Ports) -> str:
    """A line for each command and load, a column for each server."""
    if not ports:
        return "Not measured."
    servers = [name for name in SERVERS if any(name in measured for measured in ports.values())]
    lines = [
        [
            work.title,
            *(
                _cell(ports[work.title][name]) if name in ports[work.title] else ""
                for name in servers
            ),
        ]
        for work in WORKS
        if work.title in ports
    ]
    return table(["server CPU a request, µs", *servers], lines)
