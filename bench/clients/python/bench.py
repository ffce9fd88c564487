"""Measures lookups of random rows by many callers that share one client.

Each asks for one row at a time and compares what it gets with its key.

    python bench.py CLIENT CALLERS WARM_UP SECONDS READ_PORT REDIS_PORT SQL_PORT ROWS

It writes the line "begin" after warming up, and then the result as a line of JSON. measure.py, in
the folder above, reads both.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import random
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Lookup = Callable[[int], None]
AsyncLookup = Callable[[int], Awaitable[None]]

NAME = sys.argv[1]
CALLERS, HS_PORT, REDIS_PORT, SQL_PORT, ROWS = (int(sys.argv[i]) for i in (2, 5, 6, 7, 8))
WARM_UP, SECONDS = float(sys.argv[3]), float(sys.argv[4])
HOST = "127.0.0.1"
# The size of a pool, for the clients whose callers have a connection each.
CONNECTIONS = min(CALLERS, 100)
# One of so many requests of a caller is timed.
TIMED_ONE_OF = 8
URL = f"handlersocket://{HOST}:{HS_PORT}/test"
QUERY = "SELECT user_id, user_name, user_email FROM user WHERE user_id = %s"


@dataclass
class User:
    user_id: int
    user_name: str
    user_email: str


def check_row(key: int, found: int) -> None:
    if found != key:
        raise AssertionError("a wrong row")


def check_value(key: int, value: bytes) -> None:
    """A value of Redis begins with user_0000042."""
    if int(value[5:12]) != key:
        raise AssertionError("a wrong value")


async def ours_async() -> AsyncLookup:
    from handlersocket2 import AsyncClient  # noqa: PLC0415

    users = AsyncClient(URL).index(None, "user", User)

    async def lookup(key: int) -> None:
        row = await users.find_one(key)
        check_row(key, row.user_id)

    return lookup


async def redis_py() -> AsyncLookup:
    from redis.asyncio import BlockingConnectionPool, Redis  # noqa: PLC0415

    pool = BlockingConnectionPool(host=HOST, port=REDIS_PORT, max_connections=CONNECTIONS)
    client = Redis(connection_pool=pool)

    async def lookup(key: int) -> None:
        check_value(key, await client.get(f"user:{key}"))

    return lookup


async def valkey_glide() -> AsyncLookup:
    from glide import GlideClient, GlideClientConfiguration, NodeAddress  # noqa: PLC0415

    configuration = GlideClientConfiguration(
        [NodeAddress(HOST, REDIS_PORT)], request_timeout=10_000, inflight_requests_limit=10_000
    )
    client = await GlideClient.create(configuration)

    async def lookup(key: int) -> None:
        check_value(key, await client.get(f"user:{key}"))

    return lookup


async def asyncmy() -> AsyncLookup:
    import asyncmy as driver  # noqa: PLC0415

    # Without autocommit the pool closes each connection behind a SELECT.
    pool = await driver.create_pool(
        maxsize=CONNECTIONS,
        host=HOST,
        port=SQL_PORT,
        user="root",
        database="test",
        autocommit=True,
    )

    async def lookup(key: int) -> None:
        async with pool.acquire() as connection, connection.cursor() as cursor:
            await cursor.execute(QUERY, (key,))
            check_row(key, (await cursor.fetchone())[0])

    return lookup


def ours_threads() -> Lookup:
    from handlersocket2 import Client  # noqa: PLC0415

    users = Client(URL).index(None, "user", User)

    def lookup(key: int) -> None:
        row = users.find_one(key)
        check_row(key, row.user_id)

    return lookup


def pymysql() -> Lookup:
    import pymysql as driver  # noqa: PLC0415

    pool: queue.SimpleQueue = queue.SimpleQueue()
    for _ in range(CONNECTIONS):
        connection = driver.connect(
            host=HOST, port=SQL_PORT, user="root", database="test", autocommit=True
        )
        pool.put(connection)

    def lookup(key: int) -> None:
        connection = pool.get()
        with connection.cursor() as cursor:
            cursor.execute(QUERY, (key,))
            check_row(key, cursor.fetchone()[0])
        pool.put(connection)

    return lookup


def redis_py_threads() -> Lookup:
    from redis import BlockingConnectionPool, Redis  # noqa: PLC0415

    pool = BlockingConnectionPool(host=HOST, port=REDIS_PORT, max_connections=CONNECTIONS)
    client = Redis(connection_pool=pool)

    def lookup(key: int) -> None:
        check_value(key, client.get(f"user:{key}"))

    return lookup


# Whether it runs on uvloop, and how it is made. Each gives a function that looks up one row and
# fails if it is a wrong one.
OF_TASKS: dict[str, tuple[bool, Callable[[], Awaitable[AsyncLookup]]]] = {
    "ours-uvloop": (True, ours_async),
    "ours-asyncio": (False, ours_async),
    "redis-py": (True, redis_py),
    "valkey-glide": (True, valkey_glide),
    "asyncmy": (True, asyncmy),
}
OF_THREADS: dict[str, Callable[[], Lookup]] = {
    "ours-threads": ours_threads,
    "redis-py-threads": redis_py_threads,
    "pymysql": pymysql,
}


class Run:
    """Callers ask until the time is over."""

    def __init__(self, duration: float) -> None:
        self.began = time.perf_counter()
        self.end = self.began + duration
        self.over = False
        self.requests = 0
        self.times: list[float] = []

    def result(self) -> str:
        """Latencies are in microseconds."""
        took = time.perf_counter() - self.began
        self.times.sort()
        p50, p99 = (self.times[len(self.times) * share // 100] * 1e6 for share in (50, 99))
        return json.dumps({"requests": self.requests, "seconds": took, "p50": p50, "p99": p99})


async def task(run: Run, lookup: AsyncLookup) -> None:
    count = 0
    clock, rows, draw = time.perf_counter, ROWS, random.random
    while not run.over:
        key = 1 + int(draw() * rows)
        if count % TIMED_ONE_OF:
            await lookup(key)
        else:
            asked = clock()
            await lookup(key)
            run.times.append(clock() - asked)
        count += 1
    run.requests += count


async def run_tasks(lookup: AsyncLookup, duration: float) -> Run:
    run = Run(duration)
    asyncio.get_running_loop().call_later(duration, setattr, run, "over", True)
    await asyncio.gather(*(task(run, lookup) for _ in range(CALLERS)))
    return run


async def measure_tasks(make: Callable[[], Awaitable[AsyncLookup]]) -> None:
    lookup = await make()
    await run_tasks(lookup, WARM_UP)
    print("begin", flush=True)
    print((await run_tasks(lookup, SECONDS)).result(), flush=True)


def run_threads(lookup: Lookup, duration: float) -> Run:
    run = Run(duration)
    lock = threading.Lock()

    def thread() -> None:
        count = 0
        clock, rows, draw = time.perf_counter, ROWS, random.random
        while not run.over:
            key = 1 + int(draw() * rows)
            if count % TIMED_ONE_OF:
                lookup(key)
            else:
                asked = clock()
                lookup(key)
                run.times.append(clock() - asked)
            count += 1
        with lock:
            run.requests += count

    threads = [threading.Thread(target=thread) for _ in range(CALLERS)]
    for each in threads:
        each.start()
    time.sleep(duration)
    run.over = True
    for each in threads:
        each.join()
    return run


def measure_threads(make: Callable[[], Lookup]) -> None:
    lookup = make()
    run_threads(lookup, WARM_UP)
    print("begin", flush=True)
    print(run_threads(lookup, SECONDS).result(), flush=True)


def fail(told: threading.ExceptHookArgs) -> None:
    """A thread that fails ends the program, not only itself."""
    sys.__excepthook__(told.exc_type, told.exc_value, told.exc_traceback)
    _exit(1)


def main() -> None:
    threading.excepthook = fail
    if NAME in OF_THREADS:
        measure_threads(OF_THREADS[NAME])
    else:
        on_uvloop, make = OF_TASKS[NAME]
        if on_uvloop:
            import uvloop  # noqa: PLC0415

            uvloop.run(measure_tasks(make))
        else:
            asyncio.run(measure_tasks(make))
    _exit(0)


def _exit(code: int) -> None:
    """At once: a pool's connections need no farewell."""
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
