"""Data directories: one is made for each server as a template, and copied for each start."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from server_kind import MADE_WITH, Setting, kind_of


def copy_template(tree: Path, data_dir: Path, settings: Mapping[str, Setting] = {}) -> None:
    """Fills data_dir, which must not exist, with a fresh data directory of the server in `tree`.

    Of `settings` those count with which a data directory has to be made.
    """
    made_with = {name: settings[name] for name in MADE_WITH if name in settings}
    names = ["template-data", *(f"{name}-{value}" for name, value in made_with.items())]
    template = tree / "-".join(names)
    with (tree / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _make_template(tree, template, made_with)
    command = ["cp", "-a", "--reflink=auto", "--sparse=always", str(template), str(data_dir)]
    subprocess.run(command, check=True)
    # Each server needs its own name, by which other servers know it.
    (data_dir / "auto.cnf").unlink(missing_ok=True)


def _make_template(tree: Path, template: Path, made_with: Mapping[str, Setting]) -> None:
    partial = template.with_name(f"{template.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    kind_of(tree).make_data_directory(partial, made_with)
    partial.rename(template)
