"""kill -9 under write load: after recovery no acknowledged write is missing, and no half pass
is there."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, ConnectionLost, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support_binlog import row_events
from support_servers import LOGGING, running_server

ROUNDS, CONNECTIONS = 4, 6
DURABLE = {
    **LOGGING,
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
    "handlersocket_threads_wr": 2,
}
TABLES = (
    "CREATE DATABASE crash",
    "USE crash",
    # What a pass writes belongs together: a row in each table, and one more in the count.
    "CREATE TABLE first (connection INT, number INT, PRIMARY KEY (connection, number))",
    "CREATE TABLE second LIKE first",
    "CREATE TABLE counts (connection INT PRIMARY KEY, n INT NOT NULL)",
    f"INSERT INTO counts SELECT seq, 0 FROM seq_0_to_{CONNECTIONS - 1}",
)


class Writer:
    """One connection that writes pass after pass, and remembers which passes were acknowledged."""

    def __init__(self, connection: int) -> None:
        self.connection = connection
        self.sent = 0
        self.acknowledged = 0
        self.wrong: list[object] = []

    def run(self, port: int) -> None:
        try:
            with Client(("127.0.0.1", port)) as client:
                for number, table in enumerate(("first", "second")):
                    client.request(OpenIndex(number, "crash", table, "", ["connection", "number"]))
                client.request(OpenIndex(2, "crash", "counts", "", ["n"]))
                while True:
                    self._write(client)
        except ConnectionLost:
            pass

    def _write(self, client: Client) -> None:
        self.sent += 1
        with client.pipeline() as pipeline:
            for index in (0, 1):
                pipeline.send(Insert(index, [self.connection, self.sent]))
            pipeline.send(FindModify(Find(2, [self.connection]), ModifyOp.INCREMENT, [1]))
        if pipeline.results() == [None, None, 1]:
            self.acknowledged = self.sent
        else:
            self.wrong.append(pipeline.results())


@pytest.fixture
def durable_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **DURABLE) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        yield instance


def numbers(sql: Sql, table: str, connection: int) -> list[int]:
    query = "SELECT number FROM crash.{} WHERE connection = %s ORDER BY number"
    return [int(number or 0) for (number,) in sql.rows(query.format(table), [connection])]


def check(sql: Sql, writer: Writer) -> None:
    first = numbers(sql, "first", writer.connection)
    assert numbers(sql, "second", writer.connection) == first, "half a pass is there"
    (count,) = sql.row("SELECT n FROM crash.counts WHERE connection = %s", [writer.connection])
    assert int(count or 0) == len(first), "half a pass is there"
    missing = set(range(1, writer.acknowledged + 1)) - set(first)
    assert not missing, f"acknowledged, but gone: {missing}"
    assert len(first) in (writer.acknowledged, writer.sent), "what was under way is there or not"
    assert not writer.wrong, "no write failed while the server was up"


def crash(server: ServerInstance, writers: list[Writer], seconds: float) -> None:
    threads = [
        threading.Thread(target=writer.run, args=(server.hs_port_wr,), daemon=True)
        for writer in writers
    ]
    before = sum(writer.acknowledged for writer in writers)
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while sum(writer.acknowledged for writer in writers) < before + 20 * len(writers):
        assert time.monotonic() < deadline, "the writers hardly write"
        time.sleep(0.01)
    time.sleep(seconds)  # until a random moment
    server.kill()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def test_kill_under_write_load(durable_server: ServerInstance) -> None:
    seed = int(os.environ.get("HS_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}")
    rng = random.Random(seed)
    writers = [Writer(connection) for connection in range(CONNECTIONS)]
    for round_number in range(ROUNDS):
        crash(durable_server, writers, rng.random() * 0.3)
        durable_server.start()
        with Sql(durable_server.socket) as sql:
            for writer in writers:
                print(round_number, writer.connection, writer.sent, writer.acknowledged)
                check(sql, writer)
                # The next round continues after the rows that the last pass left, if it left any.
                writer.sent = writer.acknowledged = len(numbers(sql, "first", writer.connection))
    with Sql(durable_server.socket) as sql:
        logged = {
            (int(event.after[1]), int(event.after[2]))
            for event in row_events(durable_server, sql, torn=True)
            if event.table == "first"
        }
        written = {
            (writer.connection, number)
            for writer in writers
            for number in numbers(sql, "first", writer.connection)
        }
        assert logged == written, "the binary log and the tables differ"
