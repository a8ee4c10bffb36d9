"""One daemon for all tests of this folder, and one proxy for those that need no setting of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from daemons import daemon
from proxy_client import ODD, Bench, Proxy


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("proxy")
    with daemon(folder, policy="default") as running:
        made = Bench(running, folder)
        yield made
        made.close()


@pytest.fixture(scope="session")
def odd(bench: Bench) -> Proxy:
    """A validated server."""
    made = bench.proxy(ODD)
    made.greet()
    return made
