"""What is refused before it is sent, and which values are read into which types."""

from decimal import Decimal

import pytest
from faces import Played, script

from handlersocket2 import (
    AsyncClient,
    Client,
    DecodeError,
    Find,
    FindModify,
    In,
    ModifyOp,
)
from handlersocket2.requests import Count
from handlersocket2.rows import reader_for

both = pytest.mark.parametrize("kind", [Client, AsyncClient], ids=["threads", "asyncio"])
OPEN = "P\t1\tdb\tt\tPRIMARY\ta\n"


@both
@pytest.mark.parametrize(
    "call",
    [
        lambda index: index.find(1, limit=0),
        lambda index: index.find(1, limit=0, in_=In([])),
        lambda index: index.find_in([], limit=0),
        lambda index: index.find_in([1, 2], limit=0),
        lambda index: index.count(1, limit=0),
        lambda index: index.update(1, [1], limit=0),
        lambda index: index.delete(1, limit=0),
        lambda index: index.fetch_and(ModifyOp.DELETE, 1, limit=0),
        lambda index: index.increment(1, [1], limit=0),
    ],
)
def test_a_limit_of_0(kind, call):
    with Played(kind, read=[], write=[]) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(ValueError, match="a limit is at least 1"):
            run(lambda: call(index))


@both
def test_an_iteration_with_a_limit_of_0(kind):
    with Played(kind, read=[], write=[]) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(ValueError, match="a limit is at least 1"):
            index.iterate(1, limit=0)


def test_a_request_with_a_limit_of_0():
    find = Find(1, [1], limit=0)
    for request in (find, Count(find), FindModify(find, ModifyOp.DELETE, [])):
        with pytest.raises(ValueError, match="a limit is at least 1"):
            request.encode()


def read(kind, token):
    """The value of a column of this type."""
    _, reader = reader_for({"a": kind})
    return reader.rows(token, plain=b"\x01" not in token)[0].a


@pytest.mark.parametrize(
    ("token", "value"),
    [(b"0", False), (b"1", True), (b"\x01@", False), (b"\x01A", True)],
)
def test_a_bool(token, value):
    assert read(bool, token) is value
    _, reader = reader_for({"a": bool, "b": bytes})
    assert reader.rows(token + b"\tx", plain=b"\x01" not in token)[0] == (value, b"x")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((bool, text) for text in ("", "2", "-1", "00", "01", " 1", "1_0", "True", "\x02", "1.0")),
        *((int, text) for text in ("", " 1", "1 ", "1_0", "+1", "1.0", "\u0661", "0x1", "--1")),
        *((float, text) for text in ("", " 1", "1_0", "inf", "nan", "-Infinity", "1e400")),
        *((Decimal, text) for text in ("", " 1", "1_0", "NaN", "Infinity", "\u0661")),
    ],
)
def test_values_that_are_refused(kind, text):
    token = text.replace("\x02", "\x01B").encode()
    with pytest.raises(DecodeError, match="'a'"):
        read(kind, token)
    _, reader = reader_for({"b": bytes, "a": kind})
    with pytest.raises(DecodeError, match="'a'"):
        reader.rows(b"x\t" + token, plain=b"\x01" not in token)


def test_text_that_is_not_utf_8():
    for columns in ({"a": str}, {"b": bytes, "a": str}):
        _, reader = reader_for(columns)
        with pytest.raises(DecodeError):
            reader.rows(b"\t".join([b"x"] * (len(columns) - 1) + [b"\xff"]), plain=True)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "-9223372036854775808", -(2**63)),
        (int, "007", 7),
        (float, "-1.5e+3", -1500.0),
        (float, "7", 7.0),
        (Decimal, "-0.50", Decimal("-0.50")),
        (Decimal, "1e20", Decimal("1e20")),  # as a DOUBLE is written
        (Decimal, "12345678901234567890.123", Decimal("12345678901234567890.123")),
    ],
)
def test_values_that_are_read(kind, text, value):
    assert read(kind, text.encode()) == value


@both
@pytest.mark.parametrize(
    ("call", "asked", "maybe"),
    [
        (lambda index: index.find_one(1), "1\t=\t1\t1\n", False),
        (lambda index: index.fetch_and(ModifyOp.UPDATE, 1, [7]), "1\t=\t1\t1\t1\t0\tU?\t7\n", True),
        (
            lambda index: index.change_and_fetch(ModifyOp.UPDATE, 1, [7]),
            "1\t=\t1\t1\t1\t0\tU!\t7\n",
            True,
        ),
    ],
)
def test_a_write_whose_rows_cannot_be_read_was_executed(kind, call, asked, maybe):
    played = [script((OPEN + asked, "0\t1\n0\t1\tx\n"))]
    told = []
    options = {"on_request": told.append}
    with Played(kind, options=options, **{"write" if maybe else "read": played}) as run:
        index = run.client.index("db", "t", {"a": int})
        with pytest.raises(DecodeError) as caught:
            run(lambda: call(index))
        assert caught.value.maybe_executed is maybe
        assert caught.value.safe_to_retry is not maybe
        assert caught.value.sent
        assert told[0].error is caught.value
        assert run.client.counters().errors == 1


@both
@pytest.mark.parametrize("changes", [False, True])
def test_a_group_whose_rows_cannot_be_read_was_executed(kind, changes):
    find, delete = "1\t=\t1\t1\n", "1\t=\t1\t1\t1\t0\tD\n" * changes
    asked = f"{OPEN}G\t{1 + changes}\n{find}{delete}"
    answer = "0\t1\n0\t1\n0\t1\tx\n" + "0\t1\t1\n" * changes
    told = []
    with Played(kind, options={"on_request": told.append}, write=[script((asked, answer))]) as run:
        index = run.client.index("db", "t", {"a": int})
        group = run.client.group()
        group.on(index).find_one(1)
        if changes:
            group.on(index).delete(1)
        run(group.run)
        error = group.results()[0]
        assert isinstance(error, DecodeError)
        assert error.maybe_executed is changes
        assert told[0].error is error
        assert run.client.counters().errors == 1
