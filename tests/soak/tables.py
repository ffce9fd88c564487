"""The tables of the soak. All have the same columns; engine, types, keys and rules differ.

A row shows by itself whether it is whole: n + m is 0, and txt follows from owner and ver. Every
write keeps that true. So a client that reads a row, its own or another's, sees whether it was torn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from soak.columns import (
    NULL,
    Column,
    DateColumn,
    DecimalColumn,
    IntColumn,
    SortKey,
    TextColumn,
    text_of,
)

DATABASE = "soak"
#: A table that does not exist.
NO_TABLE = "t_none"
#: A row is a tuple of tokens in this order.
COLUMNS = ("id", "owner", "n", "m", "ver", "txt", "x")
ID, OWNER, N, M, VER, TXT, X = range(7)
Row = tuple[bytes, ...]
#: The parts of an index: the column, and whether it descends.
Parts = tuple[tuple[int, bool], ...]

#: Rows that belong to nobody and never change: finds through all of them are long.
STATIC_OWNER = 0
STATIC_ROWS = 6000
#: The ids of an owner begin at 1000 times its number, behind the rows of nobody.
FIRST_OWNER = 11


@dataclass(frozen=True)
class Table:
    name: str
    x: Column
    engine: str = "InnoDB"
    text: str = "VARCHAR(600)"
    largest: int = 200  # bytes of the largest text
    key: tuple[str, ...] = ("id",)
    x_index: str = "x"
    x_prefix: int = 0
    x_descends: bool = False
    static_rows: int = 0
    parent: str = ""  # x refers to this table's id
    flips_x: bool = False  # a trigger changes x at each update
    extra: tuple[str, ...] = field(default=())

    @property
    def transactional(self) -> bool:
        return self.engine == "InnoDB"

    @property
    def indexes(self) -> dict[str, Parts]:
        found: dict[str, Parts] = {
            "PRIMARY": tuple((COLUMNS.index(name), False) for name in self.key),
            "by_owner": ((OWNER, False), (X, False)),
            "by_x": ((X, self.x_descends),),
        }
        if self.transactional:
            found["by_n"] = ((OWNER, False), (N, True))
        return found

    @property
    def hashed(self) -> bool:
        """Whether PRIMARY finds a row only by all of its values."""
        return self.engine == "MEMORY"

    def key_of(self, column: int, token: bytes) -> SortKey:
        if column == X:
            return _x_key(self.x, token)
        return (1, token) if column == TXT else _number_key(token)

    def definition(self) -> str:
        prefix = f"({self.x_prefix})" if self.x_prefix else ""
        direction = " DESC" if self.x_descends else ""
        parts = [
            "id INT NOT NULL",
            "owner INT NOT NULL",
            "n BIGINT NOT NULL",
            "m BIGINT NOT NULL",
            "ver INT NOT NULL",
            f"txt {self.text} NOT NULL",
            f"x {self.x.sql} NULL",
            f"PRIMARY KEY ({', '.join(self.key)})",
            f"KEY by_owner (owner, x){' USING BTREE' if self.hashed else ''}",
            f"KEY by_x (x{prefix}{direction}){' USING BTREE' if self.hashed else ''}",
        ]
        if self.transactional:
            parts.append("KEY by_n (owner, n DESC)")
        if self.parent:
            parts.append(f"CONSTRAINT fk_{self.name} FOREIGN KEY (x) REFERENCES {self.parent} (id)")
        return f"CREATE TABLE {self.name} ({', '.join(parts)}) ENGINE={self.engine}"


@lru_cache(maxsize=1 << 16)
def _number_key(token: bytes) -> SortKey:
    return (0, 0) if token == NULL else (1, int(token))


@lru_cache(maxsize=1 << 16)
def _x_key(column: Column, token: bytes) -> SortKey:
    return column.key(token)


def all_tables(on_mysql: bool) -> list[Table]:
    tables = [
        Table("t_int", IntColumn("INT"), static_rows=STATIC_ROWS),
        Table("t_date", DateColumn(0), text="TEXT", largest=2000),
        Table("t_fraction", DateColumn(3), text="LONGTEXT", largest=30_000),
        Table("t_price", DecimalColumn()),
        Table("t_word", TextColumn(), text="TEXT", x_prefix=5),
        Table("t_pair", IntColumn("INT"), key=("owner", "id"), x_descends=True),
        Table("t_fire", IntColumn("INT"), flips_x=True),
        Table("t_parent", IntColumn("INT")),
        Table("t_child", IntColumn("INT"), parent="t_parent"),
        Table("v_isam", DateColumn(0), engine="MyISAM", text="TEXT"),
        Table("v_heap", IntColumn("INT"), engine="MEMORY"),
    ]
    if not on_mysql:
        tables.append(Table("v_aria", DecimalColumn(), engine="Aria", text="TEXT"))
    return tables


def more_statements() -> list[str]:
    """What exists beside the tables: triggers, and objects that DDL may change in any way."""
    return [
        "CREATE TABLE audit (id INT, owner INT)",
        "CREATE TRIGGER g_update BEFORE UPDATE ON t_fire FOR EACH ROW SET NEW.x = OLD.x ^ 1",
        # Now and then it leaves something in its session, and expects to find nothing.
        "CREATE TRIGGER g_insert AFTER INSERT ON t_fire FOR EACH ROW BEGIN"
        " INSERT INTO audit VALUES (NEW.id, NEW.owner);"
        " IF @left IS NOT NULL THEN SIGNAL SQLSTATE '45000'; END IF;"
        " IF NEW.id % 3 = 0 THEN SET @left = NEW.id; END IF; END",
        "CREATE TABLE plaything (id INT PRIMARY KEY, v INT, w VARCHAR(50))",
    ]


def static_row(table: Table, number: int) -> Row:
    version = number % 7
    text = text_of(STATIC_OWNER, version, 0)
    return (b"%d" % number, b"0", b"%d" % number, b"-%d" % number, b"%d" % version, text, b"1")


def wholeness(table: Table, row: Row) -> str:
    """What is wrong with a row by itself; empty if nothing is."""
    if int(row[N]) + int(row[M]) != 0:
        return "n + m is not 0"
    owner = int(row[OWNER])
    largest = 0 if owner == STATIC_OWNER else table.largest
    if row[TXT] != text_of(owner, int(row[VER]), largest):
        return "txt is another version's or owner's"
    if owner != STATIC_OWNER and int(row[ID]) // 1000 != owner:
        return "the id is not of its owner's range"
    return ""
