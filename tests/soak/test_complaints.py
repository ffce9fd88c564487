"""What the soak says of a failure: which rows are wrong, and which writes may have met them."""

from __future__ import annotations

from dataclasses import replace

from soak.exchange import Story
from soak.model import Rows, Search
from soak.requests import NO_LIMIT, AnyOrder, Insert, Spec, rows_line
from soak.tables import all_tables

OWNER = 11
TABLES = all_tables(on_mysql=False)


def test_a_complaint_names_rows_and_the_story_their_writes() -> None:
    table = next(table for table in TABLES if table.hashed)
    rows = Rows(table, OWNER)
    known, unknown = ((b"%d" % key, b"11", b"1", b"-1", b"1", b"", b"1") for key in (11001, 11002))
    rows.rows[known[0]] = known
    spec = Spec(table, "by_owner", tuple(range(len(known))))
    order = AnyOrder(rows, Search("by_owner", "=", (b"11",), NO_LIMIT), spec)
    assert order.complaint(rows_line([known], spec.columns)) == ""
    complaint = order.complaint(rows_line([known, unknown], spec.columns))
    assert complaint.startswith("2 rows, expected 1 of 1; not expected: ['11002|")
    assert "missing: ['11001|" in order.complaint(rows_line([unknown], spec.columns))
    story = Story()
    other = replace(spec, table=next(table for table in TABLES if not table.hashed))
    by_key = replace(spec, index="PRIMARY")
    for used, line in (
        (by_key, b"7\t+\t1\t11001\n"),
        (by_key, b"7\t+\t1\t11002\n"),
        (spec, b"8\t=\t1\t11\t100000\t0\tD\n"),
        (other, b"9\t+\t1\t11002\n"),
    ):
        story.note("1/2", used, Insert(line, "insert"), b"0\t1")
    told = story.told(f"{table.name}: {complaint}")
    assert "batch 1/2: 7|+|1|11002 came 0|1" in told
    assert "batch 1/2: 8|=|1|11|100000|0|D came 0|1" in told
    assert "7|+|1|11001" not in told
    assert "9|+" not in told
