"""The table `[undo]`: its defaults are the published bounds, and what nobody can mean is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.config import ConfigError, config_of
from interlock.core.undo import Limits
from interlock.core.undo_rules import UndoSettings


def test_the_defaults_are_the_published_bounds() -> None:
    found = config_of({}, environ={}).undo
    assert found == UndoSettings(True, 5_000, 200_000_000, 300, 7, 2_000_000_000)
    assert Limits(found.files, found.bytes, found.ms) == Limits()


def test_what_is_said_counts() -> None:
    said = {"keep": False, "files": 1, "bytes": 2, "ms": 10, "days": 3, "total_bytes": 4}
    assert config_of({"undo": said}, environ={}).undo == UndoSettings(**said)


@pytest.mark.parametrize(
    "said",
    [{"files": 0}, {"bytes": -1}, {"ms": 5}, {"days": 0}, {"total_bytes": "much"}, {"keep": "yes"}, {"hours": 3}],
)
def test_what_nobody_can_mean_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"undo.*{next(iter(said))}"):
        config_of({"undo": said}, environ={})
