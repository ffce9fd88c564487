"""hs-top: what it shows of a server under load, to whom, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hs_top import words
from hs_top.latencies import latencies
from hs_top.option_file import OptionFileError, options_of
from server_instance import REPOSITORY, ServerInstance
from support.database import Database
from support.scripts import DEFAULT_SIGNALS
from support.servers import ON_MYSQL
from support.wire import Wire
from support_load import Load, definition_of, under_load
from support_servers import running_server, wait_until

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(REPOSITORY / "tools"),
    "TERM": "xterm",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",  # nobody's own option file
}
ENVIRONMENT.pop("LC_ALL", None)
PROGRAM = [sys.executable, "-m", "hs_top"]
LEAVES_THE_SCREEN = b"\x1b[?1049l"


def command(server: ServerInstance, *words_: str) -> list[str]:
    return [*PROGRAM, "--socket", str(server.socket), "--user", "root", *words_]


def run(words_: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words_,
        env=ENVIRONMENT | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def shown(server: ServerInstance, *words_: str) -> str:
    done = run(command(server, "--once", "--interval", "0.3", *words_), COLUMNS="160")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def shows(database: Database, table: str) -> bool:
    """Whether the plugin has this table. hs-top also works with those that have not."""
    name = f"handlersocket_{table}"
    query = "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = '{}'"
    return database.sql.number(query.format(name)) == 1


@contextmanager
def readings(database: Database, count: int) -> Iterator[Iterator[dict[str, Any]]]:
    """What --batch writes, one reading after the other, until it ends well."""
    with subprocess.Popen(
        command(database.server, "--batch", "--interval", "0.5", "--count", str(count)),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield (json.loads(line) for line in process.stdout)
        assert process.wait(30) == 0


class TestNumbers:
    def test_they_are_those_of_the_requests(self, database: Database) -> None:
        """Known requests between two of its readings, and nothing else."""
        database.sql.run(
            "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)"
        )
        with readings(database, 4) as reading:
            lines = [next(reading)]
            with database.writer() as client:
                index = client.index(database.name, "t", ["v"])
                for number in range(7):
                    index.find_one(1)
                    index.update(1, [number])
                with pytest.raises(Exception, match="121"):
                    client.index(database.name, "t", ["id"]).insert([1])
                lines += reading
        assert len(lines) == 4

        def seen(name: str) -> int:
            return round(sum(line["rates"][name] * line["seconds"] for line in lines))

        assert seen("requests_find") == 7
        assert seen("requests_find_modify") == 7
        assert seen("requests_insert") == 1
        assert seen("errors") == 1
        first, last = lines[0]["counters"], lines[-1]["counters"]
        assert last["requests_find"] - first["requests_find"] == 7
        assert any(
            one["port"] == "write" and one["account"] == "root@localhost"
            for line in lines
            for one in line["busiest"]
        )

    def test_under_load(self, database: Database) -> None:
        server = database.server
        database.sql.run(definition_of("load_table"))
        load = Load((server.hs_port, server.hs_port_wr), database.name, "load_table", clients=30)
        database.sql.run(load.fill())
        with under_load(load):
            screen = shown(server, "--rows", "5")
        load.check()
        found = {
            (label, name): float(value.replace(",", ""))
            for label, rest in re.findall(r"^(\w+)/s +(.*)$", screen, re.MULTILINE)
            for name, value in re.findall(r"([\w-]+) ([\d,.]+)", rest)
        }
        assert found["requests", "find"] > 0
        assert found["requests", "modify"] > 0
        total = found["requests", "find"] + found["requests", "modify"]
        # Each number is rounded by itself.
        assert total - 1 <= found["requests", "all"] <= total * 1.01 + 2
        assert found["passes", "commits"] > 0
        assert found["clients", "now"] >= 30
        lines = screen.splitlines()
        (title,) = [number for number, line in enumerate(lines) if line.startswith("busiest con")]
        rows = lines[title + 2 : title + 7]
        assert all(
            re.search(r"\b(read|write)\b.* 127\.0\.0\.1:\d+ +root@localhost$", row) for row in rows
        )

    def test_latency_is_shown_by_kind_if_the_plugin_tells_it(self, database: Database) -> None:
        there = shows(database, "latency")
        database.sql.run("CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
        with readings(database, 3) as reading:
            lines = [next(reading)]
            with database.reader() as client:
                index = client.index(database.name, "t", ["id"])
                for _ in range(5):
                    index.find_one(1)
                lines += reading
        found = [one for line in lines for one in line["latencies"] if one["kind"] == "find"]
        assert sum(one["count"] for one in found) == (5 if there else 0)
        assert all(one["port"] == "read" for one in found)
        assert all(0 <= one["p50"] <= one["p99"] <= one["longest"] for one in found)

    def test_the_busiest_indexes_are_shown_if_the_plugin_tells_them(
        self, database: Database
    ) -> None:
        database.sql.run("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b LIKE a")
        with database.reader() as client:
            calm, busy = (client.index(database.name, name, ["id"]) for name in ("a", "b"))
            calm.find_one(1)
            stop = threading.Event()

            def work() -> None:
                while not stop.wait(0.005):
                    busy.find_one(1)

            worker = threading.Thread(target=work, daemon=True)
            worker.start()
            try:
                wait_until(lambda: database.sql.status("handlersocket_requests_find") > 0, "work")
                screen = shown(database.server)
            finally:
                stop.set()
                worker.join(20)
        assert ("busiest indexes" in screen) == shows(database, "open_indexes")
        if shows(database, "open_indexes"):
            first, second = screen.partition("busiest indexes")[2].splitlines()[2:4]
            assert re.fullmatch(rf" +[1-9][\d.]* +1 read +{database.name}\.b PRIMARY", first)
            assert re.fullmatch(rf" +0 +1 read +{database.name}\.a PRIMARY", second)

    def test_what_waits(self, database: Database) -> None:
        database.sql.run(
            "CREATE TABLE big (id INT PRIMARY KEY, v LONGTEXT)",
            "INSERT INTO big SELECT seq, REPEAT('x', 100000) FROM seq_1_to_200",
        )
        with database.wire() as wire:
            wire.send(b"P\t1\t%s\tbig\tPRIMARY\tv\n" % database.name.encode())
            wire.lines(1)
            wire.send(b"1\t>=\t1\t1\t2\n" * 200)  # more replies than the kernel's buffers take
            wait_until(lambda: database.sql.status("handlersocket_waiting_bytes") > 0, "it waits")
            screen = shown(database.server)
            port = wire.own_port
        (row,) = [line for line in screen.splitlines() if f"127.0.0.1:{port} " in line]
        assert not re.search(r"\bwaiting\b", row)
        assert re.search(r"^waiting +bytes [\d.]+ [KM] +of 256 M \(\d+%\)", screen, re.MULTILINE)

    def test_alarms(self, database: Database) -> None:
        with database.wire() as wire:
            wire.ask(b"nonsense\n")
        assert re.search(r"^alarms +.*requests_malformed \d", shown(database.server), re.MULTILINE)


class TestWhoAsks:
    def test_a_password_from_a_file_or_an_option_file(
        self, database: Database, tmp_path: Path
    ) -> None:
        secret = 'pa"ss #word\\'
        escaped = secret.replace("\\", "\\\\")
        database.sql.run(
            "DROP USER IF EXISTS top@localhost",
            f"CREATE USER top@localhost IDENTIFIED BY '{escaped}'",
        )
        words_ = [*PROGRAM, "--once", "--interval", "0.2"]
        alone = tmp_path / "password"
        alone.write_text(secret + "\n")
        options = tmp_path / "top.cnf"
        quoted = escaped.replace('"', '\\"')
        options.write_text(
            f'[hs-top]\nuser = top\nsocket={database.server.socket}\npassword="{quoted}"\n'
        )
        wrong = tmp_path / "wrong"
        wrong.write_text("wrong\n")
        try:
            there = ["--socket", str(database.server.socket), "--user", "top"]
            done = run([*words_, *there, "--password-file", str(alone)])
            assert done.stderr == ""
            assert "requests/s" in done.stdout
            # It may not see the connections and the times, and the screen says so.
            with database.wire() as wire:
                wire.ask(b"nonsense\n")
                done = run([*words_, *there, "--password-file", str(alone)])
            for section in ("LATENCY", "busiest connections"):
                remark = rf"^{section}  .*(denied|the privilege PROCESS)"
                assert re.search(remark, done.stdout, re.MULTILINE), (section, done.stdout)
            done = run([*words_, "--defaults-file", str(options)])
            assert (done.returncode, done.stderr) == (0, "")
            done = run([*words_, *there, "--password-file", str(wrong)])
            assert (done.returncode, done.stdout) == (1, "")
            assert re.fullmatch(r"hs-top: \S+: Access denied for user .* \(1045\)\n", done.stderr)
        finally:
            database.sql.run("DROP USER top@localhost")

    def test_a_password_is_not_taken_from_the_command_line(self, server: ServerInstance) -> None:
        for word in ("--password=x", "--pass=x", "-px"):
            done = run(command(server, "--once", word))
            assert done.returncode == 2
            assert "unrecognized arguments" in done.stderr

    def test_names_cannot_command_the_terminal(self, database: Database) -> None:
        name = "a\x1b[31mb"
        database.sql.run(f"DROP USER IF EXISTS '{name}'@localhost")
        database.sql.run(f"CREATE USER '{name}'@localhost IDENTIFIED BY 'x'")
        try:
            with database.wire() as wire:
                assert wire.ask(b"A\t2\t%s\tx\n" % name.encode()) == b"0\t1"
                screen = shown(database.server)
        finally:
            database.sql.run(f"DROP USER '{name}'@localhost")
        assert "a?[31mb@localhost" in screen
        assert "\x1b" not in screen


class TestOnATerminal:
    @contextmanager
    def screen(self, *words_: str) -> Iterator[tuple[subprocess.Popen[bytes], int, int]]:
        """The program on a terminal of its own: its process, and both ends of the terminal."""
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (30, 110))
        process = subprocess.Popen(
            [*DEFAULT_SIGNALS, *words_],
            env=ENVIRONMENT,
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
        )
        try:
            yield process, ours, its
        finally:
            process.kill()
            process.wait()
            os.close(ours)
            os.close(its)

    def read(self, ours: int, until: bytes, seconds: float = 20.0) -> bytes:
        text = b""
        deadline = time.monotonic() + seconds
        while until not in text:
            assert time.monotonic() < deadline, text
            if select.select([ours], [], [], 0.1)[0]:
                text += os.read(ours, 1 << 16)
        return text

    @pytest.mark.parametrize("end", ["q", "SIGINT", "SIGTERM"])
    def test_it_leaves_the_terminal_as_it_was(self, server: ServerInstance, end: str) -> None:
        with self.screen(*command(server, "--interval", "0.2")) as (process, ours, its):
            before = termios.tcgetattr(its)
            self.read(ours, b"busiest connections")
            assert termios.tcgetattr(its) != before
            if end == "q":
                os.write(ours, b"q")
            else:
                process.send_signal(getattr(signal, end))
            self.read(ours, LEAVES_THE_SCREEN)
            assert process.wait(20) == 0
            assert termios.tcgetattr(its) == before

    def test_a_small_terminal(self, server: ServerInstance) -> None:
        with self.screen(*command(server, "--interval", "0.1")) as (process, ours, its):
            self.read(ours, b"requests/s")
            for size in ((1, 1), (2, 300), (300, 3), (24, 80)):
                termios.tcsetwinsize(its, size)
                process.send_signal(signal.SIGWINCH)
                time.sleep(0.3)
                assert process.poll() is None
            os.write(ours, b"+-q")
            self.read(ours, LEAVES_THE_SCREEN)
            assert process.wait(20) == 0

    def test_a_server_that_goes_and_comes_back(self, data_root: Path, watch: Any) -> None:
        with running_server(data_root, watch) as own:
            with self.screen(*command(own, "--interval", "0.2")) as (process, ours, its):
                self.read(ours, b"busiest connections")
                own.stop()
                self.read(ours, b"no answer from the server")
                own.start()
                with Wire(own.hs_port):
                    self.read(ours, b"127.0.0.1:")
                os.write(ours, b"q")
                self.read(ours, LEAVES_THE_SCREEN)
                assert process.wait(20) == 0


class TestWhatCannotBeShown:
    def test_no_server(self, tmp_path: Path) -> None:
        done = run([*PROGRAM, "--once", "--socket", str(tmp_path / "none"), "--user", "x"])
        assert (done.returncode, done.stdout) == (1, "")
        assert len(done.stderr.splitlines()) == 1
        assert "Can't connect" in done.stderr

    def test_no_plugin(self, data_root: Path, watch: Any) -> None:
        with running_server(data_root, watch) as own:
            assert "requests/s" in shown(own)
            library = "PLUGIN handlersocket" if ON_MYSQL else "SONAME 'handlersocket2'"
            own.client(f"UNINSTALL {library}")
            assert "the plugin handlersocket is not loaded" in shown(own)

    def test_no_terminal(self, server: ServerInstance) -> None:
        done = run(command(server))
        assert done.returncode == 1
        assert done.stderr.endswith(": this is no terminal: use --once or --batch\n")

    def test_a_reader_that_has_enough(self, server: ServerInstance) -> None:
        words_ = command(server, "--batch", "--interval", "0.1", "--count", "50")
        with subprocess.Popen(
            words_, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(30) == 0
            assert process.stderr.read() == b""

    @pytest.mark.parametrize(
        "words_, reason",
        [
            (["--interval", "0"], "--interval is from 0.1 to 3600 seconds"),
            (["--interval", "nan"], "--interval is from 0.1 to 3600 seconds"),
            (["--rows", "-1"], "--rows is from 0 to 1000"),
            (["--port", "0"], "port 0: a port is a number from 1 to 65535"),
            (["--defaults-file", "/none.cnf"], "/none.cnf: No such file or directory"),
            (["--password-file", "/none"], "/none: No such file or directory"),
        ],
    )
    def test_a_wrong_word(self, words_: list[str], reason: str) -> None:
        done = run([*PROGRAM, *words_])
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1] == f"hs-top: error: {reason}"


def test_the_installed_program(server: ServerInstance, tmp_path: Path) -> None:
    """One file. It runs with the Python that its first line names, or says what is missing."""
    file = tmp_path / "bin/hs-top"
    subprocess.run([REPOSITORY / "setup/hs_top.sh", str(file)], check=True)
    assert file.read_bytes().startswith(b"#!/usr/bin/python3\n")
    words_ = [str(file), *command(server, "--once", "--interval", "0.2")[len(PROGRAM) :]]
    done = run([sys.executable, *words_], PYTHONPATH="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "requests/s" in done.stdout
    assert_says_what_is_missing(*words_)


def assert_says_what_is_missing(*words_: str, path: str = "") -> None:
    # -S: without the packages of this Python.
    done = run([sys.executable, "-S", *words_], PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "hs-top: No module named 'pymysql'; on Debian: apt-get install python3-pymysql\n"
    )


def test_the_program_in_tools(server: ServerInstance) -> None:
    """By its folder, and as a module."""
    rest = command(server, "--once", "--interval", "0.2")[len(PROGRAM) :]
    folder = str(REPOSITORY / "tools/hs_top")
    done = run([sys.executable, folder, *rest], PYTHONPATH="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "requests/s" in done.stdout
    assert_says_what_is_missing(folder, "--once")
    assert_says_what_is_missing("-m", "hs_top", "--once", path=str(REPOSITORY / "tools"))


def test_option_files(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/b.cnf").write_text("[client]\nuser = second\n")
    (tmp_path / "more/a.cnf").write_text("[client]\nuser = first\nhost=db\n")
    (tmp_path / "more/c.txt").write_text("[client]\nuser = third\n")
    file = tmp_path / "my.cnf"
    file.write_text(
        "# a comment\nuser = nobody\n[mysqld]\nuser=mysql\nport=1\n"
        f"!includedir {tmp_path}/more/\n"
        "[client]\nport = 3307 # the other one\nssl_ca = 'a b.pem'\nskip-something\n"
        'password = "a\\\\b#\\"c"\n;host=none\n'
    )
    assert options_of([file]) == {
        "user": "second",
        "host": "db",
        "port": "3307",
        "ssl-ca": "a b.pem",
        "skip-something": "",
        "password": 'a\\b#"c',
    }
    file.write_text(f"!include {file}\n")
    with pytest.raises(OptionFileError, match="include one another"):
        options_of([file])


def row(low: int, count: int, kind: str = "find") -> dict[str, Any]:
    """A bucket of the table of latencies, which ends at twice its beginning."""
    edges = {"bucket_low_us": low, "bucket_high_us": max(2 * low, 1)}
    return {"port": "read", "kind": kind, **edges, "count_bucket": count}


def test_latencies() -> None:
    before = [row(0, 5), row(1, 7), row(2, 0), row(4, 9), row(1, 3, "insert")]
    now = [row(0, 5), row(1, 57), row(2, 49), row(4, 10), row(1, 3, "insert")]
    (find,) = latencies(before, now)
    assert (find.port, find.kind, find.count, find.longest) == ("read", "find", 100, 8)
    assert find.p50 == 2.0  # 50 of 100 are below
    assert find.p99 == 4.0
    assert find.p95 == pytest.approx(2 + 2 * 45 / 49)
    # The last bucket has no end.
    endless = {**row(1 << 25, 1), "bucket_high_us": (1 << 64) - 1}
    (find,) = latencies([], [endless])
    assert 1 << 25 <= find.p50 <= find.p99 <= find.longest == 1 << 26


@pytest.mark.parametrize(
    "text, expected",
    [
        (words.rate(None), "-"),
        (words.rate(0.0), "0"),
        (words.rate(0.25), "0.2"),
        (words.rate(1234567.8), "1,234,568"),
        (words.size(999), "999"),
        (words.size(1024 * 1.5), "1.5 K"),
        (words.size(256 << 20), "256 M"),
        (words.duration(999), "999 ms"),
        (words.duration(100_000), "2 min"),
        (words.duration(49 * 3_600_000), "2 d"),
        (words.latency(999), "999 µs"),
        (words.latency(1500), "1.5 ms"),
        (words.latency(2.5e6), "2.5 s"),
        (words.fit("abc", 2), "a…"),
        (words.fit("日本", 5), "日本 "),
        (words.fit("日本", 3), "日…"),
        (words.fit("x", 0), ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert text == expected
