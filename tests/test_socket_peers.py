"""The kernel says who opened a connection on loopback."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from interlock.socket_peers import LoopbackPeers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked by netlink")


def test_who_opened_a_connection_is_known_also_after_the_way_to_the_kernel_broke() -> None:
    peers = LoopbackPeers()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        here, there = client.getsockname(), server.getsockname()
        assert peers.uid_of(here, there) == os.getuid()
        assert peers._socket is not None
        peers._socket.close()
        assert peers.uid_of(here, there) == os.getuid()
        peers._number -= 1
        peers._socket.send(b"\x14\0\0\0\x14\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0")  # an answer that nobody waits for
        assert peers.uid_of(here, there) == os.getuid()
        assert peers.uid_of(("127.0.0.1", 1), there) is None
    peers.close()
