"""Each request's line, and what a reply to it means."""

import pytest

from handlersocket2 import (
    Auth,
    AuthenticationError,
    DuplicateKeyError,
    FetchModify,
    Filter,
    FilterKind,
    Find,
    FindModify,
    In,
    Insert,
    LockError,
    ModifyOp,
    OpenIndex,
    ProtocolError,
    RawReply,
    ReadOnlyError,
    ReplyError,
)
from handlersocket2.requests import result_of

FIND = Find(3, ["a", None], ">=", 10, 2)


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        (OpenIndex(1, "db", "t", columns=["id", "a"]), b"P\t1\tdb\tt\tPRIMARY\tid,a\n"),
        (OpenIndex(1, "db", "t", "ix", ["id"], ["b", "c"]), b"P\t1\tdb\tt\tix\tid\tb,c\n"),
        (OpenIndex(0, "db", "t", ""), b"P\t0\tdb\tt\t\t\n"),
        (Auth("a\tb"), b"A\t1\ta\x01\x49b\n"),
        (Insert(2, ["x", None, 7]), b"2\t+\t3\tx\t\x00\t7\n"),
        (Find(1, [5]), b"1\t=\t1\t5\t1\t0\n"),
        (FIND, b"3\t>=\t2\ta\t\x00\t10\t2\n"),
        (Find(1, [""], in_=In([1, None], 0)), b"1\t=\t1\t\t1\t0\t@\t0\t2\t1\t\x00\n"),
        (
            Find(1, [1], filters=[Filter(">", 0, 3), Filter("!=", 1, None, FilterKind.STOP)]),
            b"1\t=\t1\t1\t1\t0\tF\t>\t0\t3\tW\t!=\t1\t\x00\n",
        ),
        (FindModify(FIND, ModifyOp.UPDATE, ["n"]), b"3\t>=\t2\ta\t\x00\t10\t2\tU\tn\n"),
        (FindModify(FIND, ModifyOp.DELETE), b"3\t>=\t2\ta\t\x00\t10\t2\tD\n"),
        (FetchModify(FIND, ModifyOp.INCREMENT, [1]), b"3\t>=\t2\ta\t\x00\t10\t2\t+?\t1\n"),
        (FetchModify(FIND, ModifyOp.DECREMENT, [1]), b"3\t>=\t2\ta\t\x00\t10\t2\t-?\t1\n"),
    ],
)
def test_lines(request_, line):
    assert request_.encode() == line


@pytest.mark.parametrize(
    "request_",
    [Find(-1, [1]), Find(1, [1], limit=-1), Find(1, [1], offset=-1), OpenIndex(1, "d\tb", "t")],
)
def test_what_the_protocol_cannot_say_is_refused(request_):
    with pytest.raises(ValueError):
        request_.encode()


def test_rows_are_cut_by_the_number_of_columns():
    reply = RawReply(0, 2, (b"1", None, b"2", b""))
    assert result_of(FIND, reply) == [(b"1", None), (b"2", b"")]
    assert result_of(FIND, RawReply(0, 2, ())) == []
    assert result_of(FIND, RawReply(0, 0, ())) == []
    with pytest.raises(ProtocolError):
        result_of(FIND, RawReply(0, 2, (b"1",)))


def test_counts_and_ids():
    assert result_of(FindModify(FIND, ModifyOp.DELETE), RawReply(0, 1, (b"7",))) == 7
    assert result_of(Insert(1, [1]), RawReply(0, 1, ())) is None
    assert result_of(Insert(1, [1]), RawReply(0, 1, (b"42",))) == 42
    with pytest.raises(ProtocolError):
        result_of(FindModify(FIND, ModifyOp.DELETE), RawReply(0, 1, (b"x",)))


@pytest.mark.parametrize(
    ("code", "text", "kind", "number"),
    [
        (1, b"121", DuplicateKeyError, 121),
        (1, b"149", LockError, 149),
        (1, b"lock_tables", LockError, None),
        (1, b"1406", ReplyError, 1406),
        (2, b"readonly", ReadOnlyError, None),
        (2, b"stmtnum", ReplyError, None),
        (3, b"unauth", AuthenticationError, None),
    ],
)
def test_errors(code, text, kind, number):
    with pytest.raises(kind) as caught:
        result_of(FIND, RawReply(code, 1, (text,)))
    assert (caught.value.code, caught.value.text) == (code, text.decode())
    assert caught.value.number == number
    assert type(caught.value) is kind
