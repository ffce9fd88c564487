"""Random and mutated requests to every kind of table: no crash, no hang, no growth.

The seed is fixed. HS_FUZZ_SEED chooses another, and HS_FUZZ_REQUESTS the number of requests.
"""

from __future__ import annotations

import os
import random
import re
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_instance import ServerInstance
from support.database import Database
from support.servers import known_here
from support_column_types import every_type

SEED = int(os.environ.get("HS_FUZZ_SEED", "1"))
REQUESTS = int(os.environ.get("HS_FUZZ_REQUESTS", "40000"))
BATCH = 25
REPLY = re.compile(rb"0\t\d+(\t.*)?|[123]\t1\t[a-z_]+|1\t1\t[1-9]\d*", re.DOTALL)
# So much a server of this size may grow during an attack, in KiB.
GROWTH = 200 * 1024

SPECIAL_TABLES = [
    "CREATE TABLE myisam (id INT PRIMARY KEY, a INT, b TEXT, KEY by_a (a), FULLTEXT f (b))"
    " ENGINE=MyISAM",
    "CREATE TABLE aria (id INT PRIMARY KEY, a INT, b TEXT, KEY by_a (a, b(5))) ENGINE=Aria",
    "CREATE TABLE memory (id INT PRIMARY KEY, a INT, KEY by_a (a) USING BTREE) ENGINE=MEMORY",
    "CREATE TABLE parts (id INT PRIMARY KEY, a INT, KEY by_a (a)) PARTITION BY HASH (id)"
    " PARTITIONS 3",
    "CREATE TABLE versioned (id INT PRIMARY KEY, a INT, KEY by_a (a)) WITH SYSTEM VERSIONING",
    "CREATE TABLE computed (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT AS (a + 1) VIRTUAL,"
    " c INT AS (a * 2) STORED, KEY by_b (b), KEY by_c (c DESC, a))",
    "CREATE TABLE checked (id INT PRIMARY KEY, a INT CHECK (a > 0), b INT NOT NULL DEFAULT (id +"
    " 1), t TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, KEY by_a (a, b))",
    "CREATE TABLE parent (id INT PRIMARY KEY, a INT, KEY by_a (a))",
    "CREATE TABLE child (id INT PRIMARY KEY, a INT, KEY by_a (a), FOREIGN KEY (a) REFERENCES"
    " parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE fired (id INT PRIMARY KEY, a INT, KEY by_a (a))",
    "CREATE TABLE wide (a VARCHAR(200), b VARCHAR(200), c VARCHAR(200), d INT, KEY k (a, b, c, d),"
    " KEY p (a(3), b(1)))",
    "CREATE TABLE spots (id INT PRIMARY KEY, g POINT NOT NULL, SPATIAL INDEX s (g))",
    "CREATE TABLE bare (a INT)",
    "CREATE TRIGGER g1 BEFORE UPDATE ON fired FOR EACH ROW SET NEW.a = NEW.a + 1",
    "CREATE TRIGGER g2 AFTER DELETE ON fired FOR EACH ROW INSERT INTO bare VALUES (OLD.a)",
    "CREATE TRIGGER g3 BEFORE INSERT ON fired FOR EACH ROW SIGNAL SQLSTATE '45000'",
    "CREATE VIEW v AS SELECT * FROM parent",
    "CREATE SEQUENCE s",
    "CREATE TABLE documents (id INT PRIMARY KEY, doc JSON DEFAULT (JSON_ARRAY(id, 'x')),"
    " KEY by_element ((CAST(doc AS CHAR(10) ARRAY))),"
    " KEY by_first ((CAST(doc->'$[0]' AS SIGNED))))",
    "CREATE TABLE vectors (id INT PRIMARY KEY, v VECTOR(2) DEFAULT (STRING_TO_VECTOR('[1,2]')),"
    " place POINT NOT NULL SRID 4326 DEFAULT (ST_SRID(POINT(1, 2), 4326)), SPATIAL KEY (place))",
    "INSERT INTO parent SELECT seq, seq % 7 FROM seq_1_to_50",
    "INSERT INTO child SELECT seq, seq FROM seq_1_to_50",
    "INSERT INTO myisam SELECT seq, seq % 7, SHA2(seq, 224) FROM seq_1_to_50",
    "INSERT INTO wide SELECT seq % 3, SHA2(seq, 224), SHA2(seq, 256), seq FROM seq_1_to_50",
    "INSERT INTO computed (a) SELECT seq FROM seq_1_to_50",
    "INSERT INTO versioned SELECT seq, seq % 7 FROM seq_1_to_50",
]
ELSEWHERE = [
    ("information_schema", "TABLES", ["TABLE_NAME"]),
    ("information_schema", "tables", ["table_name"]),
    ("performance_schema", "threads", ["THREAD_ID"]),
    ("performance_schema", "accounts", ["USER"]),
    ("sys", "version", ["sys_version"]),
    ("mysql", "general_log", ["event_time"]),
    ("mysql", "slow_log", ["start_time"]),
    ("mysql", "user", ["Host"]),
    ("mysql", "innodb_table_stats", ["database_name"]),
    ("nowhere", "t", ["id"]),
]
# fmt: off
STRANGE_NAMES = [
    b"#sql-1_1", b"#sql-temptable-1-1-1", b"..", b"../mysql/user", b"/", b".", b" ", b"a" * 64,
    b"a" * 65, b"a" * 5000, b"t\xff\xfe", b"\xc3", b"#mysql50#t", b"t#P#p0", b"\x01@", b"\x01",
    b"%s%n", b"`t`", b"@@x", "ä".encode() * 64, "\U0001f600".encode(), b"",
]
NUMBERS = [
    b"0", b"1", b"2", b"3", b"7", b"15", b"16", b"17", b"255", b"65536", b"2147483648",
    b"4294967295", b"4294967296", b"18446744073709551615", b"18446744073709551616", b"9" * 400,
    b"-1", b"1a", b"", b"01", b" 1", b"+1", b"1.0", b"\0", b"\xff",
]
VALUES = [
    *NUMBERS, b"\x01@", b"\x01\x41\x01J", b"a", b"A" * 300, b"x" * 70000, b"\xff\xfe\xfd",
    b"\xc3\x28", "日本語".encode(), b"1e400", b"2024-02-30", b"0000-00-00 00:00:00",
    b"2038-01-19 03:14:08.999999", b"838:59:59.9", b"::1", b"{}", b"[" * 500, b"POINT(1 1)",
    b"\x02\x03\x0b", b"%", b"nan", b"-0",
]
# fmt: on
OPERATORS = [b"=", b">", b">=", b"<", b"<="]


class Attacker:
    """Makes requests, most of them nearly right."""

    def __init__(
        self, seed: int, schema: str, tables: dict[str, tuple[list[str], list[str]]]
    ) -> None:
        self._random = random.Random(seed)
        self._schema = schema
        self._tables = tables

    def request(self) -> bytes:
        pick = self._random.random()
        if pick < 0.10:
            line = self._open()
        elif pick < 0.55:
            line = self._find()
        elif pick < 0.85:
            line = self._find() + self._modification()
        elif pick < 0.95:
            line = self._insert()
        elif pick < 0.97:
            line = b"A\t%s\t%s" % (self._number(), self._value())
        else:
            line = self._random.randbytes(self._random.randrange(200)).replace(b"\n", b"")
        return (self._mutated(line) if self._random.random() < 0.15 else line) + b"\n"

    def opening(self) -> bytes:
        """A correct `P` for each of the first index ids."""
        return b"".join(self._open(number, wild=False) + b"\n" for number in range(8))

    def _open(self, number: int | None = None, *, wild: bool = True) -> bytes:
        choose = self._random
        if wild and choose.random() < 0.3:
            schema, table, columns = choose.choice(ELSEWHERE)
            indexes = ["PRIMARY", "", "0"]
        else:
            schema, table = self._schema, choose.choice(list(self._tables))
            columns, indexes = self._tables[table]
        names = [schema.encode(), table.encode(), choose.choice(indexes).encode()]
        if wild and choose.random() < 0.2:
            names[choose.randrange(3)] = choose.choice(STRANGE_NAMES + NUMBERS)
        lists = [
            b",".join(c.encode() for c in choose.choices(columns, k=choose.randrange(5)))
            for _ in "ab"
        ]
        if wild and choose.random() < 0.1:
            lists[0] = choose.choice(STRANGE_NAMES)
        if wild and choose.random() < 0.02:
            lists[0] = b",".join([columns[0].encode()] * 5000)
        index_id = self._index_id() if number is None else b"%d" % number
        return b"\t".join([b"P", index_id, *names, *lists])

    def _index_id(self) -> bytes:
        if self._random.random() < 0.05:
            return self._number()
        return b"%d" % self._random.randrange(8)

    def _find(self) -> bytes:
        choose = self._random
        count = choose.choice([0, 1, 1, 1, 1, 2, 2, 3, 4, 15, 16])
        tokens = [self._index_id(), choose.choice(OPERATORS), b"%d" % count]
        tokens += [self._value() for _ in range(count)]
        if choose.random() < 0.7:
            tokens.append(choose.choice([b"1", b"10", b"100", b"1000", self._number()]))
            if choose.random() < 0.5:
                tokens.append(choose.choice([b"0", b"1", self._number()]))
                if choose.random() < 0.3:
                    values = choose.randrange(6)
                    tokens += [b"@", choose.choice([b"0", b"1", self._number()]), b"%d" % values]
                    tokens += [self._value() for _ in range(values)]
                for _ in range(choose.choice([0, 0, 0, 1, 2])):
                    tokens += [choose.choice([b"F", b"W"]), choose.choice([*OPERATORS, b"!="])]
                    tokens += [choose.choice([b"0", b"1", self._number()]), self._value()]
        return b"\t".join(tokens)

    def _modification(self) -> bytes:
        kind = self._random.choice([b"U", b"U", b"D", b"+", b"-", b"U?", b"D?", b"+?", b"-?", b"X"])
        values = [self._value() for _ in range(self._random.randrange(5))]
        return b"\t" + b"\t".join([kind, *values])

    def _insert(self) -> bytes:
        count = self._random.randrange(6)
        return b"\t".join(
            [self._index_id(), b"+", b"%d" % count, *(self._value() for _ in range(count))]
        )

    def _number(self) -> bytes:
        return self._random.choice(NUMBERS)

    def _value(self) -> bytes:
        if self._random.random() < 0.6:
            return b"%d" % self._random.randrange(-3, 60)
        return self._random.choice(VALUES)

    def _mutated(self, line: bytes) -> bytes:
        choose = self._random
        for _ in range(choose.randrange(1, 4)):
            at = choose.randrange(len(line) + 1)
            end = min(len(line), at + choose.randrange(4))
            piece = choose.choice(
                [b"", b"\t", b"\0", b"\x01", b"\r", choose.randbytes(2), line[at : at + 20]]
            )
            line = line[:at] + piece.replace(b"\n", b"") + line[end:]
        return line


def resident(server: ServerInstance) -> int:
    """The server's memory in KiB."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


@pytest.fixture
def zoo(database: Database) -> dict[str, tuple[list[str], list[str]]]:
    """Tables of every kind and type: the names of their columns and indexes."""
    database.sql.run("SET sql_mode = ''", *known_here(SPECIAL_TABLES))
    for column in every_type():
        key = f", KEY by_v ({column.index})" if column.index else ""
        database.sql.run(f"CREATE TABLE type_{column} (id INT PRIMARY KEY, v {column.sql}{key})")
        for number, value in enumerate(column.values):
            database.sql.rows(
                f"INSERT IGNORE INTO type_{column} SELECT {number}, %s", [value]
            )  # fmt: skip
    tables: dict[str, tuple[list[str], list[str]]] = {}
    names = database.sql.rows(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = DATABASE()"
    )
    for table, column in names:
        tables.setdefault((table or b"").decode(), ([], [""]))[0].append((column or b"").decode())
    indexes = database.sql.rows(
        "SELECT DISTINCT table_name, index_name FROM information_schema.statistics"
        " WHERE table_schema = DATABASE()"
    )
    for table, index in indexes:
        tables[(table or b"").decode()][1].append((index or b"").decode())
    return tables


def still_answers(database: Database) -> None:
    assert database.sql.number("SELECT 1 + 1") == 2
    database.sql.run("DROP TABLE IF EXISTS sane", "CREATE TABLE sane (id INT PRIMARY KEY, v INT)")
    with database.reader() as reader, database.writer() as writer:
        writer.index(database.name, "sane", ["id", "v"]).insert([1, 2])
        assert reader.index(database.name, "sane", ["v"]).find(1) == [(b"2",)]


@pytest.fixture
def limited_user(database: Database) -> Iterator[bytes]:
    """An account whose privileges have to be looked at column by column."""
    name = "limited"
    database.sql.run(
        f"CREATE USER {name}@localhost IDENTIFIED BY ''",
        f"GRANT SELECT, INSERT, UPDATE ON {database.name}.* TO {name}@localhost",
    )
    yield name.encode()
    database.sql.run(f"DROP USER {name}@localhost")


@pytest.mark.parametrize(
    ("write", "limited"),
    [(False, False), (True, False), (True, True)],
    ids=["read_port", "write_port", "write_port_with_limited_privileges"],
)
def test_random_requests(
    write: bool,
    limited: bool,
    database: Database,
    zoo: dict[str, tuple[list[str], list[str]]],
    limited_user: bytes,
) -> None:
    """Each request gets one reply, in the right form."""
    attacker = Attacker(SEED, database.name, zoo)
    before = resident(database.server)
    count = 0
    succeeded = 0
    while count < REQUESTS:
        with database.wire(write=write) as wire:
            if limited:
                assert wire.ask(b"A\t2\t%s\n" % limited_user) == b"0\t1"
            wire.send(attacker.opening())
            wire.lines(8)
            for _ in range(20):
                batch = [attacker.request() for _ in range(BATCH)]
                wire.send(b"".join(batch))
                replies = wire.lines(BATCH)
                for request, reply in zip(batch, replies, strict=True):
                    assert REPLY.fullmatch(reply), (request, reply)
                    succeeded += reply.startswith(b"0")
                count += BATCH
    assert count * 0.1 < succeeded < count, "the attack is too wild or too tame"
    still_answers(database)
    assert resident(database.server) - before < GROWTH


def abort(client: socket.socket) -> None:
    """Closes with a reset."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def test_clients_that_vanish(
    database: Database, zoo: dict[str, tuple[list[str], list[str]]]
) -> None:
    """Half a request, a reset in the middle of a pass, and replies that nobody reads."""
    choose = random.Random(SEED)
    attacker = Attacker(SEED + 1, database.name, zoo)
    for number in range(400):
        port = database.server.hs_port_wr if number % 2 else database.server.hs_port
        client = socket.create_connection(("127.0.0.1", port), 10)
        data = attacker.opening() + b"".join(
            attacker.request() for _ in range(choose.randrange(60))
        )
        client.sendall(data[: choose.randrange(len(data))])
        if choose.random() < 0.5:
            abort(client)
        else:
            client.close()
    still_answers(database)
    wait_for_no_connections(database)


def test_clients_that_never_read(database: Database) -> None:
    """Replies of 400 MB for clients that do not read them: the server keeps little of them."""
    database.sql.run(
        "CREATE TABLE fat (id INT PRIMARY KEY, v TEXT)",
        "INSERT INTO fat SELECT seq, REPEAT('x', 20000) FROM seq_1_to_200",
    )
    before = resident(database.server)
    clients = []
    for number in range(50):
        port = database.server.hs_port_wr if number % 2 else database.server.hs_port
        client = socket.create_connection(("127.0.0.1", port), 10)
        client.setblocking(False)
        client.send(b"P\t1\t%s\tfat\t\tid,v\n" % database.name.encode())
        limit = b"10" if number % 3 else b"200"
        lines = b"1\t>\t1\t0\t%s\n" % limit * 40
        client.send(lines)
        clients.append(client)
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        still_answers(database)
    assert resident(database.server) - before < GROWTH
    for client in clients:
        client.close()
    wait_for_no_connections(database)
    still_answers(database)


def test_many_open_indexes_and_long_names(database: Database) -> None:
    """The number or the memory of one connection's open indexes is limited."""
    database.sql.run("CREATE TABLE o (id INT PRIMARY KEY, v INT)")
    before = resident(database.server)
    name = database.name.encode()
    replies: set[bytes] = set()
    with database.wire() as wire:
        for start in range(0, 100_000, 1000):
            wire.send(b"".join(b"P\t%d\t%s\to\t\tid,v\n" % (start + i, name) for i in range(1000)))
            replies |= set(wire.lines(1000))
        lists = b",".join([b"id"] * 3000)
        wire.send(b"".join(b"P\t%d\t%s\to\t\t%s\n" % (i, name, lists) for i in range(300)))
        replies |= set(wire.lines(300))
        assert wire.ask(b"P\t1\t%s\to\t\tid\n" % name) == b"0\t1"
    assert all(REPLY.fullmatch(reply) for reply in replies)
    still_answers(database)
    assert resident(database.server) - before < GROWTH


def test_many_different_and_long_lists_of_columns(database: Database) -> None:
    """What is kept of closed indexes is limited by its size, not by its number."""
    database.sql.run("CREATE TABLE o (id INT PRIMARY KEY, v INT)")
    name = database.name.encode()
    before = resident(database.server)
    for _ in range(4):
        with database.wire() as wire:
            for number in range(250):
                names = [b"v" if n == number else b"id" for n in range(3500)]
                request = b"P\t1\t%s\to\t\t%s\t%s\n" % (name, b",".join(names), b",".join(names))
                assert REPLY.fullmatch(wire.ask(request))
    assert resident(database.server) - before < GROWTH


def test_large_and_endless_lines(database: Database) -> None:
    database.sql.run("CREATE TABLE o (id INT PRIMARY KEY, v LONGTEXT)")
    before = resident(database.server)
    with database.wire(write=True) as wire:
        wire.ask(b"P\t1\t%s\to\t\tid,v\n" % database.name.encode())
        values = b"\t".join([b"1"] * 1_000_000)
        for request in (
            b"1\t=\t1000000\t" + values,
            b"1\t=\t1\t1\t1\t0\t@\t0\t1000000\t" + values,
            b"1\t=\t1\t1\t1\t0\t" + b"F\t=\t0\t1\t" * 200_000,
            b"1\t+\t1000000\t" + values,
            b"P\t2\t" + values,
            b"1\t=\t1\t1\t1\t0\tU\t" + values,
        ):
            assert REPLY.fullmatch(wire.ask(request + b"\n"))
    still_answers(database)
    assert resident(database.server) - before < GROWTH


def wait_for_no_connections(database: Database) -> None:
    deadline = time.monotonic() + 20
    while database.sql.status("handlersocket_connections") > 0:
        assert time.monotonic() < deadline, "connections of clients that are gone stay"
        time.sleep(0.02)
