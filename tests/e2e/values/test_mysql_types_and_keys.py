"""What only MySQL has: JSON and its indexes, vectors, keys that the server generates, places."""

from __future__ import annotations

import struct

import pytest
from handlersocket2 import Client, Filter, ReplyError
from support.database import Database, Sql
from support.servers import needs_mysql

pytestmark = needs_mysql
OPERATORS = ["=", ">", ">=", "<", "<="]
DOCUMENTS = [
    '{"b": 1, "a": [1.50, "é\\n", null, true]}',
    '"text"',
    "[]",
    "1.0",
    "18446744073709551615",
    '{"a": 1, "a": 2}',
    '  {"deep": {"er": {"est": "😀"}}}  ',
    '"2024-02-29"',
]


class TestJson:
    def test_in_and_out_it_is_sqls_text(self, writer: Client, sql: Sql, database: Database) -> None:
        sql.run("CREATE TABLE j (id INT PRIMARY KEY, doc JSON)", "CREATE TABLE twin LIKE j")
        index = writer.index(database.name, "j", ["id", "doc"])
        for number, document in enumerate(DOCUMENTS):
            index.insert([number, document])
            sql.rows("INSERT INTO twin VALUES (%s, %s)", [number, document])
        index.insert([100, None])
        sql.run("INSERT INTO twin VALUES (100, NULL)")
        expected = sql.rows("SELECT id, doc FROM twin")
        assert sql.rows("SELECT id, doc FROM j") == expected
        assert index.find(0, op=">=", limit=99) == expected
        types = "SELECT JSON_TYPE(doc), JSON_STORAGE_SIZE(doc) FROM {}"
        assert sql.rows(types.format("j")) == sql.rows(types.format("twin"))

    @pytest.mark.parametrize("document", ["", "{broken", "nul", b"\xff"])
    def test_what_is_no_json_is_refused_as_by_sql(
        self, document: str | bytes, writer: Client, sql: Sql, database: Database
    ) -> None:
        sql.run("CREATE TABLE j (id INT PRIMARY KEY, doc JSON)", "INSERT INTO j VALUES (1, '[1]')")
        index = writer.index(database.name, "j", ["id", "doc"])
        for write in (lambda: index.insert([2, document]), lambda: index.update(1, [1, document])):
            with pytest.raises(ReplyError) as caught:
                write()
            if isinstance(document, str):
                by_sql = sql.error("INSERT INTO j VALUES (3, %s)", [document])
                assert (caught.value.code, caught.value.number) == (1, by_sql)
        assert sql.rows("SELECT * FROM j") == [(b"1", b"[1]")]

    def test_no_filter_and_no_arithmetic(
        self, writer: Client, sql: Sql, database: Database
    ) -> None:
        sql.run("CREATE TABLE j (id INT PRIMARY KEY, doc JSON)", "INSERT INTO j VALUES (1, '5')")
        index = writer.index(database.name, "j", ["id"], filter_columns=["doc"])
        with pytest.raises(ReplyError, match="filterblob"):
            index.find(1, filters=[Filter("=", 0, "5")])
        with pytest.raises(ReplyError, match="^1 3140: "):
            writer.index(database.name, "j", ["doc"]).increment(1, [2])
        assert sql.rows("SELECT doc FROM j") == [(b"5",)]

    def test_an_index_over_a_value(
        self, reader: Client, writer: Client, sql: Sql, database: Database
    ) -> None:
        """A client cannot name the hidden column of a functional index."""
        sql.run(
            "CREATE TABLE f (id INT PRIMARY KEY, doc JSON, KEY by_n ((CAST(doc->'$.n' AS SIGNED))),"
            " KEY by_sum ((id + 1)))",
            "INSERT INTO f SELECT seq, JSON_OBJECT('n', seq % 5) FROM seq_1_to_20",
        )
        by_n = reader.index(database.name, "f", ["id", "doc"], index="by_n")
        by_sum = reader.index(database.name, "f", ["id"], index="by_sum")
        for op in OPERATORS:
            for key in (-1, 0, 3, 4, 9):
                condition = f"CAST(doc->'$.n' AS SIGNED) {op} {key}"
                expected = sql.rows(f"SELECT id, doc FROM f WHERE {condition}")
                assert sorted(by_n.find(key, op=op, limit=99)) == sorted(expected)
        assert by_sum.find(8) == [(b"7",)]
        writer.index(database.name, "f", ["id", "doc"]).insert([21, '{"n": 77}'])
        assert by_n.find(77) == [(b"21", b'{"n": 77}')]
        assert writer.index(database.name, "f", ["doc"]).update(21, ['{"n": 78}']) == 1
        assert by_n.find(77) == []
        assert writer.index(database.name, "f", ["id"], index="by_n").delete(78) == 1
        hidden = sql.rows("SHOW EXTENDED COLUMNS FROM f WHERE Field LIKE '!hidden!%'")
        assert hidden
        for name, *_ in hidden:
            with pytest.raises(ReplyError, match="fld"):
                reader.index(database.name, "f", [(name or b"").decode()])
        with pytest.raises(ReplyError, match="fld"):
            reader.index(database.name, "f", ["DB_TRX_ID"])
        assert sql.rows("CHECK TABLE f EXTENDED")[-1][3] == b"OK"

    def test_an_index_over_the_elements_of_an_array(
        self, reader: Client, writer: Client, sql: Sql, database: Database
    ) -> None:
        """The index cannot be opened, but writes update it."""
        sql.run(
            "CREATE TABLE m (id INT PRIMARY KEY, doc JSON,"
            " KEY by_element ((CAST(doc AS UNSIGNED ARRAY))))"
        )
        with pytest.raises(ReplyError, match="idxnum"):
            reader.index(database.name, "m", ["id"], index="by_element")
        index = writer.index(database.name, "m", ["id", "doc"])
        index.insert([1, "[1, 2, 3]"])
        index.insert([2, "[3, 4]"])
        assert index.update(1, [1, "[2, 5]"]) == 1
        with pytest.raises(ReplyError) as caught:
            index.insert([3, '["no number"]'])
        by_sql = sql.error("INSERT INTO m VALUES (4, '[\"no number\"]')")
        assert (caught.value.code, caught.value.number) == (1, by_sql)
        found = "SELECT id FROM m FORCE INDEX (by_element) WHERE {} MEMBER OF (doc) ORDER BY id"
        for element, ids in ((1, []), (2, [1]), (3, [2]), (5, [1])):
            expected = [(b"%d" % number,) for number in ids]
            assert sql.rows(found.format(element)) == expected
        assert sql.rows("CHECK TABLE m EXTENDED")[-1][3] == b"OK"


class TestKeys:
    def test_a_primary_key_that_the_server_makes_up(
        self, reader: Client, writer: Client, sql: Sql, database: Database
    ) -> None:
        sql.run(
            "SET SESSION sql_generate_invisible_primary_key = ON",
            "CREATE TABLE h (k INT, v VARCHAR(10), KEY by_k (k))",
            "SET SESSION sql_generate_invisible_primary_key = OFF",
        )
        rows = writer.index(database.name, "h", ["k", "v"])
        assert rows.insert([5, "five"]) == 1
        assert rows.insert([6, "six"]) == 2
        primary = reader.index(database.name, "h", ["my_row_id", "v"])
        assert primary.find(0, op=">", limit=9) == [(b"1", b"five"), (b"2", b"six")]
        assert writer.index(database.name, "h", ["v"], index="by_k").update(6, ["sechs"]) == 1
        assert rows.delete(1) == 1
        selected = sql.rows("SELECT my_row_id, k, v FROM h")
        assert selected == [(b"2", b"6", b"sechs")]

    def test_descending_parts(self, reader: Client, sql: Sql, database: Database) -> None:
        """An operator compares values, whether the parts ascend or descend."""
        sql.run(
            "CREATE TABLE d (id INT PRIMARY KEY, a INT, b INT, KEY down_up (a DESC, b),"
            " KEY down (b DESC))",
            "INSERT INTO d SELECT seq, seq % 5, IF(seq % 9 = 0, NULL, seq % 7) FROM seq_1_to_60",
        )
        down = reader.index(database.name, "d", ["id", "b"], index="down")
        down_up = reader.index(database.name, "d", ["id"], index="down_up")
        for op in OPERATORS:
            null = " OR b IS NULL" if "<" in op else ""
            for key in (-1, 0, 3, 6, 9):
                expected = sql.rows(f"SELECT id, b FROM d WHERE b {op} {key}{null}")
                found = down.find(key, op=op, limit=99)
                assert sorted(found, key=repr) == sorted(expected, key=repr), (op, key)
        for a in range(5):
            expected = sql.rows(f"SELECT id FROM d WHERE a = {a} AND b = 3")
            assert sorted(down_up.find([a, 3], limit=99)) == sorted(expected)

    def test_what_is_known_of_tables_survives_a_restart(self, make_server) -> None:
        server = make_server()
        database = Database(server, "test")
        database.sql.run(
            "CREATE TABLE r (id INT AUTO_INCREMENT PRIMARY KEY, doc JSON DEFAULT (JSON_ARRAY(1)),"
            " n INT CHECK (n < 10), s INT INVISIBLE DEFAULT 7, t INT AS (n + 1) VIRTUAL,"
            " KEY by_t (t), KEY by_sum ((n + s)), KEY down (n DESC))",
            "ALTER TABLE r ADD COLUMN late INT DEFAULT 3, ALGORITHM=INSTANT",
        )
        for _ in range(2):
            with database.writer() as writer:
                assert writer.index("test", "r", ["n"]).insert([5]) is not None
                with pytest.raises(ReplyError, match="3819"):
                    writer.index("test", "r", ["n"]).insert([11])
                for index, key in (("by_t", 6), ("by_sum", 12), ("down", 5)):
                    columns = ["doc", "s", "t", "late"]
                    opened = writer.index("test", "r", columns, index=index)
                    (row, *_) = opened.find(key, limit=9)
                    assert row == (b"[1]", b"7", b"6", b"3")
            database.close()
            server.restart()
            database = Database(server, "test")
        assert database.sql.number("SELECT COUNT(*) FROM r") == 2
        database.close()


class TestBinaryTypes:
    def test_vectors(self, writer: Client, sql: Sql, database: Database) -> None:
        sql.run(
            "CREATE TABLE v (id INT PRIMARY KEY, v VECTOR(3) DEFAULT (STRING_TO_VECTOR('[7,8,9]')))"
        )
        index = writer.index(database.name, "v", ["id", "v"])
        value = struct.pack("<3f", 1.5, -2, 3e38)
        index.insert([1, value])
        index.insert([2])
        assert index.find(1) == [(b"1", value)]
        assert index.find(2) == [(b"2", struct.pack("<3f", 7, 8, 9))]
        assert index.update(1, [1, value[:8]]) == 1
        assert sql.row("SELECT VECTOR_TO_STRING(v) FROM v WHERE id = 1") == sql.row(
            "SELECT VECTOR_TO_STRING(STRING_TO_VECTOR('[1.5,-2]'))"
        )
        for wrong in (b"12345", value + value, b"\0\0\xc0\x7f"):
            with pytest.raises(ReplyError) as caught:
                index.update(1, [1, wrong])
            by_sql = sql.error(f"UPDATE v SET v = x'{wrong.hex()}' WHERE id = 1")
            assert (caught.value.code, caught.value.number) == (1, by_sql), wrong

    def test_a_place_in_its_reference_system(
        self, writer: Client, sql: Sql, database: Database
    ) -> None:
        sql.run(
            "CREATE TABLE p (id INT PRIMARY KEY, g POINT NOT NULL SRID 4326, SPATIAL KEY by_g (g))",
            "INSERT INTO p VALUES (1, ST_GeomFromText('POINT(48.2 16.4)', 4326))",
        )
        index = writer.index(database.name, "p", ["id", "g"])
        ((_, place),) = index.find(1)
        assert (place,) == sql.row("SELECT g FROM p")
        index.insert([2, place])
        assert sql.number("SELECT COUNT(DISTINCT ST_AsText(g), ST_SRID(g)) FROM p") == 1
        elsewhere = (0).to_bytes(4, "little") + (place or b"")[4:]
        for wrong in (elsewhere, b"no place", b""):
            with pytest.raises(ReplyError) as caught:
                index.insert([3, wrong])
            by_sql = sql.error(f"INSERT INTO p VALUES (4, x'{wrong.hex()}')")
            assert (caught.value.code, caught.value.number) == (1, by_sql), wrong
        with pytest.raises(ReplyError, match="idxnum"):
            writer.index(database.name, "p", ["id"], index="by_g")
