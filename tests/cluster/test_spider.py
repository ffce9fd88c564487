"""A Spider table is refused at once: each request to it would wait for other machines."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, Insert, OpenIndex, ReplyError
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.servers import ON_MYSQL
from support_galera import MORE
from support_servers import running_server

LIBRARY = MORE / "root/usr/lib/mysql/plugin/ha_spider.so"
pytestmark = [
    pytest.mark.skipif(ON_MYSQL, reason="Spider is MariaDB's"),
    pytest.mark.skipif(
        not ON_MYSQL and not LIBRARY.exists(), reason="setup/more.sh has not got Spider"
    ),
    pytest.mark.timeout(600),
]
COLUMNS = "(id INT PRIMARY KEY, v INT NOT NULL)"


@pytest.fixture(scope="module")
def servers(data_root: Path, watch: Any) -> Iterator[list[ServerInstance]]:
    """The one with the Spider table, and two back ends. Rows with odd ids are on the second one."""
    with ExitStack() as stack:
        ends = [
            stack.enter_context(running_server(data_root, watch, port=free_port()))
            for _ in range(2)
        ]
        for end in ends:
            with Sql(end.socket) as sql:
                sql.run(
                    "CREATE USER spider IDENTIFIED BY 'secret'",
                    "GRANT ALL ON *.* TO spider",
                    "CREATE DATABASE shop",
                    f"CREATE TABLE shop.t {COLUMNS}",
                )
        front = stack.enter_context(running_server(data_root, watch))
        link = front.base_dir / "plugins" / LIBRARY.name
        link.symlink_to(LIBRARY)
        with Sql(front.socket) as sql:
            sql.run("INSTALL SONAME 'ha_spider'", "CREATE DATABASE shop")
            for number, end in enumerate(ends):
                sql.run(
                    f"CREATE SERVER end{number} FOREIGN DATA WRAPPER mysql"
                    " OPTIONS (HOST '127.0.0.1',"
                    f" DATABASE 'shop', USER 'spider', PASSWORD 'secret',"
                    f" PORT {end.settings['port']})"
                )
            partitions = ", ".join(
                f'PARTITION p{number} COMMENT = \'srv "end{number}", table "t"\''
                for number in range(2)
            )
            sql.run(
                f"CREATE TABLE shop.t {COLUMNS} ENGINE=SPIDER COMMENT='wrapper \"mysql\"'"
                f" PARTITION BY HASH (id) ({partitions})",
                f"CREATE TABLE shop.here {COLUMNS}",
                "INSERT INTO shop.t VALUES (1, 10), (2, 20), (3, 30)",
                "INSERT INTO shop.here VALUES (1, 1)",
            )
        yield [front, *ends]


def refused(port: int) -> str | None:
    with Client(("127.0.0.1", port), timeout=20) as client:
        try:
            client.request(OpenIndex(1, "shop", "t", "", ["id", "v"]))
        except ReplyError as error:
            return error.text
    return None


def test_a_spider_table_is_refused(servers: list[ServerInstance]) -> None:
    front, *ends = servers
    with Sql(front.socket) as sql:
        assert sql.number("SELECT SUM(v) FROM shop.t") == 60
    assert refused(front.hs_port) == refused(front.hs_port_wr) == "open_table"
    # The back ends serve their shares of the rows.
    for end, ids in zip(ends, ([2], [1, 3]), strict=True):
        with Client(("127.0.0.1", end.hs_port_wr)) as client:
            client.request(OpenIndex(1, "shop", "t", "", ["id", "v"]))
            assert [len(client.request(Find(1, [row]))) for row in ids] == [1] * len(ids)
            client.request(Insert(1, [ids[0] + 4, 40]))
    with Sql(front.socket) as sql:
        assert sql.number("SELECT SUM(v) FROM shop.t") == 140


def test_nobody_waits_for_a_back_end(servers: list[ServerInstance]) -> None:
    """A back end stands still. A client asks for the Spider table, and nobody notices."""
    front, *ends = servers
    with Sql(front.socket) as sql:
        sql.run("FLUSH TABLES")
    os.kill(ends[1].pid, signal.SIGSTOP)
    try:
        with Client(("127.0.0.1", front.hs_port), timeout=20) as client:
            client.request(OpenIndex(1, "shop", "here", "", ["id", "v"]))
            began = time.monotonic()
            assert refused(front.hs_port) == refused(front.hs_port_wr) == "open_table"
            assert len(client.request(Find(1, [1]))) == 1
            assert time.monotonic() - began < 5
    finally:
        os.kill(ends[1].pid, signal.SIGCONT)
