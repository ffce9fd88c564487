"""Reduces a case that shows a difference, as long as the difference stays, and prints it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from support_random_hunt import ZONES, Case, Difference
from support_random_requests import Alteration, FindRequest, InsertRequest, Request
from support_random_tables import Row, TableModel

Item = TypeVar("Item")
Put = Callable[[Case, tuple[Item, ...]], Case]


class _Shrinking:
    """A case that is being reduced."""

    def __init__(
        self, case: Case, difference: Difference, run: Callable[[Case], Difference | None],
        seconds: float,
    ) -> None:  # fmt: skip
        self.case = case
        self.difference = difference
        self._run = run
        self._deadline = time.monotonic() + seconds
        self._alterations = _alterations(case)

    def takes(self, smaller: Case) -> bool:
        """Whether `smaller` shows the same kind of difference. If so, it becomes the case."""
        if time.monotonic() > self._deadline or not self._can_be(smaller):
            return False
        try:
            found = self._run(smaller)
        except Exception:  # noqa: BLE001 - a case that cannot be run shows nothing
            return False
        if found is None or found.kind != self.difference.kind:
            return False
        self.case, self.difference = smaller, found
        return True

    def _can_be(self, smaller: Case) -> bool:
        """An ALTER depends on those before it, so none of these may be missing."""
        return all(
            steps == self._alterations[table][: len(steps)]
            for table, steps in _alterations(smaller).items()
        )

    def fewer(self, items: Callable[[Case], tuple[Item, ...]], put: Put[Item]) -> None:
        """Leaves out halves, quarters and so on of the items, at the end each item alone."""
        size = len(items(self.case)) // 2 or 1
        while size:
            start = 0
            while start < len(items(self.case)):
                now = items(self.case)
                if not self.takes(put(self.case, (*now[:start], *now[start + size :]))):
                    start += size
            size //= 2

    def simpler(self, choices: Callable[[Case], Iterator[Case]]) -> bool:
        """Takes the first simpler case that still shows the difference, again and again."""
        taken = False
        while any(self.takes(choice) for choice in choices(self.case)):
            taken = True
        return taken


def shrink(
    case: Case, difference: Difference, run: Callable[[Case], Difference | None], seconds: float
) -> tuple[Case, Difference]:
    """The smallest case with the same kind of difference that is found within the time."""
    case = replace(case, steps=case.steps[: difference.step + 1])
    work = _Shrinking(case, difference, run, seconds)
    _begin(work)
    progress = True
    while progress:
        for step, sendings in enumerate(work.case.steps):
            if not isinstance(sendings, Alteration):
                for place in range(len(sendings)):
                    work.fewer(_Requests(step, place).get, _Requests(step, place).put)
        work.simpler(_without_unused)
        for place in range(len(work.case.rows)):
            work.fewer(_Rows(place).get, _Rows(place).put)
        progress = work.simpler(_simpler_requests)
        progress |= work.simpler(_smaller_tables)
        for plain in (replace(work.case, sql_mode=""), replace(work.case, zone=ZONES[0])):
            if plain != work.case:
                work.takes(plain)
    return work.case, work.difference


def _begin(work: _Shrinking) -> None:
    """Fewer steps. Perhaps the request with the wrong answer is enough."""
    if work.difference.place is not None:
        part, request = work.difference.place
        step = work.case.steps[-1]
        assert not isinstance(step, Alteration)
        alone = tuple(
            replace(sending, requests=(request,) if number == part else ())
            for number, sending in enumerate(step)
        )
        alterations = tuple(s for s in work.case.steps[:-1] if isinstance(s, Alteration))
        for before in ((), alterations, work.case.steps[:-1]):
            if work.takes(replace(work.case, steps=(*before, alone))):
                break
    work.fewer(lambda c: c.steps, lambda c, steps: replace(c, steps=steps))


@dataclass(frozen=True)
class _Requests:
    """One connection's requests in one step."""

    step: int
    place: int

    def get(self, case: Case) -> tuple[Request, ...]:
        step = case.steps[self.step]
        return () if isinstance(step, Alteration) else step[self.place].requests

    def put(self, case: Case, requests: tuple[Request, ...]) -> Case:
        step = case.steps[self.step]
        assert not isinstance(step, Alteration)
        sending = replace(step[self.place], requests=requests)
        sendings = (*step[: self.place], sending, *step[self.place + 1 :])
        steps = (*case.steps[: self.step], sendings, *case.steps[self.step + 1 :])
        return replace(case, steps=steps)


@dataclass(frozen=True)
class _Rows:
    """One table's rows."""

    place: int

    def get(self, case: Case) -> tuple[Row, ...]:
        return case.rows[self.place][1]

    def put(self, case: Case, rows: tuple[Row, ...]) -> Case:
        changed = (case.rows[self.place][0], rows)
        return replace(case, rows=(*case.rows[: self.place], changed, *case.rows[self.place + 1 :]))


def _without_unused(case: Case) -> Iterator[Case]:
    used = _used(case)
    if len(used & {table.name for table in case.tables}) < len(case.tables):
        tables = tuple(table for table in case.tables if table.name in used)
        rows = tuple(entry for entry in case.rows if entry[0] in used)
        yield replace(case, tables=tables, rows=rows)


def _alterations(case: Case) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for step in case.steps:
        if isinstance(step, Alteration):
            found.setdefault(step.table, []).append(step.sql)
    return found


def _used(case: Case) -> set[str]:
    found = set()
    for step in case.steps:
        if isinstance(step, Alteration):
            found.add(step.table)
            continue
        for sending in step:
            found |= {getattr(request, "table", "") for request in sending.requests}
    return found


def _simpler_requests(case: Case) -> Iterator[Case]:
    for step, sendings in enumerate(case.steps):
        if isinstance(sendings, Alteration):
            continue
        for place, sending in enumerate(sendings):
            for number, request in enumerate(sending.requests):
                head, tail = sending.requests[:number], sending.requests[number + 1 :]
                for simpler in _simpler(request):
                    yield _Requests(step, place).put(case, (*head, simpler, *tail))


def _simpler(request: Request) -> Iterator[Request]:
    if isinstance(request, InsertRequest):
        for number, name in enumerate(request.columns):
            if name != "rid":
                columns = (*request.columns[:number], *request.columns[number + 1 :])
                values = (*request.values[:number], *request.values[number + 1 :])
                yield replace(request, columns=columns, values=values)
    if not isinstance(request, FindRequest):
        return
    for number in range(len(request.filters)):
        filters = (*request.filters[:number], *request.filters[number + 1 :])
        yield replace(request, filters=filters)
    for number in range(len(request.in_values)):
        values = (*request.in_values[:number], *request.in_values[number + 1 :])
        yield replace(request, in_values=values)
    for number in range(len(request.ends)):
        yield replace(request, ends=(*request.ends[:number], *request.ends[number + 1 :]))
    if (
        len(request.key) > 1
        and not request.is_range
        and not (request.in_values and request.in_part == len(request.key) - 1)
    ):
        yield replace(request, key=request.key[:-1])
    if len(request.values) > 1:
        yield replace(request, columns=(*request.columns[:1], "rid"), values=request.values[:1])
    if not request.values and request.columns != ("rid",):
        yield replace(request, columns=("rid",))
    if request.answer:
        yield replace(request, answer="")
    for change in ({"offset": 0}, {"limit": 1000}, {"asks_rows": False}):
        if any(getattr(request, name) != value for name, value in change.items()):
            yield replace(request, **change)


def _smaller_tables(case: Case) -> Iterator[Case]:
    if any(isinstance(step, Alteration) for step in case.steps):
        return
    requests = [
        request
        for step in case.steps
        if not isinstance(step, Alteration)
        for sending in step
        for request in sending.requests
    ]
    for place, table in enumerate(case.tables):
        own = [request for request in requests if getattr(request, "table", "") == table.name]
        for smaller in _smaller_table(table, own):
            tables = (*case.tables[:place], smaller, *case.tables[place + 1 :])
            kept = {column.name for column in smaller.columns}
            rows = tuple(
                (name, tuple(tuple(c for c in row if c[0] in kept) for row in rows))
                if name == table.name else (name, rows)
                for name, rows in case.rows
            )  # fmt: skip
            yield replace(case, tables=tables, rows=rows)


def _smaller_table(table: TableModel, requests: Sequence[Request]) -> Iterator[TableModel]:
    indexes = {request.index for request in requests if isinstance(request, FindRequest)}
    for index in table.indexes:
        if index.name not in indexes and len(table.indexes) > 1:
            yield replace(table, indexes=tuple(i for i in table.indexes if i is not index))
    if table.after or table.beside:
        yield replace(table, after=(), beside=())
    if table.engine != "InnoDB":
        yield replace(table, engine="InnoDB")
    needed = {"rid"} | {part.column for index in table.indexes for part in index.parts}
    for request in requests:
        needed |= set(getattr(request, "columns", ()))
        needed |= {condition.column for condition in getattr(request, "filters", ())}
    for column in table.columns:
        if column.name not in needed:
            yield replace(table, columns=tuple(c for c in table.columns if c is not column))


def told(case: Case, difference: Difference) -> str:
    """The case as a person would type it, and what differs."""
    lines = [f"sql_mode = '{case.sql_mode}', time_zone = '{case.zone}'"]
    for table in case.tables:
        lines += table.create()
        rows = dict(case.rows)[table.name]
        lines += [f"  {dict(row)}" for row in rows[:30]]
        if len(rows) > 30:
            lines.append(f"  and {len(rows) - 30} rows more")
    for number, step in enumerate(case.steps):
        if isinstance(step, Alteration):
            lines.append(f"step {number}: {step.sql}")
            continue
        lines.append(f"step {number}:")
        for sending in step:
            lines += [f"  connection {sending.connection}: {r}" for r in sending.requests]
    return "\n".join([*lines, f"{difference.kind}: {difference.story}"])
