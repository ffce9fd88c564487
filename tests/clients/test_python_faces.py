"""Both faces of the Python client, threads and asyncio, at a real server and at the original."""

from __future__ import annotations

import asyncio
import enum
import random
import threading
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from handlersocket2 import (
    AsyncClient,
    AuthenticationError,
    Client,
    ConnectError,
    ConnectionSeen,
    DecodeError,
    DuplicateKeyError,
    Filter,
    HandlerSocketError,
    ModifyOp,
    SchemaError,
)
from server_instance import ServerInstance
from support.certificates import context_for, make_certificate
from support.database import Database, Sql
from support.python_faces import Blocking, connected
from support.servers import ON_MYSQL, needs_original

CONNECTIONS = f"{'performance' if ON_MYSQL else 'information'}_schema.handlersocket_connections"


@pytest.fixture(params=[Client, Blocking], ids=["threads", "asyncio"])
def face(request: pytest.FixtureRequest) -> Any:
    return request.param


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Thing:
    id: int
    big: int
    price: Decimal
    weight: float
    name: str
    raw: bytes
    born: date | None
    made: datetime
    took: timedelta
    size: Size
    key: UUID


THINGS = [
    Thing(
        id=1,
        big=2**64 - 1,
        price=Decimal("-12.340"),
        weight=0.1,
        name="Zoë\t\0",
        raw=bytes(range(256)),
        born=date(2024, 2, 29),
        made=datetime(2024, 2, 29, 12, 30, 0, 5),
        took=-timedelta(hours=26, minutes=30),
        size=Size.LARGE,
        key=UUID(int=7),
    ),
    Thing(
        id=2,
        big=0,
        price=Decimal("0.000"),
        weight=-1e300,
        name="",
        raw=b"",
        born=None,
        made=datetime(1000, 1, 1),
        took=timedelta(),
        size=Size.SMALL,
        key=UUID(int=2**128 - 1),
    ),
]


def test_types_there_and_back(face: Any, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE thing (id INT PRIMARY KEY, big BIGINT UNSIGNED, price DECIMAL(9,3),"
        " weight DOUBLE, name VARCHAR(20), raw VARBINARY(300), born DATE, made DATETIME(6),"
        " took TIME, size ENUM('small', 'large'), `key` BINARY(16))"
    )
    with connected(face, database.server) as client:
        index = client.index(database.name, "thing", Thing)
        for thing in THINGS:
            values = dict(vars(thing), size=thing.size.value, key=thing.key.bytes)
            index.insert(values if thing.id == 1 else list(values.values()))
        assert [index.find_one(thing.id) for thing in THINGS] == THINGS
        assert index.find(0, op=">", limit=9) == index.find_in([1, 2]) == THINGS
        assert list(index.iterate(0, op=">")) == THINGS
        mapped = client.index(database.name, "thing", {"id": int, "born": date})
        assert mapped.find_one(1).born == date(2024, 2, 29)
        with pytest.raises(DecodeError, match="column 'born' is NULL"):
            mapped.find_one(2)
        assert mapped.find_one(1) == (1, date(2024, 2, 29))


def test_every_change(face: Any, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT, s VARCHAR(9), KEY (a))"
    )
    with connected(face, database.server) as client:
        index = client.index(database.name, "t", {"a": int, "b": int}, filter_columns=["b"])
        assert [index.insert([1, 10]), index.insert({"s": "x", "a": 2, "b": 20})] == [1, 2]
        with pytest.raises(DuplicateKeyError) as twice:
            client.index(database.name, "t", ["id"]).insert([1])
        assert twice.value.safe_to_retry and twice.value.sent
        assert index.update(1, {"s": "y", "b": 11}) == 1
        assert index.increment(1, {"a": 5}) == index.decrement(2, [1, 2]) == 1
        assert index.find(0, op=">", limit=9) == [(6, 11), (1, 18)]
        assert index.find(0, op=">", limit=9, filters=[Filter(">", "b", 15)]) == [(1, 18)]
        assert index.fetch_and(ModifyOp.UPDATE, 2, [7]) == [(1, 18)]
        assert index.fetch_and(ModifyOp.DELETE, 2) == [(7, 18)]
        assert index.delete(9) == 0
        by_a = client.index(database.name, "t", ["id"], index="a")
        assert by_a.find_in([6, 7], limit=9) == [(b"1",)]
        assert sql.rows("SELECT * FROM t") == [(b"1", b"6", b"11", b"y")]
        with pytest.raises(SchemaError):
            client.index(database.name, "nowhere", ["id"]).find(1)


def test_each_route_has_a_connection_and_a_lookup_passes_a_long_find(
    face: Any, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
    opened = "handlersocket_connections_opened"
    before = sql.status(opened)
    with connected(face, database.server) as client:
        index = client.index(database.name, "t", {"id": int})
        for _ in range(3):
            assert index.find_one(1) == (1,)
        assert sql.status(opened) == before + 1
        assert len(index.find(0, op=">", limit=5000)) == 2
        assert sql.status(opened) == before + 2
        assert index.insert([3]) is None
        assert len(list(index.iterate(0, op=">"))) == len(list(index.iterate(0, op=">"))) == 3
        assert sql.status(opened) == before + 4
        client.ping()
        assert sql.status(opened) == before + 4


def test_a_large_result_that_is_read_slowly(face: Any, sql: Sql, database: Database) -> None:
    """The server parks the find, so that ALTER TABLE waits for nobody."""
    rows = 20_000
    sql.run(
        "CREATE TABLE large (id INT PRIMARY KEY, pad VARCHAR(500))",
        "INSERT INTO large WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n"
        " WHERE id < 1000) SELECT id, REPEAT('x', 500) FROM n",
        *(
            f"INSERT INTO large SELECT id + {size}, pad FROM large WHERE id + {size} <= {rows}"
            for size in (1000, 2000, 4000, 8000, 16000)
        ),
    )
    with connected(face, database.server) as client:
        found = client.index(database.name, "large", {"id": int, "pad": str}).iterate(0, op=">")
        first = next(found).id
        sql.run("ALTER TABLE large COMMENT 'altered'")
        assert [first, *(row.id for row in found)] == list(range(1, rows + 1))


def test_a_connection_that_the_server_closes(face: Any, sql: Sql, database: Database) -> None:
    """Between two calls nobody notices, and a write is executed once."""
    sql.run("CREATE TABLE t (id INT PRIMARY KEY)")
    with connected(face, database.server) as client:
        index = client.index(database.name, "t", {"id": int})
        for number in range(5):
            index.insert([number])
            assert index.find_one(number) == (number,)
            for (identity,) in sql.rows(f"SELECT ID FROM {CONNECTIONS}"):
                sql.run(f"SET GLOBAL handlersocket_close_connection = {int(identity or 0)}")
            deadline = clock.monotonic() + 10
            while sql.number(f"SELECT COUNT(*) FROM {CONNECTIONS}"):
                assert clock.monotonic() < deadline
                clock.sleep(0.01)
    assert sql.number("SELECT COUNT(*) FROM t") == 5


def test_tls_and_an_account(
    face: Any, make_server: Callable[..., ServerInstance], tmp_path: Path
) -> None:
    folder = tmp_path
    make_certificate(folder, "server")
    make_certificate(folder, "other")
    server = make_server(ssl_cert=folder / "server.pem", ssl_key=folder / "server-key.pem")
    with Sql(server.socket, "test") as sql:
        sql.run(
            "CREATE TABLE t (id INT PRIMARY KEY)",
            "INSERT INTO t VALUES (1)",
            "CREATE TABLE wide (id INT PRIMARY KEY, pad MEDIUMTEXT)",
            "INSERT INTO wide VALUES (1, REPEAT('x', 200000))",
            "CREATE USER ann IDENTIFIED BY 'p\tw'",
            "GRANT SELECT ON test.* TO ann",
        )
    tls = context_for(folder)
    with connected(face, server, tls=tls, user="ann", password=lambda: "p\tw") as client:
        index = client.index("test", "t", {"id": int})
        for _ in range(40):  # the client stays awake for most of them
            assert index.find_one(1) == (1,)
        assert list(index.iterate(0, op=">")) == [(1,)]
        # So much comes in many records of TLS, of which a read may have several.
        wide = client.index("test", "wide", {"id": int, "pad": str})
        assert wide.find_one(1) == (1, "x" * 200000)
        with pytest.raises(HandlerSocketError, match="1 114[23]: command denied"):
            index.insert([2])
    with connected(face, server, tls=True, tls_ca=str(folder / "server.pem")) as client:
        client.ping()
    with connected(face, server, tls=True) as client:
        with pytest.raises(ConnectError, match="certificate"):
            client.ping()
    with connected(face, server, tls=context_for(folder, trusted="other")) as client:
        with pytest.raises(ConnectError, match="certificate"):
            client.ping()
    with connected(face, server, user="ann", password="wrong") as client:
        with pytest.raises(AuthenticationError, match="1045: access denied") as refused:
            client.index("test", "t", ["id"]).find(1)
        assert not refused.value.sent


def test_more_indexes_than_a_connection_opens(
    face: Any, make_server: Callable[..., ServerInstance]
) -> None:
    """Finds, changes and iterations leave a connection that is full, and are done once."""
    server = make_server(handlersocket_max_open_indexes=2)
    columns = ["a", "b", "c", "d", "e"]
    with Sql(server.socket, "test") as sql:
        sql.run(
            f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(f'{name} INT' for name in columns)})",
            "INSERT INTO t (id) VALUES (1)",
        )
        seen: list[ConnectionSeen] = []
        with connected(face, server, on_connection=seen.append) as client:
            for number, name in enumerate(columns):
                index = client.index("test", "t", {name: int | None})
                assert index.find_one(1) == (None,)
                assert index.update(1, [number]) == 1
                assert index.increment(1, [10]) == 1
                assert list(index.iterate(0, op=">")) == [(number + 10,)]
        assert len(seen) > 4 and {each.what for each in seen} == {"connected", "closed"}
        assert sql.rows("SELECT a, b, c, d, e FROM t") == [(b"10", b"11", b"12", b"13", b"14")]


def test_the_writer_is_found(face: Any, make_server: Callable[..., ServerInstance]) -> None:
    servers = [make_server(), make_server()]
    for number, server in enumerate(servers):
        with Sql(server.socket, "test") as sql:
            sql.run(
                "CREATE TABLE t (id INT PRIMARY KEY)",
                "CREATE USER plain@localhost",  # the tests' account may write all the same
                "GRANT ALL ON test.* TO plain@localhost",
                "SET GLOBAL handlersocket_anonymous_account = 'plain@localhost'",
                f"SET GLOBAL read_only = {1 - number}",
            )
    pairs = [(("127.0.0.1", s.hs_port), ("127.0.0.1", s.hs_port_wr)) for s in servers]
    with face(pairs) as client:
        index = client.index("test", "t", {"id": int})
        assert index.insert([1]) is None
        assert index.find_one(1) == (1,), "finds follow the writer"
        with Sql(servers[1].socket, "test") as sql:
            assert sql.number("SELECT COUNT(*) FROM t") == 1


@pytest.mark.timeout(180)
def test_no_acknowledged_write_is_lost_and_none_is_done_twice(
    face: Any, make_server: Callable[..., ServerInstance]
) -> None:
    """While connections are closed by SQL, and the server is killed and started again."""
    server = make_server()
    sql = Sql(server.socket, "test")
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, times INT)")
    end = clock.monotonic() + 8
    acknowledged: set[int] = set()
    added: dict[int, list[int]] = {}
    broken: list[BaseException] = []

    def work(number: int) -> None:
        count = 0
        try:
            with connected(face, server, timeout=5, connect_attempts=50) as client:
                index = client.index("test", "t", {"id": int, "times": int})
                while clock.monotonic() < end:
                    count += 1
                    key = number * 100_000 + count
                    try:
                        index.insert([key, 0])
                        acknowledged.add(key)
                        least = most = 0
                        added[key] = [least, most]
                        for _ in range(3):
                            added[key][1] += 1
                            try:
                                index.increment(key, {"times": 1})
                                added[key][0] += 1
                            except HandlerSocketError as error:
                                if error.safe_to_retry:
                                    added[key][1] -= 1
                        row = index.find_one(key)
                        assert row is not None and row.id == key
                    except HandlerSocketError as error:
                        assert not isinstance(error, DuplicateKeyError), "sent twice"
        except BaseException as error:
            broken.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    rng = random.Random(1)
    clock.sleep(1)
    for _ in range(10):
        connections = [int(row[0] or 0) for row in sql.rows(f"SELECT ID FROM {CONNECTIONS}")]
        if connections:
            sql.error(f"SET GLOBAL handlersocket_close_connection = {rng.choice(connections)}")
        clock.sleep(0.15)
    sql.close()
    server.kill()
    server.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert broken == []
    with Sql(server.socket, "test") as after:
        times = {int(key or 0): int(n or 0) for key, n in after.rows("SELECT id, times FROM t")}
    assert len(acknowledged) > 20
    assert acknowledged <= set(times)
    wrong = {
        key: (least, times[key], most)
        for key, (least, most) in added.items()
        if not least <= times[key] <= most
    }
    assert wrong == {}


@pytest.mark.parametrize("tasks", [1, 256])
def test_tasks_and_threads_by_the_hundreds(tasks: int, sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")
    sql.run("INSERT INTO t VALUES " + ",".join(f"({n}, 'v{n}')" for n in range(1000)))
    server = database.server
    read, write = ("127.0.0.1", server.hs_port), ("127.0.0.1", server.hs_port_wr)

    async def main() -> None:
        async with AsyncClient(read, write=write) as client:
            index = client.index(database.name, "t", {"id": int, "v": str})

            async def ask(task: int) -> None:
                for number in range(20):
                    key = (task * 37 + number) % 1000
                    assert await index.find_one(key) == (key, f"v{key}")

            await asyncio.gather(*(ask(task) for task in range(tasks)))

    asyncio.run(main())
    broken = []
    with Client(read, write=write) as client:
        index = client.index(database.name, "t", {"id": int, "v": str})

        def ask(task: int) -> None:
            try:
                for number in range(20):
                    key = (task * 37 + number) % 1000
                    assert index.find_one(key) == (key, f"v{key}")
            except BaseException as error:
                broken.append(error)

        threads = [threading.Thread(target=ask, args=(task,)) for task in range(tasks // 4 + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    assert broken == []


@needs_original
def test_the_original(face: Any, make_original: Callable[..., ServerInstance]) -> None:
    """It has neither log-in by an account nor TLS, and is asked in the same way for the rest."""
    server = make_original(handlersocket_plain_secret="r", handlersocket_plain_secret_wr="r")
    with Sql(server.socket, "test") as sql:
        sql.run("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n INT)")
    with connected(face, server, secret="r") as client:
        index = client.index("test", "t", {"id": int, "v": str, "n": int}, filter_columns=["n"])
        for number in range(1, 6):
            index.insert([number, f"v{number}", number * 10])
        assert index.find_one(3) == (3, "v3", 30)
        assert index.find(2, op=">=", limit=2) == [(2, "v2", 20), (3, "v3", 30)]
        assert index.find_in([1, 5]) == [(1, "v1", 10), (5, "v5", 50)]
        assert index.find(0, op=">", limit=9, filters=[Filter("=", "n", 40)]) == [(4, "v4", 40)]
        assert index.update(1, [1, "new", 11]) == 1
        assert index.increment(2, {"n": 5}) == 1
        assert index.fetch_and(ModifyOp.DELETE, 2) == [(2, "v2", 25)]
        assert [row.id for row in index.iterate(0, op=">", limit=100)] == [1, 3, 4, 5]
        with pytest.raises(HandlerSocketError):
            index.insert([1, "x", 1])
