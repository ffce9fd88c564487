"""HS.FIND, HS.COUNT, HS.UPDATE and HS.DELETE: every index by Redis's clients, beside SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.resp import OK, Error, Resp, Word, pairs
from support.servers import ON_MYSQL
from support_redis import NO_PERMISSION, connect, redis_server, sql_error
from support_servers import fresh_session
from test_log_in import DEFAULT_WAY, PASSWORD, identified

LARGE = 300_000
DIGITS = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4)"
TABLES = (
    "CREATE TABLE article (id INT PRIMARY KEY, author INT NOT NULL, created DATETIME, title"
    " VARCHAR(30), price DECIMAL(8, 2), code VARCHAR(9), KEY by_author (author, created),"
    " KEY by_title (title), UNIQUE KEY by_code (code), KEY back (author, created DESC))"
    " CHARSET utf8mb4",
    "INSERT INTO article VALUES (1, 7, '2024-01-01 00:00:00', 'Ant', 9.5, 'a'), (2, 7, '2024-02-01"
    " 00:00:00', 'Anteater', 20, 'b'), (3, 7, NULL, 'bee', NULL, NULL), (4, 8, '2024-03-01"
    " 12:00:00', '100%', 5, 'c'), (5, 8, '2024-03-01 12:00:00', 'ANT', 5, NULL)",
    "CREATE TABLE n (id INT PRIMARY KEY, v INT, w VARCHAR(20), KEY (v))",
    f"INSERT INTO n SELECT x.d * 625 + y.d * 125 + z.d * 25 + w.d * 5 + q.d, q.d, NULL FROM"
    f" {DIGITS} x, {DIGITS} y, {DIGITS} z, {DIGITS} w, {DIGITS} q",
    "CREATE TABLE twice (id INT PRIMARY KEY, k INT, v INT, UNIQUE KEY by_k (k))",
    "INSERT INTO twice SELECT id, IF(id % 3 = 0, NULL, id), v FROM n",
    "CREATE TABLE large (id INT PRIMARY KEY, v MEDIUMTEXT)",
    f"INSERT INTO large SELECT id, REPEAT('x', {LARGE}) FROM n WHERE id < 20",
)
ALL_ROWS = 3125
PAGE = REPOSITORY / "docs/redis.md"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """Two workers, so that a find goes on with another one's store."""
    settings = {"handlersocket_threads": 2, "handlersocket_default_database": "found"}
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "found", *TABLES) as session:
        yield session


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def wire(request: pytest.FixtureRequest, server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server, protocol=request.param) as one:
        yield one


def page(wire: Resp, *words: Word) -> tuple[list[dict[bytes, Any]], bytes | None]:
    reply = wire.ask("HS.FIND", *words)
    assert not isinstance(reply, Error), reply
    assert isinstance(reply, dict) == (wire.protocol == 3)
    told = pairs(reply)
    assert set(told) == {b"rows", b"next"}
    return [pairs(row) for row in told[b"rows"]], told[b"next"]


def found(wire: Resp, *words: Word) -> list[bytes]:
    """The ids of one page."""
    return [row[b"id"] for row in page(wire, *words)[0]]


def pages(wires: list[Resp], limit: int, *words: Word) -> list[bytes]:
    """The ids of all pages, with each call on the next connection, as a client with a pool."""
    position, ids = b"0", []
    for call in range(10_000):
        one = wires[call % len(wires)]
        rows, following = page(one, *words, "LIMIT", limit, "AFTER", position)
        assert len(rows) <= limit
        ids += [row[b"id"] for row in rows]
        if following is None:
            return ids
        assert 0 < int(following) < 2**53
        position = following
    raise AssertionError("the pages do not end")


def ids_of(sql: Sql, query: str) -> list[bytes]:
    return [row[0] for row in sql.rows(query)]


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("article", "1 ORDER BY id"),
        ("article KEY 1 3", "id = 3"),
        ("article KEY 1 99", "id = 99"),
        ("article DESC", "1 ORDER BY id DESC"),
        ("found.article@by_author KEY 1 7 ASC", "author = 7 ORDER BY created, id"),
        ("article@by_author KEY 1 7 DESC LIMIT 2", "author = 7 ORDER BY created DESC LIMIT 2"),
        ("article@by_author KEY 1 7 FROM >= 2024-01-15 TO < 2024-03-01",
         "author = 7 AND created >= '2024-01-15' AND created < '2024-03-01'"),
        ("article@by_author KEY 1 7 TO <= 2024-03-01",
         "author = 7 AND created <= '2024-03-01' ORDER BY created"),
        ("article@by_author KEY 2 7 ~ NULL ~", "author = 7 AND created IS NULL"),
        ("article@by_author KEY 1 7 FROM >= ~ NULL ~", "author = 7 ORDER BY created"),
        ("article@by_author FROM > 7 THEN 2024-01-15 TO <= 8",
         "author = 8 OR author = 7 AND created > '2024-01-15' ORDER BY author, created, id"),
        ("article@back KEY 1 7 ASC", "author = 7 ORDER BY created"),
        ("article@back KEY 1 7 DESC", "author = 7 ORDER BY created DESC"),
        ("article@by_title BEGINS an", "title LIKE 'an%' ORDER BY title, id"),
        ("article@by_title BEGINS 100%", "title = '100%'"),
        ("article@by_title KEY 1 ant", "title = 'ant' ORDER BY id"),
        ("article IN id 4 5 2 5 99", "id IN (5, 2) ORDER BY id DESC"),
        ("article@by_author IN author 2 8 7 FROM >= 2024-02-01",
         "created >= '2024-02-01' ORDER BY author DESC, created, id"),
        ("article@by_author KEY 1 7 IN created 2 2024-02-01 2024-01-01",
         "author = 7 AND created IS NOT NULL ORDER BY created DESC"),
        ("article FILTER price >= 9.5 FILTER title != Ant", "price >= 9.5 AND title <> 'Ant'"),
        ("article FILTER price = ~ NULL ~", "price IS NULL"),
        ("article FILTER price != ~ NULL ~ OFFSET 1 LIMIT 2",
         "price IS NOT NULL ORDER BY id LIMIT 1, 2"),
        ("article WHILE author = 7", "id <= 3 ORDER BY id"),
        ("article OFFSET 3", "id > 3 ORDER BY id"),
    ],
)  # fmt: skip
def test_each_option_beside_sql(wire: Resp, sql: Sql, words: str, query: str) -> None:
    selection = words.split()
    expected = ids_of(sql, f"SELECT id FROM article WHERE {query}")
    assert found(wire, *selection) == expected
    assert found(wire, selection[0], "FIELDS", 2, "id", "Title", *selection[1:]) == expected
    if "LIMIT" not in selection:
        assert pages([wire], 1, *selection) == expected
        assert pages([wire], 2, *selection) == expected
        assert wire.ask("HS.COUNT", *selection) == len(expected)


def test_rows_are_maps_of_columns(wire: Resp) -> None:
    rows, following = page(wire, "article@by_code", "KEY", 1, "a")
    assert following is None and rows == [
        {b"id": b"1", b"author": b"7", b"created": b"2024-01-01 00:00:00", b"title": b"Ant",
         b"price": b"9.50", b"code": b"a"},
    ]  # fmt: skip
    rows, _ = page(wire, "article", "FIELDS", 2, "CODE", "price", "KEY", 1, 3)
    assert rows == [{b"code": None, b"price": None}]


def test_what_is_wrong_is_named(wire: Resp, sql: Sql) -> None:
    for words, text in (
        (("HS.FIND", "article", "FIELDS", 1, "nosuch"), "ERR no column 'nosuch'"),
        (("HS.FIND", "article", "FILTER", "nosuch", "=", 1), "ERR no column 'nosuch'"),
        (("HS.FIND", "article", "IN", "title", 1, 1), "ERR column 'title' is no part"),
        (("HS.FIND", "article@by_author", "IN", "created", 1, 1), "ERR each part of the index"),
        (("HS.FIND", "article", "KEY", 2, 1, 1), "ERR there are more values than"),
        (("HS.FIND", "article:1"), "ERR a table is named"),
        (("HS.FIND", "article", "LIMIT", 0), "ERR value is not an integer"),
        (("HS.FIND", "article", "SORT"), "ERR syntax error: there is no option 'SORT'"),
        (("HS.FIND", "article", "AFTER", 17), "ERR invalid position"),
        (("HS.FIND",), "ERR wrong number of arguments"),
        (("HS.DELETE", "article", "DESC"), "ERR every row of the table"),
        (("HS.UPDATE", "article", "SET", 2, "price", 1, "PRICE", 2, "LIMIT", 9), "ERR a column is"),
    ):
        reply = wire.ask(*words)
        assert isinstance(reply, Error) and reply.text.startswith(text), (words, reply)
    assert sql_error(wire.ask("HS.FIND", "nosuch")) == 1146
    assert isinstance(wire.ask("HS.FIND", "article@nosuch"), Error)
    assert isinstance(wire.ask("HS.FIND", "article", "BEGINS", "1"), Error)
    assert sql.number("SELECT COUNT(*) FROM article") == 5


@pytest.mark.parametrize("limit", [1, 7, 100, 10_000])
def test_pages_over_a_pool(server: ServerInstance, sql: Sql, limit: int) -> None:
    """Each row once: by a primary key, by an index with equal values, and by one with NULLs, whose
    rows no find can go on from: those are counted."""
    if limit == 1:
        sql.run("DELETE FROM n WHERE id > 200", "DELETE FROM twice WHERE id > 200")
    wires = [connect(server) for _ in range(5)]
    try:
        everything = ids_of(sql, "SELECT id FROM n ORDER BY id")
        assert pages(wires, limit, "n") == everything
        assert pages(wires, limit, "n", "DESC") == everything[::-1]
        by_v = ids_of(sql, "SELECT id FROM n ORDER BY v, id")
        assert pages(wires, limit, "n@v") == by_v
        filtered = ids_of(sql, "SELECT id FROM n WHERE id % 5 <> 3 ORDER BY v DESC, id DESC")
        assert pages(wires, limit, "n@v", "FILTER", "v", "!=", 3, "DESC") == filtered
        in_turn = ids_of(sql, "SELECT id FROM n WHERE v IN (1, 4) ORDER BY v DESC, id")
        assert pages(wires, limit, "n@v", "IN", "v", 4, 4, 1, 4, 77) == in_turn
        by_k = ids_of(sql, "SELECT id FROM twice ORDER BY k, id")
        assert sorted(pages(wires, limit, "twice@by_k")) == sorted(by_k)
        assert pages(wires, limit, "n", "OFFSET", 50) == everything[50:]
    finally:
        for one in wires:
            one.close()


def test_rows_come_and_go_between_pages(wire: Resp, sql: Sql) -> None:
    assert page(wire, "n", "LIMIT", 10)[1] == b"more"
    rows, position = page(wire, "n", "FIELDS", 1, "id", "LIMIT", 10, "AFTER", 0)
    assert rows[-1] == {b"id": b"9"} and position is not None
    sql.run("DELETE FROM n WHERE id IN (9, 10, 12)", "INSERT INTO n (id, v) VALUES (-1, 0)")
    more = page(wire, "n", "FIELDS", 1, "id", "LIMIT", 3, "AFTER", position)[0]
    assert [row[b"id"] for row in more] == [b"11", b"13", b"14"]
    # Other columns may be asked for, and the position may be used again.
    assert page(wire, "n", "FIELDS", 1, "v", "LIMIT", 1, "AFTER", position)[0] == [{b"v": b"1"}]
    sql.run("ALTER TABLE n DROP PRIMARY KEY, ADD PRIMARY KEY (v, id)")
    reply = wire.ask("HS.FIND", "n", "LIMIT", 3, "AFTER", position)
    assert isinstance(reply, Error) and reply.text.startswith("ERR invalid position")


def test_a_position_is_of_an_account_and_a_selection(server: ServerInstance, wire: Resp) -> None:
    with Sql(server.socket) as root:
        root.run("CREATE USER IF NOT EXISTS finder@localhost IDENTIFIED"
                 f" {identified(DEFAULT_WAY, PASSWORD)}",
                 "GRANT SELECT ON found.* TO finder@localhost")  # fmt: skip
    _, position = page(wire, "n", "LIMIT", 10, "AFTER", 0)
    assert position is not None
    with connect(server, protocol=wire.protocol) as other:
        assert other.ask("AUTH", "finder", PASSWORD) == OK
        reply = other.ask("HS.FIND", "n", "AFTER", position)
        assert isinstance(reply, Error) and reply.text.startswith("ERR invalid position")
    for words in (("n", "DESC"), ("n@v",), ("twice",), ("n", "FILTER", "v", "=", 1)):
        reply = wire.ask("HS.FIND", *words, "AFTER", position)
        assert isinstance(reply, Error) and reply.text.startswith("ERR invalid position")
    cursor = wire.ask("SCAN", 0, "MATCH", "n:*")[0]
    reply = wire.ask("HS.FIND", "n", "AFTER", cursor)
    assert isinstance(reply, Error) and reply.text.startswith("ERR invalid position")
    reply = wire.ask("SCAN", position, "MATCH", "n:*")
    assert isinstance(reply, Error) and reply.text.startswith("ERR invalid cursor")


def test_a_reply_has_a_bound(wire: Resp, sql: Sql) -> None:
    rows, position = page(wire, "large")
    assert len(rows) == 4 and position is not None
    assert all(row[b"v"] == b"x" * LARGE for row in rows)
    assert pages([wire], 100, "large") == ids_of(sql, "SELECT id FROM large ORDER BY id")
    rows, position = page(wire, "n", "FIELDS", 1, "id", "LIMIT", 100_000)
    assert len(rows) == ALL_ROWS and position is None
    sql.run("INSERT INTO n (id) SELECT n.id * 5 + x.d + 10000 FROM n, " + DIGITS + " x")
    rows, position = page(wire, "n", "FIELDS", 1, "id", "LIMIT", 100_000)
    assert len(rows) == 10_000 and position is not None
    # An index that has no positions: more than 64 MiB are an error.
    sql.run(
        "CREATE TABLE much (id INT PRIMARY KEY, k INT, v MEDIUMTEXT, UNIQUE KEY by_k (k))",
        f"INSERT INTO much SELECT id, id, REPEAT('x', {LARGE}) FROM n WHERE id < 250",
    )
    assert isinstance(wire.ask("HS.FIND", "much@by_k", "LIMIT", 250), Error)
    assert pages([wire], 50, "much@by_k") == ids_of(sql, "SELECT id FROM much ORDER BY id")


def test_changes(wire: Resp, sql: Sql) -> None:
    update = ("HS.UPDATE", "article@by_author", "SET", 2, "price", "1.25", "title", "-")
    assert wire.ask(*update, "KEY", 1, 7, "FROM", ">", "2024-01-01", "NULL", "-") == 1
    assert sql.rows("SELECT id FROM article WHERE price = 1.25 AND title IS NULL") == [(b"2",)]
    # A row that holds the values already counts, too.
    assert wire.ask(*update, "KEY", 1, 7, "FROM", ">", "2024-01-01", "NULL", "-") == 1
    assert wire.ask(*update, "KEY", 1, 99) == 0
    assert wire.ask("HS.UPDATE", "n@v", "SET", 1, "v", 9, "IN", "v", 2, 1, 2) == 1250
    assert sql.number("SELECT COUNT(*) FROM n WHERE v = 9") == 1250
    assert wire.ask("HS.UPDATE", "n", "SET", 1, "w", "x", "LIMIT", 10, "OFFSET", 5) == 10
    assert ids_of(sql, "SELECT id FROM n WHERE w = 'x'") == [b"%d" % i for i in range(5, 15)]
    # All rows or none.
    assert sql_error(wire.ask("HS.UPDATE", "n", "SET", 1, "v", "x", "FROM", ">=", 5)) == 1366
    assert sql_error(wire.ask("HS.UPDATE", "article", "SET", 1, "code", "z", "LIMIT", 3)) == 1062
    assert sql.number("SELECT COUNT(*) FROM article WHERE code = 'z'") == 0
    assert wire.ask("HS.DELETE", "n@v", "KEY", 1, 9, "FILTER", "id", "<", 100) == 40
    assert wire.ask("HS.DELETE", "n", "FROM", ">", 3000, "DESC", "LIMIT", 24) == 24
    assert sql.number("SELECT MAX(id) FROM n") == 3100
    assert wire.ask("HS.DELETE", "n", "LIMIT", 100_000) == ALL_ROWS - 64
    assert sql.number("SELECT COUNT(*) FROM n") == 0


def test_in_transactions(wire: Resp, sql: Sql) -> None:
    replies = wire.unit([
        ("HS.UPDATE", "n", "SET", 1, "w", "mine", "FROM", ">=", 3000),
        ("HS.COUNT", "n", "FILTER", "w", "=", "mine"),
        ("HS.FIND", "n", "FIELDS", 1, "id", "FILTER", "w", "=", "mine", "LIMIT", 2, "AFTER",
         0),
        ("HS.DELETE", "n@v", "KEY", 1, 0),
    ])  # fmt: skip
    assert replies[:2] == [125, 125] and replies[3] == 625
    told = pairs(replies[2])
    assert [pairs(row) for row in told[b"rows"]] == [{b"id": b"3000"}, {b"id": b"3001"}]
    following = page(wire, "n", "FIELDS", 1, "id", "FILTER", "w", "=", "mine", "LIMIT", 2, "AFTER",
                     told[b"next"])[0]  # fmt: skip
    assert following == [{b"id": b"3002"}, {b"id": b"3003"}]
    failed = wire.unit([("HS.DELETE", "n", "LIMIT", 9999),
                        ("HS.UPDATE", "n", "SET", 1, "nosuch", 1, "LIMIT", 1)])  # fmt: skip
    assert isinstance(failed, Error) and failed.text.startswith("EXECABORT")
    assert sql.number("SELECT COUNT(*) FROM n") == ALL_ROWS - 625
    only_read = wire.unit([("HS.FIND", "n", "LIMIT", 5000), ("HS.COUNT", "n")])
    assert len(pairs(only_read[0])[b"rows"]) == only_read[1] == ALL_ROWS - 625


USERS = {
    "part": ("SELECT (id, author, title), UPDATE (title) ON found.article",),
    "reader": ("SELECT ON found.article",),
    "nobody": ("SELECT ON found.n",),
}


@pytest.fixture
def users(server: ServerInstance, sql: Sql) -> Iterator[None]:
    with Sql(server.socket) as root:
        for user, grants in USERS.items():
            root.run(f"DROP USER IF EXISTS {user}@localhost",
                     f"CREATE USER {user}@localhost IDENTIFIED"
                     f" {identified(DEFAULT_WAY, PASSWORD)}",
                     *(f"GRANT {grant} TO {user}@localhost" for grant in grants))  # fmt: skip
        yield
        root.run(*(f"DROP USER {user}@localhost" for user in USERS))


ALLOWED: list[tuple[str, tuple[Word, ...], bool]] = [
    ("part", ("HS.FIND", "article", "FIELDS", 2, "id", "title"), True),
    ("part", ("HS.FIND", "article"), False),
    ("part", ("HS.FIND", "article", "FIELDS", 1, "price"), False),
    ("part", ("HS.FIND", "article", "FIELDS", 1, "id", "FILTER", "price", ">", 1), False),
    ("part", ("HS.FIND", "article", "FIELDS", 1, "id", "WHILE", "author", "=", 7), True),
    ("part", ("HS.FIND", "article@by_code", "FIELDS", 1, "id", "KEY", 1, "a"), False),
    ("part", ("HS.FIND", "article@by_author", "FIELDS", 1, "id", "KEY", 1, 7), True),
    ("part", ("HS.FIND", "article@by_author", "FIELDS", 1, "id", "KEY", 1, 7, "FROM", ">",
              "2024-01-01"), False),
    ("part", ("HS.COUNT", "article"), True),
    ("part", ("HS.COUNT", "article@by_code", "FROM", ">", "a"), False),
    ("part", ("HS.UPDATE", "article", "SET", 1, "title", "x", "KEY", 1, 1), True),
    ("part", ("HS.UPDATE", "article", "SET", 1, "price", 1, "KEY", 1, 1), False),
    ("part", ("HS.UPDATE", "article", "SET", 1, "title", 1, "FILTER", "code", "=", 1), False),
    ("part", ("HS.DELETE", "article", "KEY", 1, 1), False),
    ("reader", ("HS.FIND", "article"), True),
    ("reader", ("HS.UPDATE", "article", "SET", 1, "title", "x", "KEY", 1, 1), False),
    ("nobody", ("HS.FIND", "article"), False),
    ("nobody", ("HS.FIND", "nosuch"), False),
]  # fmt: skip


def test_privileges(server: ServerInstance, users: None, sql: Sql) -> None:
    before = sql.rows("SELECT * FROM article WHERE id > 1")
    refusals = set()
    for user, words, may in ALLOWED:
        with connect(server) as wire:
            assert wire.ask("AUTH", user, PASSWORD) == OK
            reply = wire.ask(*words)
            assert isinstance(reply, Error) != may, (user, words, reply)
            if isinstance(reply, Error):
                assert reply.code == NO_PERMISSION, (user, words, reply)
            if user == "nobody":
                refusals.add(reply)
    assert len(refusals) == 1
    assert sql.rows("SELECT * FROM article WHERE id > 1") == before


def test_describe(server: ServerInstance, users: None, wire: Resp, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE odd (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, e ENUM('a', 'b,c')"
        " NOT NULL, t TEXT, g DECIMAL(6, 2) AS (d * 2) STORED, d DECIMAL(5, 2), KEY t (t(9), e),"
        " FULLTEXT KEY words (t), KEY back (d DESC), UNIQUE KEY (e, d)) CHARSET utf8mb4"
    )
    for name in ("odd", "article"):
        told = pairs(wire.ask("HS.DESCRIBE", name))
        columns = [pairs(one) for one in told[b"columns"]]
        where = f"TABLE_SCHEMA = 'found' AND TABLE_NAME = '{name}'"
        expected = sql.rows(
            "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE = 'YES', EXTRA LIKE '%GENERATED%',"
            " EXTRA LIKE '%auto_increment%' FROM information_schema.COLUMNS"
            f" WHERE {where} ORDER BY ORDINAL_POSITION"
        )
        assert [
            (one[b"name"], one[b"type"], b"%d" % one[b"nullable"], b"%d" % one[b"generated"],
             b"%d" % one[b"auto_increment"])
            for one in columns
        ] == expected  # fmt: skip
        indexes = {one[b"name"]: one for one in map(pairs, told[b"indexes"])}
        parts = sql.rows(
            "SELECT INDEX_NAME, COLUMN_NAME, NON_UNIQUE = 0, SUB_PART IS NOT NULL,"
            f" COLLATION = 'D' FROM information_schema.STATISTICS WHERE {where} AND INDEX_TYPE ="
            " 'BTREE' ORDER BY INDEX_NAME, SEQ_IN_INDEX"
        )
        assert [
            (key, one[b"column"], b"%d" % index[b"unique"], b"%d" % one[b"prefix"],
             b"%d" % one[b"descends"])
            for key, index in sorted(indexes.items(), key=lambda item: item[0].lower())
            for one in map(pairs, index[b"parts"])
        ] == parts  # fmt: skip
    for words in (("HS.DESCRIBE", "article:1"), ("HS.DESCRIBE", "article@by_code")):
        reply = wire.ask(*words)
        assert isinstance(reply, Error) and reply.text.startswith("ERR a table is named")
    assert sql_error(wire.ask("HS.DESCRIBE", "nosuch")) == 1146


@pytest.mark.skipif(ON_MYSQL, reason="MySQL has no system versioning")
def test_describe_a_table_with_history(wire: Resp, sql: Sql) -> None:
    """Nobody can write when a row begins and ends."""
    sql.run(
        "CREATE TABLE dated (id INT PRIMARY KEY, born TIMESTAMP(6) GENERATED ALWAYS AS ROW START,"
        " died TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (born, died))"
        " WITH SYSTEM VERSIONING"
    )
    columns = [pairs(one) for one in pairs(wire.ask("HS.DESCRIBE", "dated"))[b"columns"]]
    told = [(one[b"name"], bool(one[b"generated"])) for one in columns]
    assert told == [(b"id", False), (b"born", True), (b"died", True)]


def test_describe_shows_what_one_may_see(server: ServerInstance, users: None) -> None:
    with connect(server) as wire:
        assert wire.ask("AUTH", "part", PASSWORD) == OK
        told = pairs(wire.ask("HS.DESCRIBE", "article"))
        assert [pairs(one)[b"name"] for one in told[b"columns"]] == [b"id", b"author", b"title"]
        assert {pairs(one)[b"name"] for one in told[b"indexes"]} == {b"PRIMARY", b"by_title"}
    with connect(server) as wire:
        assert wire.ask("AUTH", "nobody", PASSWORD) == OK
        hidden, absent = wire.ask("HS.DESCRIBE", "article"), wire.ask("HS.DESCRIBE", "nosuch")
        assert isinstance(hidden, Error) and hidden.code == NO_PERMISSION and hidden == absent


def test_the_examples_of_the_page(wire: Resp, sql: Sql) -> None:
    section = PAGE.read_text().split("\n## Every index\n")[1].split("\n## ")[0]
    definition = re.search(r"`(CREATE TABLE article [^`]*)`", section)
    assert definition is not None
    sql.run("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop",
            definition[1].replace("article", "shop.article"),
            "INSERT INTO shop.article VALUES (42, 7, '2024-01-05', 'Ant', 9)")  # fmt: skip
    lines = [line.strip() for line in section.splitlines() if line.startswith("    HS.")]
    assert len(lines) == 12
    for line in lines:
        reply = wire.ask(*line.split())
        assert not isinstance(reply, Error), (line, reply)
    told = {row.split("`")[1].split()[0] for row in section.splitlines() if row.startswith("| `")}
    assert told == {"FIELDS", "SET", "KEY", "IN", "FROM", "TO", "BEGINS", "ASC", "FILTER", "WHILE",
                    "LIMIT", "OFFSET", "AFTER", "NULL"}  # fmt: skip
    sql.run("DROP DATABASE shop")
