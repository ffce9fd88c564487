"""The accounts of clients that have not logged in: nobody logs in as these, and docs/security.md
says what follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import running_server

SECRET = b"A\t1\topen-sesame\n"
OPEN = b"P\t1\tports\tt\tPRIMARY\tv\n"
FIND = b"1\t=\t1\t7\n"
FOUND = b"0\t1\tseven"
TABLE_DENIED = b"1\t1\t1142"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_anonymous_account": "guest@localhost",
        "handlersocket_secret_account": "trusted@localhost",
        "handlersocket_plain_secret": "open-sesame",
    }
    if ON_MYSQL:
        settings |= {"plugin_load_add": "NULL_AUDIT=adt_null.so"}
    else:
        settings |= {
            "plugin_load_add": "server_audit",
            "server_audit_logging": "ON",
            "server_audit_events": "TABLE",
        }
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE DATABASE ports",
                "CREATE TABLE ports.t (id INT PRIMARY KEY, v VARCHAR(20))",
                "INSERT INTO ports.t VALUES (7, 'seven')",
                "CREATE ROLE reader",
                "GRANT SELECT ON ports.* TO reader",
            )
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        for user in ("guest", "trusted"):
            session.run(f"CREATE USER {user}@localhost")
        yield session
        for user in ("guest", "trusted"):
            session.run(f"DROP USER {user}@localhost")


def ask(server: ServerInstance, user: str) -> bytes:
    with Wire(server.hs_port) as wire:
        if user == "trusted":
            assert wire.ask(SECRET) == b"0\t1"
        opened = wire.ask(OPEN)
        return wire.ask(FIND) if opened == b"0\t1" else opened


@pytest.mark.parametrize("user", ["guest", "trusted"])
@pytest.mark.parametrize("state", ["ACCOUNT LOCK", "PASSWORD EXPIRE"])
def test_a_state_that_stops_log_ins_does_not_count(
    user: str, state: str, server: ServerInstance, sql: Sql
) -> None:
    assert ask(server, user) == TABLE_DENIED
    sql.run(f"GRANT SELECT ON ports.* TO {user}@localhost")
    sql.run(f"ALTER USER {user}@localhost {state}")
    assert ask(server, user) == FOUND


@pytest.mark.parametrize("user", ["guest", "trusted"])
def test_roles(user: str, server: ServerInstance, sql: Sql) -> None:
    """MariaDB activates roles only when somebody logs in; MySQL also for a definer."""
    account = f"{user}@localhost"
    sql.run(f"GRANT reader TO {account}")
    assert ask(server, user) == TABLE_DENIED
    sql.run(
        f"ALTER USER {account} DEFAULT ROLE reader"
        if ON_MYSQL
        else f"SET DEFAULT ROLE reader FOR {account}"
    )
    assert ask(server, user) == (FOUND if ON_MYSQL else TABLE_DENIED)


@pytest.mark.parametrize("user", ["guest", "trusted"])
def test_the_audit_trail(user: str, server: ServerInstance, sql: Sql) -> None:
    sql.run(f"GRANT SELECT ON ports.* TO {user}@localhost")
    if ON_MYSQL:
        # Its package has no plugin that writes a trail; this one counts what such a plugin sees.
        before = sql.status("Audit_null_table_access_read")
        assert ask(server, user) == FOUND
        assert sql.status("Audit_null_table_access_read") == before + 1
        return
    assert ask(server, user) == FOUND
    log = (server.data_dir / "server_audit.log").read_text()
    assert re.search(rf",{user},localhost,\d+,\d+,READ,ports,t,", log)


@pytest.mark.parametrize(
    "account", ["u" * 500 + "@localhost", "app@" + "h" * 400, "u" * 300 + "@" + "h" * 100]
)
def test_a_name_that_is_too_long(account: str, data_root: Path, watch: Any) -> None:
    settings = {"handlersocket_anonymous_account": account}
    with running_server(data_root, watch, **settings) as instance:
        assert "no account has so long a name" in instance.log_text()
        with pytest.raises(ConnectionRefusedError):
            Wire(instance.hs_port)
