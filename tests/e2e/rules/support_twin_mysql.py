"""Twin tables of what MySQL alone has: binary JSON and its indexes, functional and descending
indexes, primary keys that the server makes up."""

from __future__ import annotations

from support_twin_values import BAD_NUMBERS, IDS, NUMBERS, TEXTS
from support_twins import Table

TABLES = [
    Table(
        "documents",
        [
            "CREATE TABLE documents (id INT PRIMARY KEY, doc JSON, listed JSON DEFAULT"
            " (JSON_ARRAY(id, 'made')), kind VARCHAR(8) AS (doc->>'$.kind') VIRTUAL,"
            " size INT AS (JSON_LENGTH(doc)) STORED, CHECK (JSON_LENGTH(listed) < 4),"
            " KEY by_kind (kind), KEY by_n ((CAST(doc->'$.n' AS SIGNED))),"
            " KEY by_element ((CAST(listed AS CHAR(10) ARRAY))))"
        ],
        {
            "id": IDS,
            "doc": [
                None,
                "{}",
                '{"kind": "x", "n": 5}',
                '{"n": 7, "kind": "y", "deep": {"é": [1.50, true, null]}}',
                '{"kind": "longer than eight"}',
                '{"n": "no number"}',
                "{broken",
                "",
                '"text"',
            ],
            "kind": [None, "x", "y"],
            "listed": [None, "[]", '["a", "b"]', '["a", 1, 2.5]', "[1, 2, 3, 4]", "7", "[[1]]"],
        },
        keys={"PRIMARY": "id", "by_kind": "kind"},
        generated=["kind"],
    ),
    Table(
        "expressed",
        [
            "CREATE TABLE expressed (id INT PRIMARY KEY, a INT, b VARCHAR(20), low INT,"
            " high INT DEFAULT (low + 10), CONSTRAINT ignored CHECK (a > 3) NOT ENFORCED,"
            " UNIQUE KEY by_sum ((a + low)), KEY by_text ((LOWER(b)), a DESC), KEY by_a (a DESC))"
        ],
        {"id": IDS, "a": NUMBERS, "b": TEXTS, "low": [None, "1", "2"], "high": BAD_NUMBERS},
        keys={"PRIMARY": "id", "by_a": "a"},
        numbers=["a", "high"],
    ),
    Table(
        "unkeyed",
        [
            "SET SESSION sql_generate_invisible_primary_key = ON",
            "CREATE TABLE unkeyed (k INT, v INT, w TEXT, KEY by_k (k))",
            "SET SESSION sql_generate_invisible_primary_key = OFF",
        ],
        {"k": IDS, "v": NUMBERS, "w": TEXTS},
        keys={"by_k": "k"},
        order="my_row_id",
        given=["k"],
        auto_increment=True,
    ),
    Table(
        "long_unique",
        [
            "CREATE TABLE long_unique (id INT PRIMARY KEY, body TEXT, pair INT,"
            " UNIQUE KEY (body(3)), UNIQUE KEY (pair))"
        ],
        {"id": IDS, "body": TEXTS, "pair": NUMBERS},
        numbers=["pair"],
    ),
    # Everything at once: each rule is followed, and in SQL's order. at_changed counts microseconds.
    # With milliseconds, two statements might come in the same one. Then a row keeps its time, and
    # if nothing else changes, it is not logged, by chance only in SQL or only here.
    Table(
        "all_in_one",
        [
            "CREATE TABLE log (what VARCHAR(20), v INT, doc JSON)",
            "CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC NO SQL RETURN x * 2",
            "CREATE TABLE all_in_one (id INT AUTO_INCREMENT PRIMARY KEY, tree_id INT,"
            " ticket INT DEFAULT (COALESCE(tree_id, 0) * 10), v INT DEFAULT 5 CHECK (v < 500),"
            " total INT AS (v + ticket) STORED, half INT AS (v / 2) VIRTUAL, w VARCHAR(10)"
            " DEFAULT 'w', doc JSON DEFAULT (JSON_OBJECT('w', w)),"
            " at_changed TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),"
            " KEY by_total (total), KEY by_half (half), UNIQUE KEY by_w (w, v),"
            " KEY by_difference ((total - half)), FOREIGN KEY (tree_id) REFERENCES tree (id)"
            " ON DELETE SET NULL)",
            "CREATE TRIGGER all_before BEFORE INSERT ON all_in_one FOR EACH ROW BEGIN"
            " DECLARE known INT; SELECT COUNT(*) INTO known FROM tree;"
            " IF NEW.v IS NULL THEN SET NEW.v = twice(known); END IF; END",
            "CREATE TRIGGER all_after AFTER INSERT ON all_in_one FOR EACH ROW"
            " INSERT INTO log VALUES ('insert', NEW.v, NEW.doc)",
            "CREATE TRIGGER all_changed AFTER UPDATE ON all_in_one FOR EACH ROW"
            " UPDATE tree SET v = COALESCE(v, 0) + 1 WHERE id = NEW.tree_id",
        ],
        {
            "id": [None, "0", *IDS],
            "tree_id": [None, *IDS],
            "v": NUMBERS,
            "w": TEXTS,
            "half": [None, "3", "21", "50"],
        },
        keys={"PRIMARY": "id", "by_half": "half"},
        given=[],
        numbers=["v"],
        auto_increment=True,
        generated=["half"],
    ),
    # With GTIDs, no statement may write tables with transactions and tables without.
    Table(
        "unsafe",
        [
            "CREATE TABLE plain_log (what VARCHAR(20), v INT) ENGINE=MyISAM",
            "CREATE TABLE unsafe (id INT PRIMARY KEY, v INT)",
            "CREATE TRIGGER unsafe_insert AFTER INSERT ON unsafe FOR EACH ROW"
            " INSERT INTO plain_log VALUES ('insert', NEW.v)",
        ],
        {"id": IDS, "v": NUMBERS},
    ),
    Table(
        "searched",
        [
            "CREATE TABLE searched (id INT PRIMARY KEY, body VARCHAR(50), place POINT NOT NULL"
            " SRID 4326 DEFAULT (ST_SRID(POINT(1, 2), 4326)), FULLTEXT KEY (body),"
            " SPATIAL KEY (place))"
        ],
        {"id": IDS, "body": [*TEXTS, "some more words"]},
    ),
]
#: Tables that only triggers write.
BESIDE = ["audit", "log", "plain_log"]
#: What is written outside any transaction.
OUTSIDE = ["plain_log"]
