"""SCAN, KEYS, HSCAN, HRANDFIELD and HGETDEL on tables: every key is found, by any connection."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.peers import peer_program
from support.resp import Error, Resp, pairs
from support_redis import connect, redis_port, redis_server, sql_error
from support_servers import fresh_session

ROWS = 2500
DIGITS = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4)"
TABLES = (
    "CREATE TABLE n (id INT PRIMARY KEY, v INT, u VARCHAR(20) UNIQUE)",
    f"INSERT INTO n SELECT x.d * 625 + y.d * 125 + z.d * 25 + w.d * 5 + q.d - 600, NULL, NULL FROM"
    f" {DIGITS} x, {DIGITS} y, {DIGITS} z, {DIGITS} w, {DIGITS} q WHERE x.d < 4",
    "UPDATE n SET u = CONCAT('u', id) WHERE id % 2 = 0",
    "CREATE TABLE text (k VARCHAR(30) PRIMARY KEY, v INT) CHARSET utf8mb4",
    "INSERT INTO text VALUES ('ann', 1), ('Anna', 1), ('anne', 1), ('bob', 1), ('grün', 1),"
    " ('grüße', 1), ('a:b%', 1), ('an_', 1), ('[x]', 1), ('*', 1)",
    "CREATE TABLE bytes (k VARBINARY(30) PRIMARY KEY, v INT)",
    "INSERT INTO bytes VALUES ('ann', 1), ('Anna', 1), (x'00ff0d0a', 1), (x'ffff', 1), ('', 1)",
    "CREATE TABLE two (a VARCHAR(20), b INT ZEROFILL, c DATETIME(3), v INT, PRIMARY KEY (a, b, c),"
    " UNIQUE KEY back (c DESC, b, a)) CHARSET utf8mb4",
    "INSERT INTO two VALUES ('x', 1, '2024-01-02 03:04:05', 1), ('x', 20, '2024-01-02 03:04:05',"
    " 1), ('x:y', 3, '2024-01-02 03:04:06.5', 1), ('100%', 4, '2025-01-02 03:04:05', 1),"
    " ('X', 0, '2025-01-02 03:04:05', 1)",
    "CREATE TABLE kinds (f FLOAT, e ENUM('c', 'a', 'b'), t TIME, y YEAR, d DECIMAL(5, 2), b BIT(4),"
    " v INT, PRIMARY KEY (f, e, t, y, d, b))",
    "INSERT INTO kinds VALUES (0.5, 'a', '10:11:12', 2024, -1.5, 3, 1), (0.5, 'c', '-10:11:12',"
    " 2024, 0, 3, 1), (2, 'a', '10:11:12', 2025, 1.5, 4, 1)",
    "CREATE TABLE real_numbers (f FLOAT, g DOUBLE, v INT DEFAULT 1, UNIQUE KEY by_f (f),"
    " UNIQUE KEY by_g (g))",
    "INSERT INTO real_numbers (f, g) VALUES (0.5, 0.5), (0.1, 0.1), (16777217 / 3.0, 1 / 3.0e0),"
    " (NULL, NULL), (1e20, 1e20)",
    "CREATE TABLE hash (id INT PRIMARY KEY, a INT, b VARCHAR(9), must INT NOT NULL,"
    " twice INT AS (a * 2) STORED)",
    "INSERT INTO hash (id, a, b, must) VALUES (1, 5, 'x', 7), (2, NULL, NULL, 7)",
)
PATTERN_NEEDS_A_NAME = "ERR pattern has to begin with the name of a table"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """Two workers, so that a scan goes on with another one's store."""
    with redis_server(
        data_root, watch, handlersocket_threads=2, handlersocket_default_database="scanned"
    ) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "scanned", *TABLES) as session:
        yield session


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def wire(request: pytest.FixtureRequest, server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server, protocol=request.param) as one:
        yield one


def scan(wires: list[Resp], pattern: str | bytes, count: int = 10) -> list[bytes]:
    """With each call on the next connection, as a client with a pool does it."""
    cursor, keys, calls = b"0", [], 0
    while calls < 10_000:
        reply = wires[calls % len(wires)].ask("SCAN", cursor, "MATCH", pattern, "COUNT", count)
        assert isinstance(reply, list), reply
        cursor, page = reply
        assert len(page) <= count and 0 <= int(cursor) < 2**53
        keys += page
        calls += 1
        if cursor == b"0":
            return keys
    raise AssertionError("the scan does not end")


def expected_numbers() -> list[bytes]:
    return [b"n:%d" % number for number in range(-600, ROWS - 600)]


def test_a_scan_over_a_pool_finds_every_key(server: ServerInstance, sql: Sql) -> None:
    wires = [connect(server) for _ in range(5)]
    try:
        for count in (7, 100, 1000):
            assert scan(wires, "n:*", count) == expected_numbers()
        assert scan(wires, "scanned.n:-1*", 500) == [
            b"scanned." + one for one in expected_numbers() if one.startswith(b"n:-1")
        ]
        with_text = [int(key.split(b":u")[1]) for key in scan(wires, "n@u:*", 100)]
        assert sorted(with_text) == [
            number for number in range(-600, ROWS - 600) if number % 2 == 0
        ]
        in_front = [key for key in scan(wires, "n@u:u1*", 50)]
        assert len(in_front) == sum(one.startswith(b"n@u:u1") for one in scan(wires, "n@u:*", 1000))
    finally:
        for one in wires:
            one.close()


@pytest.mark.parametrize("count", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("text:*", {"ann", "Anna", "anne", "bob", "grün", "grüße", "a:b%", "an_", "[x]", "*"}),
        ("text:ann*", {"ann", "anne"}),
        ("text:a*", {"ann", "anne", "a:b%", "an_"}),
        ("text:gr\u00fc*", {"grün", "grüße"}),
        ("text:an?", {"ann", "an_"}),
        ("text:[A-Z]*", {"Anna"}),
        ("text:[^a-z]*", {"Anna", "[x]", "*"}),
        ("text:\\**", {"*"}),
        ("text:\\[*", {"[x]"}),
        ("text:ann", {"ann"}),
        ("text:ANN", set()),
        ("text:z*", set()),
        ("text@nosuch*", None),
    ],
)
def test_patterns(wire: Resp, count: int, pattern: str, found: set[str] | None) -> None:
    if found is None:
        reply = wire.ask("SCAN", 0, "MATCH", pattern)
        assert isinstance(reply, Error) and reply.text.startswith(PATTERN_NEEDS_A_NAME)
        return
    expected = {f"text:{one}".encode() for one in found}
    keys = scan([wire], pattern, count)
    assert len(keys) == len(set(keys)) and set(keys) == expected
    listed = wire.ask("KEYS", pattern)
    assert sorted(listed) == sorted(keys)


def test_a_cut_character_narrows_nothing(wire: Resp) -> None:
    assert len(scan([wire], b"text:gr\xc3*", 2)) == 2
    assert scan([wire], b"text:\xff*", 2) == []
    assert scan([wire], b"bytes:\xff*", 2) == [b"bytes:\xff\xff"]
    assert scan([wire], b"bytes:\x00\xff*", 1) == [b"bytes:\x00\xff\r\n"]
    assert scan([wire], "bytes:*", 1)[0] == b"bytes:"
    assert len(scan([wire], "bytes:*", 2)) == 5


def test_keys_are_those_that_hget_takes(wire: Resp) -> None:
    for name, rows in (("two", 5), ("two@back", 5), ("kinds", 3), ("text", 10), ("bytes", 5)):
        for count in (1, 2, 50):
            keys = scan([wire], f"{name}:*", count)
            assert len(set(keys)) == len(keys) == rows, (name, keys)
            for key in keys:
                assert wire.ask("HGET", key, "v") == b"1", key
                assert wire.ask("KEYS", key.replace(b"[", b"\\[").replace(b"*", b"\\*")) == [key]
    assert b"two:x%3Ay:3:2024-01-02 03:04:06.500" in scan([wire], "two:*")
    assert scan([wire], "two:100%25:*", 1) == [b"two:100%25:4:2025-01-02 03:04:05.000"]
    assert len(scan([wire], "two:x:*", 1)) == 2
    assert scan([wire], "two:x:2*", 1) == [b"two:x:20:2024-01-02 03:04:05.000"]
    assert len(scan([wire], "two@back:2024*", 1)) == 3


def test_a_row_that_its_key_does_not_name_is_left_out(wire: Resp) -> None:
    """A FLOAT may show only some of its digits, and is equal to no number with these alone."""
    for name, rows in (("real_numbers@by_f", 3), ("real_numbers@by_g", 4)):
        for keys in (scan([wire], f"{name}:*", 100), wire.ask("KEYS", f"{name}:*")):
            assert len(set(keys)) == rows and f"{name}:0.5".encode() in keys
            assert [wire.ask("HGET", key, "v") for key in keys] == [b"1"] * len(keys)


def test_rows_come_and_go(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    """What is there all the time is answered; what others scan does not matter."""
    ends = threading.Event()

    def disturb() -> None:
        with connect(server) as other, Sql(server.socket, "scanned") as session:
            while not ends.is_set():
                session.run("DELETE FROM n WHERE id % 10 = 3", "INSERT INTO n (id) SELECT id + 1"
                            " FROM (SELECT id FROM n WHERE id % 10 = 2) AS t")  # fmt: skip
                scan([other], "text:*", 1)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        wanted = {key for key in expected_numbers() if int(key[2:]) % 10 != 3}
        for count in (10, 99):
            keys = scan([wire], "n:*", count)
            assert len(keys) == len(set(keys)) and wanted <= set(keys)
    finally:
        ends.set()
        thread.join()


def test_a_cursor_is_of_an_account_and_a_pattern(server: ServerInstance, wire: Resp) -> None:
    with Sql(server.socket) as root:
        root.run("CREATE USER IF NOT EXISTS scanner@localhost IDENTIFIED BY 'pw'",
                 "GRANT SELECT ON scanned.* TO scanner@localhost")  # fmt: skip
    cursor, _ = wire.ask("SCAN", 0, "MATCH", "n:*")
    assert wire.ask("SCAN", cursor, "MATCH", "n:*", "COUNT", 2)[1] == [b"n:-590", b"n:-589"]
    assert wire.ask("SCAN", cursor, "MATCH", "n:*", "COUNT", 2)[1] == [b"n:-590", b"n:-589"]
    with connect(server) as other:
        assert not isinstance(other.ask("AUTH", "scanner", "pw"), Error)
        reply = other.ask("SCAN", cursor, "MATCH", "n:*")
        assert isinstance(reply, Error) and reply.text.startswith("ERR invalid cursor")
        assert len(scan([other], "n:*", 1000)) == ROWS
    for odd in (("SCAN", cursor, "MATCH", "text:*"), ("SCAN", 2**62, "MATCH", "n:*")):
        reply = wire.ask(*odd)
        assert isinstance(reply, Error) and reply.text.startswith("ERR invalid cursor")
    for odd in (("SCAN", 0), ("SCAN", 0, "MATCH", "*"), ("KEYS", "*"), ("KEYS", "n")):
        reply = wire.ask(*odd)
        assert isinstance(reply, Error) and reply.text.startswith(PATTERN_NEEDS_A_NAME)
    assert sql_error(wire.ask("SCAN", 0, "MATCH", "nosuch:*")) == 1146
    assert isinstance(wire.ask("RANDOMKEY"), Error) and isinstance(wire.ask("DBSIZE"), Error)


def test_columns_that_may_not_be_read(server: ServerInstance, sql: Sql) -> None:
    with Sql(server.socket) as root:
        root.run("CREATE USER IF NOT EXISTS half@localhost IDENTIFIED BY 'pw'",
                 "GRANT SELECT (v) ON scanned.text TO half@localhost")  # fmt: skip
    with connect(server) as wire:
        assert not isinstance(wire.ask("AUTH", "half", "pw"), Error)
        for words in (("SCAN", 0, "MATCH", "text:*"), ("KEYS", "text:*"), ("KEYS", "n:*"),
                      ("SCAN", 0, "MATCH", "nosuch:*")):  # fmt: skip
            reply = wire.ask(*words)
            assert isinstance(reply, Error) and reply.code == "NOPERM", words


def test_keys_of_a_large_table(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    sql.run("CREATE TABLE many (id INT PRIMARY KEY)",
            f"INSERT INTO many SELECT n.id * 50 + x.d * 10 + y.d * 2 + z.d FROM n, {DIGITS} x,"
            f" {DIGITS} y, (SELECT 0 d UNION SELECT 1) z")  # fmt: skip
    assert len(wire.ask("KEYS", "many:*7")) == 12_500
    reply = wire.ask("KEYS", "many:*")
    assert isinstance(reply, Error) and reply.text.startswith("ERR KEYS finds more than 100000")
    assert len(scan([wire], "many:*", 1000)) == 125_000
    assert wire.pipeline([("KEYS", "n:5?"), ("PING",)])[0] == [
        b"n:%d" % one for one in range(50, 60)
    ]
    assert wire.pipeline([("MULTI",), ("SCAN", 0, "MATCH", "n:5"), ("EXEC",)])[2] == [
        [b"0", [b"n:5"]]
    ]


def test_redis_cli_scans(server: ServerInstance, sql: Sql) -> None:
    program = [peer_program("redis-cli"), "-p", str(redis_port(server))]
    found = subprocess.run([*program, "--scan", "--pattern", "scanned.n:1?"], check=True,
                           capture_output=True, text=True, timeout=60)  # fmt: skip
    assert found.stdout.split() == [f"scanned.n:{number}" for number in range(10, 20)]


def test_hscan_hrandfield_and_hgetdel(wire: Resp, sql: Sql) -> None:
    assert wire.ask("HSCAN", "hash:1", 0) == [
        b"0", [b"id", b"1", b"a", b"5", b"b", b"x", b"must", b"7", b"twice", b"10"],
    ]  # fmt: skip
    assert wire.ask("HSCAN", "hash:1", 0, "MATCH", "[ab]", "NOVALUES") == [b"0", [b"a", b"b"]]
    assert wire.ask("HSCAN", "hash:9", 0) == [b"0", []]
    assert wire.ask("HRANDFIELD", "hash:2") in (b"id", b"must")
    assert sorted(wire.ask("HRANDFIELD", "hash:2", 9)) == [b"id", b"must"]
    told = wire.ask("HRANDFIELD", "hash:1", -7, "WITHVALUES")
    told = told if wire.protocol == 3 else [told[i : i + 2] for i in range(0, len(told), 2)]
    row = pairs(wire.ask("HGETALL", "hash:1"))
    assert len(told) == 7 and all(row[name] == value for name, value in told)
    assert wire.ask("HGETDEL", "hash:1", "FIELDS", 3, "b", "nosuch", "b") == [b"x", None, None]
    assert sql.rows("SELECT a, b, twice FROM hash WHERE id = 1") == [(b"5", None, b"10")]
    assert sql_error(wire.ask("HGETDEL", "hash:1", "FIELDS", 2, "a", "must")) == 1048
    assert isinstance(wire.ask("HGETDEL", "hash:1", "FIELDS", 2, "a", "twice"), Error)
    assert isinstance(wire.ask("HGETDEL", "hash:1", "FIELDS", 2, "a", "id"), Error)
    assert wire.ask("HGET", "hash:1", "a") == b"5"
    assert wire.ask("HGETDEL", "hash:9", "FIELDS", 1, "a") == [None]
