"""The URLs of tests/vectors/urls.json."""

import pytest
from vectors import vectors

from handlersocket2.url import Server, target_of


def server(address):
    if "host" in address:
        ports = (address["read"], address["write"])
        return Server(*(port and (address["host"], port) for port in ports))
    return Server(address["socket"], address["socket_wr"])


def shown(options, name):
    """An option as urls.json has it."""
    if name.endswith("_ms"):
        return round((getattr(options, name.removesuffix("_ms")) or 0) * 1000)
    value = getattr(options, name)
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


@pytest.mark.parametrize("vector", vectors("urls"), ids=lambda vector: vector["url"])
def test_a_url(vector):
    if "error" in vector:
        with pytest.raises(ValueError) as refused:
            target_of(vector["url"], None, {}, {})
        assert "pw" not in str(refused.value)
        return
    target = target_of(vector["url"], None, {}, {})
    assert target.servers == tuple(server(address) for address in vector["addresses"])
    assert target.database == vector.get("database")
    options = target.options
    account = (options.user or "", options.password, options.secret or "")
    assert account == tuple(vector.get(name, "") for name in ("user", "password", "secret"))
    for name, value in vector.get("options", {}).items():
        assert shown(options, name) == value
