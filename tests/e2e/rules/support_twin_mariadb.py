"""Twin tables for what only MariaDB has: sequences, system versioning, periods, types, Aria."""

from __future__ import annotations

from support_twin_types import without_transactions
from support_twin_values import BAD_NUMBERS, IDS, NUMBERS, TEXTS
from support_twins import Table

TABLES = [
    Table(
        "sequenced",
        [
            "CREATE SEQUENCE numbers START 10 INCREMENT 3 CACHE 5",
            "CREATE TABLE sequenced (id BIGINT PRIMARY KEY DEFAULT NEXTVAL(numbers), v INT,"
            " at_made DATETIME DEFAULT NOW())",
        ],
        {"id": [*IDS, "13", "16"], "v": BAD_NUMBERS},
        given=[],
        numbers=["v"],
        draws=True,
    ),
    Table(
        "versioned",
        [
            "CREATE TABLE versioned (id INT PRIMARY KEY, v INT, note VARCHAR(20),"
            " free INT WITHOUT SYSTEM VERSIONING, KEY by_v (v)) WITH SYSTEM VERSIONING"
        ],
        {"id": IDS, "v": ["1", "2", "3"], "note": TEXTS, "free": NUMBERS},
        keys={"PRIMARY": "id", "by_v": "v"},
        numbers=["v", "free"],
        versioned=True,
    ),
    Table(
        "long_unique",
        [
            "CREATE TABLE long_unique (id INT PRIMARY KEY, body TEXT, pair INT, UNIQUE KEY (body),"
            " UNIQUE KEY (pair))"
        ],
        {"id": IDS, "body": TEXTS, "pair": NUMBERS},
        numbers=["pair"],
    ),
    Table(
        "periods",
        [
            "CREATE TABLE periods (id INT PRIMARY KEY, room INT NOT NULL, since DATE NOT NULL,"
            " until DATE NOT NULL, PERIOD FOR stay (since, until),"
            " UNIQUE KEY by_room (room, stay WITHOUT OVERLAPS))"
        ],
        {
            "id": IDS,
            "room": ["1", "2", None],
            "since": ["2024-01-01", "2024-02-01", "2024-03-01"],
            "until": ["2024-02-01", "2024-03-01", "2024-02-15"],
        },
    ),
    Table(
        "addresses",
        ["CREATE TABLE addresses (id INT PRIMARY KEY, i INET6, uu UUID)"],
        {
            "id": IDS,
            "i": [None, "::1", "10.0.0.1", "no address"],
            "uu": [None, "123e4567-e89b-12d3-a456-426614174000", "no uuid"],
        },
    ),
    without_transactions("Aria"),
    # Everything at once: each rule is followed, and in SQL's order. at_changed counts microseconds.
    # With milliseconds, two statements might come in the same one. Then a row keeps its time, and
    # if nothing else changes, it is not logged, by chance only in SQL or only here.
    Table(
        "all_in_one",
        [
            "CREATE SEQUENCE tickets START 100 INCREMENT 10 NOCACHE",
            "CREATE TABLE plain_log (what VARCHAR(20), v INT) ENGINE=MyISAM",
            "CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2",
            "CREATE TABLE all_in_one (id INT AUTO_INCREMENT PRIMARY KEY, tree_id INT,"
            " ticket INT DEFAULT NEXTVAL(tickets), v INT DEFAULT 5 CHECK (v < 500),"
            " total INT AS (v + ticket) STORED, half INT AS (v / 2) VIRTUAL, w VARCHAR(10)"
            " DEFAULT 'w',"
            " at_changed TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),"
            " KEY by_total (total), KEY by_half (half), UNIQUE KEY by_w (w, v),"
            " FOREIGN KEY (tree_id) REFERENCES tree (id) ON DELETE SET NULL) WITH SYSTEM"
            " VERSIONING",
            "CREATE TRIGGER all_before BEFORE INSERT ON all_in_one FOR EACH ROW BEGIN"
            " DECLARE known INT; SELECT COUNT(*) INTO known FROM tree;"
            " IF NEW.v IS NULL THEN SET NEW.v = twice(known) + NEXTVAL(tickets); END IF; END",
            "CREATE TRIGGER all_after AFTER INSERT ON all_in_one FOR EACH ROW"
            " INSERT INTO plain_log VALUES ('insert', NEW.v)",
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
        versioned=True,
        draws=True,
    ),
    Table(
        "searched",
        [
            "CREATE TABLE searched (id INT PRIMARY KEY, body VARCHAR(50), packed TEXT COMPRESSED,"
            " place POINT NOT NULL DEFAULT (POINT(1, 2)), FULLTEXT KEY (body), SPATIAL KEY (place))"
        ],
        {"id": IDS, "body": [*TEXTS, "some more words"], "packed": [None, "x" * 300, "short"]},
    ),
]
#: Tables that only triggers write.
BESIDE = ["audit", "plain_log"]
#: What is written outside any transaction.
OUTSIDE = ["numbers", "tickets", "plain_log"]
