"""One home for the tests of the jail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jails import Home, guarded_home


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with guarded_home(tmp_path_factory.mktemp("h")) as found:
        yield found
