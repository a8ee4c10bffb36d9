"""Values that variables, folders and endings of files have on about every machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from interlock.analysis.packs import load_words


class WellKnown(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `well_known.toml`, each from names to values."""

    shell: Mapping[str, str]
    windows: Mapping[str, str]
    powershell: Mapping[str, str]
    folders: Mapping[str, str]
    languages: Mapping[str, str]


@cache
def well_known() -> WellKnown:
    """The values of `well_known.toml`."""
    return load_words("analysis/well_known.toml", WellKnown)
