"""Every column type, read, written and as a key, compared with what an SQL client gets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from handlersocket2 import Client, Filter, ReplyError
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import JSON_OF_ITS_OWN, KIND, SERVER_TREE
from support_column_types import ColumnType, Text, every_type

# Central Europe, with its changes of daylight saving time. It needs no file of time zones.
TIME_ZONE = "CET-1CEST,M3.5.0,M10.5.0/3"


@pytest.fixture(scope="module")
def server(watch, data_root: Path) -> Iterator[ServerInstance]:
    """Replaces the shared server by one whose time zone is not UTC, with room for long values."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TZ", TIME_ZONE)
        instance = ServerInstance(
            SERVER_TREE,
            data_root / "types",
            settings={
                **KIND.volatile,
                **KIND.log_file_size("256M"),
                "max_allowed_packet": "64M",
            },
        )
        instance.start()
    watch.servers.append(instance)
    yield instance
    watch.servers.remove(instance)
    instance.stop()


every_column_type = pytest.mark.parametrize("kind", every_type(), ids=str)
# A GEOMETRY can only have a spatial index. test_tables.py checks that it cannot be opened.
every_key_type = pytest.mark.parametrize(
    "kind", [kind for kind in every_type() if kind.index], ids=str
)


def create(sql: Sql, table: str, kind: ColumnType) -> None:
    index = f", KEY by_v ({kind.index})" if kind.index else ""
    sql.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, v {kind.sql}{index})")


def as_value(value: Text) -> bytes:
    return value.encode() if isinstance(value, str) else value


def fill(sql: Sql, table: str, kind: ColumnType) -> None:
    """Inserts NULL as row 0, and then the values, by SQL."""
    sql.run(f"INSERT INTO {table} VALUES (0, NULL)")
    with sql.connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", list(enumerate(kind.values, 1)))


def stored(sql: Sql, table: str) -> list:
    """The rows as a client sees them, and as they are stored in the table."""
    return sql.rows(f"SELECT id, v, HEX(v) FROM {table} ORDER BY id")


@every_column_type
def test_what_a_find_gives_is_what_sql_gives(
    kind: ColumnType, reader: Client, sql: Sql, database: Database
) -> None:
    create(sql, "t", kind)
    fill(sql, "t", kind)
    found = reader.index(database.name, "t", ["id", "v"]).find(0, op=">=", limit=1000)
    expected = sql.rows("SELECT id, v FROM t ORDER BY id")
    assert len(expected) == len(kind.values) + 1
    assert found == expected
    assert found[0] == (b"0", None)


@every_column_type
def test_what_is_inserted_is_what_sql_inserts(
    kind: ColumnType, writer: Client, sql: Sql, database: Database
) -> None:
    create(sql, "by_sql", kind)
    create(sql, "by_plugin", kind)
    fill(sql, "by_sql", kind)
    index = writer.index(database.name, "by_plugin", ["id", "v"])
    index.insert([0, None])
    for number, value in enumerate(kind.values, 1):
        index.insert([number, as_value(value)])
    assert stored(sql, "by_plugin") == stored(sql, "by_sql")


@every_column_type
def test_what_is_read_can_be_written_back(
    kind: ColumnType, writer: Client, sql: Sql, database: Database
) -> None:
    """Rows of NULLs are updated with what a find in another table gives. Both are equal then."""
    create(sql, "source", kind)
    create(sql, "target", kind)
    fill(sql, "source", kind)
    sql.run("INSERT INTO target SELECT id, NULL FROM source")
    source = writer.index(database.name, "source", ["id", "v"])
    target = writer.index(database.name, "target", ["v"])
    for number, value in source.find(0, op=">=", limit=1000):
        assert target.update(number, [value]) == 1
    expected = sql.rows("SELECT id, v FROM source ORDER BY id")
    assert sql.rows("SELECT id, v FROM target ORDER BY id") == expected


@every_key_type
def test_as_a_key_it_finds_what_sql_finds(
    kind: ColumnType, reader: Client, sql: Sql, database: Database
) -> None:
    create(sql, "t", kind)
    fill(sql, "t", kind)
    index = reader.index(database.name, "t", ["id"], index="by_v")
    keys = [*(kind.values if kind.keys is None else kind.keys), *kind.probes]
    differences = []
    for key in keys:
        for op in ("=", ">", ">=", "<", "<="):
            found = index.find(as_value(key), op=op, limit=1000)
            expected = expected_rows(sql, kind, op, key)
            if found != expected:
                differences.append((op, key, found, expected))
    assert not differences


def expected_rows(sql: Sql, kind: ColumnType, op: str, key: Text) -> list:
    """What SQL finds, in the index's order. NULL is below everything."""
    condition = f"{kind.compared} {op} {kind.literal(key)}"
    direction = "ASC"
    if op in ("<", "<="):
        condition, direction = f"({condition} OR v IS NULL)", "DESC"
    if "(" not in kind.index:
        return sql.rows(
            f"SELECT id FROM t IGNORE INDEX (by_v) WHERE {condition}"
            f" ORDER BY v {direction}, id {direction}"
        )
    # Values with the same prefix are ordered by their id.
    length = kind.index[2:-1]
    order = f"LEFT(v, {length}) {direction}, id {direction}"
    return sql.rows(f"SELECT id FROM t IGNORE INDEX (by_v) WHERE {condition} ORDER BY {order}")


@every_key_type
def test_null_is_found_by_null_alone(
    kind: ColumnType, reader: Client, sql: Sql, database: Database
) -> None:
    create(sql, "t", kind)
    fill(sql, "t", kind)
    index = reader.index(database.name, "t", ["id", "v"], index="by_v")
    assert index.find([None], limit=1000) == [(b"0", None)]
    assert index.find_in([None, None], limit=1000) == [(b"0", None)]
    assert len(index.find([None], op=">", limit=1000)) == len(kind.values)


@every_column_type
def test_a_filter_compares_as_sql_does(
    kind: ColumnType, reader: Client, sql: Sql, database: Database
) -> None:
    create(sql, "t", kind)
    fill(sql, "t", kind)
    index = reader.index(database.name, "t", ["id"], filter_columns=["v"])
    if any(word in kind.sql for word in ("POINT", "GEOMETRY", "VECTOR", *JSON_OF_ITS_OWN)):
        with pytest.raises(ReplyError, match="filterblob"):
            index.find(0, filters=[Filter("=", 0, "x")])
        assert index.find(0, op=">=", limit=9, filters=[Filter("=", 0, None)]) == [(b"0",)]
        return
    differences = []
    for key in kind.values if kind.keys is None else kind.keys:
        for op in ("=", "!=", ">", ">=", "<", "<="):
            found = index.find(0, op=">", limit=1000, filters=[Filter(op, 0, as_value(key))])
            condition = f"{kind.compared} {op} {kind.literal(key)}"
            expected = sql.rows(f"SELECT id FROM t WHERE id > 0 AND {condition} ORDER BY id")
            if found != expected:
                differences.append((op, key, found, expected))
    assert not differences


@pytest.mark.parametrize("zone", ["+05:30", "-11:00"])
def test_timestamps_are_in_the_servers_time_zone(zone: str, make_server) -> None:
    database = Database(make_server(default_time_zone=zone), "test")
    sql = database.sql
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, ts TIMESTAMP(3) NULL, dt DATETIME(3), KEY (ts))",
        "INSERT INTO t VALUES (1, '2024-02-29 23:59:59.5', '2024-02-29 23:59:59.5')",
    )
    with database.writer() as writer:
        index = writer.index("test", "t", ["id", "ts", "dt"], index="ts")
        expected = (b"1", b"2024-02-29 23:59:59.500", b"2024-02-29 23:59:59.500")
        assert index.find("2024-02-29 23:59:59.5") == [expected]
        index.insert([2, "2024-07-01 00:00:00", "2024-07-01 00:00:00"])
        sql.run("SET time_zone = '+00:00'")
        sign, hours, minutes = zone[0], zone[1:3], zone[4:]
        apart = sql.row(
            f"SELECT TIMESTAMPDIFF(MINUTE, ts, dt) = {sign}({hours} * 60 + {minutes})"
            " FROM t WHERE id = 2"
        )
        assert apart == (b"1",)
    database.close()


@pytest.mark.parametrize("column", ["LONGTEXT", "LONGBLOB", "MEDIUMTEXT"])
def test_16_mib_in_and_out(column: str, writer: Client, sql: Sql, database: Database) -> None:
    """A MEDIUMTEXT holds one byte less."""
    size = 16 * 1024 * 1024 - (column == "MEDIUMTEXT")
    raw = random.Random(1).randbytes(size)
    if column != "LONGBLOB":
        raw = bytes(byte & 0x7F for byte in raw)
    sql.run(f"CREATE TABLE t (id INT PRIMARY KEY, v {column})")
    index = writer.index(database.name, "t", ["id", "v"])
    index.insert([1, raw])
    digest = sha256(raw).hexdigest().encode()
    assert sql.row("SELECT LENGTH(v), SHA2(v, 256) FROM t") == (b"%d" % size, digest)
    ((number, value),) = index.find(1)
    assert (number, value) == (b"1", raw)
    assert writer.index(database.name, "t", ["v"]).update(1, [raw[::-1]]) == 1
    assert sql.row("SELECT SHA2(v, 256) FROM t") == (sha256(raw[::-1]).hexdigest().encode(),)


def test_a_row_of_every_type(writer: Client, sql: Sql, database: Database) -> None:
    kinds = [kind for kind in every_type() if "long" not in kind.name]
    columns = ", ".join(f"{kind.name}_ {kind.sql}" for kind in kinds)
    sql.run(f"CREATE TABLE t (id INT PRIMARY KEY, {columns})")
    names = ["id", *(f"{kind.name}_" for kind in kinds)]
    index = writer.index(database.name, "t", names)
    index.insert([1, *(as_value(kind.values[-1]) for kind in kinds)])
    index.insert([2])
    assert index.find(0, op=">", limit=9) == sql.rows("SELECT * FROM t ORDER BY id")
    reordered = names[::-3]
    found = writer.index(database.name, "t", reordered).find(1)
    assert found == sql.rows(f"SELECT {', '.join(reordered)} FROM t WHERE id = 1")
