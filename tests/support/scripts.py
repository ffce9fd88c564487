"""The scripts of setup/ in a copy of their own, with programs that a test has written."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from server_instance import REPOSITORY

# As Debian's root has them.
FOLDERS = ("/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# What is started begins with every signal's default, whoever has started the tests: where that was
# a script with `&`, or nohup, some are ignored, and programs leave ignored signals ignored.
DEFAULT_SIGNALS = ("env", "--default-signal")


def write_program(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    file.chmod(0o755)


def all_programs_but(folder: Path, *names: str) -> Path:
    """A folder with the machine's programs, except these."""
    folder.mkdir(parents=True)
    for place in FOLDERS:
        for program in Path(place).glob("*"):
            link = folder / program.name
            if program.name not in names and not link.is_symlink():
                link.symlink_to(program)
    return folder


class Scripts:
    """A copy of setup/ in a folder of its own, so that all it leaves is below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.var = folder / "copy/var"
        self.programs = folder / "programs"
        self.path = os.environ["PATH"]
        shutil.copytree(REPOSITORY / "setup", folder / "copy/setup")

    def program(self, name: str, *lines: str) -> None:
        """A program that is found before the machine's."""
        write_program(self.programs / name, *lines)

    def without(self, *names: str) -> None:
        """The machine lacks these programs."""
        self.path = str(all_programs_but(self.folder / "machine", *names))

    def run(self, script: str, *words: object) -> subprocess.CompletedProcess[str]:
        """Runs it in a session of its own, so that a signal for its group reaches nobody else."""
        return subprocess.run(
            [*DEFAULT_SIGNALS, self.folder / "copy/setup" / script, *map(str, words)],
            env={**os.environ, "PATH": f"{self.programs}:{self.path}"},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
            check=False,
        )
