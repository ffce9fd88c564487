"""No memory is lost or misused (valgrind checks), and memory does not grow over time."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import SERVER_TREE
from data_directory import copy_template
from handlersocket2 import Client, Filter, ReplyError
from server_instance import ServerInstance
from support.database import Database
from support.servers import KIND, needs_valgrind, own_settings
from support.wire import Wire
from test_hostile_input import Attacker, resident

# The library is unloaded before valgrind reports, so valgrind has to keep its symbols. Threads run
# in turn; otherwise the machine's load would decide which of them runs at all.
VALGRIND = """#!/bin/sh
export LD_LIBRARY_PATH="{root}/usr/lib/x86_64-linux-gnu"
exec valgrind --log-file="{log}" --fair-sched=yes --leak-check=full \\
  --show-leak-kinds=definite --errors-for-leak-kinds=definite \\
  --keep-debuginfo=yes --num-callers=40 --error-limit=no "{root}/usr/sbin/{server}" "$@"
"""
# A server under valgrind on a busy machine is slow, and these tests do not measure time.
PATIENCE = 240
SETTINGS = {
    "innodb_buffer_pool_size": "16M",
    "innodb_buffer_pool_size_max": "32M",
    "innodb_use_native_aio": 0,
    "performance_schema": "OFF",
    "handlersocket_threads": 2,
    "handlersocket_lock_wait_timeout": 1,
    "log_bin": "binlog",
    "server_id": 1,
}
TABLES = [
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b VARCHAR(50), c LONGTEXT,"
    " KEY by_a (a), KEY by_b (b(3)))",
    "INSERT INTO t SELECT seq, seq % 10, CONCAT('b', seq), REPEAT('c', 300) FROM seq_1_to_6000",
    "CREATE TABLE parent (id INT PRIMARY KEY, a INT)",
    "CREATE TABLE child (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES parent (id)"
    " ON DELETE CASCADE)",
    "CREATE TABLE fired (id INT PRIMARY KEY, a INT, d TIMESTAMP DEFAULT NOW() ON UPDATE NOW())",
    "CREATE TABLE audit (id INT, what VARCHAR(20))",
    "CREATE TRIGGER g1 BEFORE INSERT ON fired FOR EACH ROW SET NEW.a = NEW.a + 1",
    "CREATE TRIGGER g2 AFTER UPDATE ON fired FOR EACH ROW INSERT INTO audit VALUES"
    " (OLD.id, 'update')",
    "CREATE TABLE g (id INT PRIMARY KEY, a INT CHECK (a < 100), v INT AS (a + 1) VIRTUAL, s"
    " VARCHAR(20) DEFAULT (CONCAT('d', id)), KEY by_v (v))",
    "CREATE TABLE m (id INT PRIMARY KEY, a INT, b LONGTEXT) ENGINE=MyISAM",
    "CREATE VIEW vw AS SELECT * FROM t",
]


def every_kind_of_request(server: ServerInstance, name: str) -> None:
    """A dialogue that uses everything of the plugin: successes, errors, waits, long finds."""
    with (
        Client(("127.0.0.1", server.hs_port), timeout=PATIENCE) as reader,
        Client(("127.0.0.1", server.hs_port_wr), timeout=PATIENCE) as writer,
    ):
        rows = reader.index(name, "t", ["id", "a", "b", "c"], filter_columns=["a", "b"])
        by_a = reader.index(name, "t", ["id"], index="by_a")
        by_b = reader.index(name, "t", ["id", "b"], index="by_b")
        assert len(rows.find(1, op=">=", limit=20, offset=5, filters=[Filter(">", 0, 3)])) == 20
        assert len(by_a.find_in([1, 2, 77, None], limit=50)) == 50
        assert by_b.find("b17") == [(b"17", b"b17")]
        assert len(rows.find(0, op=">", limit=100_000)) == 6000
        for table in ("vw", "nowhere"):
            with pytest.raises(ReplyError):
                reader.index(name, table, ["id"])
        for column in ("id", "nothing"):
            with pytest.raises(ReplyError):
                reader.index("information_schema", "tables", [column])
        changed = writer.index(name, "t", ["a", "b", "c"], index="by_a")
        inserted = writer.index(name, "t", ["a", "b", "c"])
        assert (inserted.insert([99, "x" * 50, "y" * 100_000]) or 0) > 0
        with pytest.raises(ReplyError):
            inserted.insert([99, "x" * 51, ""])
        assert changed.update(99, [98, "z", "w" * 200_000]) == 1
        assert changed.increment(98, [1]) == 1
        assert changed.decrement(99, [50]) == 1
        assert changed.delete(49) == 1
        parent, child = (
            writer.index(name, "parent", ["id", "a"]),
            writer.index(name, "child", ["id", "a"]),
        )
        parent.insert([1, 1])
        child.insert([1, 1])
        with pytest.raises(ReplyError):
            child.insert([2, 7])
        assert parent.delete(1) == 1
        fired = writer.index(name, "fired", ["id", "a"])
        fired.insert([1, 1])
        assert fired.update(1, [1, 5]) == 1
        generated = writer.index(name, "g", ["id", "a"])
        generated.insert([1, 5])
        with pytest.raises(ReplyError):
            generated.update(1, [1, 200])
        myisam = writer.index(name, "m", ["id", "b"])
        myisam.insert([1, "b" * 70_000])
        assert myisam.update(1, [1, "c" * 80_000]) == 1
        with writer.pipeline() as pipeline:
            for key in range(100, 150):
                pipeline.on(parent).insert([key, 1])
                pipeline.on(parent).insert([key, 1])  # undone alone
        with Database(server, name).connect() as holder:
            holder.run("LOCK TABLES t WRITE, parent WRITE")
            for wait in (lambda: by_b.find("b17"), lambda: parent.delete(100)):
                with pytest.raises(ReplyError, match="1205"):
                    wait()
            holder.run("UNLOCK TABLES", "BEGIN", "SELECT * FROM parent WHERE id = 100 FOR UPDATE")
            with pytest.raises(ReplyError, match="1205|146"):
                parent.delete(100)
            holder.run("ROLLBACK", "ALTER TABLE t ADD COLUMN e INT FIRST", "DROP INDEX by_b ON t")
        with pytest.raises(ReplyError, match="idxnum"):
            by_b.find("b17")


@needs_valgrind
@pytest.mark.timeout(900)
def test_valgrind_finds_nothing_in_the_plugin(tmp_path: Path) -> None:
    assert shutil.which("valgrind"), "setup/packages.sh installs valgrind for the tests"
    log = tmp_path / "valgrind.log"
    (tmp_path / "server").mkdir()
    copy_template(SERVER_TREE, tmp_path / "server" / "data")
    with ServerInstance(
        tree_under_valgrind(tmp_path, log), tmp_path / "server", settings=own_settings(SETTINGS),
        plugin_dir=ServerInstance(SERVER_TREE, tmp_path).plugin_dir,
    ) as server:  # fmt: skip
        database = Database(server, "test")
        for _ in range(2):
            database.sql.run(*TABLES)
            every_kind_of_request(server, "test")
            columns = {
                "t": (["id", "a", "b", "c"], ["", "by_a"]),
                "g": (["id", "v", "s"], ["", "by_v"]),
            }
            attacker = Attacker(7, "test", columns)
            for port in (server.hs_port, server.hs_port_wr):
                with Wire(port, timeout=PATIENCE) as wire:
                    wire.send(attacker.opening() + b"".join(attacker.request() for _ in range(300)))
                    wire.lines(308)
            worker = database.sql.number(
                "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket' LIMIT 1"
            )
            database.sql.run(f"KILL {worker}")
            with Wire(server.hs_port, timeout=PATIENCE) as left_behind:
                left_behind.send(b"P\t1\ttest\tt\t\tid,c\n1\t>\t1\t0\t100000\n" * 50 + b"1\t=")
                left_behind.lines(2)
                database.sql.run("UNINSTALL SONAME 'handlersocket2'")
            database.sql.run("DROP DATABASE test", "CREATE DATABASE test", "USE test")
            database.sql.run("INSTALL SONAME 'handlersocket2'")
        with Wire(server.hs_port_wr, timeout=PATIENCE) as wire:
            wire.ask(b"nonsense\n")
        database.close()
    text = log.read_text()
    assert "HEAP SUMMARY" in text, "valgrind has not come to its end"
    assert findings(text) == []


def tree_under_valgrind(folder: Path, log: Path) -> Path:
    """The server's tree, but its server runs under valgrind with the machine's own loader."""
    tree = folder / SERVER_TREE.name
    (tree / "bin").mkdir(parents=True)
    for entry in SERVER_TREE.iterdir():
        # The template is copied, because through a link the original would be filled.
        if entry.name != "bin" and not entry.name.startswith("template"):
            (tree / entry.name).symlink_to(entry)
    for entry in (SERVER_TREE / "bin").iterdir():
        if entry.name != KIND.server:
            (tree / "bin" / entry.name).symlink_to(entry)
    program = tree / "bin" / KIND.server
    program.write_text(VALGRIND.format(root=SERVER_TREE / "root", server=KIND.server, log=log))
    program.chmod(0o755)
    return tree


def findings(log: str) -> list[str]:
    """valgrind's complaints with a frame in the plugin: leaks and wrong accesses."""
    lines = [re.sub(r"^==\d+== ?", "", line) for line in log.splitlines()]
    blocks = "\n".join(lines).split("\n\n")
    return [block for block in blocks if "handlersocket2.so" in block or "hs::" in block]


class TestMemoryStaysFlat:
    @pytest.fixture
    def database(self, make_server) -> Iterator[Database]:
        """A database in a server whose buffer pool is soon full."""
        settings = {"innodb_buffer_pool_size": "6M", "innodb_buffer_pool_size_max": "8M"}
        database = Database(make_server(**settings, handlersocket_threads=2), "test")
        yield database
        database.close()

    # At first caches grow: the server's, the plans', and the allocator's, which keeps memory for
    # each thread that ever purged or flushed. Each cache stops growing, but a leak does not.
    ROUNDS = 15  # for so many rounds memory must not grow
    # KiB that it may grow meanwhile: with 3,000 requests a round, 23 bytes for each request
    SLACK = 1024
    MOST = 120  # if it still grows after so many rounds, there is a leak

    def assert_flat(self, database: Database, go_round: Callable[[int], None]) -> None:
        sizes: list[int] = []
        for round_ in range(self.MOST):
            go_round(round_)
            sizes.append(resident(database.server))
            if round_ >= self.ROUNDS and sizes[-1] - sizes[-1 - self.ROUNDS] < self.SLACK:
                return
        pytest.fail(f"memory grows without an end, in KiB after each round: {sizes}")

    def test_connections_come_and_go(self, database: Database) -> None:
        database.sql.run(
            "CREATE TABLE f (id INT PRIMARY KEY, v INT)", "INSERT INTO f VALUES (1, 2)"
        )
        request = b"P\t1\t%s\tf\t\tid,v\n1\t=\t1\t1\n" % database.name.encode()

        def go_round(_: int) -> None:
            for number in range(1000):
                port = database.server.hs_port_wr if number % 2 else database.server.hs_port
                with socket.create_connection(("127.0.0.1", port), 10) as client:
                    client.sendall(request)
                    if number % 3:
                        client.recv(100)

        self.assert_flat(database, go_round)

    def test_tables_and_open_indexes_come_and_go(self, database: Database) -> None:
        name = database.name.encode()
        database.sql.run("CREATE TABLE o (id INT PRIMARY KEY, a INT, b INT, c INT, d INT)")
        with database.wire(write=True) as writing, database.wire() as reading:

            def go_round(round_: int) -> None:
                for number in range(10):
                    table = f"gone_{round_}_{number}"
                    database.sql.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, v INT)")
                    for wire in (writing, reading):
                        request = b"P\t1\t%s\t%s\t\tid\n1\t=\t1\t1\n" % (name, table.encode())
                        wire.send(request)
                        assert wire.lines(2) == [b"0\t1", b"0\t1"]
                    database.sql.run(f"DROP TABLE {table}")
                    assert reading.ask(b"1\t=\t1\t1\n") == b"1\t1\topen_table"
                for wire in (writing, reading):
                    # Lists of columns that nobody has used before.
                    lists = (
                        b",".join(b"abcd"[n >> i & 3 : (n >> i & 3) + 1] for i in range(0, 16, 2))
                        for n in range(round_ * 500, (round_ + 1) * 500)
                    )
                    lines = [
                        b"P\t%d\t%s\to\t\t%s\n" % (n % 7, name, names)
                        for n, names in enumerate(lists)
                    ]
                    wire.send(b"".join(lines))
                    assert set(wire.lines(len(lines))) == {b"0\t1"}

            self.assert_flat(database, go_round)

    def test_reads_and_writes_go_on(self, database: Database) -> None:
        database.sql.run(
            "CREATE TABLE w (id INT PRIMARY KEY, v TEXT, n INT)",
            "INSERT INTO w SELECT seq, REPEAT('v', 500), 0 FROM seq_1_to_1000",
            "CREATE TRIGGER wt BEFORE UPDATE ON w FOR EACH ROW SET NEW.n = OLD.n + 1",
        )
        name = database.name.encode()
        with database.wire(write=True) as writing, database.wire() as reading:
            for wire in (writing, reading):
                wire.ask(b"P\t1\t%s\tw\t\tid,v\n" % name)

            def go_round(_: int) -> None:
                for _ in range(20):
                    finds = b"".join(b"1\t>\t1\t%d\t10\n" % key for key in range(100))
                    reading.send(finds)
                    reading.lines(100)
                    writing.send(
                        b"".join(b"1\t=\t1\t%d\t1\t0\tU?\t%d\tx\n" % (k, k) for k in range(1, 51))
                    )
                    writing.lines(50)
                    assert reading.ask(b"1\t>\t1\t0\t100000\n").count(b"\t") == 2001

            self.assert_flat(database, go_round)
