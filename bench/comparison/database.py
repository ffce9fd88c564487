"""The database servers that are compared: how each is started, filled, and spoken to."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from .places import ADDRESS, SERVER_CORES, SERVERS, build_dir, on_cores, put_first

from demo import LOAD, ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import ServerInstance, Setting, free_port  # isort: skip
from server_kind import kind_of  # isort: skip

HASH_INDEX = "innodb_adaptive_hash_index"
ORIGINAL_LIBRARY = "handlersocket.so"

# Everything fits into memory, and nothing that a curve asks for is refused.
SETTINGS: Mapping[str, Setting] = {
    "innodb_buffer_pool_size": "1G",
    "max_connections": 1000,
    "open_files_limit": 20_000,
    "handlersocket_address": ADDRESS,
    # As many as there are cores for the server.
    "handlersocket_threads": 1,
    "handlersocket_threads_wr": 1,
}
WRITE_BACK_TIMEOUT = 60.0
FEW_PAGES = 100
# Never full while something is measured.
LOG_SIZE = "1G"
DURABLE: Mapping[str, Setting] = {
    HASH_INDEX: "ON",
    "log_bin": "binlog",
    "server_id": 1,
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
}


def has_original(tree: Path) -> bool:
    """MariaDB's packages have the original HandlerSocket, MySQL's have not."""
    return (tree / "root/usr/lib/mysql/plugin" / ORIGINAL_LIBRARY).exists()


class Database:
    """A server with our plugin or with the original, and the 1,000,000 rows of the demo."""

    def __init__(
        self,
        name: str,
        tree: Path,
        *,
        original: bool = False,
        settings: Mapping[str, Setting] = {},
    ) -> None:
        self.name = name
        self.sql_port = free_port()
        kind = kind_of(tree)
        all_settings = {**SETTINGS, **kind.log_file_size(LOG_SIZE), "port": self.sql_port}
        if original:
            all_settings |= {
                "plugin_maturity": "beta",
                "plugin_load_add": f"handlersocket={ORIGINAL_LIBRARY}",
            }
        self.has_x = kind.name == "mysql"
        if self.has_x:
            all_settings |= {
                "mysqlx": "ON",
                "mysqlx_port": free_port(),
                "mysqlx_bind_address": ADDRESS,
                "mysqlx_max_connections": 1000,
            }
        self.instance = ServerInstance(
            tree,
            SERVERS / tree.name / name,
            plugin_dir=build_dir() / "src" / "mysqld",
            settings={**all_settings, **settings},
            load_plugin=not original,
        )
        if not original:
            self.instance.settings["handlersocket_socket"] = str(self._beside_socket("hs.sock"))
        if self.has_x:
            self.instance.settings["mysqlx_socket"] = str(self._beside_socket("x.sock"))
        with on_cores(SERVER_CORES):
            self.instance.start()
        put_first(self.pid)
        self._fill()

    def _beside_socket(self, name: str) -> Path:
        """Where a socket's path is short enough."""
        return self.instance.socket.with_name(name)

    @property
    def pid(self) -> int:
        return self.instance.pid

    def _fill(self) -> None:
        if not self.instance.sql("SHOW TABLES FROM test LIKE 'user'"):
            print(f"== loading {ROWS:,} rows into the server '{self.name}' (once)", flush=True)
            self.instance.client(LOAD)
            self.write_back()
        self.read_whole("user", "user_email")

    def read_whole(self, table: str, column: str) -> None:
        """Every page of a table is in memory before anything is measured."""
        self.instance.client(f"SELECT COUNT(*), SUM(LENGTH({column})) FROM test.{table}")

    def write_back(self) -> None:
        """Waits until what was loaded is on disk: later, its writing would be measured."""
        variable = "innodb_max_dirty_pages_pct"
        usual = self.instance.sql(f"SELECT @@GLOBAL.{variable}")[0][0]
        self.set_global(variable, "0")
        deadline = time.monotonic() + WRITE_BACK_TIMEOUT
        status = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"
        while int(self.instance.sql(status)[0][1]) > FEW_PAGES and time.monotonic() < deadline:
            time.sleep(0.1)
        self.set_global(variable, usual)

    def has_table(self, table: str) -> bool:
        return bool(self.instance.sql(f"SHOW TABLES FROM test LIKE '{table}'"))

    def forget_binlogs(self) -> None:
        """What earlier runs wrote."""
        is_mysql = self.instance.kind.name == "mysql"
        self.instance.sql("RESET BINARY LOGS AND GTIDS" if is_mysql else "RESET MASTER")

    def move_to(self, cores: frozenset[int]) -> None:
        """All threads that there are now, and those that they start."""
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)

    def set_global(self, variable: str, value: str) -> None:
        self.instance.sql(f"SET GLOBAL {variable} = {value}")

    def add_engine_floor(self) -> bool:
        """Loads the function that extras.engine_floor calls; there is none for MySQL."""
        library = build_dir() / "bench" / "hs_engine_floor.so"
        if not library.exists():
            return False
        (self.instance.base_dir / "plugins" / library.name).symlink_to(library)
        self.instance.sql(
            f"CREATE OR REPLACE FUNCTION hs_engine_floor RETURNS REAL SONAME '{library.name}'"
        )
        return True

    def read_options(self) -> list[str]:
        return [f"--port={self.instance.hs_port}"]

    def write_options(self) -> list[str]:
        return [f"--port={self.instance.hs_port_wr}"]

    def unix_options(self) -> list[str]:
        return [f"--socket={self.instance.settings['handlersocket_socket']}"]

    def sql_options(self) -> list[str]:
        return [f"--host={ADDRESS}", f"--port={self.sql_port}"]

    def sql_unix_options(self) -> list[str]:
        return [f"--socket={self.instance.socket}"]

    def x_options(self) -> list[str]:
        """Over a Unix socket: only there can one log in without TLS and without a password."""
        return [f"--socket={self.instance.settings['mysqlx_socket']}", "--protocol=mysqlx"]

    def stop(self) -> None:
        self.instance.stop()
