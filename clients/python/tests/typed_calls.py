"""What `mypy --strict` accepts and refuses; `make lint` checks this file, and nothing runs it.

A line with `type: ignore` is one that has to be refused: strict mode complains about an ignore
without an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from handlersocket2 import (
    Assign,
    AsyncClient,
    AsyncIndex,
    Client,
    ClientOptions,
    ColumnDescription,
    Description,
    Filter,
    FindOptions,
    Index,
    ListedIndex,
    ListedPart,
    ModifyOp,
    NamedRow,
    Outcome,
    Pending,
    PipelinedIndex,
    Range,
    ReplyError,
    Row,
)


@dataclass
class User:
    id: int
    name: str | None


class Point(NamedTuple):
    x: Decimal
    y: Decimal


def accepted(client: Client, index: Index[Row], pipelined: PipelinedIndex[Row]) -> None:
    options: FindOptions = {"op": ">=", "limit": 3, "filters": [Filter("!=", "age", 1)]}
    rows: list[Row] = index.find(1, **options)
    row: Row | None = index.find_one([1, "a"], op=">=", offset=2, timeout=None)
    rows = index.find_in([1, date(2024, 1, 1)], limit=9, key_part=0)
    for each in index.iterate(1, op=">="):
        row = each
    name: bytes | None = rows[0].name
    count: int = index.update(1, [Decimal(1), 1.5, None, True], limit=3)
    count = index.increment(1, {"visits": 1}, timeout=0.5)
    inserted: int | None = index.insert({"name": "x"})
    later: Pending[int] = pipelined.update(1, ["x"], limit=3)
    rows = index.find(Range(key=[1], ge=None, lt="b", down=True), limit=3)
    count = index.count(Range(prefix="a"), filters=[Filter("!=", "age", 1)])
    found: bool = index.exists(1, op=">")
    count = index.update(1, {"visits": Assign.add(1, high=9), "name": "x"})
    rows = index.change_and_fetch(ModifyOp.UPDATE, 1, ["x", Assign.now()])
    outcomes: list[Outcome] = index.insert_many([[1, "x"]], duplicate="ignore")
    outcome: Outcome = index.upsert({"id": 1}, {"id": Assign.inserted()}, timeout=1)
    outcomes = index.upsert_many([[1]], {"id": 2}, filters=[Filter("=", "age", 1)])
    done: str = outcome.done
    waits: Pending[int] = pipelined.count(1)
    del rows, row, name, count, inserted, later, found, outcomes, outcome, done, waits


def rows_of_ones_own(client: Client) -> None:
    users = client.index("app", "user", User)
    user: User | None = users.find_one(1)
    points: list[Point] = client.index("app", "point", Point).find(1, limit=9)
    named: Index[NamedRow[object]] = client.index("app", "user", {"id": int, "name": str | None})
    with client.pipeline() as pipeline:
        pending: Pending[list[User]] = pipeline.on(users).find(1)
    found: list[User] = pending.result()
    del user, points, named, found


def described(client: Client, error: ReplyError) -> None:
    told: Description = client.describe("app", "user", ["id"], index="by_name", timeout=1)
    column: ColumnDescription = told.columns[0]
    number, texts = column.decimals, (column.name, column.type, column.charset)
    decimals: int | None = number
    index: Index[NamedRow[Any]] = client.described_index(None, "user", filter_columns=["age"])
    row: NamedRow[Any] | None = index.find_one(1)
    index = client.index("app", "user", {**told.types, "born": str})
    versions: dict[str, str] = client.hello(timeout=None)
    names: list[str] = client.databases() + client.tables() + client.tables("app", timeout=1)
    listed: list[ListedIndex] = client.indexes(None, "user")
    part: ListedPart = listed[0].parts[0]
    of: str | None = part.column
    client.ping(timeout=1)
    message: str | None = error.message
    del column, texts, decimals, row, versions, names, of, message


async def awaited(client: AsyncClient) -> None:
    told: Description = await client.describe("app", "user")
    index: AsyncIndex[NamedRow[Any]] = await client.described_index("app", "user", timeout=1)
    row: NamedRow[Any] | None = await index.find_one(1)
    versions: dict[str, str] = await client.hello()
    names: list[str] = await client.tables("app")
    listed: list[ListedIndex] = await client.indexes("app", "user", timeout=1)
    await client.ping()
    del told, row, versions, names, listed
    users: AsyncIndex[User] = client.index(None, "user", User, filter_columns=["age"])
    user: User | None = await users.find_one(1, timeout=0.1)
    found: list[User] = await users.find(1, op=">=", limit=3)
    count: int = await users.delete(1)
    inserted: int | None = await users.insert([1, "Ann"])
    count = await users.count(Range())
    there: bool = await users.exists(1)
    outcome: Outcome = await users.upsert({"id": 1}, {"name": Assign.append("!")})
    async for each in users.iterate(0, op=">="):
        user = each
    async with client.pipeline() as pipeline:
        pending: Pending[User | None] = pipeline.on(users).find_one(1)
    user = pending.result()
    del user, found, count, inserted, there, outcome


def made() -> None:
    options: ClientOptions = {"user": "ann", "password": lambda: "pw", "when_full": "fail"}
    Client("handlersocket://db/app", **options)
    Client(("db", 9998), write=("db", 9999), read_after_write="sent", texts=True)
    AsyncClient([(("db1", 9998), ("db1", 9999)), (("db2", 9998), None)], retry_reads=1)


def refused(client: Client, index: Index[Row], pipelined: PipelinedIndex[Row]) -> None:
    index.find(1, limt=3)  # type: ignore[call-arg]
    index.find(1, limit="3")  # type: ignore[arg-type]
    index.find(1, op="LIKE")  # type: ignore[arg-type]
    index.find_one(1, limit=3)  # type: ignore[call-arg]
    index.find_in([1], in_=None)  # type: ignore[call-arg]
    index.find_in([1], key_part="0")  # type: ignore[arg-type]
    index.find(object())  # type: ignore[arg-type]
    index.update(1, {"name": object()})  # type: ignore[dict-item]
    index.update(1, ["x"], limt=3)  # type: ignore[call-arg]
    index.update(1, ["x"], long=True)  # type: ignore[call-arg]
    index.delete(1, values=[1])  # type: ignore[call-arg]
    index.insert([object()])  # type: ignore[list-item]
    index.fetch_and("U", 1)  # type: ignore[arg-type]
    index.count(1, limt=3)  # type: ignore[call-arg]
    index.exists(1, limit=3)  # type: ignore[call-arg]
    index.insert([Assign.now()])  # type: ignore[list-item]
    index.increment(1, [Assign.add(1)])  # type: ignore[list-item]
    index.insert_many([[1]], duplicate="update")  # type: ignore[arg-type]
    index.upsert([1], ["x"])  # type: ignore[arg-type]
    Range(above=1)  # type: ignore[call-arg]
    pipelined.find(1, limt=3)  # type: ignore[call-arg]
    pipelined.increment(1, [1], filter=[])  # type: ignore[call-arg]
    Filter("LIKE", 0, 1)  # type: ignore[arg-type]
    client.index("d", "t", [1])  # type: ignore[list-item]
    client.describe("d", "t", within=1)  # type: ignore[call-arg]
    client.described_index("d", "t", {"id": int})  # type: ignore[arg-type]
    Client("db:9998", texts="on")  # type: ignore[arg-type]
    Client("db:9998", time_out=3)  # type: ignore[call-arg]
    Client("db:9998", when_full="later")  # type: ignore[arg-type]
    AsyncClient("db:9998", timeout="3")  # type: ignore[arg-type]
