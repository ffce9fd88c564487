"""Requests that the original never had, beside SQL's statements for the same: upserts, inserts of
several rows, and counts.

Ours and SQL's are measured in turns, on one server with one worker for each port.
"""

from __future__ import annotations

import json
import socket
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pymysql

from .cases import PIPELINED, SINGLE
from .database import DURABLE, Database
from .load import Pace, run_load
from .markdown import hundredths, median_and_ends, table
from .places import ADDRESS, CLIENT_CORES, RESULTS, BenchError, on_cores

from demo import ROWS  # isort: skip  (setup/, put on the path by places)

COUNTERS = 100_000
COUNTER_TABLE = f"""
DROP TABLE IF EXISTS test.counter;
CREATE TABLE test.counter (id INT UNSIGNED PRIMARY KEY, n BIGINT UNSIGNED NOT NULL);
INSERT INTO test.counter SELECT user_id, 0 FROM test.user WHERE user_id <= {COUNTERS};
"""
ASIDE = "user_aside"
PUT_ASIDE = f"RENAME TABLE test.user TO test.{ASIDE}; CREATE TABLE test.user LIKE test.{ASIDE};"
TAKE_BACK = f"DROP TABLE IF EXISTS test.user; RENAME TABLE test.{ASIDE} TO test.user;"
UPSERT = (
    "--work=upsert",
    "--table=counter",
    "--insert-columns=id,n",
    "--insert-value",
    "{key}",
    "1",
    f"--keys={COUNTERS}",
)
SQL_UPSERT = ("--mode=upsert", f"--keys={COUNTERS}")
HUNDRED = ("--connections=16", "--insert-rows=100", "--keys=1")
PATIENCE = 60.0


@dataclass(frozen=True)
class Write:
    title: str
    ours: tuple[str, ...]
    sql: tuple[str, ...]
    least: float
    # The table of the users is empty before it.
    fills: bool = False


@dataclass(frozen=True)
class Count:
    title: str
    request: str
    condition: str
    most: float = 1.2


WRITES = (
    Write(
        "insert 1 or add 1, 16 × 100; SQL with 16 connections",
        PIPELINED + UPSERT,
        ("--connections=16", *SQL_UPSERT),
        10,
    ),
    Write(
        "insert 1 or add 1, 100 × 1; SQL with 100 connections",
        SINGLE + UPSERT,
        ("--connections=100", *SQL_UPSERT),
        4,
    ),
    Write(
        "100 rows in one insert, 16 × 1; SQL with 16 connections",
        ("--work=insert", "--depth=1", *HUNDRED),
        ("--mode=insert", *HUNDRED),
        3,
        fills=True,
    ),
)
MIDDLE = ROWS // 2
COUNTS = (
    Count("all rows", "1\tup\t0\tC", ""),
    Count(
        "half of the rows, by two ends",
        f"1\tup\t0\t>=\t1\t<=\t{MIDDLE}\tC",
        f"WHERE user_id <= {MIDDLE}",
    ),
    Count(
        "by a condition on another column",
        "1\tup\t0\tF\t>\t0\tuser_05\tC",
        "WHERE user_name > 'user_05'",
    ),
)

# By the title, of ours and of SQL, in each round: requests a second, or the seconds of a count.
Measured = dict[str, dict[str, list[float]]]


class Server:
    """One of ours with the demo's rows. Its writes are durable."""

    def __init__(self, tree: Path) -> None:
        self._database = Database("ours-requests", tree, settings=DURABLE)
        self._take_rows_back()
        self._database.instance.client(COUNTER_TABLE)
        self._database.forget_binlogs()

    def _take_rows_back(self) -> None:
        """Those of the demo, if an earlier run has put them aside and was ended."""
        if self._database.has_table(ASIDE):
            self._database.instance.client(TAKE_BACK)

    def put_rows_aside(self) -> None:
        """Inserts begin with an empty table, and hs-bench-sql knows no other one."""
        self._database.instance.client(PUT_ASIDE)

    def rate_of_ours(self, case: Write, pace: Pace) -> float:
        """Requests a second."""
        return self._run([*self._database.write_options(), *case.ours], case, "hs-bench", pace)

    def rate_of_sql(self, case: Write, pace: Pace) -> float:
        """Statements a second."""
        return self._run([*self._database.sql_options(), *case.sql], case, "hs-bench-sql", pace)

    def _run(self, options: Sequence[str], case: Write, generator: str, pace: Pace) -> float:
        if case.fills:
            self._database.instance.client("TRUNCATE test.user")
        done = run_load(options, server_pid=self._database.pid, pace=pace, generator=generator)
        return done.rate

    def count(self, case: Count) -> tuple[float, float]:
        """Seconds: ours and SQL's. It is an error if the answers differ."""
        ours, told = self._count_by_request(case)
        sql, right = self._count_by_sql(case)
        if told != right or told == 0:
            raise BenchError(f"{case.title}: counted {told} rows, and SQL {right}")
        return ours, sql

    def _count_by_request(self, case: Count) -> tuple[float, int]:
        place = (ADDRESS, self._database.instance.hs_port)
        with socket.create_connection(place, PATIENCE) as wire:
            lines = wire.makefile("rb")
            wire.sendall(b"P\t1\ttest\tuser\tPRIMARY\t\tuser_name\n")
            if lines.readline() != b"0\t1\n":
                raise BenchError("test.user cannot be opened")
            began = time.monotonic()
            wire.sendall(f"{case.request}\n".encode())
            reply = lines.readline()
            took = time.monotonic() - began
        if not reply.startswith(b"0\t1\t"):
            raise BenchError(f"{case.title}: {reply!r}")
        return took, int(reply[4:])

    def _count_by_sql(self, case: Count) -> tuple[float, int]:
        connection = pymysql.connect(host=ADDRESS, port=self._database.sql_port, user="root")
        try:
            with connection.cursor() as cursor:
                began = time.monotonic()
                cursor.execute(f"SELECT COUNT(*) FROM test.user {case.condition}")
                (row,) = cursor.fetchall()
                return time.monotonic() - began, int(row[0])
        finally:
            connection.close()

    def stop(self) -> None:
        try:
            self._take_rows_back()
        finally:
            self._database.stop()


def measure_new_requests(tree: Path, pace: Pace, mark: str) -> Path:
    measured: Measured = {}

    def add(title: str, ours: float, sql: float) -> None:
        of_case = measured.setdefault(title, {"ours": [], "sql": []})
        of_case["ours"].append(ours)
        of_case["sql"].append(sql)

    server = Server(tree)
    try:
        with on_cores(CLIENT_CORES):
            for count in COUNTS:
                server.count(count)  # so that both find the pages in memory
                for _ in range(pace.rounds):
                    add(count.title, *server.count(count))
        server.put_rows_aside()
        for number in range(pace.rounds):
            print(f"   round {number + 1} of {pace.rounds}", flush=True)
            for write in WRITES:
                # Each second round goes the other way round.
                if number % 2 == 0:
                    ours = server.rate_of_ours(write, pace)
                    sql = server.rate_of_sql(write, pace)
                else:
                    sql = server.rate_of_sql(write, pace)
                    ours = server.rate_of_ours(write, pace)
                add(write.title, ours, sql)
    finally:
        server.stop()
    path = RESULTS / f"requests-{tree.name}{mark}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(measured, indent=1))
    return path


def new_requests_table(path: Path) -> str:
    """The medians, and the median ratio of two that are side by side, with the least and the
    greatest."""
    measured: Measured = json.loads(path.read_text())
    lines = [
        _line(case.title, measured[case.title], "a second", f"≥ {case.least:g}") for case in WRITES
    ]
    lines += [
        _line(f"count, {case.title}", measured[case.title], "ms", f"≤ {case.most:g}")
        for case in COUNTS
    ]
    return table(["", "ours", "SQL", "ours / SQL", "wanted"], lines)


def _line(title: str, of_case: dict[str, list[float]], unit: str, wanted: str) -> list[str]:
    factor = 1000 if unit == "ms" else 1
    ratios = [ours / sql for ours, sql in zip(of_case["ours"], of_case["sql"], strict=True)]
    cells = [f"{statistics.median(of_case[who]) * factor:,.0f} {unit}" for who in ("ours", "sql")]
    return [title, *cells, median_and_ends(ratios, hundredths), wanted]
