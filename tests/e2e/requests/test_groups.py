"""Groups: several lines of the protocol that are done wholly or not at all.

What a unit of the store is, test_units.py shows by the tests' line protocol. Here is what
HandlerSocket makes of it: replies, conditions, locks, several tables and many clients.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import GTID_POSITION, ON_MYSQL
from support.wire import Wire
from support_binlog import begin_log, row_events
from support_servers import (
    BLOCK_COMMITS,
    LOGGING,
    WRITING_ASIDE,
    fresh_session,
    running_server,
    wait_until,
    wait_until_nobody_writes_aside,
)

TABLES = (
    "CREATE TABLE account (id INT PRIMARY KEY, amount BIGINT NOT NULL, note TEXT, data BLOB)",
    "CREATE TABLE entry (id BIGINT AUTO_INCREMENT PRIMARY KEY, account INT NOT NULL,"
    " amount BIGINT NOT NULL, UNIQUE (account, amount))",
    "INSERT INTO account VALUES (1, 100, 'one', 'x'), (2, 50, 'two', 'y'), (3, 0, NULL, NULL)",
)
OPEN = [
    "P\t1\thst\taccount\t\tid,amount\tid,amount,note,data",
    "P\t2\thst\tentry\t\taccount,amount",
    "P\t3\thst\taccount\t\tnote,data",
]
LOCK = "1\t=\t1\t1\t1\t0\tlock"
CONNECTIONS = ("performance" if ON_MYSQL else "information") + "_schema.handlersocket_connections"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {**LOGGING, "handlersocket_lock_wait_timeout": 5, "handlersocket_threads_wr": 1}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst", *TABLES) as session:
        begin_log(session)
        wait_until_nobody_writes_aside(session)
        yield session


@pytest.fixture
def second(server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    """Another session, whose transaction holds locks."""
    with Sql(server.socket, "hst") as session:
        yield session


class Asking:
    """A connection with the indexes of OPEN."""

    def __init__(self, server: ServerInstance) -> None:
        self.wire = Wire(server.hs_port_wr)
        assert self.ask(*OPEN) == ["0\t1"] * len(OPEN)

    def send(self, *lines: str) -> None:
        self.wire.send("".join(line + "\n" for line in lines).encode())

    def replies(self, count: int) -> list[str]:
        return [line.decode() for line in self.wire.lines(count)]

    def ask(self, *lines: str) -> list[str]:
        self.send(*lines)
        return self.replies(len(lines))

    def group(self, *lines: str) -> list[str]:
        return self.ask(f"G\t{len(lines)}", *lines)

    def close(self) -> None:
        self.wire.close()


@pytest.fixture
def client(server: ServerInstance, sql: Sql) -> Iterator[Asking]:
    asking = Asking(server)
    yield asking
    asking.close()


def plus(account: int, amount: int) -> str:
    return f"1\t=\t1\t{account}\t1\t0\tset\t1\t1\t+\t{amount}"


def amounts(sql: Sql) -> list[int]:
    return [int(amount or 0) for (amount,) in sql.rows("SELECT amount FROM account ORDER BY id")]


def undone(line: int, of: int, error: str) -> list[str]:
    lines = [error if number == line else "1\t1\tundone" for number in range(1, of + 1)]
    return [f"1\t2\tundone\t{line}", *lines]


def logged(server: ServerInstance, sql: Sql) -> list[str]:
    return [f"{event.kind} {event.table}" for event in row_events(server, sql)]


def transactions(sql: Sql) -> str:
    (position,) = sql.row(f"SELECT {GTID_POSITION}")
    return (position or b"").decode()


def test_both_tables_or_none(server: ServerInstance, sql: Sql, client: Asking) -> None:
    transfer = [plus(1, -30), plus(2, 30), "2\t+\t2\t1\t-30", "2\t+\t2\t2\t30", "1\t=\t1\t2"]
    replies = client.group(*transfer)
    assert replies == ["0\t1", "0\t1\t1", "0\t1\t1", "0\t1\t1", "0\t1\t2", "0\t2\t2\t80"]
    assert amounts(sql) == [70, 80, 0]
    # The entry is there already.
    assert client.group(*transfer) == undone(3, 5, "1\t1\t121")
    assert amounts(sql) == [70, 80, 0]
    assert sql.rows("SELECT COUNT(*) FROM entry") == [(b"2",)]
    assert logged(server, sql) == ["UPDATE account"] * 2 + ["INSERT entry"] * 2


def test_it_is_one_transaction(server: ServerInstance, sql: Sql, client: Asking) -> None:
    before = transactions(sql)
    client.group(plus(1, 1), "2\t+\t2\t1\t1")
    once = transactions(sql)
    client.group(plus(1, 1), "2\t+\t2\t1\t1")
    assert before != once == transactions(sql), "one that was undone is no transaction"


def test_a_failed_group_undoes_nothing_else(
    server: ServerInstance, sql: Sql, client: Asking
) -> None:
    replies = client.ask(
        plus(3, 1), "G\t2", plus(3, 10), "2\tinsert\t2\t2\t1\t1\t1\t1", plus(3, 100), "1\t=\t1\t3"
    )
    assert replies == ["0\t1\t1", *undone(2, 2, "1\t1\t121"), "0\t1\t1", "0\t2\t3\t101"]
    assert amounts(sql) == [100, 50, 101]
    assert logged(server, sql) == ["UPDATE account"] * 2


def test_compare_and_set(sql: Sql, client: Asking) -> None:
    """Also of TEXT and BLOB, and of a NULL."""

    def change(account: int, note: str, data: str, to: str) -> list[str]:
        old = f"F\t=\t2\t{note}\tF\t=\t3\t{data}"
        return client.group(f"some\t3\t=\t1\t{account}\t1\t0\t{old}\tU\t{to}\t{to}", plus(1, 1))

    client.ask("P\t3\thst\taccount\t\tnote,data\tid,amount,note,data")
    assert change(1, "one", "y", "uno") == undone(1, 2, "1\t1\tunmet")
    assert change(1, "one", "x", "uno") == ["0\t1", "0\t1\t1", "0\t1\t1"]
    assert change(1, "one", "x", "due") == undone(1, 2, "1\t1\tunmet")
    assert change(3, "\0", "\0", "tre") == ["0\t1", "0\t1\t1", "0\t1\t1"]
    rows = sql.rows("SELECT note, data, amount FROM account WHERE id <> 2 ORDER BY id")
    assert rows == [(b"uno", b"uno", b"102"), (b"tre", b"tre", b"0")]


def test_a_stock_that_must_not_become_negative(sql: Sql, client: Asking) -> None:
    take = ["some\t1\t=\t1\t2\t1\t0\t-\t0\t30", "2\t+\t2\t2\t-30"]
    client.ask("P\t1\thst\taccount\t\tid,amount\tid,amount,note,data")
    assert client.group(*take) == ["0\t1", "0\t1\t1", "0\t1\t1"]
    assert client.group(*take) == undone(1, 2, "1\t1\tunmet")
    assert amounts(sql) == [100, 20, 0]


def test_a_row_that_must_not_be_there(sql: Sql, client: Asking) -> None:
    create = ["none\t1\t=\t1\t9\t1\t0\tlock", "1\t+\t2\t9\t7"]
    assert client.group(*create) == ["0\t1", "0\t1\t0", "0\t1"]
    assert client.group(*create) == undone(1, 2, "1\t1\tunmet")
    gone = "none\t1\tup\t0\t100\t0\tF\t<\t1\t50\tD"
    assert client.group(plus(2, 1), gone) == undone(2, 2, "1\t1\tunmet")
    assert amounts(sql) == [100, 50, 0, 7]


@pytest.mark.parametrize("locked", ["account WHERE id = 1", "entry WHERE account = 5"])
def test_it_waits_for_a_row(
    server: ServerInstance, sql: Sql, second: Sql, client: Asking, locked: str
) -> None:
    sql.run("INSERT INTO entry (account, amount) VALUES (5, 5)")
    begin_log(sql)
    second.run("BEGIN")
    second.rows(f"SELECT * FROM {locked} FOR UPDATE")
    other = Asking(server)
    client.send(
        plus(3, 1), "G\t2", plus(1, 1), "2\tinsert\t1\t2\t5\t5\telse\treplace", "1\t=\t1\t1"
    )
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it waits")
    assert other.ask(plus(2, 1)) == ["0\t1\t1"]
    assert amounts(sql) == [100, 51, 1]
    second.run("ROLLBACK")
    replies = client.replies(5)
    assert replies[:3] == ["0\t1\t1", "0\t1", "0\t1\t1"] and replies[4] == "0\t2\t1\t101"
    assert replies[3].startswith("0\t2\treplaced\t")
    other.close()


def test_it_waits_too_long(server: ServerInstance, sql: Sql, second: Sql, client: Asking) -> None:
    second.run("BEGIN")
    second.rows("SELECT * FROM account WHERE id = 2 FOR UPDATE")
    replies = client.ask(plus(3, 1), "G\t2", plus(1, 1), plus(2, 1), "1\t=\t1\t1")
    second.run("ROLLBACK")
    assert replies == ["0\t1\t1", *["1\t1\t146"] * 3, "0\t2\t1\t100"]
    assert amounts(sql) == [100, 50, 1]
    assert logged(server, sql) == ["UPDATE account"]


def test_a_lock_waits_for_a_row_and_changes_nothing(
    server: ServerInstance, sql: Sql, second: Sql, client: Asking
) -> None:
    sql.run(
        "CREATE TRIGGER never BEFORE UPDATE ON account FOR EACH ROW"
        " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'fired'"
    )
    begin_log(sql)
    before = transactions(sql)
    changed = sql.status("handlersocket_rows_changed")
    second.run("BEGIN")
    second.rows("SELECT * FROM account WHERE id = 1 FOR UPDATE")
    client.send("1\t=\t1\t1\t1\t0\tlock?", "G\t1", "some\t1\t=\t1\t1\t1\t0\tlock")
    wait_until(lambda: sql.status("Innodb_row_lock_current_waits") > 0, "it waits")
    second.run("ROLLBACK")
    assert client.replies(3) == ["0\t2\t1\t100", "0\t1", "0\t1\t1"]
    assert client.ask(plus(1, 1)) == ["1\t1\t1644"], "an update does fire it"
    assert transactions(sql) == before and logged(server, sql) == []
    assert sql.status("handlersocket_rows_changed") == changed


def test_a_row_is_created_once(server: ServerInstance, sql: Sql) -> None:
    """Several clients ask whether a row is there, and write it if not, at the same moment."""
    clients = [Asking(server) for _ in range(4)]
    made = []
    for number in range(100, 150):
        lines = ["G\t2", f"none\t1\t=\t1\t{number}\t1\t0\tlock", f"1\t+\t2\t{number}\t1"]
        for client in clients:
            client.send(*lines)
        heads = [client.replies(3)[0] for client in clients]
        made.append(heads.count("0\t1"))
        assert set(heads) <= {"0\t1", "1\t2\tundone\t1", "1\t2\tundone\t2"}
    for client in clients:
        client.close()
    assert made == [1] * 50


def test_a_deadlock(sql: Sql, second: Sql, client: Asking) -> None:
    """The session is not chosen to give way, because it has changed more rows."""
    filling = ", ".join(f"({number}, 0)" for number in range(100, 400))
    second.run("BEGIN", f"INSERT INTO account (id, amount) VALUES {filling}")
    second.run("UPDATE account SET amount = 7 WHERE id = 2")
    client.send("G\t2", plus(1, 1), plus(2, 1))
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it waits")
    second.run("UPDATE account SET amount = 8 WHERE id = 1", "COMMIT")
    assert client.replies(3) == ["0\t1", "0\t1\t1", "0\t1\t1"]
    assert amounts(sql)[:2] == [9, 8]


def test_kill(server: ServerInstance, sql: Sql, second: Sql, client: Asking) -> None:
    second.run("BEGIN")
    second.rows("SELECT * FROM account WHERE id = 2 FOR UPDATE")
    client.send("G\t2", plus(1, 1), plus(2, 1))
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it is aside")
    # The kill has to meet the second line.
    wait_until(lambda: sql.status("Innodb_row_lock_current_waits") > 0, "it waits")
    sql.run(f"KILL QUERY {sql.number(WRITING_ASIDE)}")
    replies = client.replies(3)
    second.run("ROLLBACK")
    assert replies == undone(2, 2, "1\t1\t1317")
    assert amounts(sql) == [100, 50, 0]
    assert logged(server, sql) == []


@pytest.mark.skipif(ON_MYSQL, reason="MySQL has no BACKUP STAGE, which lets a commit fail here")
def test_its_commit_fails(server: ServerInstance, sql: Sql, client: Asking) -> None:
    sql.run(*BLOCK_COMMITS)
    replies = client.ask("1\t=\t1\t1", "G\t2", plus(1, 1), "1\t=\t1\t1", "1\t=\t1\t1")
    sql.run("BACKUP STAGE END")
    assert replies[0] == "0\t2\t1\t100"
    assert len(set(replies[1:])) == 1 and re.fullmatch(r"1\t1\t\d+", replies[1])
    assert amounts(sql) == [100, 50, 0]


def test_what_cannot_be_undone(server: ServerInstance, sql: Sql, client: Asking) -> None:
    sql.run("ALTER TABLE entry ENGINE = MyISAM", "INSERT INTO entry VALUES (1, 1, 1)")
    begin_log(sql)
    assert client.group(plus(1, 1), "2\t+\t2\t2\t2") == undone(2, 2, "1\t1\t1178")
    assert client.group(plus(1, 1), "2\t=\t1\t1") == ["0\t1", "0\t1\t1", "0\t2\t1\t1"]
    sql.run(
        "CREATE TRIGGER reaches BEFORE UPDATE ON account FOR EACH ROW"
        " INSERT INTO entry (account, amount) VALUES (NEW.id, NEW.amount)"
    )
    assert client.group("1\t=\t1\t1", plus(1, 1)) == undone(2, 2, "1\t1\t1178")
    assert client.group(LOCK, plus(1, 1)) == undone(2, 2, "1\t1\t1178")
    assert client.group(LOCK, "3\t+\t1\t9", LOCK)[0] == "1\t2\tundone\t2"
    assert amounts(sql) == [101, 50, 0]
    assert sql.rows("SELECT COUNT(*) FROM entry") == [(b"1",)]


def test_a_lock_opens_no_table_of_triggers_and_foreign_keys(
    server: ServerInstance, sql: Sql, second: Sql, client: Asking
) -> None:
    """It fires none, and asks for no row of another table."""
    sql.run(
        "CREATE TABLE noted (id INT)",
        "ALTER TABLE entry ADD FOREIGN KEY (account) REFERENCES account (id)",
        "CREATE TRIGGER notes BEFORE UPDATE ON account FOR EACH ROW"
        " INSERT INTO noted VALUES (NEW.id)",
    )
    # MySQL locks the parent of a foreign key with the table.
    second.run("LOCK TABLES noted WRITE" + ("" if ON_MYSQL else ", entry WRITE"))
    assert client.ask(LOCK) == ["0\t1\t1"]
    assert client.group("1\t=\t1\t2\t1\t0\tlock?", LOCK) == ["0\t1", "0\t2\t2\t50", "0\t1\t1"]
    second.run("UNLOCK TABLES")
    assert client.ask(LOCK, plus(1, 1), LOCK, plus(1, 1)) == ["0\t1\t1"] * 4
    assert amounts(sql) == [102, 50, 0]
    assert sql.rows("SELECT COUNT(*) FROM noted") == [(b"2",)]


def test_a_lock_shares_the_statement_of_updates(sql: Sql, client: Asking) -> None:
    """Each statement that changes rows has the name of its table in the binary log."""
    names = []
    for _ in range(5):  # a machine that is busy may execute them in two passes
        begin_log(sql)
        client.send(plus(1, 1), LOCK, plus(1, 1), LOCK, LOCK, plus(1, 1))
        assert client.replies(6) == ["0\t1\t1"] * 6
        events = [kind for _, _, kind, *_ in sql.rows("SHOW BINLOG EVENTS")]
        names.append(events.count(b"Table_map"))
    assert amounts(sql) == [115, 50, 0]
    assert min(names) == 1, names


def test_triggers_that_leave_something_in_the_session(sql: Sql, client: Asking) -> None:
    sql.run("CREATE TRIGGER seen BEFORE UPDATE ON account FOR EACH ROW SET @seen = NEW.amount")
    assert client.group(plus(1, 1), plus(2, 1)) == ["0\t1", "0\t1\t1", "0\t1\t1"]
    assert client.group(plus(1, 1), "2\tx") == undone(2, 2, "2\t1\top")
    assert client.ask(plus(3, 1), "G\t1", plus(3, 1)) == ["0\t1\t1", "0\t1", "0\t1\t1"]
    assert amounts(sql) == [101, 51, 2]


def test_long_ones(sql: Sql, client: Asking) -> None:
    """More than a worker does for one request, and as many lines as there may be."""
    for lines in (300, 4096):
        before = sql.status("handlersocket_writes_aside")
        assert client.group(*[plus(1, 1)] * lines) == ["0\t1", *["0\t1\t1"] * lines]
        assert sql.status("handlersocket_writes_aside") == before + 1
    assert amounts(sql) == [100 + 300 + 4096, 50, 0]
    failing = [plus(1, 1)] * 400 + ["some\t1\t=\t1\t77\t1\t0\tD"]
    assert client.group(*failing) == undone(401, 401, "1\t1\tunmet")
    assert sql.status("handlersocket_requests_group") >= 3
    big = "x" * 60_000
    sql.run(f"UPDATE account SET note = '{big}' WHERE id = 1")
    row = f"0\t2\t{big}\tx"
    assert client.group(*["3\t=\t1\t1"] * 20) == ["0\t1", *[row] * 20]
    assert client.group(*["3\t=\t1\t1"] * 1200)[0] == "1\t2\tundone\t1119"


def test_a_table_is_gone(server: ServerInstance, sql: Sql, client: Asking) -> None:
    """It is the line that fails, wherever the group is executed, and not the group as a whole."""
    for earlier in (1, 300):
        sql.run("CREATE TABLE gone (id INT PRIMARY KEY)")
        client.ask("P\t4\thst\tgone\t\tid")
        sql.run("DROP TABLE gone")
        lines = [*[plus(1, 1)] * earlier, "4\t=\t1\t1", plus(1, 1)]
        assert client.group(*lines) == undone(earlier + 1, earlier + 2, "1\t1\topen_table")
        first = ["some\t1\t=\t1\t77\t1\t0\tlock", *lines]
        assert client.group(*first) == undone(1, earlier + 3, "1\t1\tunmet")
    assert amounts(sql) == [100, 50, 0]


def test_nobody_waits_for_it_any_more(server: ServerInstance, sql: Sql) -> None:
    """It ends before its next line, when somebody closes its connection."""
    sql.run(
        "CREATE TABLE numbers (id INT PRIMARY KEY)",
        "INSERT INTO numbers SELECT seq FROM seq_1_to_300000",
    )
    client = Asking(server)
    client.ask("P\t4\thst\tnumbers\t\tid\tid")
    count = "4\tup\t0\t1000000\t0" + "\tF\t!=\t0\t0" * 4 + "\tC"
    client.send("G\t4096", plus(1, 1), *[count] * 4095)
    wait_until(lambda: sql.rows(WRITING_ASIDE) != [], "it is executed beside the worker")
    number = sql.number(f"SELECT MAX(id) FROM {CONNECTIONS} WHERE state = 'streaming'")
    sql.run(f"SET GLOBAL handlersocket_close_connection = {number}")
    wait_until(lambda: sql.rows(WRITING_ASIDE) == [], "it ends")
    assert client.wire.rest() == b""
    client.close()
    assert amounts(sql) == [100, 50, 0]


def test_lines_that_come_slowly_hold_no_lock(sql: Sql, second: Sql, client: Asking) -> None:
    client.send("G\t3", plus(1, 1), plus(2, 1))
    second.run("SET innodb_lock_wait_timeout = 1", "UPDATE account SET amount = 60 WHERE id = 2")
    client.send("1\t=\t1\t2")
    assert client.replies(4) == ["0\t1", "0\t1\t1", "0\t1\t1", "0\t2\t2\t61"]


def test_what_an_account_may_not_do(server: ServerInstance, sql: Sql, client: Asking) -> None:
    sql.run(
        "DROP USER IF EXISTS teller",
        "CREATE USER teller IDENTIFIED BY 'secret'",
        "GRANT SELECT, UPDATE (amount) ON hst.account TO teller",
        "GRANT SELECT ON hst.entry TO teller",
    )
    assert client.ask("A\t2\tteller\tsecret") == ["0\t1"]
    assert client.group(plus(1, 1), plus(2, 1)) == ["0\t1", "0\t1\t1", "0\t1\t1"]
    assert client.group(plus(1, 1), "2\t+\t2\t1\t1") == undone(2, 2, "1\t1\t1142")
    assert client.group("some\t1\t=\t1\t1\t1\t0\tlock") == ["0\t1", "0\t1\t1"]
    assert client.group("some\t2\t=\t1\t1\t1\t0\tlock") == undone(1, 1, "1\t1\t1142")
    assert amounts(sql) == [101, 51, 0]


def _random_group(rng: random.Random) -> tuple[list[str], list[str]]:
    """Lines, and the statements of SQL that do the same."""
    lines: list[str] = []
    statements: list[str] = []
    for _ in range(rng.randint(1, 5)):
        key, amount = rng.randint(1, 6), rng.randint(-3, 3)
        kind = rng.randrange(5)
        if kind == 0:
            lines.append(plus(key, amount))
            statements.append(f"UPDATE account SET amount = amount + {amount} WHERE id = {key}")
        elif kind == 1:
            lines.append(f"1\t+\t2\t{key}\t{amount}")
            statements.append(f"INSERT INTO account (id, amount) VALUES ({key}, {amount})")
        elif kind == 2:
            lines.append(f"1\t=\t1\t{key}\t1\t0\tD")
            statements.append(f"DELETE FROM account WHERE id = {key}")
        elif kind == 3:
            lines.append(f"2\t+\t2\t{key}\t{amount}")
            statements.append(f"INSERT INTO entry (account, amount) VALUES ({key}, {amount})")
        else:
            lines.append(f"1\tinsert\t1\t2\t{key}\t{amount}\telse\tupdate\t1\t1\t+\t{amount}")
            statements.append(
                f"INSERT INTO account (id, amount) VALUES ({key}, {amount})"
                f" ON DUPLICATE KEY UPDATE amount = amount + {amount}"
            )
    return lines, statements


def test_random_ones_beside_sql(server: ServerInstance, sql: Sql) -> None:
    """The same tables and the same events in the binary log as by SQL's transactions."""
    rng = random.Random(28)
    work = [_random_group(rng) for _ in range(400)]
    tables = [sql.rows("SELECT * FROM account"), sql.rows("SELECT * FROM entry")]
    client = Asking(server)
    heads = [client.group(*lines)[0] for lines, _ in work]
    client.close()
    everything = ["SELECT * FROM account ORDER BY id", "SELECT account, amount FROM entry"]
    by_plugin = [sorted(sql.rows(query)) for query in everything]
    events = row_events(server, sql)
    sql.run("DROP TABLE account, entry", *TABLES)
    assert [sql.rows("SELECT * FROM account"), sql.rows("SELECT * FROM entry")] == tables
    begin_log(sql)
    done = [_by_sql(sql, statements) for _, statements in work]
    assert [head == "0\t1" for head in heads] == done and 0 < sum(done) < len(done)
    assert [sorted(sql.rows(query)) for query in everything] == by_plugin
    assert _comparable(row_events(server, sql)) == _comparable(events)


def _by_sql(sql: Sql, statements: Sequence[str]) -> bool:
    try:
        sql.run("BEGIN", *statements, "COMMIT")
    except Exception:
        sql.run("ROLLBACK")
        return False
    return True


def _comparable(events: Sequence[Any]) -> list[Any]:
    """Without ids, which are drawn in another manner."""
    return [
        (e.kind, e.table, e.after if e.table != "entry" else {2: e.after[2], 3: e.after[3]})
        for e in events
    ]


def test_transfers_of_many_clients(server: ServerInstance, sql: Sql) -> None:
    """Money moves between accounts, under conditions, while SQL locks rows. None is lost."""
    sql.run("DELETE FROM account", "INSERT INTO account (id, amount) VALUES (0, 100)")
    sql.run(*[f"INSERT INTO account (id, amount) VALUES ({n}, 100)" for n in range(1, 8)])
    stop = threading.Event()

    def lock_now_and_then(number: int) -> None:
        choice = random.Random(number)
        with Sql(server.socket, "hst") as session:
            while not stop.is_set():
                session.run("BEGIN")
                session.rows(f"SELECT * FROM account WHERE id = {choice.randrange(8)} FOR UPDATE")
                stop.wait(choice.random() / 50)
                session.run("ROLLBACK")

    results: list[list[str]] = [[] for _ in range(4)]

    def move(number: int) -> None:
        choice = random.Random(number)
        client = Asking(server)
        for _ in range(60):
            a, b = choice.sample(range(8), 2)
            amount = choice.randint(1, 60)
            take = f"some\t1\t=\t1\t{a}\t1\t0\tF\t>=\t1\t{amount}\tset\t1\t1\t-\t{amount}"
            results[number].append(client.group(take, plus(b, amount))[0])
        client.close()

    lockers = [threading.Thread(target=lock_now_and_then, args=(n,), daemon=True) for n in (1, 2)]
    movers = [threading.Thread(target=move, args=(n,), daemon=True) for n in range(4)]
    for thread in (*lockers, *movers):
        thread.start()
    for thread in movers:
        thread.join(120)
    stop.set()
    for thread in lockers:
        thread.join(30)
    heads = [head for result in results for head in result]
    assert len(heads) == 240 and set(heads) == {"0\t1", "1\t2\tundone\t1"}
    assert sum(amounts(sql)) == 800 and min(amounts(sql)) >= 0
