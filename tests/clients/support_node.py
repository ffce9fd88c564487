"""What the tests of the client for Node.js have in common: the package, as one installs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server_instance import REPOSITORY
from support.database import Database

HERE = Path(__file__).parent
CLIENT = REPOSITORY / "clients" / "node"
BUILT = REPOSITORY / "var" / "clients" / "node-own"
EXAMPLE_URL = "handlersocket://localhost:9998,9999/app"


def installed_client() -> Callable[..., str]:
    """run(PROGRAM, arguments…) runs a program with the installed package, and gives its output."""
    subprocess.run([REPOSITORY / "setup" / "test_client_node.sh", "build"], check=True, timeout=280)
    folder = BUILT / "package"

    def run(program: str | Path, *arguments: object, **environment: str) -> str:
        text = Path(HERE / "node_client" / program).read_text()
        copy = folder / f"{os.getpid()}-{Path(program).name}"
        copy.write_text(text)
        try:
            done = subprocess.run(
                [BUILT / "bin" / "node", copy, *(str(one) for one in arguments)],
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        finally:
            copy.unlink()
        assert done.returncode == 0, f"{program}\n{done.stdout}\n{done.stderr}"
        assert done.stderr == ""
        return done.stdout

    return run


def ports(database: Database) -> tuple[int, int, str]:
    return database.server.hs_port, database.server.hs_port_wr, database.name


def lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def readme_blocks(language: str) -> list[str]:
    """The programs of the client's page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (CLIENT / "README.md").read_text(), re.DOTALL)


def readme_program(folder: Path, database: Database, example: str) -> tuple[Path, list[str]]:
    """An example as a program for this database, and what it says that it prints."""
    read, write, name = ports(database)
    assert EXAMPLE_URL in example
    program = folder / "example.mjs"
    program.write_text(
        example.replace(EXAMPLE_URL, f"handlersocket://127.0.0.1:{read},{write}/{name}")
    )
    said = [line.partition("// ")[2] for line in example.splitlines() if "// " in line]
    return program, said
