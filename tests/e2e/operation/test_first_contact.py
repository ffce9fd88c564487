"""The first commands that somebody tries: those of README, and those that cannot succeed."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import demo
import pytest
from server_instance import REPOSITORY, ServerError, ServerInstance, free_port
from support.database import Database, Sql
from support.scripts import DEFAULT_SIGNALS, write_program
from support.servers import SERVER_TREE

README = (REPOSITORY / "README.md").read_text()
RUN = REPOSITORY / "setup/run.sh"
NAME = SERVER_TREE.name


def blocks_below(heading: str) -> list[str]:
    """The blocks of indented lines in a section of README."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks]


def run(*command: object, path: Path | None = None, told: str = "") -> tuple[int, str]:
    """The exit code of a command and its only line, besides those that begin with what matches
    `told`. `path` is a folder of programs to prefer."""
    environment = dict(os.environ)
    if path:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    done = subprocess.run(
        [str(word) for word in command],
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stdout.splitlines()
    (line,) = [line for line in lines if not told or not re.match(told, line)]
    return done.returncode, line


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts this process, also if the tests run where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_dialogue_can_be_pasted(database: Database) -> None:
    database.sql.run(
        "CREATE TABLE user (user_id INT UNSIGNED PRIMARY KEY, user_name VARCHAR(50),"
        " user_email VARCHAR(255))",
        "INSERT INTO user VALUES (42, 'user_0000042', 'user_0000042@example.com'),"
        " (43, 'user_0000043', 'user_0000043@example.com')",
    )
    commands, replies = blocks_below("30 seconds in a shell")[:2]
    assert "/9999" in commands
    pasted = commands.replace("/9999", f"/{database.server.hs_port_wr}")
    pasted = pasted.replace(r"\ttest\t", rf"\t{database.name}\t")
    done = subprocess.run(
        ["bash"], input=pasted, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == (replies, "")


def test_every_pip_is_one_of_a_virtual_environment() -> None:
    pages = [
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("*/*.md"),
        *REPOSITORY.glob("clients/*/*.md"),
    ]
    lines = [line for page in pages for line in page.read_text().splitlines()]
    pips = [line.strip() for line in lines if re.search(r"\bpip install\b", line)]
    assert len(pips) >= 2
    assert [line for line in pips if "venv/bin/pip install" not in line] == []


class TestWhatCannotBeRun:
    """`make run` says why in one line, at once, before it downloads or builds anything."""

    @pytest.mark.parametrize(
        "ports, reason",
        [
            (("99980", ""), "error: PORT=99980: a port is a number from 1 to 65535"),
            (("", "x"), "error: PORT_WR=x: a port is a number from 1 to 65535"),
            (("0", ""), "error: PORT=0: a port is a number from 1 to 65535"),
            (("7000", "07000"), "error: PORT and PORT_WR are both 7000"),
            (("", "", "y"), "error: REDIS_PORT=y: a port is a number from 1 to 65535"),
            (("7000", "", "7000"), "error: REDIS_PORT is 7000, as another port"),
        ],
    )
    def test_ports(self, ports: tuple[str, ...], reason: str) -> None:
        assert run(RUN, NAME, "", *ports) == (1, reason)

    def test_settings_that_the_server_would_ignore(self, tmp_path: Path) -> None:
        file = tmp_path / "my.cnf"
        file.write_text("handlersocket_threads = 1\n[client]\nuser = me\n")
        assert run(RUN, NAME, file) == (
            1,
            f"error: MYCNF={file}: it has no [mysqld], so the server would ignore all of it",
        )

    def test_another_architecture(self, tmp_path: Path) -> None:
        write_program(tmp_path / "uname", "echo aarch64")
        reason = "error: this machine is aarch64: HandlerSocket 2 is built for x86-64 only"
        assert run(RUN, NAME, path=tmp_path) == (1, reason)


class TestGettingAServer:
    """In a copy of the scripts, which has no server yet. A failure leaves nothing behind."""

    @pytest.fixture
    def script(self, tmp_path: Path) -> Path:
        shutil.copytree(REPOSITORY / "setup", tmp_path / "copy/setup")
        return tmp_path / "copy/setup/server.sh"

    def stub(self, tmp_path: Path, name: str, *lines: str) -> Path:
        write_program(tmp_path / "bin" / name, *lines)
        return tmp_path / "bin"

    def left(self, script: Path) -> list[str]:
        return [path.name for path in (script.parent.parent / "var/servers").iterdir()]

    def test_on_a_full_disk(self, script: Path, tmp_path: Path) -> None:
        code, line = run(script, NAME, path=self.stub(tmp_path, "df", "echo Avail", "echo 20"))
        assert code == 1
        assert line.startswith(f"error: the disk of var/servers has 20 MB free, and getting {NAME}")
        assert self.left(script) == [f"{NAME}.lock"]

    def test_without_network(self, script: Path, tmp_path: Path) -> None:
        update = 'case "$*" in *update*) exit 100;; esac'
        path = self.stub(tmp_path, "apt-get", update, 'exec /usr/bin/apt-get "$@"')
        code, line = run(script, NAME, path=path, told=f"== getting {NAME}")
        assert code != 0
        assert re.match(rf"error: (no {NAME} can be had at the moment|this machine's apt)", line)
        assert self.left(script) == [f"{NAME}.lock"]

    def test_that_is_interrupted(self, script: Path, tmp_path: Path) -> None:
        path = self.stub(tmp_path, "apt-get", f"touch {tmp_path}/begun", "exec sleep 60")
        process = subprocess.Popen(
            [*DEFAULT_SIGNALS, script, NAME],
            env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert self.left(script) != [f"{NAME}.lock"]
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=30)[1] == b""
        assert process.returncode != 0
        assert self.left(script) == [f"{NAME}.lock"]


class TestOwnServer:
    """make install and make uninstall, on a machine whose server is a few lines of shell."""

    VERSION = "1:10.11.1-1"
    NEWER = "1:10.11.99-1"

    @pytest.fixture
    def programs(self, tmp_path: Path) -> Path:
        folder = tmp_path / "bin"
        self.plugins = tmp_path / "plugins"
        self.settings = tmp_path / "settings"
        self.settings.write_text("--port=3306\n")
        write_program(
            folder / "mariadbd",
            'case "$*" in',
            '*--version*) echo "mariadbd  Ver 10.11.1-MariaDB for Linux" ;;',
            f"*--help*) echo plugin-dir {self.plugins}/ ;;",
            f"*--print-defaults*) cat {self.settings} ;;",
            "esac",
        )
        write_program(
            folder / "dpkg-query",
            'case "$*" in *--search*) echo mariadb-server-core: x ;; '
            f"*) printf '%s' '{self.VERSION}' ;; esac",
        )
        # Package lists with another version.
        write_program(
            folder / "apt-get",
            'case "$*" in *indextargets*) echo "http://none.invalid bookworm bookworm" ;; '
            "*install*) exit 1 ;; esac",
        )
        write_program(
            folder / "apt-cache",
            'case "$*" in *showsrc*) echo "Version: ' + self.NEWER + '" ;; '
            f'*) echo "mariadb-server-core | {self.NEWER} | x Packages" ;; esac',
        )
        return folder

    def test_an_install_is_refused_before_anything_is_downloaded(
        self, programs: Path, tmp_path: Path
    ) -> None:
        copy = tmp_path / "copy"
        shutil.copytree(REPOSITORY / "setup", copy / "setup")
        code, line = run(
            copy / "setup/install.sh", path=programs, told="== looking for the headers"
        )
        assert code == 1
        assert f"mariadb-10.11 {self.VERSION}, and Debian bookworm has no headers of it" in line
        assert [path.name for path in (copy / "var/servers").iterdir()] == ["mariadb-10.11.lock"]

    def test_an_uninstall_takes_away_what_was_installed(
        self, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine = tmp_path / "machine"
        monkeypatch.setenv("DESTDIR", str(machine))
        library = Path(f"{machine}{self.plugins}/handlersocket2.so")
        bench = machine / "usr/local/bin/hs-bench"
        top = machine / "usr/local/bin/hs-top"
        sample = machine / "etc/mysql/mariadb.conf.d/60-handlersocket.cnf"
        uninstall = REPOSITORY / "setup/uninstall.sh"
        for file in (library, bench, top, sample):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(bytes(5000))

        lenient = "--plugin_load_add=handlersocket=x --loose_handlersocket_port=1"
        self.settings.write_text(
            f"--port=3306 {lenient} --handlersocket_plain_secret=x --plugin-handlersocket=FORCE\n"
        )
        code, line = run(uninstall, path=programs)
        assert code == 1
        assert line.endswith(
            "not start: take these away first: --handlersocket_plain_secret --plugin-handlersocket"
        )
        self.settings.write_text(f"--port=3306 {lenient}\n")

        with library.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ):
            code, line = run(uninstall, path=programs)
            assert code == 1
            assert f"a running server has loaded {library}" in line

        # The server starts with what is left, and the sample is left, because it was changed.
        told = (
            f"== left (in .*: --loose_handlersocket_port --plugin_load_add=handlersocket|{sample})"
        )
        code, line = run(uninstall, path=programs, told=told)
        assert (code, line) == (0, f"== removed {library} {bench} {top}")
        self.settings.write_text("--port=3306\n")
        assert sample.exists()
        assert not library.exists()
        code, line = run(uninstall, path=programs, told="== left")
        assert (code, line) == (1, f"error: nothing is installed in {library.parent}")


class TestDemo:
    """The demo in a folder of its own, with few rows."""

    @pytest.fixture(autouse=True)
    def own_folder(self, data_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        folder = data_root / "demo"
        monkeypatch.setattr(demo, "BASE_DIR", folder)
        monkeypatch.setattr(demo, "LOG_PATH", folder / "server.log")
        monkeypatch.setattr(demo, "ROWS", 1000)
        monkeypatch.setattr(demo, "SHOWN_ROW", 500)
        monkeypatch.setattr(demo, "LOG_FILE_SIZE", "32M")
        self.ports = free_port(), free_port()
        self.redis_port = free_port()
        self.memcached_port = free_port()
        yield
        demo.stop()
        shutil.rmtree(folder, ignore_errors=True)

    def main(self, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
        ports = ["--port", str(self.ports[0]), "--port-wr", str(self.ports[1])]
        ports += ["--redis-port", str(self.redis_port)]
        ports += ["--memcached-port", str(self.memcached_port)]
        words = ["demo.py", "run", str(SERVER_TREE), *ports, *(str(word) for word in arguments)]
        monkeypatch.setattr(sys, "argv", words)
        return demo.main()

    def test_with_secrets_and_ports_of_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "my.cnf"
        file.write_text(
            "[mysqld]\nloose-handlersocket-plain-secret = sesame\n"
            "handlersocket_plain_secret_wr = open\n"
        )
        assert self.main(monkeypatch, "--settings", file) == 0
        out, err = capfd.readouterr()
        assert err == ""
        assert "> A\t1\t(the secret)" in out
        assert "sesame" not in out
        assert f"telnet 127.0.0.1 {self.ports[0]}" in out
        (client,) = re.findall(r"var/servers/\S+", out)
        assert (REPOSITORY / client).exists()
        assert demo.stop()

    def test_a_port_that_is_taken(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with socket.create_server(("127.0.0.1", self.ports[1])):
            assert self.main(monkeypatch) == 1
        reason = f"port {self.ports[1]} is taken by another program: Address already in use"
        assert capfd.readouterr() == ("", f"error: {reason}\n")
        assert not demo.BASE_DIR.exists()

    def test_a_demo_that_runs_goes_on_if_the_next_cannot(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert self.main(monkeypatch) == 0
        told = capfd.readouterr().out
        assert "   > HMGET test.user:500 user_name user_email\n   < user_0000500\n" in told
        assert f"redis-cli -p {self.redis_port} HGETALL test.user:42" in told
        running = demo.running_pid()
        assert demo.running_ports() == {*self.ports, self.redis_port, self.memcached_port}
        capfd.readouterr()
        own = self.ports
        with socket.create_server(("127.0.0.1", free_port())) as other:
            taken = other.getsockname()[1]
            self.ports = own[0], taken
            assert self.main(monkeypatch) == 1
        reason = f"port {taken} is taken by another program: Address already in use"
        assert capfd.readouterr() == ("", f"error: {reason}\n")
        assert demo.running_pid() == running is not None
        # Its own ports are no obstacle.
        self.ports = own
        assert self.main(monkeypatch) == 0
        assert demo.running_pid() not in {running, None}

    def test_a_secret_for_one_port_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "my.cnf"
        file.write_text("[mysqld]\nhandlersocket_plain_secret = sesame\n")
        assert self.main(monkeypatch, "--settings", file) == 1
        assert capfd.readouterr() == (
            "",
            f"error: MYCNF={file} sets one of handlersocket_plain_secret and"
            " handlersocket_plain_secret_wr, so nobody could use the other port: set both\n",
        )
        assert not demo.BASE_DIR.exists()
        file.write_text(
            "[mysqld]\nhandlersocket_plain_secret = sesame\n"
            "handlersocket_anonymous_account = root@localhost\n"
        )
        assert self.main(monkeypatch, "--settings", file) == 0

    def test_settings_that_cannot_work_stop_no_demo(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert self.main(monkeypatch) == 0
        running = demo.running_pid()
        file = tmp_path / "my.cnf"
        for lines, reason in (
            (
                "handlersocket_anonymous_account =\n",
                "handlersocket_anonymous_account is empty and no secret is set, so the demo's"
                " requests would be answered 'unauth': name an account there, such as"
                " root@localhost",
            ),
            (
                "handlersocket_plain_secret = a\nloose-handlersocket-plain-secret-wr = a\n"
                "handlersocket_secret_account =\n",
                "handlersocket_secret_account is empty, so the demo's requests would be answered"
                " 'unauth': name an account there, such as root@localhost",
            ),
            (
                "none_such = 1\n",
                "the server refuses its settings .*unknown variable 'none_such=1'.*",
            ),
        ):
            file.write_text(f"[mysqld]\n{lines}")
            capfd.readouterr()
            assert self.main(monkeypatch, "--settings", file) == 1
            out, err = capfd.readouterr()
            assert out == ""
            assert re.fullmatch(f"error: MYCNF={file}: {reason}\n", err), err
            assert demo.running_pid() == running is not None

    def test_a_demo_that_ran_runs_again_if_the_next_does_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "my.cnf"
        file.write_text("[mysqld]\nhandlersocket_max_connections = 77\n")
        assert self.main(monkeypatch, "--settings", file) == 0
        for line, reason in (
            # The server starts with these and the plugin does not serve.
            (
                "handlersocket_enabled = OFF",
                r"nothing answers on port \d+ .*: handlersocket: listens nowhere, .*OFF",
            ),
            (
                "handlersocket_anonymous_account = none_such@localhost",
                r"port \d+ refused that request \(the account as which clients act does not exist",
            ),
            # And with this one it does not start, because its data were made with another.
            ("innodb_page_size = 8k", "the server did not start .*page size.*"),
        ):
            # The same file, so it is not as the demo server that runs has found it.
            file.write_text(f"[mysqld]\n{line}\n")
            capfd.readouterr()
            assert self.main(monkeypatch, "--settings", file) == 1
            (error,) = capfd.readouterr().err.splitlines()
            assert re.fullmatch(f"error: {reason}.*; what ran before runs again", error), error
            assert demo.running_pid() is not None
            with Sql(demo.BASE_DIR / "server.sock") as sql:
                assert sql.number("SELECT @@handlersocket_max_connections") == 77

    @pytest.mark.usefixtures("interruptible")
    def test_an_interruption_while_rows_are_loaded(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        started: list[ServerInstance] = []

        def load(server: ServerInstance) -> None:
            started.append(server)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(60)

        monkeypatch.setattr(demo, "load", load)
        assert self.main(monkeypatch) == 130
        assert capfd.readouterr().err == "error: interrupted; the demo server is not running\n"
        assert demo.running_pid() is None
        with pytest.raises(ServerError):
            started[0].pid  # noqa: B018
        assert not demo.stop()

    def test_a_full_disk(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        disk = demo.BASE_DIR
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
        if subprocess.run(mount, check=False).returncode != 0:
            pytest.skip("a small disk cannot be mounted here")
        try:
            capfd.readouterr()
            assert self.main(monkeypatch) == 1
            (line,) = capfd.readouterr().err.splitlines()
            assert re.fullmatch(
                rf"error: the disk of {disk} has 8 MB free, the data take .* MB", line
            )
            assert list(disk.iterdir()) == []
        finally:
            subprocess.run(["umount", disk], check=True)
