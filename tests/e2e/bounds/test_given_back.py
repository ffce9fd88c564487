"""What a thread needs to execute a very large request is given back when it is answered."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from server_instance import REPOSITORY, ServerInstance, free_port
from support.database import Database
from support.resp import OK, Resp

MIB = 1 << 20
ROWS = 15_000
# What the server itself takes for the first requests: pages, caches, other threads.
SLACK = 24 * MIB
OPEN = b"P\t1\ttest\tt\tby_v\tv\tb\n"
LARGE = b"x" * (40 * MIB)
# A position is as long as the primary key may be, here 3,002 bytes.
REQUESTS = {
    "a filter": (b"1\t=\t1\t0\t1\t0\tF\t=\t0\t%s\n" % LARGE, b"0\t1"),
    "a value with escapes": (b"1\t=\t1\t0\t1\t0\tF\t=\t0\t\x01\x41%s\n" % LARGE, b"0\t1"),
    "rows that are found first": (b"1\t=\t1\t0\t%d\t0\tU\t1\n" % ROWS, b"0\t1\t%d" % ROWS),
}


def resident(server: ServerInstance) -> int:
    pages = Path(f"/proc/{server.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def await_memory(server: ServerInstance, before: int) -> None:
    """Returns when the server has little more than it had then."""
    deadline = time.monotonic() + 10
    while (growth := resident(server) - before) > SLACK:
        assert time.monotonic() < deadline, f"{growth / MIB:.0f} MiB are kept"
        time.sleep(0.05)


@pytest.mark.parametrize("kind", REQUESTS)
def test_memory_of_a_large_request(kind: str, make_server) -> None:
    database = Database(make_server(), "test")
    database.sql.run(
        "CREATE TABLE t (k VARCHAR(750) PRIMARY KEY, v INT, b LONGTEXT, KEY by_v (v))"
        " DEFAULT CHARSET utf8mb4",
        f"INSERT INTO t SELECT seq, 0, 'b' FROM seq_1_to_{ROWS}",
        # The engine needs memory for the changes of so many rows, and keeps it.
        "UPDATE t SET v = 1",
        "UPDATE t SET v = 0",
    )
    request, answer = REQUESTS[kind]
    with database.wire(write=True) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t=\t1\t0\t99\t0\tF\t=\t0\tx\n") == b"0\t1"
        before = resident(database.server)
        assert wire.ask(request) == answer
        await_memory(database.server, before)
    database.close()


def test_memory_of_a_large_item(make_server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is put together from two columns."""
    # By default glibc learns from blocks of this size that come and go, and keeps some of them.
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(MIB))
    port = free_port()
    server = make_server(handlersocket_redis_port=port, max_allowed_packet=64 * MIB)
    server.client(
        (REPOSITORY / "tools/sql/containers.sql").read_text()
        + """
        CREATE TABLE test.pair (k INT PRIMARY KEY, a LONGBLOB, b LONGBLOB);
        INSERT INTO test.pair VALUES (1, 'a', 'b');
        INSERT INTO test.pair VALUES (2, REPEAT('x', 20 << 20), REPEAT('x', 20 << 20));
        SELECT CRC32(a), CRC32(b) FROM test.pair;
        INSERT INTO handlersocket.containers
          (name, db_schema, db_table, key_columns, value_columns, flags, unique_idx_name_on_key)
          VALUES ('pair', 'test', 'pair', 'k', 'a|b', '0', 'PRIMARY');
        """
    )
    half = b"x" * (20 * MIB)
    with Resp(port, timeout=60) as wire:
        assert wire.ask("HS.RELOAD") == OK
        assert wire.ask("GET", "pair:1") == b"a|b"
        before = resident(server)
        assert wire.ask("GET", "pair:2") == half + b"|" + half
        assert wire.ask("GET", "pair:1") == b"a|b"
        await_memory(server, before)
