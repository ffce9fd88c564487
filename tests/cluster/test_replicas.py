"""Finds on replicas, semi-synchronous writes, a failover that loses no acknowledged write."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, Insert, ModifyOp, OpenIndex, ReplyError
from support.database import Sql
from support.servers import ON_MYSQL
from support_ledger import TABLES, Writer, await_writes, check, errors_of, writing
from support_replicas import REPLICA, SOURCE, follow, running, wait_applied
from support_servers import wait_until

pytestmark = pytest.mark.timeout(600)

READ_ONLY = 1290


def answers_within(client: Client, request: Any, seconds: float) -> bool:
    began = time.monotonic()
    client.request(request)
    return time.monotonic() - began < seconds


def test_a_failover_loses_no_acknowledged_write(data_root: Path, watch: Any) -> None:
    with running(data_root, watch, replicas=2) as group:
        old = group.primary
        with Sql(old.socket) as sql:
            sql.run(*TABLES)
        where: list[int | None] = [old.hs_port_wr]
        writers = [Writer(number, lambda: where[0]) for number in range(6)]
        with writing(writers), Client(("127.0.0.1", group.replicas[0].hs_port)) as reader:
            await_writes(writers, 10)
            with Sql(old.socket) as sql:
                assert sql.status(f"Rpl_semi_sync_{SOURCE}_yes_tx") > 10
                assert sql.status(f"Rpl_semi_sync_{SOURCE}_no_tx") == 0
            # A replica serves finds, in the primary's order, and refuses writes.
            wait_applied(old, group.replicas[0])
            reader.request(OpenIndex(1, "ledger", "shared", "", ["n"]))
            last = 0
            for _ in range(200):
                ((n,),) = reader.request(Find(1, [0]))
                assert int(n or 0) >= last, "the replica went back"
                last = int(n or 0)
            with Client(("127.0.0.1", group.replicas[0].hs_port_wr)) as wrong:
                wrong.request(OpenIndex(1, "ledger", "entries", "", ["writer", "number"]))
                with pytest.raises(ReplyError) as refused:
                    wrong.request(Insert(1, [99, 1]))
                assert refused.value.number == READ_ONLY
            await_writes(writers, 20)
            before = errors_of(writers)
            died = time.monotonic()
            old.kill()
            where[0] = None
            group.promote()
            promoted = time.monotonic() - died
            where[0] = group.primary.hs_port_wr
            await_writes(writers, 10)
            first = min(min(t for t in w.acknowledged_at if t > died + 0.001) for w in writers)
            print(f"promoted after {promoted:.2f} s, first write after {first - died:.2f} s")
        assert before == errors_of(writers) == {}, "a failover is no error to a client"
        print(sum(len(w.acknowledged) for w in writers), sum(len(w.unknown) for w in writers))
        for server in group.servers:
            wait_applied(group.primary, server) if server is not group.primary else None
            with Sql(server.socket) as sql:
                check(sql, writers)
        old.start()  # the watch expects it, and it recovers


@pytest.mark.parametrize("wait_point", ["AFTER_SYNC", "AFTER_COMMIT"])
def test_only_writers_wait_for_an_absent_replica(
    data_root: Path, watch: Any, wait_point: str
) -> None:
    with running(data_root, watch, replicas=1, wait_point=wait_point) as group:
        (replica,) = group.replicas
        with Sql(group.primary.socket) as sql:
            sql.run(*TABLES)
        wait_applied(group.primary, replica)
        with (
            Client(("127.0.0.1", group.primary.hs_port)) as reader,
            Client(("127.0.0.1", group.primary.hs_port_wr)) as writer,
        ):
            reader.request(OpenIndex(1, "ledger", "shared", "", ["n"]))
            writer.request(OpenIndex(1, "ledger", "shared", "", ["n"]))
            add = FindModify(Find(1, [0]), ModifyOp.INCREMENT, [1])
            assert writer.request(add) == 1
            replica.kill()
            answers: list[Any] = []
            thread = threading.Thread(target=lambda: answers.append(writer.request(add)))
            thread.start()
            time.sleep(0.5)
            for _ in range(500):
                assert answers_within(reader, Find(1, [0]), 2)
            time.sleep(1)
            assert answers == [], "a write was acknowledged that no replica has"
            # What another client sees meanwhile is what the wait point says.
            ((n,),) = reader.request(Find(1, [0]))
            assert n == (b"1" if wait_point == "AFTER_SYNC" else b"2")
            replica.start()
            with Sql(replica.socket) as sql:
                sql.run(f"START {REPLICA.upper()}")
            thread.join(60)
            assert answers == [1]
            wait_applied(group.primary, replica)
            with Sql(replica.socket) as sql:
                assert sql.number("SELECT n FROM ledger.shared WHERE id = 0") == 2


def test_a_server_that_waits_for_its_replica_can_be_shut_down(data_root: Path, watch: Any) -> None:
    with running(data_root, watch, replicas=1) as group:
        (replica,) = group.replicas
        with Sql(group.primary.socket) as sql:
            sql.run(*TABLES)
        wait_applied(group.primary, replica)
        # On MariaDB the shutdown ends the wait. Nobody is told that the replica has the write.
        unsure = () if ON_MYSQL else ("1317",)
        writers = [
            Writer(number, lambda: group.primary.hs_port_wr, unsure=unsure) for number in range(2)
        ]
        with writing(writers):
            await_writes(writers, 5)
            replica.kill()
            known = [len(writer.acknowledged) for writer in writers]
            wait_until(lambda: time.sleep(0.5) is None, "", 5)
            group.primary.stop(60)
        assert [len(writer.acknowledged) for writer in writers] >= known
        replica.start()
        group.primary.start()
        follow_again(group)
        with Sql(replica.socket) as sql:
            check(sql, writers)


def follow_again(group: Any) -> None:
    with Sql(group.replicas[0].socket) as sql:
        sql.run(f"STOP {REPLICA.upper()}")
    follow(group.replicas[0], group.primary)
    wait_applied(group.primary, group.replicas[0])
