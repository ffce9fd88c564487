"""Kinds of columns for random tables: the values for them, and how SQL compares these.

A value is the bytes that a client sends, or None for NULL.
"""

from __future__ import annotations

import random
import re
import struct
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from support.servers import ON_MYSQL
from support_column_types import ENUM_NAMES, SET_NAMES, every_type

Value = bytes | None


@dataclass(frozen=True)
class Operand:
    """The expression by which SQL compares a column, and the literal."""

    column: str
    literal: str


@dataclass(frozen=True)
class Beyond:
    """A value above (or below) everything that the column can hold."""

    above: bool


class NotJudgedError(Exception):
    """SQL has no answer to this request, or more than one."""


#: None: the value is not of the column's kind, and nothing compares with it.
Place = Operand | Beyond | None


@dataclass(frozen=True)
class Kind:
    name: str
    sql: str
    family: str
    values: tuple[bytes, ...]
    keyed: bool = True
    #: In an index it needs a prefix.
    blob: bool = False
    #: Characters or bytes, of which an index may take the first ones.
    length: int = 0

    @property
    def number(self) -> bool:
        return self.family in ("int", "decimal", "float", "double")

    def put(self, rng: random.Random) -> bytes:
        """A value for an insert or update. Now and then it is one that the column refuses."""
        return rng.choice(self.values if rng.random() < 0.85 else self._odd())

    def probe(self, rng: random.Random) -> bytes:
        """A value to look for."""
        value = rng.choice(self.values if rng.random() < 0.6 else self._odd())
        if self.family in ("text", "bytes") and rng.random() < 0.3:
            ends = [b" ", b"  ", b"\t", b" \t", b"\x01", b"a"]
            value = rng.choice([value + rng.choice(ends), value[: rng.randint(0, 4)], value * 2])
        return value

    def _odd(self) -> Sequence[bytes]:
        return _ODD.get(self.family, self.values)

    def place(self, column: str, value: bytes) -> Place:
        """How SQL compares `column` with a value."""
        return _PLACES[self.family](self, f"`{column}`", value)


_NUMBER = re.compile(rb"[ \t]*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[ \t]*")


def _exact(kind: Kind, column: str, value: bytes) -> Place:
    match = _NUMBER.fullmatch(value or b"0")
    if match is None:
        return None
    try:
        number = Decimal(match[1].decode())
    except InvalidOperation:
        return None
    if abs(number) >= Decimal("1e36"):
        return Beyond(number > 0)
    if abs(number) < Decimal("1e-30"):  # SQL knows no smaller one
        number = Decimal("1e-30").copy_sign(number) if number else Decimal(0)
    return Operand(column, f"{number:f}")


def _year(kind: Kind, column: str, value: bytes) -> Place:
    """SQL reads some numbers as a year of this century or the last, but only as text."""
    place = _exact(kind, column, value)
    if not value or not isinstance(place, Operand):
        return place
    return Operand(column, f"'{value.decode().strip()}'")


def _real(kind: Kind, column: str, value: bytes) -> Place:
    match = _NUMBER.fullmatch(value or b"0")
    if match is None:
        return None
    number = float(match[1])
    if abs(number) == float("inf"):
        return Beyond(number > 0)
    if kind.family == "float":
        with suppress(OverflowError):
            # A FLOAT holds the nearest value to 0.1, and that is a match. But 0 matches only 0.
            (nearest,) = struct.unpack("<f", struct.pack("<f", number))
            number = nearest or number
    return Operand(column, f"{number!r}e0" if "e" not in repr(number) else repr(number))


_MOMENT = re.compile(
    rb"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])([ T]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{0,6})?)?"
)


def _moment(kind: Kind, column: str, value: bytes) -> Place:
    # A time of day can meet a TIMESTAMP that was a TIME before ALTER TABLE. SQL reads it as a date.
    if re.fullmatch(rb"[\d.:+-]+", value) and value.strip(b"0") and not _MOMENT.fullmatch(value):
        raise NotJudgedError("a moment in another spelling")
    text = value if value.strip(b"0") else b"0000-00-00"
    return Operand(column, f"'{text.decode()}'") if _MOMENT.fullmatch(text) else None


_TIME = re.compile(rb"(-?)(\d{1,3}):(\d\d):(\d\d)(?:\.(\d{0,6}))?")


def _time(kind: Kind, column: str, value: bytes) -> Place:
    # A date can meet a TIME that was a TIMESTAMP before ALTER TABLE.
    if re.fullmatch(rb"[\d.+-]+", value) or _MOMENT.fullmatch(value):
        raise NotJudgedError("a time in another spelling")
    match = _TIME.fullmatch(value or b"00:00:00")
    if match is None or int(match[3]) > 59 or int(match[4]) > 59:
        return None
    if int(match[2]) > 838 and ON_MYSQL:
        return Beyond(not match[1])  # for MariaDB it is the greatest or the least of them
    text = value.decode() or "00:00:00"
    # MySQL rounds the value to the column's digits before it compares.
    return Operand(column, f"'{text}'" if ON_MYSQL else f"CAST('{text}' AS TIME(6))")


def _text(kind: Kind, column: str, value: bytes) -> Place:
    try:
        value.decode(errors="surrogatepass")  # MariaDB treats this as text
    except UnicodeDecodeError:
        return None
    return Operand(column, f"_utf8mb4 x'{value.hex()}'")


def _bytes(kind: Kind, column: str, value: bytes) -> Place:
    return Operand(column, f"_binary x'{value.hex()}'")


def _number_of_name(value: bytes, names: Sequence[str]) -> int | None:
    """The place of a name. Names are compared as text: a collation may take A or "a " for a."""

    def folded(text: str) -> str:
        letters = unicodedata.normalize("NFD", text.rstrip(" ")).lower()
        return "".join(letter for letter in letters if not unicodedata.combining(letter))

    if any(byte < 0x20 for byte in value):
        raise NotJudgedError("a name with control characters")
    text = value.decode(errors="replace")
    if text in names:
        return names.index(text)
    if folded(text) in map(folded, names):
        raise NotJudgedError("a name in another spelling")
    return None


def _enum(kind: Kind, column: str, value: bytes) -> Place:
    number = _number_of_name(value, ENUM_NAMES)
    return None if number is None else Operand(f"({column} + 0)", str(number + 1))


def _set(kind: Kind, column: str, value: bytes) -> Place:
    numbers = [_number_of_name(part, SET_NAMES) for part in value.split(b",") if part]
    bits = [1 << number for number in numbers if number is not None]
    return Operand(f"({column} + 0)", str(sum(bits))) if len(bits) == len(numbers) else None


def _bit(kind: Kind, column: str, value: bytes) -> Place:
    if len(value.lstrip(b"\0")) > 8:
        return Beyond(True)
    return Operand(f"({column} + 0)", str(int.from_bytes(value, "big")))


def _address(kind: Kind, column: str, value: bytes) -> Place:
    return None if value not in kind.values else Operand(column, f"'{value.decode()}'")


def _none(kind: Kind, column: str, value: bytes) -> Place:
    raise AssertionError("not compared")


_PLACES = {
    "int": _exact, "decimal": _exact, "year": _year, "float": _real, "double": _real,
    "date": _moment, "datetime": _moment, "timestamp": _moment, "time": _time, "text": _text,
    "bytes": _bytes, "enum": _enum, "set": _set, "bit": _bit, "json": _text, "uuid": _address,
    "inet4": _address, "inet6": _address, "opaque": _none,
}  # fmt: skip


def _texts(*values: object) -> tuple[bytes, ...]:
    return tuple(str(value).encode() for value in values)


_BOUNDS = [sign * (1 << bits) + step for bits in (7, 8, 15, 16, 23, 24, 31, 32, 63, 64)
           for sign in (-1, 1) for step in (-1, 0, 1)]  # fmt: skip
_ODD_NUMBERS = _texts(
    *_BOUNDS, "", "-0", "007", "+5", " 5", "5 ", "1.5", "-1.5", "0.4", "41.6", "1e2", "1e-2", ".5",
    "42.0", "4.2e1", "1e30", "-1e30", "-99999999999999999999999", "abc", "5x", "--5", "0x10", "1e",
    "1e400", "-1e400", "9999.995", "0.005",
)  # fmt: skip
_ODD_REALS = _texts("", "-1", "1e39", "-1e39", "1e309", "-1e309", "abc", "1x", "-0", "0.0", "2",
                    "3.5e38")  # fmt: skip
_ODD_MOMENTS = _texts(
    "", "0", "00", "0000",
    "0000-00-00", "0000-00-00 00:00:00", "0001-01-01", "1969-12-31 23:59:59.999999",
    "1970-01-01 00:00:00", "1970-01-01 00:00:01", "2024-02-29", "2024-02-29 00:00:00.000001",
    "2024-02-29 12:00:00", "2038-01-19 03:14:07.999999", "2038-01-19 03:14:08", "2039-01-01",
    "2106-02-07 06:28:15", "2106-02-07 06:28:16", "9999-12-31", "9999-12-31 23:59:59.999999",
    "2023-02-29", "2024-13-01", "nonsense", "2024-07-01 25:00:00", "1999-12-31 23:59:59.9",
    "2024-00-00", "2024-07-01 12:00:00.1239",
)  # fmt: skip
_ODD: dict[str, tuple[bytes, ...]] = {
    "int": _ODD_NUMBERS,
    "decimal": _ODD_NUMBERS,
    "year": _texts("", "1900", "1901", "2155", "2156", "-1", "abc", "1970.5", "99999"),
    "float": _ODD_REALS,
    "double": _ODD_REALS,
    "date": _ODD_MOMENTS,
    "datetime": _ODD_MOMENTS,
    "timestamp": _ODD_MOMENTS,
    "time": _texts("", "00:00:00.000001", "-00:00:00.5", "838:59:59", "-838:59:59", "839:00:00",
                   "-900:00:00", "12:60:00", "x", "12:34:56.9876", "12:34:56.5", "24:00:00"),
    "text": (*_texts("", " ", "  ", "日本", "😀", "x" * 300, "a\0", "ä ", "0", "ß", "ss", "\ta"),
             b"a\xff", b"\xc3", b"\xed\xa0\x80"),
    "bytes": (b"", b" ", b"\0", b"ab\0\0", b"ab ", b"\xff" * 10, b"x" * 300),
    "enum": _texts("nope", "1", "99"),
    "set": _texts("nope", "x,q", "5"),
    "bit": (b"\0", b"\1", b"\2", b"\3\0", b"\2\0", b"\0\0\0\1", b"\1" + b"\0" * 8),
    "json": _texts("", "broken", "7", '"a"'),
    "uuid": _texts("", "nonsense"),
    "inet4": _texts("", "1.2.3", "300.0.0.1"),
    "inet6": _texts("", "nonsense"),
}  # fmt: skip


def _family(name: str) -> str:
    for beginning in ("decimal", "float", "double", "datetime", "timestamp", "time", "date"):
        if name.startswith(beginning):
            return beginning
    if name.startswith(("varchar", "char")) or "text" in name:
        return "text"
    if name.endswith("blob") or name in ("binary", "varbinary"):
        return "bytes"
    first = name.partition("_")[0]
    if first in ("enum", "set", "bit", "year", "json", "uuid", "inet4", "inet6"):
        return first
    return "opaque" if name in ("vector", "point", "geometry") else "int"


def all_kinds() -> list[Kind]:
    """The types of support_column_types.py, and some that had many errors at their bounds."""
    found = []
    for own in every_type():
        values = tuple(value.encode() if isinstance(value, str) else value for value in own.values)
        values = tuple(value for value in values if len(value) < 1000)
        if own.keys is not None and own.name != "float":
            values = tuple(key.encode() for key in own.keys if isinstance(key, str))
        family = _family(own.name)
        blob = "(" in own.index
        length = 8 if family in ("text", "bytes") or blob else 0
        if own.name == "binary":
            length = 4
        found.append(Kind(own.name, own.sql, family, values, bool(own.index), blob, length))
    reals = _texts("0", "0.5", "1", "1e10", "16777216")
    found += [
        Kind("float_unsigned", "FLOAT UNSIGNED", "float", reals),
        Kind("double_unsigned", "DOUBLE UNSIGNED", "double", (*reals, b"0.1", b"1e300")),
    ]
    return found


def text_kind(rng: random.Random, collations: Sequence[tuple[str, str]]) -> Kind:
    """Text in any of the server's collations."""
    charset, collation = rng.choice(collations)
    size = rng.choice([1, 3, 10, 40])
    sql = rng.choice([f"VARCHAR({size})", f"CHAR({size})", "TINYTEXT", "TEXT"])
    words = ["", "a", "A", "b", "ab", "abc", "aBc", "abd", "abcdefgh", "b ", "zz", "~", "ä", "ж",
             "ß", "日本語", "Ω", "aa", "ch", "ll", "a ", "ab ", "\t", "a\t", "a\x01", "a  \t",
             "a b", "ä\t", "a\u00a0", " "]  # fmt: skip
    blob = "TEXT" in sql
    declared = f"{sql} CHARACTER SET {charset} COLLATE {collation}"
    return Kind(collation, declared, "text", _texts(*words), True, blob, 8 if blob else size)


def compressed(kind: Kind) -> Kind | None:
    """The kind as MariaDB stores it compressed. No index takes it."""
    if ON_MYSQL or not re.match(r"VAR|\w*(TEXT|BLOB)", kind.sql):
        return None
    sql = re.sub(r"^(\w+(?:\(\d+\))?)", r"\1 COMPRESSED", kind.sql)
    long = (b"long " * 60, b"ab" * 100)
    values = (*kind.values, *long) if kind.blob else kind.values
    return Kind("compressed_" + kind.name, sql, kind.family, values, False, kind.blob, kind.length)
