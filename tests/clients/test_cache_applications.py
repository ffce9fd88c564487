"""Applications with caches and sessions, as their users write them, at the ports for Redis's and
memcached's clients: Django's cache, Rails' cache, sessions of PHP, and a rate limiter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, free_port
from support.database import Sql
from support_memcached import memcached_port, memcached_server
from support_programs import php_program, python_program, ruby_program
from support_redis import redis_port
from test_foreign_clients import run

PAGES = 4


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_redis_port": free_port()}
    with memcached_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "handlersocket") as session:
        session.run("DELETE FROM kv")
        yield session


def port_of(server: ServerInstance, which: str) -> str:
    return str(memcached_port(server) if "memcached" in which else redis_port(server))


def steps(program: list[str], server: ServerInstance, which: str) -> dict[str, Any]:
    lines = run(*program, which, port_of(server, which)).splitlines()
    return dict(json.loads(line) for line in lines)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("which", ["Django, Redis", "Django, memcached"])
def test_djangos_cache(server: ServerInstance, sql: Sql, which: str) -> None:
    assert steps(python_program("applications_python"), server, which) == {
        "get": True,
        "get nothing": "nothing",
        "add": [False, True],
        "get or set": [7, 7],
        "count": [15, 12, 12],
        "incr nothing": True,
        "get many": True,
        "delete many": ["many0"],
        "delete": [True, False],
        "versions": [None, 1],
        "touch": True,
        "session": {"id": 42},
        "session that has ended": {},
        "expired": [None, 1, True],
        "forever": 1,
        "clear": False,
    }
    assert sql.row("SELECT expires FROM kv WHERE k = ':1:forever'") in [(None,), (b"0.000",)]


@pytest.mark.timeout(400)
def test_a_rate_limiter(server: ServerInstance, sql: Sql) -> None:
    told = steps(python_program("applications_python"), server, "rate limiter")
    assert told == {"calls": 80, "passed": 30, "counted": 80, "expires": True}


@pytest.mark.parametrize("which", ["Rails, Redis", "Rails, memcached"])
def test_rails_cache(server: ServerInstance, sql: Sql, which: str) -> None:
    told = steps(ruby_program("applications_ruby"), server, which)
    assert told.pop("delete matched", {}) == {}
    assert told == {
        "write": True,
        "get": True,
        "get nothing": None,
        "fetch": [7, 7],
        "unless exist": [False, 7],
        "exist": [True, False],
        "count": [15, 12, 12],
        "get many": True,
        "fetch many": {"many1": [1], "other": "otherother"},
        "delete": [True, False],
        "expired": None,
    }
    assert sql.number("SELECT COUNT(*) FROM kv WHERE k = 'app:views/users/42'") == 1


@pytest.mark.parametrize("handler", ["redis", "memcached"])
def test_sessions_of_php(server: ServerInstance, sql: Sql, handler: str) -> None:
    def page(what: str) -> Any:
        words = [handler, port_of(server, handler), "session42", what]
        return json.loads(run(*php_program("applications_php"), *words))

    assert page("begin") is True
    user = {"id": 42, "name": "Grüße"}
    assert page("read") == {"user": user, "count": 0}
    assert sql.number("SELECT COUNT(*) FROM kv WHERE k LIKE '%session42'") == 1
    if handler == "memcached":
        # It locks a session, so nothing gets lost although all count at the same time.
        with ThreadPoolExecutor(PAGES) as pool:
            seen = sum(pool.map(page, ["count"] * PAGES), [])
        assert sorted(seen) == list(range(1, 10 * PAGES + 1))
    else:
        assert page("count") == list(range(1, 11))
    assert page("read")["user"] == user
    assert page("end") is True
    assert page("read") == []
