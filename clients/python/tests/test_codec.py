"""Python's types as tokens. Bytes and NULL are in the test vectors (test_vectors.py)."""

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from handlersocket2.codec import encode_line, encode_value


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("", b""),
        ("é\t", b"\xc3\xa9\x01\x49"),
        (-12, b"-12"),
        (bytearray(b"a\t"), b"a\x01\x49"),
        (memoryview(b"ab"), b"ab"),
        (True, b"1"),
        (False, b"0"),
        (2**64, b"18446744073709551616"),
        (1.5, b"1.5"),
        (0.1, b"0.1"),
        (-2.0, b"-2.0"),
        (1e300, b"1e+300"),
        (Decimal("12.340"), b"12.340"),
        (Decimal("1E+3"), b"1000"),
        (Decimal("-1E-7"), b"-0.0000001"),
        (date(2024, 2, 29), b"2024-02-29"),
        (date(1, 1, 1), b"0001-01-01"),
        (datetime(2024, 2, 29, 12, 30), b"2024-02-29 12:30:00"),
        (datetime(2024, 2, 29, 12, 30, 1, 5), b"2024-02-29 12:30:01.000005"),
        (time(1, 2, 3), b"01:02:03"),
        (timedelta(hours=26, minutes=3), b"26:03:00"),
        (-timedelta(hours=26, microseconds=5), b"-26:00:00.000005"),
        (timedelta(), b"00:00:00"),
        (
            UUID("12345678-1234-5678-1234-567812345678"),
            b"12345678-1234-5678-1234-567812345678",
        ),
    ],
)
def test_values_as_tokens(value, token):
    assert encode_value(value) == token


@pytest.mark.parametrize("value", [object(), ["a"], {}, (1,), {1}, 1j, iter("a")])
def test_a_value_of_another_type_is_refused(value):
    with pytest.raises(TypeError, match=r"a value is None, bytes.* not "):
        encode_value(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "nan is no number"),
        (-math.inf, "-inf is no number"),
        (Decimal("NaN"), "NaN is no number"),
        (datetime(2024, 1, 1, tzinfo=UTC), "time zone"),
        (time(1, tzinfo=UTC), "time zone"),
        ("\ud800", "surrogates"),
    ],
)
def test_a_value_that_no_column_can_hold_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        encode_value(value)


def test_a_line_joins_tokens():
    assert encode_line([b"1", b"=", b"1", b"7"]) == b"1\t=\t1\t7\n"
