"""The database servers that are compared: how each is started and filled, and how it is reached."""

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

# Everything fits into memory, and no request of a curve is refused.
SETTINGS: Mapping[str, Setting] = {
    "innodb_buffer_pool_size": "1G",
    "max_connections": 1000,
    "open_files_limit": 20_000,
    # The plugin leaves the server two files for each of these. The rest has to do for the many idle
    # connections whose memory is measured.
    "table_open_cache": 200,
    "handlersocket_address": ADDRESS,
}
ON_LARGE_PAGES: Mapping[str, Setting] = {"large_pages": "ON"}
# Bytes that the buffer pool and what belongs to it take, with some to spare.
LARGE_PAGES_NEEDED = 1_400 << 20
# As many workers as there are cores for the server.
ONE_WORKER: Mapping[str, Setting] = {"handlersocket_threads": 1, "handlersocket_threads_wr": 1}
WRITE_BACK_TIMEOUT = 60.0
FEW_PAGES = 100
# So large that it is never full during a measurement.
LOG_SIZE = "1G"
DURABLE: Mapping[str, Setting] = {
    HASH_INDEX: "ON",
    "log_bin": "binlog",
    "server_id": 1,
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
}


def has_original(tree: Path) -> bool:
    """MariaDB's packages contain the original HandlerSocket, MySQL's do not."""
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
        cores: frozenset[int] = SERVER_CORES,
        default_workers: bool = False,
    ) -> None:
        self.name = name
        self.sql_port = free_port()
        kind = kind_of(tree)
        workers = {} if default_workers else ONE_WORKER
        all_settings = {
            **SETTINGS,
            **workers,
            **kind.log_file_size(LOG_SIZE),
            "port": self.sql_port,
        }
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
        with on_cores(cores):
            self.instance.start()
        try:
            put_first(self.pid)
            self._fill()
        except BaseException:
            self.stop()
            raise

    def _beside_socket(self, name: str) -> Path:
        """A place beside the socket, where paths are short enough."""
        return self.instance.socket.with_name(name)

    @property
    def pid(self) -> int:
        return self.instance.pid

    def _fill(self) -> None:
        if not self.instance.sql("SHOW TABLES FROM test LIKE 'user'"):
            print(f"== loading {ROWS:,} rows into the server '{self.name}' (once)", flush=True)
            self.instance.client(LOAD.format(rows=ROWS))
            self.write_back()
        self.read_whole("user", "user_email")

    def read_whole(self, table: str, column: str) -> None:
        """Reads every page of a table into memory before anything is measured."""
        self.instance.client(f"SELECT COUNT(*), SUM(LENGTH({column})) FROM test.{table}")

    def write_back(self) -> None:
        """Waits until what was loaded is on disk. Otherwise its writing would be measured later."""
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
        """Deletes what earlier runs wrote."""
        is_mysql = self.instance.kind.name == "mysql"
        self.instance.sql("RESET BINARY LOGS AND GTIDS" if is_mysql else "RESET MASTER")

    def move_to(self, cores: frozenset[int]) -> None:
        """Moves all present threads, and so the threads that they start."""
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
        """Over a Unix socket: only there one can log in without TLS and without a password."""
        return [f"--socket={self.instance.settings['mysqlx_socket']}", "--protocol=mysqlx"]

    def stop(self) -> None:
        self.instance.stop()
