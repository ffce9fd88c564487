"""What the test vectors say about bytes holds for this client."""

from dataclasses import asdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from vectors import described, raw, request_of, vectors

from handlersocket2 import (
    Auth,
    ColumnDescription,
    Count,
    Exists,
    FetchModify,
    Find,
    FindModify,
    Insert,
    InsertRows,
    ModifyOp,
    OpenIndex,
    ProtocolError,
    ReplyError,
)
from handlersocket2.asks import Specs
from handlersocket2.codec import decode_line, decode_value, encode_value
from handlersocket2.decoders import description_decoder, opened
from handlersocket2.operations import Operations
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
    "count": Count(FIND),
    "exists": Exists(FIND),
    "modify_rows_after": FetchModify(FIND, ModifyOp.UPDATE, [1], after=True),
}


def asked_by(vector):
    """The request to which it is a reply, or may be one."""
    if vector.get("to") == "insert_rows":
        return InsertRows(1, [[1]] * rows_asked(vector))
    return ASKED[vector.get("to", "find")]


def rows_asked(vector):
    return len(vector["outcomes"]) if "outcomes" in vector else vector["asked"]


def meaning_of(vector):
    """What a reply without rows says."""
    if "outcomes" in vector:
        return [tuple(outcome) for outcome in vector["outcomes"]]
    kinds = ("modified", "count", "exists", "id")
    return next((vector[kind] for kind in kinds if kind in vector), None)


def chosen(name, *keys):
    """The vectors of a file that have one of these keys, each named by what it shows."""
    return [
        pytest.param(vector, id=vector["why"])
        for vector in vectors(name)
        if any(vector.get(key) for key in keys)
    ]


@pytest.mark.parametrize(
    "vector", [*chosen("requests", "writes"), *chosen("new_requests", "writes")]
)
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
    return result_of(asked_by(vector), decode_line(line[:-1]))


@pytest.mark.parametrize("vector", [*chosen("replies", "to"), *chosen("new_replies", "to")])
def test_a_reply_is_read(vector):
    if "no_reply" in vector:
        with pytest.raises(ProtocolError):
            read(vector)
    elif "rows" in vector:
        assert decode_line(raw(vector["line"])[:-1]).columns == vector["columns"]
        assert read(vector) == [tuple(map(raw, row)) for row in vector["rows"]]
    else:
        assert read(vector) == meaning_of(vector)


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
        "count": lambda: operations.count(1, {}),
        "exists": lambda: operations.exists(1, {}),
        "modify_rows_after": lambda: operations.fetch(ModifyOp.UPDATE, 1, ["x"], {}, after=True),
        "insert_rows": lambda: operations.insert_many([["x"]] * rows_asked(vector), {}),
    }[to]()
    plain = not (b"\x00" in line or b"\x01" in line)
    return ask.operation.decode(line, plain)


@pytest.mark.parametrize("vector", [*chosen("replies", "to"), *chosen("new_replies", "to")])
def test_an_index_reads_a_reply(vector):
    if "no_reply" in vector:
        with pytest.raises(ProtocolError):
            read_by_an_index(vector)
    elif "rows" in vector:
        assert read_by_an_index(vector) == [tuple(map(raw, row)) for row in vector["rows"]]
    else:
        assert read_by_an_index(vector) == meaning_of(vector)


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


@pytest.mark.parametrize("to", ["count", "exists", "modify", "insert"])
def test_a_number_of_more_digits_than_python_reads(to):
    vector = {"line": "0\t1\t" + "9" * 5000 + "\n", "to": to}
    for reads in (read, read_by_an_index):
        with pytest.raises(ProtocolError):
            reads(vector)


def read_description(vector):
    line = raw(vector["line"])[:-1]
    plain = not (b"\x00" in line or b"\x01" in line)
    return description_decoder(vector["columns"], vector["filter_columns"])(line, plain)


@pytest.mark.parametrize("vector", vectors("descriptions"), ids=lambda vector: vector["why"])
def test_a_description_is_read(vector):
    if "no_reply" in vector:
        with pytest.raises(ProtocolError):
            read_description(vector)
    elif "error" in vector:
        with pytest.raises(ReplyError) as caught:
            read_description(vector)
        assert {"code": caught.value.code, "text": caught.value.text} == vector["error"]
    else:
        assert asdict(read_description(vector)) == described(vector["described"])


PYTHON_TYPES = {
    "integer": int,
    "decimal": Decimal,
    "float": float,
    "text": str,
    "bytes": bytes,
    "date": date,
    "moment": datetime,
    "time": timedelta,
    "uuid": UUID,
}


@pytest.mark.parametrize(
    "vector", vectors("types"), ids=lambda vector: f"{vector['type']}-{vector['charset']}"
)
def test_a_type_is_read_as(vector):
    def read_as(nullable):
        column = ColumnDescription("a", vector["type"], nullable, False, 0, vector["charset"])
        return column.python_type

    kind = PYTHON_TYPES[vector["is"]]
    assert read_as(False) is kind
    assert read_as(True) == read_as(None) == kind | None
