"""What an account may do through the plugin, against what SQL lets it do.

Each set of privileges is given to the account as which clients act. Then the account makes each
request twice: through the plugin, and as SQL in a session of its own, whose changes are undone.
Both have to succeed, or to end with the same error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import running_server, wait_until

ACCOUNT = "app@localhost"
TABLE_DENIED = 1142
COLUMN_DENIED = 1143
NO_SUCH_ACCOUNT = 1449
STORM = 4.0  # seconds
ROW = b"1\t=\t2\t1\t1"


@dataclass(frozen=True)
class Asked:
    """A request: the open index that it uses, its line, and the same in SQL."""

    columns: str
    line: bytes
    sql: str
    filters: str = ""
    index: str = "PRIMARY"
    table: str = "t"


ASKED = {
    "prefix": Asked("v", b"1\t=\t1\t1", "SELECT v FROM t WHERE a = 1 LIMIT 1"),
    "row": Asked("v", ROW, "SELECT v FROM t WHERE a = 1 AND b = 1 LIMIT 1"),
    "two columns": Asked("v,w", ROW, "SELECT v, w FROM t WHERE a = 1 AND b = 1 LIMIT 1"),
    "range": Asked("a", b"1\t>=\t1\t1\t5", "SELECT a FROM t WHERE a >= 1 LIMIT 5"),
    "filter": Asked(
        "v",
        ROW + b"\t1\t0\tF\t>\t0\t0",
        "SELECT v FROM t WHERE a = 1 AND b = 1 AND w > 0 LIMIT 1",
        filters="w",
    ),
    "unused filter": Asked("v", ROW, "SELECT v FROM t WHERE a = 1 AND b = 1 LIMIT 1", filters="w"),
    "IN": Asked(
        "v", ROW + b"\t5\t0\t@\t1\t2\t1\t2", "SELECT v FROM t WHERE a = 1 AND b IN (1, 2) LIMIT 5"
    ),
    "two ends": Asked(
        "v",
        b"1\tup\t1\t1\t>=\t1\t<\t9\t5",
        "SELECT v FROM t WHERE a = 1 AND b >= 1 AND b < 9 ORDER BY a, b LIMIT 5",
    ),
    "whole index": Asked("v", b"1\tdown\t0\t5", "SELECT v FROM t ORDER BY a DESC LIMIT 5"),
    "count": Asked("v", ROW + b"\tC", "SELECT COUNT(v) FROM t WHERE a = 1 AND b = 1"),
    "exists": Asked(
        "v", b"1\tup\t1\t1\t>\t7\tE", "SELECT COUNT(v) > 0 FROM t WHERE a = 1 AND b > 7 LIMIT 1"
    ),
    "other index": Asked("w", b"1\t=\t1\t5", "SELECT w FROM t WHERE w = 5 LIMIT 1", index="w"),
    "insert key": Asked("a,b", b"1\t+\t2\t7\t7", "INSERT INTO t (a, b) VALUES (7, 7)"),
    "insert": Asked("a,b,v", b"1\t+\t3\t8\t8\tx", "INSERT INTO t (a, b, v) VALUES (8, 8, 'x')"),
    "insert fewer": Asked("a,b,v", b"1\t+\t2\t9\t9", "INSERT INTO t (a, b) VALUES (9, 9)"),
    "update": Asked("v", ROW + b"\t1\t0\tU\ty", "UPDATE t SET v = 'y' WHERE a = 1 AND b = 1"),
    "update two": Asked(
        "v,w", ROW + b"\t1\t0\tU\ty\t5", "UPDATE t SET v = 'y', w = 5 WHERE a = 1 AND b = 1"
    ),
    "update fewer": Asked(
        "v,w", ROW + b"\t1\t0\tU\ty", "UPDATE t SET v = 'y' WHERE a = 1 AND b = 1"
    ),
    "increment": Asked("w", ROW + b"\t1\t0\t+\t0", "UPDATE t SET w = w + 0 WHERE a = 1 AND b = 1"),
    "delete": Asked("v", b"1\t=\t2\t6\t6\t1\t0\tD", "DELETE FROM t WHERE a = 6 AND b = 6"),
}

GRANTS: dict[str, list[str]] = {
    "nothing": [],
    "global SELECT": ["SELECT ON *.*"],
    "global INSERT": ["INSERT ON *.*"],
    "everything": ["ALL ON *.*"],
    "SELECT on the database": ["SELECT ON acc.*"],
    "SELECT on a pattern": ["SELECT ON `ac_`.*"],
    "UPDATE and DELETE on the database": ["UPDATE, DELETE ON acc.*"],
    "everything on the database": ["ALL ON acc.*"],
    "another database": ["ALL ON other.*"],
    "SELECT": ["SELECT ON acc.t"],
    "SELECT on another table": ["SELECT ON acc.u"],
    "SELECT v": ["SELECT (v) ON acc.t"],
    "SELECT a, v": ["SELECT (a, v) ON acc.t"],
    "SELECT a, b, v": ["SELECT (a, b, v) ON acc.t"],
    "SELECT a, b, v, w": ["SELECT (a, b, v, w) ON acc.t"],
    "SELECT w": ["SELECT (w) ON acc.t"],
    "INSERT": ["INSERT ON acc.t"],
    "INSERT a, b": ["INSERT (a, b) ON acc.t"],
    "INSERT a, b, v": ["INSERT (a, b, v) ON acc.t"],
    "UPDATE": ["UPDATE ON acc.t"],
    "UPDATE v": ["UPDATE (v) ON acc.t"],
    "UPDATE and SELECT": ["SELECT, UPDATE ON acc.t"],
    "UPDATE v, SELECT a, b": ["UPDATE (v), SELECT (a, b) ON acc.t"],
    "UPDATE w, SELECT a, b": ["UPDATE (w), SELECT (a, b) ON acc.t"],
    "UPDATE w, SELECT a, b, w": ["UPDATE (w), SELECT (a, b, w) ON acc.t"],
    "UPDATE, SELECT a": ["UPDATE ON acc.t", "SELECT (a) ON acc.t"],
    "DELETE": ["DELETE ON acc.t"],
    "DELETE, SELECT a, b": ["DELETE ON acc.t", "SELECT (a, b) ON acc.t"],
    "DELETE and SELECT": ["DELETE, SELECT ON acc.t"],
    "all but SELECT": ["INSERT, UPDATE, DELETE ON acc.t"],
    "everything on the table": ["ALL ON acc.t"],
}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    account = {"handlersocket_anonymous_account": ACCOUNT}
    with running_server(data_root, watch, skip_name_resolve="ON", **account) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE DATABASE acc",
                "CREATE DATABASE other",
                "CREATE TABLE acc.t (a INT, b INT, v VARCHAR(20), w INT NOT NULL DEFAULT 0, "
                "PRIMARY KEY (a, b), KEY w (w)) ENGINE=InnoDB",
                "CREATE TABLE acc.u LIKE acc.t",
            )
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Wire]:
    with Wire(server.hs_port_wr) as connection:
        yield connection


def give(sql: Sql, grants: list[str]) -> None:
    sql.run(
        "DROP USER IF EXISTS app@localhost",
        "CREATE USER app@localhost",
        *(f"GRANT {grant} TO {ACCOUNT}" for grant in grants),
    )


def fill(sql: Sql) -> None:
    sql.run(
        "DELETE FROM acc.t",
        "INSERT INTO acc.t VALUES (1, 1, 'one', 1), (1, 2, 'two', 2), (5, 5, 'five', 5), "
        "(6, 6, 'six', 6)",
    )


def opening(number: int, asked: Asked) -> bytes:
    filters = f"\t{asked.filters}" if asked.filters else ""
    return f"P\t{number}\tacc\t{asked.table}\t{asked.index}\t{asked.columns}{filters}".encode()


def error_of(reply: bytes) -> int | None:
    """The server's error number of a reply, or None if it is no error."""
    code, _, rest = reply.partition(b"\t")
    if code == b"0":
        return None
    count, _, number = rest.partition(b"\t")
    assert (code, count) == (b"1", b"1"), reply
    return int(number)


def in_sql(server: ServerInstance, asked: Asked) -> int | None:
    """How the request ends as SQL of the account. It leaves nothing behind."""
    with Sql(server.socket, user="app") as session:
        session.run("BEGIN")
        name = asked.sql.replace(f" {asked.table} ", f" acc.{asked.table} ")
        return session.error(name)


@pytest.mark.parametrize("grants", GRANTS.values(), ids=GRANTS.keys())
def test_every_request_ends_as_in_sql(
    grants: list[str], server: ServerInstance, sql: Sql, wire: Wire
) -> None:
    fill(sql)
    give(sql, ["ALL ON *.*"])
    for number, asked in enumerate(ASKED.values()):
        assert wire.ask(opening(number + 10, asked) + b"\n") == b"0\t1"
    give(sql, grants)
    found = {}
    expected = {}
    for number, (name, asked) in enumerate(ASKED.items()):
        expected[name] = in_sql(server, asked)
        fill(sql)
        # An index that was open when the account had more rights.
        line = b"%d" % (number + 10) + asked.line[1:]
        found[name] = error_of(wire.ask(line + b"\n"))
        fill(sql)
        # An index that is opened now, on each port.
        finds = asked.sql.startswith("SELECT")
        for port in [server.hs_port_wr, server.hs_port][: 1 + finds]:
            with Wire(port) as other:
                opened = other.ask(opening(1, asked) + b"\n")
                again = error_of(opened) or error_of(other.ask(asked.line + b"\n"))
            assert again == found[name], name
    assert found == expected


def compare(server: ServerInstance, sql: Sql, asked: dict[str, Asked], fill_table: str) -> None:
    """Each request, on an index that is opened for it, against SQL."""
    found, expected = {}, {}
    for name, request in asked.items():
        sql.run(*fill_table.split(";"))
        expected[name] = in_sql(server, request)
        sql.run(*fill_table.split(";"))
        with Wire(server.hs_port_wr) as wire:
            opened = wire.ask(opening(1, request) + b"\n")
            found[name] = error_of(opened) or error_of(wire.ask(request.line + b"\n"))
    assert found == expected


OF_SEQUENCE: dict[str, list[str]] = {
    "the table alone": [],
    "SELECT on the sequence": ["SELECT ON acc.seq"],
    "INSERT on the sequence": ["INSERT ON acc.seq"],
    "both": ["SELECT, INSERT ON acc.seq"],
    "the database": ["SELECT, INSERT ON acc.*"],
    "everywhere": ["SELECT, INSERT ON *.*"],
}
NUMBERED = {
    "insert": Asked(
        "a,v", b"1\t+\t2\t7\t7", "INSERT INTO numbered (a, v) VALUES (7, 7)", table="numbered"
    ),
    "insert a number": Asked(
        "a,v,n",
        b"1\t+\t3\t8\t8\t8",
        "INSERT INTO numbered (a, v, n) VALUES (8, 8, 8)",
        table="numbered",
    ),
    "update": Asked(
        "v", b"1\t=\t1\t1\t1\t0\tU\t5", "UPDATE numbered SET v = 5 WHERE a = 1", table="numbered"
    ),
    "find": Asked("v,n", b"1\t=\t1\t1", "SELECT v, n FROM numbered WHERE a = 1", table="numbered"),
    "delete": Asked(
        "v", b"1\t=\t1\t1\t1\t0\tD", "DELETE FROM numbered WHERE a = 1", table="numbered"
    ),
}


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has sequences")
@pytest.mark.parametrize("grants", OF_SEQUENCE.values(), ids=OF_SEQUENCE.keys())
def test_a_default_that_draws_from_a_sequence(
    grants: list[str], server: ServerInstance, sql: Sql
) -> None:
    sql.run(
        "CREATE OR REPLACE SEQUENCE acc.seq",
        "CREATE OR REPLACE TABLE acc.numbered "
        "(a INT PRIMARY KEY, v INT, n INT DEFAULT NEXTVAL(acc.seq))",
    )
    give(sql, ["ALL ON acc.numbered", *grants])
    compare(
        server, sql, NUMBERED, "DELETE FROM acc.numbered;INSERT INTO acc.numbered VALUES (1, 1, 1)"
    )


FUNCTIONAL = {
    "by an expression": Asked(
        "a", b"1\t=\t1\tone", "SELECT a FROM f WHERE LOWER(v) = 'one'", table="f", index="low"
    ),
    "by its first part": Asked(
        "a", b"1\t=\t1\t1", "SELECT a FROM f WHERE w = 1", table="f", index="mixed"
    ),
    "by two parts": Asked(
        "a",
        b"1\t=\t2\t1\t2",
        "SELECT a FROM f WHERE w = 1 AND (w + x) = 2",
        table="f",
        index="mixed",
    ),
    "a change": Asked(
        "y",
        b"1\t=\t1\tone\t1\t0\tU\t3",
        "UPDATE f SET y = 3 WHERE LOWER(v) = 'one'",
        table="f",
        index="low",
    ),
}


@pytest.mark.skipif(not ON_MYSQL, reason="only MySQL has functional indexes")
@pytest.mark.parametrize(
    "columns", ["a", "a, v", "v", "a, w", "a, x", "a, w, x", "a, y", "a, v, y"]
)
def test_a_functional_index(columns: str, server: ServerInstance, sql: Sql) -> None:
    """SQL asks for the columns of the expression."""
    sql.run(
        "DROP TABLE IF EXISTS acc.f",
        "CREATE TABLE acc.f (a INT PRIMARY KEY, v VARCHAR(20), w INT, x INT, y INT, "
        "KEY low ((LOWER(v))), KEY mixed (w, (w + x)))",
    )
    give(sql, [f"SELECT ({columns}) ON acc.f", "UPDATE (y) ON acc.f"])
    compare(
        server, sql, FUNCTIONAL, "DELETE FROM acc.f;INSERT INTO acc.f VALUES (1, 'One', 1, 1, 1)"
    )


OF_PUBLIC: dict[str, str] = {
    "global SELECT": "SELECT ON *.*",
    "the database": "SELECT, INSERT, UPDATE, DELETE ON acc.*",
    "SELECT": "SELECT ON acc.t",
    "SELECT a, v": "SELECT (a, v) ON acc.t",
    "UPDATE v": "UPDATE (v) ON acc.t",
}


@pytest.mark.skipif(ON_MYSQL, reason="only MariaDB has PUBLIC")
@pytest.mark.parametrize("own", [[], ["SELECT (b) ON acc.t"], ["DELETE ON acc.t"]], ids=str)
@pytest.mark.parametrize("of_public", OF_PUBLIC.values(), ids=OF_PUBLIC.keys())
def test_what_everybody_may_do(
    of_public: str, own: list[str], server: ServerInstance, sql: Sql
) -> None:
    give(sql, own)
    sql.run(f"GRANT {of_public} TO PUBLIC")
    rows = "DELETE FROM acc.t;INSERT INTO acc.t VALUES (1, 1, 'one', 1), (6, 6, 'six', 6)"
    try:
        compare(server, sql, ASKED, rows)
    finally:
        sql.run(f"REVOKE {of_public} FROM PUBLIC")


def test_an_account_sees_only_tables_of_which_it_may_do_something(sql: Sql, wire: Wire) -> None:
    give(sql, ["SELECT (v) ON acc.t"])
    assert wire.ask(b"P\t1\tacc\tt\t\tv\n") == b"0\t1"
    for hidden in (b"acc\tu", b"acc\tmissing", b"missing\tt", b"mysql\tuser", b"acc\t"):
        reply = wire.ask(b"P\t1\t%b\t\tv\n" % hidden)
        assert reply == (b"1\t1\t1142" if hidden[-1:] != b"\t" else b"1\t1\topen_table")


def test_a_right_is_lost_and_gained_between_two_requests(sql: Sql, wire: Wire) -> None:
    fill(sql)
    give(sql, ["SELECT ON acc.t"])
    assert wire.ask(b"P\t1\tacc\tt\t\tv\n") == b"0\t1"
    for _ in range(20):
        assert wire.ask(ROW + b"\n") == b"0\t1\tone"
        sql.run("REVOKE ALL, GRANT OPTION FROM app@localhost")
        assert error_of(wire.ask(ROW + b"\n")) == TABLE_DENIED
        sql.run("GRANT SELECT (v) ON acc.t TO app@localhost")
        assert error_of(wire.ask(ROW + b"\n")) == COLUMN_DENIED
        sql.run("GRANT SELECT (a, b) ON acc.t TO app@localhost")
        assert wire.ask(ROW + b"\n") == b"0\t1\tone"
        sql.run("REVOKE ALL, GRANT OPTION FROM app@localhost")
        assert error_of(wire.ask(ROW + b"\n")) == TABLE_DENIED
        sql.run("GRANT SELECT ON *.* TO app@localhost")


def test_a_write_that_is_sent_after_a_revoke(server: ServerInstance, sql: Sql, wire: Wire) -> None:
    """Also if it joins a pass that has begun before, because others keep the worker busy."""
    fill(sql)
    give(sql, ["SELECT (a, b, v), UPDATE (v) ON acc.t"])
    opening = b"P\t1\tacc\tt\t\tv\n"
    assert wire.ask(opening) == b"0\t1"
    ended = threading.Event()

    def keep_busy(key: int) -> None:
        with Wire(server.hs_port_wr) as own:
            own.ask(opening)
            change = b"1\t=\t2\t%d\t%d\t1\t0\tU\t%%d\n" % (key, key)
            for number in range(1_000_000):
                if ended.is_set():
                    return
                own.send(b"".join(change % (number * 40 + i) for i in range(40)))
                own.lines(40)

    threads = [threading.Thread(target=keep_busy, args=(key,)) for key in (1, 6)]
    for thread in threads:
        thread.start()
    tried = 0
    executed = 0
    begun = time.monotonic()
    try:
        while tried <= 50 or time.monotonic() - begun < STORM / 2:
            sql.run("GRANT UPDATE (v) ON acc.t TO app@localhost")
            sql.run("REVOKE UPDATE (v) ON acc.t FROM app@localhost")
            tried += 1
            executed += wire.ask(ROW + b"\t1\t0\tU\t%d\n" % tried).startswith(b"0\t1\t")
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert executed == 0


@pytest.mark.parametrize("column", [0, 1, 63, 64, 1_000_000, 4294967295])
def test_a_filter_column_that_there_is_none_of(column: int, sql: Sql, wire: Wire) -> None:
    """The account has not every privilege on the table, so that its columns are looked at."""
    fill(sql)
    give(sql, ["SELECT, UPDATE ON acc.t"])
    for number, filters in ((1, b""), (2, b"\tw")):
        assert wire.ask(b"P\t%d\tacc\tt\t\tv%s\n" % (number, filters)) == b"0\t1"
        for write in (b"", b"\tU\tx"):
            line = b"%d\t=\t2\t1\t1\t1\t0\tF\t>\t%d\t0%s\n" % (number, column, write)
            answer = wire.ask(line)
            if column < len(filters) // 2:
                assert answer.startswith(b"0\t"), answer
            else:
                assert answer == b"2\t1\tfilterfld"


def test_an_account_that_is_dropped_and_comes_back(
    server: ServerInstance, sql: Sql, wire: Wire
) -> None:
    fill(sql)
    give(sql, ["SELECT ON acc.t"])
    assert wire.ask(b"P\t1\tacc\tt\t\tv\n") == b"0\t1"
    sql.run("DROP USER app@localhost")
    said = "there is no account 'app'@'localhost', as which clients would act"
    for _ in range(3):
        assert error_of(wire.ask(ROW + b"\n")) == NO_SUCH_ACCOUNT
        assert error_of(wire.ask(b"P\t2\tacc\tt\t\tv\n")) == NO_SUCH_ACCOUNT
    wait_until(lambda: said in server.log_text(), "it is logged")
    assert server.log_text().count(said) == 1
    # An account whose pattern matches the same host is another account.
    sql.run("CREATE USER app@`%`", "GRANT ALL ON *.* TO app@`%`")
    assert error_of(wire.ask(ROW + b"\n")) == NO_SUCH_ACCOUNT
    sql.run("DROP USER app@`%`")
    give(sql, ["SELECT ON acc.t"])
    assert wire.ask(ROW + b"\n") == b"0\t1\tone"


def test_an_index_whose_columns_change(sql: Sql, wire: Wire) -> None:
    """What the key's columns are called is asked again with the table's new definition."""
    fill(sql)
    give(sql, ["SELECT (w, v) ON acc.t", "UPDATE (v) ON acc.t"])
    assert wire.ask(b"P\t1\tacc\tt\tw\tv\n") == b"0\t1"
    read = b"1\t=\t1\t5\n"
    write = b"1\t=\t1\t5\t1\t0\tU\tx\n"
    try:
        assert wire.ask(read) == b"0\t1\tfive"
        sql.run("ALTER TABLE acc.t DROP KEY w, ADD KEY w (b)")
        assert error_of(wire.ask(read)) == COLUMN_DENIED
        sql.run("ALTER TABLE acc.t DROP KEY w, ADD KEY w (w)")
        assert wire.ask(read) == b"0\t1\tfive"
        sql.run("ALTER TABLE acc.t DROP KEY w, ADD KEY w (b)")
        assert error_of(wire.ask(write)) == COLUMN_DENIED
    finally:
        sql.run("ALTER TABLE acc.t DROP KEY w, ADD KEY w (w)")
    assert wire.ask(write) == b"0\t1\t1"


def test_beside_changes_of_privileges(server: ServerInstance, sql: Sql) -> None:
    """Requests are answered as before or after each change, and do not wait for it."""
    fill(sql)
    give(sql, ["SELECT ON acc.t"])
    end = time.monotonic() + STORM
    changes = 0

    def change() -> None:
        nonlocal changes
        statements = (
            "REVOKE SELECT ON acc.t FROM app@localhost",
            "GRANT SELECT (a, b, v) ON acc.t TO app@localhost",
            "FLUSH PRIVILEGES",
            "REVOKE ALL, GRANT OPTION FROM app@localhost",
            "DROP USER app@localhost",
            "CREATE USER app@localhost",
            "GRANT SELECT ON acc.t TO app@localhost",
        )
        with Sql(server.socket) as session:
            while time.monotonic() < end and server.alive:
                session.run(*statements)
                changes += len(statements)

    answers: dict[bytes, int] = {}
    waits = []
    changing = threading.Thread(target=change)
    changing.start()
    try:
        with Wire(server.hs_port) as reader, Wire(server.hs_port_wr) as writer:
            while time.monotonic() < end and server.alive:
                for wire in (reader, writer):
                    began = time.monotonic()
                    opened = wire.ask(b"P\t1\tacc\tt\t\tv\n")
                    reply = wire.ask(ROW + b"\n") if opened == b"0\t1" else opened
                    waits.append(time.monotonic() - began)
                    answers[reply] = answers.get(reply, 0) + 1
    finally:
        changing.join()
    assert server.alive
    allowed = {b"0\t1\tone", b"1\t1\t1142", b"1\t1\t1143", b"1\t1\t1449"}
    assert answers.keys() <= allowed
    assert answers[b"0\t1\tone"] > 0 and answers[b"1\t1\t1142"] > 0
    assert changes > 20
    assert sorted(waits)[len(waits) * 9 // 10] < 0.1


@pytest.mark.skipif(not ON_MYSQL, reason="only MySQL has partial revokes")
def test_a_partial_revoke(server: ServerInstance, sql: Sql, wire: Wire) -> None:
    fill(sql)
    sql.run("SET GLOBAL partial_revokes = ON")
    try:
        give(sql, ["SELECT ON *.*"])
        assert wire.ask(b"P\t1\tacc\tt\t\tv\n") == b"0\t1"
        sql.run("REVOKE SELECT ON acc.* FROM app@localhost")
        assert error_of(wire.ask(ROW + b"\n")) == TABLE_DENIED
        sql.run("GRANT SELECT (v) ON acc.t TO app@localhost")
        assert error_of(wire.ask(ROW + b"\n")) == COLUMN_DENIED
        assert in_sql(server, ASKED["row"]) == COLUMN_DENIED
    finally:
        sql.run("DROP USER app@localhost", "SET GLOBAL partial_revokes = OFF")
