"""What `mypy --strict` accepts and refuses; `make lint` checks this file, and nothing runs it.

A line with `type: ignore` is one that has to be refused: strict mode complains about an ignore
without an error.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from handlersocket2 import (
    Client,
    Filter,
    FindOptions,
    Index,
    Pending,
    PipelinedIndex,
    Row,
)


def accepted(client: Client, index: Index, pipelined: PipelinedIndex) -> None:
    options: FindOptions = {"op": ">=", "limit": 3, "filters": [Filter("!=", 0, 1)]}
    rows: list[Row] = index.find(1, **options)
    row: Row | None = index.find_one([1, "a"], op=">=", offset=2)
    rows = index.find_in([1, date(2024, 1, 1)], limit=9, key_part=0)
    count: int = index.update(1, [Decimal(1), 1.5, None, True], limit=3)
    later: Pending[int] = pipelined.update(1, ["x"], limit=3)
    del rows, row, count, later


def refused(client: Client, index: Index, pipelined: PipelinedIndex) -> None:
    index.find(1, limt=3)  # type: ignore[call-arg]
    index.find(1, limit="3")  # type: ignore[arg-type]
    index.find(1, op="LIKE")  # type: ignore[arg-type]
    index.find_one(1, limit=3)  # type: ignore[call-arg]
    index.find_in([1], in_=None)  # type: ignore[call-arg]
    index.find_in([1], key_part="0")  # type: ignore[arg-type]
    index.find(object())  # type: ignore[arg-type]
    index.update(1, {"name": "x"})  # type: ignore[arg-type]
    index.update(1, ["x"], limt=3)  # type: ignore[call-arg]
    index.delete(1, values=[1])  # type: ignore[call-arg]
    index.insert([object()])  # type: ignore[list-item]
    index.fetch_and("U", 1)  # type: ignore[arg-type]
    pipelined.find(1, limt=3)  # type: ignore[call-arg]
    pipelined.increment(1, [1], filter=[])  # type: ignore[call-arg]
    Filter("LIKE", 0, 1)  # type: ignore[arg-type]
    client.index("d", "t", [1])  # type: ignore[list-item]
