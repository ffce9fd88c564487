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
from handlersocket2.operations import Operations, Specs, opened
from handlersocket2.requests import result_of
from handlersocket2.rows import reader_for

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
    """In the shortest of its forms."""
    assert request_of(vector).encode() == raw(vector["writes"][0])


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


def read_by_an_index(vector):
    """As a client reads it, which knows how many columns there have to be."""
    line = raw(vector["line"])[:-1]
    columns = [f"c{number}" for number in range(vector.get("columns", 1))]
    specs = Specs()
    spec = specs.get(OpenIndex(1, "d", "t", "PRIMARY", columns))
    operations = Operations(specs, spec, reader_for(columns)[1])
    to = vector.get("to", "find")
    if to in ("open_index", "auth"):
        return opened(line, False)
    ask = {
        "find": lambda: operations.find(1, {}),
        "modify": lambda: operations.modify(ModifyOp.DELETE, 1, (), {}),
        "modify_rows_before": lambda: operations.fetch(ModifyOp.DELETE, 1, (), {}),
        "insert": lambda: operations.insert(["x"], {}),
    }[to]()
    plain = not (b"\x00" in line or b"\x01" in line)
    return ask.operation.decode(line, plain)


@pytest.mark.parametrize("vector", chosen("replies", "to"))
def test_an_index_reads_a_reply(vector):
    if "no_reply" in vector:
        with pytest.raises(ProtocolError):
            read_by_an_index(vector)
    elif "rows" in vector:
        assert read_by_an_index(vector) == [tuple(map(raw, row)) for row in vector["rows"]]
    else:
        assert read_by_an_index(vector) == vector.get("modified", vector.get("id"))


@pytest.mark.parametrize("vector", chosen("replies", "error"))
def test_an_index_reads_an_error(vector):
    with pytest.raises(ReplyError) as caught:
        read_by_an_index(vector)
    assert {"code": caught.value.code, "text": caught.value.text} == vector["error"]


@pytest.mark.parametrize("vector", chosen("replies", "error"))
def test_an_error_is_read(vector):
    with pytest.raises(ReplyError) as caught:
        read(vector)
    assert {"code": caught.value.code, "text": caught.value.text} == vector["error"]
