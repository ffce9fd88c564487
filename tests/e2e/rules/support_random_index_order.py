"""How an index orders text, where that is not the order in which SQL compares whole values.

It orders by the beginning of a value, if it holds only that or if the column cuts the text that is
searched. In a NO PAD collation blanks at the end count, but a CHAR has none. InnoDB on MySQL orders
CHARs without them, as SQL compares them. Other engines order CHARs as if blanks filled them up. How
many blanks that are depends on the engine, the size of the key and the characters. That matters for
characters that have several weights or none, or that come before the blank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from support.servers import ON_MYSQL
from support_random_kinds import Kind, Value
from support_random_tables import Part, TableModel


def counts_blanks(kind: Kind) -> bool:
    """Whether it is a CHAR whose collation is NO PAD."""
    if not kind.sql.startswith("CHAR("):
        return False
    if not ON_MYSQL:
        return "nopad" in kind.sql
    # Such a collation is also the default of utf8mb4.
    return "_0900_" in kind.sql or ("utf8mb4" in kind.sql and "COLLATE" not in kind.sql)


# In place of an engine: one that finds rows by whole values.
_WHOLE = "whole"


def by_whole_values(table: TableModel) -> TableModel:
    """The table if no row stood elsewhere in the index than SQL's comparison says."""
    return replace(table, engine=_WHOLE)


def filled_columns(table: TableModel, parts: Sequence[Part]) -> list[str]:
    """The columns of which nobody knows exactly how the index orders some values."""
    names = [part.column for part in parts]
    return [name for name in names if _fills_blanks(table, table.column(name).kind)]


def is_plain(value: Value) -> bool:
    """Whether the text has neither characters that come before the blank nor several weights."""
    return value is None or all(0x20 <= byte < 0x7F for byte in value)


def _drops_blanks(table: TableModel, kind: Kind) -> bool:
    return counts_blanks(kind) and ON_MYSQL and table.engine in ("InnoDB", "partitioned")


def _fills_blanks(table: TableModel, kind: Kind) -> bool:
    return counts_blanks(kind) and not _drops_blanks(table, kind)


def _size(kind: Kind) -> int:
    """The characters of a CHAR or VARCHAR, or 0."""
    size = re.match(r"(?:VAR)?CHAR\((\d+)\)", kind.sql)
    return int(size[1]) if size is not None and kind.family == "text" else 0


def indexed(table: TableModel, part: Part, expression: str) -> str:
    """The SQL expression for what the index holds of a value."""
    kind = table.column(part.column).kind
    return _held(table, kind, part.prefix, expression)


def _held(table: TableModel, kind: Kind, length: int, expression: str) -> str:
    if length:
        expression = f"LEFT({expression}, {length})"
    if _drops_blanks(table, kind):
        return f"TRIM(TRAILING ' ' FROM {expression})" if length else expression
    if _fills_blanks(table, kind):
        return f"RPAD({expression}, {length or _size(kind)}, ' ')"
    return expression


def searched_length(table: TableModel, part: Part, value: Value) -> int:
    """By how many characters the index is searched, if they do not tell how the rows compare."""
    kind = table.column(part.column).kind
    if value is None or table.engine == _WHOLE:
        return 0
    if part.prefix:
        return part.prefix
    size = _size(kind)
    text = value.decode(errors="replace")
    is_other = counts_blanks(kind) and (text.endswith(" ") or _fills_blanks(table, kind))
    return size if size and (len(text) > size or is_other) else 0


def searched(
    table: TableModel, kind: Kind, value: bytes, length: int, mine: str, its: str, comparison: str
) -> tuple[str, str, str]:
    """SQL for what a row that is below, equals, is above the value has to fulfil to be met."""
    held, image = _held(table, kind, length, mine), _held(table, kind, length, its)
    equal = comparison[0] + "=" if comparison != "=" else "="
    below = image
    if _drops_blanks(table, kind) and comparison[0] == "<":
        text = value.decode(errors="replace")
        kept = text[:length].rstrip(" ")
        if len(kept) < min(length, len(text)):
            # It lies between the values without blanks; the search begins above all of them.
            below = f"CONCAT({image}, '!')"
    return f"{held} <= {below}", f"{held} {equal} {below}", f"{held} >= {image}"
