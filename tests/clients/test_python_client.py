"""The Python client as a user installs it: with pip, into an environment of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from server_instance import REPOSITORY
from support.database import Database, Sql

PROGRAM = """
import sys
import handlersocket2
from handlersocket2 import Client, Filter
assert "site-packages" in handlersocket2.__file__, handlersocket2.__file__
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


def run(*command: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.timeout(300)
def test_installed_with_pip(tmp_path: Path, sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE user (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), visits INT)")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    wheels = tmp_path / "wheels"
    build = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels)
    run(*build, copy_of_client(tmp_path))
    (wheel,) = wheels.iterdir()
    run(python, "-m", "pip", "install", "-q", "--no-index", wheel)
    installed = run(python, "-m", "pip", "list", "--format=freeze").split()
    assert {line.partition("==")[0] for line in installed} <= {
        "pip",
        "setuptools",
        "handlersocket2",
    }
    server = database.server
    output = run(python, "-c", PROGRAM, server.hs_port, server.hs_port_wr, database.name)
    row = "(b'1', b'Ann', b'42')"
    assert output.splitlines() == ["1 2", "1", f"[{row}] [{row}]"]
    marker = list((tmp_path / "venv").rglob("handlersocket2/py.typed"))
    assert len(marker) == 1


def copy_of_client(folder: Path) -> Path:
    """Building leaves files behind, which are not to lie in the repository."""
    source, copy = REPOSITORY / "clients" / "python", folder / "client"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return copy
