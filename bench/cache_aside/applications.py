"""The same application twice: it reads and renames users, whom other programs rename by SQL, too.

docs/from-a-cache.md shows both. `WithCache` is what people write: look into the cache, else into
SQL, and keep what was found for a minute; throw it away at a change. `WithoutCache` asks the rows.
"""

from __future__ import annotations

from typing import Protocol

import pymysql
import redis

SECONDS = 60


class Application(Protocol):
    def name_of(self, user: int) -> str | None: ...
    def rename(self, user: int, name: str) -> None: ...


class WithCache:
    def __init__(self, cache: redis.Redis, sql: pymysql.Connection[pymysql.cursors.Cursor]) -> None:
        self._cache = cache
        self._sql = sql

    def name_of(self, user: int) -> str | None:
        found = self._cache.get(f"user:{user}")
        if found is not None:
            return str(found)
        with self._sql.cursor() as cursor:
            cursor.execute("SELECT user_name FROM user WHERE user_id = %s", (user,))
            row = cursor.fetchone()
        if row is None:
            return None
        self._cache.set(f"user:{user}", row[0], ex=SECONDS)
        return str(row[0])

    def rename(self, user: int, name: str) -> None:
        with self._sql.cursor() as cursor:
            cursor.execute("UPDATE user SET user_name = %s WHERE user_id = %s", (name, user))
        self._cache.delete(f"user:{user}")


class WithoutCache:
    def __init__(self, rows: redis.Redis) -> None:
        self._rows = rows

    def name_of(self, user: int) -> str | None:
        return self._rows.hget(f"test.user:{user}", "user_name")

    def rename(self, user: int, name: str) -> None:
        self._rows.hset(f"test.user:{user}", "user_name", name)
