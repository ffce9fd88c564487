"""Requests, and what the server has to answer to each, given what the client knows.

predict() computes, without changing anything, what the request does to the client's rows, and the
reply. If rows of others may be part of the reply, it gives a check of the reply instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from soak.assignments import Assignment, assigned
from soak.columns import NULL
from soak.model import Edit, Model, Refused, Rows, Search
from soak.tables import (
    COLUMNS,
    DATABASE,
    ID,
    OWNER,
    TXT,
    VER,
    M,
    N,
    Row,
    Table,
    X,
    static_row,
    wholeness,
)

#: The columns of most open indexes, in the order in which writes give them.
WRITABLE = (N, M, VER, TXT, ID, OWNER, X)
NO_LIMIT = 100_000
OPENED = b"0\t1"
READONLY = b"2\t1\treadonly"
UNKNOWN_ID = b"2\t1\tstmtnum"


@dataclass(frozen=True)
class Spec:
    """What an index id is open for."""

    table: Table
    index: str
    columns: tuple[int, ...] = WRITABLE
    filters: tuple[int, ...] = (OWNER, VER, N)

    def open(self, number: int) -> bytes:
        names = ",".join(COLUMNS[column] for column in self.columns)
        filters = ",".join(COLUMNS[column] for column in self.filters)
        index = "" if self.index == "PRIMARY" else self.index
        return f"P\t{number}\t{DATABASE}\t{self.table.name}\t{index}\t{names}\t{filters}\n".encode()


@dataclass(frozen=True)
class Modification:
    """U, D, +, - or set: `values` as sent, `stored` as they are stored, `error` if it is refused.

    `shown` says which rows are answered: `?` as they were, `!` as they are afterwards, or none.
    """

    letter: str
    shown: str = ""
    values: tuple[bytes, ...] = ()
    stored: tuple[bytes, ...] = ()
    error: int = 0
    amount: int = 0
    assignments: tuple[Assignment, ...] = ()


@dataclass(frozen=True)
class Request:
    line: bytes
    kind: str


@dataclass(frozen=True)
class Plain(Request):
    """A request that touches no table and whose reply depends on nothing."""

    reply: bytes = b""


@dataclass(frozen=True)
class Open(Request):
    number: int = 0
    spec: Spec | None = None  # None: it cannot be opened, so the id stays as it was
    reply: bytes = OPENED


@dataclass(frozen=True)
class Find(Request):
    number: int = 0
    search: Search = field(default_factory=lambda: Search("", "=", ()))
    modification: Modification | None = None
    others: bool = False  # rows of other owners may be among the rows found
    count: str = ""  # C or E: how many there are, or whether there is one. `others`: nobody's rows


@dataclass(frozen=True)
class Insert(Request):
    number: int = 0
    row: Row = ()
    error: int = 0


@dataclass(frozen=True)
class Upsert(Insert):
    """Several rows, and what is done about those that are there: see Model.upsert()."""

    rows: tuple[Row, ...] = ()
    action: str = "fail"
    amount: int | None = None


@dataclass
class Prediction:
    reply: bytes = b""
    other: bytes = b""  # another reply that is as good as `reply`, if there is one
    check: Callable[[bytes], str] | None = None  # instead of `reply`: returns what is wrong
    table: str = ""
    edits: Sequence[Edit] = ()

    def complaint(self, reply: bytes) -> str:
        if self.check is not None:
            return self.check(reply)
        right = reply == self.reply or (self.other != b"" and reply == self.other)
        return "" if right else f"expected {shown(self.reply)}"


def is_write(request: Request) -> bool:
    return isinstance(request, Insert) or (
        isinstance(request, Find) and request.modification is not None
    )


def shown(line: bytes, most: int = 300) -> str:
    """A line for a person: TAB as |, cut if it is long."""
    text = line.rstrip(b"\n").replace(b"\t", b"|").decode("utf-8", "backslashreplace")
    text = text.replace("\0", "␀").replace("\1", "␁")
    return text if len(text) <= most else f"{text[:most]}… ({len(line)} bytes)"


def told(row: Sequence[bytes]) -> str:
    """A row for a person."""
    return shown(b"\t".join(row), 120) if row else "no row"


def error_line(number: int) -> bytes:
    return b"1\t1\t%d" % number


def rows_line(rows: Sequence[Row], columns: Sequence[int]) -> bytes:
    tokens = [row[column] for row in rows for column in columns]
    return b"\t".join([b"0\t%d" % len(columns), *tokens])


def predict(request: Request, model: Model, ids: dict[int, Spec], *, writable: bool) -> Prediction:
    if isinstance(request, Open | Plain):
        return Prediction(request.reply)
    assert isinstance(request, Find | Insert)
    spec = ids.get(request.number)
    if spec is None:
        return Prediction(UNKNOWN_ID)
    if is_write(request) and not writable:
        return Prediction(READONLY)
    if isinstance(request, Insert):
        return _predict_insert(request, model, spec)
    return _predict_find(request, model, spec)


def _refusal(refused: Refused) -> Prediction:
    other = error_line(refused.other) if refused.other else b""
    return Prediction(error_line(refused.error), other)


def _predict_insert(request: Insert, model: Model, spec: Spec) -> Prediction:
    table = spec.table.name
    reply = OPENED
    try:
        if isinstance(request, Upsert):
            edits, fates = model.upsert(table, request.rows, request.action, request.amount)
            reply = b"0\t2" + b"".join(b"\t%s\t%s" % (fate.encode(), NULL) for fate in fates)
        elif not request.error:
            edits = model.insert(table, request.row)
    except Refused as refused:
        return _refusal(refused)
    if request.error:  # of the row behind the others
        return Prediction(error_line(request.error))
    return Prediction(reply, table=table, edits=edits)


def _predict_find(request: Find, model: Model, spec: Spec) -> Prediction:
    rows = model.tables[spec.table.name]
    search = replace(request.search, index=spec.index)
    if len(search.values) > len(spec.table.indexes[spec.index]):
        return Prediction(b"2\t1\tkpnum")
    modification = request.modification
    if request.count and request.others:
        return Prediction(b"0\t1\t%d" % spec.table.static_rows)
    if request.others and modification is None:
        return Prediction(check=OthersToo(rows, search, spec).complaint)
    try:
        if request.count == "E":
            search = replace(search, limit=1)
        found = rows.find(search)
        if request.count:
            return Prediction(b"0\t1\t%d" % len(found))
        if modification is None:
            if not spec.table.transactional and spec.index != "PRIMARY":
                return Prediction(check=AnyOrder(rows, search, spec).complaint)
            return Prediction(rows_line(found, spec.columns))
        edits = _edits(modification, model, spec, found)
    except Refused as refused:
        return _refusal(refused)
    if modification.shown == "!":
        after = {old: new for old, new in edits if new is not None}
        prediction = Prediction(rows_line([after[row[ID]] for row in found], spec.columns))
    elif modification.shown:
        prediction = Prediction(rows_line(found, spec.columns))
        if not spec.table.transactional and spec.index != "PRIMARY":
            prediction.check = AnyOrder(rows, search, spec).complaint
    else:
        prediction = Prediction(b"0\t1\t%d" % len(edits))
    prediction.table, prediction.edits = spec.table.name, edits
    return prediction


def _crosses(row: Row, amount: int) -> bool:
    return int(row[N]) * (int(row[N]) - amount) < 0


def _edits(
    modification: Modification, model: Model, spec: Spec, found: Sequence[Row]
) -> list[Edit]:
    if modification.letter == "D":
        return model.delete(spec.table.name, found)
    if modification.letter == "U":
        if found and modification.error:
            raise Refused(modification.error)
        news = []
        for row in found:
            changed = list(row)
            for column, token in zip(spec.columns, modification.stored, strict=False):
                changed[column] = token
            news.append(tuple(changed))
        return model.update(spec.table.name, found, news)
    if modification.letter == "set":
        afterwards: list[Row] = []
        for row in found:
            became = assigned(spec.table, row, modification.assignments)
            if isinstance(became, int):
                raise Refused(became)
            afterwards.append(became)
        return model.update(spec.table.name, found, afterwards)
    amount = modification.amount
    if modification.letter == "-":
        found = [row for row in found if not _crosses(row, amount)]
        amount = -amount
    return model.update(spec.table.name, found, [model.added(row, amount) for row in found])


def split_rows(reply: bytes, spec: Spec) -> list[Row] | str:
    """The rows of a find's reply, each in the order of COLUMNS; or what is wrong with it."""
    code, columns, *tokens = reply.split(b"\t")
    width = len(spec.columns)
    if code != b"0" or columns != b"%d" % width or len(tokens) % width:
        return f"expected rows of {width} columns"
    places = [spec.columns.index(column) if column in spec.columns else -1 for column in range(7)]
    return [
        tuple(tokens[at + place] if place >= 0 else b"" for place in places)
        for at in range(0, len(tokens), width)
    ]


class AnyOrder:
    """A find for which the engine decides the order of rows with the same key."""

    def __init__(self, rows: Rows, search: Search, spec: Spec) -> None:
        self._spec = spec
        self._limit = search.limit
        self._offset = search.offset
        wanted = rows.find(replace(search, limit=NO_LIMIT, offset=0))
        self._wanted = [tuple(row[column] for column in spec.columns) for row in wanted]

    def complaint(self, reply: bytes) -> str:
        found = split_rows(reply, self._spec)
        if isinstance(found, str):
            return found
        rows = [tuple(row[column] for column in self._spec.columns) for row in found]
        count = max(0, min(len(self._wanted) - self._offset, self._limit))
        surplus = Counter(rows) - Counter(self._wanted)
        if len(rows) == count and not surplus:
            return ""
        said = f"{len(rows)} rows, expected {count} of {len(self._wanted)}"
        if surplus:
            said += f"; not expected: {[told(row) for row in surplus]}"
        if count == len(self._wanted) and (missing := Counter(self._wanted) - Counter(rows)):
            said += f"; missing: {[told(row) for row in missing]}"
        return said


class OthersToo:
    """A find that also finds rows of others. Own rows must be exact, theirs whole and in order."""

    def __init__(self, rows: Rows, search: Search, spec: Spec) -> None:
        assert spec.columns == WRITABLE and not search.offset
        self._rows = rows
        self._spec = spec
        self._search = search
        self._owner = b"%d" % rows.owner
        self._own = rows.find(replace(search, limit=NO_LIMIT))

    def complaint(self, reply: bytes) -> str:
        found = split_rows(reply, self._spec)
        if isinstance(found, str):
            return found
        if len(found) > self._search.limit:
            return f"{len(found)} rows, and {self._search.limit} were asked for"
        own = [row for row in found if row[OWNER] == self._owner]
        if not self._spec.table.transactional:
            strangers = set(own) - set(self._own)
            if strangers or len(set(own)) != len(own):
                return f"own rows that are none, or came twice: {[told(row) for row in strangers]}"
        elif own != self._own[: len(own)]:
            wrong = next(
                pair for pair in zip(own, [*self._own, ()], strict=False) if pair[0] != pair[1]
            )
            return f"own row {told(wrong[0])}, expected {told(wrong[1])}"
        table = self._spec.table
        statics = 0
        for row in found:
            if row[OWNER] == self._owner:
                continue
            if row[OWNER] == b"0":
                statics += 1
                if row != _static_rows(table).get(row[ID]):
                    return f"a row that never changes has changed: {told(row)}"
            elif wrong_way := wholeness(table, row):
                return f"a row of another: {wrong_way}: {told(row)}"
        if table.transactional:
            return self._order(found, own, statics)
        if len(found) < self._search.limit and len(own) != len(self._own):
            return f"own rows are missing: {[told(row) for row in set(self._own) - set(own)]}"
        return ""

    def _order(self, found: list[Row], own: list[Row], statics: int) -> str:
        table, search = self._spec.table, self._search
        parts = table.indexes[self._spec.index]
        positions = [self._rows._position(row, parts) for row in found]
        up = (search.op in (">", ">=")) != parts[0][1]
        if positions != sorted(set(positions), reverse=not up):
            return "the rows are not in the index's order, or one came twice"
        if len(own) < len(self._own):
            missing = self._own[len(own)]
            position = self._rows._position(missing, parts)
            passed = positions and (positions[-1] > position if up else positions[-1] < position)
            if len(found) < search.limit or passed:
                return f"own rows are missing, the first is {told(missing)}"
        through_all = self._spec.index == "PRIMARY" and len(found) < search.limit and up
        through_all = through_all and bool(table.static_rows) and search.values == (b"1",)
        if through_all and statics != table.static_rows:
            return f"{statics} of {table.static_rows} rows that never change"
        return ""


_known_static: dict[str, dict[bytes, Row]] = {}


def _static_rows(table: Table) -> dict[bytes, Row]:
    if table.name not in _known_static:
        rows = (static_row(table, number) for number in range(1, table.static_rows + 1))
        _known_static[table.name] = {row[ID]: row for row in rows}
    return _known_static[table.name]
