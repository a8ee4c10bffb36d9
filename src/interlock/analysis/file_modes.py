"""Modes of files, in digits or in letters -> the traits of a change of rights."""

from __future__ import annotations

import re


def mode_traits(mode: str) -> list[str]:
    """What it gives to everybody, or takes from its owner."""
    if re.fullmatch(r"[0-7]{3,5}", mode):
        others = int(mode[-1])
        found = {"setuid": int(mode[:-3] or "0", 8) & 6, "world_writable": others & 2, "world_readable": others & 4}
        return [trait for trait, given in {**found, "no_access": mode[-3] == "0"}.items() if given]
    traits: list[str] = []
    for part in mode.split(","):
        if clause := re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", part):
            who, sign, what = clause.groups()
            everybody = sign != "-" and ("o" in who or "a" in who)
            taken = sign == "-" and ("r" in what or "w" in what) and (not who or "a" in who or "u" in who)
            found = {"setuid": "s" in what and sign != "-", "world_writable": "w" in what and everybody}
            found |= {"world_readable": "r" in what and everybody, "no_access": taken or (sign == "=" and not what)}
            traits += [trait for trait, given in found.items() if given]
    return traits
