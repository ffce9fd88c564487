"""The accounts that clients log in as, and the rights that these lose and get back meanwhile."""

from __future__ import annotations

import enum
import random
from collections.abc import Sequence
from pathlib import Path

from support.database import Sql

from soak.requests import OPENED, Find, Insert, Plain, Request, Upsert, error_line, is_write
from soak.tables import DATABASE, NO_TABLE, Table

WRONG_PASSWORD = error_line(1045)
#: How a request is answered for which the account lacks a right.
REFUSALS = (error_line(1142), error_line(1143))


class Right(enum.IntEnum):
    """What an account may do with a table."""

    READ = 0
    WRITE = 1


PRIVILEGES = {Right.READ: "SELECT", Right.WRITE: "INSERT, UPDATE, DELETE"}


def account(owner: int) -> str:
    return f"client_{owner}"


def log_in(owner: int, *, wrong: bool = False) -> Plain:
    password = "another" if wrong else _password(owner)
    line = f"A\t2\t{account(owner)}\t{password}\n".encode()
    return Plain(line, "log_in", WRONG_PASSWORD if wrong else OPENED)


def log_ins(rng: random.Random, owner: int) -> list[Request]:
    """How a connection begins: some clients first give a wrong password."""
    wrong = [log_in(owner, wrong=True)] if rng.random() < 0.05 else []
    return [*wrong, log_in(owner)]


def create_accounts(socket: Path, tables: Sequence[Table], owners: Sequence[int]) -> None:
    with Sql(socket) as sql:
        for owner in owners:
            sql.run(f"CREATE USER {account(owner)} IDENTIFIED BY '{_password(owner)}'")
            # With a right on it, an account may know that this table does not exist.
            sql.run(f"GRANT CREATE, SELECT ON {DATABASE}.{NO_TABLE} TO {account(owner)}")
            for table in tables:
                for right in Right:
                    sql.run(grant(owner, table, right))


def grant(owner: int, table: Table, right: Right) -> str:
    return f"GRANT {PRIVILEGES[right]} ON {DATABASE}.{table.name} TO {account(owner)}"


def revoke(owner: int, table: Table, right: Right) -> str:
    return f"REVOKE {PRIVILEGES[right]} ON {DATABASE}.{table.name} FROM {account(owner)}"


def needed(request: Request) -> list[Right]:
    """The rights without which a request on an open index cannot succeed."""
    reads = isinstance(request, Find) or (
        isinstance(request, Upsert) and request.action == "update" and request.amount is not None
    )
    rights = [Right.READ] if reads else []
    if isinstance(request, Find | Insert) and is_write(request):
        rights.append(Right.WRITE)
    return rights


def _password(owner: int) -> str:
    return f"secret of {owner}"
