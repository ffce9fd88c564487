"""Random writes by Redis's commands, and by SQL on a twin."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pymysql.err import Error as SqlError
from server_instance import ServerInstance
from support.resp import OK, Error, Reply, Resp, Word
from support.servers import GENERATED_COLUMN_ERROR
from support.wire import WireError
from support_redis import redis_port
from support_twins import BY_PLUGIN, BY_SQL, Table, Twins

#: The spelling of a number in a key.
_NUMBER = re.compile(r"-?[1-9]\d{0,8}|0")
#: In the words of SQL: out of range, by the column or by the sum.
OUT_OF_RANGE = (1264, 1690)
OVERFLOW = "ERR increment or decrement would overflow"


@dataclass(frozen=True)
class Write:
    """A command on one row of a table."""

    name: str
    table: Table
    key: str
    #: The fields, each with its value, which HDEL lacks.
    fields: tuple[tuple[str, str], ...] = ()

    def words(self) -> list[Word]:
        row = f"{BY_PLUGIN}.{self.table.name}:{self.key}"
        if self.name == "HDEL":
            return [self.name, row, *(name for name, _ in self.fields)]
        return [self.name, row, *(word for pair in self.fields for word in pair)]


def _is_whole(table: Table, column: str) -> bool:
    """Whether the column is one of whole numbers: HINCRBY takes no others."""
    return bool(re.search(rf"\b{column} (TINY|SMALL|MEDIUM|BIG)?INT\b", "".join(table.create)))


def random_write(rng: random.Random, table: Table) -> Write:
    names = ["HSET"] * 8 + ["HSETNX", "HSETNX", "HDEL", "HDEL", "DEL", "DEL"]
    whole = [name for name in table.numbers if _is_whole(table, name)]
    if whole:
        names += ["HINCRBY"] * 3
    name = rng.choice(names)
    key = rng.choice([one for one in table.columns["id"] if one and _NUMBER.fullmatch(one)])
    if name == "DEL":
        return Write(name, table, key)
    if name == "HINCRBY":
        amount = rng.choice(["0", "1", "-5", "100", "40000", "2147483647"])
        return Write(name, table, key, ((rng.choice(whole), amount),))
    columns = [one for one in table.columns if one != "id"]
    count = 1 if name == "HSETNX" else rng.randint(1, min(3, len(columns)))
    fields = []
    for column in rng.sample(columns, count):
        values = [value for value in table.columns[column] if value is not None]
        if values:
            fields.append((column, rng.choice(values)))
    if not fields:
        return Write("DEL", table, key)
    return Write(name, table, key, tuple(fields))


def with_one_number(tables: Sequence[Table]) -> list[Table]:
    """Tables whose rows are named by a number."""
    return [
        table
        for table in tables
        if table.keys.get("PRIMARY") == "id" and not table.auto_increment and not table.draws
        and any(one and _NUMBER.fullmatch(one) for one in table.columns["id"])
    ]  # fmt: skip


class RedisTwins(Twins):
    """Executes writes by SQL and by commands, and compares as Twins does."""

    def __init__(
        self, server: ServerInstance, tables: Sequence[Table], beside: Sequence[str] = ()
    ) -> None:
        super().__init__(server, tables, beside)
        self._wire = Resp(redis_port(server))
        rows = self.sql.rows(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = %s AND is_nullable = 'NO'",
            [BY_SQL],
        )
        self._never_null = {((t or b"").decode(), (c or b"").decode()) for t, c in rows}

    def _refuse_null_in(self, table: Table, columns: Sequence[str]) -> None:
        """What HDEL may not make NULL, in no mode."""
        for column in columns:
            if column in table.generated:
                raise SqlError(int(GENERATED_COLUMN_ERROR))
            if (table.name, column) in self._never_null:
                raise SqlError(1048)

    def close(self) -> None:
        self._wire.close()
        super().close()

    def _run_plugin(self, batch: Sequence[Write]) -> list[tuple[object, ...]]:  # type: ignore[override]
        requests = [write.words() for write in batch]
        try:
            replies = self._wire.pipeline(requests)
        except WireError as error:
            raise WireError(f"{error}: {requests}") from None
        return [_answer(write, reply) for write, reply in zip(batch, replies, strict=True)]

    def _run_sql(self, operation: Write) -> tuple[object, ...]:  # type: ignore[override]
        with self.sql.connection.cursor() as cursor:
            try:
                return ("rows", self._execute(cursor, operation))
            except SqlError as error:
                number = int(error.args[0])
                return ("error", OUT_OF_RANGE[0] if number in OUT_OF_RANGE else number)

    def _execute(self, cursor: object, write: Write) -> int:
        """As an application would, with as many statements as it takes. Returns the reply."""
        table, condition = write.table.name, "WHERE id = %s"

        def run(text: str, *values: str) -> int:
            return int(cursor.execute(text, values))  # type: ignore[attr-defined]

        if write.name == "DEL":
            return run(f"DELETE FROM {table} {condition}", write.key)
        names = list(dict(write.fields))
        shown = ", ".join(f"`{name}` IS NULL" for name in names)
        run(f"SELECT {shown} FROM {table} {condition}", write.key)
        row = cursor.fetchone()  # type: ignore[attr-defined]
        there = (
            [name for name, is_null in zip(names, row, strict=True) if not int(is_null)]
            if row
            else []
        )
        if write.name == "HDEL":
            if row:
                self._refuse_null_in(write.table, names)
            nulls = ", ".join(f"`{name}` = NULL" for name in names)
            run(f"UPDATE {table} SET {nulls} {condition}", write.key)
            return len(there)
        if write.name == "HINCRBY":
            ((name, amount),) = write.fields
            if row:
                run(
                    f"UPDATE {table} SET {name} = COALESCE({name}, 0) + {amount} {condition}",
                    write.key,
                )
            else:
                run(f"INSERT INTO {table} (id, {name}) VALUES (%s, {amount})", write.key)
            return 0
        if write.name == "HSETNX" and there:
            return 0
        values = dict(write.fields)
        if row:
            sets = ", ".join(f"`{name}` = %s" for name in values)
            run(f"UPDATE {table} SET {sets} {condition}", *values.values(), write.key)
        else:
            columns = ", ".join(f"`{name}`" for name in values)
            places = ", ".join(["%s"] * (len(values) + 1))
            run(
                f"INSERT INTO {table} (id, {columns}) VALUES ({places})",
                write.key,
                *values.values(),
            )
        return len(names) - len(there)


def _answer(write: Write, reply: Reply) -> tuple[object, ...]:
    if isinstance(reply, Error):
        if reply.text == OVERFLOW:
            return ("error", OUT_OF_RANGE[0])
        number = re.match(r"ERR (\d+) ", reply.text)
        return ("error", int(number[1]) if number else reply.text)
    if write.name == "HINCRBY":
        assert reply is None or isinstance(reply, int)  # nil: a trigger has made it NULL
        return ("rows", 0)  # the value is compared with the table
    return ("rows", 1 if reply == OK else reply)
