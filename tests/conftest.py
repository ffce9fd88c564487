"""Servers for the tests. A server that dies during a test fails that test, with its log's end."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

import pytest
from handlersocket2 import Client
from server_instance import REPOSITORY, ServerError, ServerInstance, Setting
from server_kind import kind_of
from support.database import Database, Sql
from support.pace import Pace, measured_pace
from support.servers import SERVER_TREE, own_settings, skip_reason
from support.short_choice import choose

LOG_TAIL_LINES = 120
# The plugin that MariaDB itself ships. Its maturity is beta, and by default it listens everywhere.
ORIGINAL: dict[str, Setting] = {
    "plugin_maturity": "beta",
    "plugin_load_add": "handlersocket.so",
    "handlersocket_address": "127.0.0.1",
}

MakeServer = Callable[..., ServerInstance]


def _tail(server: ServerInstance) -> str:
    return "\n".join(server.log_text().splitlines()[-LOG_TAIL_LINES:])


class _Watch:
    """Knows the servers that are expected to be alive."""

    def __init__(self) -> None:
        self.servers: list[ServerInstance] = []

    def dead(self) -> list[ServerInstance]:
        # A server that a test has stopped or killed has no process any more. It has ended, but not
        # died.
        return [server for server in self.servers if _died(server)]


def _died(server: ServerInstance) -> bool:
    try:
        server.pid  # noqa: B018
    except ServerError:
        return False
    return not server.alive


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--short", action="store_true", help="only what support/short_choice.py names")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--short"):
        try:
            chosen = choose([item.nodeid for item in items])
        except ValueError as error:
            raise pytest.UsageError(f"tests/support/short_choice.py: {error}") from None
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]
    for item in items:
        if reason := skip_reason(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def watch() -> _Watch:
    return _Watch()


@pytest.fixture
def pace() -> Iterator[Pace]:
    """Of the machine, since the test has begun."""
    with measured_pace() as measured:
        yield measured


@pytest.fixture(scope="session")
def data_root() -> Iterator[Path]:
    """The folder of this run's servers. It is kept if a server died in it."""
    parent = REPOSITORY / "var" / "e2e"
    parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(dir=parent))
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def server(watch: _Watch, data_root: Path) -> Iterator[ServerInstance]:
    """The server that most tests share, with default settings except the kind's volatile ones.

    HS_ORIGINAL=1 in the environment gives it the original plugin. The tests that then fail show
    what differs.
    """
    original = bool(os.environ.get("HS_ORIGINAL"))
    settings = {**kind_of(SERVER_TREE).volatile, **(ORIGINAL if original else {})}
    instance = ServerInstance(
        SERVER_TREE, data_root / "shared", settings=settings, load_plugin=not original
    )
    instance.start()
    watch.servers.append(instance)
    yield instance
    watch.servers.remove(instance)
    instance.stop()


@pytest.fixture
def make_server(watch: _Watch, data_root: Path) -> Iterator[MakeServer]:
    """make_server(load_plugin=True, **settings) starts a server for one test.

    At the end of the test it is shut down, which must succeed.
    """
    made: list[ServerInstance] = []

    def make(*, load_plugin: bool = True, **settings: Setting) -> ServerInstance:
        base_dir = Path(tempfile.mkdtemp(dir=data_root)) / "server"
        own = own_settings(settings)
        instance = ServerInstance(SERVER_TREE, base_dir, settings=own, load_plugin=load_plugin)
        made.append(instance)
        instance.start()
        watch.servers.append(instance)
        return instance

    yield make
    for instance in made:
        if instance in watch.servers:
            watch.servers.remove(instance)
    errors = []
    for instance in made:
        try:
            instance.stop()
        except ServerError as error:
            errors.append(str(error))
        shutil.rmtree(instance.base_dir, ignore_errors=True)
    assert not errors, "\n\n".join(errors)


@pytest.fixture
def make_original(make_server: MakeServer) -> MakeServer:
    """make_original(**settings) starts a server with the original plugin, as MariaDB ships it."""

    def make(**settings: Setting) -> ServerInstance:
        return make_server(load_plugin=False, **{**ORIGINAL, **settings})

    return make


@pytest.fixture(autouse=True)
def _servers_survive(request: pytest.FixtureRequest, watch: _Watch) -> Iterator[None]:
    yield
    dead = watch.dead()
    reports = []
    for instance in dead:
        reports.append(f"the server died during {request.node.nodeid}\n{_tail(instance)}")
        instance.kill()  # forgets the process
        instance.start()  # so that the next test has one
    if reports:
        pytest.fail("\n\n".join(reports), pytrace=False)


@pytest.fixture(scope="module")
def module_name(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W", "_", request.module.__name__.rpartition(".")[2])


@contextmanager
def fresh_database(server: ServerInstance, name: str) -> Iterator[Database]:
    """An empty schema, which is dropped at the end."""
    with Sql(server.socket) as admin:
        admin.run(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
        opened = Database(server, name)
        yield opened
        opened.close()
    if server.alive:
        with Sql(server.socket) as admin:
            admin.run(f"DROP DATABASE IF EXISTS {name}")


@pytest.fixture
def database(server: ServerInstance, module_name: str) -> Iterator[Database]:
    """A fresh schema of the shared server, named after the test's file."""
    with fresh_database(server, module_name) as opened:
        yield opened


@pytest.fixture
def sql(database: Database) -> Sql:
    return database.sql


@pytest.fixture
def reader(database: Database) -> Iterator[Client]:
    with database.reader() as client:
        yield client


@pytest.fixture
def writer(database: Database) -> Iterator[Client]:
    with database.writer() as client:
        yield client
