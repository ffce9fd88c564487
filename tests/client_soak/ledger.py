"""Compares the tables with what a program says of its rows. README.md has the report's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from support.database import Sql

# A row's n and text, or None if there is no such row.
State = tuple[int, str] | None
# By caller and number.
Kept = dict[tuple[int, int], State]
# How often each number of each caller is there.
Log = Counter[tuple[int, int]]
MOST_FINDINGS = 20


def findings(owner: str, report: Mapping[str, Any], sql: Sql) -> list[str]:
    """What is wrong, at most MOST_FINDINGS of it."""
    found = compare(report, _kept(owner, sql), _log(owner, sql))
    return [f"{owner}: {finding}" for finding in islice(found, MOST_FINDINGS)]


def compare(report: Mapping[str, Any], kept: Kept, log: Log) -> Iterator[str]:
    """What is wrong, one after the other."""
    known: set[tuple[int, int]] = set()
    for caller, number, states in report["rows"]:
        known.add((caller, number))
        row = kept.get((caller, number))
        if row not in [_state(state) for state in states]:
            yield f"row {caller}, {number} is {row!r}, and none of {states!r}"
    joint_log: set[tuple[int, int]] = set()
    for *rows, (log_caller, log_number) in report["joint"]:
        joint_log.add((log_caller, log_number))
        known.update((caller, number) for caller, number, _, _ in rows)
        before = [kept.get((caller, number)) == _state(state) for caller, number, state, _ in rows]
        after = [kept.get((caller, number)) == _state(state) for caller, number, _, state in rows]
        times = log[log_caller, log_number]
        is_nothing, is_all = all(before) and times == 0, all(after) and times == 1
        if not is_nothing and not is_all:
            yield f"the group {rows!r} is there in part, and its number {log_number} {times} times"
    for place in kept.keys() - known:
        yield f"row {place} is there, and must not be: {kept[place]!r}"
    yield from _log_findings(report, log, joint_log)


def _log_findings(
    report: Mapping[str, Any], log: Log, joint: set[tuple[int, int]]
) -> Iterator[str]:
    tried: set[tuple[int, int]] = set()
    for caller, tries, absent, unsure in report["log"]:
        never, perhaps = set(absent), set(unsure)
        for number in range(tries):
            place = (caller, number)
            tried.add(place)
            times = log[place]
            may_miss = number in perhaps or number in never or place in joint
            least, most = (0 if may_miss else 1), (0 if number in never else 1)
            if not least <= times <= most:
                yield f"log {caller}, {number} is there {times} times, and not {least} to {most}"
    for place in log.keys() - tried:
        yield f"log {place} was never written"


def _state(state: list[Any] | None) -> State:
    return None if state is None else (state[0], state[1])


def _kept(owner: str, sql: Sql) -> Kept:
    query = "SELECT caller, number, n, text FROM kept WHERE owner = %s"
    return {
        (int(caller or 0), int(number or 0)): (int(n or 0), (text or b"").decode())
        for caller, number, n, text in sql.rows(query, [owner])
    }


def _log(owner: str, sql: Sql) -> Log:
    rows = sql.rows("SELECT caller, number FROM log WHERE owner = %s", [owner])
    return Counter((int(caller or 0), int(number or 0)) for caller, number in rows)
