from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.looker.warm import WarmLooker
from looked import looker


@pytest.fixture(scope="session")
def look() -> Iterator[WarmLooker]:
    """The child, kept warm."""
    with looker() as found:
        yield found
