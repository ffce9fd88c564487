"""DDL, locks and backups succeed while 50 clients read and write their table without pause.

Requests wait or get a clear error, no request is lost or answered twice, and requests for other
tables are not affected.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Callable

import pytest
from handlersocket2 import Client, ReplyError
from support.database import Database, Sql
from support.pace import Pace
from support.servers import needs_mysql
from support_load import Load, definition_of, under_load

# A statement may take so much longer than without the load. It is less than a request waits for the
# statement, which is handlersocket_lock_wait_timeout.
SLACK = 4.0
# So long a request for another table may take while this one is locked. It is longer than a busy
# machine needs without any wait, and shorter than the lock is held.
UNNOTICED = 1.5
HELD = 2.5
MANY = 20_000  # rows, so that DDL takes some time
OPEN_TABLE = "1\t1\topen_table"
LOCK_WAIT_TIMEOUT = "1\t1\t1205"

MakeLoad = Callable[..., Load]


@pytest.fixture
def make_load(database: Database) -> Iterator[MakeLoad]:
    made: list[Load] = []

    def make(table: str = "t", **options: object) -> Load:
        ports = (database.server.hs_port, database.server.hs_port_wr)
        load = Load(ports, database.name, table, **options)  # type: ignore[arg-type]
        database.sql.run(
            definition_of(table),
            load.fill(),
            f"INSERT INTO {table} SELECT seq, 0, 'one of many' FROM seq_1001_to_{MANY}",
        )
        made.append(load)
        return load

    yield make
    for load in made:
        load.running = False


@pytest.fixture
def patient(sql: Sql) -> Iterator[None]:
    """Requests wait longer than a table is held, on a machine that stands still meanwhile, too."""
    sql.run("SET GLOBAL handlersocket_lock_wait_timeout = 30")
    yield
    sql.run("SET GLOBAL handlersocket_lock_wait_timeout = DEFAULT")


def seconds(sql: Sql, statements: Sequence[str]) -> float:
    started = time.monotonic()
    sql.run(*statements)
    return time.monotonic() - started


ALTERS: dict[str, tuple[str, str]] = {
    "add_column_instant": ("ADD COLUMN c INT DEFAULT 7", "DROP COLUMN c"),
    "add_column_first": ("ADD COLUMN c INT FIRST, ALGORITHM=INPLACE", "DROP COLUMN c"),
    "add_column_copying": ("ADD COLUMN c INT, ALGORITHM=COPY", "DROP COLUMN c, ALGORITHM=COPY"),
    "drop_unused_column": ("DROP COLUMN note", "ADD COLUMN note VARCHAR(50)"),
    "move_column": ("MODIFY v BIGINT NOT NULL FIRST", "MODIFY v BIGINT NOT NULL AFTER id"),
    "change_type": ("MODIFY v DECIMAL(20) NOT NULL", "MODIFY v BIGINT NOT NULL"),
    "change_key_type": ("MODIFY id BIGINT", "MODIFY id INT"),
    "rebuild": ("FORCE", "ENGINE=InnoDB"),
}
STATEMENTS: dict[str, tuple[str, str]] = {
    **{
        name: (f"ALTER TABLE t {do}", f"ALTER TABLE t {undo}")
        for name, (do, undo) in ALTERS.items()
    },
    "index": ("CREATE INDEX i ON t (v)", "DROP INDEX i ON t"),
    "trigger": ("CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW SET @x = 1", "DROP TRIGGER g"),
    "optimize": ("OPTIMIZE TABLE t", "OPTIMIZE TABLE t"),
    "analyze": ("ANALYZE TABLE t", "CHECK TABLE t"),
    "flush_tables": ("FLUSH TABLES", "FLUSH TABLES t"),
    "global_read_lock": ("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"),
    "table_read_lock": ("FLUSH TABLES t WITH READ LOCK", "UNLOCK TABLES"),
    "lock_tables_write": ("LOCK TABLES t WRITE", "UNLOCK TABLES"),
    "lock_tables_read": ("LOCK TABLES t READ", "UNLOCK TABLES"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_goes_through_and_no_request_fails(
    name: str, make_load: MakeLoad, database: Database
) -> None:
    load = make_load()
    statements = STATEMENTS[name]
    alone = seconds(database.sql, statements)
    with under_load(load):
        for _ in range(2):
            assert seconds(database.sql, statements) < alone + SLACK
            load.wait_for_answers()
    load.check()


def test_truncate(make_load: MakeLoad, database: Database) -> None:
    load = make_load(rows_may_vanish=True)
    alone = seconds(database.sql, ["TRUNCATE t"])
    with under_load(load):
        for _ in range(5):
            assert seconds(database.sql, ["TRUNCATE t"]) < alone + SLACK
            load.wait_for_answers()
    load.check()


def test_drop_and_create(make_load: MakeLoad, database: Database) -> None:
    load = make_load(rows_may_vanish=True)
    with under_load(load):
        for _ in range(3):
            assert seconds(database.sql, ["DROP TABLE t"]) < SLACK
            load.wait_for_answers()
            assert seconds(database.sql, [definition_of("t")]) < SLACK
            load.wait_for_answers()
    load.check([OPEN_TABLE])
    assert load.tally.errors[OPEN_TABLE] > 0


def test_rename_away_and_back(make_load: MakeLoad, database: Database) -> None:
    load = make_load()
    with under_load(load):
        for _ in range(3):
            assert seconds(database.sql, ["RENAME TABLE t TO away"]) < SLACK
            load.wait_for_answers()
            assert seconds(database.sql, ["RENAME TABLE away TO t"]) < SLACK
            load.wait_for_answers()
    load.check([OPEN_TABLE])
    assert load.tally.errors[OPEN_TABLE] > 0


def test_swap(make_load: MakeLoad, database: Database) -> None:
    """As tools for online schema changes do: there is a table `t` at any time."""
    load = make_load(loose=True)
    database.sql.run(definition_of("other").replace("id INT", "x INT, id INT"))
    with under_load(load):
        for _ in range(6):
            swap = "RENAME TABLE t TO tmp, other TO t, tmp TO other"
            assert seconds(database.sql, [swap]) < SLACK
            load.wait_for_answers()
    load.check()


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("lock", ["LOCK TABLES t WRITE", "FLUSH TABLES t WITH READ LOCK"])
def test_other_tables_do_not_notice_a_lock(
    lock: str, make_load: MakeLoad, database: Database, pace: Pace
) -> None:
    load = make_load()
    bystanders = make_load("u", clients=4)
    with under_load(load), under_load(bystanders):
        database.sql.run(lock)
        if "WRITE" in lock:
            load.wait_for_silence()
        bystanders.reset_longest()
        before = load.tally.answered
        time.sleep(HELD)
        answered = load.tally.answered - before
        database.sql.run("UNLOCK TABLES")
        load.wait_for_answers()
    load.check()
    bystanders.check()
    # Only now each request that was held has its reply.
    waited = load.tally.longest
    # Of all of them: a request that still waits has no reply, so its time does not count yet.
    assert bystanders.tally.longest < UNNOTICED + pace.longest
    assert waited > HELD
    if "WRITE" in lock:
        assert answered == 0, "a request has passed the lock"


def test_passes_over_two_tables(make_load: MakeLoad, database: Database) -> None:
    """A pass may have a snapshot that is older than the ALTER of a table that it opens later."""
    loads = [make_load("t"), make_load("u", clients=20)]
    with under_load(loads[0]), under_load(loads[1]):
        for _ in range(20):
            alters = ["ALTER TABLE t FORCE", "ALTER TABLE t FORCE, ALGORITHM=COPY"]
            assert seconds(database.sql, [*alters, "FLUSH TABLES u"]) < 3 * SLACK
    for load in loads:
        load.check()


@pytest.mark.usefixtures("patient")
def test_other_tables_do_not_notice_waiting_ddl(
    make_load: MakeLoad, database: Database, pace: Pace
) -> None:
    """A transaction holds t, so ALTER waits, and requests for t wait behind ALTER."""
    load = make_load()
    bystanders = make_load("u", clients=4)
    with under_load(load), under_load(bystanders), database.connect() as holder:
        holder.run("BEGIN", "SELECT COUNT(*) FROM t")
        database.sql.run("SET lock_wait_timeout = 3")
        bystanders.reset_longest()
        assert database.sql.error("ALTER TABLE t ADD COLUMN c INT") == 1205
        holder.run("COMMIT")
        load.wait_for_answers()
        database.sql.run("ALTER TABLE t ADD COLUMN c INT")
    load.check()
    bystanders.check()
    assert bystanders.tally.longest < UNNOTICED + pace.longest


def test_a_global_read_lock_stops_writes_and_no_reads(
    database: Database, sql: Sql, make_load: MakeLoad
) -> None:
    sql.run(definition_of("w"), "INSERT INTO w (id, v) VALUES (1, 0)")
    load = make_load()
    with under_load(load), database.reader() as reader, database.writer() as writer:
        rows = reader.index(database.name, "w", ["id", "v"])
        own = writer.index(database.name, "w", ["id", "v"])
        sql.run("FLUSH TABLES WITH READ LOCK")
        started = time.monotonic()
        assert rows.find(1) == [(b"1", b"0")]
        assert time.monotonic() - started < UNNOTICED
        before = sql.rows("SELECT SUM(v) FROM t")
        time.sleep(0.3)
        assert sql.rows("SELECT SUM(v) FROM t") == before
        sql.run("UNLOCK TABLES")
        assert own.update(1, [1, 5]) == 1
        load.wait_for_answers()
    load.check()


def test_backup_stages(make_load: MakeLoad, database: Database) -> None:
    """What mariabackup does. Commits wait in BLOCK_COMMIT, and succeed afterwards."""
    load = make_load()
    stages = ["START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT", "END"]
    with under_load(load):
        for _ in range(3):
            for stage in stages:
                assert seconds(database.sql, [f"BACKUP STAGE {stage}"]) < SLACK
                if stage == "BLOCK_COMMIT":
                    before = database.sql.rows("SELECT SUM(v) FROM t")
                    time.sleep(0.2)
                    assert database.sql.rows("SELECT SUM(v) FROM t") == before
                else:
                    load.wait_for_answers(200)
    load.check()


@needs_mysql
def test_a_lock_for_a_backup(make_load: MakeLoad, database: Database) -> None:
    """What MySQL's backups do: DDL waits, requests go on, and the log's position is read."""
    load = make_load()
    with under_load(load), database.connect() as other:
        for _ in range(3):
            assert seconds(database.sql, ["LOCK INSTANCE FOR BACKUP"]) < SLACK
            other.run("SET SESSION lock_wait_timeout = 1")
            assert other.error("ALTER TABLE t ADD COLUMN c INT") == 1205
            load.wait_for_answers()
            assert seconds(database.sql, ["SELECT * FROM performance_schema.log_status"]) < SLACK
            assert seconds(database.sql, ["UNLOCK INSTANCE"]) < SLACK
            load.wait_for_answers()
    load.check()


class TestTimeOut:
    """handlersocket_lock_wait_timeout limits how long a request waits for a table."""

    SECONDS = 1
    SLACK = 10  # without this limit a request waits for innodb_lock_wait_timeout

    @pytest.fixture
    def impatient(self, make_server) -> Iterator[Database]:
        database = Database(
            make_server(handlersocket_lock_wait_timeout=self.SECONDS, innodb_lock_wait_timeout=50),
            "test",
        )
        database.sql.run(definition_of("t"), "INSERT INTO t (id, v) VALUES (1, 10)")
        yield database
        database.close()

    @pytest.mark.parametrize(
        ("lock", "unlock"),
        [
            ("LOCK TABLES t WRITE", "UNLOCK TABLES"),
            ("BACKUP STAGE START; BACKUP STAGE BLOCK_COMMIT", "BACKUP STAGE END"),
            ("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"),
            ("BEGIN; SELECT * FROM t WHERE id = 1 FOR UPDATE", "ROLLBACK"),
        ],
    )
    def test_a_write(self, lock: str, unlock: str, impatient: Database) -> None:
        with impatient.writer() as writer:
            index = writer.index("test", "t", ["id", "v"])
            impatient.sql.run(*lock.split("; "))
            started = time.monotonic()
            with pytest.raises(ReplyError) as raised:
                index.update(1, [1, 11])
            waited = time.monotonic() - started
            impatient.sql.run(unlock)
            assert f"{raised.value.code}\t1\t{raised.value.text}" in (
                LOCK_WAIT_TIMEOUT,
                "1\t1\t146",
            )
            assert self.SECONDS * 0.9 < waited < self.SECONDS + self.SLACK
            assert impatient.sql.number("SELECT v FROM t") == 10, "the write was done all the same"
            assert index.update(1, [1, 12]) == 1
            assert impatient.sql.number("SELECT v FROM t") == 12

    def test_a_find_and_an_open(self, impatient: Database) -> None:
        with impatient.reader() as reader, impatient.connect() as holder:
            index = reader.index("test", "t", ["id", "v"])
            holder.run("LOCK TABLES t WRITE")
            for ask in (
                lambda: index.find(1),
                lambda: reader.index("test", "t", ["id"]),
            ):
                started = time.monotonic()
                with pytest.raises(ReplyError, match="1205"):
                    ask()
                assert self.SECONDS * 0.9 < time.monotonic() - started < self.SECONDS + self.SLACK
            holder.run("UNLOCK TABLES")
            assert index.find(1) == [(b"1", b"10")]


class TestOpenIndexes:
    """What happens to an open index when its table changes."""

    @pytest.fixture(autouse=True)
    def table(self, sql: Sql) -> None:
        sql.run(
            "CREATE TABLE o (id INT PRIMARY KEY, a INT, b VARCHAR(20), c INT, KEY by_a (a))",
            "INSERT INTO o VALUES (1, 10, 'one', 100), (2, 20, 'two', 200)",
        )

    @pytest.mark.parametrize(
        "alter",
        [
            "ADD COLUMN d INT FIRST",
            "DROP COLUMN c",
            "MODIFY b VARCHAR(20) FIRST",
            "MODIFY a BIGINT",
            "MODIFY b VARCHAR(40) CHARACTER SET latin1",
            "ADD INDEX x (c), DROP PRIMARY KEY, ADD UNIQUE u (id)",
            "ENGINE=MyISAM",
            "PARTITION BY HASH (id) PARTITIONS 3",
            "RENAME COLUMN c TO cc",
        ],
    )
    def test_they_go_on_working(
        self, alter: str, sql: Sql, database: Database, reader: Client, writer: Client
    ) -> None:
        index = "by_a"
        found = reader.index(database.name, "o", ["b", "id"], index=index)
        changed = writer.index(database.name, "o", ["b", "a"], index=index)
        assert found.find(10) == [(b"one", b"1")]
        sql.run(f"ALTER TABLE o {alter}")
        assert found.find(20) == [(b"two", b"2")]
        assert changed.update(20, ["zwei", 21]) == 1
        assert found.find(21) == [(b"zwei", b"2")]
        assert sql.rows("SELECT a, b FROM o WHERE id = 2") == [(b"21", b"zwei")]

    @pytest.mark.parametrize(
        ("gone", "back", "error"),
        [
            ("ALTER TABLE o DROP COLUMN b", "ALTER TABLE o ADD COLUMN b VARCHAR(20)", "2 fld"),
            ("ALTER TABLE o RENAME COLUMN b TO bb", "ALTER TABLE o RENAME COLUMN bb TO b", "2 fld"),
            ("DROP INDEX by_a ON o", "CREATE INDEX by_a ON o (a)", "2 idxnum"),
            ("RENAME TABLE o TO oo", "RENAME TABLE oo TO o", "1 open_table"),
            ("DROP TABLE o", "CREATE TABLE o (id INT, a INT, b TEXT, KEY by_a (a))",
             "1 open_table"),
            ("RENAME TABLE o TO oo; CREATE VIEW o AS SELECT 1", "DROP VIEW o; RENAME TABLE oo TO o",
             "1 open_table"),
        ],
    )  # fmt: skip
    def test_they_fail_while_what_they_need_is_gone(
        self,
        gone: str,
        back: str,
        error: str,
        sql: Sql,
        database: Database,
        reader: Client,
        writer: Client,
    ) -> None:
        found = reader.index(database.name, "o", ["b", "id"], index="by_a")
        changed = writer.index(database.name, "o", ["b", "a"], index="by_a")
        assert found.find(10) == [(b"one", b"1")]
        sql.run(*gone.split("; "))
        for ask in (
            lambda: found.find(10),
            lambda: changed.update(10, ["x", 11]),
            lambda: changed.delete(10),
            lambda: changed.insert(["x", 11]),
        ):
            with pytest.raises(ReplyError) as raised:
                ask()
            assert f"{raised.value.code} {raised.value.text}" == error
        sql.run(*back.split("; "))
        sql.run("REPLACE INTO o (id, a, b) VALUES (3, 30, 'three')")
        assert found.find(30) == [(b"three", b"3")]
        assert changed.update(30, ["drei", 31]) == 1
        assert sql.rows("SELECT a, b FROM o WHERE id = 3") == [(b"31", b"drei")]
