"""Random sequences of Redis's commands on strings, and how their replies are compared.

Times of expiry are long and far apart, or over at once, so that it does not matter how quick a
server is: what depends on the moment is compared roughly.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from support.resp import Error, Reply
from support_redis_sequences import (
    FLOATS,
    INTEGERS,
    ODD_FLOATS,
    ODD_INTEGERS,
    TEXTS,
    Words,
)

# fmt: off
KEYS = (
    b"a", b"b", b"c", b"session:abc", b"A", b"a ", b"\x00\xff\r\n", b"%41", "grün".encode(),
    b":", b"z" * 200,
)
#: Seconds.
TIMES = (100, 100_000, 1_000_000_000)
ODD_TIMES = (
    b"0", b"-1", b"-9223372036854775808", b"9223372036854775807", b"9223372036854775", b"abc",
    b"1.5", b"", b"+1",
)
# fmt: on
#: A sum of it has more digits than a column of these tests holds.
LONG_SUM = b"1e400"
#: So much may pass between two servers, in milliseconds.
PATIENCE_MS = 60_000
#: Whose answer is a time, and whether in milliseconds.
_TIMES_IN_MS = {b"PTTL": True, b"TTL": False, b"PEXPIRETIME": True, b"EXPIRETIME": False}


class StringAuthor:
    """Writes the commands of a seed."""

    def __init__(self, seed: int, *, has_ifeq: bool) -> None:
        self._random = random.Random(seed)
        self._has_ifeq = has_ifeq
        self._times = 0

    def packets(self) -> list[list[Words]]:
        choose = self._random
        packets = []
        for _ in range(choose.randint(10, 40)):
            commands = [self.command() for _ in range(choose.choice([1, 1, 2, 5]))]
            packets.append(self._unit() if choose.random() < 0.1 else commands)
        return packets

    def command(self) -> Words:
        choose = self._random
        name = choose.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        words = [name.encode(), *_ARGUMENTS[name](self)]
        if choose.random() < 0.04:
            words = words[: choose.randint(1, len(words))] + [b"x"] * choose.randint(0, 1)
        return tuple([words[0].lower() if choose.random() < 0.3 else words[0], *words[1:]])

    def _unit(self) -> list[Words]:
        """What cannot fail, because a failed unit is undone here and not in Redis."""
        inside: list[Words] = []
        for _ in range(self._random.randint(0, 5)):
            key = self.key()
            inside.append(
                self._random.choice(
                    [
                        (b"SET", key, self.text()),
                        (b"GET", key),
                        (b"APPEND", key, b"x"),
                        (b"DEL", key, self.key()),
                        (b"MSET", key, b"1", self.key(), b"2"),
                        (b"SETNX", key, b"n"),
                        (b"GETDEL", key),
                        (b"EXPIRE", key, b"1000"),
                    ]
                )
            )
        end = (b"EXEC",) if self._random.random() < 0.8 else (b"DISCARD",)
        return [(b"MULTI",), *inside, end]

    def key(self) -> bytes:
        return self._random.choice(KEYS[:3] if self._random.random() < 0.7 else KEYS)

    def text(self) -> bytes:
        choose = self._random
        values = choose.choice([TEXTS, INTEGERS, INTEGERS, FLOATS, ODD_INTEGERS, ODD_FLOATS])
        return choose.choice([value for value in values if value != LONG_SUM])

    def integer(self) -> bytes:
        return self._random.choice(ODD_INTEGERS if self._random.random() < 0.2 else INTEGERS)

    def floating(self) -> bytes:
        values = ODD_FLOATS if self._random.random() < 0.2 else FLOATS
        return self._random.choice([value for value in values if value != LONG_SUM])

    def time(self, *, in_ms: bool, is_absolute: bool) -> bytes:
        if self._random.random() < 0.2:
            return self._random.choice(ODD_TIMES)
        # No two are the same, or the one that is later would depend on the moment.
        self._times += 1
        then = self._random.choice(TIMES) + 300 * self._times
        then += int(time.time()) if is_absolute else 0
        return b"%d" % (then * 1000 if in_ms else then)

    def offset(self) -> bytes:
        return self._random.choice((b"0", b"1", b"3", b"-1", b"-3", b"100", b"-100", b"x", b""))

    def time_option(self) -> list[bytes]:
        choose = self._random
        name = choose.choice([b"EX", b"PX", b"EXAT", b"PXAT"])
        return [
            choose.choice([name, name.lower()]),
            self.time(in_ms=name.startswith(b"P"), is_absolute=name.endswith(b"AT")),
        ]

    def set_options(self) -> list[bytes]:
        choose = self._random
        options: list[bytes] = []
        while choose.random() < 0.45:
            options += choose.choice(
                [
                    [b"NX"],
                    [b"XX"],
                    [b"GET"],
                    [b"KEEPTTL"],
                    [b"nosuch"],
                    self.time_option(),
                    self.time_option(),
                    [b"IFEQ", self.text()] if self._has_ifeq else [b"GET"],
                ]
            )
        return options

    def pick(self, *choices: list[bytes]) -> list[bytes]:
        return self._random.choice(choices)

    def some_keys(self) -> list[bytes]:
        return [self.key() for _ in range(self._random.choice([1, 1, 2, 3, 6]))]

    def some_pairs(self) -> list[bytes]:
        return [word for key in self.some_keys() for word in (key, self.text())]


def _expire(author: StringAuthor, *, in_ms: bool, is_absolute: bool) -> list[bytes]:
    options = author.pick(
        [],
        [],
        [b"NX"],
        [b"XX"],
        [b"GT"],
        [b"LT"],
        [b"XX", b"gt"],
        [b"NX", b"XX"],
        [b"GT", b"LT"],
        [b"no"],
    )
    return [author.key(), author.time(in_ms=in_ms, is_absolute=is_absolute), *options]


def _key(author: StringAuthor) -> list[bytes]:
    return [author.key()]


_ARGUMENTS: dict[str, Callable[[StringAuthor], list[bytes]]] = {
    "GET": _key,
    "MGET": StringAuthor.some_keys,
    "SET": lambda author: [author.key(), author.text(), *author.set_options()],
    "GETSET": lambda author: [author.key(), author.text()],
    "GETDEL": _key,
    "GETEX": lambda author: [
        author.key(),
        *author.pick([], [b"PERSIST"], author.time_option(), author.time_option(), [b"no"]),
    ],
    "SETNX": lambda author: [author.key(), author.text()],
    "SETEX": lambda author: [
        author.key(), author.time(in_ms=False, is_absolute=False), author.text()
    ],
    "PSETEX": lambda author: [
        author.key(), author.time(in_ms=True, is_absolute=False), author.text()
    ],
    "MSET": StringAuthor.some_pairs,
    "MSETNX": StringAuthor.some_pairs,
    "INCR": _key,
    "DECR": _key,
    "INCRBY": lambda author: [author.key(), author.integer()],
    "DECRBY": lambda author: [author.key(), author.integer()],
    "INCRBYFLOAT": lambda author: [author.key(), author.floating()],
    "APPEND": lambda author: [author.key(), author.text()],
    "STRLEN": _key,
    "GETRANGE": lambda author: [author.key(), author.offset(), author.offset()],
    "SUBSTR": lambda author: [author.key(), author.offset(), author.offset()],
    "SETRANGE": lambda author: [author.key(), author.offset(), author.text()],
    "DEL": StringAuthor.some_keys,
    "UNLINK": StringAuthor.some_keys,
    "EXISTS": StringAuthor.some_keys,
    "TOUCH": StringAuthor.some_keys,
    "TYPE": _key,
    "EXPIRE": lambda author: _expire(author, in_ms=False, is_absolute=False),
    "PEXPIRE": lambda author: _expire(author, in_ms=True, is_absolute=False),
    "EXPIREAT": lambda author: _expire(author, in_ms=False, is_absolute=True),
    "PEXPIREAT": lambda author: _expire(author, in_ms=True, is_absolute=True),
    "TTL": _key,
    "PTTL": _key,
    "EXPIRETIME": _key,
    "PEXPIRETIME": _key,
    "PERSIST": _key,
    "RENAME": lambda author: [author.key(), author.key()],
    "RENAMENX": lambda author: [author.key(), author.key()],
    "COPY": lambda author: [
        author.key(), author.key(), *author.pick([], [], [b"REPLACE"], [b"DB", b"0"], [b"no"])
    ],
}  # fmt: skip
_WEIGHTS = {name: 10 if name in ("SET", "GET") else 3 for name in _ARGUMENTS}


def is_same(words: Words, expected: Reply, got: Reply, *, is_redis: bool = True) -> bool:
    if not is_redis and words[0].upper() == b"GETEX" and got is None:
        # Of a key that is not there, Valkey looks at the time, and Redis does not.
        return expected is None or isinstance(expected, Error)
    in_ms = _TIMES_IN_MS.get(words[0].upper())
    if in_ms is not None and isinstance(expected, int) and isinstance(got, int):
        if min(expected, got) < 0:
            return expected == got
        return abs(expected - got) * (1 if in_ms else 1000) <= PATIENCE_MS
    return expected == got and isinstance(expected, Error) == isinstance(got, Error)
