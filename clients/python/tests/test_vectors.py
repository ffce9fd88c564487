"""What the test vectors say about bytes holds for this client."""

import pytest
from vectors import raw, request_of, vectors

from handlersocket2 import (
    Auth,
    FetchModify,
    Find,
    FindModify,
    Insert,
    ModifyOp,
    OpenIndex,
    ProtocolError,
    ReplyError,
)
from handlersocket2.codec import decode_line, decode_value, encode_value
from handlersocket2.requests import result_of

FIND = Find(1, [1])
# A request of each kind that a reply can belong to.
ASKED = {
    "open_index": OpenIndex(1, "d", "t"),
    "auth": Auth("s"),
    "find": FIND,
    "modify": FindModify(FIND, ModifyOp.DELETE),
    "modify_rows_before": FetchModify(FIND, ModifyOp.DELETE),
    "insert": Insert(1, [1]),
}


def chosen(name, *keys):
    """The vectors of a file that have one of these keys, each named by what it shows."""
    return [
        pytest.param(vector, id=vector["why"])
        for vector in vectors(name)
        if any(vector.get(key) for key in keys)
    ]


@pytest.mark.parametrize("vector", chosen("requests", "writes"))
def test_a_request_is_written(vector):
    assert request_of(vector).encode() in [raw(line) for line in vector["writes"]]


@pytest.mark.parametrize("vector", vectors("values"), ids=lambda vector: vector["why"])
def test_a_value(vector):
    if "error" in vector:
        with pytest.raises(ProtocolError):
            decode_value(raw(vector["token"]))
        return
    value = raw(vector["value"])
    assert encode_value(value) == raw(vector["token"])
    for token in [vector["token"], *vector.get("accepts", [])]:
        assert decode_value(raw(token)) == value


def read(vector):
    line = raw(vector["line"])
    assert line.endswith(b"\n")
    return result_of(ASKED[vector.get("to", "find")], decode_line(line[:-1]))


@pytest.mark.parametrize("vector", chosen("replies", "to"))
def test_a_reply_is_read(vector):
    if "no_reply" in vector:
        with pytest.raises(ProtocolError):
            read(vector)
    elif "rows" in vector:
        assert decode_line(raw(vector["line"])[:-1]).columns == vector["columns"]
        assert read(vector) == [tuple(map(raw, row)) for row in vector["rows"]]
    else:
        assert read(vector) == vector.get("modified", vector.get("id"))


@pytest.mark.parametrize("vector", chosen("replies", "error"))
def test_an_error_is_read(vector):
    with pytest.raises(ReplyError) as caught:
        read(vector)
    assert {"code": caught.value.code, "text": caught.value.text} == vector["error"]
