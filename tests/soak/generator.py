"""Random requests of one client. The same random numbers and rows give the same requests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from soak.assignments import random_assignments, tokens_of
from soak.columns import NULL, Odd, TextColumn, text_of
from soak.lines import MALFORMED, find_line
from soak.model import End, Filter, Model, Search
from soak.requests import (
    NO_LIMIT,
    WRITABLE,
    Find,
    Insert,
    Modification,
    Open,
    Plain,
    Request,
    Spec,
    Upsert,
)
from soak.tables import DATABASE, ID, NO_TABLE, OWNER, TXT, VER, M, N, Row, Table, X

#: Ids beside the fixed ones. They are opened again and again for different tables during the work.
JUGGLED = range(500, 508)
NEVER_OPENED = (499, 4000, 18446744073709551615)
#: The kinds of modifications, for the report.
KINDS = {"U": "update", "D": "delete", "+": "increment", "-": "decrement", "set": "assign"}
#: Finds that read no rows of others.
COUNTED = ("=", "up", "down")
KEYS = 120  # the number of ids that an owner has in each table

#: The names of what can be left out by --without or selected by --only.
FEATURES = (
    "long",  # finds of more rows than a worker examines, on either port
    "long_write",  # those on the write port
    "warnings",  # values that are stored with a warning
    "datetime",  # finds and modifications by DATETIME keys
    "in",
    "in_prefix",  # IN on an index of a prefix
    "filters",
    "ranges",  # with two ends, or of texts that begin so
    "counts",
    "assignments",
    "juggling",  # P in the middle of a pipeline
    "errors",
    "upserts",  # inserts of several rows, and those that say what is done about rows that are there
    "groups",  # transfers between accounts, several lines each
    "redis",  # clients of Redis with rows and strings of their own
    "memcached",  # clients of memcached with items of their own
    "bulk",  # modifications of many rows
    "volatile",  # tables without transactions
    "faults",  # closes, resets, half closes, slow reading
    "ddl",
    "locks",
    "kill",  # KILL and KILL QUERY
    "hostile",  # broken and slow handshakes, wrong passwords, too many open indexes
    "accounts",  # log-ins, accounts that lose rights and get them back
    "remote",  # a Spider table, whose back end stands still now and then
    "statistics",  # what the server counts is switched on and off, emptied and read
    "prefetch",  # MySQL: the look ahead and the hash index are switched, the buffer pool resized
    "crash",  # kill -9 at the end of a round
    "xids",  # the check of the binary log
)


@dataclass(frozen=True)
class Mood:
    """The character of a batch."""

    tables: Sequence[Table]
    write_share: float
    long_share: float


class Generator:
    def __init__(self, tables: Sequence[Table], owner: int, features: frozenset[str]) -> None:
        self.owner = owner
        self.features = features
        self.tables = [t for t in tables if t.transactional or "volatile" in features]
        if "datetime" not in features:
            self.tables = [t for t in self.tables if "DATETIME" not in t.x.sql]
        self.specs: dict[int, Spec] = {}
        for table in self.tables:
            for index in table.indexes:
                self.specs[len(self.specs) + 1] = Spec(table, index)
            self.specs[len(self.specs) + 1] = Spec(table, "PRIMARY", (X, N, ID), (X, ID))
        assert max(self.specs) < min(JUGGLED)
        self._by_table = {
            table.name: {
                spec.index: number
                for number, spec in self.specs.items()
                if spec.table is table and spec.columns == WRITABLE
            }
            for table in self.tables
        }

    def mood(self, rng: random.Random) -> Mood:
        count = rng.choice([1, 1, 2, 3, len(self.tables)])
        return Mood(
            rng.sample(self.tables, min(count, len(self.tables))),
            write_share=rng.choice([0.05, 0.5, 0.5, 0.95]),
            long_share=rng.choice([0, 0, 0, 0.01, 0.05]),
        )

    @staticmethod
    def size(rng: random.Random) -> int:
        least, most = rng.choice([(1, 1), (1, 4), (2, 20), (10, 100), (100, 400)])
        return rng.randint(least, most)

    def batch(self, rng: random.Random, model: Model, *, writable: bool) -> list[Request]:
        mood = self.mood(rng)
        requests: list[Request] = []
        for _ in range(self.size(rng)):
            requests.append(self._request(rng, model, mood, writable))
        return requests

    def _request(self, rng: random.Random, model: Model, mood: Mood, writable: bool) -> Request:
        table = rng.choice(mood.tables)
        dice = rng.random()
        if dice < 0.02 and "errors" in self.features:
            return self._malformed(rng)
        if dice < 0.03:
            return self._echo(rng)
        if dice < 0.05 and "juggling" in self.features:
            return self._juggle(rng)
        if dice < 0.07 and "juggling" in self.features:
            return self._find_by_juggled(rng, model, table)
        allowed = "long" if not writable else "long_write"
        if rng.random() < mood.long_share and allowed in self.features:
            return self._long_find(rng, table)
        if rng.random() < mood.write_share and (writable or rng.random() < 0.02):
            return self._write(rng, model, table)
        if rng.random() < 0.1:
            return self._open_ended(rng, model, table)
        return self._find(rng, model, table)

    # Requests that are neither finds nor writes.

    def _malformed(self, rng: random.Random) -> Request:
        line, reply = rng.choice(MALFORMED)
        return Plain(line, "malformed", reply)

    def _echo(self, rng: random.Random) -> Request:
        value = b"%d" % rng.randrange(1 << 40)
        return Plain(b"echo\t%s\n" % value, "echo", b"0\t1\t%s" % value)

    def _juggle(self, rng: random.Random) -> Request:
        number = rng.choice(JUGGLED)
        if rng.random() < 0.1:
            line = f"P\t{number}\t{DATABASE}\t{NO_TABLE}\t\tid\n".encode()
            return Open(line, "open_index", number, None, b"1\t1\topen_table")
        if rng.random() < 0.1:
            line = b"P\t%d\tsoak\tt_int\tby_nothing\tid\n" % number
            return Open(line, "open_index", number, None, b"2\t1\tidxnum")
        if rng.random() < 0.1:
            line = b"P\t%d\tsoak\tt_int\t\tid,nothing\n" % number
            return Open(line, "open_index", number, None, b"2\t1\tfld")
        columns = rng.choice([WRITABLE, (ID,), (X, ID), (OWNER, N, ID)])
        spec = Spec(rng.choice(self.tables), "PRIMARY", columns)
        return Open(spec.open(number), "open_index", number, spec)

    def _find_by_juggled(self, rng: random.Random, model: Model, table: Table) -> Request:
        number = rng.choice([*JUGGLED, *JUGGLED, *NEVER_OPENED])
        search = Search("", "=", (self._id(rng, model, table),))
        return Find(find_line(number, search), "find", number, search)

    # Finds.

    def _find(self, rng: random.Random, model: Model, table: Table) -> Request:
        index = rng.choice(["PRIMARY", "PRIMARY", *table.indexes])
        spec = self._spec(rng, table, index)
        search = self._own_search(rng, model, table, index, spec)
        if table.transactional and "ranges" in self.features and rng.random() < 0.2:
            search = self._own_range(rng, model, table, index)
        # A count through the rows of others may be in pieces, of which nobody knows the moments.
        if search.op in COUNTED and "counts" in self.features and rng.random() < 0.2:
            count = rng.choice("CCE")
            return Find(find_line(spec, search, count=count), "count", spec, search, count=count)
        kind = "find_in" if search.in_values else "find"
        kind = kind if search.op not in ("up", "down") else "range"
        return Find(find_line(spec, search), kind, spec, search)

    def _own_range(self, rng: random.Random, model: Model, table: Table, index: str) -> Search:
        """A range that can find only rows of this owner."""
        parts = table.indexes[index]
        mine = b"%d" % self.owner
        values = (mine,) if parts[0][0] == OWNER else ()
        column = parts[len(values)][0]
        search = Search(
            index,
            rng.choice(["up", "down"]),
            values,
            rng.choice([1, 3, 20, NO_LIMIT]),
            rng.choice([0, 0, 0, 1, 5]),
        )
        if column == X and isinstance(table.x, TextColumn) and rng.random() < 0.3:
            letter = rng.choice([b"", b"x", b"ya"])
            return replace(search, begins=b"w%03d" % self.owner + letter)
        ends = []
        for _ in range(2):
            token = b"%d" % rng.randrange(50)
            if column in (ID, X):
                pick = self._id if column == ID else self._x
                token = pick(rng, model, table)
            ends.append(End(token, rng.random() < 0.5))
        if rng.random() < 0.7:
            ends.sort(key=lambda end: table.key_of(column, end.token))
        low: End | None = ends[0]
        high: End | None = ends[1]
        # Only behind its owner may a row be found without an end, or from NULL on.
        if values:
            low, high = rng.choice([(low, high), (low, None), (None, high), (None, None)])
        elif ends[0].token == NULL:
            low = End(table.x.pick(rng, self.owner))
        return replace(search, low=low, high=high)

    def _own_search(
        self, rng: random.Random, model: Model, table: Table, index: str, number: int
    ) -> Search:
        """A search that can find only rows of this owner."""
        mine = b"%d" % self.owner
        filters: tuple[Filter, ...] = ()
        limit = rng.choice([1, 1, 3, 20, NO_LIMIT])
        offset = rng.choice([0, 0, 0, 1, 5])
        if not table.transactional and index != "PRIMARY":
            limit, offset = NO_LIMIT, 0
        if index == "PRIMARY":
            values: tuple[bytes, ...] = (self._id(rng, model, table),)
        elif index == "by_x":
            values = (self._x(rng, model, table),)
            if values[0] == NULL:
                filters = (("F", "=", OWNER, mine),)
        elif index == "by_owner":
            values = (mine, self._x(rng, model, table)) if rng.random() < 0.7 else (mine,)
        else:
            values = (mine, b"%d" % rng.randrange(50)) if rng.random() < 0.5 else (mine,)
        if table.key[0] == "owner" and index == "PRIMARY":
            values = (mine, *values) if rng.random() < 0.8 else (mine,)
        op = "="
        ranges = not (index == "by_n" and len(values) > 1) and not table.hashed
        writable_spec = self.specs[number].columns == WRITABLE
        ranges = ranges and table.transactional and writable_spec and "filters" in self.features
        if ranges and rng.random() < 0.3:
            # Rows of others come first or last: W would end before our own rows.
            op = rng.choice([">", ">=", "<", "<="])
            filters = (("F", "=", OWNER, mine),)
        elif writable_spec and "filters" in self.features and rng.random() < 0.15:
            comparison = rng.choice(["=", "!=", ">", ">=", "<", "<="])
            token = b"%d" % rng.randrange(60)
            filters += (("F" if filters else rng.choice("FW"), comparison, N, token),)
        search = Search(index, op, values, limit, offset, filters=filters)
        if op == "=" and rng.random() < 0.2:
            search = self._with_in(rng, model, table, search)
        if not table.transactional and any(kind == "W" for kind, *_ in search.filters):
            search = replace(search, filters=())
        return search

    def _with_in(self, rng: random.Random, model: Model, table: Table, search: Search) -> Search:
        parts = table.indexes[search.index]
        part = len(search.values) - 1
        column = parts[part][0]
        if "in" not in self.features or column == OWNER:
            return search
        if table.x_prefix and column == X and "in_prefix" not in self.features:
            return search
        count = rng.choice([1, 2, 5, 30])
        if column == ID:
            values = [self._id(rng, model, table) for _ in range(count)]
        elif column == X:
            values = [self._x(rng, model, table) for _ in range(count)]
            if search.index == "by_x" and NULL in values:
                values = [value for value in values if value != NULL]
        else:
            values = [b"%d" % rng.randrange(50) for _ in range(count)]
        if not values:
            return search
        return replace(search, in_part=part, in_values=tuple(values), limit=NO_LIMIT, offset=0)

    def _open_ended(self, rng: random.Random, model: Model, table: Table) -> Request:
        """A range that continues into rows of others."""
        index = rng.choice(["PRIMARY", "by_x", "by_owner"])
        if table.hashed and index == "PRIMARY":
            index = "by_x"
        mine = b"%d" % self.owner
        first = {
            "PRIMARY": mine if table.key[0] == "owner" else self._id(rng, model, table),
            "by_x": self._x(rng, model, table),
            "by_owner": mine,
        }[index]
        op = rng.choice([">", ">=", "<", "<="])
        search = Search(index, op, (first,), rng.choice([1, 10, 60]))
        number = self._by_table[table.name][index]
        return Find(find_line(number, search), "find_range", number, search, others=True)

    def _long_find(self, rng: random.Random, table: Table) -> Request:
        static = next((t for t in self.tables if t.static_rows), None)
        number = self._by_table[(static or table).name]["PRIMARY"]
        mine = b"%d" % self.owner
        if "counts" in self.features and rng.random() < 0.2:
            of_nobody = (("F", "=", OWNER, b"0"),)
            search = Search("PRIMARY", rng.choice(["up", "down"]), (), NO_LIMIT, filters=of_nobody)
            line = find_line(number, search, count="C")
            return Find(line, "count_long", number, search, others=True, count="C")
        if rng.random() < 0.6:
            search = Search("PRIMARY", ">=", (b"1",), NO_LIMIT, filters=(("F", "=", OWNER, mine),))
            return Find(find_line(number, search), "find_long", number, search)
        search = Search("PRIMARY", ">=", (b"1",), rng.choice([5000, NO_LIMIT]))
        return Find(find_line(number, search), "find_long", number, search, others=True)

    # Writes.

    def _write(self, rng: random.Random, model: Model, table: Table) -> Request:
        rows = model.tables[table.name].rows
        if "upserts" in self.features and rng.random() < 0.25:
            return self._upsert(rng, model, table)
        if rng.random() < (0.5 if len(rows) < KEYS // 2 else 0.15):
            return self._insert(rng, model, table)
        return self._modify(rng, model, table)

    def _insert(self, rng: random.Random, model: Model, table: Table) -> Request:
        row, given, error = self._row(rng, model, table)
        width = len(WRITABLE)
        if given[X] == NULL and rng.random() < 0.5:
            width -= 1  # a column that may be NULL gets NULL if it is left out
        values = [given[column] for column in WRITABLE[:width]]
        number = self._by_table[table.name]["PRIMARY"]
        line = b"\t".join([b"%d\t+\t%d" % (number, width), *values]) + b"\n"
        return Insert(line, "insert", number, row, error)

    def _upsert(self, rng: random.Random, model: Model, table: Table) -> Request:
        action = rng.choice(["fail", "ignore", "replace", "update", "update", "update"])
        # MySQL replaces a row that has children by one with the same key, MariaDB does not.
        if action == "replace" and any(each.parent == table.name for each in self.tables):
            action = "ignore"
        # Without transactions, the rows before one that fails stay. What the trigger of t_fire
        # leaves in its session, it finds at the next row of the statement.
        count = rng.choice([1, 1, 2, 5, 20])
        count = 1 if table.flips_x or not table.transactional else count
        known = model.tables[table.name].rows
        ids = [b"%d" % (self.owner * 1000 + number) for number in range(KEYS)]
        free = [each for each in ids if each not in known]
        rng.shuffle(free)
        stored, tokens, error = [], [], 0
        for _ in range(count):
            row, given, wrong = self._row(rng, model, table)
            if table.parent:  # the servers differ in whether they ask for the parent first
                row, given, wrong = (*row[:X], NULL), (*row[:X], NULL), 0
            if action == "ignore":  # its mistakes are warnings
                given, wrong = row, 0
            key = self._id(rng, model, table)
            if free and rng.random() < (0.95 if action == "fail" else 0.3):
                key = free.pop()
            row, given = (key, *row[1:]), (key, *given[1:])
            stored.append(row)
            tokens += [given[column] for column in WRITABLE]
            error = wrong
            if error:
                break
        number = self._by_table[table.name]["PRIMARY"]
        head = b"%d\tinsert\t%d\t%d" % (number, len(stored), len(WRITABLE))
        words = [head, *tokens, b"else", action.encode()]
        amount = rng.choice([None, 0, 1, 7])
        if action == "update":
            sets = [(VER, b"new", b""), (TXT, b"new", b"")]
            if amount is not None:
                sets = [(N, b"+", b"%d" % amount), (M, b"-", b"%d" % amount)]
            words.append(b"%d" % len(sets))
            for column, how, value in sets:
                words += [b"%d" % WRITABLE.index(column), how, value]
        rows = tuple(stored[:-1] if error else stored)
        line = b"\t".join(words) + b"\n"
        return Upsert(line, "upsert", number, (), error, rows, action, amount)

    def _modify(self, rng: random.Random, model: Model, table: Table) -> Request:
        bulk = "bulk" in self.features and rng.random() < 0.1
        index = rng.choice(list(table.indexes)) if bulk or rng.random() < 0.2 else "PRIMARY"
        number = self._by_table[table.name][index]
        search = self._own_search(rng, model, table, index, number)
        if not bulk and table.transactional and not search.in_values:
            search = replace(search, limit=min(search.limit, 3))
        if bulk and rng.random() < 0.9:
            search = replace(search, limit=min(search.limit, 10))
        if not table.transactional and (index != "PRIMARY" or search.in_values):
            search = replace(search, limit=NO_LIMIT, offset=0)
        letter = rng.choice("UUUUUU++-D")
        if "assignments" in self.features and rng.random() < 0.2:
            letter = "set"
        modification = self._modification(rng, model, table, letter, search)
        line = find_line(number, search, modification)
        kind = KINDS[letter]
        return Find(line, kind, number, search, modification)

    def _modification(
        self, rng: random.Random, model: Model, table: Table, letter: str, search: Search
    ) -> Modification:
        before = "?" if rng.random() < 0.3 else ""
        if letter == "D":
            return Modification("D", before)
        if "assignments" in self.features and table.transactional and rng.random() < 0.2:
            before = "!"
        if letter == "set":
            made = random_assignments(rng, table, self._x(rng, model, table, new=True))
            shown = before if table.transactional else ""
            return Modification("set", shown, tuple(tokens_of(made)), assignments=made)
        if letter in "+-":
            before = before if letter == "+" or before != "!" else ""
            amount = rng.randrange(-3, 20)
            values = (b"%d" % amount, b"%d" % -amount)
            shown = before if table.transactional else ""
            return Modification(letter, shown, values, amount=amount)
        row, given, error = self._row(rng, model, table)
        # The key moves only for single rows: several rows would all get the same key.
        by_key = search.index == "PRIMARY" and search.op == "=" and not search.in_values
        may_move = by_key and len(search.values) == len(table.key) and table.name != "t_parent"
        width = rng.choice([2, 4, 4, 5, 7]) if may_move else rng.choice([2, 4, 4])
        stored = tuple(row[column] for column in WRITABLE[:width])
        sent = tuple(given[column] for column in WRITABLE[:width])
        failing = error if any(g != s for g, s in zip(sent, stored, strict=True)) else 0
        return Modification("U", before, sent, stored, failing)

    # Values.

    def _row(self, rng: random.Random, model: Model, table: Table) -> tuple[Row, Row, int]:
        """A row as it is stored, as it is given, and the error that ends it."""
        owner = self.owner
        version, n = rng.randrange(1000), rng.randrange(50)
        row = [
            self._id(rng, model, table, new=True),
            b"%d" % owner,
            b"%d" % n,
            b"%d" % -n,
            b"%d" % version,
            text_of(owner, version, table.largest),
            self._x(rng, model, table, new=True),
        ]
        given = list(row)
        odd: Odd | None = None
        column = X
        if rng.random() < 0.08:
            odd = table.x.odd(rng, owner)
            if rng.random() < 0.2:
                column, odd = rng.choice(
                    [
                        (N, Odd(b"99999999999999999999", error=1264)),
                        (N, Odd(b"nine", error=1366)),
                        (OWNER, Odd(NULL, error=1048)),
                    ]
                )
        wanted = "errors" if odd and odd.error else "warnings"
        if odd is None or wanted not in self.features:
            return tuple(row), tuple(given), 0
        given[column] = odd.given
        if not odd.error:
            row[column] = odd.stored
        return tuple(row), tuple(given), odd.error

    def _id(self, rng: random.Random, model: Model, table: Table, *, new: bool = False) -> bytes:
        rows = model.tables[table.name].rows
        if rows and not new and rng.random() < 0.5:
            return rng.choice(list(rows))
        return b"%d" % (self.owner * 1000 + rng.randrange(KEYS))

    def _x(self, rng: random.Random, model: Model, table: Table, *, new: bool = False) -> bytes:
        if rng.random() < 0.1:
            return NULL
        if table.parent and rng.random() < 0.7:
            parents = model.tables[table.parent].rows
            if parents:
                return rng.choice(list(parents))
        return table.x.pick(rng, self.owner)

    def _spec(self, rng: random.Random, table: Table, index: str) -> int:
        if index == "PRIMARY" and rng.random() < 0.3:
            return next(
                number
                for number, spec in self.specs.items()
                if spec.table is table and spec.columns != WRITABLE
            )
        return self._by_table[table.name][index]
