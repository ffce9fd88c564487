"""Requests that are refused, and the classes of errors. The rest is in test_vectors.py."""

import pytest

from handlersocket2 import (
    AuthenticationError,
    DataError,
    DuplicateKeyError,
    Find,
    LockError,
    OpenIndex,
    RawReply,
    ReadOnlyError,
    ReplyError,
)
from handlersocket2.requests import result_of

FIND = Find(1, [1])


@pytest.mark.parametrize(
    "request_",
    [Find(-1, [1]), Find(1, [1], limit=-1), Find(1, [1], offset=-1), OpenIndex(1, "d\tb", "t")],
)
def test_what_the_protocol_cannot_say_is_refused(request_):
    with pytest.raises(ValueError):
        request_.encode()


@pytest.mark.parametrize(
    ("code", "text", "kind", "number"),
    [
        (1, b"121", DuplicateKeyError, 121),
        (1, b"149", LockError, 149),
        (1, b"1213", LockError, 1213),
        (1, b"3101", LockError, 3101),
        (1, b"lock_tables", ReadOnlyError, None),
        (1, b"1406", DataError, 1406),
        (1, b"1644", DataError, 1644),
        (1, b"7777", ReplyError, 7777),
        (2, b"readonly", ReadOnlyError, None),
        (2, b"stmtnum", ReplyError, None),
        (3, b"unauth", AuthenticationError, None),
        (1, b"1045", AuthenticationError, 1045),
    ],
)
def test_errors(code, text, kind, number):
    with pytest.raises(kind) as caught:
        result_of(FIND, RawReply(code, 1, (text,)))
    assert (caught.value.code, caught.value.text) == (code, text.decode())
    assert caught.value.number == number
    assert type(caught.value) is kind
