"""The clean machine of the examples: its server, the project's folder, an agent for Python."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from server_instance import REPOSITORY
from support.clean_tree import CleanTree, OwnServer
from support.documents import blocks_of
from support.servers import SERVER_TREE

NAME = SERVER_TREE.name
# Where somebody would have unpacked the source.
PROJECT = "/root/handlersocket2"
SETTINGS = OwnServer.FOLDER
PYTHON = "/root/hs-venv/bin/python"
TERMINAL_TIMEOUT = 60.0
PLUGIN_FOLDER = "/usr/lib/mysql/plugin"
BUILT = REPOSITORY / "build" / NAME
DEMOS_SERVER = f"{PROJECT}/var/servers/{NAME}"

# Runs in the tree: executes the Python examples of a page one after the other, as in one program,
# and holds the page's connections.
AGENT = r"""
import contextlib, io, json, os, socket, sys, traceback
names, wires = {}, {}
def talk(port, lines):
    if port not in wires:
        wire = socket.create_connection(("127.0.0.1", port), 30)
        wires[port] = wire, wire.makefile("rb")
    wire, replies = wires[port]
    answers = []
    for line in lines:
        wire.sendall(line.encode("latin-1") + b"\n")
        for _ in line.split("\n"):
            answers.append(replies.readline().decode("latin-1").removesuffix("\n"))
    return answers
for line in sys.stdin:
    asked = json.loads(line)
    told, error, answers = io.StringIO(), "", []
    try:
        if asked.get("anew"):
            for wire, replies in wires.values(): replies.close(); wire.close()
            names, wires = {"__name__": "__main__"}, {}
            os.chdir("/root")
        elif "send" in asked:
            answers = talk(asked["port"], asked["send"])
        else:
            os.chdir(asked["folder"])
            with contextlib.redirect_stdout(told):
                exec(compile(asked["code"], asked["title"], "exec"), names)
    except BaseException:
        error = traceback.format_exc()
    print(json.dumps({"told": told.getvalue(), "error": error, "answers": answers}), flush=True)
"""


class Machine:
    def __init__(self) -> None:
        self.told = ""  # by the last example for a shell
        made = subprocess.run(
            [REPOSITORY / "setup/documents_tree.sh", NAME],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=900,
        )
        binds = {
            (SERVER_TREE / part).resolve(): f"{DEMOS_SERVER}/{part}" for part in ("root", "bin")
        }
        self.tree = CleanTree(Path(made.stdout.strip()), binds)
        self._agent: subprocess.Popen[str] | None = None
        try:
            self.server = OwnServer(self.tree)
            self._bring_the_project()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._agent:
            self._agent.kill()
            self._agent.communicate()
        self.tree.close()

    def _bring_the_project(self) -> None:
        """The sources, and what is built of them: a tree has no compiler."""
        left_out = shutil.ignore_patterns("build", "var", ".git", "node_modules", "__pycache__")
        shutil.copytree(REPOSITORY, self.tree.path(PROJECT), ignore=left_out, dirs_exist_ok=True)
        built = self.tree.path(f"{PROJECT}/build/{NAME}")
        for file in ("src/mysqld/handlersocket2.so", "bench/hs-bench"):
            (built / file).parent.mkdir(parents=True)
            shutil.copy2(BUILT / file, built / file)
        shutil.copy2(SERVER_TREE / "server.env", self.tree.path(DEMOS_SERVER))
        for script in ("packages.sh", "build.sh"):
            self.tree.path(f"{PROJECT}/setup/{script}").write_text(
                "#!/bin/sh\n# All is there already.\n"
            )
        self.tree.shell("echo '127.0.0.1 db db.example.org' >>/etc/hosts")

    def anew(self) -> None:
        """For the next page: no server runs or has data, and no program knows anything."""
        self.tree.shell("setup/stop.sh", folder=PROJECT)
        self.server.anew()
        self.forget()

    def forget(self) -> None:
        """No Python example before this one has been, and no connection is open."""
        if self._agent:
            self._ask({"anew": True})

    def install(self) -> None:
        """What `make install` does when it has built everything."""
        self.tree.shell(
            f"cp build/{NAME}/src/mysqld/handlersocket2.so {PLUGIN_FOLDER}/\n"
            f"cp build/{NAME}/bench/hs-bench /usr/local/bin/\n"
            "setup/hs_top.sh /usr/local/bin/hs-top\n"
            f"(source setup/own_server.sh; sample_settings /usr/sbin/mariadbd) >{self.sample}",
            folder=PROJECT,
        )

    def make_environment(self) -> None:
        """As README says. Its second line needs the network."""
        (block,) = [one for one in blocks_of("README.md") if "python3 -m venv" in one.text]
        self.tree.shell(block.text, folder=PROJECT, online=True)

    @property
    def server_version(self) -> int:
        """As the server's sources have it: 101118 is 10.11.18."""
        told = self.tree.shell("mariadbd --version")
        (numbers,) = re.findall(r"Ver (\d+)\.(\d+)\.(\d+)", told)
        major, minor, release = map(int, numbers)
        return major * 10_000 + minor * 100 + release

    sample = f"{SETTINGS}/60-handlersocket.cnf"

    def configure(self, name: str, text: str) -> None:
        """A file of settings, which the server reads behind all others, and a restart."""
        self.tree.path(f"{SETTINGS}/{name}.cnf").write_text(text)
        self.server.restart()

    def sql(self, statements: str) -> str:
        return self.server.sql(statements)

    def ask(self, port: int, lines: Sequence[str]) -> list[str]:
        """The replies on this page's connection to that port. Lines in one are sent together."""
        answers = self._ask({"send": list(lines), "port": port})["answers"]
        assert isinstance(answers, list)
        return answers

    def python(self, title: str, code: str, folder: str = "/root") -> str:
        """What the code prints, which knows what the code before it on this page has made."""
        return str(self._ask({"code": code, "title": title, "folder": folder})["told"])

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self._agent is None:
            if not self.tree.path(PYTHON).exists():
                self.make_environment()
            self._agent = self.tree.start([PYTHON, "-u", "-c", AGENT])
        assert self._agent.stdin and self._agent.stdout
        self._agent.stdin.write(json.dumps(asked) + "\n")
        self._agent.stdin.flush()
        answer: dict[str, Any] = json.loads(self._agent.stdout.readline())
        assert not answer["error"], answer["error"]
        return answer

    def on_a_terminal(self, command: str, until: str, keys: str, folder: str = "/root") -> None:
        """The program draws this text. Then the keys end it."""
        terminal = f"script --quiet --return --flush --command {shlex.quote(command)} /dev/null"
        process = subprocess.Popen(
            self.tree.command(["bash", "-c", f"cd {folder}; exec {terminal}"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        drawn = b""
        deadline = time.monotonic() + TERMINAL_TIMEOUT
        assert process.stdin and process.stdout
        try:
            while until.encode() not in drawn:
                left = deadline - time.monotonic()
                ready, _, _ = select.select([process.stdout], [], [], max(left, 0))
                piece = os.read(process.stdout.fileno(), 65536) if ready else b""
                assert piece, f"{command} has drawn only {drawn.decode(errors='replace')}"
                drawn += piece
            process.communicate(keys.encode(), timeout=TERMINAL_TIMEOUT)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 0
