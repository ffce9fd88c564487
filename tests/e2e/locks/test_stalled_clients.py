"""A client that asks for a long find and does not read costs memory, and others nothing.

Its find is parked: it gives the table back, and continues after its last row when the client reads.
If it cannot be parked, it waits for a limited time, and KILL ends it.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.wire import Wire

# More than the kernel takes from the server while the client reads nothing.
ROWS = 20_000
NOTE = "n" * 300
LONG = b"1\t>=\t1\t0\t9999999\n"
# A statement may take so much longer than without the client. Without parking it would wait until
# the client ends.
SLACK = 4.0
# On a busy machine, an operation that waits for nothing may take so long.
PROMPTLY = 10.0

Expected = list[tuple[int, int]]


class SlowClient:
    """It reads nothing by itself, and has little room for replies."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
        self._socket.settimeout(60)
        self._socket.connect(("127.0.0.1", port))
        self.received = b""

    def ask_for_rows(self, open_index: bytes, request: bytes) -> None:
        self._socket.sendall(open_index)
        assert self._socket.recv(100) == b"0\t1\n"
        self._socket.sendall(request)

    def read(self, size: int) -> bool:
        """Returns whether anything came before the end of file."""
        piece = self._socket.recv(size)
        self.received += piece
        return bool(piece)

    def has_more(self, seconds: float) -> bool:
        """Whether something can be read within so long a time."""
        return bool(select.select([self._socket], [], [], seconds)[0])

    def read_reply(self) -> list[bytes]:
        """Reads irregularly, so that the find is parked now and then. Returns the values."""
        pieces = [self.received]
        size = 0
        while not pieces[-1].endswith(b"\n"):
            if size > 400_000:
                time.sleep(0.03)
                size = 0
            pieces.append(self._socket.recv(1 << 17))
            size += len(pieces[-1])
            assert pieces[-1], "the server closed the connection"
        code, columns, *values = b"".join(pieces)[:-1].split(b"\t")
        assert (code, columns) == (b"0", b"3")
        return values

    def read_rows(self) -> Expected:
        values = self.read_reply()
        assert values[2::3] == [NOTE.encode()] * (len(values) // 3)
        return list(zip(map(int, values[0::3]), map(int, values[1::3]), strict=True))

    def rest(self) -> bytes:
        while self.read(1 << 20):
            pass
        return self.received

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> SlowClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def wait_for(condition, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(0.02)


def seconds(sql: Sql, *statements: str) -> float:
    started = time.monotonic()
    sql.run(*statements)
    return time.monotonic() - started


@dataclass
class Case:
    """A find, and its rows: id and k of each."""

    request: bytes
    order: str
    index: bytes = b""
    where: str = "TRUE"
    limit: str = ""
    repeat: Sequence[str] = field(default=("",))  # one SELECT for each, with `where` continued

    def rows(self, sql: Sql) -> Expected:
        found = []
        for more in self.repeat:
            found += sql.rows(
                f"SELECT id, k FROM t WHERE {self.where} {more} ORDER BY {self.order} {self.limit}"
            )
        return [(int(row_id or 0), int(k or 0)) for row_id, k in found]


CASES: dict[str, Case] = {
    "primary_key": Case(LONG, "id"),
    "primary_key_backwards": Case(b"1\t<\t1\t9999999\t9999999\n", "id DESC"),
    "many_equal_keys": Case(b"1\t=\t1\t1\t9999999\n", "id", b"by_k", "k = 1"),
    "equal_keys_upwards": Case(LONG, "k, id", b"by_k"),
    "equal_keys_backwards": Case(b"1\t<=\t1\t1\t9999999\n", "k DESC, id DESC", b"by_k"),
    "in": Case(
        b"1\t=\t1\t0\t9999999\t0\t@\t0\t4\t1\t7\t0\t1\n",
        "id",
        b"by_k",
        repeat=("AND k = 1", "AND k = 0"),
    ),
    "filter": Case(LONG[:-1] + b"\t0\tF\t!=\t0\t1\n", "id", where="k <> 1"),
    "limit_and_offset": Case(
        b"1\t>=\t1\t0\t30000\t5000\n", "k, id", b"by_k", limit="LIMIT 30000 OFFSET 5000"
    ),
    "unique_text": Case(b"1\t>=\t1\tA\t9999999\n", "u", b"by_u"),
    "descending_part": Case(b"1\t>=\t1\t0\t9999999\n", "k, u, id DESC", b"by_down"),
    "descending_part_backwards": Case(b"1\t<\t1\t9\t9999999\n", "k DESC, u DESC, id", b"by_down"),
    "null": Case(b"1\t=\t1\t\0\t9999999\n", "id", b"by_n", "n IS NULL"),
    "null_upwards": Case(b"1\t>=\t1\t\0\t9999999\n", "n, id", b"by_n"),
    "null_backwards": Case(b"1\t<=\t1\t1\t9999999\n", "n DESC, id DESC", b"by_n"),
    "null_of_a_descending_part": Case(b"1\t<=\t1\t1\t9999999\n", "n DESC, id", b"by_n_down"),
}
TABLE = (
    "CREATE TABLE t (id INT PRIMARY KEY, k INT, u VARCHAR(20) NOT NULL, note VARCHAR(400), n INT,"
    " KEY by_k (k), UNIQUE by_u (u), KEY by_down (k DESC, u DESC), KEY by_start (u(2)),"
    " KEY by_n (n), KEY by_n_down (n DESC))"
    " DEFAULT CHARSET utf8mb4"
)
FILL = (
    f"INSERT INTO t SELECT seq, seq % 2, CONCAT('u', LPAD(seq, 9, '0')), '{NOTE}',"
    f" NULLIF(seq % 2, 0) FROM seq_1_to_{2 * ROWS}"
)


def fill(sql: Sql, options: str = "") -> None:
    # MySQL's MyISAM has no descending indexes.
    table = TABLE.replace(" DESC", "") if "MyISAM" in options else TABLE
    sql.run(f"{table} {options}", FILL)


def stall(database: Database, client: SlowClient, case: Case, parks: bool = True) -> None:
    """The client has asked and reads no more, and the server no longer waits for it."""
    before = database.sql.status("handlersocket_finds_parked")
    opening = b"P\t1\t%s\tt\t%s\tid,k,note\tk\n" % (database.name.encode(), case.index)
    client.ask_for_rows(opening, case.request)
    assert client.read(100)
    if parks:
        wait_for(lambda: database.sql.status("handlersocket_finds_parked") > before)
    else:
        time.sleep(0.3)
        assert database.sql.status("handlersocket_finds_parked") == before


@pytest.fixture
def client(server: ServerInstance) -> Iterator[SlowClient]:
    with SlowClient(server.hs_port) as opened:
        yield opened


class TestAlterTable:
    """The reply is complete, whatever happens to the table meanwhile."""

    @pytest.fixture(scope="class")
    def filled(self, server: ServerInstance) -> Iterator[Database]:
        with Sql(server.socket) as admin:
            admin.run("DROP DATABASE IF EXISTS stalled", "CREATE DATABASE stalled")
        database = Database(server, "stalled")
        fill(database.sql)
        yield database
        database.sql.run("DROP DATABASE stalled")
        database.close()

    @pytest.mark.parametrize("name", CASES)
    def test_goes_through_and_the_rows_come_once_and_in_order(
        self, name: str, filled: Database, client: SlowClient
    ) -> None:
        case = CASES[name]
        alters = (
            "ALTER TABLE t ADD COLUMN more INT DEFAULT 1 FIRST, ALGORITHM=INPLACE",
            "ALTER TABLE t DROP COLUMN more, ALGORITHM=INPLACE",
        )
        alone = seconds(filled.sql, *alters)
        expected = case.rows(filled.sql)
        stall(filled, client, case)
        # A busy machine makes both slow. A statement that waits for the client takes much longer.
        assert seconds(filled.sql, *alters) < 3 * alone + SLACK
        assert client.read_rows() == expected


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("ENGINE=MyISAM", "primary_key"),
        ("ENGINE=MyISAM", "unique_text"),
        ("PARTITION BY HASH (id) PARTITIONS 4", "primary_key"),
        ("PARTITION BY HASH (id) PARTITIONS 4", "primary_key_backwards"),
    ],
)
def test_a_unique_index_is_enough_for_any_engine(
    options: str, name: str, database: Database, client: SlowClient
) -> None:
    if "PARTITION" in options:
        database.sql.run(TABLE.replace("UNIQUE", "KEY") + " " + options, FILL)
    else:
        fill(database.sql, options)
    case = CASES[name]
    expected = case.rows(database.sql)
    stall(database, client, case)
    assert seconds(database.sql, "LOCK TABLES t WRITE", "UNLOCK TABLES") < SLACK
    assert client.read_rows() == expected


class TestMeanwhile:
    @pytest.fixture(autouse=True)
    def table(self, sql: Sql) -> None:
        fill(sql)

    def test_others_are_served(self, database: Database) -> None:
        """There are two streamers for each port, and more clients than that."""
        with (
            SlowClient(database.server.hs_port) as first,
            SlowClient(database.server.hs_port) as second,
            SlowClient(database.server.hs_port) as third,
        ):
            for stalled in (first, second, third):
                stall(database, stalled, CASES["primary_key"])
            with Wire(database.server.hs_port) as other:
                other.ask(b"P\t1\t%s\tt\t\tid\n" % database.name.encode())
                started = time.monotonic()
                values = other.ask(b"1\t>=\t1\t1\t5000\n").split(b"\t")
                print(f"a find of 5,000 rows took {time.monotonic() - started:.3f} s")
                assert values == [b"0", b"1", *(b"%d" % i for i in range(1, 5001))]
                assert time.monotonic() - started < SLACK
            assert first.read_rows() == CASES["primary_key"].rows(database.sql)

    @pytest.mark.parametrize("name", ["primary_key", "many_equal_keys", "equal_keys_backwards"])
    def test_rows_come_and_go(self, name: str, database: Database, client: SlowClient) -> None:
        case = CASES[name]
        before = case.rows(database.sql)
        stall(database, client, case)
        # All around the find's place: every third row is deleted, and others are inserted in
        # between.
        database.sql.run(
            "DELETE FROM t WHERE id % 3 = 0",
            "INSERT INTO t SELECT id + 1000000, k, CONCAT('x', id), note, n"
            " FROM t WHERE id % 5 = 1",
        )
        after = set(case.rows(database.sql))
        rows = client.read_rows()
        assert len(set(rows)) == len(rows), "a row was answered twice"
        orders = {
            "primary_key": lambda row: row[0],
            "many_equal_keys": lambda row: row[0],
            "equal_keys_backwards": lambda row: (-row[1], -row[0]),
        }
        assert rows == sorted(rows, key=orders[name])
        assert set(rows) <= set(before) | after
        assert {row for row in before if row in after} <= set(rows), "a row that stayed is missing"

    def test_a_lock_is_waited_for(self, database: Database, client: SlowClient) -> None:
        case = CASES["many_equal_keys"]
        expected = case.rows(database.sql)
        stall(database, client, case)
        with database.connect() as holder:
            holder.run("LOCK TABLES t WRITE")
            blocked = database.sql.status("handlersocket_requests_blocked")
            while database.sql.status("handlersocket_requests_blocked") == blocked:
                if client.has_more(0.01):
                    assert client.read(1 << 16)
            holder.run("UNLOCK TABLES")
        assert client.read_rows() == expected

    @pytest.mark.parametrize(
        "statement",
        [
            "DROP TABLE t",
            "ALTER TABLE t DROP COLUMN note",
            "ALTER TABLE t DROP KEY by_k",
            "ALTER TABLE t MODIFY k BIGINT",
            "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (u, id)",
        ],
    )
    def test_what_the_find_needs_is_gone(
        self, statement: str, database: Database, client: SlowClient
    ) -> None:
        """The reply has begun, and cannot become an error."""
        case = CASES["equal_keys_upwards"]
        rows = case.rows(database.sql)
        stall(database, client, case)
        assert seconds(database.sql, statement) < PROMPTLY
        reply = client.rest()
        whole = "0\t3" + "".join(f"\t{row_id}\t{k}\t{NOTE}" for row_id, k in rows)
        assert whole.startswith(reply.decode())
        assert not reply.endswith(b"\n")

    def test_the_client_goes_away(self, database: Database) -> None:
        sql = database.sql
        open_before = sql.status("handlersocket_connections")
        with SlowClient(database.server.hs_port) as gone:
            stall(database, gone, CASES["primary_key"])
        wait_for(lambda: sql.status("handlersocket_connections") == open_before)
        assert seconds(sql, "DROP TABLE t") < PROMPTLY


# Indexes whose entries do not identify rows, or from which we cannot see that they do.
@pytest.mark.parametrize(
    ("options", "index"),
    [
        ("ENGINE=MyISAM", b"by_k"),
        ("PARTITION BY HASH (id) PARTITIONS 2", b"by_k"),
        ("", b"by_start"),
    ],
)
class TestWhatCannotBeParked:
    def test_waits_while_the_client_reads_and_ends_by_a_kill(
        self, options: str, index: bytes, database: Database, client: SlowClient
    ) -> None:
        case = Case(LONG, "k, id", index)
        if "PARTITION" in options:
            database.sql.run(TABLE.replace("UNIQUE", "KEY") + " " + options, FILL)
        else:
            fill(database.sql, options)
        stall(database, client, case, parks=False)
        assert sorted(client.read_rows()) == sorted(case.rows(database.sql))
        for kill in ("KILL QUERY", "KILL"):
            with SlowClient(database.server.hs_port) as killed:
                self.kill(kill, database, killed, case)

    def kill(self, kill: str, database: Database, client: SlowClient, case: Case) -> None:
        stall(database, client, case, parks=False)
        (streamer,) = database.sql.row(
            "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
            " AND state LIKE '%streaming%'"
        )
        assert streamer is not None
        started = time.monotonic()
        database.sql.run(f"{kill} {int(streamer)}", "LOCK TABLES t WRITE", "UNLOCK TABLES")
        assert time.monotonic() - started < SLACK
        assert not client.rest().endswith(b"\n")


class TestOwnServer:
    """Tests that need a setting, or that end the server."""

    def test_a_wait_is_bounded_in_all(self, make_server) -> None:
        database = Database(make_server(handlersocket_stream_patience=1), "test")
        fill(database.sql, "ENGINE=MyISAM")
        with SlowClient(database.server.hs_port) as client:
            started = time.monotonic()
            stall(database, client, CASES["many_equal_keys"], parks=False)
            # It reads a little now and then, which counts as nothing.
            while time.monotonic() - started < 2.5:
                client.read(10)
                time.sleep(0.05)
            assert seconds(database.sql, "LOCK TABLES t WRITE", "UNLOCK TABLES") < SLACK
            assert not client.rest().endswith(b"\n")
        database.close()

    @pytest.mark.parametrize("name", ["primary_key", "many_equal_keys"])
    def test_shutdown(self, name: str, make_server) -> None:
        database = Database(make_server(), "test")
        fill(database.sql, "" if name == "primary_key" else "ENGINE=MyISAM")
        with SlowClient(database.server.hs_port) as client:
            stall(database, client, CASES[name], parks=name == "primary_key")
            database.close()
            started = time.monotonic()
            database.server.stop()
            assert time.monotonic() - started < PROMPTLY
            assert not client.rest().endswith(b"\n")
