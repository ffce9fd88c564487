"""Which server is asked after another one has refused, by all connections and while logging in."""

import pytest
from faces import Played, script

from handlersocket2 import AsyncClient, Client
from handlersocket2.errors import AuthenticationError

OPEN = "P\t1\tdb\tt\tPRIMARY\ta\n"
FIND = "1\t=\t1\t1\n"
OFF_LINE = "1\t1\t3032\n"
FOUND = "0\t1\tx\n"
FIRST_FIND = (OPEN + FIND, "0\t1\n" + FOUND)
both = pytest.mark.parametrize("kind", [Client, AsyncClient], ids=["threads", "asyncio"])


def on_link(run, ask, number):
    """The result of a request that goes by this connection of the route read."""
    core = run.client._core
    link = core.routes["read"][number]
    if isinstance(run.client, AsyncClient):
        return run(lambda: run.client._run(ask, link))
    return core.run(ask, link)


@both
@pytest.mark.parametrize("read_from", ["any", "replicas"])
def test_all_read_connections_leave_a_server(kind, read_from):
    """The second one would be refused again and again, until the server closes it."""
    first = [script(FIRST_FIND, (FIND, OFF_LINE), {"expect_end": True})]
    first += [script(FIRST_FIND, {"expect_end": True})]
    second = [script(FIRST_FIND), script(FIRST_FIND, (FIND, FOUND))]
    servers = [{"write": None}, {"read": first}, {"read": second}]
    servers = servers if read_from == "replicas" else servers[1:]
    told = []
    options = {"read_connections": 2, "read_from": read_from, "on_connection": told.append}
    with Played(kind, options=options, servers=servers) as run:
        run.client._core._home = len(servers) - 2
        find = run.client.index("db", "t", ["a"]).operations.find_one(1, {})
        for number in (0, 1, 0, 1, 1):
            assert on_link(run, find, number) == (b"x",)
        moved = [(seen.route, seen.address) for seen in told if seen.what == "moved"]
        assert moved == [("read", run.client._core.servers[-1].read)]


def test_a_refused_find_is_sent_to_the_current_server():
    """Both are under way when the first one is refused: the other is on a former connection."""
    first = [
        script((OPEN + FIND, "0\t1\n"), {"signal": "asked"}, {"await": "both"}, {"send": OFF_LINE}),
        script((OPEN + FIND, "0\t1\n"), {"await": "asked"}, {"signal": "both"}),
    ]
    first[1] += [{"await": "moved"}, {"send": OFF_LINE}, {"expect_end": True}]
    second = [script((OPEN + FIND, "0\t1\n" + FOUND), {"signal": "moved"}), script(FIRST_FIND)]
    options = {"read_connections": 2, "read_from": "any"}
    servers = [{"read": first}, {"read": second}]
    with Played(AsyncClient, options=options, servers=servers) as run:
        core = run.client._core
        core._home = 0
        find = run.client.index("db", "t", ["a"]).operations.find_one(1, {})

        async def ask():
            links = core.routes["read"]
            calls = [run.client._run(find, link) for link in links]
            return [await call for call in calls]

        assert run(ask) == [(b"x",)] * 2


@both
def test_an_iteration_that_moves_takes_all_finds_along(kind):
    first = [script(FIRST_FIND, {"expect_end": True})]
    first += [script((OPEN + "1\t=\t1\t1\t9\n", "0\t1\n" + OFF_LINE), {"expect_end": True})]
    second = [script((OPEN + "1\t=\t1\t1\t9\n", "0\t1\n" + FOUND)), script(FIRST_FIND)]
    servers = [{"read": first}, {"read": second}]
    with Played(kind, options={"read_from": "any"}, servers=servers) as run:
        run.client._core._home = 0
        index = run.client.index("db", "t", ["a"])

        async def iterate():
            return [row async for row in index.iterate(1, limit=9)]

        assert run(lambda: index.find_one(1)) == (b"x",)
        found = run(iterate) if kind is AsyncClient else list(index.iterate(1, limit=9))
        assert found == [(b"x",)]
        assert run(lambda: index.find_one(1)) == (b"x",)


ASKED = "A\t1\ts\n"


def rows_of(run, index, iterates):
    if not iterates:
        return run(lambda: index.find(1, limit=9))
    if isinstance(run.client, Client):
        return list(index.iterate(1, limit=9))

    async def iterate():
        return [row async for row in index.iterate(1, limit=9)]

    return run(iterate)


@both
@pytest.mark.parametrize("iterates", [False, True], ids=["find", "iterate"])
@pytest.mark.parametrize("refusal", ["3\t1\tfirst\n", "X\0\0\0\x0a11.8\n", "no reply\n"])
def test_a_refused_log_in_is_tried_at_the_other_servers(kind, iterates, refusal):
    refused = script((ASKED, refusal), {"expect_end": True})
    good = script((ASKED, "0\t1\n"), (OPEN + "1\t=\t1\t1\t9\n", "0\t1\n" + FOUND))
    servers = [{"read": [refused]}, {"read": [good]}]
    with Played(kind, options={"secret": "s"}, servers=servers) as run:
        index = run.client.index("db", "t", ["a"])
        assert rows_of(run, index, iterates) == [(b"x",)]


@both
@pytest.mark.parametrize("iterates", [False, True], ids=["find", "iterate"])
def test_if_all_refuse_the_first_one_says_why(kind, iterates):
    """Also if the last one cannot be reached at all, which is another thing the next time."""
    servers = [
        {"read": [script((ASKED, f"3\t1\t{name}\n"), {"expect_end": True})]}
        for name in ("first", "second")
    ]
    servers.append({"read": [script((ASKED, ""), {"close": True})]})
    with Played(kind, options={"secret": "s"}, servers=servers) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(AuthenticationError, match="first") as caught:
            rows_of(run, index, iterates)
        assert not caught.value.sent
