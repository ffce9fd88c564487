"""What the exporter for Redis that Prometheus's users have reads from the plugin's port."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.monitors import get, redis_exporter_of
from support.resp import OK
from support_redis import connect, redis_port, redis_server
from support_servers import fresh_session


@pytest.fixture
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch) as instance:
        yield instance


def metrics(port: int) -> dict[str, float]:
    lines = (line for line in get(port, "/metrics").splitlines() if line.startswith("redis_"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_it_is_read(server: ServerInstance) -> None:
    row = "INSERT INTO t VALUES (1, 1)"
    with (
        fresh_session(server, "shop", "CREATE TABLE t (id INT PRIMARY KEY, v INT)", row),
        connect(server) as wire,
        redis_exporter_of(redis_port(server)) as exporter,
    ):
        before = metrics(exporter)
        assert before["redis_up"] == 1
        assert before['redis_exporter_last_scrape_error{err=""}'] == 0
        assert before["redis_connected_clients"] >= 1
        assert before["redis_uptime_in_seconds"] >= 0
        assert wire.pipeline([("HGET", "shop.t:1", "v")] * 100) == [b"1"] * 100
        assert wire.ask("CLIENT", "SETNAME", "someone") == OK
        assert wire.ask("HGET", "shop.t:1") != b"1", "a word is missing"
        name = "redis_commands_processed_total"
        after = metrics(exporter)
        assert after[name] >= before[name] + 100
        assert after['redis_commands_total{cmd="hget"}'] == 100
        assert after['redis_commands_rejected_calls_total{cmd="hget"}'] == 1
        assert after['redis_errors_total{err="ERR"}'] >= 1
        assert after["redis_net_input_bytes_total"] > before["redis_net_input_bytes_total"] > 0
