"""With lower_case_table_names=1, a table is the same table in any spelling of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.database import Sql
from support.servers import needs_mysql
from support.wire import Wire
from support_servers import running_server


def test_each_spelling_is_the_same_table(data_root: Path, watch: Any) -> None:
    settings = {"lower_case_table_names": 1, "handlersocket_anonymous_account": ""}
    with running_server(data_root, watch, **settings) as server, Sql(server.socket) as sql:
        sql.run(
            "CREATE DATABASE Names",
            "CREATE TABLE names.T (id INT PRIMARY KEY, v VARCHAR(20))",
            "INSERT INTO names.t VALUES (7, 'seven')",
            "CREATE USER ann@localhost IDENTIFIED BY 'secret'",
            "GRANT SELECT ON names.t TO ann@localhost",
        )
        with Wire(server.hs_port) as wire:
            assert wire.ask(b"A\t2\tann\tsecret\n") == b"0\t1"
            for number, name in enumerate([b"names\tt", b"NAMES\tT", b"Names\tt"]):
                assert wire.ask(b"P\t%d\t%s\t\tv\n" % (number, name)) == b"0\t1"
                assert wire.ask(b"%d\t=\t1\t7\n" % number) == b"0\t1\tseven"
            sql.run("REVOKE SELECT ON names.t FROM ann@localhost")
            for number in range(3):
                assert wire.ask(b"%d\t=\t1\t7\n" % number) == b"1\t1\t1142"


@needs_mysql
def test_a_partial_revoke_counts_in_each_spelling(data_root: Path, watch: Any) -> None:
    settings = {
        "lower_case_table_names": 1,
        "handlersocket_anonymous_account": "",
        "partial_revokes": "ON",
    }
    with running_server(data_root, watch, **settings) as server, Sql(server.socket) as sql:
        sql.run(
            "CREATE DATABASE names",
            "CREATE TABLE names.t (id INT PRIMARY KEY, v VARCHAR(20))",
            "INSERT INTO names.t VALUES (7, 'seven')",
            "CREATE USER ann@localhost IDENTIFIED BY 'secret'",
            "GRANT SELECT ON *.* TO ann@localhost",
            "REVOKE SELECT ON names.* FROM ann@localhost",
        )
        with Wire(server.hs_port) as wire:
            assert wire.ask(b"A\t2\tann\tsecret\n") == b"0\t1"
            for name in (b"names\tt", b"NAMES\tT", b"Names\tt"):
                assert wire.ask(b"P\t1\t%b\t\tv\n" % name) == b"1\t1\t1142"
