"""A real Prometheus and its real exporters, which setup/monitors.sh gets."""

from __future__ import annotations

import os
import signal
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from server_instance import REPOSITORY, ServerInstance, free_port
from support_servers import listens, wait_until

from support.scripts import DEFAULT_SIGNALS

MONITORS = REPOSITORY / "var/monitors/bin"


@contextmanager
def running(port: int, *command: object, **environment: str) -> Iterator[None]:
    """A program that listens on a port of this machine during the block."""
    process = subprocess.Popen(
        [*DEFAULT_SIGNALS, *(str(word) for word in command)],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: listens(port) or process.poll() is not None, f"{command[0]} listens")
        assert process.poll() is None, f"{command[0]} has ended with {process.returncode}"
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def get(port: int, path: str, **query: str) -> str:
    words = urllib.parse.urlencode(query)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}{path}?{words}", timeout=20) as answer:
        text: str = answer.read().decode()
        return text


@contextmanager
def exporter_of(server: ServerInstance) -> Iterator[int]:
    """The port of a mysqld_exporter that reads this server."""
    assert MONITORS.exists(), "setup/monitors.sh gets what this test needs"
    port = free_port()
    with running(
        port,
        MONITORS / "prometheus-mysqld-exporter",
        f"--web.listen-address=127.0.0.1:{port}",
        DATA_SOURCE_NAME=f"root@unix({server.socket})/",
    ):
        yield port


@contextmanager
def redis_exporter_of(port: int) -> Iterator[int]:
    """The port of a redis_exporter that reads what listens for Redis's clients on another port."""
    program = MONITORS / "prometheus-redis-exporter"
    assert program.exists(), "setup/monitors.sh gets what this test needs"
    own = free_port()
    address = f"--redis.addr=redis://127.0.0.1:{port}"
    with running(own, program, address, f"--web.listen-address=127.0.0.1:{own}"):
        yield own


@contextmanager
def prometheus_of(exporters: Mapping[str, int], folder: Path, interval: str) -> Iterator[int]:
    """The port of a Prometheus that asks these exporters, each under its name, at this interval."""
    settings = folder / "prometheus.yml"
    settings.write_text(
        f"scrape_configs:\n- job_name: mysql\n  scrape_interval: {interval}\n"
        f"  scrape_timeout: {interval}\n  static_configs:\n"
        + "".join(
            f"  - targets: ['127.0.0.1:{port}']\n    labels: {{instance: '{name}'}}\n"
            for name, port in exporters.items()
        )
    )
    port = free_port()
    with running(
        port,
        MONITORS / "prometheus",
        f"--config.file={settings}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ):
        yield port
