"""Many clients that change the same rows at once, by Redis's commands, the protocol and SQL."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client
from server_instance import ServerInstance
from support.database import Sql
from support.resp import Error, Resp
from support_redis import TRY_AGAIN, connect, redis_server
from support_servers import fresh_session
from test_upserts_beside import at_once

CLIENTS, ROUNDS = 8, 40
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT, s VARCHAR(30), f DOUBLE, v VARCHAR(30),"
    " only_one INT UNIQUE)",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_threads": 4, "handlersocket_threads_wr": 2}
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "beside", *TABLES) as session:
        yield session


def test_a_row_is_made_once(server: ServerInstance, sql: Sql) -> None:
    """All of them set it. One has made it, and nobody is told of a duplicate."""
    made: Counter[int] = Counter()
    lock = threading.Lock()

    def work() -> None:
        with connect(server) as wire:
            for row in range(ROUNDS):
                reply = wire.ask("HSET", f"beside.t:{row}", "v", "x", "n", 1)
                assert isinstance(reply, int), reply
                with lock:
                    made[row] += reply

    at_once(*[work] * CLIENTS)
    assert made == {row: 2 for row in range(ROUNDS)}
    assert sql.number("SELECT COUNT(*) FROM t WHERE v = 'x' AND n = 1") == ROUNDS


def test_a_field_is_set_once(server: ServerInstance, sql: Sql) -> None:
    winners: Counter[int] = Counter()
    lock = threading.Lock()

    def work(number: int) -> None:
        with connect(server) as wire:
            for row in range(ROUNDS):
                reply = wire.ask("HSETNX", f"beside.t:{row}", "v", f"by {number}")
                assert reply in (0, 1), reply
                with lock:
                    winners[row] += reply

    at_once(*[lambda number=number: work(number) for number in range(CLIENTS)])
    assert winners == {row: 1 for row in range(ROUNDS)}
    assert sql.number("SELECT COUNT(*) FROM t WHERE v LIKE 'by %'") == ROUNDS


SUMS = [("HINCRBY", "n"), ("HINCRBY", "s")] + [("HINCRBYFLOAT", field) for field in "nsf"]


@pytest.mark.parametrize(("kind", "field"), SUMS)
def test_no_sum_is_lost(server: ServerInstance, sql: Sql, kind: str, field: str) -> None:
    """Of numbers and of text, of rows that are there and rows that are not, beside SQL's sums."""
    rows, by_sql = 4, 50
    adds: Counter[int] = Counter()
    lock = threading.Lock()

    def work() -> None:
        with connect(server) as wire:
            for number in range(ROUNDS):
                row = number % rows
                reply = wire.ask(kind, f"beside.t:{row}", field, 1)
                if isinstance(reply, Error):
                    assert reply.code == TRY_AGAIN, reply
                    continue
                with lock:
                    adds[row] += 1

    def statements() -> None:
        with Sql(server.socket, "beside") as session:
            for _ in range(by_sql):
                session.run(
                    f"INSERT INTO t (id, {field}) VALUES (0, 1) ON DUPLICATE KEY"
                    f" UPDATE {field} = {field} + 1"
                )

    at_once(*[work] * CLIENTS, statements)
    adds[0] += by_sql
    found = {int(row or 0): int(float(n or 0)) for row, n in sql.rows(f"SELECT id, {field} FROM t")}
    assert found == dict(adds)
    assert adds.total() > CLIENTS * ROUNDS // 2


def test_another_rows_value_is_a_duplicate(server: ServerInstance, sql: Sql) -> None:
    """A row that is made may meet another one in a second unique index. That is SQL's error."""
    errors: Counter[str] = Counter()

    def work(number: int) -> None:
        with connect(server) as wire:
            for value in range(ROUNDS):
                row = value * CLIENTS + number
                reply = wire.ask("HSET", f"beside.t:{row}", "only_one", value)
                errors[reply.text[:8] if isinstance(reply, Error) else str(reply)] += 1

    at_once(*[lambda number=number: work(number) for number in range(CLIENTS)])
    assert errors["1"] == ROUNDS
    assert errors["ERR 1062"] == (CLIENTS - 1) * ROUNDS
    assert sql.number("SELECT COUNT(*) FROM t") == ROUNDS


def test_rows_that_come_and_go(server: ServerInstance, sql: Sql) -> None:
    """Deleted and set again by all, by commands and by the protocol: each answer is possible."""
    kinds: Counter[object] = Counter()

    def work(number: int) -> None:
        with connect(server, protocol=2 + number % 2) as wire:
            for turn in range(ROUNDS):
                key = f"beside.t:{turn % 3}"
                requests = [("HSET", key, "v", "x"), ("HINCRBY", key, "n", 1), ("HLEN", key),
                            ("DEL", key), ("HGET", key, "v"), ("EXISTS", key)]  # fmt: skip
                made, added, length, deleted, value, there = wire.pipeline(requests)
                assert made in (0, 1) or made.code == TRY_AGAIN, made
                assert isinstance(added, int) or added.code == TRY_AGAIN, added
                assert length in range(4) and deleted in (0, 1) or deleted.code == TRY_AGAIN
                assert value in (b"x", None) and there in (0, 1)
                kinds[deleted] += 1

    def by_protocol() -> None:
        with Client(("127.0.0.1", server.hs_port_wr)) as client:
            index = client.index("beside", "t", ["id", "v"])
            for turn in range(ROUNDS):
                index.delete(turn % 3)

    works = [lambda number=number: work(number) for number in range(CLIENTS)]
    at_once(*works, by_protocol)
    assert kinds[1] > 0
    assert sql.number("SELECT COUNT(*) FROM t") <= 3


def test_units_that_cross(server: ServerInstance, sql: Sql) -> None:
    """Each takes two rows in an order of its own. What is done is done wholly."""
    done: Counter[str] = Counter()
    lock = threading.Lock()
    sql.run("INSERT INTO t (id, n) VALUES (1, 0), (2, 0)")

    def work(number: int) -> None:
        rows = (1, 2) if number % 2 else (2, 1)
        with connect(server) as wire:
            for _ in range(ROUNDS):
                reply = wire.unit([("HINCRBY", f"beside.t:{row}", "n", 1) for row in rows])
                if isinstance(reply, Error):
                    assert TRY_AGAIN in reply.text, reply
                with lock:
                    done["refused" if isinstance(reply, Error) else "done"] += 1

    at_once(*[lambda number=number: work(number) for number in range(CLIENTS)])
    assert sql.rows("SELECT n FROM t WHERE id < 3") == [(b"%d" % done["done"],)] * 2
    assert done["done"] > done["refused"], done


def test_what_a_client_has_written_it_reads(server: ServerInstance, sql: Sql) -> None:
    """In one packet and in several, while its connection goes to a worker that writes and back."""

    def work(number: int) -> None:
        with connect(server) as wire, connect(server) as other:
            key = f"beside.t:{number}"
            for turn in range(ROUNDS):
                assert wire.pipeline([("HSET", key, "n", turn), ("HGET", key, "n")])[1] == (
                    b"%d" % turn
                )
                assert _reads(other, key) == b"%d" % turn
                for _ in range(12 if turn % 10 == 0 else 0):
                    assert _reads(wire, key) == b"%d" % turn

    at_once(*[lambda number=number: work(number) for number in range(CLIENTS)])
    assert sql.number(f"SELECT COUNT(*) FROM t WHERE n = {ROUNDS - 1}") == CLIENTS


def _reads(wire: Resp, key: str) -> Any:
    return wire.ask("HGET", key, "n")
