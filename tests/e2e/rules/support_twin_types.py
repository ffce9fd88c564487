"""Tables of every kind of column, unique key and engine, a part of support_twin_tables.TABLES."""

from __future__ import annotations

from support_twin_values import BAD_NUMBERS, IDS, NUMBERS, TEXTS
from support_twins import Table

TYPES = [
    Table(
        "texts",
        [
            "CREATE TABLE texts (id INT PRIMARY KEY, l VARCHAR(10) CHARACTER SET latin1 UNIQUE,"
            " u VARCHAR(5), c CHAR(5) CHARACTER SET cp1251, j TEXT CHARACTER SET sjis, b"
            " VARBINARY(8),"
            " e ENUM('a', 'b', 'ä') CHARACTER SET latin1, st SET('x', 'y', 'z'))"
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
        },
    ),
    Table(
        "numbers_and_dates",
        [
            "CREATE TABLE numbers_and_dates (id INT PRIMARY KEY, tiny TINYINT, u INT UNSIGNED,"
            " big BIGINT, d DECIMAL(6,2), f FLOAT, dd DOUBLE, y YEAR, day DATE, t TIME, dt"
            " DATETIME(3),"
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
        "keyless",
        ["CREATE TABLE keyless (k INT, v INT, w TEXT, KEY by_k (k))"],
        {"k": IDS, "v": NUMBERS, "w": TEXTS},
        keys={"by_k": "k"},
        order="",
        given=["k"],
    ),
]


def without_transactions(engine: str) -> Table:
    name = f"plain_{engine.lower()}"
    return Table(
        name,
        [
            f"CREATE TABLE {name} (id INT PRIMARY KEY, v INT DEFAULT 4,"
            f" w VARCHAR(10) CHECK (w <> 'bad'), UNIQUE KEY (v)) ENGINE={engine}"
        ],
        {"id": IDS, "v": BAD_NUMBERS, "w": TEXTS},
        numbers=["v"],
        transactional=False,
    )


ENGINES = [without_transactions(engine) for engine in ("MyISAM", "MEMORY")]
