"""Builds the program of each language, and gives the command that runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from server_instance import REPOSITORY

PROGRAMS = Path(__file__).parent / "programs"
CLIENTS = REPOSITORY / "clients"
BUILT = REPOSITORY / "var" / "clients"

Command = tuple[list[str], dict[str, str]]  # its words, and what it has in its environment


@cache
def go() -> Command:
    program = BUILT / "soak-go"
    compiler = REPOSITORY / "var" / "go" / "bin" / "go"
    _run(compiler, "build", "-o", program, ".", folder=PROGRAMS / "go")
    return [str(program)], {}


@cache
def java() -> Command:
    folder = BUILT / "soak-java"
    client, program = folder / "client" / "classes", folder / "program"
    shutil.rmtree(program, ignore_errors=True)
    pom = CLIENTS / "java" / "pom.xml"
    _run("mvn", "-q", "-B", "-f", pom, f"-DbuildDirectory={client.parent}", "compile")
    sources = sorted((PROGRAMS / "java").glob("*.java"))
    _run("javac", "-nowarn", "-cp", client, "-d", program, *sources)
    return ["java", "-Dfile.encoding=UTF-8", "-cp", f"{client}{os.pathsep}{program}", "Soak"], {}


@cache
def node() -> Command:
    _run(REPOSITORY / "setup" / "test_client_node.sh", "build")
    # Packages are looked for beside the program.
    folder = BUILT / "node-own" / "package"
    for source in sorted((PROGRAMS / "node").glob("*.mjs")):
        shutil.copy(source, folder)
    return [str(BUILT / "node-own" / "bin" / "node"), str(folder / "soak.mjs")], {}


@cache
def python() -> Command:
    program = [sys.executable, str(PROGRAMS / "python" / "soak.py")]
    return program, {"PYTHONPATH": str(CLIENTS / "python" / "src")}


LANGUAGES: Mapping[str, Callable[[], Command]] = {
    "go": go,
    "java": java,
    "node": node,
    "python": python,
}


def _run(*words: str | Path, folder: Path | None = None) -> None:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=280, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
