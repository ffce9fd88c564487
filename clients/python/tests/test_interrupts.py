"""A thread of the synchronous client that is interrupted, at each line of a call: others go on.

A debugger's hook raises the interrupt, as Ctrl-C or a signal's handler does, wherever that comes.
"""

import sys
import threading
import time
from contextlib import suppress
from functools import partial

import pytest
from played_server import PlayedServer
from test_threads import Caller, wait_until

from handlersocket2 import (
    Client,
    ConnectionLost,
    HandlerSocketError,
    awake,
    channel,
    connecting,
    links,
    thread_wires,
    threads,
)

FILES = {module.__file__ for module in (awake, channel, connecting, links, thread_wires, threads)}


class Interrupt(BaseException):
    pass


def interrupted(call, number):
    """Interrupts a call at its line of this number. False if it has fewer lines."""
    lines = 0

    def at_line(frame, event, argument):
        nonlocal lines
        if event == "line":
            lines += 1
            if lines == number:
                raise Interrupt
        return at_line

    def at_function(frame, event, argument):
        return at_line if frame.f_code.co_filename in FILES and lines < number else None

    before = sys.gettrace()
    sys.settrace(at_function)
    try:
        call()
    except (Interrupt, HandlerSocketError):
        pass
    finally:
        sys.settrace(before)
    return lines >= number


class Scene:
    """A server, a client whose call is interrupted, and others that wait for their rows."""

    def __init__(self, server, **options):
        self.server = server
        self.client = Client(server.address, timeout=5, **options)
        self.index = self.client.index("d", "t", ["a"])
        self.others = {}

    def ask(self, key):
        self.others[key] = Caller(lambda: self.index.find(key))

    def hold(self):
        """One is asked for whose reply comes a little later."""
        self.index.find(1)
        self.ask("hold")
        wait_until(lambda: len(self.server.connections[-1]) == 3)
        threading.Timer(0.01, self.server.held.set).start()

    def pipeline(self):
        pipeline = self.client.pipeline()
        for key in range(2):
            pipeline.on(self.index).find(key)
        pipeline.run()

    def find(self):
        self.index.find(5)

    def unsent(self):
        wires = [wire for link in self.client._core.links for wire in link.wires()]
        return any(wire.has_output for wire in wires)


def first_one(scene):
    """It makes the connection, too."""


def alone(scene):
    scene.index.find(1)


def alone_for_long(scene):
    """So it looks for its reply before it sleeps."""
    for key in range(10):
        scene.index.find(key)


def behind_one_that_reads(scene):
    scene.hold()


def one_of_many(scene):
    scene.index.find(1)
    for key in range(10, 16):
        scene.ask(key)


def at_a_connection_that_has_ended(scene):
    scene.index.find(1)
    scene.server.hang_up()


def without_room(scene):
    scene.hold()
    scene.ask(10)


SCENES = {
    "the first one": (first_one, Scene.find, {}),
    "alone": (alone, Scene.find, {}),
    "alone for long": (alone_for_long, Scene.find, {}),
    "behind one that reads": (behind_one_that_reads, Scene.find, {}),
    "one of many": (one_of_many, Scene.find, {}),
    "at a connection that has ended": (at_a_connection_that_has_ended, Scene.find, {}),
    "without room": (without_room, Scene.find, {"max_in_flight": 1}),
    "a pipeline": (alone, Scene.pipeline, {}),
}


@pytest.mark.parametrize("name", SCENES)
def test_others_go_on(name):
    prepare, call, options = SCENES[name]
    number = 0
    go_on = True
    while go_on:
        number += 1
        with PlayedServer() as server:
            server.held = threading.Event()
            scene = Scene(server, **options)
            prepare(scene)
            go_on = interrupted(partial(call, scene), number)
            server.held.set()
            if not scene.others:  # nobody else would send it until the next call
                assert not scene.unsent(), number
            began = time.monotonic()
            for key in (7, 8):
                after = Caller(partial(scene.index.find, key)).ended()
                assert after.result == [(b"%d" % key,)], (number, after.error)
            for key, other in scene.others.items():
                ended = other.ended()
                # A connection that the interrupted one has left half read is given up.
                if not isinstance(ended.error, ConnectionLost):
                    assert ended.result == [(str(key).encode(),)], (number, ended.error)
            assert time.monotonic() - began < 4, number
            with suppress(HandlerSocketError):
                Caller(scene.client.close).ended()
    assert number > 100
