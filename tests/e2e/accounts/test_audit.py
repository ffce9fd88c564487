"""What MariaDB's audit trail, its plugin server_audit, is told of the plugin's clients."""

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
from support_servers import running_server, wait_until

pytestmark = pytest.mark.skipif(ON_MYSQL, reason="Debian's MySQL has no audit plugin")

LOG_IN = b"A\t2\tann\tsecret\n"
BUSY = (
    "SELECT COUNT(*) FROM information_schema.processlist"
    " WHERE user = 'handlersocket' AND command <> 'Sleep'"
)
AUDIT_PLUGINS = "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'server_audit'"
OPEN = b"P\t1\tshop\tt\t\tv\n"


@pytest.fixture
def audited(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_anonymous_account": "",
        "server_audit_logging": "ON",
        "server_audit_events": "CONNECT,TABLE",
        "plugin_load_add": "server_audit",
    }
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)",
                "INSERT INTO shop.t VALUES (7, 0)",
                "CREATE USER ann@localhost IDENTIFIED BY 'secret'",
                "CREATE USER ben@localhost IDENTIFIED BY 'secret'",
                "GRANT SELECT, UPDATE ON shop.* TO ann@localhost",
            )
        yield instance


def trail(server: ServerInstance, user: str) -> list[tuple[str, int, int]]:
    """The connection events of a user: what, the number of the connection, and the error."""
    lines = (server.data_dir / "server_audit.log").read_text().splitlines()
    pattern = rf"[^,]*,[^,]*,{user},localhost,(\d+),0,(CONNECT|DISCONNECT|FAILED_CONNECT),.*,(\d+)"
    found = [re.fullmatch(pattern, line) for line in lines]
    return [(match[2], int(match[1]), int(match[3])) for match in found if match]


def test_clients_come_and_go(audited: ServerInstance) -> None:
    for port in (audited.hs_port, audited.hs_port_wr):
        with Wire(port) as wire:
            assert wire.ask(LOG_IN) == b"0\t1"
            assert wire.ask(OPEN) == b"0\t1"
        wait_until(lambda: trail(audited, "ann")[-1][0] == "DISCONNECT", "the end is told")
    events = trail(audited, "ann")
    assert [event for event, _, _ in events] == ["CONNECT", "DISCONNECT"] * 2
    assert [error for _, _, error in events] == [0] * 4
    numbers = [number for _, number, _ in events]
    assert numbers[0] == numbers[1] != numbers[2] == numbers[3]


def test_wrong_passwords(audited: ServerInstance) -> None:
    with Wire(audited.hs_port) as wire:
        assert wire.ask(b"A\t2\tann\tguess\n") == b"1\t1\t1045"
    assert [(event, error) for event, _, error in trail(audited, "ann")] == [
        ("FAILED_CONNECT", 1045),
        ("DISCONNECT", 0),
    ]


def test_log_ins_that_are_refused_after_the_password(audited: ServerInstance) -> None:
    with Sql(audited.socket) as sql, Wire(audited.hs_port) as wire:
        sql.run("ALTER USER ben@localhost PASSWORD EXPIRE")
        assert wire.ask(LOG_IN.replace(b"ann", b"ben")).startswith(b"1\t1\t")
        sql.run("SET GLOBAL init_connect = 'SELECT * FROM nowhere.t'")
        assert wire.ask(LOG_IN).startswith(b"1\t1\t")
    for user in ("ann", "ben"):
        events = trail(audited, user)
        assert [event for event, _, _ in events] == ["CONNECT", "DISCONNECT"]
        assert events[0][1] == events[1][1]


def test_another_log_in_ends_the_first(audited: ServerInstance) -> None:
    with Wire(audited.hs_port_wr) as wire:
        # In the midst of a pipeline that writes.
        assert wire.ask(LOG_IN) == b"0\t1"
        assert wire.ask(OPEN) == b"0\t1"
        update = b"1\t=\t1\t7\t1\t0\t+\t1\n"
        wire.send(update + LOG_IN.replace(b"ann", b"ben") + update + LOG_IN + update)
        assert wire.lines(5) == [b"0\t1\t1", b"0\t1", b"1\t1\t1142", b"0\t1", b"0\t1\t1"]
        wait_until(lambda: len(trail(audited, "ann")) == 3, "the first end is told")
        wait_until(lambda: len(trail(audited, "ben")) == 2, "the second end is told")
    wait_until(lambda: len(trail(audited, "ann")) == 4, "the last end is told")


@pytest.mark.parametrize("how", ["UNINSTALL", "shutdown"])
def test_the_end_of_the_plugin(audited: ServerInstance, how: str) -> None:
    with Wire(audited.hs_port) as read, Wire(audited.hs_port_wr) as write:
        for wire in (read, write):
            assert wire.ask(LOG_IN) == b"0\t1"
        if how == "UNINSTALL":
            with Sql(audited.socket) as sql:
                sql.run("UNINSTALL SONAME 'handlersocket2'")
        else:
            audited.stop()
    events = [event for event, _, _ in trail(audited, "ann")]
    assert sorted(events) == ["CONNECT", "CONNECT", "DISCONNECT", "DISCONNECT"]


def test_the_audit_plugin_can_go(audited: ServerInstance) -> None:
    """No thread keeps it after its pass. A session of SQL keeps it until its next statement."""
    with Sql(audited.socket) as sql:
        sql.run(
            "CREATE TRIGGER shop.u AFTER UPDATE ON shop.t FOR EACH ROW SET @x = 1",
            "GRANT TRIGGER ON shop.* TO ann@localhost",
        )
        with Wire(audited.hs_port) as read, Wire(audited.hs_port_wr) as write:
            for wire in (read, write):
                assert wire.ask(LOG_IN) == b"0\t1"
                assert wire.ask(OPEN) == b"0\t1"
                assert wire.ask(b"1\t=\t1\t7\n") == b"0\t1\t0"
                # A streamer executes it.
                values = b"\t".join(b"%d" % number for number in range(10, 5_010))
                request = b"1\t=\t1\t0\t10\t0\t@\t0\t5000\t" + values
                assert wire.ask(request + b"\n") == b"0\t1"
            assert write.ask(b"1\t=\t1\t7\t1\t0\t+\t1\n") == b"0\t1\t1"
            assert write.ask(b"1\t+\t1\t8\n").startswith(b"1\t1\t")
            wait_until(lambda: sql.number(BUSY) == 0, "all threads rest")
            # If another session keeps it, it stays until the shutdown, and nobody can install it.
            sql.run("UNINSTALL PLUGIN server_audit")
            wait_until(lambda: sql.number(AUDIT_PLUGINS) == 0, "the audit plugin has gone", 3)


def uses(server: ServerInstance, user: str) -> list[tuple[str, str, int]]:
    """How a user has used a table of shop, and by which connection."""
    log = (server.data_dir / "server_audit.log").read_text()
    found = re.findall(rf",{user},[^,]*,(\d+),\d+,(READ|WRITE),shop,(\w+),", log)
    return [(how, table, int(number)) for number, how, table in found]


def test_tables_that_are_used(audited: ServerInstance) -> None:
    """By the account, in each pass, with the number of the log-in."""
    with Wire(audited.hs_port_wr) as wire:
        assert wire.ask(LOG_IN) == b"0\t1"
        assert wire.ask(OPEN) == b"0\t1"
        (number,) = [number for event, number, _ in trail(audited, "ann") if event == "CONNECT"]
        assert wire.ask(b"1\t=\t1\t7\t1\t0\t+\t1\n") == b"0\t1\t1"
        assert uses(audited, "ann") == [("WRITE", "t", number)]
        assert wire.ask(b"1\t=\t1\t7\n" * 3) == b"0\t1\t1"
        wire.lines(2)
        reads = uses(audited, "ann")[1:]
        assert set(reads) == {("READ", "t", number)}
        assert 1 <= len(reads) <= 3
    assert uses(audited, "ben") == []


def test_who_may_not_use_a_table_does_not(audited: ServerInstance) -> None:
    with Sql(audited.socket) as sql:
        sql.run("GRANT SELECT ON shop.* TO ben@localhost")
    with Wire(audited.hs_port_wr) as wire:
        assert wire.ask(LOG_IN.replace(b"ann", b"ben")) == b"0\t1"
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t=\t1\t7\t1\t0\t+\t1\n") == b"1\t1\t1142"
        assert uses(audited, "ben") == []
        assert wire.ask(b"1\t=\t1\t7\n") == b"0\t1\t0"
        assert [use[:2] for use in uses(audited, "ben")] == [("READ", "t")]
