"""handlersocket_prefetch: the same answers as without it, whatever happens to the hash index.

MySQL alone can do it. There the lookups of a pipeline, and of many connections, are made while the
option, the adaptive hash index, the buffer pool, the table and the plugin itself are changed. No
answer shows whether anything was fetched; how long a pipeline of random rows takes does, and that
is what bench/ measures.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from server_instance import (
    PLUGIN_LIBRARY,
    REPOSITORY,
    ServerInstance,
    default_plugin_dir,
    free_port,
)
from support.database import Sql
from support.resp import OK, packed
from support.servers import ON_MYSQL, SERVER_TREE, in_dialect, needs_mysql
from support.wire import Wire
from support_memcached import Line, memcached_port
from support_redis import connect
from support_servers import fresh_session, running_server, wait_until

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
NOT_SUPPORTED = 1235
ROWS = 20_000
# ROW_PREBUILT_ALLOCATED in InnoDB's row0mysql.h.
INNODB_MARK = 78_540_783
TABLE = """CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(20) NOT NULL, c CHAR(12),
  d BIGINT UNSIGNED, v INT NOT NULL, UNIQUE ab (a, b), UNIQUE c (c), UNIQUE d (d DESC))"""
PARTS = "PARTITION BY HASH (id) PARTITIONS 4"
FILL = f"""INSERT INTO {{}} SELECT seq, seq DIV 100, CONCAT('b', seq MOD 100), CONCAT('C', seq),
  IF(seq MOD 10 = 0, NULL, seq), seq * 3 FROM seq_1_to_{ROWS}"""
INDEXES = ("PRIMARY", "ab", "c", "d")
BATCH = 64
WARM = 400
SECONDS = 8.0


@pytest.fixture
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings: dict[str, Any] = {
        "handlersocket_threads": 2,
        "handlersocket_redis_port": free_port(),
        "handlersocket_memcached_port": free_port(),
        "innodb_adaptive_hash_index": "ON",
    }
    if ON_MYSQL:
        settings |= {"handlersocket_prefetch": "ON", "innodb_buffer_pool_size": 64 << 20}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    partitioned = "CREATE TABLE p (id INT PRIMARY KEY, v INT NOT NULL) " + PARTS
    fill = f"INSERT INTO p SELECT seq, seq * 3 FROM seq_1_to_{ROWS}"
    server.client(CONTAINERS.read_text())
    with fresh_session(server, "ahead", TABLE, FILL.format("t"), partitioned, fill) as session:
        yield session


def opened(server: ServerInstance) -> Wire:
    wire = Wire(server.hs_port)
    for number, index in enumerate(INDEXES):
        assert wire.ask(b"P\t%d\tahead\tt\t%s\tv\n" % (number, index.encode())) == b"0\t1"
    assert wire.ask(b"P\t4\tahead\tp\tPRIMARY\tv\n") == b"0\t1"
    return wire


def lookup_in(rng: random.Random) -> tuple[bytes, bytes]:
    """The same of many keys. Every value finds its row once, at its first place."""
    keys = [rng.randrange(1, ROWS + ROWS // 10) for _ in range(rng.choice([2, 40]))]
    keys += keys[:1]
    values = b"".join(b"\t%d" % key for key in keys)
    index = rng.choice([0, 3])
    found = [key for key in dict.fromkeys(keys) if has_row(index, key)]
    request = b"%d\t=\t1\t0\t%d\t0\t@\t0\t%d%b\n" % (index, len(keys), len(keys), values)
    return request, b"0\t1" + b"".join(b"\t%d" % (key * 3) for key in found)


def has_row(index: int, key: int) -> bool:
    return key <= ROWS and not (index == 3 and key % 10 == 0)


def lookup(rng: random.Random) -> tuple[bytes, bytes]:
    """A lookup by any of the indexes, and its reply. Some have no row."""
    if rng.random() < 0.05:
        return lookup_in(rng)
    key = rng.randrange(1, ROWS + ROWS // 10)
    index = rng.randrange(5)
    request = {
        0: b"0\t=\t1\t%d\n" % key,
        1: b"1\t=\t2\t%d\tb%d\n" % (key // 100, key % 100),
        2: b"2\t=\t1\tc%d\n" % key,
        3: b"3\t=\t1\t%d\n" % key,
        4: b"4\t=\t1\t%d\n" % key,
    }[index]
    return request, b"0\t1\t%d" % (key * 3) if has_row(index, key) else b"0\t1"


def look_up(wire: Wire, rng: random.Random, batches: int) -> None:
    for _ in range(batches):
        wanted = [lookup(rng) for _ in range(BATCH)]
        wire.send(b"".join(request for request, _ in wanted))
        replies = wire.lines(BATCH)
        for (request, expected), reply in zip(wanted, replies, strict=True):
            assert reply == expected, request


@needs_mysql
def test_answers_are_the_same(server: ServerInstance, sql: Sql) -> None:
    rng = random.Random(1)
    with opened(server) as wire:
        for state in ("ON", "OFF", "ON"):
            sql.run(f"SET GLOBAL handlersocket_prefetch = {state}")
            look_up(wire, rng, WARM)
    assert "memory is not laid out" not in server.log_text()


@needs_mysql
def test_connections_with_one_request_each(server: ServerInstance, sql: Sql) -> None:
    rng = random.Random(2)
    with ExitStack() as stack:
        wires = [stack.enter_context(opened(server)) for _ in range(40)]
        for _ in range(100):
            wanted = [lookup(rng) for _ in wires]
            for wire, (request, _) in zip(wires, wanted, strict=True):
                wire.send(request)
            for wire, (request, expected) in zip(wires, wanted, strict=True):
                assert wire.lines(1) == [expected], request
    assert sql.number("SELECT @@GLOBAL.handlersocket_prefetch") == 1


def batch_of(rng: random.Random) -> tuple[list[bytes], list[Any]]:
    """Commands of Redis, and their replies."""
    requests, expected = [], []
    for _ in range(BATCH):
        key = rng.randrange(1, ROWS + ROWS // 10)
        value = b"%d" % (key * 3) if key <= ROWS else None
        command = rng.randrange(5)
        if command == 0:
            requests.append(packed("HGET", f"ahead.t:{key}", "v"))
            expected.append(value)
        elif command == 1:
            requests.append(packed("HMGET", f"ahead.t@ab:{key // 100}:b{key % 100}", "v", "none"))
            expected.append([value, None])
        elif command == 2:
            requests.append(packed("HGETALL", f"ahead.p:{key}"))
            expected.append([b"id", b"%d" % key, b"v", value] if value is not None else [])
        elif command == 3:
            requests.append(packed("GET", f"text:{key}"))
            expected.append(value)
        else:
            keys = [key, *(rng.randrange(1, ROWS) for _ in range(rng.choice([1, 3, 40])))]
            requests.append(packed("MGET", *(f"text:{one}" for one in keys), "nothing:of:that"))
            expected.append([value, *(b"%d" % (one * 3) for one in keys[1:]), None])
    return requests, expected


def make_containers(sql: Sql) -> None:
    """One of texts, and one whose keys have two parts."""
    sql.run(
        "CREATE TABLE s (k VARCHAR(40) PRIMARY KEY, v VARCHAR(20) NOT NULL)",
        f"INSERT INTO s SELECT seq, seq * 3 FROM seq_1_to_{ROWS}",
        "INSERT INTO handlersocket.containers VALUES"
        " ('text', 'ahead', 's', 'k', 'v', '0', '0', '0', 'PRIMARY'),"
        " ('pair', 'ahead', 't', 'a b', 'v', '0', '0', '0', 'ab')",
    )


@needs_mysql
def test_answers_of_redis_are_the_same(server: ServerInstance, sql: Sql) -> None:
    make_containers(sql)
    rng = random.Random(5)
    with connect(server) as wire:
        assert wire.ask("HS.RELOAD") == OK
        for state in ("ON", "OFF", "ON"):
            sql.run(f"SET GLOBAL handlersocket_prefetch = {state}")
            for _ in range(WARM // 2):
                requests, expected = batch_of(rng)
                wire.send(b"".join(requests))
                assert [wire.reply() for _ in expected] == expected


def memcached_batch_of(rng: random.Random) -> tuple[bytes, bytes]:
    """Gets of one key and of many, of two containers, and their replies."""
    requests, expected = [], []

    def item(shown: str, key: int) -> bytes:
        value = b"%d" % (key * 3)
        return b"VALUE %s 0 %d\r\n%s\r\n" % (shown.encode(), len(value), value)

    for _ in range(BATCH):
        key = rng.randrange(1, ROWS + ROWS // 10)
        chosen = rng.randrange(4)
        if chosen == 0:
            requests.append(b"mg @@text.%d v\r\n" % key)
            value = b"%d" % (key * 3)
            found = b"VA %d\r\n%s\r\n" % (len(value), value)
            expected.append(found if key <= ROWS else b"EN\r\n")
            continue
        keys = (
            [key] if chosen == 1 else [rng.randrange(1, ROWS) for _ in range(rng.choice([2, 40]))]
        )
        names = [
            f"@@text.{one}" if rng.random() < 0.5 else f"@@pair.{one // 100}:b{one % 100}"
            for one in keys
        ]
        requests.append(f"get {' '.join(names)}\r\n".encode())
        expected += [item(name, one) for name, one in zip(names, keys, strict=True) if one <= ROWS]
        expected.append(b"END\r\n")
    return b"".join(requests), b"".join(expected)


def line_of(server: ServerInstance) -> Line:
    """A connection that knows the containers."""
    line = Line(memcached_port(server))
    first = b"get @@text.1 @@pair.0:b1\r\n"
    wait_until(lambda: line.ask(first).endswith(b"END\r\n"), "the containers are known")
    return line


def get_items(line: Line, rng: random.Random, batches: int) -> None:
    for _ in range(batches):
        requests, expected = memcached_batch_of(rng)
        line.send(requests)
        assert line.exactly(len(expected)) == expected


@needs_mysql
def test_answers_of_memcached_are_the_same(server: ServerInstance, sql: Sql) -> None:
    make_containers(sql)
    rng = random.Random(6)
    with line_of(server) as line:
        for state in ("ON", "OFF", "ON"):
            sql.run(f"SET GLOBAL handlersocket_prefetch = {state}")
            get_items(line, rng, WARM // 2)


CHANGES = {
    "hash_index": (
        "SET GLOBAL innodb_adaptive_hash_index = OFF",
        "SET GLOBAL innodb_adaptive_hash_index = ON",
    ),
    "option": ("SET GLOBAL handlersocket_prefetch = OFF", "SET GLOBAL handlersocket_prefetch = ON"),
    "buffer_pool": (
        "SET GLOBAL innodb_buffer_pool_size = 268435456",
        "DO SLEEP(1)",
        "SET GLOBAL innodb_buffer_pool_size = 67108864",
        "DO SLEEP(1)",
    ),
    "rebuild": ("ALTER TABLE t FORCE", "ALTER TABLE p FORCE"),
    "index": ("ALTER TABLE t ADD INDEX x (v)", "ALTER TABLE t DROP INDEX x"),
}


@needs_mysql
@pytest.mark.parametrize("what", CHANGES)
def test_answers_are_the_same_beside(what: str, server: ServerInstance, sql: Sql) -> None:
    """At HandlerSocket's port and at memcached's, whose container of pairs is the table `t`."""
    failures: list[BaseException] = []
    make_containers(sql)
    end = time.monotonic() + SECONDS

    def client(seed: int) -> None:
        rng = random.Random(seed)
        try:
            with opened(server) as wire, line_of(server) as line:
                while time.monotonic() < end:
                    if seed % 2 == 0:
                        look_up(wire, rng, 4)
                    else:
                        get_items(line, rng, 4)
        except BaseException as error:
            failures.append(error)

    clients = [threading.Thread(target=client, args=(seed,)) for seed in range(6)]
    for thread in clients:
        thread.start()
    while time.monotonic() < end:
        sql.run(*CHANGES[what])
    for thread in clients:
        thread.join()
    assert not failures, failures


@needs_mysql
def test_uninstall_and_install(server: ServerInstance, sql: Sql) -> None:
    rng = random.Random(3)
    for _ in range(4):
        with opened(server) as wire:
            look_up(wire, rng, WARM)
            sql.run(in_dialect("UNINSTALL SONAME 'handlersocket2'"))
        # Whoever prints the latches now prints the name that the plugin has left there.
        assert sql.rows("SHOW ENGINE INNODB STATUS")
        sql.run("CHECK TABLE t", in_dialect("INSTALL SONAME 'handlersocket2'"))
        wait_until(lambda: sql.number("SELECT @@GLOBAL.handlersocket_prefetch") == 1, "it is back")


@needs_mysql
def test_says_once_that_the_hash_index_is_off(server: ServerInstance, sql: Sql) -> None:
    rng = random.Random(4)
    said = "handlersocket_prefetch does nothing while innodb_adaptive_hash_index is OFF"
    # More than are passed over where looking ahead is of no use.
    batches = 20
    with opened(server) as wire:
        look_up(wire, rng, batches)
        assert said not in server.log_text()
        for _ in range(2):
            sql.run("SET GLOBAL innodb_adaptive_hash_index = OFF")
            look_up(wire, rng, batches)
            sql.run("SET GLOBAL innodb_adaptive_hash_index = ON")
            look_up(wire, rng, batches)
    assert server.log_text().count(said) == 1


@needs_mysql
def test_a_server_that_was_built_otherwise_is_left_alone(
    data_root: Path, watch: Any, tmp_path: Path
) -> None:
    """The plugin expects another mark in InnoDB's memory, as if built for another server."""
    library = (default_plugin_dir(SERVER_TREE) / PLUGIN_LIBRARY).read_bytes()
    mark = INNODB_MARK.to_bytes(4, "little")
    assert mark in library
    (tmp_path / PLUGIN_LIBRARY).write_bytes(
        library.replace(mark, (INNODB_MARK + 1).to_bytes(4, "little"))
    )
    with (
        running_server(
            data_root,
            watch,
            plugin_dir=tmp_path,
            handlersocket_prefetch="ON",
            innodb_adaptive_hash_index="ON",
        ) as server,
        fresh_session(server, "ahead", TABLE, FILL.format("t")) as sql,
    ):
        sql.run("CREATE TABLE p (id INT PRIMARY KEY, v INT NOT NULL) " + PARTS)
        sql.run(f"INSERT INTO p SELECT seq, seq * 3 FROM seq_1_to_{ROWS}")
        with opened(server) as wire:
            look_up(wire, random.Random(5), WARM)
        assert server.log_text().count("memory is not laid out as in the server") == 1


@pytest.mark.skipif(ON_MYSQL, reason="of MariaDB alone")
class TestOnMariaDB:
    def test_is_refused(self, server: ServerInstance, sql: Sql) -> None:
        assert sql.error("SET GLOBAL handlersocket_prefetch = ON") == NOT_SUPPORTED
        assert sql.number("SELECT @@GLOBAL.handlersocket_prefetch") == 0
        sql.run("SET GLOBAL handlersocket_prefetch = OFF")

    def test_does_nothing_at_the_start(self, make_server) -> None:
        log = make_server(handlersocket_prefetch="ON").log_text()
        assert log.count("handlersocket_prefetch does nothing") == 1
