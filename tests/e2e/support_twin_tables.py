"""Tables in which every rule of a write has a part, for test_write_rules.py and test_replication.py."""

from __future__ import annotations

from collections.abc import Sequence

from support_twins import Table, Value

IDS = [str(number) for number in range(1, 10)]
NUMBERS: Sequence[Value] = [None, "0", "1", "5", "-7", "42", "100", "2000"]
BAD_NUMBERS: Sequence[Value] = [*NUMBERS, "abc", "", "1.6", "99999999999", "5 x"]
TEXTS: Sequence[Value] = [None, "", "a", "B", "bad", "word", "ten letters long"]
OLD: Sequence[Value] = [None, "2001-02-03 04:05:06", "2010-10-10 10:10:10.123456", "2001-02-30"]

DEFAULTS = [
    Table(
        "defaults",
        [
            "CREATE TABLE defaults (id INT PRIMARY KEY, literal INT DEFAULT 7,"
            " expression INT DEFAULT (literal * 2 + 1), text VARCHAR(20) DEFAULT (CONCAT('n', literal)),"
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
            " CURRENT_TIMESTAMP, at_changed TIMESTAMP(6) NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE"
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
    ),
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
    ),
]

GENERATED = [
    Table(
        "generated",
        [
            "CREATE TABLE generated (id INT PRIMARY KEY, a INT, b VARCHAR(20),"
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
    )
]

CHECKED = [
    Table(
        "checked",
        [
            "CREATE TABLE checked (id INT PRIMARY KEY, low INT CHECK (low >= 0), high INT DEFAULT 50,"
            " name VARCHAR(10) CHECK (name <> 'bad'), doc JSON, CONSTRAINT span CHECK (low <= high))"
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
            " old_a INT, new_a INT, old_b VARCHAR(20), new_b VARCHAR(20), note INT CHECK (note > 0))",
            "CREATE TABLE triggered (id INT PRIMARY KEY, a INT, b VARCHAR(10) NOT NULL, n INT DEFAULT 0,"
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
    )
]

AUTO_INCREMENT = [
    *(
        Table(
            name,
            [
                f"CREATE TABLE {name} (id {kind} AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10), n INT UNIQUE)"
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

VERSIONED = [
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
    )
]

PARTITIONED = [
    Table(
        "parted",
        [
            "CREATE TABLE parted (id INT, k INT NOT NULL DEFAULT 3, v VARCHAR(10), PRIMARY KEY (id, k),"
            " KEY by_id (id)) PARTITION BY RANGE (k) (PARTITION p0 VALUES LESS THAN (10),"
            " PARTITION p1 VALUES LESS THAN (20))"
        ],
        {"id": IDS, "k": ["1", "5", "9", "10", "19", "20", None], "v": TEXTS},
        keys={"by_id": "id"},
        order="id, k",
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

TYPES = [
    Table(
        "texts",
        [
            "CREATE TABLE texts (id INT PRIMARY KEY, l VARCHAR(10) CHARACTER SET latin1 UNIQUE,"
            " u VARCHAR(5), c CHAR(5) CHARACTER SET cp1251, j TEXT CHARACTER SET sjis, b VARBINARY(8),"
            " e ENUM('a', 'b', 'ä') CHARACTER SET latin1, st SET('x', 'y', 'z'), i INET6, uu UUID)"
        ],
        {
            "id": IDS,
            "l": [None, "a", "A", "ä", "straße", "日本", "elevenchars", "pad  "],
            "u": [None, "日本語", "😀😀😀😀😀", "six..x", "ok", "blank   "],
            "c": [None, "жук", "ж     ", "Ω", "long word"],
            "j": [None, "日本", "😀", "ascii"],
            "b": [None, "", "bytes", "nine bytes", "ä"],
            "e": [None, "a", "ä", "2", "", "nothing"],
            "st": [None, "x", "x,z", "5", "x,q", ""],
            "i": [None, "::1", "10.0.0.1", "no address"],
            "uu": [None, "123e4567-e89b-12d3-a456-426614174000", "no uuid"],
        },
    ),
    Table(
        "numbers_and_dates",
        [
            "CREATE TABLE numbers_and_dates (id INT PRIMARY KEY, tiny TINYINT, u INT UNSIGNED,"
            " big BIGINT, d DECIMAL(6,2), f FLOAT, dd DOUBLE, y YEAR, day DATE, t TIME, dt DATETIME(3),"
            " ts TIMESTAMP NULL, bits BIT(4), z SMALLINT(4) UNSIGNED ZEROFILL)"
        ],
        {
            "id": IDS,
            "tiny": ["0", "127", "128", "-129", "1e2", "7.5", " 8", *BAD_NUMBERS],
            "u": ["0", "4294967295", "4294967296", "-1", "3"],
            "big": ["9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e30"],
            "d": ["9999.99", "10000", "1.005", "-0.004", "abc", "1e-5", "12.5x"],
            "f": ["1.5", "1e39", "0.1", "x"],
            "dd": ["1.5", "1e308", "1e309", "-2.5e-300", ""],
            "y": ["2024", "1900", "99", "abc", "0"],
            "day": [
                "2024-02-29",
                "2023-02-29",
                "0000-00-00",
                "2024-00-10",
                "20240101",
                "nonsense",
                "",
            ],
            "t": ["12:34:56", "900:00:00", "12:99:00", "-01:00:00.7", "x"],
            "dt": [
                "2024-01-01 10:00:00.1239",
                "2024-13-01",
                "0000-00-00 00:00:00",
                "2024-01-01",
                None,
            ],
            "ts": ["2024-01-01 10:00:00", "1960-01-01 00:00:00", "2039-01-01 00:00:00", None, "x"],
            "bits": [None, "\x05", "A", ""],
            "z": ["7", "65536", "-1", "12"],
        },
        numbers=["tiny", "u", "big", "d", "f", "dd", "z"],
    ),
]

UNIQUE = [
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
        "keyless",
        ["CREATE TABLE keyless (k INT, v INT, w TEXT, KEY by_k (k))"],
        {"k": IDS, "v": NUMBERS, "w": TEXTS},
        keys={"by_k": "k"},
        order="",
        given=["k"],
    ),
]

ENGINES = [
    Table(
        f"plain_{engine.lower()}",
        [
            f"CREATE TABLE plain_{engine.lower()} (id INT PRIMARY KEY, v INT DEFAULT 4,"
            f" w VARCHAR(10) CHECK (w <> 'bad'), UNIQUE KEY (v)) ENGINE={engine}"
        ],
        {"id": IDS, "v": BAD_NUMBERS, "w": TEXTS},
        numbers=["v"],
        transactional=False,
    )
    for engine in ("MyISAM", "Aria", "MEMORY")
]

TABLES = [
    *DEFAULTS,
    *GENERATED,
    *CHECKED,
    *FOREIGN_KEYS,
    *TRIGGERED,
    *AUTO_INCREMENT,
    *VERSIONED,
    *PARTITIONED,
    *TYPES,
    *UNIQUE,
    *ENGINES,
]
#: Tables that only triggers write.
BESIDE = ["audit"]
#: What only defaults write, outside of any transaction.
SEQUENCES = ["numbers"]
