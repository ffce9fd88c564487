"""A clean Debian tree with the distribution's own server, as setup/documents_tree.sh makes it.

It is a machine of its own, but for the kernel: its processes, its mounts, and a network that has
only loopback, so that every port and every name of a host is free. Nothing of it outlives the test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from server_instance import REPOSITORY

# The first process in the tree. It ends, and with it all others, when its standard input does.
INIT = r"""
import os, signal, subprocess, sys
print(os.readlink("/proc/self"), flush=True)
tree, *binds = sys.argv[1:]
def mount(*words): subprocess.run(["mount", *words], check=True)
mount("-t", "proc", "proc", f"{tree}/proc")
mount("--bind", f"{tree}/proc/sys", f"{tree}/proc/sys")
mount("-o", "remount,bind,ro", f"{tree}/proc/sys")
mount("--rbind", "/dev", f"{tree}/dev")
for bind in binds:
    source, place = bind.split("=")
    os.makedirs(f"{tree}{place}", exist_ok=True)
    mount("--bind", source, f"{tree}{place}")
    mount("-o", "remount,bind,ro", f"{tree}{place}")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that nobody has to wait for orphans
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.chroot(tree)
os.chdir("/")
print("ready", flush=True)
sys.stdin.read()
"""
# What tells programs how to reach the registries of packages, as on this machine.
PASSED = ("_proxy", "_PROXY", "PIP_", "SSL_CERT_FILE")
ENVIRONMENT = {
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TERM": "xterm",
    "DEBIAN_FRONTEND": "noninteractive",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}


class CleanTree:
    """`binds` has folders of this machine that are seen in the tree, and where; read-only."""

    def __init__(self, archive: Path, binds: dict[Path, str] = {}) -> None:
        parent = REPOSITORY / "var/debian"
        self.root = Path(tempfile.mkdtemp(prefix="tree.", dir=parent))
        self._binds = [f"{source}={place}" for source, place in binds.items()]
        self._init: subprocess.Popen[str] | None = None
        try:
            subprocess.run(["tar", "xf", archive, "-C", self.root], check=True)
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        # In a chroot, / is no mount point, so nothing can be said about it.
        mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        propagation = "private" if "/" in mounts else "unchanged"
        rooms = ["--mount", "--pid", "--net", "--fork", "--kill-child"]
        self._init = subprocess.Popen(
            ["unshare", *rooms, "--propagation", propagation]
            + [sys.executable, "-c", INIT, str(self.root), *self._binds],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._init.stdout
        self._pid = self._init.stdout.readline().strip()
        if self._init.stdout.readline() != "ready\n":
            raise RuntimeError("no room for a clean tree: unshare and mount need root")

    def command(self, words: Sequence[str], *, online: bool = False) -> list[str]:
        """To be run on this machine. `online` has the machine's network instead of the tree's."""
        rooms = ["--mount", "--pid", "--root", "--wd"] + ([] if online else ["--net"])
        passed = {
            name: value
            for name, value in os.environ.items()
            if online and (name.endswith(PASSED) or name.startswith(PASSED))
        }
        environment = [f"{name}={value}" for name, value in (ENVIRONMENT | passed).items()]
        return ["nsenter", "--target", self._pid, *rooms, "env", "-i", *environment, *words]

    def start(self, words: Sequence[str]) -> subprocess.Popen[str]:
        """With pipes for its standard input and output."""
        return subprocess.Popen(
            self.command(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def shell(
        self, script: str, *, folder: str = "/root", online: bool = False, timeout: float = 300
    ) -> str:
        """What root's bash writes, both channels. It has to succeed, each line of it."""
        done = subprocess.run(
            self.command(
                ["bash", "-c", f"cd {folder}; set -e -o pipefail\n{script}"], online=online
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"{script}\nended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def close(self) -> None:
        if self._init is not None:
            assert self._init.stdin and self._init.stdout
            self._init.stdin.close()
            self._init.wait(timeout=60)
            self._init.stdout.close()
        # A mount that is seen here, too, as in a chroot whose machine shares its mounts.
        for _, place in (bind.split("=") for bind in self._binds):
            self._unmount(place)
        for place in ("/dev", "/proc/sys", "/proc"):
            self._unmount(place)
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)

    def _unmount(self, place: str) -> None:
        if self.path(place).is_mount():
            subprocess.run(["umount", "--recursive", "--lazy", self.path(place)], check=True)


class OwnServer:
    """The distribution's MariaDB in a tree, as its package has set it up."""

    FOLDER = "/etc/mysql/mariadb.conf.d"
    LOG = "/var/log/mysql/error.log"
    # A tree has no syslog. The rest spares a small machine.
    OF_THE_TEST = f"[mariadbd]\nlog_error = {LOG}\ninnodb_buffer_pool_size = 64M\n"

    def __init__(self, tree: CleanTree) -> None:
        self.tree = tree
        self.log = tree.path(self.LOG)
        tree.path(f"{self.FOLDER}/55-test.cnf").write_text(self.OF_THE_TEST)
        # Only mysqld_safe reads it, which has no place beside systemd. It sends the log to syslog.
        tree.path(f"{self.FOLDER}/50-mysqld_safe.cnf").unlink()
        tree.shell("cp -a /var/lib/mysql /var/lib/mysql.new\ninstall -d -o mysql /var/log/mysql")
        self._settings = sorted(tree.path(self.FOLDER).iterdir())

    def anew(self) -> None:
        """With no data, no settings but those of the package, and not running."""
        self.stop()
        for file in tree_files(self.tree, self.FOLDER):
            if file not in self._settings:
                file.unlink()
        self.tree.shell(
            "rm -rf /var/lib/mysql /var/log/mysql/*\ncp -a /var/lib/mysql.new /var/lib/mysql"
        )

    def stop(self) -> None:
        self.tree.shell("service mariadb stop")

    def restart(self) -> None:
        """Fails with the log's end if it does not start."""
        self.stop()
        self.log.unlink(missing_ok=True)
        try:
            self.tree.shell("service mariadb start")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log.read_text()[-4000:]}") from None

    def sql(self, statements: str) -> str:
        return self.tree.shell(f"mariadb --table <<'SQL'\n{statements}\nSQL\n")


def tree_files(tree: CleanTree, folder: str) -> list[Path]:
    return sorted(path for path in tree.path(folder).iterdir() if path.is_file())
