"""mariadb-backup under write load: the restored copy is the server as it was at one moment."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL, SERVER_TREE
from support_galera import BACKUP
from support_ledger import SHARED_ROWS, TABLES, Writer, await_writes, errors_of, writing
from support_servers import LOGGING, running_server

pytestmark = [
    pytest.mark.skipif(ON_MYSQL, reason="mariadb-backup is MariaDB's"),
    pytest.mark.skipif(
        not ON_MYSQL and not BACKUP.exists(), reason="setup/more.sh has not got mariadb-backup"
    ),
    pytest.mark.timeout(600),
]


def backup(*arguments: str) -> None:
    command = [str(BACKUP), "--no-defaults", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **LOGGING) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        yield instance


def test_a_restored_copy_is_consistent(server: ServerInstance, data_root: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=data_root))
    copy = folder / "data"
    writers = [Writer(number, lambda: server.hs_port_wr) for number in range(4)]
    with writing(writers):
        await_writes(writers, 50)
        before = [len(writer.acknowledged) for writer in writers]
        backup("--backup", "--user=root", f"--socket={server.socket}", f"--target-dir={copy}")
        after = [len(writer.acknowledged) for writer in writers]
        await_writes(writers, 10)
    assert errors_of(writers) == {}
    assert min(b - a for a, b in zip(before, after, strict=True)) > 0, "nobody wrote meanwhile"
    backup("--prepare", f"--target-dir={copy}")
    restored = ServerInstance(SERVER_TREE, folder / "server", data_dir=copy)
    with restored, Sql(restored.socket) as sql:
        total = 0
        for writer, least in zip(writers, before, strict=True):
            query = f"SELECT number FROM ledger.entries WHERE writer = {writer.number} ORDER BY 1"
            there = [int(number or 0) for (number,) in sql.rows(query)]
            assert there == list(range(len(there))), "a later write is there, an earlier one is not"
            assert len(there) >= least, "a write from before the backup is missing"
            total += len(there)
        added = sql.number("SELECT SUM(n) FROM ledger.shared")
        # Each writer adds behind its insert, mostly in the same transaction.
        assert 0 <= total - added <= len(writers)
        print(before, after, total, added)
        with Client(("127.0.0.1", restored.hs_port)) as reader:
            reader.request(OpenIndex(1, "ledger", "shared", "", ["n"]))
            rows = [reader.request(Find(1, [row])) for row in range(SHARED_ROWS)]
            assert sum(int(n or 0) for ((n,),) in rows) == added
