"""A Galera cluster on loopback: real servers, each with the plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from server_instance import ServerInstance, free_port
from server_kind import Setting
from support.database import Sql
from support.servers import SERVER_TREE
from support_servers import wait_until

PROVIDER = SERVER_TREE / "root/usr/lib/galera/libgalera_smm.so"
# What setup/more.sh has got.
MORE = SERVER_TREE.with_name(f"{SERVER_TREE.name}-more")
BACKUP = MORE / "bin/mariadb-backup"

# Long enough for a busy machine, on which a node may not run for a while.
SUSPECT_S = 4


class Cluster:
    """Makes nodes, starts them, and ends them. One thread uses it."""

    def __init__(self, folder: Path, size: int, **settings: Setting) -> None:
        self.folder = folder
        self.settings = settings
        self.addresses = [f"127.0.0.1:{free_port()}" for _ in range(size)]
        self.nodes = [self._node(number) for number in range(size)]

    def _node(self, number: int) -> ServerInstance:
        address = self.addresses[number]
        options = {
            "gmcast.listen_addr": f"tcp://{address}",
            "ist.recv_addr": f"127.0.0.1:{free_port()}",
            "gcache.size": "32M",
            "evs.suspect_timeout": f"PT{SUSPECT_S}S",
            "evs.inactive_timeout": f"PT{3 * SUSPECT_S}S",
            "pc.recovery": "no",
        }
        settings: dict[str, Setting] = {
            "basedir": str(self._base_dir()),
            "wsrep_on": "ON",
            "wsrep_provider": str(PROVIDER),
            "wsrep_provider_options": ";".join(
                f"{name}={value}" for name, value in options.items()
            ),
            "wsrep_cluster_name": "handlersocket",
            "wsrep_cluster_address": "gcomm://" + ",".join(self.addresses),
            "wsrep_node_name": f"node{number}",
            "wsrep_node_address": address,
            "wsrep_sst_method": "rsync",
            "wsrep_sst_auth": "root:",
            "wsrep_sst_receive_address": f"127.0.0.1:{free_port()}",
            "wsrep_slave_threads": 2,
            "innodb_autoinc_lock_mode": 2,
            "innodb_flush_log_at_trx_commit": 0,
            "binlog_format": "ROW",
            "port": free_port(),
            **self.settings,
        }
        return ServerInstance(
            SERVER_TREE,
            self.folder / f"node{number}",
            settings=settings,
        )

    def _base_dir(self) -> Path:
        """A folder in whose bin/ the server finds the scripts that copy a node's data."""
        base = self.folder / "base"
        if base.exists():
            return base
        programs, libraries = base / "bin", base / "lib"
        programs.mkdir(parents=True)
        libraries.mkdir()
        root = SERVER_TREE / "root/usr"
        for script in ("wsrep_sst_common", "wsrep_sst_rsync", "wsrep_sst_mariabackup"):
            (programs / script).symlink_to(root / "bin" / script)
        for program in ("mariadb-backup", "mbstream"):
            (programs / program).symlink_to(MORE / "bin" / program)
        # These run with the machine's loader, because the scripts look for processes of their
        # names. The machine may lack some libraries.
        for name in ("libpopt.so.0", "libxxhash.so.0", "libwrap.so.0"):
            (libraries / name).symlink_to(root / "lib/x86_64-linux-gnu" / name)
        for name in ("rsync", "socat", "my_print_defaults"):
            # A daemon that root starts would not be allowed to write root's files.
            daemon = (
                '[ "$1" != --daemon ] || set -- "$@" -M uid=0 -M gid=0\n' if name == "rsync" else ""
            )
            (programs / name).write_text(
                f'#!/bin/sh\n{daemon}LD_LIBRARY_PATH="{libraries}" exec "{root}/bin/{name}" "$@"\n'
            )
            (programs / name).chmod(0o755)
        return base

    def start(self, first: int = 0) -> None:
        """A new cluster begins with the node `first`, which the others join."""
        self.bootstrap(first)
        for number, node in enumerate(self.nodes):
            if number != first:
                node.start()
        for node in self.nodes:
            wait_synced(node, len(self.nodes))

    def bootstrap(self, number: int) -> None:
        node = self.nodes[number]
        node.settings["wsrep_new_cluster"] = None
        try:
            node.start()
        finally:
            del node.settings["wsrep_new_cluster"]

    def stop(self) -> None:
        """The nodes end one after another. The first error is raised when all have ended."""
        errors = []
        for node in reversed(self.nodes):
            try:
                node.stop()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()


def status(node: ServerInstance) -> dict[str, str]:
    with Sql(node.socket) as sql:
        rows = sql.rows("SHOW GLOBAL STATUS LIKE 'wsrep\\_%'")
    return {(name or b"").decode(): (value or b"").decode() for name, value in rows}


def wait_synced(node: ServerInstance, size: int, seconds: float = 60.0) -> None:
    def synced() -> bool:
        now = status(node)
        return (
            now["wsrep_ready"] == "ON"
            and now["wsrep_local_state_comment"] == "Synced"
            and now["wsrep_cluster_size"] == str(size)
        )

    wait_until(synced, f"{node.base_dir.name} is not synced", seconds)


def wait_applied(sql: Sql) -> None:
    """Waits until this node has applied everything that others had committed before."""
    sql.run("SET SESSION wsrep_sync_wait = 15")
    sql.rows("SELECT 1 FROM mysql.plugin LIMIT 1")


def rows_everywhere(cluster: Cluster, query: str) -> list[list[tuple[Any, ...]]]:
    """The answer of each living node, after it has applied everything."""
    answers = []
    for node in cluster.nodes:
        if node.alive:
            with Sql(node.socket) as sql:
                wait_applied(sql)
                answers.append(sql.rows(query))
    return answers
