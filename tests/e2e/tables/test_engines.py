"""Every engine and kind of table that the server has: served as docs/protocol.md says, or refused
with the answer that stands there. Nothing crashes, hangs or answers wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import fresh_database
from server_instance import ServerInstance, free_port
from support.database import Database, Sql
from support.servers import ON_MYSQL
from support_servers import LOGGING, running_server

COLUMNS = "id INT NOT NULL, name VARCHAR(20), n INT"
KEYS = "PRIMARY KEY USING BTREE (id), KEY by_n USING BTREE (n)"
ROWS = "VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30), (4, 'd', 40), (5, NULL, NULL)"
# They are installed if the server's tree has them as plugins.
PLUGINS = ("ha_archive", "ha_blackhole", "ha_federatedx", "ha_rocksdb", "ha_sphinx")


def table(options: str, columns: str = COLUMNS, keys: str = KEYS) -> list[str]:
    create = f"CREATE TABLE x ({columns}, {keys}) {options}"
    return [create, f"INSERT INTO x (id, name, n) {ROWS}"]


def merge(options: str, keys: str = KEYS) -> list[str]:
    create = f"CREATE TABLE p1 ({COLUMNS}, {keys}) ENGINE=MyISAM"
    return [
        create,
        "CREATE TABLE p2 LIKE p1",
        "INSERT INTO p1 VALUES (2, 'b', 20), (4, 'd', 40)",
        "INSERT INTO p2 VALUES (1, 'a', 10), (3, 'c', 30), (5, NULL, NULL)",
        f"CREATE TABLE x ({COLUMNS}, {keys}) ENGINE=MERGE UNION=(p1, p2) {options}",
    ]


# They behave as InnoDB does in each request of the dialogue.
SERVED = {
    "innodb": table("ENGINE=InnoDB"),
    "innodb_redundant": table("ENGINE=InnoDB ROW_FORMAT=REDUNDANT"),
    "innodb_compressed": table("ENGINE=InnoDB ROW_FORMAT=COMPRESSED"),
    "innodb_page_compressed": table(
        "ENGINE=InnoDB COMPRESSION='zlib'" if ON_MYSQL else "ENGINE=InnoDB PAGE_COMPRESSED=1"
    ),
    "innodb_partitioned": table("ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 3"),
    "myisam": table("ENGINE=MyISAM"),
    "memory": table("ENGINE=MEMORY"),
    "merge": merge("INSERT_METHOD=LAST"),
    "no_primary_key": table("", keys="UNIQUE KEY `PRIMARY_` (id), KEY by_n (n)"),
    "generated": table(
        "", f"{COLUMNS}, twice INT AS (n * 2) VIRTUAL, thrice INT AS (n * 3) STORED"
    ),
    "invisible": table("", f"{COLUMNS}, secret INT INVISIBLE DEFAULT 7"),
}
MARIADB_SERVED = {
    "aria": table("ENGINE=Aria"),
    "aria_not_transactional": table("ENGINE=Aria TRANSACTIONAL=0"),
    "myisam_partitioned": table("ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 3"),
    "versioned": table("WITH SYSTEM VERSIONING"),
    "versioned_by_transaction": table(
        "WITH SYSTEM VERSIONING",
        f"{COLUMNS}, b BIGINT UNSIGNED GENERATED ALWAYS AS ROW START, e BIGINT UNSIGNED GENERATED"
        " ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)",
    ),
    "period": table(
        "",
        f"{COLUMNS}, b DATE NOT NULL DEFAULT '2020-01-01', e DATE NOT NULL DEFAULT '2021-01-01',"
        " PERIOD FOR p (b, e)",
    ),
    "rocksdb": table("ENGINE=ROCKSDB COLLATE utf8mb4_bin"),
}
MYSQL_SERVED = {
    "generated_invisible_primary_key": [
        "SET SESSION sql_generate_invisible_primary_key = 1",
        *table("", keys="UNIQUE KEY `PRIMARY_` (id), KEY by_n (n)"),
        "SET SESSION sql_generate_invisible_primary_key = 0",
    ],
}
SERVED_HERE = {**SERVED, **(MYSQL_SERVED if ON_MYSQL else MARIADB_SERVED)}

# What a client may ask with an index over `id`, and then with one over `n`.
BY_ID = """
= 1 2
= 1 9
>= 1 2 10
> 1 2 1
<= 1 3 2
< 1 3 5 1
>= 1 0 10 0 F >= 2 20
>= 1 0 10 0 W < 2 30
= 1 0 10 0 @ 0 4 3 1 77 3
+ 3 9 nine 90
= 1 9
+ 2 10 ten
= 1 1 1 0 U 1 changed
= 1 2 1 0 U? 2 before 21
= 1 77 1 0 U 77 none
= 1 3 1 0 + 0 0 5
>= 1 2 2 0 -? 0 0 1
= 1 9 1 0 D?
= 1 9 1 0 D
>= 1 2 9 0 @ 0 2 2 4 D? F = 2 39
>= 1 0 99
"""
BY_N = """
= 1 10
>= 1 10 9
<= 1 34 9
= 1 34 9 0 U? 3 moved 35
= 1 35 9 0 U 30 again
>= 1 10 9 0 + 100
>= 1 0 99
= 1 10 1 0 D
>= 1 0 99 0 D?
>= 1 0 99
"""
CHANGES = ("U", "D", "+", "-", "U?", "D?", "-?")


@pytest.fixture(scope="module")
def engines_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings: dict[str, Any] = {
        **LOGGING,
        "handlersocket_lock_wait_timeout": 5,
        "port": free_port(),
        "bind_address": "127.0.0.1",
    }
    if ON_MYSQL:
        settings["federated"] = None
    else:
        settings["plugin_maturity"] = "experimental"
    with running_server(data_root, watch, **settings) as instance:
        if not ON_MYSQL:
            with Sql(instance.socket) as sql:
                for plugin in PLUGINS:
                    assert sql.error(f"INSTALL SONAME '{plugin}'") in (None, 1126, 1968), plugin
        yield instance


@pytest.fixture
def schema(engines_server: ServerInstance) -> Iterator[Database]:
    with fresh_database(engines_server, "engines") as opened:
        yield opened


def ask(database: Database, name: str, index: str, requests: str, *, write: bool) -> list[bytes]:
    """The replies to P and to each line of `requests`; on the read port, only to its finds."""
    replies = []
    with database.wire(write=write) as wire:
        names = "id,name,n"
        replies.append(wire.ask(f"P\t1\tengines\t{name}\t{index}\t{names}\t{names}\n".encode()))
        for line in requests.strip().splitlines() if replies[0] == b"0\t1" else []:
            words = line.split()
            if write or not any(word in CHANGES for word in words):
                replies.append(wire.ask("\t".join(["1", *words]).encode() + b"\n"))
    return replies


@pytest.mark.parametrize("kind", SERVED_HERE)
def test_a_served_table_answers_as_any_other(kind: str, schema: Database) -> None:
    """The same requests get the same replies from an InnoDB table, and leave the same rows."""
    for statement in table("ENGINE=InnoDB"):
        schema.sql.run(statement.replace(" x ", " twin "))
    if kind.startswith("versioned_by"):
        schema.sql.run("SET SESSION system_versioning_insert_history = 0")
    schema.sql.run(*SERVED_HERE[kind])
    for index, requests in (("0", BY_ID), ("by_n", BY_N)):
        for write in (False, True):
            expected = ask(schema, "twin", index, requests, write=write)
            assert ask(schema, "x", index, requests, write=write) == expected
            assert len(expected) > 5
            assert schema.sql.rows("SELECT id, name, n FROM x ORDER BY id") == schema.sql.rows(
                "SELECT id, name, n FROM twin ORDER BY id"
            )
    checked = schema.sql.rows("CHECK TABLE x")
    assert checked[-1][3] == b"OK" or b"support check" in (checked[-1][3] or b""), checked


def test_a_read_of_several_merge_tables_in_one_pass(schema: Database) -> None:
    """Also together with their own tables, and with writes to either in between."""
    schema.sql.run(*merge("INSERT_METHOD=FIRST"))
    schema.sql.run(f"CREATE TABLE y ({COLUMNS}, {KEYS}) ENGINE=MERGE UNION=(p2)")
    with schema.wire(write=True) as wire:
        for number, name in enumerate(("x", "y", "p1", "p2")):
            assert wire.ask(b"P\t%d\tengines\t%s\t\tid,n\n" % (number, name.encode())) == b"0\t1"
        wire.send(
            b"0\t=\t1\t3\n1\t=\t1\t3\n2\t=\t1\t2\n0\t+\t2\t7\t70\n3\t=\t1\t3\t1\t0\t+\t0\t5\n"
            b"0\t=\t1\t3\n2\t=\t1\t7\n1\t=\t1\t3\t1\t0\tU\t3\t36\n0\t>=\t1\t3\t9\n1\t+\t2\t8\t80\n"
        )
        assert wire.lines(10) == [
            *[b"0\t2\t3\t30", b"0\t2\t3\t30", b"0\t2\t2\t20", b"0\t1", b"0\t1\t1"],
            *[b"0\t2\t3\t35", b"0\t2\t7\t70", b"0\t1\t1"],
            b"0\t2\t3\t36\t4\t40\t5\t\x00\t7\t70",
            b"1\t1\t1036",
        ]


def test_merge_tables_that_cannot_be_used(schema: Database) -> None:
    schema.sql.run(*merge(""), f"CREATE TABLE y ({COLUMNS}, {KEYS}) ENGINE=MERGE UNION=()")
    assert ask(schema, "y", "0", "= 1 1\n>= 1 0 9\n+ 1 1", write=True) == [
        *[b"0\t1", b"0\t3", b"0\t3", b"1\t1\t1036"]
    ]
    schema.sql.run("DROP TABLE p1")
    for write in (False, True):
        for _ in range(3):
            assert ask(schema, "x", "0", "= 1 1", write=write) == [b"1\t1\topen_table"]
    assert schema.sql.number("SELECT COUNT(*) FROM p2") == 3


ARCHIVED = "id INT NOT NULL AUTO_INCREMENT, name VARCHAR(20), n INT"
ARCHIVES = ["", *([] if ON_MYSQL else ["PARTITION BY HASH (id) PARTITIONS 2"])]


@pytest.mark.parametrize("partitions", ARCHIVES, ids=["whole", "partitioned"][: len(ARCHIVES)])
def test_an_archive_takes_rows_and_changes_none(partitions: str, schema: Database) -> None:
    """The error that SQL's UPDATE and DELETE give there. It comes before a row is searched."""
    options = f"ENGINE=ARCHIVE {partitions}"
    schema.sql.run(*table(options, ARCHIVED, "PRIMARY KEY (id)"))
    sql_error = schema.sql.error("UPDATE x SET n = 1 WHERE id = 1")
    assert sql_error == 1031
    finds = "= 1 2\n= 1 99\n= 1 0 9 0 @ 0 3 4 1 77\n>= 1 1 9"
    found = [b"0\t1", b"0\t3\t2\tb\t20", b"0\t3", b"0\t3\t4\td\t40\t1\ta\t10", b"1\t1\t131"]
    for write in (False, True):
        assert ask(schema, "x", "0", finds, write=write) == found
    inserts = "+ 3 9 nine 90\n= 1 9\n+ 3 9 nine 90\n"
    changes = "= 1 1 1 0 U 1\n= 1 99 1 0 D\n= 1 1 1 0 +? 0\n>= 1 1 9 0 D?"
    refused = b"1\t1\t%d" % sql_error
    assert ask(schema, "x", "0", inserts + changes, write=True) == [
        *[b"0\t1", b"0\t1\t9", b"0\t3\t9\tnine\t90", b"1\t1\t121", *4 * [refused]]
    ]
    assert schema.sql.number("SELECT COUNT(*) FROM x") == 6


def test_a_black_hole_takes_everything_and_gives_nothing(schema: Database) -> None:
    schema.sql.run(*table("ENGINE=BLACKHOLE"))
    requests = "= 1 1\n>= 1 0 9\n+ 3 9 nine 90\n= 1 9\n>= 1 0 9 0 U 5\n>= 1 0 9 0 D?"
    assert ask(schema, "x", "0", requests, write=True) == [
        *[b"0\t1", b"0\t3", b"0\t3", b"0\t1", b"0\t3", b"0\t1\t0", b"0\t3"]
    ]


# Statements, the table, and the reply to P. After that, nothing else can be asked.
REFUSED: dict[str, tuple[Sequence[str], str, bytes]] = {
    "csv": (
        ["CREATE TABLE x (id INT NOT NULL, name VARCHAR(9) NOT NULL, n INT NOT NULL) ENGINE=CSV"],
        "x",
        b"2\t1\tidxnum",
    ),
    "no_index": ([f"CREATE TABLE x ({COLUMNS})"], "x", b"2\t1\tidxnum"),
    "temporary": ([f"CREATE TEMPORARY TABLE x ({COLUMNS}, {KEYS})"], "x", b"1\t1\topen_table"),
    "view": (
        [f"CREATE TABLE y ({COLUMNS}, {KEYS})", "CREATE VIEW x AS SELECT * FROM y"],
        "x",
        b"1\t1\topen_table",
    ),
    "federated": (
        [
            # Creating the table asks the other side.
            f"CREATE TABLE y ({COLUMNS}, {KEYS})",
            "CREATE USER IF NOT EXISTS far@'127.0.0.1' IDENTIFIED BY 'away'",
            "GRANT ALL ON *.* TO far@'127.0.0.1'",
            f"CREATE TABLE x ({COLUMNS}, {KEYS}) ENGINE=FEDERATED"
            " CONNECTION='mysql://far:away@127.0.0.1:{port}/engines/y'",
        ],
        "x",
        b"1\t1\topen_table",
    ),
}
MARIADB_REFUSED: dict[str, tuple[Sequence[str], str, bytes]] = {
    "sequence_object": (["CREATE SEQUENCE x"], "x", b"2\t1\tidxnum"),
    "table_of_numbers": ([], "seq_1_to_100", b"1\t1\topen_table"),
    "sphinx": (
        [
            "CREATE TABLE x (id BIGINT UNSIGNED NOT NULL, weight INT NOT NULL, query VARCHAR(3072)"
            " NOT NULL, INDEX (query)) ENGINE=SPHINX CONNECTION='sphinx://127.0.0.1:1/none'"
        ],
        "x",
        b"1\t1\topen_table",
    ),
}
REFUSED_HERE = {**REFUSED, **({} if ON_MYSQL else MARIADB_REFUSED)}


@pytest.mark.parametrize("kind", REFUSED_HERE)
def test_a_table_that_is_not_served_is_refused(kind: str, schema: Database) -> None:
    statements, name, answer = REFUSED_HERE[kind]
    port = str(schema.sql.number("SELECT @@port"))
    schema.sql.run(*(statement.replace("{port}", port) for statement in statements))
    for write in (False, True):
        for index in ("0", "PRIMARY"):
            assert ask(schema, name, index, BY_ID, write=write) == [answer]


def test_a_discarded_tablespace_is_an_error(schema: Database) -> None:
    schema.sql.run(*table(""), "ALTER TABLE x DISCARD TABLESPACE")
    sql_error = schema.sql.error("SELECT * FROM x")
    for write in (False, True):
        replies = ask(schema, "x", "0", BY_ID, write=write)
        assert set(replies) <= {b"0\t1", b"1\t1\t%d" % (sql_error or 0)}
    schema.sql.run("DROP TABLE x")


@pytest.mark.parametrize("part", ["header", "rows"])
@pytest.mark.parametrize("engine", ["MyISAM", *([] if ON_MYSQL else ["Aria"])])
def test_a_crashed_table_is_an_error(
    engine: str, part: str, schema: Database, engines_server: ServerInstance
) -> None:
    """A find does not answer what it cannot read, and nothing else is affected."""
    row_format = "ROW_FORMAT=DYNAMIC" if engine == "MyISAM" else "TRANSACTIONAL=0"
    schema.sql.run(*table(f"ENGINE={engine} {row_format}"), "FLUSH TABLES")
    names = {"header": ("MYI", "MAI"), "rows": ("MYD", "MAD")}[part]
    file = engines_server.data_dir / "engines" / f"x.{names[engine == 'Aria']}"
    sound = file.read_bytes()
    file.write_bytes(bytes(64) + sound[64:] if part == "header" else b"")
    checked = schema.sql.rows("CHECK TABLE x")
    assert checked[-1][3] != b"OK", checked
    for write in (False, True):
        for _ in range(2):
            replies = ask(
                schema, "x", "0", "= 1 2\n>= 1 0 9\n= 1 1 1 0 U 1\n+ 3 9 n 9", write=write
            )
            assert not [reply for reply in replies if b"\tb\t20" in reply], replies
            assert any(reply.startswith(b"1\t1\t") for reply in replies), replies
    schema.sql.run("CREATE TABLE y (id INT PRIMARY KEY, name INT, n INT)")
    assert ask(schema, "y", "0", "+ 3 1 2 3\n= 1 1", write=True)[1:] == [b"0\t1", b"0\t3\t1\t2\t3"]
    # Aria cannot even drop a table that it cannot read.
    schema.sql.run("FLUSH TABLES")
    file.write_bytes(sound)


def test_a_table_of_the_server_itself(schema: Database) -> None:
    schema.sql.run("DELETE FROM mysql.help_keyword WHERE help_keyword_id = 999999")
    with schema.wire(write=True) as wire:
        assert wire.ask(b"P\t1\tmysql\thelp_keyword\t\thelp_keyword_id,name\n") == b"0\t1"
        assert wire.ask(b"1\t+\t2\t999999\tof tests\n") == b"0\t1"
        assert wire.ask(b"1\t=\t1\t999999\t1\t0\tU\t999999\tchanged\n") == b"0\t1\t1"
        assert wire.ask(b"1\t=\t1\t999999\n") == b"0\t2\t999999\tchanged"
        query = "SELECT name FROM mysql.help_keyword WHERE help_keyword_id = 999999"
        assert schema.sql.rows(query) == [(b"changed",)]
        assert wire.ask(b"1\t=\t1\t999999\t1\t0\tD\n") == b"0\t1\t1"
        assert schema.sql.rows(query) == []


# Of MySQL.
DICTIONARY = [
    "catalogs",
    "character_sets",
    "check_constraints",
    "collations",
    "column_statistics",
    "columns",
    "column_type_elements",
    "dd_properties",
    "events",
    "foreign_keys",
    "foreign_key_column_usage",
    "indexes",
    "index_column_usage",
    "index_partitions",
    "index_stats",
    "innodb_ddl_log",
    "parameters",
    "parameter_type_elements",
    "resource_groups",
    "routines",
    "schemata",
    "st_spatial_reference_systems",
    "tables",
    "table_partitions",
    "table_partition_values",
    "table_stats",
    "tablespaces",
    "tablespace_files",
    "triggers",
    "view_routine_usage",
    "view_table_usage",
]


@pytest.mark.skipif(not ON_MYSQL, reason="only MySQL has a data dictionary in tables")
@pytest.mark.parametrize("table", DICTIONARY)
def test_a_table_of_the_data_dictionary(table: str, schema: Database) -> None:
    """SQL refuses it to everybody: ER_NO_SYSTEM_TABLE_ACCESS."""
    assert schema.sql.error(f"SELECT 1 FROM mysql.{table}") == 3554
    with schema.wire(write=True) as wire:
        assert wire.ask(b"P\t1\tmysql\t%s\t0\t\n" % table.encode()) == b"1\t1\topen_table"
