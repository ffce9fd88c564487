"""Random sequences of Redis's commands on hashes, keys, connections and transactions.

They are what a client may send: mostly right, often odd, sometimes nonsense. Two connections take
turns, and send several commands in a packet. What a command answers is not known here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Words = tuple[bytes, ...]

#: The table on whose rows the commands work, and what is sent in its place when it is not there.
DATABASE = "redis_random"
PREFIX = f"{DATABASE}.t:".encode()
KEY_COLUMN = b"k"
#: Any bytes up to LONGEST of them, and whole numbers of 64 bits.
TEXT_COLUMNS = (b"f1", b"f2", b"f3")
NUMBER_COLUMNS = (b"n1", b"n2")
COLUMNS = (KEY_COLUMN, *TEXT_COLUMNS, *NUMBER_COLUMNS)
LONGEST = 300
TABLE = (
    f"CREATE TABLE t (k VARBINARY(64) PRIMARY KEY, f1 VARBINARY({LONGEST}),"
    f" f2 VARBINARY({LONGEST}), f3 BLOB, n1 BIGINT, n2 BIGINT)"
)
# fmt: off
KEYS = tuple(PREFIX + last for last in (
    b"a", b"b", b"c", b"A", b"a ", b"x:y:z", b"%41", b"\x00\xff\r\n", b"", b"z" * 64,
))
INTEGERS = (
    b"0", b"1", b"-1", b"7", b"-35", b"1000000", b"9223372036854775807", b"-9223372036854775808",
    b"9223372036854775806", b"4611686018427387904",
)
ODD_INTEGERS = (
    b"", b" 1", b"1 ", b"+1", b"01", b"-0", b"1.0", b"1e3", b"0x10", b"abc", b"--1", b"-", b"\xff",
    b"9223372036854775808", b"-9223372036854775809", b"99999999999999999999999999", b"1\x00",
)
FLOATS = (
    b"0", b"1", b"-1", b"0.1", b"-0.5", b"3.0", b"5.0e3", b"1e2", b"1e-5", b"10.50", b"2.5e15",
    b"0.000001", b".5", b"5.", b"1e17", b"-0",
)
ODD_FLOATS = (
    b"", b" 1.5", b"1.5 ", b"abc", b"1,5", b"inf", b"-inf", b"nan", b"+inf", b"1e400", b"1e5000",
    b"1.5abc", b"1\x00", b"\xff", b"--1", b"e5", b"0x10",
)
#: Redis calculates with them, the plugin does not. So no sum is asked of such a value.
NO_DOUBLES = (b"0x10", b"1e400", b"1e5000", b"inf", b"-inf", b"+inf")
TEXTS = (
    b"", b"x", b"hello", b"two words", b"\x00", b"\r\n", b"$5\r\nhello\r\n", b"\xff\xfe\x80",
    "grün".encode(), b"1", b"10", b"3.25", b"y" * LONGEST, b"%00",
)
# fmt: on
#: How often a command comes, by its name.
WEIGHTS = {
    "hset": 22,
    "hsetnx": 6,
    "hmset": 3,
    "hdel": 8,
    "hincrby": 10,
    "hincrbyfloat": 8,
    "hget": 10,
    "hmget": 6,
    "hgetall": 8,
    "hkeys": 3,
    "hvals": 3,
    "hlen": 4,
    "hstrlen": 3,
    "hexists": 4,
    "hscan": 4,
    "hrandfield": 4,
    "hgetdel": 5,
    "del": 4,
    "unlink": 2,
    "exists": 4,
    "type": 3,
    "touch": 2,
    "ping": 2,
    "echo": 2,
    "select": 2,
    "client": 4,
    "hello": 2,
    "auth": 1,
    "reset": 1,
    "nonsense": 2,
    "exec": 1,
    "discard": 1,
    "unwatch": 1,
    "time": 1,
    "wait": 1,
}  # fmt: skip


#: Patterns of names of fields, by all rules that they have.
# fmt: off
PATTERNS = (
    b"*", b"f*", b"f?", b"[fn]1", b"[^f]*", b"f[1-2]", b"f[2-1]", b"**1", b"\\f1", b"f\\1", b"[f",
    b"", b"*[13]", b"n[", b"?[^\\1]", b"k", b"[a-", b"[a-]1", b"nosuch", b"*1*", b"f1\\",
    b"[]f1", b"F*",
)
CURSORS = (b"0", b"0", b"0", b"1", b"7", b"18446744073709551615", b"18446744073709551616", b"-1",
           b"x", b"", b"1.0", b"01")
# fmt: on

#: Commands whose errors repeat the client's words, which Redis ends at a zero.
REPEATED = ("nonsense", "client", "hello")


@dataclass(frozen=True)
class Packet:
    """What one connection sends at once."""

    connection: int
    commands: tuple[Words, ...]


@dataclass(frozen=True)
class Case:
    #: The protocol of each connection.
    protocols: tuple[int, int]
    packets: tuple[Packet, ...]


class Author:
    """Writes the case of a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._fresh = 0

    def case(self) -> Case:
        choose = self._random
        protocols = (choose.choice([2, 3]), choose.choice([2, 3]))
        packets: list[Packet] = []
        for _ in range(choose.randint(5, 25)):
            connection = choose.randrange(2)
            if choose.random() < 0.25:
                packets += self._unit(connection)
            else:
                commands = [self._command() for _ in range(choose.choice([1, 1, 2, 4, 8]))]
                packets.append(Packet(connection, tuple(commands)))
        return Case(protocols, tuple(packets))

    def _unit(self, connection: int) -> Iterator[Packet]:
        """A transaction: in one packet or in several, watched or not, and not always right."""
        choose = self._random
        if choose.random() < 0.4:
            watched = choose.sample(KEYS, choose.randint(1, 3))
            yield Packet(connection, ((b"WATCH", *watched),))
            if choose.random() < 0.5:
                yield Packet(1 - connection, (self._fresh_write(choose.choice(KEYS)),))
            if choose.random() < 0.2:
                yield Packet(connection, (self._fresh_write(choose.choice(watched)),))
        end = choose.choices([b"EXEC", b"DISCARD", b"RESET"], [12, 2, 1])[0]
        inside = [self._command() for _ in range(choose.randint(0, 6))]
        inside = [one for one in inside if one and one[0].upper() not in NOT_INSIDE]
        if choose.random() < 0.1:
            inside.insert(choose.randint(0, len(inside)), choose.choice(QUEUED_WRONG))
        words = [(b"MULTI",), *inside, (end,)]
        if choose.random() < 0.6:
            yield Packet(connection, tuple(words))
        else:
            yield from (Packet(connection, (one,)) for one in words)

    def _fresh_write(self, key: bytes) -> Words:
        """One that surely changes something: no value comes twice."""
        self._fresh += 1
        return (b"HSET", key, b"f1", b"fresh %d" % self._fresh)

    def _command(self) -> Words:
        choose = self._random
        name = choose.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        words = [name.encode(), *_ARGUMENTS[name](self)]
        if name not in ("exec", "hello") and choose.random() < 0.05:  # too many or too few
            if choose.random() < 0.5:
                words = words[: choose.randint(1, len(words))]
            else:
                words.append(choose.choice(TEXTS))
        if name in REPEATED:
            words = [word for word in words if b"\x00" not in word]
        words[0] = self._in_some_case(words[0])
        return tuple(words)

    def _in_some_case(self, name: bytes) -> bytes:
        form = self._random.randrange(3)
        return name.upper() if form == 0 else name.capitalize() if form == 1 else name

    def key(self) -> bytes:
        # Most of the work is on few keys, so that commands meet.
        return self._random.choice(KEYS[:3] if self._random.random() < 0.6 else KEYS)

    def keys(self) -> list[bytes]:
        return [self.key() for _ in range(self._random.choice([1, 1, 2, 3, 6]))]

    def field(self) -> bytes:
        choose = self._random
        if choose.random() < 0.04:
            return choose.choice([b"nosuch", b"", KEY_COLUMN, b"f1 ", b"\xff"])
        return choose.choice(TEXT_COLUMNS + NUMBER_COLUMNS)

    def fields(self) -> list[bytes]:
        return [self.field() for _ in range(self._random.choice([1, 1, 2, 3, 5]))]

    def value_for(self, field: bytes) -> bytes:
        choose = self._random
        if field in NUMBER_COLUMNS:
            return choose.choice(ODD_INTEGERS if choose.random() < 0.04 else INTEGERS)
        if choose.random() < 0.02:
            return b"x" * (LONGEST + 1)
        values = choose.choice([TEXTS, TEXTS, INTEGERS, FLOATS, ODD_INTEGERS, ODD_FLOATS])
        return choose.choice([value for value in values if value not in NO_DOUBLES])

    def pairs(self) -> list[bytes]:
        return [word for field in self.fields() for word in (field, self.value_for(field))]

    def integer(self) -> bytes:
        return self._random.choice(ODD_INTEGERS if self._random.random() < 0.25 else INTEGERS)

    def floating(self) -> bytes:
        return self._random.choice(ODD_FLOATS if self._random.random() < 0.25 else FLOATS)

    def one_of(self, *choices: Sequence[bytes]) -> list[bytes]:
        return list(self._random.choice(choices))

    def text(self) -> bytes:
        return self._random.choice(TEXTS)


#: What ends a transaction, or is about the connection: none of it stands inside of one.
NOT_INSIDE = (b"EXEC", b"DISCARD", b"RESET", b"HELLO", b"AUTH", b"CLIENT")
#: What is refused at once inside of a transaction.
QUEUED_WRONG: tuple[Words, ...] = (
    (b"nonsense", b"a"), (b"HGET", KEYS[0]), (b"HSET", KEYS[0]), (b"PING", b"a", b"b"),
)  # fmt: skip


def _with_key(*rest: Callable[[Author], bytes]) -> Callable[[Author], list[bytes]]:
    return lambda author: [author.key(), *(one(author) for one in rest)]


def _hscan(author: Author) -> list[bytes]:
    choose = author._random
    options: list[bytes] = []
    for _ in range(choose.choice([0, 0, 1, 1, 2, 3])):
        options += author.one_of(
            [b"MATCH", choose.choice(PATTERNS)], [b"match", choose.choice(PATTERNS)],
            [b"COUNT", choose.choice([b"1", b"2", b"10", b"1000"])], [b"NOVALUES"],
            [b"COUNT", author.integer()], [b"COUNT"], [b"TYPE", b"hash"], [author.text()],
        )  # fmt: skip
    return [author.key(), choose.choice(CURSORS), *options]


def _hrandfield(author: Author) -> list[bytes]:
    choose = author._random
    count = choose.choice([b"0", b"1", b"-1", b"3", b"-3", b"6", b"20", b"-20"])
    if choose.random() < 0.15:
        count = choose.choice([*ODD_INTEGERS, b"9223372036854775807", b"-9223372036854775808"])
    rest = author.one_of([], [], [b"WITHVALUES"], [b"withvalues"], [author.text()])
    return [author.key(), *author.one_of([], [count, *rest], [count, *rest])]


def _hgetdel(author: Author) -> list[bytes]:
    fields = author.fields()
    count = b"%d" % len(fields)
    if author._random.random() < 0.1:
        count = author.integer()
    word = author.one_of([b"FIELDS"], [b"fields"], [b"FIELDS"], [b"FIELDS"], [author.text()])
    return [author.key(), *word, count, *fields]


def _nothing(_: Author) -> list[bytes]:
    return []


def _hsetnx(author: Author) -> list[bytes]:
    field = author.field()
    return [author.key(), field, author.value_for(field)]


def _hincrbyfloat(author: Author) -> list[bytes]:
    return [author.key(), author._random.choice(TEXT_COLUMNS), author.floating()]


_ARGUMENTS: dict[str, Callable[[Author], list[bytes]]] = {
    "hset": lambda author: [author.key(), *author.pairs()],
    "hmset": lambda author: [author.key(), *author.pairs()],
    "hsetnx": _hsetnx,
    "hdel": lambda author: [author.key(), *author.fields()],
    "hincrby": _with_key(Author.field, Author.integer),
    "hincrbyfloat": _hincrbyfloat,
    "hget": _with_key(Author.field),
    "hmget": lambda author: [author.key(), *author.fields()],
    "hgetall": _with_key(),
    "hkeys": _with_key(),
    "hvals": _with_key(),
    "hlen": _with_key(),
    "hstrlen": _with_key(Author.field),
    "hexists": _with_key(Author.field),
    "hscan": _hscan,
    "hrandfield": _hrandfield,
    "hgetdel": _hgetdel,
    "del": Author.keys,
    "unlink": Author.keys,
    "exists": Author.keys,
    "type": _with_key(),
    "touch": Author.keys,
    "ping": lambda author: author.one_of([], [], [author.text()]),
    "echo": lambda author: [author.text()],
    "select": lambda author: author.one_of([b"0"], [b"0"], [b"1"], [b"-1"], [author.text()]),
    "client": lambda author: author.one_of(
        [b"SETNAME", b"me"], [b"setname", b"a b"], [b"SETNAME", b""], [b"GETNAME"], [b"getname"],
        [b"ID"], [b"SETINFO", b"LIB-NAME", b"x"], [b"setinfo", b"lib-ver", b"1.0"],
        [b"SETINFO", b"nosuch", b"x"], [b"SETINFO", b"lib-name", b"a b"], [b"nosuch"], [],
        [b"NO-EVICT", b"ON"], [b"NO-TOUCH", b"off"], [b"NO-EVICT", b"maybe"], [b"GETNAME", b"x"],
    ),
    "hello": lambda author: author.one_of(
        [], [b"2"], [b"3"], [b"4"], [b"1"], [b"abc"], [b"3", b"SETNAME", b"you"],
        [b"2", b"SETNAME"], [b"3", b"NOSUCH"], [b"2", b"SETNAME", b"a b"],
    ),
    "auth": lambda author: author.one_of([b"x"], [], [b"a", b"b", b"c"]),
    "reset": _nothing,
    "exec": _nothing,
    "discard": _nothing,
    "unwatch": _nothing,
    "time": _nothing,
    "wait": lambda author: author.one_of(
        [b"0", b"0"], [b"0", b"10"], [b"abc", b"0"], [b"0", b"-1"]
    ),
    "nonsense": lambda author: author.one_of([], [author.text()], [b"a", b"b"], [b"x" * 200]),
}  # fmt: skip
