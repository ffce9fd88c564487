"""The Java client against a server, by programs that are in java_client.

Its own tests, which need no server, are run by setup/test_client_java.sh. On a machine without
Maven these tests fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.built_once import build_once
from support.certificates import make_certificate
from support.database import Database, Sql
from support.servers import ON_MYSQL, needs_original

CLIENT = REPOSITORY / "clients" / "java"
PROGRAM = sorted((Path(__file__).parent / "java_client").glob("*.java"))
BUILT = REPOSITORY / "var" / "clients" / "java_client"
ROWS = 200_000
EMPLOYEES = (
    "CREATE TABLE employee (id INT PRIMARY KEY, name VARCHAR(20), salary INT, KEY by_name (name))",
    "INSERT INTO employee VALUES (1,'Ann',100),(2,'Bob',200),(3,'Cleo',300),(4,'Dan',400)",
)
NUMBERS = (
    "CREATE TABLE numbers (id INT PRIMARY KEY, v VARCHAR(40))",
    f"INSERT INTO numbers SELECT seq, CONCAT('value of ', seq) FROM seq_1_to_{ROWS}",
)
UUID = "CHAR(36)" if ON_MYSQL else "UUID"
EVERYTHING = (
    "CREATE TABLE everything (id INT PRIMARY KEY, u64 BIGINT UNSIGNED, i64 BIGINT,"
    " dec_ DECIMAL(30,10), dbl DOUBLE, txt VARCHAR(50) CHARACTER SET utf8mb4, bin VARBINARY(50),"
    " day DATE, moment DATETIME(6), span TIME(6), year YEAR, size ENUM('small','large'),"
    f" flag BIT(1), uuid {UUID}, KEY by_moment (moment))".replace("dec_", "`dec`"),
    "CREATE TABLE counted (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10))",
)

Steps = dict[str, str]


def command(*words: str) -> None:
    assert shutil.which(words[0]), f"{words[0]} is not installed"
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"


def class_path() -> str:
    """The client's classes and the program's. They are built again when a source changes."""
    sources = [*PROGRAM, CLIENT / "pom.xml", *sorted((CLIENT / "src" / "main").rglob("*.*"))]
    classes = [str(BUILT / "maven" / "classes"), str(BUILT / "program")]

    def build() -> None:
        maven = f"-DbuildDirectory={BUILT / 'maven'}"
        command("mvn", "-q", "-B", "-f", str(CLIENT), maven, "compile")
        command("javac", "-nowarn", "-cp", classes[0], "-d", classes[1], *map(str, PROGRAM))

    build_once(BUILT, sources, build)
    return os.pathsep.join(classes)


def start(*arguments: str, piped: bool = False) -> subprocess.Popen[str]:
    """The program, which reads what is written to it if it is `piped`."""
    words = ("java", "-Dfile.encoding=UTF-8", "-cp", class_path(), "Application", *arguments)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HANDLERSOCKET_")}
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE if piped else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def run(*arguments: str, seconds: float = 120) -> list[tuple[str, str]]:
    program = start(*arguments)
    try:
        output, errors = program.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        program.kill()
        raise
    assert program.returncode == 0, f"{output[-2000:]}\n{errors}"
    lines = (line.split("\t", 1) for line in output.splitlines() if "\t" in line)
    return [(name, result) for name, result in lines]


def url(server: ServerInstance, database: str, user: str = "", options: str = "") -> str:
    ports = f"{server.hs_port},{server.hs_port_wr}"
    return f"handlersocket://{user}127.0.0.1:{ports}/{database}{options}"


def test_its_version_is_that_of_the_project() -> None:
    """Until it is released, the client has a version below it."""
    (version, state) = re.findall(
        r"^## (\d+\.\d+\.\d+)(.*)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE
    )[0]
    released = state != " (not released yet)"
    pom = (CLIENT / "pom.xml").read_text()
    assert f"<version>{version}{'' if released else '-SNAPSHOT'}</version>" in pom
    assert f"## {version}{state}" in (CLIENT / "CHANGELOG.md").read_text()


@pytest.mark.timeout(300)
def test_types(sql: Sql, database: Database) -> None:
    sql.run(*EVERYTHING)
    steps = dict(run("types", url(database.server, database.name)))
    assert steps == {
        "types": "18446744073709551615 -9223372036854775808 -1234567890123456789.0123456789 0.1"
        " 2024-02-29 2024-02-29T23:59:59.123456 PT-26H-30M-0.5S 2155 large true"
        " 123e4567-e89b-12d3-a456-426655440000",
        "null": "true",
        "ids": "OptionalLong[1] OptionalLong[-2]",
        "unsigned id": "18446744073709551614",
    }
    text = "jürgen 😀\t\n\0\x01".encode()
    columns = "u64, i64, `dec`, txt, bin, span, flag, uuid"
    assert sql.row(f"SELECT {columns} FROM everything WHERE id = 1") == (
        b"18446744073709551615",
        b"-9223372036854775808",
        b"-1234567890123456789.0123456789",
        text,
        b"\0\1\t\n\r\xff",
        b"-26:30:00.500000",
        b"\1",
        b"123e4567-e89b-12d3-a456-426655440000",
    )


WORK = {
    "find": "Optional[Employee[id=1, name=Ann, salary=100]]",
    "nothing": "Optional.empty",
    "range": "[Employee[id=2, name=Bob, salary=200], Employee[id=3, name=Cleo, salary=300],"
    " Employee[id=4, name=Dan, salary=400]]",
    "down": "[Employee[id=2, name=Bob, salary=200], Employee[id=1, name=Ann, salary=100]]",
    "offset": "[Employee[id=2, name=Bob, salary=200], Employee[id=3, name=Cleo, salary=300]]",
    "in": "[Employee[id=3, name=Cleo, salary=300], Employee[id=1, name=Ann, salary=100]]",
    "filter": "[Employee[id=3, name=Cleo, salary=300]]",
    "while": "[Employee[id=1, name=Ann, salary=100], Employee[id=2, name=Bob, salary=200]]",
    "by name": "[Employee[id=2, name=Bob, salary=200]]",
    "insert": "OptionalLong.empty",
    "insert null": "OptionalLong.empty",
    "duplicate": "DUPLICATE 121 true",
    "update": "1",
    "update in front": "1",
    "increment": "1",
    "decrement": "1",
    "fetch and increment": "[Employee[id=4, name=Dan, salary=400]]",
    "fetch and update": "[Employee[id=1, name=Ann, salary=112],"
    " Employee[id=2, name=Bobby, salary=150]]",
    "update both": "2",
    "delete": "1",
    "fetch and delete": "5000",
    "pipeline": "OptionalLong.empty Optional[Employee[id=12, name=Eve, salary=null]] true",
    "missing": "SCHEMA open_table",
}
ROWS_AFTER_WORK = [
    (b"1", b"Ann", b"112"),
    (b"2", b"Bobby", b"150"),
    (b"3", b"Chloe", b"1"),
    (b"4", b"Dan", b"401"),
    (b"12", b"Eve", None),
]


@pytest.mark.timeout(300)
def test_work(sql: Sql, database: Database) -> None:
    sql.run(*EMPLOYEES)
    assert dict(run("work", url(database.server, database.name))) == WORK
    assert sql.rows("SELECT * FROM employee ORDER BY id") == ROWS_AFTER_WORK


def visitor(name: str, visits: int, flags: int) -> str:
    return f"Visitor[id=1, name={name}, visits={visits}, flags={flags}]"


def outcome(done: str, number: int | None) -> str:
    shown = "OptionalLong.empty" if number is None else f"OptionalLong[{number}]"
    return f"Outcome[done={done}, id={shown}]"


NEW_REQUESTS = {
    "insert many": f"[{', '.join(outcome('INSERTED', number) for number in (1, 2, 3))}]",
    "whole": "[1, 2, 3]",
    "down": "[3, 2, 1]",
    "two ends": "[2, 3]",
    "two ends down": "[2, 1]",
    "prefix": "[1, 2]",
    "from null": "[3, 1]",
    "below": "[1]",
    "key null": "[3]",
    "page": "[3]",
    "iterate": "[3, 2, 1]",
    "count": "3 2",
    "count some": "2",
    "count in": "2",
    "exists": "true false",
    "changed [visits, name]": f"1 {visitor('Ann!', 4, 5)}",
    "changed [visits, flags, seen]": f"1 {visitor('Ann!', 7, 4)}",
    "changed [visits, flags]": f"1 {visitor('Ann!', -3, 6)}",
    "changed [visits, name, seen]": f"1 {visitor('Dr. Ann!', 8, 6)}",
    "min": f"1 {visitor('null', 3, 6)}",
    "before": f"[{visitor('null', 3, 6)}]",
    "afterwards": f"[{visitor('Ann', 3, 8)}]",
    "updated": f"[{visitor('Ann', 3, 2)}]",
    "incremented": f"[{visitor('Ann', 5, 2)}]",
    "decremented": f"[{visitor('Ann', 4, 2)}]",
    "duplicate": "DUPLICATE false",
    "ignored": f"[{outcome('IGNORED', None)}]",
    "replaced": f"[{outcome('REPLACED', 1)}]",
    "upsert": f"{outcome('UPDATED', 1)} {visitor('Ann!', 50, 5)}",
    "unchanged": outcome("UNCHANGED", 1),
    "unmet": outcome("UNMET", 1),
    "upserts": f"[{outcome('UPDATED', 1)}, {outcome('INSERTED', 20)}]",
    "pipeline": f"{outcome('UPDATED', 20)} 4 true",
}


@pytest.mark.timeout(300)
def test_requests_that_the_original_does_not_have(sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE visitor (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20),"
        " visits INT DEFAULT 7, flags INT NOT NULL DEFAULT 5, seen DATETIME, KEY by_name (name))"
    )
    assert dict(run("new", url(database.server, database.name))) == NEW_REQUESTS


@pytest.mark.timeout(300)
def test_groups(sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
        "CREATE TABLE entry (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(20))",
        "INSERT INTO account VALUES (1, 100), (2, 0), (5, 0)",
    )
    assert dict(run("groups", url(database.server, database.name))) == {
        "transfer": "done",
        "not so much": "unmet unmet 1 true",
        "no such account": "unmet unmet 2 true",
        "balances": "[70, 30]",
        "many transfers": "[100]",
        "set": "done",
        "set again": "unmet unmet 1 true",
        "counted": "101",
        "locks": "done [Account[id=5, balance=101]] 0 OptionalLong[1] [] 4",
        "duplicate": "121 3 true undone 3",
        "entries": "1",
        "mistakes": "3 done",
    }


@needs_original
@pytest.mark.timeout(300)
def test_work_with_the_original(make_original: Callable[[], ServerInstance]) -> None:
    """It answers an insert with a number although no column counts, see docs/migration.md."""
    server = make_original()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE work", "USE work", *EMPLOYEES)
        steps = dict(run("work", url(server, "work"), "original"))
        differ = {name for name, result in steps.items() if result != WORK[name]}
        assert WORK.keys() - steps.keys() == {"fetch and update", "fetch and increment"}
        assert differ <= {"insert", "insert null", "pipeline"}
        assert sql.rows("SELECT * FROM employee ORDER BY id") == ROWS_AFTER_WORK


@pytest.mark.timeout(300)
def test_many_callers_and_large_results(sql: Sql, database: Database) -> None:
    sql.run(*NUMBERS)
    address = url(database.server, database.name)
    assert run("load", address, str(ROWS)) == [("load", f"{64 * 300 * 11} 1 0")]
    assert dict(run("stream", address, str(ROWS))) == {
        "stream": str(ROWS),
        "some": "[1, 2, 3]",
        "long find": str(ROWS),
    }


@pytest.mark.timeout(300)
def test_a_server_that_dies(make_server: Callable[..., ServerInstance]) -> None:
    """No acknowledged write is lost or done twice; none that is called safe to retry was done."""
    server = make_server()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE faults")
        sql.run("CREATE TABLE faults.ledger (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))")
    program = start("faults", url(server, "faults"), "8")
    lines: list[str] = []
    assert program.stdout is not None
    reader = threading.Thread(target=lambda: lines.extend(program.stdout or []))
    reader.start()
    try:
        deadline = time.monotonic() + 60
        while not lines and time.monotonic() < deadline:
            time.sleep(0.05)
        for kill in (True, False):
            time.sleep(1.5)
            if kill:
                server.kill()
                time.sleep(1)  # for requests that nobody takes
                server.start()
            else:
                server.restart()
        assert program.wait(60) == 0, program.stderr and program.stderr.read()
    finally:
        program.kill()
        reader.join()
    fates: dict[str, set[str]] = {"done": set(), "unsure": set(), "not done": set()}
    for line in lines[1:]:
        fate, value = line.rstrip("\n").split("\t")
        fates[fate].add(value)
    with Sql(server.socket, "faults") as sql:
        written = Counter(row[0].decode() for row in sql.rows("SELECT v FROM ledger") if row[0])
    assert {value: count for value, count in written.items() if count > 1} == {}
    assert fates["done"] - written.keys() == set()
    assert fates["not done"] & written.keys() == set()
    assert written.keys() <= fates["done"] | fates["unsure"]
    assert len(fates["done"]) > 100 and fates["unsure"] and fates["not done"]


PASSWORD = "s3 cr/et@:%é"


@pytest.mark.timeout(300)
def test_log_in_tls_and_unix_sockets(
    make_server: Callable[..., ServerInstance], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("java")
    folder.chmod(0o755)
    for name in ("server", "client", "stranger"):
        make_certificate(folder, name)
    # The server's own folder is the one into which it may write.
    server = make_server(
        handlersocket_anonymous_account="",
        handlersocket_plain_secret="read secret",
        handlersocket_plain_secret_wr="write secret",
        ssl_cert=str(folder / "server.pem"),
        ssl_key=str(folder / "server-key.pem"),
        ssl_ca=str(folder / "client.pem"),
    )
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE one", "USE one", *EMPLOYEES)
        sql.run(f"CREATE USER ann@'%' IDENTIFIED BY '{PASSWORD}'")
        sql.run(f"CREATE USER cert@'%' IDENTIFIED BY '{PASSWORD}' REQUIRE X509")
        sql.run("GRANT ALL ON one.* TO ann@'%'", "GRANT ALL ON one.* TO cert@'%'")
    password = quote(PASSWORD, safe="")
    trusted = f"?tls=verify&tls_ca={folder / 'server.pem'}"
    certificate = f"&tls_cert={folder / 'client.pem'}&tls_key={folder / 'client-key.pem'}"
    good = [("found", "Optional[Ann]"), ("updated", "1")]
    unauth = [("failed", "REPLY unauth")]
    read_secret = "?secret=read%20secret"
    for user, options, result in (
        ("", "", unauth),
        (f"ann:{password}@", "", good),
        (f"ann:{password}@", trusted, good),
        (f"ann:{password}@", "?tls=unverified", good),
        (f"cert:{password}@", trusted + certificate, good),
        (f"cert:{password}@", trusted, [("failed", "LOG_IN 1045")]),
        ("ann:wrong@", trusted, [("failed", "LOG_IN 1045")]),
        (f"ann:{password}@", "?tls=verify", [("failed", "CONNECT ")]),
        (f"ann:{password}@", trusted.replace("server", "stranger"), [("failed", "CONNECT ")]),
        (f"ann:{password}@", trusted + "&tls_name=other", [("failed", "CONNECT ")]),
        ("", read_secret, [good[0], ("failed", "LOG_IN unauth")]),
        ("", "?secret=wrong", [("failed", "LOG_IN unauth")]),
    ):
        assert run("one", url(server, "one", user, options)) == result, (user, options)


@pytest.mark.timeout(300)
def test_unix_sockets(make_server: Callable[..., ServerInstance], tmp_path: Path) -> None:
    server = make_server(handlersocket_socket="java.sock", handlersocket_socket_wr="java_wr.sock")
    data = server.base_dir / "data"
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE one", "USE one", *EMPLOYEES)
    sockets = f"?socket={data / 'java.sock'}&socket_wr={data / 'java_wr.sock'}"
    assert run("one", f"handlersocket:///one{sockets}") == [
        ("found", "Optional[Ann]"),
        ("updated", "1"),
    ]


PACKAGES = ("handlersocket2", "java.time", "java.util", "java.util.concurrent", "java.util.stream")
IMPORTS = " ".join(f"import {package}.*;" for package in PACKAGES)


@pytest.mark.timeout(300)
def test_the_examples_of_its_page(sql: Sql, database: Database, tmp_path: Path) -> None:
    """The first is run as it is, but for the address, as in all; the others one after another."""
    sql.run(
        "CREATE TABLE user (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), age INT,"
        " KEY by_name (name))",
        "INSERT INTO user VALUES (42, 'Ann', 7), (43, 'Bob', NULL)",
    )
    address = url(database.server, database.name)
    page = (CLIENT / "README.md").read_text()
    page = page.replace("handlersocket://127.0.0.1:9998,9999/app", address)
    first, *others = re.findall(r"```java\n(.*?)```", page, re.DOTALL)
    assert len(first.splitlines()) == 10 and len(others) >= 7
    (tmp_path / "First.java").write_text(first)
    methods = "".join(
        f"static void example{number}(HandlerSocketClient client) {{\n{example}}}\n"
        for number, example in enumerate(others)
    )
    calls = "".join(f"example{number}(client);" for number in range(len(others)))
    (tmp_path / "Others.java").write_text(
        f"{IMPORTS}\nclass Others {{\n{methods}"
        "public static void main(String[] arguments) {\n"
        f'try (var client = HandlerSocketClient.open("{address}")) {{ {calls} }}\n}}\n}}\n'
    )
    path = class_path()
    sources = [str(tmp_path / name) for name in ("First.java", "Others.java")]
    command("javac", "-nowarn", "-cp", path, "-d", str(tmp_path), *sources)
    outputs = []
    for program in ("First", "Others"):
        words = ("java", "-cp", f"{path}{os.pathsep}{tmp_path}", program)
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == "Ann\n"
    assert "there is one already" in outputs[1]
    assert "name varchar(20) is a String" in outputs[1]
    assert "1062 Duplicate entry '42' for key" in outputs[1]
