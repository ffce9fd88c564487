"""Spider tables with what else a server may have: accounts, TLS, a cluster, a backup there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, Insert, ModifyOp, OpenIndex
from server_instance import ServerInstance
from support.certificates import context_for, make_certificates
from support.database import Sql
from support_galera import PROVIDER, Cluster
from support_spider import (
    LIBRARY,
    MARKS,
    OPEN,
    OPEN_HERE,
    THREADS,
    ask_again,
    connect,
    error_of,
    fill,
    make_tables,
    spider_servers,
    standing_still,
    wait_until,
)

pytestmark = MARKS


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server")


@pytest.fixture(scope="module")
def servers(data_root: Path, watch: Any, certificates: Path) -> Iterator[list[ServerInstance]]:
    settings = {
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
    }
    with spider_servers(data_root, watch, **settings) as servers:
        yield servers


@pytest.fixture
def rows(servers: list[ServerInstance]) -> list[tuple[bytes, ...]]:
    """What the Spider table holds at the beginning of each test."""
    return fill(servers[0])


def test_an_account_over_tls(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]], certificates: Path
) -> None:
    """It reads and changes the columns that it may, and no others, here and on remote threads."""
    front, *ends = servers
    address = ("127.0.0.1", front.hs_port_wr)
    with Sql(front.socket) as sql:
        sql.run(
            "CREATE USER app@'%' IDENTIFIED BY 'secret' REQUIRE SSL",
            "GRANT SELECT (id, v), UPDATE (v) ON shop.t TO app@'%'",
        )
        try:
            with Client(
                address,
                user="app",
                password="secret",
                tls=context_for(certificates),
                timeout=30,
            ) as client:
                client.request(OPEN)
                client.request(OpenIndex(2, "shop", "t", "", ["id", "s"]))
                client.request(OpenIndex(3, "shop", "t", "", ["v"]))
                everything = Find(1, [1], op=">=", limit=1000)
                with client.pipeline() as pipeline:
                    for _ in range(20):
                        pipeline.send(everything)
                assert pipeline.results() == 20 * [rows]
                assert error_of(client, Find(2, [1])) == "1143"
                assert client.request(FindModify(Find(3, [1]), ModifyOp.UPDATE, [5])) == 1
                assert error_of(client, FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 6])) == "1143"
                assert error_of(client, FindModify(Find(3, [1]), ModifyOp.DELETE)) == "1142"
                assert error_of(client, Insert(3, [7])) == "1142"
                assert client.request(Find(1, [1])) == [(b"1", b"5")]
                # A right that is taken counts from then on, also while a back end stands still.
                with standing_still(ends[1]):
                    sql.run("REVOKE SELECT (v) ON shop.t FROM app@'%'")
                    assert error_of(client, Find(1, [2])) == "1143"
        finally:
            sql.run("DROP USER app@'%'")


def test_a_back_end_dies_during_the_commit(data_root: Path, watch: Any) -> None:
    """Its client gets an error, nobody else waits, and the row is as one of both says. The servers
    are its own, because Spider keeps the connections that the killed one had."""
    answers: list[str | None] = []
    with ExitStack() as stack:
        front, *ends = stack.enter_context(spider_servers(data_root, watch))
        rows = fill(front)
        client = stack.enter_context(connect(front.hs_port_wr))
        client.request(OPEN)
        with Sql(ends[1].socket) as end:
            end.run("BACKUP STAGE START", "BACKUP STAGE BLOCK_COMMIT")
            change = FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 77])
            asking = threading.Thread(target=lambda: answers.append(error_of(client, change)))
            asking.start()
            commits = (
                "SELECT COUNT(*) FROM information_schema.processlist"
                " WHERE user = 'spider' AND state LIKE '%backup lock%'"
            )
            wait_until(lambda: end.number(commits) == 1)
            ends[1].kill()
        asking.join(60)
        assert not asking.is_alive()
        ends[1].start()
        assert answers[0] is not None
        with connect(front.hs_port_wr) as other:
            other.request(OPEN)
            wait_until(lambda: error_of(other, Find(1, [1])) is None)
            assert ask_again(other, Find(1, [1])) == [rows[0]]
            assert ask_again(other, FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 78])) == 1
        assert ask_again(client, Find(1, [1])) == [(b"1", b"78")]


@pytest.mark.skipif(not PROVIDER.exists(), reason=f"{PROVIDER.name} is missing")
def test_beside_a_cluster(servers: list[ServerInstance], data_root: Path, watch: Any) -> None:
    """A Galera node that has a Spider table: it is read. A write is refused like one to any table
    that the cluster does not replicate."""
    ends = servers[1:]
    cluster = Cluster(data_root / "spider-node", 1, handlersocket_threads_remote=THREADS)
    (node,) = cluster.nodes
    try:
        cluster.start()
        watch.servers.append(node)
        (node.base_dir / "plugins" / LIBRARY.name).symlink_to(LIBRARY)
        with Sql(node.socket) as sql:
            make_tables(sql, ends)
        rows = fill(node)
        with connect(node.hs_port_wr) as client:
            client.request(OPEN)
            client.request(OPEN_HERE)
            for row in (1, 2):
                assert error_of(client, FindModify(Find(1, [row]), ModifyOp.DELETE)) == "4165"
                assert error_of(client, Insert(1, [1000 + row, 1])) == "4165"
                assert client.request(Insert(2, [1000 + row, 1])) is None
                assert client.request(Find(1, [row])) == [rows[row - 1]]
            assert client.request(Find(1, [0], op=">", limit=1000)) == rows
    finally:
        watch.servers[:] = [server for server in watch.servers if server is not node]
        cluster.kill()
