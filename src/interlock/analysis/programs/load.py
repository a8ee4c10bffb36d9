"""The shipped program descriptions, by every name of each program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from interlock.analysis.packs import Pack, PackError, load_packs
from interlock.analysis.programs import Program, build_program, by_every_name

_SHIPPED = Path(__file__).parent


@cache
def shipped_programs() -> Mapping[str, Program]:
    """Every shipped description; refuses all of them when one is wrong."""
    return build_programs(load_packs(_SHIPPED, _checked))


def _checked(packs: Sequence[Pack]) -> Sequence[Pack]:
    build_programs(packs)
    return packs


def build_programs(packs: Sequence[Pack]) -> dict[str, Program]:
    """The descriptions of these packs; raises PackError where a program is described twice."""
    programs: dict[str, Program] = {}
    for pack in packs:
        for name, data in pack.get("program", {}).items():
            if name in programs:
                raise PackError(f"program {name!r} is described twice")
            programs[name] = build_program(name, data)
    return by_every_name(programs)
