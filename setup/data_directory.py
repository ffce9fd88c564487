"""Data directories: one is made per server as a template, and copied for each that is started."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

Setting = str | int | None

# Small, because every copy carries it.
LOG_FILE_SIZE = "32M"


class ServerError(RuntimeError):
    """The server did not do what was asked: one line that says what, then the end of its log."""


def server_paths(tree: Path) -> dict[str, Setting]:
    """The settings by which an unpacked server finds its own files."""
    root = tree / "root/usr"
    return {
        "basedir": str(root),
        "lc_messages_dir": str(root / "share/mysql"),
        "character_sets_dir": str(root / "share/mysql/charsets"),
    }


def copy_template(tree: Path, data_dir: Path) -> None:
    """Fills data_dir, which must not exist, with a fresh data directory of the server in `tree`."""
    template = tree / "template-data"
    with (tree / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _make_template(tree, template)
    command = ["cp", "-a", "--reflink=auto", "--sparse=always", str(template), str(data_dir)]
    subprocess.run(command, check=True)


def _make_template(tree: Path, template: Path) -> None:
    share = tree / "root/usr/share/mysql"
    # A bootstrapping server reads one statement a line.
    statements = [
        "CREATE DATABASE mysql;",
        "USE mysql;",
        # root logs in without a password, and nobody without a name.
        "SET @auth_root_socket = NULL, @skip_auth_anonymous = 1;",
    ]
    for script in ("mysql_system_tables", "mysql_performance_tables", "mysql_system_tables_data"):
        statements.append((share / f"{script}.sql").read_text())
    statements.append("CREATE DATABASE test;\n")
    partial = template.with_name("template-data.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    options = {
        **server_paths(tree),
        "datadir": str(partial),
        "innodb_log_file_size": LOG_FILE_SIZE,
        "enforce_storage_engine": "",
    }
    command = [str(tree / "bin" / "mariadbd"), "--no-defaults", "--bootstrap"]
    command += [f"--{name}={value}" for name, value in options.items()]
    if os.geteuid() == 0:
        command.append("--user=root")
    done = subprocess.run(
        command, input="\n".join(statements), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ServerError(f"cannot make a data directory:\n{done.stderr[-3000:]}")
    partial.rename(template)
