"""What is said of settings that can be meant, but serve nobody as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import LOG_NEWS, LOG_WARNING, in_dialect
from support_servers import running_server, wait_until

INSTALL = in_dialect("INSTALL SONAME 'handlersocket2'")
MISSING = "there is no account 'nobody'@'localhost', which handlersocket_{}_account names"
SHUT = "no client may do anything at {} before it logs in"
BOTH = "the read port and the write port"


@pytest.fixture(scope="module")
def own_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.fixture
def sql(own_server: ServerInstance) -> Iterator[Sql]:
    with Sql(own_server.socket) as session:
        yield session
        session.run(
            "SET GLOBAL handlersocket_anonymous_account = 'root@localhost'",
            "SET GLOBAL handlersocket_secret_account = DEFAULT",
            "SET GLOBAL handlersocket_enabled = ON",
        )


def told(sql: Sql, *statements: str) -> list[str]:
    """The warnings of the last statement."""
    sql.run("SELECT 1 FROM mysql.user LIMIT 0", *statements)
    return [(message or b"").decode() for _, _, message in sql.rows("SHOW WARNINGS")]


def logged(server: ServerInstance, what: str, level: str = LOG_WARNING) -> int:
    return len(re.findall(level + re.escape(what), server.log_text()))


class TestAnAccountThatIsNotThere:
    @pytest.mark.parametrize("role", ["anonymous", "secret"])
    def test_is_named_when_the_server_starts(self, role: str, make_server) -> None:
        server = make_server(**{f"handlersocket_{role}_account": "nobody@localhost"})
        said = MISSING.format(role)
        wait_until(lambda: logged(server, said) == 1, "the account is named")

    def test_is_named_by_set_global(self, own_server: ServerInstance, sql: Sql) -> None:
        for role in ("anonymous", "secret"):
            said = MISSING.format(role)
            before = logged(own_server, said)
            (warning,) = told(sql, f"SET GLOBAL handlersocket_{role}_account = 'nobody@localhost'")
            assert warning.startswith(f"handlersocket: {said}")
            assert logged(own_server, said) == before + 1
            assert told(sql, f"SET GLOBAL handlersocket_{role}_account = 'root@localhost'") == []

    def test_is_named_when_the_ports_are_opened(self, own_server: ServerInstance, sql: Sql) -> None:
        sql.run(
            "SET GLOBAL handlersocket_enabled = OFF",
            "SET GLOBAL handlersocket_anonymous_account = 'nobody@localhost'",
        )
        (warning,) = told(sql, "SET GLOBAL handlersocket_enabled = ON")
        assert warning.startswith("handlersocket: " + MISSING.format("anonymous"))

    def test_is_named_by_an_install(self, make_server) -> None:
        server = make_server(
            load_plugin=False, loose_handlersocket_anonymous_account="nobody@localhost"
        )
        with Sql(server.socket) as sql:
            (warning,) = told(sql, INSTALL)
        assert warning.startswith("handlersocket: " + MISSING.format("anonymous"))
        assert logged(server, MISSING.format("anonymous")) == 1

    def test_is_none_that_is_there(self, own_server: ServerInstance, sql: Sql) -> None:
        sql.run("CREATE USER IF NOT EXISTS 'a@b'@'10.%'")
        assert told(sql, "SET GLOBAL handlersocket_anonymous_account = 'a@b@10.%'") == []
        (warning,) = told(sql, "SET GLOBAL handlersocket_anonymous_account = 'a@b@10.0.0.1'")
        assert "there is no account 'a@b'@'10.0.0.1'" in warning
        sql.run("DROP USER 'a@b'@'10.%'")


class TestNobodyMayDoAnything:
    def test_without_an_account(self, make_server) -> None:
        server = make_server(handlersocket_anonymous_account="")
        assert logged(server, SHUT.format(BOTH)) == 1
        assert "set handlersocket_anonymous_account = user@host" in server.log_text()

    def test_at_one_port(self, make_server) -> None:
        server = make_server(
            handlersocket_anonymous_account="",
            handlersocket_secret_account="root@localhost",
            handlersocket_plain_secret="sesame",
        )
        assert logged(server, SHUT.format("the write port")) == 1

    def test_an_install_tells_its_client(self, make_server) -> None:
        server = make_server(load_plugin=False, loose_handlersocket_anonymous_account="")
        with Sql(server.socket) as sql:
            (warning,) = told(sql, INSTALL)
        assert SHUT.format(BOTH) in warning

    def test_set_global_tells_its_client(self, own_server: ServerInstance, sql: Sql) -> None:
        assert logged(own_server, SHUT.format(BOTH)) == 0
        (warning,) = told(sql, "SET GLOBAL handlersocket_anonymous_account = ''")
        assert SHUT.format(BOTH) in warning
        assert logged(own_server, SHUT.format(BOTH)) == 1


def test_a_message_has_the_name_of_its_variable(sql: Sql) -> None:
    for role in ("anonymous", "secret"):
        (message,) = told_error(sql, f"SET GLOBAL handlersocket_{role}_account = 'x'")
        assert message == f"handlersocket_{role}_account: an account is user@host"


def told_error(sql: Sql, statement: str) -> list[str]:
    assert sql.error(statement) is not None
    return [(message or b"").decode() for _, _, message in sql.rows("SHOW WARNINGS")]


def test_a_number_that_is_lowered_is_an_sql_warning(own_server: ServerInstance, sql: Sql) -> None:
    prefix = "SET GLOBAL handlersocket_"
    try:
        (warning,) = told(sql, prefix + "max_request_size = 1073741824")
        assert "handlersocket_max_request_size is 134217728 instead of 1073741824" in warning
        (warning,) = told(sql, prefix + "max_waiting_bytes = 1048576")
        assert "handlersocket_max_request_size is 524288 instead of 134217728" in warning
        (warning,) = told(sql, prefix + "max_connections = 1000000")
        assert re.search(r"max_connections is \d+ instead of 1000000 for each port", warning)
        for value in ("100000", "-5"):
            (warning,) = told(sql, f"{prefix}timeout = {value}")
            assert warning == f"Truncated incorrect handlersocket_timeout value: '{value}'"
        assert told(sql, prefix + "timeout = 60") == []
    finally:
        for name in ("max_waiting_bytes", "max_request_size", "max_connections", "timeout"):
            sql.run(f"{prefix}{name} = DEFAULT")


def test_negative_numbers_of_a_file_are_corrected(make_server) -> None:
    server = make_server(handlersocket_timeout=-5, handlersocket_threads_wr=-1)
    with Sql(server.socket) as sql:
        assert sql.number("SELECT @@handlersocket_timeout") == 0
        assert sql.number("SELECT @@handlersocket_threads_wr") == 1
    for name in ("timeout", "threads-wr"):
        assert re.search(
            rf"\[Warning\].* option 'handlersocket-{name}'.* adjusted to", server.log_text()
        )


class TestAdaptiveHashIndex:
    SAID = "innodb_adaptive_hash_index is OFF, so a pipelined lookup takes 0.88 us"

    def test_a_note_says_that_it_is_off(self, make_server) -> None:
        server = make_server(innodb_adaptive_hash_index="OFF")
        wait_until(lambda: logged(server, self.SAID, LOG_NEWS) == 1, "the note")
        with Sql(server.socket) as sql:
            assert told(sql, "SET GLOBAL handlersocket_enabled = OFF") == []
            assert told(sql, "SET GLOBAL handlersocket_enabled = ON") == []
        assert logged(server, self.SAID, LOG_NEWS) == 1  # not again

    @pytest.mark.parametrize(("hash_index", "verbose"), [("OFF", 0), ("ON", 10)])
    def test_nothing_is_said_if_nothing_is_to_be_said(
        self, hash_index: str, verbose: int, make_server
    ) -> None:
        server = make_server(innodb_adaptive_hash_index=hash_index, handlersocket_verbose=verbose)
        with Sql(server.socket) as sql:
            sql.run(
                "SET GLOBAL handlersocket_enabled = OFF", "SET GLOBAL handlersocket_enabled = ON"
            )
        assert self.SAID not in server.log_text()
