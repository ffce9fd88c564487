"""Data directories: one is made for each server as a template, and copied for each start."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from server_kind import kind_of


def copy_template(tree: Path, data_dir: Path) -> None:
    """Fills data_dir, which must not exist, with a fresh data directory of the server in `tree`."""
    template = tree / "template-data"
    with (tree / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _make_template(tree, template)
    command = ["cp", "-a", "--reflink=auto", "--sparse=always", str(template), str(data_dir)]
    subprocess.run(command, check=True)
    # Each server needs its own name, by which other servers know it.
    (data_dir / "auto.cnf").unlink(missing_ok=True)


def _make_template(tree: Path, template: Path) -> None:
    partial = template.with_name("template-data.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    kind_of(tree).make_data_directory(partial)
    partial.rename(template)
