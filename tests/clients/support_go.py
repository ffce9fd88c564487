"""Runs the Go client's own tests against a real server, with the tables that they need."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from server_instance import REPOSITORY
from support.database import Database

CLIENT = REPOSITORY / "clients" / "go"
ROWS = 20_000
TABLES = (
    "CREATE TABLE typed (id INT AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, big BIGINT,"
    " huge BIGINT UNSIGNED, `dec` DECIMAL(30,3), single FLOAT, dbl DOUBLE,"
    " txt VARCHAR(50), bin VARBINARY(20), day DATE, at DATETIME(6), span TIME(6),"
    " choice ENUM('no','yes'), flag BOOL, bits BIT(16), address VARCHAR(40), maybe VARCHAR(50),"
    " nullable BIGINT, seen DATETIME, yr YEAR, KEY by_time (at)) CHARSET=utf8mb4",
    "CREATE TABLE people (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL, age INT,"
    " KEY by_name (name))",
    "CREATE TABLE accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
    "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL, by_whom VARCHAR(20))",
    "CREATE TABLE user (user_id INT PRIMARY KEY, user_name VARCHAR(50), user_email VARCHAR(99),"
    " visits INT NOT NULL DEFAULT 0, created DATETIME)",
    "CREATE TABLE visitors (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20),"
    " visits INT DEFAULT 7, flags INT NOT NULL DEFAULT 5, seen DATETIME, KEY by_name (name))",
    "INSERT INTO counters SELECT seq, 0, NULL FROM seq_1_to_16",
    "INSERT INTO user SELECT seq, CONCAT('user_', LPAD(seq, 7, '0')),"
    " CONCAT('user_', LPAD(seq, 7, '0'), '@example.com'), 0, '2024-01-01'"
    f" FROM seq_1_to_{ROWS}",
)


def go(*arguments: str, folder: Path = CLIENT, **environment: str) -> str:
    command = REPOSITORY / "var" / "go" / "bin" / "go"
    assert command.exists(), "run setup/go.sh"
    done = subprocess.run(
        [command, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, f"go {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def go_tests(pattern: str, database: Database, **environment: str) -> str:
    server = database.server
    url = f"handlersocket://127.0.0.1:{server.hs_port},{server.hs_port_wr}/{database.name}"
    return go(
        *("test", "-tags", "e2e", "-count=1", "-run", pattern, "-v", "."),
        **{"HS_E2E_URL": url, "HS_E2E_ROWS": str(ROWS), **environment},
    )
