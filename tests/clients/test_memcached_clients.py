"""memcached's clients, as published and with their defaults, at the plugin's port for them.

Each does an application's work and prints what each step has answered: all of them the same, and
the same at a real memcached. What they need is installed below var/ once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.peers import running_memcached
from support_memcached import memcached_port, memcached_server
from support_programs import python_program
from test_foreign_clients import run

#: What each step answers.
STEPS: dict[str, Any] = {
    "nothing": None,
    "set": True,
    "get": "Grüße",
    "set an object": True,
    "get an object": {"a": [1, None]},
    "set bytes": True,
    "get bytes": bytes(range(256)).hex(),
    "a large one": 900_000,
    "add": False,
    "replace": "new",
    "get many": True,
    "delete": None,
    "expired": None,
    "many callers": 100,
}
CLIENTS = (
    "pymemcache",
    "python-memcached",
    "pylibmc, text",
    "pylibmc, binary",
    "python-binary-memcached",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with memcached_server(data_root, watch) as instance:
        yield instance


@pytest.fixture(scope="module")
def program() -> list[str]:
    return python_program("memcached_python")


def answers(program: list[str], how: str, port: int) -> dict[str, Any]:
    return dict(json.loads(line) for line in run(*program, how, str(port)).splitlines())


@pytest.mark.timeout(400)
@pytest.mark.parametrize("how", CLIENTS)
def test_an_application(server: ServerInstance, program: list[str], how: str) -> None:
    with Sql(server.socket, "handlersocket") as sql:
        sql.run("DELETE FROM kv")
    assert answers(program, how, memcached_port(server)) == STEPS


def test_memcached_itself_answers_so(program: list[str]) -> None:
    with running_memcached() as port:
        assert answers(program, CLIENTS[0], port) == STEPS
