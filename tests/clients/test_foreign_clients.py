"""Clients that others wrote for the original, as published: node-handlersocket and hs4j.

Each program in node/ and java/ does an application's work and prints the results. What they need is
installed below var/ once. On a machine without node or Maven these tests fail.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from server_instance import REPOSITORY
from support.built_once import build_once
from support.database import Database, Sql

HERE = Path(__file__).parent
INSTALLED = REPOSITORY / "var" / "clients"
TABLE = (
    "CREATE TABLE employee (id INT PRIMARY KEY, name VARCHAR(20), salary INT, KEY by_name (name))",
    "INSERT INTO employee VALUES (1,'Ann',100),(2,'Bob',200),(3,'Cleo',300),(4,'Dan',400)",
)
ROWS_AFTER_NODE = [
    (b"1", b"Ann", b"112"),
    (b"2", b"Bobby", b"250"),
    (b"3", b"Chloe", b"1"),
    (b"4", b"Dan", b"401"),
    (b"12", b"Eve", None),
]


def run(*command: str, cwd: Path | None = None, **environment: str) -> str:
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(autouse=True)
def employees(sql: Sql) -> None:
    sql.run(*TABLE)


def arguments(database: Database) -> tuple[str, str, str]:
    return str(database.server.hs_port), str(database.server.hs_port_wr), database.name


def install_node_client() -> Path:
    """A copy of node/ with its node_modules. It is made again when the lock file changes."""
    folder = INSTALLED / "node"
    packages = HERE / "node" / "package.json"
    lock = HERE / "node" / "package-lock.json"

    def install() -> None:
        for file in (packages, lock):
            shutil.copy(file, folder)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)

    build_once(folder, [lock], install)
    return folder


@pytest.mark.timeout(300)
def test_node_handlersocket(sql: Sql, database: Database) -> None:
    modules = install_node_client() / "node_modules"
    program = str(HERE / "node" / "client.js")
    output = run("node", program, *arguments(database), NODE_PATH=str(modules))
    steps = dict(json.loads(line) for line in output.splitlines())
    assert steps == {
        "insert": None,
        "insert null": None,
        "insert duplicate": {"error": "1 121"},
        "find": [["10", "Jürgen\t\n\0", "5000"]],
        "find null": [["11", None, None]],
        "find nothing": [],
        "find range": [["2", "Bob", "200"], ["3", "Cleo", "300"], ["4", "Dan", "400"]],
        "find in": [["3", "Cleo", "300"], ["1", "Ann", "100"]],
        "find filter": [["4", "Dan", "400"], ["10", "Jürgen\t\n\0", "5000"]],
        "find while": [["1", "Ann", "100"], ["2", "Bob", "200"]],
        "find by name": [["2"]],
        "update": 1,
        "increment": 1,
        "decrement": 1,
        "increment and get": [["111"]],
        "update and get": [["3", "Cleo", "200"]],
        "delete": 1,
        "delete and get": [["10", "Jürgen\t\n\0", "5000"]],
        "insert too many": None,
        "update too many": 1,
        "find from the beginning": [["1", "Ann", "112"], ["2", "Bobby", "250"]],
        "read only": {"error": "2 readonly"},
    }
    assert sql.rows("SELECT * FROM employee ORDER BY id") == ROWS_AFTER_NODE


def install_java_client() -> Path:
    """The classes and libraries of java/. They are built again when a source changes."""
    folder = INSTALLED / "java"
    sources = [HERE / "java" / "pom.xml", *sorted((HERE / "java" / "src").rglob("*.java"))]

    def install() -> None:
        run("mvn", "-q", "-B", f"-DbuildDirectory={folder}", "process-classes", cwd=HERE / "java")

    build_once(folder, sources, install)
    return folder


@pytest.mark.timeout(300)
def test_hs4j(sql: Sql, database: Database) -> None:
    """hs4j has no increments."""
    folder = install_java_client()
    path = f"{folder / 'classes'}{os.pathsep}{folder / 'lib' / '*'}"
    output = run("java", "-cp", path, "Client", *arguments(database))
    steps = {}
    for line in output.splitlines():
        step, *values = line.split("\t")
        steps[step] = [None if value == "-" else base64.b64decode(value) for value in values]
    bob, cleo, dan = ([b"2", b"Bob", b"200"], [b"3", b"Cleo", b"300"], [b"4", b"Dan", b"400"])
    assert steps == {
        "insert": [b"true"],
        "insert by statement": [b"true"],
        "find": [b"10", "Jürgen\t\n".encode(), b"5000"],
        "find nothing": [],
        "find range": [*bob, *cleo, *dan],
        "find down": [*bob, b"1", b"Ann", b"100"],
        "find by name": [b"2"],
        "update": [b"1"],
        "update range": [b"1"],
        "delete": [b"1"],
        "insert too many": [b"true"],
        "update too many": [b"1"],
        "find from the beginning": [b"1", b"Ann", b"100", b"2", b"Bobby", b"250"],
        "delete nothing": [b"0"],
    }
    assert sql.rows("SELECT * FROM employee ORDER BY id") == [
        (b"1", b"Ann", b"100"),
        (b"2", b"Bobby", b"250"),
        (b"3", b"Cleo", b"300"),
        (b"4", b"Daniel", b"400"),
        (b"11", b"later", b"8"),
        (b"12", b"Eve", None),
    ]
