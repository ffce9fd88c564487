"""Where the plugin answers otherwise than Redis and why, and how replies are compared.

docs/redis.md has the same differences, by the same names. Whatever is not named here is equal, to
the last byte of an error's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from support.resp import Error, Reply, pairs
from support_redis_sequences import (
    COLUMNS,
    KEY_COLUMN,
    LONGEST,
    NO_DOUBLES,
    NUMBER_COLUMNS,
    PREFIX,
    TEXT_COLUMNS,
    Words,
)


@dataclass(frozen=True)
class Difference:
    #: As docs/redis.md names it.
    name: str
    reason: str
    #: Whether it is the difference of a command. Such a command is not sent to Redis.
    applies: Callable[[Words], bool]
    #: Whether this is the plugin's answer to it.
    expected: Callable[[Reply], bool]


_INTEGER = re.compile(rb"-?[1-9]\d{0,18}|0")


def _name(words: Words) -> str:
    return words[0].upper().decode("utf-8", "replace")


def written_values(words: Words) -> dict[bytes, bytes]:
    """The fields that a command would set, as far as it is a command."""
    match _name(words):
        case "HSET" | "HMSET" if len(words) >= 4 and len(words) % 2 == 0:
            return dict(zip(words[2::2], words[3::2], strict=True))
        case "HSETNX" if len(words) == 4:
            return {words[2]: words[3]}
    return {}


def written_fields(words: Words) -> tuple[bytes, ...]:
    """All that it would change."""
    match _name(words):
        case "HDEL" if len(words) >= 3:
            return words[2:]
        case "HGETDEL" if _is_hgetdel(words):
            return words[4:]
        case "HINCRBY" | "HINCRBYFLOAT" if len(words) == 4:
            return (words[2],)
        case "HSET" | "HMSET" if len(words) >= 4 and len(words) % 2 == 0:
            return words[2::2]
    return tuple(written_values(words))


def _is_hgetdel(words: Words) -> bool:
    """Whether it is said as it has to be."""
    is_said = len(words) >= 5 and words[2].upper() == b"FIELDS"
    return is_said and words[3] == b"%d" % len(words[4:])


def is_integer(value: bytes) -> bool:
    """Whether it is written as a number is read again, and a BIGINT holds it."""
    return bool(_INTEGER.fullmatch(value)) and -(2**63) <= int(value) < 2**63


def _is_unknown_field(words: Words) -> bool:
    clears = _name(words) in ("HDEL", "HGETDEL")
    return not clears and any(one not in COLUMNS for one in written_fields(words))


def _changes_key(words: Words) -> bool:
    """HSET may give a key's column the value that it has."""
    if _name(words) not in ("HSET", "HMSET"):
        return KEY_COLUMN in written_fields(words)
    own = words[1].removeprefix(PREFIX) if len(words) > 1 else b""
    given = zip(written_fields(words), words[3::2], strict=False)
    return any(field == KEY_COLUMN and value != own for field, value in given)


def _does_not_fit(words: Words) -> bool:
    return any(
        (field in NUMBER_COLUMNS and not is_integer(value))
        or (field in TEXT_COLUMNS[:2] and len(value) > LONGEST)
        for field, value in written_values(words).items()
    )


def _keys_of(words: Words) -> tuple[bytes, ...]:
    """The keys that a command names."""
    name = _name(words)
    if name in ("DEL", "UNLINK", "EXISTS", "TOUCH", "WATCH"):
        return words[1:]
    return words[1:2] if name == "TYPE" or name.startswith("H") and name != "HELLO" else ()


def _is_no_key(words: Words) -> bool:
    return not is_wrong_arity(words) and any(not key.startswith(PREFIX) for key in _keys_of(words))


#: How many words a command has, or at least so many if the number is negative.
_ARITY = {
    "DEL": -2, "UNLINK": -2, "EXISTS": -2, "TOUCH": -2, "WATCH": -2, "TYPE": 2, "HGET": 3,
    "HMGET": -3, "HGETALL": 2, "HKEYS": 2, "HVALS": 2, "HLEN": 2, "HSTRLEN": 3, "HEXISTS": 3,
    "HSET": -4, "HMSET": -4, "HSETNX": 4, "HDEL": -3, "HINCRBY": 4, "HINCRBYFLOAT": 4,
    "HSCAN": -3, "HRANDFIELD": -2, "HGETDEL": -5,
}  # fmt: skip


def is_wrong_arity(words: Words) -> bool:
    name = _name(words)
    arity, count = _ARITY.get(name, -1), len(words)
    if name in ("HSET", "HMSET") and count % 2 != 0:
        return True
    return count < -arity if arity < 0 else count != arity


def _is_no_double(words: Words) -> bool:
    is_sum = _name(words) == "HINCRBYFLOAT" and len(words) == 4
    return is_sum and words[3] in NO_DOUBLES and b"inf" not in words[3]


def _is_error(reply: Reply) -> bool:
    return isinstance(reply, Error)


#: Of single commands. The first one that applies counts.
OF_COMMANDS = (
    Difference(
        "a key names a row of a table",
        "What is no such name is a mistake, and not a key that is not there.",
        _is_no_key,
        _is_error,
    ),
    Difference(
        "numbers that no DOUBLE holds",
        "HINCRBYFLOAT takes decimal ones up to 1.8e308. Redis also takes 1e400, and 0x10 as 16.",
        _is_no_double,
        _is_error,
    ),
    Difference(
        "a field is a column",
        "A table has the columns that it has; to lose a value silently would be worse.",
        _is_unknown_field,
        _is_error,
    ),
    Difference(
        "the key's columns are fields",
        "They are read as any other, but the row's place is not changed or emptied.",
        _changes_key,
        _is_error,
    ),
    Difference(
        "a column has a type",
        "What the column cannot hold, or would hold in another spelling, is SQL's error or SQL's"
        " value, never a cut one.",
        _does_not_fit,
        lambda reply: True,
    ),
)

#: Of what commands do together. The test's own code takes them into account.
OF_SEQUENCES = {
    "a row stays when its last field is deleted": (
        "Its key's columns are still there; DEL deletes the row."
    ),
    "EXEC is all or nothing": (
        "The server has transactions. If one command fails, EXEC answers which, and nothing was"
        " done."
    ),
    "WATCH looks at values": (
        "EXEC compares the row with what it was, so a change to the same value is none, and one"
        " by SQL counts."
    ),
    "a MULTI or WATCH inside of a transaction spoils it": (
        "As in Valkey: EXEC then does nothing, because its client is not where it thinks to be."
    ),
    "CLIENT inside of a transaction": (
        "It is refused, as HELLO is: it is about the connection, and not about rows."
    ),
    "the order of fields": "It is that of the table's columns.",
}


def difference_of(words: Words) -> Difference | None:
    return next((one for one in OF_COMMANDS if one.applies(words)), None)


def comparable(words: Words, reply: Reply) -> object:
    """A reply without what is each server's own matter."""
    if isinstance(reply, Error):
        return reply
    name = _name(words)
    match name:
        case "HGETALL" if isinstance(reply, dict):
            return ("map", sorted(reply.items()))
        case "HGETALL" if isinstance(reply, list):
            return ("array", sorted(zip(reply[::2], reply[1::2], strict=True)))
        case "HKEYS" | "HVALS" if isinstance(reply, list):
            return sorted(reply)
        case "HSCAN" if isinstance(reply, list) and len(reply) == 2:
            names_alone = any(word.upper() == b"NOVALUES" for word in words[3:])
            fields = reply[1] if names_alone else zip(reply[1][::2], reply[1][1::2], strict=True)
            return (reply[0], sorted(fields))
        case "HRANDFIELD" if isinstance(reply, bytes) or (isinstance(reply, list) and reply):
            # What comes by chance: how many there are, and of which form.
            shown = reply[0] if isinstance(reply, list) else reply
            distinct = len(words) == 3 and not words[2].startswith(b"-")
            assert not distinct or len(set(reply)) == len(reply)
            return (
                type(reply).__name__,
                len(reply) * isinstance(reply, list),
                type(shown).__name__,
            )
        case "HELLO" if isinstance(reply, (dict, list)):
            told = pairs(reply)
            shown = {one: told.get(one) for one in (b"proto", b"mode", b"role")}
            return (type(reply).__name__, sorted(told), shown)
        case "CLIENT" if len(words) > 1 and words[1].upper() == b"ID":
            return type(reply).__name__
        case "TIME":
            return [type(one).__name__ for one in reply] if isinstance(reply, list) else reply
    return _typed(reply)


def _typed(reply: Reply) -> object:
    """So that 1 and True, or a list and a set, are not equal."""
    if isinstance(reply, list):
        return (type(reply).__name__, [_typed(one) for one in reply])
    if isinstance(reply, dict):
        return ("map", [(_typed(name), _typed(value)) for name, value in reply.items()])
    return (type(reply).__name__, reply)
