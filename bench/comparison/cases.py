"""What is measured: each case is one load on one server. The rows of the table use its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reach(Enum):
    """How a load reaches its server."""

    READ = "read"
    WRITE = "write"
    UNIX = "unix"
    SQL = "sql"
    SQL_UNIX = "sql over a Unix socket"
    X = "x"


@dataclass(frozen=True)
class Case:
    name: str
    peer: str
    options: tuple[str, ...]
    reach: Reach = Reach.READ

    @property
    def generator(self) -> str:
        is_sql = self.reach in (Reach.SQL, Reach.SQL_UNIX)
        return "hs-bench-sql" if is_sql else "hs-bench"


PIPELINED = ("--connections=16", "--depth=100")
SINGLE = ("--connections=100", "--depth=1")
ALONE = ("--connections=1", "--depth=1")
# The first thousand rows: as few hot rows as a cache would hold.
HOT = ("--keys=1000",)
UPDATE = ("--work=update",)
CONNECT = ("--work=connect", "--connections=16", "--depth=1")
# The ports of one address would be used up at 14,000 connections a second.
SOURCES = ("--sources=16",)
# Open loop, far below what any of them can do: the latency for a client that is not in a hurry.
PACED = ("--connections=100", "--depth=100", "--rate=20000")

# A find of many keys: IN, or memcached's get of several.
MULTI = ("--connections=16", "--depth=1", "--multi-get=100")

# Reads, with the adaptive hash index ON.
READS = (
    Case("ours hot", "ours", PIPELINED + HOT),
    Case("original hot", "original", PIPELINED + HOT),
    Case("redis hot", "redis", PIPELINED + HOT),
    Case("redis rows hot", "redis-rows", PIPELINED + HOT),
    Case("valkey hot", "valkey", PIPELINED + HOT),
    Case("valkey rows hot", "valkey-rows", PIPELINED + HOT),
    Case("memcached hot", "memcached", PIPELINED + HOT),
    Case("ours random", "ours", PIPELINED),
    Case("original random", "original", PIPELINED),
    Case("redis random", "redis", PIPELINED),
    Case("redis rows random", "redis-rows", PIPELINED),
    Case("valkey random", "valkey", PIPELINED),
    Case("valkey rows random", "valkey-rows", PIPELINED),
    Case("memcached random", "memcached", PIPELINED),
    Case("echo pipelined", "echo", PIPELINED),
    Case("sql prepared 16", "ours", ("--mode=prepared", "--connections=16"), Reach.SQL),
    Case("x unix pipelined", "ours", PIPELINED, Reach.X),
    Case("ours unix pipelined", "ours", PIPELINED, Reach.UNIX),
    Case("ours in hot", "ours", MULTI + HOT),
    Case("memcached multi hot", "memcached", MULTI + HOT),
    Case("ours in", "ours", MULTI),
    Case("memcached multi", "memcached", MULTI),
    Case("ours single", "ours", SINGLE),
    Case("original single", "original", SINGLE),
    Case("memcached single", "memcached", SINGLE),
    Case("redis single", "redis", SINGLE),
    Case("valkey single", "valkey", SINGLE),
    Case("echo single", "echo", SINGLE),
    Case("ours unix", "ours", SINGLE, Reach.UNIX),
    Case("sql prepared 100", "ours", ("--mode=prepared", "--connections=100"), Reach.SQL),
    Case("sql text 100", "ours", ("--mode=text", "--connections=100"), Reach.SQL),
    Case("sql handler 100", "ours", ("--mode=handler", "--connections=100"), Reach.SQL),
    Case("x unix", "ours", SINGLE, Reach.X),
    Case("ours alone", "ours", ALONE),
    Case("original alone", "original", ALONE),
    Case("memcached alone", "memcached", ALONE),
    Case("redis alone", "redis", ALONE),
    Case("echo alone", "echo", ALONE),
    Case("ours paced", "ours", PACED),
    Case("original paced", "original", PACED),
    Case("memcached paced", "memcached", PACED),
    Case("redis paced", "redis", PACED),
    Case("ours connect", "ours", CONNECT + SOURCES),
    Case("original connect", "original", CONNECT + SOURCES),
    Case("sql connect", "ours", ("--mode=connect", "--connections=16"), Reach.SQL),
    Case("ours unix connect", "ours", CONNECT, Reach.UNIX),
    Case("sql unix connect", "ours", ("--mode=connect", "--connections=16"), Reach.SQL_UNIX),
)

# The same servers with the adaptive hash index OFF, which is the server's default.
READS_WITHOUT_HASH = (
    Case("ours hot, no hash", "ours", PIPELINED + HOT),
    Case("original hot, no hash", "original", PIPELINED + HOT),
    Case("ours random, no hash", "ours", PIPELINED),
    Case("original random, no hash", "original", PIPELINED),
)

# Writes, all of them durable. The original writes no binary log, whatever the settings say.
WRITES = (
    Case("ours update single", "ours-durable", SINGLE + UPDATE, Reach.WRITE),
    Case("original update single", "original-durable", SINGLE + UPDATE, Reach.WRITE),
    Case("redis update single", "redis-durable", SINGLE + UPDATE, Reach.WRITE),
    Case("sql update", "ours-durable", ("--mode=update", "--connections=100"), Reach.SQL),
    Case("ours update pipelined", "ours-durable", PIPELINED + UPDATE, Reach.WRITE),
    Case("original update pipelined", "original-durable", PIPELINED + UPDATE, Reach.WRITE),
)
