"""A replica of the same version follows what the plugin writes, and ends with equal tables."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, free_port
from support.database import Sql, SqlRow
from support.servers import GTID_POSITION, SHOW_REPLICA, START_REPLICA, WAIT_FOR_GTID
from support_servers import LOGGING, running_server
from support_twin_tables import BESIDE, OUTSIDE, TABLES
from support_twins import BY_PLUGIN, Twins, random_operation

# At least. A seed that meets little gets up to four times as many.
BATCHES = 80
# If a default and a trigger use the same sequence, MariaDB logs only some of its steps, also by
# SQL.
UNLOGGED = {"tickets"}
VIRTUAL_COLUMNS = (
    "SELECT table_name FROM information_schema.columns WHERE table_schema = %s"
    " AND extra LIKE '%%VIRTUAL GENERATED%%'"
)


@pytest.fixture(scope="module")
def primary(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **LOGGING, port=free_port()) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE USER replica IDENTIFIED BY 'secret'",
                "GRANT REPLICATION SLAVE ON *.* TO replica",
            )
        yield instance


@pytest.fixture(scope="module")
def replica(data_root: Path, watch: Any, primary: ServerInstance) -> Iterator[ServerInstance]:
    settings = {**LOGGING, "server_id": 2, "read_only": 1}
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                START_REPLICA.format(
                    user="replica", password="secret", port=primary.settings["port"]
                ),
                "START SLAVE",
            )
        yield instance
        with Sql(instance.socket) as sql:
            sql.run("STOP SLAVE")


def catch_up(primary: Sql, replica: Sql) -> None:
    (position,) = primary.row(f"SELECT {GTID_POSITION}")
    (waited,) = replica.row(WAIT_FOR_GTID, [position])
    if waited != b"0":
        status = replica.row(SHOW_REPLICA)
        raise AssertionError([field for field in status if field and b"rror" in field] or status)


def contents(sql: Sql) -> dict[str, list[SqlRow]]:
    """The rows of all tables, their history, and checksums where these are reliable."""
    names = [*(table.name for table in TABLES), *BESIDE, *set(OUTSIDE) - UNLOGGED]
    found = {f"{name}, rows": sql.rows(f"SELECT * FROM {BY_PLUGIN}.{name}") for name in names}
    for name in (table.name for table in TABLES if table.versioned and table.name == "versioned"):
        # With times. But the history rows of a cascade have each server's own times.
        every = f"SELECT *, row_start, row_end FROM {BY_PLUGIN}.{name} FOR SYSTEM_TIME ALL"
        found[f"{name}, history"] = sql.rows(every)
    # For a virtual column, CHECKSUM TABLE uses whatever the record contains in its place.
    unreliable = {name for (name,) in sql.rows(VIRTUAL_COLUMNS, [BY_PLUGIN])}
    for name in names:
        if name.encode() not in unreliable:
            found[f"{name}, checksum"] = sql.rows(f"CHECKSUM TABLE {BY_PLUGIN}.{name}")
    return {what: sorted(rows, key=repr) for what, rows in found.items()}


@pytest.mark.parametrize("image", ["FULL", "MINIMAL"])
def test_a_replica_ends_equal(primary: ServerInstance, replica: ServerInstance, image: str) -> None:
    seed = int(os.environ.get("HS_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}")
    rng = random.Random(seed)
    with Sql(primary.socket) as source, Sql(replica.socket) as copy:
        source.run(f"SET GLOBAL binlog_row_image = {image}")
        twins = Twins(primary, TABLES, BESIDE)
        try:
            for batch in range(4 * BATCHES):
                if batch >= BATCHES and twins.outcomes["modified"] > BATCHES:
                    break
                size = rng.randint(1, 20)
                twins.run_plugin_alone(
                    [random_operation(rng, rng.choice(TABLES)) for _ in range(size)]
                )
        finally:
            twins.close()
        print(twins.outcomes)
        assert twins.outcomes["modified"] > BATCHES, "hardly any modification went through"
        catch_up(source, copy)
        wanted, got = contents(source), contents(copy)
        assert sum("checksum" in what for what in wanted) > len(TABLES) / 2
        for what, rows in wanted.items():
            assert got[what] == rows, f"{what}: the replica differs"
        filled = source.number(
            f"SELECT SUM(table_rows > 0) FROM information_schema.tables"
            f" WHERE table_schema = '{BY_PLUGIN}'"
        )
        assert filled > len(TABLES) * 0.8, "most tables have rows"
