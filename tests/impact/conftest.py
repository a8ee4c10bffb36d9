from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.impact.warm_child import WarmInspector
from repositories import inspector


@pytest.fixture(scope="session")
def look() -> Iterator[WarmInspector]:
    """The child, kept warm."""
    with inspector() as found:
        yield found
