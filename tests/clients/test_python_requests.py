"""What the original does not have, by both faces of the Python client at a real server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from handlersocket2 import (
    Assign,
    Client,
    DuplicateKeyError,
    Filter,
    In,
    ModifyOp,
    Outcome,
    Range,
)
from server_instance import ServerInstance
from support.database import Database, Sql
from support.python_faces import Blocking, connected


@dataclass
class User:
    id: int
    name: str | None
    visits: int | None
    flags: int
    seen: datetime | None


@pytest.fixture(params=[Client, Blocking], ids=["threads", "asyncio"])
def users(
    request: pytest.FixtureRequest, sql: Sql, server: ServerInstance, database: Database
) -> Iterator[Any]:
    sql.run(
        "CREATE TABLE user (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20),"
        " visits INT DEFAULT 7, flags INT NOT NULL DEFAULT 5, seen DATETIME,"
        " KEY by_name (name), UNIQUE by_visits (visits))"
    )
    sql.run(
        "INSERT INTO user (id, name, visits) VALUES (1, 'Ann', 1), (2, 'Anton', 2), (3, NULL, 3)"
    )
    with connected(request.param, server) as client:
        yield client.index(database.name, "user", User, filter_columns=["visits"])


def ids(rows: list[User]) -> list[int]:
    return [row.id for row in rows]


def test_ranges(users: Any) -> None:
    assert ids(users.find(Range(), limit=9)) == [1, 2, 3]
    assert ids(users.find(Range(down=True), limit=2)) == [3, 2]
    assert ids(users.find(Range(gt=1, le=3), limit=9)) == [2, 3]
    assert ids(users.find(Range(ge=1, lt=3, down=True), limit=9)) == [2, 1]
    assert ids(users.find(2, op=">", limit=9)) == [3]
    assert [row.id for row in users.iterate(Range(down=True))] == [3, 2, 1]
    assert users.find_one(Range(down=True)).id == 3
    assert users.delete(Range(ge=2), limit=9) == 2


def test_texts_and_null(users: Any, database: Database) -> None:
    by_name = users._client.index(database.name, "user", {"id": int}, index="by_name")
    assert ids(by_name.find(Range(prefix="An"), limit=9)) == [1, 2]
    assert ids(by_name.find(Range(ge=None, lt="Anton"), limit=9)) == [3, 1]
    assert ids(by_name.find(Range(lt="Anton"), limit=9)) == [1]
    assert ids(by_name.find(Range(key=None), limit=9)) == [3]


def test_counts(users: Any) -> None:
    assert users.count(Range()) == 3
    assert users.count(1, op=">") == 2
    assert users.count(Range(), limit=2) == 2
    assert users.count(Range(), filters=[Filter("<", "visits", 3)]) == 2
    assert users.count("", in_=In([1, 3, 9])) == 2
    assert users.count("", in_=In([])) == 0
    assert users.exists(3) is True
    assert users.exists(4) is False


def test_assignments(users: Any) -> None:
    changes = {"visits": Assign.add(5, high=4), "name": Assign.append("!"), "seen": Assign.now()}
    (row,) = users.change_and_fetch(ModifyOp.UPDATE, 1, changes)
    assert (row.name, row.visits) == ("Ann!", 4)
    assert row.seen.year > 2000
    changes = {"visits": Assign.default(), "flags": Assign.bit_and(6), "seen": None}
    (row,) = users.fetch_and(ModifyOp.UPDATE, 1, changes)
    assert (row.visits, row.flags, row.seen is None) == (4, 5, False)
    assert users.find_one(1) == User(1, "Ann!", 7, 4, None)
    assert users.update(1, {"visits": Assign.subtract(9), "flags": Assign.bit_or(3)}) == 1
    assert users.update(1, {"name": Assign.prepend("Dr. "), "flags": Assign.bit_xor(1)}) == 1
    assert users.update(1, {"visits": Assign.max(-1)}) == 1
    assert users.find_one(1) == User(1, "Dr. Ann!", -1, 6, None)
    (row,) = users.change_and_fetch(ModifyOp.UPDATE, 1, [1, Assign.prepend("x"), Assign.min(-3)])
    assert (row.name, row.visits) == ("xDr. Ann!", -3)
    assert users.change_and_fetch(ModifyOp.INCREMENT, 2, {"visits": 8})[0].visits == 10
    assert users.fetch_and(ModifyOp.DECREMENT, 2, {"visits": 1})[0].visits == 10


def test_several_rows(users: Any) -> None:
    insert = users.insert_many
    rows = [{"name": "Bo", "visits": 8}, {"name": "Cy", "visits": 9}]
    assert insert(rows) == [Outcome("inserted", 4), Outcome("inserted", 5)]
    with pytest.raises(DuplicateKeyError):
        insert([[6, "Di", 10], [1, "Ed", 11]])
    assert not users.exists(6)
    assert insert([[1, "Ed"]], duplicate="ignore") == [Outcome("ignored", None)]
    assert insert([[1, "Ed"]], duplicate="replace") == [Outcome("replaced", 1)]
    assert users.find_one(1).name == "Ed"


def test_upserts(users: Any) -> None:
    row = {"id": 1, "visits": 50}
    changes = {"visits": Assign.inserted(), "name": Assign.append("!")}
    assert users.upsert(row, changes) == Outcome("updated", 1)
    assert users.find_one(1) == User(1, "Ann!", 50, 5, None)
    assert users.upsert(row, {"visits": 50}) == Outcome("unchanged", 1)
    unmet = users.upsert(row, {"visits": 51}, filters=[Filter("<", "visits", 50)])
    assert unmet == Outcome("unmet", 1)
    many = users.upsert_many([[1, "x", 60], [20, "y", 61]], {"flags": Assign.add(1)})
    assert many == [Outcome("updated", 1), Outcome("inserted", 20)]
    assert [users.find_one(key).flags for key in (1, 20)] == [6, 5]


def test_in_a_pipeline(sql: Sql, server: ServerInstance, database: Database) -> None:
    sql.run("CREATE TABLE hits (page VARCHAR(20) PRIMARY KEY, n INT NOT NULL)")
    with connected(Client, server) as client:
        hits = client.index(database.name, "hits", {"page": str, "n": int})
        with client.pipeline() as pipeline:
            for _ in range(3):
                pipeline.on(hits).upsert({"page": "/", "n": 1}, {"n": Assign.add(1)})
            pipeline.on(hits).count(Range())
            pipeline.on(hits).exists("/x")
            pipeline.on(hits).find(Range())
        *outcomes, count, exists, (row,) = pipeline.results()
    assert [outcome.done for outcome in outcomes] == ["inserted", "updated", "updated"]
    assert (count, exists, tuple(row)) == (1, False, ("/", 3))
