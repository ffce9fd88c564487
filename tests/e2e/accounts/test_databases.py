"""handlersocket_databases: which databases clients may use, whatever their accounts may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.database import Sql
from support.wire import Wire
from support_servers import running_server

DENIED = b"1\t1\t1142"
NAMES = ("shop", "shop_2", "shop_old", "forum", "Forum", "my-shop")


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("", {*NAMES}),
        ("shop", {"shop"}),
        (" shop , forum", {"shop", "forum"}),
        ("shop*,-shop_old", {"shop", "shop_2"}),
        ("-shop*", {"forum", "Forum", "my-shop"}),
        ("- forum,my-shop", {"my-shop"}),
        ("*", {*NAMES}),
        ("-*", set()),
    ],
)
def test_which(data_root: Path, watch: Any, setting: str, allowed: set[str]) -> None:
    settings = {"handlersocket_databases": setting}
    with running_server(data_root, watch, **settings) as server, Sql(server.socket) as sql:
        for name in NAMES:
            sql.run(f"CREATE DATABASE `{name}`", f"CREATE TABLE `{name}`.t (id INT PRIMARY KEY)")
        for port in (server.hs_port, server.hs_port_wr):
            with Wire(port) as wire:
                assert {*wire.ask(b"L\n").decode().split("\t")} & {*NAMES} == allowed
                for name in NAMES:
                    listed = wire.ask(b"L\t%b\n" % name.encode())
                    assert listed == (b"0\t1\tt" if name in allowed else b"1\t1\t1044"), name
                    reply = wire.ask(b"P\t1\t%b\tt\t\tid\n" % name.encode())
                    assert reply == (b"0\t1" if name in allowed else DENIED), name
                    # It is not told which tables exist.
                    if name not in allowed:
                        assert wire.ask(b"P\t1\t%b\tnone\t\tid\n" % name.encode()) == DENIED


def test_names_in_capitals(data_root: Path, watch: Any) -> None:
    settings = {"lower_case_table_names": 1, "handlersocket_databases": "-SHOP"}
    with running_server(data_root, watch, **settings) as server, Sql(server.socket) as sql:
        sql.run("CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)")
        with Wire(server.hs_port) as wire:
            for name in (b"shop", b"Shop", b"SHOP"):
                assert wire.ask(b"P\t1\t%b\tt\t\tid\n" % name) == DENIED
                assert wire.ask(b"L\t%b\n" % name) == b"1\t1\t1044"


@pytest.mark.parametrize("lower_case", [0, 1])
def test_a_prefix_is_no_way_around(data_root: Path, watch: Any, lower_case: int) -> None:
    """MariaDB takes `#mysql50#shop` for another name of `shop`."""
    settings = {"lower_case_table_names": lower_case, "handlersocket_databases": "-shop"}
    with running_server(data_root, watch, **settings) as server, Sql(server.socket) as sql:
        for name in ("shop", "forum"):
            sql.run(f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (id INT PRIMARY KEY)")
        for port in (server.hs_port, server.hs_port_wr):
            with Wire(port) as wire:
                for prefix in (b"#mysql50#", b"#MYSQL50#"):
                    for names in (b"%bshop\tt", b"%bforum\tt", b"forum\t%bt"):
                        reply = wire.ask(b"P\t1\t%b\t\tid\n" % (names % prefix))
                        assert reply == b"1\t1\topen_table", (prefix, names)
                    assert wire.ask(b"L\t%bshop\n" % prefix) == b"1\t1\t1049"
                assert wire.ask(b"P\t1\tforum\tt\t\tid\n") == b"0\t1"


@pytest.mark.parametrize("setting", ["shop,,forum", ",", "-", "shop,-"])
def test_an_empty_name_is_refused(data_root: Path, watch: Any, setting: str) -> None:
    with running_server(data_root, watch, handlersocket_databases=setting) as server:
        assert "handlersocket_databases has to be names with commas" in server.log_text()
        with pytest.raises(ConnectionRefusedError):
            Wire(server.hs_port)
