"""Random tables: columns of any kind, any indexes, any engine, CHECKs, triggers, foreign keys."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from support.database import Sql
from support.servers import ON_MYSQL
from support_random_kinds import Kind, Value, all_kinds, compressed, text_kind


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    sql: str
    nullable: bool
    generated: bool = False


@dataclass(frozen=True)
class Part:
    column: str
    prefix: int = 0
    descends: bool = False

    def sql(self) -> str:
        prefix = f"({self.prefix})" if self.prefix else ""
        return f"`{self.column}`{prefix}{' DESC' if self.descends else ''}"


@dataclass(frozen=True)
class IndexModel:
    name: str
    parts: tuple[Part, ...]
    unique: bool = False
    hashed: bool = False

    def sql(self) -> str:
        kind = "PRIMARY KEY" if self.name == "PRIMARY" else f"KEY {self.name}"
        if self.unique and self.name != "PRIMARY":
            kind = f"UNIQUE {kind}"
        return f"{kind} ({', '.join(part.sql() for part in self.parts)})"


@dataclass(frozen=True)
class TableModel:
    """A table. By `rid`, SQL and the plugin identify rows; no request changes it."""

    name: str
    columns: tuple[Column, ...]
    indexes: tuple[IndexModel, ...]
    engine: str
    beside: tuple[str, ...]
    after: tuple[str, ...]
    transactional: bool

    def create(self) -> list[str]:
        lines = [f"`{column.name}` {column.sql}" for column in self.columns]
        for index in self.indexes:
            using = ""
            if self.engine == "MEMORY":
                using = " USING HASH" if index.hashed else " USING BTREE"
            lines.append(index.sql() + using)
        engine = "InnoDB" if self.engine in ("partitioned", "versioned") else self.engine
        head = f"CREATE TABLE {self.name} ({', '.join([*lines, *self.beside])}) ENGINE={engine}"
        if self.engine == "partitioned":
            head += " PARTITION BY HASH (rid) PARTITIONS 3"
        if self.engine == "versioned":
            head += " WITH SYSTEM VERSIONING"
        return [head, *self.after]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def index(self, name: str) -> IndexModel:
        return next(index for index in self.indexes if index.name == name)


Row = tuple[tuple[str, Value], ...]


class TableMaker:
    """Makes random tables for one server."""

    def __init__(self, sql: Sql) -> None:
        self._kinds = all_kinds()
        self._collations = [
            (bytes(charset or b"").decode(), bytes(name or b"").decode())
            for charset, name in sql.rows(
                "SELECT character_set_name, full_collation_name FROM"
                " information_schema.collation_character_set_applicability ORDER BY 1, 2"
                if not ON_MYSQL
                else "SELECT character_set_name, collation_name FROM information_schema.collations"
                " ORDER BY 1, 2"
            )
            if charset and charset not in (b"binary", b"filename")
        ]
        engines = {
            bytes(name or b"").decode().upper()
            for name, support, *_ in sql.rows("SHOW ENGINES")
            if support in (b"YES", b"DEFAULT")
        }
        self._engines = ["InnoDB"] * 4 + ["partitioned", "MyISAM", "MEMORY"]
        self._engines += [name for name in ("Aria", "ROCKSDB") if name.upper() in engines]
        self._engines += [] if ON_MYSQL else ["versioned"]

    def table(self, rng: random.Random, name: str) -> TableModel:
        engine = rng.choice(self._engines)
        transactional = engine in ("InnoDB", "partitioned", "versioned", "ROCKSDB")
        rid = Column("rid", next(kind for kind in self._kinds if kind.name == "int"),
                     "INT NOT NULL", False)  # fmt: skip
        columns = [rid, *(self._column(rng, f"c{number}") for number in range(rng.randint(2, 6)))]
        if rng.random() < 0.3:
            columns += self._generated(rng, columns, engine)
        rng.shuffle(columns)
        indexes = self._indexes(rng, columns, engine)
        beside, after = self._extras(rng, name, columns, engine)
        return TableModel(
            name, tuple(columns), indexes, engine, tuple(beside), tuple(after), transactional
        )

    def kind(self, rng: random.Random) -> Kind:
        kind = text_kind(rng, self._collations) if rng.random() < 0.3 else rng.choice(self._kinds)
        if rng.random() < 0.2:
            kind = compressed(kind) or kind
        return kind

    def _column(self, rng: random.Random, name: str) -> Column:
        kind = self.kind(rng)
        nullable = rng.random() < 0.7
        sql = kind.sql.removesuffix(" NULL") + (" NULL" if nullable else " NOT NULL")
        if rng.random() < 0.2 and kind.family in ("int", "decimal", "float", "double"):
            sql += " DEFAULT 7"
        elif rng.random() < 0.2 and kind.family == "text" and not kind.blob:
            sql += " DEFAULT 'a'"
        elif kind.family == "timestamp" and not nullable:
            sql += " DEFAULT '2001-02-03 04:05:06'"
        return Column(name, kind, sql, nullable)

    def _generated(
        self, rng: random.Random, columns: Sequence[Column], engine: str
    ) -> list[Column]:
        # MariaDB does not notice that a COMPRESSED value has changed when it updates such an index.
        sources = [column for column in columns[1:] if "COMPRESSED" not in column.sql]
        if not sources:
            return []
        source = rng.choice(sources)
        # MariaDB's partitions give rows in a wrong order by an index of a virtual column, also in
        # SQL.
        stored = "STORED" if engine == "partitioned" else rng.choice(["VIRTUAL", "STORED"])
        if source.kind.family == "text":
            kind = next(kind for kind in self._kinds if kind.name == "varchar_utf8mb4")
            expression = f"VARCHAR(10) CHARACTER SET utf8mb4 AS (LEFT({source.name}, 3)) {stored}"
        elif source.kind.family == "opaque":
            return []
        else:
            kind = next(kind for kind in self._kinds if kind.name == "int")
            expression = f"INT AS (LENGTH({source.name})) {stored}"
        return [Column("g", kind, expression, True, True)]

    def index(
        self, rng: random.Random, columns: Sequence[Column], name: str, engine: str
    ) -> IndexModel | None:
        keyed = [
            column for column in columns if column.kind.keyed and can_be_judged(column, engine)
        ]
        chosen = rng.sample(keyed, min(len(keyed), rng.choice([1, 1, 2, 2, 3])))
        parts = []
        for column in chosen:
            length = column.kind.length
            prefix = 0
            if column.kind.blob or (length > 1 and rng.random() < 0.35):
                prefix = rng.randint(1, min(max(length - 1, 1), 4))
            part = Part(column.name, prefix, rng.random() < 0.25)
            if engine == "MyISAM" and ON_MYSQL:
                # MySQL's MyISAM fills the beginning of a CHAR with blanks, by bytes. In a collation
                # for which these blanks count, even SQL does not find a where it equals ä.
                fills = column.kind.sql.startswith("CHAR")
                part = replace(part, prefix=0 if fills else prefix, descends=False)
            if engine == "MEMORY" and is_wide_char(column.kind):
                # MEMORY fills the beginning of a CHAR by bytes, too. In UTF-32 these are no blanks,
                # and even SQL does not find a with U+0001 behind it, which equals a.
                part = replace(part, prefix=0)
            if engine == "partitioned" and prefix:
                # Partitions do not order the beginnings of texts by their collation, also in SQL:
                # blanks at the end count there.
                continue
            parts.append(part)
        unique, hashed = rng.random() < 0.25, rng.random() < 0.3
        if not parts:
            return None
        if engine == "partitioned" and all(part.column != "rid" for part in parts):
            unique = False
        return IndexModel(name, tuple(parts), unique, hashed and engine == "MEMORY")

    def _indexes(
        self, rng: random.Random, columns: Sequence[Column], engine: str
    ) -> tuple[IndexModel, ...]:
        found = []
        choice = rng.random()
        must = engine == "partitioned"
        solid = [
            column
            for column in columns
            if not column.nullable
            and not column.generated
            and column.kind.keyed
            and can_be_judged(column, engine)
        ]
        if choice < 0.5:
            found = [IndexModel("PRIMARY", (Part("rid"),), True)]
        elif choice < 0.8:
            other = rng.choice([c for c in solid if not (must and c.kind.blob)])
            prefix = 3 if other.kind.blob else 0
            parts = (Part(other.name, prefix, rng.random() < 0.3), Part("rid"))
            if other.name != "rid":
                found = [IndexModel("PRIMARY", parts, True)]
        for number in range(rng.randint(1, 4)):
            index = self.index(rng, columns, f"k{number}", engine)
            if index is not None:
                found.append(index)
        return tuple(found)

    def _extras(
        self, rng: random.Random, name: str, columns: Sequence[Column], engine: str
    ) -> tuple[list[str], list[str]]:
        beside, after = [], []
        numbers = [c.name for c in columns if c.kind.number and c.name != "rid" and not c.generated]
        if rng.random() < 0.15 and numbers:
            beside.append(f"CHECK ({rng.choice(numbers)} <> 42)")
        triggers = _may_have_triggers(columns)
        if rng.random() < 0.15 and engine in ("InnoDB", "versioned") and numbers and triggers:
            after.append(
                f"CREATE TRIGGER {name}_u BEFORE UPDATE ON {name} FOR EACH ROW"
                f" SET NEW.{numbers[0]} = NULLIF(NEW.{numbers[0]}, 7)"
            )
        if rng.random() < 0.15 and triggers:
            after.append(
                f"CREATE TRIGGER {name}_i BEFORE INSERT ON {name} FOR EACH ROW"
                " IF NEW.rid % 13 = 5 THEN SIGNAL SQLSTATE '45000'; END IF"
            )
        if rng.random() < 0.15 and engine == "InnoDB":
            columns_of_int = [c.name for c in columns if c.kind.name == "int" and c.name != "rid"
                              and not c.generated]  # fmt: skip
            if columns_of_int:
                beside.append(
                    f"FOREIGN KEY ({columns_of_int[0]}) REFERENCES parents (id) ON DELETE CASCADE"
                )
        return beside, after

    def row(self, rng: random.Random, table: TableModel, rid: int) -> Row:
        values: list[tuple[str, Value]] = []
        for column in table.columns:
            if column.generated:
                continue
            if column.name == "rid":
                values.append(("rid", b"%d" % rid))
            elif column.nullable and rng.random() < 0.15:
                values.append((column.name, None))
            else:
                values.append((column.name, column.kind.put(rng)))
        return tuple(values)


def can_be_judged(column: Column, engine: str) -> bool:
    """Whether the server's own searches of an index with this column do what SQL says."""
    # Aria finds nothing in such an index.
    return not (engine == "Aria" and is_wide_char(column.kind))


def is_wide_char(kind: Kind) -> bool:
    """Whether it is a CHAR in whose character set a blank has several bytes."""
    return kind.sql.startswith("CHAR") and re.search("ucs2|utf16|utf32", kind.sql) is not None


def _may_have_triggers(columns: Sequence[Column]) -> bool:
    """Whether triggers can be compared, in spite of a bug of MySQL's.

    With a BEFORE trigger, MySQL's own INSERT makes a wrong index of a VIRTUAL column: the index
    gets a NULL if the column's source is NOT NULL and gets no value.
    """
    virtual = [column for column in columns if column.sql.endswith(" VIRTUAL")]
    named = " ".join(column.sql for column in virtual)
    solid = [column for column in columns if not column.nullable and f"({column.name}" in named]
    return not (ON_MYSQL and solid)
