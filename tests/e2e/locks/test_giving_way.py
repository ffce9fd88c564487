"""Long finds that give their streamer to others before they have answered anything, or much. They
go on later where they stood, and their answers are as if nothing had happened."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from conftest import fresh_database
from server_instance import ServerInstance
from support.database import Database

ROWS = 30_000
NAME = b"giving_way"
# There are two streamers. So with this many clients some wait, and those that run give way.
CLIENTS = 5
# On a busy machine the statement may come too late.
ATTEMPTS = 10
# Every row is looked at, and three hundred conditions make that slow. No row is skipped by them.
SLOWLY = b"\tF\t>\t0\t0" * 300
# Rows for which v is 1.
MARKED = (1, 7, 20_001, 29_990, ROWS)


@dataclass(frozen=True)
class Case:
    """A find by an index, and the keys that it answers or counts."""

    index: bytes
    request: bytes
    keys: Sequence[int]
    counts: bool = False

    def answer(self) -> bytes:
        if self.counts:
            return b"0\t1\t%d" % len(self.keys)
        return b"".join([b"0\t1", *(b"\t%d" % key for key in self.keys)])


def find_in(values: Sequence[int], keys: Sequence[int]) -> Case:
    listed = b"\t".join(b"%d" % value for value in values)
    return Case(b"", b"1\t=\t1\t0\t99999\t0\t@\t0\t%d\t%s\n" % (len(values), listed), keys)


def find_all(index: bytes, operator: bytes, keys: Sequence[int]) -> Case:
    bound = 0 if b">" in operator else ROWS + 1
    filters = SLOWLY + b"\tF\t=\t1\t1" + b"\tF\t>=\t0\t%d" % min(keys)
    return Case(index, b"1\t%s\t1\t%d\t99999\t0%s\n" % (operator, bound, filters), keys)


def count_all(range_of: bytes, keys: Sequence[int]) -> Case:
    request = b"1\t%s\t0%s\tF\t=\t1\t1\tC\n" % (range_of, SLOWLY)
    return Case(b"", request, keys, counts=True)


ABSENT = range(ROWS + 1, 5 * ROWS)
SPREAD = [
    key for at, key in enumerate(ABSENT) for key in ([at % 500 + 1] if at % 9 == 0 else [key])
]
CASES = {
    "in_without_rows": find_in(ABSENT, []),
    "in_with_rows_at_the_end": find_in([*ABSENT, *ABSENT[:5], 3, 2, 3], [3, 2]),
    "in_with_rows": find_in(SPREAD, list(dict.fromkeys(key for key in SPREAD if key <= ROWS))),
    "upwards": find_all(b"", b">=", MARKED),
    "the_last_row": find_all(b"", b">=", MARKED[-1:]),
    "downwards": find_all(b"", b"<=", MARKED[::-1]),
    # An operator compares values, whatever the order of the index is.
    "upwards_on_a_descending_index": find_all(b"down", b">=", MARKED),
    "downwards_on_a_descending_index": find_all(b"down", b"<=", MARKED[::-1]),
    "a_range": Case(
        b"down",
        b"1\tdown\t0\t>\t6\t<\t%d\t9999%s\tF\t=\t1\t1\n" % (ROWS, SLOWLY),
        MARKED[-2:0:-1],
    ),
    "a_count": count_all(b"up\t0", MARKED),
    "a_count_downwards": count_all(b"down\t0\t>\t1", MARKED[1:]),
}


@pytest.fixture
def database(server: ServerInstance) -> Iterator[Database]:
    with fresh_database(server, NAME.decode()) as opened:
        fill(opened)
        yield opened


def fill(database: Database) -> None:
    marked = ",".join(map(str, MARKED))
    database.sql.run(
        "DROP TABLE IF EXISTS t",
        "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, v INT, KEY down (k DESC))",
        f"INSERT INTO t SELECT seq, seq, seq IN ({marked}) FROM seq_1_to_{ROWS}",
    )


class Crowd:
    """Clients that ask the same at once."""

    def __init__(self, database: Database, case: Case) -> None:
        self._database = database
        self._case = case
        self._answers: list[bytes] = []
        self._threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        with self._database.wire() as wire:
            opening = b"P\t1\t%s\tt\t%s\tid\tk,v\n" % (NAME, self._case.index)
            assert wire.ask(opening) == b"0\t1"
            self._answers.append(wire.ask(self._case.request))

    def is_answered(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def join(self) -> list[bytes]:
        for thread in self._threads:
            thread.join(60)
        assert len(self._answers) == CLIENTS, "a client got no answer"
        return self._answers


def parked(database: Database) -> int:
    return database.sql.status("handlersocket_finds_parked")


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_whole(name: str, database: Database) -> None:
    case = CASES[name]
    before = parked(database)
    deadline = time.monotonic() + 30
    while parked(database) < before + CLIENTS:
        assert time.monotonic() < deadline, "no find gives way"
        assert Crowd(database, case).join() == [case.answer()] * CLIENTS


@pytest.mark.parametrize("name", ["in_with_rows_at_the_end", "the_last_row", "a_count"])
@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        ("ALTER TABLE t ADD COLUMN more INT FIRST", None),
        # What a place in the index consists of is no longer the same.
        ("ALTER TABLE t MODIFY id BIGINT NOT NULL", None),
        ("DROP TABLE t", b"1\t1\topen_table"),
    ],
)
def test_the_table_is_another_one(
    statement: str, refused: bytes | None, name: str, database: Database
) -> None:
    """Nothing has been answered yet, so the answer is whole, or an error."""
    whole = CASES[name].answer()
    for _ in range(ATTEMPTS):
        before = parked(database)
        crowd = Crowd(database, CASES[name])
        while parked(database) == before and not crowd.is_answered():
            time.sleep(0.002)
        gave_way = parked(database) > before
        database.sql.run(statement)
        answers = crowd.join()
        assert set(answers) <= {whole, refused}
        if gave_way and (refused is None or refused in answers):
            return
        fill(database)
    pytest.fail("all finds were over before the statement came")
