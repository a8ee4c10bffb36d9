"""A gate for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gate import Gate


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "state")
    made.enrol()
    yield made
    made.close()
