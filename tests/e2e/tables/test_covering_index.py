"""A find that a covering index can answer reads that index alone, as InnoDB's counters show."""

from __future__ import annotations

import random

import pytest
from handlersocket2 import Client, Filter
from support.database import Database, Sql
from support.servers import EXPLAIN, KIND

COVERED = ["diary_id", "user_id", "post_date", "status", "rating", "title"]
DIARY = """
CREATE TABLE diary (
  diary_id INT UNSIGNED NOT NULL PRIMARY KEY,
  user_id INT UNSIGNED NOT NULL,
  post_date DATETIME NOT NULL,
  status TINYINT NOT NULL,
  rating FLOAT NOT NULL,
  title VARCHAR(100) NOT NULL,
  body TEXT NOT NULL,
  KEY all_but_body (user_id, post_date, status, rating, title)
) ENGINE=InnoDB
"""
ENTRIES = 40_000
USERS = 2_000  # 20 entries each, far apart in the table


@pytest.fixture
def small_pool(make_server) -> Database:
    """A diary of about 60 MB in a server with a buffer pool of 16 MB. Its index has about 4 MB."""
    server = make_server(
        innodb_buffer_pool_size="16M",
        innodb_adaptive_hash_index="OFF",
        innodb_random_read_ahead="OFF",
        innodb_read_ahead_threshold=64,
        innodb_flush_log_at_trx_commit=0,
        **KIND.log_file_size("256M"),
        innodb_buffer_pool_dump_at_shutdown="OFF",
        innodb_fast_shutdown=0,
    )
    database = Database(server, "test")
    database.sql.run(
        DIARY,
        f"INSERT INTO diary SELECT seq, (seq * 7919) MOD {USERS}, '2024-01-01' + INTERVAL seq"
        " MINUTE, seq % 3, seq % 7, CONCAT('title ', seq),"
        " RPAD(SHA2(seq, 256), 1024, SHA2(seq + 1, 256))"
        f" FROM seq_1_to_{ENTRIES}",
    )
    database.close()
    server.restart()  # purges and writes everything, so that afterwards only finds read pages
    reopened = Database(server, "test")
    yield reopened
    reopened.close()


def users(count: int) -> list[int]:
    return random.Random(count).sample(range(USERS), count)


class Reading:
    """What InnoDB does during a block of finds: pages asked for, and pages read from disk."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def __enter__(self) -> Reading:
        self._before = self._counters()
        return self

    def __exit__(self, *_: object) -> None:
        after = self._counters()
        self.requests = after[0] - self._before[0]
        self.reads = after[1] - self._before[1]

    def _counters(self) -> tuple[int, int]:
        status = self._sql.status
        return status("Innodb_buffer_pool_read_requests"), status("Innodb_buffer_pool_reads")


def find_all(client: Client, columns: list[str], count: int) -> int:
    index = client.index("test", "diary", columns, index="all_but_body")
    with client.pipeline() as pipeline:
        for user in users(count):
            pipeline.on(index).find(user, limit=100)
    return sum(len(rows) for rows in pipeline.results())


def test_a_covering_index_is_read_alone(small_pool: Database) -> None:
    sql, count = small_pool.sql, 500
    with small_pool.reader() as client:
        find_all(client, COVERED, USERS)  # the whole index into the pool

        with Reading(sql) as covered:
            assert find_all(client, COVERED, count) == count * 20
        with Reading(sql) as by_sql:
            columns = ", ".join(COVERED)
            plan = sql.rows(f"{EXPLAIN} SELECT {columns} FROM diary WHERE user_id = 1")
            assert b"all_but_body" in plan[0] and b"Using index" in (plan[0][-1] or b"")
            for user in users(count):
                sql.rows(f"SELECT {columns} FROM diary WHERE user_id = {user}")
        with Reading(sql) as with_body:
            assert find_all(client, [*COVERED, "body"], count) == count * 20

    rows = count * 20
    assert covered.requests <= by_sql.requests * 1.1, "no more pages than SQL's own plan"
    assert with_body.requests >= covered.requests + rows, "each body is in another page"
    assert covered.reads <= rows // 100, "the index is in the pool"
    assert with_body.reads >= rows // 2, "the table is larger than the pool"


def test_filters_and_the_key_are_answered_from_the_index_too(small_pool: Database) -> None:
    sql = small_pool.sql
    with small_pool.reader() as client:
        find_all(client, COVERED, USERS)
        index = client.index(
            "test", "diary", ["title"], index="all_but_body", filter_columns=["status", "rating"]
        )
        filters = [Filter("=", 0, 1), Filter(">", 1, 2)]
        with Reading(sql) as reading:
            found = [
                row for user in range(500) for row in index.find(user, limit=99, filters=filters)
            ]
    expected = sql.number(
        "SELECT COUNT(*) FROM diary WHERE user_id < 500 AND status = 1 AND rating > 2"
    )
    assert len(found) == expected > 100
    assert reading.reads <= 20
