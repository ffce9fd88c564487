"""The scripts of setup/ where something goes wrong: what they say, and what counts as complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from data_directory import copy_template
from server_instance import REPOSITORY
from support.scripts import Scripts, write_program

NAME = "mariadb-10.11"
VERSION = "1:10.11.1-1"
# How apt-get ends when somebody presses Ctrl-C while dpkg works: the signal goes to everybody, and
# apt-get says that all went well.
INTERRUPTED = ("trap : INT", "kill -INT 0", "exit 0")
LOADER = "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
# The call in create_thd from which the size of a THD is read.
CREATE_THD = "echo '  1: be b0 6a 00 00  mov    $0x6ab0,%esi'"
NOTHING_ANSWERS = (
    "echo 'Err:1 http://none.invalid bookworm InRelease'",
    "echo \"  Temporary failure resolving 'none.invalid'\"",
    "echo 'W: Some index files failed to download. They have been ignored.'",
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may install packages")


def without_others(text: str) -> str:
    """Without what hs-top needs, which this machine may or may not have."""
    return text.replace(" python3-pymysql", "")


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


@as_root
class TestPackages:
    """setup/packages.sh, on a machine without objdump."""

    @pytest.fixture(autouse=True)
    def without_binutils(self, scripts: Scripts) -> None:
        scripts.without("objdump")

    def test_an_interruption_ends_make_run(self, scripts: Scripts) -> None:
        scripts.program(
            "apt-get", 'case "$*" in *"y --no-inst"*) ;; *) exit 0 ;; esac', *INTERRUPTED
        )
        done = scripts.run("run.sh", NAME)
        assert (done.returncode, done.stderr) == (130, "")
        assert "getting" not in done.stdout
        assert not (scripts.var / "servers").exists()

    def test_what_apt_has_not_installed_is_missed(self, scripts: Scripts) -> None:
        scripts.program("apt-get", "exit 0")
        done = scripts.run("run.sh", NAME)
        assert done.returncode == 1
        assert without_others(done.stderr) == (
            "error: still missing although apt-get has ended well: binutils;"
            " see var/log/packages.log\n"
        )

    def test_without_a_network(self, scripts: Scripts) -> None:
        scripts.program(
            "apt-get",
            f'echo "$*" >>{scripts.folder}/called',
            'case "$*" in',
            f"*update*) {'; '.join(NOTHING_ANSWERS)} ;;",
            "*install*) for i in 1 2 3 4 5 6; do echo E: something; done; exit 100 ;;",
            "esac",
        )
        done = scripts.run("run.sh", NAME)
        assert done.returncode == 1
        assert without_others(done.stderr) == (
            "error: no network: none of this machine's package mirrors answers, and these packages"
            " are missing: binutils; see var/log/packages-update.log\n"
        )
        # apt tries each file again for seconds, unless it is told not to.
        called = (scripts.folder / "called").read_text().splitlines()
        tries = [line for line in called if "--assume-no" not in line]
        assert all("Acquire::Retries=0" in line for line in tries), called

    def test_one_mirror_that_does_not_answer(self, scripts: Scripts) -> None:
        """It is asked again, and the installation is tried."""
        tools = scripts.folder / "machine"
        scripts.program(
            "apt-get",
            f'echo "$*" >>{scripts.folder}/called',
            'case "$*" in',
            f"*update*) echo Hit:1 http://one.invalid; {'; '.join(NOTHING_ANSWERS)} ;;",
            f"*-qy*install*) ln -s /bin/true {tools}/objdump ;;",
            "esac",
        )
        done = scripts.run("packages.sh", "build")
        assert (done.returncode, done.stderr) == (0, "")
        called = (scripts.folder / "called").read_text().splitlines()
        assert sum(" update" in line for line in called) == 2


class Debian:
    """A Debian of a few files, in the place of apt's programs. What it offers is in `archive`."""

    def __init__(self, scripts: Scripts) -> None:
        self.scripts = scripts
        self.archive = scripts.folder / "archive"
        self.archive.mkdir()
        scripts.program(
            "apt-get",
            'apt=$(dirname "${APT_CONFIG:-/none/x}")',
            'case "$*" in',
            "*indextargets*) for release in bookworm trixie sid; do",
            "  echo http://none.invalid $release $release; done ;;",
            "*update*) ;;",
            f"*source*) cp {self.archive}/*.orig.tar.gz . ;;",
            f'*install*) cp {self.archive}/*.deb "$apt/cache/archives" ;;',
            f"*download*) cp {self.archive}/*.deb . ;;",
            "esac",
        )
        scripts.program(
            "apt-cache",
            f'case "$*" in *showsrc*) echo "Version: {VERSION}" ;; '
            f'*) echo "x | {VERSION} | x Packages" ;; esac',
        )
        scripts.program("objdump", CREATE_THD)

    def package(self, name: str, programs: Mapping[str, str]) -> None:
        """Its files, each a program of one line of shell. It replaces one of the same name."""
        tree = self.scripts.folder / name
        for program, line in programs.items():
            write_program(tree / "usr" / program, line)
        write_program(tree / "usr" / LOADER, "shift 2", 'exec "$@"')
        (tree / "DEBIAN").mkdir(mode=0o755, exist_ok=True)
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@x.invalid>\n"
            "Description: x\n"
        )
        command = ["dpkg-deb", "--build", tree, self.archive]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def mariadb(self, **programs: str) -> None:
        version = "echo x Ver 10.11.1-MariaDB"
        named = [f"bin/{name}" for name in ("mariadb", "my_print_defaults")]
        named += [f"bin/mariadb-{name}" for name in ("dump", "binlog", "admin", "check")]
        named += ["sbin/mariadbd"]
        self.package("mariadb", dict.fromkeys(named, version) | programs)
        source = self.scripts.folder / "source/mariadb-10.11.1"
        for file in ("include/probes_mysql_nodtrace.h.in", "sql/a.h", "wsrep-lib/include/b.h"):
            (source / file).parent.mkdir(parents=True, exist_ok=True)
            (source / file).touch()
        (source / "wsrep-lib/wsrep-API/v26").mkdir(parents=True)
        archive = self.archive / "mariadb_10.11.1.orig.tar.gz"
        subprocess.run(["tar", "czf", archive, "-C", source.parent, source.name], check=True)


@pytest.fixture
def debian(scripts: Scripts) -> Debian:
    return Debian(scripts)


class TestServer:
    """setup/server.sh."""

    def left(self, scripts: Scripts) -> list[str]:
        return sorted(path.name for path in (scripts.var / "servers").iterdir())

    def test_without_the_size_of_a_thd_nothing_is_complete(
        self, scripts: Scripts, debian: Debian
    ) -> None:
        debian.mariadb()
        mark = scripts.var / "servers" / NAME / "server.env"
        scripts.program("objdump", "exit 0")
        done = scripts.run("server.sh", NAME)
        assert done.returncode == 1
        assert done.stderr.startswith("error: cannot read sizeof(THD) from ")
        assert self.left(scripts) == [f"{NAME}.lock"]

        scripts.program("objdump", CREATE_THD)
        done = scripts.run("server.sh", NAME)
        assert (done.returncode, done.stderr) == (0, "")
        good = mark.read_text()
        assert "thd_size=27312\n" in good
        assert scripts.run("server.sh", NAME).stdout == ""

        # A tree that an older script has left, which did not check it.
        mark.write_text(good.replace("27312", ""))
        done = scripts.run("server.sh", NAME)
        assert (done.returncode, done.stderr) == (0, "")
        assert mark.read_text() == good

    @as_root
    def test_without_objdump(self, scripts: Scripts, debian: Debian) -> None:
        debian.mariadb()
        (scripts.programs / "objdump").unlink()
        scripts.without("objdump")
        done = scripts.run("server.sh", NAME)
        assert (done.returncode, done.stderr) == (
            1,
            "error: objdump is missing: as root, run: apt-get install binutils\n",
        )
        assert self.left(scripts) == [f"{NAME}.lock"]

    def test_a_program_that_does_not_run(self, scripts: Scripts, debian: Debian) -> None:
        debian.mariadb(**{"bin/mariadb-check": "exit 1"})
        done = scripts.run("server.sh", NAME)
        assert done.returncode == 1
        assert done.stderr.startswith("error: the unpacked mariadb-check does not run; see ")
        assert self.left(scripts) == [f"{NAME}.lock"]

    def test_without_a_network(self, scripts: Scripts, debian: Debian) -> None:
        scripts.program(
            "apt-get",
            'case "$*" in *indextargets*) echo http://none.invalid bookworm bookworm ;;',
            "*Acquire::Retries=0*update*) ;;",
            "*) exit 1 ;;",
            "esac",
            *NOTHING_ANSWERS,
        )
        done = scripts.run("server.sh", NAME)
        assert done.returncode == 75
        assert done.stderr == (
            f"error: no network: no mirror of Debian bookworm answers, so {NAME} cannot be had; "
            f"see var/log/server-{NAME}.log\n"
        )
        assert self.left(scripts) == [f"{NAME}.lock"]


class TestMore:
    """setup/more.sh."""

    def test_a_program_that_does_not_run_leaves_no_mark(
        self, scripts: Scripts, debian: Debian
    ) -> None:
        debian.mariadb()
        assert scripts.run("server.sh", NAME).returncode == 0
        shutil.rmtree(debian.archive)
        debian.archive.mkdir()
        debian.package("spider", {"bin/mariadb-backup": "exit 1", "bin/mbstream": "exit 0"})
        done = scripts.run("more.sh", NAME)
        assert (done.returncode, done.stderr) == (
            1,
            f"error: the unpacked mariadb-backup does not run; see var/log/more-{NAME}.log\n",
        )
        assert not (scripts.var / "servers" / f"{NAME}-more").exists()

        library = "lib/mysql/plugin/ha_spider.so"
        debian.package("spider", {"bin/mariadb-backup": "exit 0", library: ""})
        done = scripts.run("more.sh", NAME)
        assert (done.returncode, done.stderr) == (0, "")
        assert scripts.run("more.sh", NAME).stdout == ""


class TestPeers:
    """setup/peers.sh."""

    def test_a_program_that_does_not_run_leaves_no_mark(
        self, scripts: Scripts, debian: Debian
    ) -> None:
        names = ("valkey-server", "memcached", "redis-cli", "memccapable")
        programs = {f"bin/{name}": "exit 0" for name in names}
        debian.package("caches", {**programs, "bin/redis-server": "exit 1"})
        done = scripts.run("peers.sh")
        assert (done.returncode, done.stderr) == (
            1,
            "error: the unpacked redis-server does not run; see var/log/peers.log\n",
        )
        assert not (scripts.var / "peers").exists()
        debian.package("caches", {**programs, "bin/redis-server": "exit 0"})
        assert scripts.run("peers.sh").returncode == 0
        assert scripts.run("peers.sh").stdout == ""


class TestMonitors:
    """setup/monitors.sh."""

    def test_a_program_that_does_not_run_leaves_no_mark(
        self, scripts: Scripts, debian: Debian
    ) -> None:
        programs = {"bin/prometheus": "exit 0", "bin/prometheus-mysqld-exporter": "exit 1"}
        debian.package("prometheus", programs)
        done = scripts.run("monitors.sh")
        assert (done.returncode, done.stderr) == (
            1,
            "error: the unpacked prometheus-mysqld-exporter does not run;"
            " see var/log/monitors.log\n",
        )
        assert not (scripts.var / "monitors").exists()


class TestVirtualEnvironment:
    """setup/venv.sh."""

    @pytest.fixture(autouse=True)
    def pip_that_does_nothing(self, scripts: Scripts) -> None:
        """It answers 0 and installs nothing, or fails as the test says in a file."""
        python = scripts.folder / "python"
        write_program(
            python,
            f"at={scripts.folder}",
            'case "$*" in *"pip install"*) cat $at/says; exit $(cat $at/ends) ;; esac',
            'exec /usr/bin/python3 "$@"',
        )
        scripts.program("python3", f'mkdir -p "$3/bin" && cp {python} "$3/bin/python"')
        (scripts.folder / "says").touch()
        (scripts.folder / "ends").write_text("0")
        (scripts.folder / "wanted.txt").write_text("hs-none-such==1.0\n")

    def test_what_pip_has_not_installed_is_not_marked(self, scripts: Scripts) -> None:
        for _ in range(2):
            done = scripts.run("venv.sh", scripts.folder / "wanted.txt")
            assert (done.returncode, done.stderr) == (
                1,
                "error: pip has not installed hs-none-such==1.0; see var/log/pip.log\n",
            )

    def test_a_mark_does_not_outlive_the_next_try(self, scripts: Scripts) -> None:
        """The packages of the older file may be gone by then."""
        wanted = scripts.folder / "wanted.txt"
        wanted.write_text("# nothing\n")
        assert scripts.run("venv.sh", wanted).returncode == 0
        assert scripts.run("venv.sh", wanted).stdout == ""
        wanted.write_text("hs-none-such==1.0\n")
        assert scripts.run("venv.sh", wanted).returncode == 1
        wanted.write_text("# nothing\n")
        assert "installing" in scripts.run("venv.sh", wanted).stdout

    def test_without_a_network(self, scripts: Scripts) -> None:
        (scripts.folder / "ends").write_text("1")
        (scripts.folder / "says").write_text(
            "WARNING: Retrying after connection broken by 'NewConnectionError('Failed to establish"
            " a new connection: [Errno -3] Temporary failure in name resolution')'\n"
            "ERROR: No matching distribution found for hs-none-such==1.0\n"
        )
        done = scripts.run("venv.sh", scripts.folder / "wanted.txt")
        assert (done.returncode, done.stderr) == (
            1,
            f"error: no network: '{scripts.var}/venv/bin/python' has reached nothing; "
            "all of its output is in var/log/pip.log\n",
        )


class TestConfigure:
    """The function configure of setup/common.sh."""

    def test_a_mark_does_not_outlive_the_next_try(self, scripts: Scripts) -> None:
        script = scripts.folder / "copy/setup/try.sh"
        script.write_text('#!/bin/bash\nsource "$(dirname "$0")/common.sh"\nconfigure tree "$1"\n')
        script.chmod(0o755)
        ends = scripts.folder / "ends"
        scripts.program(
            "cmake",
            f"echo $* >>{scripts.folder}/called",
            "mkdir -p tree",
            f". {ends}",
            "touch tree/build.ninja",
        )
        for words, ending, code in (
            ("-Da", ":", 0),
            ("-Da", "exit 1", 0),  # it is not called again
            ("-Db", "exit 1", 1),
            ("-Da", ":", 0),
        ):
            ends.write_text(ending + "\n")
            assert scripts.run("try.sh", words).returncode == code
        assert len((scripts.folder / "called").read_text().splitlines()) == 3
        # cmake says that all went well, and has made nothing.
        (scripts.folder / "copy/tree/build.ninja").unlink()
        ends.write_text("exit 0\n")
        assert scripts.run("try.sh", "-Da").returncode == 1


class TestChecks:
    """The functions check and check_beside of setup/common.sh."""

    def script(self, scripts: Scripts, *lines: str) -> None:
        start = '#!/bin/bash\nsource "$(dirname "$0")/common.sh"\n'
        script = scripts.folder / "copy/setup/try.sh"
        script.write_text(start + "\n".join([*lines, "summarise", ""]))
        script.chmod(0o755)

    def test_what_runs_beside_is_shown_in_one_piece(self, scripts: Scripts) -> None:
        self.script(
            scripts,
            "slow() { echo one; until [[ -e met ]]; do sleep 0.05; done; echo two; false; }",
            "quick() { touch met; echo three; }",
            "absent() { unavailable none; }",
            "check_beside 'the slow one' slow",
            "check_beside 'the absent one' absent",
            "check 'the quick one' quick",
        )
        done = scripts.run("try.sh")
        said = done.stdout.splitlines()
        at = said.index("== the slow one")
        assert said.index("three") < at and said[at + 1 : at + 3] == ["one", "two"]
        assert [line.split(" s  ")[0].split()[0] for line in said[-3:]] == [
            "passed",
            "FAILED",
            "skipped",
        ]
        assert (done.returncode, done.stderr) == (1, "error: 1 of 3 failed\n")

    def test_what_has_failed_shows_its_end_once_more(self, scripts: Scripts) -> None:
        self.script(
            scripts,
            "counts() { seq 40; echo why >&2; false; }",
            "check 'what counts' counts",
            "check 'what is well' echo well",
        )
        said = scripts.run("try.sh").stdout.splitlines()
        again = said.index("== failed: what counts; its last lines were")
        assert said[again + 1 : again + 3] == ["17", "18"]
        assert said[again + 24 : again + 27] == ["40", "why", "== summary"]
        assert said.count("well") == 1

    def test_an_interruption_ends_what_runs_beside(self, scripts: Scripts) -> None:
        self.script(
            scripts,
            "long() { echo $BASHPID >pid; exec sleep 50; }",
            "interrupt() { until [[ -s pid ]]; do sleep 0.05; done; sleep 0.3; kill -INT 0; }",
            "check_beside x long",
            "check y interrupt",
        )
        done = scripts.run("try.sh")
        assert done.returncode == 130
        pid = int((scripts.folder / "copy/pid").read_text())
        deadline = time.monotonic() + 20  # it would sleep for 50 seconds
        while is_alive(pid):
            assert time.monotonic() < deadline, "it goes on although it was interrupted"
            time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether the process still runs; one whose end nobody has asked for does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_part_of_a_data_directory_is_not_taken_for_all_of_it(
    scripts: Scripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, data = scripts.folder / "tree", scripts.folder / "data"
    (tree / "template-data").mkdir(parents=True)
    (tree / "template-data/file").touch()
    scripts.program("cp", 'for to in "$@"; do :; done', 'mkdir "$to"', "exit 1")
    with monkeypatch.context() as path:
        path.setenv("PATH", f"{scripts.programs}:{os.environ['PATH']}")
        with pytest.raises(subprocess.CalledProcessError):
            copy_template(tree, data)
    assert not data.exists()
    copy_template(tree, data)
    assert [file.name for file in data.iterdir()] == ["file"]


def test_only_one_place_starts_what_runs_beside() -> None:
    """What bash starts with `&` ignores Ctrl-C. check_beside has its test above."""
    started = [
        script.name
        for script in (*REPOSITORY.glob("setup/*.sh"), *REPOSITORY.glob("setup/*/*.sh"))
        for line in script.read_text().splitlines()
        if re.search(r"(^|[^&|>])&\s*$", line) and not line.lstrip().startswith("#")
    ]
    assert started == ["common.sh"]


def test_no_failure_is_lost_in_a_word_of_a_command() -> None:
    """In `f "$(g)"`, here-documents and `local x=$(g)` bash goes on although g has failed."""
    ending = {"die", "unavailable", "server_release", "server_thd_size", "server_value"}
    for script in (*REPOSITORY.glob("setup/*.sh"), *REPOSITORY.glob("setup/*/*.sh")):
        for number, line in enumerate(script.read_text().splitlines(), 1):
            for name in ending:
                at = line.find(f"$({name}")
                assert at < 0 or line[:at].strip().endswith("=") and line.split()[0] != "local", (
                    f"{script}:{number}"
                )
