"""The table `[undo]`: its defaults are the published bounds, and what nobody can mean is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.config import ConfigError, config_of
from interlock.config.settings import SnapshotSettings
from interlock.snapshots import SnapshotLimits


def test_the_defaults_are_the_published_bounds() -> None:
    found = config_of({}, environ={}).undo
    assert found == SnapshotSettings(
        enabled=True, files=5_000, bytes=200_000_000, ms=300, days=7, total_bytes=2_000_000_000
    )
    assert SnapshotLimits(found.files, found.bytes, found.ms) == SnapshotLimits()


def test_what_is_said_counts() -> None:
    said = {"enabled": False, "files": 1, "bytes": 2, "ms": 10, "days": 3, "total_bytes": 4}
    assert config_of({"undo": said}, environ={}).undo == SnapshotSettings(**said)


@pytest.mark.parametrize(
    "said",
    [{"files": 0}, {"bytes": -1}, {"ms": 5}, {"days": 0}, {"total_bytes": "much"}, {"enabled": "yes"}, {"hours": 3}],
)
def test_what_nobody_can_mean_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"undo.*{next(iter(said))}"):
        config_of({"undo": said}, environ={})
