"""The project's test vectors: tests/vectors/README.md explains their format."""

import json
from pathlib import Path

from handlersocket2 import (
    Auth,
    FetchModify,
    Filter,
    FilterKind,
    Find,
    FindModify,
    In,
    Insert,
    LogIn,
    ModifyOp,
    OpenIndex,
)

_FOLDER = Path(__file__).resolve().parents[3] / "tests" / "vectors"


def vectors(name):
    """The vectors of one file."""
    return json.loads((_FOLDER / f"{name}.json").read_text())


def raw(text):
    """What a string of a vector stands for: a byte for each character, or NULL."""
    return None if text is None else text.encode("latin-1")


def request_of(vector):
    ((kind, fields),) = vector["request"].items()
    if kind == "auth":
        secret = raw(fields["secret"])
        return LogIn(raw(fields["user"]), secret) if "user" in fields else Auth(secret)
    if kind == "insert":
        return Insert(fields["id"], _values(fields["values"]))
    if kind == "open_index":
        database, table, index = (_name(fields[key]) for key in ("database", "table", "index"))
        columns, filter_columns = (
            [_name(name) for name in fields.get(key, [])] for key in ("columns", "filter_columns")
        )
        return OpenIndex(fields["id"], database, table, index, columns, filter_columns)
    find = _find(fields)
    if "modify" not in fields:
        return find
    modify = fields["modify"]
    form = FetchModify if modify.get("rows_before") else FindModify
    return form(find, ModifyOp(raw(modify["op"])), _values(modify.get("values", [])))


def _find(fields):
    values_of_in = fields.get("in")
    return Find(
        fields["id"],
        _values(fields["key"]),
        fields["op"],
        fields.get("limit", 1),
        fields.get("offset", 0),
        values_of_in and In(_values(values_of_in["values"]), values_of_in["key_part"]),
        [
            Filter(each["op"], each["column"], raw(each["value"]), FilterKind(raw(each["kind"])))
            for each in fields.get("filters", [])
        ],
    )


def _values(texts):
    return [raw(text) for text in texts]


def _name(text):
    return raw(text).decode()
