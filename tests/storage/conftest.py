"""Every store that there is, each time empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres
from interlock.ports import Store
from interlock.startup import open_store

STORES = ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("pg"))]


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/state"
    server: postgres.Server = request.getfixturevalue("server")
    return server.new_database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()
