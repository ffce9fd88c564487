"""Clients open tables for the first time while SQL makes, changes, renames and drops them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from support.database import Database
from support.wire import Wire

TABLES = 100
# Opened; not there; held by the statement.
ANSWERS = {b"0\t1", b"1\t1\topen_table", b"1\t1\t1205"}


def test_sql_is_not_disturbed(database: Database) -> None:
    """A definition that is read while SQL replaces it spoils the server's cache of definitions."""
    sql = database.sql
    stop = threading.Event()
    names = ["a0", "b0"]

    def open_each(port: int) -> set[bytes]:
        seen: set[bytes] = set()
        with Wire(port) as wire:
            while not stop.is_set():
                lines = [
                    b"P\t1\t%s\t%s\t\tid\n" % (database.name.encode(), name.encode())
                    for name in 10 * names
                ]
                wire.send(b"".join(lines))
                seen.update(wire.lines(len(lines)))
        return seen

    ports = 3 * [database.server.hs_port] + [database.server.hs_port_wr]
    with ThreadPoolExecutor(len(ports)) as pool:
        clients = [pool.submit(open_each, port) for port in ports]
        try:
            for number in range(TABLES):
                one, other = f"a{number}", f"b{number}"
                names[:] = [one, other]
                for _ in range(2):
                    sql.run(
                        f"CREATE TABLE {one} (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
                        f"INSERT INTO {one} VALUES (1, 3)",
                        f"ALTER TABLE {one} ADD COLUMN w INT FIRST, ALGORITHM=COPY",
                        f"ALTER TABLE {one} RENAME {other}, DROP COLUMN w, ALGORITHM=COPY",
                        f"RENAME TABLE {other} TO {one}",
                    )
                    assert sql.rows(f"SELECT * FROM {one}") == [(b"1", b"3")]
                    sql.run(f"DROP TABLE {one}")
        finally:
            stop.set()
        seen = set().union(*(client.result() for client in clients))
    assert b"0\t1" in seen
    assert seen <= ANSWERS
