"""memcached's clients with items of their own, beside everything else that happens.

Each connection has its own keys and knows what they hold, with flags and cas, so it knows every
reply. Whatever happens to the server or the connection, a request has been done wholly or not at
all, one that was acknowledged is there, and those of a pipeline are done in their order. A key of
which a request was not answered may hold what it held after any of the requests since then; from
then on it is only looked at.
"""

from __future__ import annotations

import random
import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from support.database import Sql

from soak.bystander import Bystander
from soak.channel import LINGER_NOT
from soak.shared import Shared
from soak.tables import DATABASE

CLIENTS = 3
KEYS = 6
MOST_REQUESTS = 16
#: Of more requests that may have been done or not, nobody knows what their keys hold.
MOST_IN_DOUBT = 6
#: Of a batch. A request may wait for locks as long as the server lets it.
PATIENCE = 60.0
WRAP = 1 << 64
#: What memcached takes for one: nothing behind a blank or a zero byte counts.
NUMBER = re.compile(rb"[ \t-\r]*\+?([0-9]+)(?:[ \t-\r\0]|\Z)")
#: What others do to a request: then nothing of it was done.
DISTURBED = re.compile(
    rb"SERVER_ERROR (try again: .*|(1317|1053|1205|1213|1412|1146|1015) .*)"
    rb"|CLIENT_ERROR the account has no right .*"
)
NOT_A_NUMBER = b"CLIENT_ERROR cannot increment or decrement non-numeric value"
PREFIX = b"@@items."
TABLES = (
    "CREATE TABLE item (k VARBINARY(50) PRIMARY KEY, v VARBINARY(5000) NOT NULL,"
    " flags INT UNSIGNED NOT NULL DEFAULT 0, cas BIGINT UNSIGNED NOT NULL DEFAULT 0,"
    " expires BIGINT)",
    "REPLACE INTO handlersocket.containers"
    f" VALUES ('items', '{DATABASE}', 'item', 'k', 'v', 'flags', 'cas', 'expires', 'PRIMARY')",
)
#: What an administrator may do meanwhile.
DISTURBANCES = (
    "ALTER TABLE item FORCE",
    "FLUSH TABLES item",
    "UPDATE handlersocket.containers SET value_columns = 'v' WHERE name = 'items'",
)


def create(server: Path) -> None:
    """The tables of containers are there already."""
    with Sql(server, DATABASE) as sql:
        sql.run(*TABLES)


@dataclass(frozen=True)
class Item:
    value: bytes
    flags: int = 0
    #: None: it has one that nobody has seen.
    cas: int | None = None

    def changed(self, value: bytes) -> Item:
        return replace(self, value=value, cas=None if self.cas is None else self.cas + 1)

    def may_be(self, other: Item | None) -> bool:
        """Whether this is what was seen of it."""
        return (
            other is not None
            and (self.value, self.flags) == (other.value, other.flags)
            and self.cas in (None, other.cas)
        )


State = dict[bytes, Item | None]


@dataclass(frozen=True)
class Request:
    name: bytes
    keys: tuple[bytes, ...]
    value: bytes = b""
    #: The flags of what is stored.
    flags: int = 0
    exptime: int = 0
    #: What is compared, or added.
    number: int = 0

    def packed(self) -> bytes:
        name, key = self.name, PREFIX + self.keys[0]
        size = len(self.value)
        if name in (b"get", b"gets"):
            return b"%s %s\r\n" % (name, b" ".join(PREFIX + one for one in self.keys))
        if name in (b"gat", b"gats"):
            return b"%s %d %s\r\n" % (name, self.exptime, key)
        if name == b"mg":
            return b"mg %s f c v\r\n" % key
        if name == b"ms":
            return b"ms %s %d F%d T%d\r\n%s\r\n" % (key, size, self.flags, self.exptime, self.value)
        if name == b"md":
            return b"md %s\r\n" % key
        if name in (b"incr", b"decr"):
            return b"%s %s %d\r\n" % (name, key, self.number)
        if name == b"touch":
            return b"touch %s %d\r\n" % (key, self.exptime)
        if name == b"delete":
            return b"delete %s\r\n" % key
        cas = b" %d" % self.number if name == b"cas" else b""
        head = b"%s %s %d %d %d" % (name, key, self.flags, self.exptime, size)
        return head + cas + b"\r\n" + self.value + b"\r\n"


#: Items that were found, with their keys, or a line.
Found = tuple[tuple[bytes, Item], ...]
Reply = Found | bytes
READS = (b"get", b"gets", b"gat", b"gats", b"mg")
#: Some are chosen more often than others.
NAMES = (
    *(b"set set add replace append prepend cas cas ms incr incr decr delete md touch gets".split()),
    *READS,
)


class Model:
    """What a connection's keys hold, and what its requests answer."""

    def __init__(self, number: str) -> None:
        self.keys = [f"{number}:{key}".encode() for key in range(KEYS)]
        self.state: State = dict.fromkeys(self.keys)
        #: What was seen once, of an item that may be another one now.
        self.seen_cas: dict[bytes, int] = {}

    def apply(self, request: Request) -> Reply:
        name, key = request.name, request.keys[0]
        before = self.state[key]
        if name in READS:
            if before is not None and name in (b"gat", b"gats") and request.exptime < 0:
                self.state[key] = None
            held = [(one, before if one == key else self.state[one]) for one in request.keys]
            return tuple((one, item) for one, item in held if item is not None)
        if name in (b"incr", b"decr"):
            return self._sum(request, before)
        if name in (b"delete", b"md", b"touch"):
            if before is None:
                return b"NF" if name == b"md" else b"NOT_FOUND"
            if name != b"touch" or request.exptime < 0:
                self.state[key] = None
            return {b"delete": b"DELETED", b"md": b"HD", b"touch": b"TOUCHED"}[name]
        return self._store(request, before)

    def _store(self, request: Request, before: Item | None) -> Reply:
        name, key = request.name, request.keys[0]
        if name == b"cas" and (before is None or before.cas != request.number):
            return b"NOT_FOUND" if before is None else b"EXISTS"
        wants = {b"add": False, b"replace": True, b"append": True, b"prepend": True}
        if name in wants and wants[name] != (before is not None):
            return b"NOT_STORED"
        if before is not None and name in (b"append", b"prepend"):
            parts = (before.value, request.value)
            self.state[key] = before.changed(b"".join(parts if name == b"append" else parts[::-1]))
            return b"STORED"
        after = Item(request.value, request.flags)
        if before is not None:
            after = replace(before.changed(request.value), flags=request.flags)
        self.state[key] = after if request.exptime >= 0 else None
        return b"HD" if name == b"ms" else b"STORED"

    def _sum(self, request: Request, before: Item | None) -> Reply:
        if before is None:
            return b"NOT_FOUND"
        found = NUMBER.match(before.value)
        if found is None or int(found[1]) >= WRAP:
            return NOT_A_NUMBER
        if request.name == b"incr":
            number = (int(found[1]) + request.number) % WRAP
        else:
            number = max(0, int(found[1]) - request.number)
        self.state[request.keys[0]] = before.changed(b"%d" % number)
        return b"%d" % number

    def learn(self, found: Found) -> None:
        """Who has seen an item's cas knows it until the item is another one."""
        for key, item in found:
            if item.cas is not None:
                self.seen_cas[key] = item.cas
                if self.state[key] is not None:
                    self.state[key] = item


def random_request(rng: random.Random, model: Model) -> Request:
    key = rng.choice(model.keys)
    value = rng.choice([b"%d" % rng.randrange(100), b"x" * rng.randrange(20), b"\r\nEND\r\n\x00"])
    name = rng.choice(NAMES)
    number = rng.choice([1, 7, 1000, WRAP - 1])
    if name == b"cas":
        number = model.seen_cas.get(key, 1)
    if name in (b"append", b"prepend"):
        value = value[:4]
    keys: tuple[bytes, ...] = (key,)
    if name in (b"get", b"gets"):
        keys = tuple(rng.sample(model.keys, rng.randint(1, KEYS)))
    exptime = rng.choice([0, 0, 100_000, -1])
    return Request(name, keys, value, rng.choice([0, 1, 2**32 - 1]), exptime, number)


class Batch:
    """A connection with a pipeline. It may leave before it has all replies."""

    def __init__(self, connection: socket.socket, model: Model, rng: random.Random) -> None:
        self._rng = rng
        self.model = model
        #: What each key may hold, if it is not known.
        self.doubts: dict[bytes, list[Item | None]] = {}
        self.answered = 0
        self.requests = [random_request(rng, model) for _ in range(rng.randint(1, MOST_REQUESTS))]
        self._leaves = rng.random() < 0.15
        #: Whether requests were sent whose replies have not been looked at.
        self.is_open = False
        self.is_unknown = False
        self._socket = connection
        self._stream = connection.makefile("rb")

    def send(self) -> None:
        self.is_open = True
        data = b"".join(request.packed() for request in self.requests)
        cut = self._rng.choice([len(data), self._rng.randrange(len(data))])
        with suppress(ConnectionError):
            self._socket.sendall(data[:cut])
            time.sleep(self._rng.choice([0.0, 0.001, 0.05]))
            self._socket.sendall(data[cut:])

    def read(self) -> None:
        """Compares the replies with the model's. What is not answered is in doubt."""
        requests = iter(self.requests)
        for request in requests:
            if self._leaves and self._rng.random() < 0.2:
                return self._doubt([request, *requests])
            before = dict(self.model.state)
            try:
                found, end = self._reply(request)
            except (EOFError, ConnectionError):
                return self._doubt([request, *requests])
            except TimeoutError:
                raise AssertionError(f"a hang: {request} is not answered") from None
            expected = self.model.apply(request)
            if DISTURBED.fullmatch(end):
                # Of a get, what was found until then has been sent.
                self.model.state = before
                self._compare(request, before, found, found_of(expected)[: len(found)])
            elif isinstance(expected, bytes):
                if found or end != expected:
                    raise AssertionError(f"{request} of {before}: {end!r}, not {expected!r}")
            else:
                if end not in (b"END", b"EN"):
                    raise AssertionError(f"{request} of {before}: {end!r}")
                self._compare(request, before, found, expected)
                self.model.learn(found)
            self.answered += 1
        self.is_open = False
        return None

    def _compare(self, request: Request, before: State, found: Found, expected: Found) -> None:
        shows_cas = request.name in (b"gets", b"gats", b"mg")
        same = len(found) == len(expected) and all(
            key == wanted and (item if shows_cas else replace(item, cas=None)).may_be(seen)
            for (wanted, item), (key, seen) in zip(expected, found, strict=True)
        )
        if not same:
            raise AssertionError(f"{request} of {before}: {found}, not {expected}")

    def _line(self) -> bytes:
        line = self._stream.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError
        return line[:-2]

    def _value(self, size: int) -> bytes:
        value = self._stream.read(size + 2)
        if len(value) < size + 2:
            raise EOFError
        if not value.endswith(b"\r\n"):
            raise AssertionError(f"a value of another size: {value!r}")
        return value[:-2]

    def _reply(self, request: Request) -> tuple[Found, bytes]:
        """The items, and the line that ends them."""
        found: list[tuple[bytes, Item]] = []
        while True:
            line = self._line()
            words = line.split(b" ")
            if words[0] == b"VA" and request.name == b"mg":
                item = Item(self._value(int(words[1])), int(words[2][1:]), int(words[3][1:]))
                return ((request.keys[0], item),), b"EN"
            if words[0] != b"VALUE":
                return tuple(found), line
            cas = int(words[4]) if len(words) > 4 else None
            key = words[1].removeprefix(PREFIX)
            found.append((key, Item(self._value(int(words[3])), int(words[2]), cas)))

    def end(self) -> None:
        """What was sent and never looked at may have been done."""
        with suppress(OSError):
            if self._rng.random() < 0.3:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        self._stream.close()
        self._socket.close()
        if self.is_open:
            self._doubt(self.requests)

    def _doubt(self, requests: Sequence[Request]) -> None:
        """Each of these may have been done, in their order, or have failed because of others."""
        self.is_open = False
        states = [dict(self.model.state)]
        for request in requests if len(requests) <= MOST_IN_DOUBT else ():
            for state in list(states):
                self.model.state = dict(state)
                self.model.apply(request)
                if self.model.state not in states:
                    states.append(self.model.state)
        for key in states[0]:
            self.doubts[key] = [state[key] for state in states]
        self.is_unknown = len(requests) > MOST_IN_DOUBT


def found_of(reply: Reply) -> Found:
    return reply if isinstance(reply, tuple) else ()


class Items(Bystander):
    name = "items"

    def __init__(self, server: Path, port: int, shared: Shared, seed: int) -> None:
        super().__init__(server, port, shared, seed)
        self._numbers = iter(range(1, 1 << 62))
        self._models = [self._new_model() for _ in range(CLIENTS)]
        self._doubts: dict[bytes, list[Item | None]] = {}

    def _new_model(self) -> Model:
        return Model(f"m{next(self._numbers)}")

    def work(self, sql: Sql) -> None:
        rng = self._rng
        batches: list[Batch] = []
        try:
            for model in self._models:
                connection = socket.create_connection(("127.0.0.1", self._port), PATIENCE)
                batches.append(Batch(connection, model, rng))
            locks = rng.random() < 0.3
            if locks:
                keys = b", ".join(b"'%s'" % rng.choice(model.keys) for model in self._models)
                sql.run("BEGIN")
                sql.rows(f"SELECT k FROM item WHERE k IN ({keys.decode()}) FOR UPDATE")
            elif rng.random() < 0.05:
                self._disturb(sql)
            for batch in batches:
                batch.send()
            if locks:
                time.sleep(rng.choice([0.0, 0.02, 0.2]))
                sql.run("ROLLBACK")
            for batch in batches:
                batch.read()
        finally:
            for number, batch in enumerate(batches):
                self._tally["request: of memcached"] += batch.answered
                batch.end()
                if batch.doubts:
                    self._models[number] = self._new_model()
                if batch.doubts and not batch.is_unknown:
                    self._doubts.update(batch.doubts)

    def _disturb(self, sql: Sql) -> None:
        sql.run(self._rng.choice(DISTURBANCES))
        self._tally["ddl"] += 1

    def check(self, sql: Sql) -> None:
        there = {
            key or b"": Item(value or b"", int(flags or 0), int(cas or 0))
            for key, value, flags, cas in sql.rows("SELECT k, v, flags, cas FROM item")
        }
        for key, allowed in self._expected():
            seen = there.get(key)
            if not any(seen is None if item is None else item.may_be(seen) for item in allowed):
                raise AssertionError(f"{key!r} holds {seen!r}, and not one of {allowed}")

    def _expected(self) -> Iterator[tuple[bytes, list[Item | None]]]:
        for model in self._models:
            yield from ((key, [item]) for key, item in model.state.items())
        yield from self._doubts.items()
