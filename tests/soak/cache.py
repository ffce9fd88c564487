"""Redis's clients with rows and strings of their own, beside everything else that happens.

Each connection has its own keys and knows what they hold, so it knows every reply. Whatever happens
to the server or the connection, a command has been done wholly or not at all, one that was
acknowledged is there, and those of a pipeline are done in their order. A key of which a command was
not answered may hold what it held after any of the commands since then; from then on it is only
looked at.
"""

from __future__ import annotations

import random
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from support.database import Sql
from support.resp import OK, QUEUED, Error, Reply, packed, read_reply

from soak.bystander import Bystander
from soak.channel import LINGER_NOT
from soak.shared import Shared
from soak.tables import DATABASE

CLIENTS = 3
KEYS = 6
MOST_COMMANDS = 16
#: Of more commands that may have been done or not, nobody knows what their keys hold.
MOST_IN_DOUBT = 6
#: Of a batch. A command may wait for locks as long as the server lets it.
PATIENCE = 60.0
#: What others do to a command: then nothing of it was done.
DISTURBED = re.compile(r"TRYAGAIN .*|ERR (1317|1053|1205|1213|1412|1146|1015) .*|NOPERM .*")
ABORTED = "EXECABORT Transaction discarded because of command "
#: Of a string that was appended to: a digit 0 in front makes it none.
NUMBER = re.compile(rb"0|[1-9][0-9]*")
NOT_A_NUMBER = Error("ERR value is not an integer or out of range")
TABLE = "CREATE TABLE cache_row (k VARBINARY(50) PRIMARY KEY, f VARBINARY(200), n BIGINT)"

Words = tuple[bytes, ...]
#: A string, a row (f, n), or None: there is nothing.
Value = bytes | tuple[bytes | None, int | None] | None
State = dict[bytes, Value]


def create(server: Path) -> None:
    """The tables of containers are there already."""
    with Sql(server, DATABASE) as sql:
        sql.run(TABLE)


class Model:
    """What a connection's keys hold, and what its commands answer."""

    def __init__(self, number: str) -> None:
        self.strings = [f"{number}:{key}".encode() for key in range(KEYS)]
        self.rows = [f"{DATABASE}.cache_row:{number}:{key}".encode() for key in range(KEYS)]
        self.state: State = dict.fromkeys([*self.strings, *self.rows])

    def apply(self, words: Words) -> Reply:
        name, *arguments = words
        commands: dict[bytes, Callable[..., Reply]] = {
            b"SET": self._set, b"GET": self._get, b"INCR": self._incr, b"APPEND": self._append,
            b"DEL": self._del, b"EXISTS": self._exists, b"MSET": self._mset, b"MGET": self._mget,
            b"GETDEL": self._getdel, b"RENAME": self._rename, b"HSET": self._hset,
            b"HGET": self._hget, b"HINCRBY": self._hincrby,
        }  # fmt: skip
        return commands[name](*arguments)

    def _string(self, key: bytes) -> bytes | None:
        value = self.state[key]
        assert not isinstance(value, tuple)
        return value

    def _row(self, key: bytes) -> tuple[bytes | None, int | None] | None:
        value = self.state[key]
        assert not isinstance(value, bytes)
        return value

    def _set(self, key: bytes, value: bytes, option: bytes = b"") -> Reply:
        before = self._string(key)
        if (option == b"NX" and before is not None) or (option == b"XX" and before is None):
            return None
        self.state[key] = value
        return before if option == b"GET" else OK

    def _get(self, key: bytes) -> Reply:
        return self._string(key)

    def _incr(self, key: bytes) -> Reply:
        before = self._string(key) or b"0"
        if self.state[key] == b"" or not NUMBER.fullmatch(before) or int(before) >= 1 << 63:
            return NOT_A_NUMBER
        self.state[key] = b"%d" % (int(before) + 1)
        return int(before) + 1

    def _append(self, key: bytes, value: bytes) -> Reply:
        after = (self._string(key) or b"") + value
        self.state[key] = after
        return len(after)

    def _del(self, *keys: bytes) -> Reply:
        there = {key for key in keys if self.state[key] is not None}
        self.state.update(dict.fromkeys(keys))
        return len(there)

    def _exists(self, *keys: bytes) -> Reply:
        return sum(self.state[key] is not None for key in keys)

    def _mset(self, *words: bytes) -> Reply:
        self.state.update(zip(words[::2], words[1::2], strict=True))
        return OK

    def _mget(self, *keys: bytes) -> Reply:
        return [self._string(key) for key in keys]

    def _getdel(self, key: bytes) -> Reply:
        before, self.state[key] = self._string(key), None
        return before

    def _rename(self, here: bytes, there: bytes) -> Reply:
        value = self._string(here)
        if value is None:
            return Error("ERR no such key")
        self.state[here] = None
        self.state[there] = value
        return OK

    def _hset(self, key: bytes, _field: bytes, value: bytes) -> Reply:
        text, number = self._row(key) or (None, None)
        self.state[key] = (value, number)
        return 0 if text is not None else 1

    def _hget(self, key: bytes, field: bytes) -> Reply:
        text, number = self._row(key) or (None, None)
        if field == b"f":
            return text
        return None if number is None else b"%d" % number

    def _hincrby(self, key: bytes, _field: bytes, amount: bytes) -> Reply:
        text, number = self._row(key) or (None, None)
        self.state[key] = (text, (number or 0) + int(amount))
        return (number or 0) + int(amount)


def random_command(rng: random.Random, model: Model) -> Words:
    key, other = rng.choice(model.strings), rng.choice(model.strings)
    row = rng.choice(model.rows)
    value = rng.choice([b"%d" % rng.randrange(100), b"x" * rng.randrange(20), b"\r\n\x00"])
    choices: list[Words] = [
        (b"SET", key, value), (b"SET", key, value, rng.choice([b"NX", b"XX", b"GET"])),
        (b"GET", key), (b"INCR", key), (b"APPEND", key, value), (b"DEL", key, other, row),
        (b"EXISTS", key, row), (b"MSET", key, value, other, b"2"), (b"MGET", key, other, key),
        (b"GETDEL", key), (b"RENAME", key, model.strings[0] if key != model.strings[0] else other),
        (b"HSET", row, b"f", value), (b"HGET", row, b"f"), (b"HGET", row, b"n"),
        (b"HINCRBY", row, b"n", b"%d" % rng.randrange(1, 9)),
    ]  # fmt: skip
    return rng.choice(choices)


#: One command, or those of a transaction.
Step = tuple[Words, ...]


class Batch:
    """A connection with a pipeline. It may leave before it has all replies."""

    def __init__(self, port: int, model: Model, rng: random.Random) -> None:
        self._rng = rng
        self.model = model
        #: What each key may hold, if it is not known.
        self.doubts: dict[bytes, list[Value]] = {}
        self.answered = 0
        self._steps: list[Step] = []
        for _ in range(rng.randint(1, MOST_COMMANDS)):
            is_unit = rng.random() < 0.15
            count = rng.randint(2, 5) if is_unit else 1
            self._steps.append(tuple(random_command(rng, model) for _ in range(count)))
        self._leaves = rng.random() < 0.15
        #: Whether commands were sent whose replies have not been looked at.
        self.is_open = False
        self.is_unknown = False
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._stream = self._socket.makefile("rb")

    def send(self) -> None:
        self.is_open = True
        data = b""
        for step in self._steps:
            commands = [(b"MULTI",), *step, (b"EXEC",)] if len(step) > 1 else step
            data += b"".join(packed(*words) for words in commands)
        cut = self._rng.choice([len(data), self._rng.randrange(len(data))])
        with suppress(ConnectionError):
            self._socket.sendall(data[:cut])
            time.sleep(self._rng.choice([0.0, 0.001, 0.05]))
            self._socket.sendall(data[cut:])

    def read(self) -> None:
        """Compares the replies with the model's. What is not answered is in doubt."""
        steps = iter(self._steps)
        for step in steps:
            if self._leaves and self._rng.random() < 0.2:
                return self._doubt([step, *steps])
            before = dict(self.model.state)
            try:
                self._read_step(step, before)
            except (EOFError, ConnectionError):
                self.model.state = before
                return self._doubt([step, *steps])
            self.answered += len(step)
        self.is_open = False
        return None

    def _read_step(self, step: Step, before: State) -> None:
        expected = [self.model.apply(words) for words in step]
        if len(step) == 1:
            got = self._reply()
            if isinstance(got, Error) and DISTURBED.fullmatch(got.text):
                self.model.state = before
            elif got != expected[0]:
                raise AssertionError(f"{step[0]} of {before}: {got}, not {expected[0]}")
            return
        if (begun := self._reply()) != OK:
            raise AssertionError(f"MULTI: {begun}")
        for words in step:
            if (queued := self._reply()) != QUEUED:
                raise AssertionError(f"{words} behind MULTI: {queued}")
        got = self._reply()
        fails = any(isinstance(reply, Error) for reply in expected)
        if isinstance(got, Error):
            self.model.state = before
            text = got.text
            inner = text.partition(": ")[2] if text.startswith(ABORTED) else text
            if not DISTURBED.fullmatch(inner) and not (fails and text.startswith(ABORTED)):
                raise AssertionError(f"{step} of {before}: {got}")
        elif fails or got != expected:
            raise AssertionError(f"{step} of {before}: {got}, not {expected}")

    def _reply(self) -> Reply:
        try:
            return read_reply(self._stream)
        except TimeoutError:
            raise AssertionError("a hang: a command of Redis's is not answered") from None

    def end(self) -> None:
        """What was sent and never looked at may have been done."""
        if self._rng.random() < 0.3:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        self._stream.close()
        self._socket.close()
        if self.is_open:
            self._doubt(self._steps)

    def _doubt(self, steps: Sequence[Step]) -> None:
        """Each of these may have been done, in their order, or have failed because of others."""
        self.is_open = False
        states = [dict(self.model.state)]
        for step in steps if len(steps) <= MOST_IN_DOUBT else ():
            for state in list(states):
                self.model.state = dict(state)
                replies = [self.model.apply(words) for words in step]
                fails = any(isinstance(reply, Error) for reply in replies)
                if not (fails and len(step) > 1) and self.model.state not in states:
                    states.append(self.model.state)
        for key in states[0]:
            self.doubts[key] = [state[key] for state in states]
        self.is_unknown = len(steps) > MOST_IN_DOUBT


class Cache(Bystander):
    name = "cache"

    def __init__(self, server: Path, port: int, shared: Shared, seed: int) -> None:
        super().__init__(server, port, shared, seed)
        self._numbers = iter(range(1, 1 << 62))
        self._models = [self._new_model() for _ in range(CLIENTS)]
        self._doubts: dict[bytes, list[Value]] = {}

    def _new_model(self) -> Model:
        return Model(f"c{next(self._numbers)}")

    def work(self, sql: Sql) -> None:
        rng = self._rng
        batches: list[Batch] = []
        try:
            for model in self._models:
                batches.append(Batch(self._port, model, rng))  # noqa: PERF401  # each may fail
            locks = rng.random() < 0.3
            if locks:
                keys = b", ".join(b"'%s'" % rng.choice(model.strings) for model in self._models)
                sql.run("BEGIN")
                sql.rows(f"SELECT k FROM handlersocket.kv WHERE k IN ({keys.decode()}) FOR UPDATE")
            elif rng.random() < 0.05:
                sql.run(rng.choice(DISTURBANCES))
                self._tally["ddl"] += 1
            for batch in batches:
                batch.send()
            if locks:
                time.sleep(rng.choice([0.0, 0.02, 0.2]))
                sql.run("ROLLBACK")
            for batch in batches:
                batch.read()
        finally:
            for number, batch in enumerate(batches):
                self._tally["request: of Redis"] += batch.answered
                batch.end()
                if batch.doubts:
                    self._models[number] = self._new_model()
                if batch.doubts and not batch.is_unknown:
                    self._doubts.update(batch.doubts)

    def check(self, sql: Sql) -> None:
        strings, rows = self._contents(sql)
        for key, allowed in self._expected():
            there = rows.get(key) if b"cache_row:" in key else strings.get(key)
            if there not in allowed:
                raise AssertionError(f"{key!r} holds {there!r}, and not one of {allowed}")

    def _expected(self) -> Iterator[tuple[bytes, list[Value]]]:
        for model in self._models:
            yield from ((key, [value]) for key, value in model.state.items())
        yield from self._doubts.items()

    def _contents(self, sql: Sql) -> tuple[dict[bytes, Value], dict[bytes, Value]]:
        prefix = f"{DATABASE}.cache_row:".encode()
        strings: dict[bytes, Value] = {
            key or b"": value for key, value in sql.rows("SELECT k, v FROM handlersocket.kv")
        }
        rows: dict[bytes, Value] = {
            prefix + (key or b""): (text, None if number is None else int(number))
            for key, text, number in sql.rows("SELECT k, f, n FROM cache_row")
        }
        return strings, rows


#: What an administrator may do meanwhile.
DISTURBANCES = (
    "ALTER TABLE handlersocket.kv FORCE",
    "ALTER TABLE cache_row FORCE",
    "FLUSH TABLES handlersocket.kv, cache_row",
    "UPDATE handlersocket.containers SET cas_column = IF(cas_column = 'cas', '0', 'cas')"
    " WHERE name = 'default'",
    "UPDATE handlersocket.config_options SET value = IF(value = '|', '/', '|')",
)
