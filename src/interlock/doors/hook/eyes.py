"""Whose eyes read the scripts of a call and look at its targets, and whose hands keep them? Those of the user who asks: the daemon's own, or root's helper become that user."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from interlock.core.guarded import Resolve
from interlock.core.loss import Seen
from interlock.core.separate import SeparateSettings
from interlock.core.undo import Kept, Limits
from interlock.looker.asking import look_as, read_as, resolve_as
from interlock.looker.files import read_text
from interlock.looker.paths import real_paths
from interlock.ports import Keeper

Files = Callable[[str], str | None]
Look = Callable[[Mapping[str, Any]], Seen]
Keep = Callable[[Mapping[str, Any], str, float, Limits], Kept]


def eyes(principal: str, separate: SeparateSettings) -> Files | None:
    """What reads a script for whoever asks; None where nobody here can. A helper that does not answer raises, and that is a denial."""
    number = _number(principal)
    if number is None or number == os.getuid():
        return read_text if number is not None else None
    return partial(read_as, separate.looker, number) if separate.on and separate.looker else None


def sight(principal: str, separate: SeparateSettings, own: Look | None) -> Look | None:
    """What looks at the targets of whoever asks; `own` looks as this daemon's user. None where nobody here can."""
    number = _number(principal)
    if number is None or own is None:
        return None
    if number == os.getuid():
        return own
    return partial(look_as, separate.looker, number) if separate.on and separate.looker else None


def way(principal: str, separate: SeparateSettings, here: bool) -> Resolve | None:
    """What says where the paths of whoever asks lead; None where nobody here can. `here` is whether it is on this machine, whatever its name."""
    number = _number(principal)
    if number is None:
        return real_paths if here and not separate.on else None
    if number == os.getuid():
        return real_paths
    return partial(resolve_as, separate.looker, number) if separate.on and separate.looker else None


def hands(principal: str, own: Keeper | None, others: Mapping[str, Keeper]) -> Keep | None:
    """What keeps the targets of whoever asks: as this daemon's user, or as theirs; None where nobody here can."""
    found = others.get(principal, own if _number(principal) == os.getuid() else None)
    return found.take if found is not None else None


def _number(principal: str) -> int | None:
    number = principal.removeprefix("uid:")
    return int(number) if principal.startswith("uid:") and number.isdigit() else None
