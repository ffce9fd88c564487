"""An application's work by redis-py, as published. Prints what each step has answered, as JSON.

Its arguments: how (sync or asyncio, the protocol, with hiredis or without), the port, an account,
its password, and the file of the authority for TLS.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import redis
import redis.asyncio
from redis._parsers import (
    _AsyncHiredisParser,
    _AsyncRESP2Parser,
    _AsyncRESP3Parser,
    _HiredisParser,
    _RESP2Parser,
    _RESP3Parser,
)

HOW, PORT, USER, PASSWORD, AUTHORITY = sys.argv[1:]
IS_ASYNC = "asyncio" in HOW
PROTOCOL = 3 if "resp3" in HOW else 2
PARSERS: dict[tuple[bool, str], Any] = {
    (False, "hiredis"): _HiredisParser,
    (False, "python"): _RESP3Parser if PROTOCOL == 3 else _RESP2Parser,
    (True, "hiredis"): _AsyncHiredisParser,
    (True, "python"): _AsyncRESP3Parser if PROTOCOL == 3 else _AsyncRESP2Parser,
}
PARSER = PARSERS[IS_ASYNC, "hiredis" if "hiredis" in HOW else "python"]
CALLERS, TURNS = 20, 50


def shown(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex() if b"\xff" in value else value.decode()
    if isinstance(value, dict):
        return {shown(name): shown(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [shown(one) for one in value]
    return value


def tell(step: str, value: Any) -> None:
    print(json.dumps([step, shown(value)]), flush=True)


def connected(**options: Any) -> Any:
    module = redis.asyncio if IS_ASYNC else redis
    tls = options.pop("ssl", False)
    kind: Any = module.SSLConnection if tls else module.Connection
    if tls:
        options["ssl_ca_certs"] = AUTHORITY
    pool = module.ConnectionPool(
        connection_class=kind,
        host="127.0.0.1",
        port=int(PORT),
        parser_class=PARSER,
        protocol=PROTOCOL,
        **options,
    )
    return module.Redis(connection_pool=pool)


async def do(call: Callable[[], Any]) -> Any:
    """What a call answers, or its error."""
    try:
        value = call()
        return await value if inspect.isawaitable(value) else value
    except redis.RedisError as error:
        return f"error: {type(error).__name__} {error}"


async def step(name: str, call: Callable[[], Any]) -> None:
    tell(name, await do(call))


async def pipeline(client: Any, transaction: bool, *calls: tuple[Any, ...]) -> Any:
    batch = client.pipeline(transaction=transaction)
    for command, *words in calls:
        getattr(batch, command)(*words)
    return await do(batch.execute)


async def swap(client: Any) -> Any:
    batch = client.pipeline()
    await do(lambda: batch.watch("app.employee:1"))
    salary = int(await do(lambda: batch.hget("app.employee:1", "salary")))
    batch.multi()
    batch.hset("app.employee:1", "salary", salary + 1)
    return await do(batch.execute)


async def scan(client: Any, pattern: str) -> list[Any]:
    keys = client.scan_iter(match=pattern, count=1)
    return [one async for one in keys] if IS_ASYNC else list(keys)


async def many(client: Any) -> None:
    def caller() -> None:
        for _ in range(TURNS):
            client.hincrby("app.employee:3", "salary", 1)

    if IS_ASYNC:
        calls = [client.hincrby("app.employee:3", "salary", 1) for _ in range(CALLERS * TURNS)]
        await asyncio.gather(*calls)
        return
    threads = [threading.Thread(target=caller) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def main() -> None:
    client = connected(max_connections=30) if not IS_ASYNC else connected()
    if IS_ASYNC:
        client.connection_pool.max_connections = 2000
    key = "app.employee:1"
    await step("ping", client.ping)
    await step("read all", lambda: client.hgetall(key))
    await step("read one", lambda: client.hget(key, "name"))
    await step("read NULL", lambda: client.hget(key, "photo"))
    await step("read some", lambda: client.hmget(key, ["name", "photo", "salary"]))
    await step("read nothing", lambda: client.hgetall("app.employee:99"))
    await step(
        "insert", lambda: client.hset("app.employee:10", mapping={"name": "Eve", "salary": 5})
    )
    await step("update", lambda: client.hset("app.employee:10", "name", "Eva"))
    photo = bytes(range(256))
    await step("set bytes", lambda: client.hset(key, "photo", photo))
    await step("read bytes", lambda: client.hget(key, "photo"))
    await step("add", lambda: client.hincrby(key, "salary", 50))
    await step("delete a field", lambda: client.hdel(key, "photo"))
    await step("exists", lambda: client.exists(key, "app.employee:99"))
    await step("delete", lambda: client.delete("app.employee:10", "app.employee:99"))
    await step("wrong type", lambda: client.hincrby(key, "name", 1))
    batch = [("hget", "app.employee:2", "name"), ("hincrby", "app.employee:2", "salary", 1)]
    tell("pipeline", await pipeline(client, False, *batch * 20))
    tell("unit", await pipeline(client, True, *batch))
    failing = [("hset", key, "name", "x"), ("hset", key, "name", "x" * 50)]
    failed = await pipeline(client, True, *failing)
    tell("unit that fails", "1406" in str(failed))
    await step("after it", lambda: client.hget(key, "name"))
    await step("scan", lambda: scan(client, "app.employee:*"))
    await many(client)
    await step("many callers", lambda: client.hget("app.employee:3", "salary"))
    if "watch" in HOW:
        tell("compare and swap", await swap(client))
    for name, options in (("log in", {}), ("log in by TLS", {"ssl": True})):
        other = connected(username=USER, password=PASSWORD, client_name="app", **options)
        await step(name, lambda other=other: other.hget("app.employee:2", "name"))
        await step(
            f"{name}, what is not allowed", lambda other=other: other.hget("app.secret:1", "v")
        )
    wrong = connected(username=USER, password="wrong")
    tell("wrong password", "WRONGPASS" in str(await do(wrong.ping)) or
         "invalid username-password" in str(await do(wrong.ping)))  # fmt: skip


asyncio.run(main())
