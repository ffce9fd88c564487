"""No two transactions of the binary log have the same name: after a crash a server tells them
apart by it, and MySQL does not start where two are the same."""

from __future__ import annotations

import random
import re
import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from handlersocket2 import Client, ConnectionLost, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support_binlog import begin_log
from support_servers import HOLDING, LOGGING, running_server, wait_until

TABLES = (
    "CREATE DATABASE names",
    "USE names",
    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL)",
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE child (id INT AUTO_INCREMENT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES"
    " parent (id))",
    "INSERT INTO parent VALUES (1)",
    "INSERT INTO t SELECT seq, 0 FROM seq_1_to_20",
)
CLIENTS, ROUNDS = 4, 40
DURABLE = {**LOGGING, "sync_binlog": 1, "innodb_flush_log_at_trx_commit": 1}
FIND, INCREMENT = Find(2, [1]), FindModify(Find(2, [2]), ModifyOp.INCREMENT, [1])
OPEN = OpenIndex(2, "names", "t", "PRIMARY", ["v"])
# The requests of one send. A find, a P or a failing write may be the first to reach the engine.
MIXES = (
    [Insert(0, [1])],
    [FIND, Insert(0, [1])],
    [Insert(0, [1]), FIND, INCREMENT, FIND],
    [FIND],
    [OPEN, INCREMENT],
    [Insert(1, [99]), Insert(1, [1])],  # the first has no parent row
    [FIND, Insert(1, [1]), FIND, Insert(0, [1]), INCREMENT],
    [FindModify(Find(2, [12345]), ModifyOp.INCREMENT, [1])],
)


def transaction_names(server: ServerInstance, sql: Sql) -> Counter[str]:
    """The Xid of each transaction since begin_log()."""
    sql.run("FLUSH BINARY LOGS")
    names: Counter[str] = Counter()
    for name, *_ in sql.rows("SHOW BINARY LOGS")[:-1]:
        tool = str(server.tree / "bin" / server.kind.binlog)
        path = str(server.data_dir / (name or b"").decode())
        shown = subprocess.run([tool, "--no-defaults", path], capture_output=True, check=True)
        names.update(re.findall(r"\bXid = (\d+)", shown.stdout.decode("utf-8", "replace")))
    return names


def write(port: int, seed: int, rounds: int) -> None:
    rng = random.Random(seed)
    try:
        with Client(("127.0.0.1", port), timeout=30) as client:
            client.request(OpenIndex(0, "names", "t", "", ["v"]))
            client.request(OpenIndex(1, "names", "child", "", ["p"]))
            client.request(OPEN)
            for _ in range(rounds):
                with client.pipeline() as pipeline:
                    for request in rng.choice(MIXES):
                        pipeline.send(request)
                pipeline.results()
    except ConnectionLost:
        pass


def start_writers(server: ServerInstance, rounds: int) -> list[threading.Thread]:
    threads = [
        threading.Thread(target=write, args=(server.hs_port_wr, seed, rounds), daemon=True)
        for seed in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    return threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a client hangs"


def test_no_two_transactions_have_one_name(data_root: Path, watch: Any) -> None:
    """Finds at the beginning, in the middle and alone. Then a crash, and a start."""
    settings = {**DURABLE, "handlersocket_threads_wr": 2}
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
            begin_log(sql)
            join(start_writers(instance, ROUNDS))
            names = transaction_names(instance, sql)
            assert sum(names.values()) > ROUNDS
            assert {name: count for name, count in names.items() if count > 1} == {}
            threads = start_writers(instance, 1_000_000)
            written = sql.number("SELECT COUNT(*) FROM t")
            wait_until(
                lambda: sql.number("SELECT COUNT(*) FROM t") > written + 50, "the clients write"
            )
        instance.kill()
        join(threads)
        instance.start()
        with Sql(instance.socket, "names") as sql:
            assert sql.number("SELECT COUNT(*) FROM t") > written


def test_no_two_transactions_of_a_replayed_pass_have_one_name(data_root: Path, watch: Any) -> None:
    """A pass that the engine has rolled back is executed again, each write in a transaction of its
    own, with finds between them."""
    settings = {**LOGGING, **HOLDING, "innodb_rollback_on_timeout": "ON"}
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql, Sql(instance.socket) as blocker:
            sql.run(*TABLES)
            blocker.run("USE names", "BEGIN", "INSERT INTO t VALUES (5000, 0)")
            begin_log(sql)
            requests = [
                FindModify(Find(2, [1]), ModifyOp.INCREMENT, [1]),
                *[FIND, Insert(0, [1]), FIND, OPEN, INCREMENT, FIND],
                Insert(1, [5000, 1]),
            ]
            answers: list[object] = []

            def send() -> None:
                with Client(("127.0.0.1", instance.hs_port_wr), timeout=60) as client:
                    client.request(OpenIndex(0, "names", "t", "", ["v"]))
                    client.request(OpenIndex(1, "names", "t", "", ["id", "v"]))
                    client.request(OPEN)
                    with client.pipeline() as pipeline:
                        for request in requests:
                            pipeline.send(request)
                    answers.extend(pipeline.results())

            thread = threading.Thread(target=send, daemon=True)
            thread.start()
            wait_until(
                lambda: sql.status("handlersocket_passes_replayed") == 1, "the pass meets the row"
            )
            blocker.run("ROLLBACK")
            join([thread])
            assert len(answers) == len(requests)
            names = transaction_names(instance, sql)
            assert sum(names.values()) >= 4
            assert max(names.values()) == 1
