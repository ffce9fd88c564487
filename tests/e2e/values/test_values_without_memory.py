"""A value that there is no memory for is an error for its request, or ends its connection: it is
never taken for another value."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import MakeServer
from server_instance import REPOSITORY
from support.database import Database, SqlRow
from support.servers import ON_MYSQL
from support.wire import Wire, WireError

# A text of this length needs memory from the server, and nothing else needs so much at once.
LENGTH = 200_000
SIZES = f"{LENGTH} {10 * LENGTH}"
# Each allocation of a request fails once. No request makes so many.
MOST_ALLOCATIONS = 50

COLUMNS = {
    "text": "MEDIUMTEXT CHARACTER SET latin1",
    "utf8": "MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "bytes": "MEDIUMBLOB",
    "words": "VARCHAR(100) CHARACTER SET latin1",
    "fixed": "CHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "kind": "ENUM('a', 'b', 'c') CHARACTER SET latin1",
    "kinds": "SET('a', 'b', 'c') CHARACTER SET latin1",
}
# A column in which only one row holds a text so long, and which no index has.
if ON_MYSQL:
    COLUMNS |= {"json": "JSON"}
else:
    COLUMNS |= {"pressed": "MEDIUMTEXT COMPRESSED CHARACTER SET latin1"}
NOT_KEYED = ("pressed", "json")
# Texts of this length that equal one letter if blanks at the end do not count.
PADDED = {letter: letter + b" " * (LENGTH - 1) for letter in (b"a", b"b", b"c")}


class Case(NamedTuple):
    """A request. If it does not write, it is sent on both ports."""

    name: str
    request: bytes
    writes: bool = False

    @property
    def short(self) -> bytes:
        """The same request without the blanks, if blanks at the end do not count."""
        return self.request if "bytes" in self.name else self.request.replace(b"  ", b"")


def line(*tokens: bytes) -> bytes:
    return b"\t".join(tokens) + b"\n"


def cases() -> Iterator[Case]:
    for number, column in enumerate(COLUMNS):
        index, place = str(number + 1).encode(), str(number).encode()
        if column not in NOT_KEYED:
            for op in (b"=", b">=", b"<"):
                yield Case(f"{column} {op.decode()}", line(index, op, b"1", PADDED[b"b"], b"9"))
            asked = line(index, b"=", b"1", b"", b"9", b"0", b"@", b"0", b"3", *PADDED.values())
            yield Case(f"{column} IN", asked)
            changed = line(index, b"<=", b"1", PADDED[b"b"], b"9", b"0", b"U", b"7")
            yield Case(f"{column} U", changed, writes=True)
            yield Case(f"{column} D", changed.replace(b"U\t7", b"D"), writes=True)
        for op in (b"=", b"<=") if column != "json" else ():
            found = line(b"0", b">=", b"1", b"0", b"9", b"0", b"F", op, place, PADDED[b"b"])
            yield Case(f"filter {column} {op.decode()}", found)
        if column in ("text", "pressed", "json"):
            for request in (
                line(str(number + 40).encode(), b">=", b"1", b"2", b"9"),
                line(str(number + 40).encode(), b"=", b"1", b"4", b"9"),
            ):
                yield Case(f"{column} is read", request)
            yield Case(f"{column} is given back", request[:-1] + b"\t0\tD?\n", writes=True)
        # In latin1 the text is half as long, so the engine's own allocations for it are too small
        # to fail.
        if column in ("text", "pressed"):
            opened, whole = str(number + 20).encode(), str(number + 40).encode()
            stored = "é".encode() * (LENGTH // 2)
            yield Case(
                f"{column} is set",
                line(opened, b"=", b"1", b"2", b"1", b"0", b"U", stored),
                writes=True,
            )
            yield Case(f"{column} is inserted", line(whole, b"+", b"2", b"5", stored), writes=True)


CASES = list(cases())


def quoted(column: str, value: str) -> str:
    return f"JSON_QUOTE({value})" if column == "json" else value


class Scarce:
    """A table in a server that finds no memory for a text when the test says so."""

    def __init__(self, database: Database, switch: Path) -> None:
        self.database = database
        self.switch = switch
        keyed = [name for name in COLUMNS if name not in NOT_KEYED]
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        sizes = {name: "(3)" for name in ("text", "utf8", "bytes")}
        keys = ", ".join(f"KEY k_{name} ({name}{sizes.get(name, '')})" for name in keyed)
        table = f"id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, {columns}, {keys}"
        database.sql.run(f"CREATE TABLE t ({table})")
        filters = ",".join(name for name in COLUMNS if name != "json")
        opened = [b"P\t0\ttest\tt\t\tid,n\t" + filters.encode()]
        for number, name in enumerate(keyed):
            opened.append(f"P\t{number + 1}\ttest\tt\tk_{name}\tn\t{filters}".encode())
        for number, name in enumerate(COLUMNS):
            opened.append(f"P\t{number + 20}\ttest\tt\t\t{name}".encode())
            opened.append(f"P\t{number + 40}\ttest\tt\t\tid,{name}".encode())
        self.open = b"".join(text + b"\n" for text in opened)
        self.opened = len(opened)

    def fill(self) -> None:
        """Inserts rows for a, b and c, and a fourth one with long texts."""
        names = ", ".join(["id", *COLUMNS])
        self.database.sql.run("DELETE FROM t")
        for number, letter in enumerate("abc", 1):
            values = [str(number), *(quoted(name, repr(letter)) for name in COLUMNS)]
            self.database.sql.run(f"INSERT INTO t ({names}) VALUES ({', '.join(values)})")
        # As latin1, compressed or as binary JSON, it is shorter for the engine.
        self.database.sql.run(f"INSERT INTO t (id, text) VALUES (4, REPEAT('é', {LENGTH // 2}))")
        if ON_MYSQL:
            letters = f"REPEAT(CHAR(1 USING utf8mb4), {LENGTH // 2})"
            self.database.sql.run(f"UPDATE t SET json = JSON_QUOTE({letters}) WHERE id = 4")
        else:
            self.database.sql.run(f"UPDATE t SET pressed = REPEAT('é', {LENGTH}) WHERE id = 4")

    def content(self) -> list[SqlRow]:
        return self.database.sql.rows("SELECT * FROM t ORDER BY id")

    def wire(self, write: bool) -> Wire:
        wire = self.database.wire(write=write)
        wire.send(self.open)
        assert wire.lines(self.opened) == [b"0\t1"] * self.opened
        return wire

    def ask(self, request: bytes, write: bool, skipped: int | None = None) -> bytes:
        """The reply; empty if the connection was closed."""
        with self.wire(write) as wire:
            if skipped is not None:
                self.switch.write_text(f"{SIZES} {skipped}")
            try:
                return wire.ask(request)
            except WireError:
                return b""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "no_memory_of_size.so"
    source = REPOSITORY / "tests/support/no_memory_of_size.cc"
    command = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def scarce(
    make_server: MakeServer, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scarce]:
    switch = tmp_path / "size"
    monkeypatch.setenv("HS_PRELOAD", str(library))
    monkeypatch.setenv("HS_NO_MEMORY", str(switch))
    server = make_server(handlersocket_threads=1, handlersocket_threads_wr=1)
    database = Database(server, "test")
    yield Scarce(database, switch)
    database.close()


def problems(scarce: Scarce, case: Case, write: bool) -> Iterator[object]:
    """Each allocation for a text fails once. Yields results that are neither right nor an error."""
    scarce.fill()
    before = scarce.content()
    expected = scarce.ask(case.request, write)
    assert expected.startswith(b"0\t"), (case.name, expected)
    after = scarce.content() if case.writes else before
    for skipped in range(MOST_ALLOCATIONS):
        if case.writes:
            scarce.fill()
        reply = scarce.ask(case.request, write, skipped)
        if scarce.switch.exists():
            scarce.switch.unlink()
            if skipped == 0:
                yield case.name, "takes no memory"
            return
        content = scarce.content() if case.writes else before
        is_right = reply == expected and content == after
        may_close = len(case.request) >= LENGTH
        is_refused = reply == b"1\t1\t128" or (may_close and reply == b"")
        if not is_right and not (is_refused and content == before):
            yield case.name, write, skipped, reply, content == before
        # The next value that is stored in the same field must be intact.
        if not case.writes and scarce.ask(case.short, write) != expected:
            yield case.name, write, skipped, "is not the same again"
    yield case.name, "does not come to an end"


def test_no_other_value(scarce: Scarce) -> None:
    found = [
        problem
        for case in CASES
        for write in ((True,) if case.writes else (False, True) if "=" in case.name else (False,))
        for problem in problems(scarce, case, write)
    ]
    assert not found, "\n" + "\n".join(map(repr, found))
