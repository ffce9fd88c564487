"""What redis-py makes of INFO. Prints it as JSON. Its argument: the port."""

from __future__ import annotations

import contextlib
import json
import sys

import redis

client = redis.Redis(port=int(sys.argv[1]))
client.hget("app.employee:1", "name")
with contextlib.suppress(redis.ResponseError):
    client.execute_command("HGET", "app.employee:1")
print(
    json.dumps(
        {
            "hget": client.info("commandstats")["cmdstat_hget"],
            "errors": client.info("errorstats"),
            "several": sorted(client.info("clients", "keyspace")),
            "databases": [name for name in client.info("all") if name.startswith("db")],
        }
    )
)
