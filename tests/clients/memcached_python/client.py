"""What an application does with a memcached, by a client of its choice: a line of JSON a step."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import bmemcached
import memcache
import pylibmc
from pymemcache import serde
from pymemcache.client.base import PooledClient

HOST = "127.0.0.1"
THREADS, ROUNDS = 4, 25
BYTES = bytes(range(256))


def tell(step: str, answer: object) -> None:
    if isinstance(answer, bytes):
        answer = answer.decode("latin-1")
    print(json.dumps([step, answer]), flush=True)


def with_pymemcache(port: int) -> Any:
    return PooledClient((HOST, port), serde=serde.pickle_serde, timeout=20, default_noreply=False)


def with_python_memcached(port: int) -> Any:
    return memcache.Client([f"{HOST}:{port}"], socket_timeout=20, cache_cas=True)


def with_pylibmc(port: int, *, binary: bool = False) -> Any:
    return pylibmc.Client([f"{HOST}:{port}"], binary=binary, behaviors={"cas": True})


def with_binary_memcached(port: int) -> Any:
    return bmemcached.Client([f"{HOST}:{port}"], socket_timeout=20)


MAKE: dict[str, Callable[[int], Any]] = {
    "pymemcache": with_pymemcache,
    "python-memcached": with_python_memcached,
    "pylibmc, text": with_pylibmc,
    "pylibmc, binary": lambda port: with_pylibmc(port, binary=True),
    "python-binary-memcached": with_binary_memcached,
}


def common(how: str, port: int) -> None:
    """What every client of them has."""
    client = MAKE[how](port)
    tell("nothing", client.get("none"))
    tell("set", bool(client.set("text", "Grüße", 100)))
    tell("get", client.get("text"))
    tell("set an object", bool(client.set("object", {"a": [1, None]}, 100)))
    tell("get an object", client.get("object"))
    tell("set bytes", bool(client.set("bytes", BYTES, 100)))
    tell("get bytes", client.get("bytes").hex())
    tell("a large one", bool(client.set("large", "x" * 900_000, 100)) and len(client.get("large")))
    tell("add", bool(client.add("text", "other", 100)))
    tell("replace", bool(client.replace("text", "new", 100)) and client.get("text"))
    many = {f"many{number}": number for number in range(150)}
    client.set_many(many, 100) if hasattr(client, "set_many") else client.set_multi(many, 100)
    get_many = getattr(client, "get_many", None) or client.get_multi
    tell("get many", get_many([*many, "none"]) == many)
    tell("delete", bool(client.delete("text")) and client.get("text"))
    client.set("short", "x", 1)
    time.sleep(2.1)
    tell("expired", client.get("short"))

    def add() -> None:
        own = MAKE[how](port)
        for _ in range(ROUNDS):
            own.incr("counter", 1)

    start_at_zero(how, client)
    threads = [threading.Thread(target=add) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell("many callers", int(client.incr("counter", 0)))


def start_at_zero(how: str, client: Any) -> None:
    """Each has a form of its own for a number that is a string in memcached."""
    if how == "pymemcache":
        client.set("counter", b"0", 100)
    elif how == "python-binary-memcached":
        client.delete("counter")
        client.incr("counter", 0, default=0)
    else:
        client.set("counter", 0, 100)


def main() -> None:
    how, port = sys.argv[1], int(sys.argv[2])
    common(how, port)


if __name__ == "__main__":
    main()
