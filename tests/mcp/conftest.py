"""Four servers, started once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from deeds import free
from foes import Foe
from servers import KINDS, Servers, Talk, fresh, serving


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with serving(tmp_path_factory.mktemp("mcp"), anew=True) as made:
        for kind in KINDS:
            made.shared[kind] = made.talk(kind)
        yield made


@pytest.fixture(params=KINDS)
def talk(servers: Servers, request: pytest.FixtureRequest) -> Talk:
    """The same test through stdio and HTTP, in both eras."""
    return servers.shared[request.param]


@pytest.fixture(scope="session")
def foes() -> dict[str, Foe]:
    return {}


@pytest.fixture(params=KINDS)
def foe(servers: Servers, foes: dict[str, Foe], request: pytest.FixtureRequest) -> Iterator[Foe]:
    """One principal for each kind, under a fresh name for each test; an operator lifts what blocked it."""
    kind = str(request.param)
    if kind not in foes:
        foes[kind] = Foe(servers, kind)
    found = foes[kind]
    found.name = fresh()
    yield found
    free(servers)


@pytest.fixture(params=["stdio-2025", "http-2026"])
def rogue(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Foe]:
    """A principal for one test: tokens and codes that fail lock it for a while."""
    found = Foe(servers, str(request.param))
    yield found
    for talk in found.talks:
        talk.close()
    free(servers)
