"""Rows: by name, in the types that the caller names, and what does not fit."""

import copy
import enum
import json
import pickle
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from handlersocket2 import DecodeError, NamedRow, ProtocolError
from handlersocket2.codec import encode_value
from handlersocket2.rows import reader_for


class Color(enum.Enum):
    RED = "red"


@dataclass
class User:
    id: int
    name: str | None
    tags: list[str] = field(default_factory=list, init=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Strict:
    id: int
    name: str = "nobody"


class Point(NamedTuple):
    x: Decimal
    y: Decimal = Decimal(0)


def read(columns, *rows):
    """The rows by each of the ways in which they are read; all have to agree."""
    names, reader = reader_for(columns)
    tokens = [encode_value(value) for row in rows for value in row]
    body = b"\t".join(tokens)
    plain = not (b"\x01" in body or b"\x00" in body)
    found = reader.rows(body, plain)
    assert reader.rows(body, False) == found
    if len(rows) == 1:
        one = reader.one_of_lines(b"0\t9\t", lambda line, plain: reader.rows(line[4:], plain)[0])
        assert one(b"0\t9\t" + body, plain) == found[0]
    assert all(len(row) == len(names) for row in rows)
    return found


@pytest.mark.parametrize(
    ("wanted", "raw", "value"),
    [
        (bytes, b"\xff\x00\t", b"\xff\x00\t"),
        (Any, b"x", b"x"),
        (str, "é".encode(), "é"),
        (str, b"", ""),
        (int, b"-12", -12),
        (int, b"18446744073709551615", 2**64 - 1),
        (float, b"1.5e-3", 0.0015),
        (bool, b"1", True),
        (bool, b"0", False),
        (Decimal, b"-12.340", Decimal("-12.340")),
        (date, b"2024-02-29", date(2024, 2, 29)),
        (datetime, b"2024-02-29 12:30:00", datetime(2024, 2, 29, 12, 30)),
        (datetime, b"2024-02-29 12:30:00.000005", datetime(2024, 2, 29, 12, 30, 0, 5)),
        (datetime, b"2024-02-29 12:30:00.500", datetime(2024, 2, 29, 12, 30, 0, 500000)),
        (time, b"12:30:01", time(12, 30, 1)),
        (timedelta, b"838:59:59", timedelta(hours=838, minutes=59, seconds=59)),
        (timedelta, b"-26:30:00.5", -timedelta(hours=26, minutes=30, milliseconds=500)),
        (timedelta, b"-00:00:01", timedelta(seconds=-1)),
        (timedelta, b"00:00:00.000001", timedelta(microseconds=1)),
        (
            UUID,
            b"12345678-1234-5678-1234-567812345678",
            UUID(int=0x12345678123456781234567812345678),
        ),
        (UUID, bytes(range(16, 32)), UUID(bytes=bytes(range(16, 32)))),
        (Color, b"red", Color.RED),
        (json.loads, b'{"a": [1]}', {"a": [1]}),
        (lambda raw: raw[::-1], b"abc", b"cba"),
    ],
)
def test_a_type(wanted, raw, value):
    (row,) = read({"c": wanted, "other": str}, (raw, b"x"))
    assert row == (value, "x")
    assert type(row.c) is type(value)
    if wanted not in (json.loads,) and not callable(getattr(wanted, "__code__", None)):
        (row,) = read({"c": wanted | None if isinstance(wanted, type) else wanted}, (raw,))
        assert row == (value,)


@pytest.mark.parametrize(
    ("wanted", "raw"),
    [
        (int, b"1.5"),
        (int, b""),
        (float, b"x"),
        (bool, b"x"),
        (Decimal, b"x"),
        (date, b"0000-00-00"),
        (datetime, b"0000-00-00 00:00:00"),
        (time, b"26:00:00"),
        (timedelta, b"12"),
        (UUID, b"x"),
        (Color, b"blue"),
        (str, b"\xff"),
        (json.loads, b"{"),
    ],
)
@pytest.mark.parametrize("beside", [b"x", b"\t"])
def test_a_value_that_does_not_fit(wanted, raw, beside):
    with pytest.raises(DecodeError, match="column 'c' is no") as refused:
        read({"a": str, "c": wanted}, (beside, raw))
    assert refused.value.sent and refused.value.safe_to_retry
    assert refused.value.__suppress_context__, "the other error would show the value"


@pytest.mark.parametrize("last", [str, bytes])
def test_a_value_that_does_not_fit_behind_some_that_do(last):
    """They are converted already when it is found."""
    wanted = {"a": int, "b": date, "c": float, "d": last}
    with pytest.raises(DecodeError, match="column 'c' is no float"):
        read(wanted, (b"1", b"2024-02-29", b"s3cret", b"x"))


def test_null():
    assert read(["a", "b"], (None, b"x")) == [(None, b"x")]
    assert read({"a": bytes, "b": int | None}, (None, None)) == [(None, None)]
    assert read({"a": int | None}, (b"1",), (None,), (b"3",)) == [(1,), (None,), (3,)]
    for wanted in (int, str, UUID, json.loads):
        with pytest.raises(DecodeError, match="column 'b' is NULL"):
            read({"a": bytes, "b": wanted}, (b"1", None))


def test_several_rows_and_escapes_in_one_of_them():
    rows = [(b"1", b"a"), (b"2", b"b\t"), (b"3", None)]
    assert read({"id": int, "name": str | None}, *rows) == [(1, "a"), (2, "b\t"), (3, None)]
    assert read({"id": int, "name": str}, *rows[:2]) == [(1, "a"), (2, "b\t")]
    assert read({"id": int, "raw": bytes}, *rows) == [(1, b"a"), (2, b"b\t"), (3, None)]


@pytest.mark.parametrize("plain", [True, False])
def test_values_that_are_no_whole_rows(plain):
    for columns in (["a", "b"], {"a": str, "b": str}):
        _, reader = reader_for(columns)
        with pytest.raises(ProtocolError):
            reader.rows(b"1\t2\t3", plain)
    with pytest.raises(ProtocolError):
        reader_for([])[1].rows(b"1", plain)


def test_a_row_has_its_values_by_name():
    ((row),) = read({"id": int, "name": str}, (b"7", b"Ann"))
    assert (row.id, row.name, row[0], len(row)) == (7, "Ann", 7, 2)
    assert row.as_dict() == {"id": 7, "name": "Ann"}
    assert repr(row) == "Row(id=7, name='Ann')"
    assert isinstance(row, NamedRow)
    identity, name = row
    assert (identity, name) == row == (7, "Ann")
    for again in (pickle.loads(pickle.dumps(row)), copy.copy(row)):
        assert again == row and again.name == "Ann"
    with pytest.raises(AttributeError):
        _ = row.nothing
    with pytest.raises(AttributeError):
        row.name = "x"


def test_names_that_python_has_other_ideas_about():
    columns = ["count", "index", "as_dict", "_columns", "class", "two words", "1"]
    ((row),) = read(columns, [b"%d" % number for number in range(7)])
    assert (row.count, row.index, getattr(row, "class"), getattr(row, "two words")) == (
        b"0",
        b"1",
        b"4",
        b"5",
    )
    assert list(row.as_dict()) == columns


def test_rows_as_objects_of_the_callers():
    names, _ = reader_for(User)
    assert names == ("id", "name")
    assert read(User, (b"1", b"Ann"), (b"2", None)) == [User(1, "Ann"), User(2, None)]
    assert read(Strict, (b"1", b"Ann")) == [Strict(id=1, name="Ann")]
    assert read(Point, (b"1.5", b"2")) == [Point(Decimal("1.5"), Decimal(2))]
    with pytest.raises(DecodeError, match="column 'id' is NULL"):
        read(User, (None, b"x"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": 1}, "a column's type is"),
        ({"a": int | str}, "one type"),
        ({"a": object}, "a column's type is"),
        ({"a": list[int]}, "a column's type is"),
        (dict, "a dataclass or a NamedTuple"),
        (int, "a dataclass or a NamedTuple"),
    ],
)
def test_what_is_no_type_of_a_column(columns, message):
    with pytest.raises(TypeError, match=message):
        reader_for(columns)


@pytest.mark.parametrize("columns", [Strict, User, {"id": int, "name": str}])
def test_columns_in_another_order(columns):
    names, reader = reader_for(columns)
    other = reader.reordered(names[::-1])
    assert other.rows(b"Ann\t1\tBob\t2", True) == reader.rows(b"1\tAnn\t2\tBob", True)
    assert other.rows(b"A\x01I\t1", False) == reader.rows(b"1\tA\x01I", False)
