"""A primary whose semi-synchronous replicas do not answer: nobody is told that a write is safe."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, HandlerSocketError, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support_servers import running_server, wait_until

pytestmark = pytest.mark.skipif(ON_MYSQL, reason="nothing but its time-out ends MySQL's wait")

WAITING = "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for semi-sync%'"


@pytest.fixture(params=["AFTER_SYNC", "AFTER_COMMIT"])
def primary(
    data_root: Path, watch: Any, request: pytest.FixtureRequest
) -> Iterator[ServerInstance]:
    settings = {
        "log_bin": "binlog",
        "server_id": 1,
        "rpl_semi_sync_master_timeout": 3_600_000,
        "rpl_semi_sync_master_wait_point": request.param,
    }
    with running_server(data_root, watch, **settings) as server:
        with Sql(server.socket) as sql:
            sql.run(
                "CREATE DATABASE a",
                "CREATE TABLE a.t (id INT PRIMARY KEY, v INT)",
                "INSERT INTO a.t VALUES (1, 0), (2, 0)",
                "SET GLOBAL rpl_semi_sync_master_enabled = ON",
            )
        yield server
        with Sql(server.socket) as sql:
            sql.run("SET GLOBAL rpl_semi_sync_master_enabled = OFF")


@pytest.mark.parametrize("way", ["KILL", "KILL QUERY", "SET GLOBAL handlersocket_enabled = OFF"])
def test_a_wait_that_is_ended_is_no_success(primary: ServerInstance, way: str) -> None:
    answers: list[Any] = []

    def write() -> None:
        try:
            with Client(("127.0.0.1", primary.hs_port_wr), timeout=60) as client:
                client.request(OpenIndex(1, "a", "t", "", ["id", "v"]))
                with client.pipeline() as pipeline:
                    for row in (1, 2):
                        change = FindModify(Find(1, [row]), ModifyOp.UPDATE, [row, 5])
                        answers.append(pipeline.send(change))
        except HandlerSocketError as error:
            answers[:] = [error]

    writing = threading.Thread(target=write)
    writing.start()
    with Sql(primary.socket) as sql:
        wait_until(lambda: bool(sql.rows(WAITING)), "the commit waits for a replica")
        began = time.monotonic()
        number = int(sql.row(WAITING)[0] or 0)
        sql.run(f"{way} {number}" if way.startswith("KILL") else way)
        writing.join(30)
        assert not writing.is_alive()
        assert time.monotonic() - began < 15
        errors = [one if isinstance(one, Exception) else one.error() for one in answers]
        assert errors
        assert all(error is not None for error in errors), errors
        assert sql.rows("SELECT v FROM a.t") == [(b"5",), (b"5",)]
        # The worker goes on, or the ports can be opened again.
        sql.run("SET GLOBAL rpl_semi_sync_master_enabled = OFF")
        sql.run("SET GLOBAL handlersocket_enabled = ON")
        with Client(("127.0.0.1", primary.hs_port_wr), timeout=30) as client:
            client.request(OpenIndex(1, "a", "t", "", ["id", "v"]))
            assert client.request(FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 6])) == 1
