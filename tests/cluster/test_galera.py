"""Three Galera nodes: what the plugin writes on any node is on all of them, or is refused."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, Insert, ModifyOp, OpenIndex, ReplyError
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support_galera import (
    BACKUP,
    PROVIDER,
    Cluster,
    rows_everywhere,
    status,
    wait_applied,
    wait_synced,
)
from support_ledger import TABLES, Writer, await_writes, check, errors_of, writing
from support_servers import wait_until

pytestmark = [
    pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has Galera"),
    pytest.mark.skipif(
        not ON_MYSQL and not PROVIDER.exists(), reason=f"{PROVIDER.name} is missing"
    ),
    pytest.mark.timeout(600),
]

NODES = 3
SECONDS = float(os.environ.get("HS_CLUSTER_SECONDS", "4"))
# What a client may be told while nodes write the same rows: the commit was certified behind
# another, the row is locked by a transaction that other nodes have committed, or a deadlock.
CONFLICTS = {"1 1213", "1 149", "1 146"}
NOT_PRIMARY = 1047
NOT_REPLICATED = 4165
PERMANENT = 1702


@pytest.fixture(scope="module")
def cluster(data_root: Path, watch: Any) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(dir=data_root))
    made = Cluster(folder, NODES)
    try:
        made.start()
        watch.servers.extend(made.nodes)
        with Sql(made.nodes[0].socket) as sql:
            sql.run(*TABLES)
        yield made
    except BaseException:
        made.kill()
        raise
    finally:
        watch.servers[:] = [server for server in watch.servers if server not in made.nodes]
    made.stop()


@pytest.fixture
def fresh(cluster: Cluster) -> Cluster:
    """The cluster with an empty ledger."""
    with Sql(cluster.nodes[0].socket) as sql:
        sql.run("DROP DATABASE IF EXISTS ledger", *TABLES)
    for node in cluster.nodes:
        with Sql(node.socket) as sql:
            wait_applied(sql)
    return cluster


@contextmanager
def writer_on(node: ServerInstance, table: str, columns: list[str]) -> Iterator[Client]:
    with Client(("127.0.0.1", node.hs_port_wr)) as client:
        client.request(OpenIndex(1, "ledger", table, "", columns))
        yield client


def write_port(node: ServerInstance) -> Any:
    return lambda: node.hs_port_wr


def pushed_aside(*nodes: ServerInstance) -> int:
    """How many transactions these nodes have ended because another node's came first."""
    return sum(int(status(node)["wsrep_local_bf_aborts"]) for node in nodes)


def conflicts(*nodes: ServerInstance) -> int:
    """Those, and the ones that were refused at their commit."""
    failures = sum(int(status(node)["wsrep_local_cert_failures"]) for node in nodes)
    return pushed_aside(*nodes) + failures


def check_everywhere(cluster: Cluster, writers: list[Writer]) -> None:
    for node in cluster.nodes:
        with Sql(node.socket) as sql:
            wait_applied(sql)
            check(sql, writers)
    for table in ("entries", "shared"):
        answers = rows_everywhere(cluster, f"CHECKSUM TABLE ledger.{table}")
        assert all(answer == answers[0] for answer in answers), f"the nodes' {table} differ"


def test_each_kind_of_write_arrives(fresh: Cluster) -> None:
    with Sql(fresh.nodes[0].socket) as sql:
        sql.run(
            "CREATE TABLE ledger.parent (id INT PRIMARY KEY)",
            "CREATE TABLE ledger.child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT,"
            " FOREIGN KEY (parent) REFERENCES ledger.parent (id) ON DELETE CASCADE)",
            "CREATE TABLE ledger.history (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20))",
            "CREATE TRIGGER ledger.note AFTER INSERT ON ledger.child FOR EACH ROW"
            " BEGIN SET @child = CONCAT('child ', NEW.parent);"  # the worker's session is reset
            " INSERT INTO ledger.history (what) VALUES (@child); END",
        )
    for number, node in enumerate(fresh.nodes):
        with Sql(node.socket) as sql:
            wait_applied(sql)
        with Client(("127.0.0.1", node.hs_port_wr)) as client:
            client.request(OpenIndex(1, "ledger", "entries", "", ["writer", "number", "note"]))
            client.request(OpenIndex(2, "ledger", "parent", "", ["id"]))
            client.request(OpenIndex(3, "ledger", "child", "", ["parent"]))
            client.request(Insert(1, [number, 1, "a"]))
            client.request(Insert(1, [number, 2, "b"]))
            client.request(Insert(1, [number, 3, "c"]))
            client.request(FindModify(Find(1, [number, 2]), ModifyOp.DELETE))
            client.request(
                FindModify(Find(1, [number, 3]), ModifyOp.UPDATE, [number, 3, f"by {number}"])
            )
            client.request(Insert(2, [number]))
            client.request(Insert(3, [number]))
            client.request(Insert(2, [number + 10]))
            client.request(FindModify(Find(2, [number + 10]), ModifyOp.DELETE))
    entries = [(n, i, note) for n in range(NODES) for i, note in ((1, "a"), (3, f"by {n}"))]
    for answer in rows_everywhere(fresh, "SELECT * FROM ledger.entries ORDER BY writer, number"):
        assert answer == [tuple(str(cell).encode() for cell in row) for row in entries]
    for answer in rows_everywhere(fresh, "SELECT id FROM ledger.parent ORDER BY id"):
        assert answer == [(str(n).encode(),) for n in range(NODES)]
    for answer in rows_everywhere(fresh, "SELECT what FROM ledger.history ORDER BY what"):
        assert answer == [(f"child {n}".encode(),) for n in range(NODES)]
    for answer in rows_everywhere(fresh, "SELECT parent FROM ledger.child ORDER BY parent"):
        assert answer == [(str(n).encode(),) for n in range(NODES)]


def test_conflicts_are_errors_to_retry(fresh: Cluster) -> None:
    """Writers on all nodes change the same rows. Each change is there once, or was refused."""
    before = conflicts(*fresh.nodes)
    writers = [
        Writer(number, write_port(fresh.nodes[number % NODES])) for number in range(2 * NODES)
    ]
    with writing(writers):
        await_writes(writers, 20, seconds=60)
        time.sleep(SECONDS)
        wait_until(lambda: conflicts(*fresh.nodes) > before, "a write meets another node's", 60)
    print(errors_of(writers), sum(len(writer.acknowledged) for writer in writers))
    check_everywhere(fresh, writers)
    assert set(errors_of(writers)) <= CONFLICTS
    assert not any(writer.unknown for writer in writers), "no connection ends because of a conflict"


def test_a_long_write_is_pushed_aside(fresh: Cluster) -> None:
    """Others commit rows that a long write has changed: it begins again, or is refused whole."""
    rows, least = 6_000, 12
    near, far = fresh.nodes[0], fresh.nodes[1]
    with Sql(near.socket, "ledger") as sql:
        sql.run(f"INSERT INTO ledger.entries SELECT 1, seq, '' FROM seq_1_to_{rows}")
    with Sql(far.socket) as sql:
        wait_applied(sql)
    before = pushed_aside(near)
    ended: list[object] = []
    met = threading.Event()

    def change_all() -> None:
        deadline = time.monotonic() + 60
        while (len(ended) < least or not met.is_set()) and time.monotonic() < deadline:
            number = len(ended)
            with writer_on(near, "entries", ["note"]) as client:
                change = FindModify(Find(1, [1], limit=rows), ModifyOp.UPDATE, [f"near {number}"])
                try:
                    ended.append(client.request(change))
                except ReplyError as error:
                    ended.append(f"{error.code} {error.text}")

    thread = threading.Thread(target=change_all)
    thread.start()
    changes = 0
    with writer_on(far, "entries", ["note"]) as client:
        while thread.is_alive():
            change = FindModify(Find(1, [1, 1 + changes % 99]), ModifyOp.UPDATE, [f"far {changes}"])
            try:
                client.request(change)
            except ReplyError as error:
                assert f"{error.code} {error.text}" in CONFLICTS
            changes += 1
            if pushed_aside(near) > before:
                met.set()
            time.sleep(0.01)
    thread.join()
    print(ended, changes)
    assert met.is_set(), "the long write was in nobody's way"
    assert all(end == rows or end in CONFLICTS for end in ended)
    answers = rows_everywhere(fresh, "SELECT note, COUNT(*) FROM ledger.entries GROUP BY note")
    assert all(answer == answers[0] for answer in answers)
    # The last round that went through has changed every row that no other node has changed since.
    through = [number for number, end in enumerate(ended) if end == rows]
    last = f"near {through[-1]}".encode() if through else b""
    notes = {note for note, _ in answers[0]}
    assert {note for note in notes if note is not None and not note.startswith(b"far")} == {last}


def test_a_waiting_write_is_pushed_aside(fresh: Cluster) -> None:
    """A write waits for a transaction's row. Another node commits it: both have to give way."""
    near, far = fresh.nodes[0], fresh.nodes[1]
    outcome: list[object] = []
    with Sql(near.socket) as sql, writer_on(near, "shared", ["n"]) as client:
        sql.run("BEGIN", "UPDATE ledger.shared SET n = n + 100 WHERE id = 0")

        def add() -> None:
            try:
                outcome.append(client.request(FindModify(Find(1, [0]), ModifyOp.INCREMENT, [1])))
            except ReplyError as error:
                outcome.append(f"{error.code} {error.text}")

        thread = threading.Thread(target=add)
        thread.start()
        time.sleep(0.3)  # a streamer waits in the engine now
        with writer_on(far, "shared", ["n"]) as other:
            assert other.request(FindModify(Find(1, [0]), ModifyOp.INCREMENT, [10])) == 1
        thread.join(30)
        assert sql.error("COMMIT") == 1213
    assert outcome and (outcome[0] == 1 or outcome[0] in CONFLICTS)
    n = 11 if outcome[0] == 1 else 10
    for answer in rows_everywhere(fresh, "SELECT n FROM ledger.shared WHERE id = 0"):
        assert answer == [(str(n).encode(),)]


def test_ddl_of_another_node_under_load(fresh: Cluster) -> None:
    writers = [Writer(number, write_port(fresh.nodes[number % NODES])) for number in range(NODES)]
    with writing(writers), Sql(fresh.nodes[1].socket) as sql:
        await_writes(writers, 10)
        for number in range(3):
            sql.run(
                f"ALTER TABLE ledger.entries ADD COLUMN extra{number} INT",
                "ALTER TABLE ledger.shared FORCE",
            )
            await_writes(writers, 10)
    print(errors_of(writers))
    check_everywhere(fresh, writers)
    assert not any(writer.unknown for writer in writers)
    # 1205: the table was locked for too long. 1317: the statement was ended in favour of the DDL.
    assert set(errors_of(writers)) <= CONFLICTS | {"1 1205", "1 1317"}


def test_kill_of_workers_under_load(fresh: Cluster) -> None:
    node = fresh.nodes[0]
    writers = [Writer(number, write_port(fresh.nodes[number % 2])) for number in range(4)]
    with writing(writers), Sql(node.socket) as sql:
        await_writes(writers, 10)
        for number in range(40):
            workers = sql.rows(
                "SELECT id FROM information_schema.processlist WHERE user = 'handlersocket'"
            )
            for (worker,) in workers:
                what = "QUERY " if number % 2 else ""
                # 1094: a thread that had nothing to do has ended meanwhile.
                assert sql.error(f"KILL {what}{(worker or b'').decode()}") in (None, 1094)
            time.sleep(0.02)
        await_writes(writers, 10)
    check_everywhere(fresh, writers)
    assert set(errors_of(writers)) <= CONFLICTS | {"1 1317"}


def test_a_table_that_is_not_replicated_is_refused(fresh: Cluster) -> None:
    node = fresh.nodes[0]
    with Sql(node.socket) as sql:
        sql.run(
            "CREATE TABLE ledger.here (id INT PRIMARY KEY) ENGINE=MyISAM",
            "CREATE TABLE ledger.hidden (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TRIGGER ledger.hide AFTER INSERT ON ledger.hidden FOR EACH ROW"
            " INSERT INTO ledger.here VALUES (NEW.id)",
        )
    for table in ("here", "hidden"):
        with writer_on(node, table, ["id"]) as client:
            with pytest.raises(ReplyError) as refused:
                client.request(Insert(1, [1]))
            assert refused.value.number == NOT_REPLICATED
            # A find is served, and so are writes to other tables in the same pass.
            client.request(OpenIndex(2, "ledger", "entries", "", ["writer", "number"]))
            with client.pipeline() as pipeline:
                bad = pipeline.send(Insert(1, [2]))
                found = pipeline.send(Find(1, [1]))
                good = pipeline.send(Insert(2, [9, len(table)]))
            failure = bad.error()
            assert failure is not None and failure.number == NOT_REPLICATED
            assert (found.result(), good.result()) == ([], None)
    assert rows_everywhere(fresh, "SELECT COUNT(*) FROM ledger.here") == [[(b"0",)]] * NODES
    assert rows_everywhere(fresh, "SELECT COUNT(*) FROM ledger.hidden") == [[(b"0",)]] * NODES
    assert rows_everywhere(fresh, "SELECT COUNT(*) FROM ledger.entries") == [[(b"2",)]] * NODES


def test_a_find_waits_for_what_others_have_committed(fresh: Cluster) -> None:
    """With wsrep_sync_wait a find sees what a client was told on another node before."""
    near, far = fresh.nodes[0], fresh.nodes[1]
    with Sql(far.socket) as sql:
        sql.run("SET GLOBAL wsrep_sync_wait = 1")
    try:
        with (
            writer_on(near, "shared", ["n"]) as writer,
            Client(("127.0.0.1", far.hs_port)) as reader,
        ):
            reader.request(OpenIndex(1, "ledger", "shared", "", ["n"]))
            for number in range(1, 101):
                assert writer.request(FindModify(Find(1, [0]), ModifyOp.INCREMENT, [1])) == 1
                ((n,),) = reader.request(Find(1, [0]))
                assert n == str(number).encode()
    finally:
        with Sql(far.socket) as sql:
            sql.run("SET GLOBAL wsrep_sync_wait = 0")


def test_the_plugin_cannot_be_unloaded(fresh: Cluster) -> None:
    """UNINSTALL would wait for commits that wait for UNINSTALL, on every node."""
    writers = [Writer(number, write_port(fresh.nodes[number % NODES])) for number in range(NODES)]
    with writing(writers), Sql(fresh.nodes[2].socket) as sql:
        await_writes(writers, 10)
        assert sql.error("UNINSTALL PLUGIN handlersocket") == PERMANENT
        await_writes(writers, 10)
        # Its ports can be closed and opened again.
        for _ in range(2):
            sql.run("SET GLOBAL handlersocket_enabled = OFF")
            await_writes(writers[:2], 10)
            sql.run("SET GLOBAL handlersocket_enabled = ON")
            await_writes(writers, 10)
    check_everywhere(fresh, writers)


def test_a_node_is_stopped_and_started_under_load(fresh: Cluster) -> None:
    node = fresh.nodes[2]
    writers = [Writer(number, write_port(fresh.nodes[number % NODES])) for number in range(NODES)]
    with writing(writers):
        for _ in range(2):
            await_writes(writers, 10)
            node.stop(60)
            await_writes(writers[:2], 10)
            node.start()
            wait_synced(node, NODES)
    print(errors_of(writers))
    check_everywhere(fresh, writers)
    # 1180, 1317: the commit had no cluster any more, or was ended with the server.
    allowed = CONFLICTS | {
        "1 1180",
        "1 1317",
        f"1 {NOT_PRIMARY}",
        f"P: 1 {NOT_PRIMARY}",
        "P: 1 1317",
    }
    assert set(errors_of(writers)) <= allowed


def refused(client: Client, request: Any) -> int | None:
    try:
        client.request(request)
    except ReplyError as error:
        return error.number
    return None


def test_a_node_without_the_majority(fresh: Cluster) -> None:
    """Two nodes are killed. The third one refuses requests until it is told to go on alone.

    The others come back. One gets what it has missed, and the other one everything.
    """
    first, second, third = fresh.nodes
    writers = [Writer(number, write_port(third)) for number in range(2)]
    with writing(writers):
        await_writes(writers, 10)
        first.kill()
        second.kill()
        wait_until(
            lambda: status(third)["wsrep_cluster_status"] != "Primary", "the majority is gone", 60
        )
        wait_until(
            lambda: any("1047" in error for error in errors_of(writers)), "a write is refused"
        )
    print(errors_of(writers))
    with (
        Client(("127.0.0.1", third.hs_port)) as reader,
        Client(("127.0.0.1", third.hs_port_wr)) as client,
        Sql(third.socket) as sql,
    ):
        opening = OpenIndex(1, "ledger", "shared", "", ["n"])
        assert refused(reader, opening) == refused(client, opening) == NOT_PRIMARY
        sql.run("SET GLOBAL wsrep_dirty_reads = 1")
        reader.request(opening)
        client.request(opening)
        assert len(reader.request(Find(1, [0]))) == 1
        assert refused(client, FindModify(Find(1, [0]), ModifyOp.INCREMENT, [1])) == NOT_PRIMARY
        sql.run("SET GLOBAL wsrep_dirty_reads = 0")
        assert refused(reader, Find(1, [0])) == NOT_PRIMARY
        sql.run("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=1'")
        wait_until(lambda: status(third)["wsrep_ready"] == "ON", "the node goes on alone")
        assert len(reader.request(Find(1, [0]))) == 1
    more = [Writer(number, write_port(third)) for number in range(2, 4)]
    with writing(more):
        await_writes(more, 10)
        first.start()
        shutil.rmtree(second.data_dir)
        if BACKUP.exists():
            second.settings["wsrep_sst_method"] = "mariabackup"
        second.start()
        for node in fresh.nodes:
            wait_synced(node, NODES)
        await_writes(more, 10)
    check_everywhere(fresh, [*writers, *more])
