"""Three members of a MySQL group: a conflict is an error to retry, and the primary may die."""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, Insert, OpenIndex, ReplyError
from server_instance import ServerInstance, free_port
from server_kind import Setting
from support.database import Sql
from support.servers import ON_MYSQL, SERVER_TREE
from support_ledger import TABLES, Writer, await_writes, check, errors_of, writing
from support_servers import wait_until

LIBRARY = SERVER_TREE / "root/usr/lib/mysql/plugin/group_replication.so"
pytestmark = [
    pytest.mark.skipif(not ON_MYSQL, reason="only MySQL has Group Replication"),
    pytest.mark.skipif(ON_MYSQL and not LIBRARY.exists(), reason=f"{LIBRARY.name} is missing"),
    pytest.mark.timeout(600),
]

MEMBERS = 3
SECONDS = float(os.environ.get("HS_CLUSTER_SECONDS", "4"))
READ_ONLY = 1290
NOT_REPLICATED = 3098
# The commit came behind another member's, or was ended by it; the row is locked, or a deadlock.
CONFLICTS = {"1 3101", "1 1180", "1 149", "1 146", "1 1213"}
ONLINE = (
    "SELECT COUNT(*) FROM performance_schema.replication_group_members"
    " WHERE member_state = 'ONLINE'"
)
MY_ROLE = (
    "SELECT member_role FROM performance_schema.replication_group_members"
    " WHERE member_id = @@server_uuid AND member_state = 'ONLINE'"
)


def make_members(folder: Path) -> list[ServerInstance]:
    group, addresses = str(uuid.uuid4()), [f"127.0.0.1:{free_port()}" for _ in range(MEMBERS)]

    def settings(number: int) -> dict[str, Setting]:
        return {
            "plugin_load_add": "group_replication.so",
            "server_id": number + 1,
            "port": free_port(),
            "mysqlx": 0,
            "report_host": "127.0.0.1",
            "log_bin": "binlog",
            "gtid_mode": "ON",
            "enforce_gtid_consistency": "ON",
            # A member that loses what it had acknowledged comes back with other rows.
            "sync_binlog": 1,
            "innodb_flush_log_at_trx_commit": 1,
            "group_replication_group_name": group,
            "group_replication_local_address": addresses[number],
            "group_replication_group_seeds": ",".join(addresses),
            "group_replication_start_on_boot": "OFF",
            "group_replication_recovery_get_public_key": "ON",
            "group_replication_member_expel_timeout": 0,
        }

    return [
        ServerInstance(SERVER_TREE, folder / f"member{number}", settings=settings(number))
        for number in range(MEMBERS)
    ]


def join(member: ServerInstance, *, first: bool = False) -> None:
    with Sql(member.socket) as sql:
        sql.run(
            "SET sql_log_bin = 0",
            "CREATE USER IF NOT EXISTS recovery IDENTIFIED BY 'secret'",
            "GRANT REPLICATION SLAVE, BACKUP_ADMIN ON *.* TO recovery",
            "SET sql_log_bin = 1",
            "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'recovery', SOURCE_PASSWORD = 'secret'"
            " FOR CHANNEL 'group_replication_recovery'",
            f"SET GLOBAL group_replication_bootstrap_group = {int(first)}",
            "START GROUP_REPLICATION",
            "SET GLOBAL group_replication_bootstrap_group = 0",
        )


def wait_online(members: list[ServerInstance], count: int) -> None:
    for member in members:
        with Sql(member.socket) as sql:
            wait_until(lambda sql=sql: sql.number(ONLINE) == count, "members are online", 90)


def role(member: ServerInstance) -> bytes:
    with Sql(member.socket) as sql:
        rows = sql.rows(MY_ROLE)
    return rows[0][0] or b"" if rows else b""


def check_everywhere(members: list[ServerInstance], writers: list[Writer]) -> None:
    with Sql(members[0].socket) as sql:
        (position,) = sql.row("SELECT @@gtid_executed")
    for member in members:
        with Sql(member.socket) as sql:
            assert sql.row("SELECT WAIT_FOR_EXECUTED_GTID_SET(%s, 60)", [position]) == (b"0",)
            check(sql, writers)


@pytest.fixture(scope="module")
def members(data_root: Path, watch: Any) -> Iterator[list[ServerInstance]]:
    made = make_members(Path(tempfile.mkdtemp(dir=data_root)))
    try:
        for number, member in enumerate(made):
            member.start()
            join(member, first=number == 0)
        wait_online(made, MEMBERS)
        watch.servers.extend(made)
        with Sql(made[0].socket) as sql:
            sql.run(*TABLES)
        yield made
    except BaseException:
        for member in made:
            member.kill()
        raise
    finally:
        watch.servers[:] = [server for server in watch.servers if server not in made]
    for member in made:
        member.stop()


@pytest.fixture
def fresh(members: list[ServerInstance]) -> list[ServerInstance]:
    primary = next(member for member in members if role(member) == b"PRIMARY")
    with Sql(primary.socket) as sql:
        sql.run("DROP DATABASE IF EXISTS ledger", *TABLES)
    check_everywhere([primary, *members], [])
    return members


def refused(port: int, table: str, columns: list[str], row: list[int]) -> int | None:
    with Client(("127.0.0.1", port)) as client:
        client.request(OpenIndex(1, "ledger", table, "", columns))
        try:
            client.request(Insert(1, row))
        except ReplyError as error:
            return error.number
    return None


def test_a_write_that_the_group_cannot_replicate_is_refused(fresh: list[ServerInstance]) -> None:
    primary, *others = sorted(fresh, key=lambda member: role(member) != b"PRIMARY")
    with Sql(primary.socket) as sql:
        sql.run(
            "SET SESSION sql_generate_invisible_primary_key = OFF, sql_require_primary_key = OFF",
            "CREATE TABLE ledger.keyless (id INT NOT NULL, KEY (id)) ENGINE=InnoDB",
            "CREATE TABLE ledger.here (id INT PRIMARY KEY) ENGINE=MyISAM",
        )
    for table in ("keyless", "here"):
        with Client(("127.0.0.1", primary.hs_port_wr)) as client:
            client.request(
                OpenIndex(1, "ledger", table, "id" if table == "keyless" else "", ["id"])
            )
            with pytest.raises(ReplyError) as error:
                client.request(Insert(1, [1]))
            assert error.value.number == NOT_REPLICATED
    for member in others:
        assert refused(member.hs_port_wr, "entries", ["writer", "number"], [9, 9]) == READ_ONLY
    check_everywhere(fresh, [])


def conflicts(member: ServerInstance) -> int:
    """How many writes the group has refused because another member's came first."""
    with Sql(member.socket) as sql:
        return sql.number(
            "SELECT SUM(count_conflicts_detected)"
            " FROM performance_schema.replication_group_member_stats"
        )


def test_conflicts_are_errors_to_retry(fresh: list[ServerInstance]) -> None:
    # A worker that has written and is idle must not hold up the change of the mode.
    primary = next(member for member in fresh if role(member) == b"PRIMARY")
    assert refused(primary.hs_port_wr, "entries", ["writer", "number"], [99, 99]) is None
    with Sql(fresh[0].socket) as sql:
        sql.rows("SELECT group_replication_switch_to_multi_primary_mode()")
    wait_until(
        lambda: all(role(member) == b"PRIMARY" for member in fresh), "every member writes", 60
    )
    try:
        writers = [
            Writer(number, lambda number=number: fresh[number % MEMBERS].hs_port_wr)
            for number in range(2 * MEMBERS)
        ]
        with writing(writers):
            await_writes(writers, 20, seconds=60)
            time.sleep(SECONDS)
            wait_until(lambda: conflicts(fresh[0]) > 0, "a write meets another member's", 60)
        print(errors_of(writers), sum(len(writer.acknowledged) for writer in writers))
        for member in fresh:
            check_everywhere([member, *fresh], writers)
        assert set(errors_of(writers)) <= CONFLICTS
    finally:
        with Sql(fresh[0].socket) as sql:
            sql.rows("SELECT group_replication_switch_to_single_primary_mode(@@server_uuid)")
    wait_until(lambda: role(fresh[1]) == b"SECONDARY", "one member writes again", 60)
    with Client(("127.0.0.1", fresh[1].hs_port)) as reader:
        reader.request(OpenIndex(1, "ledger", "shared", "", ["n"]))
        assert len(reader.request(Find(1, [0]))) == 1


def test_the_primary_dies_under_load(fresh: list[ServerInstance]) -> None:
    where: list[int | None] = [None]

    def look() -> None:
        """As a client does: it asks who is the primary."""
        alive = [member for member in fresh if member.alive]
        where[0] = next((m.hs_port_wr for m in alive if role(m) == b"PRIMARY"), None)

    look()
    old = next(member for member in fresh if member.hs_port_wr == where[0])
    writers = [Writer(number, lambda: where[0]) for number in range(4)]
    with writing(writers):
        await_writes(writers, 20)
        assert errors_of(writers) == {}
        died = time.monotonic()
        old.kill()
        while where[0] is None or where[0] == old.hs_port_wr:
            assert time.monotonic() - died < 60, "there is no new primary"
            look()
        elected = time.monotonic() - died
        await_writes(writers, 10)
        first = min(min(t for t in w.acknowledged_at if t > died + 0.001) for w in writers)
        print(f"elected after {elected:.2f} s, first write after {first - died:.2f} s")
    print(errors_of(writers), sum(len(writer.acknowledged) for writer in writers))
    check_everywhere([member for member in fresh if member.alive], writers)
    # The new primary refuses writes until it has applied what the group has agreed on.
    assert set(errors_of(writers)) <= {f"1 {READ_ONLY}"}
    old.start()
    join(old)
    wait_online(fresh, MEMBERS)
    check_everywhere([member for member in fresh if member is not old] + [old], writers)
