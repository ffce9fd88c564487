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
    # A part of a copy must not be taken for all of it.
    partial = _partial(data_dir)
    command = ["cp", "-a", "--reflink=auto", "--sparse=always", str(template), str(partial)]
    subprocess.run(command, check=True)
    # Each server needs its own name, by which other servers know it.
    (partial / "auto.cnf").unlink(missing_ok=True)
    partial.rename(data_dir)


def _make_template(tree: Path, template: Path, made_with: Mapping[str, Setting]) -> None:
    partial = _partial(template)
    partial.mkdir()
    kind_of(tree).make_data_directory(partial, made_with)
    partial.rename(template)


def _partial(path: Path) -> Path:
    """A free place beside `path`, for what is not complete yet."""
    partial = path.with_name(f"{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    return partial
