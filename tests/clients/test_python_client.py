"""The Python client as a user installs it: built and installed with pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from server_instance import REPOSITORY
from support.database import Database, Sql

PROGRAM = """
import sys
import handlersocket2
from handlersocket2 import Client, Filter
assert "/installed/" in handlersocket2.__file__, handlersocket2.__file__
port, port_wr, database = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with Client(("127.0.0.1", port_wr)) as client:
    user = client.index(database, "user", ["name", "visits"])
    print(user.insert(["Ann", 1]), user.insert(["Bob", None]))
    print(client.index(database, "user", ["visits"]).increment(1, [41]))
with Client(("127.0.0.1", port)) as client:
    user = client.index(database, "user", ["id", "name", "visits"], filter_columns=["visits"])
    with client.pipeline() as pipeline:
        pipeline.on(user).find(1)
        pipeline.on(user).find_in([2, 1], filters=[Filter(">", 0, 5)])
    print(*pipeline.results())
"""


def run(*command: object, path: Path | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **({"PYTHONPATH": str(path)} if path else {})},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.timeout(300)
def test_installed_with_pip(tmp_path: Path, sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE user (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), visits INT)")
    pip = (sys.executable, "-m", "pip")
    wheels, installed = tmp_path / "wheels", tmp_path / "installed"
    source = copy_of_client(tmp_path)
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, source)
    (wheel,) = wheels.iterdir()
    # Without an index a dependency could not be had.
    run(*pip, "install", "-q", "--no-index", "--target", installed, wheel)
    server = database.server
    ports = (server.hs_port, server.hs_port_wr)
    output = run(sys.executable, "-c", PROGRAM, *ports, database.name, path=installed)
    row = "(b'1', b'Ann', b'42')"
    assert output.splitlines() == ["1 2", "1", f"[{row}] [{row}]"]
    assert (installed / "handlersocket2" / "py.typed").exists()


def copy_of_client(folder: Path) -> Path:
    """Building leaves files behind, which are not to lie in the repository."""
    source, copy = REPOSITORY / "clients" / "python", folder / "client"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return copy
