"""Every kind of index and table. If one cannot be read, there is a clear error, never a crash."""

from __future__ import annotations

import random

import pytest
from handlersocket2 import Client, ReplyError
from support.database import Database, Sql
from support.servers import GENERATED_COLUMN_ERROR

ENGINES = {
    "innodb": "ENGINE=InnoDB",
    "innodb_compressed": "ENGINE=InnoDB ROW_FORMAT=COMPRESSED",
    "innodb_redundant": "ENGINE=InnoDB ROW_FORMAT=REDUNDANT",
    "aria": "ENGINE=Aria",
    "aria_not_transactional": "ENGINE=Aria TRANSACTIONAL=0",
    "myisam": "ENGINE=MyISAM",
    "memory_btree": "ENGINE=MEMORY",
    "partitioned_by_hash": "ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 5",
    "partitioned_by_range": "ENGINE=InnoDB PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN"
    " (50), PARTITION p1 VALUES LESS THAN (100), PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "subpartitioned": "ENGINE=InnoDB PARTITION BY RANGE (id) SUBPARTITION BY KEY (id)"
    " SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (70), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "partitioned_myisam": "ENGINE=MyISAM PARTITION BY KEY (id) PARTITIONS 3",
    "versioned": "ENGINE=InnoDB WITH SYSTEM VERSIONING",
    "versioned_in_partitions": "ENGINE=InnoDB WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME"
    " (PARTITION p0 HISTORY, PARTITION pn CURRENT)",
}
OPERATORS = ["=", ">", ">=", "<", "<="]


def create(sql: Sql, table: str, options: str) -> None:
    btree = " USING BTREE" if "MEMORY" in options else ""
    sql.run(
        f"CREATE TABLE {table} (id INT NOT NULL, name VARCHAR(20), n INT, note VARCHAR(50),"
        f" PRIMARY KEY{btree} (id), KEY by_name{btree} (name, n), KEY by_n{btree} (n)) {options}"
    )


def fill(sql: Sql, table: str) -> None:
    sql.run(
        f"INSERT INTO {table} SELECT seq, IF(seq % 11 = 0, NULL, CONCAT('name ', seq % 13)),"
        " IF(seq % 7 = 0, NULL, CAST(seq % 17 AS SIGNED) - 5), CONCAT('note ', seq)"
        " FROM seq_1_to_120"
    )


def assert_finds(client: Client, sql: Sql, database: Database, table: str) -> None:
    """Finds by each index. Rows with equal keys may come in any order."""
    primary = client.index(database.name, table, ["id", "name", "n", "note"])
    by_n = client.index(database.name, table, ["id", "n"], index="by_n")
    by_name = client.index(database.name, table, ["id", "note"], index="by_name")
    for op in OPERATORS:
        order = "DESC" if "<" in op else "ASC"
        null = " OR n IS NULL" if "<" in op else ""
        for key in (0, 1, 49, 50, 77, 120, 121):
            expected = sql.rows(
                f"SELECT id, name, n, note FROM {table} WHERE id {op} {key} ORDER BY id {order}"
            )
            assert primary.find(key, op=op, limit=1000) == expected
            assert primary.find(key, op=op, limit=7, offset=3) == expected[3:10]
        for key in (-6, 0, 3, 11, 99):
            expected = sql.rows(f"SELECT id, n FROM {table} WHERE n {op} {key}{null}")
            found = by_n.find(key, op=op, limit=1000)
            assert sorted(found, key=repr) == sorted(expected, key=repr)
            numbers = [-1000 if n is None else int(n) for _, n in found]
            assert numbers == sorted(numbers, reverse="<" in op)
    # Columns are asked for that are not those of the index.
    notes = client.index(database.name, table, ["note"], index="by_n")
    for key in (None, -5, 1, 11):
        expected = sql.rows(
            f"SELECT note FROM {table} WHERE n <=> {'NULL' if key is None else key}"
        )
        assert len(expected) > 1
        assert sorted(notes.find(key, limit=1000)) == sorted(expected)
        assert notes.count(key) == len(expected)
    expected = sql.rows(f"SELECT note FROM {table} WHERE n IN (1, 11)")
    assert sorted(notes.find_in([1, 11, 1], limit=1000)) == sorted(expected)
    for name, n in (("name 3", 3), ("name 12", -1), ("NAME 5", 5)):
        expected = sql.rows(f"SELECT id, note FROM {table} WHERE name = '{name}' AND n = {n}")
        assert sorted(by_name.find([name, n], limit=1000)) == sorted(expected)
        expected = sql.rows(f"SELECT id, note FROM {table} WHERE name = '{name}'")
        assert sorted(by_name.find([name], limit=1000)) == sorted(expected) != []
    found = primary.find_in([100, 3, 999, 51])
    assert [row[0] for row in found] == [b"100", b"3", b"51"]


def assert_writes(client: Client, sql: Sql, database: Database, table: str, twin: str) -> None:
    """The same work by SQL on a twin table leaves the same rows."""
    row = client.index(database.name, table, ["id", "name", "n", "note"])
    by_n = client.index(database.name, table, ["n"], index="by_n")
    note = client.index(database.name, table, ["note"])
    row.insert([500, "new", None, "inserted"])
    sql.run(f"INSERT INTO {twin} VALUES (500, 'new', NULL, 'inserted')")
    assert note.update(20, ["changed"], op=">=", limit=40) == 40
    sql.run(f"UPDATE {twin} SET note = 'changed' WHERE id BETWEEN 20 AND 59")
    assert by_n.increment(3, [100], limit=1000) == sql.number(
        f"SELECT COUNT(*) FROM {twin} WHERE n = 3"
    )
    sql.run(f"UPDATE {twin} SET n = 103 WHERE n = 3")
    notes_by_n = client.index(database.name, table, ["note"], index="by_n")
    assert notes_by_n.update(-5, ["by n"], limit=1000) == sql.number(
        f"SELECT COUNT(*) FROM {twin} WHERE n = -5"
    )
    sql.run(f"UPDATE {twin} SET note = 'by n' WHERE n = -5")
    assert row.delete(110, op=">", limit=5) == 5
    sql.run(f"DELETE FROM {twin} WHERE id BETWEEN 111 AND 115")
    assert row.update(1, [99_999, "moved"]) == 1
    sql.run(f"UPDATE {twin} SET id = 99999, name = 'moved' WHERE id = 1")
    with pytest.raises(ReplyError, match="121"):
        row.insert([2, "again"])
    expected = sql.rows(f"SELECT * FROM {twin} ORDER BY id")
    assert sql.rows(f"SELECT * FROM {table} ORDER BY id") == expected
    checked = sql.rows(f"CHECK TABLE {table}")
    # MEMORY cannot check its tables.
    assert checked[-1][3] == b"OK" or b"support check" in checked[-1][3], checked


@pytest.mark.parametrize("engine", ENGINES)
def test_finds_and_writes(
    engine: str, reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    create(sql, "t", ENGINES[engine])
    create(sql, "twin", "ENGINE=InnoDB")
    fill(sql, "t")
    fill(sql, "twin")
    assert_finds(reader, sql, database, "t")
    assert_finds(writer, sql, database, "t")
    assert_writes(writer, sql, database, "t", "twin")
    assert_finds(reader, sql, database, "t")


@pytest.mark.parametrize("partitions", ["", " PARTITION BY HASH (id) PARTITIONS 3"])
def test_myrocks(make_server, partitions: str) -> None:
    server = make_server()
    with Sql(server.socket) as admin:
        admin.run("INSTALL SONAME 'ha_rocksdb'")
    database = Database(server, "test")
    create(database.sql, "t", f"ENGINE=ROCKSDB COLLATE utf8mb4_bin{partitions}")
    database.sql.run("ALTER TABLE t MODIFY name VARCHAR(20) COLLATE utf8mb4_general_ci")
    create(database.sql, "twin", "ENGINE=InnoDB")
    fill(database.sql, "t")
    fill(database.sql, "twin")
    with database.reader() as reader, database.writer() as writer:
        assert_finds(reader, database.sql, database, "t")
        assert_writes(writer, database.sql, database, "t", "twin")
        assert_finds(reader, database.sql, database, "t")
    database.close()


def test_memory_hash_finds_equal_keys_and_refuses_ranges(
    reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE h (id INT PRIMARY KEY, n INT, m INT, KEY by_n (n, m)) ENGINE=MEMORY",
        "INSERT INTO h VALUES (1, 5, 1), (2, 5, 2), (3, 7, 1), (4, NULL, 1)",
    )
    index = reader.index(database.name, "h", ["n"])
    assert index.find(3) == [(b"7",)]
    assert index.find(9) == []
    by_n = reader.index(database.name, "h", ["id"], index="by_n")
    assert by_n.find([5, 2], limit=9) == [(b"2",)]
    assert by_n.find([None, 1], limit=9) == [(b"4",)]
    for op in (">", ">=", "<", "<="):
        with pytest.raises(ReplyError):
            index.find(1, op=op, limit=9)
    with pytest.raises(ReplyError):
        by_n.find([5], limit=9)  # a hash index needs every part
    assert writer.index(database.name, "h", ["n"]).update(3, [8]) == 1
    assert index.find(3) == [(b"8",)]


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM"])
def test_a_descending_index(engine: str, reader: Client, sql: Sql, database: Database) -> None:
    """An operator compares values, whether the index ascends or descends."""
    sql.run(
        f"CREATE TABLE d (id INT PRIMARY KEY, n INT NOT NULL, KEY by_n (n DESC)) ENGINE={engine}",
        "INSERT INTO d SELECT seq, seq % 10 FROM seq_1_to_50",
    )
    index = reader.index(database.name, "d", ["id", "n"], index="by_n")
    for op in OPERATORS:
        for key in (-1, 0, 4, 9, 10):
            expected = sql.rows(f"SELECT id, n FROM d WHERE n {op} {key}")
            assert sorted(index.find(key, op=op, limit=100)) == sorted(expected), (op, key)


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM"])
def test_a_prefix_index(engine: str, reader: Client, sql: Sql, database: Database) -> None:
    words = ["", "a", "ab", "abc", "abcd", "abcx", "abd", "ABCD", "b", "äbc"]
    sql.run(
        "CREATE TABLE p (id INT PRIMARY KEY, s VARCHAR(50), b BLOB, KEY by_s (s(3)),"
        f" KEY by_b (b(2)), KEY both_ (s(2), id)) ENGINE={engine}"
    )
    with sql.connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO p VALUES (%s, %s, %s)",
            [(number, word, word.encode()) for number, word in enumerate(words)],
        )
    by_s = reader.index(database.name, "p", ["id"], index="by_s")
    by_b = reader.index(database.name, "p", ["id"], index="by_b")
    both = reader.index(database.name, "p", ["id"], index="both_")
    for word in [*words, "abce", "z"]:
        for op in OPERATORS:
            expected = sql.rows(f"SELECT id FROM p WHERE s {op} %s", [word])
            assert sorted(by_s.find(word, op=op, limit=99)) == sorted(expected), (op, word)
            expected = sql.rows(f"SELECT id FROM p WHERE b {op} %s", [word.encode()])
            assert sorted(by_b.find(word, op=op, limit=99)) == sorted(expected), (op, word)
        expected = sql.rows("SELECT id FROM p WHERE s = %s AND id = 4", [word])
        assert both.find([word, 4], limit=99) == expected


@pytest.mark.parametrize("kind", ["VIRTUAL", "PERSISTENT"])
def test_generated_columns_in_an_index(
    kind: str, reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE g (id INT PRIMARY KEY, a INT, s VARCHAR(20),"
        f" twice INT AS (a * 2) {kind}, up VARCHAR(20) AS (UPPER(s)) {kind},"
        " KEY by_twice (twice), KEY by_up (up, twice))",
        "INSERT INTO g (id, a, s) SELECT seq, seq % 5, CONCAT('s', seq % 3) FROM seq_1_to_30",
    )
    columns = ["id", "a", "twice", "up"]
    for client in (reader, writer):
        by_twice = client.index(database.name, "g", columns, index="by_twice")
        by_up = client.index(database.name, "g", ["id", "up"], index="by_up")
        primary = client.index(database.name, "g", columns)
        select = f"SELECT {', '.join(columns)} FROM g"
        assert by_twice.find(4, limit=99) == sql.rows(f"{select} WHERE twice = 4 ORDER BY id")
        assert primary.find(7) == sql.rows(f"{select} WHERE id = 7")
        assert sorted(by_up.find(["S1", 6], limit=99)) == sorted(
            sql.rows("SELECT id, up FROM g WHERE up = 'S1' AND twice = 6")
        )
    base = writer.index(database.name, "g", ["a", "s"])
    assert base.update(7, [100, "changed"]) == 1
    by_twice = reader.index(database.name, "g", columns, index="by_twice")
    assert by_twice.find(200) == [(b"7", b"100", b"200", b"CHANGED")]
    writer.index(database.name, "g", ["id", "a", "s"]).insert([31, 50, "x"])
    assert by_twice.find(100) == [(b"31", b"50", b"100", b"X")]
    assert writer.index(database.name, "g", ["id"], index="by_twice").delete(100) == 1
    assert by_twice.find(100) == []
    assert sql.rows("CHECK TABLE g EXTENDED")[-1][3] == b"OK"
    with pytest.raises(ReplyError, match=GENERATED_COLUMN_ERROR):
        writer.index(database.name, "g", ["twice"]).update(7, [1])


def test_of_a_versioned_table_current_rows_alone_are_seen(
    reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE v (id INT PRIMARY KEY, n INT, KEY by_n (n)) WITH SYSTEM VERSIONING",
        "INSERT INTO v VALUES (1, 1), (2, 1), (3, 1)",
        "UPDATE v SET n = 2 WHERE id = 1",
        "DELETE FROM v WHERE id = 2",
    )
    by_n = reader.index(database.name, "v", ["id", "n"], index="by_n")
    primary = writer.index(database.name, "v", ["id", "n"])
    assert by_n.find(1, limit=9) == [(b"3", b"1")]
    assert primary.find(0, op=">", limit=9) == [(b"1", b"2"), (b"3", b"1")]
    assert writer.index(database.name, "v", ["n"]).update(3, [7]) == 1
    assert primary.delete(1) == 1
    primary.insert([2, 5])
    assert by_n.find(0, op=">", limit=9) == [(b"2", b"5"), (b"3", b"7")]
    history = sql.rows("SELECT id, n FROM v FOR SYSTEM_TIME ALL WHERE row_end < NOW(6)")
    assert sorted(history) == [(b"1", b"1"), (b"1", b"2"), (b"2", b"1"), (b"3", b"1")]


def test_a_row_that_no_partition_takes_is_an_error(
    writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE r (id INT PRIMARY KEY) PARTITION BY RANGE (id)"
        " (PARTITION p VALUES LESS THAN (10))"
    )
    index = writer.index(database.name, "r", ["id"])
    index.insert([9])
    for request in (lambda: index.insert([10]), lambda: index.update(9, [11])):
        with pytest.raises(ReplyError) as caught:
            request()
        assert (caught.value.code, caught.value.number) in [(1, 160), (1, 1526)]
    assert sql.rows("SELECT id FROM r") == [(b"9",)]


NOT_TABLES = [
    ("{}", "a_view", "PRIMARY"),
    ("{}", "a_view", ""),
    ("{}", "view_of_nothing", "0"),
    ("information_schema", "TABLES", "PRIMARY"),
    ("information_schema", "TABLES", "0"),
    ("INFORMATION_SCHEMA", "PROCESSLIST", "0"),
    ("performance_schema", "accounts", "0"),
    ("performance_schema", "threads", "PRIMARY"),
    ("sys", "version", "0"),
    ("{}", "", "0"),
    ("", "t", "0"),
    ("{}", "../mysql/user", "0"),
    ("{}", "t.frm", "0"),
    ("{}", "x" * 200, "0"),
    ("x" * 200, "t", "0"),
    ("{}", "t\\", "0"),
    ("{}", "é" * 64, "0"),
    ("{}", "é" * 65, "0"),
    ("{}", "t ", "0"),
    ("{} ", "t", "0"),
]


@pytest.mark.parametrize(("schema", "table", "index"), NOT_TABLES)
def test_what_is_no_base_table_cannot_be_opened(
    schema: str, table: str, index: str, sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "CREATE TABLE gone (id INT PRIMARY KEY)",
        "CREATE VIEW a_view AS SELECT * FROM t",
        "CREATE VIEW view_of_nothing AS SELECT * FROM gone",
        "DROP TABLE gone",
    )
    for client in (database.reader(), database.writer()):
        with client:
            for _ in range(3):
                with pytest.raises(ReplyError) as caught:
                    client.index(schema.format(database.name), table, ["id"], index=index)
                assert (caught.value.code, caught.value.text) == (1, "open_table")
            assert client.index(database.name, "t", ["id"]).find(1) == []


@pytest.mark.parametrize("engine", ["InnoDB", "Aria", "MyISAM"])
def test_fulltext_and_spatial_indexes_are_idxnum(
    engine: str, reader: Client, sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE f (id INT PRIMARY KEY, s TEXT, p POINT NOT NULL, FULLTEXT KEY full_text (s),"
        f" SPATIAL KEY spatial_ (p)) ENGINE={engine}",
        "INSERT INTO f VALUES (1, 'some words', POINT(1, 2))",
    )
    for index in ("full_text", "spatial_", "1", "2"):
        with pytest.raises(ReplyError) as caught:
            reader.index(database.name, "f", ["id"], index=index)
        assert (caught.value.code, caught.value.text) == (2, "idxnum")
    assert reader.index(database.name, "f", ["s"]).find(1) == [(b"some words",)]


def test_a_unique_hash_over_a_blob_is_an_error_or_right(
    reader: Client, sql: Sql, database: Database
) -> None:
    """MariaDB keeps such an index as a hash that only the server itself can read."""
    sql.run(
        "CREATE TABLE lu (id INT PRIMARY KEY, b BLOB, UNIQUE KEY by_b (b))",
        "INSERT INTO lu VALUES (1, 'one'), (2, 'two')",
    )
    with pytest.raises(ReplyError, match="idxnum"):
        reader.index(database.name, "lu", ["id"], index="by_b")
    assert reader.index(database.name, "lu", ["id", "b"]).find(2) == [(b"2", b"two")]


@pytest.mark.parametrize(
    "engine", ["CSV", "BLACKHOLE", "MRG_MyISAM", "SEQUENCE", "sequence_object"]
)
def test_odd_tables_do_no_harm(engine: str, sql: Sql, database: Database) -> None:
    table = "odd"
    if engine == "CSV":
        sql.run("CREATE TABLE odd (id INT NOT NULL) ENGINE=CSV", "INSERT INTO odd VALUES (1)")
    elif engine == "BLACKHOLE":
        sql.error("INSTALL SONAME 'ha_blackhole'")
        sql.run("CREATE TABLE odd (id INT PRIMARY KEY) ENGINE=BLACKHOLE")
    elif engine == "MRG_MyISAM":
        sql.run(
            "CREATE TABLE part (id INT PRIMARY KEY) ENGINE=MyISAM",
            "INSERT INTO part VALUES (1)",
            "CREATE TABLE odd (id INT, KEY `PRIMARY_` (id)) ENGINE=MERGE UNION=(part)",
        )
    elif engine == "SEQUENCE":
        table = "seq_1_to_100"
    else:
        sql.run("CREATE SEQUENCE odd")
    column = "seq" if engine == "SEQUENCE" else "id"
    for client in (database.reader(), database.writer()):
        with client:
            outcomes = []
            for request in ("find", "update", "insert"):
                try:
                    index = client.index(database.name, table, [column], index="0")
                    if request == "find":
                        outcomes.append(index.find(1))
                    elif request == "insert":
                        outcomes.append(index.insert([50]))
                    else:
                        outcomes.append(index.update(1, [60]))
                except ReplyError as error:
                    outcomes.append(error.text)
            assert len(outcomes) == 3
    assert sql.number("SELECT 1") == 1


@pytest.mark.parametrize("more", [b"\xff", b"\xc3", b"\xf0\x9f\x98\x90", b" ", b"\r", b"\xff "])
def test_a_name_that_begins_as_another_is_none(more: bytes, sql: Sql, database: Database) -> None:
    """Without a check, a data dictionary would see the name end at the malformed byte."""
    sql.run("CREATE TABLE t (id INT PRIMARY KEY)")
    name = database.name.encode()
    for write in (False, True):
        with database.wire(write=write) as wire:
            for _ in range(2):
                for schema, table in ((name + more, b"t"), (name, b"t" + more)):
                    asked = b"P\t1\t%s\t%s\t\tid\n" % (schema, table)
                    assert wire.ask(asked) == b"1\t1\topen_table"
            assert wire.ask(b"P\t1\t%s\tt\t\tid\n" % name) == b"0\t1"


def test_names_with_every_sort_of_character(database: Database, sql: Sql) -> None:
    name = f"{database.name} é-😐"[: len(database.name) + 3]  # characters of utf8mb3 only
    sql.run(f"DROP DATABASE IF EXISTS `{name}`", f"CREATE DATABASE `{name}`")
    try:
        sql.run(
            f"CREATE TABLE `{name}`.`t-1 $é` (`the id` INT, `ö.x` INT, PRIMARY KEY (`the id`),"
            " KEY `k y` (`ö.x`))",
            f"INSERT INTO `{name}`.`t-1 $é` VALUES (1, 2)",
        )
        with database.reader() as client:
            index = client.index(name, "t-1 $é", ["the id", "ö.x"], index="k y")
            assert index.find(2) == [(b"1", b"2")]
    finally:
        sql.run(f"DROP DATABASE `{name}`")


def test_a_table_of_200_columns(writer: Client, sql: Sql, database: Database) -> None:
    names = [f"c{number}" for number in range(200)]
    sql.run(f"CREATE TABLE wide (id INT PRIMARY KEY, {' INT, '.join(names)} INT)")
    writer.index(database.name, "wide", ["id", *names]).insert(range(-1, 200))
    picked = random.Random(3).sample(names, 60)
    found = writer.index(database.name, "wide", picked).find(-1)
    assert found == [tuple(name[1:].encode() for name in picked)]
    whole = writer.index(database.name, "wide", ["id", *names]).find(-1)
    assert whole == sql.rows("SELECT * FROM wide")


def test_invisible_columns_are_read_and_written_by_name(
    writer: Client, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE inv (id INT PRIMARY KEY, secret INT INVISIBLE DEFAULT 7)")
    index = writer.index(database.name, "inv", ["id", "secret"])
    index.insert([1])
    index.insert([2, 9])
    assert index.find(0, op=">", limit=9) == [(b"1", b"7"), (b"2", b"9")]
