from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from file_trees import QUICK, snapshotter
from interlock.snapshots.client import WarmSnapshotter


@pytest.fixture(scope="session")
def keep() -> Iterator[WarmSnapshotter]:
    """The child, kept warm."""
    with TemporaryDirectory(prefix="kept", dir=QUICK) as state, snapshotter(Path(state)) as found:
        yield found
