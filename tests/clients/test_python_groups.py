"""Groups by both faces of the Python client at a real server."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from handlersocket2 import (
    MAX_GROUP,
    Client,
    DuplicateKeyError,
    Filter,
    HandlerSocketError,
    Range,
    ReplyError,
    UnmetError,
)
from server_instance import ServerInstance
from support.database import Database, Sql
from support.python_faces import Blocking, connected

CALLERS = 4
TIMES = 25


#: Makes another client, and its index of accounts.
Faces = Callable[[], AbstractContextManager[tuple[Any, Any]]]


@pytest.fixture(params=[Client, Blocking], ids=["threads", "asyncio"])
def faces(
    request: pytest.FixtureRequest, sql: Sql, server: ServerInstance, database: Database
) -> Faces:
    sql.run(
        "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
        "CREATE TABLE entry (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(20))",
        "INSERT INTO account VALUES (1, 100), (2, 0)",
    )

    @contextlib.contextmanager
    def made() -> Iterator[tuple[Any, Any]]:
        columns = {"id": int, "balance": int}
        with connected(request.param, server) as client:
            yield (
                client,
                client.index(database.name, "account", columns, filter_columns=["balance"]),
            )

    return made


@pytest.fixture
def pair(faces: Faces) -> Iterator[tuple[Any, Any]]:
    with faces() as made:
        yield made


@pytest.fixture
def client(pair: tuple[Any, Any]) -> Any:
    return pair[0]


@pytest.fixture
def accounts(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def balances(accounts: Any) -> list[int]:
    return [row.balance for row in accounts.find(Range(), limit=9)]


def transfer(client: Any, accounts: Any, source: int, target: int, amount: int) -> None:
    group = client.group()
    group.some(accounts).decrement(source, {"balance": amount})
    group.some(accounts).increment(target, {"balance": amount})
    group.run()


def test_a_transfer_is_done_wholly_or_not_at_all(client: Any, accounts: Any) -> None:
    transfer(client, accounts, 1, 2, 30)
    assert balances(accounts) == [70, 30]
    with pytest.raises(UnmetError) as no_money:
        transfer(client, accounts, 1, 2, 71)
    assert (no_money.value.line, no_money.value.safe_to_retry) == (1, True)
    with pytest.raises(UnmetError) as no_account:
        transfer(client, accounts, 1, 3, 5)
    assert no_account.value.line == 2
    assert balances(accounts) == [70, 30]


def test_nobody_sees_half_of_a_transfer(faces: Faces) -> None:
    failed: list[BaseException] = []

    def move(source: int, target: int) -> None:
        try:
            with faces() as (client, accounts):
                for _ in range(TIMES):
                    with contextlib.suppress(UnmetError):
                        transfer(client, accounts, source, target, 7)
                    assert sum(balances(accounts)) == 100
        except BaseException as error:  # it is raised where the test sees it
            failed.append(error)

    movers = [
        threading.Thread(target=move, args=(1 + number % 2, 2 - number % 2))
        for number in range(CALLERS)
    ]
    for mover in movers:
        mover.start()
    for mover in movers:
        mover.join()
    assert failed == []


def test_compare_and_set(client: Any, accounts: Any, faces: Faces) -> None:
    def change(old: int, new: int, client: Any = client, accounts: Any = accounts) -> Any:
        group = client.group()
        group.some(accounts).update(1, {"balance": new}, filters=[Filter("=", "balance", old)])
        found = group.on(accounts).find_one(1)
        group.run()
        return found.result().balance

    assert change(100, 1) == 1
    with pytest.raises(UnmetError):
        change(100, 2)
    assert balances(accounts) == [1, 0]
    failed: list[BaseException] = []

    def count() -> None:
        done = 0
        try:
            with faces() as (mine, shared):
                while done < TIMES:
                    old = shared.find_one(1).balance
                    with contextlib.suppress(UnmetError):
                        change(old, old + 1, mine, shared)
                        done += 1
        except BaseException as error:  # it is raised where the test sees it
            failed.append(error)

    counting = [threading.Thread(target=count) for _ in range(CALLERS)]
    for each in counting:
        each.start()
    for each in counting:
        each.join()
    assert failed == []
    assert balances(accounts)[0] == 1 + CALLERS * TIMES


def test_locks_and_several_tables(client: Any, accounts: Any, database: Database) -> None:
    entries = client.index(database.name, "entry", ["text"])
    group = client.group()
    here = group.some(accounts).fetch_lock(1)
    group.none(accounts).lock(3)
    group.on(accounts).insert([3, 7])
    entry = group.on(entries).insert(["done"])
    nothing = group.on(accounts).find_in([])
    group.on(accounts).count(Range())
    group.run()
    assert [row.balance for row in here.result()] == [100]
    assert group.results() == [here.result(), 0, None, entry.result(), [], 3]
    assert nothing.result() == []
    group = client.group()
    lost = group.on(entries).insert(["undone"])
    group.on(accounts).find_in([])
    duplicate = group.on(accounts).insert([1, 1])
    with pytest.raises(DuplicateKeyError) as refused:
        group.run()
    assert refused.value.line == 3
    assert duplicate.error() is refused.value
    undone = lost.error()
    assert isinstance(undone, ReplyError)
    assert (undone.text, undone.line) == ("undone", 3)
    assert entries.find(Range(), limit=9) == [(b"done",)]


def test_one_that_is_too_late(client: Any, accounts: Any, sql: Sql) -> None:
    assert accounts.increment(1, {"balance": 1}) == 1  # the connection is there
    sql.run("BEGIN", "SELECT * FROM account WHERE id = 2 FOR UPDATE")
    group = client.group(timeout=1)
    group.on(accounts).increment(1, {"balance": 1})
    group.on(accounts).increment(2, {"balance": 1})
    with pytest.raises(HandlerSocketError) as late:
        group.run()
    assert late.value.maybe_executed
    sql.run("ROLLBACK")
    assert accounts.increment(1, {"balance": 1}) == 1  # behind the group
    assert balances(accounts) == [103, 1]


def test_the_largest_group(client: Any, accounts: Any) -> None:
    group = client.group()
    for number in range(MAX_GROUP - 1):
        group.on(accounts).insert([1000 + number, number])
    count = group.on(accounts).count(Range(ge=1000))
    group.run()
    assert count.result() == MAX_GROUP - 1
