"""The project's test vectors: tests/vectors/README.md explains their format."""

import json
from pathlib import Path

from handlersocket2 import (
    Assign,
    Assignment,
    Auth,
    Count,
    Exists,
    FetchAssign,
    FetchModify,
    Filter,
    FilterKind,
    Find,
    FindAssign,
    FindModify,
    In,
    Insert,
    InsertRows,
    LogIn,
    ModifyOp,
    OpenIndex,
    Range,
)

_FOLDER = Path(__file__).resolve().parents[3] / "tests" / "vectors"


def vectors(name):
    """The vectors of one file."""
    return json.loads((_FOLDER / f"{name}.json").read_text())


def raw(text):
    """What a string of a vector stands for: a byte for each character, or NULL."""
    return None if text is None else text.encode("latin-1")


def described(meaning):
    """A description as dataclasses.asdict() gives it."""

    texts = ("name", "type", "charset")
    return {
        kind: tuple(
            {key: of[key] and _name(of[key]) if key in texts else of[key] for key in of}
            for of in columns
        )
        for kind, columns in meaning.items()
    }


def listed(meaning):
    """Indexes as dataclasses.asdict() gives them."""
    return [
        {
            **index,
            "name": _name(index["name"]),
            "parts": tuple(
                {**part, "column": part["column"] and _name(part["column"])}
                for part in index["parts"]
            ),
        }
        for index in meaning
    ]


def request_of(vector):
    ((kind, fields),) = vector["request"].items()
    if kind == "auth":
        secret = raw(fields["secret"])
        return LogIn(raw(fields["user"]), secret) if "user" in fields else Auth(secret)
    if kind == "insert":
        return Insert(fields["id"], _values(fields["values"]))
    if kind == "insert_rows":
        return InsertRows(
            fields["id"],
            [_values(row) for row in fields["rows"]],
            {"update": "fail"}.get(fields.get("else", "fail"), fields.get("else", "fail")),
            _assignments(fields),
            _filters(fields),
        )
    if kind == "open_index":
        database, table, index = (_name(fields[key]) for key in ("database", "table", "index"))
        columns, filter_columns = (
            [_name(name) for name in fields.get(key, [])] for key in ("columns", "filter_columns")
        )
        return OpenIndex(fields["id"], database, table, index, columns, filter_columns)
    find = _find(fields)
    if "answer" in fields:
        return {"count": Count, "exists": Exists}[fields["answer"]](find)
    if "modify" not in fields:
        return find
    modify = fields["modify"]
    before, after = modify.get("rows_before", False), modify.get("rows_after", False)
    if modify["op"] == "set":
        assignments = _assignments(modify)
        fetch = before or after
        return FetchAssign(find, assignments, after) if fetch else FindAssign(find, assignments)
    op, values = ModifyOp(raw(modify["op"])), _values(modify.get("values", []))
    fetch = before or after
    return FetchModify(find, op, values, after) if fetch else FindModify(find, op, values)


def _find(fields):
    values_of_in = fields.get("in")
    key, op = _values(fields["key"]), fields["op"]
    if op in ("up", "down"):
        key, op = _range(fields, key), "="
    return Find(
        fields["id"],
        key,
        op,
        fields.get("limit"),
        fields.get("offset", 0),
        values_of_in and In(_values(values_of_in["values"]), values_of_in["key_part"]),
        _filters(fields),
    )


def _range(fields, key):
    ends = {}
    for member, names in (("lower", ("ge", "gt")), ("upper", ("le", "lt"))):
        if member in fields:
            end = fields[member]
            ends[names[end.get("open", False)]] = raw(end["value"])
    if "prefix" in fields:
        ends["prefix"] = raw(fields["prefix"])
    return Range(key=key, down=fields["op"] == "down", **ends)


def _filters(fields):
    return [
        Filter(each["op"], each["column"], raw(each["value"]), FilterKind(raw(each["kind"])))
        for each in fields.get("filters", [])
    ]


#: What makes each assignment of a value.
_MADE = {
    "append": Assign.append,
    "prepend": Assign.prepend,
    "max": Assign.max,
    "min": Assign.min,
    "&": Assign.bit_and,
    "|": Assign.bit_or,
    "^": Assign.bit_xor,
    "+": Assign.add,
    "-": Assign.subtract,
}


def _assignments(fields):
    return [(each["column"], _assignment(each)) for each in fields.get("assignments", [])]


def _assignment(each):
    how, value = each["how"], raw(each["value"])
    plain = {"default": Assign.default, "now": Assign.now, "new": Assign.inserted}
    if how in plain:
        return plain[how]()
    if how == "=":
        return value
    if how.endswith("["):
        return _MADE[how[0]](value, low=raw(each["low"]), high=raw(each["high"]))
    assignment = _MADE[how](value)
    assert isinstance(assignment, Assignment)
    return assignment


def _values(texts):
    return [raw(text) for text in texts]


def _name(text):
    return raw(text).decode()
