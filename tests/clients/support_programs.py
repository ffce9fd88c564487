"""The programs in this folder, by clients that others wrote: each is installed below var/ once.

What their languages need comes from setup/packages.sh. Versions are pinned where a registry has
more than one; PHP's and Ruby's clients are those of the Debian release.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from server_instance import REPOSITORY
from support.built_once import build_once
from test_foreign_clients import INSTALLED, run

HERE = Path(__file__).parent


def python_program(name: str) -> list[str]:
    """NAME/client.py, with the packages that its requirements.txt names."""
    folder, here = _places(name)
    requirements = here / "requirements.txt"

    def install() -> None:
        run(sys.executable, "-m", "venv", str(folder / "venv"))
        pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet"]
        run(*pip, "--disable-pip-version-check", "-r", str(requirements))

    build_once(folder, [requirements], install)
    return [str(folder / "venv/bin/python"), str(here / "client.py")]


def node_program(name: str) -> list[str]:
    """NAME/client.mjs, with the packages of its lock file."""
    folder, here = _places(name)
    names = ("package.json", "package-lock.json", "client.mjs")

    def install() -> None:
        # Modules are looked for beside the program.
        for file in names:
            shutil.copy(here / file, folder)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)

    subprocess.run([REPOSITORY / "setup/test_client_node.sh", "build"], check=True, timeout=280)
    build_once(folder, [here / file for file in names], install)
    return [str(INSTALLED / "node-own/bin/node"), str(folder / "client.mjs")]


def go_program(name: str) -> list[str]:
    folder, here = _places(name)
    go = REPOSITORY / "var/go/bin/go"

    def install() -> None:
        assert go.exists(), "run setup/go.sh"
        run(str(go), "build", "-mod=readonly", "-o", str(folder / "client"), ".", cwd=here)

    sources = [here / "go.mod", here / "go.sum", *sorted(here.glob("*.go"))]
    build_once(folder, sources, install)
    return [str(folder / "client")]


def java_program(name: str) -> list[str]:
    """The class Application of NAME."""
    folder, here = _places(name)

    def install() -> None:
        run("mvn", "-q", "-B", f"-DbuildDirectory={folder}", "process-classes", cwd=here)

    build_once(folder, [here / "pom.xml", *sorted(here.rglob("*.java"))], install)
    path = f"{folder / 'classes'}{os.pathsep}{folder / 'lib' / '*'}"
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", path, "Application"]


def rust_program(name: str) -> list[str]:
    folder, here = _places(name)
    sources = ["Cargo.toml", "src/main.rs"]

    def install() -> None:
        # cargo writes beside the sources.
        (folder / "src").mkdir()
        for file in sources:
            shutil.copy(here / file, folder / file)
        run("cargo", "build", "--quiet", cwd=folder, CARGO_TARGET_DIR=str(folder / "target"))

    build_once(folder, [here / file for file in sources], install)
    return [str(folder / "target/debug/client")]


def php_program(name: str) -> list[str]:
    return ["php", str(HERE / name / "client.php")]


def ruby_program(name: str) -> list[str]:
    return ["ruby", str(HERE / name / "client.rb")]


def _places(name: str) -> tuple[Path, Path]:
    """Where a program is installed, and where its sources are."""
    return INSTALLED / name.replace("_", "-"), HERE / name
