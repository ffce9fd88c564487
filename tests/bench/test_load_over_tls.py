"""hs-bench with TLS and with log-ins, on the server itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.certificates import make_certificate
from support.database import Sql
from support.servers import ON_MYSQL, SERVER_TREE
from support_servers import running_server

HS_BENCH = REPOSITORY / "build" / SERVER_TREE.name / "bench" / "hs-bench"
ROWS = 1000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two certificates, of which the server has one, and a password."""
    path = tmp_path_factory.mktemp("certificates")
    path.chmod(0o755)
    for name in ("server", "other"):
        make_certificate(path, name)
    (path / "password").write_text("a long\tpassword\n")
    return path


@pytest.fixture(scope="module")
def tls_server(data_root: Path, watch: Any, folder: Path) -> Iterator[ServerInstance]:
    settings = {
        "ssl_cert": str(folder / "server.pem"),
        "ssl_key": str(folder / "server-key.pem"),
        "handlersocket_anonymous_account": "",
        "handlersocket_tls": "REQUIRED",
    }
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE DATABASE shop",
                "USE shop",
                "CREATE TABLE user (user_id INT PRIMARY KEY, user_name VARCHAR(20),"
                " user_email VARCHAR(50), created DATETIME)",
                "INSERT INTO user SELECT seq, CONCAT('user_', LPAD(seq, 7, '0')), '',"
                f" '2020-01-01' FROM seq_1_to_{ROWS}",
                "CREATE USER 'an app'@localhost IDENTIFIED BY 'a long\\tpassword'",
                "GRANT SELECT, UPDATE ON shop.* TO 'an app'@localhost",
            )
        yield instance


def run(port: int, *more: str) -> subprocess.CompletedProcess[str]:
    command = [HS_BENCH, f"--port={port}", "--database=shop", f"--keys={ROWS}", "--quiet"]
    command += ["--warm-up=0", "--duration=0.3", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def log_in(folder: Path) -> list[str]:
    return ["--user=an app", f"--password-file={folder / 'password'}"]


@pytest.mark.parametrize(
    ("more"),
    [
        ["--depth=100", "--check=user_{key:07}"],
        ["--depth=10", "--rate=2000"],
        ["--depth=3", "--multi-get=300", "--check=user_{key:07}"],
        ["--work=connect", "--depth=1", "--connections=2"],
        ["--work=mix", "--find-share=50", "--update-share=50", "--depth=10"],
    ],
    ids=["pipelines", "open-loop", "long-replies", "connect", "updates"],
)
def test_load(tls_server: ServerInstance, folder: Path, more: list[str]) -> None:
    port = tls_server.hs_port_wr if "--work=mix" in more else tls_server.hs_port
    tls = ["--tls", f"--tls-ca={folder / 'server.pem'}"]
    done = run(port, *tls, *log_in(folder), *more, "--json=-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["requests"] > 0
    assert (result["errors"], result["misses"], result["lost_connections"]) == (0, 0, 0)


def test_beside(tls_server: ServerInstance, folder: Path) -> None:
    done = run(
        tls_server.hs_port, "--tls", "--tls-unchecked", *log_in(folder), "--beside=unread,half"
    )
    assert done.returncode == 0, done.stderr


def test_refusals(tls_server: ServerInstance, folder: Path) -> None:
    """hs-bench says why it does not trust a server, and what the server says."""
    port = tls_server.hs_port
    done = run(port, "--tls", f"--tls-ca={folder / 'other.pem'}", *log_in(folder))
    assert done.returncode == 2
    assert "the server's certificate: self-signed certificate" in done.stderr
    done = run(port, "--tls", "--tls-unchecked", "--user=an app")
    assert "the server refused: 1\t1\t1045" in done.stderr
    done = run(port, *log_in(folder))
    assert "3\t1\ttls" in done.stderr
    done = run(port, "--tls", f"--tls-ca={folder / 'none.pem'}")
    assert "--tls-ca" in done.stderr
    done = run(port, "--user=an app", f"--password-file={folder / 'none'}")
    assert "there is no password" in done.stderr


def test_a_certificate_of_another_host(tls_server: ServerInstance, folder: Path) -> None:
    """It is the last test of this server, whose certificate it replaces."""
    make_certificate(folder, "server", host="IP:127.0.0.2")
    with Sql(tls_server.socket) as sql:
        sql.run("ALTER INSTANCE RELOAD TLS" if ON_MYSQL else "FLUSH SSL")
    done = run(tls_server.hs_port, "--tls", f"--tls-ca={folder / 'server.pem'}")
    assert "the server's certificate: IP address mismatch" in done.stderr
