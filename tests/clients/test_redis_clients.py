"""Redis's clients, as published and with their defaults, at the plugin's port for them.

Each program in redis_*/ does an application's work and prints what each step has answered: all of
them the same. What they need is installed below var/ once. On a machine without one of the
languages its tests fail.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.certificates import make_certificates
from support.database import Sql
from support.peers import peer_program
from support.scripts import DEFAULT_SIGNALS
from support_programs import (
    go_program,
    java_program,
    node_program,
    php_program,
    python_program,
    ruby_program,
    rust_program,
)
from support_redis import redis_port, redis_server
from support_servers import fresh_session
from test_foreign_clients import run
from test_log_in import DEFAULT_WAY, identified

USER, PASSWORD = "ann", "s3 cret'\u00e9"
TABLES = (
    "CREATE TABLE employee (id INT PRIMARY KEY, name VARCHAR(20), salary BIGINT,"
    " photo VARBINARY(300)) CHARSET utf8mb4",
    "INSERT INTO employee VALUES (1,'Ann',100,NULL),(2,'Bob',200,NULL),(3,'Cleo',300,NULL)",
    "CREATE TABLE secret (id INT PRIMARY KEY, v INT)",
    "INSERT INTO secret VALUES (1, 1)",
    "CREATE TABLE locked (id INT PRIMARY KEY, v INT)",
    "INSERT INTO locked VALUES (1, 1)",
)
#: What each step answers; of an error, words that it has.
STEPS: dict[str, Any] = {
    "ping": True,
    "read all": {"id": "1", "name": "Ann", "salary": "100"},
    "read one": "Ann",
    "read NULL": None,
    "read some": ["Ann", None, "100"],
    "read nothing": {},
    "insert": 2,
    "update": 0,
    "set bytes": 1,
    "read bytes": bytes(range(256)).hex(),
    "add": 150,
    "delete a field": 1,
    "exists": 1,
    "delete": 1,
    "wrong type": ("hash value is not an integer",),
    "pipeline": [answer for salary in range(201, 221) for answer in ("Bob", salary)],
    "unit": ["Bob", 221],
    "unit that fails": True,
    "after it": "Ann",
    "scan": [f"app.employee:{number}" for number in (1, 2, 3)],
    "many callers": "1300",
    "log in": "Bob",
    "log in, what is not allowed": ("NOPERM", "NoPerm"),
    "log in by TLS": "Bob",
    "log in by TLS, what is not allowed": ("NOPERM", "NoPerm"),
    "wrong password": True,
}
#: What a client with little patience meets while SQL holds a row.
TIME_OUT: dict[str, Any] = {"time-out": True, "after a time-out": "Ann"}


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
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "app", *TABLES) as session:
        password = identified(DEFAULT_WAY, PASSWORD)
        session.run(
            f"DROP USER IF EXISTS {USER}@localhost",
            f"CREATE USER {USER}@localhost IDENTIFIED {password}",
            f"GRANT SELECT, UPDATE ON app.employee TO {USER}@localhost",
        )
        yield session


def python_client() -> list[str]:
    return python_program("redis_python")


def node_client() -> list[str]:
    return node_program("redis_node")


def go_client() -> list[str]:
    return go_program("redis_go")


def java_client() -> list[str]:
    return java_program("redis_java")


def php_client() -> list[str]:
    return php_program("redis_php")


def ruby_client() -> list[str]:
    return ruby_program("redis_ruby")


def rust_client() -> list[str]:
    return rust_program("redis_rust")


CLIENTS: list[tuple[Callable[[], list[str]], str]] = [
    (python_client, "sync, resp2, python"),
    (python_client, "sync, resp3, python"),
    (python_client, "sync, resp3, hiredis"),
    (python_client, "asyncio, resp3, python"),
    (python_client, "asyncio, resp2, hiredis"),
    (go_client, "go-redis"),
    (go_client, "go-redis, autopipeline"),
    (go_client, "rueidis"),
    (node_client, "node-redis, resp2"),
    (node_client, "node-redis, resp3"),
    (node_client, "ioredis"),
    (node_client, "ioredis, autopipeline"),
    (java_client, "jedis"),
    (java_client, "jedis, resp3"),
    (java_client, "lettuce"),
    (php_client, "phpredis"),
    (ruby_client, "redis-rb"),
    (rust_client, "redis-rs"),
    (rust_client, "redis-rs, resp3"),
]


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("client", "how"), CLIENTS, ids=[f"{c.__name__}-{h}" for c, h in CLIENTS])
def test_an_application(
    server: ServerInstance, sql: Sql, certificates: Path, client: Callable[[], list[str]], how: str
) -> None:
    authority = str(certificates / "server.pem")
    words = [*client(), how, str(redis_port(server)), USER, PASSWORD, authority]
    with Sql(server.socket, "app") as holder:
        holder.run("BEGIN", "UPDATE locked SET v = 2")
        told = dict(json.loads(line) for line in run(*words).splitlines())
        holder.run("ROLLBACK")
    steps = {**STEPS, **TIME_OUT} if "time-out" in told else STEPS
    wrong = {
        step: told.get(step, "nothing")
        for step, answer in steps.items()
        if not _is(told.get(step, "nothing"), answer)
    }
    assert wrong == {}
    assert sql.rows("SELECT id, name, salary, photo FROM employee ORDER BY id") == [
        (b"1", b"Ann", b"150", None),
        (b"2", b"Bob", b"221", None),
        (b"3", b"Cleo", b"1300", None),
    ]


def _is(told: Any, answer: Any) -> bool:
    if isinstance(answer, tuple):
        return str(told).startswith("error: ") and any(word in str(told) for word in answer)
    return type(told) is type(answer) and told == answer


def test_what_redis_py_makes_of_info(server: ServerInstance, sql: Sql) -> None:
    python, client = python_program("redis_python")
    told = json.loads(
        run(python, client.replace("client.py", "counters.py"), str(redis_port(server)))
    )
    hget, errors = told["hget"], told["errors"]
    assert hget["calls"] >= 1 and hget["rejected_calls"] >= 1
    assert hget["usec"] == 0 and hget["usec_per_call"] == 0
    assert errors["errorstat_ERR"]["count"] >= 1
    assert "connected_clients" in told["several"] and "redis_version" not in told["several"]
    assert told["databases"] == []


class TestRedisCli:
    """As a person uses it."""

    def cli(self, server: ServerInstance, *words: str, given: str | None = None) -> str:
        command = [str(peer_program("redis-cli")), "-p", str(redis_port(server)), *words]
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def test_words(self, server: ServerInstance, sql: Sql) -> None:
        assert self.cli(server, "HGETALL", "app.employee:1") == "id\n1\nname\nAnn\nsalary\n100\n"
        sql.run("UPDATE employee SET salary = 7 WHERE id = 1")
        assert self.cli(server, "HGET", "app.employee:1", "salary") == "7\n"
        assert "unknown command" in self.cli(server, "nosuch")
        assert "salary" in self.cli(server, "-3", "HGETALL", "app.employee:1")

    def test_a_session(self, server: ServerInstance, sql: Sql) -> None:
        given = 'MULTI\nHSET app.employee:1 name "A B"\nHINCRBY app.employee:1 salary 1\nEXEC\n'
        assert self.cli(server, given=given) == "OK\nQUEUED\nQUEUED\n0\n101\n"
        assert sql.row("SELECT name FROM employee WHERE id = 1") == (b"A B",)

    def test_log_ins(self, server: ServerInstance, sql: Sql, certificates: Path) -> None:
        log_in = ["--user", USER, "--pass", PASSWORD, "--no-auth-warning"]
        assert self.cli(server, *log_in, "HGET", "app.employee:2", "name") == "Bob\n"
        assert "NOPERM" in self.cli(server, *log_in, "HGET", "app.secret:1", "v")
        tls = ["--tls", "--cacert", str(certificates / "server.pem")]
        assert self.cli(server, *tls, *log_in, "HGET", "app.employee:2", "name") == "Bob\n"

    def test_what_it_shows_of_the_server(self, server: ServerInstance, sql: Sql) -> None:
        assert "redis_version:" in self.cli(server, "INFO")
        assert "cmdstat_info:calls=" in self.cli(server, "INFO", "commandstats")
        assert "hget" in self.cli(server, "COMMAND", "DOCS", "hget")

    def test_its_line_a_second(self, server: ServerInstance, sql: Sql) -> None:
        """On a terminal: into a pipe it would keep its lines back."""
        ours, its = pty.openpty()
        program_of = [*DEFAULT_SIGNALS, str(peer_program("redis-cli"))]
        command = [*program_of, "-p", str(redis_port(server)), "--stat"]
        shown = ""
        with subprocess.Popen([*command, "-i", "0.1"], stdin=its, stdout=its) as program:
            while shown.count("\n") < 4:
                shown += os.read(ours, 1000).decode()
            program.terminate()
        for end in (ours, its):
            os.close(end)
        assert re.search(r"^0 +[\d.]+[BKM] +\d+ +0 +\d+ \(\+\d+\) +\d+", shown, re.MULTILINE), shown

    def test_many_commands_from_a_file(self, server: ServerInstance, sql: Sql) -> None:
        lines = "".join(f"HSET app.employee:{number} salary 1\r\n" for number in range(100, 1100))
        assert "errors: 0, replies: 1000" in self.cli(server, "--pipe", given=lines)
        assert sql.number("SELECT COUNT(*) FROM employee") == 1003
