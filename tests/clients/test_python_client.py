"""The Python client as a user installs it: built and installed with pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time as clock
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
from handlersocket2 import Client, ProtocolError, Value
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
#: Makes the archive of a package's sources, as tools that build packages have it made.
ARCHIVES = """
import os
import sys
from flit_core import buildapi
os.chdir(sys.argv[1])
print(buildapi.build_sdist(sys.argv[2]))
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
    before = sorted(source.rglob("*"))
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, source)
    # README's `pip install ./clients/python` builds in the repository: it must leave nothing there.
    assert sorted(source.rglob("*")) == before
    (wheel,) = wheels.iterdir()
    # Without an index, pip cannot install a dependency.
    run(*pip, "install", "-q", "--no-index", "--target", installed, wheel)
    server = database.server
    ports = (server.hs_port, server.hs_port_wr)
    output = run(sys.executable, "-c", PROGRAM, *ports, database.name, path=installed)
    row = "Row(id=b'1', name=b'Ann', visits=b'42')"
    assert output.splitlines() == ["1 2", "1", f"[{row}] [{row}]"]
    assert (installed / "handlersocket2" / "py.typed").exists()


def test_the_archive_of_sources(tmp_path: Path) -> None:
    """It has what a packager needs, and no tests, which need the repository."""
    made = run(sys.executable, "-c", ARCHIVES, copy_of_client(tmp_path), tmp_path)
    with tarfile.open(tmp_path / made.strip()) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO"} <= names
    assert "src/handlersocket2/py.typed" in names
    assert not any(name.startswith("tests") for name in names)


VALUES = (
    ("INT", True, b"1"),
    ("DOUBLE", 0.1, b"0.1"),
    ("DOUBLE", -1e300, b"-1e300"),
    ("INT", 42.0, b"42"),
    ("DECIMAL(10,3)", Decimal("-12.340"), b"-12.340"),
    ("BIGINT UNSIGNED", 2**64 - 1, b"18446744073709551615"),
    ("DATE", date(2024, 2, 29), b"2024-02-29"),
    ("DATETIME(6)", datetime(2024, 2, 29, 1, 2, 3, 40), b"2024-02-29 01:02:03.000040"),
    ("TIME", time(1, 2, 3), b"01:02:03"),
    ("TIME(1)", -timedelta(hours=26, milliseconds=500), b"-26:00:00.5"),
    ("CHAR(36)", UUID(int=1), b"00000000-0000-0000-0000-000000000001"),
    ("VARBINARY(9)", bytearray(b"\0\t\xff"), b"\0\t\xff"),
    ("VARBINARY(9)", memoryview(b"ab"), b"ab"),
)


@pytest.mark.parametrize(("column", "value", "shown"), VALUES)
def test_a_value_is_what_sql_takes_it_for(
    column: str, value: Value, shown: bytes, writer: Client, sql: Sql, database: Database
) -> None:
    sql.run(f"CREATE TABLE v (k {column} PRIMARY KEY, v {column})")
    table = writer.index(database.name, "v", ["k", "v"])
    table.insert([value, None])
    assert writer.index(database.name, "v", ["v"]).update(value, [value]) == 1
    assert sql.rows("SELECT k, v FROM v") == table.find(value) == [(shown, shown)]
    assert table.find_in([value]) == [(shown, shown)]


def test_a_call_after_the_servers_idle_time_out(make_server) -> None:
    server = make_server(
        handlersocket_timeout=1,
        handlersocket_plain_secret="r",
        handlersocket_plain_secret_wr="w",
    )
    with (
        Sql(server.socket, "test") as sql,
        Client(("127.0.0.1", server.hs_port), secret="r") as reader,
        Client(("127.0.0.1", server.hs_port_wr), secret="w") as writer,
    ):
        sql.run("CREATE TABLE t (id INT PRIMARY KEY)")
        read, write = (client.index("test", "t", ["id"]) for client in (reader, writer))
        for number in range(2):
            deadline = clock.monotonic() + 30
            while sql.status("handlersocket_connections"):
                assert clock.monotonic() < deadline
                clock.sleep(0.05)
            write.insert([number])
            with reader.pipeline() as pipeline:
                pipeline.on(read).find(number)
            assert pipeline.results() == [[(b"%d" % number,)]]


@pytest.mark.timeout(120)
def test_the_first_examples_of_its_page(database: Database) -> None:
    """As they stand there, but for the ports and the database."""
    page = (REPOSITORY / "clients" / "python" / "README.md").read_text()
    threads, tasks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]
    database.sql.run(
        "CREATE TABLE user (user_id INT PRIMARY KEY, user_name VARCHAR(20))",
        "INSERT INTO user VALUES (42, 'user_0000042')",
    )
    server = database.server
    url = f"handlersocket://127.0.0.1:{server.hs_port},{server.hs_port_wr}/{database.name}"
    programs = [
        text.replace("handlersocket://127.0.0.1:9998,9999/test", url) for text in (threads, tasks)
    ]
    source = REPOSITORY / "clients" / "python" / "src"
    output = run(sys.executable, "-c", programs[0], path=source)
    assert output == "User(user_id=42, user_name='user_0000042')\n"
    user = threads[threads.index("@dataclass") : threads.index("with Client")]
    program = f"from dataclasses import dataclass\n{user}\n{programs[1]}"
    (found,) = eval(f"[{run(sys.executable, '-c', program, path=source)}]", {"User": dict})
    assert [row for row in found if row] == [{"user_id": 42, "user_name": "user_0000042"}]
    assert len(found) == 256


def test_a_port_of_sql_is_named(database: Database) -> None:
    with (
        Client(database.server.socket, timeout=20) as client,
        pytest.raises(ProtocolError, match=r"a port of SQL \(\d+\.\d+\.\d+"),
    ):
        client.index(database.name, "t", ["id"])


def copy_of_client(folder: Path) -> Path:
    """If building left files behind, they would not be in the repository."""
    source, copy = REPOSITORY / "clients" / "python", folder / "client"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return copy
