"""A real Redis, Valkey and memcached, which setup/peers.sh gets: what their clients are used to."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server_instance import REPOSITORY, free_port
from support_servers import listens, wait_until

from support.scripts import DEFAULT_SIGNALS

PEERS = REPOSITORY / "var/peers/bin"
#: As the plugin has them: one database, and nothing kept on the disk.
SETTINGS = ("--databases", "1", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1")


def peer_program(name: str) -> Path:
    assert (PEERS / name).exists(), "setup/peers.sh gets what this test needs"
    return PEERS / name


@contextmanager
def running_memcached(*settings: str) -> Iterator[int]:
    """The port of a memcached of its own, which ends with the block."""
    port = free_port()
    chosen = ("-l", "127.0.0.1", "-U", "0", "-u", "root", "-p", str(port))
    with _running("memcached", port, *chosen, *settings):
        yield port


@contextmanager
def running_peer(name: str, *settings: str) -> Iterator[int]:
    """The port of a `redis-server` or `valkey-server` of its own, which ends with the block."""
    port = free_port()
    with _running(name, port, "--port", str(port), *SETTINGS, *settings):
        yield port


@contextmanager
def _running(name: str, port: int, *arguments: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="hs-peer-") as folder:
        process = subprocess.Popen(
            [*DEFAULT_SIGNALS, peer_program(name), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: listens(port) or process.poll() is not None, f"{name} listens")
            assert process.poll() is None, f"{name} has ended with {process.returncode}"
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
