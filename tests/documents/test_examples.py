"""The examples of the documents, run as they stand there: by root, in a clean Debian with its own
server.

PLAN has every code block of every page, in the order in which they are run. What cannot be run
stands there, too, with the reason.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest
from server_instance import REPOSITORY
from support.documents import PAGES, Block, blocks_of
from support.servers import SERVER_TREE
from support_machine import PLUGIN_FOLDER, PROJECT, SETTINGS, Machine

Step = Callable[[Machine, Block], None]

pytestmark = [
    pytest.mark.skipif(
        SERVER_TREE.name != "mariadb-10.11",
        reason="the clean tree is a Debian 12, whose server is MariaDB 10.11",
    ),
    pytest.mark.timeout(900),  # the first test makes the tree
]

# What the pages take for granted.
SHOP = """
CREATE DATABASE shop;
CREATE TABLE shop.article (id INT PRIMARY KEY, name VARCHAR(20), price INT);
INSERT INTO shop.article VALUES (42, 'lamp', 99);
"""
# As many of the demo's rows as the Python client's page reads.
USERS = """
CREATE DATABASE IF NOT EXISTS test;
CREATE TABLE test.user (user_id INT UNSIGNED PRIMARY KEY, user_name VARCHAR(50));
INSERT INTO test.user SELECT seq, CONCAT('user_', LPAD(seq, 7, 0)) FROM test.seq_1_to_300;
"""
OPEN_ARTICLE = "P\t1\tshop\tarticle\tPRIMARY\tprice"
FIND_ARTICLE = "1\t=\t1\t42"
PORTS = """[mariadbd]
plugin_load_add = handlersocket2.so
loose_handlersocket_port = 9998
loose_handlersocket_port_wr = 9999
"""
EVERYBODY = "loose_handlersocket_anonymous_account = root@localhost\n"


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    machine = Machine()
    yield machine
    machine.close()


# What is done with a block.


@dataclass(frozen=True)
class LeftOut:
    """It cannot be run here."""

    reason: str

    def __call__(self, machine: Machine, block: Block) -> None:
        assert self.reason


@dataclass(frozen=True)
class Shown:
    """It is no example: it shows the form of something, or what a program has written."""

    what: str

    def __call__(self, machine: Machine, block: Block) -> None:
        assert self.what


def sql(machine: Machine, block: Block) -> None:
    machine.sql(block.text)


def settings(machine: Machine, block: Block) -> None:
    """As a file of its own, behind those of the page before it."""
    machine.configure(f"90-{block.line:04}", block.text)


def shell(machine: Machine, block: Block) -> None:
    machine.tree.shell(block.text)


def python(*told: str, folder: str = "/root") -> Step:
    def run(machine: Machine, block: Block) -> None:
        assert machine.python(str(block), block.text, folder).splitlines() == list(told)

    return run


def requests(port: int = 9999) -> Step:
    """Lines with an arrow: a request and its reply. Those in blanks between TABs show a form."""

    def run(machine: Machine, block: Block) -> None:
        lines = [line for line in block.text.splitlines() if "→" in line and " ␉ " not in line]
        assert lines
        for line in lines:
            request, reply = (part.strip() for part in re.sub(r"  +\(.*\)$", "", line).split("→"))
            (answer,) = machine.ask(port, [_bytes(request)])
            assert answer == _bytes(reply), f"{block.page}: {line}"

    return run


def group(machine: Machine, block: Block) -> None:
    """Requests that are sent together, because the first one of them counts the others."""
    shown = [line.split("→") for line in block.text.splitlines() if "→" in line]
    asked = [_bytes(request.strip()) for request, _ in shown]
    assert machine.ask(9999, ["\n".join(asked)]) == [_bytes(reply.strip()) for _, reply in shown]


def hello(machine: Machine, block: Block) -> None:
    """Requests and replies of which some parts, shown as …, are others each time."""
    for line in (line for line in block.text.splitlines() if "→" in line):
        request, reply = (part.strip() for part in line.split("→"))
        (answer,) = machine.ask(9999, [_bytes(request)])
        assert re.fullmatch(re.escape(_bytes(reply)).replace("…", ".*"), answer), answer
    machine.ask(9999, ["H"])  # without texts again


def _bytes(shown: str) -> str:
    return shown.replace("␉", "\t").replace("␀", "\0")


def logged(machine: Machine, block: Block) -> None:
    """The log has these lines, but for numbers of workers and what stands before them."""
    log = _without_workers(machine.server.log.read_text())
    for line in _without_workers(block.text).splitlines():
        assert line.removeprefix("[Note] ") in log


def _without_workers(text: str) -> str:
    return re.sub(r"with \d+ (worker|reader)s?", r"with \1s", text)


# README.


def make_run(machine: Machine, block: Block) -> None:
    """The compiler's part is left out: tests of setup/ have it, and each run of `make test`."""
    run, stop, test = (line.partition("#")[0] for line in block.text.splitlines())
    assert test.strip() == "make test"
    told = machine.tree.shell(f"{run}\n{stop}\n{run}", folder=PROJECT)
    assert told.count("== the demo server is up") == 2 and "stopped" in told


def two_terminals(machine: Machine, block: Block) -> None:
    """For a shorter time."""
    bench, top = block.text.splitlines()
    assert bench.endswith(" --duration 60")
    told = machine.tree.shell(bench.replace("60", "1"), folder=PROJECT)
    assert re.search(r"^requests a second +\d+$", told, re.MULTILINE), told
    machine.on_a_terminal(top, "requests/s", "q", PROJECT)


def with_clients_of_caches(machine: Machine, block: Block) -> None:
    told = machine.tree.shell(block.text, folder=PROJECT).splitlines()
    before, after, strings = told[:8], told[8:16], told[16:]
    assert (before[5], after[5]) == ("user_0000007@example.com", "a@b.c")
    assert strings == ["OK", "hello", "VALUE greeting 0 5", "hello", "END"]


def pasted(machine: Machine, block: Block) -> None:
    machine.told = machine.tree.shell(block.text)


def what_was_printed(machine: Machine, block: Block) -> None:
    assert machine.told == block.text


def sql_of_the_demo(machine: Machine, block: Block) -> None:
    assert "Alice" in machine.tree.shell(block.text, folder=PROJECT)


def make_environment(machine: Machine, block: Block) -> None:
    """Two pages have these lines."""
    machine.make_environment()


def same_as_in_readme(machine: Machine, block: Block) -> None:
    assert block.text in [one.text for one in blocks_of("README.md")]


def of_all_users(machine: Machine, block: Block) -> None:
    (told,) = machine.python(str(block), block.text).splitlines()
    assert told.count("User(user_id=") == 256


# The other pages.


def sample(machine: Machine, block: Block) -> None:
    """The file that `make install` adds. Without the # it works."""
    file = machine.tree.path(machine.sample)
    assert file.read_text() == block.text
    file.write_text(re.sub(r"^#(?=loose_|plugin)", "", block.text, flags=re.MULTILINE))
    machine.server.restart()
    assert machine.ask(9998, [OPEN_ARTICLE, FIND_ARTICLE]) == ["0\t1", "0\t1\t99"]


def plugin_and_threads(machine: Machine, block: Block) -> None:
    told = machine.sql(block.text)
    assert "ACTIVE" in told and "handlersocket: " in told, told


def without_loose(machine: Machine, block: Block) -> None:
    """With a library that says it was built for the version before."""
    (setting,) = re.findall(r"unknown variable '(.*)'", block.text)
    version = machine.server_version
    library = machine.tree.path(f"{PLUGIN_FOLDER}/handlersocket2.so")
    old = library.read_bytes().replace(_interface(version), _interface(version - 1))
    library.unlink()
    library.write_bytes(old)
    machine.tree.path(f"{SETTINGS}/99-old.cnf").write_text(f"[mariadbd]\n{setting}\n")
    machine.server.stop()
    machine.tree.shell("install -d -o mysql /run/mysqld; ! mariadbd --user=mysql")
    log = machine.server.log.read_text()
    for line in block.text.splitlines():
        beginning, _, end = line.partition("…")
        assert beginning in log and end in log, log[-900:]
    machine.configure("99-old", f"[mariadbd]\nloose_{setting}\n")


def _interface(version: int) -> bytes:
    """As a plugin that is a daemon has it in its declaration."""
    return struct.pack("<i", version << 8)


def counters(machine: Machine, block: Block) -> None:
    """Two readings."""
    command = block.text.strip()
    assert "--sleep=10" in command
    told = machine.tree.shell(command.replace("--sleep=10", "--sleep=1 --count=2"))
    lines = told.splitlines()
    assert len([line for line in lines if "Handlersocket_requests_find " in line]) >= 2, told
    assert max(map(len, lines)) < 80


def connections(machine: Machine, block: Block) -> None:
    """Of a connection that is there."""
    machine.ask(9998, ["P\t9\tshop\tarticle\tPRIMARY\tprice"])
    told = machine.sql("SELECT id FROM information_schema.handlersocket_connections")
    number = re.findall(r"\d+", told)[0]
    assert "4711" in block.text
    assert "127.0.0.1" in machine.sql(block.text.replace("4711", number))


def hs_top(machine: Machine, block: Block) -> None:
    machine.on_a_terminal(block.text.strip(), "requests/s", "q")


def hs_top_from_elsewhere(machine: Machine, block: Block) -> None:
    """From the same machine, by the name that the other one would use."""
    machine.tree.shell(
        """cd /etc/mysql
        openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=db.example.org \
          -addext subjectAltName=DNS:db.example.org -keyout top.key -out top.pem
        chown mysql top.key
        cat top.pem >>/etc/ssl/certs/ca-certificates.crt
        echo monitors-password >/etc/monitor.password"""
    )
    tls = "[mariadbd]\nssl_cert = /etc/mysql/top.pem\nssl_key = /etc/mysql/top.key\n"
    machine.configure("91-tls", tls)
    machine.sql(
        "CREATE USER monitor IDENTIFIED BY 'monitors-password' REQUIRE SSL;"
        "GRANT PROCESS ON *.* TO monitor"
    )
    machine.on_a_terminal(block.text.strip(), "requests/s", "q")


def migrate(machine: Machine, block: Block) -> None:
    """Of the original's settings all stay but the two that the page names. And back again."""
    served = machine.ask(9999, ["A\t1\t", OPEN_ARTICLE, FIND_ARTICLE])
    assert served == ["0\t1", "0\t1", "0\t1\t99"]
    file = machine.tree.path(f"{SETTINGS}/90-original.cnf")
    kept = file.read_text().replace("plugin-load-add=handlersocket.so\n", "")
    file.write_text(kept.replace("plugin-maturity=beta\n", ""))
    settings(machine, block)
    machine.forget()
    assert machine.ask(9999, ["A\t1\t", OPEN_ARTICLE, FIND_ARTICLE]) == served
    assert machine.ask(9998, [OPEN_ARTICLE, FIND_ARTICLE]) == served[1:]
    machine.forget()
    back = block.text.replace("handlersocket2.so", "handlersocket.so")
    machine.configure(f"90-{block.line:04}", f"{back}plugin-maturity = beta\n")
    assert machine.ask(9999, [OPEN_ARTICLE, FIND_ARTICLE]) == served[1:]


def configured(machine: Machine, block: Block) -> None:
    settings(machine, block)
    assert machine.ask(9999, [OPEN_ARTICLE, FIND_ARTICLE]) == ["0\t1", "0\t1\t99"]


def only_for_tls(machine: Machine, block: Block) -> None:
    settings(machine, block)
    assert machine.ask(9998, [OPEN_ARTICLE]) == ["3\t1\ttls"]
    machine.tree.shell("mkdir -p client && cp /etc/mysql/cert.pem client/")


def guests(machine: Machine, block: Block) -> None:
    """With the ports of the sample file."""
    machine.tree.path(f"{SETTINGS}/70-ports.cnf").write_text(PORTS)
    settings(machine, block)
    update = "1\t=\t1\t42\t1\t0\tU\t"
    asked = [OPEN_ARTICLE, FIND_ARTICLE, f"{update}98", f"{update}99", "1\t+\t1\t7"]
    told = ["0\t1", "0\t1\t99", "0\t1\t1", "0\t1\t1", "1\t1\t1142"]
    assert machine.ask(9999, asked) == told


def spider(machine: Machine, block: Block) -> None:
    machine.tree.path(f"{SETTINGS}/70-ports.cnf").write_text(PORTS + EVERYBODY)
    settings(machine, block)
    told = machine.sql("SHOW VARIABLES WHERE Value IN ('4', '5')")
    assert re.search(r"handlersocket_threads_remote *\| 4", told), told
    assert re.search(r"spider_net_read_timeout *\| 5", told), told


# The lines of hs-bench that are not run, by what they contain.
BENCH_ELSEWHERE = {
    "--protocol mysqlx": "MariaDB has no X plugin",
    "--host db": "the demo has no TLS; tests/bench/test_load_over_tls.py runs it",
}


def benches(machine: Machine, block: Block) -> None:
    """On the demo, each for a moment."""
    machine.tree.shell("make run", folder=PROJECT)
    machine.tree.shell(
        "mariadb --no-defaults -S var/demo/server.sock test"
        " -e 'CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);"
        " CREATE TABLE counter (id INT PRIMARY KEY, n INT);"
        " INSERT INTO t SELECT seq, 1, 1 FROM seq_1_to_5000'",
        folder=PROJECT,
    )
    left_out = []
    for line in block.text.splitlines():
        command = line.partition("  #")[0]
        reasons = [why for what, why in BENCH_ELSEWHERE.items() if what in command]
        left_out += reasons
        if not reasons:
            machine.tree.shell(f"{command} --warm-up 0 --duration 0.2")
    assert left_out == list(BENCH_ELSEWHERE.values())


def redis_at_the_demo(machine: Machine, block: Block) -> None:
    machine.tree.shell("make run", folder=PROJECT)
    # Another page's example has given the row another name.
    machine.tree.shell(
        "mariadb --no-defaults -S var/demo/server.sock test"
        " -e \"UPDATE user SET user_name = 'user_0000042' WHERE user_id = 42\"",
        folder=PROJECT,
    )
    told = machine.tree.shell(block.text, folder=PROJECT).splitlines()
    assert told[:4] == ["user_id", "42", "user_name", "user_0000042"]
    assert told[-4:] == ["Alice", "a@b.c", "OK", "hello"]
    machine.tree.shell("make stop", folder=PROJECT)


def redis_settings(machine: Machine, block: Block) -> None:
    """With the account of the page about the configuration."""
    with_shop(machine)
    machine.sql(block_that_begins("docs/configuration.md", "CREATE USER").text)
    machine.tree.path(f"{SETTINGS}/70-ports.cnf").write_text(PORTS)
    settings(machine, block)
    told = machine.tree.shell("redis-cli -p 6380 HGETALL article:42").split()
    assert told == ["id", "42", "name", "lamp", "price", "99"]


def memcached_at_the_demo(machine: Machine, block: Block) -> None:
    machine.tree.shell("make run", folder=PROJECT)
    told = machine.tree.shell(block.text, folder=PROJECT)
    assert told.splitlines()[:4] == ["STORED", "VALUE session:abc 0 5", "hello", "END"]
    assert "session:abc" in told.rpartition("END")[2]
    machine.tree.shell("make stop", folder=PROJECT)


def memcached_settings(machine: Machine, block: Block) -> None:
    """With the account of the page about the configuration."""
    with_shop(machine)
    machine.sql(block_that_begins("docs/configuration.md", "CREATE USER").text)
    machine.tree.path(f"{SETTINGS}/70-ports.cnf").write_text(PORTS)
    settings(machine, block)
    machine.tree.shell("mariadb < tools/sql/containers.sql", folder=PROJECT)
    asked = "exec 3<>/dev/tcp/127.0.0.1/11211; printf 'version\\r\\nquit\\r\\n' >&3; cat <&3"
    assert machine.tree.shell(f'bash -c "{asked}"').startswith("VERSION 1.6.")


def from_innodb_memcache(machine: Machine, block: Block) -> None:
    """The tables that MySQL's plugin had."""
    machine.sql(
        "CREATE DATABASE innodb_memcache;"
        " CREATE TABLE innodb_memcache.containers LIKE handlersocket.containers;"
        " CREATE TABLE innodb_memcache.config_options LIKE handlersocket.config_options;"
        " INSERT INTO innodb_memcache.containers VALUES ('aaa', 'test', 'demo_test', 'c1', 'c2',"
        " 'c3', 'c4', 'c5', 'PRIMARY');"
        " INSERT INTO innodb_memcache.config_options VALUES ('separator', '|')"
    )
    machine.sql(block.text)
    assert "| aaa " in machine.sql("SELECT name FROM handlersocket.containers WHERE name = 'aaa'")


def containers(machine: Machine, block: Block) -> None:
    machine.tree.shell(block.text, folder=PROJECT)
    assert "| default |" in machine.sql("SELECT name FROM handlersocket.containers")


# What a page finds when it begins. The server runs then.


def with_plugin(more: str = "", statements: str = "") -> Callable[[Machine], None]:
    def prepare(machine: Machine) -> None:
        machine.install()
        machine.configure("70-ports", PORTS + EVERYBODY + more)
        machine.sql(statements)

    return prepare


def with_shop(machine: Machine) -> None:
    machine.install()
    machine.server.restart()
    machine.sql(SHOP)


def with_the_original(machine: Machine) -> None:
    with_shop(machine)
    machine.configure(
        "90-original",
        "[mysqld]\nplugin-load-add=handlersocket.so\nplugin-maturity=beta\n"
        "handlersocket_address=127.0.0.1\nhandlersocket_port=9998\nhandlersocket_port_wr=9999\n",
    )


def users(machine: Machine) -> None:
    """The rows of the protocol's examples. An insert of another table generates 43."""
    with_plugin()(machine)
    table = (
        "(user_id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, user_name VARCHAR(50),"
        " user_email VARCHAR(255))"
    )
    machine.sql(
        f"CREATE DATABASE IF NOT EXISTS test; CREATE TABLE test.user {table};"
        f" CREATE TABLE test.person {table} AUTO_INCREMENT = 43;"
        " INSERT INTO test.user VALUES (42, 'Alice', 'alice@example.com'), (44, 'Bob', NULL)"
    )
    for opened in (
        "2\ttest\tperson\tPRIMARY\tuser_name,user_email",
        "3\ttest\tperson\tPRIMARY\tuser_id,user_name\tuser_name",
    ):
        assert machine.ask(9999, [f"P\t{opened}"]) == ["0\t1"]


def no_server(machine: Machine) -> None:
    """The demo's ports are free."""


def nothing(machine: Machine) -> None:
    """No step of the page needs anything."""


@dataclass(frozen=True)
class Page:
    prepare: Callable[[Machine], None]
    # By the beginnings of the blocks.
    steps: Sequence[tuple[str, Step]]


PLAN: dict[str, Page] = {
    # It also makes the Python of all other pages, so it is the first.
    "README.md": Page(
        no_server,
        [
            ("make run ", make_run),
            ("var/bin/hs-bench", two_terminals),
            ("redis-cli -p 6380", with_clients_of_caches),
            ("exec 3<>", pasted),
            ("0\t1", what_was_printed),
            ("var/servers/", sql_of_the_demo),
            ("python3 -m venv", make_environment),
            ("from handlersocket2", python("Row(user_name=b'Alice')")),
        ],
    ),
    "docs/clients.md": Page(
        nothing,
        [("make bench-clients", LeftOut("it takes half an hour; tests/bench has its parts"))],
    ),
    "docs/configuration.md": Page(
        with_shop,
        [
            ("CREATE USER", sql),
            ("[mysqld]", configured),
            ("handlersocket: listens on", logged),
            ("handlersocket: failed log-ins", Shown("a line of the log; test_log_in_limits.py")),
            ("SELECT MIN(BUCKET_HIGH_US)", sql),
        ],
    ),
    "docs/containers.md": Page(
        nothing, [("docker build", LeftOut("no engine for containers runs in a test"))]
    ),
    "docs/from-a-cache.md": Page(
        with_plugin(),
        [
            ("class WithCache", Shown("bench/cache_aside; it is compared below")),
            ("class WithoutCache", Shown("the same")),
            ("CREATE DATABASE app", sql),
            ("P␉1␉app", requests()),
            ("import time", python()),
            ("1␉=␉1␉42  ", requests()),
            ("assert user.find_one", python()),
            ("1␉=␉1␉␉3␉0␉@", requests()),
            ("names = ", python()),
            ("with reader.pipeline()", python()),
            ("1␉=␉1␉42␉1␉0␉U", requests()),
            ("def set_session", python()),
            ("2␉=␉1␉42", requests()),
            ("assert visits.increment", python()),
            ("3␉=␉1␉43", requests()),
            ("def rename", python()),
            ("5␉down␉1␉7", requests()),
            ("of_board", python()),
            ("4␉+␉3␉s1", requests()),
            ("def get_session", python()),
            ("SET GLOBAL event_scheduler", sql),
            ("reader = Client", python()),
        ],
    ),
    "docs/migration.md": Page(with_the_original, [("CREATE USER", sql), ("[mysqld]", migrate)]),
    "docs/monitoring.md": Page(
        with_plugin(),
        [
            ("hs-top\n", hs_top),
            ("hs-top --host", hs_top_from_elsewhere),
            ("histogram_quantile", LeftOut("test_dashboard.py asks Prometheus the whole of it")),
        ],
    ),
    "docs/operations.md": Page(
        with_shop,
        [
            ("CREATE USER", sql),
            ("# HandlerSocket.", sample),
            ("[Note] handlersocket: listens", logged),
            ("SELECT plugin_version", plugin_and_threads),
            ("mariadb-admin", counters),
            ("handlersocket: a long find", Shown("a line of the log; test_request_time.py")),
            ("SELECT * FROM information_schema", connections),
            ("[ERROR] mariadbd", without_loose),
        ],
    ),
    "docs/memcached.md": Page(
        no_server,
        [
            ("exec 3<>/dev/tcp", memcached_at_the_demo),
            ("[mysqld]", memcached_settings),
            ("INSERT INTO handlersocket.containers", from_innodb_memcache),
        ],
    ),
    "docs/performance.md": Page(
        no_server,
        [
            ("make bench", LeftOut("it measures for more than an hour; tests/bench has its parts")),
            ("hs-bench --port", benches),
        ],
    ),
    "docs/porting.md": Page(nothing, [("/* Rows", Shown("what no server has yet"))]),
    "docs/protocol.md": Page(
        users,
        [
            ("request = ", Shown("the grammar")),
            ("P ␉ indexid", Shown("the form of a request")),
            ("P␉1␉test", requests()),
            ("indexid ␉ op", requests()),
            ("indexid ␉ up", requests()),
            ("find ␉ C", requests()),
            ("find ␉ U", requests()),
            ("find ␉ set", requests()),
            ("indexid ␉ +", requests()),
            ("indexid ␉ insert", requests()),
            ("G ␉ n", group),
            ("within ␉ ms", requests()),
            ("H [␉ option]", hello),
            ("D ␉ indexid", requests()),
            ("L [␉ db", hello),
            ("H␉warnings", hello),
            ("echo ␉ value", requests()),
            ("A ␉ 1", Shown("the form of a request; test_log_in.py")),
            ("<code> ␉ 1", Shown("the form of a reply")),
        ],
    ),
    "docs/redis.md": Page(
        no_server,
        [
            ("redis-cli -p 6380", redis_at_the_demo),
            ("[mysqld]", redis_settings),
            ("db.table:part", Shown("the grammar of keys; test_redis_keys.py")),
            ("mariadb <", containers),
            ("SCAN 0", Shown("the form of patterns; test_redis_scan.py")),
            ("HS.FIND shop.article", Shown("one of each; test_redis_find.py runs them")),
        ],
    ),
    "docs/scaling.md": Page(
        with_plugin(),
        [
            ("[mariadb]     ", settings),
            (
                "[mariadb]\nwsrep_on",
                LeftOut("it needs three machines; tests/cluster/test_galera.py"),
            ),
            ("[mariadb]\nloose_", spider),
        ],
    ),
    "docs/security.md": Page(
        with_shop,
        [
            ("CREATE USER app", sql),
            ("[mysqld]\nloose_handlersocket_anonymous", guests),
            ("cd /etc/mysql", shell),
            ("[mysqld]\nssl_cert", only_for_tls),
            (
                "import ssl\nfrom handlersocket2 import Client\n\nwith",
                python("Row(price=b'99')", folder="/root/client"),
            ),
            ("CREATE USER shopper", sql),
            (
                "import ssl\nfrom handlersocket2 import Client\n\ntls",
                python("Row(price=b'99')", folder="/root/client"),
            ),
        ],
    ),
    "clients/python/README.md": Page(
        with_plugin("loose_handlersocket_socket = /run/mysqld/handlersocket.sock\n", USERS),
        [
            ("python3 -m venv", same_as_in_readme),
            (
                "from dataclasses import dataclass",
                python("User(user_id=42, user_name='user_0000042')"),
            ),
            ("import asyncio", of_all_users),
            ("CREATE DATABASE app", sql),
            ("from handlersocket2 import Assign, Client", python()),
            ('user = client.index("app", "user", ["id"', python()),
            ("user.find(Range(ge=40", python()),
            (
                "told = client.described_index",
                python(
                    "Row(id=42, name='Ann', age=31)",
                    "[('name', 'varchar(100)', False)]",
                    "{'id': <class 'int'>, 'name': <class 'str'>, 'email': str | None,"
                    " 'age': int | None, 'visits': <class 'int'>}",
                ),
            ),
            ("for row in user.iterate", python()),
            ('user = client.index("app", "user", ["name"', python()),
            ('user.update(42, {"visits": Assign', python()),
            ('counter = client.index("app", "user"', python()),
            ('balance = client.index("app", "user"', python()),
            ('Client("handlersocket://ann', python()),
            ("handlersocket://db1,db2/app", Shown("the form of a URL")),
            ("with client.pipeline()", python()),
            ('print(client.hello()["protocol"]', python("2 True")),
            (
                'print(client.tables("app"))',
                python("['user']", "PRIMARY True ['id']", "by_name False ['name']"),
            ),
            ("import logging", python("find read 1 user")),
            ("with Connection", python()),
            ("python -m pytest", LeftOut("`make test` runs these tests")),
        ],
    ),
}


def block_that_begins(page: str, beginning: str) -> Block:
    (block,) = [block for block in blocks_of(page) if block.text.startswith(beginning)]
    return block


def test_the_plan_has_every_block_of_every_page() -> None:
    assert sorted(PLAN) == sorted(PAGES)
    for page, plan in PLAN.items():
        planned = sorted(block_that_begins(page, beginning).line for beginning, _ in plan.steps)
        assert planned == [block.line for block in blocks_of(page)], page


@pytest.mark.parametrize("page", PLAN)
def test_the_examples_of(page: str, machine: Machine) -> None:
    plan = PLAN[page]
    if plan.prepare is not nothing:
        machine.anew()
        plan.prepare(machine)
    for beginning, step in plan.steps:
        block = block_that_begins(page, beginning)
        try:
            step(machine, block)
        except AssertionError as error:
            raise AssertionError(f"{block}: {error}") from error


def test_the_page_shows_the_applications_that_are_measured() -> None:
    source = (REPOSITORY / "bench/cache_aside/applications.py").read_text()
    shown = [
        block_that_begins("docs/from-a-cache.md", f"class With{rest}")
        for rest in ("Cache", "outCache")
    ]
    assert source.endswith("\n\n\n".join(block.text.rstrip() for block in shown) + "\n")
