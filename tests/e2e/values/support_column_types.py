"""Every column type of the servers with values at its edges, for test_types.py."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from support.servers import MISSING_TYPES, TYPES_WITHOUT_KEY

Text = str | bytes


def quoted(value: Text) -> str:
    """A SQL literal: a utf8mb4 string for str, a hexadecimal string of bytes for bytes."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


@dataclass(frozen=True)
class ColumnType:
    name: str
    sql: str
    #: Values that the column takes without an error, as a client writes them.
    values: Sequence[Text]
    #: Further values to look for that are not in the table.
    probes: Sequence[Text] = ()
    #: Which of the values serve as keys; None: all.
    keys: Sequence[Text] | None = None
    #: The column in an index; empty: it can have none.
    index: str = "v"
    #: What SQL compares instead, if that is not the column and the quoted value.
    compared: str = "v"
    literal: Callable[[Text], str] = field(default=quoted)

    def __str__(self) -> str:
        return self.name


def integer(name: str, bits: int) -> list[ColumnType]:
    low, high, top = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 2**bits - 1
    signed = [low, low + 1, -1, 0, 1, 42, high - 1, high]
    unsigned = [0, 1, 42, high, high + 1, top - 1, top]

    def texts(numbers: list[int]) -> list[str]:
        return [str(number) for number in numbers]

    def number(value: Text) -> str:
        return str(value)

    kind = name.lower()
    return [
        ColumnType(kind, name, texts(signed), texts([-7, 7]), literal=number),
        ColumnType(f"{kind}_unsigned", f"{name} UNSIGNED", texts(unsigned), ["7"], literal=number),
        ColumnType(
            f"{kind}_zerofill", f"{name}(5) ZEROFILL", texts(unsigned), ["7"], literal=number
        ),
    ]


def number(value: Text) -> str:
    return str(value)


WORDS = ["", " ", "a", "A", "ä", "b", "B ", "ab", "abc", "abcdefghij", "Ärger", "ß", "zz", "~"]
WIDE = [*WORDS, "日本語", "Ω", "ж"]
ASTRAL = [*WIDE, "😀", "😀a", "𝄞"]


def text(name: str, sql: str, values: Sequence[Text], index: str = "v") -> ColumnType:
    return ColumnType(name, sql, values, ["aa", "ABC", "abcdefghijk", "c"], index=index)


BYTES = [b"", b"\x00", b"\x01\x02", b"\t\n\r\\'", b"ab", b"ab\x00", b"\x80\xff", b"\xff" * 4]
ENUM_NAMES = ["", "b", "a", "Ö", "long, with comma"]
SET_NAMES = ["x", "y", "z"]


def enum_number(value: Text) -> str:
    return str(ENUM_NAMES.index(str(value)) + 1)


def set_number(value: Text) -> str:
    return str(sum(1 << SET_NAMES.index(name) for name in str(value).split(",") if name))


def bit_number(value: Text) -> str:
    assert isinstance(value, bytes)
    return str(int.from_bytes(value, "big"))


def point(x: str, y: str) -> bytes:
    """A point as a SQL client sees it: the SRID, then the point in WKB."""

    return struct.pack("<IBIdd", 0, 1, 1, float(x), float(y))


def temporal() -> list[ColumnType]:
    found = [
        ColumnType(
            "date",
            "DATE",
            ["0000-00-00", "1000-01-01", "1969-12-31", "2024-00-00", "2024-02-29", "9999-12-31"],
            ["2024-02-28", "1000-01-02"],
        ),
        ColumnType("year", "YEAR", ["0000", "1901", "1970", "2024", "2155"], ["2000"]),
    ]
    for digits in range(7):
        fraction = ("." + "987654"[:digits]) if digits else ""
        none = ("." + "0" * digits) if digits else ""
        # The hours around a change of daylight saving time, one of which comes twice.
        stamps = [
            "1970-01-02 00:00:01",
            "2024-03-31 01:59:59",
            "2024-03-31 03:00:00",
            "2024-10-27 02:30:00",
            "2024-07-01 12:00:00",
            "2038-01-18 03:14:07",
        ]
        dates = [*stamps, "0000-00-00 00:00:00", "1000-01-01 00:00:00", "9999-12-31 23:59:59"]
        times = ["-838:59:58", "-00:00:01", "00:00:00", "12:34:56", "838:59:58"]
        # A timestamp of the hour that comes twice has two meanings, so it is no key.
        certain = [stamp + tail for stamp in stamps if "10-27" not in stamp for tail in ("", none)]
        found += [
            ColumnType(
                f"datetime_{digits}",
                f"DATETIME({digits})",
                [value + tail for value in dates for tail in (none, fraction)],
                ["2024-07-01 12:00:01", "2024-07-01"],
            ),
            ColumnType(
                f"timestamp_{digits}",
                f"TIMESTAMP({digits}) NULL",
                [value + tail for value in stamps for tail in (none, fraction)],
                ["2024-07-01 12:00:01"],
                keys=certain,
            ),
            ColumnType(
                f"time_{digits}",
                f"TIME({digits})",
                [value + tail for value in times for tail in (none, fraction)],
                ["12:34:57", "100:00:00"],
            ),
        ]
    return found


def vector(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def every_type() -> list[ColumnType]:
    """The types that the server under test has."""
    own = [kind for kind in _known_types() if kind.name not in MISSING_TYPES]
    return [replace(kind, index="") if kind.name in TYPES_WITHOUT_KEY else kind for kind in own]


def _known_types() -> list[ColumnType]:
    return [
        *integer("TINYINT", 8),
        *integer("SMALLINT", 16),
        *integer("MEDIUMINT", 24),
        *integer("INT", 32),
        *integer("BIGINT", 64),
        ColumnType(
            "decimal",
            "DECIMAL(6,2)",
            ["-9999.99", "-0.01", "0.00", "0.5", "12.34", "9999.99"],
            ["0.01", "1e2", "12.340"],
            literal=number,
        ),
        ColumnType(
            "decimal_wide",
            "DECIMAL(65,30)",
            ["-" + "9" * 35 + "." + "9" * 30, "0." + "0" * 29 + "1", "0", "9" * 35, "1.5"],
            ["1"],
            literal=number,
        ),
        ColumnType(
            "decimal_unsigned",
            "DECIMAL(8,3) UNSIGNED ZEROFILL",
            ["0", "0.001", "12.5", "99999.999"],
            ["1"],
            literal=number,
        ),
        ColumnType(
            "float",
            "FLOAT",
            ["-3.40282e38", "-1.5", "-1.17549e-38", "0", "0.1", "0.25", "1e10", "16777216"],
            ["1"],
            keys=["-1.5", "0", "0.25", "1e10", "16777216"],
        ),
        ColumnType("float_digits", "FLOAT(7,3)", ["-1234.125", "0", "0.5", "9999.999"], keys=["0"]),
        ColumnType(
            "double",
            "DOUBLE",
            [
                "-1.7976931348623157e308",
                "-0.1",
                "0",
                "2.2250738585072014e-308",
                "1e15",
                "1e100",
                "123456789.123456789",
                "0.1",
            ],
            ["1", "1e-5"],
        ),  # fmt: skip
        ColumnType("double_digits", "DOUBLE(10,4)", ["-1.0001", "0", "999999.9999"], ["1"]),
        *temporal(),
        text("char_utf8mb4", "CHAR(10) CHARACTER SET utf8mb4", ASTRAL),
        text("char_latin1", "CHAR(10) CHARACTER SET latin1", WORDS),
        text("char_ucs2", "CHAR(10) CHARACTER SET ucs2", WIDE),
        text("varchar_utf8mb4", "VARCHAR(10) CHARACTER SET utf8mb4", ASTRAL),
        text("varchar_bin", "VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", ASTRAL),
        text(
            "varchar_nopad",
            "VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_nopad_ci",
            ASTRAL,
        ),
        text(
            "varchar_uca1400",
            "VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_as_cs",
            ASTRAL,
        ),
        text("varchar_utf8mb3", "VARCHAR(10) CHARACTER SET utf8mb3", WIDE),
        text("varchar_latin1", "VARCHAR(10) CHARACTER SET latin1", WORDS),
        text("varchar_ucs2", "VARCHAR(10) CHARACTER SET ucs2", WIDE),
        text("varchar_utf16", "VARCHAR(10) CHARACTER SET utf16", ASTRAL),
        text("varchar_utf32", "VARCHAR(10) CHARACTER SET utf32", ASTRAL),
        text(
            "varchar_long", "VARCHAR(5000) CHARACTER SET utf8mb4", [*ASTRAL, "é" * 5000], "v(100)"
        ),
        text("tinytext", "TINYTEXT CHARACTER SET utf8mb4", [*ASTRAL, "x" * 255], "v(20)"),
        text("text_latin1", "TEXT CHARACTER SET latin1", [*WORDS, "é" * 65535], "v(20)"),
        text("text_utf16", "TEXT CHARACTER SET utf16", [*ASTRAL, "é" * 30000], "v(20)"),
        text("mediumtext", "MEDIUMTEXT CHARACTER SET utf8mb4", [*ASTRAL, "x" * 100_000], "v(20)"),
        text("longtext", "LONGTEXT CHARACTER SET utf8mb4", [*ASTRAL, "\t\n\0" * 50_000], "v(20)"),
        ColumnType(
            "binary", "BINARY(4)", [value for value in BYTES if len(value) <= 4], [b"abc", b"b"]
        ),
        ColumnType("varbinary", "VARBINARY(300)", [*BYTES, bytes(range(256))], [b"abc", b"b"]),
        ColumnType("tinyblob", "TINYBLOB", [*BYTES, bytes(range(255))], [b"abc"], index="v(20)"),
        ColumnType("blob", "BLOB", [*BYTES, bytes(range(256)) * 100], [b"abc"], index="v(20)"),
        ColumnType("mediumblob", "MEDIUMBLOB", [*BYTES, b"\0" * 100_000], [b"abc"], index="v(20)"),
        ColumnType("longblob", "LONGBLOB", [*BYTES, b"\1\0" * 90_000], [b"abc"], index="v(20)"),
        ColumnType(
            "enum",
            "ENUM('', 'b', 'a', 'Ö', 'long, with comma')",
            ENUM_NAMES,
            compared="v+0",
            literal=enum_number,
        ),
        ColumnType(
            "enum_latin1",
            "ENUM('', 'b', 'a', 'Ö', 'long, with comma') CHARACTER SET latin1",
            ENUM_NAMES,
            compared="v+0",
            literal=enum_number,
        ),
        ColumnType(
            "set",
            "SET('x', 'y', 'z')",
            ["", "x", "y", "x,y", "z", "x,z", "x,y,z"],
            ["y,z"],
            compared="v+0",
            literal=set_number,
        ),
        ColumnType("bit_1", "BIT(1)", [b"\0", b"\1"], compared="v+0", literal=bit_number),
        ColumnType(
            "bit_9",
            "BIT(9)",
            [b"\0\0", b"\0\1", b"\1\x45", b"\1\xff"],
            [b"\1\0"],
            compared="v+0",
            literal=bit_number,
        ),
        ColumnType(
            "bit_64",
            "BIT(64)",
            [b"\0" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\xff" * 8],
            [b"\x01" * 8],
            compared="v+0",
            literal=bit_number,
        ),
        ColumnType(
            "json",
            "JSON",
            ["null", "{}", '{"a": [1, "é\\n"]}', '"😀"', "[]", "1.50"],
            index="v(50)",
        ),
        ColumnType(
            "uuid",
            "UUID",
            [
                "00000000-0000-0000-0000-000000000000",
                "123e4567-e89b-12d3-a456-426655440000",
                "ffffffff-ffff-ffff-ffff-ffffffffffff",
                "f47ac10b58cc4372a5670e02b2c3d479",
            ],
            ["123e4567-e89b-12d3-a456-426655440001", "123E4567E89B12D3A456426655440000"],
        ),  # fmt: skip
        ColumnType(
            "inet4", "INET4", ["0.0.0.0", "10.0.0.1", "127.0.0.1", "255.255.255.255"], ["10.0.0.2"]
        ),
        ColumnType(
            "inet6",
            "INET6",
            ["::", "::1", "2001:db8::ff00:42:8329", "::ffff:192.0.2.1", "ffff::"],
            ["::2", "2001:0db8:0000:0000:0000:ff00:0042:8329"],
        ),
        ColumnType("vector", "VECTOR(3)", [vector(0, 0, 0), vector(-1.5, 3e38, 1e-30)], index=""),
        ColumnType("point", "POINT", [point("0", "0"), point("-1.5", "1e300")], index=""),
        ColumnType("geometry", "GEOMETRY", [point("3", "4")], index=""),
    ]
