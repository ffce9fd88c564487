"""Tables that together use every rule of a write."""

from __future__ import annotations

import support_twin_mariadb
import support_twin_mysql
from support.servers import ON_MYSQL
from support_twin_types import ENGINES, TYPES, UNIQUE
from support_twin_values import BAD_NUMBERS, IDS, NUMBERS, OLD, TEXTS
from support_twins import Table

DEFAULTS = [
    Table(
        "defaults",
        [
            "CREATE TABLE defaults (id INT PRIMARY KEY, literal INT DEFAULT 7,"
            " expression INT DEFAULT (literal * 2 + 1), text VARCHAR(20) DEFAULT (CONCAT('n',"
            " literal)),"
            " blobs BLOB DEFAULT ('a blob'), hidden INT INVISIBLE DEFAULT 3,"
            " must INT NOT NULL, listed ENUM('one', 'two') NOT NULL, k INT NOT NULL DEFAULT 1,"
            " bits BIT(3) DEFAULT b'101', KEY by_k (k))"
        ],
        {
            "id": [*IDS, None],
            "literal": BAD_NUMBERS,
            "expression": NUMBERS,
            "text": TEXTS,
            "blobs": TEXTS,
            "hidden": NUMBERS,
            "must": BAD_NUMBERS,
            "listed": ["one", "two", "three", "", None],
            "k": ["1", "2", "3", None],
        },
        keys={"PRIMARY": "id", "by_k": "k"},
        numbers=["literal", "must", "hidden"],
    ),
    Table(
        "clocks",
        [
            "CREATE TABLE clocks (id INT PRIMARY KEY, v INT, at_created TIMESTAMP NOT NULL DEFAULT"
            " CURRENT_TIMESTAMP, at_changed TIMESTAMP(6) NULL DEFAULT CURRENT_TIMESTAMP(6) ON"
            " UPDATE"
            " CURRENT_TIMESTAMP(6), at_touched DATETIME(3) ON UPDATE CURRENT_TIMESTAMP(3),"
            " at_day DATETIME DEFAULT (NOW()))"
        ],
        {
            "id": IDS,
            "v": NUMBERS,
            "at_created": OLD,
            "at_changed": OLD,
            "at_touched": OLD,
            "at_day": OLD,
        },
        numbers=["v"],
        now_for_null=["at_created"],
    ),
]

GENERATED = [
    Table(
        "computed",
        [
            "CREATE TABLE computed (id INT PRIMARY KEY, a INT, b VARCHAR(20),"
            " doubled INT AS (a * 2) VIRTUAL, label VARCHAR(30) AS (CONCAT(b, '-', a)) STORED,"
            " shown VARCHAR(10) AS (LEFT(UPPER(b), 3)) VIRTUAL, lone INT AS (a % 50) VIRTUAL,"
            " KEY by_doubled (doubled), KEY by_label (label), UNIQUE KEY by_lone (lone))"
        ],
        {
            "id": IDS,
            "a": ["1", "2", "3", "51", "1500000000", None, "x"],
            "b": TEXTS,
            "doubled": [None, "2", "4", "6"],
            "label": [None, "a-1", "word-2"],
        },
        keys={"PRIMARY": "id", "by_doubled": "doubled", "by_label": "label"},
        numbers=["a"],
        generated=["doubled", "label"],
    )
]

CHECKED = [
    Table(
        "checked",
        [
            "CREATE TABLE checked (id INT PRIMARY KEY, low INT CHECK (low >= 0), high INT"
            " DEFAULT 50,"
            " name VARCHAR(10) CHECK (name <> 'bad'), doc JSON, CONSTRAINT span CHECK (low <="
            " high))"
        ],
        {
            "id": IDS,
            "low": BAD_NUMBERS,
            "high": NUMBERS,
            "name": TEXTS,
            "doc": [None, "{}", '{"a": [1, 2]}', "{broken", ""],
        },
        numbers=["low", "high"],
    )
]

_CHILD = (
    "CREATE TABLE {0} (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES parent (id) {1})"
)
_CHILD_COLUMNS = {"id": IDS, "pid": [*IDS, None, "99"]}

FOREIGN_KEYS = [
    Table(
        "parent",
        ["CREATE TABLE parent (id INT PRIMARY KEY, v INT)"],
        {"id": IDS, "v": NUMBERS},
        numbers=["v"],
    ),
    *(
        Table(name, [_CHILD.format(name, rule)], _CHILD_COLUMNS)
        for name, rule in {
            "child_cascade": "ON DELETE CASCADE ON UPDATE CASCADE",
            "child_null": "ON DELETE SET NULL ON UPDATE SET NULL",
        }.items()
    ),
    Table("child_restrict", [_CHILD.format("child_restrict", "")], {"id": IDS[:3], "pid": IDS[:4]}),
]

TRIGGERED = [
    Table(
        "triggered",
        [
            "CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(10), row_id INT,"
            " old_a INT, new_a INT, old_b VARCHAR(20), new_b VARCHAR(20), note INT CHECK (note >"
            " 0))",
            "CREATE TABLE triggered (id INT PRIMARY KEY, a INT, b VARCHAR(10) NOT NULL, n INT"
            " DEFAULT 0,"
            " g INT AS (a + 1) VIRTUAL, s INT AS (a + 2) STORED, at_seen DATETIME DEFAULT NOW())",
            "CREATE TRIGGER before_insert BEFORE INSERT ON triggered FOR EACH ROW BEGIN"
            " SET NEW.a = COALESCE(NEW.a, 0) + 1;"
            " IF NEW.b IS NULL THEN SET NEW.b = 'trigger'; END IF; END",
            "CREATE TRIGGER before_update BEFORE UPDATE ON triggered FOR EACH ROW BEGIN"
            " SET NEW.n = COALESCE(OLD.n, 0) + 1;"
            " IF NEW.a > 1000 THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 9999; END IF; END",
            "CREATE TRIGGER before_delete BEFORE DELETE ON triggered FOR EACH ROW"
            " IF OLD.a = 43 THEN SIGNAL SQLSTATE '45000'; END IF",
            "CREATE TRIGGER after_insert AFTER INSERT ON triggered FOR EACH ROW INSERT INTO audit"
            " (what, row_id, new_a, new_b, note) VALUES ('insert', NEW.id, NEW.s, NEW.b,"
            " IF(NEW.b = 'word', -1, NULL))",
            "CREATE TRIGGER after_update AFTER UPDATE ON triggered FOR EACH ROW INSERT INTO audit"
            " (what, row_id, old_a, new_a, old_b, new_b) VALUES ('update', NEW.id, OLD.g, NEW.g,"
            " OLD.b, NEW.b)",
            "CREATE TRIGGER after_delete AFTER DELETE ON triggered FOR EACH ROW INSERT INTO audit"
            " (what, row_id, old_a, old_b) VALUES ('delete', OLD.id, OLD.s, OLD.b)",
        ],
        {"id": IDS, "a": BAD_NUMBERS, "b": TEXTS, "n": NUMBERS},
        numbers=["a", "n"],
    ),
    Table(
        "corrected",
        [
            "CREATE TABLE corrected (id INT PRIMARY KEY, v TEXT, n INT, KEY by_n (n))",
            "CREATE TRIGGER correct_insert BEFORE INSERT ON corrected FOR EACH ROW"
            " SET NEW.v = CONCAT(NEW.v, '!')",
            "CREATE TRIGGER correct_update BEFORE UPDATE ON corrected FOR EACH ROW"
            " SET NEW.n = OLD.n + 1",
        ],
        {"id": IDS, "v": TEXTS, "n": NUMBERS},
        keys={"PRIMARY": "id", "by_n": "n"},
        numbers=["n"],
    ),
]

# After an id of 0 or below, MariaDB's InnoDB takes a counter below 3 to 3, but only if the same
# open table has drawn a number before. Which open table a connection gets is chance, in SQL, too.
# So the counters begin with 3.
AUTO_INCREMENT = [
    *(
        Table(
            name,
            [
                f"CREATE TABLE {name} (id {kind} AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10), n"
                f" INT UNIQUE) AUTO_INCREMENT = 3"
            ],
            {"id": ids, "v": TEXTS, "n": [None, None, *IDS]},
            given=[],
            auto_increment=True,
        )
        for name, kind, ids in (
            ("counted_one", "BIGINT UNSIGNED", [None, "0", "5", "20", "70"]),
            ("counted_two", "INT", [None, "0", "-3", "11", "3000000000"]),
            ("counted_few", "TINYINT", [None, None, "90", "126"]),
        )
    )
]

PARTITIONED = [
    Table(
        "parted",
        [
            "CREATE TABLE parted (id INT, k INT NOT NULL DEFAULT 3, v VARCHAR(10), PRIMARY KEY"
            " (id, k),"
            " KEY by_id (id)) PARTITION BY RANGE (k) (PARTITION p0 VALUES LESS THAN (10),"
            " PARTITION p1 VALUES LESS THAN (20))"
        ],
        {"id": IDS, "k": ["1", "5", "9", "10", "19", "20", None], "v": TEXTS},
        keys={"by_id": "id"},
        order="id, k",
        replays=True,  # a row for which there is no partition
    ),
    Table(
        "hashed",
        [
            "CREATE TABLE hashed (id INT PRIMARY KEY, v INT, w VARCHAR(10) DEFAULT 'w')"
            " PARTITION BY HASH (id) PARTITIONS 3"
        ],
        {"id": IDS, "v": NUMBERS, "w": TEXTS},
        numbers=["v"],
    ),
]

MIXED = [
    Table(
        "tree",
        [
            "CREATE TABLE tree (id INT PRIMARY KEY, up INT, v INT, FOREIGN KEY (up) REFERENCES"
            " tree (id)"
            " ON DELETE CASCADE)"
        ],
        {"id": IDS, "up": [None, *IDS[:4]], "v": NUMBERS},
        numbers=["v"],
    ),
]

_FAMILY = support_twin_mysql if ON_MYSQL else support_twin_mariadb

TABLES = [
    *DEFAULTS,
    *GENERATED,
    *CHECKED,
    *FOREIGN_KEYS,
    *TRIGGERED,
    *AUTO_INCREMENT,
    *PARTITIONED,
    *TYPES,
    *UNIQUE,
    *ENGINES,
    *MIXED,
    *_FAMILY.TABLES,
]
#: Tables that only triggers write.
BESIDE = _FAMILY.BESIDE
#: What is written outside any transaction.
OUTSIDE = _FAMILY.OUTSIDE
