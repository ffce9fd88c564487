"""What differs between the kinds of server: programs, settings, data directories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

Setting = str | int | None

# Small, because every copy of a data directory contains it.
LOG_FILE_SIZE = "32M"

# Settings with which a data directory has to be made, because a server refuses to change them.
MADE_WITH = ("lower_case_table_names",)


class ServerError(RuntimeError):
    """The server did not do what was asked: one line with the reason, then the end of its log."""


class ServerKind:
    """How one kind of server is started and reached. It knows nothing about a running server."""

    name: str
    server: str  # program names in bin/
    client: str
    binlog: str
    # Settings of a server for tests. They are small, so that several servers can run side by side.
    defaults: dict[str, Setting]
    # With this a server reads its settings, says what is wrong with them, and ends.
    only_reads_settings: tuple[str, ...]
    # The shared server's data need not survive a crash of the machine. Tables are created faster
    # so.
    volatile: dict[str, Setting]

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.root = tree / "root/usr"

    def paths(self) -> dict[str, Setting]:
        """The settings by which an unpacked server finds its own files."""
        raise NotImplementedError

    def log_file_size(self, size: str) -> dict[str, Setting]:
        """The size of InnoDB's log."""
        raise NotImplementedError

    def load_plugin(self, name: str, library: str) -> dict[str, Setting]:
        """The setting that loads a plugin at the start, beside others."""
        raise NotImplementedError

    def make_data_directory(self, path: Path, made_with: Mapping[str, Setting]) -> None:
        """Fills an empty folder with a data directory; root logs in without a password."""
        raise NotImplementedError

    def _run_once(self, options: dict[str, Setting], flag: str, statements: str) -> None:
        command = [str(self.tree / "bin" / self.server), "--no-defaults", flag]
        command += [f"--{name}={value}" for name, value in options.items()]
        if os.geteuid() == 0:
            command.append("--user=root")
        done = subprocess.run(
            command, input=statements, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ServerError(f"cannot make a data directory:\n{done.stderr[-3000:]}")


class MariaDb(ServerKind):
    name = "mariadb"
    server = "mariadbd"
    client = "mariadb"
    binlog = "mariadb-binlog"
    only_reads_settings = ("--verbose", "--help")
    defaults = {
        "innodb_buffer_pool_size": "64M",
        "innodb_log_file_size": LOG_FILE_SIZE,
        "key_buffer_size": "8M",
        "aria_pagecache_buffer_size": "8M",
        "character_set_server": "utf8mb4",
    }
    volatile = {
        "innodb_flush_method": "nosync",
        "innodb_flush_log_at_trx_commit": 0,
        "innodb_doublewrite": 0,
        "sync_frm": 0,
    }

    @property
    def share(self) -> Path:
        # Debian has moved it since MariaDB's programs have their own names.
        new = self.root / "share/mariadb"
        return new if new.exists() else self.root / "share/mysql"

    def paths(self) -> dict[str, Setting]:
        return {
            "basedir": str(self.root),
            "lc_messages_dir": str(self.share),
            "character_sets_dir": str(self.share / "charsets"),
        }

    def log_file_size(self, size: str) -> dict[str, Setting]:
        return {"innodb_log_file_size": size}

    def load_plugin(self, name: str, library: str) -> dict[str, Setting]:
        # Without a name: both plugins of the library, handlersocket and handlersocket_connections.
        return {"plugin_load_add": library}

    def make_data_directory(self, path: Path, made_with: Mapping[str, Setting]) -> None:
        # A server in bootstrap mode reads one statement in each line.
        statements = [
            "CREATE DATABASE mysql;",
            "USE mysql;",
            # root logs in without a password, and there is no anonymous user.
            "SET @auth_root_socket = NULL, @skip_auth_anonymous = 1;",
        ]
        prefix = "mariadb" if (self.share / "mariadb_system_tables.sql").exists() else "mysql"
        for script in ("system_tables", "performance_tables", "system_tables_data"):
            statements.append((self.share / f"{prefix}_{script}.sql").read_text())
        statements.append("CREATE DATABASE test;\n")
        options: dict[str, Setting] = {
            **self.paths(),
            "datadir": str(path),
            "innodb_log_file_size": LOG_FILE_SIZE,
            "enforce_storage_engine": "",
            **made_with,
        }
        self._run_once(options, "--bootstrap", "\n".join(statements))


class MySql(ServerKind):
    name = "mysql"
    server = "mysqld"
    client = "mysql"
    binlog = "mysqlbinlog"
    only_reads_settings = ("--validate-config",)
    defaults = {
        "innodb_buffer_pool_size": "64M",
        "innodb_redo_log_capacity": LOG_FILE_SIZE,
        "key_buffer_size": "8M",
        "character_set_server": "utf8mb4",
        # It is on by default, with its own TCP port.
        "mysqlx": "OFF",
        # As MariaDB's default, so that the same statements have the same meaning.
        "sql_mode": "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        # As MariaDB's default: there is a binary log only if a test asks for it.
        "skip_log_bin": None,
    }
    volatile = {
        "innodb_flush_method": "nosync",
        "innodb_flush_log_at_trx_commit": 0,
        "innodb_doublewrite": 0,
    }

    def paths(self) -> dict[str, Setting]:
        return {
            "basedir": str(self.root),
            "lc_messages_dir": str(self.root / "share/mysql"),
            "character_sets_dir": str(self.root / "share/mysql/charsets"),
            # Debian's default is a folder that only its package creates.
            "secure_file_priv": "",
        }

    def log_file_size(self, size: str) -> dict[str, Setting]:
        return {"innodb_redo_log_capacity": size}

    def load_plugin(self, name: str, library: str) -> dict[str, Setting]:
        # An early load would come before InnoDB. This list is read after InnoDB has started.
        return {"plugin_load_add": f"{name}={library}"}

    def make_data_directory(self, path: Path, made_with: Mapping[str, Setting]) -> None:
        script = path.with_name("template-init.sql")
        script.write_text("CREATE DATABASE test;\n")
        options: dict[str, Setting] = {
            **self.paths(),
            "datadir": str(path),
            "innodb_redo_log_capacity": LOG_FILE_SIZE,
            "init_file": str(script),
            **made_with,
        }
        try:
            self._run_once(options, "--initialize-insecure", "")
        finally:
            script.unlink()


KINDS: dict[str, type[ServerKind]] = {kind.name: kind for kind in (MariaDb, MySql)}


def kind_of(tree: Path) -> ServerKind:
    """The kind of the server in `tree`, as setup/server.sh noted it."""
    for line in (tree / "server.env").read_text().splitlines():
        name, _, value = line.partition("=")
        if name == "kind":
            return KINDS[value](tree)
    raise ServerError(f"{tree} does not say what kind of server it holds")
