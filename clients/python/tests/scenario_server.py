"""Plays the servers of tests/vectors/scenarios.json: tests/vectors/README.md has their language."""

import contextlib
import select
import socket
import struct
import threading
import time

from vectors import raw

PATIENCE = 20.0


class Play:
    """The servers of one scenario, the signals that scripts and the application give each other."""

    def __init__(self, scenario, cut=None):
        self._cut = cut
        self._signals = {}
        self._failures = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._ports = []
        self.addresses = [
            tuple(self._address(server, port) for port in ("read", "write"))
            for server in scenario["servers"]
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._over.set()
        for port in self._ports:
            port.close()

    def signal(self, name):
        with self._lock:
            return self._signals.setdefault(name, threading.Event())

    def fail(self, words):
        self._failures.append(words)

    def wait_for_the_end(self):
        """All scripts come to their end, and nothing went wrong."""
        end = time.monotonic() + PATIENCE
        for port in self._ports:
            port.wait_until(end)

    def check(self):
        assert not self._failures, "; ".join(self._failures)

    def _address(self, server, name):
        if name not in server:
            return None
        port = _Port(self, name, server[name])
        self._ports.append(port)
        return port.address

    def run(self, peer, script):
        for step in script:
            self._run_step(peer, step)

    def _run_step(self, peer, step):
        if "expect" in step:
            _expect(peer, raw(step["expect"]))
        elif "send" in step:
            self._send(peer, step)
        elif "quiet_ms" in step:
            _stay_quiet(peer, step["quiet_ms"] / 1000)
        elif "close" in step:
            peer.shutdown(socket.SHUT_WR)  # what still comes is thrown away at the end
        elif "reset" in step:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
        elif "expect_end" in step:
            with contextlib.suppress(ConnectionResetError):
                came = peer.recv(65536)
                assert came == b"", f"bytes instead of an end: {came!r}"
        elif "signal" in step:
            self.signal(step["signal"]).set()
        elif "await" in step:
            assert self.signal(step["await"]).wait(PATIENCE), f"no signal {step['await']}"
        else:
            assert "stop_reading" in step, step

    def _send(self, peer, step):
        data = raw(step["send"])
        if step.get("cut"):
            data = data[: self._cut]
        pause = step.get("every_ms", 0) / 1000
        size = step.get("pieces", 1 if pause else len(data) or 1)
        # A client that has closed needs no more of it. What it should have read shows elsewhere.
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(data), size):
                peer.sendall(data[start : start + size])
                if pause:
                    time.sleep(pause)


class _Port:
    """A listener. The first connection plays the first script, and so on."""

    def __init__(self, play, name, scripts):
        self._play = play
        self._name = name
        self._scripts = scripts or []
        self._ended = [threading.Event() for _ in self._scripts]
        self._peers = []
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.address = self._socket.getsockname()
        if scripts is not None:
            self._socket.listen()
            threading.Thread(target=self._accept, daemon=True).start()

    def wait_until(self, end):
        for number, ended in enumerate(self._ended):
            if not ended.wait(max(0.0, end - time.monotonic())):
                self._play.fail(f"{self._name}: script {number} has not come to its end")

    def close(self):
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for peer in self._peers:
            peer.close()

    def _accept(self):
        number = 0
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self._peers.append(peer)
            if number >= len(self._scripts):
                self._play.fail(f"{self._name}: connection {number}, and no script for it")
                peer.close()
            else:
                threading.Thread(target=self._serve, args=(peer, number), daemon=True).start()
            number += 1

    def _serve(self, peer, number):
        peer.settimeout(PATIENCE)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        script = self._scripts[number]
        try:
            self._play.run(peer, script)
        except (AssertionError, OSError) as error:
            self._play.fail(f"{self._name}: script {number}: {error!r}")
        self._ended[number].set()
        if script and ({"reset", "stop_reading"} & set(script[-1])):
            return
        with contextlib.suppress(OSError):
            peer.settimeout(60)
            if any("close" in step for step in script):
                while peer.recv(65536):
                    pass
            elif came := peer.recv(65536):
                self._play.fail(f"{self._name}: behind the end of script {number}: {came!r}")


def _expect(peer, expected):
    came = b""
    while len(came) < len(expected):
        try:
            more = peer.recv(min(len(expected) - len(came), 1 << 20))
        except TimeoutError:
            raise AssertionError(f"expected {expected[:80]!r}, came {came[:80]!r}") from None
        assert more, f"expected {expected[:80]!r}, came {came[:80]!r} and the end"
        came += more
        assert expected.startswith(came), f"expected {expected[:80]!r}, came {came[:80]!r}"


def _stay_quiet(peer, seconds):
    ready, _, _ = select.select([peer], [], [], seconds)
    if ready:
        came = peer.recv(65536)
        raise AssertionError(f"not quiet: {came!r}")
