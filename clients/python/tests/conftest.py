"""What several tests of the client share."""

import threading

import pytest
from played_server import PlayedServer


@pytest.fixture
def server():
    """A played server whose answer to the key `hold` waits for the event `held`."""
    with PlayedServer() as played:
        played.held = threading.Event()
        yield played
        played.held.set()
