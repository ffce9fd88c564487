"""A client that connects while the interpreter ends, where perhaps no thread is to be had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import handlersocket2

SOURCES = Path(handlersocket2.__file__).parents[1]

#: What runs at the exit.
PROGRAM = """
import asyncio, atexit
from handlersocket2 import AsyncClient, Client, HandlerSocketError

SETTINGS = dict(timeout=10, connect_attempts=1)
NOBODY = ("localhost", 9)

def threads_call():
    Client(NOBODY, **SETTINGS).ping()

def threads_iterate():
    for row in Client(NOBODY, **SETTINGS).index("d", "t", ["a"]).iterate(1):
        pass

async def call():
    async with AsyncClient(NOBODY, **SETTINGS) as client:
        await client.ping()

async def iterate():
    async with AsyncClient(NOBODY, **SETTINGS) as client:
        async for row in client.index("d", "t", ["a"]).iterate(1):
            pass

def at_exit():
    try:
        {does}
    except HandlerSocketError as error:
        print(error.kind, error)

atexit.register(at_exit)
"""


@pytest.mark.parametrize(
    "does",
    ["threads_call()", "threads_iterate()", "asyncio.run(call())", "asyncio.run(iterate())"],
)
def test_it_cannot_connect(does):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(does=does)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )
    assert ended.stderr == ""
    assert ended.stdout.startswith("connect "), ended.stdout
