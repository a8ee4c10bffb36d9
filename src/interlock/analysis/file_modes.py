"""Modes of files, in digits or in letters -> the traits of a change of rights."""

from __future__ import annotations

import re


def mode_traits(mode: str) -> list[str]:
    """What a mode gives to everybody, or takes from its owner."""
    if re.fullmatch(r"[0-7]{3,5}", mode):
        digits = mode[-3:]
        special = int(mode[:-3] or "0", 8)
        found = ["setuid"] if special & 6 else []
        if int(digits[2]) & 2:
            found.append("world_writable")
        if int(digits[2]) & 4:
            found.append("world_readable")
        if digits in ("000",) or digits[0] == "0":
            found.append("no_access")
        return found
    found = []
    for part in mode.split(","):
        clause = re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", part)
        if not clause:
            continue
        who, sign, what = clause[1], clause[2], clause[3]
        if "s" in what and sign != "-":
            found.append("setuid")
        if "w" in what and sign != "-" and ("o" in who or "a" in who):
            found.append("world_writable")
        if "r" in what and sign != "-" and ("o" in who or "a" in who):
            found.append("world_readable")
        if (sign == "-" and ("r" in what or "w" in what) and (not who or "a" in who or "u" in who)) or (
            sign == "=" and not what
        ):
            found.append("no_access")
    return found
