"""Applications with a cache, as their users write them. Prints what each step answers, as JSON.

Its arguments: which one, and the port of Redis's or memcached's clients.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import django
import redis
from django.conf import settings
from django.contrib.sessions.backends.cache import SessionStore
from django.core.cache import cache

WHICH, PORT = sys.argv[1:]
BACKENDS = {
    "Django, Redis": ("redis.RedisCache", f"redis://127.0.0.1:{PORT}"),
    "Django, memcached": ("memcached.PyMemcacheCache", f"127.0.0.1:{PORT}"),
}
#: The rate limiter's.
LIMIT, CALLERS, CALLS = 30, 4, 20


def tell(step: str, value: Any) -> None:
    print(json.dumps([step, value]), flush=True)


def fails(call: Callable[[], Any]) -> bool:
    try:
        call()
    except Exception:
        return True
    return False


def a_cache_of_django() -> None:
    backend, place = BACKENDS[WHICH]
    settings.configure(
        SECRET_KEY="test",
        CACHES={"default": {"BACKEND": f"django.core.cache.backends.{backend}", "LOCATION": place}},
        SESSION_ENGINE="django.contrib.sessions.backends.cache",
        USE_TZ=True,
    )
    django.setup()
    value = {"name": "Grüße", "rows": [1, None, 2.5], "bytes": bytes(range(256))}
    cache.set("object", value, 100)
    tell("get", cache.get("object") == value)
    tell("get nothing", cache.get("none", "nothing"))
    tell("add", [cache.add("object", 1, 100), cache.add("added", 1, 100)])
    tell("get or set", [cache.get_or_set("made", lambda: 7, 100), cache.get_or_set("made", 8)])
    cache.set("counter", 10, 100)
    tell("count", [cache.incr("counter", 5), cache.decr("counter", 3), cache.get("counter")])
    tell("incr nothing", fails(lambda: cache.incr("none")))
    many = {f"many{number}": [number] for number in range(100)}
    cache.set_many(many, 100)
    tell("get many", cache.get_many([*many, "none"]) == many)
    cache.delete_many(list(many)[1:])
    tell("delete many", list(cache.get_many(many)))
    tell("delete", [cache.delete("added"), cache.delete("added")])
    cache.set("versioned", 1, 100)
    cache.incr_version("versioned")
    tell("versions", [cache.get("versioned"), cache.get("versioned", version=2)])
    cache.set("short", 1, 1)
    cache.set("long", 1, 3)
    tell("touch", cache.touch("long", 100))
    session = SessionStore()
    session["user"] = {"id": 42}
    session.save()
    tell("session", SessionStore(session.session_key)["user"])
    session.flush()
    tell("session that has ended", dict(SessionStore(session.session_key).items()))
    time.sleep(4)
    tell("expired", [cache.get("short"), cache.get("long"), "long" in cache])
    cache.set("forever", 1, None)
    tell("forever", cache.get("forever"))
    # It would empty a table.
    tell("clear", not fails(cache.clear) and cache.get("forever") is None)


def a_rate_limiter() -> None:
    """So many calls a minute: a counter that expires, changed in a transaction."""
    client = redis.Redis(port=int(PORT))
    passed: list[bool] = []

    def may_pass(user: str) -> bool:
        key = f"rate:{user}:{int(time.time() // 3600)}"
        with client.pipeline(transaction=True) as unit:
            unit.incr(key)
            unit.expire(key, 3600, nx=True)
            return bool(unit.execute()[0] <= LIMIT)

    def call() -> None:
        for _ in range(CALLS):
            while True:
                try:
                    passed.append(may_pass("ann"))
                    break
                except redis.exceptions.ExecAbortError:
                    continue

    threads = [threading.Thread(target=call) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (key,) = client.keys("rate:*")
    tell("calls", len(passed))
    tell("passed", sum(passed))
    tell("counted", int(client.get(key)))
    tell("expires", 3590 <= client.ttl(key) <= 3600)


if WHICH == "rate limiter":
    a_rate_limiter()
else:
    a_cache_of_django()
