"""A command that writes is what SQL would have done: random work by commands, and by SQL on twins,
gives the same tables, the same errors and the same row events."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import CHECK_ERROR
from support_binlog import begin_log, row_events
from support_redis import connect, redis_server
from support_redis_twins import RedisTwins, random_write, with_one_number
from support_servers import LOGGING
from support_twin_tables import BESIDE, OUTSIDE, TABLES
from support_twins import compare_events

STRICT = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
ROUNDS = [(STRICT, "FULL"), (STRICT, "MINIMAL"), ("TRADITIONAL", "NOBLOB")]
SEED = os.environ.get("HS_SEED")
BATCHES = 80
#: What the work must have met, or it has shown nothing.
ERRORS = {1062, CHECK_ERROR, 1264, 1366, 1406}
ROWS = with_one_number(TABLES)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    # On a busy machine a slow write would be executed again aside, and draw a second number.
    settings = {**LOGGING, "handlersocket_row_wait": 0}
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def admin(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        yield session
        if server.alive:
            session.run("SET GLOBAL sql_mode = DEFAULT", "SET GLOBAL binlog_row_image = DEFAULT")


@pytest.mark.parametrize(("sql_mode", "image"), ROUNDS, ids=lambda text: str(text).split(",")[0])
def test_random_work(server: ServerInstance, admin: Sql, sql_mode: str, image: str) -> None:
    seed = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    admin.run(f"SET GLOBAL sql_mode = '{sql_mode}'", f"SET GLOBAL binlog_row_image = {image}")
    assert len(ROWS) > 8
    twins = RedisTwins(server, TABLES, BESIDE)
    try:
        begin_log(admin)
        for batch in range(4 * BATCHES):
            if batch >= BATCHES and set(twins.outcomes) >= ERRORS:
                break
            twins.run([random_write(rng, rng.choice(ROWS)) for _ in range(rng.randint(1, 32))])
        assert compare_events(row_events(server, admin), twins, OUTSIDE) > 2 * BATCHES
    finally:
        twins.close()
    assert set(twins.outcomes) >= ERRORS
    assert twins.outcomes["modified"] > 2 * BATCHES


def events_of(server: ServerInstance, admin: Sql) -> list[tuple[str, dict[int, str]]]:
    return [(event.kind, event.after or event.before) for event in row_events(server, admin)]


def test_what_each_command_logs(server: ServerInstance, admin: Sql) -> None:
    """One event for a row that changes, and none for what changes nothing."""
    admin.run(
        "DROP DATABASE IF EXISTS logged",
        "CREATE DATABASE logged",
        "CREATE TABLE logged.t (id INT PRIMARY KEY, a INT, b VARCHAR(9))",
    )
    with connect(server) as wire:
        for words, events in [
            ("HSET logged.t:1 a 5 b x", [("INSERT", {1: "1", 2: "5", 3: "'x'"})]),
            ("HSET logged.t:1 a 5 b x", []),
            ("HSET logged.t:1 a 6", [("UPDATE", {1: "1", 2: "6", 3: "'x'"})]),
            ("HINCRBY logged.t:1 a 4", [("UPDATE", {1: "1", 2: "10", 3: "'x'"})]),
            ("HINCRBY logged.t:1 a 0", []),
            ("HSETNX logged.t:1 a 4", []),
            ("HDEL logged.t:1 a", [("UPDATE", {1: "1", 2: "NULL", 3: "'x'"})]),
            ("HDEL logged.t:1 a", []),
            ("HDEL logged.t:2 a", []),
            ("HGETALL logged.t:1", []),
            ("HINCRBY logged.t:2 a 3", [("INSERT", {1: "2", 2: "3", 3: "NULL"})]),
            ("DEL logged.t:1 logged.t:2 logged.t:3",
             [("DELETE", {1: "1", 2: "NULL", 3: "'x'"}), ("DELETE", {1: "2", 2: "3", 3: "NULL"})]),
            ("DEL logged.t:1", []),
        ]:  # fmt: skip
            begin_log(admin)
            wire.say(words)
            assert events_of(server, admin) == events, words


def test_a_unit_is_one_transaction_of_the_log(server: ServerInstance, admin: Sql) -> None:
    admin.run(
        "DROP DATABASE IF EXISTS logged",
        "CREATE DATABASE logged",
        "CREATE TABLE logged.t (id INT PRIMARY KEY, a INT)",
    )
    begin_log(admin)
    with connect(server) as wire:
        done = wire.unit([("HSET", f"logged.t:{number}", "a", number) for number in range(20)])
        assert done == [1] * 20
        failed = wire.unit([("HSET", "logged.t:99", "a", 1), ("HSET", "logged.t:98", "a", "x")])
        assert failed.text
    assert len(row_events(server, admin)) == 20
    admin.run("FLUSH BINARY LOGS")
    (name, *_), *_ = admin.rows("SHOW BINARY LOGS")
    shown = admin.rows(f"SHOW BINLOG EVENTS IN '{(name or b'').decode()}'")
    assert sum((row[2] or b"") == b"Xid" for row in shown) == 1
