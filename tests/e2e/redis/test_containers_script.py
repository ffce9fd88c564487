"""What the script makes that creates the first container."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.resp import OK
from support.servers import ON_MYSQL
from support_redis import connect, redis_server

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
#: Summer time ends then in the time zone of the test, whose clocks go back from 3:00 to 2:00.
SUMMER_ENDS = 1729990800
ZONE = (
    "INSERT INTO mysql.time_zone VALUES (60000, 'N')",
    "INSERT INTO mysql.time_zone_name VALUES ('Test/Zone', 60000)",
    "INSERT INTO mysql.time_zone_transition_type VALUES (60000, 0, 7200, 1, 'CEST'),"
    " (60000, 1, 3600, 0, 'CET')",
    "INSERT INTO mysql.time_zone_transition VALUES (60000, 1711846800, 0),"
    f" (60000, {SUMMER_ENDS}, 1)",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, event_scheduler="OFF") as instance:
        instance.client(CONTAINERS.read_text())
        with Sql(instance.socket) as sql:
            sql.run(*ZONE)
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "handlersocket") as session:
        session.run("DELETE FROM kv")
        yield session


@pytest.mark.parametrize("minutes", [-90, -45, -15, 15, 45, 90])
def test_only_what_has_expired_is_deleted(sql: Sql, minutes: int) -> None:
    """Also in the hour that comes twice. This is what the event does, at a time of the test's."""
    event = "SELECT EVENT_DEFINITION FROM information_schema.EVENTS WHERE EVENT_NAME ="
    (delete,) = sql.row(f"{event} 'delete_expired'")
    now = SUMMER_ENDS + 60 * minutes
    sql.run(
        "INSERT INTO kv (k, v, expires) VALUES ('never', 'x', NULL), ('0', 'x', 0),"
        f" ('past', 'x', {now - 10}), ('long past', 'x', {now - 4000}),"
        f" ('soon', 'x', {now + 10}), ('later', 'x', {now + 3500})",
        "SET time_zone = 'Test/Zone'",
        f"SET timestamp = {now}",
        (delete or b"").decode(),
    )
    left = {key for (key,) in sql.rows("SELECT k FROM kv")}
    assert left == {b"never", b"0", b"soon", b"later"}


def test_the_event_uses_the_index(sql: Sql) -> None:
    sql.run(
        "INSERT INTO kv (k, v, expires) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
        " SELECT i + 1 FROM n WHERE i < 1000) SELECT i, 'x', 5000000000 FROM n",
        "ANALYZE TABLE kv",
    )
    event = "SELECT EVENT_DEFINITION FROM information_schema.EVENTS WHERE EVENT_NAME ="
    (delete,) = sql.row(f"{event} 'delete_expired'")
    explain = "EXPLAIN FORMAT=TRADITIONAL" if ON_MYSQL else "EXPLAIN"
    (plan,) = sql.rows(f"{explain} {(delete or b'').decode()}")
    assert plan.count(b"by_expires") == 2, "it is possible, and it is used"


def test_a_row_that_sql_inserts_has_a_cas(server: ServerInstance, sql: Sql) -> None:
    """To memcached's clients 0 means that there is none."""
    sql.run("INSERT INTO kv (k, v) VALUES ('a', 'x')")
    assert sql.number("SELECT cas FROM kv") == 1
    with connect(server) as wire:
        assert wire.ask("SET", "a", "y") == OK
    assert sql.number("SELECT cas FROM kv") == 2
