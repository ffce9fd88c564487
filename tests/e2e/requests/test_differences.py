"""Where this differs from the original on purpose. The table is in docs/migration.md.

A test's name begins with the number of a difference. Several tests may have the same number.
Numbers 11 to 14 are in test_differences_server.py.
"""

from __future__ import annotations

import pytest
from handlersocket2 import (
    Client,
    Filter,
    ReplyError,
)
from support.database import Database, Sql
from support.servers import CHECK_ERROR

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b INT, KEY by_b (b), KEY by_a (a(3)))",
    "INSERT INTO t VALUES (1,'one',5),(2,'two',5),(3,'three',7),(4,NULL,NULL),(5,'thrift',9)",
    "CREATE VIEW v AS SELECT * FROM t",
    "CREATE TABLE small (k TINYINT PRIMARY KEY, v INT)",
    "INSERT INTO small VALUES (127, 1), (-128, 2), (0, 3)",
)


@pytest.fixture(autouse=True)
def tables(sql: Sql) -> None:
    sql.run(*TABLES)


def asked(database: Database, *requests: bytes, write: bool = False) -> list[bytes]:
    """The replies to raw requests after a `P 1` of t(id,a,b) with filter column b."""
    with database.wire(write=write) as wire:
        opened = wire.ask(b"P\t1\t%s\tt\tPRIMARY\tid,a,b\tb\n" % database.name.encode())
        assert opened == b"0\t1"
        return [wire.ask(request) for request in requests]


HUGE = [b"4294967295", b"4294967296", b"9223372036854775808", b"18446744073709551616", b"9" * 100]


@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize(
    ("request_", "replies"),
    [
        (b"1\t=\t%s\t1\n", {b"2\t1\tklen", b"2\t1\tkpnum"}),
        (b"1\t=\t1\t1\t1\t0\t@\t0\t%s\t1\n", {b"2\t1\tinvalueslen"}),
        (b"%s\t=\t1\t1\n", {b"2\t1\tstmtnum"}),
        (b"1\t+\t%s\t1\n", {b"2\t1\tinvalueslen", b"2\t1\tklen"}),
        (b"1\t=\t1\t1\t1\t0\t@\t%s\t1\t1\n", {b"2\t1\ticol"}),
        (b"1\t=\t1\t1\t1\t0\tF\t=\t%s\t1\n", {b"2\t1\tfilterfld"}),
    ],
)
def test_01_a_huge_number_is_an_error_reply(
    huge: bytes, request_: bytes, replies: set[bytes], database: Database
) -> None:
    received, after = asked(database, request_ % huge, b"1\t=\t1\t1\n", write=True)
    assert received in replies
    assert after == b"0\t3\t1\tone\t5"


def test_01_a_huge_index_id_for_P_is_an_error_or_works(database: Database) -> None:
    name = database.name.encode()
    for huge in HUGE:
        opening = b"P\t%s\t%s\tt\t\tid\n" % (huge, name)
        opened, found = asked(database, opening, b"%s\t=\t1\t3\n" % huge)
        assert (opened, found) in [(b"0\t1", b"0\t1\t3"), (b"2\t1\tstmtnum", b"2\t1\tstmtnum")]


def test_01_a_view_is_an_error_reply(reader: Client, database: Database) -> None:
    with pytest.raises(ReplyError) as caught:
        reader.index(database.name, "v", ["id"])
    assert (caught.value.code, caught.value.text) == (1, "open_table")
    assert reader.index(database.name, "t", ["id"]).find(1) == [(b"1",)]


def test_01_a_line_that_is_too_long_gets_an_error_and_is_closed(make_server) -> None:
    server = make_server(handlersocket_max_request_size=65536)
    database = Database(server, "test")
    for data in (b"1\t=\t1\t" + b"x" * 70_000, b"1\t=\t1\t" + b"x" * 70_000 + b"\n"):
        with database.wire() as wire:
            wire.send(b"?\n" + data)
            assert wire.rest() == b"2\t1\tcmd\n2\t1\trequest_size\n"
    with database.wire() as wire:
        assert wire.ask(b"1\t=\t1\t" + b"x" * 60_000 + b"\n") == b"2\t1\tstmtnum"
    database.close()


@pytest.mark.parametrize("request_", [b"Q\n", b"/\n", b"Q\tx\n", b"/quit\n", b"Quit\n"])
def test_02_Q_and_slash_are_no_commands(request_: bytes, database: Database) -> None:
    for write in (False, True):
        with database.wire(write=write) as wire:
            assert wire.ask(request_) == b"2\t1\tcmd"
            assert wire.ask(request_) == b"2\t1\tcmd"
        with database.wire(write=write) as wire:
            assert wire.ask(b"?\n") == b"2\t1\tcmd", "the listener lives"


@pytest.mark.parametrize("number", [b"-1", b"1a0", b"x", b"+1", b" 1", b"1 ", b"0x1", b"1.0"])
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (b"1\t=\t%s\t1\n", b"klen"),
        (b"1\t=\t1\t1\t%s\n", b"limit"),
        (b"1\t=\t1\t1\t1\t%s\n", b"offset"),
        (b"1\t=\t1\t1\t1\t0\t@\t%s\t1\t1\n", b"icol"),
        (b"1\t=\t1\t1\t1\t0\t@\t0\t%s\t1\n", b"invalueslen"),
        (b"1\t=\t1\t1\t1\t0\tF\t=\t%s\t1\n", b"filterfld"),
        (b"P\t%s\tx\n", b"stmtnum"),
    ],
)
def test_03_what_is_no_decimal_number_is_an_error(
    number: bytes, request_: bytes, error: bytes, database: Database
) -> None:
    reply, after = asked(database, request_ % number, b"1\t=\t1\t1\n")
    assert reply == b"2\t1\t" + error
    assert after == b"0\t3\t1\tone\t5"


@pytest.mark.parametrize("number", [b"1x", b"1 ", b"1.0", b"1-"])
def test_03_an_index_id_is_a_decimal_number(number: bytes, database: Database) -> None:
    assert asked(database, number + b"\t=\t1\t1\n") == [b"2\t1\tstmtnum"]


@pytest.mark.parametrize("nothing", [b"", b"\0"])
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (b"1\t=\t%s\t1\n", b"klen"),
        (b"1\t=\t1\t1\t1\t0\t@\t%s\t1\t1\n", b"icol"),
        (b"1\t=\t1\t1\t1\t0\t@\t0\t%s\t1\n", b"invalueslen"),
        (b"1\t=\t1\t1\t1\t0\tF\t=\t%s\t1\n", b"filterfld"),
    ],
)
def test_03_only_a_limit_and_an_offset_can_be_empty(
    nothing: bytes, request_: bytes, error: bytes, database: Database
) -> None:
    assert asked(database, request_ % nothing) == [b"2\t1\t" + error]


def test_03_limit_and_offset_may_exceed_32_bits(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "t", ["id"])
    rest = [(b"3",), (b"4",), (b"5",)]
    assert index.find(1, op=">=", limit=2**32 - 1, offset=2) == rest
    assert index.find(1, op=">=", limit=2**40, offset=2) == rest
    assert index.find(1, op=">=", limit=2**64 - 1, offset=2) == rest
    assert index.find(1, op=">=", limit=5, offset=2**32) == []
    assert index.find(1, op=">=", limit=5, offset=2**64 - 1) == []


@pytest.mark.parametrize("op", ["LIKE", "<>", "~", "", "==", "=>", "IS", "\0"])
def test_04_an_unknown_filter_operator_is_an_error(op: str, database: Database) -> None:
    request = b"1\t>=\t1\t1\t10\t0\tF\t%s\t0\t5\n" % op.encode()
    assert asked(database, request) == [b"2\t1\tfilterop"]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (b"1\t=\t1\n", b"klen"),
        (b"1\t=\t1\t\t10\t0\t@\t0\t2\t1\n", b"invalueslen"),
        (b"1\t=\t1\t\t10\t0\t@\t1\t1\t1\n", b"icol"),
        (b"1\t=\t1\t\t10\t0\t@\t7\t1\t1\n", b"icol"),
    ],
)
def test_05_missing_values_and_a_wrong_icol_are_errors(
    request_: bytes, error: bytes, database: Database
) -> None:
    assert asked(database, request_) == [b"2\t1\t" + error]


def test_05_a_missing_key_value_of_several(database: Database, sql: Sql) -> None:
    sql.run("CREATE TABLE two (a INT, b INT, PRIMARY KEY (a, b))")
    opening = b"P\t1\t%s\ttwo\t\ta\n" % database.name.encode()
    requests = [opening, b"1\t=\t2\t1\n", b"1\t=\t2\n", b"1\t=\t3\t1\n", b"1\t=\t2\t1\t2\n"]
    expected = [b"0\t1", b"2\t1\tklen", b"2\t1\tklen", b"2\t1\tkpnum", b"0\t1"]
    assert asked(database, *requests) == expected


def test_05_fewer_values_than_columns_change_only_those(
    writer: Client, sql: Sql, database: Database
) -> None:
    index = writer.index(database.name, "t", ["b", "a"])
    assert index.update(1, [50]) == 1
    assert index.increment(2, [1]) == 1
    assert index.decrement(3, [1]) == 1
    assert asked(database, b"1\t=\t1\t3\t1\t0\tU\n", write=True) == [b"0\t1\t1"]
    assert sql.rows("SELECT id, b, a FROM t WHERE id < 4 ORDER BY id") == [
        (b"1", b"50", b"one"),
        (b"2", b"6", b"two"),
        (b"3", b"6", b"three"),
    ]


def test_06_IN_gives_each_values_rows_and_knows_null(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "t", ["id"], index="by_b")
    assert index.find_in([5, 7], limit=10) == [(b"1",), (b"2",), (b"3",)]
    assert index.find_in([5, 7], limit=2) == [(b"1",), (b"2",)]
    assert index.find_in([7, None, 5], limit=10) == [(b"3",), (b"4",), (b"1",), (b"2",)]


@pytest.mark.parametrize(
    "key", ["128", "-129", "1000", "99999999999999999999", "1.5", "x", "0x", " "]
)
def test_07_a_key_that_the_column_cannot_hold_matches_nothing(
    key: str, reader: Client, database: Database
) -> None:
    index = reader.index(database.name, "small", ["k"])
    assert index.find(key) == []
    assert index.find_in([key, 0]) == [(b"0",)]


def test_07_an_empty_key_is_zero(reader: Client, database: Database) -> None:
    """As in SQL and in the original. Clients begin their scans with an empty key."""
    index = reader.index(database.name, "small", ["k"])
    assert index.find("") == [(b"0",)]
    assert index.find("", op=">=", limit=9) == [(b"0",), (b"127",)]


@pytest.mark.parametrize("op", [">", ">=", "<", "<="])
@pytest.mark.parametrize("key", ["128", "-129", "1000", "-1000"])
def test_07_a_key_out_of_range_stands_where_it_belongs(
    op: str, key: str, reader: Client, sql: Sql, database: Database
) -> None:
    found = reader.index(database.name, "small", ["k"]).find(key, op=op, limit=10)
    direction = "DESC" if "<" in op else "ASC"
    assert found == sql.rows(f"SELECT k FROM small WHERE k {op} {key} ORDER BY k {direction}")


def test_07_a_key_that_is_too_long_matches_nothing(
    reader: Client, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE c (k VARCHAR(3) PRIMARY KEY)", "INSERT INTO c VALUES ('abc'), ('xyz')")
    index = reader.index(database.name, "c", ["k"])
    assert index.find("abcd") == []
    assert index.find("abc") == [(b"abc",)]


def test_07_a_prefix_index_compares_the_full_value(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "t", ["id"], index="by_a")
    assert index.find("three", limit=10) == [(b"3",)]
    assert index.find("thr", limit=10) == []
    assert index.find("three", op=">", limit=10) == [(b"5",), (b"2",)]
    assert index.find("thrift", op="<", limit=2) == [(b"3",), (b"1",)]
    assert index.find_in(["two", "thrift", "one"], limit=10) == [(b"2",), (b"5",), (b"1",)]


@pytest.mark.parametrize(("op", "first"), [(">=", -(2**31)), ("<=", 2**31 - 1)])
def test_08_a_modification_through_its_own_index_meets_each_row_once(
    op: str, first: int, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE walk (id INT PRIMARY KEY, n INT NOT NULL, KEY by_n (n))")
    sql.run("INSERT INTO walk SELECT seq, seq FROM seq_1_to_500")
    index = writer.index(database.name, "walk", ["n"], index="by_n")
    assert index.increment(first, [1000], op=op, limit=100_000) == 500
    assert index.increment(first, [-3], op=op, limit=100_000) == 500
    assert sql.number("SELECT COUNT(*) FROM walk WHERE n = id + 997") == 500


def test_08_an_update_of_the_primary_key_meets_each_row_once(
    writer: Client, sql: Sql, database: Database
) -> None:
    index = writer.index(database.name, "t", ["id"])
    assert index.increment(1, [100], op=">=", limit=1000) == 5
    assert [row[0] for row in sql.rows("SELECT id FROM t ORDER BY id")] == [
        b"101", b"102", b"103", b"104", b"105",
    ]  # fmt: skip


STRICT = (
    "CREATE TABLE strict_ (id INT PRIMARY KEY, n TINYINT, s VARCHAR(3), e ENUM('a','b'),"
    " d DATE, k INT NOT NULL, u INT UNSIGNED, CHECK (id > 0))"
)
BAD_VALUES = [
    ("n", "128", 1264),
    ("n", "x", 1366),
    ("n", "1x", 1265),
    ("s", "abcd", 1406),
    ("s", b"\xff", 1366),
    ("e", "c", 1265),
    ("d", "2024-02-30", 1292),
    ("k", None, 1048),
    ("u", "-1", 1264),
]


@pytest.mark.parametrize(("column", "value", "number"), BAD_VALUES)
def test_09_the_servers_sql_mode_holds(
    column: str, value, number: int, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(STRICT, "INSERT INTO strict_ VALUES (1, 1, 's', 'a', '2024-01-01', 1, 1)")
    before = sql.rows("SELECT * FROM strict_")
    index = writer.index(database.name, "strict_", [column])
    with pytest.raises(ReplyError) as caught:
        index.update(1, [value])
    by_sql = sql.error(f"UPDATE strict_ SET {column} = %s WHERE id = 1", [value])
    assert (caught.value.code, caught.value.number) == (1, by_sql)
    assert by_sql == number
    assert sql.rows("SELECT * FROM strict_") == before


def test_09_a_check_that_fails(writer: Client, sql: Sql, database: Database) -> None:
    sql.run(STRICT)
    with pytest.raises(ReplyError, match=f"^1 {CHECK_ERROR}: "):
        writer.index(database.name, "strict_", ["id", "k"]).insert([-1, 1])
    assert sql.number("SELECT COUNT(*) FROM strict_") == 0


def test_09_a_column_without_default_is_1364(writer: Client, sql: Sql, database: Database) -> None:
    sql.run(STRICT)
    with pytest.raises(ReplyError, match="1364"):
        writer.index(database.name, "strict_", ["id"]).insert([1])
    assert sql.number("SELECT COUNT(*) FROM strict_") == 0


def test_09_without_strict_mode_values_are_adjusted_as_sql_does(make_server) -> None:
    server = make_server(sql_mode="")
    database = Database(server, "test")
    sql = database.sql
    sql.run(STRICT, STRICT.replace("strict_", "twin"))
    for table in ("strict_", "twin"):
        sql.run(f"INSERT INTO {table} VALUES (1, 1, 's', 'a', '2024-01-01', 1, 1)")
    with database.writer() as writer:
        for column, value, _ in BAD_VALUES:
            if isinstance(value, bytes):
                continue  # SQL treats a literal of bytes as text of another character set
            by_sql = sql.error(f"UPDATE twin SET {column} = %s", [value])
            index = writer.index("test", "strict_", [column])
            if by_sql is None:
                assert index.update(1, [value]) == 1, column
            else:
                with pytest.raises(ReplyError, match=str(by_sql)):
                    index.update(1, [value])
        writer.index("test", "strict_", ["id"]).insert([2])
        sql.run("INSERT INTO twin (id) VALUES (2)")
    assert sql.rows("SELECT * FROM strict_") == sql.rows("SELECT * FROM twin")
    database.close()


@pytest.mark.parametrize("value", [b"\x01", b"ab\x01", b"\x01\x3f", b"\x01\x50", b"a\x01zb"])
def test_09_a_wrong_escape_is_an_error(value: bytes, sql: Sql, database: Database) -> None:
    before = sql.rows("SELECT * FROM t ORDER BY id")
    requests = [
        b"1\t=\t1\t%s\n" % value,
        b"1\t=\t1\t1\t1\t0\t@\t0\t1\t%s\n" % value,
        b"1\t=\t1\t1\t1\t0\tF\t=\t0\t%s\n" % value,
        b"1\t=\t1\t1\t1\t0\tU\t1\t%s\n" % value,
        b"1\t+\t2\t9\t%s\n" % value,
    ]
    assert asked(database, *requests, write=True) == [b"2\t1\tescape"] * len(requests)
    assert sql.rows("SELECT * FROM t ORDER BY id") == before


@pytest.mark.parametrize("charset", ["latin1", "utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32"])
def test_10_requests_and_replies_are_utf8mb4(
    charset: str, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(f"CREATE TABLE c (k VARCHAR(20) CHARACTER SET {charset} PRIMARY KEY, n INT)")
    index = writer.index(database.name, "c", ["k", "n"], filter_columns=["k"])
    index.insert(["Zürich é", 1])
    assert sql.rows("SELECT k FROM c") == [("Zürich é".encode(),)]
    assert index.find("Zürich é") == [("Zürich é".encode(), b"1")]
    assert index.find("", op=">=", filters=[Filter("=", 0, "Zürich é")]) != []


def test_10_what_the_columns_set_cannot_hold_is_an_error(
    writer: Client, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE c (k VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY)")
    index = writer.index(database.name, "c", ["k"])
    with pytest.raises(ReplyError) as caught:
        index.insert(["日本"])
    assert caught.value.number == sql.error("INSERT INTO c VALUES ('日本')")
    assert index.find("日本") == []
    assert sql.rows("SELECT * FROM c") == []


def test_10_binary_columns_stay_bytes(writer: Client, sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE bytes_ (k VARBINARY(300) PRIMARY KEY, v BLOB, b BIT(16))")
    raw = bytes(range(256))
    index = writer.index(database.name, "bytes_", ["k", "v", "b"])
    index.insert([raw, raw[::-1], b"\xff\x00"])
    assert index.find(raw) == [(raw, raw[::-1], b"\xff\x00")]
    assert sql.rows("SELECT HEX(k), HEX(v), HEX(b) FROM bytes_") == [
        (raw.hex().upper().encode(), raw[::-1].hex().upper().encode(), b"FF00")
    ]
