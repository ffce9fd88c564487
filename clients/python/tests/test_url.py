"""URLs, the environment, and the options of a client."""

import ssl

import pytest

from handlersocket2 import Client
from handlersocket2.url import Server, parse_url, target_of

ANY = ("db", 9998), ("db", 9999)


def target(address=None, write=None, environment=None, **options):
    return target_of(address, write, options, environment or {})


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("handlersocket://db", [ANY]),
        ("handlersocket://db:9998,9999", [ANY]),
        ("handlersocket://db:1,2/app", [(("db", 1), ("db", 2))]),
        ("handlersocket://db:1", [(("db", 1), None)]),
        ("handlersocket://db:,2", [(None, ("db", 2))]),
        ("handlersocket://[::1]", [(("::1", 9998), ("::1", 9999))]),
        ("handlersocket://[::1]:1,2", [(("::1", 1), ("::1", 2))]),
        (
            "handlersocket://user@db1,db2:9998,9999,[::1]:9998,9999/db",
            [
                (("db1", 9998), ("db1", 9999)),
                (("db2", 9998), ("db2", 9999)),
                (("::1", 9998), ("::1", 9999)),
            ],
        ),
        (
            "handlersocket:///db?socket=/run/hs.sock&socket_wr=/w.sock",
            [("/run/hs.sock", "/w.sock")],
        ),
        ("handlersocket:///db?socket_wr=%2Fw.sock", [(None, "/w.sock")]),
    ],
)
def test_servers(url, servers):
    assert parse_url(url)[0] == tuple(Server(*pair) for pair in servers)
    assert not target(url).one_port


def test_account_database_and_options():
    _, database, options = parse_url(
        "handlersocket://an%40n:p%3Aw%2F@db/my%20app?tls=verify&timeout=5s&connect_timeout=250ms"
        "&dead_after=2m&long_limit=50&when_full=fail&read_after_write=sent&tls_ca=/ca.pem"
    )
    assert database == "my app"
    assert options == {
        "user": "an@n",
        "password": "p:w/",
        "tls": "verify",
        "timeout": 5.0,
        "connect_timeout": 0.25,
        "dead_after": 120.0,
        "long_limit": 50,
        "when_full": "fail",
        "read_after_write": "sent",
        "tls_ca": "/ca.pem",
    }
    found = target("handlersocket://ann@db/app?secret=x&timeout=1s", user=None, timeout=9)
    assert (found.options.secret, found.options.timeout, found.database) == ("x", 9, "app")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("handlersocket://:9998", "no host"),
        ("handlersocket://db:", "without a port"),
        ("handlersocket://db:,", "no host|without a port"),
        ("handlersocket://db:x", "port"),
        ("handlersocket://db:70000", "port"),
        ("handlersocket://db:1,2,3", "3 is no host"),
        ("handlersocket://::1", "brackets"),
        ("handlersocket://[::1", "brackets"),
        ("handlersocket://db,,db2", "no host"),
        ("handlersocket://db?nonsense=1", "no option 'nonsense'"),
        ("handlersocket://db?password=pw", "no option 'password'"),
        ("handlersocket://db?timeout=5", "with ms, s or m"),
        ("handlersocket://db?timeout=-5s", "with ms, s or m"),
        ("handlersocket://db?timeout=", "with ms, s or m"),
        ("handlersocket://db?timeout", "no value"),
        ("handlersocket://db?timeout=1s&timeout=2s", "'timeout' twice"),
        ("handlersocket://db?long_limit=x", "whole number"),
        ("handlersocket://db?long_limit=0", "from 1 on"),
        ("handlersocket://db?tls_ca=/ca.pem", "tls_ca is an option of TLS"),
        ("handlersocket://db?tls=off&tls_name=other", "tls_name is an option of TLS"),
        ("handlersocket://db?dead_after=0s", "dead_after is more than 0"),
        ("handlersocket://:pw@db", "no user in front of its @"),
        ("handlersocket://db?tls=maybe", "off verify unverified"),
        ("handlersocket://db?when_full=later", "wait fail"),
        ("handlersocket://ann:pw%@db", "two hexadecimal digits"),
        ("handlersocket://db?socket=/x", "a host and a socket"),
        ("handlersocket://ann@db?secret=s", "a secret and a user"),
        ("handlersocket:///?socket=/x&tls=verify", "Unix socket has none"),
    ],
)
def test_what_is_no_url(url, message):
    with pytest.raises(ValueError, match=message) as refused:
        target(url)
    assert "pw" not in str(refused.value)


def test_the_environment():
    environment = {
        "HANDLERSOCKET_URL": "handlersocket://ann@far/app",
        "HANDLERSOCKET_PASSWORD": "pw",
        "HANDLERSOCKET_SECRET": "s",
    }
    found = target(environment=environment)
    assert found.servers == (Server(("far", 9998), ("far", 9999)),)
    assert (found.options.user, found.options.password, found.options.secret) == ("ann", "pw", None)
    assert target("handlersocket://db", environment=environment).options.secret == "s"
    assert target("handlersocket://ann:own@db", environment=environment).options.password == "own"
    assert target(user="ann", password="own", environment=environment).options.password == "own"
    assert target().servers == (Server(("127.0.0.1", 9998), ("127.0.0.1", 9999)),)


def test_addresses_without_a_url():
    assert target(("db", 1)).one_port
    assert target(("db", 1)).servers == (Server(("db", 1), ("db", 1)),)
    assert target(("db", 1), ("db", 2)).servers == (Server(("db", 1), ("db", 2)),)
    assert target("/r.sock", "/w.sock").servers == (Server("/r.sock", "/w.sock"),)
    pairs = [(("a", 1), ("a", 2)), (("b", 1), None)]
    assert target(pairs).servers == (Server(("a", 1), ("a", 2)), Server(("b", 1), None))
    for wrong in ([], [(None, None)]):
        with pytest.raises(ValueError):
            target(wrong)
    with pytest.raises(ValueError, match="both ports"):
        target("handlersocket://db", ("db", 2))


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"timeout": -1}, ValueError),
        ({"timeout": "1"}, TypeError),
        ({"connect_timeout": None}, TypeError),
        ({"connect_timeout": 0}, ValueError),
        ({"dead_after": 0}, ValueError),
        ({"backoff_min": 0.0}, ValueError),
        ({"tls_ca": "/ca.pem"}, ValueError),
        ({"tls_name": "other", "tls": "off"}, ValueError),
        ({"tls_cert": "/c.pem", "tls_key": "/k.pem"}, ValueError),
        ({"tls_key": "/k.pem", "tls": True}, ValueError),
        ({"tls_ca": "/ca.pem", "tls": ssl.create_default_context()}, ValueError),
        ({"read_connections": 0}, ValueError),
        ({"max_in_flight": 1.0}, TypeError),
        ({"when_full": "never"}, ValueError),
        ({"read_after_write": "sent", "write_connections": 2}, ValueError),
        ({"secret": "s", "user": "u"}, ValueError),
        ({"tiemout": 3}, TypeError),
    ],
)
def test_options_are_checked(options, kind):
    with pytest.raises(kind, match=next(iter(options)).split("_")[0]):
        Client(("db", 1), **options)


def test_a_timeout_of_0_is_none():
    assert target("handlersocket://db?timeout=0s").options.timeout is None
    assert target(("db", 1), timeout=0).options.timeout is None


def test_tls():
    assert target(("db", 1)).options.tls_context() is None
    assert target("handlersocket://db?tls=off").options.tls_context() is None
    verified = target(("db", 1), tls=True).options.tls_context()
    assert verified.verify_mode is ssl.CERT_REQUIRED and verified.check_hostname
    assert verified.minimum_version is ssl.TLSVersion.TLSv1_2
    unverified = target("handlersocket://db?tls=unverified").options.tls_context()
    assert unverified.verify_mode is ssl.CERT_NONE
    own = ssl.create_default_context()
    assert target(("db", 1), tls=own).options.tls_context() is own


def test_what_is_shown_has_no_password():
    client = Client("handlersocket://ann:pw1234@db/app")
    assert "db" in repr(client)
    for shown in (repr(client), repr(client._core.target), repr(target(("d", 1), secret="pw1234"))):
        assert "pw1234" not in shown
