"""memcached's clients, as published and with their defaults, at the plugin's port for them.

Each does an application's work and prints what each step has answered: all of them the same, and
the same at a real memcached. What they need is installed below var/ once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.certificates import make_certificates
from support.database import Sql
from support.peers import running_memcached
from support_memcached import memcached_port, memcached_server
from support_programs import (
    go_program,
    java_program,
    node_program,
    php_program,
    python_program,
    ruby_program,
)
from test_foreign_clients import run
from test_log_in import DEFAULT_WAY, identified

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
PYTHON_CLIENTS = (
    "pymemcache",
    "python-memcached",
    "pylibmc, text",
    "pylibmc, binary",
    "python-binary-memcached",
)
#: What each step of the programs in other languages answers.
OTHER_STEPS: dict[str, Any] = {
    "nothing": True,
    "set": True,
    "get": "Grüße",
    "an object": True,
    "bytes": True,
    "a large one": 900_000,
    "add": [False, True],
    "replace": [True, False],
    "append and prepend": "abc",
    "cas": [True, False, "won"],
    "count": [7, 0],
    "get many": True,
    "delete": [True, False],
    "touch": True,
    "expired": [True, "x"],
    "many callers": 100,
}
#: What only the plugin is asked, since a memcached has no accounts and lets nobody wait.
NOT_ALLOWED = "log in, what is not allowed"
LOG_IN = {"log in": "x", NOT_ALLOWED: "refused", "wrong password": True}
TLS = {"TLS": "x"}
TIME_OUT = {"time-out": True, "after a time-out": "x"}


@dataclass(frozen=True)
class Other:
    """A client in another language: its program, what it is asked, and what it does not have."""

    program: Callable[[], list[str]]
    asked: dict[str, Any]
    lacks: frozenset[str] = frozenset()

    def steps(self, asked: dict[str, Any]) -> dict[str, Any]:
        steps = {**OTHER_STEPS, **asked}
        return {step: answer for step, answer in steps.items() if step not in self.lacks}


def _php() -> list[str]:
    return php_program("memcached_php")


def _ruby() -> list[str]:
    return ruby_program("memcached_ruby")


def _go() -> list[str]:
    return go_program("memcached_go")


def _node() -> list[str]:
    return node_program("memcached_node")


def _java() -> list[str]:
    return java_program("memcached_java")


OTHERS: dict[str, Other] = {
    "php-memcached, text": Other(_php, TIME_OUT),
    "php-memcached, binary": Other(_php, {**LOG_IN, **TIME_OUT}),
    "dalli, binary": Other(_ruby, {**LOG_IN, **TLS, **TIME_OUT}),
    "dalli, meta": Other(_ruby, {**TLS, **TIME_OUT}),
    "gomemcache": Other(_go, {**TLS, **TIME_OUT}),
    "memjs": Other(_node, {**LOG_IN, **TIME_OUT}, frozenset({"an object", "cas"})),
    # It never tells its caller that its patience has ended.
    "memcached": Other(_node, {}),
    "spymemcached, text": Other(_java, TIME_OUT),
    "spymemcached, binary": Other(_java, {**LOG_IN, **TIME_OUT}),
    "xmemcached, text": Other(_java, TIME_OUT),
    # It goes on after a wrong password, as whoever the server lets it be.
    "xmemcached, binary": Other(_java, {**LOG_IN, **TIME_OUT}, frozenset({"wrong password"})),
}
USER, PASSWORD = "ann", "s3 cret'\u00e9"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server")


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any, certificates: Path) -> Iterator[ServerInstance]:
    settings = {
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
        # Many programs give a wrong password, from one address.
        "handlersocket_max_wrong_log_ins": 1000,
    }
    with memcached_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            password = identified(DEFAULT_WAY, PASSWORD)
            sql.run(
                f"CREATE USER {USER}@localhost IDENTIFIED {password}",
                f"GRANT SELECT ON handlersocket.kv TO {USER}@localhost",
            )
        yield instance


@pytest.fixture(scope="module")
def program() -> list[str]:
    return python_program("memcached_python")


def answers(program: list[str], how: str, port: int, *words: str) -> dict[str, Any]:
    return dict(json.loads(line) for line in run(*program, how, str(port), *words).splitlines())


@pytest.mark.timeout(400)
@pytest.mark.parametrize("how", PYTHON_CLIENTS)
def test_an_application(server: ServerInstance, program: list[str], how: str) -> None:
    with Sql(server.socket, "handlersocket") as sql:
        sql.run("DELETE FROM kv")
    assert answers(program, how, memcached_port(server)) == STEPS


@pytest.mark.timeout(400)
@pytest.mark.parametrize("how", OTHERS)
def test_an_application_in_another_language(
    server: ServerInstance, certificates: Path, how: str
) -> None:
    client = OTHERS[how]
    program = client.program()
    words = [USER, PASSWORD, str(certificates / "server.pem")]
    with Sql(server.socket, "handlersocket") as sql:
        sql.run("DELETE FROM kv", "INSERT INTO kv (k, v) VALUES ('locked', '1')")
        sql.run("BEGIN", "UPDATE kv SET v = '2' WHERE k = 'locked'")
        told = answers(program, how, memcached_port(server), *words)
        sql.run("ROLLBACK")
        assert sql.row("SELECT v FROM kv WHERE k = 'counter'") == (b"100",)
    # Each client has its own words for it.
    if str(told.get(NOT_ALLOWED)).startswith(("False", "error: ")):
        told[NOT_ALLOWED] = "refused"
    assert told == client.steps(client.asked)


@pytest.mark.parametrize("how", ["php-memcached, text", "gomemcache", "xmemcached, binary"])
def test_memcached_itself_answers_a_program_so(how: str) -> None:
    with running_memcached() as port:
        assert answers(OTHERS[how].program(), how, port) == OTHERS[how].steps({})


def test_memcached_itself_answers_so(program: list[str]) -> None:
    with running_memcached() as port:
        assert answers(program, PYTHON_CLIENTS[0], port) == STEPS
