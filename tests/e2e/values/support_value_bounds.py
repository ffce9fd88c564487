"""What columns hold at their limits, and what is asked of them, for test_value_bounds.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from support.servers import INET6_TAKES_INET4, ON_MYSQL
from support_column_types import Text, quoted

_NUMBER = re.compile(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *")
DIGITS = "9" * 23


@dataclass(frozen=True)
class Bounds:
    sql: str
    stored: Sequence[Text]
    asked: Sequence[Text]
    #: The value in SQL. None: it is not of the type, and nothing compares with it.
    literal: Callable[[Text], str | None]

    def __str__(self) -> str:
        return self.sql.replace(" ", "_")


def as_number(value: Text) -> str | None:
    """A number as SQL's literal. An empty string is 0; any other text is no number."""
    assert isinstance(value, str)
    if value == "":
        return "0"
    return value.strip() if _NUMBER.fullmatch(value) else None


def as_bits(value: Text) -> str:
    assert isinstance(value, bytes)
    return str(int.from_bytes(value, "big"))


def as_moment(value: Text) -> str | None:
    """A date or time is compared with a string. An empty one is the zero date, and so is 0."""
    assert isinstance(value, str)
    value = "" if re.fullmatch(r"[ +-]?0+", value) else value
    if value.endswith(("+00:00", "-05:30")):
        # MariaDB's strings have no time zones, so it ignores what it does not know. MySQL reads
        # them in every literal of a WHERE, but not in a plain string outside of it.
        return f"TIMESTAMP {quoted(value)}" if ON_MYSQL else None
    return None if value in NO_DATES else quoted(value or "0000-00-00 00:00:00")


def as_time(value: Text) -> str | None:
    assert isinstance(value, str)
    beyond = re.fullmatch(r"(-?)(?:838|839|900):\d\d:\d\d(?:\.\d)?", value)
    if ON_MYSQL and beyond and value.lstrip("-") not in ("838:59:59", "838:59:59.0"):
        # If a TIME cannot hold the time, MySQL compares as text. A number is compared correctly.
        return f"{beyond[1]}8390000"
    return None if value in NO_TIMES else quoted(value or "00:00:00")


NO_NUMBERS = [
    "abc",
    "1x",
    "x1",
    "0x10",
    "1e",
    "--1",
    "+-1",
    "-+1",
    "- 1",
    "1 1",
    ".",
    "-",
    " ",
    "nan",
    "inf",
    "1,5",
]
NUMBERS = [
    "", "0", "-0", "+1", " 1", "1 ", "0" * 40 + "1", "1.0", "1.5", "-1.5", "0.4", "-0.4", ".5",
    "5.", "1e2",
    "1e-1", "10e-1", f"-{DIGITS}", DIGITS, f"{DIGITS}.5", "1" + "0" * 62, "-1" + "0" * 62, "1e30",
    "-1e30",
]  # fmt: skip


def integers() -> list[Bounds]:
    found = []
    for name, bits in (
        ("TINYINT", 8),
        ("SMALLINT", 16),
        ("MEDIUMINT", 24),
        ("INT", 32),
        ("BIGINT", 64),
    ):
        half, full = 2 ** (bits - 1), 2**bits
        near = [str(bound + step) for bound in (-half, half - 1, full - 1) for step in (-1, 0, 1)]
        between = [
            f"{bound}{part}" for bound in (-half, half - 1, full - 1) for part in (".4", ".6")
        ]
        asked = [*NUMBERS, *NO_NUMBERS, "-1", "2", *near, *between]
        signed = [-half, 1 - half, -1, 0, 1, half - 2, half - 1]
        unsigned = [0, 1, half - 1, half, full - 2, full - 1]
        found += [
            Bounds(name, [str(number) for number in signed], asked, as_number),
            Bounds(f"{name} UNSIGNED", [str(number) for number in unsigned], asked, as_number),
        ]
    return found


def decimals() -> list[Bounds]:
    near = ["9999.98", "9999.99", "9999.994", "9999.995", "9999.999", "10000", "12.344", "12.345",
    "12.346",
            "0.001", "0.004", "0.005", "0.009", "0.0000000000000000000000001", "12.34",
            "12.3400"]  # fmt: skip
    asked = [*NUMBERS, *NO_NUMBERS, *near, *("-" + number for number in near)]
    wide = "9" * 35 + "." + "9" * 30
    return [
        Bounds("DECIMAL(6,2)", ["-9999.99", "-12.34", "-0.01", "0", "0.01", "1", "12.34",
        "9999.99"], asked, as_number),
        Bounds("DECIMAL(6,2) UNSIGNED", ["0", "0.01", "1", "12.34", "9999.99"], asked, as_number),
        Bounds("DECIMAL(65,30)", ["-" + wide, "0", "1.5", wide], [*asked, wide, "-" + wide,
        "1" + "0" * 35], as_number),
        Bounds("DECIMAL(3,3)", ["-0.999", "0", "0.999"], [*asked, "0.999", "0.9995", "-1", "1"],
        as_number),
    ]  # fmt: skip


def reals() -> list[Bounds]:
    # No value is asked for that a FLOAT holds only approximately: it matches, unlike in SQL.
    asked = [
        "", "0", "-0", "-0.0", "1", " 1", "1 ", "-1", "-5", "1.5", "-1.5", "2.25", ".5", "5.",
        "1e2", "1e39", "-1e39", "1e300",
        "-1e300", "1e308", "1e-50", "-1e-50", f"-{DIGITS}", DIGITS, "3.5e38", "-3.5e38", "1e-300",
        *NO_NUMBERS,
    ]  # fmt: skip
    both = ["-1e37", "-1.5", "-1", "0", "0.5", "1.5", "100", "1e37"]
    positive = [number for number in both if number[0] != "-"]
    narrow = [
        *asked,
        "0.0004",
        "0.50004",
        "0.00004",
        "-0.00004",
        "9999.9995",
        "10000",
        "999999.99996",
        "1000000",
        "9999.75",
    ]
    return [
        Bounds("FLOAT", [*both, "-3.402823466e38", "3.402823466e38"], asked, as_number),
        Bounds("FLOAT UNSIGNED", [*positive, "3.402823466e38"], asked, as_number),
        Bounds("DOUBLE", [*both, "-1.7976931348623157e308", "1.7976931348623157e308"], asked,
        as_number),
        Bounds("DOUBLE UNSIGNED", [*positive, "1.7976931348623157e308"], asked, as_number),
        Bounds("FLOAT(7,3)", ["-9999.75", "-1.5", "0", "0.5", "9999.75"], narrow, as_number),
        Bounds("DOUBLE(10,4)", ["-999999.5", "-1.5", "0", "0.5", "999999.5", "999999.9999"],
        narrow, as_number),
        Bounds("DOUBLE(10,4) UNSIGNED", ["0", "0.5", "999999.9999"], narrow, as_number),
    ]  # fmt: skip


def bits() -> list[Bounds]:
    asked = [b"", b"\0", b"\1", b"\0\0\0\0\0\0\0\0\0\1", b"\x0f\xff", b"\x10\0", b"\xff\xff",
    b"\xff" * 8, b"\1" + b"\0" * 8,
             b"\xff" * 9, b"a", b"\2", b"\x0f\xfe"]  # fmt: skip
    return [
        Bounds("BIT(1)", [b"\0", b"\1"], asked, as_bits),
        Bounds("BIT(12)", [b"\0", b"\1", b"a", b"\x0f\xff"], asked, as_bits),
        Bounds("BIT(64)", [b"\0", b"\1", b"\x7f" + b"\xff" * 7, b"\xff" * 8], asked, as_bits),
    ]


DATES = [
    "", "0", "00", "0000", "-0", " 0",
    "0000-00-00", "0000-00-01", "0001-01-01", "1000-01-01", "2024-00-00", "2024-02-00",
    "2024-02-29", "2024-03-01", "9999-12-31",
    "2024-02-29 00:00:00", "2024-02-29 12:34:56", "2024-02-29 23:59:59.999999",
    "2024-02-29 00:00:00.000001",
    "20240229", "20240229123456", "240229", "2024-2-29", "2024-02-29T12:34:56", " 2024-02-29",
    "2024-02-29 ", "9999-12-31 23:59:59",
    "9999-12-31 23:59:59.999999", "1969-12-31", "1970-01-01",
]  # fmt: skip
NO_DATES = [
    "abc",
    "2024-13-01",
    "10000-01-01",
    "2024-02-32",
    "2024-02-29 25:00:00",
    "x2024-02-29",
    "-1",
    "2024",
]
NO_TIMES = ["abc", "12:60:00", "12:34:56x", "12:34:60", "99999999", "2024-02-29"]
PARTS = [".0", ".4", ".5", ".6", ".123", ".1234", ".1235", ".123456", ".1234560", ".1234564",
".1234565", ".1234567",
         ".123456789", ".9999999", ".0000001", ".99999949"]  # fmt: skip


def moments() -> list[Bounds]:
    days = ["0000-00-00", "1000-01-01", "2024-00-00", "2024-02-29", "2024-03-01", "9999-12-31"]
    found = [Bounds("DATE", days, [*DATES, *NO_DATES], as_moment)]
    for digits in (0, 3, 6):
        tail = f"({digits})" if digits else ""
        parts = {0: [""], 3: [".123", ".124", ".999"], 6: [".123456", ".123457", ".999999"]}[digits]
        at = "2024-02-29 12:34:5"
        stamps = [
            *(at + "6" + part for part in parts),
            at + "6",
            at + "7",
            "2024-02-29 13:34:56",
        ]
        asked = [*DATES, *NO_DATES, at + "6", at + "7", *(at + "6" + part for part in PARTS)]
        zones = [at + "6+00:00", at + "6-05:30"]
        found.append(Bounds(f"DATETIME{tail}", [*days, *stamps], [*asked, *zones], as_moment))
        utc = ["0000-00-00 00:00:00", "1970-01-01 01:00:01", "2024-03-31 01:59:59",
        "2024-03-31 03:00:00",
               "2024-03-31 03:30:00", "2038-01-19 04:14:07"]  # fmt: skip
        edges = [*utc, "1970-01-01 01:00:00", "1970-01-01 00:59:59", "2024-03-31 02:00:00",
        "2024-03-31 02:30:00",
                 "2024-03-31 02:59:59", "2038-01-19 04:14:08", "2106-02-07 07:28:15",
                 "2106-02-07 07:28:16", "2038-01-19",
                 "2024-03-31 02:30:00.5", "2038-01-19 04:14:07.5"]  # fmt: skip
        found.append(
            Bounds(f"TIMESTAMP{tail} NULL", [*utc, *stamps], [*asked, *edges, *zones], as_moment)
        )
        times = [
            "-838:59:59",
            "-00:00:01",
            "00:00:00",
            "10:00:00",
            "12:34:56",
            "12:34:57",
            "838:59:59",
        ]
        asked_times = [
            "", "0", *times, "838:59:59.0", "838:59:59.4", "838:59:59.9", "839:00:00",
            "-838:59:59.4", "-839:00:00", "900:00:00",
            "-900:00:00", "25:00:00", "1 10:00:00", "34 22:59:59", "101112", "1:2:3", " 12:34:56",
            "12:34:56 ", "12:34", "-00:00:00",
            "-00:00:00.5", "-00:00:01.5", "abc", "12:60:00", "12:34:56x", "12:34:60", "99999999",
            "2024-02-29 10:00:00",
            "2024-02-29", *("12:34:56" + part for part in PARTS),
            *("-00:00:01" + part for part in PARTS),
        ]  # fmt: skip
        found.append(
            Bounds(
                f"TIME{tail}",
                [*times, *("12:34:56" + part for part in parts)],
                asked_times,
                as_time,
            )
        )
    return found


def years() -> list[Bounds]:
    asked = ["", "0", "00", "0000", "1", "01", "69", "70", "99", "24", "100", "1900", "1901",
    "1902", "2000", "2024", "2154", "2155",
             "2156", "9999", "10000", "-1", "2024.4", "2024.6", " 2024", "2024 ", "+2024", "abc",
             "2024x", "1e3", "2.024e3", DIGITS]  # fmt: skip
    return [
        Bounds(
            "YEAR", ["0000", "1901", "1970", "2000", "2001", "2024", "2069", "2155"], asked, as_year
        )
    ]


def as_year(value: Text) -> str | None:
    number = as_number(value)
    return None if number is None else quoted(number) if value else "0"


def members() -> list[Bounds]:
    def enum(value: Text) -> str | None:
        return {"a": "1", "A": "1", "b": "2"}.get(str(value))

    # Blanks at the end count if the collation does not pad.
    def padded_enum(value: Text) -> str | None:
        return enum(str(value).rstrip(" "))

    def flags(value: Text) -> str | None:
        return {"": "0", "x": "1", "X": "1", "y": "2", "x,y": "3"}.get(str(value))

    def padded_flags(value: Text) -> str | None:
        return flags(str(value).rstrip(" "))

    names = ["a", "A", "b", "b ", "", "c", "1", "2", "0", "3", "a,b", "abc", " b"]
    subsets = ["", "x", "X", "y", "x,y", "x,y ", "y,x", "z", "x,z", "1", "4"]
    nopad = "COLLATE utf8mb4_0900_ai_ci" if ON_MYSQL else "COLLATE utf8mb4_general_nopad_ci"

    return [
        Bounds(f"ENUM('a','b') {nopad}", ["a", "b"], names, enum),
        Bounds("ENUM('a','b') COLLATE latin1_swedish_ci", ["a", "b"], names, padded_enum),
        Bounds(f"SET('x','y') {nopad}", ["", "x", "y", "x,y"], subsets, flags),
        Bounds(
            "SET('x','y') COLLATE latin1_swedish_ci",
            ["", "x", "y", "x,y"],
            subsets,
            padded_flags,
        ),
    ]


def addresses() -> list[Bounds]:
    if ON_MYSQL:
        return []
    id_ = "123e4567-e89b-12d3-a456-426655440000"
    no_ids = [id_[:-1], id_ + "0", "", "abc", " " + id_]
    no_inet4 = ["256.0.0.1", "10.0.0", "", "::1", "10.0.0.1 ", "abc"]
    no_inet6 = ["", "::g", "1::2::3", "abc"]
    if not INET6_TAKES_INET4:
        no_inet6.append("10.0.0.1")

    def unless(malformed: Sequence[str]) -> Callable[[Text], str | None]:
        return lambda value: None if value in malformed else quoted(value)

    return [
        Bounds(
            "UUID",
            [id_, "0" * 32, "f" * 32],
            [id_, id_.upper(), "0" * 32, "f" * 31 + "e", *no_ids],
            unless(no_ids),
        ),
        Bounds(
            "INET4",
            ["0.0.0.0", "10.0.0.1", "255.255.255.255"],
            ["10.0.0.1", "10.0.0.2", "0.0.0.0", "255.255.255.255", *no_inet4],
            unless(no_inet4),
        ),
        Bounds(
            "INET6",
            ["::", "::1", "ffff::", "::ffff:10.0.0.1"],
            ["::1", "::2", "::ffff:10.0.0.1", "10.0.0.1", "0::1", *no_inet6],
            unless(no_inet6),
        ),
    ]


def plain_types() -> list[Bounds]:
    """The types whose values have the same meaning under every sql_mode and time zone."""
    return [*integers(), *decimals(), *reals(), *bits(), *years(), *members(), *addresses()]
