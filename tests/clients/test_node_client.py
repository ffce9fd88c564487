"""The client for Node.js against real servers, as an application gets it: packed and installed."""

from __future__ import annotations

import json
import os
import pwd
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.certificates import make_certificate
from support.database import Database, Sql
from support.servers import ON_MYSQL, needs_original
from support_node import CLIENT, installed_client, lines, ports, readme_blocks, readme_program

PASSWORD = "s3 cr\tet\\'\"é"
PERSON = (
    "CREATE TABLE person (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,"
    " name VARCHAR(40) CHARACTER SET utf8mb4 NOT NULL, born DATE, seen DATETIME(3),"
    " visits INT NOT NULL DEFAULT 0, balance DECIMAL(22,2) NOT NULL DEFAULT 0, ratio DOUBLE,"
    " photo VARBINARY(20), settings {json}, active BOOL NOT NULL DEFAULT 1, walk TIME(1),"
    " big BIGINT UNSIGNED, KEY by_name (name)) DEFAULT CHARSET=utf8mb4"
)
MANY = (
    "CREATE TABLE many (id INT PRIMARY KEY, text VARCHAR(200))",
    "INSERT INTO many SELECT seq, REPEAT('x', 150) FROM seq_1_to_100000",
)
BOB = {
    "id": "7n",
    "born": None,
    "seen": None,
    "ratio": None,
    "photo": None,
    "settings": None,
    "walk": None,
    "big": None,
}
RESULTS: dict[str, Any] = {
    "insert": "1n",
    "insert positions": "7n",
    "insert again": {
        "error": "reply",
        "code": 1,
        "text": "121",
        "reason": "duplicate",
        "sent": True,
        "maybeExecuted": False,
    },
    "insert too long": {
        "error": "reply",
        "code": 1,
        "text": "1406",
        "reason": "value",
        "sent": True,
        "maybeExecuted": False,
    },
    "find one": {
        "id": "1n",
        "name": "Ann Grün",
        "born": "1990-02-28",
        "seen": "2024-02-29T12:30:00.250Z",
        "visits": 5,
        "balance": "12345678901234567890.12",
        "ratio": 0.1,
        "photo": "0x0001090aff",
        "settings": {"theme": "dark", "tabs": ["a\tb", None]},
        "active": True,
        "walk": -3723500,
        "big": "18446744073709551615n",
    },
    "find by name": {**BOB, "name": "Bob", "visits": 0, "balance": "0.00", "active": True},
    "find nothing": None,
    "find range": [["7", "Bob"], ["8", "Cleo"], ["9", "Dan"], ["10", "Eve\0\t\n"]],
    "find down": [["8", "Cleo"], ["7", "Bob"]],
    "find in": [["9", "Dan"], ["1", "Ann Grün"], ["8", "Cleo"]],
    "find filter": [["1", "Ann Grün"], ["8", "Cleo"], ["10", "Eve\0\t\n"]],
    "find while": [["1", "Ann Grün"]],
    "find by another index": [{"id": 9, "name": "Dan"}, {"id": 10, "name": "Eve\0\t\n"}],
    "update": 1,
    "updated": {**BOB, "name": "Bobby", "visits": 0, "balance": "0.10", "active": False},
    "update in": 2,
    "increment": 1,
    "decrement": 1,
    "decrement across zero": 0,
    "incremented": [7, "18446744073709551614n"],
    "fetch and increment": [["1n", 7]],
    "fetch and update": [["8n", "Cleo"]],
    "fetch and delete": [["9n", "Dan"]],
    "delete": 1,
    "delete nothing": 0,
    "pipeline": [1, 77, "reply kpnum", 1],
    "no table": {
        "error": "reply",
        "code": 1,
        "text": "open_table",
        "reason": "schema",
        "sent": True,
        "maybeExecuted": False,
    },
    "no column": {
        "error": "reply",
        "code": 2,
        "text": "fld",
        "reason": "schema",
        "sent": True,
        "maybeExecuted": False,
    },
    "wrong type": {"error": "decode", "sent": True, "maybeExecuted": False},
    "after the errors": ["1", "Ann Grün"],
    "iterate": [100_000, 100_000, 15_000_000],
    "iterate and leave": 100,
    "many callers": True,
    "counters": [0, True],
}


@pytest.fixture(scope="module")
def node() -> Callable[..., str]:
    return installed_client()


@pytest.mark.timeout(400)
def test_every_request(node: Callable[..., str], sql: Sql, database: Database) -> None:
    sql.run(PERSON.format(json="JSON"), *MANY)
    assert dict(lines(node("requests.mjs", *ports(database)))) == RESULTS
    assert sql.rows("SELECT id, name, visits FROM person ORDER BY id") == [
        (b"1", "Ann Grün".encode(), b"8"),
        (b"7", b"Bobby", b"0"),
    ]


NEW_RESULTS = {
    "insert many": [{"done": "inserted", "id": f"{number}n"} for number in (1, 2, 3)],
    "whole": [1, 2, 3],
    "down": [3, 2],
    "two ends": [2, 3],
    "two ends down": [2, 1],
    "prefix": [1, 2],
    "from null": [3, 1],
    "below": [1],
    "key null": [3],
    "page": [3],
    "iterate": [3, 2, 1],
    "count": 3,
    "count some": 2,
    "count in": 2,
    "exists": [True, False],
    "add": [1, 1, "Ann!", 4, 5],
    "default": [1, 1, "Ann!", 7, 4],
    "subtract": [1, 1, "Ann!", -2, 7],
    "max": [1, 1, "Dr. Ann!", 8, 6],
    "min": [1, 1, None, 3, 6],
    "before": [{"id": 1, "name": None, "visits": 3, "flags": 6}],
    "afterwards": [{"id": 1, "name": "Ann", "visits": 3, "flags": 8}],
    "incremented": [{"id": 1, "name": "Ann", "visits": 5, "flags": 8}],
    "decremented": [{"id": 1, "name": "Ann", "visits": 4, "flags": 8}],
    "duplicate": "duplicate",
    "ignored": [{"done": "ignored", "id": None}],
    "replaced": [{"done": "replaced", "id": "1n"}],
    "upsert": {"done": "updated", "id": "1n"},
    "upserted": [1, "Ann!", 50, 5],
    "unchanged": {"done": "unchanged", "id": "1n"},
    "unmet": {"done": "unmet", "id": "1n"},
    "upserts": [{"done": "updated", "id": "1n"}, {"done": "inserted", "id": "20n"}],
    "pipeline": ["updated", 4, True],
}


@pytest.mark.timeout(400)
def test_requests_that_the_original_does_not_have(
    node: Callable[..., str], sql: Sql, database: Database
) -> None:
    sql.run(
        "CREATE TABLE visitor (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20),"
        " visits INT DEFAULT 7, flags INT NOT NULL DEFAULT 5, KEY by_name (name))"
    )
    assert dict(lines(node("new_requests.mjs", *ports(database)))) == NEW_RESULTS


@pytest.mark.timeout(400)
def test_groups(node: Callable[..., str], sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
        "CREATE TABLE entry (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(20))",
        "INSERT INTO account VALUES (1, 100), (2, 0), (5, 0)",
    )
    assert dict(lines(node("groups.mjs", *ports(database)))) == {
        "transfer": [1, 1],
        "not so much": ["unmet", 1, True, False],
        "no such account": ["unmet", 2, True, False],
        "balances": [70, 30],
        "many transfers": [100],
        "set": [1, {"id": 5, "balance": 1}],
        "set again": ["unmet", 1, True, False],
        "count": {"id": 5, "balance": 101},
        "locks": [[{"id": 5, "balance": 101}], 0, None, "1n", [], 4],
        "duplicate": ["121", 3, False, False],
        "entries": [{"text": "done"}],
    }


@needs_original
@pytest.mark.timeout(400)
def test_with_the_original(node: Callable[..., str], make_original: Any) -> None:
    """As far as it goes. docs/migration.md names where its answers differ."""
    server: ServerInstance = make_original()
    with Sql(server.socket) as sql:
        sql.run(
            "CREATE DATABASE app",
            "USE app",
            "CREATE TABLE employee (id INT PRIMARY KEY, name VARCHAR(20), salary INT)",
            "INSERT INTO employee VALUES (1,'Ann',100),(2,'Bob',200),(3,'Cleo',300),(4,'Dan',400)",
        )
        output = node("original.mjs", server.hs_port, server.hs_port_wr, "app")
        assert lines(output) == [
            {"id": 1, "name": "Ann", "salary": 100},
            None,
            [[2, "Bob"], [3, "Cleo"], [4, "Dan"]],
            [[4, "Dan"], [2, "Bob"]],
            [[3, "Cleo"]],
            1,
            1,
            1,
            1,
            [{"id": 4, "name": "Dan", "salary": 400}],
            "121",
            "open_table",
            [1, 2, 3, 5],
        ]
        # An update by names leaves the other columns as they are. The insert without a name is the
        # original's.
        assert sql.rows("SELECT * FROM employee ORDER BY id") == [
            (b"1", b"Anna", b"100"),
            (b"2", b"Bob", b"250"),
            (b"3", b"Cleo", b"299"),
            (b"5", b"", b"500"),
        ]


@pytest.mark.timeout(400)
def test_the_first_example_of_its_readme(
    node: Callable[..., str], sql: Sql, database: Database, tmp_path: Path
) -> None:
    sql.run(
        "CREATE TABLE user (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), visits INT)"
    )
    example = readme_blocks("js")[0]
    assert len(example.splitlines()) <= 10
    program, said = readme_program(tmp_path, database, example)
    assert node(program).splitlines() == said
    assert sql.rows("SELECT name, visits FROM user") == [(b"Ann", b"2")]


@pytest.mark.timeout(400)
def test_log_ins_tls_and_sockets(
    node: Callable[..., str], make_server: Any, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    for name in ("server", "stranger"):
        make_certificate(tmp_path, name)
    sockets = {"socket": str(tmp_path / "hs"), "socketWr": str(tmp_path / "hs_wr")}
    server: ServerInstance = make_server(
        ssl_cert=str(tmp_path / "server.pem"),
        ssl_key=str(tmp_path / "server-key.pem"),
        handlersocket_anonymous_account="",
        handlersocket_plain_secret="open-sesame",
        handlersocket_plain_secret_wr="open-sesame",
        handlersocket_secret_account="root@localhost",
        handlersocket_socket=sockets["socket"],
        handlersocket_socket_wr=sockets["socketWr"],
    )
    own = pwd.getpwuid(os.getuid()).pw_name
    password = PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
    with Sql(server.socket) as sql:
        if ON_MYSQL:
            peer = "peer"
            sql.run(
                "INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'",
                f"CREATE USER peer@localhost IDENTIFIED WITH auth_socket AS '{own}'",
            )
        else:
            peer = own
            sql.run(f"CREATE OR REPLACE USER {own}@localhost IDENTIFIED VIA unix_socket")
        sql.run(
            "CREATE DATABASE app",
            "USE app",
            "CREATE TABLE app.item (id INT PRIMARY KEY, text VARCHAR(20))",
            "INSERT INTO app.item VALUES (1, 'one')",
            f"CREATE USER ann@localhost IDENTIFIED BY '{password}'",
            "GRANT SELECT ON app.* TO ann@localhost",
            f"GRANT ALL ON *.* TO {peer}@localhost",
        )
    tcp = {"port": server.hs_port, "portWr": server.hs_port_wr}
    ann = {**tcp, "user": "ann", "password": PASSWORD}
    trusted = {"tls": "verify", "tlsCa": str(tmp_path / "server.pem")}
    cases: list[tuple[Any, list[str]]] = [
        (tcp, ["reply unauth", "reply unauth"]),
        ({**tcp, "secret": "open-sesame"}, ["found", "1"]),
        ({**tcp, "secret": "wrong"}, ["log_in unauth", "log_in unauth"]),
        (ann, ["found", "reply 1142"]),
        ({**ann, "password": "wrong"}, ["log_in 1045", "log_in 1045"]),
        ({**ann, **trusted}, ["found", "reply 1142"]),
        ({**ann, **trusted, "host": "localhost"}, ["found", "reply 1142"]),
        ({**ann, "tls": "unverified"}, ["found", "reply 1142"]),
        ({**ann, **trusted, "tlsName": "localhost"}, ["found", "reply 1142"]),
        ({**ann, **trusted, "tlsName": "elsewhere"}, ["altnames", "altnames"]),
        ({**ann, "tls": "verify"}, ["self-signed", "self-signed"]),
        (
            {**ann, "tls": "verify", "tlsCa": str(tmp_path / "stranger.pem")},
            ["self-signed", "self-signed"],
        ),
        ({**sockets, "user": peer}, ["found", "1"]),
        ({**sockets, "secret": "open-sesame"}, ["found", "1"]),
        (
            f"handlersocket://ann:{quoted(PASSWORD)}@localhost:{tcp['port']},{tcp['portWr']}/app"
            f"?tls=verify&tls_ca={quoted(trusted['tlsCa'])}",
            ["found", "reply 1142"],
        ),
    ]
    answers = lines(node("log_in.mjs", json.dumps([options for options, _ in cases]), "app"))
    for (options, expected), given in zip(cases, answers, strict=True):
        for one, words in zip(given, expected, strict=True):
            found = "found" if isinstance(one, dict) else str(one)
            assert words in found, (options, expected, given)
            assert PASSWORD not in found


@pytest.mark.timeout(400)
def test_many_callers_large_rows_and_a_slow_reader(
    node: Callable[..., str], make_server: Any, tmp_path: Path
) -> None:
    """Over plain TCP, TLS and a Unix socket."""
    tmp_path.chmod(0o755)
    make_certificate(tmp_path, "server")
    sockets = {"socket": str(tmp_path / "hs"), "socketWr": str(tmp_path / "hs_wr")}
    server: ServerInstance = make_server(
        ssl_cert=str(tmp_path / "server.pem"),
        ssl_key=str(tmp_path / "server-key.pem"),
        handlersocket_socket=sockets["socket"],
        handlersocket_socket_wr=sockets["socketWr"],
    )
    with Sql(server.socket) as sql:
        sql.run(
            "CREATE DATABASE app",
            "USE app",
            *MANY,
            "CREATE TABLE large (id INT PRIMARY KEY, text LONGTEXT) DEFAULT CHARSET=utf8mb4",
        )
    tcp = {"port": server.hs_port, "portWr": server.hs_port_wr}
    ways = [tcp, {**tcp, "tls": "verify", "tlsCa": str(tmp_path / "server.pem")}, sockets]
    expected = [True, 100_000, [None, None, None], True]
    assert lines(node("load.mjs", json.dumps(ways), "app")) == [expected] * 3


def quoted(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def wait_for_more(server: ServerInstance, before: int) -> int:
    """Waits until more increments than `before` were done; at most a minute."""
    deadline = time.monotonic() + 60
    with Sql(server.socket) as sql:
        while (done := int(sql.rows("SELECT SUM(n) FROM app.counter")[0][0])) <= before:
            assert time.monotonic() < deadline, "the program does nothing"
            time.sleep(0.1)
    return done


@pytest.mark.timeout(400)
def test_nothing_is_lost_or_done_twice_when_the_server_dies(
    node: Callable[..., str], make_server: Any, tmp_path: Path
) -> None:
    server: ServerInstance = make_server(innodb_flush_log_at_trx_commit=1, sync_binlog=1)
    with Sql(server.socket) as sql:
        sql.run(
            "CREATE DATABASE app",
            "USE app",
            "CREATE TABLE app.counter (id INT PRIMARY KEY, n INT NOT NULL)",
            "INSERT INTO app.counter SELECT seq, 0 FROM seq_0_to_15",
        )
    result: list[Any] = []
    arguments = ("faults.mjs", server.hs_port, server.hs_port_wr, "app", tmp_path / "stop")
    thread = threading.Thread(target=lambda: result.append(json.loads(node(*arguments))))
    thread.start()
    done = 0
    for fault in (server.kill, server.stop):
        # The program works before each fault, however long it took to start or to come back.
        done = wait_for_more(server, done)
        time.sleep(2)
        fault()
        time.sleep(0.5)
        server.start()
    time.sleep(2)
    (tmp_path / "stop").touch()
    thread.join(timeout=100)
    assert result, "the program failed"
    with Sql(server.socket) as sql:
        actual = {int(i): int(n) for i, n in sql.rows("SELECT id, n FROM app.counter")}
    for row in result[0]["rows"]:
        assert row["acknowledged"] <= actual[row["id"]] <= row["acknowledged"] + row["maybe"], row
        assert row["acknowledged"] > 0 and row["finds"] > 0
    assert result[0]["counters"]["connectionsLost"] >= 2


def test_its_version_is_that_of_the_project() -> None:
    (version, state) = re.findall(
        r"^## (\d+\.\d+\.\d+)(.*)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE
    )[0]
    expected = version + ("-dev.0" if state == " (not released yet)" else "")
    assert json.loads((CLIENT / "package.json").read_text())["version"] == expected
