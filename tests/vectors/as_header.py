"""Makes a C++ header of the test vectors, for the unit tests.

    as_header.py OUTPUT

A file NAME.json becomes the array `hs::vectors::NAME`. The types of its elements are below.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Json = dict[str, Any]

TYPES = """\
// Made from tests/vectors by as_header.py, for the unit tests. tests/vectors/README.md explains it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "handlersocket/protocol/request.h"

namespace hs::vectors {

using namespace std::string_view_literals;
using namespace hs::handlersocket;
using namespace hs::store;
using Lines = std::span<const std::string_view>;
using Values = std::span<const Value>;

// A value and its tokens, or a token that is wrong.
struct ValueVector {
  std::string_view why{};
  Value value{};
  std::string_view token{};
  Lines accepts{};
  bool is_wrong = false;
};

struct RequestVector {
  std::string_view why{};
  Lines writes{};
  Lines accepts{};
  Request request{};
};

struct MalformedVector {
  std::string_view why{};
  std::uint32_t code = 0;
  std::string_view text{};
  Lines lines{};
};

// A reply's code, columns and values; no_reply: bytes that are none.
struct ReplyVector {
  std::string_view why{};
  std::string_view line{};
  std::string_view to{};
  bool no_reply = false;
  std::uint32_t code = 0;
  std::uint32_t columns = 1;
  Values values{};
};

// An error that a reply can carry, and the class to which it belongs for clients.
struct ErrorVector {
  std::uint32_t code = 0;
  std::string_view text{};
  std::string_view kind{};
};

struct StepVector {
  bool reads = false;  // on the read port; otherwise on the write port
  std::string_view send{};
  std::string_view recv{};
};

struct DialogueVector {
  std::string_view name{};
  std::span<const StepVector> steps{};
};

struct StreamVector {
  std::string_view why{};
  std::string_view stream{};
  Lines lines{};
  std::string_view rest{};
};
"""

COMPARISONS = {
    "=": "equal",
    ">": "greater",
    ">=": "greater_equal",
    "<": "less",
    "<=": "less_equal",
    "!=": "not_equal",
}
WAYS = ("up", "down")
CHANGES = {"U": "update", "D": "erase", "+": "increment", "-": "decrement", "set": "assign"}
HOWS = {
    "=": "set",
    "default": "set_default",
    "now": "set_now",
    "new": "set_new",
    "+": "add",
    "-": "subtract",
    "+[": "add",
    "-[": "subtract",
    "append": "append",
    "prepend": "prepend",
    "max": "at_least",
    "min": "at_most",
    "&": "bit_and",
    "|": "bit_or",
    "^": "bit_xor",
}
FILTER_KINDS = {"F": "skip", "W": "stop"}


def text(string: str) -> str:
    """A literal of exactly these bytes."""
    shown = (
        chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in string.encode("latin-1")
    )
    return f'"{"".join(shown)}"sv'


def value(cell: str | None) -> str:
    return "Value{{}, true}" if cell is None else f"Value{{{text(cell)}}}"


class Header:
    """The arrays so far. An element's own arrays stand before it and are named by their number."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._arrays = 0

    def array(self, kind: str, items: list[str]) -> str:
        if not items:
            return "{}"
        self._arrays += 1
        name = f"part_{self._arrays}"
        self.parts.append(f"inline constexpr {kind} {name}[] = {{{', '.join(items)}}};")
        return name

    def lines(self, strings: list[str]) -> str:
        return self.array("std::string_view", [text(string) for string in strings])

    def values(self, cells: list[str | None]) -> str:
        return self.array("Value", [value(cell) for cell in cells])


def braced(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f".{name} = {field}" for name, field in fields.items()) + "}"


def value_vector(header: Header, entry: Json) -> str:
    fields = {"why": text(entry["why"]), "value": value(entry.get("value", ""))}
    fields["token"] = text(entry["token"])
    fields["accepts"] = header.lines(entry.get("accepts", []))
    fields["is_wrong"] = "true" if "error" in entry else "false"
    return braced(fields)


def range_of(find: Json) -> str:
    if find["op"] in WAYS:
        return f"{{Bound::within, Direction::{find['op']}}}"
    return f"range_of(Comparison::{COMPARISONS[find['op']]})"


def selection_of(header: Header, find: Json) -> str:
    counts = find.get("answer") == "count"
    fields = {"range": range_of(find), "key": header.values(find["key"])}
    for end in ("lower", "upper"):
        if end in find:
            open_end = "true" if find[end].get("open") else "false"
            fields[end] = f"{{{header.values([find[end]['value']])}, {open_end}}}"
    if "prefix" in find:
        fields["lower"] = f"{{{header.values([find['prefix']])}, false, true}}"
    fields["limit"] = f"{find['limit']}u" if "limit" in find else "no_limit" if counts else "1u"
    fields["offset"] = f"{find.get('offset', 0)}u"
    if "in" in find:
        fields["in"] = f"{{{find['in']['key_part']}, {header.values(find['in']['values'])}}}"
    fields["filters"] = filters_of(header, find)
    return braced(fields)


def filters_of(header: Header, request: Json) -> str:
    filters = [
        f"{{FilterKind::{FILTER_KINDS[each['kind']]}, Comparison::{COMPARISONS[each['op']]},"
        f" {each['column']}u, {value(each['value'])}}}"
        for each in request.get("filters", [])
    ]
    return header.array("Filter", filters)


def assignments_of(header: Header, request: Json) -> str:
    assignments = [
        braced(
            {
                "column": f"{each['column']}u",
                "kind": f"AssignKind::{HOWS[each['how']]}",
                "value": value(each["value"]),
                "bounds": header.values([each["low"], each["high"]] if "low" in each else []),
            }
        )
        for each in request.get("assignments", [])
    ]
    return header.array("Assignment", assignments)


def change_of(header: Header, modify: Json) -> str:
    return braced(
        {
            "kind": f"ChangeKind::{CHANGES[modify['op']]}",
            "rows_before": "true" if modify.get("rows_before") else "false",
            "values": header.values(modify.get("values", [])),
            "rows_after": "true" if modify.get("rows_after") else "false",
            "assignments": assignments_of(header, modify),
        }
    )


def insert_rows_of(header: Header, request: Json) -> str:
    rows = request["rows"]
    return braced(
        {
            "values": header.values([cell for row in rows for cell in row]),
            "columns": str(len(rows[0])),
            "on_duplicate": f"OnDuplicate::{request.get('else', 'fail')}",
            "assignments": assignments_of(header, request),
            "condition": filters_of(header, request),
        }
    )


def request_of(header: Header, kind: str, request: Json) -> str:
    modifies = "modify" in request
    counts = "answer" in request
    fields = {"kind": f"Kind::{'modify' if modifies else 'count' if counts else kind}"}
    fields["index_id"] = f"{request.get('id', 0)}u"
    if kind == "open_index":
        names = [text(request[name]) for name in ("database", "table", "index")]
        for columns in ("columns", "filter_columns"):
            names.append(text(",".join(request.get(columns, []))))
        fields["names"] = f"{{{', '.join(names)}}}"
    elif kind == "find":
        fields["selection"] = selection_of(header, request)
        if counts:
            fields["exists"] = "true" if request["answer"] == "exists" else "false"
        if modifies:
            fields["change"] = change_of(header, request["modify"])
    elif kind == "insert":
        fields[kind] = f"{{{header.values(request['values'])}}}"
    elif kind == "insert_rows":
        fields[kind] = insert_rows_of(header, request)
    else:
        way = "account" if "user" in request else "secret"
        user, secret = text(request.get("user", "")), text(request["secret"])
        fields[kind] = f"{{AuthWay::{way}, {user}, {secret}}}"
    return "Request" + braced(fields)


def request_vector(header: Header, entry: Json) -> str:
    ((kind, request),) = entry["request"].items()
    return braced(
        {
            "why": text(entry["why"]),
            "writes": header.lines(entry["writes"]),
            "accepts": header.lines(entry.get("accepts", [])),
            "request": request_of(header, kind, request),
        }
    )


def malformed_vector(header: Header, entry: Json) -> str:
    fields = {"why": text(entry["why"]), "code": str(entry["error"]["code"])}
    fields["text"] = text(entry["error"]["text"])
    fields["lines"] = header.lines(entry["lines"])
    return braced(fields)


def reply_vector(header: Header, entry: Json) -> str:
    fields = {"why": text(entry["why"]), "line": text(entry["line"])}
    fields["to"] = text(entry.get("to", ""))
    if entry.get("no_reply"):
        fields["no_reply"] = "true"
        return braced(fields)
    error = entry.get("error", {"code": 0})
    if "rows" in entry:
        cells = [cell for row in entry["rows"] for cell in row]
    elif "outcomes" in entry:
        cells = [None if cell is None else str(cell) for row in entry["outcomes"] for cell in row]
    elif "exists" in entry:
        cells = [str(int(entry["exists"]))]
    else:
        cell = error.get("text") or entry.get("modified", entry.get("count", entry.get("id")))
        cells = [] if cell is None else [str(cell)]
    fields["code"] = str(error["code"])
    fields["columns"] = str(entry.get("columns", 1))
    fields["values"] = header.values(cells)
    return braced(fields)


def stream_vector(header: Header, entry: Json) -> str:
    fields = {"why": text(entry["why"]), "stream": text(entry["stream"])}
    fields["lines"] = header.lines(entry["lines"])
    fields["rest"] = text(entry["rest"])
    return braced(fields)


def error_vector(_: Header, entry: Json) -> str:
    return braced(
        {"code": str(entry["code"]), "text": text(entry["text"]), "kind": text(entry["kind"])}
    )


def dialogue_vector(header: Header, entry: Json) -> str:
    steps = [
        braced(
            {
                "reads": "true" if step.get("port") == "read" else "false",
                "send": text(step["send"]),
                "recv": text(step["recv"]),
            }
        )
        for step in entry["steps"]
    ]
    return braced({"name": text(entry["name"]), "steps": header.array("StepVector", steps)})


ARRAYS = {
    "values": ("ValueVector", value_vector),
    "requests": ("RequestVector", request_vector),
    "new_requests": ("RequestVector", request_vector),
    "malformed": ("MalformedVector", malformed_vector),
    "replies": ("ReplyVector", reply_vector),
    "new_replies": ("ReplyVector", reply_vector),
    "streams": ("StreamVector", stream_vector),
    "errors": ("ErrorVector", error_vector),
    "dialogues": ("DialogueVector", dialogue_vector),
}


def main(output: Path) -> None:
    header = Header()
    for name, (kind, made) in ARRAYS.items():
        entries = json.loads((HERE / f"{name}.json").read_text())
        elements = ",\n    ".join(made(header, entry) for entry in entries)
        header.parts.append(f"inline constexpr {kind} {name}[] = {{\n    {elements}}};\n")
    output.write_text("\n".join([TYPES, *header.parts, "}  // namespace hs::vectors\n"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
