"""The plugin with one more port, that of the line protocol of src/passes/test_line_protocol.h."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
from pathlib import Path

from server_instance import default_plugin_dir
from support.servers import SERVER_TREE


def build_plugin() -> Path:
    """Builds it in the same build as the plugin itself. Returns the directory in which it is.

    Test files run beside each other, and one build cannot be done twice at the same time.
    """
    own = default_plugin_dir(SERVER_TREE)
    build = own.parents[1]
    command = ["cmake", "--build", str(build), "--target", "second_protocol_plugin"]
    with (build / "second_protocol.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert built.returncode == 0, built.stdout + built.stderr
    return own / "second_protocol"


def say(port: int, requests: str) -> str:
    """Sends the requests at once, and returns all replies."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(requests.encode())
        connection.shutdown(socket.SHUT_WR)
        pieces = iter(lambda: connection.recv(65536), b"")
        return b"".join(pieces).decode()
