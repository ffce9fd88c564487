"""What the scenarios' steps mean for a client in Python, and how results are compared."""

from dataclasses import asdict

import pytest
from vectors import described, listed, raw, vectors

from handlersocket2 import HandlerSocketError, ModifyOp, Range, ReplyError, was_sent
from handlersocket2.seen import kind_of

DEFAULTS = {"timeout": 20.0, "connect_timeout": 20.0, "backoff_min": 0.001, "backoff_max": 0.01}
COLUMNS = {"t": ["a", "b"], "u": ["a"]}
CHANGES = {"U": "update", "D": "delete", "+": "increment", "-": "decrement", "lock": "lock"}


def played(*, without=()):
    """Each scenario, once for each of its cuts; `without` are things that a client has not."""
    chosen = []
    for scenario in vectors("scenarios"):
        if any(thing in str(scenario["steps"]) for thing in without):
            continue
        for cut in scenario.get("cuts", [None]):
            name = scenario["name"] + ("" if cut is None else f"-{cut}")
            chosen.append(pytest.param(scenario, cut, id=name))
    return chosen


def options_of(scenario):
    options = dict(DEFAULTS)
    for name, value in scenario.get("options", {}).items():
        if name.endswith("_ms"):
            options[name.removesuffix("_ms")] = value / 1000
        elif name == "texts":
            options[name] = value == "on"
        else:
            options[name] = raw(value) if name in ("user", "password", "secret") else value
    return options


def value_of(value):
    if isinstance(value, dict):
        return raw(value["repeat"]) * value["times"]
    return raw(value)


def call_of(step):
    """The index's name, its method, the arguments and the keywords of a step with a request."""
    kind = next(kind for kind in ("find", "insert", "insert_rows", "iterate") if kind in step)
    fields = step[kind]
    keywords = {}
    if "timeout_ms" in step:
        keywords["timeout"] = step["timeout_ms"] / 1000 or None
    if "server_ms" in step:
        keywords["within"] = step["server_ms"] / 1000
    index = fields.get("index", "t")
    if kind == "insert":
        return index, "insert", [[value_of(value) for value in fields["values"]]], keywords
    if kind == "insert_rows":
        rows = [[value_of(value) for value in row] for row in fields["rows"]]
        return index, "insert_many", [rows], {**keywords, "duplicate": fields.get("else", "fail")}
    keywords |= {name: fields[name] for name in ("op", "limit", "offset") if name in fields}
    key = [value_of(value) for value in fields["key"]]
    if keywords.get("op") in ("up", "down"):
        key = Range(key=key, down=keywords.pop("op") == "down")
    if answer := fields.get("answer"):
        return index, answer, [key], keywords
    if modify := fields.get("modify"):
        values = [value_of(value) for value in modify.get("values", [])]
        if modify.get("rows_before"):
            return index, "fetch_and", [ModifyOp(raw(modify["op"])), key, values], keywords
        arguments = [key] if modify["op"] in ("D", "lock") else [key, values]
        return index, CHANGES[modify["op"]], arguments, keywords
    return index, kind, [key], keywords


def fill(group, indexes, steps):
    """Adds the requests of a group."""
    pending = []
    for each in steps:
        index, method, arguments, keywords = call_of(each)
        meets = each.get("find", {}).get("modify", {}).get("meets", "on")
        on = getattr(group, meets)(indexes[index])
        pending.append(getattr(on, method)(*arguments, **keywords))
    return pending


def times_of(step):
    """The keywords of a group."""
    names = {"timeout_ms": "timeout", "server_ms": "within"}
    return {name: step[of_step] / 1000 for of_step, name in names.items() if of_step in step}


def question_of(client, step):
    """The method and the arguments of a step that asks about the server; None for any other."""
    if "describe" in step:
        columns = None if step["describe"] == "all" else COLUMNS[step["describe"]]
        return client.describe, ["db", "t", columns]
    for kind in ("hello", "databases", "ping"):
        if kind in step:
            return getattr(client, kind), []
    if "tables" in step:
        return client.tables, [step["tables"]]
    return (client.indexes, step["indexes"]) if "indexes" in step else None


def check_undone(pending, error):
    """Holds the errors of a group's requests against that of the group."""
    for place, each in enumerate(pending, 1):
        undone = getattr(error, "line", 0) not in (0, place)
        assert (getattr(each.error(), "text", None) == "undone") is undone
        if not undone:
            assert each.error() is error


def compare(result, error, gives, seconds=None, call=None):
    """Holds what came of a call against what has to. `call` knows of one that was given up."""
    if isinstance(gives, list):
        assert error is None
        for each, given in zip(result, gives, strict=True):
            compare(each, None, given)
        return
    if "rows" in gives:
        assert result == [tuple(map(raw, row)) for row in gives["rows"]], error
    if "modified" in gives:
        assert result == gives["modified"], error
    if "described" in gives:
        assert asdict(result) == described(gives["described"]), error
    if "pairs" in gives:
        assert list(result.items()) == [tuple(pair) for pair in gives["pairs"]], error
    if "names" in gives:
        assert [name.encode() for name in result] == [raw(name) for name in gives["names"]], error
    if "listed" in gives:
        assert [asdict(index) for index in result] == listed(gives["listed"]), error
    if "pong" in gives:
        assert result is None
    for plain in ("count", "exists"):
        if plain in gives:
            assert result == gives[plain], error
    if "outcomes" in gives:
        assert result == [tuple(outcome) for outcome in gives["outcomes"]], error
    if "id" in gives:
        assert error is None
        assert result == gives["id"]
    if "error" not in gives:
        assert error is None
        return
    assert error is not None, f"no error, but {result!r}"
    kind = kind_of(error)
    allowed = gives["error"] if isinstance(gives["error"], list) else [gives["error"]]
    assert kind in allowed, repr(error)
    if isinstance(error, HandlerSocketError):
        said = {"sent": error.sent, "maybe_executed": error.maybe_executed}
    else:
        sent = was_sent(call)
        said = {"sent": sent, "maybe_executed": sent and call.operation.modifies}
    for name in ("sent", "maybe_executed"):
        if name in gives:
            assert said[name] is gives[name], f"{name} of {error!r}"
    if "kind" in gives and isinstance(error, ReplyError):
        assert error.category == gives["kind"]
    for name in ("code", "text", "number", "sqlstate", "message", "line"):
        if name in gives and isinstance(error, ReplyError):
            assert getattr(error, name) == gives[name]
    if "after_ms" in gives:
        assert seconds >= gives["after_ms"] / 1000
    if "within_ms" in gives:
        assert seconds <= gives["within_ms"] / 1000
