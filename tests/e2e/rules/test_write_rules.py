"""A write is what SQL would have done: the same random work by SQL on a twin gives the same tables,
the same errors and the same row events."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import CHECK_ERROR, ON_MYSQL
from support_binlog import begin_log, row_events
from support_servers import LOGGING, running_server
from support_twin_tables import BESIDE, OUTSIDE, TABLES
from support_twins import Change, Insert, Twins, compare_events, random_operation

STRICT = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
ODD = (
    "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,PAD_CHAR_TO_FULL_LENGTH,NO_ZERO_IN_DATE,"
    "ALLOW_INVALID_DATES"
)
ROUNDS = [
    (STRICT, "FULL"),
    (STRICT, "MINIMAL"),
    ("", "FULL"),
    ("", "MINIMAL"),
    ("TRADITIONAL", "NOBLOB"),
    (ODD, "FULL"),
]
SEED = os.environ.get("HS_SEED")
# At least. A seed that meets little gets up to four times as many.
BATCHES = 90
# What the work must have met, or it has shown nothing.
ERRORS = {121, 151, CHECK_ERROR}
STRICT_ERRORS = {*ERRORS, 1264, 1364, 1366, 1406}


@pytest.fixture(scope="module")
def logging_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    # On a busy machine a slow write would be executed again aside, and draw a second number.
    settings = {**LOGGING, "handlersocket_row_wait": 0}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def admin(logging_server: ServerInstance) -> Iterator[Sql]:
    with Sql(logging_server.socket) as session:
        yield session
        if logging_server.alive:
            session.run("SET GLOBAL sql_mode = DEFAULT", "SET GLOBAL binlog_row_image = DEFAULT")


@pytest.mark.parametrize(
    ("sql_mode", "image"), ROUNDS, ids=lambda text: str(text).split(",")[0] or "lax"
)
def test_random_work(logging_server: ServerInstance, admin: Sql, sql_mode: str, image: str) -> None:
    seed = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    admin.run(f"SET GLOBAL sql_mode = '{sql_mode}'", f"SET GLOBAL binlog_row_image = {image}")
    twins = Twins(logging_server, TABLES, BESIDE)
    try:
        begin_log(admin)
        errors = STRICT_ERRORS if sql_mode else ERRORS
        for batch in range(4 * BATCHES):
            has_met_all = set(twins.outcomes) >= errors
            if batch >= BATCHES and has_met_all and twins.outcomes["modified"] > 2 * BATCHES:
                break
            twins.run(
                [random_operation(rng, rng.choice(TABLES)) for _ in range(rng.randint(1, 32))]
            )
        assert compare_events(row_events(logging_server, admin), twins, OUTSIDE) > 2 * BATCHES
    finally:
        twins.close()
    assert set(twins.outcomes) >= errors
    assert twins.outcomes["modified"] > 2 * BATCHES


def test_a_null_in_an_update_may_mean_now(logging_server: ServerInstance, admin: Sql) -> None:
    (clocks,) = (table for table in TABLES if table.name == "clocks")
    twins = Twins(logging_server, [clocks])
    old = Insert(clocks, ("id", "at_created"), ("1", "2001-02-03 04:05:06"))
    to_now = Change(clocks, "PRIMARY", "=", "1", 1, "U", ("at_created",), (None,))
    try:
        begin_log(admin)
        twins.run([old])
        twins.run([to_now])
        # MySQL refuses a NULL here, by SQL too.
        assert compare_events(row_events(logging_server, admin), twins) == (1 if ON_MYSQL else 2)
    finally:
        twins.close()
