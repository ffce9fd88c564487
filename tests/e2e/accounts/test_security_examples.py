"""The examples of docs/security.md on each server, each in its section's place.

Their files and folders are the test's. tests/documents runs them as they stand there, on MariaDB.
"""

from __future__ import annotations

import configparser
import re
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire
from support_servers import running_server

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "security.md"
#: The host of the examples, and a server's folder of settings there.
HOST = "db"
FOLDER = "/etc/mysql/"
TABLE = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.article (id INT PRIMARY KEY, name VARCHAR(20), price INT)",
    "INSERT INTO shop.article VALUES (42, 'lamp', 99)",
)
OPEN = b"P\t1\tshop\tarticle\tPRIMARY\tprice\n"


@dataclass
class Section:
    """The blocks of one section, by their language."""

    blocks: dict[str, list[str]] = field(default_factory=dict)

    def only(self, language: str) -> str:
        (block,) = self.blocks[language]
        return block


def sections() -> dict[str, Section]:
    found: dict[str, Section] = {}
    for part in re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        section = found.setdefault(title, Section())
        for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", body, re.MULTILINE | re.DOTALL):
            section.blocks.setdefault(language, []).append(block)
    return found


SECTIONS = sections()


def statements(block: str) -> list[str]:
    return [statement.strip() for statement in block.split(";") if statement.strip()]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    folder.chmod(0o755)
    (line,) = re.findall(r"^openssl .*", SECTIONS["TLS"].only("sh"), re.MULTILINE)
    subprocess.run(line, shell=True, check=True, cwd=folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    return folder


@pytest.fixture(scope="module")
def settings(certificate: Path) -> dict[str, str]:
    """Of all sections together. The ports are the test's own, and only on loopback."""
    parser = configparser.ConfigParser()
    for section in SECTIONS.values():
        for block in section.blocks.get("ini", []):
            parser.read_string(block)
    found = {
        name.removeprefix("loose_"): value.replace(FOLDER, f"{certificate}/")
        for name, value in parser["mysqld"].items()
    }
    assert found.pop("handlersocket_port") == "9998"
    assert found.pop("handlersocket_address") == "0.0.0.0"
    return found


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any, settings: dict[str, str]) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, skip_name_resolve="ON", **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLE)
            for section in SECTIONS.values():
                for block in section.blocks.get("sql", []):
                    sql.run(*statements(block))
        yield instance


def test_the_document_has_the_examples_that_are_tested() -> None:
    found = {title: sorted(section.blocks) for title, section in SECTIONS.items()}
    assert {title: blocks for title, blocks in found.items() if blocks} == {
        "Accounts and privileges": ["ini", "sql"],
        "Log-ins": ["python", "sql"],
        "TLS": ["ini", "python", "sh"],
    }


@pytest.mark.parametrize("title", ["Log-ins", "TLS"])
def test_the_client(
    title: str,
    server: ServerInstance,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    resolve = socket.getaddrinfo

    def resolved(host: str, port: int, *rest: Any, **more: Any) -> Any:
        assert (host, port) == (HOST, 9998)
        return resolve("127.0.0.1", server.hs_port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.chdir(certificate)
    exec(compile(SECTIONS[title].only("python"), title, "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "Row(price=b'99')\n"


def test_the_settings(server: ServerInstance) -> None:
    with Wire(server.hs_port) as wire:
        assert wire.ask(OPEN) == b"3\t1\ttls"
        assert wire.rest() == b""


def test_the_anonymous_account(data_root: Path, watch: Any) -> None:
    """Without what the section about TLS adds."""
    section = SECTIONS["Accounts and privileges"]
    parser = configparser.ConfigParser()
    parser.read_string(section.only("ini"))
    given = {name.removeprefix("loose_"): value for name, value in parser["mysqld"].items()}
    with running_server(data_root, watch, **given) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLE, *statements(section.only("sql")))
        with Wire(instance.hs_port_wr) as wire:
            assert wire.ask(OPEN) == b"0\t1"
            assert wire.ask(b"1\t=\t1\t42\n") == b"0\t1\t99"
            assert wire.ask(b"1\t=\t1\t42\t1\t0\tU\t98\n") == b"0\t1\t1"
            assert wire.ask(b"1\t=\t1\t42\t1\t0\tD\n") == b"1\t1\t1142"
            assert wire.ask(b"1\t+\t1\t7\n") == b"1\t1\t1142"
