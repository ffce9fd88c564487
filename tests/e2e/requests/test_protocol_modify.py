"""Insert and find_modify: U, D, +, - and their `?` forms."""

from __future__ import annotations

import random
import threading

import pytest
from handlersocket2 import (
    Client,
    DuplicateKeyError,
    FetchModify,
    Filter,
    Find,
    FindModify,
    In,
    Insert,
    ModifyOp,
    OpenIndex,
    ReadOnlyError,
    ReplyError,
)
from support.database import Database, Sql

TABLES = (
    "CREATE TABLE item (id INT PRIMARY KEY, a VARCHAR(20) DEFAULT 'def', n INT DEFAULT 7,"
    " s VARCHAR(10) NOT NULL DEFAULT 'x', u INT UNSIGNED, KEY by_n (n), UNIQUE KEY by_u (u))",
    "CREATE TABLE numbered (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10))",
    "CREATE TABLE parent (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE child (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES parent (id))",
    "INSERT INTO item VALUES (1,'one',10,'x',1),(2,'two',20,'x',2),(3,NULL,NULL,'x',NULL),"
    "(4,'four',20,'y',4)",
    "INSERT INTO parent VALUES (1,1)",
    "INSERT INTO child VALUES (1,1)",
)
ROWS = [
    (b"1", b"one", b"10", b"x", b"1"),
    (b"2", b"two", b"20", b"x", b"2"),
    (b"3", None, None, b"x", None),
    (b"4", b"four", b"20", b"y", b"4"),
]
COLUMNS = ["id", "a", "n", "s", "u"]


@pytest.fixture(autouse=True)
def tables(sql: Sql) -> None:
    sql.run(*TABLES)


def items(sql: Sql) -> list:
    return sql.rows("SELECT * FROM item ORDER BY id")


def changed(*rows: tuple) -> list:
    """ROWS with these rows instead of those with the same id."""
    by_id = {row[0]: row for row in ROWS}
    by_id.update({row[0]: row for row in rows})
    return [by_id[key] for key in sorted(by_id)]


def test_insert(writer: Client, sql: Sql, database: Database) -> None:
    assert writer.index(database.name, "item", COLUMNS).insert([9, "n", None, "", "5"]) is None
    assert items(sql) == [*ROWS, (b"9", b"n", None, b"", b"5")]


def test_insert_of_some_columns_gives_the_others_their_defaults(
    writer: Client, sql: Sql, database: Database
) -> None:
    writer.index(database.name, "item", ["s", "id"]).insert(["z", 8])
    writer.index(database.name, "item", COLUMNS).insert([9])  # fewer values than columns
    assert items(sql)[4:] == [(b"8", b"def", b"7", b"z", None), (b"9", b"def", b"7", b"x", None)]


def test_insert_answers_the_auto_increment_id(writer: Client, sql: Sql, database: Database) -> None:
    index = writer.index(database.name, "numbered", ["v"])
    assert [index.insert([value]) for value in "abc"] == [1, 2, 3]
    with_id = writer.index(database.name, "numbered", ["id", "v"])
    assert with_id.insert([50, "d"]) == 50, "also where the id was given"
    assert with_id.insert([None, "e"]) == 51
    assert with_id.insert([0, "f"]) == 52
    assert with_id.insert([2**63 + 5, "g"]) == 2**63 + 5
    assert index.insert(["h"]) == 2**63 + 6
    ids = [b"%d" % number for number in (1, 2, 3, 50, 51, 52, 2**63 + 5, 2**63 + 6)]
    assert [row[0] for row in sql.rows("SELECT id FROM numbered ORDER BY id")] == ids


def test_ids_of_two_tables_in_one_pipeline(writer: Client, sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE other LIKE numbered", "ALTER TABLE other AUTO_INCREMENT = 1000")
    one = writer.index(database.name, "numbered", ["v"])
    two = writer.index(database.name, "other", ["v"])
    with writer.pipeline() as pipeline:
        for value in range(50):
            pipeline.on(one).insert([value])
            pipeline.on(two).insert([value])
    assert pipeline.results()[0::2] == list(range(1, 51))
    assert pipeline.results()[1::2] == list(range(1000, 1050))


def test_a_duplicate_key_is_121_and_changes_nothing(
    writer: Client, sql: Sql, database: Database
) -> None:
    index = writer.index(database.name, "item", COLUMNS)
    with pytest.raises(DuplicateKeyError) as caught:
        index.insert([1, "again", 1, "x", 77])
    assert (caught.value.code, caught.value.text) == (1, "121")
    with pytest.raises(DuplicateKeyError):
        index.insert([77, "again", 1, "x", 1])
    with pytest.raises(DuplicateKeyError):
        writer.index(database.name, "item", ["u"]).update(1, [2])
    assert items(sql) == ROWS


def test_a_foreign_key_is_151(writer: Client, sql: Sql, database: Database) -> None:
    with pytest.raises(ReplyError) as caught:
        writer.index(database.name, "child", ["id", "pid"]).insert([2, 99])
    assert (caught.value.code, caught.value.text) == (1, "151")
    assert sql.number("SELECT COUNT(*) FROM child") == 1


def test_update(writer: Client, sql: Sql, database: Database) -> None:
    index = writer.index(database.name, "item", ["a", "n"])
    assert index.update(1, ["eins", None]) == 1
    assert items(sql) == changed((b"1", b"eins", None, b"x", b"1"))


def test_update_that_changes_nothing_counts(writer: Client, sql: Sql, database: Database) -> None:
    assert writer.index(database.name, "item", ["a"]).update(1, ["one"]) == 1
    assert items(sql) == ROWS


def test_update_of_no_row_counts_0(writer: Client, sql: Sql, database: Database) -> None:
    assert writer.index(database.name, "item", ["a"]).update(99, ["x"]) == 0
    assert items(sql) == ROWS


def test_update_of_the_key_itself(writer: Client, sql: Sql, database: Database) -> None:
    assert writer.index(database.name, "item", ["id"]).update(1, [100]) == 1
    assert [row[0] for row in items(sql)] == [b"2", b"3", b"4", b"100"]


def test_update_of_many_rows(writer: Client, sql: Sql, database: Database) -> None:
    index = writer.index(database.name, "item", ["a"], index="by_n", filter_columns=["s"])
    assert index.update(20, ["both"], limit=10) == 2
    assert index.update(20, ["none"], limit=10, filters=[Filter("=", 0, "q")]) == 0
    assert index.update(20, ["last"], limit=10, filters=[Filter("=", 0, "y")]) == 1
    assert index.update(0, ["off"], op=">", limit=10, offset=2) == 1
    expected = changed((b"2", b"both", b"20", b"x", b"2"), (b"4", b"off", b"20", b"y", b"4"))
    assert items(sql) == expected


def test_modification_of_the_rows_of_in(writer: Client, sql: Sql, database: Database) -> None:
    index = writer.index(database.name, "item", ["a"])
    assert index.update("", ["in"], limit=9, in_=In([4, 99, 1])) == 2
    assert index.delete("", limit=9, in_=In([2, 3])) == 2
    assert [row[:2] for row in items(sql)] == [(b"1", b"in"), (b"4", b"in")]


def test_delete(writer: Client, sql: Sql, database: Database) -> None:
    index = writer.index(database.name, "item", ["id"])
    assert index.delete(2) == 1
    assert index.delete(2) == 0
    assert index.delete(3, op=">=", limit=10) == 2
    assert items(sql) == ROWS[:1]


def test_delete_of_a_parent_is_refused(writer: Client, sql: Sql, database: Database) -> None:
    with pytest.raises(ReplyError) as caught:
        writer.index(database.name, "parent", ["id"]).delete(1)
    assert caught.value.code == 1 and caught.value.number in (151, 152)
    assert sql.number("SELECT COUNT(*) FROM parent") == 1


def test_increment_and_decrement(writer: Client, sql: Sql, database: Database) -> None:
    index = writer.index(database.name, "item", ["n"])
    assert index.increment(1, [5]) == 1
    assert index.decrement(2, [30]) == 0, "the subtraction would cross zero"
    assert index.decrement(4, [20]) == 1
    assert index.increment(4, ["-3"]) == 1
    assert index.increment(3, [5]) == 1, "NULL stays, and its row counts"
    expected = changed((b"1", b"one", b"15", b"x", b"1"), (b"4", b"four", b"-3", b"y", b"4"))
    assert items(sql) == expected


def test_decrement_from_a_negative_value_does_not_cross_zero_either(
    writer: Client, sql: Sql, database: Database
) -> None:
    sql.run("UPDATE item SET n = -5 WHERE id = 1")
    index = writer.index(database.name, "item", ["n"])
    assert index.decrement(1, [2]) == 1
    assert index.decrement(1, ["-10"]) == 0
    assert sql.number("SELECT n FROM item WHERE id = 1") == -7


def test_increment_of_several_columns_and_of_text(
    writer: Client, sql: Sql, database: Database
) -> None:
    sql.run("UPDATE item SET s = '41' WHERE id = 1")
    index = writer.index(database.name, "item", ["n", "s", "u"])
    assert index.increment(1, [1, 1]) == 1, "fewer values than columns"
    assert items(sql) == changed((b"1", b"one", b"11", b"42", b"1"))


def test_increment_below_zero_of_an_unsigned_column_is_out_of_range(
    writer: Client, sql: Sql, database: Database
) -> None:
    with pytest.raises(ReplyError, match="1690"):
        writer.index(database.name, "item", ["u"]).increment(1, ["-5"])
    assert items(sql) == ROWS


@pytest.mark.parametrize(
    ("op", "values", "after"),
    [
        (ModifyOp.UPDATE, ["99"], [(b"1", b"99"), (b"2", b"99"), (b"3", None), (b"4", b"99")]),
        (ModifyOp.DELETE, [], [(b"3", None)]),
        (ModifyOp.INCREMENT, [5], [(b"1", b"15"), (b"2", b"25"), (b"3", None), (b"4", b"25")]),
        (ModifyOp.DECREMENT, [15], [(b"1", b"10"), (b"2", b"5"), (b"3", None), (b"4", b"5")]),
    ],
)
def test_the_forms_that_answer_the_rows_as_they_were(
    op: ModifyOp, values: list, after: list, writer: Client, sql: Sql, database: Database
) -> None:
    """The reply also contains the row that a `-` leaves alone."""
    index = writer.index(database.name, "item", ["n", "id"], index="by_n")
    found = index.fetch_and(op, 0, values, op=">", limit=10)
    assert found == [(b"10", b"1"), (b"20", b"2"), (b"20", b"4")]
    assert sql.rows("SELECT id, n FROM item ORDER BY id") == after


def test_the_read_port_refuses_every_modification(
    reader: Client, sql: Sql, database: Database
) -> None:
    index = reader.index(database.name, "item", ["n"])
    for request in (
        lambda: index.insert([1]),
        lambda: index.update(1, [1]),
        lambda: index.delete(1),
        lambda: index.increment(1, [1]),
        lambda: index.decrement(1, [1]),
        lambda: index.fetch_and(ModifyOp.DELETE, 1),
    ):
        with pytest.raises(ReadOnlyError):
            request()
    assert items(sql) == ROWS


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (b"1\t=\t1\t1\t1\t0\tZ\n", b"2\t1\tmodop"),
        (b"1\t=\t1\t1\t1\t0\tUU\t1\n", b"2\t1\tmodop"),
        (b"1\t=\t2\t1\t1\t1\t0\tD\n", b"2\t1\tkpnum"),
        (b"9\t+\t1\t1\n", b"2\t1\tstmtnum"),
    ],
)
def test_mistakes(request_: bytes, reply: bytes, sql: Sql, database: Database) -> None:
    with database.wire(write=True) as wire:
        wire.ask(b"P\t1\t%s\titem\t\tid,a\n" % database.name.encode())
        assert wire.ask(request_) == reply
        assert wire.ask(b"1\t=\t1\t1\n") == b"0\t2\t1\tone"
    assert items(sql) == ROWS


def test_a_failing_request_of_a_pipeline_is_undone_alone(
    writer: Client, sql: Sql, database: Database
) -> None:
    """The update meets the duplicate at its second row. The change of its first row is undone."""
    index = writer.index(database.name, "item", COLUMNS)
    unique = writer.index(database.name, "item", ["u"])
    with writer.pipeline() as pipeline:
        pipeline.on(index).insert([11, "a", 1, "x", 11])
        pipeline.on(index).insert([1, "dup", 1, "x", 12])
        pipeline.on(unique).update(1, [500], op=">=", limit=10)
        pipeline.on(index).insert([13, "c", 1, "x", 13])
        pipeline.on(index).find(13)
    first, duplicate, update, last, found = pipeline.results()
    assert (first, last, found) == (None, None, [(b"13", b"c", b"1", b"x", b"13")])
    assert duplicate.text == "121" and update.text == "121"
    new = [(b"11", b"a", b"1", b"x", b"11"), (b"13", b"c", b"1", b"x", b"13")]
    assert items(sql) == [*ROWS, *new]


def test_a_find_sees_the_writes_before_it_in_its_pipeline(
    writer: Client, database: Database
) -> None:
    index = writer.index(database.name, "item", ["n"])
    with writer.pipeline() as pipeline:
        for number in range(100, 200):
            pipeline.on(index).update(1, [number])
            pipeline.on(index).find(1)
    assert pipeline.results()[1::2] == [[(b"%d" % number,)] for number in range(100, 200)]


def test_a_write_is_seen_by_sql_and_by_the_read_port_once_it_is_answered(
    reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    read = reader.index(database.name, "item", ["a"])
    write = writer.index(database.name, "item", ["a"])
    for number in range(200):
        assert write.update(1, [f"v{number}"]) == 1
        assert read.find(1) == [(b"v%d" % number,)]
        assert sql.rows("SELECT a FROM item WHERE id = 1") == [(b"v%d" % number,)]


def test_counters_from_many_connections_lose_nothing(sql: Sql, database: Database) -> None:
    sql.run("UPDATE item SET n = 0")
    errors: list[Exception] = []

    def count() -> None:
        try:
            with database.writer() as client:
                index = client.index(database.name, "item", ["n"])
                for _ in range(10):
                    with client.pipeline() as pipeline:
                        for _ in range(20):
                            pipeline.on(index).increment(1, [1])
                    assert pipeline.results() == [1] * 20
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sql.number("SELECT n FROM item WHERE id = 1") == 8 * 10 * 20


@pytest.mark.parametrize("seed", range(5))
def test_random_work_leaves_the_table_that_sql_leaves(
    seed: int, writer: Client, sql: Sql, database: Database
) -> None:
    chance = random.Random(seed)
    sql.run("CREATE TABLE twin LIKE item", "INSERT INTO twin SELECT * FROM item")
    index = writer.index(database.name, "item", ["n", "a"])
    whole = writer.index(database.name, "item", ["id", "n", "a"])
    for _ in range(150):
        key, value = chance.randrange(1, 30), chance.randrange(-5, 100)
        kind = chance.choice(["insert", "update", "delete", "increment"])
        if kind == "insert":
            failed = sql.error("INSERT INTO twin (id, n, a) VALUES (%s, %s, %s)", [key, value, "i"])
            try:
                whole.insert([key, value, "i"])
                assert failed is None
            except DuplicateKeyError:
                assert failed == 1062
        elif kind == "update":
            sql.rows(
                "UPDATE twin SET n = %s, a = 'u' WHERE id >= %s ORDER BY id LIMIT 3", [value, key]
            )
            index.update(key, [value, "u"], op=">=", limit=3)
        elif kind == "delete":
            sql.rows("DELETE FROM twin WHERE id <= %s ORDER BY id DESC LIMIT 1", [key])
            index.delete(key, op="<=", limit=1)
        else:
            sql.rows("UPDATE twin SET n = n + %s WHERE id = %s", [value, key])
            index.increment(key, [value])
    assert items(sql) == sql.rows("SELECT * FROM twin ORDER BY id") != []


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM", "MEMORY"])
def test_a_row_in_the_ranges_of_several_values_is_modified_once(
    engine: str, writer: Client, sql: Sql, database: Database
) -> None:
    """A find answers it once for each value. A modification changes each row of the find once."""
    sql.run(
        f"CREATE TABLE ranged (id INT, v INT, KEY by_id (id) USING BTREE) ENGINE={engine}",
        "INSERT INTO ranged SELECT seq, 0 FROM seq_1_to_6",
    )
    index = writer.index(database.name, "ranged", ["v"], index="by_id")
    with database.wire(write=True) as wire:
        assert wire.ask(b"P\t1\t%s\tranged\tby_id\tv\n" % database.name.encode()) == b"0\t1"
        found = wire.ask(b"1\t>=\t1\t0\t100\t0\t@\t0\t2\t5\t4\n")
        assert found == b"0\t1" + b"\t0" * 5
        assert wire.ask(b"1\t>=\t1\t0\t100\t0\t@\t0\t2\t5\t4\t+\t1\n") == b"0\t1\t3"
        assert sql.rows("SELECT v FROM ranged ORDER BY id") == [(b"0",)] * 3 + [(b"1",)] * 3
        # Limit and offset are the find's. Its rows are 3 2 1 (a value given twice counts once) 2 1.
        assert wire.ask(b"1\t<=\t1\t0\t4\t1\t@\t0\t2\t3\t3\t+?\t1\n") == b"0\t1\t0\t0"
        assert wire.ask(b"1\t<=\t1\t0\t100\t0\t@\t0\t2\t3\t2\tD?\n") == b"0\t1\t0\t1\t1"
    assert sql.rows("SELECT id FROM ranged ORDER BY id") == [(b"4",), (b"5",), (b"6",)]
    assert index.find(4) == [(b"1",)]


def test_the_raw_connection_takes_every_modification(
    writer: Client, sql: Sql, database: Database
) -> None:
    writer.request(OpenIndex(5, database.name, "item", "", ["n"]))
    assert writer.request(FindModify(Find(5, [1]), ModifyOp.INCREMENT, [1])) == 1
    assert writer.request(FetchModify(Find(5, [1]), ModifyOp.DECREMENT, [1])) == [(b"11",)]
    writer.request(OpenIndex(6, database.name, "numbered", "", ["v"]))
    assert writer.request(Insert(6, ["x"])) == 1
    assert items(sql) == ROWS


def test_a_table_that_its_engine_does_not_let_lock(make_server) -> None:
    """With or without other tables that a write needs. A find needs no lock that is refused."""
    server = make_server()
    with Sql(server.socket, "test") as sql:
        sql.run(
            "CREATE TABLE plain (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE fired (id INT PRIMARY KEY, v INT)",
            "CREATE TRIGGER to_plain AFTER UPDATE ON fired FOR EACH ROW DELETE FROM plain",
            "INSERT INTO plain VALUES (1, 1)",
            "INSERT INTO fired VALUES (1, 1)",
        )
    server.settings["innodb_read_only"] = 1
    server.restart()
    with Database(server, "test").writer() as client:
        for table in ("plain", "fired"):
            index = client.index("test", table, ["id", "v"])
            for write in (
                lambda index=index: index.insert([2, 2]),
                lambda index=index: index.update(1, [1, 2]),
                lambda index=index: index.delete(1),
            ):
                with pytest.raises(ReadOnlyError, match="lock_tables"):
                    write()
            assert index.find(1) == [(b"1", b"1")]
    # A find and a write in one pass leave nothing behind for which later finds would miss rows.
    with Database(server, "test").wire(write=True) as wire:
        wire.send(b"P\t1\ttest\tplain\tPRIMARY\tid,v\n1\t+\t2\t2\t2\n")
        assert wire.lines(2) == [b"0\t1", b"1\t1\tlock_tables"]
        for _ in range(3):
            wire.send(b"1\t=\t1\t1\n")
            assert wire.lines(1) == [b"0\t2\t1\t1"]
        wire.send(b"1\t=\t1\t1\n1\t+\t2\t2\t2\n1\t=\t1\t1\n")
        assert wire.lines(3) == [b"0\t2\t1\t1", b"1\t1\tlock_tables", b"0\t2\t1\t1"]
        wire.send(b"1\t=\t1\t1\n")
        assert wire.lines(1) == [b"0\t2\t1\t1"]
