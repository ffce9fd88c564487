"""`W` after random writes, groups and what is no write, against SHOW WARNINGS of a twin table."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pymysql.err import Error as SqlError
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire
from support_servers import fresh_session, running_server

STEPS = 400
COLUMNS = ("id", "amount", "word", "day")
#: The tables have one name, in two databases: some warnings name the table.
TABLE = (
    "CREATE TABLE {0}.t (id INT PRIMARY KEY, amount DECIMAL(5, 2) NOT NULL DEFAULT 0,"
    " word VARCHAR(3) NOT NULL DEFAULT '', day DATE, UNIQUE KEY (amount)){1}",
    "INSERT INTO {0}.t VALUES (1, 1, 'one', NULL), (2, 2, 'two', NULL)",
)
#: The later ones of a column are told a warning of, or refused.
VALUES = {
    "id": ["1", "2", "3", "4", "5"],
    "amount": ["1", "2", "3.5", "1.234", "7.777", "8888888", "x"],
    "word": ["a", "abc", "abc  ", "long word"],
    "day": ["2026-11-28", "2026-11-28 10:11:12", "2026-13-01"],
}
#: Writes that are refused before anything is executed: without values, of no index, with no number.
REFUSED = ("1\t+\t0", "9\t+\t1\t1", "1\tinsert\tx\t1\t1")
OTHERS = ("1\t=\t1\t1", "X\techo\tx", "1\t=\t1\t1\t9\t0\tF\t<\t0\t0", "H\twarnings", "9\t=\t1\t1")

Warnings = list[tuple[bytes, int, bytes]]


@dataclass(frozen=True)
class Write:
    line: str
    statement: str | None  # None: it is refused


def _row(rng: random.Random, width: int) -> list[str]:
    return [rng.choice(VALUES[name]) for name in COLUMNS[:width]]


def _write(rng: random.Random) -> Write:
    if rng.random() < 0.1:
        return Write(rng.choice(REFUSED), None)
    column = rng.randrange(1, len(COLUMNS))
    value = rng.choice(VALUES[COLUMNS[column]])
    setter = f"{COLUMNS[column]} = '{value}'"
    if rng.random() < 0.4:
        key = rng.choice(VALUES["id"])
        return Write(
            f"1\t=\t1\t{key}\t1\t0\tset\t1\t{column}\t=\t{value}",
            f"UPDATE t SET {setter} WHERE id = {key}",
        )
    width = rng.randint(2, len(COLUMNS))
    rows = [_row(rng, width) for _ in range(rng.choice([1, 1, 2, 3]))]
    verb, otherwise, tail = rng.choice(
        [
            ("INSERT", "fail", ""),
            ("INSERT IGNORE", "ignore", ""),
            ("REPLACE", "replace", ""),
            (
                "INSERT",
                f"update\t1\t{column}\t=\t{value}",
                f" ON DUPLICATE KEY UPDATE {setter}",
            ),
        ]
    )
    cells = "\t".join(cell for row in rows for cell in row)
    literals = ", ".join(f"({', '.join(repr(cell) for cell in row)})" for row in rows)
    return Write(
        f"1\tinsert\t{len(rows)}\t{width}\t{cells}\telse\t{otherwise}",
        f"{verb} INTO t ({', '.join(COLUMNS[:width])}) VALUES {literals}{tail}",
    )


def _told_by_sql(sql: Sql, writes: list[Write], is_atomic: bool) -> Warnings | None:
    """The warnings of these statements, which are one transaction. None: one has failed."""
    sql.run("BEGIN")
    told: Warnings = []
    try:
        for write in writes:
            if write.statement is None:
                raise SqlError("refused")
            sql.rows(write.statement)
            for level, number, text in sql.rows("SHOW WARNINGS"):
                # MariaDB names the database, too.
                words = (text or b"").replace(b"`twin`", b"`hst`")
                told.append((level or b"", int(number or 0), words))
    except SqlError:
        sql.run("ROLLBACK" if is_atomic else "COMMIT")
        return None
    sql.run("COMMIT")
    return told


def _told(reply: bytes) -> Warnings:
    code, columns, *values = reply.split(b"\t")
    assert (code, columns) == (b"0", b"3"), reply
    return [(values[i], int(values[i + 1]), values[i + 2]) for i in range(0, len(values), 3)]


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_random_writes(server: ServerInstance, engine: str) -> None:
    seed = int(os.environ.get("HS_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}")
    rng = random.Random(seed)
    tables = [line.format(db, f" ENGINE={engine}") for db in ("hst", "twin") for line in TABLE]
    outcomes: dict[str, int] = {}
    with (
        fresh_session(server, "twin") as sql,
        fresh_session(server, "hst", *tables, "USE twin"),
        Wire(server.hs_port_wr) as wire,
    ):
        wire.send(f"P\t1\thst\tt\t\t{','.join(COLUMNS)}\nH\twarnings\n".encode())
        assert wire.lines(2)[0] == b"0\t1"
        expected: Warnings = []
        for _ in range(STEPS):
            # What a table without transactions has taken of a group stays, so it has none here.
            is_group = engine == "InnoDB" and rng.random() < 0.3
            writes = [_write(rng) for _ in range(rng.randint(1, 3) if is_group else 1)]
            told = _told_by_sql(sql, writes, is_atomic=engine == "InnoDB")
            expected = told or []
            lines = [*([f"G\t{len(writes)}"] if is_group else []), *(one.line for one in writes)]
            others = [rng.choice(OTHERS) for _ in range(rng.choice([0, 0, 1, 3]))]
            # In one packet, so that W waits for the write's commit.
            wire.send("".join(f"{line}\n" for line in [*lines, *others, "W"]).encode())
            replies = wire.lines(len(lines) + len(others) + 1)
            story = f"{writes} {others}: SQL {told}, plugin {replies}"
            assert replies[0].startswith(b"0\t") == (told is not None), story
            assert _told(replies[-1]) == expected, story
            outcome = "failed" if told is None else "warned" if told else "silent"
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        assert sql.rows("SELECT * FROM hst.t ORDER BY id") == sql.rows(
            "SELECT * FROM twin.t ORDER BY id"
        )
    assert all(outcomes.get(outcome, 0) > STEPS // 20 for outcome in ("failed", "warned", "silent"))
