"""Shapes of indexes, and what SQL says about each key value: for test_keys.py.

SQL is asked how each row's column compares with each single value. The answers are combined by the
rule of docs/protocol.md. Parts compare one after the other, and NULL is below everything. A
descending part compares the other way round. If the first part descends, the whole comparison is
reversed.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from handlersocket2.codec import encode_value
from support.database import Argument, Sql
from support.servers import KEYED_ENGINES, NOPAD_COLLATION, ON_MYSQL

OPERATORS = ("=", ">", ">=", "<", "<=")
Probe = str | bytes | None
Key = tuple[Probe, ...]

# It compares with nothing in every text column, because it is no UTF-8.
BROKEN = b"a\xff"


@dataclass(frozen=True)
class Part:
    """One part of an index."""

    column: str
    prefix: int = 0  # 0: the whole column
    descends: bool = False

    @property
    def declared(self) -> str:
        length = f"({self.prefix})" if self.prefix else ""
        return f"{self.column}{length}{' DESC' if self.descends else ''}"

    @property
    def order(self) -> str:
        """What SQL has to order by to get the index's order."""
        kept = f"LEFT({self.column}, {self.prefix})" if self.prefix else self.column
        return f"{kept}{' DESC' if self.descends else ''}"


@dataclass(frozen=True)
class Shape:
    """An index of so many parts."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return ", ".join(part.declared for part in self.parts)


@dataclass(frozen=True)
class Columns:
    """A table's columns, the values in its rows, and the values that requests ask for."""

    text: str  # the character set and collation of its text
    engine: str = "InnoDB"
    foreign: str | None = None  # text that the character set cannot hold
    pads: bool = True
    folds: bool = True  # upper and lower case are equal
    descends: bool = True  # the engine has descending indexes
    one_in: int = 3  # of the shapes with several parts, one in so many is taken

    @property
    def definitions(self) -> dict[str, str]:
        return {
            "a": "INT",
            "b": "INT NOT NULL",
            "s": f"VARCHAR(4) {self.text}",
            "t": f"VARCHAR(4) {self.text} NOT NULL",
            "c": f"CHAR(4) {self.text}",
            "v": "VARBINARY(4)",
            "d": "BINARY(4) NOT NULL",
            "x": f"TEXT {self.text}",
            "y": f"TEXT {self.text} NOT NULL",
            "z": "BLOB",
            "w": "BLOB NOT NULL",
        }

    def is_number(self, column: str) -> bool:
        return column in "ab"

    def is_binary(self, column: str) -> bool:
        return column in "vdzw"

    def values(self, column: str) -> list[Probe]:
        """The values in the rows."""
        if self.is_number(column):
            values: list[Probe] = ["1", "3", "5"]
        else:
            values = ["", "a", "A", "ab", "abc", "abd", "ac", "b", "ba"]
            # The blanks of a CHAR are in the index. If the collation does not pad, they count
            # there, and the engine itself has another order than SQL.
            if column != "c" or self.pads:
                values += ["a\t", "a b"]
        if "NOT NULL" not in self.definitions[column]:
            values.append(None)
        return values

    def probes(self, column: str, parts: int) -> list[Probe]:
        """The values that requests ask for. Longer keys have fewer values for each part."""
        if self.is_number(column):
            return [None, "3", "3.5", "9"] if parts == 1 else [None, "3", "2.5"]
        if parts > 2:
            return [None, "a", "abc", "zz"]
        values: list[Probe] = [None, "", "a", "AB", "abd", "abcde", "a ", "zz", "ac  "]
        if not self.is_binary(column):
            values.append(BROKEN)
            if self.foreign is not None:
                values.append(self.foreign)
        return values if parts == 1 else values[:6] + values[-1:]

    def compares_with_nothing(self, column: str, value: Probe) -> bool:
        if self.is_number(column) or self.is_binary(column):
            return False
        return value == BROKEN or (value is not None and value == self.foreign)

    def identity(self, column: str, value: Probe) -> Probe:
        """It is the same for two values that SQL treats as equal."""
        if not isinstance(value, str) or self.is_number(column) or self.is_binary(column):
            return value
        value = value.rstrip(" ") if self.pads else value
        return value.casefold() if self.folds else value


# What the text of a table's columns may be.
COLLATIONS: dict[str, Columns] = {
    "utf8mb4": Columns("CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", one_in=1),
    "nopad": Columns(f"CHARACTER SET utf8mb4 COLLATE {NOPAD_COLLATION}", pads=False),
    "binary_order": Columns("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", folds=False),
    "latin1": Columns("CHARACTER SET latin1", foreign="a日"),
    "ucs2": Columns("CHARACTER SET ucs2", foreign="a😀"),
    "utf8mb3": Columns("CHARACTER SET utf8mb3", foreign="a😀"),
    **{
        engine: Columns("CHARACTER SET latin1", engine=engine, descends=not ON_MYSQL)
        for engine in KEYED_ENGINES
    },
}


@dataclass
class Model:
    """A table with every shape as an index, and what SQL says about its rows."""

    sql: Sql
    columns: Columns
    table: str
    shapes: Sequence[Shape]
    rows: int = 60
    _signs: dict[tuple[str, Probe], dict[int, int]] = field(default_factory=dict)

    def create(self) -> None:
        definitions = ", ".join(f"{name} {kind}" for name, kind in self.columns.definitions.items())
        indexes = ", ".join(f"KEY k{n} ({shape})" for n, shape in enumerate(self.shapes))
        self.sql.run(
            f"CREATE TABLE {self.table} (id INT PRIMARY KEY, m DECIMAL(65) NOT NULL DEFAULT 0,"
            f" {definitions}, {indexes}) ENGINE={self.columns.engine}"
        )
        chance = random.Random(9)
        names = list(self.columns.definitions)
        rows = [
            [str(number), *(chance.choice(self.columns.values(name)) for name in names)]
            for number in range(1, self.rows + 1)
        ]
        places = ", ".join(["%s"] * (len(names) + 1))
        with self.sql.connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {self.table} (id, {', '.join(names)}) VALUES ({places})", rows
            )

    @cached_property
    def ids(self) -> list[int]:
        return list(range(1, self.rows + 1))

    def _sign(self, column: str, value: Probe) -> dict[int, int]:
        """For each row: whether its column is below, at or above the value."""
        if (column, value) not in self._signs:
            arguments: list[Argument] = []
            if value is None:
                sign = f"{column} IS NOT NULL"
            else:
                number = self.columns.is_number(column)
                shown = str(value) if number else "%s"
                arguments = [] if number else [value, value]
                sign = (
                    f"CASE WHEN {column} IS NULL OR {column} < {shown} THEN -1"
                    f" WHEN {column} = {shown} THEN 0 ELSE 1 END"
                )
            found = self.sql.rows(f"SELECT id, {sign} FROM {self.table}", arguments)
            self._signs[column, value] = {int(i or 0): int(s or 0) for i, s in found}
        return self._signs[column, value]

    def index_order(self, shape: Shape) -> list[int]:
        order = ", ".join(part.order for part in shape.parts)
        found = self.sql.rows(f"SELECT id FROM {self.table} ORDER BY {order}, id")
        return [int(number or 0) for (number,) in found]

    def found(self, shape: Shape, order: list[int], op: str, key: Key) -> list[int]:
        """The rows of a find, in their order. `order` is the order of the index."""
        asked = list(zip(shape.parts[: len(key)], key, strict=True))
        if any(self.columns.compares_with_nothing(part.column, value) for part, value in asked):
            return []
        turned = shape.parts[0].descends
        signs = [
            (self._sign(part.column, value), -1 if part.descends != turned else 1)
            for part, value in asked
        ]
        wanted = {"=": (0,), ">": (1,), ">=": (0, 1), "<": (-1,), "<=": (-1, 0)}[op]
        forwards = op == "=" or (op in (">", ">=")) != turned
        rows = []
        for row in order if forwards else order[::-1]:
            for sign, turn in signs:
                if sign[row] != 0:
                    if sign[row] * turn in wanted:
                        rows.append(row)
                    break
            else:
                if 0 in wanted:
                    rows.append(row)
        return rows

    def keys(self, shape: Shape) -> Iterator[Key]:
        """All keys of all lengths."""
        for length in range(1, len(shape.parts) + 1):
            yield from itertools.product(
                *(self.columns.probes(part.column, length) for part in shape.parts[:length])
            )

    def in_lists(self, shape: Shape) -> Iterator[tuple[Key, int, list[Probe]]]:
        """Keys, the part that IN varies, and the values of IN."""
        for length in range(1, len(shape.parts) + 1):
            for varied in range(length):
                column = shape.parts[varied].column
                if self.columns.is_number(column):
                    values: list[Probe] = ["3", "7", "5", None, "3", "5.5", None]
                else:
                    values = ["abc", "abd", "x", "abc", "a", "AB", "ab", None, "abcd", "b", None]
                    values += [] if self.columns.is_binary(column) else [BROKEN, BROKEN]
                rest = [self.columns.probes(part.column, 3) for part in shape.parts[:length]]
                rest[varied] = [""]
                for key in itertools.product(*rest):
                    yield key, varied, values

    def found_in(
        self, shape: Shape, order: list[int], op: str, key: Key, varied: int, values: list[Probe]
    ) -> list[int]:
        column = shape.parts[varied].column
        once: dict[Probe, Probe] = {}
        for value in values:
            once.setdefault(self.columns.identity(column, value), value)
        rows = []
        for value in once.values():
            rows += self.found(shape, order, op, (*key[:varied], value, *key[varied + 1 :]))
        return rows


def line(*tokens: Probe | int) -> bytes:
    """One request."""
    return b"\t".join(map(encode_value, tokens)) + b"\n"
