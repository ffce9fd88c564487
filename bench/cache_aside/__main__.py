"""Measures both applications of applications.py, alternating, and prints a table.

    bench/run cache SERVER [--seconds S] [--rounds N] [--threads N]

The threads read users, a few of whom are popular, and rename one in a hundred. Another program
renames users by SQL, and knows of no cache. A read is stale if it gives an older name than the one
whose change was acknowledged before the read began.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import random
import statistics
import threading
import time
from collections.abc import Callable

import pymysql
import redis
from comparison.caches import start_redis
from comparison.database import HASH_INDEX, Database
from comparison.places import ADDRESS, SERVERS, all_cores

from cache_aside.applications import Application, WithCache, WithoutCache

from server_instance import free_port  # isort: skip  (setup/, put on the path by comparison.places)

USERS = 10_000
RENAMES_BY_SQL = 100  # a second
SHARE_OF_RENAMES = 0.01


class Names:
    """Which name each user has got last, by a number that rises."""

    def __init__(self) -> None:
        self._acknowledged = [0] * (USERS + 1)
        self._numbers = itertools.count(1)
        #: Two changes of one user at once would not say which name is the newer one.
        self._locks = [threading.Lock() for _ in range(USERS + 1)]

    def change(self, user: int, rename: Callable[[int, str], None]) -> None:
        with self._locks[user]:
            number = next(self._numbers)
            rename(user, f"name {number}")
            self._acknowledged[user] = number

    def is_stale(self, user: int, name: str | None, known: int) -> bool:
        return name is not None and name.startswith("name ") and int(name[5:]) < known

    def known(self, user: int) -> int:
        return self._acknowledged[user]


class Tally:
    def __init__(self) -> None:
        self.latencies: list[float] = []
        self.stale = 0


def random_user(rng: random.Random) -> int:
    return min(int(USERS ** rng.random()), USERS)


def serve(application: Application, names: Names, until: float, seed: int, tally: Tally) -> None:
    rng = random.Random(seed)
    while (begun := time.monotonic()) < until:
        user = random_user(rng)
        if rng.random() < SHARE_OF_RENAMES:
            names.change(user, application.rename)
        else:
            known = names.known(user)
            tally.stale += names.is_stale(user, application.name_of(user), known)
        tally.latencies.append(time.monotonic() - begun)


def rename_by_sql(names: Names, until: float, connection: pymysql.Connection) -> None:
    rng = random.Random(0)

    def rename(user: int, name: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE user SET user_name = %s WHERE user_id = %s", (name, user))

    while time.monotonic() < until:
        names.change(random_user(rng), rename)
        time.sleep(1 / RENAMES_BY_SQL)


def measure(make: Callable[[], Application], sql: Callable[[], pymysql.Connection],
            threads: int, seconds: float) -> Tally:  # fmt: skip
    """A warm-up of a second comes first."""
    total = Tally()
    for length in (1.0, seconds):
        names, tallies = Names(), [Tally() for _ in range(threads)]
        with sql() as connection, connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE user SET user_name = CONCAT('user_', user_id) WHERE user_id <= {USERS}"
            )
        until = time.monotonic() + length
        workers = [
            threading.Thread(target=serve, args=(make(), names, until, number, tally))
            for number, tally in enumerate(tallies)
        ]
        workers.append(threading.Thread(target=rename_by_sql, args=(names, until, sql())))
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        total = Tally()
        total.latencies = [one for tally in tallies for one in tally.latencies]
        total.stale = sum(tally.stale for tally in tallies)
    return total


def lines_of(application: type) -> int:
    return len([line for line in inspect.getsource(application).splitlines() if line.strip()])


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/run cache", description=__doc__)
    parser.add_argument("server")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=8)
    given = parser.parse_args()
    port = free_port()
    database = Database(
        given.server,
        SERVERS.parent.parent / "servers" / given.server,
        settings={"handlersocket_redis_port": port, HASH_INDEX: "ON"},
        cores=all_cores(),
    )
    cache = start_redis(cores=all_cores())

    def sql() -> pymysql.Connection:
        return pymysql.connect(
            unix_socket=str(database.instance.socket), user="root", database="test", autocommit=True
        )

    def client(of: int) -> redis.Redis:
        return redis.Redis(ADDRESS, of, decode_responses=True)

    makers: dict[str, Callable[[], Application]] = {
        "Redis in front of SQL": lambda: WithCache(client(cache.port), sql()),
        "the rows themselves": lambda: WithoutCache(client(port)),
    }
    found: dict[str, list[Tally]] = {name: [] for name in makers}
    try:
        for _ in range(given.rounds):
            for name, make in makers.items():
                found[name].append(measure(make, sql, given.threads, given.seconds))
    finally:
        cache.stop()
        database.instance.stop()
    print("| application | lines | requests a second | p50, ms | p99, ms | stale reads |")
    print("|---|---|---|---|---|---|")
    for (name, tallies), kind in zip(found.items(), (WithCache, WithoutCache), strict=True):
        rates = [len(tally.latencies) / given.seconds for tally in tallies]
        cuts = [statistics.quantiles(tally.latencies, n=100) for tally in tallies]
        p50, p99 = (statistics.median(cut[at] for cut in cuts) * 1000 for at in (49, 98))
        stale = sum(tally.stale for tally in tallies)
        reads = sum(len(tally.latencies) for tally in tallies)
        print(
            f"| {name} | {lines_of(kind)} | {statistics.median(rates):,.0f} |"
            f" {p50:.2f} | {p99:.2f} | {stale:,} of {reads:,} |"
        )


if __name__ == "__main__":
    main()
