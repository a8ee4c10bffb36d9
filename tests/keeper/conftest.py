from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from interlock.keeper.warm import WarmKeeper
from undoing import QUICK, keeper


@pytest.fixture(scope="session")
def keep() -> Iterator[WarmKeeper]:
    """The child, kept warm."""
    with TemporaryDirectory(prefix="kept", dir=QUICK) as state, keeper(Path(state)) as found:
        yield found
